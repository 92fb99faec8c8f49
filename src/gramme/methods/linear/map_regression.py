"""Multinomial regression on what many views say, each seen by some of the nodes only.

The scores of a node are

    z  =  log prior + b  +  sum over blocks of x W  +  sum over blocks of t o,

where a block's x are numbers of the node that every class may take in any way (W is a map from them to the classes)
and o are log-odds, one for each class, that count with a single weight t. The maps and the intercepts b are drawn
towards 0 and the weights t towards a common one times how far each view is trusted, so that with few labels views count
by that and say what they show, and with many each has its own map.

Blocks are dense and stored for the nodes that have them: a product with a block costs its own rows, not all of them.
L-BFGS runs in the eigenvectors of each block, scaled as if the classes were as probable as they are frequent: a third
of the steps of plain L-BFGS on shares of labels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.optimize import minimize

from gramme._runtime import one_thread_below
from gramme.methods.labels import ENOUGH_LABELS
from gramme.methods.linear.logistic import LEAST_LOSS_GAIN, minimised

Singles = NDArray[np.float32]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

COMMON_PENALTY = 0.1  # on the distance of the common weight of all log-odds from 1
INTERCEPT_PENALTY = 1.0
MAX_STEPS = 30  # of L-BFGS: more change no prediction to speak of
CURVATURE = 0.35
"""Of the loss, as a share of what it is where every node has the class frequencies; on WordNet and Debian the fewest
steps were needed from 0.2 to 0.5."""


class Block(NamedTuple):
    """Numbers of some rows of a table: all rows where ``rows`` is None."""

    rows: Ints | None
    values: Any  # dense, or CSR

    def taken(self, kept: NDArray[np.bool_], number: Ints) -> Block:
        """The block in a table of some of the rows, with their new numbers."""
        if self.rows is None:
            return Block(None, self.values[kept])
        is_kept = kept[self.rows]
        return Block(number[self.rows[is_kept]], self.values[is_kept])


class Maps(NamedTuple):
    """What was learned: a row of coefficients per column, a weight per block of log-odds, an intercept per class."""

    coefficients: Singles
    weights: Floats
    intercept: Floats


@dataclass(frozen=True)
class MapTable:
    """A table of blocks: those that are mapped to the classes, and log-odds, (rows, classes), with a weight each."""

    length: int
    blocks: Sequence[Block]
    log_odds: Sequence[Block]

    @property
    def starts(self) -> Ints:
        """Where the columns of each block begin, and where the last ends."""
        block_widths = [block.values.shape[1] for block in self.blocks]
        return np.concatenate([[0], np.cumsum(block_widths)]).astype(np.int64)

    def scores(self, maps: Maps) -> Singles:
        """The scores of all rows, (rows, classes)."""
        row_scores = np.tile(maps.intercept.astype(np.float32), (self.length, 1))
        block_starts = self.starts
        for block, first_column, last_column in zip(self.blocks, block_starts, block_starts[1:], strict=False):
            _add(row_scores, block.rows, block.values @ maps.coefficients[first_column:last_column])
        for block, weight in zip(self.log_odds, maps.weights, strict=True):
            _add(row_scores, block.rows, np.float32(weight) * block.values)
        return row_scores

    def taken(self, kept: NDArray[np.bool_]) -> MapTable:
        """The table of some rows, given by a mask."""
        new_numbers = np.cumsum(kept) - 1
        return MapTable(
            int(kept.sum()),
            [block.taken(kept, new_numbers) for block in self.blocks],
            [block.taken(kept, new_numbers) for block in self.log_odds],
        )


def _add(total: Singles, rows: Ints | None, part: Any) -> None:
    if rows is None:
        total += part
    else:
        total[rows] += part


def joined_tables(tables: Sequence[MapTable], places: Sequence[Ints]) -> MapTable:
    """Tables of the same blocks with different rows as one, with the rows of each at its places."""
    row_order = np.argsort(np.concatenate(places))

    def join(parts: Sequence[Block]) -> Block:
        if parts[0].rows is None:
            is_dense = isinstance(parts[0].values, np.ndarray)
            stack_rows: Any = np.concatenate if is_dense else sp.vstack
            block_values: Any = stack_rows([part.values for part in parts])
            return Block(None, block_values[row_order] if is_dense else sp.csr_array(block_values)[row_order])
        block_rows = [row_places[part.rows] for row_places, part in zip(places, parts, strict=True)]
        return Block(np.concatenate(block_rows), np.concatenate([part.values for part in parts]))

    return MapTable(
        row_order.size,
        [join(parts) for parts in zip(*(table.blocks for table in tables), strict=True)],
        [join(parts) for parts in zip(*(table.log_odds for table in tables), strict=True)],
    )


def fitted_maps(
    table: MapTable,
    codes: Ints,
    log_prior: Floats,
    penalty: float,
    start: Maps | None = None,
    weights: Floats | None = None,
    trust: Floats | None = None,
    max_steps: int = MAX_STEPS,
) -> Maps:
    """The maps under which some labels are most probable, given the penalty.

    Half of the penalty times the squared coefficients is added to the loss, and times the squared distance of each
    weight from their common one times its ``trust`` (1 if not given). The rows of the table are the labelled nodes,
    ``log_prior`` the scores of a node that nothing is known of. From the maps of a similar table (``start``) fewer
    steps are needed.
    """
    problem = _Problem(table, codes, log_prior, penalty, weights, trust)
    numbers = sum(block.values.shape[0] * block.values.shape[1] for block in table.blocks)
    with one_thread_below(numbers):
        if codes.size >= ENOUGH_LABELS:
            found = minimised(problem.loss_and_gradient, problem.packed(start), max_steps, LEAST_LOSS_GAIN)
        else:
            options: Any = {"maxiter": max_steps, "gtol": 1e-7, "ftol": LEAST_LOSS_GAIN, "maxcor": 8}
            begin = problem.packed(start)
            found = minimize(problem.loss_and_gradient, begin, jac=True, method="L-BFGS-B", options=options).x
    return problem.maps(found)


class _Problem:
    """The loss in variables in which it is about round."""

    def __init__(
        self,
        table: MapTable,
        codes: Ints,
        log_prior: Floats,
        penalty: float,
        row_weights: Floats | None = None,
        trust: Floats | None = None,
    ) -> None:
        self.trust = np.ones(len(table.log_odds)) if trust is None else trust
        self.row_weights = np.ones(codes.size) if row_weights is None else row_weights
        self.table, self.codes, self.log_prior, self.penalty = table, codes, log_prior, penalty
        self.each, self.starts = np.arange(codes.size), table.starts
        self.classes, self.columns = log_prior.size, int(self.starts[-1])
        # a loss that is not the mean over so many labels would stop at another precision
        self.labels = max(codes.size, 1)
        class_shares = np.exp(log_prior - log_prior.max())
        class_shares /= class_shares.sum()
        curvature = CURVATURE * class_shares * (1 - class_shares)
        self.turns: list[Singles | None] = []
        column_scale = np.empty((self.columns, self.classes))
        for block, first_column, last_column in zip(table.blocks, self.starts, self.starts[1:], strict=False):
            eigenvectors, square_sums = _spectrum(block.values)
            self.turns.append(eigenvectors)
            column_scale[first_column:last_column] = 1 / np.sqrt(square_sums[:, None] * curvature + penalty)
        self.scale: Singles = column_scale.astype(np.float32)
        block_squares = [float(np.vdot(block.values, block.values)) for block in table.log_odds]
        square_sums = np.array(block_squares) / max(self.classes, 1)
        self.weight_scale = 1 / np.sqrt(CURVATURE * square_sums + penalty)
        self.common_scale = 1 / np.sqrt(CURVATURE * self.trust**2 @ square_sums + COMMON_PENALTY)
        self.intercept_scale = 1 / np.sqrt(curvature * self.labels + INTERCEPT_PENALTY)

    def packed(self, start: Maps | None) -> Floats:
        """The variables of some maps."""
        part_sizes = (self.columns * self.classes, len(self.table.log_odds), 1, self.classes)
        if start is None or start.coefficients.shape[0] != self.columns:
            packed_numbers = np.zeros(sum(part_sizes))
            packed_numbers[part_sizes[0] + part_sizes[1]] = 1 / self.common_scale
            return packed_numbers
        coefficients = start.coefficients.copy()
        self._turn(coefficients, back=True)
        common = float(self.trust @ start.weights / (self.trust @ self.trust)) if start.weights.size else 1.0
        return np.concatenate(
            [
                (coefficients / self.scale).ravel().astype(np.float64),
                (start.weights - common * self.trust) / self.weight_scale,
                [common / self.common_scale],
                (start.intercept - self.log_prior) / self.intercept_scale,
            ]
        )

    def _unpacked(self, numbers: Floats) -> tuple[Singles, Floats, float, Floats]:
        end = self.columns * self.classes
        coefficients = numbers[:end].reshape(self.columns, self.classes).astype(np.float32)
        coefficients *= self.scale
        self._turn(coefficients)
        weights = numbers[end : end + len(self.table.log_odds)] * self.weight_scale
        common = float(numbers[-self.classes - 1] * self.common_scale)
        return coefficients, weights, common, numbers[-self.classes :] * self.intercept_scale

    def maps(self, numbers: Floats) -> Maps:
        """What the variables stand for."""
        coefficients, weights, common, intercept = self._unpacked(numbers)
        return Maps(coefficients, weights + common * self.trust, self.log_prior + intercept)

    def _turn(self, coefficients: Singles, *, back: bool = False) -> None:
        for turn, begin, end in zip(self.turns, self.starts, self.starts[1:], strict=False):
            if turn is not None:
                coefficients[begin:end] = (turn.T if back else turn) @ coefficients[begin:end]

    def loss_and_gradient(self, numbers: Floats) -> tuple[float, Floats]:
        """The penalised mean log loss, and how it changes with the variables."""
        coefficients, block_weights, common_weight, intercept = self._unpacked(numbers)
        maps = Maps(coefficients, block_weights + common_weight * self.trust, self.log_prior + intercept)
        residuals = self.table.scores(maps)
        residuals -= residuals.max(axis=1, keepdims=True)
        own_scores = residuals[self.each, self.codes].astype(np.float64)
        np.exp(residuals, out=residuals)
        exponential_sums = residuals.sum(axis=1, keepdims=True)
        penalised_loss = float(((np.log(exponential_sums[:, 0]) - own_scores) * self.row_weights).sum())
        penalised_loss += (
            0.5 * self.penalty * float(np.vdot(coefficients, coefficients) + block_weights @ block_weights)
        )
        penalised_loss += 0.5 * COMMON_PENALTY * (common_weight - 1) ** 2
        penalised_loss += 0.5 * INTERCEPT_PENALTY * float(intercept @ intercept)
        residuals /= exponential_sums
        residuals[self.each, self.codes] -= 1
        residuals *= self.row_weights[:, None].astype(residuals.dtype)
        coefficient_gradient = np.empty_like(coefficients)
        for block, first_column, last_column in zip(self.table.blocks, self.starts, self.starts[1:], strict=False):
            block_residuals = residuals if block.rows is None else residuals[block.rows]
            coefficient_gradient[first_column:last_column] = block.values.T @ block_residuals
        coefficient_gradient += np.float32(self.penalty) * coefficients
        self._turn(coefficient_gradient, back=True)
        coefficient_gradient *= self.scale
        by_weight = np.array(
            [
                float(np.vdot(block.values, residuals if block.rows is None else residuals[block.rows]))
                for block in self.table.log_odds
            ]
        )
        by_common = self.trust @ by_weight + COMMON_PENALTY * (common_weight - 1)
        by_intercept = residuals.sum(axis=0, dtype=np.float64) + INTERCEPT_PENALTY * intercept
        gradient = np.concatenate(
            [
                coefficient_gradient.ravel().astype(np.float64),
                (by_weight + self.penalty * block_weights) * self.weight_scale,
                [by_common * self.common_scale],
                by_intercept * self.intercept_scale,
            ]
        )
        return penalised_loss / self.labels, gradient / self.labels


def _spectrum(values: Any) -> tuple[Singles | None, Floats]:
    """The eigenvectors of a dense block's columns and their squares; the columns themselves of a sparse one."""
    if not isinstance(values, np.ndarray):
        return None, np.asarray(values.multiply(values).sum(axis=0), dtype=np.float64).ravel()
    squares, eigenvectors = np.linalg.eigh((values.T @ values).astype(np.float64))
    return eigenvectors.astype(np.float32), np.maximum(squares, 0)
