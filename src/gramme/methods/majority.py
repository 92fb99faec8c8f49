"""The most frequent class for everybody: what any method must beat."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from gramme.graph import MultilayerGraph
from gramme.methods.base import NodeClassifier
from gramme.methods.labels import known_labels
from gramme.methods.saving import Learned


class Majority(NodeClassifier):
    """Predict the most frequent training class, with the class frequencies as probabilities.

    It looks at no layer, so it works on any graph and for any other graph; of equally frequent classes it takes the
    first. Cost: none to speak of. It has no settings.

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

    frequencies_: NDArray[np.float32]

    def fit(self, graph: MultilayerGraph, y: Any = None) -> Self:
        graph = self._check_graph(graph)
        known = known_labels(graph, y)
        self._begin(graph, known)
        counts = np.bincount(known.codes, minlength=len(self.classes_))
        self.frequencies_ = (counts / counts.sum()).astype(np.float32)
        self._finish(self._inductive_proba(graph), known)
        return self

    def _inductive_proba(self, graph: MultilayerGraph) -> NDArray[np.float32]:
        return np.tile(self.frequencies_, (graph.num_nodes, 1))

    def _restore(self, learned: Learned) -> None:
        super()._restore(learned)
        # every row holds the frequencies; a model fitted on a graph has at least two
        self.frequencies_ = self.probabilities_[0].copy()
