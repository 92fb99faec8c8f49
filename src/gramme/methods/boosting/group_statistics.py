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
        found: Floats = np.average(self.rows, axis=0, weights=self.weights)
        return found


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
        matrix = self.matrix(graph)
        if self.indicators:
            yield matrix.toarray()
            return
        yield self._frequencies(matrix, fold, mean)
        weight = np.asarray(matrix.sum(axis=1)).ravel()
        shared = np.divide(1, weight, out=np.full_like(weight, np.nan), where=weight > 0)
        size = weight if self.kind == "edges" else np.nan_to_num((matrix @ self.size) * shared)
        yield np.log1p(np.maximum(size, 0))[:, None]
        if self.means.shape[1]:
            yield numbers - (matrix @ self.means) * shared[:, None]
        if self.starts.shape[0]:
            yield self._gaps(matrix, numbers)

    def _frequencies(self, matrix: sp.csr_array, fold: Ints, mean: Floats) -> Floats:
        """The mean target of labelled nodes that share a place with a node, without those of the node's own fold."""
        found = np.empty((matrix.shape[0], mean.size))
        targets, labels = self.targets.sum(axis=1), self.labels.sum(axis=1)
        for number in np.unique(fold):
            rows = np.flatnonzero(fold == number)
            own = 0 <= number < self.labels.shape[1]
            sums = targets - self.targets[:, number] if own else targets
            counts = labels - self.labels[:, number] if own else labels
            part = matrix[rows]
            count = np.asarray(part @ counts)[:, None]
            found[rows] = (part @ sums + PRIOR_LABELS * mean) / (count + PRIOR_LABELS)
        return found

    def _gaps(self, matrix: sp.csr_array, numbers: Floats) -> Floats:
        """How far the next lower and the next higher value of each number is in a node's group; NaN where none is."""
        group = np.full(matrix.shape[0], -1, dtype=np.int64)
        filled = np.flatnonzero(np.diff(matrix.indptr) > 0)
        group[filled] = matrix.indices[matrix.indptr[filled]]
        found = np.full((matrix.shape[0], 2 * numbers.shape[1]), np.nan)
        for column in range(numbers.shape[1]):
            starts = self.starts[column]
            known = np.repeat(np.arange(len(self.names)), np.diff(starts))
            values = self.values[starts[0] : starts[-1]]
            own = numbers[filled, column]
            below, above = _neighbouring(known, values, group[filled], own)
            found[filled, 2 * column] = own - below
            found[filled, 2 * column + 1] = above - own
        return found

    def titles(self, numbers: Sequence[str], targets: Sequence[str]) -> list[str]:
        """What each column says, in words."""
        if self.indicators:
            return [f"{self.layer} is {name}" for name in self.names]
        around = "neighbours" if self.kind == "edges" else self.layer
        found = [f"{target} in {around}" for target in targets]
        found.append(f"number of {self.layer}" if self.kind == "edges" else f"size of {self.layer}")
        if self.means.shape[1]:
            found += [f"{number} against its mean in {around}" for number in numbers]
        if self.starts.shape[0]:
            found += [
                f"{number} and the {which} one in {around}" for number in numbers for which in ("lower", "higher")
            ]
        return found


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
        blocks: list[Floats] = [numbers]
        for layer in self.layers:
            compared = numbers[:, : layer.means.shape[1]]
            blocks += layer.columns(graph, compared, fold, self.mean)
        return np.ascontiguousarray(np.hstack(blocks))

    def titles(self) -> list[str]:
        """What each column says, in words."""
        found = list(self.numbers)
        for layer in self.layers:
            found += layer.titles(self.numbers, self.targets)
        return found

    def layer_of_column(self) -> list[str]:
        """The layer that each column belongs to; for a number, the layer of its name, or else the number's name."""
        found = list(self.numbers)
        for layer in self.layers:
            found += [layer.layer] * len(layer.titles(self.numbers, self.targets))
        return found


def _at_places(where: sp.csr_array | None, nodes: Ints, rows: Floats, places: int) -> Floats:
    """The sums of the rows of some nodes over the places they are in."""
    if where is not None:
        sums: Floats = np.asarray(where[:, nodes] @ rows)
        return sums
    found = np.zeros((places, rows.shape[1]))
    found[nodes] = rows
    return found


def _sorted_values(matrix: sp.csr_array, numbers: Floats, groups: bool) -> tuple[Ints, Floats]:
    """The different values of each number in each group, sorted, and where those of a group begin."""
    places = matrix.shape[1]
    filled = np.diff(matrix.indptr)
    if not groups or (filled > 1).any() or not numbers.shape[1]:
        return np.zeros((0, places + 1), dtype=np.int64), np.zeros(0)
    nodes, group = np.flatnonzero(filled > 0), matrix.indices.astype(np.int64)
    starts, parts, begin = [], [], 0
    for column in range(numbers.shape[1]):
        values = numbers[nodes, column]
        order = np.lexsort((values, group))
        values, place = values[order], group[order]
        first = np.ones(values.size, dtype=bool)
        first[1:] = (place[1:] != place[:-1]) | (values[1:] != values[:-1])
        counts = np.bincount(place[first], minlength=places)
        starts.append(begin + np.concatenate([[0], np.cumsum(counts)]))
        parts.append(values[first])
        begin += int(first.sum())
    return np.stack(starts).astype(np.int64), np.concatenate(parts)


def _neighbouring(known_group: Ints, known_value: Floats, group: Ints, value: Floats) -> tuple[Floats, Floats]:
    """The next lower and the next higher known value in each one's group; NaN where there is none.

    >>> values = np.array([1.0, 4.0, 9.0])
    >>> _neighbouring(np.zeros(3, dtype=int), values, np.zeros(2, dtype=int), np.array([4.0, 5.0]))
    (array([1., 4.]), array([9., 9.]))
    """
    # both sides ranked together: a value comes after all that are lower in its group
    joined_group = np.concatenate([known_group, group])
    joined_value = np.concatenate([known_value, value])
    count = known_group.size

    def place_among_known(before: bool) -> Ints:
        first = np.ones(joined_group.size)
        first[count:] = 0 if before else 2
        order = np.lexsort((first, joined_value, joined_group))
        passed = np.cumsum(order < count)
        found = np.empty(joined_group.size, dtype=np.int64)
        found[order] = passed
        return found[count:]

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
        return one.kind == "groups" and not any(getattr(one, name).size for name in _ARRAYS)
    places = len(one.names)
    if (one.targets.ndim, one.labels.ndim, one.means.ndim, one.starts.ndim, one.values.ndim) != (3, 2, 2, 2, 1):
        return False
    fits = one.size.shape == (places,) and one.targets.shape == (*one.labels.shape, targets)
    fits = fits and one.labels.shape[0] == places and one.labels.shape[1] > 0
    fits = fits and one.means.shape[0] == places and one.means.shape[1] in (0, numbers)
    fits = fits and one.starts.shape[0] in (0, one.means.shape[1]) and one.starts.shape[1] == places + 1
    if not fits or not one.starts.size:
        return fits
    rising = bool((np.diff(one.starts, axis=1) >= 0).all()) and bool((one.starts >= 0).all())
    return rising and int(one.starts.max()) <= one.values.size
