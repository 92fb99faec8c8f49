"""Which pairs to learn from: edges set aside, which the evidence must not see, and as many pairs without an edge."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
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

from .evidence import Evidence, Gathered, named
from .mixture import FOLDS, CandidateList, LayerExamples
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
    if layers is None:
        wanted = [name for name, layer in graph.layers.items() if layer.made_of == "edges" and layer.num_edges > 1]
    else:
        wanted = [layers] if isinstance(layers, str) else list(layers)
        for name in wanted:
            edge_layer(graph, name)
    if not wanted:
        groups = any(layer.made_of != "edges" for layer in graph.layers.values())
        large = f", or groups that imply at most {MAX_IMPLIED_EDGES:,}" if groups else ""
        raise DataError(f"no layer has at least 2 edges{large}, so there are no links to learn from")
    if len(wanted) > MAX_LAYERS_LEARNED:
        raise DataError(
            f"the links of each layer are learned from all layers, which takes too long for {len(wanted):,} of them; "
            f"name at most {MAX_LAYERS_LEARNED} with {setting('layers', option='layer')}"
        )
    return wanted


MAX_FOLDED_EDGES = 3000
"""Edges up to which those of a layer are set aside in parts one after the other, so that all serve as examples."""
MAX_LINKED = 20_000
"""Linked pairs of a layer to learn from at most."""


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
        parts = [order[: min(MAX_LINKED, order.size // 10)]]
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


def easily_told(graph: MultilayerGraph, layers: Iterable[str], groups: Mapping[str, MembershipLayer]) -> list[str]:
    """What to say about how edges of layers were set aside, a sentence or two for each kind of layer.

    All layers that are asked about are edges in the graph; ``groups`` are those whose edges groups imply.
    """
    said = []
    alone = columns(groups)
    if alone:
        said.append(
            "Who is in one group with whom is told from the other layers alone: within a layer, any member of a group "
            "would give away all others."
        )
    if set(groups) - set(alone):
        said.append(
            "Whole memberships were set aside, not single pairs, which the rest of their group would give away."
        )
    closed = [name for name in layers if name not in groups and _looks_like_groups(graph.layers[name])]
    if closed:
        said.append(
            f"In {named(closed)}, nearly all neighbours of a node are linked with each other, as the members of groups "
            "are. A pair set aside there is given away by the rest of its group, so the figure says little about links "
            "between groups."
        )
    return said


def evidence_only(graph: MultilayerGraph, layers: Iterable[str]) -> list[str]:
    """What to say about layers of groups that are not asked about: why, and that they serve as evidence.

    >>> evidence_only(MultilayerGraph({"team": MembershipLayer.from_codes([0, 0, 1])}), ["team"])
    []
    """
    rest = {name: graph.layers[name] for name in graph.layers if name not in set(layers)}
    groups = [name for name, layer in rest.items() if layer.made_of == "groups"]
    large = [name for name in groups if rest[name].num_edges > MAX_IMPLIED_EDGES]
    said = []
    if large:
        said.append(
            f"Who shares a group of {named(large)} is not asked about, since more than {MAX_IMPLIED_EDGES:,} pairs do; "
            "such groups serve as evidence."
        )
    if small := [name for name in groups if name not in large]:
        said.append(f"The groups of {named(small)} serve as evidence; links are asked about in layers of edges.")
    return said


def closed_share(matrix: sp.csr_array, random: np.random.Generator) -> float:
    """The share of paths of two steps whose ends are linked, from a sample; 0 without such paths.

    >>> triangle = sp.csr_array(np.ones((3, 3)) - np.eye(3))
    >>> closed_share(triangle, np.random.default_rng(0))
    1.0
    """
    degree = np.diff(matrix.indptr).astype(np.int64)
    chance = (degree * (degree - 1)).astype(np.float64)
    if not chance.any():
        return 0.0
    middle = random.choice(degree.size, size=4000, p=chance / chance.sum())
    first = random.integers(0, degree[middle])
    second = (first + random.integers(1, degree[middle])) % degree[middle]
    ends = matrix.indices[matrix.indptr[middle][:, None] + np.column_stack([first, second])]
    return float((entries(matrix, ends.astype(np.int64)) != 0).mean())


def _looks_like_groups(layer: Layer) -> bool:
    matrix = layer.to_scipy()
    both = sp.csr_array(matrix + matrix.T) if layer.directed else matrix
    nodes = max(int(np.count_nonzero(np.diff(both.indptr))), 2)
    density = both.nnz / (nodes * (nodes - 1))
    # a dense layer closes many paths by chance
    return closed_share(both, np.random.default_rng(0)) >= max(0.9, density + 0.2)


LINKED, UNLINKED, MATCHED = 0, 1, 2
MAX_LISTED = 50_000
"""Candidates without a link that are listed for a part of a layer; more are represented by a sample of as many."""


def set_aside(
    graph: MultilayerGraph,
    name: str,
    gathered: Gathered,
    seed: int,
    tell: Callable[[], None] | None = None,
    groups: MembershipLayer | None = None,
    most_candidates: int = MAX_LISTED,
) -> LayerExamples:
    """Evidence for edges of a layer that are set aside, and for pairs without one; told after each part.

    ``groups`` is the layer as it was given, if its edges are those that groups imply. ``most_candidates`` bounds how
    many candidates are listed for each part.
    """
    rows, kinds, pairs, lists = [], [], [], []
    for part, asked, kind in _parts(graph, name, seed, groups):
        evidence, thinner = (Evidence(seen, name, gathered) for seen in (part.graph, part.thinner))
        rows.append(evidence.of(asked))
        kinds.append(kind)
        pairs.append(asked)
        whole, *shares = (one.layers[name].num_edges for one in (graph, part.graph, part.thinner))
        lists.append(
            replace(
                _candidate_list(graph, part.linked, evidence, most_candidates),
                thinner=_candidate_list(graph, part.linked, thinner, most_candidates),
                visible_shares=tuple(share / whole for share in shares),
            )
        )
        if tell is not None:
            tell()
    kind = np.concatenate(kinds)
    return LayerExamples(
        np.concatenate(rows),
        kind == LINKED,
        kind == MATCHED,
        np.concatenate(pairs),
        part_index=np.repeat(np.arange(len(kinds)), [len(some) for some in kinds]),
        lists=tuple(lists),
    )


def _candidate_list(graph: MultilayerGraph, set_aside: Pairs, evidence: Evidence, most: int) -> CandidateList:
    """What would be shown of a graph that lacks some edges: its candidates, or a sample of those without a link."""
    edges, lacking = graph.layers[evidence.layer], evidence.graph.layers[evidence.layer]
    pairs = evidence.candidates(lacking.to_scipy(), edges.present)
    places = np.arange(1, len(set_aside) + 1)
    found = sp.csr_array((places, (set_aside[:, 0], set_aside[:, 1])), shape=lacking.to_scipy().shape)
    linked = entries(found, pairs) != 0
    unlinked = entries(edges.to_scipy(), pairs) == 0
    share = min(1.0, most / max(int(unlinked.sum()), 1))
    if share < 1.0:
        unlinked &= np.random.default_rng(len(pairs)).random(len(pairs)) < share
    pairs, linked = pairs[linked | unlinked], linked[linked | unlinked]
    rows = evidence.of(pairs).astype(np.float32)
    return CandidateList(pairs, rows, linked, len(set_aside), share)


def with_all_edges(examples: LayerExamples, evidence: Evidence) -> LayerExamples:
    """Examples that were set aside, some of them with their evidence in the graph with all edges too."""
    if examples.pairs is None:
        return examples
    return replace(examples, whole=evidence.of(examples.pairs[examples.compared]))


def given_examples(graph: MultilayerGraph, name: str, evidence: Evidence, pairs: Any, linked: Any) -> LayerExamples:
    """Evidence for pairs whose answers are given."""
    positions = named_pairs(graph, pairs)
    answers = np.asarray(linked).astype(bool)
    if answers.shape != (len(positions),) or len(np.unique(answers)) < 2:
        raise DataError(
            f"the examples of layer {name!r} need an answer for each of {len(positions)} pairs, linked ones and "
            "unlinked ones among them"
        )
    return LayerExamples(evidence.of(positions), answers)


def _parts(
    graph: MultilayerGraph, name: str, seed: int, groups: MembershipLayer | None
) -> Iterator[tuple[Round, Pairs, Ints]]:
    """Rounds with the pairs to learn from and of what kind each is; the same whenever they are asked for."""
    number, edges = list(graph.layers).index(name), graph.layers[name]
    known = edges.to_scipy()
    for place, one in enumerate(rounds(graph, name, np.random.default_rng([seed, number]), groups)):
        matched = unlinked_pairs(
            known,
            (len(one.linked) + 1) // 2,  # besides as many uniform ones as there are linked ones
            np.random.default_rng([seed, number, place]),
            directed=edges.directed,
            degree_matched=True,
            present=edges.present,
        )
        pairs = [one.linked, one.unlinked, matched]
        yield one, np.concatenate(pairs), np.repeat([LINKED, UNLINKED, MATCHED], [len(some) for some in pairs])
