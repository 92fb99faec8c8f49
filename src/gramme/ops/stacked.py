"""Neighbourhood sums over several layers at once, whatever each of them is made of.

The copy of node i in layer l is row ``l * num_nodes + i``. Layers of one kind become one structure with offset
indices, so that all of them cost one call, however many there are. What kind a layer is decides its sum, here and
nowhere else: a layer of groups has an incidence (:meth:`gramme.graph.Layer.incidence`), a layer of edges has none.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from gramme.graph import Layer, MultilayerGraph
from gramme.ops.memberships import GroupSum, MembershipSum, one_each, without_single_members
from gramme.ops.neighbourhood import EdgeSum, NeighbourhoodSum

if TYPE_CHECKING:
    from gramme.ops.supra import SupraSum

Nodes = NDArray[np.int64]


@runtime_checkable
class BringsSums(Protocol):
    """A graph with sums of its own, such as the part of one process, whose rows others hear as well."""

    def layers_sum(self, layers: Sequence[str], nodes: Nodes | None) -> NeighbourhoodSum:
        """As :func:`layers_sum`."""

    def groups_sum(self, layers: Sequence[str]) -> GroupSum | None:
        """As :func:`groups_sum`."""

    def supra_sum(self, nodes: Nodes | None) -> SupraSum:
        """As :func:`gramme.ops.supra.supra_sum`."""


def layers_sum(
    graph: MultilayerGraph, layers: Iterable[str] | None = None, nodes: Nodes | None = None
) -> NeighbourhoodSum:
    """S over the stacked copies of the nodes in the named layers (all, in order, if not given).

    Parameters
    ----------
    graph : MultilayerGraph
    layers : iterable of str, optional
    nodes : array of int, optional
        The nodes whose sums are wanted, in each layer; all if not given.
    """
    names = list(graph.layers if layers is None else layers)
    if isinstance(graph, BringsSums):
        return graph.layers_sum(names, nodes)
    return stack([graph.layers[name] for name in names], graph.num_nodes, nodes)


def groups_sum(graph: MultilayerGraph, layers: Iterable[str]) -> GroupSum | None:
    """S with one row per group, where every named layer puts each node in one group at most; else None."""
    if isinstance(graph, BringsSums):
        return graph.groups_sum(list(layers))
    incidences = []
    for name in layers:
        incidence = graph.layers[name].incidence()
        if incidence is None or not one_each(incidence):
            return None
        incidences.append(incidence)
    return GroupSum(incidences)


def stack(layers: Sequence[Layer], num_nodes: int, nodes: Nodes | None = None) -> NeighbourhoodSum:
    """One structure for consecutive layers of one kind, side by side where the kinds differ."""
    found = [(layer, layer.incidence()) for layer in layers]
    parts: list[NeighbourhoodSum] = []
    for edges, group in groupby(found, key=lambda pair: pair[1] is None):
        same = list(group)
        copies = np.arange(len(same))[:, None] * num_nodes
        outputs = None if nodes is None else (copies + nodes).ravel()
        if edges:
            matrix = _diagonal([layer.to_scipy() for layer, _ in same])
            symmetric = not any(layer.directed for layer, _ in same)
            parts.append(EdgeSum(matrix, symmetric=symmetric, outputs=outputs))
        else:
            incidence = _diagonal([one for _, one in same if one is not None])
            parts.append(MembershipSum(without_single_members(incidence), outputs))
    if len(parts) == 1:
        return parts[0]
    return SideBySide(parts) if parts else EdgeSum(sp.csr_array((0, 0)), symmetric=True)


def _diagonal(matrices: list[sp.csr_array]) -> sp.csr_array:
    if len(matrices) == 1:
        return matrices[0]
    return sp.csr_array(sp.block_diag(matrices, format="csr"))


class SideBySide(NeighbourhoodSum):
    """Several structures one below the other, with no edges between them."""

    def __init__(self, parts: Sequence[NeighbourhoodSum]) -> None:
        super().__init__()
        self.parts = nn.ModuleList(parts)
        self.sizes = [part.rows for part in parts]
        self.output_sizes = [part.outputs for part in parts]
        self.rows, self.outputs = sum(self.sizes), sum(self.output_sizes)
        self.cheaper_in_part = any(part.cheaper_in_part for part in parts)

    def forward(self, values: Tensor) -> Tensor:
        pieces = torch.split(values, self.sizes)
        return torch.cat([part(piece) for part, piece in zip(self.parts, pieces, strict=True)])

    def transposed(self, values: Tensor) -> Tensor:
        pieces = torch.split(values, self.output_sizes)
        return torch.cat(
            [part.transposed(piece) for part, piece in zip(self.parts, pieces, strict=True)]  # type: ignore[operator]
        )
