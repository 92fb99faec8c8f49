"""Where a walk over all layers leads from a node, beyond where every walk leads: an embedding that needs no labels.

Layers count alike, or by weights that a user of this module gives: each one's adjacency, scaled by the square roots of
the degrees, is added up to B, with b = B 1. The walk stays where it is one time in five and else takes a step of N =
b^(-1/2) B b^(-1/2). Its eigenvectors u with the largest eigenvalues say which nodes long walks do not tell apart; the
first of all, the square root of b, is the same for every start and left out. After t steps a walk from node i is at
sum_k m_k^t u_k(i) u_k, so the rows

    m^t u(i),    scaled to length 1,

compare nodes by where walks of t steps lead from them. Short walks know a node's surroundings, long ones the large
divisions of the network.

A node of another graph gets its row by one step of the walk: the mean of what its neighbours (by name) and its groups
(by name) have. The rows of the graph that the eigenvectors are from are made by the same step, so that both agree.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pandas as pd
import scipy.sparse as sp
import torch
from numpy.typing import NDArray
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from gramme._types import Floats
from gramme.distributed import SINGLE_PROCESS, Communicator, PartGraph
from gramme.distributed.part_graph import PartEdges, PartGroups
from gramme.distributed.storage import gathered_graph
from gramme.errors import DataError
from gramme.graph import Layer, MultilayerGraph
from gramme.methods.persistence import Learned, MisfitError, SavedArray, SavedField, Sizes
from gramme.ops.neighbourhood import SharedGroups
from gramme.ops.parts import PartEdgeSum

from .one_hot import LayerColumns

if TYPE_CHECKING:
    from gramme.methods.base import GraphEstimator


# Steps of a walk over a graph whose parts lie at several processes, as products with each layer.


MAX_GATHERED_ENTRIES = 2_000_000
"""Edges, memberships and nodes up to which every process gathers all layers for the eigenvectors, and works alone.

Where eigenvalues are equal, as in a table of all combinations or a network of equal pieces, their vectors depend on the
last bit of every sum. Beyond this size sums are taken together, and such vectors may be others than on one process.
"""


class LayerSteps:
    """One layer: values of neighbours, scaled by the square roots of the degrees (``scale``) on both sides."""

    def __init__(self, graph: PartGraph, layer: Layer) -> None:
        assert isinstance(layer, (PartEdges, PartGroups))
        self.layer, self.inside = layer, layer.incidence()
        if isinstance(layer, PartEdges):
            symmetric = not layer.directed
            self._sum = PartEdgeSum(layer.links, symmetric=symmetric, include_self=False)
        else:
            self._shared = SharedGroups(graph.communicator, layer.shared, layer.shared_count)
        self.scale = inverse_roots(self.over_neighbours(np.ones((graph.num_nodes, 1)))[:, 0])

    def over_neighbours(self, values: Floats) -> Floats:
        """Sums over those a node listens to and those who listen to it, or over all members of its groups."""
        if self.inside is not None:
            member_sums: Floats = self.inside @ self.over_members(values)
            return member_sums
        value_tensor = torch.from_numpy(np.ascontiguousarray(values))
        sum_tensor = self._sum(value_tensor)
        if self.layer.directed:
            sum_tensor += self._sum.transposed(value_tensor)
        neighbour_sums: Floats = sum_tensor.numpy()
        return neighbour_sums

    def over_members(self, values: Floats) -> Floats:
        """Sums of the groups with members here, over all their members."""
        assert self.inside is not None  # a layer of edges has no groups
        local_sums = np.ascontiguousarray(self.inside.T @ values)
        group_sums: Floats = self._shared.whole_(torch.from_numpy(local_sums)).numpy()
        return group_sums

    def product(self, values: Floats) -> Floats:
        """Scaled sums over neighbours, from values (nodes here, columns); a collective."""
        return self.scale[:, None] * self.over_neighbours(self.scale[:, None] * values)


class WalkInParts:
    """N = b^(-1/2) B b^(-1/2) over all layers of a graph in parts; ``root`` is b^(-1/2) of the nodes here.

    ``first``, of the whole graph's nodes, is the first eigenvector: the square roots of b, of length 1.
    """

    def __init__(self, graph: PartGraph, weights: Mapping[str, float]) -> None:
        self.graph, self.weights = graph, weights
        self.layers = {layer_name: LayerSteps(graph, layer) for layer_name, layer in graph.layers.items()}
        total_mass = self._added(np.ones((graph.num_nodes, 1)))[:, 0]
        self.root = inverse_roots(total_mass)
        first_vector = graph.in_order(np.sqrt(total_mass))
        self.first: Floats = first_vector / max(float(np.linalg.norm(first_vector)), 1e-300)

    def _added(self, values: Floats) -> Floats:
        weighted_sum = np.zeros_like(values)
        for layer_name, layer_steps in self.layers.items():
            weighted_sum += self.weights.get(layer_name, 1.0) * layer_steps.product(values)
        return weighted_sum

    def step(self, whole: Floats) -> Floats:
        """One step from a value for every node of the whole graph, to one for every node."""
        local_values = whole[self.graph.places] * self.root
        next_values: Floats = self.graph.in_order(self._added(local_values[:, None])[:, 0] * self.root)
        return next_values


def inverse_roots(degrees: NDArray[Any]) -> Floats:
    """1 / sqrt, 0 where there is nothing to divide by."""
    reciprocal_roots: Floats = np.where(degrees > 0, 1 / np.sqrt(np.where(degrees > 0, degrees, 1)), 0.0)
    return reciprocal_roots


# The leading eigenvectors of a walk, by whichever way costs least for the size of the graph.


STAY_SHARE = 0.2  # share of the walk that stays where it is
DENSE_NODES = 400  # nodes, or groups, up to which all eigenvectors are computed at once
LONG_TABLE_ROWS = 20_000  # rows of a table from which its few groups are looked at instead
ZERO_EIGENVALUE = 1e-9  # what an eigenvalue must exceed to count as above 0
LANCZOS_RESTARTS = 20  # of the Lanczos iteration at most; what has not settled by then is left out


def leading(edges: sp.csr_array, members: sp.csr_array, first: Floats, count: int) -> tuple[Floats, Floats]:
    """Eigenvalues of the walk, largest first, and their vectors; ``first`` is taken out.

    Those that a step takes to 0 or below are left out: they know nothing of the graph, or of its divisions.
    """
    num_nodes = first.size
    if num_nodes > LONG_TABLE_ROWS and edges.nnz == 0 and members.shape[1] <= DENSE_NODES:
        eigenvalues, eigenvectors = _from_groups(members, first)
    elif num_nodes <= DENSE_NODES:
        step_matrix = (edges + members @ members.T).toarray() - np.outer(first, first) / (1 - STAY_SHARE)
        eigenvalues, eigenvectors = np.linalg.eigh(step_matrix)
    else:
        transposed_members = sp.csr_array(members.T)
        eigenvalues, eigenvectors = _lanczos(
            lambda flat: edges @ flat + members @ (transposed_members @ flat), first, count
        )
    return _kept(eigenvalues, eigenvectors, count)


def leading_in_parts(walk: WalkInParts, count: int) -> tuple[Floats, Floats]:
    """The same for a graph in parts; vectors have the rows of this part."""
    graph = walk.graph
    group_layers = [layer for layer in graph.layers.values() if isinstance(layer, PartGroups)]
    num_groups = sum(layer.groups_in_all for layer in group_layers)
    has_edges = any(layer.made_of == "edges" and layer.num_edges for layer in graph.layers.values())
    if graph.whole.nodes > LONG_TABLE_ROWS and not has_edges and num_groups <= DENSE_NODES:
        member_blocks = [sp.csr_array((graph.num_nodes, 0))]
        for layer_name, layer in graph.layers.items():
            if isinstance(layer, PartGroups):
                local_entries = layer.incidence().tocoo()
                incidence_shape = (graph.num_nodes, layer.groups_in_all)
                group_incidence = sp.csr_array(
                    (local_entries.data, (local_entries.row, layer.group_place[local_entries.col])), incidence_shape
                )
                root_weight = walk.weights.get(layer_name, 1.0) ** 0.5
                member_blocks.append(
                    sp.diags_array(root_weight * walk.root * walk.layers[layer_name].scale) @ group_incidence
                )
        member_table = sp.csr_array(sp.hstack(member_blocks, format="csr"))
        eigenvalues, eigenvectors = _from_groups(member_table, walk.first[graph.places], graph.communicator)
        return _kept(eigenvalues, eigenvectors, count)
    eigenvalues, eigenvectors = _lanczos(walk.step, walk.first, count)
    return _kept(eigenvalues, eigenvectors[graph.places], count)


def _kept(values: Floats, vectors: Floats, count: int) -> tuple[Floats, Floats]:
    """The leading eigenvalues above 0, of the walk that stays at times, and their vectors."""
    kept_order = np.argsort(-values, kind="stable")[:count]
    kept_order = kept_order[values[kept_order] > ZERO_EIGENVALUE]
    return STAY_SHARE + (1 - STAY_SHARE) * values[kept_order], vectors[:, kept_order]


def _from_groups(
    members: sp.csr_array, first: Floats, communicator: Communicator = SINGLE_PROCESS
) -> tuple[Floats, Floats]:
    """The same for a table of few groups and many rows, where M M' and M' M have the same eigenvalues above 0."""
    inside = communicator.all_sum(members.T @ first)
    together = communicator.all_sum((members.T @ members).toarray())
    values, sides = np.linalg.eigh(together - np.outer(inside, inside))
    values, sides = values[values > ZERO_EIGENVALUE], sides[:, values > ZERO_EIGENVALUE]
    vectors: Floats = members @ sides - np.outer(first, inside @ sides)
    return values, vectors / np.sqrt(values)


def _lanczos(step: Callable[[Floats], Floats], first: Floats, count: int) -> tuple[Floats, Floats]:
    out = first / (1 - STAY_SHARE)  # so that nothing is left of it after staying, either

    def stepped(one: Floats) -> Floats:
        flat_values = one.reshape(-1)
        stepped_values: Floats = step(flat_values) - out * (first @ flat_values)
        return stepped_values

    operator = LinearOperator((first.size, first.size), matvec=stepped, dtype=np.float64)
    start = np.random.default_rng(0).normal(size=first.size)
    values: Any
    vectors: Any
    try:
        values, vectors = eigsh(operator, count, which="LA", v0=start, tol=1e-4, maxiter=LANCZOS_RESTARTS)
    except ArpackNoConvergence as stopped:
        values, vectors = stopped.eigenvalues, stopped.eigenvectors
    return values, vectors


WALK_STEPS = (2, 4, 8, 16)

Matrix = NDArray[np.float32]


@dataclass(frozen=True)
class GroupVectors:
    """What the groups of a membership layer pass on to their members."""

    columns: LayerColumns
    sizes: Floats  # members of each group
    reach: Floats  # sum of the members' scales, which b is made of
    vectors: Matrix  # sum of the members' vectors, each by its scale


@dataclass(frozen=True)
class WalkProfile:
    """Eigenvectors of a graph's walk, and what it takes to place the nodes of another graph among them."""

    values: Floats
    nodes: pd.Index
    vectors: Matrix
    groups: dict[str, GroupVectors]
    weights: Mapping[str, float] = field(default_factory=dict)  # of layers that do not count 1

    @classmethod
    def of(cls, graph: MultilayerGraph, dim: int, weights: Mapping[str, float] | None = None) -> Self:
        """The leading eigenvectors of a graph's walk; fewer where a step has fewer eigenvalues above 0.

        The latest graph's are remembered as long as it lives, since several methods ask for them in a row. Cost: some
        100 to 1,000 passes over all edges and memberships, and 8 * (2 dim + 1) bytes per node.
        """
        global _latest
        weights = weights if weights and len(set(weights.values())) > 1 else {}
        if _latest is not None and _latest[0]() is graph and _latest[1:3] == (dim, weights):
            remembered_profile: Self = _latest[3]
            return remembered_profile
        walk_profile = cls._computed(graph, dim, weights)
        _latest = (weakref.ref(graph, _forget), dim, weights, walk_profile)
        return walk_profile

    @classmethod
    def _computed(cls, graph: MultilayerGraph, dim: int, weights: Mapping[str, float]) -> Self:
        if isinstance(graph, PartGraph):
            return cls._in_parts(graph, dim, weights)
        edge_matrix, member_matrix = _scaled_layers(graph, weights)
        ones = np.ones(graph.num_nodes)
        node_mass = edge_matrix @ ones + member_matrix @ (member_matrix.T @ ones)
        inverse_root = inverse_roots(node_mass)
        scale = sp.diags_array(inverse_root)
        edge_matrix, member_matrix = sp.csr_array(scale @ edge_matrix @ scale), sp.csr_array(scale @ member_matrix)
        first_vector = np.sqrt(node_mass)
        first_vector /= max(float(np.linalg.norm(first_vector)), 1e-300)
        eigenvalues, eigenvectors = leading(edge_matrix, member_matrix, first_vector, min(dim, graph.num_nodes))
        passed_vectors = (eigenvectors * inverse_root[:, None]).astype(np.float32)
        group_vectors = {}
        for layer_name, layer in graph.layers.items():
            if layer.made_of == "groups":
                group_vectors[layer_name] = _group_vectors(layer_name, layer, graph, passed_vectors)
        return cls(eigenvalues, graph.nodes, passed_vectors, group_vectors, weights)

    @classmethod
    def _in_parts(cls, graph: PartGraph, dim: int, weights: Mapping[str, float]) -> Self:
        """The same for the nodes of one part; eigenvalues are those of the whole graph."""
        if graph.num_entries <= MAX_GATHERED_ENTRIES:
            whole_profile = cls._computed(gathered_graph(graph), dim, weights)
            group_vectors = {
                name: GroupVectors(
                    LayerColumns(name, "groups", layer.group_names),
                    whole_profile.groups[name].sizes[layer.group_place],
                    whole_profile.groups[name].reach[layer.group_place],
                    whole_profile.groups[name].vectors[layer.group_place],
                )
                for name, layer in graph.layers.items()
                if isinstance(layer, PartGroups)
            }
            return cls(whole_profile.values, graph.nodes, whole_profile.vectors[graph.places], group_vectors, weights)
        walk = WalkInParts(graph, weights)
        eigenvalues, eigenvectors = leading_in_parts(walk, min(dim, graph.whole.nodes))
        passed_vectors = (eigenvectors * walk.root[:, None]).astype(np.float32)
        group_vectors = {}
        for layer_name, layer_steps in walk.layers.items():
            if isinstance(layer_steps.layer, PartGroups):
                group_vectors[layer_name] = GroupVectors(
                    LayerColumns(layer_name, "groups", layer_steps.layer.group_names),
                    layer_steps.over_members(np.ones((graph.num_nodes, 1)))[:, 0],
                    layer_steps.over_members(layer_steps.scale[:, None])[:, 0],
                    layer_steps.over_members(layer_steps.scale[:, None] * passed_vectors).astype(np.float32),
                )
        return cls(eigenvalues, graph.nodes, passed_vectors, group_vectors, weights)

    def messages(self, graph: MultilayerGraph) -> Iterator[tuple[Floats, Floats]]:
        """What each layer of a graph passes to its nodes, (nodes, dim), and that layer's part of b."""
        own = self._own(graph)
        for name, layer in graph.layers.items():
            group, weight = self.groups.get(name), self.weights.get(name, 1.0)
            if group is None:
                if layer.made_of != "edges":
                    raise DataError(f"the layer {name!r} has groups here; the model was fitted on one with edges")
                if isinstance(graph, PartGraph):
                    steps = LayerSteps(graph, layer)
                    ones = np.ones((graph.num_nodes, 1))
                    yield weight * steps.product(own), weight * steps.product(ones)[:, 0]
                    continue
                both = _both_ways(layer)
                scale = inverse_roots(both.sum(axis=1))
                weighted = weight * scale
                yield weighted[:, None] * (both @ (scale[:, None] * own)), weighted * (both @ scale)
            else:
                inside = group.columns.matrix(graph)
                weighted = weight * inverse_roots(inside @ group.sizes)
                yield weighted[:, None] * (inside @ group.vectors.astype(np.float64)), weighted * (inside @ group.reach)

    def placed(self, graph: MultilayerGraph) -> Matrix:
        """The rows of a graph's nodes before any is raised to a power or scaled; 0 where no walk leads."""
        message_sums = np.zeros((graph.num_nodes, self.values.size))
        node_mass = np.zeros(graph.num_nodes)
        for layer_messages, layer_mass in self.messages(graph):
            message_sums += layer_messages
            node_mass += layer_mass
        message_sums *= 1 - STAY_SHARE
        message_sums += (STAY_SHARE * node_mass)[:, None] * self._own(graph)
        return message_sums.astype(np.float32)

    def table(self, rows: Matrix, placed: Matrix | None = None) -> Matrix:
        """Rows for walks of every length side by side, each of length 1 (or by the lengths of other rows)."""
        step_blocks = []
        for walk_steps in WALK_STEPS:
            eigenvalue_powers = (self.values ** (walk_steps - 1)).astype(np.float32)
            row_lengths = np.linalg.norm((rows if placed is None else placed) * eigenvalue_powers, axis=1)
            step_blocks.append(rows * (eigenvalue_powers / np.where(row_lengths > 0, row_lengths, 1)[:, None]))
        profile_table: Matrix = (np.concatenate(step_blocks, axis=1) / len(WALK_STEPS) ** 0.5).astype(np.float32)
        return profile_table

    def direction(self, placed: Matrix, coefficients: Floats) -> Floats:
        """Vectors (rows, dim) whose product with what a layer passes to a row is that layer's part of its score.

        The rows are those of :meth:`placed`, the coefficients what each row's columns of the table are multiplied with.
        """
        direction_sums = np.zeros((len(placed), self.values.size))
        for step_coefficients, walk_steps in zip(
            np.split(coefficients, len(WALK_STEPS), axis=1), WALK_STEPS, strict=True
        ):
            eigenvalue_powers = self.values ** (walk_steps - 1)
            row_lengths = np.linalg.norm(placed * eigenvalue_powers, axis=1)
            direction_sums += step_coefficients * eigenvalue_powers / np.where(row_lengths > 0, row_lengths, 1)[:, None]
        row_directions: Floats = (1 - STAY_SHARE) * direction_sums / len(WALK_STEPS) ** 0.5
        return row_directions

    def sources(self, graph: MultilayerGraph) -> Iterator[tuple[str, sp.csr_array, Floats]]:
        """For each layer what its messages are made of: name, matrix (nodes, neighbours or groups), and vectors.

        Matrix times vectors is what the layer passes to the nodes.
        """
        own_vectors = self._own(graph)
        for layer_name, layer in graph.layers.items():
            layer_groups, layer_weight = self.groups.get(layer_name), self.weights.get(layer_name, 1.0)
            if layer.group_names is None:
                both_ways = _both_ways(layer)
                scale = sp.diags_array(inverse_roots(both_ways.sum(axis=1)))
                yield layer_name, sp.csr_array(layer_weight * (scale @ both_ways @ scale)), own_vectors
            elif layer_groups is not None:
                group_incidence = layer_groups.columns.matrix(graph)
                scale = sp.diags_array(layer_weight * inverse_roots(group_incidence @ layer_groups.sizes))
                group_index = layer.group_names.get_indexer(layer_groups.columns.names)
                known_groups = np.flatnonzero(group_index >= 0)
                group_vectors = np.zeros((len(layer.group_names), self.values.size))
                group_vectors[group_index[known_groups]] = layer_groups.vectors[known_groups]
                scaled_entries = sp.csr_array(scale @ group_incidence).tocoo()
                source_matrix = sp.csr_array(
                    (scaled_entries.data, (scaled_entries.row, group_index[scaled_entries.col])),
                    shape=(graph.num_nodes, len(layer.group_names)),
                )
                yield layer_name, source_matrix, group_vectors

    def _own(self, graph: MultilayerGraph) -> Floats:
        """The vectors of the nodes that the eigenvectors know by name; 0 for others."""
        node_places = self.nodes.get_indexer(graph.nodes)
        own_vectors: Floats = self.vectors[node_places].astype(np.float64)
        own_vectors[node_places < 0] = 0
        return own_vectors


_latest: tuple[weakref.ref[MultilayerGraph], int, Mapping[str, float], Any] | None = None


def _forget(_: object) -> None:
    global _latest
    _latest = None


class SavedProfile(SavedField):
    """Eigenvalues, the nodes' vectors, and what the groups of each membership layer pass on.

    With ``optional`` a model may have None in its place, and a file may lack it.
    """

    def __init__(self, name: str, *, optional: bool = False) -> None:
        super().__init__(name)
        self.optional = optional

    values = SavedArray("values", np.float64, ("dim",))
    vectors = SavedArray("vectors", np.float32, ("nodes", "dim"))

    @staticmethod
    def parts(place: int) -> dict[str, SavedArray]:
        """The arrays of a layer's groups; the layers are counted."""
        size = f"groups of layer {place}"
        return {
            "sizes": SavedArray(f"group {place} sizes", np.float64, (size,), low=0),
            "reach": SavedArray(f"group {place} reach", np.float64, (size,), low=0),
            "vectors": SavedArray(f"group {place} vectors", np.float32, (size, "dim")),
        }

    def save(self, model: GraphEstimator, learned: Learned) -> None:
        profile: WalkProfile | None = getattr(model, self.attribute)
        if profile is None:
            return
        learned.record["groups"] = {layer_name: group.columns.record() for layer_name, group in profile.groups.items()}
        if profile.weights:
            learned.record["walk_weights"] = dict(profile.weights)
        learned.tensors["values"] = _copied(profile.values)
        node_rows = profile.nodes.get_indexer(model.nodes_)  # a file has its nodes once, as they were given
        learned.tensors["vectors"] = _copied(profile.vectors[node_rows])
        for layer_index, layer_groups in enumerate(profile.groups.values()):
            for array_name, saved_array in self.parts(layer_index).items():
                learned.tensors[saved_array.name] = _copied(getattr(layer_groups, array_name))

    def load(self, model: GraphEstimator, learned: Learned, sizes: Sizes) -> None:
        if self.optional and self.values.name not in learned.tensors:
            setattr(model, self.attribute, None)
            return

        def array(saved: SavedArray) -> NDArray[Any]:
            if saved.name not in learned.tensors:
                raise MisfitError(f"{saved.name} is missing")
            return saved.array(learned.tensors[saved.name], sizes)

        values, vectors = array(self.values), array(self.vectors)
        record = learned.record.get("groups")
        if not isinstance(record, dict) or not set(record) <= set(model.layers_):
            raise MisfitError("groups must be those of the model's layers")
        groups = {}
        for place, (name, entry) in enumerate(record.items()):
            columns = LayerColumns.from_record(entry, self, name)
            sizes[f"groups of layer {place}"] = len(columns.names)
            arrays = {part: array(saved) for part, saved in self.parts(place).items()}
            groups[name] = GroupVectors(columns, **arrays)
        weights = learned.record.get("walk_weights", {})
        fits = isinstance(weights, dict) and set(weights) <= set(model.layers_)
        if not fits or not all(isinstance(one, (int, float)) and 0 <= one < np.inf for one in weights.values()):
            raise MisfitError("walk_weights must be a number of 0 or more for some of the model's layers")
        setattr(model, self.attribute, WalkProfile(values, model.nodes_, vectors, groups, weights))


def _copied(array: NDArray[Any]) -> torch.Tensor:
    """A tensor of its own: several models may hold the same profile, and a file takes no shared memory."""
    return torch.from_numpy(np.array(array))


def _both_ways(layer: Layer) -> sp.csr_array:
    matrix = layer.to_scipy()
    return sp.csr_array(matrix + matrix.T) if layer.directed else matrix


def _scaled_layers(graph: MultilayerGraph, weights: Mapping[str, float]) -> tuple[sp.csr_array, sp.csr_array]:
    """B = E + M M': the edges of all layers together, and the memberships of all layers side by side."""
    edges = sp.csr_array((graph.num_nodes, graph.num_nodes))
    members = [sp.csr_array((graph.num_nodes, 0))]
    for name, layer in graph.layers.items():
        inside, weight = layer.incidence(), weights.get(name, 1.0)
        if inside is None:
            both = _both_ways(layer)
            scale = sp.diags_array(inverse_roots(both.sum(axis=1)) * weight**0.5)
            edges = edges + scale @ both @ scale
        else:
            members.append(sp.diags_array(inverse_roots(inside @ inside.sum(axis=0)) * weight**0.5) @ inside)
    return sp.csr_array(edges), sp.csr_array(sp.hstack(members, format="csr"))


def _group_vectors(name: str, layer: Layer, graph: MultilayerGraph, passed: Matrix) -> GroupVectors:
    layer_columns = LayerColumns.seen(name, layer, graph, np.arange(graph.num_nodes))
    group_incidence = layer_columns.matrix(graph).astype(np.float64)
    group_sizes: Floats = np.asarray(group_incidence.sum(axis=0), dtype=np.float64)
    scale = inverse_roots(group_incidence @ group_sizes)
    member_sums = sp.csr_array(group_incidence.T)
    group_vectors = (member_sums @ (scale[:, None] * passed)).astype(np.float32)
    return GroupVectors(layer_columns, group_sizes, member_sums @ scale, group_vectors)
