"""Boosted trees as plain arrays, for classes and for numbers: fitted by scikit-learn, saved without code in the file.

How large the trees are and how many of them there are is chosen by inner folds: small trees suit a few hundred labels,
large ones a few thousand, and the loss on unseen labels falls and rises again with the number of trees.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from gramme._runtime import thread_pools
from gramme._types import Floats, Ints
from gramme.methods.labels import softmax
from gramme.methods.persistence import Learned, MisfitError, SavedField, Sizes
from gramme.ops.kernels import compiled

if TYPE_CHECKING:
    from gramme.methods.base import GraphEstimator


LEARNING_RATE = 0.08
MAX_ROUNDS = 300
"""Rounds of boosting at most; inner folds choose fewer where more would overfit."""
L2_PENALTY = 1.0
MIN_PROBABILITY = 1e-6
"""Of a class that a fold did not see, so that its loss is finite."""


class TreeSize(NamedTuple):
    """How large a tree may grow: leaves at most, and labels that each must hold."""

    leaves: int
    labels_per_leaf: int


LARGE, SMALL = TreeSize(31, 20), TreeSize(6, 5)
"""The sizes that are tried, chosen on the tables of the part ``choosing`` in benchmarks/accuracy/tables.py."""


class Growth(NamedTuple):
    """What inner folds choose: the size of the trees and the rounds of boosting."""

    size: TreeSize
    rounds: int


@dataclass(frozen=True)
class Target:
    """What trees learn: a class or a number for each row."""

    values: NDArray[Any]  # the numbers of classes, or numbers
    classes: int = 0  # how many there are; 0 for numbers
    weights: Floats | None = None  # how much each row counts

    @property
    def outputs(self) -> int:
        """Scores that the trees give for a row: one for a number or two classes, else one for each class."""
        return self.classes if self.classes > 2 else 1

    def at(self, rows: NDArray[Any]) -> Target:
        """The target of some rows."""
        return Target(self.values[rows], self.classes, None if self.weights is None else self.weights[rows])

    def loss(self, predicted: Floats) -> float:
        """The log loss of probabilities (rows, classes), or the squared error of numbers, summed over the rows."""
        row_weights = np.ones(self.values.size) if self.weights is None else self.weights
        if not self.classes:
            return float((np.square(predicted - self.values) * row_weights).sum())
        own_probabilities = predicted[np.arange(self.values.size), self.values]
        return float(-(np.log(np.maximum(own_probabilities, MIN_PROBABILITY)) * row_weights).sum())


@dataclass(frozen=True)
class BoostedTrees:
    """Trees whose leaves add up to scores, all nodes behind each other."""

    base: Floats  # the scores before any tree
    roots: Ints  # where each tree begins
    output: Ints  # the score that each tree adds to
    column: Ints  # that a node asks about; -1 for a leaf
    left: Ints  # where its answers lead; -1 for a leaf
    right: Ints
    threshold: Floats  # go left up to it
    value: Floats  # what a leaf adds
    expected: Floats  # the mean of what the leaves below a node add, over the labels that came there
    missing_left: NDArray[np.uint8]  # whether NaN goes left
    gain: Floats  # by how much splits on each column lowered the loss

    @classmethod
    def fitted(cls, rows: Floats, target: Target, growth: Growth, seed: int) -> BoostedTrees:
        """Gradient boosting on the log loss or the squared error (scikit-learn's histogram trees)."""
        present_classes = np.unique(target.values) if target.classes else np.zeros(0, dtype=np.int64)
        if present_classes.size == 1 or not rows.shape[1]:
            return _no_trees(rows.shape[1], _base(target))
        model = _boosted(rows, target, growth, seed)
        return cls._of(model, rows.shape[1], target, present_classes)

    @classmethod
    def _of(cls, model: Any, columns: int, target: Target, present: Ints) -> BoostedTrees:
        grown = [(number, tree.nodes) for one_round in model._predictors for number, tree in enumerate(one_round)]
        sizes = np.array([len(nodes) for _, nodes in grown], dtype=np.int64)
        roots = np.cumsum(sizes) - sizes
        nodes = np.concatenate([nodes for _, nodes in grown])
        leaf = nodes["is_leaf"].astype(bool)
        column = np.where(leaf, -1, nodes["feature_idx"].astype(np.int64))
        output = np.array([number for number, _ in grown], dtype=np.int64)
        base = np.ravel(model._baseline_prediction).astype(np.float64)
        if target.classes > 2:
            base, output = _for_all_classes(base, output, target, present)
        left, right = (
            np.where(leaf, -1, nodes[way].astype(np.int64) + np.repeat(roots, sizes)) for way in ("left", "right")
        )
        value = nodes["value"].astype(np.float64)
        threshold = np.where(leaf, 0.0, nodes["num_threshold"].astype(np.float64))
        expected = _expected(left, right, value, nodes["count"].astype(np.float64))
        gain = np.bincount(column[~leaf], np.maximum(nodes["gain"][~leaf], 0), minlength=columns).astype(np.float64)
        missing_left = nodes["missing_go_to_left"].astype(np.uint8)
        return cls(base, roots, output, column, left, right, threshold, value, expected, missing_left, gain)

    def scores(self, rows: Floats) -> Floats:
        """The scores of each row, (rows, outputs)."""
        return self.base + self._walked(rows, np.zeros((0, self.base.size)))

    def contributions(self, rows: Floats, direction: Floats) -> Floats:
        """What each column adds to a sum of a row's scores, each by ``direction``, (rows, columns).

        A step from a node to one below adds the difference of what is to be expected there, for the column that was
        asked about. With the same sum of the scores before any step, these add up to the sum of the scores.
        """
        return self._walked(rows, np.ascontiguousarray(direction, dtype=np.float64))

    def _walked(self, rows: Floats, direction: Floats) -> Floats:
        tree_arrays = (self.roots, self.output, self.column, self.left, self.right, self.threshold, self.missing_left)
        rows = np.ascontiguousarray(rows, dtype=np.float64)
        walked_sums: Floats = _walk(rows, direction, self.value, self.expected, *tree_arrays)
        return walked_sums

    def probabilities(self, rows: Floats) -> Floats:
        """The class probabilities of each row, (rows, classes)."""
        class_scores = self.scores(rows)
        if class_scores.shape[1] == 1:
            class_scores = np.hstack([np.zeros_like(class_scores), class_scores])
        return softmax(class_scores)

    def numbers(self, rows: Floats) -> Floats:
        """The number of each row."""
        return self.scores(rows)[:, 0]


def chosen_growth(rows: Floats, target: Target, fold: Ints, seed: int, size: TreeSize | None = None) -> Growth:
    """The size and number of trees with the least loss on labels they have not seen, by the fold of each label.

    Where there are very many labels the first fold alone is tested. The size is chosen only if it is not given.
    """
    # so many labels do with large trees, and one fold decides how many
    has_many_labels = target.values.size >= 20_000
    size_losses: dict[TreeSize, Floats] = {}
    tried_sizes = (LARGE,) if has_many_labels else (SMALL, LARGE)
    for tree_size in tried_sizes if size is None else (size,):
        round_losses = np.zeros(MAX_ROUNDS)
        for fold_number in [0] if has_many_labels else np.unique(fold):
            is_held_out = fold == fold_number
            if not is_held_out.all():
                round_losses += _losses_by_round(rows, target, is_held_out, tree_size, seed)
        size_losses[tree_size] = round_losses
    best_size = min(size_losses, key=lambda one: float(size_losses[one].min()))
    return Growth(best_size, int(size_losses[best_size].argmin()) + 1)


def _losses_by_round(rows: Floats, target: Target, held: NDArray[np.bool_], size: TreeSize, seed: int) -> Floats:
    """The loss on rows that were held out, after each round."""
    seen, unseen = target.at(~held), target.at(held)
    present = np.unique(seen.values) if target.classes else np.zeros(0, dtype=np.int64)
    if present.size == 1 or not rows.shape[1]:
        return np.zeros(MAX_ROUNDS)
    model = _boosted(rows[~held], seen, Growth(size, MAX_ROUNDS), seed)
    found = [unseen.loss(one) for one in _staged(model, rows[held], target, present)]
    return np.array(found)


def _staged(model: Any, rows: Floats, target: Target, present: Ints) -> Iterator[Floats]:
    """What is predicted after each round; classes that were not seen have probability 0."""
    if not target.classes:
        yield from model.staged_predict(rows)
        return
    for round_shares in model.staged_predict_proba(rows):
        class_shares = np.zeros((len(rows), target.classes))
        class_shares[:, present] = round_shares
        yield class_shares


def _boosted(rows: Floats, target: Target, growth: Growth, seed: int) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    estimator_class: Any = HistGradientBoostingClassifier if target.classes else HistGradientBoostingRegressor
    tree_size = growth.size
    model = estimator_class(
        max_iter=growth.rounds,
        learning_rate=LEARNING_RATE,
        max_leaf_nodes=tree_size.leaves,
        # a leaf of more than a tenth of all labels could tell little apart
        min_samples_leaf=max(1, min(tree_size.labels_per_leaf, target.values.size // 10)),
        l2_regularization=L2_PENALTY,
        early_stopping=False,
        random_state=seed,
    )
    # a column without any number cannot be cut, which scikit-learn does not foresee
    is_empty = np.isnan(rows).all(axis=0)
    if is_empty.any():
        rows = np.where(is_empty, 0.0, rows)
    # threads that wait for each other take longer on a busy machine
    with thread_pools().limit(limits=1):
        return model.fit(rows, target.values, sample_weight=target.weights)


def _base(target: Target) -> Floats:
    """The scores where nothing tells rows apart."""
    if not target.classes:
        return np.array([np.average(target.values, weights=target.weights)])
    class_counts = np.bincount(target.values, target.weights, minlength=target.classes)
    class_shares = np.maximum(class_counts / max(class_counts.sum(), 1), MIN_PROBABILITY)
    log_shares: Floats = np.log(class_shares)
    return log_shares if target.classes > 2 else log_shares[1:] - log_shares[:1]


def _no_trees(columns: int, base: Floats) -> BoostedTrees:
    none, nothing = np.zeros(0, dtype=np.int64), np.zeros(0)
    flags = np.zeros(0, dtype=np.uint8)
    return BoostedTrees(base, *(none, none, none, none, none), *(nothing, nothing, nothing, flags), np.zeros(columns))


def _for_all_classes(base: Floats, output: Ints, target: Target, present: Ints) -> tuple[Floats, Ints]:
    """Scores for every class where some have no labels here: those stay improbable."""
    if present.size == target.classes:
        return base, output
    all_scores = np.full(target.classes, base.min() + np.log(MIN_PROBABILITY))
    if present.size > 2:
        all_scores[present] = base
        return all_scores, present[output]
    # of two classes the score is the log-odds of the second
    all_scores[present] = [0.0, base[0]]
    return all_scores, np.full_like(output, present[1])


@compiled
def _expected(
    left: NDArray[np.int64], right: NDArray[np.int64], value: NDArray[np.float64], count: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The mean of the leaves below each node; the nodes below stand behind it."""
    expected_values = value.copy()
    for node in range(value.size - 1, -1, -1):
        if left[node] >= 0:
            left_count, right_count = count[left[node]], count[right[node]]
            weighted_sum = expected_values[left[node]] * left_count + expected_values[right[node]] * right_count
            expected_values[node] = weighted_sum / max(left_count + right_count, 1.0)
    return expected_values


@compiled
def _walk(
    rows: NDArray[np.float64],
    direction: NDArray[np.float64],
    value: NDArray[np.float64],
    expected: NDArray[np.float64],
    roots: NDArray[np.int64],
    output: NDArray[np.int64],
    column: NDArray[np.int64],
    left: NDArray[np.int64],
    right: NDArray[np.int64],
    threshold: NDArray[np.float64],
    missing_left: NDArray[np.uint8],
) -> NDArray[np.float64]:
    """What the trees add to the scores of rows; with directions of the rows, to each column."""
    by_column = direction.shape[0] > 0
    walked_sums = np.zeros((rows.shape[0], rows.shape[1] if by_column else direction.shape[1]))
    for row_index in range(rows.shape[0]):
        for tree_index in range(roots.size):
            node = roots[tree_index]
            while column[node] >= 0:
                asked_column = column[node]
                column_value = rows[row_index, asked_column]
                goes_left = missing_left[node] == 1 if np.isnan(column_value) else column_value <= threshold[node]
                next_node = left[node] if goes_left else right[node]
                if by_column:
                    walked_sums[row_index, asked_column] += direction[row_index, output[tree_index]] * (
                        expected[next_node] - expected[node]
                    )
                node = next_node
            if not by_column:
                walked_sums[row_index, output[tree_index]] += value[node]
    return walked_sums


class SavedTrees(SavedField):
    """The trees of a model, checked when they are read: each step leads forward, each question has its column."""

    def save(self, model: GraphEstimator, learned: Learned) -> None:
        trees = getattr(model, self.attribute)
        for array_name in BoostedTrees.__annotations__:
            array = np.ascontiguousarray(getattr(trees, array_name))
            learned.tensors[f"{self.name}.{array_name}"] = torch.from_numpy(array)

    def load(self, model: GraphEstimator, learned: Learned, sizes: Sizes) -> None:
        tree_arrays: dict[str, NDArray[Any]] = {}
        for array_name, annotation in BoostedTrees.__annotations__.items():
            tensor = learned.tensors.get(f"{self.name}.{array_name}")
            if tensor is None or tensor.ndim != 1:
                raise self.misfit(f"trees with an array {array_name!r}")
            array: NDArray[Any] = tensor.numpy()
            array_kind = {"Floats": np.float64, "Ints": np.int64}.get(annotation, np.uint8)
            if array.dtype != array_kind or not np.isfinite(array).all():
                raise self.misfit(f"trees whose {array_name!r} are finite numbers of type {array_kind.__name__}")
            tree_arrays[array_name] = array
        trees = BoostedTrees(**tree_arrays)
        _check(trees)
        setattr(model, self.attribute, trees)


def _check(trees: BoostedTrees) -> None:
    count = trees.column.size
    inner = trees.column >= 0
    places = np.arange(count)[inner]
    for way in (trees.left, trees.right):
        if way.size != count or (way[inner] <= places).any() or (way[inner] >= count).any():
            raise MisfitError("the trees lead nowhere")
    parts: Sequence[NDArray[Any]] = (trees.threshold, trees.value, trees.expected, trees.missing_left)
    if any(part.size != count for part in parts):
        raise MisfitError("the trees have arrays of different lengths")
    if (trees.column >= trees.gain.size).any():
        raise MisfitError("the trees ask about columns that are not there")
    if ((trees.roots < 0) | (trees.roots >= max(count, 1))).any():
        raise MisfitError("the trees begin nowhere")
    wrong = trees.output.size != trees.roots.size or (trees.output >= trees.base.size).any()
    if wrong or (trees.output < 0).any() or not trees.base.size:
        raise MisfitError("the trees add to scores that are not there")
