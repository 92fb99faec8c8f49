"""Rules for the parameters of a method: what a parameter may be, and what the error says when it is not."""

from __future__ import annotations

import numbers
import sys
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from inspect import get_annotations
from types import NoneType, SimpleNamespace, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np
import scipy.sparse as sp
import torch

from gramme._text import seconds_of
from gramme.errors import DataError, did_you_mean
from gramme.graph import MultilayerGraph
from gramme.graph.arrays import plain

from .prepare import given_columns, given_features


class Rule(ABC):
    """What a parameter may be."""

    @abstractmethod
    def check(self, name: str, value: Any) -> Any:
        """The value in its plain Python type, or a :class:`~gramme.DataError` that says what would be right."""

    def check_saved(self, name: str, value: Any) -> Any:
        """The same for a value from a model file, which may have been written on another machine."""
        return self.check(name, value)


@dataclass(frozen=True)
class WholeNumber(Rule):
    """A whole number, at least ``least`` and at most ``most``.

    >>> WholeNumber().check("epochs", 40)
    40
    """

    least: int = 1
    most: int = 2**63 - 1  # what 64 bits hold

    def check(self, name: str, value: Any) -> int:
        is_whole = isinstance(value, numbers.Integral) and not isinstance(value, bool)
        if not is_whole or value < self.least:
            raise DataError(f"{name} must be a whole number of at least {self.least}, not {value!r}")
        if value > self.most:
            raise DataError(f"{name} must be a whole number of at most {self.most}, not {value!r}")
        return int(value)


@dataclass(frozen=True)
class Number(Rule):
    """A finite number of at least ``low`` (more than ``low`` with ``open_low``) and less than ``high``.

    >>> Number(0, 1).check("dropout", 0.5)
    0.5
    """

    low: float = 0.0
    high: float = np.inf
    open_low: bool = False

    def check(self, name: str, value: Any) -> float:
        try:
            real_number = float(value) if isinstance(value, numbers.Real) else np.nan
        except OverflowError:
            real_number = np.nan
        is_inside = real_number < self.high and (self.low < real_number if self.open_low else self.low <= real_number)
        if isinstance(value, bool) or not is_inside:
            low_words = "more than" if self.open_low else "at least"
            high_words = "" if self.high == np.inf else f" and less than {self.high:g}"
            raise DataError(f"{name} must be a number of {low_words} {self.low:g}{high_words}, not {value!r}")
        return real_number


POSITIVE = Number(0, open_low=True)
SHARE = Number(0, 1)


class Choice(Rule):
    """One of some words.

    >>> Choice("relu", "elu").check("activation", "relu")
    'relu'
    """

    def __init__(self, *words: str) -> None:
        self.words = words

    def check(self, name: str, value: Any) -> str:
        if not isinstance(value, str) or value not in self.words:
            raise DataError(f"{name} cannot be {value!r}; {did_you_mean(str(value), self.words)}")
        return value


class Flag(Rule):
    """True or False."""

    def check(self, name: str, value: Any) -> bool:
        if not isinstance(value, (bool, np.bool_)):
            raise DataError(f"{name} must be True or False, not {value!r}")
        return bool(value)


class Text(Rule):
    """Any text."""

    def check(self, name: str, value: Any) -> str:
        if not isinstance(value, str):
            raise DataError(f"{name} must be text, not {value!r}")
        return value


@dataclass(frozen=True)
class NoneOr(Rule):
    """None, or what another rule allows.

    >>> NoneOr(WholeNumber()).check("folds", None) is None
    True
    """

    rule: Rule

    def check(self, name: str, value: Any) -> Any:
        return None if value is None else self.rule.check(name, value)

    def check_saved(self, name: str, value: Any) -> Any:
        return None if value is None else self.rule.check_saved(name, value)


@dataclass(frozen=True)
class PerLayer(Rule):
    """One value (or one of some words) for all layers or classes, or a mapping from their names to values.

    Values must follow another rule. Whether a mapping names the layers of a graph is checked by ``per_layer``.
    """

    rule: Rule
    words: tuple[str, ...] | None = None

    def check(self, name: str, value: Any) -> Any:
        if self.words is None and not isinstance(value, Mapping):
            return self.rule.check(name, value)
        if isinstance(value, str) and self.words:
            return Choice(*self.words).check(name, value)
        if not isinstance(value, Mapping):
            choice_words = " or ".join(map(repr, self.words or ()))
            raise DataError(f"{name} must be {choice_words} or a mapping of name to number, not {value!r}")
        return {key: self.rule.check(f"{name}[{key!r}]", inner) for key, inner in value.items()}


@dataclass(frozen=True, eq=False)  # equal by identity: a registry of names, which may grow, has no hash
class Names(Rule):
    """A list of some words, at least one of them."""

    words: Collection[str]

    def check(self, name: str, value: Any) -> list[str]:
        listed_names = [] if isinstance(value, (str, Mapping)) or not isinstance(value, Iterable) else list(value)
        if not listed_names:
            raise DataError(f"{name} must be a list of names, not {value!r}; there are: {', '.join(self.words)}")
        return [Choice(*self.words).check(name, one) for one in listed_names]


class Device(Rule):
    """A device that torch can use on this machine, or "auto"."""

    def check(self, name: str, value: Any) -> torch.device:
        return torch_device(value)

    def check_saved(self, name: str, value: Any) -> str:
        return Text().check(name, value)


class Duration(Rule):
    """A time: seconds as a number, or text like "90s", "10m" or "1h30m".

    >>> Duration().check("budget", "10m")
    600.0
    """

    def check(self, name: str, value: Any) -> float:
        if not isinstance(value, str):
            return Number(0, open_low=True).check(name, value)
        try:
            return seconds_of(value)
        except ValueError as error:
            raise DataError(f"{name}: {error}") from None


class RandomState(Rule):
    """A whole number, None, or a random generator of numpy's."""

    def check(self, name: str, value: Any) -> Any:
        if value is None or isinstance(value, (np.random.RandomState, np.random.Generator)):
            return value
        try:
            return WholeNumber(0).check(name, value)
        except DataError as error:
            raise DataError(f"{error}; None and numpy's generators do as well") from None


PositiveInt = Annotated[int, WholeNumber()]
PositiveFloat = Annotated[float, POSITIVE]
NonNegativeFloat = Annotated[float, Number(0)]
Share = Annotated[float, SHARE]
DeviceName = Annotated[str, Device()]
RandomSeed = Annotated[Any, RandomState()]


def annotated_rule(hint: Any) -> Rule | None:
    """The rule that an annotation states: one in ``Annotated``, or what follows from ``bool``, ``Literal`` and None.

    >>> annotated_rule(PositiveInt | None)
    NoneOr(rule=WholeNumber(least=1, most=9223372036854775807))
    """
    hint_type, hint_arguments = get_origin(hint), get_args(hint)
    if hint_type is Annotated:
        return next((one for one in hint_arguments if isinstance(one, Rule)), None)
    if hint_type is Literal:
        return Choice(*hint_arguments)
    if hint_type in (Union, UnionType):
        other_hints = [one for one in hint_arguments if one is not NoneType]
        inner_rule = annotated_rule(other_hints[0]) if len(other_hints) == 1 else None
        return inner_rule and NoneOr(inner_rule)
    return Flag() if hint is bool else None


@cache
def parameter_rules(estimator: type) -> dict[str, Rule]:
    """The rules of an estimator's parameters, from the annotations of its class and of those it inherits from.

    A class that repeats a parameter to change its default may leave the rule out.
    """
    parameter_names = {one.name for one in fields(estimator) if one.init} if is_dataclass(estimator) else set()
    rule_of_parameter: dict[str, Rule] = {}
    for base_class in reversed(estimator.__mro__):
        own_hints = {name: hint for name, hint in get_annotations(base_class).items() if name in parameter_names}
        resolved_hints = get_type_hints(
            SimpleNamespace(__annotations__=own_hints), vars(sys.modules[base_class.__module__]), include_extras=True
        )
        rule_of_parameter |= {
            name: rule for name, hint in resolved_hints.items() if (rule := annotated_rule(hint)) is not None
        }
    return rule_of_parameter


def check_parameters(rules: Mapping[str, Rule], parameters: Mapping[str, Any]) -> None:
    """Check parameters against their rules; those without a rule may be anything."""
    for name, rule in rules.items():
        rule.check(name, parameters[name])


def per_layer(name: str, value: Any, layers: Iterable[str]) -> list[Any]:
    """A value for each layer, from one value or a mapping by layer name.

    >>> per_layer("heads", {"work": 2, "home": 1}, ["home", "work"])
    [1, 2]
    """
    layers = list(layers)
    if not isinstance(value, Mapping):
        return [value] * len(layers)
    for layer in value:
        if layer not in layers:
            hint = did_you_mean(str(layer), layers)
            raise DataError(f"{name}: there is no layer {layer!r}; {hint}")
    missing_layers = [layer for layer in layers if layer not in value]
    if missing_layers:
        raise DataError(f"{name} says nothing about the layer {missing_layers[0]!r}; name every layer")
    return [value[layer] for layer in layers]


def torch_device(name: Any) -> torch.device:
    """A device that is there: "auto" takes a GPU if there is one."""
    if isinstance(name, str) and name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    problem_words = "is not known to torch"
    if isinstance(name, (str, torch.device)):
        try:
            device = torch.device(name)
            torch.empty(1, device=device).cpu()
            return device
        except (RuntimeError, AssertionError, NotImplementedError) as error:
            if "cuda" in str(name) and not torch.cuda.is_available():
                problem_words = "is not there: torch finds no GPU on this machine"
            else:
                problem_words = f"cannot be used ({str(error).splitlines()[0][:100]})"
    raise DataError(f"device {name!r} {problem_words}; use auto, cpu or cuda")


def seed_from(random_state: Any) -> int:
    """A seed from an int, None (a fresh one), or a numpy random generator."""
    if random_state is None:
        return int(np.random.SeedSequence().generate_state(1, np.uint32)[0])
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31))
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31))
    seed: int = RandomState().check("random_state", random_state)
    return seed


MAX_FEATURE = 1e100
"""Squares of larger features, and sums of them, overflow in 64 bits; rows of weights beyond it or below its inverse
overflow or vanish when they are divided by their sums."""


def check_number_range(graph: MultilayerGraph) -> None:
    """Refuse features and weights that a regression would turn into infinities."""
    for name, layer in graph.layers.items():
        layer_weights = getattr(layer, "weight", None)
        for extreme_weight in (
            ()
            if layer_weights is None or not layer_weights.size
            else (float(layer_weights.min()), float(layer_weights.max()))
        ):
            if not 1 / MAX_FEATURE <= extreme_weight <= MAX_FEATURE:
                raise DataError(
                    f"the layer {name!r} has a weight of {extreme_weight:g}; weights from {1 / MAX_FEATURE:g} to "
                    f"{MAX_FEATURE:g} can be computed with, so scale them"
                )
    node_features = given_features(graph) if given_columns(graph) else np.zeros((0, 0))
    feature_values = node_features if isinstance(node_features, np.ndarray) else node_features.data
    if feature_values.size and max(float(feature_values.max()), -float(feature_values.min())) > MAX_FEATURE:
        feature_entries = sp.coo_array(node_features)
        entry_number = int(np.flatnonzero(np.abs(feature_entries.data) > MAX_FEATURE)[0])
        raise DataError(
            f"the feature in column {feature_entries.col[entry_number]} of node "
            f"{plain(graph.nodes[feature_entries.row[entry_number]])!r} is beyond {MAX_FEATURE:g}; scale the features"
        )
