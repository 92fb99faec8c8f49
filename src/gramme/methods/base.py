"""The interface that every method shares: fit on a graph, predict for its nodes or for another graph's.

A method declares its ``parameter_rules`` and ``saved_fields`` and writes ``_fit``; everything else is here.
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone

from gramme._threads import one_thread_below
from gramme.errors import DataError, GrammeWarning, NotFittedError
from gramme.graph import MultilayerGraph
from gramme.methods.labels import KnownLabels, coded_labels, known_labels
from gramme.methods.out_of_fold import refit_for_folds
from gramme.methods.parameters import Flag, Rule, check_parameters, seed_from
from gramme.methods.saved_fields import (
    SavedArray,
    SavedField,
    SavedNames,
    SavedTransduction,
    SavedValue,
    load_fields,
    save_fields,
)
from gramme.methods.saving import Learned, MisfitError, write_model
from gramme.methods.seen_graph import ViewScale, seen_graph


class NodeClassifier(ClassifierMixin, BaseEstimator, ABC):
    """A method that predicts the labels of a graph's nodes.

    It follows scikit-learn: the constructor only stores, ``fit`` validates and returns self, what is learned ends in
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
    interrupted_ : bool
        Whether the fit was ended early with Ctrl-C, so that the model is less than was asked for.

    Notes
    -----
    To write a method of your own, give a subclass

    - ``parameter_rules``: for each parameter of the constructor a rule from ``gramme.methods.parameters``;
    - ``_fit(graph, known, seed)``: learn from the known labels and return the probabilities, (nodes, classes);
    - ``saved_fields``: what ``_fit`` learned besides, from ``gramme.methods.saved_fields``;
    - ``_inductive_proba(graph)`` where it can predict for another graph.

    Rules and fields of the base classes count as well and need not be repeated.
    """

    #: Whether the method knows couplings between layers; for others each is a layer of its own.
    attends_couplings: ClassVar[bool] = False
    parameter_rules: ClassVar[Mapping[str, Rule]] = {}
    saved_fields: ClassVar[tuple[SavedField, ...]] = (
        SavedNames("classes"),
        SavedNames("layers"),
        SavedNames("nodes"),
        SavedArray(
            "probabilities",
            np.float32,
            ("nodes", "classes"),
            low=0,
            high=1,
            rows_sum_to_one=True,
        ),
        SavedTransduction(),
        SavedArray("view_center", np.float64, ("view columns",), optional=True),
        SavedArray("view_scale", np.float64, ("view columns",), low=0, optional=True),
        SavedValue("interrupted", Flag(), default=False),
        SavedArray("class_weights", np.float64, ("classes",), low=0, optional=True),
    )

    classes_: NDArray[Any]
    probabilities_: NDArray[np.float32]
    transduction_: NDArray[Any]
    nodes_: pd.Index
    layers_: list[str]
    graph_: MultilayerGraph
    given_graph_: MultilayerGraph
    view_center_: NDArray[np.float64]
    view_scale_: NDArray[np.float64]
    interrupted_: bool
    class_weights_: NDArray[np.float64]

    # Fitting

    def fit(self, graph: MultilayerGraph, y: Any = None) -> Self:
        """Learn from the labelled nodes of a graph.

        Parameters
        ----------
        graph : MultilayerGraph
        y : sequence, mapping or Series, optional
            Labels in node order or by node name; -1, None and NaN mean unknown. The graph's own labels where not given.
        """
        return self._run_fit(graph, y)

    @abstractmethod
    def _fit(
        self, graph: MultilayerGraph, known: KnownLabels, seed: int
    ) -> NDArray[np.floating[Any]]:
        """Learn from known labels and return the class probabilities of all nodes, shape (nodes, classes).

        It may take further keyword arguments: what the method's own ``fit`` takes besides, and what
        :meth:`_hand_down` gives to a copy.

        Parameters
        ----------
        graph : MultilayerGraph
        known : KnownLabels
            Positions of the labelled nodes, the number of each one's class, and the classes.
        seed : int
            From ``random_state``.
        """

    def _run_fit(self, graph: Any, y: Any = None, **options: Any) -> Self:
        """Everything around ``_fit``: check, align the labels, seed, forget an earlier fit, store the result.

        A ``fit`` that takes further arguments passes them on to its ``_fit`` through this.
        """
        given = self._check_graph(graph)
        views = ViewScale.learned(given) if given.layer_features else None
        graph = seen_graph(given, views, attends_couplings=self.attends_couplings)
        check_parameters(self._all_rules(), self.get_params(deep=False))
        self._check_parameters(graph)
        known = y if isinstance(y, KnownLabels) else known_labels(graph, y)
        seed = seed_from(getattr(self, "random_state", None))
        self._begin(graph, known)
        self.given_graph_ = given
        if views is not None:
            self.view_center_, self.view_scale_ = views.center, views.scale
        with one_thread_below(graph.num_entries):
            self._finish(self._fit(graph, known, seed, **options), known)
        return self

    def _check_parameters(self, graph: MultilayerGraph) -> None:
        """Refuse parameters that do not go together, or not with this graph; rules see one parameter at a time."""

    def fit_copy(self, graph: MultilayerGraph, y: Any = None) -> Self:
        """Fit a copy of this fitted model on a part of the same labels, as a cross-validation does.

        A method may hand down to the copy what takes long and needs no labels, and settings that were costly to
        choose: what the copy predicts for other labels is then no more than slightly optimistic.
        """
        self._check_fitted()
        copy: Self = clone(self)
        return copy._run_fit(graph, y, **self._hand_down(graph))

    def _hand_down(self, graph: MultilayerGraph) -> dict[str, Any]:
        """Options for the ``_fit`` of a copy on a graph."""
        return {}

    def fit_with_folds(
        self, graph: MultilayerGraph, known: KnownLabels, fold: NDArray[np.int64], copies: int = 1
    ) -> NDArray[np.float64]:
        """Fit, and say of each label what a model says that has not seen the label's fold.

        Parameters
        ----------
        graph : MultilayerGraph
        known : KnownLabels
        fold : array of int, shape (labelled,)
            The fold of each label.
        copies : int, default=1
            Models for each fold whose mean is taken, where a method can train many at once; others make one.

        Returns
        -------
        array, shape (labelled, classes)
            NaN where an interrupt (Ctrl-C) came before a fold was done.
        """
        self._run_fit(graph, known)
        return refit_for_folds(self, graph, known, fold)

    def _begin(self, graph: MultilayerGraph, known: KnownLabels) -> None:
        """Store what a fit starts from, and forget an earlier fit: a fit that fails leaves nothing half-true behind."""
        for name in [name for name in vars(self) if name.endswith("_")]:
            delattr(self, name)
        self.classes_ = known.classes
        self.nodes_ = graph.nodes
        self.layers_ = list(graph.layers)
        self.graph_ = graph
        self.interrupted_ = False

    def _finish(self, probabilities: NDArray[np.floating[Any]], known: KnownLabels) -> None:
        """Store the result of a fit."""
        self.probabilities_ = probabilities.astype(np.float32, copy=False)
        labels = self.classes_[self.probabilities_.argmax(axis=1)]
        labels[known.nodes] = self.classes_[known.codes]
        self.transduction_ = labels
        self._labelled = known.nodes

    def balance_classes(self) -> Self:
        """Count every class alike, however rare it is among the labels; after ``fit``.

        Each probability is divided by the share of its class among the labels, and a node's are made to sum to 1 again:
        what the model would say of nodes among which all classes are as frequent. Rare classes are found more often, at
        the price of more false alarms.

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
        self._check_fitted()
        if hasattr(self, "class_weights_"):
            return self
        codes = coded_labels(self.graph_, self.transduction_, self.classes_, "known", strict=True)[
            1
        ]
        counts = np.bincount(codes[self._labelled], minlength=len(self.classes_))
        self.class_weights_ = counts.sum() / (len(counts) * np.maximum(counts, 1))
        known = KnownLabels(self._labelled, codes[self._labelled], self.classes_)
        self._finish(self._weighed(self.probabilities_), known)
        return self

    def _weighed(self, probabilities: NDArray[np.float32]) -> NDArray[np.float32]:
        """Probabilities with the weights of the classes, where there are some."""
        weights: NDArray[np.float64] | None = getattr(self, "class_weights_", None)
        if weights is None:
            return probabilities
        weighed = probabilities * weights
        shares: NDArray[np.float32] = (weighed / weighed.sum(axis=1, keepdims=True)).astype(
            np.float32
        )
        return shares

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
        self._check_fitted()
        if graph is None or any(graph is own for own in self._fitted_graphs()):
            return self.probabilities_.copy()
        found = self._inductive_proba(self._with_fitted_layers(graph))
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
        """The accuracy on labelled nodes: the share of them whose label is predicted.

        Parameters
        ----------
        graph : MultilayerGraph, optional
            Another graph than the fitted one.
        y : sequence, mapping or Series, optional
            Labels in node order or by node name; nodes without one do not count, and a class the model has never seen
            counts as wrong. For another graph, that graph's own labels where not given. For the fitted graph they must
            be given: labels the model has learned from say nothing about its accuracy.
        """
        self._check_fitted()
        if graph is None and y is None:
            raise DataError("pass y: labels of nodes that the model has not learned from")
        if graph is None and not hasattr(self, "graph_"):
            raise DataError("a loaded model does not hold the graph it was fitted on; pass it")
        target = self.graph_ if graph is None else self._check_graph(graph)
        nodes, codes = coded_labels(target, y, self.classes_, "test", strict=False)
        found = self.predict_proba(graph).argmax(axis=1)[nodes]
        return float((found == codes).mean())

    # Saving

    def save(self, path: Any) -> None:
        """Write the fitted model to a safetensors file; :func:`gramme.load` reads it back."""
        self._check_fitted()
        write_model(path, type(self).__name__, self.get_params(), self._learned())

    def _learned(self) -> Learned:
        """What a model file holds."""
        return save_fields(self._all_fields(), self)

    @classmethod
    def _restored(cls, parameters: Mapping[str, Any], learned: Learned) -> Self:
        """A fitted model from what its file holds, or a MisfitError that names what does not fit."""
        known = cls._get_param_names()
        rules = cls._all_rules()
        for name, value in parameters.items():
            if name not in known:
                raise MisfitError(f"{cls.__name__} has no parameter {name!r}")
            if name in rules:
                try:
                    rules[name].check_saved(name, value)
                except DataError as error:
                    raise MisfitError(str(error)) from error
        model = cls(**parameters)
        load_fields(cls._all_fields(), model, learned)
        model._check_loaded()
        return model

    def _check_loaded(self) -> None:
        """Raise :class:`~gramme.methods.saving.MisfitError` where the fields of a file do not go together."""

    # What a method declares, with what its base classes declare

    @classmethod
    def _all_rules(cls) -> dict[str, Rule]:
        found: dict[str, Rule] = {}
        for kind in reversed(cls.__mro__):
            found |= vars(kind).get("parameter_rules", {})
        return found

    @classmethod
    def _all_fields(cls) -> list[SavedField]:
        return [
            field for kind in reversed(cls.__mro__) for field in vars(kind).get("saved_fields", ())
        ]

    def __dir__(self) -> Iterable[str]:
        # not by looking at every value, as BaseEstimator does: some are computed when asked for
        return object.__dir__(self)

    def _check_fitted(self) -> None:
        if not hasattr(self, "probabilities_"):
            raise NotFittedError(f"this {type(self).__name__} is not fitted yet; call fit first")

    def _fitted_graphs(self) -> list[MultilayerGraph]:
        """The graph of the fit as it was given and as the model saw it; none where the model was loaded."""
        return [vars(self)[name] for name in ("graph_", "given_graph_") if name in vars(self)]

    def _seen(self, graph: MultilayerGraph) -> MultilayerGraph:
        """Another graph as this model sees it."""
        views = None
        if hasattr(self, "view_scale_"):
            views = ViewScale(self.view_center_, self.view_scale_)
        return seen_graph(graph, views, attends_couplings=self.attends_couplings)

    @staticmethod
    def _check_graph(graph: Any) -> MultilayerGraph:
        if not isinstance(graph, MultilayerGraph):
            raise DataError(f"a MultilayerGraph is needed, not {type(graph).__name__}")
        if graph.num_layers == 0:
            raise DataError("the graph has no layers, so there is nothing to learn from")
        return graph

    def _with_fitted_layers(self, graph: Any) -> MultilayerGraph:
        """The graph with the layers of the fit, in their order; others are left out with a warning."""
        graph = self._seen(self._check_graph(graph))
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
