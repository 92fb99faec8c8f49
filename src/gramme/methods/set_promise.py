"""What a prediction set must hold to keep its promise, from labels that were predicted unseen.

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

Where the labels were predicted by models of the other folds, the model itself misses fewer of them, as it learned from
more. Scores by models of half of the labels tell by how much (``learning_gain``): if the model misses a share r of what
its folds miss, k is divided by r, and so many more of the folds' labels may fall below the threshold.

References
----------
M. Sadinle, J. Lei, L. Wasserman, "Least Ambiguous Set-Valued Classifiers With Bounded Error Levels", Journal of the
American Statistical Association 114, 2019.

V. Vovk, "Cross-conformal predictors", Annals of Mathematics and Artificial Intelligence 74, 2015.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import floor

import numpy as np
from numpy.typing import NDArray

from gramme.methods.learning_gain import miss_ratio
from gramme.methods.probability import Floats


def fewest_labels(coverage: float) -> int:
    """Labels from which on a promise can be made.

    >>> fewest_labels(0.9), fewest_labels(0.95)
    (9, 19)
    """
    count = 1
    while floor(_allowed(count, coverage)) < 1:
        count = count + 1 if count < 1000 else 2 * count
    return count


@dataclass(frozen=True)
class Promise:
    """What a coverage asks for.

    Attributes
    ----------
    threshold : float
        The probability that a class must reach to belong to a set; 0 if nothing can be promised.
    level : float
        How often sets then hold the true class: the coverage, or more where it comes for free. A threshold among n
        labels can promise k / (n + 1) only, for whole numbers k, so few labels promise a little more than was asked.
    """

    threshold: float
    level: float


@dataclass(frozen=True)
class UnseenLabels:
    """How labels did that were predicted unseen, and what that promises.

    Attributes
    ----------
    scores : array of float, shape (tested,)
        What each label scores (:meth:`~gramme.methods.out_of_fold.OutOfFold.set_scores`).
    codes : array of int, shape (tested,)
        The classes of these labels; -1 for one the model does not know.
    halved : array of float, shape (tested,), optional
        What they score with models of half of the labels.
    folds : int, default=0
        Into how many parts the labels were divided for ``scores``; 0 where the model itself had not seen these.

    Examples
    --------
    >>> scores = np.arange(1, 100) / 100
    >>> tested = UnseenLabels(scores, np.zeros(99, dtype=int))
    >>> tested.promise(0.9)
    Promise(threshold=0.1, level=0.9)
    >>> UnseenLabels(scores[:8], np.zeros(8, dtype=int)).promise(0.9)  # too few to promise anything
    Promise(threshold=0.0, level=1.0)
    """

    scores: Floats
    codes: NDArray[np.int64]
    halved: Floats | None = None
    folds: int = 0

    def promise(self, coverage: float) -> Promise:
        """The threshold for all classes together."""
        labels = self.scores.size
        allowed = _allowed(labels, coverage)
        if allowed < 1:
            return Promise(0.0, 1.0)
        ordered = np.sort(self.scores)
        # never so large that nine labels promise less than they are asked for
        ratio = min(self._miss_ratio(float(ordered[floor(allowed) - 1])), allowed)
        rank = min(floor(allowed / ratio), labels)
        threshold = float(ordered[rank - 1])
        if threshold < 1:
            return Promise(threshold, 1 - ratio * rank / (labels + 1))
        return Promise(threshold, max(coverage, 1 - ratio * float((self.scores < 1).mean())))

    def promises(self, coverage: float, classes: int, *, by_class: bool = False) -> list[Promise]:
        """What is promised in each of the classes: the same in all of them, or in every one by itself."""
        if not by_class:
            return [self.promise(coverage)] * classes
        return [self._of(place).promise(coverage) for place in range(classes)]

    def _of(self, place: int) -> UnseenLabels:
        mine = self.codes == place
        halved = None if self.halved is None else self.halved[mine]
        return UnseenLabels(self.scores[mine], self.codes[mine], halved, self.folds)

    def _miss_ratio(self, threshold: float) -> float:
        """How much rarer the model misses than its folds did."""
        if self.halved is None:
            return 1.0
        missed, half_missed = ((each < threshold).sum() for each in (self.scores, self.halved))
        return miss_ratio(int(missed), int(half_missed), self.folds)


def _allowed(labels: int, coverage: float) -> float:
    """How many labels may fall below the threshold, the new one counted; whole numbers of them count."""
    return (labels + 1) * (1 - coverage) + 1e-9  # 100 * (1 - 0.9) is a little below 10
