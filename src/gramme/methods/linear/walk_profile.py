"""Where a walk over all layers leads from a node, beyond where every walk leads: an embedding that needs no labels.

Layers count alike: each one's adjacency, scaled by the square roots of the degrees, is added up to B, with b = B 1. The
walk stays where it is one time in five and else takes a step of N = b^(-1/2) B b^(-1/2). Its eigenvectors u with the
largest eigenvalues say which nodes long walks do not tell apart; the first of all, the square root of b, is the same
for every start and left out. After t steps a walk from node i is at sum_k m_k^t u_k(i) u_k, so the rows

    m^t u(i),    scaled to length 1,

compare nodes by where walks of t steps lead from them. Short walks know a node's surroundings, long ones the large
divisions of the network.

A node of another graph gets its row by one step of the walk: the mean of what its neighbours (by name) and its groups
(by name) have. The rows of the graph that the eigenvectors are from are made by the same step, so that both agree.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pandas as pd
import scipy.sparse as sp
import torch
from numpy.typing import NDArray

from gramme.distributed import PartGraph
from gramme.distributed.gathered_graph import gathered_graph
from gramme.distributed.part_layers import PartGroups
from gramme.errors import DataError
from gramme.graph import Layer, MultilayerGraph
from gramme.methods.linear.one_hot import LayerColumns
from gramme.methods.linear.walk_eigenvectors import STAY_SHARE, leading, leading_in_parts
from gramme.methods.linear.walk_in_parts import MAX_GATHERED_ENTRIES, GroupSteps, WalkInParts, layer_steps
from gramme.methods.saved_fields import SavedArray, SavedField, Sizes
from gramme.methods.saving import Learned, MisfitError

if TYPE_CHECKING:
    from gramme.methods.graph_estimator import GraphEstimator

WALK_STEPS = (2, 4, 8, 16)

Floats = NDArray[np.float64]
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

    @classmethod
    def of(cls, graph: MultilayerGraph, dim: int) -> Self:
        """The leading eigenvectors of a graph's walk; fewer where a step has fewer eigenvalues above 0.

        The latest graph's are remembered as long as it lives, since several methods ask for them in a row. Cost: some
        100 to 1,000 passes over all edges and memberships, and 8 * (2 dim + 1) bytes per node.
        """
        global _latest
        if _latest is not None and _latest[0]() is graph and _latest[1] == dim:
            known: Self = _latest[2]
            return known
        found = cls._computed(graph, dim)
        _latest = (weakref.ref(graph, _forget), dim, found)
        return found

    @classmethod
    def _computed(cls, graph: MultilayerGraph, dim: int) -> Self:
        if isinstance(graph, PartGraph):
            return cls._in_parts(graph, dim)
        edges, members = _scaled_layers(graph)
        ones = np.ones(graph.num_nodes)
        mass = edges @ ones + members @ (members.T @ ones)
        root = _inverse_roots(mass)
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
        return cls(values, graph.nodes, passed, groups)

    @classmethod
    def _in_parts(cls, graph: PartGraph, dim: int) -> Self:
        """The same for the nodes of one part; eigenvalues are those of the whole graph."""
        if graph.num_entries <= MAX_GATHERED_ENTRIES:
            whole = cls._computed(gathered_graph(graph), dim)
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
            return cls(whole.values, graph.nodes, whole.vectors[graph.places], groups)
        walk = WalkInParts(graph)
        values, vectors = leading_in_parts(walk, min(dim, graph.whole.nodes))
        passed = (vectors * walk.root[:, None]).astype(np.float32)
        groups = {}
        for name, steps in walk.layers.items():
            if isinstance(steps, GroupSteps):
                groups[name] = GroupVectors(
                    LayerColumns(name, "groups", steps.names),
                    steps.sizes,
                    steps.sums(steps.scale[:, None])[:, 0],
                    steps.sums(steps.scale[:, None] * passed).astype(np.float32),
                )
        return cls(values, graph.nodes, passed, groups)

    def messages(self, graph: MultilayerGraph) -> Iterator[tuple[Floats, Floats]]:
        """What each layer of a graph passes to its nodes, (nodes, dim), and that layer's part of b."""
        own = self._own(graph)
        for name, layer in graph.layers.items():
            group = self.groups.get(name)
            if group is None:
                if layer.made_of != "edges":
                    raise DataError(
                        f"the layer {name!r} has groups here; the model was fitted on one with edges"
                    )
                if isinstance(graph, PartGraph):
                    steps = layer_steps(graph, name)
                    ones = np.ones((graph.num_nodes, 1))
                    yield steps.product(own), steps.product(ones)[:, 0]
                    continue
                both = _both_ways(layer)
                scale = _inverse_roots(both.sum(axis=1))
                yield scale[:, None] * (both @ (scale[:, None] * own)), scale * (both @ scale)
            else:
                inside = group.columns.matrix(graph)
                scale = _inverse_roots(inside @ group.sizes)
                yield (
                    scale[:, None] * (inside @ group.vectors.astype(np.float64)),
                    scale * (inside @ group.reach),
                )

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

        Parameters
        ----------
        placed : array, shape (rows, dim)
            Of :meth:`placed`.
        coefficients : array, shape (rows, columns of the table)
            What each row's columns are multiplied with.
        """
        total = np.zeros((len(placed), self.values.size))
        for block, steps in zip(
            np.split(coefficients, len(WALK_STEPS), axis=1), WALK_STEPS, strict=True
        ):
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
            group = self.groups.get(name)
            if layer.group_names is None:
                both = _both_ways(layer)
                scale = sp.diags_array(_inverse_roots(both.sum(axis=1)))
                yield name, sp.csr_array(scale @ both @ scale), own
            elif group is not None:
                inside = group.columns.matrix(graph)
                scale = sp.diags_array(_inverse_roots(inside @ group.sizes))
                names = layer.group_names.get_indexer(group.columns.names)
                known = np.flatnonzero(names >= 0)
                vectors = np.zeros((len(layer.group_names), self.values.size))
                vectors[names[known]] = group.vectors[known]
                part = sp.csr_array(scale @ inside).tocoo()
                matrix = sp.csr_array(
                    (part.data, (part.row, names[part.col])),
                    shape=(graph.num_nodes, len(layer.group_names)),
                )
                yield name, matrix, vectors

    def _own(self, graph: MultilayerGraph) -> Floats:
        """The vectors of the nodes that the eigenvectors know by name; 0 for others."""
        places = self.nodes.get_indexer(graph.nodes)
        own: Floats = self.vectors[places].astype(np.float64)
        own[places < 0] = 0
        return own


_latest: tuple[weakref.ref[MultilayerGraph], int, Any] | None = None


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
        learned.record["groups"] = {
            name: group.columns.record() for name, group in profile.groups.items()
        }
        learned.tensors["values"] = _copied(profile.values)
        rows = profile.nodes.get_indexer(
            model.nodes_
        )  # a file has its nodes once, as they were given
        learned.tensors["vectors"] = _copied(profile.vectors[rows])
        for place, group in enumerate(profile.groups.values()):
            for part, field in self.parts(place).items():
                learned.tensors[field.name] = _copied(getattr(group, part))

    def load(self, model: GraphEstimator, learned: Learned, sizes: Sizes) -> None:
        if self.optional and self.values.name not in learned.tensors:
            setattr(model, self.attribute, None)
            return

        def array(field: SavedArray) -> NDArray[Any]:
            if field.name not in learned.tensors:
                raise MisfitError(f"{field.name} is missing")
            return field.array(learned.tensors[field.name], sizes)

        values, vectors = array(self.values), array(self.vectors)
        record = learned.record.get("groups")
        if not isinstance(record, dict) or not set(record) <= set(model.layers_):
            raise MisfitError("groups must be those of the model's layers")
        groups = {}
        for place, (name, entry) in enumerate(record.items()):
            columns = LayerColumns.from_record(entry, self, name)
            sizes[f"groups of layer {place}"] = len(columns.names)
            arrays = {part: array(field) for part, field in self.parts(place).items()}
            groups[name] = GroupVectors(columns, **arrays)
        setattr(model, self.attribute, WalkProfile(values, model.nodes_, vectors, groups))


def _copied(array: NDArray[Any]) -> torch.Tensor:
    """A tensor of its own: several models may hold the same profile, and a file takes no shared memory."""
    return torch.from_numpy(np.array(array))


def _inverse_roots(degrees: NDArray[Any]) -> Floats:
    found: Floats = np.where(degrees > 0, 1 / np.sqrt(np.where(degrees > 0, degrees, 1)), 0.0)
    return found


def _both_ways(layer: Layer) -> sp.csr_array:
    matrix = layer.to_scipy().astype(np.float64)
    return sp.csr_array(matrix + matrix.T) if layer.directed else sp.csr_array(matrix)


def _scaled_layers(graph: MultilayerGraph) -> tuple[sp.csr_array, sp.csr_array]:
    """B = E + M M': the edges of all layers together, and the memberships of all layers side by side."""
    edges = sp.csr_array((graph.num_nodes, graph.num_nodes))
    members = [sp.csr_array((graph.num_nodes, 0))]
    for layer in graph.layers.values():
        inside = layer.incidence()
        if inside is None:
            both = _both_ways(layer)
            scale = sp.diags_array(_inverse_roots(both.sum(axis=1)))
            edges = edges + scale @ both @ scale
        else:
            members.append(sp.diags_array(_inverse_roots(inside @ inside.sum(axis=0))) @ inside)
    return sp.csr_array(edges), sp.csr_array(sp.hstack(members, format="csr"))


def _group_vectors(name: str, layer: Layer, graph: MultilayerGraph, passed: Matrix) -> GroupVectors:
    columns = LayerColumns.seen(name, layer, graph, np.arange(graph.num_nodes))
    inside = columns.matrix(graph).astype(np.float64)
    sizes: Floats = np.asarray(inside.sum(axis=0), dtype=np.float64)
    scale = _inverse_roots(inside @ sizes)
    gathered = sp.csr_array(inside.T)
    vectors = (gathered @ (scale[:, None] * passed)).astype(np.float32)
    return GroupVectors(columns, sizes, gathered @ scale, vectors)
