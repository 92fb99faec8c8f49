"""What every estimator on a graph shares, whatever it predicts: the fit around ``_fit``, parameters, saving.

A class declares its ``parameter_rules`` and ``saved_fields``; those of its base classes count as well.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Protocol, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from gramme._threads import one_thread_below
from gramme.errors import DataError, NotFittedError
from gramme.graph import MultilayerGraph
from gramme.graph.name_order import NameOrder, in_name_order
from gramme.methods.ordered_fit import OrderedFit
from gramme.methods.parameters import Flag, Rule, check_parameters, seed_from
from gramme.methods.saved_fields import (
    SavedArray,
    SavedField,
    SavedValue,
    load_fields,
    save_fields,
)
from gramme.methods.saved_names import SavedLayerOrder, SavedNames
from gramme.methods.saving import Learned, MisfitError, write_model
from gramme.methods.seen_graph import ViewScale, seen_graph


class Known(Protocol):
    """What is known about some nodes: their classes or their numbers."""

    @property
    def nodes(self) -> NDArray[np.int64]:
        """The positions of these nodes."""

    def sorted_by_name(self, order: NameOrder) -> tuple[Self, NDArray[np.int64]]:
        """The same in the order of the nodes' names, and where each stood."""

    def at(self, nodes: NDArray[np.int64]) -> Self:
        """The same with other positions for the nodes."""


class GraphEstimator(OrderedFit, BaseEstimator, ABC):
    """An estimator that is fitted on the nodes of a graph and knows another graph by the names of its layers."""

    parameter_rules: ClassVar[Mapping[str, Rule]] = {}
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

    def _run_fit(self, graph: Any, y: Any = None, **options: Any) -> Self:
        """Everything around ``_fit``: check, align the labels, seed, forget an earlier fit, store the result.

        A ``fit`` that takes further arguments passes them on to its ``_fit`` through this.
        """
        given = self._check_graph(graph)
        views = ViewScale.learned(in_name_order(given).graph) if given.layer_features else None
        graph = self._seen_by_fit(given, views)
        order = in_name_order(graph)
        known, _ = self._known(graph, y).sorted_by_name(order)
        seed = seed_from(getattr(self, "random_state", None))
        self._begin_on(graph, given, views)
        with one_thread_below(graph.num_entries):
            self._begin_with(known)
            if self.hands_graph_on:
                found = self._fit(graph, known, seed, **options)
            else:
                inner = known.at(order.there(known.nodes))
                found = order.back(self._fit(order.graph, inner, seed, **options))
            self._finish(found, known)
        return self

    @abstractmethod
    def _fit(self, graph: MultilayerGraph, known: Any, seed: int) -> NDArray[np.floating[Any]]:
        """Learn from what is known and return what is predicted for all nodes, a row per node."""

    @abstractmethod
    def _known(self, graph: MultilayerGraph, y: Any) -> Known:
        """What is known about some nodes, from what was given to ``fit``."""

    def _begin_with(self, known: Any) -> None:
        """Store what ``_fit`` may need of the known labels besides themselves."""

    @abstractmethod
    def _finish(self, found: Any, known: Any) -> None:
        """Store the result of a fit."""

    def _seen_by_fit(self, given: MultilayerGraph, views: ViewScale | None) -> MultilayerGraph:
        """The graph of a fit as the method sees it, once the parameters are known to be right for it."""
        graph = seen_graph(given, views, attends_couplings=self.attends_couplings)
        check_parameters(self._all_rules(), self.get_params(deep=False))
        self._check_parameters(graph)
        return graph

    def _check_parameters(self, graph: MultilayerGraph) -> None:
        """Refuse parameters that do not go together, or not with this graph; rules see one parameter at a time."""

    def _begin_on(
        self, graph: MultilayerGraph, given: MultilayerGraph, views: ViewScale | None
    ) -> None:
        """Store what a fit starts from, and forget an earlier fit: a fit that fails leaves nothing half-true behind."""
        for name in [name for name in vars(self) if name.endswith("_")]:
            delattr(self, name)
        self.nodes_ = graph.nodes
        self.layers_, self.layer_order_ = list(graph.layers), sorted(graph.layers)
        self.graph_, self.given_graph_ = graph, given
        self.interrupted_ = False
        if views is not None:
            self.view_center_, self.view_scale_ = views.center, views.scale

    # Saving

    def save(self, path: Any) -> None:
        """Write the fitted model to a safetensors file; :func:`gramme.load` reads it back."""
        self.check_fitted()
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

    def graph_given(self, graph: MultilayerGraph | None = None) -> MultilayerGraph:
        """The graph it was fitted on, as it was given; a loaded model has none, and the caller must have it."""
        self.check_fitted()
        found = graph if graph is not None else vars(self).get("given_graph_")
        if found is None:
            raise DataError("a loaded model does not hold the graph it was fitted on; pass graph=")
        seen: MultilayerGraph = found
        return seen

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
