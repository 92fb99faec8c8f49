"""Which pairs to learn from and which to ask about.

Learned from are edges set aside, which the evidence must not see, and as many pairs without an edge. Pairs worth asking
about are reached within three steps or in a small group together: never all pairs of nodes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import NDArray

from gramme._text import setting
from gramme._types import Floats, Ints
from gramme.errors import DataError
from gramme.graph import EdgeLayer, Layer, MembershipLayer, MultilayerGraph, checked_graph
from gramme.graph.coupling import with_coupling_layers
from gramme.methods.params import check_number_range

from .pair_scores import Pairs, entries

MAX_IMPLIED_EDGES = 2_000_000
"""Edges up to which a layer of groups is asked about, as the edges that it implies."""
MAX_LAYERS_LEARNED = 200
"""Layers whose links are learned at once: each is learned from all layers, so that the time is the square of them."""


def named_pairs(graph: MultilayerGraph, pairs: Any) -> Ints:
    """Pairs of node names as positions, shape (pairs, 2)."""
    listed = pairs.to_numpy().tolist() if isinstance(pairs, pd.DataFrame) else list(pairs)
    if any(len(pair) != 2 for pair in listed):
        raise DataError("a pair must be two node names, source and target")
    first = graph.positions([pair[0] for pair in listed])
    second = graph.positions([pair[1] for pair in listed])
    return np.column_stack([first, second]).reshape(-1, 2)


def checked(graph: Any) -> MultilayerGraph:
    """The graph with its couplings as layers; refused if it is none, has no layers, or numbers beyond all bounds."""
    graph = checked_graph(graph)
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
    found = [name for name, layer in graph.layers.items() if layer.made_of == "edges" and layer.num_edges > 1]
    if not found:
        groups = any(layer.made_of != "edges" for layer in graph.layers.values())
        large = f", or groups that imply at most {MAX_IMPLIED_EDGES:,}" if groups else ""
        raise DataError(f"no layer has at least 2 edges{large}, so there are no links to learn from")
    return _few_enough(found)


def _few_enough(layers: list[str]) -> list[str]:
    if len(layers) > MAX_LAYERS_LEARNED:
        raise DataError(
            f"the links of each layer are learned from all layers, which takes too long for {len(layers):,} of them; "
            f"name at most {MAX_LAYERS_LEARNED} with {setting('layers', option='layer')}"
        )
    return layers


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
    graph: MultilayerGraph, layer: str, random: np.random.Generator, groups: MembershipLayer | None = None
) -> Iterator[Round]:
    """Set edges of one layer aside, all other layers staying visible: in five parts, or once a tenth of a large layer.

    An undirected edge is one edge: it is set aside in both directions. If the edges are those that groups imply, and a
    node may be in several of them, memberships are set aside and the edges go that nothing else implies: one edge of a
    group is given away by all its others.
    """
    edges = edge_layer(graph, layer)
    by_member = groups is not None and not groups.single
    owner: EdgeLayer | MembershipLayer = groups if groups is not None and by_member else edges
    order = random.permutation(owner.num_entries)
    if edges.num_edges <= MAX_FOLDED_EDGES:
        parts = np.array_split(order, num_rounds(graph, layer))
    else:
        parts = [order[: min(MAX_LINKED, max(1, int(SHARE * order.size)))]]
    for place, part in enumerate(parts):
        also = parts[(place + 1) % len(parts)] if len(parts) > 1 else order[len(part) : 2 * len(part)]
        left, thinner = (
            owner.with_entries(~np.isin(np.arange(order.size), gone)).to_edges()
            for gone in (part, np.concatenate([part, also]))
        )
        linked = _lost(edges, left, random) if by_member else np.column_stack([edges.source[part], edges.target[part]])
        unlinked = unlinked_pairs(edges.to_scipy(), len(linked), random, directed=edges.directed, present=edges.present)
        seen, fewer = (graph.replace(layers={**graph.layers, layer: one}) for one in (left, thinner))
        yield Round(seen, linked.astype(np.int64), unlinked, fewer)


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
    >>> (round(hidden_share(EdgeLayer(21, one[:90], other[:90])), 3), hidden_share(EdgeLayer(1000, [0], [1])) < 1e-6)
    (0.083, True)
    """
    nodes = int(layer.present.sum())
    unlinked = nodes * (nodes - 1) // (1 if layer.directed else 2) - layer.num_edges
    missing = MISSING_SHARE / (1 - MISSING_SHARE) * layer.num_edges
    return min(missing / max(unlinked, 1), MAX_HIDDEN_SHARE)


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
    chance: list[Floats | None] = [None, None]
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
MAX_DENSE_ROW = 200_000
"""Nodes up to which the rows of some nodes may be made dense."""
DENSE_SHARE = 0.1
"""Share of entries from which on these are faster."""
_ROWS = 256
"""Nodes whose paths are counted by one product."""


def candidate_pairs(
    adjacency: sp.csr_array, groups: sp.csr_array, known: sp.csr_array, *, directed: bool, sources: Ints | None = None
) -> Pairs:
    """Pairs without an edge in ``known`` that paths of length 2 or 3, or a small group, join.

    ``adjacency`` holds all layers of edges together, symmetric; ``groups`` who is in which group. If ``directed``, both
    orders of a pair are asked about. ``sources`` are the nodes whose candidates are wanted, all if not given.
    """
    nodes = adjacency.shape[0]
    starts = np.arange(nodes) if sources is None else sources
    each = max(5, min(CANDIDATES_PER_NODE, MAX_CANDIDATE_PAIRS // max(starts.size, 1)))
    if sources is not None:
        each = min(nodes, 50 * CANDIDATES_PER_NODE)
    strength = np.asarray(adjacency.sum(axis=1)).ravel()
    by_root = np.divide(1.0, np.sqrt(strength), out=np.zeros(nodes), where=strength > 0)
    pairs = np.concatenate([_nearest(adjacency, by_root, starts, each), _in_small_groups(groups, starts)])
    if directed:
        pairs = np.concatenate([pairs, pairs[:, ::-1]])
    else:
        pairs = np.sort(pairs, axis=1)
    pairs = np.unique(pairs, axis=0)
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    fresh: Pairs = pairs[entries(known, pairs) == 0]
    return fresh


def _in_small_groups(groups: sp.csr_array, starts: Ints) -> Pairs:
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


def _nearest(adjacency: sp.csr_array, by_root: Floats, starts: Ints, each: int) -> Pairs:
    """For each start the nodes with the highest sum of paths of length 2 and 3 by degrees, found by products.

    Rows of many nodes are multiplied together, as dense matrices where they are well filled.
    """
    nodes = adjacency.shape[0]
    length = np.diff(adjacency.indptr)
    if length.max(initial=0) > MAX_NEIGHBOURS:
        early = np.arange(adjacency.nnz) - np.repeat(adjacency.indptr[:-1], length) < MAX_NEIGHBOURS
        ends = np.repeat(np.arange(nodes), length)[early], adjacency.indices[early]
        adjacency = sp.csr_array((adjacency.data[early], ends), shape=adjacency.shape)
    scaled: Any = sp.csr_array(adjacency @ sp.diags_array(by_root)).astype(np.float32)
    if nodes <= MAX_DENSE_NODES and scaled.nnz > DENSE_SHARE * nodes**2:
        scaled = scaled.toarray()
    everyone, found = np.arange(nodes), [np.zeros((0, 2), dtype=np.int64)]
    for begin in range(0, starts.size, _ROWS):
        some = starts[begin : begin + _ROWS]
        two = scaled[some] @ scaled
        if isinstance(two, np.ndarray):
            two[np.arange(some.size), some] = 0.0
        else:
            two.data[two.indices == np.repeat(some, np.diff(two.indptr))] = 0.0
            if DENSE_SHARE * some.size * nodes < two.nnz and nodes <= MAX_DENSE_ROW:
                two = two.toarray()
        score = two + two @ scaled
        for row, node in enumerate(some):
            if isinstance(score, np.ndarray):
                columns, reached = everyone, score[row]
            else:
                part = slice(score.indptr[row], score.indptr[row + 1])
                columns, reached = score.indices[part], score.data[part]
            kept = np.flatnonzero((reached > 0) & (columns != node))
            if kept.size > each:
                kept = kept[reached[kept] >= np.partition(reached[kept], -each)[-each]]
            best = np.sort(columns[kept])[:each]
            found.append(np.column_stack([np.full(best.size, node), best]).astype(np.int64))
    return np.concatenate(found)
