"""Logistic regression on where walks lead from a node: what the shape of the whole network tells."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from gramme._types import Floats
from gramme.distributed import gather_rows, local_index, node_count
from gramme.graph import MultilayerGraph
from gramme.methods.labels import ENOUGH_LABELS, KnownLabels
from gramme.methods.params import PositiveInt, check_number_range
from gramme.methods.persistence import SavedField
from gramme.methods.propagation.layer_trust import layer_trust

from .logistic import LinearModel, class_shares, importances
from .walk_profile import WALK_STEPS, Matrix, SavedProfile, WalkProfile

CHUNK_NODES = 65_536  # nodes scored at once, which bounds the memory


@dataclass(kw_only=True, eq=False, repr=False)
class SpectralLogistic(LinearModel):
    """Multinomial logistic regression on where walks of 2, 4, 8 and 16 steps over all layers lead from each node.

    The columns come from the leading eigenvectors of a walk over all layers (``gramme.methods.linear.walk_profile``),
    which makes it strong where labels are few. Labels say only how far each layer is trusted
    (``gramme.methods.propagation.layer_trust``). The penalty is chosen by inner cross-validation on the training
    labels.

    An ingredient of :class:`GrammeAuto`. For another graph nodes and groups are known by their names; a node gets its
    columns by one step of the walk. Cost: some 100 to 1,000 passes over the edges and memberships.

    Parameters
    ----------
    dim : int, default=32
        Eigenvectors.
    C : float or None, default=None
        Inverse strength of the penalty; chosen among 1, 10, 100 and 1000 if not given.
    random_state : int, numpy generator or None, default=None
        Decides which labels share a fold.

    References
    ----------
    R. R. Coifman, S. Lafon, "Diffusion Maps", Applied and Computational Harmonic Analysis 21, 2006.

    A. Y. Ng, M. I. Jordan, Y. Weiss, "On Spectral Clustering: Analysis and an Algorithm", NIPS 2001 (rows of length 1).
    """

    dim: PositiveInt = 32

    saved_fields: ClassVar[tuple[SavedField, ...]] = (SavedProfile("profile"),)

    profile_: WalkProfile = field(init=False)
    placed_: Matrix = field(init=False)

    def _fit(
        self,
        graph: MultilayerGraph,
        known: KnownLabels,
        seed: int,
        *,
        profile: WalkProfile | None = None,
        placed: Matrix | None = None,
        strength: float | None = None,
        explained: bool = True,
    ) -> NDArray[np.floating[Any]]:
        """Learn; a copy may have the eigenvectors, the nodes' rows and the penalty of the model it is a copy of.

        It need not be explained: how much each layer counts in it is then left out.
        """
        check_number_range(graph)
        if profile is None or placed is None:
            trust = layer_trust(graph, known, seed)
            profile = WalkProfile.of(graph, self.dim, dict(zip(graph.layers, trust.tolist(), strict=True)))
            placed = profile.placed(graph)
        self.profile_, self.placed_ = profile, placed
        self._learn(
            profile.table(gather_rows(graph, placed, known.nodes)), known, (100.0, 10.0, 1000.0, 1.0), seed, strength
        )
        if explained:
            self.layer_importance_ = self._by_layer(importances(self._layer_scores(graph, placed), graph), "importance")
        return self._scored(placed)

    def _warm_start(self, graph: MultilayerGraph) -> dict[str, Any]:
        handed: dict[str, Any] = {"explained": False}
        if self.labels_ >= ENOUGH_LABELS:
            handed["strength"] = self.C_
        # eigenvectors need no labels but for how far the layers are trusted, which none of very many decides
        if self.fitted_on(graph) and (self.labels_ >= ENOUGH_LABELS or not self.profile_.weights):
            handed |= {"profile": self.profile_, "placed": self.placed_}
        return handed

    def _inductive_proba(self, graph: MultilayerGraph) -> NDArray[np.float32]:
        return self._scored(self.profile_.placed(graph))

    def _scored(self, placed: Matrix) -> NDArray[np.float32]:
        found = np.empty((len(placed), len(self.classes_)), dtype=np.float32)
        for start in range(0, len(placed), CHUNK_NODES):
            rows = self.profile_.table(placed[start : start + CHUNK_NODES])
            found[start : start + CHUNK_NODES] = class_shares(rows, self.coefficients_, self.intercept_)
        return found

    def _layer_scores(self, graph: MultilayerGraph, placed: Matrix) -> Iterator[Floats]:
        """Each layer's part of the scores of some nodes."""
        num_nodes = node_count(graph)
        # some nodes tell how much the layers matter
        chosen_nodes = np.linspace(0, num_nodes - 1, min(20_000, num_nodes)).astype(np.int64)
        local_nodes = local_index(graph, chosen_nodes)[1]
        placed = placed[local_nodes]
        for layer_messages, _ in self.profile_.messages(graph):
            rows = self.profile_.table(layer_messages[local_nodes].astype(np.float32), placed)
            yield rows @ self.coefficients_

    def _check_loaded(self) -> None:
        self._check_columns(self.profile_.values.size * len(WALK_STEPS))
