"""Columns for trees: a graph's numbers, and what its layers say about each node, without its own label.

A layer with few groups gives a column per group. One with many (senders of payments, shops) and one of edges give
statistics instead: how frequent each class is among the labels that a node shares a group or an edge with, how large
its group is, how its numbers differ from their mean there, and how far away the next lower and the next higher value of
the same group are. Numbers that were cut into groups are columns already, so these groups give none.

No label helps to describe its own node: labels are divided into folds, and the frequencies for a node of a fold are
those of the other folds. Nodes without a label see all of them. All sums are kept by the names of groups and
neighbours, so that the nodes of another graph get the same columns.

Cost: memberships and edges x (folds x classes + numbers).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
import torch
from numpy.typing import NDArray

from gramme._types import Floats, Ints
from gramme.errors import DataError
from gramme.graph import Layer, MultilayerGraph
from gramme.graph.arrays import loose_index
from gramme.methods.linear.one_hot import LayerColumns
from gramme.methods.persistence import Learned, SavedField, Sizes, plain_name, unique_names
from gramme.methods.prepare import given_columns, given_features

if TYPE_CHECKING:
    from gramme.methods.base import GraphEstimator


MAX_INDICATORS = 20
"""Groups of a layer up to which each is a column of its own; as many as make categories of whole numbers in a table."""
PRIOR_LABELS = 5.0
"""Labels' worth of belief in how frequent a class is everywhere, against how frequent it is in a group."""


def number_names(graph: MultilayerGraph) -> list[str]:
    """A name for each number of a node: the graph's own names, or "feature 1" and so on."""
    named = list(graph.feature_names or ())
    return named + [f"feature {place + 1}" for place in range(len(named), given_columns(graph))]


def numbers_of(graph: MultilayerGraph) -> Floats:
    """The features of a graph as a dense matrix, perhaps of no columns."""
    if not given_columns(graph):
        return np.zeros((graph.num_nodes, 0))
    matrix = given_features(graph)
    return np.asarray(matrix if isinstance(matrix, np.ndarray) else matrix.toarray(), np.float64)


@dataclass(frozen=True)
class KnownTargets:
    """What statistics count of the labels: for each labelled node its fold, a row of numbers, and how much it counts.

    A row has one column for each class, or for the second of two; or the number of a regression.
    """

    nodes: Ints
    fold: Ints
    rows: Floats
    weights: Floats

    @property
    def mean(self) -> Floats:
        """The mean row: how frequent each class is, or the mean number."""
        mean_row: Floats = np.average(self.rows, axis=0, weights=self.weights)
        return mean_row


@dataclass(frozen=True)
class LayerStatistics:
    """What is known of the groups of a layer, or of the neighbours where it has edges; both are called places."""

    layer: str
    kind: str
    names: pd.Index
    indicators: bool  # whether each group is a column by itself; nothing else is then known
    size: Floats  # nodes of each group
    targets: Floats  # sums over the labelled nodes of each place, (places, folds, targets), ...
    labels: Floats  # ... and how many they are, (places, folds)
    means: Floats  # of each number, (places, numbers)
    starts: Ints  # (numbers, places + 1): where in ``values`` those of a group begin
    values: Floats  # the different ones of each number in each group, sorted; none where nodes are in several groups

    @classmethod
    def learned(
        cls, name: str, layer: Layer, graph: MultilayerGraph, numbers: Floats, known: KnownTargets
    ) -> LayerStatistics:
        """The statistics of a layer of the graph of a fit."""
        matrix, names = layer.columns(graph.nodes)
        if layer.made_of == "groups" and len(names) <= MAX_INDICATORS:
            none, nothing, empty = np.zeros((0, 0)), np.zeros(0), np.zeros((0, 1), dtype=np.int64)
            return cls(name, layer.made_of, names, True, nothing, np.zeros((0, 0, 0)), none, none, empty, nothing)
        folds = int(known.fold.max(initial=0)) + 1
        targets = np.zeros((len(names), folds, known.rows.shape[1]))
        labels = np.zeros((len(names), folds))
        # a neighbour is a place of its own, with its own label and numbers
        where = sp.csr_array(matrix.T.tocsr()) if layer.made_of == "groups" else None
        for fold in range(folds):
            mine = known.fold == fold
            rows = np.column_stack([known.rows[mine], np.ones(int(mine.sum()))]) * known.weights[mine, None]
            sums = _at_places(where, known.nodes[mine], rows, len(names))
            targets[:, fold], labels[:, fold] = sums[:, :-1], sums[:, -1]
        size = np.ones(len(names))
        if where is not None:
            size = np.asarray(where.sum(axis=1), dtype=np.float64).ravel()
        means = numbers if where is None else (where @ numbers) / np.maximum(size, 1e-12)[:, None]
        apart = _sorted_values(matrix, numbers, where is not None)
        return cls(name, layer.made_of, names, False, size, targets, labels, np.asarray(means, np.float64), *apart)

    def matrix(self, graph: MultilayerGraph) -> sp.csr_array:
        """The nodes of a graph by the places that are known."""
        return LayerColumns(self.layer, self.kind, self.names).matrix(graph).astype(np.float64)

    def columns(self, graph: MultilayerGraph, numbers: Floats, fold: Ints, mean: Floats) -> Iterator[Floats]:
        """Blocks of columns for the nodes of a graph; ``fold`` is -1 for nodes without a label."""
        node_places = self.matrix(graph)
        if self.indicators:
            yield node_places.toarray()
            return
        yield self._frequencies(node_places, fold, mean)
        total_weight = np.asarray(node_places.sum(axis=1)).ravel()
        place_share = np.divide(1, total_weight, out=np.full_like(total_weight, np.nan), where=total_weight > 0)
        group_size = total_weight if self.kind == "edges" else np.nan_to_num((node_places @ self.size) * place_share)
        yield np.log1p(np.maximum(group_size, 0))[:, None]
        if self.means.shape[1]:
            yield numbers - (node_places @ self.means) * place_share[:, None]
        if self.starts.shape[0]:
            yield self._gaps(node_places, numbers)

    def _frequencies(self, matrix: sp.csr_array, fold: Ints, mean: Floats) -> Floats:
        """The mean target of labelled nodes that share a place with a node, without those of the node's own fold."""
        mean_targets = np.empty((matrix.shape[0], mean.size))
        target_totals, label_totals = self.targets.sum(axis=1), self.labels.sum(axis=1)
        for fold_number in np.unique(fold):
            row_index = np.flatnonzero(fold == fold_number)
            has_own_fold = 0 <= fold_number < self.labels.shape[1]
            other_sums = target_totals - self.targets[:, fold_number] if has_own_fold else target_totals
            other_counts = label_totals - self.labels[:, fold_number] if has_own_fold else label_totals
            fold_rows = matrix[row_index]
            label_count = np.asarray(fold_rows @ other_counts)[:, None]
            mean_targets[row_index] = (fold_rows @ other_sums + PRIOR_LABELS * mean) / (label_count + PRIOR_LABELS)
        return mean_targets

    def _gaps(self, matrix: sp.csr_array, numbers: Floats) -> Floats:
        """How far the next lower and the next higher value of each number is in a node's group; NaN where none is."""
        node_groups = np.full(matrix.shape[0], -1, dtype=np.int64)
        grouped_nodes = np.flatnonzero(np.diff(matrix.indptr) > 0)
        node_groups[grouped_nodes] = matrix.indices[matrix.indptr[grouped_nodes]]
        value_gaps = np.full((matrix.shape[0], 2 * numbers.shape[1]), np.nan)
        for column in range(numbers.shape[1]):
            group_starts = self.starts[column]
            value_groups = np.repeat(np.arange(len(self.names)), np.diff(group_starts))
            sorted_values = self.values[group_starts[0] : group_starts[-1]]
            own_values = numbers[grouped_nodes, column]
            next_lower, next_higher = _neighbouring(value_groups, sorted_values, node_groups[grouped_nodes], own_values)
            value_gaps[grouped_nodes, 2 * column] = own_values - next_lower
            value_gaps[grouped_nodes, 2 * column + 1] = next_higher - own_values
        return value_gaps

    def titles(self, numbers: Sequence[str], targets: Sequence[str]) -> list[str]:
        """What each column says, in words."""
        if self.indicators:
            return [f"{self.layer} is {name}" for name in self.names]
        place_words = "neighbours" if self.kind == "edges" else self.layer
        column_titles = [f"{target} in {place_words}" for target in targets]
        column_titles.append(f"number of {self.layer}" if self.kind == "edges" else f"size of {self.layer}")
        if self.means.shape[1]:
            column_titles += [f"{number} against its mean in {place_words}" for number in numbers]
        if self.starts.shape[0]:
            column_titles += [
                f"{number} and the {which} one in {place_words}" for number in numbers for which in ("lower", "higher")
            ]
        return column_titles


@dataclass(frozen=True)
class GroupStatistics:
    """The columns of a graph: its numbers, then those of each layer."""

    numbers: list[str]  # their names
    targets: list[str]  # what a frequency is of, in words
    mean: Floats  # frequencies among all labels
    layers: list[LayerStatistics]

    @classmethod
    def learned(cls, graph: MultilayerGraph, known: KnownTargets, targets: Sequence[str]) -> GroupStatistics:
        """From the graph of a fit; its layers are described in their order."""
        names, numbers = number_names(graph), numbers_of(graph)
        used = {
            name: layer for name, layer in graph.layers.items() if layer.made_of == "edges" or name not in set(names)
        }
        # beyond, there are no columns that compare numbers with those of a group
        compared = 3 * numbers.shape[1] * len(used) <= 300
        chosen = numbers if compared else numbers[:, :0]
        layers = [LayerStatistics.learned(name, layer, graph, chosen, known) for name, layer in used.items()]
        return cls(names, list(targets), known.mean, layers)

    def table(self, graph: MultilayerGraph, fold: Ints) -> Floats:
        """The columns of a graph's nodes; ``fold`` is that of each labelled node of the fit, else -1."""
        numbers = numbers_of(graph)
        if numbers.shape[1] != len(self.numbers):
            raise DataError(f"the model needs {len(self.numbers)} features per node; the graph has {numbers.shape[1]}")
        if graph.feature_names is not None and list(graph.feature_names) != self.numbers:
            raise DataError(
                f"the model needs the features {', '.join(self.numbers)}; "
                f"the graph has {', '.join(graph.feature_names)}"
            )
        column_blocks: list[Floats] = [numbers]
        for layer in self.layers:
            compared_numbers = numbers[:, : layer.means.shape[1]]
            column_blocks += layer.columns(graph, compared_numbers, fold, self.mean)
        return np.ascontiguousarray(np.hstack(column_blocks))

    def titles(self) -> list[str]:
        """What each column says, in words."""
        column_titles = list(self.numbers)
        for layer in self.layers:
            column_titles += layer.titles(self.numbers, self.targets)
        return column_titles

    def layer_of_column(self) -> list[str]:
        """The layer that each column belongs to; for a number, the layer of its name, or else the number's name."""
        column_layers = list(self.numbers)
        for layer in self.layers:
            column_layers += [layer.layer] * len(layer.titles(self.numbers, self.targets))
        return column_layers


def _at_places(where: sp.csr_array | None, nodes: Ints, rows: Floats, places: int) -> Floats:
    """The sums of the rows of some nodes over the places they are in."""
    if where is not None:
        member_sums: Floats = np.asarray(where[:, nodes] @ rows)
        return member_sums
    place_sums = np.zeros((places, rows.shape[1]))
    place_sums[nodes] = rows
    return place_sums


def _sorted_values(matrix: sp.csr_array, numbers: Floats, groups: bool) -> tuple[Ints, Floats]:
    """The different values of each number in each group, sorted, and where those of a group begin."""
    num_places = matrix.shape[1]
    group_counts = np.diff(matrix.indptr)
    if not groups or (group_counts > 1).any() or not numbers.shape[1]:
        return np.zeros((0, num_places + 1), dtype=np.int64), np.zeros(0)
    grouped_nodes, node_groups = np.flatnonzero(group_counts > 0), matrix.indices.astype(np.int64)
    place_starts, value_parts, value_start = [], [], 0
    for column in range(numbers.shape[1]):
        sorted_values = numbers[grouped_nodes, column]
        sort_order = np.lexsort((sorted_values, node_groups))
        sorted_values, sorted_places = sorted_values[sort_order], node_groups[sort_order]
        is_first = np.ones(sorted_values.size, dtype=bool)
        is_first[1:] = (sorted_places[1:] != sorted_places[:-1]) | (sorted_values[1:] != sorted_values[:-1])
        place_counts = np.bincount(sorted_places[is_first], minlength=num_places)
        place_starts.append(value_start + np.concatenate([[0], np.cumsum(place_counts)]))
        value_parts.append(sorted_values[is_first])
        value_start += int(is_first.sum())
    return np.stack(place_starts).astype(np.int64), np.concatenate(value_parts)


def _neighbouring(known_group: Ints, known_value: Floats, group: Ints, value: Floats) -> tuple[Floats, Floats]:
    """The next lower and the next higher known value in each one's group; NaN where there is none.

    >>> values = np.array([1.0, 4.0, 9.0])
    >>> _neighbouring(np.zeros(3, dtype=int), values, np.zeros(2, dtype=int), np.array([4.0, 5.0]))
    (array([1., 4.]), array([9., 9.]))
    """
    # both sides ranked together: a value comes after all that are lower in its group
    joined_group = np.concatenate([known_group, group])
    joined_value = np.concatenate([known_value, value])
    num_known = known_group.size

    def place_among_known(before: bool) -> Ints:
        tie_order = np.ones(joined_group.size)
        tie_order[num_known:] = 0 if before else 2
        sort_order = np.lexsort((tie_order, joined_value, joined_group))
        known_passed = np.cumsum(sort_order < num_known)
        known_before = np.empty(joined_group.size, dtype=np.int64)
        known_before[sort_order] = known_passed
        return known_before[num_known:]

    padded_group = np.concatenate([[-2], known_group, [-2]])
    padded_value = np.concatenate([[np.nan], known_value, [np.nan]])
    lower, higher = place_among_known(before=True), place_among_known(before=False) + 1
    below = np.where(padded_group[lower] == group, padded_value[lower], np.nan)
    above = np.where(padded_group[higher] == group, padded_value[higher], np.nan)
    return below, above


_ARRAYS = ("size", "targets", "labels", "means", "starts", "values")
_LAYER_KEYS = ("layer", "kind", "indicators", "names")


class SavedStatistics(SavedField):
    """The statistics of a model's groups and neighbours."""

    def save(self, model: GraphEstimator, learned: Learned) -> None:
        found: GroupStatistics = getattr(model, self.attribute)
        layers = [{key: getattr(one, key) for key in _LAYER_KEYS} for one in found.layers]
        for record in layers:
            record["names"] = [plain_name(name) for name in record["names"]]
        learned.record[self.name] = {"numbers": found.numbers, "targets": found.targets, "layers": layers}
        learned.tensors[f"{self.name}.mean"] = torch.from_numpy(found.mean.copy())
        for place, one in enumerate(found.layers):
            for name in _ARRAYS:
                array = np.ascontiguousarray(getattr(one, name))
                learned.tensors[f"{self.name}.{place}.{name}"] = torch.from_numpy(array.copy())

    def load(self, model: GraphEstimator, learned: Learned, sizes: Sizes) -> None:
        entry = self.entry(learned.record)
        if not isinstance(entry, dict) or set(entry) != {"numbers", "targets", "layers"}:
            raise self.misfit("numbers, targets and layers", entry)
        for key in ("numbers", "targets"):
            if not isinstance(entry[key], list) or not all(isinstance(x, str) for x in entry[key]):
                raise self.misfit(f"a record whose {key} are texts", entry[key])
        mean = self._array(learned, "mean", np.float64)
        if mean.shape != (len(entry["targets"]),):
            raise self.misfit("a mean for each target")
        layers = [self._layer(model, learned, place, one) for place, one in enumerate(entry["layers"])]
        for one in layers:
            if not _is_whole(one, len(entry["numbers"]), mean.size):
                raise self.misfit(f"statistics that go together for the layer {one.layer!r}")
        setattr(model, self.attribute, GroupStatistics(entry["numbers"], entry["targets"], mean, layers))

    def _array(self, learned: Learned, name: str, kind: Any) -> NDArray[Any]:
        tensor = learned.tensors.get(f"{self.name}.{name}")
        if tensor is None:
            raise self.misfit(f"there with its {name}")
        array: NDArray[Any] = tensor.numpy()
        if array.dtype != kind or not np.isfinite(array).all():
            raise self.misfit(f"finite numbers of type {np.dtype(kind)} in {name}")
        return array

    def _layer(self, model: GraphEstimator, learned: Learned, place: int, entry: Any) -> LayerStatistics:
        if not isinstance(entry, dict) or set(entry) != set(_LAYER_KEYS):
            raise self.misfit("layer, kind, indicators and names of each layer", entry)
        if entry["layer"] not in model.layer_order_ or entry["kind"] not in ("groups", "edges"):
            raise self.misfit("groups or edges of a layer of the model", entry["layer"])
        if not isinstance(entry["indicators"], bool):
            raise self.misfit("a record whose indicators are true or false", entry["indicators"])
        names = loose_index(unique_names(self, entry["names"]))
        kinds = {name: np.int64 if name == "starts" else np.float64 for name in _ARRAYS}
        found = {name: self._array(learned, f"{place}.{name}", kind) for name, kind in kinds.items()}
        return LayerStatistics(**(entry | {"names": names} | found))


def _is_whole(one: LayerStatistics, numbers: int, targets: int) -> bool:
    """Whether the arrays of a layer go together; a file may hold anything."""
    if one.indicators:
        return one.kind == "groups" and not any(getattr(one, array_name).size for array_name in _ARRAYS)
    num_places = len(one.names)
    if (one.targets.ndim, one.labels.ndim, one.means.ndim, one.starts.ndim, one.values.ndim) != (3, 2, 2, 2, 1):
        return False
    shapes_fit = one.size.shape == (num_places,) and one.targets.shape == (*one.labels.shape, targets)
    shapes_fit = shapes_fit and one.labels.shape[0] == num_places and one.labels.shape[1] > 0
    shapes_fit = shapes_fit and one.means.shape[0] == num_places and one.means.shape[1] in (0, numbers)
    shapes_fit = shapes_fit and one.starts.shape[0] in (0, one.means.shape[1]) and one.starts.shape[1] == num_places + 1
    if not shapes_fit or not one.starts.size:
        return shapes_fit
    starts_rise = bool((np.diff(one.starts, axis=1) >= 0).all()) and bool((one.starts >= 0).all())
    return starts_rise and int(one.starts.max()) <= one.values.size
