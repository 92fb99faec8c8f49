"""The face that every method shows: fit on a graph, predict for its nodes or for another graph's."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any, Self

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone

from gramme.errors import DataError, GrammeWarning, NotFittedError
from gramme.graph import MultilayerGraph
from gramme.graph.arrays import loose_index
from gramme.methods.labels import KnownLabels
from gramme.methods.saving import Learned, natural_array, plain, restored, write_model


class NodeClassifier(BaseEstimator, ABC):
    """A method that predicts the labels of a graph's nodes.

    Follows scikit-learn: the constructor only stores, ``fit`` validates and returns self, what is learned ends in
    ``_``, and ``get_params``, ``set_params`` and ``clone`` work.

    Attributes
    ----------
    classes_ : array
        The classes, in the order of the probability columns.
    nodes_ : pandas.Index
        Names of the nodes of the graph it was fitted on.
    layers_ : list of str
        Names of its layers.
    probabilities_ : array of float32, shape (nodes, classes)
        Class probabilities of the nodes of the graph it was fitted on.
    transduction_ : array
        A label for every node of that graph: the known one where there is one, else the predicted one.
    """

    classes_: NDArray[Any]
    probabilities_: NDArray[np.float32]
    transduction_: NDArray[Any]
    nodes_: pd.Index
    layers_: list[str]
    graph_: MultilayerGraph

    @abstractmethod
    def fit(self, graph: MultilayerGraph, y: Any = None) -> Self:
        """Learn from the labelled nodes of a graph.

        Parameters
        ----------
        graph : MultilayerGraph
        y : sequence, mapping or Series, optional
            Labels in node order or by node name; -1, None and NaN mean unknown. The graph's own labels where not given.
        """

    def twin(self) -> Self:
        """An unfitted copy, to be fitted on a part of the same labels.

        A method may pass on a setting that was costly to choose, where it is a mere number or two: then what the copy
        says of other labels is no more than slightly optimistic.
        """
        copy: Self = clone(self)
        return copy

    def _inductive_proba(self, graph: MultilayerGraph) -> NDArray[np.float32]:
        """Class probabilities for the nodes of another graph, whose layers have been checked."""
        raise DataError(
            f"{type(self).__name__} predicts only for the graph it was fitted on; "
            "fit it again on the graph with the new nodes"
        )

    def predict_proba(self, graph: MultilayerGraph | None = None) -> NDArray[np.float32]:
        """Class probabilities, shape (nodes, classes): of the fitted graph's nodes, or of another graph's.

        Another graph must have the layers this was fitted on; it may have other nodes.
        """
        self._check_fitted()
        if graph is None or graph is getattr(self, "graph_", None):
            return self.probabilities_.copy()
        return self._inductive_proba(self._with_fitted_layers(graph))

    def predict(self, graph: MultilayerGraph | None = None) -> NDArray[Any]:
        """The most probable class of every node, of the fitted graph or of another."""
        best = self.predict_proba(graph).argmax(axis=1)
        labels: NDArray[Any] = self.classes_[best]
        return labels

    def save(self, path: Any) -> None:
        """Write the fitted model to a safetensors file; :func:`gramme.load` reads it back."""
        self._check_fitted()
        write_model(path, type(self).__name__, self.get_params(), self._learned())

    def _begin(self, graph: MultilayerGraph, known: KnownLabels) -> None:
        """Store what a fit starts from, and forget an earlier fit: a fit that fails leaves nothing half-true behind."""
        for name in [name for name in vars(self) if name.endswith("_")]:
            delattr(self, name)
        self.classes_ = known.classes
        self.nodes_ = graph.nodes
        self.layers_ = list(graph.layers)
        self.graph_ = graph

    def _finish(self, probabilities: NDArray[np.floating[Any]], known: KnownLabels) -> None:
        """Store the result of a fit."""
        self.probabilities_ = probabilities.astype(np.float32, copy=False)
        labels = self.classes_[self.probabilities_.argmax(axis=1)]
        labels[known.nodes] = self.classes_[known.codes]
        self.transduction_ = labels

    def _learned(self) -> Learned:
        """What a model file must hold; methods that learn more add to it."""
        classes = self.classes_.tolist()
        number = {label: position for position, label in enumerate(classes)}
        labels = [number[label] for label in self.transduction_.tolist()]
        record = {
            "classes": [plain(label, "a class") for label in classes],
            "layers": self.layers_,
            "nodes": [_plain_name(name) for name in self.nodes_],
        }
        tensors = {
            "probabilities": torch.from_numpy(self.probabilities_),
            "transduction": torch.tensor(labels, dtype=torch.int32),
        }
        return Learned(record, tensors)

    def _restore(self, learned: Learned) -> None:
        """Take over what a model file holds."""
        record, tensors = learned.record, learned.tensors
        self.classes_ = natural_array(restored(record["classes"]))
        self.layers_ = list(record["layers"])
        self.nodes_ = loose_index(restored(record["nodes"]))
        self.probabilities_ = tensors["probabilities"].numpy()
        labels = tensors["transduction"].numpy()
        shape = (len(self.nodes_), len(self.classes_))
        if self.probabilities_.shape != shape or self.probabilities_.dtype != np.float32:
            raise ValueError("the probabilities do not match the nodes and classes")
        if labels.shape != shape[:1] or (labels < 0).any():
            raise ValueError("the labels do not match the nodes")
        self.transduction_ = self.classes_[labels]

    def __dir__(self) -> Iterable[str]:
        # not by looking at every value, as BaseEstimator does: some are computed when asked for
        return object.__dir__(self)

    def _check_fitted(self) -> None:
        if not hasattr(self, "probabilities_"):
            raise NotFittedError(f"this {type(self).__name__} is not fitted yet; call fit first")

    @staticmethod
    def _check_graph(graph: Any) -> MultilayerGraph:
        if not isinstance(graph, MultilayerGraph):
            raise DataError(f"a MultilayerGraph is needed, not {type(graph).__name__}")
        if graph.num_layers == 0:
            raise DataError("the graph has no layers, so there is nothing to learn from")
        return graph

    def _with_fitted_layers(self, graph: Any) -> MultilayerGraph:
        """The graph with the layers of the fit, in their order; others are left out with a warning."""
        graph = self._check_graph(graph)
        missing = [name for name in self.layers_ if name not in graph.layers]
        if missing:
            raise DataError(
                f"the graph has no layer {missing[0]!r}, which the model was fitted on; "
                f"it needs: {', '.join(self.layers_)}"
            )
        extra = [name for name in graph.layers if name not in self.layers_]
        if extra:
            warnings.warn(
                f"layers the model does not know are left out: {', '.join(extra)}",
                GrammeWarning,
                stacklevel=3,
            )
        chosen: MultilayerGraph = graph.select_layers(self.layers_)
        return chosen


def _plain_name(name: Any) -> Any:
    """A node's name as JSON can hold it: text, numbers and tuples of them, anything else as its text."""
    try:
        return plain(name, "a node's name")
    except DataError:
        return str(name)
