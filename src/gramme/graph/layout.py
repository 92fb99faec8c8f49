"""A place in the plane for every node, the same in all layers: where a picture of the network draws it.

A force-directed layout. Every layer pulls a node towards its neighbours there, or towards the middle of its groups, so
that no edges of a membership layer are built; all layers count alike, and couplings are layers of their own. All nodes
push each other away with a force that falls with the distance, and a weak force keeps parts that nothing joins near the
middle. With W the mean of the layers' pulls (row i of a layer's walk sums to 1, made symmetric), x moves along

    sum_j W_ij (x_j - x_i)  +  1/N sum_j (x_i - x_j) / |x_i - x_j|^2  -  g x_i

by steps that become shorter. The second sum is taken on a grid by a fast Fourier transform, so that a step costs
O(edges + memberships + nodes + cells), whatever the number of pairs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.fft
import scipy.sparse as sp
from numpy.typing import NDArray

from .coupling import with_coupling_layers
from .layer import Layer
from .multilayer import MultilayerGraph

Places = NDArray[np.float64]

_STEPS = 100  # force steps for few nodes; a quarter of it for very many
_GRAVITY = 0.25  # against a mean pull of 1
_GOLDEN_ANGLE = np.pi * (3 - np.sqrt(5))


def fair_share(sizes: Sequence[int], most: int) -> int:
    """The largest bound per layer under which all layers together keep at most ``most``.

    >>> fair_share([10, 100, 1000], 300)
    190
    """
    remaining_size, remaining_layers = most, len(sizes)
    for layer_size in sorted(sizes):
        if layer_size * remaining_layers > remaining_size:
            return remaining_size // remaining_layers
        remaining_size, remaining_layers = remaining_size - layer_size, remaining_layers - 1
    return max(sizes, default=0)


def node_positions(graph: MultilayerGraph, *, steps: int | None = None) -> Places:
    """Places between 0 and 1 in both directions, near for nodes that many layers join.

    The same graph gives the same places every time. The wider direction is the first one.
    """
    node_count = graph.num_nodes
    even_spread = _sunflower(node_count)
    if node_count < 2:
        return even_spread + 0.5
    pull = _Pull.of(graph)
    if pull is None:  # nothing joins anybody
        lone_places: Places = 0.5 + 0.5 * even_spread / np.abs(even_spread).max()
        return lone_places
    if steps is None:
        steps = int(np.clip(_STEPS * np.sqrt(4000 / node_count), _STEPS // 4, _STEPS))
    node_places = _start(pull, even_spread)
    push = _Push(node_count)
    for step in range(steps):
        longest_step = 0.3 * (1 - step / steps) ** 1.5 + 0.002
        node_moves = pull.force(node_places) + push.force(node_places) - _GRAVITY * node_places
        # a node that is pulled strongly takes the step that would bring it to rest, no further
        node_moves /= (pull.strength + _GRAVITY)[:, None] + 0.5
        move_lengths = np.linalg.norm(node_moves, axis=1, keepdims=True)
        node_places = node_places + node_moves * np.minimum(1.0, longest_step / np.maximum(move_lengths, 1e-12))
    return _framed(node_places)


@dataclass(frozen=True)
class _Pull:
    """W = E + (U V' + V U') / 2: edges as they are, groups by their members' share in them."""

    edges: sp.csr_array
    shares: sp.csr_array
    members: sp.csr_array
    strength: Places

    @classmethod
    def of(cls, graph: MultilayerGraph) -> _Pull | None:
        """The mean pull of the layers, scaled to 1 for the mean node; None if nothing joins anybody."""
        node_count = graph.num_nodes
        no_nodes = np.zeros(0, dtype=np.int64)
        edge_walks: list[_Entries] = [(no_nodes, no_nodes, np.zeros(0))]
        group_shares, group_members = [], []
        for layer in with_coupling_layers(graph).layers.values():
            layer_incidence = layer.incidence()
            if layer_incidence is None:
                edge_walks.append(_walk_both_ways(layer))
            elif layer_incidence.nnz:
                layer_incidence = layer_incidence / layer_incidence.data.max()
                inverse_sizes = _inverse(layer_incidence.sum(axis=0))
                group_shares.append(_scaled(_inverse(layer_incidence.sum(axis=1)), layer_incidence, inverse_sizes))
                group_members.append(layer_incidence)
        start_nodes, end_nodes, walk_values = _added_up(edge_walks, node_count)
        edge_matrix = sp.csr_array((walk_values, (start_nodes, end_nodes)), shape=(node_count, node_count))
        empty_matrix = sp.csr_array((node_count, 0))
        share_matrix = sp.csr_array(sp.hstack([empty_matrix, *group_shares]))
        layer_incidence = sp.csr_array(sp.hstack([empty_matrix, *group_members]))
        ones = np.ones((node_count, 1))
        raw_pull = cls(edge_matrix, share_matrix, layer_incidence, np.zeros(node_count))
        pull_strength = raw_pull.times(ones)[:, 0]
        mean_strength = float(pull_strength.mean())
        if not mean_strength > 0:
            return None
        return cls(
            sp.csr_array(edge_matrix / mean_strength),
            sp.csr_array(share_matrix / mean_strength),
            layer_incidence,
            pull_strength / mean_strength,
        )

    @cached_property
    def turned(self) -> tuple[sp.csc_array, sp.csc_array]:
        """V' and U', made once: for small graphs that takes longer than the products with them."""
        return self.members.T, self.shares.T

    def times(self, values: Places) -> Places:
        """W times a matrix."""
        group_matrix, share_matrix = self.turned
        through_groups = self.shares @ (group_matrix @ values)
        back_share = self.members @ (share_matrix @ values)
        product: Places = self.edges @ values + 0.5 * (through_groups + back_share)
        return product

    def force(self, places: Places) -> Places:
        return self.times(places) - self.strength[:, None] * places


_Entries = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]
"""Rows, columns and values of a matrix."""


def _walk_both_ways(layer: Layer) -> _Entries:
    """(P + P') / 2 with P the walk over the edges of a layer, whatever their direction."""
    edges = layer.to_edges()
    edge_weights = np.ones(edges.num_edges) if edges.weight is None else edges.weight
    edge_weights = edge_weights / edge_weights.max(initial=1e-300)  # sums of extreme weights would overflow
    one_way = (edges.source.astype(np.int64), edges.target.astype(np.int64), edge_weights)
    start_nodes, end_nodes, edge_weights = _added_up([one_way, (one_way[1], one_way[0], edge_weights)], layer.num_nodes)
    weight_sums = np.bincount(start_nodes, edge_weights, minlength=layer.num_nodes)
    step_chance = _inverse(np.asarray(weight_sums, dtype=np.float64))
    return start_nodes, end_nodes, (step_chance[start_nodes] * edge_weights + step_chance[end_nodes] * edge_weights) / 2


def _added_up(parts: list[_Entries], count: int) -> _Entries:
    """The sum of matrices, in one go: there may be thousands of layers with an edge each."""
    start_nodes, end_nodes, entry_values = (np.concatenate(column) for column in zip(*parts, strict=True))
    entry_keys, entry_index = np.unique(start_nodes * count + end_nodes, return_inverse=True)
    start_nodes, end_nodes = np.divmod(entry_keys, count)
    entry_sums = np.bincount(entry_index, entry_values, minlength=entry_keys.size)
    return start_nodes, end_nodes, np.asarray(entry_sums, dtype=np.float64)


def _inverse(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    flat_sums = np.asarray(sums, dtype=np.float64).ravel()
    return np.divide(1.0, flat_sums, out=np.zeros_like(flat_sums), where=flat_sums > 1e-300)


def _scaled(left: NDArray[np.float64], matrix: sp.csr_array, right: NDArray[np.float64] | None = None) -> sp.csr_array:
    product = sp.diags_array(left) @ matrix
    return sp.csr_array(product if right is None else product @ sp.diags_array(right))


class _Push:
    """The mean over all nodes of (x_i - x_j) / |x_i - x_j|^2, on a grid that follows the nodes."""

    def __init__(self, count: int) -> None:
        self.cells = scipy.fft.next_fast_len(int(np.clip(2.5 * np.sqrt(count), 64, 256)))
        cell_offsets = np.arange(2 * self.cells)
        cell_offsets = np.where(cell_offsets < self.cells, cell_offsets, cell_offsets - 2 * self.cells).astype(float)
        offset_across, offset_up = cell_offsets[:, None], cell_offsets[None, :]
        squared_distance = (
            offset_across**2 + offset_up**2 + 0.25
        )  # nodes of one cell push no harder than at half its width
        self.kernels = [scipy.fft.rfft2(offset_part / squared_distance) for offset_part in (offset_across, offset_up)]

    def force(self, places: Places) -> Places:
        lowest_corner = places.min(axis=0)
        grid_width = float((places.max(axis=0) - lowest_corner).max()) or 1.0
        cell_size = grid_width / (self.cells - 1.001)
        grid_position = (places - lowest_corner) / cell_size
        cell_corner = grid_position.astype(np.int64)
        cell_part = grid_position - cell_corner
        cell_number = cell_corner[:, 0] * self.cells + cell_corner[:, 1]
        cell_shares = [
            (cell_number + self.cells * right + above, _side(cell_part[:, 0], right) * _side(cell_part[:, 1], above))
            for right in (0, 1)
            for above in (0, 1)
        ]  # fmt: skip
        cell_mass = np.zeros(self.cells**2)
        for cell, share in cell_shares:
            cell_mass += np.bincount(cell, share, minlength=cell_mass.size)
        grid_shape = (2 * self.cells, 2 * self.cells)
        mass_spectrum = scipy.fft.rfft2(cell_mass.reshape(self.cells, self.cells), s=grid_shape)
        push_force = np.empty_like(places)
        for axis, kernel in enumerate(self.kernels):
            force_field = scipy.fft.irfft2(mass_spectrum * kernel, s=grid_shape)[: self.cells, : self.cells].ravel()
            push_force[:, axis] = sum(share * force_field[cell] for cell, share in cell_shares)
        return push_force / (cell_size * len(places))


def _side(part: Places, upper: int) -> Places:
    return part if upper else 1 - part


def _start(pull: _Pull, spread: Places) -> Places:
    """Slow directions of the walk over all layers: random values, averaged over neighbours again and again."""
    node_count = len(spread)
    root_strength = np.sqrt(pull.strength)
    inverse_root = _inverse(root_strength)[:, None]
    trivial_direction = root_strength / np.linalg.norm(root_strength)
    random_block = np.random.default_rng(0).standard_normal((node_count, min(4, node_count)))
    for step in range(60):
        random_block = 0.5 * (random_block + inverse_root * pull.times(inverse_root * random_block))
        random_block -= trivial_direction[:, None] * (trivial_direction @ random_block)
        if step % 10 == 9:
            random_block, _ = np.linalg.qr(random_block)
    left_vectors, singular_values, _ = np.linalg.svd(random_block, full_matrices=False)
    main_directions = (left_vectors * singular_values)[:, :2] * (inverse_root > 0)
    if main_directions.shape[1] < 2:
        main_directions = np.column_stack([main_directions, np.zeros(node_count)])
    direction_width = np.quantile(np.abs(main_directions), 0.9, axis=0)
    # nodes with the same neighbours would start on top of each other and never part
    start_places: Places = (
        np.clip(main_directions / np.where(direction_width > 1e-12, direction_width, 1.0), -3, 3) + 0.3 * spread
    )
    return start_places


def _sunflower(count: int) -> Places:
    """Points spread evenly over a disc of radius 1, all different."""
    point_order = np.arange(count)
    point_radius = np.sqrt((point_order + 0.5) / max(count, 1)) if count > 1 else np.zeros(count)
    point_angle = point_order * _GOLDEN_ANGLE
    return np.column_stack([point_radius * np.cos(point_angle), point_radius * np.sin(point_angle)])


def _framed(places: Places) -> Places:
    """Turned so that the wider direction is the first, and fitted between 0 and 1."""
    centred_places = places - places.mean(axis=0)
    _, principal_axes = np.linalg.eigh(centred_places.T @ centred_places)
    turned_places = centred_places @ principal_axes[:, ::-1]
    largest_rows = np.abs(turned_places).argmax(axis=0)
    axis_signs = np.sign(turned_places[largest_rows, [0, 1]])
    turned_places *= np.where(axis_signs == 0, 1.0, axis_signs)
    # a few nodes far out would squeeze all others together
    node_radius = np.linalg.norm(turned_places, axis=1, keepdims=True)
    radius_bound = 1.25 * float(np.quantile(node_radius, 0.97))
    turned_places *= np.minimum(1.0, radius_bound / np.maximum(node_radius, 1e-12))
    lowest_place, highest_place = turned_places.min(axis=0), turned_places.max(axis=0)
    frame_width = highest_place - lowest_place
    # equal scales unless that would leave half of a direction empty
    axis_scale = np.maximum(frame_width, 0.6 * frame_width.max())
    framed_places: Places = 0.5 + (turned_places - (lowest_place + highest_place) / 2) / np.where(
        axis_scale > 0, axis_scale, 1.0
    )
    return framed_places
