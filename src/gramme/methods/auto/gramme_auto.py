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

from gramme._progress import part
from gramme.errors import GrammeWarning
from gramme.graph import MultilayerGraph
from gramme.methods.attention.effort import Effort, OutOfTimeError
from gramme.methods.attention.estimator import AttentionModel
from gramme.methods.attention.feature_sources import SOURCES
from gramme.methods.auto.budget import (
    attention_allowance,
    effort_in_words,
    expected_costs,
    left_out_in_words,
)
from gramme.methods.auto.halves import mixture_of_halves
from gramme.methods.auto.ingredients import INGREDIENTS, Recipe, names_for, too_large_for
from gramme.methods.auto.mixing import (
    calibrating_exponent,
    cross_fitted,
    mixed_with_prior,
    mixture_weights,
    pooled,
    sharpened,
)
from gramme.methods.auto.mixture_words import mixture_in_words
from gramme.methods.auto.saved_models import SavedModels
from gramme.methods.base import NodeClassifier
from gramme.methods.data_size import DataSize
from gramme.methods.folds import enough_folds, stratified_folds
from gramme.methods.labels import KnownLabels
from gramme.methods.number_range import check_number_range
from gramme.methods.out_of_fold import OutOfFold
from gramme.methods.parameters import (
    Choice,
    Device,
    Duration,
    Flag,
    Names,
    Number,
    Optional,
    RandomState,
    Rule,
    Text,
    WholeNumber,
)
from gramme.methods.probability import Floats, class_prior
from gramme.methods.saved_fields import (
    Column,
    SavedArray,
    SavedField,
    SavedTable,
    SavedValue,
)
from gramme.methods.saving import MisfitError

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
        Some of ``"gramme-fusion"``, ``"label-propagation"``, ``"one-hot-logistic"``, ``"spectral-logistic"`` and, for
        graphs with features, ``"neighbourhood-logistic"``. All that apply if not given.
    budget : float or str or None, default=None
        How long a fit may take on the clock, in seconds or as "90s", "10m" or "1h30m". The attention model comes last
        and has what the others leave; its first steps are timed, and it has fewer members and epochs where there is not
        time for all. None: about seven minutes of one core for attention, judged by the size of the data and not by the
        clock, so that the same data give the same result; that is all of it up to some three million nodes, memberships
        and ends of edges over all layers, where memberships of nodes in several groups count four times.
        ``explanation_`` says what was done.
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
    ['label-propagation', 'one-hot-logistic', 'spectral-logistic', 'gramme-fusion']
    """

    parameter_rules: ClassVar[Mapping[str, Rule]] = {
        "ensemble": WholeNumber(),
        "folds": WholeNumber(2),
        "epochs": WholeNumber(),
        "ingredients": Optional(Names(INGREDIENTS)),
        "budget": Optional(Duration()),
        "features": Optional(Choice(*SOURCES)),
        "progress": Optional(Flag()),
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

    tests_itself: ClassVar[bool] = True
    hands_graph_on: ClassVar[bool] = True

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
        fold = enough_folds(whole, graph.num_entries)
        recipe = self._recipe(names_for(graph, self.ingredients), known.nodes.size, seed)
        self.models_ = {}
        unseen: list[Floats] = []
        costs = expected_costs(recipe, DataSize.of(graph), COPIES_PER_FOLD)
        for name in recipe.names:
            model = INGREDIENTS[name].made(recipe)
            allowance = attention_allowance(budget, began) if INGREDIENTS[name].slow else None
            try:
                # the only label of a class is not told by the others: then one fold, for which nothing is fitted
                alone = self.class_counts_.max() == 1 and not INGREDIENTS[name].slow
                parts = np.zeros_like(fold) if alone else fold
                with part(name, costs[name] / sum(costs.values())):
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
                full = Effort(self.ensemble, COPIES_PER_FOLD, self.epochs)
                folds, tested = int(whole.max()) + 1, int(fold.max()) + 1
                self._say_done(effort_in_words(model.effort_, full, folds, tested, budget))
            if model.interrupted_:  # make do with what there is
                self.interrupted_ = True
                break
        # who has not seen the one fold has seen no part of it
        if np.unique(fold[fold >= 0]).size < 2:
            fold = np.where(fold < 0, -1, stratified_folds(known.codes, self.folds, seed + 1))
        self._mix(known, unseen, fold)
        return self._mixture(graph, fitted=True)

    def expected_seconds(self, graph: MultilayerGraph, share: float = 1.0) -> float:
        """About how long a fit with a share of the labels takes on one core, from the size of the data alone."""
        size = DataSize.of(graph).with_labels(share)
        recipe = self._recipe(names_for(graph, self.ingredients), 1, 0)
        return sum(expected_costs(recipe, size, COPIES_PER_FOLD).values())

    def seconds_for(self, size: DataSize) -> float:
        """The same for data of a size, as if no ingredient were too large for them."""
        usual = [name for name in INGREDIENTS if size.columns or name != "neighbourhood-logistic"]
        recipe = self._recipe(self.ingredients or usual, 1, 0)
        return sum(expected_costs(recipe, size, COPIES_PER_FOLD).values())

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
