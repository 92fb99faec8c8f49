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
from gramme.distributed import communicator_of
from gramme.errors import GrammeWarning
from gramme.graph import MultilayerGraph
from gramme.methods.attention.features import SOURCES
from gramme.methods.attention.members import OutOfTimeError, TimeBudget, TrainingSize
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
        for ingredient_name, fitted_model in model.models_.items():
            inner_learned = fitted_model._learned()
            learned.record[self.name][ingredient_name] = {
                "parameters": {key: to_json(value, key) for key, value in fitted_model.get_params().items()},
                "learned": {key: v for key, v in inner_learned.record.items() if key not in SHARED},
            }
            learned.tensors |= {f"{ingredient_name}/{key}": value for key, value in inner_learned.tensors.items()}

    def load(self, model: Any, learned: Learned, sizes: Sizes) -> None:
        saved_models = self.entry(learned.record)
        if not isinstance(saved_models, dict) or not set(saved_models) <= set(model.registered):
            raise self.misfit("models by the names of ingredients", saved_models)
        shared_record = {key: learned.record[key] for key in SHARED if key in learned.record}
        restored_models = {}
        for ingredient_name, saved_model in saved_models.items():
            try:
                parameters = {key: from_json(value) for key, value in saved_model["parameters"].items()}
                model_record = saved_model["learned"] | shared_record
            except (TypeError, KeyError, AttributeError) as error:
                raise self.misfit(f"parameters and what was learned for {ingredient_name}") from error
            tensor_prefix = f"{ingredient_name}/"
            model_tensors = {
                key.removeprefix(tensor_prefix): value
                for key, value in learned.tensors.items()
                if key.startswith(tensor_prefix)
            }
            try:
                restored_models[ingredient_name] = model.registered[ingredient_name].estimator._restored(
                    parameters, Learned(model_record, model_tensors)
                )
            except MisfitError as error:
                raise MisfitError(f"{ingredient_name}: {error}") from error
        model.models_ = restored_models


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
        start_seconds = time.perf_counter()
        budget_seconds = None if self.budget is None else Duration().check("budget", self.budget)
        # beside boosting, attention had a weight below a tenth on ten of the twelve tables of the part ``choosing`` in
        # benchmarks/accuracy/tables.py
        default_seconds = DEFAULT_SECONDS if graph.feature_names is None else min(DEFAULT_SECONDS, 30.0)
        self.models_, self.done_in_time_, all_unseen = {}, "", []
        for name in [] if self.ingredients is not None else too_large_for(graph, self.registered):
            self._say_done(f"The data are too large for {name}, which is left out.")
        ingredient_names = names_for(graph, self.ingredients, self.registered)
        recipe = Recipe(self.get_params(deep=False), tuple(ingredient_names), known.nodes.size, seed)
        num_tested_folds = int(fold.max()) + 1
        work_share_of = work_shares(recipe, num_tested_folds, self.registered)
        for name in ingredient_names:
            ingredient = self.registered[name]
            model = ingredient.made(recipe)
            seconds_left = np.inf if budget_seconds is None else budget_seconds - (time.perf_counter() - start_seconds)
            longest_seconds, allowance = seconds_left / 2, None
            if not self.models_ or communicator_of(graph).size > 1:  # processes that wait for each other end together
                longest_seconds = np.inf
            if ingredient.slow:
                longest_seconds = np.inf  # it keeps to its allowance by itself
                if budget_seconds is None:
                    allowance = TimeBudget(default_seconds, measured=False)
                else:
                    allowance = TimeBudget(seconds_left, measured=True)
            own_fold = fold if ingredient.slow or quick_fold is None else quick_fold
            try:
                with part(name, work_share_of[name]), time_limit(longest_seconds):
                    unseen = model.fit_with_folds(graph, known, own_fold, COPIES_PER_FOLD, allowance)
            except (OutOfTimeError, TimeLimitError):
                if not self.models_:
                    raise
                within_words = "the default" if budget_seconds is None else rough_duration(budget_seconds)
                who = "Attention" if ingredient.slow else name
                self._say_done(f"{who} is left out: a budget of {within_words} is too short for it.")
                continue
            except KeyboardInterrupt:
                if not ingredient.slow or not self.models_:
                    raise
                self.interrupted_ = True
                break
            return_memory(graph.num_entries)
            all_unseen.append(unseen)
            self.models_[name] = model
            if (trained_size := getattr(model, "effort_", None)) is not None:
                full_size = TrainingSize(self.ensemble, COPIES_PER_FOLD, self.epochs)
                num_folds = min(self.folds, known.nodes.size)
                asked = num_folds, num_tested_folds, budget_seconds, default_seconds
                self._say_done(training_size_in_words(trained_size, full_size, *asked))
            if model.interrupted_:  # make do with what there is
                self.interrupted_ = True
                break
        return all_unseen

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
        even_importance = pd.Series(1 / len(self.layers_), index=self.layers_)
        ingredient_importances = [
            getattr(model, "layer_importance_", even_importance)[self.layers_].to_numpy()
            for model in self.models_.values()
        ]
        mixture_importance = self.ingredients_["weight"].to_numpy() @ np.stack(ingredient_importances)
        return pd.Series(mixture_importance, index=self.layers_, name="importance")

    @cached_property
    def explanation_(self) -> str:
        """What the predictions rely on, in words."""
        self.check_fitted()
        ingredient_weights = dict(zip(self.models_, self.ingredients_["weight"], strict=True))
        mixture_words = mixture_in_words(ingredient_weights, self.ingredient_words(), self.layer_importance_)
        return f"{mixture_words} {self.done_in_time_}".strip()

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
    networks = 3 * (recipe.settings["ensemble"] + folds * COPIES_PER_FOLD)
    num_models = {name: networks if ingredients[name].slow else 1 + folds for name in recipe.names}
    total_models = sum(num_models.values())
    return {name: count / total_models for name, count in num_models.items()}


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
    reductions = [
        f"{have} of {asked} {what}"
        for have, asked, what in (
            (effort.members, full.members, "members"),
            (effort.copies, full.copies, "members for each fold"),
            (effort.epochs, full.epochs, "epochs"),
        )
        if have < asked
    ]
    duration_words = rough_duration(default if budget is None else budget)
    budget_words = f"about {duration_words} of one core" if budget is None else duration_words
    clauses = [f"To keep to {budget_words}, attention has {_joined(reductions)}"] if reductions else []
    if tested < folds:
        clauses.append(
            f"{'s' if reductions else 'S'}ince the data are large, {tested} of {folds} folds weigh the ingredients"
        )
    return "; ".join(clauses) + "." * bool(clauses)


# What a mixture relies on, in a sentence or two for the person who asked.


def mixture_in_words(weights: Mapping[str, float], words: Mapping[str, str], importance: pd.Series) -> str:
    r"""A sentence on the ingredients with their weights, and one on the layers.

    >>> importance = pd.Series({"advice": 0.6, "friendship": 0.35, "discussion": 0.05})
    >>> words = {"spread": "known labels spreading to neighbours", "attention": "attention"}
    >>> print(mixture_in_words({"spread": 0.8, "attention": 0.2}, words, importance).replace(". ", ".\n"))
    Mostly known labels spreading to neighbours, 80 %; then attention, 20 %.
    Of the layers, advice counts most (60 %), then friendship (35 %) and discussion (5 %).
    """
    names_by_weight = sorted(weights, key=lambda name: -weights[name])
    leading_names = [name for name in names_by_weight if weights[name] >= 0.1] or names_by_weight[:1]
    ingredient_words = [f"{words[name]}, {_percent(weights[name])}" for name in leading_names]
    sentence = ("Mostly " if weights[leading_names[0]] >= 0.5 else "A mix: ") + ingredient_words[0]
    if len(ingredient_words) > 1:
        sentence += f"; then {_joined(ingredient_words[1:])}"
    remaining_weight = 1 - sum(weights[name] for name in leading_names)
    if round(100 * remaining_weight) > 0:
        sentence += f"; the others contribute {_percent(remaining_weight)} together"
    return f"{sentence}. {layers_in_words(importance)}".strip()


def layers_in_words(importance: pd.Series) -> str:
    """A sentence on how much each layer counts, nothing where there is but one.

    >>> layers_in_words(pd.Series({"a": 0.26, "b": 0.25, "c": 0.25, "d": 0.24}))
    'The 4 layers count about alike (24 % to 26 %).'
    """
    sorted_importance = importance.sort_values(ascending=False, kind="stable")
    if len(sorted_importance) < 2:
        return ""
    if not sorted_importance.iloc[0] > 0:
        return "No layer joins any nodes, so none of them counts."
    highest_share, lowest_share = float(sorted_importance.iloc[0]), float(sorted_importance.iloc[-1])
    if lowest_share > 0 and highest_share <= 1.3 * lowest_share:
        extremes = f"{_percent(lowest_share)} to {_percent(highest_share)}"
        return f"The {len(sorted_importance)} layers count about alike ({extremes})."
    layer_words = [f"{name} ({_percent(share)})" for name, share in sorted_importance.items() if share >= 0.005]
    leading_layer_words = f"Of the layers, {sorted_importance.index[0]} counts most ({_percent(highest_share)})"
    if len(layer_words) < 2:
        return f"{leading_layer_words}, the others not at all."
    further_layers, num_unnamed = layer_words[1:3], len(layer_words) - 3
    if num_unnamed > 0:
        further_layers.append(f"{num_unnamed} {'other' if num_unnamed == 1 else 'others'} with less each")
    return f"{leading_layer_words}, then {_joined(further_layers)}."


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _joined(parts: list[str]) -> str:
    return parts[0] if len(parts) < 2 else f"{', '.join(parts[:-1])} and {parts[-1]}"
