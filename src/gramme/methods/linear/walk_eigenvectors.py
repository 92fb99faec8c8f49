"""The leading eigenvectors of a walk, by whichever way costs least for the size of the graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from gramme.distributed import ALONE, World
from gramme.distributed.part_layers import PartGroups
from gramme.methods.linear.walk_in_parts import WalkInParts

STAY_SHARE = 0.2  # share of the walk that stays where it is
DENSE_NODES = 400  # nodes, or groups, up to which all eigenvectors are computed at once
LONG_TABLE_ROWS = 20_000  # rows of a table from which its few groups are looked at instead
ZERO_EIGENVALUE = 1e-9  # what an eigenvalue must exceed to count as above 0
LANCZOS_TOLERANCE = 1e-4
LANCZOS_RESTARTS = 20  # of the Lanczos iteration at most; what has not settled by then is left out

Floats = NDArray[np.float64]


def leading(
    edges: sp.csr_array, members: sp.csr_array, first: Floats, count: int
) -> tuple[Floats, Floats]:
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
        values, vectors = _lanczos(
            lambda flat: edges @ flat + members @ (back @ flat), first, count
        )
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
                members.append(sp.diags_array(walk.root * walk.layers[name].scale) @ inside)
        table = sp.csr_array(sp.hstack(members, format="csr"))
        values, vectors = _from_groups(table, walk.first[graph.places], graph.world)
        return _kept(values, vectors, count)
    values, vectors = _lanczos(walk.step, walk.first, count)
    return _kept(values, vectors[graph.places], count)


def _kept(values: Floats, vectors: Floats, count: int) -> tuple[Floats, Floats]:
    """The leading eigenvalues above 0, of the walk that stays at times, and their vectors."""
    order = np.argsort(-values, kind="stable")[:count]
    order = order[values[order] > ZERO_EIGENVALUE]
    return STAY_SHARE + (1 - STAY_SHARE) * values[order], vectors[:, order]


def _from_groups(
    members: sp.csr_array, first: Floats, world: World = ALONE
) -> tuple[Floats, Floats]:
    """The same for a table of few groups and many rows, where M M' and M' M have the same eigenvalues above 0."""
    inside = world.total(members.T @ first)
    together = world.total((members.T @ members).toarray())
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
        values, vectors = eigsh(
            operator, count, which="LA", v0=start, tol=LANCZOS_TOLERANCE, maxiter=LANCZOS_RESTARTS
        )
    except ArpackNoConvergence as stopped:
        values, vectors = stopped.eigenvalues, stopped.eigenvectors
    return values, vectors
