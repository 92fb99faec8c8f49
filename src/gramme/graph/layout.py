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
    left, among = most, len(sizes)
    for size in sorted(sizes):
        if size * among > left:
            return left // among
        left, among = left - size, among - 1
    return max(sizes, default=0)


def node_positions(graph: MultilayerGraph, *, steps: int | None = None) -> Places:
    """Places between 0 and 1 in both directions, near for nodes that many layers join.

    The same graph gives the same places every time. The wider direction is the first one.
    """
    count = graph.num_nodes
    spread = _sunflower(count)
    if count < 2:
        return spread + 0.5
    pull = _Pull.of(graph)
    if pull is None:  # nothing joins anybody
        alone: Places = 0.5 + 0.5 * spread / np.abs(spread).max()
        return alone
    if steps is None:
        steps = int(np.clip(_STEPS * np.sqrt(4000 / count), _STEPS // 4, _STEPS))
    places = _start(pull, spread)
    push = _Push(count)
    for step in range(steps):
        longest = 0.3 * (1 - step / steps) ** 1.5 + 0.002
        move = pull.force(places) + push.force(places) - _GRAVITY * places
        # a node that is pulled strongly takes the step that would bring it to rest, no further
        move /= (pull.strength + _GRAVITY)[:, None] + 0.5
        length = np.linalg.norm(move, axis=1, keepdims=True)
        places = places + move * np.minimum(1.0, longest / np.maximum(length, 1e-12))
    return _framed(places)


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
        count = graph.num_nodes
        none = np.zeros(0, dtype=np.int64)
        walks: list[_Entries] = [(none, none, np.zeros(0))]
        shares, members = [], []
        for layer in with_coupling_layers(graph).layers.values():
            inside = layer.incidence()
            if inside is None:
                walks.append(_walk_both_ways(layer))
            elif inside.nnz:
                inside = inside / inside.data.max()
                groups = _inverse(inside.sum(axis=0))
                shares.append(_scaled(_inverse(inside.sum(axis=1)), inside, groups))
                members.append(inside)
        start, end, value = _added_up(walks, count)
        edges = sp.csr_array((value, (start, end)), shape=(count, count))
        empty = sp.csr_array((count, 0))
        given = sp.csr_array(sp.hstack([empty, *shares]))
        inside = sp.csr_array(sp.hstack([empty, *members]))
        ones = np.ones((count, 1))
        raw = cls(edges, given, inside, np.zeros(count))
        strength = raw.times(ones)[:, 0]
        mean = float(strength.mean())
        if not mean > 0:
            return None
        return cls(sp.csr_array(edges / mean), sp.csr_array(given / mean), inside, strength / mean)

    @cached_property
    def turned(self) -> tuple[sp.csc_array, sp.csc_array]:
        """V' and U', made once: for small graphs that takes longer than the products with them."""
        return self.members.T, self.shares.T

    def times(self, values: Places) -> Places:
        """W times a matrix."""
        groups, shares = self.turned
        through = self.shares @ (groups @ values)
        back = self.members @ (shares @ values)
        product: Places = self.edges @ values + 0.5 * (through + back)
        return product

    def force(self, places: Places) -> Places:
        return self.times(places) - self.strength[:, None] * places


_Entries = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]
"""Rows, columns and values of a matrix."""


def _walk_both_ways(layer: Layer) -> _Entries:
    """(P + P') / 2 with P the walk over the edges of a layer, whatever their direction."""
    edges = layer.to_edges()
    weight = np.ones(edges.num_edges) if edges.weight is None else edges.weight
    weight = weight / weight.max(initial=1e-300)  # sums of extreme weights would overflow
    there = (edges.source.astype(np.int64), edges.target.astype(np.int64), weight)
    start, end, weight = _added_up([there, (there[1], there[0], weight)], layer.num_nodes)
    sums = np.bincount(start, weight, minlength=layer.num_nodes)
    chance = _inverse(np.asarray(sums, dtype=np.float64))
    return start, end, (chance[start] * weight + chance[end] * weight) / 2


def _added_up(parts: list[_Entries], count: int) -> _Entries:
    """The sum of matrices, in one go: there may be thousands of layers with an edge each."""
    start, end, value = (np.concatenate(column) for column in zip(*parts, strict=True))
    place, back = np.unique(start * count + end, return_inverse=True)
    start, end = np.divmod(place, count)
    total = np.bincount(back, value, minlength=place.size)
    return start, end, np.asarray(total, dtype=np.float64)


def _inverse(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    found = np.asarray(sums, dtype=np.float64).ravel()
    return np.divide(1.0, found, out=np.zeros_like(found), where=found > 1e-300)


def _scaled(left: NDArray[np.float64], matrix: sp.csr_array, right: NDArray[np.float64] | None = None) -> sp.csr_array:
    product = sp.diags_array(left) @ matrix
    return sp.csr_array(product if right is None else product @ sp.diags_array(right))


class _Push:
    """The mean over all nodes of (x_i - x_j) / |x_i - x_j|^2, on a grid that follows the nodes."""

    def __init__(self, count: int) -> None:
        self.cells = scipy.fft.next_fast_len(int(np.clip(2.5 * np.sqrt(count), 64, 256)))
        offset = np.arange(2 * self.cells)
        offset = np.where(offset < self.cells, offset, offset - 2 * self.cells).astype(float)
        across, up = offset[:, None], offset[None, :]
        square = across**2 + up**2 + 0.25  # nodes of one cell push no harder than at half its width
        self.kernels = [scipy.fft.rfft2(part / square) for part in (across, up)]

    def force(self, places: Places) -> Places:
        low = places.min(axis=0)
        width = float((places.max(axis=0) - low).max()) or 1.0
        size = width / (self.cells - 1.001)
        at = (places - low) / size
        corner = at.astype(np.int64)
        part = at - corner
        number = corner[:, 0] * self.cells + corner[:, 1]
        shares = [
            (number + self.cells * right + above, _side(part[:, 0], right) * _side(part[:, 1], above))
            for right in (0, 1)
            for above in (0, 1)
        ]  # fmt: skip
        mass = np.zeros(self.cells**2)
        for cell, share in shares:
            mass += np.bincount(cell, share, minlength=mass.size)
        shape = (2 * self.cells, 2 * self.cells)
        spectrum = scipy.fft.rfft2(mass.reshape(self.cells, self.cells), s=shape)
        found = np.empty_like(places)
        for axis, kernel in enumerate(self.kernels):
            field = scipy.fft.irfft2(spectrum * kernel, s=shape)[: self.cells, : self.cells].ravel()
            found[:, axis] = sum(share * field[cell] for cell, share in shares)
        return found / (size * len(places))


def _side(part: Places, upper: int) -> Places:
    return part if upper else 1 - part


def _start(pull: _Pull, spread: Places) -> Places:
    """Slow directions of the walk over all layers: random values, averaged over neighbours again and again."""
    count = len(spread)
    root = np.sqrt(pull.strength)
    inverse = _inverse(root)[:, None]
    trivial = root / np.linalg.norm(root)
    block = np.random.default_rng(0).standard_normal((count, min(4, count)))
    for step in range(60):
        block = 0.5 * (block + inverse * pull.times(inverse * block))
        block -= trivial[:, None] * (trivial @ block)
        if step % 10 == 9:
            block, _ = np.linalg.qr(block)
    vectors, values, _ = np.linalg.svd(block, full_matrices=False)
    main = (vectors * values)[:, :2] * (inverse > 0)
    if main.shape[1] < 2:
        main = np.column_stack([main, np.zeros(count)])
    width = np.quantile(np.abs(main), 0.9, axis=0)
    # nodes with the same neighbours would start on top of each other and never part
    placed: Places = np.clip(main / np.where(width > 1e-12, width, 1.0), -3, 3) + 0.3 * spread
    return placed


def _sunflower(count: int) -> Places:
    """Points spread evenly over a disc of radius 1, all different."""
    order = np.arange(count)
    radius = np.sqrt((order + 0.5) / max(count, 1)) if count > 1 else np.zeros(count)
    angle = order * _GOLDEN_ANGLE
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])


def _framed(places: Places) -> Places:
    """Turned so that the wider direction is the first, and fitted between 0 and 1."""
    centred = places - places.mean(axis=0)
    _, turn = np.linalg.eigh(centred.T @ centred)
    turned = centred @ turn[:, ::-1]
    largest = np.abs(turned).argmax(axis=0)
    signs = np.sign(turned[largest, [0, 1]])
    turned *= np.where(signs == 0, 1.0, signs)
    # a few nodes far out would squeeze all others together
    radius = np.linalg.norm(turned, axis=1, keepdims=True)
    reach = 1.25 * float(np.quantile(radius, 0.97))
    turned *= np.minimum(1.0, reach / np.maximum(radius, 1e-12))
    low, high = turned.min(axis=0), turned.max(axis=0)
    width = high - low
    # equal scales unless that would leave half of a direction empty
    scale = np.maximum(width, 0.6 * width.max())
    framed: Places = 0.5 + (turned - (low + high) / 2) / np.where(scale > 0, scale, 1.0)
    return framed
