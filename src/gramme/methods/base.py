"""The interface that every method shares: fit on a graph, predict for its nodes or for another graph's.

A method declares its parameters and ``saved_fields`` and writes ``_fit``. Everything else is here.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone

from gramme._progress import part
from gramme._runtime import one_thread_below
from gramme.distributed import communicator_of, global_positions, local_index
from gramme.errors import DataError, NotFittedError
from gramme.graph import MultilayerGraph, checked_graph
from gramme.graph.canonical import NameOrder, in_name_order

from ._plotting import PlotMixin
from .cross_fitting import SET_FIELDS, PredictionSetMixin, refit_for_folds
from .labels import KnownLabels, WeightedNodes, coded_labels, known_labels, labels_within, reweighed
from .params import POSITIVE, Flag, PerLayer, check_parameters, parameter_rules, seed_from
from .persistence import (
    Learned,
    MisfitError,
    SavedArray,
    SavedField,
    SavedLayerOrder,
    SavedNames,
    SavedTransduction,
    SavedValue,
    Sizes,
    write_model,
)
from .prepare import ViewScale, prepare_graph, warn_of_new_groups, with_layers_of_fit

_KEEPS_INTERRUPTED: ContextVar[bool] = ContextVar("keeps interrupted fits", default=False)


@contextmanager
def keep_interrupted_fits() -> Iterator[None]:
    """Within this, a ``fit`` that Ctrl-C ended early returns what it has instead of raising KeyboardInterrupt."""
    previous_setting = _KEEPS_INTERRUPTED.set(True)
    try:
        yield
    finally:
        _KEEPS_INTERRUPTED.reset(previous_setting)


class GraphEstimator(BaseEstimator, ABC):
    """An estimator that is fitted on the nodes of a graph and knows another graph by the names of its layers."""

    saved_fields: ClassVar[tuple[SavedField, ...]] = (
        SavedNames("layers"),
        SavedLayerOrder("layer_order"),
        SavedNames("nodes"),
        SavedArray("view_center", np.float64, ("view columns",), optional=True),
        SavedArray("view_scale", np.float64, ("view columns",), low=0, optional=True),
        SavedValue("interrupted", Flag(), default=False),
    )
    _result: ClassVar[str]  # the attribute that is there once it is fitted

    interrupted_: bool

    # Fitting

    def fit(self, graph: MultilayerGraph, y: Any = None, *, mask: str | None = None, sample_weight: Any = None) -> Self:
        """Learn from the nodes of a graph whose label is known, or their number where a method predicts numbers.

        Parameters
        ----------
        graph : MultilayerGraph
        y : sequence, mapping or Series, optional
            Labels in node order or by node name; None and NaN, and -1 among classes, mean unknown. The graph's own
            labels if not given, of its mask "train" where it has one.
        mask : str, optional
            One of the graph's masks: labels of other nodes are not learned from.
        sample_weight : sequence, mapping or Series, optional
            How much each node's label counts, in node order or by node name; 1 for nodes that are not named. A label of
            weight 0 is not learned from.

        Raises
        ------
        KeyboardInterrupt
            After Ctrl-C. Where a part of the training was done by then, the model has it: ``interrupted_`` is True.
        """
        return self._run_fit(graph, y, mask=mask, sample_weight=sample_weight)

    def _run_fit(
        self, graph: Any, y: Any = None, *, mask: str | None = None, sample_weight: Any = None, **options: Any
    ) -> Self:
        """Everything around ``_fit``: check, align the labels, seed, forget an earlier fit, store the result.

        A ``fit`` that takes further arguments passes them on to its ``_fit`` through this. After Ctrl-C it stores what
        was trained by then and raises KeyboardInterrupt, but within :func:`keep_interrupted_fits`.
        """
        given_graph = self._check_graph(graph)
        view_scale = ViewScale.learned(in_name_order(given_graph).graph) if given_graph.layer_features else None
        graph = prepare_graph(given_graph, view_scale, supports_couplings=self.supports_couplings)
        check_parameters(parameter_rules(type(self)), self.get_params(deep=False))
        self._check_parameters(graph)
        y = labels_within(given_graph, y, mask)
        name_order = in_name_order(graph)
        given_known, _ = self._known(graph, y, sample_weight).sorted_by_name(name_order)
        known = self._weighed_by_class(given_known)
        seed = seed_from(getattr(self, "random_state", None))
        self._begin_on(graph, given_graph, view_scale)
        with one_thread_below(graph.num_entries):
            self._begin_with(known)
            if self._delegates_preprocessing:
                fitted_result = self._fit(graph, known, seed, **options)
            else:
                ordered_known = known.at(name_order.to_sorted(known.nodes))
                fitted_result = name_order.to_given(self._fit(name_order.graph, ordered_known, seed, **options))
            self._finish(fitted_result, given_known)
        if self.interrupted_ and not _KEEPS_INTERRUPTED.get():
            raise KeyboardInterrupt
        return self

    @abstractmethod
    def _fit(self, graph: MultilayerGraph, known: Any, seed: int) -> NDArray[np.floating[Any]]:
        """Learn from what is known and return what is predicted for all nodes: numbers, or a row of probabilities each.

        It may take further keyword arguments: those of the method's own ``fit``, and those that ``_warm_start`` gives
        to a copy. ``known`` has the positions of the labelled nodes, and the class or the number of each; ``seed`` is
        from ``random_state``.
        """

    @abstractmethod
    def _known(self, graph: MultilayerGraph, y: Any, sample_weight: Any = None) -> WeightedNodes:
        """What is known about some nodes, from what was given to ``fit``."""

    def _weighed_by_class(self, known: Any) -> Any:
        """What is known, with the weights of the classes where there are classes."""
        return known

    def _begin_with(self, known: Any) -> None:
        """Store what ``_fit`` may need of the known labels besides themselves."""

    @abstractmethod
    def _finish(self, found: Any, known: Any) -> None:
        """Store the result of a fit."""

    def _check_parameters(self, graph: MultilayerGraph) -> None:
        """Refuse parameters that do not go together, or not with this graph; rules see one parameter at a time."""

    def _begin_on(self, graph: MultilayerGraph, given: MultilayerGraph, views: ViewScale | None) -> None:
        """Store what a fit starts from, and forget an earlier fit: a fit that fails leaves nothing half-true behind."""
        for attribute_name in [name for name in vars(self) if name.endswith("_")]:
            delattr(self, attribute_name)
        self.nodes_ = graph.nodes
        self.layers_, self.layer_order_ = list(graph.layers), sorted(graph.layers)
        self.graph_, self.given_graph_ = graph, given
        self.interrupted_ = False
        if views is not None:
            self.view_center_, self.view_scale_ = views.center, views.scale

    def fit_with_folds(
        self, graph: MultilayerGraph, known: Any, fold: NDArray[np.int64], copies: int = 1, allowance: Any = None
    ) -> NDArray[np.float64]:
        """Fit, and predict each label by a model that has not seen the label's fold, -1 for labels that are in none.

        Methods that can train many models at once average so many ``copies`` for each fold, and those that can train
        less keep to the ``allowance``, a TimeBudget. Returns (labelled, classes), or (labelled,) for numbers: NaN for
        labels in no fold, and where an interrupt (Ctrl-C) came before a fold was done.
        """
        name_order = in_name_order(self._check_graph(graph))
        known, label_positions = known.sorted_by_name(name_order)  # the order in which a fit sees labels
        with keep_interrupted_fits():
            sorted_unseen = self._fit_with_folds(graph, known, fold[label_positions], copies, allowance)
        unseen_predictions = np.empty(sorted_unseen.shape)
        unseen_predictions[label_positions] = sorted_unseen
        return unseen_predictions

    @abstractmethod
    def _fit_with_folds(
        self, graph: MultilayerGraph, known: Any, fold: NDArray[np.int64], copies: int, allowance: Any
    ) -> NDArray[np.float64]:
        """The same for labels in the order of their nodes' names."""

    # Saving

    def save(self, path: Any) -> None:
        """Write the fitted model to a safetensors file; :func:`gramme.load` reads it back."""
        self.check_fitted()
        write_model(path, type(self).__name__, self.get_params(), self._learned())

    def _learned(self) -> Learned:
        """What a model file holds."""
        learned = Learned()
        for saved_field in self._all_fields():
            saved_field.save(self, learned)
        return learned

    @classmethod
    def _restored(cls, parameters: Mapping[str, Any], learned: Learned) -> Self:
        """A fitted model from what its file holds, or a MisfitError that names what does not fit."""
        parameter_names = cls._get_param_names()
        rules = parameter_rules(cls)
        for parameter_name, value in parameters.items():
            if parameter_name not in parameter_names:
                raise MisfitError(f"{cls.__name__} has no parameter {parameter_name!r}")
            if parameter_name in rules:
                try:
                    rules[parameter_name].check_saved(parameter_name, value)
                except DataError as error:
                    raise MisfitError(str(error)) from error
        model = cls(**parameters)
        sizes: Sizes = {}
        for saved_field in cls._all_fields():
            saved_field.load(model, learned, sizes)
        model._check_loaded()
        return model

    def _check_loaded(self) -> None:
        """Raise :class:`~gramme.methods.persistence.MisfitError` where the fields of a file do not go together."""

    # What a method declares, with what its base classes declare

    @classmethod
    def _all_fields(cls) -> list[SavedField]:
        return [field for kind in reversed(cls.__mro__) for field in vars(kind).get("saved_fields", ())]

    def __dir__(self) -> Iterable[str]:
        # not by looking at every value, as BaseEstimator does: some are computed when asked for
        return object.__dir__(self)

    def graph_given(self, graph: MultilayerGraph | None = None) -> MultilayerGraph:
        """The graph it was fitted on, as it was given; a loaded model has none, and the caller must have it."""
        self.check_fitted()
        known_graph = graph if graph is not None else vars(self).get("given_graph_")
        if known_graph is None:
            raise DataError("a loaded model does not hold the graph it was fitted on; pass graph=")
        fitted_graph: MultilayerGraph = known_graph
        return fitted_graph

    def _graph_to_score(self, graph: MultilayerGraph | None, y: Any, what: str) -> MultilayerGraph:
        """The graph whose labels, or ``what`` it has, predictions are compared with; None is the fitted one."""
        self.check_fitted()
        if graph is not None:
            return self._check_graph(graph)
        if y is None:
            raise DataError(f"pass y: {what} of nodes that the model has not learned from")
        if not hasattr(self, "graph_"):
            raise DataError("a loaded model does not hold the graph it was fitted on; pass it")
        return self.graph_

    def check_fitted(self) -> None:
        """Raise a ``NotFittedError`` unless it is fitted."""
        if not hasattr(self, self._result):
            raise NotFittedError(f"this {type(self).__name__} is not fitted yet; call fit first")

    #: Whether the method knows couplings between layers; for others each is a layer of its own.
    supports_couplings: ClassVar[bool] = False

    #: Whether the method passes the graph on to other methods as it was given; they put it in order themselves.
    _delegates_preprocessing: ClassVar[bool] = False

    nodes_: pd.Index
    layers_: list[str]
    layer_order_: list[str]
    graph_: MultilayerGraph
    given_graph_: MultilayerGraph
    view_center_: NDArray[np.float64]
    view_scale_: NDArray[np.float64]

    def _seen(self, graph: MultilayerGraph) -> MultilayerGraph:
        """Another graph as this model sees it."""
        view_scale = None
        if hasattr(self, "view_scale_"):
            view_scale = ViewScale(self.view_center_, self.view_scale_)
        return prepare_graph(graph, view_scale, supports_couplings=self.supports_couplings)

    def _ordered(self, graph: Any) -> NameOrder:
        """Another graph as the method would see it in a fit, with the layers of its own fit."""
        prepared_graph = self._seen(self._check_graph(graph))
        if hasattr(self, "graph_"):
            warn_of_new_groups(self.graph_, prepared_graph)
        if self._delegates_preprocessing:
            return NameOrder(with_layers_of_fit(prepared_graph, self.layers_))
        return self._with_own_layers(in_name_order(prepared_graph))

    def _fitted_order(self) -> NameOrder:
        """The graph of the fit as the method saw it."""
        if not hasattr(self, "graph_"):
            raise NotFittedError(
                "a loaded model does not hold the graph it was fitted on; pass the graph, "
                "as in embed(graph) or node_attention(layer, graph=graph)"
            )
        return self._with_own_layers(in_name_order(self.graph_))

    def _with_own_layers(self, order: NameOrder) -> NameOrder:
        return NameOrder(with_layers_of_fit(order.graph, self.layer_order_), order.places)

    @abstractmethod
    def _inductive(self, graph: MultilayerGraph) -> NDArray[np.floating[Any]]:
        """What is predicted for the nodes of another graph, whose layers have been checked."""

    def _predicted(self, graph: MultilayerGraph | None) -> NDArray[Any]:
        """What is predicted for every node, of the fitted graph or of another that has its layers."""
        self.check_fitted()
        if graph is None or self.fitted_on(graph):
            fitted_result: NDArray[Any] = getattr(self, self._result).copy()
            return fitted_result
        name_order = self._ordered(graph)
        predicted_rows = name_order.to_given(self._inductive(name_order.graph))
        if not np.isfinite(predicted_rows).all():
            raise DataError(
                f"{type(self).__name__} predicts nothing finite for this graph: its weights or features are too large"
            )
        return predicted_rows

    def fitted_on(self, graph: MultilayerGraph) -> bool:
        """Whether this is the graph of the fit, as it was given or as the model saw it; never for a loaded model."""
        return any(graph is vars(self).get(name) for name in ("graph_", "given_graph_"))

    def _in_given_order(self, rows: NDArray[Any]) -> NDArray[Any]:
        """Rows of the nodes of the fit, in the order of the method, as the nodes were given."""
        return in_name_order(self.graph_).to_given(rows)

    def _by_layer(self, values: Any, name: str) -> pd.Series:
        """Numbers of the layers, in the order of the method, as the layers were given."""
        return pd.Series(values, index=self.layer_order_, name=name)[self.layers_]

    @staticmethod
    def _check_graph(graph: Any) -> MultilayerGraph:
        checked = checked_graph(graph)
        if checked.num_layers == 0:
            raise DataError("the graph has no layers, so there is nothing to learn from")
        return checked


@dataclass(kw_only=True, eq=False, repr=False)
class NodeClassifier(PlotMixin, PredictionSetMixin, ClassifierMixin, GraphEstimator):
    """A method that predicts the labels of a graph's nodes.

    It follows scikit-learn: the constructor only stores, ``fit`` validates and returns self, what is learned ends in
    ``_``, and ``get_params``, ``set_params`` and ``clone`` work.

    Parameters
    ----------
    class_weight : "balanced" or mapping of class to float or None, default=None
        How much the labels of each class count in training. ``"balanced"``: all classes alike, however many labels they
        have. Every method has this parameter.

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

    - its parameters as fields of a ``@dataclass(kw_only=True, eq=False, repr=False)``, each annotated with its type and
      what it may be, like ``PositiveInt`` from ``gramme.methods.params``; learned attributes get ``field(init=False)``;
    - ``_fit(graph, known, seed)``: learn from the known labels, each counted by ``known.weights``, and return the
      probabilities, (nodes, classes). Nodes and layers come in the order of their names, so the order of a file does
      not matter;
    - ``saved_fields``: what else ``_fit`` learned, from ``gramme.methods.persistence``;
    - ``_inductive_proba(graph)``, if it can predict for another graph.

    Parameters and fields of the base classes are added to these; do not repeat them.
    """

    saved_fields: ClassVar[tuple[SavedField, ...]] = (
        SavedNames("classes"),
        SavedArray("probabilities", np.float32, ("nodes", "classes"), low=0, high=1, rows_sum_to_one=True),
        SavedTransduction(),
        SavedArray("class_weights", np.float64, ("classes",), low=0, optional=True),
        *SET_FIELDS,
    )
    _result: ClassVar[str] = "probabilities_"

    has_out_of_fold: ClassVar[bool] = False
    """Whether a fit leaves predictions of the whole method for labels that it had not seen (``out_of_fold()``), from
    which its accuracy can be estimated without further fits. Such a method has a parameter ``folds``."""
    _copy_cost: ClassVar[float] = 1.0
    """How long :meth:`_fit_copy` takes where the fit of the model takes 1; used only to show progress."""

    class_weight: Annotated[str | Mapping[Any, float], PerLayer(POSITIVE, words=("balanced",))] | None = None

    classes_: NDArray[Any] = field(init=False)
    probabilities_: NDArray[np.float32] = field(init=False)
    transduction_: NDArray[Any] = field(init=False)
    class_weights_: NDArray[np.float64] = field(init=False)

    # Fitting

    def fit_predict(
        self, graph: MultilayerGraph, y: Any = None, *, mask: str | None = None, sample_weight: Any = None
    ) -> NDArray[Any]:
        """The most probable class of every node, after a fit; the arguments are those of :meth:`fit`."""
        return self.fit(graph, y, mask=mask, sample_weight=sample_weight).predict()

    def _known(self, graph: MultilayerGraph, y: Any, sample_weight: Any = None) -> KnownLabels:
        return y if isinstance(y, KnownLabels) else known_labels(graph, y, sample_weight)

    def _weighed_by_class(self, known: KnownLabels) -> KnownLabels:
        return known.class_weighed(self.class_weight)

    def _begin_with(self, known: KnownLabels) -> None:
        self.classes_ = known.classes

    def _fit_copy(self, graph: MultilayerGraph, y: Any = None) -> Self:
        """Fit a copy of this fitted model on a part of the same labels, as a cross-validation does.

        A method may hand down to the copy what takes long and needs no labels, and settings that were costly to choose.
        The copy's predictions for other labels are then slightly optimistic at most. What is only there to explain a
        model, like ``layer_importance_``, the copy may lack.
        """
        self.check_fitted()
        unfitted_copy: Self = clone(self)
        with keep_interrupted_fits():
            return unfitted_copy._run_fit(graph, y, **self._warm_start(graph))

    def _warm_start(self, graph: MultilayerGraph) -> dict[str, Any]:
        """Options for the ``_fit`` of a copy on a graph."""
        return {}

    def _fit_with_folds(
        self, graph: MultilayerGraph, known: KnownLabels, fold: NDArray[np.int64], copies: int, allowance: Any
    ) -> NDArray[np.float64]:
        own_share = self._own_share(int(fold.max()) + 1)
        with part("", own_share):
            self._run_fit(graph, known)
        with part("", 1 - own_share):
            return refit_for_folds(self, graph, known, fold)

    def _predict_halves(
        self, graph: MultilayerGraph, known: KnownLabels, half: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Predict each label by a copy that has not seen the label's half, NaN after an interrupt."""
        return refit_for_folds(self, graph, known, half)

    def _own_share(self, folds: int) -> float:
        """The share that the model's own fit has of a fit with folds; used only to show progress."""
        return 1 / (1 + self._copy_cost * folds)

    def _finish(self, found: NDArray[np.floating[Any]], known: KnownLabels) -> None:
        if communicator_of(self.graph_).any(not np.isfinite(found).all()):
            raise DataError(
                f"{type(self).__name__} finds no probabilities: its numbers have grown too large; scale the weights or "
                "features, or choose other parameters"
            )
        self.probabilities_ = found.astype(np.float32, copy=False)
        node_labels = self.classes_[self.probabilities_.argmax(axis=1)]
        local_labels, local_nodes = local_index(self.graph_, known.nodes)
        node_labels[local_nodes] = self.classes_[known.codes[local_labels]]
        self.transduction_ = node_labels
        self.labelled_ = np.zeros(len(node_labels), dtype=bool)
        self.labelled_[local_nodes] = True
        self._label_weights = np.ones(len(node_labels))
        self._label_weights[local_nodes] = known.weights[local_labels]

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
        label_codes = coded_labels(self.graph_, self.transduction_, self.classes_, "known", strict=True)[1]
        class_counts = np.bincount(label_codes[self.labelled_], minlength=len(self.classes_))
        class_counts = communicator_of(self.graph_).all_sum(class_counts)
        self.class_weights_ = class_counts.sum() / (len(class_counts) * np.maximum(class_counts, 1))
        labelled_nodes = global_positions(self.graph_)[self.labelled_]
        known_labels_here = KnownLabels(labelled_nodes, label_codes[self.labelled_], self.classes_)
        self._finish(self._weighed(self.probabilities_), known_labels_here)
        return self

    def _weighed(self, probabilities: NDArray[np.float32]) -> NDArray[np.float32]:
        """Probabilities with the weights of the classes, if there are any."""
        class_weights: NDArray[np.float64] | None = getattr(self, "class_weights_", None)
        return probabilities if class_weights is None else reweighed(probabilities, class_weights)

    # Predicting

    def _inductive(self, graph: MultilayerGraph) -> NDArray[np.float32]:
        return self._inductive_proba(graph)

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
        class_probabilities: NDArray[np.float32] = self._predicted(graph)
        return class_probabilities if graph is None or self.fitted_on(graph) else self._weighed(class_probabilities)

    def predict_log_proba(self, graph: MultilayerGraph | None = None) -> NDArray[np.float32]:
        """The natural logarithms of :meth:`predict_proba`; minus infinity where a probability is 0."""
        with np.errstate(divide="ignore"):
            log_probabilities: NDArray[np.float32] = np.log(self.predict_proba(graph))
        return log_probabilities

    def predict(self, graph: MultilayerGraph | None = None) -> NDArray[Any]:
        """The most probable class of every node, of the fitted graph or of another."""
        best_codes = self.predict_proba(graph).argmax(axis=1)
        predicted_labels: NDArray[Any] = self.classes_[best_codes]
        return predicted_labels

    def score(self, graph: MultilayerGraph | None = None, y: Any = None, *, mask: str | None = None) -> float:
        """The accuracy on labelled nodes: the share whose label is predicted correctly.

        Parameters
        ----------
        graph : MultilayerGraph, optional
            A graph other than the fitted one.
        y : sequence, mapping or Series, optional
            Labels in node order or by node name; nodes without one do not count, and a class the model has never seen
            counts as wrong. For another graph, that graph's own labels if not given. For the fitted graph they must
            be given, or chosen by ``mask``: labels the model has learned from say nothing about its accuracy, and are
            left out where that graph's own are taken.
        mask : str, optional
            One of the graph's masks, like "test": other nodes do not count.
        """
        scored_graph = self._graph_to_score(graph, y if mask is None else mask, "labels")
        own_labels = y is None
        y = labels_within(scored_graph, y, mask)
        fitted_graph = getattr(self, "graph_", None)
        no_labels: dict[str, Any] = {"labels": None, "masks": {}}
        is_fitted_graph = scored_graph is fitted_graph or (
            fitted_graph is not None and scored_graph.replace(**no_labels) == fitted_graph.replace(**no_labels)
        )
        if own_labels and is_fitted_graph and scored_graph.labels is not None:
            y = scored_graph.labels.copy() if y is None else y.copy()
            y[self.labelled_] = None
        labelled_nodes, label_codes = coded_labels(
            scored_graph, scored_graph.labels if y is None else y, self.classes_, "test", strict=False
        )
        predicted_codes = self.predict_proba(graph).argmax(axis=1)[labelled_nodes]
        return float((predicted_codes == label_codes).mean())
