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
        class_shares = class_prior(self.class_counts_)
        is_predicted = np.asarray(~np.isnan(np.concatenate(unseen, axis=1)).any(axis=1), dtype=bool)
        # the only label of a class cannot be predicted from the others, which speaks against nobody
        is_tested = is_predicted & (self.class_counts_[known.codes] > 1)
        tested_codes, tested_weights = known.codes[is_tested], known.weights[is_tested]
        tested_rows = np.arange(tested_codes.size)
        softened_parts = [mixed_with_prior(part, class_shares) for part in unseen]
        tested_parts = [part[is_tested] for part in softened_parts]
        own_probabilities = np.stack([part[tested_rows, tested_codes] for part in tested_parts], axis=1)
        pseudo_labels = [INGREDIENTS[name].credit(known.nodes.size) for name in self.models_]
        ingredient_weights = mixture_weights(own_probabilities, pseudo_labels, label_weights=tested_weights)
        predicted = known.part(is_predicted)
        predicted_parts = [part[is_predicted] for part in softened_parts]
        mixed_probabilities = cross_fitted(
            predicted_parts,
            predicted.codes,
            fold[is_predicted],
            is_tested[is_predicted],
            pseudo_labels,
            predicted.weights,
        )
        self.keep_out_of_fold(OutOfFold(predicted.nodes, predicted.codes, mixed_probabilities, int(fold.max()) + 1))
        self.exponent_ = calibrating_exponent(pooled(tested_parts, ingredient_weights), tested_codes, tested_weights)
        table_columns = {"ingredient": list(self.models_), "weight": ingredient_weights, "accuracy": np.nan}
        self.ingredients_ = pd.DataFrame(table_columns | {"log_loss": np.nan})
        if tested_codes.size:
            self.ingredients_["accuracy"] = [float((part.argmax(1) == tested_codes).mean()) for part in tested_parts]
            self.ingredients_["log_loss"] = -np.log(own_probabilities).mean(axis=0)

    def _mixture(self, graph: MultilayerGraph, *, fitted: bool = False) -> NDArray[np.float32]:
        parts = [model.probabilities_ if fitted else model.predict_proba(graph) for model in self.models_.values()]
        mixed_probabilities = np.empty(parts[0].shape, dtype=np.float32)
        class_shares, chunk_nodes = class_prior(self.class_counts_), 1 << 14
        # in double precision all nodes at once would need as much as the models
        for first_node in range(0, len(mixed_probabilities), chunk_nodes):
            chunk = slice(first_node, first_node + chunk_nodes)
            mixed_probabilities[chunk] = self._pooled([part[chunk] for part in parts], class_shares)
        return mixed_probabilities

    def _pooled(self, parts: Sequence[NDArray[np.floating[Any]]], prior: Floats) -> Floats:
        """The probabilities of the ingredients pooled with the weights of the fit, and calibrated."""
        softened_parts = [mixed_with_prior(part, prior) for part in parts]
        return sharpened(pooled(softened_parts, self.ingredients_["weight"].to_numpy()), self.exponent_)

    def _from_halves(self, graph: MultilayerGraph, known: KnownLabels) -> OutOfFold:
        """The mixture of copies of the ingredients, each for the half of the labels that it has not seen.

        Weights and exponent are those of the fit: what more labels teach the ingredients is asked, and probabilities
        must be as sharp as those they are compared with.
        """
        known = self._weighed_by_class(known)
        sorted_labels, label_positions = known.sorted_by_name(in_name_order(graph))  # so that halves follow names
        half_of_label = np.empty(label_positions.size, dtype=np.int64)
        half_of_label[label_positions] = stratified_folds(sorted_labels.codes, 2, seed=0)
        halved_predictions = [model._predict_halves(graph, known, half_of_label) for model in self.models_.values()]
        if any(np.isnan(half_probabilities).any() for half_probabilities in halved_predictions):
            raise KeyboardInterrupt
        mixed_probabilities = self._pooled(halved_predictions, class_prior(self.class_counts_))
        return OutOfFold(known.nodes, known.codes, mixed_probabilities, 2)

    def evidence(self, nodes: NDArray[np.int64] | None = None) -> Floats:
        """What each ingredient says about some nodes or all, (nodes, ingredients x classes), counted by its weight.

        Blocks of logarithms of probabilities, centred per node; added up over the ingredients they are the logarithm of
        the mixture's.
        """
        self.check_fitted()
        class_shares = class_prior(self.class_counts_)
        evidence_blocks = []
        for model, ingredient_weight in zip(self.models_.values(), self.ingredients_["weight"], strict=True):
            class_probabilities = model.probabilities_ if nodes is None else model.probabilities_[nodes]
            log_probabilities = np.log(mixed_with_prior(class_probabilities, class_shares))
            log_probabilities -= log_probabilities.mean(axis=1, keepdims=True)
            evidence_blocks.append(self.exponent_ * float(ingredient_weight) * log_probabilities)
        return np.concatenate(evidence_blocks, axis=1)

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
