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
    pair_list = pairs.to_numpy().tolist() if isinstance(pairs, pd.DataFrame) else list(pairs)
    if any(len(pair) != 2 for pair in pair_list):
        raise DataError("a pair must be two node names, source and target")
    first_positions = graph.positions([pair[0] for pair in pair_list])
    second_positions = graph.positions([pair[1] for pair in pair_list])
    return np.column_stack([first_positions, second_positions]).reshape(-1, 2)


def checked(graph: Any) -> MultilayerGraph:
    """The graph with its couplings as layers; refused if it is none, has no layers, or numbers beyond all bounds."""
    graph = checked_graph(graph)
    if not graph.num_layers:
        raise DataError("the graph has no layers, so there are no links to learn from")
    flat_graph: MultilayerGraph = with_coupling_layers(graph)
    check_number_range(flat_graph)
    return flat_graph


def with_edges(graph: MultilayerGraph) -> MultilayerGraph:
    """A graph of groups alone with those layers as edges that imply few enough, so that there is something to ask."""
    if any(layer.made_of == "edges" and layer.num_edges > 1 for layer in graph.layers.values()):
        return graph
    edge_layers: dict[str, Layer] = {
        layer_name: layer.to_edges() if layer.num_edges <= MAX_IMPLIED_EDGES else layer
        for layer_name, layer in graph.layers.items()
    }
    return graph.replace(layers=edge_layers)


def groups_asked_about(graph: MultilayerGraph, layers: Iterable[str]) -> dict[str, MembershipLayer]:
    """Those of the layers that are made of groups, which are asked about as the edges that these imply."""
    groups_by_layer = {layer_name: graph.layers[layer_name].as_groups() for layer_name in layers}
    return {layer_name: groups for layer_name, groups in groups_by_layer.items() if groups is not None}


def columns(groups: Mapping[str, MembershipLayer]) -> list[str]:
    """Layers in which no node is in more than one group, like the columns of a table."""
    return [layer_name for layer_name, layer in groups.items() if layer.single]


def layers_to_learn(graph: MultilayerGraph, layers: Iterable[str] | None) -> list[str]:
    """The layers named, which must have edges; all that have some where none are named."""
    if layers is None:
        layer_names = [name for name, layer in graph.layers.items() if layer.made_of == "edges" and layer.num_edges > 1]
    else:
        layer_names = [layers] if isinstance(layers, str) else list(layers)
        for layer_name in layer_names:
            edge_layer(graph, layer_name)
    if not layer_names:
        has_groups = any(layer.made_of != "edges" for layer in graph.layers.values())
        group_words = f", or groups that imply at most {MAX_IMPLIED_EDGES:,}" if has_groups else ""
        raise DataError(f"no layer has at least 2 edges{group_words}, so there are no links to learn from")
    if len(layer_names) > MAX_LAYERS_LEARNED:
        raise DataError(
            "the links of each layer are learned from all layers, which takes too long for "
            f"{len(layer_names):,} of them; name at most {MAX_LAYERS_LEARNED} with {setting('layers', option='layer')}"
        )
    return layer_names


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
    entry_layer: EdgeLayer | MembershipLayer = groups if groups is not None and by_member else edges
    entry_order = random.permutation(entry_layer.num_entries)
    if edges.num_edges <= MAX_FOLDED_EDGES:
        entry_parts = np.array_split(entry_order, num_rounds(graph, layer))
    else:
        entry_parts = [entry_order[: min(MAX_LINKED, entry_order.size // 10)]]
    for part_index, part_entries in enumerate(entry_parts):
        next_entries = (
            entry_parts[(part_index + 1) % len(entry_parts)]
            if len(entry_parts) > 1
            else entry_order[len(part_entries) : 2 * len(part_entries)]
        )
        remaining_layer, thinner_layer = (
            entry_layer.with_entries(~np.isin(np.arange(entry_order.size), removed_entries)).to_edges()
            for removed_entries in (part_entries, np.concatenate([part_entries, next_entries]))
        )
        linked_pairs = (
            _lost(edges, remaining_layer, random)
            if by_member
            else np.column_stack([edges.source[part_entries], edges.target[part_entries]])
        )
        drawn_pairs = unlinked_pairs(
            edges.to_scipy(), len(linked_pairs), random, directed=edges.directed, present=edges.present
        )
        visible_graph, thinner_graph = (
            graph.replace(layers={**graph.layers, layer: changed_layer})
            for changed_layer in (remaining_layer, thinner_layer)
        )
        yield Round(visible_graph, linked_pairs.astype(np.int64), drawn_pairs, thinner_graph)


def _lost(before: EdgeLayer, after: EdgeLayer, random: np.random.Generator) -> Pairs:
    """Pairs that only the first of two layers joins, no more than can be learned from."""
    lost_pairs: Pairs = np.column_stack([before.source, before.target]).astype(np.int64)
    lost_pairs = lost_pairs[entries(after.to_scipy(), lost_pairs) == 0]
    if len(lost_pairs) > MAX_LINKED:
        lost_pairs = lost_pairs[np.sort(random.choice(len(lost_pairs), MAX_LINKED, replace=False))]
    return lost_pairs


def num_rounds(graph: MultilayerGraph, layer: str) -> int:
    """How many :func:`rounds` a layer has."""
    num_edges = graph.layers[layer].num_edges
    return min(FOLDS, num_edges) if num_edges <= MAX_FOLDED_EDGES else 1


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
    num_nodes = known.shape[0]
    eligible_nodes = np.arange(num_nodes) if present is None else np.flatnonzero(present)
    end_chances: list[Floats | None] = [None, None]
    if degree_matched and known.nnz:
        out_degree = np.diff(known.indptr)[eligible_nodes].astype(np.float64)
        in_degree = np.bincount(known.indices, minlength=num_nodes)[eligible_nodes].astype(np.float64)
        end_chances = [out_degree / out_degree.sum(), in_degree / in_degree.sum()]
    found_pairs = np.zeros((0, 2), dtype=np.int64)
    for _ in range(50):
        num_missing = count - len(found_pairs)
        if num_missing <= 0 or eligible_nodes.size < 2:
            break
        drawn_ends = [
            random.choice(eligible_nodes, size=2 * num_missing + 10, p=end_chance)
            if end_chance is not None
            else eligible_nodes[random.integers(0, eligible_nodes.size, 2 * num_missing + 10)]
            for end_chance in end_chances
        ]
        drawn_pairs = np.column_stack(drawn_ends).astype(np.int64)
        if not directed:
            drawn_pairs.sort(axis=1)
        is_unlinked = (drawn_pairs[:, 0] != drawn_pairs[:, 1]) & (entries(known, drawn_pairs) == 0)
        found_pairs = np.concatenate([found_pairs, drawn_pairs[is_unlinked]])
        found_pairs = found_pairs[np.sort(np.unique(found_pairs, axis=0, return_index=True)[1])][:count]
    return found_pairs


def easily_told(graph: MultilayerGraph, layers: Iterable[str], groups: Mapping[str, MembershipLayer]) -> list[str]:
    """What to say about how edges of layers were set aside, a sentence or two for each kind of layer.

    All layers that are asked about are edges in the graph; ``groups`` are those whose edges groups imply.
    """
    found_sentences = []
    column_names = columns(groups)
    if column_names:
        found_sentences.append(
            "Who is in one group with whom is told from the other layers alone: within a layer, any member of a group "
            "would give away all others."
        )
    if set(groups) - set(column_names):
        found_sentences.append(
            "Whole memberships were set aside, not single pairs, which the rest of their group would give away."
        )
    closed_layers = [
        layer_name for layer_name in layers if layer_name not in groups and _looks_like_groups(graph.layers[layer_name])
    ]
    if closed_layers:
        found_sentences.append(
            f"In {named(closed_layers)}, nearly all neighbours of a node are linked with each other, as the members of "
            "groups are. A pair set aside there is given away by the rest of its group, so the figure says little "
            "about links between groups."
        )
    return found_sentences


def evidence_only(graph: MultilayerGraph, layers: Iterable[str]) -> list[str]:
    """What to say about layers of groups that are not asked about: why, and that they serve as evidence.

    >>> evidence_only(MultilayerGraph({"team": MembershipLayer.from_codes([0, 0, 1])}), ["team"])
    []
    """
    other_layers = {
        layer_name: graph.layers[layer_name] for layer_name in graph.layers if layer_name not in set(layers)
    }
    group_layers = [layer_name for layer_name, layer in other_layers.items() if layer.made_of == "groups"]
    large_layers = [layer_name for layer_name in group_layers if other_layers[layer_name].num_edges > MAX_IMPLIED_EDGES]
    group_sentences = []
    if large_layers:
        group_sentences.append(
            f"Who shares a group of {named(large_layers)} is not asked about, since more than "
            f"{MAX_IMPLIED_EDGES:,} pairs do; such groups serve as evidence."
        )
    if small_layers := [layer_name for layer_name in group_layers if layer_name not in large_layers]:
        group_sentences.append(
            f"The groups of {named(small_layers)} serve as evidence; links are asked about in layers of edges."
        )
    return group_sentences


def closed_share(matrix: sp.csr_array, random: np.random.Generator) -> float:
    """The share of paths of two steps whose ends are linked, from a sample; 0 without such paths.

    >>> triangle = sp.csr_array(np.ones((3, 3)) - np.eye(3))
    >>> closed_share(triangle, np.random.default_rng(0))
    1.0
    """
    degree = np.diff(matrix.indptr).astype(np.int64)
    middle_chance = (degree * (degree - 1)).astype(np.float64)
    if not middle_chance.any():
        return 0.0
    middle_node = random.choice(degree.size, size=4000, p=middle_chance / middle_chance.sum())
    first_offset = random.integers(0, degree[middle_node])
    second_offset = (first_offset + random.integers(1, degree[middle_node])) % degree[middle_node]
    path_ends = matrix.indices[matrix.indptr[middle_node][:, None] + np.column_stack([first_offset, second_offset])]
    return float((entries(matrix, path_ends.astype(np.int64)) != 0).mean())


def _looks_like_groups(layer: Layer) -> bool:
    matrix = layer.to_scipy()
    symmetric_matrix = sp.csr_array(matrix + matrix.T) if layer.directed else matrix
    num_nodes = max(int(np.count_nonzero(np.diff(symmetric_matrix.indptr))), 2)
    edge_density = symmetric_matrix.nnz / (num_nodes * (num_nodes - 1))
    # a dense layer closes many paths by chance
    return closed_share(symmetric_matrix, np.random.default_rng(0)) >= max(0.9, edge_density + 0.2)


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
    many candidates are listed for each part; in a graph of more than 100,000 edges, where that takes seconds, the first
    part has to do.
    """
    is_large = sum(layer.num_edges for layer in graph.layers.values() if layer.made_of == "edges") > 100_000
    evidence_rows, kinds_by_part, pairs_by_part = [], [], []
    candidate_lists: list[CandidateList] = []
    for round_part, asked_pairs, pair_kinds in _parts(graph, name, seed, groups):
        evidence = Evidence(round_part.graph, name, gathered)
        evidence_rows.append(evidence.of(asked_pairs))
        kinds_by_part.append(pair_kinds)
        pairs_by_part.append(asked_pairs)
        if not candidate_lists or not is_large:
            num_edges, *visible_edges = (
                some_graph.layers[name].num_edges for some_graph in (graph, round_part.graph, round_part.thinner)
            )
            thinner_evidence = Evidence(round_part.thinner, name, gathered)
            candidate_lists.append(
                replace(
                    _candidate_list(graph, round_part.linked, evidence, most_candidates),
                    thinner=_candidate_list(graph, round_part.linked, thinner_evidence, most_candidates),
                    visible_shares=tuple(num_visible / num_edges for num_visible in visible_edges),
                )
            )
        if tell is not None:
            tell()
    pair_kinds = np.concatenate(kinds_by_part)
    return LayerExamples(
        np.concatenate(evidence_rows),
        pair_kinds == LINKED,
        pair_kinds == MATCHED,
        np.concatenate(pairs_by_part),
        part_index=np.repeat(np.arange(len(kinds_by_part)), [len(part_kinds) for part_kinds in kinds_by_part]),
        lists=tuple(candidate_lists),
    )


def _candidate_list(graph: MultilayerGraph, set_aside: Pairs, evidence: Evidence, most: int) -> CandidateList:
    """What would be shown of a graph that lacks some edges: its candidates, or a sample of those without a link."""
    full_layer, visible_layer = graph.layers[evidence.layer], evidence.graph.layers[evidence.layer]
    candidate_pairs = evidence.candidates(visible_layer.to_scipy(), full_layer.present)
    edge_numbers = np.arange(1, len(set_aside) + 1)
    edge_numbers_matrix = sp.csr_array(
        (edge_numbers, (set_aside[:, 0], set_aside[:, 1])), shape=visible_layer.to_scipy().shape
    )
    is_linked = entries(edge_numbers_matrix, candidate_pairs) != 0
    is_unlinked = entries(full_layer.to_scipy(), candidate_pairs) == 0
    sampled_share = min(1.0, most / max(int(is_unlinked.sum()), 1))
    if sampled_share < 1.0:
        is_unlinked &= np.random.default_rng(len(candidate_pairs)).random(len(candidate_pairs)) < sampled_share
    candidate_pairs, is_linked = candidate_pairs[is_linked | is_unlinked], is_linked[is_linked | is_unlinked]
    evidence_rows = evidence.of(candidate_pairs).astype(np.float32)
    return CandidateList(candidate_pairs, evidence_rows, is_linked, len(set_aside), sampled_share)


def with_all_edges(examples: LayerExamples, evidence: Evidence) -> LayerExamples:
    """Examples that were set aside, some of them with their evidence in the graph with all edges too."""
    if examples.pairs is None:
        return examples
    return replace(examples, whole=evidence.of(examples.pairs[examples.compared]))


def given_examples(graph: MultilayerGraph, name: str, evidence: Evidence, pairs: Any, linked: Any) -> LayerExamples:
    """Evidence for pairs whose answers are given."""
    pair_positions = named_pairs(graph, pairs)
    is_linked = np.asarray(linked).astype(bool)
    if is_linked.shape != (len(pair_positions),) or len(np.unique(is_linked)) < 2:
        raise DataError(
            f"the examples of layer {name!r} need an answer for each of {len(pair_positions)} pairs, linked ones and "
            "unlinked ones among them"
        )
    return LayerExamples(evidence.of(pair_positions), is_linked)


def _parts(
    graph: MultilayerGraph, name: str, seed: int, groups: MembershipLayer | None
) -> Iterator[tuple[Round, Pairs, Ints]]:
    """Rounds with the pairs to learn from and of what kind each is; the same whenever they are asked for."""
    layer_number, layer_edges = list(graph.layers).index(name), graph.layers[name]
    known_edges = layer_edges.to_scipy()
    for part_number, round_part in enumerate(rounds(graph, name, np.random.default_rng([seed, layer_number]), groups)):
        matched_pairs = unlinked_pairs(
            known_edges,
            (len(round_part.linked) + 1) // 2,  # besides as many uniform ones as there are linked ones
            np.random.default_rng([seed, layer_number, part_number]),
            directed=layer_edges.directed,
            degree_matched=True,
            present=layer_edges.present,
        )
        pairs_by_kind = [round_part.linked, round_part.unlinked, matched_pairs]
        yield (
            round_part,
            np.concatenate(pairs_by_kind),
            np.repeat([LINKED, UNLINKED, MATCHED], [len(kind_pairs) for kind_pairs in pairs_by_kind]),
        )
