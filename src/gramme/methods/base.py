"""The interface that every method shares: fit on a graph, predict for its nodes or for another graph's.

A method declares its ``parameter_rules`` and ``saved_fields`` and writes ``_fit``. Everything else is here or, if it
has nothing to do with classes, in ``graph_estimator.py``.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, clone

from gramme._progress import part
from gramme.distributed import here, places_of, world_of
from gramme.errors import DataError
from gramme.graph import MultilayerGraph
from gramme.graph.name_order import in_name_order
from gramme.methods.data_size import DataSize
from gramme.methods.face import ModelFace
from gramme.methods.graph_estimator import GraphEstimator
from gramme.methods.labels import KnownLabels, coded_labels, known_labels
from gramme.methods.out_of_fold import refit_for_folds
from gramme.methods.prediction_sets import SET_FIELDS, PredictsSets
from gramme.methods.probability import reweighed
from gramme.methods.saved_fields import SavedArray, SavedField
from gramme.methods.saved_names import SavedNames, SavedTransduction


class NodeClassifier(ModelFace, PredictsSets, ClassifierMixin, GraphEstimator):
    """A method that predicts the labels of a graph's nodes.

    It follows scikit-learn: the constructor only stores, ``fit`` validates and returns self, what is learned ends in
    ``_``, and ``get_params``, ``set_params`` and ``clone`` work.

    Attributes
    ----------
    classes_ : array
        The classes, in the order of the probability columns.
    nodes_ : pandas.Index
        Names of the nodes of the graph it was fitted on.
    layers_, layer_order_ : list of str
        Names of its layers, as they were given and in the order in which the method knows them.
    probabilities_ : array of float32, shape (nodes, classes)
        Class probabilities of the nodes of the graph it was fitted on.
    transduction_ : array
        A label for every node of that graph: the known one if there is one, else the predicted one.
    labelled_ : array of bool, shape (nodes,)
        The nodes whose labels it learned from.
    interrupted_ : bool
        Whether Ctrl-C ended the fit early, so the model is smaller or less trained than asked for.

    Notes
    -----
    To write a method of your own, give a subclass

    - ``parameter_rules``: for each parameter of the constructor a rule from ``gramme.methods.parameters``;
    - ``_fit(graph, known, seed)``: learn from the known labels and return the probabilities, (nodes, classes). Nodes
      and layers come in the order of their names, so the order of a file does not matter;
    - ``saved_fields``: what else ``_fit`` learned, from ``gramme.methods.saved_fields``;
    - ``_inductive_proba(graph)``, if it can predict for another graph.

    Rules and fields of the base classes are added to these; do not repeat them.
    """

    saved_fields: ClassVar[tuple[SavedField, ...]] = (
        SavedNames("classes"),
        SavedArray(
            "probabilities",
            np.float32,
            ("nodes", "classes"),
            low=0,
            high=1,
            rows_sum_to_one=True,
        ),
        SavedTransduction(),
        SavedArray("class_weights", np.float64, ("classes",), low=0, optional=True),
        *SET_FIELDS,
    )
    _result: ClassVar[str] = "probabilities_"

    tests_itself: ClassVar[bool] = False
    """Whether a fit leaves predictions of the whole method for labels that it had not seen (``out_of_fold()``), from
    which its accuracy can be estimated without further fits. Such a method has a parameter ``folds``."""
    copy_cost: ClassVar[float] = 1.0
    """How long the fit of a copy takes (:meth:`fit_copy`) where the model's own takes 1; used only to show progress."""

    classes_: NDArray[Any]
    probabilities_: NDArray[np.float32]
    transduction_: NDArray[Any]
    class_weights_: NDArray[np.float64]

    # Fitting

    def fit(self, graph: MultilayerGraph, y: Any = None) -> Self:
        """Learn from the labelled nodes of a graph.

        Parameters
        ----------
        graph : MultilayerGraph
        y : sequence, mapping or Series, optional
            Labels in node order or by node name; -1, None and NaN mean unknown. The graph's own labels if not given.
        """
        return self._run_fit(graph, y)

    @abstractmethod
    def _fit(
        self, graph: MultilayerGraph, known: KnownLabels, seed: int
    ) -> NDArray[np.floating[Any]]:
        """Learn from known labels and return the class probabilities of all nodes, shape (nodes, classes).

        It may take further keyword arguments: those of the method's own ``fit``, and those that :meth:`_hand_down`
        gives to a copy.

        Parameters
        ----------
        graph : MultilayerGraph
        known : KnownLabels
            Positions of the labelled nodes, the number of each one's class, and the classes.
        seed : int
            From ``random_state``.
        """

    def _known(self, graph: MultilayerGraph, y: Any) -> KnownLabels:
        return y if isinstance(y, KnownLabels) else known_labels(graph, y)

    def _begin_with(self, known: KnownLabels) -> None:
        self.classes_ = known.classes

    def expected_seconds(self, graph: MultilayerGraph, share: float = 1.0) -> float:
        """Roughly how long a fit with a share of the labels takes on one core, judged by the size of the data.

        It is used only to show progress.
        """
        return self.seconds_for(DataSize.of(graph).with_labels(share))

    def seconds_for(self, size: DataSize) -> float:
        """The same for data of a size."""
        return 1.0 + 6e-6 * size.entries

    def seconds_with_folds(self, size: DataSize, folds: int) -> float:
        """The same for a fit with a copy for each fold (:meth:`fit_with_folds`)."""
        return self.seconds_for(size) / self._own_share(folds)

    def fit_copy(self, graph: MultilayerGraph, y: Any = None) -> Self:
        """Fit a copy of this fitted model on a part of the same labels, as a cross-validation does.

        A method may hand down to the copy what takes long and needs no labels, and settings that were costly to choose.
        The copy's predictions for other labels are then slightly optimistic at most. What is only there to explain a
        model, like ``layer_importance_``, the copy may lack.
        """
        self.check_fitted()
        copy: Self = clone(self)
        return copy._run_fit(graph, y, **self._hand_down(graph))

    def _hand_down(self, graph: MultilayerGraph) -> dict[str, Any]:
        """Options for the ``_fit`` of a copy on a graph."""
        return {}

    def fit_with_folds(
        self,
        graph: MultilayerGraph,
        known: KnownLabels,
        fold: NDArray[np.int64],
        copies: int = 1,
        allowance: Any = None,
    ) -> NDArray[np.float64]:
        """Fit, and predict each label by a model that has not seen the label's fold.

        Parameters
        ----------
        graph : MultilayerGraph
        known : KnownLabels
        fold : array of int, shape (labelled,)
            The fold of each label; -1 for labels that are in none and not predicted.
        copies : int, default=1
            How many models to average for each fold, if a method can train many at once; other methods train one.
        allowance : Allowance, optional
            How long it may take, for methods that can train less.

        Returns
        -------
        array, shape (labelled, classes)
            NaN for labels in no fold, and where an interrupt (Ctrl-C) came before a fold was done.
        """
        order = in_name_order(self._check_graph(graph))
        known, places = known.sorted_by_name(order)  # the order in which a fit sees labels
        found = np.empty((known.nodes.size, len(known.classes)))
        found[places] = self._fit_with_folds(graph, known, fold[places], copies, allowance)
        return found

    def _fit_with_folds(
        self,
        graph: MultilayerGraph,
        known: KnownLabels,
        fold: NDArray[np.int64],
        copies: int,
        allowance: Any = None,
    ) -> NDArray[np.float64]:
        """The same for labels in the order of their nodes' names."""
        own = self._own_share(int(fold.max()) + 1)
        with part("", own):
            self._run_fit(graph, known)
        with part("", 1 - own):
            return refit_for_folds(self, graph, known, fold)

    def _own_share(self, folds: int) -> float:
        """The share that the model's own fit has of a fit with folds; used only to show progress."""
        return 1 / (1 + self.copy_cost * folds)

    def _finish(self, found: NDArray[np.floating[Any]], known: KnownLabels) -> None:
        if world_of(self.graph_).any(not np.isfinite(found).all()):
            raise DataError(
                f"{type(self).__name__} finds no probabilities: its numbers have grown too large; scale the weights or "
                "features, or choose other parameters"
            )
        self.probabilities_ = found.astype(np.float32, copy=False)
        labels = self.classes_[self.probabilities_.argmax(axis=1)]
        which, nodes = here(self.graph_, known.nodes)
        labels[nodes] = self.classes_[known.codes[which]]
        self.transduction_ = labels
        self.labelled_ = np.zeros(len(labels), dtype=bool)
        self.labelled_[nodes] = True

    def balance_classes(self) -> Self:
        """Give every class the same weight, however rare it is among the labels; call it after ``fit``.

        Each probability is divided by the share of its class among the labels, and the probabilities of a node are
        scaled to sum to 1 again. This is what the model would predict if all classes were equally frequent. Rare
        classes are found more often, at the price of more false alarms.

        Examples
        --------
        >>> from gramme import datasets
        >>> from gramme.methods import LabelPropagation
        >>> g = datasets.load("balance_scale")  # 49 of 625 scales are in balance
        >>> half = g.labels.copy()
        >>> half[::2] = None  # nodes to predict: of the others the labels are known
        >>> model = LabelPropagation(random_state=0).fit(g, half)
        >>> before = (model.predict() == "B").sum()
        >>> bool((model.balance_classes().predict() == "B").sum() > before)
        True
        """
        self.check_fitted()
        if hasattr(self, "class_weights_"):
            return self
        codes = coded_labels(self.graph_, self.transduction_, self.classes_, "known", strict=True)[
            1
        ]
        counts = np.bincount(codes[self.labelled_], minlength=len(self.classes_))
        counts = world_of(self.graph_).total(counts)
        self.class_weights_ = counts.sum() / (len(counts) * np.maximum(counts, 1))
        nodes = places_of(self.graph_)[self.labelled_]
        known = KnownLabels(nodes, codes[self.labelled_], self.classes_)
        self._finish(self._weighed(self.probabilities_), known)
        return self

    def _weighed(self, probabilities: NDArray[np.float32]) -> NDArray[np.float32]:
        """Probabilities with the weights of the classes, if there are any."""
        weights: NDArray[np.float64] | None = getattr(self, "class_weights_", None)
        return probabilities if weights is None else reweighed(probabilities, weights)

    # Predicting

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
        self.check_fitted()
        if graph is None or self.fitted_on(graph):
            return self.probabilities_.copy()
        order = self._ordered(graph)
        found = order.back(self._inductive_proba(order.graph))
        if not np.isfinite(found).all():
            raise DataError(
                f"{type(self).__name__} finds no probabilities for this graph: its weights or features are too large"
            )
        return self._weighed(found)

    def predict(self, graph: MultilayerGraph | None = None) -> NDArray[Any]:
        """The most probable class of every node, of the fitted graph or of another."""
        best = self.predict_proba(graph).argmax(axis=1)
        labels: NDArray[Any] = self.classes_[best]
        return labels

    def score(self, graph: MultilayerGraph | None = None, y: Any = None) -> float:
        """The accuracy on labelled nodes: the share whose label is predicted correctly.

        Parameters
        ----------
        graph : MultilayerGraph, optional
            A graph other than the fitted one.
        y : sequence, mapping or Series, optional
            Labels in node order or by node name; nodes without one do not count, and a class the model has never seen
            counts as wrong. For another graph, that graph's own labels if not given. For the fitted graph they must
            be given: labels the model has learned from say nothing about its accuracy.
        """
        target = self._graph_to_score(graph, y, "labels")
        nodes, codes = coded_labels(target, y, self.classes_, "test", strict=False)
        found = self.predict_proba(graph).argmax(axis=1)[nodes]
        return float((found == codes).mean())
