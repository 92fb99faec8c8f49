"""The features a network starts from: a graph's own, where walks lead, random numbers by node name, or several of them.

*Walks* are the walk profile of :mod:`gramme.methods.linear.walk_profile`: it needs no labels, tells a node's place in
the network, and knows the nodes of another graph by their neighbours' and groups' names. *Random* numbers depend only
on a node's name, so attention has to find out everything by itself; this is the paper's model. The graph's own
features, *given*, are scaled (:mod:`gramme.methods.attention.given_features`). All of them have a mean square of 1.
Walks beside given features are an exception: training labels choose their size
(:mod:`gramme.methods.attention.walk_size`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from gramme.distributed import world_of
from gramme.errors import DataError
from gramme.graph import MultilayerGraph
from gramme.methods.attention.given_features import ENTRY_SUM, GivenFeatures
from gramme.methods.attention.inputs import (
    by_layer,
    dense_features,
    layer_copies,
    random_columns,
)
from gramme.methods.attention.walk_size import MIN_SIZE, chosen_walk_size
from gramme.methods.labels import KnownLabels
from gramme.methods.linear.walk_profile import WALK_STEPS, WalkProfile
from gramme.methods.seen_graph import given_columns
from gramme.ops import Features, SparseFeatures

FEATURE_KINDS = ("given", "walks", "random")
SOURCES = (
    *("+".join(some) for size in (1, 2, 3) for some in combinations(FEATURE_KINDS, size)),
    "both",  # given+random, as it was called when there were two kinds
)
"""What ``features`` may be: one kind, or several joined by +."""
WALK_DIM = 32
"""Eigenvectors of the walk profile; each gives a column for every length of walk."""
GIVEN_DIM = 64
"""Columns of the graph's own features. Where there are more, they stay sparse or are reduced to leading directions."""
RANDOM_DIM = {True: 128, False: 64}
"""Random columns by themselves (True), and beside other features, which leave less for them to tell."""

Matrix = NDArray[np.float32]
Learned = tuple[str, WalkProfile | None, GivenFeatures | None, float]


def feature_source(graph: MultilayerGraph, wanted: str | None) -> str:
    """Which features to use: what was asked for, else the graph's own if it has any, else walks and random ones.

    Where a model attends over couplings, random ones alone: walks keep to the layers, and what they tell of one network
    means nothing in another that is only coupled with it.
    """
    if wanted is None and given_columns(graph):
        return "given"
    if wanted is None:
        return "random" if graph.coupled else "walks+random"
    if "given" in _kinds(wanted) and not given_columns(graph):
        raise DataError(f"features={wanted!r} needs a graph with features, and this one has none")
    return wanted


class SparseColumns(NamedTuple):
    """Features of which most are zero, as a CSR array (nodes, columns), and dense ones that follow, if any."""

    entries: Any
    beside: Matrix | None


def _kinds(source: str) -> tuple[str, ...]:
    return ("given", "random") if source == "both" else tuple(source.split("+"))


@dataclass(frozen=True)
class InputFeatures:
    """Where a model's features come from, learned from one graph and made for any.

    Attributes
    ----------
    source : str
        One of :data:`SOURCES`.
    random_dim : int, optional
        Random columns of a member; :data:`RANDOM_DIM` if not given.
    profile : WalkProfile, optional
    scales : GivenFeatures, optional
        For the features that all layers share. Models of older versions have none: they took features as they were.
    layer_columns : int
        Columns of the features of single layers, which come on a common scale; for models of older versions those of
        all features.
    walk_size : float
        The root mean square of the walk columns.
    """

    source: str
    random_dim: int | None = None
    profile: WalkProfile | None = None
    scales: GivenFeatures | None = None
    layer_columns: int = 0
    walk_size: float = 1.0

    @classmethod
    def of(
        cls,
        graph: MultilayerGraph,
        wanted: str | None,
        random_dim: int | None = None,
        entry_sum: float = ENTRY_SUM,
        known: KnownLabels | None = None,
        seed: int = 0,
    ) -> Self:
        """Learn what a graph's features need; ``entry_sum`` as for :meth:`GivenFeatures.of`.

        With training labels and given features, the size of walk columns is chosen on them. If nothing is asked for,
        there are walks beside the given features too, unless they would hardly count.
        """
        source = feature_source(graph, wanted)
        walks, size = None, 1.0
        if wanted is None and source == "given" and known is not None and not graph.coupled:
            source = "given+walks"
        if "walks" in _kinds(source):
            walks = WalkProfile.of(graph, WALK_DIM)
        if walks is not None and "given" in _kinds(source) and known is not None:
            size = chosen_walk_size(graph, walks, known, seed) if walks.values.size else 0.0
            if wanted is None and size < MIN_SIZE:
                source, walks, size = "given", None, 1.0
        kinds = _kinds(source)
        scales, of_layers = None, 0
        if "given" in kinds:
            # beside columns of another kind and of full size, words and counts are dense as well
            sized = kinds == ("given",) or (known is not None and "random" not in kinds)
            scales = GivenFeatures.of(
                _common(graph),
                GIVEN_DIM,
                world_of(graph),
                may_be_sparse=sized and not graph.layer_features,
                entry_sum=entry_sum,
            )
            of_layers = given_columns(graph) - scales.scale.size
        found = cls(source, random_dim, walks, scales, of_layers, size)
        if not found.columns:
            raise DataError(
                f"features={source!r}: in this graph no walk tells nodes apart; use 'walks+random'"
            )
        return found

    @classmethod
    def loaded(cls, learned: Learned, random_dim: int | None, in_dim: int) -> Self:
        """From a model; whatever of a network's columns comes from nowhere else is of single layers."""
        source, profile, scales, walk_size = learned
        rest = cls(source, random_dim, profile, scales)
        of_layers = in_dim - rest.columns if "given" in _kinds(source) else 0
        return cls(source, random_dim, profile, scales, of_layers, walk_size)

    @property
    def learned(self) -> Learned:
        """What a model has to remember: source, walk profile, scales and the size of the walks."""
        return self.source, self.profile, self.scales, self.walk_size

    @property
    def columns(self) -> int:
        """Columns that a network gets."""
        walks = 0 if self.profile is None else len(WALK_STEPS) * self.profile.values.size
        scaled = 0 if self.scales is None else self.scales.columns
        return scaled + self.layer_columns + walks + self._random

    @property
    def _random(self) -> int:
        """Columns of a member's own."""
        kinds = _kinds(self.source)
        if "random" not in kinds:
            return 0
        return RANDOM_DIM[len(kinds) == 1] if self.random_dim is None else self.random_dim

    def shared(self, graph: MultilayerGraph) -> Any:
        """The columns that are the same for all members, (nodes, columns).

        (layers * nodes, columns) where layers have features of their own; :class:`SparseColumns` where features stay
        sparse.
        """
        walks = None
        if self.profile is not None:
            walks = self.profile.table(self.profile.placed(graph))
            walks *= np.float32(
                self.walk_size * max(walks.shape[1], 1) ** 0.5
            )  # rows have length 1
        if self.scales is not None and self.scales.entries:
            return SparseColumns(self.scales.sparse(_common(graph)), walks)
        parts = [np.zeros((graph.num_nodes, 0), dtype=np.float32)]
        given = "given" in _kinds(self.source)
        if walks is not None:
            parts.append(walks)
        if given:
            needed = self.layer_columns + (0 if self.scales is None else self.scales.scale.size)
            if given_columns(graph) != needed:
                raise DataError(
                    f"the model needs {needed} features per node; the graph has {given_columns(graph)}"
                )
        if given and self.scales is None:
            parts.append(dense_features(graph))
        elif given and self.scales is not None:
            parts.append(self.scales.table(_common(graph)))
            parts += [_plain(matrix) for matrix in graph.layer_features.values()]
        every = np.concatenate(parts, axis=1)
        return by_layer(every, graph) if given and graph.layer_features else every

    def tensor(
        self,
        graph: MultilayerGraph,
        shared: Any,
        seeds: Sequence[int],
        *,
        per_layer: bool,
        device: torch.device,
    ) -> Features:
        """Features of shape (nodes, members, columns), or (layers * nodes, members, columns).

        The second with ``per_layer``, or where layers have features of their own.

        Parameters
        ----------
        graph : MultilayerGraph
        shared : array
            What :meth:`shared` returned for the graph.
        seeds : sequence of int
            The seed of each member's random features.
        per_layer : bool
            Whether the copies of a node in the supra graph have random features of their own, keyed by the layer's
            name.
        device : torch.device
        """
        if isinstance(shared, SparseColumns):
            beside = None if shared.beside is None else torch.from_numpy(shared.beside)
            return SparseFeatures(shared.entries, len(seeds), device, beside)
        layers = graph.num_layers if per_layer or shared.shape[0] > graph.num_nodes else 1
        rows = layers * graph.num_nodes
        parts: list[Tensor] = []
        if shared.shape[1]:
            same = torch.from_numpy(shared).to(device)
            if shared.shape[0] < rows:
                same = same.repeat(layers, 1)
            parts.append(same[:, None, :].expand(rows, len(seeds), -1))
        if self._random:
            copies = layer_copies(graph) if per_layer else [0] * layers
            parts.append(random_columns(graph, seeds, self._random, copies).to(device))
        features = parts[0] if len(parts) == 1 else torch.cat(parts, dim=-1)
        return features.to(torch.get_default_dtype())


def _common(graph: MultilayerGraph) -> Any:
    """The features that all layers share, perhaps none."""
    return np.zeros((graph.num_nodes, 0)) if graph.features is None else graph.features


def _plain(matrix: Any) -> Matrix:
    dense = matrix if isinstance(matrix, np.ndarray) else matrix.toarray()
    return np.asarray(dense, dtype=np.float32)
