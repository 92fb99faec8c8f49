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

    def __init__(self, graph: PartGraph, layer: PartEdges | PartGroups) -> None:
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
            members: Floats = self.inside @ self.over_members(values)
            return members
        given = torch.from_numpy(np.ascontiguousarray(values))
        found = self._sum(given)
        if self.layer.directed:
            found += self._sum.transposed(given)
        sums: Floats = found.numpy()
        return sums

    def over_members(self, values: Floats) -> Floats:
        """Sums of the groups with members here, over all their members."""
        here = np.ascontiguousarray(self.inside.T @ values)
        found: Floats = self._shared.whole_(torch.from_numpy(here)).numpy()
        return found

    def product(self, values: Floats) -> Floats:
        """Scaled sums over neighbours, from values (nodes here, columns); a collective."""
        return self.scale[:, None] * self.over_neighbours(self.scale[:, None] * values)


class WalkInParts:
    """N = b^(-1/2) B b^(-1/2) over all layers of a graph in parts; ``root`` is b^(-1/2) of the nodes here.

    ``first``, of the whole graph's nodes, is the first eigenvector: the square roots of b, of length 1.
    """

    def __init__(self, graph: PartGraph, weights: Mapping[str, float]) -> None:
        self.graph, self.weights = graph, weights
        self.layers = {name: LayerSteps(graph, layer) for name, layer in graph.layers.items()}
        mass = self._added(np.ones((graph.num_nodes, 1)))[:, 0]
        self.root = inverse_roots(mass)
        first = graph.in_order(np.sqrt(mass))
        self.first: Floats = first / max(float(np.linalg.norm(first)), 1e-300)

    def _added(self, values: Floats) -> Floats:
        total = np.zeros_like(values)
        for name, steps in self.layers.items():
            total += self.weights.get(name, 1.0) * steps.product(values)
        return total

    def step(self, whole: Floats) -> Floats:
        """One step from a value for every node of the whole graph, to one for every node."""
        mine = whole[self.graph.places] * self.root
        found: Floats = self.graph.in_order(self._added(mine[:, None])[:, 0] * self.root)
        return found


def inverse_roots(degrees: NDArray[Any]) -> Floats:
    """1 / sqrt, 0 where there is nothing to divide by."""
    found: Floats = np.where(degrees > 0, 1 / np.sqrt(np.where(degrees > 0, degrees, 1)), 0.0)
    return found


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
    nodes = first.size
    if nodes > LONG_TABLE_ROWS and edges.nnz == 0 and members.shape[1] <= DENSE_NODES:
        values, vectors = _from_groups(members, first)
    elif nodes <= DENSE_NODES:
        step = (edges + members @ members.T).toarray() - np.outer(first, first) / (1 - STAY_SHARE)
        values, vectors = np.linalg.eigh(step)
    else:
        back = sp.csr_array(members.T)
        values, vectors = _lanczos(lambda flat: edges @ flat + members @ (back @ flat), first, count)
    return _kept(values, vectors, count)


def leading_in_parts(walk: WalkInParts, count: int) -> tuple[Floats, Floats]:
    """The same for a graph in parts; vectors have the rows of this part."""
    graph = walk.graph
    layers = [layer for layer in graph.layers.values() if isinstance(layer, PartGroups)]
    groups = sum(layer.groups_in_all for layer in layers)
    edges = any(layer.made_of == "edges" and layer.num_edges for layer in graph.layers.values())
    if graph.whole.nodes > LONG_TABLE_ROWS and not edges and groups <= DENSE_NODES:
        members = [sp.csr_array((graph.num_nodes, 0))]
        for name, layer in graph.layers.items():
            if isinstance(layer, PartGroups):
                mine = layer.incidence().tocoo()
                shape = (graph.num_nodes, layer.groups_in_all)
                inside = sp.csr_array((mine.data, (mine.row, layer.group_place[mine.col])), shape)
                weight = walk.weights.get(name, 1.0) ** 0.5
                members.append(sp.diags_array(weight * walk.root * walk.layers[name].scale) @ inside)
        table = sp.csr_array(sp.hstack(members, format="csr"))
        values, vectors = _from_groups(table, walk.first[graph.places], graph.communicator)
        return _kept(values, vectors, count)
    values, vectors = _lanczos(walk.step, walk.first, count)
    return _kept(values, vectors[graph.places], count)


def _kept(values: Floats, vectors: Floats, count: int) -> tuple[Floats, Floats]:
    """The leading eigenvalues above 0, of the walk that stays at times, and their vectors."""
    order = np.argsort(-values, kind="stable")[:count]
    order = order[values[order] > ZERO_EIGENVALUE]
    return STAY_SHARE + (1 - STAY_SHARE) * values[order], vectors[:, order]


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
        flat = one.reshape(-1)
        further: Floats = step(flat) - out * (first @ flat)
        return further

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
            known: Self = _latest[3]
            return known
        found = cls._computed(graph, dim, weights)
        _latest = (weakref.ref(graph, _forget), dim, weights, found)
        return found

    @classmethod
    def _computed(cls, graph: MultilayerGraph, dim: int, weights: Mapping[str, float]) -> Self:
        if isinstance(graph, PartGraph):
            return cls._in_parts(graph, dim, weights)
        edges, members = _scaled_layers(graph, weights)
        ones = np.ones(graph.num_nodes)
        mass = edges @ ones + members @ (members.T @ ones)
        root = inverse_roots(mass)
        scale = sp.diags_array(root)
        edges, members = sp.csr_array(scale @ edges @ scale), sp.csr_array(scale @ members)
        first = np.sqrt(mass)
        first /= max(float(np.linalg.norm(first)), 1e-300)
        values, vectors = leading(edges, members, first, min(dim, graph.num_nodes))
        passed = (vectors * root[:, None]).astype(np.float32)
        groups = {}
        for name, layer in graph.layers.items():
            if layer.made_of == "groups":
                groups[name] = _group_vectors(name, layer, graph, passed)
        return cls(values, graph.nodes, passed, groups, weights)

    @classmethod
    def _in_parts(cls, graph: PartGraph, dim: int, weights: Mapping[str, float]) -> Self:
        """The same for the nodes of one part; eigenvalues are those of the whole graph."""
        if graph.num_entries <= MAX_GATHERED_ENTRIES:
            whole = cls._computed(gathered_graph(graph), dim, weights)
            groups = {
                name: GroupVectors(
                    LayerColumns(name, "groups", layer.group_names),
                    whole.groups[name].sizes[layer.group_place],
                    whole.groups[name].reach[layer.group_place],
                    whole.groups[name].vectors[layer.group_place],
                )
                for name, layer in graph.layers.items()
                if isinstance(layer, PartGroups)
            }
            return cls(whole.values, graph.nodes, whole.vectors[graph.places], groups, weights)
        walk = WalkInParts(graph, weights)
        values, vectors = leading_in_parts(walk, min(dim, graph.whole.nodes))
        passed = (vectors * walk.root[:, None]).astype(np.float32)
        groups = {}
        for name, steps in walk.layers.items():
            if isinstance(steps.layer, PartGroups):
                groups[name] = GroupVectors(
                    LayerColumns(name, "groups", steps.layer.group_names),
                    steps.over_members(np.ones((graph.num_nodes, 1)))[:, 0],
                    steps.over_members(steps.scale[:, None])[:, 0],
                    steps.over_members(steps.scale[:, None] * passed).astype(np.float32),
                )
        return cls(values, graph.nodes, passed, groups, weights)

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
        total = np.zeros((graph.num_nodes, self.values.size))
        mass = np.zeros(graph.num_nodes)
        for heard, part in self.messages(graph):
            total += heard
            mass += part
        total *= 1 - STAY_SHARE
        total += (STAY_SHARE * mass)[:, None] * self._own(graph)
        return total.astype(np.float32)

    def table(self, rows: Matrix, placed: Matrix | None = None) -> Matrix:
        """Rows for walks of every length side by side, each of length 1 (or by the lengths of other rows)."""
        blocks = []
        for steps in WALK_STEPS:
            power = (self.values ** (steps - 1)).astype(np.float32)
            length = np.linalg.norm((rows if placed is None else placed) * power, axis=1)
            blocks.append(rows * (power / np.where(length > 0, length, 1)[:, None]))
        table: Matrix = (np.concatenate(blocks, axis=1) / len(WALK_STEPS) ** 0.5).astype(np.float32)
        return table

    def direction(self, placed: Matrix, coefficients: Floats) -> Floats:
        """Vectors (rows, dim) whose product with what a layer passes to a row is that layer's part of its score.

        The rows are those of :meth:`placed`, the coefficients what each row's columns of the table are multiplied with.
        """
        total = np.zeros((len(placed), self.values.size))
        for block, steps in zip(np.split(coefficients, len(WALK_STEPS), axis=1), WALK_STEPS, strict=True):
            power = self.values ** (steps - 1)
            length = np.linalg.norm(placed * power, axis=1)
            total += block * power / np.where(length > 0, length, 1)[:, None]
        found: Floats = (1 - STAY_SHARE) * total / len(WALK_STEPS) ** 0.5
        return found

    def sources(self, graph: MultilayerGraph) -> Iterator[tuple[str, sp.csr_array, Floats]]:
        """For each layer what its messages are made of: name, matrix (nodes, neighbours or groups), and vectors.

        Matrix times vectors is what the layer passes to the nodes.
        """
        own = self._own(graph)
        for name, layer in graph.layers.items():
            group, weight = self.groups.get(name), self.weights.get(name, 1.0)
            if layer.group_names is None:
                both = _both_ways(layer)
                scale = sp.diags_array(inverse_roots(both.sum(axis=1)))
                yield name, sp.csr_array(weight * (scale @ both @ scale)), own
            elif group is not None:
                inside = group.columns.matrix(graph)
                scale = sp.diags_array(weight * inverse_roots(inside @ group.sizes))
                names = layer.group_names.get_indexer(group.columns.names)
                known = np.flatnonzero(names >= 0)
                vectors = np.zeros((len(layer.group_names), self.values.size))
                vectors[names[known]] = group.vectors[known]
                part = sp.csr_array(scale @ inside).tocoo()
                matrix = sp.csr_array(
                    (part.data, (part.row, names[part.col])), shape=(graph.num_nodes, len(layer.group_names))
                )
                yield name, matrix, vectors

    def _own(self, graph: MultilayerGraph) -> Floats:
        """The vectors of the nodes that the eigenvectors know by name; 0 for others."""
        places = self.nodes.get_indexer(graph.nodes)
        own: Floats = self.vectors[places].astype(np.float64)
        own[places < 0] = 0
        return own


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
        learned.record["groups"] = {name: group.columns.record() for name, group in profile.groups.items()}
        if profile.weights:
            learned.record["walk_weights"] = dict(profile.weights)
        learned.tensors["values"] = _copied(profile.values)
        rows = profile.nodes.get_indexer(model.nodes_)  # a file has its nodes once, as they were given
        learned.tensors["vectors"] = _copied(profile.vectors[rows])
        for place, group in enumerate(profile.groups.values()):
            for part, saved in self.parts(place).items():
                learned.tensors[saved.name] = _copied(getattr(group, part))

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
    columns = LayerColumns.seen(name, layer, graph, np.arange(graph.num_nodes))
    inside = columns.matrix(graph).astype(np.float64)
    sizes: Floats = np.asarray(inside.sum(axis=0), dtype=np.float64)
    scale = inverse_roots(inside @ sizes)
    gathered = sp.csr_array(inside.T)
    vectors = (gathered @ (scale[:, None] * passed)).astype(np.float32)
    return GroupVectors(columns, sizes, gathered @ scale, vectors)
