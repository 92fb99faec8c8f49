"""A scikit-learn classifier whose samples are node numbers: grid search and cross-validation for any method."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d, validate_data

from gramme.errors import DataError, GrammeWarning
from gramme.graph import MultilayerGraph
from gramme.graph.arrays import plain

from .base import NodeClassifier


class NodeIndexClassifier(ClassifierMixin, BaseEstimator):
    """Shows a graph and a method as a classifier whose samples are the positions of nodes.

    Fitting gives the method the whole graph and the labels of the nodes in ``X``, no others; labels in the graph itself
    are ignored. So a fold of a cross-validation hides its labels but not its nodes, as is usual in semi-supervised
    learning.

    Parameters
    ----------
    graph : MultilayerGraph
        Taken as it is, never copied: graphs do not change.
    estimator : NodeClassifier
        Any method, such as :class:`~gramme.GrammeFusion`; cloned before it is fitted.

    Attributes
    ----------
    classes_ : array
        The classes seen in ``fit``.
    estimator_ : NodeClassifier
        The fitted method; its classes are the positions in ``classes_``.

    Notes
    -----
    A node that is given several times, as a bootstrap does, counts once. Where its labels contradict each other the
    most frequent one is taken, with a warning.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.model_selection import cross_val_score
    >>> from gramme import GrammeFusion, datasets
    >>> g = datasets.load("synthetic", nodes=60, signal=[0.9, 0.9])
    >>> model = NodeIndexClassifier(g, GrammeFusion(epochs=20, ensemble=1, random_state=0))
    >>> y = g.labels.astype(int)
    >>> scores = cross_val_score(model, np.arange(60), y, cv=3)
    >>> scores.shape, bool(scores.mean() > 0.7)
    ((3,), True)
    """

    def __init__(self, graph: MultilayerGraph, estimator: NodeClassifier) -> None:
        self.graph = graph
        self.estimator = estimator

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the method on the graph with the labels ``y`` of the nodes ``X``.

        Parameters
        ----------
        X : array of int, shape (samples,) or (samples, 1)
            Positions of nodes in the graph.
        y : array, shape (samples,)
            Their labels; every value counts as a class, also -1.
        """
        if y is None:
            raise DataError("this classifier requires y to be passed, but the target y is None")
        if not isinstance(self.estimator, NodeClassifier):
            raise DataError(f"estimator must be a gramme method, not {self.estimator!r}")
        node_positions = self._positions(X, reset=True)
        y = column_or_1d(y, warn=True)
        check_consistent_length(node_positions, y)
        check_classification_targets(y)
        self.classes_, label_codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise DataError(f"y has one class only, {self.classes_[0]!r}; at least two are needed")
        distinct_nodes, node_codes = self._one_label_per_node(node_positions, label_codes)
        known_codes = np.full(self.graph.num_nodes, -1)
        known_codes[distinct_nodes] = node_codes
        self.estimator_ = clone(self.estimator).fit(self.graph, known_codes)
        return self

    def predict_proba(self, X: Any) -> NDArray[np.float32]:
        """Class probabilities of the nodes ``X``, shape (samples, classes)."""
        check_is_fitted(self, "estimator_")
        node_positions = self._positions(X, reset=False)
        class_probabilities = np.zeros((node_positions.size, len(self.classes_)), dtype=np.float32)
        # a class may have lost all its nodes to contradicting labels
        class_probabilities[:, self.estimator_.classes_] = self.estimator_.probabilities_[node_positions]
        return class_probabilities

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable class of the nodes ``X``."""
        best_codes = self.predict_proba(X).argmax(axis=1)
        predicted_labels: NDArray[Any] = self.classes_[best_codes]
        return predicted_labels

    def _positions(self, X: Any, *, reset: bool) -> NDArray[np.int64]:
        """X as positions of nodes, or an error that quotes the first number that is none."""
        if not isinstance(self.graph, MultilayerGraph):
            raise DataError(f"graph must be a MultilayerGraph, not {type(self.graph).__name__}")
        if isinstance(X, (list, tuple, range)):
            X = np.asarray(X)
        if getattr(X, "ndim", 2) == 1:
            X = np.asarray(X)[:, None]
        position_column = self._column(validate_data(self, X, reset=reset, dtype=None))
        try:
            position_numbers = position_column.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise DataError(f"X must hold positions of nodes: {error}") from error
        last_position = self.graph.num_nodes - 1
        is_wrong = (position_numbers % 1 != 0) | (position_numbers < 0) | (position_numbers > last_position)
        if is_wrong.any():
            wrong_number = position_column[is_wrong][0]
            problem_words = "Negative values in data passed to X: it " if wrong_number < 0 else "X "
            raise DataError(
                f"{problem_words}must hold positions of nodes, whole numbers from 0 to {last_position}, not "
                f"{wrong_number}"
            )
        positions: NDArray[np.int64] = position_numbers.astype(np.int64)
        return positions

    def _column(self, X: NDArray[Any]) -> NDArray[Any]:
        if X.shape[1] != 1:
            raise DataError(f"X must have one column, the positions of nodes, not {X.shape[1]}")
        position_column: NDArray[Any] = X[:, 0]
        return position_column

    def _one_label_per_node(
        self, nodes: NDArray[np.int64], codes: NDArray[np.intp]
    ) -> tuple[NDArray[np.int64], NDArray[np.intp]]:
        """The distinct nodes and the most frequent label of each, the first class where equally frequent."""
        distinct_nodes, node_of_sample = np.unique(nodes, return_inverse=True)
        label_votes = np.zeros((distinct_nodes.size, len(self.classes_)), dtype=np.int64)
        np.add.at(label_votes, (node_of_sample, codes), 1)
        contradicted_nodes = np.flatnonzero((label_votes > 0).sum(axis=1) > 1)
        if contradicted_nodes.size:
            node_name = plain(self.graph.nodes[distinct_nodes[contradicted_nodes[0]]])
            warnings.warn(
                f"{contradicted_nodes.size} nodes were given with several labels, among them {node_name!r}; "
                "the most frequent label is taken",
                GrammeWarning,
                stacklevel=3,
            )
        return distinct_nodes, label_votes.argmax(axis=1)

    def __sklearn_clone__(self) -> Self:
        return type(self)(self.graph, clone(self.estimator))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.one_d_array = True
        tags.input_tags.positive_only = True
        tags.input_tags.categorical = True
        tags.classifier_tags.poor_score = True  # positions say nothing by themselves
        return tags
