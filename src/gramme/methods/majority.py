"""The most frequent class for everybody: what any method must beat."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gramme.graph import MultilayerGraph
from gramme.methods.params import RandomSeed

from .base import NodeClassifier
from .labels import KnownLabels


@dataclass(kw_only=True, eq=False, repr=False)
class Majority(NodeClassifier):
    """Predict the most frequent training class, with the class frequencies as probabilities.

    It looks at no layer, so it works on any graph. If several classes are equally frequent, it takes the first. It
    costs next to nothing.

    Parameters
    ----------
    random_state : int, numpy generator or None, default=None
        Has no effect here; every method takes one.

    Attributes
    ----------
    classes_, probabilities_, transduction_
        As for every :class:`~gramme.methods.NodeClassifier`.
    frequencies_ : array of float32, shape (classes,)
        Share of each class in the training labels.

    Examples
    --------
    >>> from gramme import datasets
    >>> g = datasets.load("balance_scale")
    >>> model = Majority().fit(g)
    >>> model.classes_.tolist(), [round(float(share), 2) for share in model.frequencies_]
    (['B', 'L', 'R'], [0.08, 0.46, 0.46])
    """

    random_state: RandomSeed = None

    @property
    def frequencies_(self) -> NDArray[np.float32]:
        """Share of each class in the training labels: what it predicts for every node, unless classes are weighed."""
        self.check_fitted()
        class_shares: NDArray[np.float32] = self.probabilities_[0].copy()
        if hasattr(self, "class_weights_"):  # which are in the probabilities already
            class_shares = (class_shares / self.class_weights_).astype(np.float32)
            class_shares /= class_shares.sum()
        return class_shares

    def _fit(self, graph: MultilayerGraph, known: KnownLabels, seed: int) -> NDArray[np.floating[Any]]:
        return np.tile((known.counts / known.counts.sum()).astype(np.float32), (graph.num_nodes, 1))

    def _inductive_proba(self, graph: MultilayerGraph) -> NDArray[np.float32]:
        return np.tile(self.frequencies_, (graph.num_nodes, 1))
