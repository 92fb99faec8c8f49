"""Evidence for a link: every score of a pair in a layer, from that layer, from the others and from all together.

The columns are the same for every layer of every graph, so one mixture can learn from all layers at once, and a layer
with few edges profits from those with many.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.preprocessing import StandardScaler, normalize

from gramme._types import Floats, Ints
from gramme.graph import Layer, MultilayerGraph
from gramme.ops.kernels import compiled

from .pair_scores import (
    SCORES,
    STEPS,
    LongWalks,
    Pairs,
    PathScores,
    WalkCloseness,
    affordable_steps,
    entries,
    row_products,
)


@dataclass(frozen=True)
class Gathered:
    """Which costly evidence is gathered. It is settled once, before anything is learned, and holds for every pair.

    The layers left out are those of one group per node, like a column of a table: any member of a group would give away
    who else is in it, so what speaks for a pair is taken from the other layers alone.
    """

    long_walks: int = STEPS[-1]  # steps of the longest walks that are followed
    excluded_layers: tuple[str, ...] = ()

    @classmethod
    def affordable(cls, graph: MultilayerGraph, excluded_layers: Iterable[str] = ()) -> Gathered:
        """What a graph of this size allows for."""
        num_entries = sum(2 * layer.num_edges for layer in graph.layers.values() if layer.made_of == "edges")
        return cls(affordable_steps(graph.num_nodes, num_entries), tuple(excluded_layers))

    def closeness(self, graph: MultilayerGraph, layer: str) -> WalkCloseness:
        """Where walks lead over all layers; without the one asked about, if only the others may speak for its pairs."""
        if layer in self.excluded_layers:
            asked_layer = graph.layers[layer]
            empty_layer = asked_layer.with_entries(np.zeros(asked_layer.num_entries, dtype=bool))
            graph = graph.replace(layers={**graph.layers, layer: empty_layer})
        return WalkCloseness.of(graph)


WALKS_MEET = "walks from both often meet"
WORDS = {
    "adamic_adar": ("common neighbours (Adamic-Adar)", "common neighbours"),
    "resource_allocation": ("common neighbours (resource allocation)", "common neighbours"),
    "paths": ("paths of length 3", "paths of length 3"),
    "paths_normalised": ("paths of length 3, by degrees", "paths of length 3"),
    "attachment": ("many links of both", "both have many links"),
    "smaller_degree": ("many links of the less linked one", "both have many links"),
}
"""What a score says, and in the fewest words."""
WHERE = {"own": "in the layer", "others": "in the other layers", "all": "in all layers"}
PLAIN = {
    "repeated": ("linked in other layers", "linked in other layers"),
    "repeated_likely": ("linked in layers that this one resembles", "linked in other layers"),
    "answered": ("linked the other way round", "linked the other way round"),
    "repeated_answered": ("linked the other way round in other layers", "linked in other layers"),
    "sends": ("points to many", "points to many"),
    "receives": ("many point to it", "many point to it"),
    "groups": ("rare groups in common", "groups in common"),
    "group_shares": ("small groups in common", "groups in common"),
    **{f"walks_{step}": (f"walks of {step} steps", WALKS_MEET) for step in STEPS},
    **{f"own_walks_{step}": (f"walks of {step} steps in the layer", WALKS_MEET) for step in STEPS},
    "walks_near": ("short walks lead to the same places", WALKS_MEET),
    "walks_far": ("long walks lead to the same places", WALKS_MEET),
    "attributes": ("similar attributes", "similar attributes"),
    "attributes_far": ("distance of attributes", "similar attributes"),
}
WALKS = tuple(name for name in PLAIN if "walks" in name)
"""All steps in all layers, all steps in the layer, and what their profiles say."""


def column_names() -> list[str]:
    """The columns in order."""
    return [f"{where}_{score}" for where in WHERE for score in SCORES] + list(PLAIN)


def in_words(column: str) -> str:
    """What a column says, for a reader.

    >>> in_words("own_paths"), in_words("repeated")
    ('paths of length 3 in the layer', 'linked in other layers')
    """
    if column in PLAIN:
        return PLAIN[column][0]
    where, _, score = column.partition("_")
    return f"{WORDS[score][0]} {WHERE[where]}"


def family(column: str) -> str:
    """What a column is about, in the fewest words.

    >>> family("own_paths"), family("repeated")
    ('paths of length 3', 'linked in other layers')
    """
    return PLAIN[column][1] if column in PLAIN else WORDS[column.partition("_")[2]][1]


@dataclass(frozen=True)
class LayerMatrices:
    """The layers of a graph as matrices: directed as they are, symmetric for paths, and the groups of memberships."""

    directed: dict[str, sp.csr_array]
    symmetric: dict[str, sp.csr_array]
    groups: sp.csr_array
    num_nodes: int

    @classmethod
    def of(cls, layers: Mapping[str, Layer], num_nodes: int) -> LayerMatrices:
        """From the layers of a graph."""
        directed, symmetric, group_matrices = {}, {}, []
        for layer_name, layer in layers.items():
            incidence = layer.incidence()
            if incidence is not None:
                group_matrices.append(incidence)
                continue
            matrix = layer.to_scipy()
            directed[layer_name] = matrix
            symmetric[layer_name] = sp.csr_array(matrix.maximum(matrix.T)) if layer.directed else matrix
        all_groups = sp.hstack(group_matrices, format="csr") if group_matrices else sp.csr_array((num_nodes, 0))
        return cls(directed, symmetric, sp.csr_array(all_groups), num_nodes)

    def summed(self, leave_out: str | None = None) -> sp.csr_array:
        """All symmetric matrices added up, each scaled to a mean weight of 1; without one layer."""
        summed_matrix = sp.csr_array((self.num_nodes, self.num_nodes))
        for layer_name, matrix in self.symmetric.items():
            if layer_name != leave_out and matrix.nnz:
                summed_matrix = sp.csr_array(summed_matrix + matrix / matrix.data.mean())
        return summed_matrix


class Evidence:
    """The evidence for links of one layer, given the edges that may be seen.

    Parameters
    ----------
    graph : MultilayerGraph
        Its layers hold the edges that may be seen.
    layer : str
        The layer whose links are asked about; one of edges.
    gathered : Gathered, optional
        Which costly evidence is gathered; all if not given.
    closeness : WalkCloseness, optional
        Where walks over all layers lead; found if not given.
    """

    def __init__(
        self,
        graph: MultilayerGraph,
        layer: str,
        gathered: Gathered | None = None,
        closeness: WalkCloseness | None = None,
    ) -> None:
        self.graph, self.layer = graph, layer
        self.is_directed = graph.layers[layer].directed
        gathered = gathered or Gathered()
        self.closeness = gathered.closeness(graph, layer) if closeness is None else closeness
        self.matrices = LayerMatrices.of(graph.layers, graph.num_nodes)
        other_layers = self.matrices.summed(leave_out=layer)
        own_layer, all_layers = self.matrices.symmetric[layer], self.matrices.summed()
        if layer in gathered.excluded_layers:
            own_layer, all_layers = sp.csr_array(own_layer.shape), other_layers
        self.scores = {"own": PathScores(own_layer), "others": PathScores(other_layers), "all": PathScores(all_layers)}
        self.long_walks = [LongWalks(matrix, gathered.long_walks) for matrix in (all_layers, own_layer)]
        self.features = _unit_features(graph.features)
        self.likely = self._resemblance()
        group_sizes = np.asarray((self.matrices.groups > 0).sum(axis=0)).ravel()
        self.group_log = _scaled_groups(self.matrices.groups, 1 / np.sqrt(np.log1p(group_sizes)))
        self.group_share = _scaled_groups(self.matrices.groups, 1 / np.sqrt(np.maximum(group_sizes, 1)))

    def _resemblance(self) -> dict[str, float]:
        """For every other layer, the log of how much more often its edges are this layer's than by chance."""
        own_matrix = self.matrices.symmetric[self.layer]
        num_pairs = max(self.matrices.num_nodes * (self.matrices.num_nodes - 1.0), 1.0)
        base_rate = (own_matrix.nnz + 1) / num_pairs
        log_ratios = {}
        for layer_name, matrix in self.matrices.symmetric.items():
            if layer_name != self.layer and matrix.nnz:
                num_shared = (own_matrix > 0).multiply(matrix > 0).nnz
                log_ratios[layer_name] = float(np.log((num_shared + base_rate * 10) / (matrix.nnz + 10) / base_rate))
        return log_ratios

    def of(self, pairs: Pairs) -> Floats:
        """The evidence for each pair of positions, shape (pairs, columns), in the order of :func:`column_names`.

        What a pair gets does not depend on the others, nor, in an undirected layer, on the order of its ends.
        """
        pairs = np.asarray(pairs, dtype=np.int64).reshape(-1, 2)
        if not self.is_directed:
            pairs = np.sort(pairs, axis=1)
        path_columns = [np.log1p(self.scores[where].of(pairs)) for where in WHERE]
        walk_columns = np.column_stack(
            [*(walks.of(pairs) for walks in self.long_walks), self.closeness.of_pairs(pairs)]
        )
        plain_columns = dict(zip(WALKS, walk_columns.T, strict=True)) | {
            "repeated": self._repeated(pairs, dict.fromkeys(self.likely, 1.0)),
            "repeated_likely": self._repeated(pairs, self.likely),
            "groups": row_products(self.group_log, pairs),
            "group_shares": row_products(self.group_share, pairs),
        }
        if self.is_directed:
            matrix, reversed_pairs = self.matrices.directed[self.layer], pairs[:, ::-1]
            plain_columns["answered"] = (entries(matrix, reversed_pairs) > 0).astype(np.float64)
            plain_columns["repeated_answered"] = self._repeated(reversed_pairs, dict.fromkeys(self.likely, 1.0))
            plain_columns["sends"] = np.log1p(np.diff(matrix.indptr))[pairs[:, 0]]
            plain_columns["receives"] = np.log1p(np.bincount(matrix.indices, minlength=len(self.graph.nodes)))[
                pairs[:, 1]
            ]
        if self.features is not None:
            cosine_similarity = row_products(self.features, pairs)
            plain_columns |= {
                "attributes": cosine_similarity,
                "attributes_far": np.sqrt(2.0 - 2.0 * np.clip(cosine_similarity, -1.0, 1.0)),
            }
        no_evidence = np.zeros(len(pairs))
        return np.column_stack([*path_columns, *(plain_columns.get(column_name, no_evidence) for column_name in PLAIN)])

    def candidates(
        self, known: sp.csr_array, present: NDArray[np.bool_], sources: NDArray[np.int64] | None = None
    ) -> Pairs:
        """Pairs of nodes of the layer without an edge in ``known`` that are near each other in any layer."""
        pairs = candidate_pairs(
            self.scores["all"].adjacency, self.matrices.groups, known, directed=self.is_directed, sources=sources
        )
        present_pairs: Pairs = pairs[present[pairs].all(axis=1)]
        return present_pairs

    def linked_in(self, pairs: Pairs) -> list[str]:
        """For each pair the names of the other layers that link it."""
        linking_layers: list[list[str]] = [[] for _ in range(len(pairs))]
        layer_matrices = self.matrices.directed if self.is_directed else self.matrices.symmetric
        for layer_name in self.likely:
            for pair_index in np.flatnonzero(entries(layer_matrices[layer_name], pairs)):
                linking_layers[pair_index].append(layer_name)
        return [named(layer_names) for layer_names in linking_layers]

    def _repeated(self, pairs: Pairs, weights: Mapping[str, float]) -> Floats:
        summed_weight = np.zeros(len(pairs))
        # as the other layer has it: one with a direction speaks for that direction, if there is one to ask about
        layer_matrices = self.matrices.directed if self.is_directed else self.matrices.symmetric
        for layer_name, layer_weight in weights.items():
            summed_weight += layer_weight * (entries(layer_matrices[layer_name], pairs) > 0)
        return summed_weight


def _scaled_groups(groups: sp.csr_array, scale: NDArray[Any]) -> sp.csr_array:
    group_ones = groups.copy()
    group_ones.data = np.ones_like(group_ones.data)
    return sp.csr_array(group_ones @ sp.diags_array(scale)) if group_ones.shape[1] else group_ones


def _unit_features(features: Any) -> Any:
    """Rows of attributes, standardised where they are dense, scaled to length 1."""
    if isinstance(features, np.ndarray):
        features = StandardScaler().fit_transform(features.astype(np.float64))
    return None if features is None else normalize(features)


def named(layers: list[str]) -> str:
    """The names of layers in a row, no more than three of them.

    >>> named(["advice", "friend"]), named(["a", "b", "c", "d", "e"])
    ('advice, friend', 'a, b, c and 2 other layers')
    """
    num_more = len(layers) - 3
    if num_more <= 1:
        return ", ".join(layers)
    return f"{', '.join(layers[:3])} and {num_more} other layers"


CANDIDATES_PER_NODE = 60
"""Candidates that are kept for each node, those with most paths by degrees."""
MAX_CANDIDATE_PAIRS = 400_000
"""Candidates that are scored in all."""
MAX_GROUP_MEMBERS = 100
"""Members of a group up to which each pair of them is a candidate."""


def candidate_pairs(
    adjacency: sp.csr_array, groups: sp.csr_array, known: sp.csr_array, *, directed: bool, sources: Ints | None = None
) -> Pairs:
    """Pairs without an edge in ``known`` that paths of length 2 or 3, or a small group, join.

    ``adjacency`` holds all layers of edges together, symmetric; ``groups`` who is in which group. If ``directed``, both
    orders of a pair are asked about. ``sources`` are the nodes whose candidates are wanted, all if not given.
    """
    num_nodes = adjacency.shape[0]
    source_nodes = np.arange(num_nodes) if sources is None else sources
    num_per_node = max(5, min(CANDIDATES_PER_NODE, MAX_CANDIDATE_PAIRS // max(source_nodes.size, 1)))
    if sources is not None:
        num_per_node = min(num_nodes, 50 * CANDIDATES_PER_NODE)
    strength = np.asarray(adjacency.sum(axis=1)).ravel()
    by_root = np.divide(1.0, np.sqrt(strength), out=np.zeros(num_nodes), where=strength > 0)
    csr_index = adjacency.indptr.astype(np.int64), adjacency.indices.astype(np.int64)
    nearest_pairs = _nearest(
        *csr_index,
        adjacency.data.astype(np.float64),
        by_root,
        source_nodes.astype(np.int64),
        min(num_per_node, num_nodes),
    )
    pairs = np.concatenate([nearest_pairs, _in_small_groups(groups, source_nodes)])
    if directed:
        pairs = np.concatenate([pairs, pairs[:, ::-1]])
    else:
        pairs = np.sort(pairs, axis=1)
    pairs = np.unique(pairs, axis=0)
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    unlinked_pairs: Pairs = pairs[entries(known, pairs) == 0]
    return unlinked_pairs


def _in_small_groups(groups: sp.csr_array, starts: Ints) -> Pairs:
    if not groups.nnz:
        return np.zeros((0, 2), dtype=np.int64)
    group_sizes = np.bincount(groups.indices, minlength=groups.shape[1])
    small_groups = sp.csr_array(groups[:, np.flatnonzero((group_sizes > 1) & (group_sizes <= MAX_GROUP_MEMBERS))])
    num_shared = (small_groups[starts] @ small_groups.T).tocoo()
    pairs = np.column_stack([starts[num_shared.row], num_shared.col]).astype(np.int64)
    if len(pairs) <= MAX_CANDIDATE_PAIRS:
        return pairs
    best_first = np.argsort(-num_shared.data, kind="stable")[:MAX_CANDIDATE_PAIRS]
    return pairs[best_first]


@compiled
def _nearest(starts: Ints, others: Ints, weights: Floats, by_root: Floats, sources: Ints, most: int) -> Pairs:
    """For each source the nodes with the highest sum of paths of length 2 and 3 by degrees, ``most`` at most.

    Paths go through the first 2,000 neighbours of a node in the order of nodes, so that a hub does not cost the square
    of its edges, and those of length 3 through the 200 nodes two steps away that most paths lead to.
    """
    num_nodes = starts.size - 1
    row_ends = np.minimum(starts[1:], starts[:-1] + 2000)
    two_steps, path_scores = np.zeros(num_nodes), np.zeros(num_nodes)
    nodes_two_away, nodes_near = np.empty(num_nodes, dtype=np.int64), np.empty(num_nodes, dtype=np.int64)
    nearest_pairs = np.empty((sources.size * most, 2), dtype=np.int64)
    num_pairs = 0
    for source in sources:
        num_middle, num_reached, num_left = 0, 0, most
        for entry_index in range(starts[source], row_ends[source]):
            u = others[entry_index]
            step_weight = weights[entry_index] * by_root[u]
            for inner_index in range(starts[u], row_ends[u]):
                v = others[inner_index]
                if v != source:
                    if two_steps[v] == 0.0:
                        nodes_two_away[num_middle] = v
                        num_middle += 1
                    two_steps[v] += step_weight * weights[inner_index] * by_root[v]
        least_middle = 0.0
        if num_middle > 200:
            least_middle = np.partition(two_steps[nodes_two_away[:num_middle]], num_middle - 200)[num_middle - 200]
        for entry_index in range(num_middle):
            v = nodes_two_away[entry_index]
            if path_scores[v] == 0.0:
                nodes_near[num_reached] = v
                num_reached += 1
            path_scores[v] += two_steps[v]
            for inner_index in range(starts[v], row_ends[v] if two_steps[v] >= least_middle else starts[v]):
                w = others[inner_index]
                if path_scores[w] == 0.0:
                    nodes_near[num_reached] = w
                    num_reached += 1
                path_scores[w] += two_steps[v] * weights[inner_index] * by_root[w]
            two_steps[v] = 0.0
        path_scores[source] = 0.0
        nodes_reached = nodes_near[:num_reached]
        least_score = 0.0
        if num_reached > most:
            least_score = np.partition(path_scores[nodes_reached], num_reached - most)[num_reached - most]
        for w in nodes_reached[path_scores[nodes_reached] > least_score]:
            nearest_pairs[num_pairs] = source, w
            num_pairs += 1
            num_left -= 1
        if least_score > 0.0:  # of equal ones the first in the order of nodes
            for w in np.sort(nodes_reached[path_scores[nodes_reached] == least_score])[:num_left]:
                nearest_pairs[num_pairs] = source, w
                num_pairs += 1
        path_scores[nodes_near[:num_reached]] = 0.0
    return nearest_pairs[:num_pairs]
