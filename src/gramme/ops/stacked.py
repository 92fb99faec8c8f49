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

    @property
    def outputs(self) -> int:
        return sum(part.outputs for part in self.parts)

    def __call__(self, values: Tensor) -> Tensor:
        pieces = torch.split(values, self.sizes)
        return torch.cat([part(piece) for part, piece in zip(self.parts, pieces, strict=True)])

    def transposed(self, values: Tensor) -> Tensor:
        pieces = torch.split(values, [part.outputs for part in self.parts])
        return torch.cat(
            [part.transposed(piece) for part, piece in zip(self.parts, pieces, strict=True)]
        )

    def to(self, device: torch.device) -> SideBySide:
        return SideBySide([part.to(device) for part in self.parts])

    def part(self, chosen: Tensor) -> SideBySide | None:
        """Some outputs, which are given in ascending order; None where no structure saves anything by it."""
        pieces, start, saved = [], 0, False
        for whole in self.parts:
            mine = chosen[(chosen >= start) & (chosen < start + whole.outputs)] - start
            piece = whole.part(mine)
            saved = saved or piece is not None
            pieces.append(piece or Selected(whole, mine))
            start += whole.outputs
        return SideBySide(pieces) if saved else None


class Selected(NeighbourhoodSum):
    """Some outputs of a structure that computes all of them anyway."""

    def __init__(self, whole: NeighbourhoodSum, chosen: Tensor) -> None:
        self.whole, self.chosen, self.rows = whole, chosen, whole.rows

    @property
    def outputs(self) -> int:
        return self.chosen.numel()

    def __call__(self, values: Tensor) -> Tensor:
        return self.whole(values).index_select(0, self.chosen)

    def transposed(self, values: Tensor) -> Tensor:
        every = values.new_zeros(self.whole.outputs, values.shape[1])
        return self.whole.transposed(every.index_copy_(0, self.chosen, values))

    def to(self, device: torch.device) -> Selected:
        return Selected(self.whole.to(device), self.chosen.to(device))


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

    def part(self, chosen: Tensor) -> SupraPart | None:
        """Some copies, where that saves something in their layers."""
        layers = self.layers.part(chosen)
        return None if layers is None else SupraPart(layers, self.present, chosen)


class SupraPart(NeighbourhoodSum):
    """S on the supra graph for some copies; ``layers`` is S over the stacked layers for the same ones."""

    def __init__(self, layers: NeighbourhoodSum, present: Tensor, chosen: Tensor) -> None:
        self.layers, self.present, self.chosen, self.rows = layers, present, chosen, layers.rows
        self.node = chosen % present.shape[1]
        self.there = present.flatten()[chosen][:, None]

    @property
    def outputs(self) -> int:
        return self.chosen.numel()

    def __call__(self, values: Tensor) -> Tensor:
        sums = self.layers(values)
        copies = values.view(*self.present.shape, -1)
        totals = (copies * self.present[..., None]).sum(0)
        others = totals.index_select(0, self.node) - values.index_select(0, self.chosen)
        return sums.addcmul_(others, self.there.to(values.dtype))

    def transposed(self, values: Tensor) -> Tensor:
        sums = self.layers.transposed(values)
        said = values * self.there
        totals = values.new_zeros(self.present.shape[1], values.shape[1])
        totals.index_add_(0, self.node, said)
        sums.view(*self.present.shape, -1).addcmul_(
            totals, self.present[..., None].to(totals.dtype)
        )
        return sums.index_add_(0, self.chosen, said, alpha=-1)

    def to(self, device: torch.device) -> SupraPart:
        return SupraPart(self.layers.to(device), self.present.to(device), self.chosen.to(device))
