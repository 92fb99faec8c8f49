"""Logistic regression on where walks lead from a node: what the shape of the whole network tells."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from gramme.graph import MultilayerGraph
from gramme.methods import parameters as check
from gramme.methods.labels import known_labels
from gramme.methods.linear.logistic import (
    MANY,
    Floats,
    LinearModel,
    chosen_strength,
    class_shares,
    importances,
    regression,
)
from gramme.methods.linear.walk_profile import STEPS, Matrix, WalkProfile
from gramme.methods.saving import Learned

STRENGTHS = (100.0, 10.0, 1000.0, 1.0)
CHUNK = 65_536  # nodes scored at once, which bounds the memory
SAMPLE = 20_000  # nodes at most that tell how much the layers matter


class SpectralLogistic(LinearModel):
    """Multinomial logistic regression on where walks of 2, 4, 8 and 16 steps over all layers lead from each node.

    The columns come from the leading eigenvectors of a walk over all layers
    (:mod:`gramme.methods.linear.walk_profile`) and need no labels, which makes it strong where labels are few.
    Layers count alike, so that it is weak where most of
    them are noise. The penalty is chosen by inner cross-validation on the training labels.

    An ingredient of :class:`GrammeAuto`. For another graph nodes and groups are known by their names; a node gets its
    columns by one step of the walk. Cost: some 100 to 1,000 passes over the edges and memberships.

    Parameters
    ----------
    dim : int
        Eigenvectors.
    C : float, optional
        Inverse strength of the penalty; chosen among 1, 10, 100 and 1000 where not given.
    random_state : int, numpy generator or None
        Decides which labels share a fold.

    References
    ----------
    R. R. Coifman, S. Lafon, "Diffusion Maps", Applied and Computational Harmonic Analysis 21, 2006.

    A. Y. Ng, M. I. Jordan, Y. Weiss, "On Spectral Clustering: Analysis and an Algorithm", NIPS 2001 (rows of length 1).
    """

    profile_: WalkProfile

    def __init__(self, *, dim: int = 32, C: float | None = None, random_state: Any = None) -> None:
        self.dim = dim
        self.C = C
        self.random_state = random_state

    def fit(self, graph: MultilayerGraph, y: Any = None) -> Self:
        graph = self._check_graph(graph)
        check.whole("dim", self.dim)
        strength = None if self.C is None else check.number("C", self.C, 0, open_low=True)
        seed = check.seed_of(self.random_state)
        known = known_labels(graph, y)
        profile, placed = self._walks(graph)
        self._begin(graph, known)
        self.profile_, self._placed, self._labels = profile, placed, known.nodes.size
        rows = profile.table(placed[known.nodes])
        if strength is None:
            strength = chosen_strength(rows, known, STRENGTHS, seed)
        self.C_ = strength
        self.coefficients_, self.intercept_ = regression(
            rows, known.codes, len(known.classes), strength
        )
        self._finish(self._scored(placed), known)
        self.layer_importance_ = importances(self._layer_scores(graph), graph)
        return self

    def twin(self) -> Self:
        copy = super().twin()
        copy._lent = (self.graph_, self.profile_, self._placed)  # which need no labels
        if self._labels >= MANY:
            copy.C = self.C_
        return copy

    def _walks(self, graph: MultilayerGraph) -> tuple[WalkProfile, Matrix]:
        """Eigenvectors and rows of a graph, those of the model this is a copy of where it is the same graph."""
        of, profile, placed = self.__dict__.pop("_lent", (None, None, None))
        if of is graph:
            return profile, placed
        profile = WalkProfile.of(graph, self.dim)
        return profile, profile.placed(graph)

    def _inductive_proba(self, graph: MultilayerGraph) -> NDArray[np.float32]:
        return self._scored(self.profile_.placed(graph))

    def _scored(self, placed: Matrix) -> NDArray[np.float32]:
        found = np.empty((len(placed), len(self.classes_)), dtype=np.float32)
        for start in range(0, len(placed), CHUNK):
            rows = self.profile_.table(placed[start : start + CHUNK])
            found[start : start + CHUNK] = class_shares(rows, self.coefficients_, self.intercept_)
        return found

    def _layer_scores(self, graph: MultilayerGraph) -> Iterator[Floats]:
        """Each layer's part of the scores of some nodes."""
        some = np.linspace(0, graph.num_nodes - 1, min(SAMPLE, graph.num_nodes)).astype(np.int64)
        placed = self._placed[some]
        for heard, _ in self.profile_.messages(graph):
            rows = self.profile_.table(heard[some].astype(np.float32), placed)
            yield rows @ self.coefficients_

    def _learned(self) -> Learned:
        learned = super()._learned()
        learned.record |= self.profile_.record()
        learned.tensors |= self.profile_.tensors()
        return learned

    def _restore(self, learned: Learned) -> None:
        super()._restore(learned)
        self.profile_ = WalkProfile.restored(learned.record, learned.tensors, self.nodes_)
        self._check_columns(self.profile_.values.size * len(STEPS))
