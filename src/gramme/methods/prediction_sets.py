"""Prediction sets: for every node the classes that are plausible, with a promise of how often the true one is there.

The promise is conformal. Take the labels that a model predicted without having learned from them. Each has a score: 1
if its class was the most probable one, or else the probability its class was given. A threshold that at most a share of
1 - coverage of these scores fall below will, for a further node drawn like the labelled ones, leave the true class out
about as rarely: a set holds the most probable class and every other one whose probability reaches the threshold. With n
such labels the threshold is the k-th smallest score, k = floor((n + 1) (1 - coverage)): the + 1 counts the new node
itself, and makes the promise hold for few labels as well. Where k is 0 no threshold can promise anything, and a set
holds every class. Where fewer than k labels were missed the threshold is 1: the most probable class alone is right
more often than was asked, and by how much these labels tell as well.

The probability itself is the score, and not the sum of all larger ones ("adaptive" sets), since among all sets with the
same coverage those by a threshold on the probability are the smallest on average. That the most probable class counts
as 1 keeps sets from being empty without making them larger: only the labels that were missed set the threshold.

References
----------
M. Sadinle, J. Lei, L. Wasserman, "Least Ambiguous Set-Valued Classifiers With Bounded Error Levels", Journal of the
American Statistical Association 114, 2019.

V. Vovk, "Cross-conformal predictors", Annals of Mathematics and Artificial Intelligence 74, 2015.
"""

from __future__ import annotations

import warnings
from math import floor
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import NDArray

from gramme.errors import DataError, GrammeWarning
from gramme.methods.labels import KnownLabels
from gramme.methods.out_of_fold import OutOfFold, out_of_fold
from gramme.methods.probability import reweighed
from gramme.methods.saved_fields import SavedArray, SavedField

if TYPE_CHECKING:
    from gramme.graph import MultilayerGraph
    from gramme.methods.base import NodeClassifier

Floats = NDArray[np.float64]

SET_FIELDS: tuple[SavedField, ...] = (
    SavedArray("labelled", np.bool_, ("nodes",), optional=True),
    SavedArray("tested_nodes", np.int64, ("tested",), below="nodes", optional=True),
    SavedArray("tested_codes", np.int64, ("tested",), low=-1, optional=True),
    SavedArray(
        "tested_probabilities", np.float32, ("tested", "classes"), low=0, high=1, optional=True
    ),
)
"""What a model file holds of the labels that were predicted unseen."""


def fewest_labels(coverage: float) -> int:
    """Labels from which on a promise can be made.

    >>> fewest_labels(0.9), fewest_labels(0.95)
    (9, 19)
    """
    count = 1
    while _rank(count, coverage) < 1:
        count = count + 1 if count < 1000 else 2 * count
    return count


def set_thresholds(
    scores: Floats,
    codes: NDArray[np.int64],
    classes: int,
    coverage: float,
    *,
    by_class: bool = False,
) -> Floats:
    """The probability that a class must reach to belong to a set, shape (classes,); 0 if nothing can be promised.

    Parameters
    ----------
    scores : array of float, shape (tested,)
        What each label scores (:meth:`~gramme.methods.out_of_fold.OutOfFold.set_scores`).
    codes : array of int, shape (tested,)
        The classes of these labels; -1 for one the model does not know.
    classes : int
    coverage : float
    by_class : bool, default=False
        Whether the promise is kept in every class by itself.

    Examples
    --------
    >>> scores = np.linspace(0.01, 0.99, 99)
    >>> set_thresholds(scores, np.zeros(99, dtype=int), 2, 0.9).round(2)
    array([0.1, 0.1])
    >>> set_thresholds(scores[:8], np.zeros(8, dtype=int), 2, 0.9)  # too few to promise anything
    array([0., 0.])
    """
    if not by_class:
        return np.full(classes, _threshold(scores, coverage))
    return np.array([_threshold(scores[codes == place], coverage) for place in range(classes)])


def _check_coverage(coverage: float) -> None:
    if isinstance(coverage, bool) or not 0 < coverage < 1:
        raise DataError(f"coverage must be between 0 and 1, like 0.9, not {coverage!r}")


def _threshold(scores: Floats, coverage: float) -> float:
    rank = _rank(scores.size, coverage)
    return float(np.sort(scores)[rank - 1]) if rank >= 1 else 0.0


def _level(scores: Floats, coverage: float) -> float:
    """How often a further label reaches the threshold of these scores; 1 where none can be set."""
    rank = _rank(scores.size, coverage)
    if rank < 1:
        return 1.0
    if _threshold(scores, coverage) < 1:
        return 1 - rank / (scores.size + 1)
    return max(coverage, float((scores >= 1).mean()))


def _rank(labels: int, coverage: float) -> int:
    return floor((labels + 1) * (1 - coverage) + 1e-9)  # 100 * (1 - 0.9) is a little below 10


class PredictsSets:
    """The part of a method that predicts sets of classes."""

    labelled_: NDArray[np.bool_]
    tested_nodes_: NDArray[np.int64]
    tested_codes_: NDArray[np.int64]
    tested_probabilities_: NDArray[np.float32]

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
            codes = {label: place for place, label in enumerate(model.classes_.tolist())}
            mine = [codes[label] for label in model.transduction_[self.labelled_].tolist()]
            nodes = np.flatnonzero(self.labelled_)
            known = KnownLabels(nodes, np.array(mine, dtype=np.int64), model.classes_)
            found = out_of_fold(
                model, model.graph_, known
            )  # copies count no class more than another
            self.tested_nodes_, self.tested_codes_ = found.nodes.copy(), found.codes.copy()
            self.tested_probabilities_ = found.probabilities.astype(np.float32)
        shares = model._weighed(self.tested_probabilities_)
        return OutOfFold(self.tested_nodes_, self.tested_codes_, shares)

    def keep_out_of_fold(self, found: OutOfFold) -> None:
        """Keep what models that had not learned from a label say about it, for sets and for the model's file.

        Where this model counts every class alike (``balance_classes``), so must they have done.
        """
        weights: Floats | None = getattr(self, "class_weights_", None)
        shares = found.probabilities
        self.tested_nodes_, self.tested_codes_ = found.nodes.copy(), found.codes.copy()
        self.tested_probabilities_ = (  # as they were before the classes were weighed
            shares.astype(np.float32) if weights is None else reweighed(shares, 1 / weights)
        )

    def predict_set(
        self,
        graph: MultilayerGraph | None = None,
        *,
        coverage: float = 0.9,
        by_class: bool = False,
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
        sets: NDArray[np.bool_] = probabilities.astype(np.float64) >= thresholds
        if len(sets):
            sets[np.arange(len(sets)), probabilities.argmax(axis=1)] = True
        own = graph is None or model.fitted_on(graph)
        if own and hasattr(self, "labelled_"):
            sets[self.labelled_] = (
                model.transduction_[self.labelled_][:, None] == model.classes_[None, :]
            )
        return sets

    def set_thresholds(self, coverage: float = 0.9, *, by_class: bool = False) -> Floats:
        """The probability that a class must reach to join the most probable one in a set; 0 without a promise."""
        model = self._as_model()
        _check_coverage(coverage)
        seen = self.out_of_fold()
        classes = len(model.classes_)
        found = set_thresholds(seen.set_scores(), seen.codes, classes, coverage, by_class=by_class)
        if (found == 0).any() and seen.nodes.size < fewest_labels(coverage):
            warnings.warn(too_few(seen.nodes.size, coverage), GrammeWarning, stacklevel=3)
        elif by_class:
            counts = np.bincount(seen.codes[seen.codes >= 0], minlength=classes)
            rare = np.flatnonzero(counts < fewest_labels(coverage))
            if rare.size:
                names = ", ".join(str(one) for one in model.classes_[rare[:5]])
                warnings.warn(
                    f"too few labels to promise {coverage:.0%} in: {names}{', ...' if rare.size > 5 else ''} "
                    f"({fewest_labels(coverage)} are needed); every set holds them",
                    GrammeWarning,
                    stacklevel=3,
                )
        return found

    def expected_coverage(self, coverage: float = 0.9, *, by_class: bool = False) -> float:
        """How often the sets of :meth:`predict_set` hold the true class: ``coverage``, or more where it comes for free.

        If the most probable class alone is right more often than asked, sets hold nothing else. How often it is right
        is then judged by the labels that were predicted without having been learned from. A threshold among n labels
        can promise k / (n + 1) only, for whole numbers k, so that a few labels promise a little more than was asked.
        """
        _check_coverage(coverage)
        seen = self.out_of_fold()
        scores, classes = seen.set_scores(), len(self._as_model().classes_)
        if not by_class:
            return _level(scores, coverage)
        counts = np.bincount(seen.codes[seen.codes >= 0], minlength=classes)
        levels = [_level(scores[seen.codes == one], coverage) for one in range(classes)]
        return float(np.average(levels, weights=counts)) if counts.any() else 1.0

    def _as_model(self) -> NodeClassifier:
        return cast("NodeClassifier", self)


def too_few(labels: int, coverage: float) -> str:
    """That nothing can be promised, in words."""
    return (
        f"{labels} labels were predicted without having been learned from; {fewest_labels(coverage)} are needed to "
        f"promise {coverage:.0%}, so every set holds all classes"
    )
