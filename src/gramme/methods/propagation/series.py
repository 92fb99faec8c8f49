"""Label propagation as a series: what nodes hear from their neighbours, their neighbours' neighbours, and so on.

With P_l the mean over a node and its neighbours in layer l, and layer weights w that sum to 1,

    F = sum over k of alpha^k P^k Y,      P = sum over l of w_l P_l,

solves F = alpha P F + Y. One run of the powers P^k Y serves every alpha. Columns are independent of each other, and
each has its own layer weights, so folds, candidates and classes are all columns of one call.

Ways to take a step, equal in values: in the space of the nodes with the layers' neighbourhood sums (all at once where
there are very many layers), or, where every layer is a table column, in the space of the groups, whose number does not
grow with the table. ``walk_of`` takes the cheapest.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray
from torch import Tensor

from gramme._types import Floats, Ints
from gramme.distributed import communicator_of, global_positions, local_index
from gramme.distributed.part_graph import PartGroups
from gramme.graph import MembershipLayer, MultilayerGraph
from gramme.methods.labels import is_large
from gramme.ops import layers_sum


class Propagated(NamedTuple):
    """F at the rows asked for, shape (alphas, rows, columns), and its sum over all nodes, shape (alphas, columns)."""

    values: Floats
    totals: Floats


class Walk(ABC):
    """The powers of P in some space: ``first`` makes P Y, ``step`` applies P, ``lift`` goes back to the nodes."""

    graph: MultilayerGraph
    nodes: int
    large: bool = False
    """Whether steps cost so much that time is saved at some precision."""

    @abstractmethod
    def first(self, known: Ints, values: Tensor, weights: Tensor) -> Tensor:
        """P Y for a Y with the given values in the known rows, zero in others, and weights (layers, columns)."""

    @abstractmethod
    def step(self, state: Tensor, weights: Tensor) -> Tensor:
        """P applied once more."""

    @abstractmethod
    def view(self, state: Tensor, rows: Tensor) -> Tensor:
        """As little of a state as has to be added up to know some rows."""

    @abstractmethod
    def lift(self, views: Tensor, rows: Tensor) -> tuple[Tensor, Tensor]:
        """From added up views to those rows and the sum over all nodes."""

    @abstractmethod
    def single(self, layer: int) -> Walk:
        """The walk within one layer."""

    def within_layers(
        self, known: Ints, values: Floats, alpha: float, steps: int
    ) -> Iterator[tuple[slice, Floats, Floats]]:
        """F at the known nodes for each layer by itself.

        Yields some layers at a time: which, F of shape (layers, known, columns), and its sums over all nodes.
        """
        ones = np.ones((1, values.shape[1]))
        dtype = torch.float32 if self.large else torch.float64
        for layer in range(self.graph.num_layers):
            walk = self.single(layer)
            found = propagate(walk, known, values, ones, [alpha], known, tolerance=0, most=steps, dtype=dtype)
            yield slice(layer, layer + 1), found.values, found.totals


class NodeSpace(Walk):
    """States have a row for each node."""

    def first(self, known: Ints, values: Tensor, weights: Tensor) -> Tensor:
        known_rows, local_nodes = local_index(self.graph, known)
        start_values = values.new_zeros(self.nodes, values.shape[1])
        start_values[torch.from_numpy(local_nodes)] = values[torch.from_numpy(known_rows)]
        return self.step(start_values, weights)

    def view(self, state: Tensor, rows: Tensor) -> Tensor:
        return torch.cat([state[rows], state.sum(0, keepdim=True)])

    def lift(self, views: Tensor, rows: Tensor) -> tuple[Tensor, Tensor]:
        return views[:-1], communicator_of(self.graph).all_sum_(views[-1].clone())


class NodeWalk(NodeSpace):
    """Steps with the layers' neighbourhood sums. Cost of a step: edges (or memberships) x columns."""

    def __init__(self, graph: MultilayerGraph, layers: Iterable[str] | None = None) -> None:
        self.graph, self.nodes = graph, graph.num_nodes
        self.large = is_large(graph.num_entries)
        names = graph.layers if layers is None else layers
        self.sums = [layers_sum(graph, [name]) for name in names]
        self.scales: list[Tensor] = []
        for neighbourhood in self.sums:
            size = neighbourhood(torch.ones(self.nodes, 1, dtype=torch.float64))
            # a node without neighbours hears nothing here: only the layers that know it count
            self.scales.append(torch.where(size > 1, 1 / size, torch.zeros_like(size)))

    def single(self, layer: int) -> NodeWalk:
        layer_walk = copy(self)
        layer_walk.sums, layer_walk.scales = [self.sums[layer]], [self.scales[layer]]
        return layer_walk

    def mean(self, layer: int, values: Tensor) -> Tensor:
        """The mean of each node and its neighbours in a layer; 0 where there are none."""
        return self.sums[layer](values).mul_(self.scales[layer].to(values.dtype))

    def step(self, state: Tensor, weights: Tensor) -> Tensor:
        weighted_means = self.mean(0, state).mul_(weights[0])
        for layer_index in range(1, len(self.sums)):
            weighted_means.addcmul_(self.mean(layer_index, state), weights[layer_index])
        return weighted_means


class GroupWalk(Walk):
    """Steps among the groups of layers in which no node has two. Cost of a step: groups squared x columns.

    All members of a group hear the same in its layer, so P^k Y is known from one row per group, and a step is the
    product with the matrix of how the members of one group are spread over the others.
    """

    def __init__(self, graph: MultilayerGraph, layers: Sequence[MembershipLayer]) -> None:
        self.graph, self.nodes, self.layers = graph, graph.num_nodes, layers
        communicator = communicator_of(graph)
        group_starts = np.concatenate([[0], np.cumsum([groups_in_all(layer) for layer in layers])])
        num_groups = int(group_starts[-1])
        # the last row stands for no group at all, and stays zero
        self.codes = np.full((len(layers), self.nodes), num_groups, dtype=np.int32)
        for layer_index, layer in enumerate(layers):
            group_codes = layer.codes()
            group_numbers = group_places(layer)
            self.codes[layer_index][group_codes >= 0] = (
                group_numbers[group_codes[group_codes >= 0]] + group_starts[layer_index]
            )
        pair_counts = np.zeros((num_groups + 1) ** 2, dtype=np.int64)
        for first_codes in self.codes:
            for second_codes in self.codes:
                group_pairs = first_codes.astype(np.int64) * (num_groups + 1) + second_codes
                pair_counts += np.bincount(group_pairs, minlength=pair_counts.size)
        pair_counts = communicator.all_sum(pair_counts)
        group_sizes = np.zeros(num_groups + 1)
        for layer_index, layer in enumerate(layers):
            group_sizes[group_places(layer) + group_starts[layer_index]] = layer.sizes
        group_sizes = communicator.all_max(group_sizes)
        self.sizes = torch.from_numpy(group_sizes)
        self.heard = torch.from_numpy(np.where(group_sizes > 1, 1 / np.maximum(group_sizes, 1), 0))[:, None]
        self.spread = torch.from_numpy(pair_counts.reshape(num_groups + 1, -1) * 1.0) * self.heard
        self.layer = torch.from_numpy(
            np.append(np.repeat(np.arange(len(layers)), np.diff(group_starts)), 0).astype(np.int64)
        )

    def single(self, layer: int) -> GroupWalk:
        return GroupWalk(self.graph, [self.layers[layer]])

    def first(self, known: Ints, values: Tensor, weights: Tensor) -> Tensor:
        known_rows, local_nodes = local_index(self.graph, known)
        group_sums = values.new_zeros(self.sizes.numel(), values.shape[1])
        for codes in self.codes:
            group_rows = torch.from_numpy(codes)[torch.from_numpy(local_nodes)]
            group_sums.index_add_(0, group_rows, values[torch.from_numpy(known_rows)])
        communicator_of(self.graph).all_sum_(group_sums)
        return group_sums.mul_(self.heard.to(values.dtype)).mul_(weights[self.layer])

    def step(self, state: Tensor, weights: Tensor) -> Tensor:
        return (self.spread.to(state.dtype) @ state).mul_(weights[self.layer])

    def view(self, state: Tensor, rows: Tensor) -> Tensor:
        return state

    def lift(self, views: Tensor, rows: Tensor) -> tuple[Tensor, Tensor]:
        node_values = views.new_zeros(rows.numel(), views.shape[1])
        for codes in self.codes:
            node_values += views[torch.from_numpy(codes)[rows]]
        return node_values, self.sizes.to(views.dtype) @ views


def groups_in_all(layer: MembershipLayer) -> int:
    """Groups of a layer, at whichever process they have members."""
    return layer.groups_in_all if isinstance(layer, PartGroups) else layer.num_groups


def group_places(layer: MembershipLayer) -> Ints:
    """The number of each group with members here among all groups of the layer."""
    return layer.group_place if isinstance(layer, PartGroups) else np.arange(layer.num_groups)


def _largest(state: Tensor) -> float:
    return float(state.max()) if state.numel() else 0.0


def propagate(
    walk: Walk,
    known: NDArray[np.int64],
    values: Floats,
    weights: Floats,
    alphas: Sequence[float],
    rows: Ints | None,
    *,
    tolerance: float,
    most: int,
    dtype: torch.dtype = torch.float64,
) -> Propagated:
    """F for every alpha.

    Parameters
    ----------
    walk : Walk
    known, values : array of int, shape (known,), and array, shape (known, columns)
        The rows of Y that are not zero, with what they hold.
    weights : array, shape (layers, columns)
        Layer weights, each column summing to 1.
    alphas : sequence of float
    rows : array of int, optional
        Where F is wanted. If not given, at all nodes; of a graph in parts at this part's.
    tolerance : float
        The series ends when a further power changes no entry by more than this share of the largest; what follows is
        then a geometric series of equal terms, added as such. It also ends when alpha^k is below it. In both cases
        not before labels have reached all they can reach.
    most : int
        Steps at most.
    dtype : torch.dtype
        Of the steps; sums are float64.
    """
    wanted_rows, local_rows = local_index(walk.graph, global_positions(walk.graph) if rows is None else rows)
    row_numbers = torch.from_numpy(local_rows)
    start_values = torch.from_numpy(values).to(dtype)
    layer_weights = torch.from_numpy(weights).to(dtype)
    series_views = _series(walk, known, start_values, layer_weights, alphas, row_numbers, tolerance, most)
    own_values = np.zeros((walk.nodes, values.shape[1]))
    known_rows, local_nodes = local_index(walk.graph, known)
    own_values[local_nodes] = values[known_rows]
    own_values = own_values[local_rows]
    alpha_values, alpha_totals = [], []
    for series_view in series_views:
        lifted_values, column_totals = walk.lift(series_view, row_numbers)
        at_rows = lifted_values.numpy() + own_values
        alpha_values.append(at_rows if rows is None else _everywhere(walk, at_rows, wanted_rows, rows.size))
        alpha_totals.append(column_totals.numpy() + values.sum(0))
    return Propagated(np.stack(alpha_values), np.stack(alpha_totals))


def _everywhere(walk: Walk, rows: Floats, which: Ints, count: int) -> Floats:
    """Rows that were asked for, at every process, from those that this one has."""
    communicator = communicator_of(walk.graph)
    if communicator.alone:
        return rows
    gathered_rows = np.empty((count, rows.shape[1]))
    for part_rows, part in zip(communicator.gather(which), communicator.gather(rows), strict=True):
        gathered_rows[part_rows] = part
    return gathered_rows


def _series(
    walk: Walk,
    known: Ints,
    values: Tensor,
    weights: Tensor,
    alphas: Sequence[float],
    rows: Tensor,
    tolerance: float,
    most: int,
) -> list[Tensor]:
    """The views of the sums of alpha^k P^k Y from k = 1 on, one per alpha, in float64."""
    walk_state = walk.first(known, values, weights)
    state_view = walk.view(walk_state, rows).double()
    alpha_sums = [alpha * state_view for alpha in alphas]
    communicator = communicator_of(walk.graph)
    reached_entries = int(walk_state.count_nonzero())
    for power in range(2, most + 1):
        next_state = walk.step(walk_state, weights)
        largest_value = _largest(walk_state)
        # in place: the last state is not needed any more, and torch.dist takes as long as the step itself
        largest_change = _largest(walk_state.sub_(next_state).abs_())
        reached_before, reached_entries = reached_entries, int(next_state.count_nonzero())
        largest_change, largest_value, spreads = communicator.all_max(
            np.array([largest_change, largest_value, reached_entries != reached_before])
        )
        # a row that is still to be reached has nothing but what is to come, however little that is
        is_settled = bool(largest_change <= tolerance * largest_value) and not spreads
        walk_state = next_state
        state_view = walk.view(walk_state, rows).double()
        for alpha_sum, alpha in zip(alpha_sums, alphas, strict=True):
            series_rest = 1 / (1 - alpha) if is_settled else 1.0
            alpha_sum.add_(state_view, alpha=alpha**power * series_rest)
        if is_settled or (max(alphas) ** power <= tolerance and not spreads):
            break
    return alpha_sums


# Steps over very many layers of edges at once: a graph may have thousands of layers with a few
# nodes each.


MANY_LAYERS = 64
"""Layers from which on they are taken together."""
MAX_ROWS_PER_NODE = 16
"""Rows of all layers per node at most, on average, so that a step takes little more memory than its result ..."""
FEW_ROWS = 100_000
"""... unless there are so few rows that it does not matter."""
MAX_STATE_NUMBERS = 1 << 24  # of layers that labels spread in at once, each by itself


class ManyLayersWalk(NodeSpace):
    """Steps for graphs with many small layers. Cost of a step: edges x columns, in three calls."""

    def __init__(self, graph: MultilayerGraph) -> None:
        self.graph, self.nodes = graph, graph.num_nodes
        edge_rows, neighbour_nodes, edge_weights = layer_pairs(graph)
        self.places, edge_rows = np.unique(edge_rows, return_inverse=True)
        self.layer, row_nodes = np.divmod(self.places, max(self.nodes, 1))
        num_rows = self.places.size
        row_index = np.arange(num_rows)
        entry_rows, column_nodes = np.concatenate([row_index, edge_rows]), np.concatenate([row_nodes, neighbour_nodes])
        entry_weights = np.concatenate([np.ones(num_rows), edge_weights])
        self.sums = sp.csr_array((entry_weights, (entry_rows, column_nodes)), shape=(num_rows, self.nodes))
        self.share = 1 / np.asarray(self.sums.sum(axis=1), dtype=np.float64).reshape(-1, 1)
        self.to_nodes = sp.csr_array((np.ones(num_rows), (row_nodes, row_index)), shape=(self.nodes, num_rows))
        self.to_nodes.sort_indices()

    def means(self, values: NDArray[Any]) -> NDArray[Any]:
        """The mean of each node and its neighbours, a row for each pair of a layer and a node that it joins."""
        kind = values.dtype
        row_means: NDArray[Any] = self.sums.astype(kind, copy=False) @ values
        row_means *= self.share.astype(kind)
        return row_means

    def step(self, state: Tensor, weights: Tensor) -> Tensor:
        row_means = self.means(state.numpy())
        row_means *= weights.numpy()[self.layer]
        return torch.from_numpy(self.to_nodes.astype(row_means.dtype, copy=False) @ row_means)

    def single(self, layer: int) -> NodeWalk:
        return NodeWalk(self.graph, [list(self.graph.layers)[layer]])

    def within_layers(
        self, known: Ints, values: Floats, alpha: float, steps: int
    ) -> Iterator[tuple[slice, Floats, Floats]]:
        """Many layers at once: a row of the state is a node in a layer."""
        layers, columns = self.graph.num_layers, values.shape[1]
        entries = self.sums.tocoo()
        # a neighbour that hears nobody in the layer has no row, and nothing to pass on after the first step
        other = self.layer[entries.row] * self.nodes + entries.col
        place = np.minimum(np.searchsorted(self.places, other), self.places.size - 1)
        there = self.places[place] == other
        step = sp.csr_array(
            ((self.share[entries.row, 0] * entries.data)[there], (entries.row[there], place[there])),
            shape=(self.places.size, self.places.size),
        ).astype(np.float32)
        start = np.zeros((self.nodes, columns), dtype=np.float32)
        start[known] = values
        count = max(1, MAX_STATE_NUMBERS * layers // max(self.places.size * columns, 1))
        for begin in range(0, layers, count):
            some = np.arange(begin, min(begin + count, layers))
            first, last = np.searchsorted(self.places, [some[0] * self.nodes, (some[-1] + 1) * self.nodes])
            rows = slice(first, last)
            sums = np.zeros((some.size, columns))
            reached = np.zeros((some.size, known.size, columns))
            if last > first:
                heard = self.sums[rows].astype(np.float32) @ start
                state: NDArray[Any] = np.float32(alpha) * (heard * self.share[rows].astype(np.float32))
                total, within = state.astype(np.float64), step[rows, rows]
                for _ in range(steps - 1):
                    state = np.float32(alpha) * (within @ state)
                    total += state
                np.add.at(sums, self.layer[rows] - begin, total)
                wanted = some[:, None] * self.nodes + known
                place = np.clip(np.searchsorted(self.places, wanted), first, last - 1)
                reached = total[place - first] * (self.places[place] == wanted)[..., None]
            yield slice(begin, begin + some.size), reached + values, sums + values.sum(axis=0)

    def spreads(self, values: Floats) -> Floats:
        """Per layer, the sum of the squared deviations of its means from their own mean."""
        row_means, num_layers = self.means(values), self.graph.num_layers
        row_counts = np.maximum(np.bincount(self.layer, minlength=num_layers), 1)
        squared_deviations = np.zeros(num_layers)
        for column in row_means.T:
            layer_centres = np.bincount(self.layer, column, minlength=num_layers) / row_counts
            squared_deviations += np.bincount(
                self.layer, (column - layer_centres[self.layer]) ** 2, minlength=num_layers
            )
        return squared_deviations


class AddedLayersWalk(ManyLayersWalk):
    """The same where many layers join the same few pairs of nodes: each column's layers are added up before it steps.

    Cost of a step: pairs of nodes x columns, after once entries x different weights of the layers.
    """

    def __init__(self, graph: MultilayerGraph) -> None:
        super().__init__(graph)
        entries = self.sums.tocoo()
        pair = self.places[entries.row] % self.nodes * self.nodes + entries.col
        shares = self.share[entries.row, 0] * entries.data
        self.pairs = sp.csr_array((shares, (pair, self.layer[entries.row])), shape=(self.nodes**2, graph.num_layers))
        self.added: tuple[Tensor, Ints, NDArray[Any]] | None = None  # of some weights: of each column, its matrix

    def step(self, state: Tensor, weights: Tensor) -> Tensor:
        if self.added is None or self.added[0] is not weights:
            distinct_weights, weights_index = np.unique(weights.numpy(), axis=1, return_inverse=True)
            matrices = (self.pairs @ distinct_weights.astype(np.float64)).T.astype(distinct_weights.dtype)
            self.added = weights, weights_index.reshape(-1), matrices.reshape(-1, self.nodes, self.nodes)
        _, weights_index, matrices = self.added
        state_values, stepped_values = state.numpy(), np.empty(state.shape, dtype=matrices.dtype)
        for matrix_index, matrix in enumerate(matrices):
            column_index = np.flatnonzero(weights_index == matrix_index)
            stepped_values[:, column_index] = matrix @ state_values[:, column_index]
        return torch.from_numpy(stepped_values)


def layer_pairs(graph: MultilayerGraph) -> tuple[NDArray[np.int64], NDArray[np.int64], Floats]:
    """For every edge, and both ways where it has no direction: layer x nodes + node, its neighbour, the weight."""
    row_keys, neighbour_nodes, pair_weights = [], [], []
    for layer_index, layer in enumerate(graph.layers.values()):
        edges = layer.to_edges()
        edge_sources, edge_targets = edges.source.astype(np.int64), edges.target.astype(np.int64)
        edge_weights = np.ones(edges.num_edges) if edges.weight is None else edges.weight
        edge_directions = (
            [(edge_sources, edge_targets)]
            if layer.directed
            else [(edge_sources, edge_targets), (edge_targets, edge_sources)]
        )
        for pair_rows, pair_others in edge_directions:
            row_keys.append(layer_index * graph.num_nodes + pair_rows)
            neighbour_nodes.append(pair_others)
            pair_weights.append(edge_weights)
    return np.concatenate(row_keys), np.concatenate(neighbour_nodes), np.concatenate(pair_weights)


def has_many_small_layers(graph: MultilayerGraph) -> bool:
    """Whether taking the layers together is the better way: many, all of edges, in one process."""
    return _walk_of_many(graph) is not None


def _walk_of_many(graph: MultilayerGraph) -> type[ManyLayersWalk] | None:
    layers = graph.layers.values()
    if graph.num_layers < MANY_LAYERS or not communicator_of(graph).alone:
        return None
    if any(layer.as_groups() is not None for layer in layers):
        return None
    num_rows = sum(min(2 * layer.num_entries, layer.num_nodes) for layer in layers)
    if num_rows <= max(MAX_ROWS_PER_NODE * graph.num_nodes, FEW_ROWS):
        return ManyLayersWalk
    return AddedLayersWalk if graph.num_nodes**2 <= num_rows else None


# Which of the ways to take a step of label propagation is the cheapest on a graph.


def walk_of(graph: MultilayerGraph) -> Walk:
    """The cheapest way to propagate on a graph; it is made once and kept with a graph that is not large."""
    walk: Walk | None = vars(graph).get("_walk")
    if walk is None:
        walk = _cheapest_walk(graph)
        if not is_large(graph.num_entries):
            vars(graph)["_walk"] = walk  # left behind by pickling
    return walk


def _cheapest_walk(graph: MultilayerGraph) -> Walk:
    layers = list(graph.layers.values())
    groups_of = [layer.as_groups() for layer in layers]
    column_layers = [groups for groups in groups_of if groups is not None and groups.single]
    if len(column_layers) == len(layers):
        num_groups = sum(groups_in_all(layer) for layer in column_layers)
        num_memberships = sum(layer.num_entries for layer in column_layers)
        if 0 < num_groups**2 <= 4 * num_memberships:
            return GroupWalk(graph, column_layers)
    return (_walk_of_many(graph) or NodeWalk)(graph)
