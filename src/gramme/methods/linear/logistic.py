"""What the linear models share: the regression, a penalty chosen on training labels, importances of layers, saving."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg.blas import daxpy
from scipy.optimize import minimize
from scipy.special import expit

from gramme._progress import check_time, part
from gramme._runtime import one_thread_below
from gramme._types import Floats
from gramme.distributed import communicator_of
from gramme.graph import MultilayerGraph
from gramme.methods.base import NodeClassifier
from gramme.methods.contributions import shares_of_joined
from gramme.methods.labels import ENOUGH_LABELS, KnownLabels, enough_folds, softmax, stratified_folds
from gramme.methods.params import POSITIVE, PositiveFloat, RandomSeed, WholeNumber
from gramme.methods.persistence import MisfitError, SavedArray, SavedField, SavedSeries, SavedValue

FOLDS = 5
MAX_PENALTY_LABELS = 10_000  # labels that C is chosen on at most
MAX_DENSE_NUMBERS = 100_000  # of a sparse table that is solved as a dense one
LEAST_LOSS_GAIN = 1e-5
"""The same with many labels: on Debian's packages predictions of hidden training labels get no better from 3e-5 on."""

Table = Any  # a numpy array or a scipy sparse one


@dataclass(kw_only=True, eq=False, repr=False)
class LinearModel(NodeClassifier):
    """A method whose predictions are a regression on the columns of a table.

    Attributes
    ----------
    C_ : float
        The inverse strength of the penalty that was used.
    labels_ : int
        How many labels it was fitted on.
    layer_importance_ : Series
        How much each layer's part of the scores differs from node to node, summing to 1 over the layers.
    """

    C: PositiveFloat | None = None
    random_state: RandomSeed = None

    saved_fields: ClassVar[tuple[SavedField, ...]] = (
        SavedValue("C", POSITIVE),
        SavedValue("labels", WholeNumber(0), default=0),
        SavedSeries("importance"),
        SavedArray("coefficients", np.float64, ("columns", "classes")),
        SavedArray("intercept", np.float64, ("classes",)),
    )

    _copy_cost: ClassVar[float] = 0.4
    C_: float = field(init=False)
    labels_: int = field(init=False)
    coefficients_: Floats = field(init=False)
    intercept_: Floats = field(init=False)
    layer_importance_: pd.Series = field(init=False)

    def _learn(
        self,
        rows: Table,
        known: KnownLabels,
        strengths: Sequence[float],
        seed: int,
        strength: float | None = None,
        max_iter: int = 500,
        caution: float = 0.0,
    ) -> None:
        """The regression on the rows of labelled nodes, with the user's C, the one given or the best of some."""
        self.labels_ = known.nodes.size
        self.C_ = float(self.C or strength or chosen_strength(rows, known, strengths, seed, max_iter, caution))
        self.coefficients_, self.intercept_ = regression(
            rows, known.codes, len(known.classes), self.C_, max_iter, weights=known.sample_weight
        )

    def _check_columns(self, columns: int) -> None:
        """Refuse coefficients from a file that are not those of a table with so many columns."""
        if len(self.coefficients_) != columns:
            raise MisfitError(
                f"coefficients must have a row for each of {columns} columns, not {len(self.coefficients_)}"
            )


def class_shares(table: Table, coefficients: Floats, intercept: Floats) -> Floats:
    """Class probabilities of the rows of a table."""
    return softmax(table @ coefficients + intercept)


def minimised(
    loss_and_gradient: Callable[[Floats], tuple[float, Floats]], start: Floats, max_steps: int, least_gain: float
) -> Floats:
    """Where a convex function is least, by L-BFGS, each step shortened until it gains.

    For many variables: scipy's L-BFGS-B, which minds bounds, takes several times as long for as many steps. It ends
    when a step gains less than a share of the loss or of 1, whichever is more.

    J. Nocedal, "Updating Quasi-Newton Matrices with Limited Storage", Mathematics of Computation 35, 1980.

    >>> minimised(lambda x: (float(((x - 3) ** 2).sum()), 2 * (x - 3)), np.zeros(2), 20, 1e-9).round(3)
    array([3., 3.])
    """
    point, kept = start, deque[tuple[Floats, Floats, float]](maxlen=8)
    loss, slope = loss_and_gradient(point)
    for _ in range(max_steps):
        check_time()
        direction, weights = -slope, []
        for step, change, curvature in reversed(kept):
            weights.append(float(step @ direction) / curvature)
            daxpy(change, direction, a=-weights[-1])
        # as curved as along the last step; before there is one, a step of length 1
        last = kept[-1] if kept else None
        direction *= last[2] / float(last[1] @ last[1]) if last else 1 / max(float(np.linalg.norm(slope)), 1e-300)
        for (step, change, curvature), weight in zip(kept, reversed(weights), strict=True):
            daxpy(step, direction, a=weight - float(change @ direction) / curvature)
        descent, length = float(slope @ direction), 1.0
        for _ in range(20):
            there = point + length * direction
            loss_there, slope_there = loss_and_gradient(there)
            if loss_there <= loss + 1e-4 * length * descent:
                break
            # to where a parabola through what is known is least, within limits
            least = -descent * length / (2 * (loss_there - loss - descent * length))
            length *= min(max(least, 0.1), 0.5) if np.isfinite(least) else 0.1
        else:
            return point
        step, change = there - point, slope_there - slope
        curvature = float(step @ change)
        if curvature > 0:
            kept.append((step, change, curvature))
        gain = loss - loss_there
        point, loss, slope = there, loss_there, slope_there
        if gain <= least_gain * max(abs(loss), 1.0):
            break
    return point


def fitted_regression(
    rows: Table,
    codes: NDArray[np.int64] | NDArray[np.bool_],
    strength: float,
    max_iter: int,
    start: tuple[Floats, Floats] | None = None,
    weights: Floats | None = None,
) -> tuple[Floats, Floats]:
    """Coefficients (columns, classes) and intercepts of a logistic regression; the first of two classes has zeros.

    With n labels of two classes at least, minimises what scikit-learn's ``LogisticRegression`` does with C =
    ``strength``, by the same steps and to the same precision, but without its checks: those of one call take longer
    than the regression of a few labels. With many labels it ends earlier.

        mean over labels of log sum_c exp(x w_c + b_c) - (x w_y + b_y)   +   sum of w^2 / (2 C n)

    A regression that has not quite settled after ``max_iter`` steps is good enough: the penalty keeps it near. It may
    begin at the coefficients and intercepts of one with a similar penalty; ``weights`` count labels in the mean.
    """
    num_labels, num_columns = rows.shape
    if not isinstance(rows, np.ndarray) and num_labels * num_columns <= MAX_DENSE_NUMBERS:
        rows = rows.toarray()
    rows = rows.astype(np.float64, copy=False)
    transposed_rows = rows.T if isinstance(rows, np.ndarray) else sp.csr_array(rows.T)
    class_codes, class_index = np.unique(codes, return_inverse=True)
    has_two_classes = class_codes.size == 2
    penalty, row_index = 1 / (strength * num_labels), np.arange(num_labels)

    def loss_and_gradient(numbers: Floats) -> tuple[float, Floats]:
        parameter_table = numbers.reshape(num_columns + 1, -1)
        coefficients = parameter_table[:-1]
        class_scores = rows @ coefficients + parameter_table[-1]
        if has_two_classes:
            label_losses = np.logaddexp(0, class_scores[:, 0]) - class_scores[:, 0] * class_index
            residuals = expit(class_scores) - class_index[:, None]
        else:
            class_scores -= class_scores.max(axis=1, keepdims=True)
            residuals = np.exp(class_scores)
            exponential_sums = residuals.sum(axis=1, keepdims=True)
            label_losses = np.log(exponential_sums[:, 0]) - class_scores[row_index, class_index]
            residuals /= exponential_sums
            residuals[row_index, class_index] -= 1
        if weights is not None:
            label_losses *= weights
            residuals *= weights[:, None]
        gradient = np.empty_like(parameter_table)
        gradient[:-1] = transposed_rows @ residuals / num_labels + penalty * coefficients
        gradient[-1] = residuals.sum(axis=0) / num_labels
        return label_losses.sum() / num_labels + penalty / 2 * (coefficients**2).sum(), gradient.ravel()

    start_numbers = np.zeros((num_columns + 1) * (1 if has_two_classes else class_codes.size))
    if start is not None:
        start_numbers = np.vstack([start[0], start[1]])[:, 1 if has_two_classes else 0 :].ravel()
    # of few labels, however large the graph: threads would wait for each other after each of thousands of products
    # ten numbers of a product take as long as an edge does in a fit
    with one_thread_below(num_labels * num_columns // 10):
        if num_labels >= ENOUGH_LABELS:
            best_numbers = minimised(loss_and_gradient, start_numbers, max_iter, LEAST_LOSS_GAIN)
        else:
            options: Any = {"maxiter": max_iter, "maxls": 50, "gtol": 1e-4, "ftol": 64 * np.finfo(float).eps}
            best_numbers = minimize(loss_and_gradient, start_numbers, jac=True, method="L-BFGS-B", options=options).x
    best_numbers = best_numbers.reshape(num_columns + 1, -1)
    if has_two_classes:
        best_numbers = np.concatenate([np.zeros_like(best_numbers), best_numbers], axis=1)
    return best_numbers[:-1], best_numbers[-1]


def regression(
    rows: Table,
    codes: NDArray[np.int64],
    classes: int,
    strength: float,
    max_iter: int = 500,
    start: tuple[Floats, Floats] | None = None,
    weights: Floats | None = None,
) -> tuple[Floats, Floats]:
    """Coefficients (columns, classes) and intercepts; classes that are not among the codes get no chance.

    ``start`` is what this returned for the same rows and another strength.
    """
    found = np.unique(codes)
    coefficients = np.zeros((rows.shape[1], classes))
    intercept = np.where(np.isin(np.arange(classes), found), 0.0, -np.inf)
    if rows.shape[1] == 0:  # nothing to tell nodes by but how frequent the classes are
        intercept[found] = np.log(np.bincount(codes, weights)[found])
    elif found.size > 1:
        shorter, basis = row_space(rows)
        if start is not None and basis is None:
            start = start[0][:, found], start[1][found]
        else:
            start = None
        learned, intercept[found] = fitted_regression(shorter, codes, strength, max_iter, start, weights)
        coefficients[:, found] = learned if basis is None else basis @ learned
    return coefficients, intercept


def row_space(rows: Table) -> tuple[Table, Floats | None]:
    """Rows in as many columns as there are rows, and the basis (columns, rows) that leads back.

    The coefficients of a penalised regression are a combination of its rows, and the penalty does not change when the
    columns are turned. So a few labels with ten thousand columns are a regression with a few columns, exactly. Rows
    that are sparse, or not much shorter than long, stay as they are, with None for a basis.

    >>> rows = np.random.default_rng(0).normal(size=(3, 50))
    >>> shorter, basis = row_space(rows)
    >>> shorter.shape, basis.shape
    ((3, 3), (50, 3))
    >>> bool(np.allclose(shorter @ shorter.T, rows @ rows.T) and np.allclose(rows @ basis, shorter))
    True
    """
    if not isinstance(rows, np.ndarray) or rows.shape[1] <= 2 * rows.shape[0]:
        return rows, None
    basis, transposed_rows = np.linalg.qr(rows.T.astype(np.float64))
    return np.ascontiguousarray(transposed_rows.T), basis


def chosen_strength(
    rows: Table, known: KnownLabels, strengths: Sequence[float], seed: int, max_iter: int = 500, caution: float = 0.0
) -> float:
    """The C with the least log loss on held-out training labels; the first where there is nothing to test.

    Caution is what the loss must be lower by for a C ten times the first one; four times that for a hundred times.
    """
    label_codes, num_classes, label_weights = known.codes, len(known.classes), known.weights
    if label_codes.size > MAX_PENALTY_LABELS:
        label_sample = np.sort(np.random.default_rng(seed).permutation(label_codes.size)[:MAX_PENALTY_LABELS])
        rows, label_codes, label_weights = rows[label_sample], label_codes[label_sample], label_weights[label_sample]
    tested = np.bincount(label_codes, minlength=num_classes)[label_codes] > 1
    if not tested.any() or rows.shape[1] == 0:
        return strengths[0]
    rows, _ = row_space(rows)
    label_fold = enough_folds(stratified_folds(label_codes, FOLDS, seed))
    num_folds = int(label_fold.max()) + 1
    # with few labels every strength costs nothing, and a start from zero keeps results the same to the last digit
    has_many_labels = label_codes.size >= ENOUGH_LABELS
    sample_weight = None if known.sample_weight is None else label_weights
    strength_losses: dict[float, float] = {}
    fitted_regressions: dict[tuple[float, int], tuple[Floats, Floats]] = {}
    for strength in strengths:
        if has_many_labels and _cannot_win(strength, strength_losses):
            continue
        nearest_strength = min(strength_losses, key=lambda other: abs(np.log(other / strength)), default=0.0)
        strength_loss = caution * float(np.log10(strength / strengths[0])) ** 2
        for fold_number in range(num_folds):
            is_held_out = label_fold == fold_number
            start = fitted_regressions.get((nearest_strength, fold_number)) if has_many_labels else None
            with part("", 0.8 / (num_folds * len(strengths))):
                kept_weights = None if sample_weight is None else sample_weight[~is_held_out]
                learned_regression = regression(
                    rows[~is_held_out], label_codes[~is_held_out], num_classes, strength, max_iter, start, kept_weights
                )
            fitted_regressions[strength, fold_number] = learned_regression
            own_probability = class_shares(rows[is_held_out], *learned_regression)[
                np.arange(int(is_held_out.sum())), label_codes[is_held_out]
            ]
            strength_loss -= float(
                (np.log(np.maximum(own_probability, 1e-3)) * label_weights[is_held_out])[tested[is_held_out]].sum()
            )
        strength_losses[strength] = strength_loss
    return min(strength_losses, key=lambda strength: strength_losses[strength])


def _cannot_win(strength: float, losses: Mapping[float, float]) -> bool:
    """Whether the loss already rises on the way from the best strength so far to this one."""
    if not losses:
        return False
    best = min(losses, key=lambda other: losses[other])
    return any(min(best, strength) < other < max(best, strength) for other in losses)


def importances(parts: Iterable[Floats], graph: MultilayerGraph) -> Floats:
    """How much each layer's part of the scores, (nodes, classes), differs from node to node, summing to 1.

    >>> from gramme.graph import EdgeLayer
    >>> layers = {name: EdgeLayer(2, [0], [1]) for name in "ab"}
    >>> parts = [np.array([[0.0, 3.0], [3.0, 0.0]]), np.array([[0.0, 1.0], [1.0, 0.0]])]
    >>> importances(parts, MultilayerGraph(layers)).tolist()
    [0.75, 0.25]
    """
    sizes, communicator = [], communicator_of(graph)
    for scores in parts:
        scores = scores - scores.mean(axis=1, keepdims=True)
        if communicator.alone:
            sizes.append(float((scores - scores.mean(axis=0)).std()))
            continue
        rows = max(int(communicator.all_sum(len(scores))), 1)
        around = scores - communicator.all_sum(scores.sum(axis=0)) / rows
        sizes.append(float(np.sqrt(communicator.all_sum(float((around**2).sum())) / (rows * scores.shape[1]))))
    return shares_of_joined(np.array(sizes), graph)
