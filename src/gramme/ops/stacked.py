"""Neighbourhood sums over several layers at once, whatever each of them is made of.

The copy of node i in layer l is row ``l * num_nodes + i``. Layers of one kind become one structure with offset
indices, so that all of them cost one call, however many there are. What a layer is made of, and whether other processes
have a part of it (:attr:`gramme.graph.Layer.part`), decides its sum, here and nowhere else.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from gramme.errors import DataError
from gramme.graph import Layer, MultilayerGraph

from .edge_features import EdgeScales, FeatureSum
from .neighbourhood import (
    EdgeSum,
    GroupSum,
    MembershipSum,
    NeighbourhoodSum,
    SharedGroups,
    hold,
    linear,
    with_own_groups,
    without_single_members,
)
from .parts import PartEdgeSum, stacked_links

Nodes = NDArray[np.int64]


# The neighbourhood sum of the supra graph: all layers' copies of the nodes, joined by pillar edges and couplings.
def supra_sum(
    graph: MultilayerGraph, nodes: NDArray[np.int64] | None = None, scales: EdgeScales | None = None
) -> SupraSum:
    """S over the supra graph of all layers.

    Parameters
    ----------
    graph : MultilayerGraph
    nodes : array of int, optional
        The nodes whose copies' sums are wanted; all if not given.
    scales : mapping of layer name to mean and deviation, optional
        Of features of edges and memberships that attention learns weights from.
    """
    layers = list(graph.layers.values())
    copies_present = np.stack([layer.present for layer in layers]) if layers else np.zeros((0, 0), bool)
    coupling_sum: NeighbourhoodSum | None = None
    output_rows = _rows(len(layers), graph.num_nodes, nodes)
    part_couplings = getattr(graph, "part_couplings", None)  # of one process
    if part_couplings is not None:
        coupling_sum = PartEdgeSum(
            part_couplings.links, symmetric=not part_couplings.directed, outputs=output_rows, include_self=False
        )
    elif graph.couplings:
        all_symmetric = not any(coupling.directed for coupling in graph.couplings.values())
        matrix = coupling_matrix(graph)
        coupling_sum = EdgeSum(matrix, symmetric=all_symmetric, outputs=output_rows, include_self=False)
    return SupraSum(layers_sum(graph, nodes=nodes, scales=scales), copies_present, nodes, coupling_sum)


def _rows(layers: int, num_nodes: int, nodes: Nodes | None) -> Nodes | None:
    """The rows of some nodes' copies in so many layers."""
    return None if nodes is None else (np.arange(layers)[:, None] * num_nodes + nodes).ravel()


def coupling_matrix(graph: MultilayerGraph) -> sp.csr_array:
    """All couplings over the copies: entry (a, b) is the weight with which copy a listens to copy b."""
    first_rows = {name: layer_number * graph.num_nodes for layer_number, name in enumerate(graph.layers)}
    row_parts, column_parts, weight_parts = [], [], []
    for (first_layer, second_layer), coupling in graph.couplings.items():
        source_rows = first_rows[first_layer] + coupling.source.astype(np.int64)
        target_rows = first_rows[second_layer] + coupling.target.astype(np.int64)
        edge_weights = np.ones(coupling.num_edges) if coupling.weight is None else coupling.weight
        for from_rows, to_rows in [(source_rows, target_rows), (target_rows, source_rows)][
            : 1 if coupling.directed else 2
        ]:
            row_parts.append(from_rows)
            column_parts.append(to_rows)
            weight_parts.append(edge_weights)
    matrix_ends = np.concatenate(row_parts), np.concatenate(column_parts)
    copy_count = graph.num_layers * graph.num_nodes
    return sp.csr_array((np.concatenate(weight_parts), matrix_ends), shape=(copy_count, copy_count))


class SupraSum(NeighbourhoodSum):
    """S on the supra graph: each layer's own S plus the sum over the node's copies in the other layers.

    Cost: that of the layers and couplings plus rows x columns.

    ``layers``: S over the stacked layers; ``present`` (num_layers, num_nodes): Which copies exist; an absent copy
    listens to itself alone and nobody listens to it; ``nodes``: The nodes whose copies' sums are wanted, as in
    ``layers``; all if not given; ``couplings``: The sum over further edges between copies, without the copies
    themselves.
    """

    present: Tensor
    node: Tensor | None
    copy: Tensor
    there: Tensor

    def __init__(
        self,
        layers: NeighbourhoodSum,
        present: NDArray[np.bool_],
        nodes: NDArray[np.int64] | None = None,
        couplings: NeighbourhoodSum | None = None,
    ) -> None:
        super().__init__(layers.communicator)
        self.layers, self.couplings = layers, couplings
        self.rows, self.outputs = layers.rows, layers.outputs
        self.featured = layers.featured
        self.supports_subset = layers.supports_subset or (couplings is not None and not self.featured)
        self.complete = bool(present.all())
        hold(self, "present", torch.from_numpy(present))
        hold(self, "node", None)
        if nodes is not None:
            layer_count, node_count = present.shape
            output_copies = (np.arange(layer_count)[:, None] * node_count + nodes).ravel()
            hold(self, "node", torch.from_numpy(output_copies % node_count))
            hold(self, "copy", torch.from_numpy(output_copies))
            hold(self, "there", torch.from_numpy(present.ravel()[output_copies][:, None]))

    def forward(self, values: Tensor) -> Tensor:
        layer_sums = self.layers(values)
        if self.couplings is not None:
            layer_sums += self.couplings(values)
        if self.node is None:
            return self._with_pillars(layer_sums, values)
        node_copies = values.view(*self.present.shape, -1)
        copy_totals = (node_copies * self.present[..., None]).sum(0)
        other_copies = copy_totals.index_select(0, self.node) - values.index_select(0, self.copy)
        return layer_sums.addcmul_(other_copies, self.there.to(values.dtype))

    def transposed(self, values: Tensor) -> Tensor:
        layer_sums = self.layers.transposed(values)
        if self.couplings is not None:
            layer_sums += self.couplings.transposed(values)
        if self.node is None:
            return self._with_pillars(layer_sums, values)
        present_values = values * self.there
        copy_totals = values.new_zeros(self.present.shape[1], values.shape[1])
        copy_totals.index_add_(0, self.node, present_values)
        layer_sums.view(*self.present.shape, -1).addcmul_(copy_totals, self.present[..., None].to(copy_totals.dtype))
        return layer_sums.index_add_(0, self.copy, present_values, alpha=-1)

    def weighted(self, values: Tensor, coefficients: Tensor, bound: float | None) -> Tensor:
        """S where weights of edges and memberships are learned, as of ``FeatureSum``."""
        assert isinstance(self.layers, FeatureSum)

        def forth(given: Tensor) -> Tensor:
            coupling_sums = torch.zeros_like(given) if self.couplings is None else self.couplings(given)
            return self._with_pillars(coupling_sums, given)

        def back(given: Tensor) -> Tensor:
            coupling_sums = torch.zeros_like(given) if self.couplings is None else self.couplings.transposed(given)
            return self._with_pillars(coupling_sums, given)

        pillar_sums = linear(values.flatten(1), forth, back).view_as(values)
        return self.layers.weighted(values, coefficients, bound) + pillar_sums

    def entry_weights(self, layer: int, coefficients: Tensor, bound: float | None) -> Tensor | None:
        return self.layers.entry_weights(layer, coefficients, bound)

    def _with_pillars(self, sums: Tensor, values: Tensor) -> Tensor:
        """Sums of all copies plus those over each node's other copies, which is its own transpose."""
        node_copies = values.view(*self.present.shape, -1)
        copy_sums = sums.view_as(node_copies)
        if self.complete:
            copy_sums += node_copies.sum(0, keepdim=True)
            copy_sums -= node_copies
        else:
            is_present = self.present[..., None].to(values.dtype)
            present_copies = node_copies * is_present
            copy_sums += present_copies.sum(0, keepdim=True) * is_present
            copy_sums -= present_copies
        return sums


def layers_sum(
    graph: MultilayerGraph,
    layers: Iterable[str] | None = None,
    nodes: Nodes | None = None,
    scales: EdgeScales | None = None,
) -> NeighbourhoodSum:
    """S over the stacked copies of the nodes in the named layers (all, in order, if not given).

    Parameters
    ----------
    graph : MultilayerGraph
    layers : iterable of str, optional
    nodes : array of int, optional
        The nodes whose sums are wanted, in each layer; all if not given.
    scales : mapping of layer name to mean and deviation, optional
        Of features of edges and memberships that attention learns weights from; then all nodes' sums are taken.
    """
    layer_names = list(graph.layers if layers is None else layers)
    if scales and any(layer.part is not None for layer in graph.layers.values()):
        raise DataError(
            f"the layer {next(iter(scales))!r} has features of its edges, which several processes cannot learn from "
            "together; fit in one process, or leave the features out"
        )
    if scales and not scales.keys().isdisjoint(layer_names):
        chosen_layers = [graph.layers[name] for name in layer_names]
        plain_sums = [
            None if name in scales else stack([layer], graph.num_nodes)
            for name, layer in zip(layer_names, chosen_layers, strict=True)
        ]
        return FeatureSum(chosen_layers, [scales.get(name) for name in layer_names], plain_sums)
    return stack([graph.layers[name] for name in layer_names], graph.num_nodes, nodes)


def groups_sum(graph: MultilayerGraph, layers: Iterable[str]) -> GroupSum | None:
    """S with one row per group, where every named layer puts each node in one group at most; else None."""
    chosen_layers = [graph.layers[name] for name in layers]
    group_layers = [layer.as_groups() for layer in chosen_layers]
    incidences = [with_own_groups(one.incidence()) for one in group_layers if one is not None and one.single]
    if len(incidences) < len(chosen_layers):
        return None
    group_count = max((incidence.shape[1] for incidence in incidences), default=0)
    return GroupSum(incidences, _shared_groups(chosen_layers, [group_count] * len(chosen_layers)))


def stack(layers: Sequence[Layer], num_nodes: int, nodes: Nodes | None = None) -> NeighbourhoodSum:
    """One structure for consecutive layers of one kind, side by side where the kinds differ."""
    kind_sums: list[NeighbourhoodSum] = []
    for kind, group in groupby(layers, key=lambda layer: layer.made_of):
        same_kind = list(group)
        output_rows = _rows(len(same_kind), num_nodes, nodes)
        kind_sums.append((_edges_sum if kind == "edges" else _memberships_sum)(same_kind, output_rows))
    if len(kind_sums) == 1:
        return kind_sums[0]
    return SideBySide(kind_sums) if kind_sums else EdgeSum(sp.csr_array((0, 0)), symmetric=True)


def _edges_sum(layers: list[Layer], outputs: Nodes | None) -> NeighbourhoodSum:
    all_symmetric = not any(layer.directed for layer in layers)
    if layers[0].part is None:
        return EdgeSum(_diagonal([layer.to_scipy() for layer in layers]), symmetric=all_symmetric, outputs=outputs)
    return PartEdgeSum(stacked_links([layer.part for layer in layers]), symmetric=all_symmetric, outputs=outputs)


def _memberships_sum(layers: list[Layer], outputs: Nodes | None) -> NeighbourhoodSum:
    incidences = [matrix for matrix in (layer.incidence() for layer in layers) if matrix is not None]
    shared_groups = _shared_groups(layers, [matrix.shape[1] for matrix in incidences])
    joined_incidence = _diagonal(incidences)
    return MembershipSum(
        without_single_members(joined_incidence) if shared_groups is None else joined_incidence, outputs, shared_groups
    )


def _shared_groups(layers: Sequence[Layer], sizes: Sequence[int]) -> SharedGroups | None:
    """The groups of stacked layers, which take so many rows each, that several processes have members of."""
    if not layers or layers[0].part is None:
        return None
    shared_numbers, shared_count = [], 0
    for layer, size in zip(layers, sizes, strict=True):
        layer_numbers = np.full(size, -1, dtype=np.int64)
        layer_shared = layer.part.shared
        layer_numbers[: layer_shared.size] = np.where(layer_shared >= 0, layer_shared + shared_count, -1)
        shared_numbers.append(layer_numbers)
        shared_count += layer.part.shared_count
    return SharedGroups(layers[0].part.communicator, np.concatenate(shared_numbers), shared_count)


def _diagonal(matrices: list[sp.csr_array]) -> sp.csr_array:
    if len(matrices) == 1:
        return matrices[0]
    return sp.csr_array(sp.block_diag(matrices, format="csr"))


class SideBySide(NeighbourhoodSum):
    """Several structures one below the other, with no edges between them."""

    def __init__(self, parts: Sequence[NeighbourhoodSum]) -> None:
        super().__init__(parts[0].communicator)
        self.parts = nn.ModuleList(parts)
        self.sizes = [part.rows for part in parts]
        self.output_sizes = [part.outputs for part in parts]
        self.rows, self.outputs = sum(self.sizes), sum(self.output_sizes)
        self.supports_subset = any(part.supports_subset for part in parts)

    def forward(self, values: Tensor) -> Tensor:
        pieces = torch.split(values, self.sizes)
        return torch.cat([part(piece) for part, piece in zip(self.parts, pieces, strict=True)])

    def transposed(self, values: Tensor) -> Tensor:
        pieces = torch.split(values, self.output_sizes)
        return torch.cat(
            [part.transposed(piece) for part, piece in zip(self.parts, pieces, strict=True)]  # type: ignore[operator]
        )
