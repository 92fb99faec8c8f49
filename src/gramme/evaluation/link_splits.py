"""The splits of a benchmark of links: edges of one layer held out, pairs without an edge drawn once for all methods.

The protocol, which every ledger states: a fifth of the edges of one layer is held out (each fifth once; a tenth, once,
of a layer with more than 3,000 edges), an undirected edge in both directions. All other layers stay visible, so an edge
that another layer repeats may be found by that. Unlinked pairs are as many, without an edge in the layer, drawn
uniformly, or so that each node is drawn as often as edges have it (degree-matched), which is harder.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gramme.graph import MultilayerGraph
from gramme.links.examples import edge_layer, num_rounds, rounds, unlinked_pairs

NEGATIVES = ("uniform", "degree-matched")
PROTOCOL = "edges of one layer held out, other layers visible"


@dataclass(frozen=True)
class LinkSplit:
    """A graph without some edges of a layer, those pairs, and unlinked ones of both kinds."""

    graph: MultilayerGraph
    fold: int
    linked: NDArray[np.int64]
    unlinked: dict[str, NDArray[np.int64]]


def link_splits(graph: MultilayerGraph, layer: str, realisation: int) -> Iterator[LinkSplit]:
    """The splits of a layer; the same for the same realisation, whatever is asked of them."""
    number = list(graph.layers).index(layer)
    edges = edge_layer(graph, layer)
    known = edges.to_scipy()
    held_out = rounds(graph, layer, np.random.default_rng([realisation, number, 1]))
    for fold, one in enumerate(held_out):
        random = np.random.default_rng([realisation, number, 2, fold])
        matched = unlinked_pairs(
            known,
            len(one.linked),
            random,
            directed=edges.directed,
            degree_matched=True,
            present=edges.present,
        )
        yield LinkSplit(
            one.graph, fold, one.linked, {"uniform": one.unlinked, "degree-matched": matched}
        )


def num_splits(graph: MultilayerGraph, layer: str) -> int:
    """How many :func:`link_splits` a layer has."""
    return num_rounds(graph, layer)


def layers_with_links(graph: MultilayerGraph) -> list[str]:
    """The layers of edges that have enough of them to hold some out."""
    return [
        name
        for name, layer in graph.layers.items()
        if layer.made_of == "edges" and layer.num_edges >= 2
    ]
