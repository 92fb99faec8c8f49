"""What every mixture of methods does, of classes (GrammeAuto) or of numbers (GrammeRegressor).

Its ingredients are fitted one after the other, each predicting the labels of every fold by a model that has not seen
that fold. Attention comes last and trains as much as a budget of time leaves it. What was left out, how much each
ingredient counts, and on which layers it relies is said in words.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from gramme._progress import TimeLimitError, part, time_limit
from gramme._runtime import return_memory
from gramme._text import rough_duration
from gramme._types import Floats
from gramme.errors import GrammeWarning
from gramme.graph import MultilayerGraph
from gramme.methods.attention.features import SOURCES
from gramme.methods.attention.training_size import OutOfTimeError, TimeBudget, TrainingSize
from gramme.methods.base import GraphEstimator
from gramme.methods.params import Choice, DeviceName, Duration, PositiveInt, RandomSeed, Text, WholeNumber
from gramme.methods.persistence import Learned, MisfitError, SavedField, SavedValue, Sizes, from_json, to_json

from .ingredients import Ingredient, Recipe, names_for, too_large_for

DEFAULT_SECONDS = 420.0
"""For attention where no budget is given, on one core, judged by the size of the data: enough for everything up to some
three million nodes, ends of edges and memberships over all layers; memberships of nodes in several groups count four
times."""
COPIES_PER_FOLD = 2  # members of the attention model that leave out the same fold: one alone says less than all do


# The file of a mixture holds the fitted models it is made of.


SHARED = ("classes", "layers", "nodes")  # what all ingredients know alike is saved once


class SavedModels(SavedField):
    """The fitted ingredients, each with its parameters; what all of them know alike is saved once."""

    def __init__(self) -> None:
        super().__init__("models")

    def save(self, model: Any, learned: Learned) -> None:
        learned.record[self.name] = {}
        for name, inner in model.models_.items():
            own = inner._learned()
            learned.record[self.name][name] = {
                "parameters": {key: to_json(value, key) for key, value in inner.get_params().items()},
                "learned": {key: v for key, v in own.record.items() if key not in SHARED},
            }
            learned.tensors |= {f"{name}/{key}": value for key, value in own.tensors.items()}

    def load(self, model: Any, learned: Learned, sizes: Sizes) -> None:
        entry = self.entry(learned.record)
        if not isinstance(entry, dict) or not set(entry) <= set(model.registered):
            raise self.misfit("models by the names of ingredients", entry)
        shared = {key: learned.record[key] for key in SHARED if key in learned.record}
        models = {}
        for name, saved in entry.items():
            try:
                parameters = {key: from_json(value) for key, value in saved["parameters"].items()}
                record = saved["learned"] | shared
            except (TypeError, KeyError, AttributeError) as error:
                raise self.misfit(f"parameters and what was learned for {name}") from error
            start = f"{name}/"
            tensors = {
                key.removeprefix(start): value for key, value in learned.tensors.items() if key.startswith(start)
            }
            try:
                models[name] = model.registered[name].estimator._restored(parameters, Learned(record, tensors))
            except MisfitError as error:
                raise MisfitError(f"{name}: {error}") from error
        model.models_ = models


@dataclass(kw_only=True, eq=False, repr=False)
class MixtureEstimator(GraphEstimator):
    """A method that mixes the predictions of others; a subclass says how weights are found and predictions pooled."""

    folds: Annotated[int, WholeNumber(2)] = 5
    ensemble: PositiveInt = 8
    epochs: PositiveInt = 40
    ingredients: Collection[str] | None = None
    budget: Annotated[float | str, Duration()] | None = None
    features: Annotated[str, Choice(*SOURCES)] | None = None
    progress: bool | None = None
    device: DeviceName = "auto"
    random_state: RandomSeed = None

    saved_fields: ClassVar[tuple[SavedField, ...]] = (SavedValue("done_in_time", Text(), default=""), SavedModels())

    registered: ClassVar[Mapping[str, Ingredient]]
    _delegates_preprocessing: ClassVar[bool] = True

    models_: dict[str, Any] = field(init=False)
    ingredients_: pd.DataFrame = field(init=False)
    done_in_time_: str = field(init=False)

    def _fit_ingredients(
        self,
        graph: MultilayerGraph,
        known: Any,
        fold: NDArray[np.int64],
        seed: int,
        *,
        quick_fold: NDArray[np.int64] | None = None,
    ) -> list[Floats]:
        """Fit ``models_``, and return what each says about labels of folds that it has not seen.

        The fold is -1 for labels that are not tested; ingredients that are not slow may have folds of their own. Within
        a budget each of them may take half of the time that is left, so that it reaches for the next.
        """
        began = time.perf_counter()
        budget = None if self.budget is None else Duration().check("budget", self.budget)
        # beside boosting, attention had a weight below a tenth on ten of the twelve tables of the part ``choosing`` in
        # benchmarks/accuracy/tables.py
        default = DEFAULT_SECONDS if graph.feature_names is None else min(DEFAULT_SECONDS, 30.0)
        self.models_, self.done_in_time_, unseen = {}, "", []
        for name in [] if self.ingredients is not None else too_large_for(graph, self.registered):
            self._say_done(f"The data are too large for {name}, which is left out.")
        names = names_for(graph, self.ingredients, self.registered)
        recipe = Recipe(self.get_params(deep=False), tuple(names), known.nodes.size, seed)
        tested = int(fold.max()) + 1
        shares = work_shares(recipe, tested, self.registered)
        for name in names:
            slow = self.registered[name].slow
            model = self.registered[name].made(recipe)
            left = np.inf if budget is None else budget - (time.perf_counter() - began)
            allowance = TimeBudget(default if budget is None else left, measured=budget is not None) if slow else None
            mine = fold if slow or quick_fold is None else quick_fold
            try:
                with part(name, shares[name]), time_limit(np.inf if slow or not self.models_ else left / 2):
                    found = model.fit_with_folds(graph, known, mine, COPIES_PER_FOLD, allowance)
            except (OutOfTimeError, TimeLimitError):
                if not self.models_:
                    raise
                within = "the default" if budget is None else rough_duration(budget)
                who = "Attention" if slow else self.registered[name].name
                self._say_done(f"{who} is left out: a budget of {within} is too short for it.")
                continue
            except KeyboardInterrupt:
                if not slow or not self.models_:
                    raise
                self.interrupted_ = True
                break
            return_memory(graph.num_entries)
            unseen.append(found)
            self.models_[name] = model
            effort = getattr(model, "effort_", None)
            if effort is not None:
                full = TrainingSize(self.ensemble, COPIES_PER_FOLD, self.epochs)
                folds = min(self.folds, known.nodes.size)
                self._say_done(training_size_in_words(effort, full, folds, tested, budget, default))
            if model.interrupted_:  # make do with what there is
                self.interrupted_ = True
                break
        return unseen

    def _say_done(self, words: str) -> None:
        """Warn about what there was no time or memory for, and keep the sentence."""
        self.done_in_time_ = f"{self.done_in_time_} {words}".strip()
        if words:
            warnings.warn(words, GrammeWarning, stacklevel=6)

    @cached_property
    def layer_importance_(self) -> pd.Series:
        """Which layers the mixture relies on: the ingredients' own importances, each counted by its weight.

        An ingredient that does not say which layers it relies on counts as relying on all alike.
        """
        self.check_fitted()
        alike = pd.Series(1 / len(self.layers_), index=self.layers_)
        shares = [
            getattr(model, "layer_importance_", alike)[self.layers_].to_numpy() for model in self.models_.values()
        ]
        combined = self.ingredients_["weight"].to_numpy() @ np.stack(shares)
        return pd.Series(combined, index=self.layers_, name="importance")

    @cached_property
    def explanation_(self) -> str:
        """What the predictions rely on, in words."""
        self.check_fitted()
        weights = dict(zip(self.models_, self.ingredients_["weight"], strict=True))
        said = mixture_in_words(weights, self.ingredient_words(), self.layer_importance_)
        return f"{said} {self.done_in_time_}".strip()

    def ingredient_words(self) -> dict[str, str]:
        """What each ingredient does, in words."""
        return {name: self.registered[name].in_words(model) for name, model in self.models_.items()}

    def _check_loaded(self) -> None:
        if list(self.models_) != self.ingredients_["ingredient"].tolist():
            raise MisfitError("ingredients and models are not the same")
        if abs(self.ingredients_["weight"].sum() - 1) > 1e-6:
            raise MisfitError("the weights of the ingredients must sum to 1")


# Time: how long attention may train, and how that is said.


def work_shares(recipe: Recipe, folds: int, ingredients: Mapping[str, Ingredient]) -> dict[str, float]:
    """The share of the work that each ingredient is, by how many models it trains: only for saying how far a fit is.

    A network counts three times, as it took on Debian's packages.
    """
    models = {
        name: 3 * (recipe.settings["ensemble"] + folds * COPIES_PER_FOLD) if ingredients[name].slow else 1 + folds
        for name in recipe.names
    }
    return {name: count / sum(models.values()) for name, count in models.items()}


def training_size_in_words(
    effort: TrainingSize,
    full: TrainingSize,
    folds: int,
    tested: int,
    budget: float | None,
    default: float = DEFAULT_SECONDS,
) -> str:
    """A sentence on what was done where it was less than everything; nothing where it was all.

    >>> full = TrainingSize(8, 2, 40)
    >>> training_size_in_words(TrainingSize(2, 1, 40), full, folds=5, tested=5, budget=600)
    'To keep to 10 min, attention has 2 of 8 members and 1 of 2 members for each fold.'
    >>> training_size_in_words(full, full, 5, 5, None)
    ''
    """
    less = [
        f"{have} of {asked} {what}"
        for have, asked, what in (
            (effort.members, full.members, "members"),
            (effort.copies, full.copies, "members for each fold"),
            (effort.epochs, full.epochs, "epochs"),
        )
        if have < asked
    ]
    within = rough_duration(default if budget is None else budget)
    how = f"about {within} of one core" if budget is None else within
    parts = [f"To keep to {how}, attention has {_joined(less)}"] if less else []
    if tested < folds:
        parts.append(f"{'s' if less else 'S'}ince the data are large, {tested} of {folds} folds weigh the ingredients")
    return "; ".join(parts) + "." * bool(parts)


# What a mixture relies on, in a sentence or two for the person who asked.


def mixture_in_words(weights: Mapping[str, float], words: Mapping[str, str], importance: pd.Series) -> str:
    r"""A sentence on the ingredients with their weights, and one on the layers.

    Parameters
    ----------
    weights : mapping of str to float
        The weight of each ingredient.
    words : mapping of str to str
        What each ingredient does.
    importance : Series
        How much the mixture relies on each layer.

    Examples
    --------
    >>> importance = pd.Series({"advice": 0.6, "friendship": 0.35, "discussion": 0.05})
    >>> words = {"spread": "known labels spreading to neighbours", "attention": "attention"}
    >>> print(mixture_in_words({"spread": 0.8, "attention": 0.2}, words, importance).replace(". ", ".\n"))
    Mostly known labels spreading to neighbours, 80 %; then attention, 20 %.
    Of the layers, advice counts most (60 %), then friendship (35 %) and discussion (5 %).
    """
    order = sorted(weights, key=lambda name: -weights[name])
    named = [name for name in order if weights[name] >= 0.1] or order[:1]
    parts = [f"{words[name]}, {_percent(weights[name])}" for name in named]
    sentence = ("Mostly " if weights[named[0]] >= 0.5 else "A mix: ") + parts[0]
    if len(parts) > 1:
        sentence += f"; then {_joined(parts[1:])}"
    rest = 1 - sum(weights[name] for name in named)
    if round(100 * rest) > 0:
        sentence += f"; the others contribute {_percent(rest)} together"
    return f"{sentence}. {layers_in_words(importance)}".strip()


def layers_in_words(importance: pd.Series) -> str:
    """A sentence on how much each layer counts, nothing where there is but one.

    >>> layers_in_words(pd.Series({"a": 0.26, "b": 0.25, "c": 0.25, "d": 0.24}))
    'The 4 layers count about alike (24 % to 26 %).'
    """
    ordered = importance.sort_values(ascending=False, kind="stable")
    if len(ordered) < 2:
        return ""
    if not ordered.iloc[0] > 0:
        return "No layer joins any nodes, so none of them counts."
    high, low = float(ordered.iloc[0]), float(ordered.iloc[-1])
    if low > 0 and high <= 1.3 * low:
        return f"The {len(ordered)} layers count about alike ({_percent(low)} to {_percent(high)})."
    shown = [f"{name} ({_percent(share)})" for name, share in ordered.items() if share >= 0.005]
    first = f"Of the layers, {ordered.index[0]} counts most ({_percent(high)})"
    if len(shown) < 2:
        return f"{first}, the others not at all."
    others, rest = shown[1:3], len(shown) - 3
    if rest > 0:
        others.append(f"{rest} {'other' if rest == 1 else 'others'} with less each")
    return f"{first}, then {_joined(others)}."


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _joined(parts: list[str]) -> str:
    return parts[0] if len(parts) < 2 else f"{', '.join(parts[:-1])} and {parts[-1]}"
