"""Random features that belong to a node's name, not to its place in a graph.

The value in column c for a node depends only on (seed, name, c): a hash of the three, mapped to a uniform number of
mean 0 and variance 1. A node has the same features in any graph, process or machine, and nothing needs to be stored.
Names count by their text, so that node 7 keeps its features when a file makes it "7". Uniform rather than normal
numbers because they are exact to the bit everywhere; after a projection over many columns the two cannot be told
apart.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from copy import copy
from typing import Any, Self

import numpy as np
import pandas as pd
import scipy.sparse as sp
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from .kernels import FIRST_MIX, GOLDEN, SECOND_MIX
from .neighbourhood import first_derivatives, plain_torch

_BLOCK = 1 << 22  # numbers made at a time, which bounds the memory for scratch


def random_features(
    names: pd.Index, dim: int, seed: int, *, copy: int = 0, out: NDArray[np.float32] | None = None
) -> NDArray[np.float32]:
    """Uniform features of mean 0 and variance 1, shape (names, dim).

    ``names``: Names of the nodes; ``dim``: Columns; ``copy``: A further key, for several sets of features of the same
    nodes (the copies of a node in the supra graph); ``out`` (names, dim): Where to write.

    Examples
    --------
    >>> some = random_features(pd.Index(["Ann", "Bo"]), 3, seed=0)
    >>> more = random_features(pd.Index(["Cy", "Bo"]), 3, seed=0)
    >>> bool((some[1] == more[1]).all()), bool((some[0] == more[0]).any())
    (True, False)
    """
    feature_rows = np.empty((len(names), dim), dtype=np.float32) if out is None else out
    seed_key = _mix(np.array([(seed + copy * int(FIRST_MIX)) % 2**64], dtype=np.uint64))
    row_keys = _mix(name_hashes(names) ^ seed_key)
    column_keys = (np.arange(1, dim + 1, dtype=np.uint64)) * GOLDEN
    block_rows = max(1, _BLOCK // max(dim, 1))
    for first_row in range(0, len(names), block_rows):
        random_bits = _mix(row_keys[first_row : first_row + block_rows, None] + column_keys)
        uniform_numbers = (random_bits >> np.uint64(40)).astype(np.float32) * np.float32(2.0**-24)
        feature_rows[first_row : first_row + block_rows] = (uniform_numbers - np.float32(0.5)) * np.float32(12**0.5)
    return feature_rows


def name_hashes(names: pd.Index) -> NDArray[np.uint64]:
    """A 64-bit hash of each name's text, the same on every machine.

    The latest are remembered as long as the names live: every member of an ensemble asks for them.

    >>> bool(name_hashes(pd.Index([7]))[0] == name_hashes(pd.Index(["7"]))[0])
    True
    """
    global _latest
    if len(names) == 0:
        return np.zeros(0, dtype=np.uint64)
    known_hashes = _latest
    if known_hashes is not None and known_hashes[0]() is names:
        return known_hashes[1]
    # half of a surrogate pair, as a broken file may hold, has no bytes in UTF-8: its escape stands in for it
    name_texts = np.array([str(name).encode("utf-8", "backslashreplace").decode() for name in names], dtype=object)
    text_hashes: NDArray[np.uint64] = pd.util.hash_array(name_texts, categorize=False)
    text_hashes.flags.writeable = False
    _latest = (weakref.ref(names, _forget), text_hashes)
    return text_hashes


_latest: tuple[weakref.ref[pd.Index], NDArray[np.uint64]] | None = None


def _forget(_: object) -> None:
    global _latest
    _latest = None


def _mix(bits: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The finaliser of splitmix64: every input bit reaches every output bit."""
    with np.errstate(over="ignore"):
        bits = (bits ^ (bits >> np.uint64(30))) * FIRST_MIX
        bits = (bits ^ (bits >> np.uint64(27))) * SECOND_MIX
        return bits ^ (bits >> np.uint64(31))


# Features of which each layer has columns of its own: the views of a node, one per layer.
class LayerFeatures:
    """Features (layers, nodes, members, columns) without the columns that are zero for every node of a layer.

    It has what networks ask of a tensor of features: ``shape``, ``dim``, ``device`` and the choice of layers.

    ``features`` (layers, nodes, members, columns).

    ``used``: For each layer the columns that are kept; ``parts`` (nodes, members, kept): Their numbers; (nodes, 1,
    kept) where all members have the same.
    """

    def __init__(self, features: Tensor) -> None:
        self.shape = tuple(features.shape)
        self.device = features.device
        members_alike = features.stride(2) == 0
        distinct_members = features[:, :, :1] if members_alike else features
        self.used = [one.flatten(0, 1).any(0).nonzero().flatten() for one in distinct_members]
        self.parts = [
            one.index_select(2, used).contiguous() for one, used in zip(distinct_members, self.used, strict=True)
        ]

    def dim(self) -> int:
        """Layers, nodes, members and columns: 4."""
        return 4

    def __getitem__(self, layers: list[int]) -> LayerFeatures:
        """The features of some layers."""
        chosen_features = object.__new__(type(self))
        chosen_features.shape, chosen_features.device = (len(layers), *self.shape[1:]), self.device
        chosen_features.used = [self.used[layer] for layer in layers]
        chosen_features.parts = [self.parts[layer] for layer in layers]
        return chosen_features

    def dense(self) -> Tensor:
        """The whole tensor, zeros included."""
        dense_features: Tensor = self.parts[0].new_zeros(self.shape)
        for layer, used, part in zip(dense_features, self.used, self.parts, strict=True):
            layer[:, :, used] = part.expand(*self.shape[1:3], -1)
        return dense_features

    def project(self, *weights: Tensor) -> tuple[Tensor, ...]:
        """Features times weights (members, layers, columns, out), as :func:`gramme.ops.project` does it."""
        projected_features: tuple[Tensor, ...] = _Project.apply(self, *weights)  # type: ignore[no-untyped-call]
        return projected_features


class _Project(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, features: LayerFeatures, *weights: Tensor) -> tuple[Tensor, ...]:
        ctx.features, ctx.shapes = features, [weight.shape for weight in weights]
        layers, nodes, members, _ = features.shape
        projected_features = []
        for weight in weights:
            layer_products = weight.new_empty(layers, nodes, members, weight.shape[3])
            for layer, (used, part) in enumerate(zip(features.used, features.parts, strict=True)):
                used_weights = weight[:, layer].index_select(1, used)  # (members, kept, out)
                if part.shape[1] < members:  # one product for all members
                    joined_weights = used_weights.transpose(0, 1).flatten(1)
                    torch.mm(part[:, 0], joined_weights, out=layer_products[layer].view(nodes, -1))
                    continue
                for member in range(members):
                    torch.mm(part[:, member], used_weights[member], out=layer_products[layer, :, member])
            projected_features.append(layer_products)
        return tuple(projected_features)

    @staticmethod
    @first_derivatives
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        features: LayerFeatures = ctx.features
        weight_gradients: list[Tensor | None] = []
        for shape, grad in zip(ctx.shapes, grads, strict=True):
            to_weight = grad.new_zeros(shape)
            for layer, (used, part) in enumerate(zip(features.used, features.parts, strict=True)):
                layer_gradient = grad[layer]
                if part.shape[1] < shape[0]:
                    joined_gradient = part[:, 0].t() @ layer_gradient.reshape(layer_gradient.shape[0], -1)
                    used_gradient = joined_gradient.view(used.numel(), shape[0], shape[3]).transpose(0, 1)
                else:
                    member_pairs = zip(part.unbind(1), layer_gradient.unbind(1), strict=True)
                    used_gradient = torch.stack([source.t() @ one for source, one in member_pairs])
                to_weight[:, layer].index_copy_(1, used, used_gradient)
            weight_gradients.append(to_weight)
        return None, *weight_gradients


# Features of which most are zero: words, tags, counts. They are kept as entries up to the first product.
class SparseFeatures:
    """Features (nodes, members, columns) as entries that all members share, until dropout gives each its own.

    It has what networks ask of a tensor of features: ``shape``, ``dim``, ``device`` and ``repeat``.

    ``matrix`` (nodes, columns); ``beside`` (nodes, more columns): Dense columns after the sparse ones, the same for all
    members.
    """

    def __init__(
        self, matrix: Any, members: int, device: torch.device | None = None, beside: Tensor | None = None
    ) -> None:
        entries = sp.csr_array(matrix)
        turned_entries = sp.csr_array(
            (np.arange(entries.nnz), entries.indices, entries.indptr), shape=entries.shape
        ).tocsc()
        more = 0 if beside is None else int(beside.shape[1])
        self._columns = int(entries.shape[1])
        self.shape = (int(entries.shape[0]), members, self._columns + more)
        self._forth = _places(entries.indices, entries.indptr, device)
        self._back = _places(turned_entries.indices, turned_entries.indptr, device)
        self._order = torch.from_numpy(turned_entries.data.astype(np.int64)).to(device)
        numbers = torch.from_numpy(np.asarray(entries.data))
        #: The entries, (entries,), or (members, entries) where members have entries of their own.
        self.values = numbers.to(device, torch.get_default_dtype())
        #: The dense columns, (nodes, columns), or (members, nodes, columns) like the entries.
        self.beside = None if beside is None else beside.to(self.values)
        self._repeated: dict[int, SparseFeatures] = {}

    @property
    def device(self) -> torch.device:
        """Where the numbers are."""
        return self.values.device

    def dim(self) -> int:
        """Nodes, members and columns: 3."""
        return 3

    def repeat(self, *times: int) -> SparseFeatures:
        """The rows so often one after the other; members and columns cannot be repeated."""
        if times[1:] != (1, 1):
            raise ValueError(f"only rows can be repeated, not {times}")
        if times[0] in self._repeated:
            return self._repeated[times[0]]
        rows, members, _ = self.shape
        column, start = (part.cpu().numpy() for part in self._forth)
        once = sp.csr_array((self.values.cpu().numpy(), column, start), (rows, self._columns))
        more = None if self.beside is None else self.beside.repeat(times[0], 1)
        self._repeated[times[0]] = SparseFeatures(sp.vstack([once] * times[0]), members, self.device, more)
        return self._repeated[times[0]]

    def rows_of_entries(self) -> tuple[Tensor, Tensor]:
        """The row of each entry, and its place in that row."""
        _, start = self._forth
        bounds = start.long()
        sizes = bounds[1:] - bounds[:-1]
        row = torch.repeat_interleave(sizes)
        return row, torch.arange(row.numel(), device=row.device) - bounds[row]

    def times(self, mask: Tensor, beside: Tensor | None = None) -> Self:
        """With the entries of each member multiplied by the member's numbers, (entries, members).

        The dense columns likewise by (nodes, members, columns) where there are some.
        """
        other = copy(self)
        other.values, other._repeated = self.values * mask.t(), {}
        if self.beside is not None and beside is not None:
            other.beside = self.beside * beside.transpose(0, 1)
        return other

    def project(self, *weights: Tensor) -> tuple[Tensor, ...]:
        """Features times weights (members, layers, columns, out), as :func:`gramme.ops.project` does it."""
        rows, members, columns = self.shape
        layers = weights[0].shape[1]
        joined_weights = torch.cat(weights, dim=3)
        if self.values.dim() == 1:  # one product for all members
            flat_weights = joined_weights.permute(2, 1, 0, 3).reshape(columns, -1)
            member_products = self._product(self.values, self.beside, flat_weights)
            projected_rows = member_products.view(rows, layers, members, -1)
        else:
            member_parts = [
                self._product(
                    values,
                    None if self.beside is None else self.beside[member],
                    joined_weights[member].transpose(0, 1).reshape(columns, -1),
                )
                for member, values in enumerate(self.values)
            ]
            projected_rows = torch.stack([part.view(rows, layers, -1) for part in member_parts], dim=2)
        output_sizes = [weight.shape[3] for weight in weights]
        return tuple(part.transpose(0, 1).contiguous() for part in torch.split(projected_rows, output_sizes, dim=3))

    def _product(self, values: Tensor, beside: Tensor | None, weight: Tensor) -> Tensor:
        product: Tensor = _Product.apply(  # type: ignore[no-untyped-call]
            weight[: self._columns], values, self._forth, self._back, self._order
        )
        return product if beside is None else torch.addmm(product, beside, weight[self._columns :])


class _Product(torch.autograd.Function):
    """A sparse matrix times a dense one; the gradient is a product with the transposed."""

    @staticmethod
    def forward(ctx: Any, weight: Tensor, values: Tensor, forth: Places, back: Places, order: Tensor) -> Tensor:
        ctx.save_for_backward(values, *back, order)
        return _summed(weight, values, *forth)

    @staticmethod
    @first_derivatives
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        values, row, start, order = ctx.saved_tensors
        return _summed(grad, values[order], row, start), None, None, None, None


Places = tuple[Tensor, Tensor]


def _places(index: Any, start: Any, device: torch.device | None) -> Places:
    index_type = np.int32 if max(index.size, int(index.max(initial=0))) < 2**31 - 1 else np.int64
    index, start = (torch.from_numpy(part.astype(index_type)).to(device) for part in (index, start))
    return index, start


def _summed(table: Tensor, values: Tensor, index: Tensor, start: Tensor) -> Tensor:
    """Row i is the sum of ``values[e] * table[index[e]]`` over the entries e that start at ``start[i]``."""
    if not index.numel():
        return table.new_zeros(start.numel() - 1, table.shape[1])
    return F.embedding_bag(
        index,
        table.contiguous(),
        start,
        mode="sum",
        per_sample_weights=values.to(table.dtype),
        include_last_offset=True,
    )


# Projection of features by the weights of every member and layer, straight into the order that attention needs.
Features = Tensor | SparseFeatures | LayerFeatures
"""What a network may start from."""


def project(features: Features, *weights: Tensor) -> tuple[Tensor, ...]:
    """Features times weights, per member and layer.

    ``features`` (nodes, members, in): Shared by the layers, or each layer's own. Sparse features are shared; those of a
    :class:`~gramme.ops.features.LayerFeatures` are not; ``*weights`` (members, layers, in, out): One or more, each with
    its own ``out``.

    Returns (layers, nodes, members, out): One per weight, contiguous.
    """
    if not isinstance(features, Tensor):
        return features.project(*weights)
    if plain_torch():
        layer_inputs = features if features.dim() == 4 else features[None].expand(weights[0].shape[1], -1, -1, -1)
        return tuple(torch.einsum("lnmi,mlio->lnmo", layer_inputs, weight).contiguous() for weight in weights)
    layer_products: tuple[Tensor, ...] = _DenseProject.apply(features, *weights)  # type: ignore[no-untyped-call]
    return layer_products


class _DenseProject(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, features: Tensor, *weights: Tensor) -> tuple[Tensor, ...]:
        ctx.save_for_backward(features, *weights)
        members, layers = weights[0].shape[:2]
        nodes = features.shape[-3]
        layer_products = []
        for weight in weights:
            layer_product = features.new_empty(layers, nodes, members, weight.shape[3])
            for source, factor, target in _pairs(features, weight, layer_product):
                torch.mm(source, factor, out=target)
            layer_products.append(layer_product)
        return tuple(layer_products)

    @staticmethod
    @first_derivatives
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        features, *weights = ctx.saved_tensors
        to_features = torch.zeros_like(features) if ctx.needs_input_grad[0] else None
        to_weights: list[Tensor | None] = []
        for weight, grad, needs_gradient in zip(weights, grads, ctx.needs_input_grad[1:], strict=True):
            if to_features is not None:
                for target, factor, source in _pairs(to_features, weight, grad):
                    target.addmm_(source, factor.t())
            to_weight = torch.empty_like(weight) if needs_gradient else None
            if to_weight is not None:
                for source, target, output_gradient in _pairs(features, to_weight, grad):
                    torch.mm(source.t(), output_gradient, out=target)
            to_weights.append(to_weight)
        return to_features, *to_weights


def _pairs(features: Tensor, weight: Tensor, result: Tensor) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
    """The three matrices of each member and layer, as views."""
    layers_share = features.dim() == 3
    member_features = features.unbind(1) if layers_share else ()
    for layer, per_layer in enumerate(result.unbind(0)):
        if not layers_share:
            member_features = features[layer].unbind(1)
        yield from zip(member_features, weight[:, layer].unbind(0), per_layer.unbind(1), strict=True)
