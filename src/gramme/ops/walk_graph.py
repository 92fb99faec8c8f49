"""What a random walk needs of layers: for each node the edges and groups it can leave through.

A row of the structure lists a node's *slots*: a neighbour j as j, a group g as its complement ~g < 0. Leaving through a
group means to go to another of its members. A group of s members has the weight s - 1 in the row, so that a step has
exactly the distribution of a step on the materialised cliques, with memory linear in edges and memberships.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gramme.graph import Layer
from gramme.ops.alias import Floats, Ints, alias_tables


class WalkGraph(NamedTuple):
    """Slots of every row, in CSR form, sorted in each row; a tuple of arrays, as compiled code wants it.

    Attributes
    ----------
    indptr : array of int64, shape (rows + 1,)
    slots : array of int64
        A neighbour's position, or the complement of a group's number.
    weight, accept, alias : arrays, one entry per slot or empty
        Weights of the slots and their alias tables; empty where all slots of a row weigh the same.
    mass : array of float64, shape (rows,)
        Sum of the weights of each row: the node's weighted degree.
    group_indptr, members : arrays of int64
        The members of each group.
    """

    indptr: Ints
    slots: Ints
    weight: Floats
    accept: Floats
    alias: Ints
    mass: Floats
    group_indptr: Ints
    members: Ints

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return int(self.indptr.size - 1)


class _Slots(NamedTuple):
    """Rows of one layer, with its groups numbered from 0."""

    counts: Ints
    slots: Ints
    weight: Floats
    sizes: Ints
    members: Ints


def walk_graph(layers: Sequence[Layer], *, merged: bool = False) -> WalkGraph:
    """The structure to walk on.

    Parameters
    ----------
    layers : sequence of Layer
        At least one, all over the same nodes.
    merged : bool, default=False
        One row per node with the edges of all layers, whose weights thereby add; otherwise one row per layer and node:
        that of node i in layer l is ``l * num_nodes + i``.
    """
    parts = [_slots(layer) for layer in layers]
    first_group = np.cumsum([0, *(part.sizes.size for part in parts)])
    slots = np.concatenate(
        [
            np.where(part.slots < 0, part.slots - shift, part.slots)
            for part, shift in zip(parts, first_group[:-1], strict=True)
        ]
    )
    weight = np.concatenate([part.weight for part in parts])
    counts = np.concatenate([part.counts for part in parts])
    if merged and len(parts) > 1:
        nodes = layers[0].num_nodes
        row = np.repeat(np.tile(np.arange(nodes), len(parts)), counts)
        order = np.lexsort((slots, row))
        slots, weight = slots[order], weight[order]
        counts = np.bincount(row, minlength=nodes)
    indptr = _starts(counts)
    group_indptr = _starts(np.concatenate([part.sizes for part in parts]))
    members = np.concatenate([part.members for part in parts])
    sums = np.concatenate([[0.0], np.cumsum(weight)])
    mass = sums[indptr[1:]] - sums[indptr[:-1]]
    if _equal_in_rows(indptr, weight):
        none = np.zeros(0)
        # Without tables all slots of a row are alike; their weight still counts where rows are drawn
        return WalkGraph(
            indptr, slots, none, none, np.zeros(0, np.int64), mass, group_indptr, members
        )
    accept, alias = alias_tables(indptr, weight)
    return WalkGraph(indptr, slots, weight, accept, alias, mass, group_indptr, members)


def _slots(layer: Layer) -> _Slots:
    none = np.zeros(0, np.int64)
    incidence = layer.incidence()
    # weighted memberships go by their edges: a step within a group would need a table for every group
    if incidence is not None and (incidence.data == 1).all():
        group = incidence.indices.astype(np.int64)
        node = np.repeat(np.arange(layer.num_nodes), np.diff(incidence.indptr))
        sizes = np.bincount(group, minlength=incidence.shape[1])
        members = node[np.argsort(group, kind="stable")]
        joins = sizes[group] > 1  # nobody can leave through a group of one
        node, group = node[joins], group[joins]
        # Complements fall while groups rise: turn each row round to keep it sorted
        order = np.lexsort((~group, node))
        group = group[order]
        counts = np.bincount(node, minlength=layer.num_nodes)
        return _Slots(counts, ~group, (sizes[group] - 1).astype(np.float64), sizes, members)
    matrix = layer.to_scipy()
    counts = np.diff(matrix.indptr).astype(np.int64)
    return _Slots(
        counts, matrix.indices.astype(np.int64), matrix.data.astype(np.float64), none, none
    )


def _starts(counts: NDArray[np.int64]) -> Ints:
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)


def _equal_in_rows(indptr: Ints, weight: Floats) -> bool:
    """Whether the slots of each row weigh the same."""
    if weight.size == 0:
        return True
    same = np.diff(weight) == 0
    ends = indptr[1:-1]
    same[ends[(ends > 0) & (ends < weight.size)] - 1] = (
        True  # the last of a row and the first of the next
    )
    return bool(same.all())
