"""The network on the pages of ranks and links: nodes by rank, or with the links that are proposed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from gramme.graph import MultilayerGraph
from gramme.report.page.html import shorten
from gramme.report.page.network import ONE_SIZE_NODES, network, network_section
from gramme.report.page.pack import pack_integers

MAX_PLAIN_NODES = 20_000
"""Nodes that such a page draws; of more, those that it speaks of and a random sample."""
MAX_PROPOSED = 50
"""Proposed links that are drawn, the most probable ones: as many as the page lists."""

_MAX_NAME_CHARACTERS = 80

Places = NDArray[np.int64]


def ranked_network(
    graph: MultilayerGraph, order: Places, ranks: Mapping[str, NDArray[Any]]
) -> dict[str, Any]:
    """The network of a ranking.

    Parameters
    ----------
    graph : MultilayerGraph
    order : array of int
        Positions of all nodes, the one with the best mean rank first.
    ranks : mapping of measure to array of int
        The rank of each node.
    """
    chosen = _chosen(graph.num_nodes, order)
    place = np.empty(graph.num_nodes, dtype=np.int64)
    place[order] = np.arange(order.size)
    among = np.argsort(np.argsort(place[chosen], kind="stable"), kind="stable")
    return _picture(graph, chosen) | {
        "order": pack_integers(among),
        "ranks": {name: pack_integers(values[chosen]) for name, values in ranks.items()},
    }


def linked_network(graph: MultilayerGraph, links: pd.DataFrame) -> dict[str, Any]:
    """The network of predicted links, the most probable of them beside the layer in which they are proposed.

    Parameters
    ----------
    graph : MultilayerGraph
    links : DataFrame
        ``layer``, ``source``, ``target`` by name, the most probable first.
    """
    shown = links.head(MAX_PROPOSED)
    source, target = graph.positions(shown["source"]), graph.positions(shown["target"])
    chosen = _chosen(graph.num_nodes, np.concatenate([source, target]))
    number = np.full(graph.num_nodes, -1, dtype=np.int64)
    number[chosen] = np.arange(chosen.size)
    picture = _picture(graph, chosen)
    for layer in shown["layer"].unique().tolist():
        mine = (shown["layer"] == layer).to_numpy() & (number[source] >= 0) & (number[target] >= 0)
        picture["network"]["layers"].append(
            {
                "name": layer,
                "kind": "edges",
                "proposed": True,
                "coupling": False,
                "directed": False,
                "edges": int(mine.sum()),
                "drawn": int(mine.sum()),
                "source": pack_integers(number[source[mine]]),
                "target": pack_integers(number[target[mine]]),
                "degree": None,
            }
        )
    ends = np.bincount(
        np.concatenate([number[source], number[target]]).clip(0), minlength=chosen.size
    )
    return picture | {
        "ends": pack_integers(ends),
        "proposed": len(shown),
        "proposed_total": len(links),
    }


def _chosen(count: int, first: Places) -> Places:
    """All nodes, or those that come first and a random sample of the others."""
    if count <= MAX_PLAIN_NODES:
        return np.arange(count)
    _, places = np.unique(first, return_index=True)
    wanted = first[np.sort(places)][: MAX_PLAIN_NODES // 2]
    others = np.setdiff1d(np.arange(count), wanted, assume_unique=True)
    drawn = np.random.default_rng(0).choice(others, MAX_PLAIN_NODES - wanted.size, replace=False)
    return np.sort(np.concatenate([wanted, drawn]))


def _picture(graph: MultilayerGraph, chosen: Places) -> dict[str, Any]:
    return {
        "network": network(graph, chosen, list(graph.layers)),
        "names": [shorten(graph.nodes[place], _MAX_NAME_CHARACTERS) for place in chosen.tolist()],
    }


def plain_network_section(data: dict[str, Any]) -> str:
    """The frame of the network on a page of ranks or links; nothing for a page from before there was one."""
    picture = data.get("picture")
    if not picture or not picture["names"]:
        return ""
    sizes = ""
    if len(picture["names"]) <= ONE_SIZE_NODES:
        sizes = '<label>Size by <select id="network-size"></select></label>'
    told = ""
    if "proposed" in picture:
        some = f"{picture['proposed']:,} proposed"
        if picture["proposed"] < picture["proposed_total"]:
            some = (
                f"{picture['proposed']:,} most probable of {picture['proposed_total']:,} proposed"
            )
        told = f"<p>The thick dashed lines are the {some} links.</p>"
    drawn = network_section(picture["network"], total=data["nodes"], colours="", sizes=sizes)
    return f'{told}{drawn}<p id="network-chosen" role="status"></p>'
