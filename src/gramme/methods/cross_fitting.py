"""Predictions for training labels by models that have not seen them, and sets of plausible classes that rest on these.

A set of classes comes with a promise of how often the true one is in it (docs/understand/sets.md).
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from math import ceil, floor
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from gramme._progress import part
from gramme._types import Floats
from gramme.distributed import gather_rows
from gramme.errors import DataError, GrammeWarning
from gramme.graph import MultilayerGraph
from gramme.graph.canonical import in_name_order

from .labels import KnownLabels, class_prior, is_large, reweighed, stratified_folds
from .persistence import SavedArray, SavedField

if TYPE_CHECKING:
    from .base import NodeClassifier

FOLDS = 5
"""Parts of the labels, each of which is predicted by a model of the others, where nobody says another number."""


@dataclass(frozen=True)
class OutOfFold:
    """Predictions for some labels by models that had not learned from them.

    ``nodes`` are the positions of these labels, ``codes`` their classes (-1 for one that the model does not know),
    ``folds`` says into how many parts the labels were divided; 0 where the model itself had not seen these.
    """

    nodes: NDArray[np.int64]
    codes: NDArray[np.int64]
    probabilities: NDArray[np.floating[Any]]
    folds: int = 0

    def own(self) -> Floats:
        """The probability that was given to each label's own class; 0 for a class the model does not know."""
        given_probabilities = self.probabilities[np.arange(self.codes.size), np.maximum(self.codes, 0)]
        return np.where(self.codes >= 0, given_probabilities, 0).astype(np.float64)

    def set_scores(self) -> Floats:
        """How well each label's own class did: 1 if it was the most probable one, or else its probability."""
        return np.where(self.probabilities.argmax(axis=1) == self.codes, 1.0, self.own())


def out_of_fold(model: NodeClassifier, graph: MultilayerGraph, known: KnownLabels, folds: int = FOLDS) -> OutOfFold:
    """Predictions by copies of a fitted model, each for the labels of the fold it has not seen.

    Raises
    ------
    KeyboardInterrupt
        Also where a method would end its training early and keep what it has: half a fold says nothing.
    """
    known, _ = known.sorted_by_name(in_name_order(graph))  # so that folds follow names
    fold_of_label = stratified_folds(known.codes, folds, seed=0)
    unseen_probabilities = refit_for_folds(model, graph, known, fold_of_label)
    if np.isnan(unseen_probabilities).any():
        model.interrupted_ = False  # the model itself is whole
        raise KeyboardInterrupt
    return OutOfFold(known.nodes, known.codes, unseen_probabilities, int(fold_of_label.max()) + 1)


def refit_for_folds(
    model: NodeClassifier, graph: MultilayerGraph, known: KnownLabels, fold: NDArray[np.int64]
) -> Floats:
    """Predict each label by a copy of a fitted model that has not seen the label's fold: one further fit per fold.

    The model was fitted on all the known labels; the fold is -1 for labels that are in none and not asked about.
    Returns (labels, classes): class frequencies where only one class is left outside a fold; NaN for labels in no fold,
    and where an interrupt (Ctrl-C) came first.
    """
    num_classes = len(known.classes)
    unseen_probabilities = np.full((known.nodes.size, num_classes), np.nan)
    num_folds = int(fold.max()) + 1
    for fold_number in range(num_folds):
        is_held_out = fold == fold_number
        remaining_counts = np.bincount(known.codes[~is_held_out], minlength=num_classes)
        if (remaining_counts > 0).sum() < 2:
            unseen_probabilities[is_held_out] = class_prior(remaining_counts)
            continue
        with part("", 1 / num_folds):
            fold_model = model._fit_copy(graph, known.without(is_held_out))
        if fold_model.interrupted_:
            model.interrupted_ = True
            break
        unseen_probabilities[is_held_out] = 0
        unseen_probabilities[np.ix_(is_held_out, remaining_counts > 0)] = gather_rows(
            graph, fold_model.predict_proba(), known.nodes[is_held_out]
        )
    return unseen_probabilities


def miss_ratio(misses: int, half_misses: int, folds: int) -> float:
    """What share of the misses of its folds a model of all labels makes itself.

    ``misses`` and ``half_misses`` count the labels that were missed by models of all folds but one, and by models of
    half of the labels. Two misses more are added to those of the folds, so that a handful does not tell of a steep
    curve, and beyond 0.6 and 1.2 a ratio holds little else than chance; these were chosen on random splits and
    synthetic graphs that no benchmark uses (docs/understand/sets.md).

    >>> miss_ratio(10, 10, folds=5), miss_ratio(10, 19, folds=5)
    (1.0, 0.75)
    >>> miss_ratio(10, 100, folds=5)  # never below
    0.6
    """
    if folds <= 2:  # which tell nothing further
        return 1.0
    # 1 / n of the models of the folds, where that of the model is 1 and of a half 2
    fold_curve = folds / (folds - 1)
    missed_gain = (half_misses - misses) * (fold_curve - 1) / (2 - fold_curve)
    return min(max(1 - missed_gain / (misses + 2.0), 0.6), 1.2)


# What a prediction set must hold to keep its promise, from labels that were predicted unseen.


def fewest_labels(coverage: float) -> int:
    """Labels from which on a promise can be made.

    >>> fewest_labels(0.9), fewest_labels(0.95)
    (9, 19)
    """
    return ceil((1 - 1e-9) / (1 - coverage)) - 1


@dataclass(frozen=True)
class Threshold:
    """What a coverage asks for: the probability that a class must reach to belong to a set, 0 without a promise.

    ``level`` is how often sets then hold the true class: the coverage, or more where it comes for free. A threshold
    among n labels can promise k / (n + 1) only, for whole numbers k, so few labels promise a little more.
    """

    threshold: float
    level: float


@dataclass(frozen=True)
class CalibrationScores:
    """How labels did that were predicted unseen, and what that promises.

    ``scores`` are those of :meth:`~gramme.methods.cross_fitting.OutOfFold.set_scores`, ``codes`` their classes (-1 for
    one the model does not know), ``halved`` what they score with models of half of the labels, ``folds`` into how many
    parts the labels were divided; 0 where the model itself had not seen these.

    >>> scores = np.arange(1, 100) / 100
    >>> tested = CalibrationScores(scores, np.zeros(99, dtype=int))
    >>> tested.promise(0.9)
    Threshold(threshold=0.1, level=0.9)
    >>> CalibrationScores(scores[:8], np.zeros(8, dtype=int)).promise(0.9)  # too few to promise anything
    Threshold(threshold=0.0, level=1.0)
    """

    scores: Floats
    codes: NDArray[np.int64]
    halved: Floats | None = None
    folds: int = 0

    def promise(self, coverage: float) -> Threshold:
        """The threshold for all classes together."""
        num_labels = self.scores.size
        allowed_misses = _allowed(num_labels, coverage)
        if allowed_misses < 1:
            return Threshold(0.0, 1.0)
        sorted_scores = np.sort(self.scores)
        # never so large that nine labels promise less than they are asked for
        missed_ratio = min(self._miss_ratio(float(sorted_scores[floor(allowed_misses) - 1])), allowed_misses)
        threshold_rank = min(floor(allowed_misses / missed_ratio), num_labels)
        threshold = float(sorted_scores[threshold_rank - 1])
        if threshold < 1:
            return Threshold(threshold, 1 - missed_ratio * threshold_rank / (num_labels + 1))
        return Threshold(threshold, max(coverage, 1 - missed_ratio * float((self.scores < 1).mean())))

    def promises(self, coverage: float, classes: int, *, by_class: bool = False) -> list[Threshold]:
        """What is promised in each of the classes: the same in all of them, or in every one by itself."""
        if not by_class:
            return [self.promise(coverage)] * classes
        thresholds = []
        for place in range(classes):
            in_class = self.codes == place
            halved_scores = None if self.halved is None else self.halved[in_class]
            of_class = replace(self, scores=self.scores[in_class], codes=self.codes[in_class], halved=halved_scores)
            thresholds.append(of_class.promise(coverage))
        return thresholds

    def _miss_ratio(self, threshold: float) -> float:
        """How much rarer the model misses than its folds did."""
        if self.halved is None:
            return 1.0
        num_missed, half_missed = ((label_scores < threshold).sum() for label_scores in (self.scores, self.halved))
        return miss_ratio(int(num_missed), int(half_missed), self.folds)


def _allowed(labels: int, coverage: float) -> float:
    """How many labels may fall below the threshold, the new one counted; whole numbers of them count."""
    return (labels + 1) * (1 - coverage) + 1e-9  # 100 * (1 - 0.9) is a little below 10


MAX_HALVED_LABELS = 2_000  # with more, a fold's labels hardly make a difference to a model
SET_FIELDS: tuple[SavedField, ...] = (
    SavedArray("labelled", np.bool_, ("nodes",), optional=True),
    SavedArray("tested_nodes", np.int64, ("tested",), below="nodes", optional=True),
    SavedArray("tested_codes", np.int64, ("tested",), low=-1, optional=True),
    SavedArray("tested_probabilities", np.float32, ("tested", "classes"), low=0, high=1, optional=True),
    SavedArray("tested_folds", np.int64, (1,), low=0, optional=True),
    SavedArray("halved_probabilities", np.float32, ("tested", "classes"), low=0, high=1, optional=True),
)
"""What a model file holds of the labels that were predicted unseen."""


def _check_coverage(coverage: float) -> None:
    if isinstance(coverage, bool) or not 0 < coverage < 1:
        raise DataError(f"coverage must be between 0 and 1, like 0.9, not {coverage!r}")


class PredictionSetMixin:
    """The part of a method that predicts sets of classes."""

    labelled_: NDArray[np.bool_]
    tested_nodes_: NDArray[np.int64]
    tested_codes_: NDArray[np.int64]
    tested_probabilities_: NDArray[np.float32]
    tested_folds_: NDArray[np.int64]
    halved_probabilities_: NDArray[np.float32]

    def out_of_fold(self) -> OutOfFold:
        """Predictions for the training labels by models that had not learned from them.

        A mixture (:class:`~gramme.GrammeAuto`) and a model from ``gramme fit`` have them already. For others, the first
        call fits five further models, each on four fifths of the labels.
        """
        model = self._as_model()
        if not hasattr(self, "tested_nodes_"):
            if "graph_" not in vars(model):
                raise DataError(
                    "the model was loaded without predictions for labels it had not seen; before saving it call "
                    "out_of_fold(), or fit it again"
                )
            # copies count no class more than another
            self._keep(out_of_fold(model, model.graph_, self._learned_from()))
        weighed_probabilities = model._weighed(self.tested_probabilities_)
        num_folds = int(self.tested_folds_[0]) if hasattr(self, "tested_folds_") else 0
        return OutOfFold(self.tested_nodes_, self.tested_codes_, weighed_probabilities, num_folds)

    def keep_out_of_fold(self, found: OutOfFold) -> None:
        """Keep what models that had not learned from a label say about it, for sets and for the model's file.

        Where this model counts every class alike (``balance_classes``), so must they have done.
        """
        class_weights: Floats | None = getattr(self, "class_weights_", None)
        class_probabilities = found.probabilities
        if class_weights is not None:  # as they were before the classes were weighed
            found = replace(found, probabilities=reweighed(class_probabilities, 1 / class_weights))
        self._keep(found)

    def _keep(self, found: OutOfFold) -> None:
        self.tested_nodes_, self.tested_codes_ = found.nodes.copy(), found.codes.copy()
        self.tested_probabilities_ = found.probabilities.astype(np.float32)
        self.tested_folds_ = np.array([found.folds])
        vars(self).pop("halved_probabilities_", None)

    def _learned_from(self) -> KnownLabels:
        """The labels of the fit."""
        model, labelled_nodes = self._as_model(), np.flatnonzero(self.labelled_)
        label_weights = vars(model).get("_label_weights")
        known_labels = KnownLabels(labelled_nodes, self._codes_at(labelled_nodes), model.classes_)
        return known_labels if label_weights is None else replace(known_labels, weights=label_weights[labelled_nodes])

    def _codes_at(self, nodes: NDArray[np.int64]) -> NDArray[np.int64]:
        """The classes of some labelled nodes, as positions among all classes."""
        model = self._as_model()
        code_of_class = {label: place for place, label in enumerate(model.classes_.tolist())}
        return np.array([code_of_class[label] for label in model.transduction_[nodes].tolist()], dtype=np.int64)

    def _out_of_half(self) -> OutOfFold | None:
        """What models of half of the training labels say about those that were predicted by folds.

        It tells how much the model gains by more labels, and so how much less it misses than its folds did. The first
        call fits two further models. None where the model itself predicted labels that were set aside, where labels are
        so many that it makes no difference, within a budget of time, and for a model that was saved before that.
        """
        model, fold_predictions = self._as_model(), self.out_of_fold()
        if not hasattr(self, "halved_probabilities_"):
            if fold_predictions.folds <= 2 or "given_graph_" not in vars(model) or model.interrupted_:
                return None
            if getattr(model, "budget", None) is not None or is_large(model.graph_.num_entries):
                return None
            if self.labelled_.sum() > MAX_HALVED_LABELS:
                return None
            half_predictions = model._from_halves(model.graph_, self._learned_from())
            row_of_node = np.empty(self.labelled_.size, dtype=np.int64)
            row_of_node[half_predictions.nodes] = np.arange(half_predictions.nodes.size)
            halved_rows = half_predictions.probabilities[row_of_node[fold_predictions.nodes]]
            self.halved_probabilities_ = halved_rows.astype(np.float32)
        return replace(fold_predictions, probabilities=model._weighed(self.halved_probabilities_), folds=2)

    def _from_halves(self, graph: MultilayerGraph, known: KnownLabels) -> OutOfFold:
        """What two models, each of half of the labels, say about the other half."""
        return out_of_fold(self._as_model(), graph, known, folds=2)

    def predict_set(
        self, graph: MultilayerGraph | None = None, *, coverage: float = 0.9, by_class: bool = False
    ) -> NDArray[np.bool_]:
        """The classes that are plausible for each node; the true one is among them with a probability of ``coverage``.

        The promise holds on average over nodes that were drawn like the labelled ones. A set always holds the most
        probable class; if that alone is right more often than asked, sets hold nothing else, and
        :meth:`expected_coverage` says how often they hold the true class. The set of a node that the model learned
        from is its label alone.

        Parameters
        ----------
        graph : MultilayerGraph, optional
            A graph other than the fitted one.
        coverage : float, default=0.9
        by_class : bool, default=False
            Keep the promise separately in every class: sets are larger, but rare classes are not the ones that are
            missed.

        Returns
        -------
        array of bool, shape (nodes, classes)
            With a warning and all classes if there are too few labels to promise anything.

        Examples
        --------
        >>> from gramme import datasets
        >>> from gramme.methods import OneHotLogistic
        >>> g = datasets.load("balance_scale")
        >>> y = g.labels.copy()
        >>> y[np.arange(625) % 4 != 0] = None  # three of four nodes are unknown
        >>> model = OneHotLogistic(random_state=0).fit(g, y)
        >>> sets = model.predict_set(coverage=0.9)
        >>> sets.shape
        (625, 3)
        >>> codes = model.classes_.searchsorted(g.labels.astype(str))
        >>> bool(sets[np.arange(625), codes].mean() > 0.88)
        True
        """
        model = self._as_model()
        model.check_fitted()
        probabilities = model.predict_proba(graph)
        thresholds = self.set_thresholds(coverage, by_class=by_class)
        class_sets: NDArray[np.bool_] = probabilities.astype(np.float64) >= thresholds
        if len(class_sets):
            class_sets[np.arange(len(class_sets)), probabilities.argmax(axis=1)] = True
        is_fitted_graph = graph is None or model.fitted_on(graph)
        if is_fitted_graph and hasattr(self, "labelled_"):
            class_sets[self.labelled_] = model.transduction_[self.labelled_][:, None] == model.classes_[None, :]
        return class_sets

    def set_thresholds(self, coverage: float = 0.9, *, by_class: bool = False) -> Floats:
        """The probability that a class must reach to join the most probable one in a set; 0 without a promise."""
        model = self._as_model()
        _check_coverage(coverage)
        fold_predictions, num_classes = self.out_of_fold(), len(model.classes_)
        class_thresholds = np.array([class_promise.threshold for class_promise in self._promises(coverage, by_class)])
        if (class_thresholds == 0).any() and fold_predictions.nodes.size < fewest_labels(coverage):
            warnings.warn(too_few(fold_predictions.nodes.size, coverage), GrammeWarning, stacklevel=3)
        elif by_class:
            class_counts = np.bincount(fold_predictions.codes[fold_predictions.codes >= 0], minlength=num_classes)
            rare_classes = np.flatnonzero(class_counts < fewest_labels(coverage))
            if rare_classes.size:
                class_names = ", ".join(str(one) for one in model.classes_[rare_classes[:5]])
                warnings.warn(
                    f"too few labels to promise {coverage:.0%} in: "
                    f"{class_names}{', ...' if rare_classes.size > 5 else ''} "
                    f"({fewest_labels(coverage)} are needed); every set holds them",
                    GrammeWarning,
                    stacklevel=3,
                )
        return class_thresholds

    def expected_coverage(self, coverage: float = 0.9, *, by_class: bool = False) -> float:
        """How often the sets of :meth:`predict_set` hold the true class: ``coverage``, or more where it comes for free.

        If the most probable class alone is right more often than asked, sets hold nothing else. How often it is right
        is then judged by the labels that were predicted without having been learned from. A threshold among n labels
        can promise k / (n + 1) only, for whole numbers k, so that a few labels promise a little more than was asked.
        """
        _check_coverage(coverage)
        label_codes, class_promises = self.out_of_fold().codes, self._promises(coverage, by_class)
        class_counts = np.bincount(label_codes[label_codes >= 0], minlength=len(class_promises))
        if not by_class or not class_counts.any():
            return class_promises[0].level if not by_class else 1.0
        return float(np.average([class_promise.level for class_promise in class_promises], weights=class_counts))

    def _promises(self, coverage: float, by_class: bool) -> list[Threshold]:
        fold_predictions, half_predictions = self.out_of_fold(), self._out_of_half()
        halved_scores = None if half_predictions is None else half_predictions.set_scores()
        calibration_scores = CalibrationScores(
            fold_predictions.set_scores(), fold_predictions.codes, halved_scores, fold_predictions.folds
        )
        return calibration_scores.promises(coverage, len(self._as_model().classes_), by_class=by_class)

    def _as_model(self) -> NodeClassifier:
        return cast("NodeClassifier", self)


def too_few(labels: int, coverage: float) -> str:
    """That nothing can be promised, in words."""
    return (
        f"{labels} labels were predicted without having been learned from; {fewest_labels(coverage)} are needed to "
        f"promise {coverage:.0%}, so every set holds all classes"
    )
