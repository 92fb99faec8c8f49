"""How strongly a linear model may rely on each layer, learned from the labels by empirical Bayes.

The coefficients of layer l are taken to be drawn from a normal distribution with variance s_l. The variances are those
under which the labels are most probable, found by expectation-maximisation around the most probable coefficients w
(Laplace's approximation): with V the covariance of w given the labels,

    s_l  <-  mean of w^2 + V over the columns of layer l.

A layer that says little of the labels comes out with a small variance, which is a strong penalty. Each layer's mean
counts some columns of the mean over all layers as well: with few labels the layers are then nearly alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from gramme.methods.linear.logistic import Floats, class_shares, regression

EM_STEPS = 8  # of the expectation-maximisation
LIKE_OTHERS = 3.0  # columns' worth of the mean over all layers in the variance of each
LEAST_VARIANCE = 1e-4  # variance of a layer at least
CHUNK_COLUMNS = 1_000  # columns looked at together, which bounds the memory
MAX_LABELS = 500  # labels that the variances are learned from at most
MAX_OPERATIONS = 10 * MAX_LABELS**3
"""Classes x labels^3 at most in a step; with many classes the variances are learned from fewer labels."""


def learned_scales(
    layers: Sequence[sp.csr_array], codes: NDArray[np.int64], seed: int, max_iter: int
) -> Floats:
    """What to multiply the columns of each layer by, so that one penalty serves them all: the roots of the variances.

    Parameters
    ----------
    layers : sequence of sparse arrays, shape (labels, columns of the layer)
    codes : array of int, shape (labels,)
        The class of each label.

    Notes
    -----
    Cost: eight regressions, and as often classes x labels^3 operations, of which there are no more than 10 x 500^3.

    Examples
    --------
    >>> codes = np.arange(40) % 2
    >>> telling, noise = np.eye(2)[codes], np.eye(2)[np.arange(40) // 2 % 2]
    >>> scales = learned_scales([sp.csr_array(telling), sp.csr_array(noise)], codes, 0, 100)
    >>> bool(scales[0] > scales[1])
    True
    """
    most = min(MAX_LABELS, int((MAX_OPERATIONS / np.unique(codes).size) ** (1 / 3) + 1e-9))
    if codes.size > most:
        some = np.sort(np.random.default_rng(seed).permutation(codes.size)[:most])
        layers, codes = [sp.csr_array(layer[some]) for layer in layers], codes[some]
    counts = np.array([layer.shape[1] for layer in layers])
    units = np.array([_typical(layer.data) for layer in layers])
    layers = [sp.csr_array(layer / unit) for layer, unit in zip(layers, units, strict=True)]
    variances = np.ones(len(layers))
    found, codes = np.unique(codes, return_inverse=True)  # a class that nobody has is no direction
    if counts.sum() == 0 or found.size < 2:
        return 1 / units
    starts = np.concatenate([[0], np.cumsum(counts)])
    for _ in range(EM_STEPS):
        table = scaled_columns(layers, np.sqrt(variances))
        coefficients, intercept = regression(table, codes, found.size, 1.0, max_iter)
        chances = class_shares(table, coefficients, intercept)
        squares = np.array([(coefficients[a:b] ** 2).sum() for a, b in pairwise(starts)])
        spread, directions = _posterior(table, counts, chances)
        # so far in multiples of each layer's variance
        total = variances * (squares + spread)
        common = total.sum() / (directions * counts.sum())
        variances = (total / directions + LIKE_OTHERS * common) / (counts + LIKE_OTHERS)
        variances = np.maximum(variances, LEAST_VARIANCE)
    scales: Floats = np.sqrt(variances) / units
    return scales


def scaled_columns(layers: Sequence[sp.csr_array], scales: Floats) -> sp.csr_array:
    """The layers' columns side by side, each layer's by its scale."""
    scaled = [layer * scale for layer, scale in zip(layers, scales, strict=True)]
    return sp.csr_array(sp.hstack(scaled, format="csr"))


def _typical(entries: Floats) -> float:
    """The root of the mean square of a layer's entries, in which it is measured; 1 where there are none, or only 0."""
    largest = float(np.abs(entries).max(initial=0))
    return largest * float(np.sqrt(np.mean((entries / largest) ** 2))) if largest > 0 else 1.0


def _posterior(
    table: sp.csr_array, counts: NDArray[np.int64], chances: Floats
) -> tuple[Floats, int]:
    """The variance that is left of each layer's coefficients, in multiples of what it was, and the directions.

    There is one for each class, as if the classes were independent; two classes have one.
    """
    kernel = (table @ table.T).toarray()
    curvatures = (chances * (1 - chances)).T
    if len(curvatures) == 2:
        curvatures = curvatures[:1]
    learned = np.zeros_like(kernel)
    for curvature in curvatures:
        root = np.sqrt(curvature)
        unit = root / max(float(np.linalg.norm(root)), 1e-300)
        seen = root[:, None] * kernel * root
        along = seen @ unit  # the intercept has no penalty: what lies along it says nothing
        seen += np.outer(unit, (unit @ along) * unit - along) - np.outer(along, unit)
        kept = np.linalg.inv(np.eye(root.size) + seen) - np.outer(unit, unit)
        learned += root[:, None] * kept * root
    gone = _squares_within(sp.csr_array(table.T), learned)
    ends = np.cumsum(counts)
    sums = np.concatenate([[0.0], np.cumsum(gone)])
    return len(curvatures) * counts - (sums[ends] - sums[ends - counts]), len(curvatures)


def _squares_within(columns: sp.csr_array, matrix: Floats) -> Floats:
    """The product x' M x for each column x of a table, given as the rows of its transpose."""
    found = np.zeros(columns.shape[0])
    for start in range(0, columns.shape[0], CHUNK_COLUMNS):
        some = columns[start : start + CHUNK_COLUMNS]
        found[start : start + CHUNK_COLUMNS] = np.asarray(
            some.multiply(some @ matrix).sum(axis=1)
        ).ravel()
    return found
