"""GrammeAuto: attention, propagation and a linear model mixed by how well each predicts labels it has not seen."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import clone

from gramme._progress import part
from gramme._text import rough_duration
from gramme._types import Floats
from gramme.errors import GrammeWarning
from gramme.graph import MultilayerGraph
from gramme.graph.canonical import in_name_order
from gramme.methods.attention.estimator import AttentionModel
from gramme.methods.attention.features import SOURCES
from gramme.methods.attention.training_size import OutOfTimeError, TimeBudget, TrainingSize
from gramme.methods.base import NodeClassifier
from gramme.methods.cross_fitting import OutOfFold, refit_for_folds
from gramme.methods.labels import KnownLabels, class_prior, enough_folds, stratified_folds
from gramme.methods.params import (
    Choice,
    Device,
    Duration,
    Flag,
    Names,
    NoneOr,
    Number,
    RandomState,
    Rule,
    Text,
    WholeNumber,
    check_number_range,
)
from gramme.methods.persistence import (
    Column,
    MisfitError,
    SavedArray,
    SavedField,
    SavedTable,
    SavedValue,
)

from .ingredients import INGREDIENTS, Recipe, names_for, too_large_for
from .mixture import (
    SavedModels,
    calibrating_exponent,
    cross_fitted,
    mixed_with_prior,
    mixture_weights,
    pooled,
    sharpened,
)

# How a mixture keeps to a time: how long attention may train, and how that is said.


DEFAULT_SECONDS = 420.0
"""For attention where no budget is given, on one core, judged by the size of the data: enough for everything up to some
three million nodes, ends of edges and memberships over all layers; memberships of nodes in several groups count four
times."""

TABLE_SECONDS = 30.0
"""The same for a table with numbers, where attention had little weight beside boosting: below a tenth on ten of the
twelve tables of the part ``choosing`` in benchmarks/accuracy/tables.py."""


def work_shares(recipe: Recipe, folds: int, copies: int) -> dict[str, float]:
    """The share of the work that each ingredient is, by how many models it trains: only for saying how far a fit is."""
    models = {
        name: recipe.settings["ensemble"] + folds * copies if INGREDIENTS[name].slow else 1 + folds
        for name in recipe.names
    }
    return {name: count / sum(models.values()) for name, count in models.items()}


def default_seconds(graph: MultilayerGraph) -> float:
    """How long attention may take where no budget is given."""
    return DEFAULT_SECONDS if graph.feature_names is None else min(DEFAULT_SECONDS, TABLE_SECONDS)


def attention_allowance(
    budget: float | None, began: float, default: float = DEFAULT_SECONDS
) -> TimeBudget:
    """What a budget for the whole, in seconds on the clock, leaves to attention, which comes last."""
    if budget is None:
        return TimeBudget(default, measured=False)
    return TimeBudget(budget - (time.perf_counter() - began), measured=True)


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
        parts.append(
            f"{'s' if less else 'S'}ince the data are large, {tested} of {folds} folds weigh the ingredients"
        )
    return "; ".join(parts) + "." * bool(parts)


def left_out_in_words(budget: float | None) -> str:
    """A sentence for where there was no time for attention at all."""
    within = "the default" if budget is None else rough_duration(budget)
    return f"Attention is left out: a budget of {within} is too short for it."


def _joined(parts: list[str]) -> str:
    return parts[0] if len(parts) < 2 else f"{', '.join(parts[:-1])} and {parts[-1]}"


# What a mixture says about each half of the labels when its ingredients learn from the other
# half.


def mixture_of_halves(
    models: Sequence[NodeClassifier],
    graph: MultilayerGraph,
    known: KnownLabels,
    weights: Floats,
    exponent: float,
    prior: Floats,
) -> OutOfFold:
    """The mixture of copies of the ingredients, each for the half of the labels that it has not seen.

    Weights and exponent are those of the fit: what more labels teach the ingredients is asked, and probabilities must
    be as sharp as those they are compared with.

    Parameters
    ----------
    models : sequence of NodeClassifier
        The fitted ingredients.
    graph : MultilayerGraph
    known : KnownLabels
        The labels that they were fitted on.
    weights : array of float, shape (ingredients,)
    exponent : float
    prior : array of float, shape (classes,)

    Raises
    ------
    KeyboardInterrupt
        Also where a method would end its training early and keep what it has.
    """
    ordered, places = known.sorted_by_name(in_name_order(graph))  # so that halves follow names
    half = np.empty(places.size, dtype=np.int64)
    half[places] = stratified_folds(ordered.codes, 2, seed=0)
    found = [
        _by_networks(model, graph, known, half)
        if isinstance(model, AttentionModel)
        else refit_for_folds(model, graph, known, half)
        for model in models
    ]
    if any(np.isnan(one).any() for one in found):
        raise KeyboardInterrupt
    mixed = pooled([mixed_with_prior(one, prior) for one in found], weights)
    return OutOfFold(known.nodes, known.codes, sharpened(mixed, exponent), 2)


def _by_networks(
    model: AttentionModel, graph: MultilayerGraph, known: KnownLabels, half: NDArray[np.int64]
) -> Floats:
    """By as many networks for each half as there were for each fold, to be compared with these."""
    effort = model.effort_
    copy: AttentionModel = clone(model).set_params(ensemble=1, epochs=effort.epochs)
    return copy.fit_with_folds(graph, known, half, effort.copies)


# What a mixture of methods relies on, in a sentence or two for the person who asked.


MINOR_WEIGHT = 0.1  # below which an ingredient is not named
MAX_NAMED_LAYERS = 3  # named at most
ALIKE_RATIO = (
    1.3  # the largest importance divided by the smallest, up to which layers count about alike
)


def mixture_in_words(
    weights: Mapping[str, float], words: Mapping[str, str], importance: pd.Series
) -> str:
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
    >>> print(
    ...     mixture_in_words({"spread": 0.8, "attention": 0.2}, words, importance).replace(
    ...         ". ", ".\n"
    ...     )
    ... )
    Mostly known labels spreading to neighbours, 80 %; then attention, 20 %.
    Of the layers, advice counts most (60 %), then friendship (35 %) and discussion (5 %).
    """
    order = sorted(weights, key=lambda name: -weights[name])
    named = [name for name in order if weights[name] >= MINOR_WEIGHT] or order[:1]
    parts = [f"{words[name]}, {_percent(weights[name])}" for name in named]
    start = "Mostly " if weights[named[0]] >= 0.5 else "A mix: "
    sentence = start + parts[0]
    if len(parts) > 1:
        sentence += f"; then {_joined_mixture_words(parts[1:])}"
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
    if low > 0 and high <= ALIKE_RATIO * low:
        return f"The {len(ordered)} layers count about alike ({_percent(low)} to {_percent(high)})."
    told = [f"{name} ({_percent(share)})" for name, share in ordered.items() if share >= 0.005]
    first = f"Of the layers, {ordered.index[0]} counts most ({_percent(high)})"
    if len(told) < 2:
        return f"{first}, the others not at all."
    others = told[1:MAX_NAMED_LAYERS]
    if len(told) > MAX_NAMED_LAYERS:
        rest = len(told) - MAX_NAMED_LAYERS
        others.append(f"{rest} {'other' if rest == 1 else 'others'} with less each")
    return f"{first}, then {_joined_mixture_words(others)}."


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _joined_mixture_words(parts: list[str]) -> str:
    return ", ".join(parts) if len(parts) < 2 else f"{', '.join(parts[:-1])} and {parts[-1]}"


MAX_EXPONENT = 10.0  # more than any calibration gives
COPIES_PER_FOLD = 2  # members of the attention model that leave out the same fold: one alone says less than all do


class GrammeAuto(NodeClassifier):
    """The method to use when you do not know which to use.

    Where like joins like, label propagation is hard to beat; where layers are columns of a table, a linear model on the
    groups; where labels are few, a linear model on where walks lead; elsewhere attention. All of them are fitted, and
    the labels themselves decide how much each counts: the training labels are split into folds, every ingredient
    predicts each label without having seen its fold, and the mixture weights are those under which these labels are
    most probable, drawn towards a prior where labels are few. The ingredients' probabilities are pooled with these
    weights and calibrated on the same predictions.

    Cost: about three times that of :class:`GrammeFusion`. The folds of the attention model are further members of
    its ensemble, trained in the same batched program.

    Parameters
    ----------
    ensemble : int, default=8
        Members of the attention model that see all labels; beside them two are trained for each fold.
    folds : int, default=5
        Folds of the training labels.
    epochs : int, default=40
        Training steps of the attention model.
    ingredients : sequence of str or None, default=None
        Some of ``"gramme-fusion"``, ``"label-propagation"``, ``"one-hot-logistic"``, ``"label-shares"``,
        ``"spectral-logistic"`` and, for graphs with features, ``"boosting"`` and ``"neighbourhood-logistic"`` (not for
        the number columns of a table). All that apply if not given.
    budget : float or str or None, default=None
        How long a fit may take on the clock, in seconds or as "90s", "10m" or "1h30m". The attention model comes last
        and has what the others leave; its first steps are timed, and it has fewer members and epochs where there is not
        time for all. None: about seven minutes of one core for attention (half a minute in a table with numbers),
        judged by the size of the data and not by the clock, so that the same data give the same result; that is all of
        it up to some three million nodes, memberships and ends of edges over all layers (200,000 in such a table),
        where memberships of nodes in several groups count four times. ``explanation_`` says what was done.
    features : str or None, default=None
        What the attention model starts from, as for :class:`GrammeFusion`. None: the graph's own features if it has
        any, with walks beside them as far as the training labels support it, else walks and random ones.
    progress : bool or None, default=None
        Whether to show a progress bar; if not given, for what takes longer than two seconds, in a terminal.
    device : str, default="auto"
        ``"auto"``, ``"cpu"``, ``"cuda"``, ...
    random_state : int, numpy generator or None, default=None

    Attributes
    ----------
    classes_, probabilities_, transduction_
        As for every :class:`~gramme.methods.NodeClassifier`.
    ingredients_ : DataFrame
        One row per ingredient: ``ingredient``, ``weight`` in the mixture, and ``accuracy`` and ``log_loss`` on training
        labels it had not seen (NaN where there was nothing to test).
    explanation_ : str
        In words, what the predictions rely on.
    layer_importance_ : Series
        The ingredients' own layer importances, each counted by its weight; sums to 1.
    models_ : dict of str to NodeClassifier
        The fitted ingredients by name.
    exponent_ : float
        What the pooled probabilities are raised to, to be neither too sure nor too unsure.

    Examples
    --------
    >>> from gramme import datasets
    >>> g = datasets.load("balance_scale")
    >>> y = g.labels.copy()
    >>> y[np.arange(625) % 4 != 0] = None  # three of four nodes are unknown
    >>> model = GrammeAuto(random_state=0).fit(g, y)
    >>> bool((model.predict() == g.labels)[y == None].mean() > 0.85)
    True
    >>> model.ingredients_["ingredient"].tolist()
    ['label-propagation', 'one-hot-logistic', 'label-shares', 'spectral-logistic', 'gramme-fusion']
    """

    parameter_rules: ClassVar[Mapping[str, Rule]] = {
        "ensemble": WholeNumber(),
        "folds": WholeNumber(2),
        "epochs": WholeNumber(),
        "ingredients": NoneOr(Names(INGREDIENTS)),
        "budget": NoneOr(Duration()),
        "features": NoneOr(Choice(*SOURCES)),
        "progress": NoneOr(Flag()),
        "device": Device(),
        "random_state": RandomState(),
    }
    saved_fields: ClassVar[tuple[SavedField, ...]] = (
        SavedValue("exponent", Number(0, MAX_EXPONENT, open_low=True)),
        SavedValue("done_in_time", Text(), default=""),
        SavedTable(
            "ingredients",
            Column("ingredient", Text()),
            Column("weight", Number(0, 1 + 1e-6)),
            Column("accuracy"),
            Column("log_loss"),
        ),
        SavedArray("class_counts", np.int64, ("classes",), low=0),
        SavedModels("models", INGREDIENTS),
    )

    has_out_of_fold: ClassVar[bool] = True
    delegates_preprocessing: ClassVar[bool] = True

    models_: dict[str, NodeClassifier]
    done_in_time_: str
    ingredients_: pd.DataFrame
    exponent_: float
    class_counts_: NDArray[np.int64]

    def __init__(
        self,
        *,
        ensemble: int = 8,
        folds: int = 5,
        epochs: int = 40,
        ingredients: Sequence[str] | None = None,
        budget: float | str | None = None,
        features: str | None = None,
        progress: bool | None = None,
        device: str = "auto",
        random_state: Any = None,
    ) -> None:
        self.ensemble = ensemble
        self.folds = folds
        self.epochs = epochs
        self.ingredients = ingredients
        self.budget = budget
        self.features = features
        self.progress = progress
        self.device = device
        self.random_state = random_state

    def _fit(
        self, graph: MultilayerGraph, known: KnownLabels, seed: int
    ) -> NDArray[np.floating[Any]]:
        check_number_range(graph)
        self.class_counts_ = np.bincount(known.codes, minlength=len(known.classes))
        began = time.perf_counter()
        budget = None if self.budget is None else Duration().check("budget", self.budget)
        self.done_in_time_ = ""
        for name in [] if self.ingredients is not None else too_large_for(graph):
            self._say_done(f"The data are too large for {name}, which is left out.")
        whole = stratified_folds(known.codes, self.folds, seed)
        fold = enough_folds(whole)
        recipe = self._recipe(names_for(graph, self.ingredients), known.nodes.size, seed)
        self.models_ = {}
        unseen: list[Floats] = []
        shares = work_shares(recipe, int(fold.max()) + 1, COPIES_PER_FOLD)
        default = default_seconds(graph)
        for name in recipe.names:
            model = INGREDIENTS[name].made(recipe)
            allowance = (
                attention_allowance(budget, began, default) if INGREDIENTS[name].slow else None
            )
            try:
                # the only label of a class is not told by the others: then one fold, for which nothing is fitted
                alone = self.class_counts_.max() == 1 and not INGREDIENTS[name].slow
                parts = np.zeros_like(fold) if alone else fold
                with part(name, shares[name]):
                    found = model.fit_with_folds(graph, known, parts, COPIES_PER_FOLD, allowance)
            except OutOfTimeError:
                if not self.models_:
                    raise
                self._say_done(left_out_in_words(budget))
                continue
            except KeyboardInterrupt:
                if allowance is None or not self.models_:
                    raise
                self.interrupted_ = True
                break
            unseen.append(found)
            self.models_[name] = model
            if isinstance(model, AttentionModel):
                full = TrainingSize(self.ensemble, COPIES_PER_FOLD, self.epochs)
                folds, tested = int(whole.max()) + 1, int(fold.max()) + 1
                self._say_done(
                    training_size_in_words(model.effort_, full, folds, tested, budget, default)
                )
            if model.interrupted_:  # make do with what there is
                self.interrupted_ = True
                break
        # who has not seen the one fold has seen no part of it
        if np.unique(fold[fold >= 0]).size < 2:
            fold = np.where(fold < 0, -1, stratified_folds(known.codes, self.folds, seed + 1))
        self._mix(known, unseen, fold)
        return self._mixture(graph, fitted=True)

    def _say_done(self, words: str) -> None:
        """Warn about what there was no time or memory for, and keep the sentence."""
        self.done_in_time_ = f"{self.done_in_time_} {words}".strip()
        if words:
            warnings.warn(words, GrammeWarning, stacklevel=5)

    def _recipe(self, names: Sequence[str], labels: int, seed: int) -> Recipe:
        return Recipe(self.get_params(deep=False), tuple(names), labels, seed)

    # Mixing

    def _mix(self, known: KnownLabels, unseen: list[Floats], fold: NDArray[np.int64]) -> None:
        """Weights and exponent from what the ingredients say about labels they have not seen."""
        prior = class_prior(self.class_counts_)
        said = ~np.isnan(np.concatenate(unseen, axis=1)).any(axis=1)
        # the only label of a class cannot be predicted from the others, which speaks against nobody
        tested = said & (self.class_counts_[known.codes] > 1)
        codes = known.codes[tested]
        rows = np.arange(codes.size)
        kept = [mixed_with_prior(found[tested], prior) for found in unseen]
        own = np.stack([found[rows, codes] for found in kept], axis=1)
        credits = [INGREDIENTS[name].credit(known.nodes.size) for name in self.models_]
        weights = mixture_weights(own, credits)
        parts = [mixed_with_prior(found[said], prior) for found in unseen]
        mixed = cross_fitted(parts, known.codes[said], fold[said], tested[said], credits)
        folds = int(fold.max()) + 1
        self.keep_out_of_fold(OutOfFold(known.nodes[said], known.codes[said], mixed, folds))
        self.exponent_ = calibrating_exponent(pooled(kept, weights), codes)
        right = [
            float((found.argmax(1) == codes).mean()) if codes.size else np.nan for found in kept
        ]
        losses = [float(-np.log(column).mean()) if codes.size else np.nan for column in own.T]
        columns = {"ingredient": list(self.models_), "weight": weights}
        self.ingredients_ = pd.DataFrame(columns | {"accuracy": right, "log_loss": losses})

    def _mixture(self, graph: MultilayerGraph, *, fitted: bool = False) -> NDArray[np.float32]:
        prior = class_prior(self.class_counts_)
        parts = [
            mixed_with_prior(model.predict_proba(None if fitted else graph), prior)
            for model in self.models_.values()
        ]
        mixed = pooled(parts, self.ingredients_["weight"].to_numpy())
        return sharpened(mixed, self.exponent_).astype(np.float32)

    def _from_halves(self, graph: MultilayerGraph, known: KnownLabels) -> OutOfFold:
        weights = self.ingredients_["weight"].to_numpy()
        models, prior = list(self.models_.values()), class_prior(self.class_counts_)
        return mixture_of_halves(models, graph, known, weights, self.exponent_, prior)

    def evidence(self) -> Floats:
        """What each ingredient says about the nodes, (nodes, ingredients x classes), counted by its weight.

        Blocks of logarithms of probabilities, centred per node; added up over the ingredients they are the logarithm of
        the mixture's.
        """
        self.check_fitted()
        prior = class_prior(self.class_counts_)
        blocks = []
        for model, weight in zip(self.models_.values(), self.ingredients_["weight"], strict=True):
            logs = np.log(mixed_with_prior(model.predict_proba(), prior))
            blocks.append(
                self.exponent_ * float(weight) * (logs - logs.mean(axis=1, keepdims=True))
            )
        return np.concatenate(blocks, axis=1)

    def _inductive_proba(self, graph: MultilayerGraph) -> NDArray[np.float32]:
        return self._mixture(graph)

    # Explaining

    @cached_property
    def layer_importance_(self) -> pd.Series:
        """Which layers the mixture relies on: the ingredients' own importances, each counted by its weight.

        An ingredient that does not say which layers it relies on counts as relying on all alike.
        """
        self.check_fitted()
        alike = pd.Series(1 / len(self.layers_), index=self.layers_)
        shares = [
            getattr(model, "layer_importance_", alike)[self.layers_].to_numpy()
            for model in self.models_.values()
        ]
        combined = self.ingredients_["weight"].to_numpy() @ np.stack(shares)
        return pd.Series(combined, index=self.layers_, name="importance")

    @cached_property
    def explanation_(self) -> str:
        """What the predictions rely on, in words."""
        self.check_fitted()
        weights = dict(zip(self.models_, self.ingredients_["weight"], strict=True))
        words = {name: INGREDIENTS[name].in_words(model) for name, model in self.models_.items()}
        said = mixture_in_words(weights, words, self.layer_importance_)
        return f"{said} {self.done_in_time_}".strip()

    @property
    def attention_(self) -> AttentionModel:
        """The attention model whose embedding, history and attention this shows; missing where none takes part."""
        for model in self.models_.values():
            if isinstance(model, AttentionModel):
                return model
        raise AttributeError("there is no attention model among the ingredients")

    @property
    def embedding_(self) -> NDArray[np.float32]:
        """The embedding of the nodes by the attention model."""
        return self.attention_.embedding_

    @property
    def history_(self) -> pd.DataFrame:
        """The training history of the attention model."""
        return self.attention_.history_

    def embed(self, graph: MultilayerGraph) -> NDArray[np.float32]:
        """The embedding of a graph's nodes by the attention model."""
        self.check_fitted()
        return self.attention_.embed(graph)

    def node_attention(
        self, layer: str, *, hop: int = 1, graph: MultilayerGraph | None = None
    ) -> pd.Series:
        """Who is listened to in a layer by the attention ingredient; see :meth:`GrammeFusion.node_attention`."""
        self.check_fitted()
        return self.attention_.node_attention(layer, hop=hop, graph=graph)

    def _check_loaded(self) -> None:
        if list(self.models_) != self.ingredients_["ingredient"].tolist():
            raise MisfitError("ingredients and models are not the same")
        if abs(self.ingredients_["weight"].sum() - 1) > 1e-6:
            raise MisfitError("the weights of the ingredients must sum to 1")
