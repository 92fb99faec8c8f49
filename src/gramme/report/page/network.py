"""The network as a page draws it: one place per node, edges of each layer, lines from members to the middle of a group.

A page holds at most so many lines, since a reader sees no single one among a million and a browser has to draw them
all. Of more, it holds a random sample and says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from gramme.graph import MultilayerGraph
from gramme.graph.coupling import with_coupling_layers
from gramme.graph.layer import Layer
from gramme.graph.layout import fair_share, node_positions

from .html import pack_integers, pack_shares, shorten

MAX_DRAWN_EDGES = 20_000
"""Edges that a page draws, of all layers together."""
MAX_DRAWN_MEMBERSHIPS = 20_000
"""Lines from members to their groups that a page draws, of all layers together."""
MAX_PANELS = 24
"""Layers that have a small picture of their own; the others are in the list."""

Places = NDArray[np.int64]


def network(
    graph: MultilayerGraph, chosen: Places, order: Sequence[str], *, held: Iterable[str] | None = None
) -> dict[str, Any]:
    """What a page needs to draw some nodes and the layers in ``order``, the most important first, and all couplings.

    ``held`` are the layers whose groups and degrees stand elsewhere on the page, see :mod:`.node_details`; only these
    are drawn then. If not given, groups and degrees come with the network.
    """
    joined = with_coupling_layers(graph)
    couplings = [name for name in joined.layers if name not in graph.layers]
    names = [*order, *(name for name in couplings if name not in order)]
    if held is not None:
        names = [name for name in names if name in set(held)]
    layers = joined.layers
    if chosen.size < graph.num_nodes:
        layers = {name: layer.subset(chosen) for name, layer in layers.items()}
    places = node_positions(MultilayerGraph(layers, num_nodes=chosen.size))
    random = np.random.default_rng(0)
    grouped = [name for name in names if layers[name].incidence() is not None]
    edges = {name: layers[name].num_edges for name in names if name not in grouped}
    budget = fair_share(list(edges.values()), MAX_DRAWN_EDGES)
    memberships = {name: layers[name].incidence().nnz for name in grouped}  # type: ignore[union-attr]
    share = fair_share(list(memberships.values()), MAX_DRAWN_MEMBERSHIPS)
    lots = random.permutation(chosen.size)  # a node's lines are drawn where its lot is low enough
    records = []
    for name in names:
        layer = layers[name]
        record: dict[str, Any] = {
            "name": name,
            "coupling": name in couplings,
            "directed": layer.directed,
            "edges": layer.num_edges,
            "drawn": 0,
        }
        if name in edges:
            record |= _drawn_edges(layer, budget, random)
        else:
            many = memberships[name]
            record["member_lots"] = chosen.size * min(many, share) // max(many, 1)
        if held is None:
            record |= _standing(layer)
        records.append(record)
    return {
        "x": pack_shares(places[:, 0]),
        "y": pack_shares(places[:, 1]),
        "nodes": chosen.size,
        "total_layers": joined.num_layers,
        "budget": budget,
        "lots": pack_integers(lots) if any(many > share for many in memberships.values()) else None,
        "panels": MAX_PANELS,
        "layers": records,
    }


def _drawn_edges(layer: Layer, budget: int, random: np.random.Generator) -> dict[str, Any]:
    edges = layer.to_edges()
    kept = np.arange(edges.num_edges)
    if kept.size > budget:
        kept = np.sort(random.choice(kept.size, budget, replace=False))
    return {
        "kind": "edges",
        "drawn": int(kept.size),
        "source": pack_integers(edges.source[kept]),
        "target": pack_integers(edges.target[kept]),
    }


def _standing(layer: Layer) -> dict[str, Any]:
    """Groups and degrees of a layer, in the form of :mod:`gramme.report.page.node_details`."""
    inside = layer.incidence()
    if inside is None:
        return {"degree": pack_integers(layer.degrees())}
    return {
        "kind": "groups",
        "counts": pack_integers(np.diff(inside.indptr)),
        "groups": pack_integers(inside.indices),
        "sizes": pack_integers(np.bincount(inside.indices, minlength=inside.shape[1])),
    }


# The network on the pages of ranks and links: nodes by rank, or with the links that are proposed.

MAX_PLAIN_NODES = 20_000
"""Nodes that such a page draws; of more, those that it speaks of and a random sample."""
MAX_PROPOSED = 50
"""Proposed links that are drawn, the most probable ones: as many as the page lists."""

_MAX_NAME_CHARACTERS = 80


def ranked_network(graph: MultilayerGraph, order: Places, ranks: Mapping[str, NDArray[Any]]) -> dict[str, Any]:
    """The network of a ranking: all nodes in the order of their mean ranks, and their ranks by each measure."""
    chosen = _chosen(graph.num_nodes, order)
    place = np.empty(graph.num_nodes, dtype=np.int64)
    place[order] = np.arange(order.size)
    among = np.argsort(np.argsort(place[chosen], kind="stable"), kind="stable")
    return _picture(graph, chosen) | {
        "order": pack_integers(among),
        "ranks": {name: pack_integers(values[chosen]) for name, values in ranks.items()},
    }


def linked_network(graph: MultilayerGraph, links: pd.DataFrame) -> dict[str, Any]:
    """The network of predicted links, the most probable of them beside the layer in which they are proposed."""
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
    ends = np.bincount(np.concatenate([number[source], number[target]]).clip(0), minlength=chosen.size)
    return picture | {"ends": pack_integers(ends), "proposed": len(shown), "proposed_total": len(links)}


def marked_network(
    graph: MultilayerGraph,
    codes: Places,
    titles: Sequence[str],
    *,
    marked: Places | None = None,
    labelled: NDArray[np.bool_] | None = None,
) -> dict[str, Any]:
    """The network with nodes coloured by what they belong to: a code from 1 (0 for nothing), and a title per code.

    ``marked`` nodes are drawn large; ``labelled`` says which have a label already.
    """
    first = np.zeros(0, dtype=np.int64) if marked is None else marked
    chosen = _chosen(graph.num_nodes, first)
    picture = _picture(graph, chosen) | {
        "codes": pack_integers(codes[chosen]),
        "titles": [shorten(title, _MAX_NAME_CHARACTERS) for title in titles],
    }
    if marked is not None:
        picture["marked"] = pack_integers(np.isin(chosen, marked).astype(np.int64))
    if labelled is not None:
        picture["labelled"] = pack_integers(labelled[chosen].astype(np.int64))
    return picture


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
