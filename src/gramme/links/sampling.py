"""Pairs worth asking about: reached within three steps or in a small group together, never all pairs of nodes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import NDArray

from gramme._text import setting
from gramme.errors import DataError
from gramme.graph import EdgeLayer, Layer, MembershipLayer, MultilayerGraph
from gramme.graph.coupling import with_coupling_layers
from gramme.methods.params import check_number_range
from gramme.ops.kernels import compiled

from .pair_scores import Pairs, entries

# The layers of a graph in which links can be learned, and pairs by the names of their nodes.


MAX_IMPLIED_EDGES = 2_000_000
"""Edges up to which a layer of groups is asked about, as the edges that it implies."""
MAX_LAYERS_LEARNED = 200
"""Layers whose links are learned at once: each is learned from all layers, so that the time is the square of them."""


def named_pairs(graph: MultilayerGraph, pairs: Any) -> NDArray[np.int64]:
    """Pairs of node names as positions, shape (pairs, 2)."""
    listed = pairs.to_numpy().tolist() if isinstance(pairs, pd.DataFrame) else list(pairs)
    if any(len(pair) != 2 for pair in listed):
        raise DataError("a pair must be two node names, source and target")
    first = graph.positions([pair[0] for pair in listed])
    second = graph.positions([pair[1] for pair in listed])
    return np.column_stack([first, second]).reshape(-1, 2)


def checked(graph: Any) -> MultilayerGraph:
    """The graph with its couplings as layers; refused if it is none, has no layers, or numbers beyond all bounds."""
    if not isinstance(graph, MultilayerGraph):
        raise DataError(f"a MultilayerGraph is needed, not {type(graph).__name__}")
    if not graph.num_layers:
        raise DataError("the graph has no layers, so there are no links to learn from")
    flat: MultilayerGraph = with_coupling_layers(graph)
    check_number_range(flat)
    return flat


def with_edges(graph: MultilayerGraph) -> MultilayerGraph:
    """A graph of groups alone with those layers as edges that imply few enough, so that there is something to ask."""
    if any(layer.made_of == "edges" and layer.num_edges > 1 for layer in graph.layers.values()):
        return graph
    layers: dict[str, Layer] = {
        name: layer.to_edges() if layer.num_edges <= MAX_IMPLIED_EDGES else layer
        for name, layer in graph.layers.items()
    }
    return graph.replace(layers=layers)


def groups_asked_about(graph: MultilayerGraph, layers: Iterable[str]) -> dict[str, MembershipLayer]:
    """Those of the layers that are made of groups, which are asked about as the edges that these imply."""
    found = {name: graph.layers[name].as_groups() for name in layers}
    return {name: groups for name, groups in found.items() if groups is not None}


def columns(groups: Mapping[str, MembershipLayer]) -> list[str]:
    """Layers in which no node is in more than one group, like the columns of a table."""
    return [name for name, layer in groups.items() if layer.single]


def layers_to_learn(graph: MultilayerGraph, layers: Iterable[str] | None) -> list[str]:
    """The layers named, which must have edges; all that have some where none are named."""
    if layers is not None:
        named = [layers] if isinstance(layers, str) else list(layers)
        for name in named:
            edge_layer(graph, name)
        return _few_enough(named)
    found = [
        name
        for name, layer in graph.layers.items()
        if layer.made_of == "edges" and layer.num_edges > 1
    ]
    if not found:
        groups = any(layer.made_of != "edges" for layer in graph.layers.values())
        large = f", or groups that imply at most {MAX_IMPLIED_EDGES:,}" if groups else ""
        raise DataError(
            f"no layer has at least 2 edges{large}, so there are no links to learn from"
        )
    return _few_enough(found)


def _few_enough(layers: list[str]) -> list[str]:
    if len(layers) > MAX_LAYERS_LEARNED:
        raise DataError(
            f"the links of each layer are learned from all layers, which takes too long for {len(layers):,} of them; "
            f"name at most {MAX_LAYERS_LEARNED} with {setting('layers', option='layer')}"
        )
    return layers


# Pairs to learn from: edges set aside, which the evidence must not see, and as many pairs without
# an edge.


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
    """A graph that lacks some edges of a layer, the pairs they joined, and pairs without an edge.

    ``thinner`` lacks as many edges again: how much easier links are found in the graph than there tells how much easier
    they are found in the whole graph.
    """

    graph: MultilayerGraph
    linked: Pairs
    unlinked: Pairs
    thinner: MultilayerGraph


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
    for place, part in enumerate(parts):
        also = (
            parts[(place + 1) % len(parts)] if len(parts) > 1 else order[len(part) : 2 * len(part)]
        )
        kept = np.ones(entries_in_all, dtype=bool)
        kept[part] = False
        kept_too = kept.copy()
        kept_too[also] = False
        by_entries = groups if groups is not None and by_member else edges
        thinner = by_entries.with_entries(kept_too).to_edges()
        if groups is not None and by_member:
            left = groups.with_entries(kept).to_edges()
            linked = _lost(edges, left, random)
        else:
            left = edges.with_entries(kept)
            linked = np.column_stack([edges.source[part], edges.target[part]]).astype(np.int64)
        unlinked = unlinked_pairs(
            known, len(linked), random, directed=edges.directed, present=edges.present
        )
        yield Round(
            with_layer(graph, layer, left), linked, unlinked, with_layer(graph, layer, thinner)
        )


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


CANDIDATES_PER_NODE = 60
"""Candidates that are kept for each node, those with most paths by degrees."""
MAX_CANDIDATE_PAIRS = 400_000
"""Candidates that are scored in all."""
MAX_GROUP_MEMBERS = 100
"""Members of a group up to which each pair of them is a candidate."""
MAX_NEIGHBOURS = 2000
"""Neighbours of a node through which paths are followed, the first in the order of nodes."""
MAX_DENSE_NODES = 6000
"""Nodes up to which paths in a well filled matrix are counted by products of dense matrices."""
DENSE_SHARE = 0.1
"""Share of entries from which on these are faster."""
_ROWS = 512
"""Nodes whose paths are counted by one product."""


def candidate_pairs(
    adjacency: sp.csr_array,
    groups: sp.csr_array,
    known: sp.csr_array,
    *,
    directed: bool,
    sources: NDArray[np.int64] | None = None,
) -> Pairs:
    """Pairs without an edge in ``known`` that paths of length 2 or 3, or a small group, join.

    Parameters
    ----------
    adjacency : scipy CSR
        All layers of edges together, symmetric.
    groups : scipy CSR
        Who is in which group.
    known : scipy CSR
        The edges of the layer in question.
    directed : bool
        Whether both orders of a pair are asked about.
    sources : array of int, optional
        The nodes whose candidates are wanted; all if not given.
    """
    nodes = adjacency.shape[0]
    starts = np.arange(nodes) if sources is None else sources
    each = max(5, min(CANDIDATES_PER_NODE, MAX_CANDIDATE_PAIRS // max(starts.size, 1)))
    if sources is not None:
        each = min(nodes, 50 * CANDIDATES_PER_NODE)
    strength = np.asarray(adjacency.sum(axis=1)).ravel()
    by_root = np.divide(1.0, np.sqrt(strength), out=np.zeros(nodes), where=strength > 0)
    if nodes <= MAX_DENSE_NODES and adjacency.nnz > DENSE_SHARE * nodes**2:
        reached = _nearest_in_dense(adjacency, by_root, starts, each)
    else:
        reached = _nearest(
            adjacency.indptr.astype(np.int64),
            adjacency.indices.astype(np.int64),
            np.asarray(adjacency.data, dtype=np.float64),
            by_root,
            starts.astype(np.int64),
            each,
            MAX_NEIGHBOURS,
        )
    found = [reached, _in_small_groups(groups, starts)]
    pairs = np.concatenate(found)
    if directed:
        pairs = np.concatenate([pairs, pairs[:, ::-1]])
    else:
        pairs = np.sort(pairs, axis=1)
    pairs = np.unique(pairs, axis=0)
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    fresh: Pairs = pairs[entries(known, pairs) == 0]
    return fresh


def _in_small_groups(groups: sp.csr_array, starts: NDArray[np.int64]) -> Pairs:
    if not groups.nnz:
        return np.zeros((0, 2), dtype=np.int64)
    sizes = np.bincount(groups.indices, minlength=groups.shape[1])
    small = sp.csr_array(groups[:, np.flatnonzero((sizes > 1) & (sizes <= MAX_GROUP_MEMBERS))])
    shared = (small[starts] @ small.T).tocoo()
    pairs = np.column_stack([starts[shared.row], shared.col]).astype(np.int64)
    if len(pairs) <= MAX_CANDIDATE_PAIRS:
        return pairs
    best = np.argsort(-shared.data, kind="stable")[:MAX_CANDIDATE_PAIRS]
    return pairs[best]


def _nearest_in_dense(
    adjacency: sp.csr_array, by_root: NDArray[np.float64], starts: NDArray[np.int64], each: int
) -> Pairs:
    """What :func:`_nearest` finds, by products of dense matrices, with all neighbours."""
    root = by_root.astype(np.float32)
    full = adjacency.astype(np.float32).toarray()
    scaled = full * root  # columns divided by the root of their strength
    found = []
    for begin in range(0, starts.size, _ROWS):
        some = starts[begin : begin + _ROWS]
        itself = np.arange(some.size), some
        two = scaled[some] @ scaled
        two[itself] = 0.0
        score = two + two @ scaled
        score[itself] = 0.0
        if each < score.shape[1]:
            least = -np.partition(-score, each - 1, axis=1)[:, each - 1 : each]
            score[score < least] = 0.0
        kept = score > 0
        kept &= np.cumsum(kept, axis=1) <= each
        row, column = np.nonzero(kept)
        found.append(np.column_stack([some[row], column]).astype(np.int64))
    return np.concatenate(found)


@compiled
def _of_rank(values: NDArray[np.float64], count: int, rank: int) -> float:
    """The value of a rank among the first so many, which change places: numpy's takes seconds to compile."""
    low, high = 0, count - 1
    while low < high:
        middle = values[(low + high) // 2]
        left, right = low, high
        while left <= right:
            while values[left] < middle:
                left += 1
            while values[right] > middle:
                right -= 1
            if left <= right:
                values[left], values[right] = values[right], values[left]
                left += 1
                right -= 1
        if rank <= right:
            high = right
        elif rank >= left:
            low = left
        else:
            break
    return float(values[rank])


@compiled
def _nearest(
    starts: NDArray[np.int64],
    others: NDArray[np.int64],
    weights: NDArray[np.float64],
    by_root: NDArray[np.float64],
    sources: NDArray[np.int64],
    each: int,
    most: int,
) -> Pairs:
    nodes = starts.size - 1
    score = np.zeros(nodes)
    two = np.zeros(nodes)
    positive = np.empty(nodes)
    found = np.empty((sources.size * each, 2), dtype=np.int64)
    count = 0
    for source in sources:
        score[:] = 0.0
        two[:] = 0.0
        for place in range(starts[source], min(starts[source + 1], starts[source] + most)):
            u = others[place]
            step = weights[place] * by_root[u]
            for inner in range(starts[u], min(starts[u + 1], starts[u] + most)):
                two[others[inner]] += step * weights[inner]
        for v in range(nodes):
            if two[v] == 0.0 or v == source:
                continue
            score[v] += two[v] * by_root[v]
            step = two[v] * by_root[v]
            for place in range(starts[v], min(starts[v + 1], starts[v] + most)):
                score[others[place]] += step * weights[place] * by_root[others[place]]
        score[source] = 0.0
        # the best few by a threshold, in the order of nodes
        reached = 0
        for v in range(nodes):
            if score[v] > 0:
                positive[reached] = score[v]
                reached += 1
        least = 0.0
        if reached > each:
            least = _of_rank(positive, reached, reached - each)
        kept = 0
        for v in range(nodes):
            if score[v] > 0 and score[v] >= least and kept < each:
                found[count, 0] = source
                found[count, 1] = v
                count += 1
                kept += 1
    return found[:count]
