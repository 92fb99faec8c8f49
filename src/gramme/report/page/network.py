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
    joined_graph = with_coupling_layers(graph)
    coupling_names = [name for name in joined_graph.layers if name not in graph.layers]
    layer_names = [*order, *(name for name in coupling_names if name not in order)]
    if held is not None:
        layer_names = [name for name in layer_names if name in set(held)]
    drawn_layers = joined_graph.layers
    if chosen.size < graph.num_nodes:
        drawn_layers = {name: layer.subset(chosen) for name, layer in drawn_layers.items()}
    node_places = node_positions(MultilayerGraph(drawn_layers, num_nodes=chosen.size))
    random_generator = np.random.default_rng(0)
    group_layers = [name for name in layer_names if drawn_layers[name].incidence() is not None]
    edge_counts = {name: drawn_layers[name].num_edges for name in layer_names if name not in group_layers}
    edge_budget = fair_share(list(edge_counts.values()), MAX_DRAWN_EDGES)
    membership_counts = {name: drawn_layers[name].incidence().nnz for name in group_layers}  # type: ignore[union-attr]
    membership_budget = fair_share(list(membership_counts.values()), MAX_DRAWN_MEMBERSHIPS)
    node_lots = random_generator.permutation(chosen.size)  # a node's lines are drawn where its lot is low enough
    layer_records = []
    for name in layer_names:
        layer = drawn_layers[name]
        layer_record: dict[str, Any] = {
            "name": name,
            "coupling": name in coupling_names,
            "directed": layer.directed,
            "edges": layer.num_edges,
            "drawn": 0,
        }
        if name in edge_counts:
            layer_record |= _drawn_edges(layer, edge_budget, random_generator)
        else:
            membership_count = membership_counts[name]
            layer_record["member_lots"] = (
                chosen.size * min(membership_count, membership_budget) // max(membership_count, 1)
            )
        if held is None:
            layer_record |= _standing(layer)
        layer_records.append(layer_record)
    return {
        "x": pack_shares(node_places[:, 0]),
        "y": pack_shares(node_places[:, 1]),
        "nodes": chosen.size,
        "total_layers": joined_graph.num_layers,
        "budget": edge_budget,
        "lots": pack_integers(node_lots)
        if any(many > membership_budget for many in membership_counts.values())
        else None,
        "panels": MAX_PANELS,
        "layers": layer_records,
    }


def _drawn_edges(layer: Layer, budget: int, random: np.random.Generator) -> dict[str, Any]:
    edges = layer.to_edges()
    kept_edges = np.arange(edges.num_edges)
    if kept_edges.size > budget:
        kept_edges = np.sort(random.choice(kept_edges.size, budget, replace=False))
    return {
        "kind": "edges",
        "drawn": int(kept_edges.size),
        "source": pack_integers(edges.source[kept_edges]),
        "target": pack_integers(edges.target[kept_edges]),
    }


def _standing(layer: Layer) -> dict[str, Any]:
    """Groups and degrees of a layer, in the form of :mod:`gramme.report.page.node_details`."""
    layer_incidence = layer.incidence()
    if layer_incidence is None:
        return {"degree": pack_integers(layer.degrees())}
    return {
        "kind": "groups",
        "counts": pack_integers(np.diff(layer_incidence.indptr)),
        "groups": pack_integers(layer_incidence.indices),
        "sizes": pack_integers(np.bincount(layer_incidence.indices, minlength=layer_incidence.shape[1])),
    }


# The network on the pages of ranks and links: nodes by rank, or with the links that are proposed.

MAX_PLAIN_NODES = 20_000
"""Nodes that such a page draws; of more, those that it speaks of and a random sample."""
MAX_PROPOSED = 50
"""Proposed links that are drawn, the most probable ones: as many as the page lists."""

_MAX_NAME_CHARACTERS = 80


def ranked_network(graph: MultilayerGraph, order: Places, ranks: Mapping[str, NDArray[Any]]) -> dict[str, Any]:
    """The network of a ranking: all nodes in the order of their mean ranks, and their ranks by each measure."""
    shown_nodes = _chosen(graph.num_nodes, order)
    place_of_node = np.empty(graph.num_nodes, dtype=np.int64)
    place_of_node[order] = np.arange(order.size)
    shown_order = np.argsort(np.argsort(place_of_node[shown_nodes], kind="stable"), kind="stable")
    return _picture(graph, shown_nodes) | {
        "order": pack_integers(shown_order),
        "ranks": {name: pack_integers(values[shown_nodes]) for name, values in ranks.items()},
    }


def linked_network(graph: MultilayerGraph, links: pd.DataFrame) -> dict[str, Any]:
    """The network of predicted links, the most probable of them beside the layer in which they are proposed."""
    shown_links = links.head(MAX_PROPOSED)
    source_nodes, target_nodes = graph.positions(shown_links["source"]), graph.positions(shown_links["target"])
    shown_nodes = _chosen(graph.num_nodes, np.concatenate([source_nodes, target_nodes]))
    shown_number = np.full(graph.num_nodes, -1, dtype=np.int64)
    shown_number[shown_nodes] = np.arange(shown_nodes.size)
    network_picture = _picture(graph, shown_nodes)
    for layer in shown_links["layer"].unique().tolist():
        layer_links = (
            (shown_links["layer"] == layer).to_numpy()
            & (shown_number[source_nodes] >= 0)
            & (shown_number[target_nodes] >= 0)
        )
        network_picture["network"]["layers"].append(
            {
                "name": layer,
                "kind": "edges",
                "proposed": True,
                "coupling": False,
                "directed": False,
                "edges": int(layer_links.sum()),
                "drawn": int(layer_links.sum()),
                "source": pack_integers(shown_number[source_nodes[layer_links]]),
                "target": pack_integers(shown_number[target_nodes[layer_links]]),
                "degree": None,
            }
        )
    link_ends = np.bincount(
        np.concatenate([shown_number[source_nodes], shown_number[target_nodes]]).clip(0), minlength=shown_nodes.size
    )
    return network_picture | {
        "ends": pack_integers(link_ends),
        "proposed": len(shown_links),
        "proposed_total": len(links),
    }


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
    leading_nodes = np.zeros(0, dtype=np.int64) if marked is None else marked
    shown_nodes = _chosen(graph.num_nodes, leading_nodes)
    network_picture = _picture(graph, shown_nodes) | {
        "codes": pack_integers(codes[shown_nodes]),
        "titles": [shorten(title, _MAX_NAME_CHARACTERS) for title in titles],
    }
    if marked is not None:
        network_picture["marked"] = pack_integers(np.isin(shown_nodes, marked).astype(np.int64))
    if labelled is not None:
        network_picture["labelled"] = pack_integers(labelled[shown_nodes].astype(np.int64))
    return network_picture


def _chosen(count: int, first: Places) -> Places:
    """All nodes, or those that come first and a random sample of the others."""
    if count <= MAX_PLAIN_NODES:
        return np.arange(count)
    _, first_places = np.unique(first, return_index=True)
    wanted_nodes = first[np.sort(first_places)][: MAX_PLAIN_NODES // 2]
    other_nodes = np.setdiff1d(np.arange(count), wanted_nodes, assume_unique=True)
    drawn_nodes = np.random.default_rng(0).choice(other_nodes, MAX_PLAIN_NODES - wanted_nodes.size, replace=False)
    return np.sort(np.concatenate([wanted_nodes, drawn_nodes]))


def _picture(graph: MultilayerGraph, chosen: Places) -> dict[str, Any]:
    return {
        "network": network(graph, chosen, list(graph.layers)),
        "names": [shorten(graph.nodes[place], _MAX_NAME_CHARACTERS) for place in chosen.tolist()],
    }
