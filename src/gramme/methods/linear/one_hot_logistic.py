"""Logistic regression on the groups of the nodes, without a graph: what the owner of a table would try first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from gramme._types import Floats
from gramme.distributed import communicator_of, gather_sparse_rows, node_count
from gramme.errors import DataError
from gramme.graph import MultilayerGraph
from gramme.methods.labels import ENOUGH_LABELS, KnownLabels
from gramme.methods.params import PositiveInt, check_number_range
from gramme.methods.persistence import SavedArray, SavedField
from gramme.methods.prepare import given_columns, given_features

from .logistic import LinearModel, class_shares, importances, regression
from .one_hot import LayerColumns, SavedColumns, kinds_in_words, kinds_of_columns

# How strongly a linear model may rely on each layer, learned from the labels by empirical Bayes.


EM_STEPS = 8  # of the expectation-maximisation
LIKE_OTHERS = 3.0  # columns' worth of the mean over all layers in the variance of each
CHUNK_COLUMNS = 1_000  # columns looked at together, which bounds the memory
MAX_LABELS = 500  # labels that the variances are learned from at most
MAX_OPERATIONS = 10 * MAX_LABELS**3
"""Classes x labels^3 at most in a step; with many classes the variances are learned from fewer labels."""


def learned_scales(layers: Sequence[sp.csr_array], codes: NDArray[np.int64], seed: int, max_iter: int) -> Floats:
    """What to multiply the columns of each layer by, so that one penalty serves them all: the roots of the variances.

    The layers are sparse, (labels, columns of the layer). Cost: eight regressions, and as often classes x labels^3
    operations, of which there are no more than 10 x 500^3.

    Examples
    --------
    >>> codes = np.arange(40) % 2
    >>> telling, noise = np.eye(2)[codes], np.eye(2)[np.arange(40) // 2 % 2]
    >>> scales = learned_scales([sp.csr_array(telling), sp.csr_array(noise)], codes, 0, 100)
    >>> bool(scales[0] > scales[1])
    True
    """
    max_labels = min(MAX_LABELS, int((MAX_OPERATIONS / np.unique(codes).size) ** (1 / 3) + 1e-9))
    has_many_labels = codes.size >= ENOUGH_LABELS
    if codes.size > max_labels:
        label_sample = np.sort(np.random.default_rng(seed).permutation(codes.size)[:max_labels])
        layers, codes = [sp.csr_array(layer[label_sample]) for layer in layers], codes[label_sample]
    column_counts = np.array([layer.shape[1] for layer in layers])
    layer_units = np.array([_typical(layer.data) for layer in layers])
    layers = [sp.csr_array(layer / unit) for layer, unit in zip(layers, layer_units, strict=True)]
    layer_variances = np.ones(len(layers))
    present_classes, codes = np.unique(codes, return_inverse=True)  # a class that nobody has is no direction
    if column_counts.sum() == 0 or present_classes.size < 2:
        return 1 / layer_units
    layer_starts = np.concatenate([[0], np.cumsum(column_counts)])
    for _ in range(EM_STEPS):
        scaled_table = scaled_columns(layers, np.sqrt(layer_variances))
        if has_many_labels:  # only some labels were taken, which leave most columns empty
            used_columns = np.unique(scaled_table.indices)
            coefficients = np.zeros((scaled_table.shape[1], present_classes.size))
            some_columns = sp.csr_array(scaled_table[:, used_columns])
            coefficients[used_columns], intercept = regression(some_columns, codes, present_classes.size, 1.0, max_iter)
        else:
            coefficients, intercept = regression(scaled_table, codes, present_classes.size, 1.0, max_iter)
        class_probabilities = class_shares(scaled_table, coefficients, intercept)
        coefficient_squares = np.array([(coefficients[a:b] ** 2).sum() for a, b in pairwise(layer_starts)])
        posterior_spread, directions = _posterior(scaled_table, column_counts, class_probabilities)
        # so far in multiples of each layer's variance
        expected_squares = layer_variances * (coefficient_squares + posterior_spread)
        common_variance = expected_squares.sum() / (directions * column_counts.sum())
        layer_variances = (expected_squares / directions + LIKE_OTHERS * common_variance) / (
            column_counts + LIKE_OTHERS
        )
        layer_variances = np.maximum(layer_variances, 1e-4)
    layer_scales: Floats = np.sqrt(layer_variances) / layer_units
    return layer_scales


def scaled_columns(layers: Sequence[sp.csr_array], scales: Floats) -> sp.csr_array:
    """The layers' columns side by side, each layer's by its scale."""
    scaled_layers = [layer * scale for layer, scale in zip(layers, scales, strict=True)]
    return sp.csr_array(sp.hstack(scaled_layers, format="csr"))


def _typical(entries: Floats) -> float:
    """The root of the mean square of a layer's entries, in which it is measured; 1 where there are none, or only 0."""
    largest = float(np.abs(entries).max(initial=0))
    return largest * float(np.sqrt(np.mean((entries / largest) ** 2))) if largest > 0 else 1.0


def _posterior(table: sp.csr_array, counts: NDArray[np.int64], chances: Floats) -> tuple[Floats, int]:
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
        found[start : start + CHUNK_COLUMNS] = np.asarray(some.multiply(some @ matrix).sum(axis=1)).ravel()
    return found


@dataclass(kw_only=True, eq=False, repr=False)
class OneHotLogistic(LinearModel):
    """Multinomial logistic regression on one column per group of every membership layer.

    This ignores the graph as such: two nodes are alike when they are in the same groups. A layer of edges counts as
    groups too, one per node, of all that have an edge to it (weights count); that is no match for a method made for
    edges, such as label-propagation. A graph's own features join in, each divided by its standard deviation and, where
    they have names, as the numbers of a table do, less its mean. The L2
    penalty is chosen by the log loss in an inner cross-validation on the training labels, at most 10,000 of them;
    classes with a single training label are not tested there.

    For another graph groups and neighbours are known by their names; those that no training node had count for nothing.
    Cost: memberships of the training nodes x classes per iteration, some 26 fits of some 20 to 100 iterations,
    34 with a penalty for each layer.

    Parameters
    ----------
    C : float or None, default=None
        Inverse strength of the penalty, as in scikit-learn; chosen among 0.01, 0.1, 1, 10 and 100 if not given.
    use_features : bool, default=True
        Whether the graph's own features, where it has some, are columns as well.
    weigh_layers : bool, default=False
        Whether each layer has a penalty of its own, learned from the labels
        (``gramme.methods.linear.one_hot_logistic``): better where few of many layers
        matter. C then corrects all of them, chosen among 0.3, 1, 3, 10 and 100.
    max_iter : int, default=1000
        Iterations of a fit at most.
    random_state : int, numpy generator or None, default=None
        Decides which labels share a fold.

    Attributes
    ----------
    classes_, probabilities_, transduction_
        As for every :class:`~gramme.methods.NodeClassifier`.
    C_ : float
        The penalty used.
    layer_importance_ : Series
        How much each layer's part of the scores differs from node to node, summing to 1 over the layers.

    References
    ----------
    D. R. Cox, "The Regression Analysis of Binary Sequences", Journal of the Royal Statistical Society B 20, 1958.

    Examples
    --------
    >>> from gramme import datasets
    >>> g = datasets.load("balance_scale")
    >>> y = g.labels.copy()
    >>> y[::2] = None  # every other node is unknown
    >>> model = OneHotLogistic(random_state=0).fit(g, y)
    >>> bool((model.predict() == g.labels)[::2].mean() > 0.85)
    True
    """

    use_features: bool = True
    weigh_layers: bool = False
    max_iter: PositiveInt = 1000

    saved_fields: ClassVar[tuple[SavedField, ...]] = (
        SavedColumns("columns"),
        SavedArray("scale", np.float64, ("features",), low=0),
        SavedArray("center", np.float64, ("features",), optional=True),
        SavedArray("layer_scales", np.float64, ("scales",), low=0, optional=True),
    )

    columns_: list[LayerColumns] = field(init=False)
    scale_: Floats = field(init=False)
    center_: Floats = field(init=False)
    layer_scales_: Floats = field(init=False)

    def _fit(
        self,
        graph: MultilayerGraph,
        known: KnownLabels,
        seed: int,
        *,
        strength: float | None = None,
        layer_scales: Floats | None = None,
        explained: bool = True,
    ) -> NDArray[np.floating[Any]]:
        """Learn; a copy may have the penalties of the model it is a copy of, and need not say what its layers count."""
        check_number_range(graph)
        self.columns_ = [LayerColumns.seen(name, layer, graph, known.nodes) for name, layer in graph.layers.items()]
        self.scale_ = _scale(graph) if self.use_features else np.zeros(0)
        if self.scale_.size and graph.feature_names is not None:
            self.center_ = given_features(graph).mean(axis=0).astype(np.float64)
        parts = self._parts(graph)
        layers = [gather_sparse_rows(graph, part, known.nodes) for part in parts]
        if not self.weigh_layers:
            layer_scales = np.ones(len(layers))
        elif layer_scales is None:
            layer_scales = learned_scales(layers, known.codes, seed, self.max_iter)
        self.layer_scales_ = layer_scales
        # where the layers' penalties are learned, C corrects them as a whole
        strengths, caution = (
            ((1.0, 0.3, 3.0, 10.0, 100.0), 2.0) if self.weigh_layers else ((1.0, 0.1, 10.0, 0.01, 100.0), 0.0)
        )
        rows = scaled_columns(layers, layer_scales)
        self._learn(rows, known, strengths, seed, strength, self.max_iter, caution)
        self.coefficients_ *= np.repeat(layer_scales, [layer.shape[1] for layer in layers])[:, None]
        if explained:
            self.layer_importance_ = self._by_layer(importances(self._layer_scores(parts), graph), "importance")
        return self._scored(sp.csr_array(sp.hstack(parts, format="csr")))

    def _warm_start(self, graph: MultilayerGraph) -> dict[str, Any]:
        handed: dict[str, Any] = {"strength": self.C_, "explained": False}
        layer_scales = getattr(self, "layer_scales_", None)  # files of older versions lack them
        if self.labels_ >= ENOUGH_LABELS and layer_scales is not None:
            handed["layer_scales"] = layer_scales
        return handed

    @property
    def kinds_of_columns(self) -> set[str]:
        """What the columns stand for: some of "groups", "edges" (neighbours) and "features"."""
        return kinds_of_columns(self.columns_, self.scale_.size)

    def columns_in_words(self) -> str:
        """What the columns stand for, for a sentence."""
        return kinds_in_words(self.kinds_of_columns) or "how frequent the classes are"

    def _inductive_proba(self, graph: MultilayerGraph) -> NDArray[np.float32]:
        if self.scale_.size and given_columns(graph) != self.scale_.size:
            raise DataError(
                f"the model needs {self.scale_.size} features per node; the graph has {given_columns(graph)}"
            )
        return self._scored(sp.csr_array(sp.hstack(self._parts(graph), format="csr")))

    def _parts(self, graph: MultilayerGraph) -> list[sp.csr_array]:
        """The columns of each layer, then the features."""
        column_parts = [columns.matrix(graph) for columns in self.columns_]
        if self.scale_.size:
            features = given_features(graph)
            feature_means = getattr(self, "center_", None)  # of named numbers; years are all near 2000
            centred_features = sp.csr_array(features if feature_means is None else features - feature_means)
            column_parts.append(sp.csr_array(centred_features * self.scale_[None, :]))
        return column_parts

    def _scored(self, table: sp.csr_array) -> NDArray[np.float32]:
        return class_shares(table, self.coefficients_, self.intercept_).astype(np.float32)

    def _layer_scores(self, parts: list[sp.csr_array]) -> Iterator[Floats]:
        """Each layer's part of the scores."""
        first_column = 0
        for part in parts[: len(self.layers_)]:
            yield part @ self.coefficients_[first_column : first_column + part.shape[1]]
            first_column += part.shape[1]

    def _check_loaded(self) -> None:
        self._check_columns(sum(len(one.names) for one in self.columns_) + self.scale_.size)


def _scale(graph: MultilayerGraph) -> Floats:
    """One over the standard deviation of each feature; 0 for those that are the same everywhere."""
    if not given_columns(graph):
        return np.zeros(0)
    features = given_features(graph)
    feature_matrix: Any = sp.csr_array(features).astype(np.float64)
    num_nodes, all_sum = node_count(graph), communicator_of(graph).all_sum
    feature_means = all_sum(np.asarray(feature_matrix.sum(axis=0), dtype=np.float64).ravel()) / num_nodes
    mean_squares = (
        all_sum(np.asarray(feature_matrix.multiply(feature_matrix).sum(axis=0), np.float64).ravel()) / num_nodes
    )
    standard_deviation = np.sqrt(np.maximum(mean_squares - feature_means**2, 0))
    is_constant = standard_deviation <= 1e-12 * np.sqrt(mean_squares)
    scale = np.where(is_constant, 0.0, 1 / np.where(is_constant, 1, standard_deviation))
    # in which order rows were added shows in the last digits, and by these a regression stops a step earlier or later
    rounded_scale: Floats = scale.astype(np.float32).astype(np.float64)
    return rounded_scale
