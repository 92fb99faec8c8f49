"""The protocol's splits: which labelled nodes a realisation learns from, the same for every method."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from gramme.errors import DataError
from gramme.graph import MultilayerGraph, sorted_labels
from gramme.graph.canonical import sorted_places

from .metrics import accuracy_interval


@dataclass(frozen=True)
class Split:
    """One realisation of a training percentage.

    Attributes
    ----------
    train, test : array of int
        Positions of the nodes to learn from and of all other labelled nodes.
    y : array of object, shape (nodes,)
        The labels of the training nodes; None everywhere else. All that a method may learn from.
    monitor : array of object, shape (nodes,)
        The labels of the test nodes; None everywhere else. For scoring, and for looking at a training.
    classes : list
        The classes of all labelled nodes, in order.
    missed : int
        Classes that no training node has. Such a realisation is kept, as in the paper, and counted.
    """

    train: NDArray[np.int64]
    test: NDArray[np.int64]
    y: NDArray[np.object_]
    monitor: NDArray[np.object_]
    classes: list[object]
    missed: int


def random_split(labels: NDArray[np.object_], percent: float, realisation: int) -> Split:
    """Draw the training nodes uniformly at random from the labelled ones, with the realisation's number as seed.

    One order of the nodes serves all percentages: the training nodes of 10 % are among those of 20 %.

    Examples
    --------
    >>> labels = np.array(["a", "b", None, "a", "b"], dtype=object)
    >>> split = random_split(labels, 50, realisation=0)
    >>> len(split.train), len(split.test), split.missed
    (2, 2, 1)
    """
    check_percent(percent)
    known_nodes = np.array([i for i, label in enumerate(labels) if label is not None], dtype=np.int64)
    train_size = max(1, round(known_nodes.size * percent / 100))
    if known_nodes.size - train_size < 1:
        raise DataError(
            f"{percent:g} % of {known_nodes.size} labelled nodes leaves none to test on; more labels or a smaller "
            "percentage "
            "are needed"
        )
    shuffled_nodes = known_nodes[np.random.default_rng(realisation).permutation(known_nodes.size)]
    train_nodes, test_nodes = np.sort(shuffled_nodes[:train_size]), np.sort(shuffled_nodes[train_size:])
    classes = sorted_labels(labels[known_nodes])
    num_missed = len(classes) - len(set(labels[train_nodes]))
    return Split(train_nodes, test_nodes, _only(labels, train_nodes), _only(labels, test_nodes), classes, num_missed)


@dataclass(frozen=True)
class GivenSplit:
    """Positions of the nodes to learn from and of those to test on, as somebody gave them."""

    train: NDArray[np.int64]
    test: NDArray[np.int64]

    def of(self, labels: NDArray[np.object_]) -> Split:
        """With the labels, as :func:`random_split` returns it."""
        classes = sorted_labels([label for label in labels if label is not None])
        num_missed = len(classes) - len(set(labels[self.train]))
        return Split(self.train, self.test, _only(labels, self.train), _only(labels, self.test), classes, num_missed)


def given_splits(graph: MultilayerGraph, splits: Sequence[Any]) -> list[GivenSplit]:
    """Splits (train, test) that somebody made, checked.

    Each part is the name of a mask of the graph, an array of bool over all nodes, an array of positions, or a list of
    node names. A single pair of mask names stands for one split.

    >>> from gramme.graph import EdgeLayer, MultilayerGraph
    >>> graph = MultilayerGraph({"a": EdgeLayer(3, [0], [1])}, nodes=["x", "y", "z"], labels=["p", "q", "p"])
    >>> given_splits(graph, [(["x", "y"], ["z"])])[0].test.tolist()
    [2]
    """
    split_pairs = (
        [tuple(splits)] if len(splits) == 2 and all(isinstance(part, str) for part in splits) else list(splits)
    )
    if not split_pairs:
        raise DataError("splits= has no split")
    labels = [None] * graph.num_nodes if graph.labels is None else graph.labels
    checked_splits = []
    for split_number, pair in enumerate(split_pairs, start=1):
        if isinstance(pair, str) or len(pair) != 2:
            raise DataError(f"split {split_number} must be a pair of training and test nodes, not {pair!r:.60}")
        train_nodes, test_nodes = (
            _split_part(graph, part, f"{kind} nodes of split {split_number}")
            for kind, part in zip(_PARTS, pair, strict=True)
        )
        for part_kind, split_part in zip(_PARTS, (train_nodes, test_nodes), strict=True):
            unlabelled_node = next((node for node in split_part.tolist() if labels[node] is None), None)
            if unlabelled_node is not None:
                raise DataError(
                    f"split {split_number} has the node {graph.nodes[unlabelled_node]!r} among its {part_kind} "
                    "nodes: it has no label"
                )
        shared_nodes = np.intersect1d(train_nodes, test_nodes)
        if shared_nodes.size:
            raise DataError(f"split {split_number} trains and tests on the same node, {graph.nodes[shared_nodes[0]]!r}")
        checked_splits.append(GivenSplit(train_nodes, test_nodes))
    return checked_splits


_PARTS = ("training", "test")


def _split_part(graph: MultilayerGraph, part: Any, what: str) -> NDArray[np.int64]:
    """Sorted positions of the nodes that a part of a split names."""
    if isinstance(part, str):
        if part not in graph.masks:
            known_masks = f"it has {', '.join(graph.masks)}" if graph.masks else "it has none"
            raise DataError(f"{what}: there is no mask {part!r} in the graph; {known_masks}")
        part = graph.masks[part]
    part_array = np.asarray(part)
    if part_array.dtype == bool:
        if part_array.shape != (graph.num_nodes,):
            raise DataError(f"{what}: a mask of shape {part_array.shape} is given for {graph.num_nodes} nodes")
        node_positions = np.flatnonzero(part_array)
    elif isinstance(part, np.ndarray) and part_array.dtype.kind in "iu":
        node_positions = np.unique(part_array).astype(np.int64)
        if node_positions.size and not 0 <= node_positions[0] <= node_positions[-1] < graph.num_nodes:
            raise DataError(f"{what}: positions must be from 0 to {graph.num_nodes - 1}")
    else:
        node_names = list(part)
        if not set(node_names) <= set(graph.nodes):  # a file has text where names may be numbers
            by_text = {str(name): name for name in graph.nodes}
            node_names = [by_text.get(name, name) if isinstance(name, str) else name for name in node_names]
        try:
            node_positions = np.unique(graph.positions(node_names))
        except DataError as error:
            raise DataError(f"{what}: {error}") from error
    if not node_positions.size:
        raise DataError(f"there are no {what}")
    return node_positions


def read_splits(path: Path) -> list[tuple[list[str], list[str]]]:
    """Splits from a file: names of training and test nodes of each.

    A CSV file has a column with the nodes' names, then a column for each split that says ``train``, ``test`` or
    anything else for nodes that it leaves out. A JSON file has a list of objects with the lists ``train`` and ``test``.
    """
    if not path.is_file():
        raise DataError(f"{path}: there is no such file of splits")
    if path.suffix.lower() == ".json":
        try:
            json_content = json.loads(path.read_text(encoding="utf-8"))
            return [
                ([str(node_name) for node_name in split["train"]], [str(node_name) for node_name in split["test"]])
                for split in json_content
            ]
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise DataError(f'{path} is no list of {{"train": [...], "test": [...]}}: {error!r:.200}') from error
    try:
        split_table = pd.read_csv(path, dtype=str, keep_default_na=False, encoding="utf-8-sig")
    except (ValueError, OSError) as error:  # pandas' own errors are ValueErrors
        raise DataError(f"{path} cannot be read as CSV: {error}") from error
    if split_table.shape[1] < 2:
        raise DataError(
            f"{path} needs a column with the nodes' names and one for each split, with train and test in it"
        )
    node_names = split_table.iloc[:, 0]
    repeated_names = node_names[node_names.duplicated()]
    if len(repeated_names):
        raise DataError(
            f"{path}, line {repeated_names.index[0] + 2}: the node {repeated_names.iloc[0]!r} is there twice"
        )
    splits = []
    for column in split_table.columns[1:]:
        cell_words = split_table[column].str.strip().str.lower()
        splits.append((node_names[cell_words == "train"].tolist(), node_names[cell_words == "test"].tolist()))
        if not (splits[-1][0] and splits[-1][1]):
            raise DataError(f"{path}: the column {column!r} needs nodes that say train and nodes that say test")
    return splits


def check_percent(percent: float) -> None:
    """Refuse a percentage of training nodes that leaves nothing to learn from or to test on."""
    if not 0 < percent < 100:
        raise DataError(f"a training percentage must be more than 0 and less than 100, not {percent:g}")


def _only(labels: NDArray[np.object_], nodes: NDArray[np.int64]) -> NDArray[np.object_]:
    chosen_labels = np.full(labels.size, None, dtype=object)
    chosen_labels[nodes] = labels[nodes]
    return chosen_labels


@dataclass(frozen=True)
class Holdout:
    """Labels to learn from and the nodes set aside, all aligned with the nodes of a graph.

    Attributes
    ----------
    train : array of object, shape (nodes,)
        The labels to learn from; None where unknown or set aside.
    held_out : array of int
        Positions of the nodes set aside.
    labels : array of object, shape (nodes,)
        All known labels.
    """

    train: NDArray[np.object_]
    held_out: NDArray[np.int64]
    labels: NDArray[np.object_]

    def accuracy(self, predicted: NDArray[Any]) -> tuple[float, tuple[float, float]]:
        """Accuracy on the nodes set aside, and its 95 % interval."""
        label_pairs = zip(self.labels[self.held_out], predicted[self.held_out].tolist(), strict=True)
        num_right = sum(known_label == predicted_label for known_label, predicted_label in label_pairs)
        num_held_out = self.held_out.size
        return num_right / num_held_out, accuracy_interval(num_right, num_held_out)


def hold_out(labels: NDArray[np.object_], share: float, random_state: int, nodes: pd.Index | None = None) -> Holdout:
    """Set aside a share of the labelled nodes, uniformly at random.

    With the names of the nodes, who is set aside depends on names alone and not on their order.

    >>> split = hold_out(np.array(["a", "b", None, "a", "b"], dtype=object), 0.5, random_state=0)
    >>> len(split.held_out), sum(label is not None for label in split.train)
    (2, 2)
    """
    if not 0 < share < 1:
        raise DataError(f"the share to set aside must be between 0 and 1, not {share!r}")
    known_nodes = labelled_places(labels, nodes)
    num_aside = round(share * known_nodes.size)
    if num_aside < 1 or known_nodes.size - num_aside < 2:
        raise DataError(
            f"of {known_nodes.size} labelled nodes, setting aside {share:.0%} leaves too few to learn from or to "
            "test on"
        )
    nodes_aside = np.sort(np.random.default_rng(random_state).permutation(known_nodes)[:num_aside])
    train_labels = labels.copy()
    train_labels[nodes_aside] = None
    return Holdout(train_labels, nodes_aside, labels)


def labelled_places(labels: NDArray[np.object_], nodes: pd.Index | None = None) -> NDArray[np.int64]:
    """Positions of the labelled nodes, in the order of their names where these are given.

    >>> labelled_places(np.array(["x", None, "y"], dtype=object), pd.Index(["c", "b", "a"])).tolist()
    [2, 0]
    """
    node_positions = None if nodes is None else sorted_places(nodes)
    if node_positions is None:
        node_positions = np.arange(labels.size)
    labelled_nodes: NDArray[np.int64] = node_positions[[label is not None for label in labels[node_positions]]]
    return labelled_nodes
