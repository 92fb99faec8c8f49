"""GrammeAuto: attention, propagation and a linear model mixed by how well each predicts labels it has not seen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from gramme._types import Floats
from gramme.graph import MultilayerGraph
from gramme.graph.canonical import in_name_order
from gramme.methods.attention.estimator import AttentionModel
from gramme.methods.base import NodeClassifier
from gramme.methods.cross_fitting import OutOfFold
from gramme.methods.labels import KnownLabels, class_prior, enough_folds, stratified_folds
from gramme.methods.params import Names, Number, Text, check_number_range
from gramme.methods.persistence import Column, SavedArray, SavedField, SavedTable, SavedValue

from .estimator import MixtureEstimator
from .ingredients import INGREDIENTS, Ingredient
from .mixture import calibrating_exponent, cross_fitted, mixed_with_prior, mixture_weights, pooled, sharpened


@dataclass(kw_only=True, eq=False, repr=False)
class GrammeAuto(MixtureEstimator, NodeClassifier):
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
        How long a fit may take on the clock, in seconds or as "90s", "10m" or "1h30m". Each ingredient but the first
        may take half of the time that is left, or is left out; attention comes last: its first steps are timed, and it
        has fewer members and epochs where there is not time for all. None: about seven minutes of one core for
        attention (half a minute in a table with numbers), judged by the size of the data and not by the clock, so that
        the same data give the same result; that is all of it up to some three million nodes, memberships and ends of
        edges over all layers (200,000 in such a table), where memberships of nodes in several groups count four times.
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
    ['label-propagation', 'one-hot-logistic', 'label-shares', 'spectral-logistic', 'gramme-fusion']
    """

    ingredients: Annotated[Sequence[str], Names(INGREDIENTS)] | None = None

    saved_fields: ClassVar[tuple[SavedField, ...]] = (
        SavedValue("exponent", Number(0, 10, open_low=True)),  # more than any calibration gives
        SavedTable(
            "ingredients",
            Column("ingredient", Text()),
            Column("weight", Number(0, 1 + 1e-6)),
            Column("accuracy"),
            Column("log_loss"),
        ),
        SavedArray("class_counts", np.int64, ("classes",), low=0),
    )

    has_out_of_fold: ClassVar[bool] = True
    registered: ClassVar[Mapping[str, Ingredient]] = INGREDIENTS

    models_: dict[str, NodeClassifier] = field(init=False)
    exponent_: float = field(init=False)
    class_counts_: NDArray[np.int64] = field(init=False)

    def _fit(self, graph: MultilayerGraph, known: KnownLabels, seed: int) -> NDArray[np.floating[Any]]:
        check_number_range(graph)
        self.class_counts_ = np.bincount(known.codes, minlength=len(known.classes))
        fold = enough_folds(stratified_folds(known.codes, self.folds, seed))
        # the only label of a class cannot be predicted from the others: then one fold, for which nothing is fitted
        quick_fold = np.zeros_like(fold) if self.class_counts_.max() == 1 else fold
        unseen = self._fit_ingredients(graph, known, fold, seed, quick_fold=quick_fold)
        # with a single fold, weights are cross-fitted over parts of it
        if np.unique(fold[fold >= 0]).size < 2:
            fold = np.where(fold < 0, -1, stratified_folds(known.codes, self.folds, seed + 1))
        self._mix(known, unseen, fold)
        return self._mixture(graph, fitted=True)

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
        counted = known.part(tested).weights
        weights = mixture_weights(own, credits, label_weights=counted)
        parts = [mixed_with_prior(found[said], prior) for found in unseen]
        mixed = cross_fitted(parts, known.codes[said], fold[said], tested[said], credits, known.weights[said])
        folds = int(fold.max()) + 1
        self.keep_out_of_fold(OutOfFold(known.nodes[said], known.codes[said], mixed, folds))
        self.exponent_ = calibrating_exponent(pooled(kept, weights), codes, counted)
        right = [float((found.argmax(1) == codes).mean()) if codes.size else np.nan for found in kept]
        losses = [float(-np.log(column).mean()) if codes.size else np.nan for column in own.T]
        columns = {"ingredient": list(self.models_), "weight": weights}
        self.ingredients_ = pd.DataFrame(columns | {"accuracy": right, "log_loss": losses})

    def _mixture(self, graph: MultilayerGraph, *, fitted: bool = False) -> NDArray[np.float32]:
        parts = [model.probabilities_ if fitted else model.predict_proba(graph) for model in self.models_.values()]
        mixed, prior = np.empty(parts[0].shape, dtype=np.float32), class_prior(self.class_counts_)
        for start in range(0, len(mixed), 1 << 14):  # in double precision all nodes would need as much as the models
            nodes = slice(start, start + (1 << 14))
            mixed[nodes] = self._pooled([part[nodes] for part in parts], prior)
        return mixed

    def _pooled(self, parts: Sequence[NDArray[np.floating[Any]]], prior: Floats) -> Floats:
        """The probabilities of the ingredients pooled with the weights of the fit, and calibrated."""
        mixed = pooled([mixed_with_prior(one, prior) for one in parts], self.ingredients_["weight"].to_numpy())
        return sharpened(mixed, self.exponent_)

    def _from_halves(self, graph: MultilayerGraph, known: KnownLabels) -> OutOfFold:
        """The mixture of copies of the ingredients, each for the half of the labels that it has not seen.

        Weights and exponent are those of the fit: what more labels teach the ingredients is asked, and probabilities
        must be as sharp as those they are compared with.
        """
        known = self._weighed_by_class(known)
        ordered, places = known.sorted_by_name(in_name_order(graph))  # so that halves follow names
        half = np.empty(places.size, dtype=np.int64)
        half[places] = stratified_folds(ordered.codes, 2, seed=0)
        halved = [model._predict_halves(graph, known, half) for model in self.models_.values()]
        if any(np.isnan(one).any() for one in halved):
            raise KeyboardInterrupt
        mixed = self._pooled(halved, class_prior(self.class_counts_))
        return OutOfFold(known.nodes, known.codes, mixed, 2)

    def evidence(self, nodes: NDArray[np.int64] | None = None) -> Floats:
        """What each ingredient says about some nodes or all, (nodes, ingredients x classes), counted by its weight.

        Blocks of logarithms of probabilities, centred per node; added up over the ingredients they are the logarithm of
        the mixture's.
        """
        self.check_fitted()
        prior = class_prior(self.class_counts_)
        blocks = []
        for model, weight in zip(self.models_.values(), self.ingredients_["weight"], strict=True):
            shares = model.probabilities_ if nodes is None else model.probabilities_[nodes]
            logs = np.log(mixed_with_prior(shares, prior))
            blocks.append(self.exponent_ * float(weight) * (logs - logs.mean(axis=1, keepdims=True)))
        return np.concatenate(blocks, axis=1)

    def _inductive_proba(self, graph: MultilayerGraph) -> NDArray[np.float32]:
        return self._mixture(graph)

    # Attention

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

    def node_attention(self, layer: str, *, hop: int = 1, graph: MultilayerGraph | None = None) -> pd.Series:
        """Who is listened to in a layer by the attention ingredient; see :meth:`GrammeFusion.node_attention`."""
        self.check_fitted()
        return self.attention_.node_attention(layer, hop=hop, graph=graph)
