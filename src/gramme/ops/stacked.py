"""Neighbourhood sums over several layers at once: stacked layers, and the supra graph with its pillar edges.

The copy of node i in layer l is row ``l * num_nodes + i``. Layers of one kind become one structure with offset
indices, so that all of them cost one call, however many there are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from gramme.graph import Layer, MembershipLayer, MultilayerGraph
from gramme.ops.neighbourhood import EdgeSum, GroupSum, MembershipSum, NeighbourhoodSum


def layers_sum(graph: MultilayerGraph, layers: Iterable[str] | None = None) -> NeighbourhoodSum:
    """S over the stacked copies of the nodes in the named layers (all, in order, where not given)."""
    names = list(graph.layers) if layers is None else list(layers)
    return stack([graph.layers[name] for name in names], graph.num_nodes)


def supra_sum(graph: MultilayerGraph) -> SupraSum:
    """S over the supra graph: all layers' copies, with pillar edges between the copies of a node."""
    layers = list(graph.layers.values())
    present = np.stack([layer.present for layer in layers]) if layers else np.zeros((0, 0), bool)
    return SupraSum(stack(layers, graph.num_nodes), present)


def groups_sum(graph: MultilayerGraph, layers: Iterable[str]) -> GroupSum | None:
    """S with one row per group, where every named layer puts each node in one group at most; else None."""
    chosen = [graph.layers[name] for name in layers]
    if not all(isinstance(layer, MembershipLayer) and layer.single for layer in chosen):
        return None
    return GroupSum([layer.incidence() for layer in chosen if isinstance(layer, MembershipLayer)])


def stack(layers: Sequence[Layer], num_nodes: int) -> NeighbourhoodSum:
    """One structure for consecutive layers of one kind, side by side where the kinds differ."""
    parts: list[NeighbourhoodSum] = []
    start = 0
    while start < len(layers):
        kind = isinstance(layers[start], MembershipLayer)
        stop = start
        while stop < len(layers) and isinstance(layers[stop], MembershipLayer) == kind:
            stop += 1
        parts.append(_one_kind(layers[start:stop]))
        start = stop
    if len(parts) == 1:
        return parts[0]
    return SideBySide(parts) if parts else EdgeSum(sp.csr_array((0, 0)), symmetric=True)


def _one_kind(layers: Sequence[Layer]) -> NeighbourhoodSum:
    blocks = [
        layer.incidence() if isinstance(layer, MembershipLayer) else layer.to_scipy()
        for layer in layers
    ]
    matrix = blocks[0] if len(blocks) == 1 else sp.csr_array(sp.block_diag(blocks, format="csr"))
    if isinstance(layers[0], MembershipLayer):
        return MembershipSum(matrix)
    return EdgeSum(matrix, symmetric=not any(layer.directed for layer in layers))


class SideBySide(NeighbourhoodSum):
    """Several structures one below the other, with no edges between them."""

    def __init__(self, parts: Sequence[NeighbourhoodSum]) -> None:
        self.parts = list(parts)
        self.sizes = [part.rows for part in parts]
        self.rows = sum(self.sizes)

    def __call__(self, values: Tensor) -> Tensor:
        pieces = torch.split(values, self.sizes)
        return torch.cat([part(piece) for part, piece in zip(self.parts, pieces, strict=True)])

    def transposed(self, values: Tensor) -> Tensor:
        pieces = torch.split(values, self.sizes)
        return torch.cat(
            [part.transposed(piece) for part, piece in zip(self.parts, pieces, strict=True)]
        )

    def to(self, device: torch.device) -> SideBySide:
        return SideBySide([part.to(device) for part in self.parts])


class SupraSum(NeighbourhoodSum):
    """S on the supra graph: each layer's own S plus the sum over the node's copies in the other layers.

    The pillar edges, one for every pair of layers that hold a node, are never built: a node's total over its copies
    serves them all. Cost: that of the layers plus rows x columns.

    Parameters
    ----------
    layers : NeighbourhoodSum
        S over the stacked layers.
    present : array of bool, shape (num_layers, num_nodes)
        Which copies exist; an absent copy listens to itself alone and nobody listens to it.
    """

    def __init__(self, layers: NeighbourhoodSum, present: np.ndarray | Tensor) -> None:
        self.layers = layers
        self.present = torch.as_tensor(present)
        self.complete = bool(self.present.all())
        self.rows = layers.rows

    def __call__(self, values: Tensor) -> Tensor:
        return self._with_pillars(self.layers(values), values)

    def transposed(self, values: Tensor) -> Tensor:
        return self._with_pillars(self.layers.transposed(values), values)

    def _with_pillars(self, sums: Tensor, values: Tensor) -> Tensor:
        copies = values.view(*self.present.shape, -1)
        total = sums.view_as(copies)
        if self.complete:
            total += copies.sum(0, keepdim=True)
            total -= copies
        else:
            there = self.present[..., None].to(values.dtype)
            here = copies * there
            total += here.sum(0, keepdim=True) * there
            total -= here
        return sums

    def to(self, device: torch.device) -> SupraSum:
        return SupraSum(self.layers.to(device), self.present.to(device))
