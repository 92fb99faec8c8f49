"""Pairs to learn from: edges set aside, which the evidence must not see, and as many pairs without an edge."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from gramme.errors import DataError
from gramme.graph import EdgeLayer, MembershipLayer, MultilayerGraph
from gramme.links.pair_scores import Pairs, entries

FOLDS = 5
"""Parts in which the edges of a small layer are set aside one after the other, so that all serve as examples."""
MAX_FOLDED_EDGES = 3000
SHARE = 0.1
"""Share of the edges of a larger layer that is set aside once."""
MAX_LINKED = 20_000
"""Linked pairs of a layer to learn from at most."""
MISSING_SHARE = 0.1
"""Share of a layer's links that is taken to be missing in the data. How many are cannot be told from so few pairs."""
MAX_HIDDEN_SHARE = 0.3
"""Of the pairs without an edge; where nearly all pairs are linked, the rest are no hidden links."""


@dataclass(frozen=True)
class Round:
    """A graph that lacks some edges of a layer, the pairs they joined, and pairs without an edge."""

    graph: MultilayerGraph
    linked: Pairs
    unlinked: Pairs


def rounds(
    graph: MultilayerGraph,
    layer: str,
    random: np.random.Generator,
    groups: MembershipLayer | None = None,
) -> Iterator[Round]:
    """Set edges of one layer aside, all other layers staying visible: in five parts, or once a tenth of a large layer.

    An undirected edge is one edge: it is set aside in both directions. If the edges are those that groups imply, and a
    node may be in several of them, memberships are set aside and the edges go that nothing else implies: one edge of a
    group is given away by all its others.
    """
    edges = edge_layer(graph, layer)
    known = edges.to_scipy()
    by_member = groups is not None and not groups.single
    entries_in_all = groups.num_entries if groups is not None and by_member else edges.num_edges
    order = random.permutation(entries_in_all)
    if edges.num_edges <= MAX_FOLDED_EDGES:
        parts = np.array_split(order, num_rounds(graph, layer))
    else:
        parts = [order[: min(MAX_LINKED, max(1, int(SHARE * entries_in_all)))]]
    for part in parts:
        kept = np.ones(entries_in_all, dtype=bool)
        kept[part] = False
        if groups is not None and by_member:
            left = groups.with_entries(kept).to_edges()
            linked = _lost(edges, left, random)
        else:
            left = edges.with_entries(kept)
            linked = np.column_stack([edges.source[part], edges.target[part]]).astype(np.int64)
        unlinked = unlinked_pairs(
            known, len(linked), random, directed=edges.directed, present=edges.present
        )
        yield Round(with_layer(graph, layer, left), linked, unlinked)


def _lost(before: EdgeLayer, after: EdgeLayer, random: np.random.Generator) -> Pairs:
    """Pairs that only the first of two layers joins, no more than can be learned from."""
    pairs: Pairs = np.column_stack([before.source, before.target]).astype(np.int64)
    pairs = pairs[entries(after.to_scipy(), pairs) == 0]
    if len(pairs) > MAX_LINKED:
        pairs = pairs[np.sort(random.choice(len(pairs), MAX_LINKED, replace=False))]
    return pairs


def num_rounds(graph: MultilayerGraph, layer: str) -> int:
    """How many :func:`rounds` a layer has."""
    edges = graph.layers[layer].num_edges
    return min(FOLDS, edges) if edges <= MAX_FOLDED_EDGES else 1


def edge_layer(graph: MultilayerGraph, name: str) -> EdgeLayer:
    """The layer of that name, which must have edges."""
    layer = graph.layer(name)
    if not isinstance(layer, EdgeLayer):
        raise DataError(f"the layer {name!r} holds groups, not edges")
    if layer.num_edges < 2:
        raise DataError(
            f"the layer {name!r} has {'1 edge' if layer.num_edges == 1 else 'no edges'}; at least 2 are needed to "
            "learn which pairs get linked"
        )
    return layer


def hidden_share(layer: EdgeLayer) -> float:
    """The share of pairs without an edge that are links in truth, if :data:`MISSING_SHARE` of all links are missing.

    It matters in dense layers alone, where there are not many more unlinked pairs than links.

    >>> one, other = np.triu_indices(21, 1)
    >>> (
    ...     round(hidden_share(EdgeLayer(21, one[:90], other[:90])), 3),
    ...     hidden_share(EdgeLayer(1000, [0], [1])) < 1e-6,
    ... )
    (0.083, True)
    """
    nodes = int(layer.present.sum())
    unlinked = nodes * (nodes - 1) // (1 if layer.directed else 2) - layer.num_edges
    missing = MISSING_SHARE / (1 - MISSING_SHARE) * layer.num_edges
    return min(missing / max(unlinked, 1), MAX_HIDDEN_SHARE)


def with_layer(graph: MultilayerGraph, name: str, layer: EdgeLayer) -> MultilayerGraph:
    """The graph with one layer exchanged, in its place."""
    return graph.replace(layers={**graph.layers, name: layer})


def unlinked_pairs(
    known: sp.csr_array,
    count: int,
    random: np.random.Generator,
    *,
    directed: bool = True,
    degree_matched: bool = False,
    present: NDArray[np.bool_] | None = None,
) -> Pairs:
    """Random pairs of distinct nodes without an edge in ``known``; fewer where there are not that many.

    Parameters
    ----------
    known : scipy CSR
        All edges, those set aside included.
    count : int
    random : Generator
    directed : bool, default=True
        Whether (a, b) and (b, a) are two pairs; otherwise pairs have the smaller position first.
    degree_matched : bool, default=False
        Draw each end as often as edges have it, so that many links of its own make no pair look linked.
    present : array of bool, optional
        The nodes to draw from.
    """
    nodes = known.shape[0]
    places = np.arange(nodes) if present is None else np.flatnonzero(present)
    chance: list[NDArray[np.float64] | None] = [None, None]
    if degree_matched and known.nnz:
        out = np.diff(known.indptr)[places].astype(np.float64)
        into = np.bincount(known.indices, minlength=nodes)[places].astype(np.float64)
        chance = [out / out.sum(), into / into.sum()]
    found = np.zeros((0, 2), dtype=np.int64)
    for _ in range(50):
        missing = count - len(found)
        if missing <= 0 or places.size < 2:
            break
        ends = [
            random.choice(places, size=2 * missing + 10, p=one)
            if one is not None
            else places[random.integers(0, places.size, 2 * missing + 10)]
            for one in chance
        ]
        drawn = np.column_stack(ends).astype(np.int64)
        if not directed:
            drawn.sort(axis=1)
        fits = (drawn[:, 0] != drawn[:, 1]) & (entries(known, drawn) == 0)
        found = np.concatenate([found, drawn[fits]])
        found = found[np.sort(np.unique(found, axis=0, return_index=True)[1])][:count]
    return found
