"""Boosted trees as plain arrays: they can be saved without code in the file, and predict the same everywhere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gramme._threads import thread_pools
from gramme.ops.compiled import compiled

NUM_TREES = 200
LEARNING_RATE = 0.04
LEAVES_PER_TREE = 8
MIN_EXAMPLES_PER_LEAF = 20
COLUMN_SHARE = 0.3
"""Columns that a split chooses from, drawn at random."""


@dataclass(frozen=True)
class Trees:
    """Trees for the log-odds of a link, all nodes behind each other.

    Attributes
    ----------
    base : float
        The log-odds before any tree.
    roots : array of int, shape (trees,)
        Where each tree begins.
    column, left, right : array of int, shape (nodes,)
        The column that a node asks about and where its answers lead; -1 for a leaf.
    threshold, value : array of float, shape (nodes,)
        Go left up to the threshold; what a leaf adds.
    """

    base: float
    roots: NDArray[np.int64]
    column: NDArray[np.int64]
    left: NDArray[np.int64]
    right: NDArray[np.int64]
    threshold: NDArray[np.float64]
    value: NDArray[np.float64]

    @classmethod
    def fitted(cls, rows: NDArray[np.float64], linked: NDArray[np.bool_], seed: int) -> Trees:
        """Gradient boosting on the logistic loss (scikit-learn's histogram trees)."""
        from sklearn.ensemble import HistGradientBoostingClassifier

        model = HistGradientBoostingClassifier(
            max_iter=NUM_TREES,
            learning_rate=LEARNING_RATE,
            max_leaf_nodes=LEAVES_PER_TREE,
            min_samples_leaf=MIN_EXAMPLES_PER_LEAF,
            l2_regularization=1.0,
            max_features=COLUMN_SHARE,
            early_stopping=False,
            random_state=seed,
        )
        # threads that wait for each other take longer on a busy machine
        with thread_pools().limit(limits=1):
            model.fit(rows, linked)
        return cls._of(model)

    @classmethod
    def _of(cls, model: Any) -> Trees:
        parts = [predictor.nodes for (predictor,) in model._predictors]
        sizes = np.array([len(part) for part in parts])
        roots = np.cumsum(sizes) - sizes
        nodes = np.concatenate(parts)
        shift = np.repeat(roots, sizes)
        leaf = nodes["is_leaf"].astype(bool)
        return cls(
            float(np.ravel(model._baseline_prediction)[0]),
            roots.astype(np.int64),
            np.where(leaf, -1, nodes["feature_idx"].astype(np.int64)),
            np.where(leaf, -1, nodes["left"].astype(np.int64) + shift),
            np.where(leaf, -1, nodes["right"].astype(np.int64) + shift),
            nodes["num_threshold"].astype(np.float64),
            nodes["value"].astype(np.float64),
        )

    def log_odds(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """The log-odds of a link for each row."""
        return self.base + _added(
            np.ascontiguousarray(rows),
            self.roots,
            self.column,
            self.left,
            self.right,
            self.threshold,
            self.value,
        )


@compiled
def _added(
    rows: NDArray[np.float64],
    roots: NDArray[np.int64],
    column: NDArray[np.int64],
    left: NDArray[np.int64],
    right: NDArray[np.int64],
    threshold: NDArray[np.float64],
    value: NDArray[np.float64],
) -> NDArray[np.float64]:
    total = np.zeros(rows.shape[0])
    for row in range(rows.shape[0]):
        for tree in range(roots.size):
            node = roots[tree]
            while column[node] >= 0:
                node = left[node] if rows[row, column[node]] <= threshold[node] else right[node]
            total[row] += value[node]
    return total
