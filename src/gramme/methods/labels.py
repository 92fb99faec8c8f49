"""From labels as users give them to class numbers: who is labelled, what the classes are, what must be wrong."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass, field, fields, replace
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from gramme._types import Floats
from gramme.distributed import PartGraph
from gramme.errors import DataError, GrammeWarning, did_you_mean
from gramme.graph import MultilayerGraph, checked_graph, sorted_labels
from gramme.graph.arrays import plain
from gramme.graph.canonical import NameOrder
from gramme.graph.columns import amounts
from gramme.io.values import twins

from .persistence import natural_array


# Class probabilities from counts and scores, as every method needs them.
def class_prior(counts: NDArray[Any]) -> Floats:
    """Class frequencies, with one pseudo label spread evenly so that none is 0.

    >>> class_prior(np.array([3, 0])).tolist()
    [0.875, 0.125]
    """
    class_shares: Floats = (counts + 1 / counts.shape[-1]) / (counts.sum(-1, keepdims=True) + 1)
    return class_shares


def softmax(scores: Floats) -> Floats:
    """The exponentials of scores, scaled to sum to 1 over the last axis; scores may be of any size.

    >>> softmax(np.log([[1.0, 3.0]])).round(2).tolist()
    [[0.25, 0.75]]
    """
    exponentials = np.exp(scores - scores.max(-1, keepdims=True))
    shares: Floats = exponentials / exponentials.sum(-1, keepdims=True)
    return shares


def reweighed(probabilities: NDArray[np.floating[Any]], weights: Floats) -> NDArray[np.float32]:
    """Probabilities with each class counted by a weight, made to sum to 1 again.

    >>> reweighed(np.array([[0.8, 0.2]]), np.array([1.0, 4.0])).tolist()
    [[0.5, 0.5]]
    """
    weighted_probabilities = probabilities * weights
    class_shares = weighted_probabilities / weighted_probabilities.sum(axis=1, keepdims=True)
    single: NDArray[np.float32] = class_shares.astype(np.float32)
    return single


# Labels divided into folds, so that each can be predicted by a model that has not seen it.
LARGE_ENTRIES = 2_000_000
"""Nodes, memberships and ends of edges over all layers, beyond which single precision and a coarse tolerance do."""
ENOUGH_LABELS = 1_000
"""Held-out labels that tell settings apart: a log loss over so many has a standard error near 1 %. No more folds are
tested than have so many, and copies of a model of so many labels take over its settings, as none hangs on one label."""


def stratified_folds(codes: NDArray[np.int64], folds: int, seed: int) -> NDArray[np.int64]:
    """The fold of each label, from its class, with every class spread evenly; no more folds than labels.

    >>> fold = stratified_folds(np.array([0, 0, 0, 0, 1, 1]), 2, seed=0)
    >>> np.bincount(fold[:4]).tolist(), np.bincount(fold[4:]).tolist()
    ([2, 2], [1, 1])
    """
    shuffled_labels = np.random.default_rng(seed).permutation(codes.size)
    return dealt_in_turn(shuffled_labels[np.argsort(codes[shuffled_labels], kind="stable")], folds)


def dealt_in_turn(order: NDArray[np.int64], folds: int) -> NDArray[np.int64]:
    """The fold of each of some positions when they are dealt out in an order, like cards.

    >>> dealt_in_turn(np.array([2, 0, 1]), 2).tolist()
    [1, 0, 0]
    """
    fold_of_position = np.empty(order.size, dtype=np.int64)
    fold_of_position[order] = np.arange(order.size) % min(folds, max(order.size, 1))
    return fold_of_position


def is_large(entries: int) -> bool:
    """Whether so many nodes, memberships and ends of edges are enough to save time with every choice of settings."""
    return entries > LARGE_ENTRIES


def enough_folds(fold: NDArray[np.int64]) -> NDArray[np.int64]:
    """The fold of each label, -1 where the fold is not tested since others have labels enough.

    >>> enough_folds(np.arange(6) % 3)
    array([0, 1, 2, 0, 1, 2])
    >>> np.unique(enough_folds(np.arange(4000) % 5))
    array([-1,  0,  1])
    """
    num_enough = int(np.searchsorted(np.cumsum(np.bincount(fold)), ENOUGH_LABELS)) + 1
    return np.where(fold < num_enough, fold, -1)


@dataclass(frozen=True)
class WeightedNodes:
    """Nodes of which something is known, and how much each counts: weights of mean 1, all 1 where none are given.

    Of a graph in parts every process knows the labels of all nodes, by their positions in the whole graph.
    """

    nodes: NDArray[np.int64]
    weights: Floats = field(default_factory=lambda: np.zeros(0), kw_only=True)

    def __post_init__(self) -> None:
        if self.weights.size < self.nodes.size:
            object.__setattr__(self, "weights", np.ones(self.nodes.size))

    @property
    def sample_weight(self) -> Floats | None:
        """The weights as scikit-learn takes them: None where all count alike."""
        return None if (self.weights == 1).all() else self.weights

    def part(self, kept: NDArray[Any]) -> Self:
        """Some of them, by a mask or by positions among them."""
        label_arrays = [one.name for one in fields(self) if one.name != "classes"]
        return replace(self, **{name: getattr(self, name)[kept] for name in label_arrays})

    def sorted_by_name(self, order: NameOrder) -> tuple[Self, NDArray[np.int64]]:
        """The same in the order of the nodes' names, and where each stood."""
        label_positions = np.argsort(order.to_sorted(self.nodes), kind="stable")
        return self.part(label_positions), label_positions

    def at(self, nodes: NDArray[np.int64]) -> Self:
        """The same with other positions for the nodes."""
        return replace(self, nodes=nodes)

    def reweighted(self, factors: Floats) -> Self:
        """The same with weights times factors, scaled to a mean of 1."""
        new_weights = self.weights * factors
        return replace(self, weights=new_weights / new_weights.mean() if new_weights.size else new_weights)


@dataclass(frozen=True)
class KnownLabels(WeightedNodes):
    """The labelled nodes of a graph: positions, class numbers, the classes in order, and how much each label counts.

    Attributes
    ----------
    nodes, codes : array of int, shape (labelled,)
    classes : array
    weights : array of float, shape (labelled,)
        Of mean 1, from ``sample_weight`` and ``class_weight``; all 1 where none are given. Every method multiplies its
        loss, or what a label passes on, by these.
    """

    codes: NDArray[np.int64]
    classes: NDArray[Any]

    @property
    def counts(self) -> Floats:
        """How many labels each class has, each counted by its weight."""
        return np.bincount(self.codes, self.weights, minlength=len(self.classes)).astype(np.float64)

    def without(self, left_out: NDArray[np.bool_]) -> KnownLabels:
        """The same without some labels; a class that has no other is gone."""
        remaining_labels = self.part(~left_out)
        present_codes, new_codes = np.unique(remaining_labels.codes, return_inverse=True)
        return replace(remaining_labels, codes=new_codes.astype(np.int64), classes=self.classes[present_codes])

    def class_weighed(self, class_weight: Any) -> KnownLabels:
        """The same with a weight for each class: "balanced", or a mapping from class to number, 1 for others."""
        if class_weight is None:
            return self
        if class_weight == "balanced":
            class_counts = np.maximum(self.counts, 1e-12)
            return self.reweighted((class_counts.sum() / (len(class_counts) * class_counts))[self.codes])
        class_names = self.classes.tolist()
        for label in class_weight:
            if label not in class_names:
                raise DataError(f"class_weight names {label!r}, which is not a class; classes: {class_names}")
        class_factors = np.array([float(class_weight.get(label, 1.0)) for label in class_names])
        return self.reweighted(class_factors[self.codes])


def node_weights(graph: MultilayerGraph, sample_weight: Any) -> Floats:
    """How much the label of each node counts, from weights in node order or by name; 1 where none is given."""
    if sample_weight is None:
        return np.ones(graph.num_nodes)
    if isinstance(graph, PartGraph):
        raise DataError("sample_weight needs the whole graph in one process")
    given_weights = graph.align(sample_weight, "sample weight")
    try:
        weight_of_node = np.array([1.0 if weight is None else float(weight) for weight in given_weights])
    except (TypeError, ValueError) as error:
        raise DataError(f"sample_weight must hold numbers: {error}") from None
    wrong_nodes = np.flatnonzero(~(np.isfinite(weight_of_node) & (weight_of_node >= 0)))
    if wrong_nodes.size:
        node_name, wrong_weight = plain(graph.nodes[wrong_nodes[0]]), weight_of_node[wrong_nodes[0]]
        raise DataError(
            f"the sample weight of {node_name!r} is {wrong_weight:g}; it must be a finite number of at least 0"
        )
    return weight_of_node


def known_labels(graph: MultilayerGraph, y: Any = None, sample_weight: Any = None) -> KnownLabels:
    """The known labels of a graph, for training: as ``fit`` takes them, without those of weight 0.

    A DataError for labels of unknown nodes, a wrong length, no label at all, a single class, or amounts.
    """
    weight_of_node = node_weights(graph, sample_weight)
    if isinstance(graph, PartGraph):
        labelled_nodes, label_values = _labels_of_parts(graph, y)
    else:
        all_labels = aligned_labels(graph, y)
        all_labels[weight_of_node == 0] = None
        labelled_nodes = np.array([i for i, label in enumerate(all_labels) if label is not None], dtype=np.int64)
        label_values = all_labels[labelled_nodes]
    if labelled_nodes.size == 0:
        raise DataError("no node has a known label (-1, None and NaN mean unknown); at least two are needed")
    class_names = sorted_labels(label_values)
    if len(class_names) < 2:
        raise DataError(
            f"all {labelled_nodes.size} known labels are {class_names[0]!r} (-1, None and NaN mean unknown); "
            "at least two classes are needed"
        )
    num_amounts = amounts(label_values, text=False)
    if num_amounts:
        raise DataError(
            f"the labels are numbers with {num_amounts:,} different values on {labelled_nodes.size:,} nodes, amounts "
            "rather than classes. GrammeRegressor predicts numbers; for classes cut them first (pandas.qcut makes "
            "classes of equal size), or pass such numbers as text to make each a class"
        )
    if (
        2 * len(class_names) > labelled_nodes.size and len(class_names) > 3
    ):  # of fewer a handful of labels is no sign of a mistake
        warnings.warn(
            "there are more classes than half of the labels, so most classes have a single label to learn from; join "
            "some of them, or check that the labels are what they should be",
            GrammeWarning,
            stacklevel=2,
        )
    warn_of_twins(class_names)
    known = KnownLabels(labelled_nodes, _codes(label_values, class_names), natural_array(class_names))
    return known if sample_weight is None else known.reweighted(weight_of_node[labelled_nodes])


def warn_of_twins(class_names: Iterable[Any]) -> None:
    """Warn of classes that a reader would take for one, as the reading of files does."""
    alike = twins(class_names, "labels", "classes")
    if alike:
        warnings.warn(alike, GrammeWarning, stacklevel=3)


def _labels_of_parts(graph: PartGraph, y: Any) -> tuple[NDArray[np.int64], NDArray[np.object_]]:
    """Positions in the whole graph and labels of all labelled nodes, wherever they are."""
    if y is not None:
        raise DataError("the labels of a graph in parts are those that its parts hold; leave out y")
    local_labelled = np.flatnonzero(graph.training_codes >= 0)
    labelled_nodes = np.concatenate(graph.communicator.gather(graph.places[local_labelled]))
    label_codes = np.concatenate(graph.communicator.gather(graph.label_codes[local_labelled]))
    node_order = np.argsort(labelled_nodes)
    label_values = np.empty(labelled_nodes.size, dtype=object)
    label_values[:] = [graph.whole.classes[label_code] for label_code in label_codes[node_order].tolist()]
    return labelled_nodes[node_order], label_values


def labels_within(graph: MultilayerGraph, y: Any, mask: str | None) -> Any:
    """The labels, or the graph's own, on the nodes of one of its masks alone; as given without a mask."""
    if mask is None:
        return y
    if not isinstance(mask, str):
        raise DataError(
            f"mask is the name of one of the graph's masks, not {type(mask).__name__}; "
            "graph.replace(masks={'train': ...}) gives it one"
        )
    if mask not in graph.masks:
        hint = did_you_mean(mask, graph.masks) if graph.masks else "it has none"
        raise DataError(f"the graph has no mask {mask!r}; {hint}")
    if y is None and graph.labels is None:
        raise DataError("the graph has no labels and none were given; pass y")
    masked_labels = graph.align(graph.labels if y is None else y, "label").copy()
    masked_labels[~graph.masks[mask]] = None
    return masked_labels


def aligned_labels(graph: MultilayerGraph, y: Any = None) -> NDArray[np.object_]:
    """Labels in node order, None where unknown; of the graph's own those in its mask "train", if it has one.

    -1 and empty text mean unknown. Where -1 could be a class, since the others are 1 or 0 and 1, that is said; it is
    refused where other labels are negative, or other nodes have no label in another way, so that -1 must mean something
    else.
    """
    if y is None:
        if graph.labels is None:
            raise DataError("the graph has no labels and none were given; pass y")
        y = labels_within(graph, None, "train" if "train" in graph.masks else None)
        y = graph.labels if y is None else y
    if isinstance(y, (list, tuple, np.ndarray, pd.Series, dict)):
        label_collections = [one for one in (y.values() if isinstance(y, dict) else y) if isinstance(one, (list, set))]
        if label_collections:
            raise DataError(
                f"the label {label_collections[0]!r} is not a value but unhashable; where nodes have several labels, "
                "take gramme.MultiLabelClassifier(model)"
            )
    if getattr(y, "ndim", 1) == 2:
        raise DataError(
            "labels must be one-dimensional; a table with a column for each of several labels goes to "
            "gramme.MultiLabelClassifier(model)"
        )
    node_labels = graph.align(y, "label").copy()
    minus_one = np.array([_is_number(value) and value == -1 for value in node_labels], dtype=bool)
    node_labels[[isinstance(value, str) and not value for value in node_labels]] = None
    num_unknown, minus_ones = sum(value is None for value in node_labels), int(minus_one.sum())
    node_labels[minus_one] = None
    other_labels = {value for value in node_labels if value is not None}
    negative_labels = sorted(value for value in other_labels if _is_number(value) and value < 0)
    if minus_ones and negative_labels:
        raise DataError(
            f"among the labels are {negative_labels[0]:g} and -1, which otherwise means unknown: if -1 is a class, "
            "give the labels as text; if it means unknown, give None"
        )
    if "-1" in other_labels and all(isinstance(value, str) and value.lstrip("-").isdecimal() for value in other_labels):
        warnings.warn("the label '-1' is text, so it is a class; for unknown give None", GrammeWarning, stacklevel=3)
    if minus_ones and other_labels <= {0, 1} and 1 in other_labels and all(map(_is_number, other_labels)):
        coded_words = ", ".join(f"{number:g}" for number in (-1, *sorted(other_labels)))
        hint = "if -1 is a class, give the labels as text; if it means unknown, give None"
        if num_unknown:
            raise DataError(f"the labels are {coded_words}, and {num_unknown} nodes have none: {hint} for it too")
        warnings.warn(
            f"the labels are {coded_words}: -1 is taken to mean unknown, on {minus_ones} nodes; {hint}",
            GrammeWarning,
            stacklevel=3,
        )
    return node_labels


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, np.number)) and not isinstance(value, bool)


def by_name(graph: Any, y: Any) -> dict[Any, Any] | None:
    """Further labels by node name, for a method that sees its nodes in another order; None if none are given."""
    if y is None:
        return None
    graph = checked_graph(graph)
    return dict(zip(graph.nodes, graph.align(y, "label"), strict=True))


def coded_labels(
    graph: MultilayerGraph, y: Any, classes: NDArray[Any], what: str, *, strict: bool
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Positions and class numbers of further labels; a class not among ``classes`` is an error or gets -1."""
    node_labels = aligned_labels(graph, y)
    labelled_nodes = np.array([i for i, value in enumerate(node_labels) if value is not None], dtype=np.int64)
    if labelled_nodes.size == 0:
        raise DataError(f"no node has a known {what} label")
    label_codes = _codes(node_labels[labelled_nodes], classes.tolist())
    if strict and (label_codes < 0).any():
        new_label = node_labels[labelled_nodes[int(np.flatnonzero(label_codes < 0)[0])]]
        raise DataError(f"the {what} label {new_label!r} is not among the training labels")
    return labelled_nodes, label_codes


def _codes(values: NDArray[np.object_], classes: list[Any]) -> NDArray[np.int64]:
    class_codes = {label: position for position, label in enumerate(classes)}
    try:
        return np.array([class_codes.get(value, -1) for value in values], dtype=np.int64)
    except TypeError as error:
        raise DataError(f"labels must be hashable: {error}") from error
