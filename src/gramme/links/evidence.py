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

from gramme._types import Floats
from gramme.graph import Layer, MultilayerGraph

from .attention import LinkAttention, attention_is_affordable
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
from .sampling import candidate_pairs


@dataclass(frozen=True)
class Gathered:
    """Which costly evidence is gathered. It is settled once, before anything is learned, and holds for every pair.

    The layers left out are those of one group per node, like a column of a table: any member of a group would give away
    who else is in it, so what speaks for a pair is taken from the other layers alone.
    """

    long_walks: int = STEPS[-1]  # steps of the longest walks that are followed
    attention: bool = False
    seed: int = 0  # of the attention's training
    excluded_layers: tuple[str, ...] = ()

    @classmethod
    def affordable(
        cls, graph: MultilayerGraph, trainings: int, seed: int, excluded_layers: Iterable[str] = ()
    ) -> Gathered:
        """What a graph of this size allows for, with so many trainings of attention.

        Layers that only the others tell of would need an attention each, so there is none then.
        """
        alone = tuple(excluded_layers)
        entries = sum(2 * layer.num_edges for layer in graph.layers.values() if layer.made_of == "edges")
        return cls(
            affordable_steps(graph.num_nodes, entries),
            not alone and attention_is_affordable(graph, trainings),
            seed,
            alone,
        )


@dataclass(frozen=True)
class WholeGraph:
    """Evidence of a graph as a whole, found once for all its layers."""

    gathered: Gathered
    closeness: WalkCloseness
    attention: LinkAttention | None

    @classmethod
    def of(
        cls,
        graph: MultilayerGraph,
        gathered: Gathered | None = None,
        attention: LinkAttention | None = None,
        *,
        layer: str | None = None,
    ) -> WholeGraph:
        """Find it; attention is trained where it is asked for and not given.

        The layer that is asked about matters only if it is one of those that the others tell of.
        """
        wanted = Gathered() if gathered is None else gathered
        if layer is not None and layer in wanted.excluded_layers:
            asked = graph.layers[layer]
            nothing = asked.with_entries(np.zeros(asked.num_entries, dtype=bool))
            graph = graph.replace(layers={**graph.layers, layer: nothing})
        if wanted.attention and attention is None:
            attention = LinkAttention.trained(graph, wanted.seed)
        return cls(wanted, WalkCloseness.of(graph), attention)


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
    "attention": ("attention trained for links", "attention trained for links"),
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
        directed, symmetric, groups = {}, {}, []
        for name, layer in layers.items():
            incidence = layer.incidence()
            if incidence is not None:
                groups.append(incidence)
                continue
            matrix = layer.to_scipy()
            directed[name] = matrix
            symmetric[name] = sp.csr_array(matrix.maximum(matrix.T)) if layer.directed else matrix
        beside = sp.hstack(groups, format="csr") if groups else sp.csr_array((num_nodes, 0))
        return cls(directed, symmetric, sp.csr_array(beside), num_nodes)

    def summed(self, leave_out: str | None = None) -> sp.csr_array:
        """All symmetric matrices added up, each scaled to a mean weight of 1; without one layer."""
        total = sp.csr_array((self.num_nodes, self.num_nodes))
        for name, matrix in self.symmetric.items():
            if name != leave_out and matrix.nnz:
                total = sp.csr_array(total + matrix / matrix.data.mean())
        return total


class Evidence:
    """The evidence for links of one layer, given the edges that may be seen.

    Parameters
    ----------
    graph : MultilayerGraph
        Its layers hold the edges that may be seen.
    layer : str
        The layer whose links are asked about; one of edges.
    whole : WholeGraph, optional
        What the graph as a whole says; found, without attention, if not given.
    """

    def __init__(self, graph: MultilayerGraph, layer: str, whole: WholeGraph | None = None) -> None:
        self.graph, self.layer = graph, layer
        self.is_directed = graph.layers[layer].directed
        self.whole = WholeGraph.of(graph) if whole is None else whole
        self.matrices = LayerMatrices.of(graph.layers, graph.num_nodes)
        others = self.matrices.summed(leave_out=layer)
        own, together = self.matrices.symmetric[layer], self.matrices.summed()
        if layer in self.whole.gathered.excluded_layers:
            own, together = sp.csr_array(own.shape), others
        self.scores = {"own": PathScores(own), "others": PathScores(others), "all": PathScores(together)}
        steps = self.whole.gathered.long_walks
        self.long_walks = [LongWalks(matrix, steps) for matrix in (together, own)]
        self.features = _unit_features(graph.features)
        self.likely = self._resemblance()
        sizes = np.asarray((self.matrices.groups > 0).sum(axis=0)).ravel()
        self.group_log = _scaled_groups(self.matrices.groups, 1 / np.sqrt(np.log1p(sizes)))
        self.group_share = _scaled_groups(self.matrices.groups, 1 / np.sqrt(np.maximum(sizes, 1)))

    def _resemblance(self) -> dict[str, float]:
        """For every other layer, the log of how much more often its edges are this layer's than by chance."""
        own = self.matrices.symmetric[self.layer]
        pairs = max(self.matrices.num_nodes * (self.matrices.num_nodes - 1.0), 1.0)
        base = (own.nnz + 1) / pairs
        found = {}
        for name, matrix in self.matrices.symmetric.items():
            if name != self.layer and matrix.nnz:
                shared = (own > 0).multiply(matrix > 0).nnz
                found[name] = float(np.log((shared + base * 10) / (matrix.nnz + 10) / base))
        return found

    def of(self, pairs: Pairs) -> Floats:
        """The evidence for each pair of positions, shape (pairs, columns), in the order of :func:`column_names`.

        What a pair gets does not depend on the others, nor, in an undirected layer, on the order of its ends.
        """
        pairs = np.asarray(pairs, dtype=np.int64).reshape(-1, 2)
        if not self.is_directed:
            pairs = np.sort(pairs, axis=1)
        found = [np.log1p(self.scores[where].of(pairs)) for where in WHERE]
        walks = np.column_stack([*(one.of(pairs) for one in self.long_walks), self.whole.closeness.of_pairs(pairs)])
        plain = dict(zip(WALKS, walks.T, strict=True)) | {
            "repeated": self._repeated(pairs, dict.fromkeys(self.likely, 1.0)),
            "repeated_likely": self._repeated(pairs, self.likely),
            "groups": row_products(self.group_log, pairs),
            "group_shares": row_products(self.group_share, pairs),
        }
        if self.is_directed:
            matrix, back = self.matrices.directed[self.layer], pairs[:, ::-1]
            plain["answered"] = (entries(matrix, back) > 0).astype(np.float64)
            plain["repeated_answered"] = self._repeated(back, dict.fromkeys(self.likely, 1.0))
            plain["sends"] = np.log1p(np.diff(matrix.indptr))[pairs[:, 0]]
            plain["receives"] = np.log1p(np.bincount(matrix.indices, minlength=len(self.graph.nodes)))[pairs[:, 1]]
        if self.whole.attention is not None:
            plain["attention"] = self.whole.attention.of_pairs(self.layer, pairs)
        if self.features is not None:
            alike = row_products(self.features, pairs)
            plain |= {"attributes": alike, "attributes_far": np.sqrt(2.0 - 2.0 * np.clip(alike, -1.0, 1.0))}
        nothing = np.zeros(len(pairs))
        return np.column_stack([*found, *(plain.get(name, nothing) for name in PLAIN)])

    def candidates(
        self, known: sp.csr_array, present: NDArray[np.bool_], sources: NDArray[np.int64] | None = None
    ) -> Pairs:
        """Pairs of nodes of the layer without an edge in ``known`` that are near each other in any layer."""
        pairs = candidate_pairs(
            self.scores["all"].adjacency, self.matrices.groups, known, directed=self.is_directed, sources=sources
        )
        fresh: Pairs = pairs[present[pairs].all(axis=1)]
        return fresh

    def linked_in(self, pairs: Pairs) -> list[str]:
        """For each pair the names of the other layers that link it."""
        found: list[list[str]] = [[] for _ in range(len(pairs))]
        seen = self.matrices.directed if self.is_directed else self.matrices.symmetric
        for name in self.likely:
            for place in np.flatnonzero(entries(seen[name], pairs)):
                found[place].append(name)
        return [named(names) for names in found]

    def _repeated(self, pairs: Pairs, weights: Mapping[str, float]) -> Floats:
        total = np.zeros(len(pairs))
        # as the other layer has it: one with a direction speaks for that direction, if there is one to ask about
        seen = self.matrices.directed if self.is_directed else self.matrices.symmetric
        for name, weight in weights.items():
            total += weight * (entries(seen[name], pairs) > 0)
        return total


def _scaled_groups(groups: sp.csr_array, scale: NDArray[Any]) -> sp.csr_array:
    there = groups.copy()
    there.data = np.ones_like(there.data)
    return sp.csr_array(there @ sp.diags_array(scale)) if there.shape[1] else there


def _unit_features(features: Any) -> Any:
    """Rows of attributes, scaled to length 1."""
    if features is None:
        return None
    if not isinstance(features, np.ndarray):
        matrix: Any = sp.csr_array(features).astype(np.float64)
        length = np.sqrt(np.asarray(matrix.multiply(matrix).sum(axis=1)).ravel())
        inverse = np.divide(1.0, length, out=np.zeros_like(length), where=length > 0)
        return sp.csr_array(sp.diags_array(inverse) @ matrix)
    dense = np.asarray(features, dtype=np.float64)
    spread = dense.std(axis=0)
    dense = (dense - dense.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    length = np.linalg.norm(dense, axis=1, keepdims=True)
    return dense / np.where(length > 0, length, 1.0)


def named(layers: list[str]) -> str:
    """The names of layers in a row, no more than three of them.

    >>> named(["advice", "friend"]), named(["a", "b", "c", "d", "e"])
    ('advice, friend', 'a, b, c and 2 other layers')
    """
    more = len(layers) - 3
    if more <= 1:
        return ", ".join(layers)
    return f"{', '.join(layers[:3])} and {more} other layers"
