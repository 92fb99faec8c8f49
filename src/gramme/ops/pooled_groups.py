"""Attention among groups that pools the features before it projects them.

Where a layer puts each node in one group, all members of a group hear the same, and Eqs. 1 and 3 of the paper can be
taken in the other order: the weighted mean of projected features is the projected mean of features,

    z_g = sum over j in g of p_j (W^T f_j) = W^T (sum over j in g of p_j f_j),

with p the softmax of the scores within the group. A layer of a few groups then costs a product of nodes x groups
numbers in place of one of nodes x columns, and nothing as large as the projected features of all nodes is ever made.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor, nn

from gramme.graph import MultilayerGraph

from .neighbourhood import SparseRowSum, first_derivatives, hold, linear, one_each

MAX_POOLED_NUMBERS = 1 << 24
"""Groups x nodes, beyond which the softmax of every group over all nodes is not made."""


class PooledGroups(nn.Module):
    """The groups of several layers, one row each, in the order of the layers; groups without members are left out.

    ``codes`` (layers, nodes): The group of each node, counted from 0; -1 for nodes that a layer does not hold.

    ``rows``: Groups in all layers; ``sizes``: Groups of each layer; ``layer_of`` (rows,); ``outside`` (rows, nodes):
    Who is not a member; ``portion`` (rows,): The members' share of all nodes; ``member_of`` (layers, nodes): The row of
    each node's group, ``rows`` for nodes that a layer does not hold; ``widest``: The most groups of a layer; ``padded``
    (rows,): Where each row is when every layer has the most groups; None where every layer has.
    """

    layer_of: Tensor
    outside: Tensor
    portion: Tensor
    member_of: Tensor
    padded: Tensor | None

    def __init__(self, codes: np.ndarray) -> None:
        super().__init__()
        self.layers, self.nodes = codes.shape
        self.sizes: list[int] = []
        member_of = np.full(codes.shape, -1, dtype=np.int64)
        for layer, mine in enumerate(codes):
            met, place = np.unique(mine[mine >= 0], return_inverse=True)
            member_of[layer, mine >= 0] = place + sum(self.sizes)
            self.sizes.append(met.size)
        self.rows = sum(self.sizes)
        of_layer, node = np.nonzero(member_of >= 0)
        row = member_of[of_layer, node]
        ones = np.ones(node.size, dtype=np.float32)
        incidence = sp.csr_array((ones, (node, row)), shape=(self.nodes, self.rows))
        outside = np.ones((self.rows, self.nodes), dtype=bool)
        outside[row, node] = False
        hold(self, "layer_of", torch.from_numpy(np.repeat(np.arange(self.layers), self.sizes)))
        hold(self, "outside", torch.from_numpy(outside))
        hold(self, "member_of", torch.from_numpy(np.where(member_of < 0, self.rows, member_of)))
        self.widest = max(self.sizes, default=0)
        padded = np.repeat(np.arange(self.layers), self.sizes) * self.widest
        padded += np.concatenate([np.arange(size) for size in self.sizes]).astype(np.int64)
        even = self.rows == self.layers * self.widest
        hold(self, "padded", None if even else torch.from_numpy(padded))
        members = np.bincount(row, minlength=self.rows)
        hold(self, "portion", torch.from_numpy(members / max(self.nodes, 1)))
        self.to_nodes, self.to_groups = (SparseRowSum(incidence), SparseRowSum(sp.csr_array(incidence.T.tocsr())))

    @classmethod
    def of(cls, graph: MultilayerGraph, layers: Iterable[str], columns: int) -> PooledGroups | None:
        """The groups of the named layers, where pooling first pays; else None.

        It can be done where each node that a layer holds is in one group, and pays while a layer has no more groups, on
        average, than the projection has columns.
        """
        codes = []
        groups = 0
        for name in layers:
            layer = graph.layers[name]
            incidence = layer.incidence()
            if incidence is None or not one_each(incidence):
                return None
            held = np.diff(incidence.indptr) > 0
            if bool((layer.present & ~held).any()):
                return None
            mine = np.full(graph.num_nodes, -1, dtype=np.int64)
            mine[held] = incidence.indices
            groups += incidence.shape[1]
            codes.append(mine)
        if not codes or groups > columns * len(codes):
            return None
        if groups * graph.num_nodes > MAX_POOLED_NUMBERS:
            return None
        return cls(np.stack(codes))

    def in_layers(self, values: Tensor) -> Tensor:
        """Values (members, rows, ...) as (members * layers, widest, ...): layers with fewer groups get zeros."""
        members, further = values.shape[0], values.shape[2:]
        if self.padded is not None:
            wide = values.new_zeros(members, self.layers * self.widest, *further)
            values = wide.index_copy_(1, self.padded, values)
        return values.reshape(members * self.layers, self.widest, *further)

    def in_rows(self, values: Tensor) -> Tensor:
        """Back from (members * layers, widest, ...) to (members, rows, ...)."""
        together = values.reshape(-1, self.layers * self.widest, *values.shape[2:])
        return together if self.padded is None else together.index_select(1, self.padded)

    def joined(self, values: Tensor) -> Tensor:
        """Of each node the sum over its groups, (nodes, members, columns), from values (members, rows, columns)."""
        columns = values.transpose(0, 1).flatten(1)
        sums = linear(columns, self.to_nodes, self.to_groups)
        return sums.view(self.nodes, *values.shape[::2])

    def by_layer(self, values: Tensor) -> Tensor:
        """The rows of each layer given to their members, (layers, nodes, members, columns); 0 for absent nodes."""
        members, _, columns = values.shape
        with_absent = torch.cat([values, values.new_zeros(members, 1, columns)], dim=1)
        given = with_absent.index_select(1, self.member_of.flatten())
        return given.view(members, self.layers, self.nodes, columns).permute(1, 2, 0, 3)


def pooled_means(
    features: Tensor, weight: Tensor, vector: Tensor, groups: PooledGroups, score_bound: float | None = None
) -> Tensor:
    """What the members of each group hear, z of the formula, for all heads.

    ``features`` (nodes, members, in): Shared by the layers; ``weight`` (members, layers, in, heads, out); ``vector``
    (members, layers, heads, out); ``score_bound``: Scores t become ``bound tanh(t / bound)``.

    Returns (members, rows, heads, out).
    """
    means: Tensor = _PooledMeans.apply(features, weight, vector, groups, score_bound)  # type: ignore[no-untyped-call]
    return means


class _PooledMeans(torch.autograd.Function):
    # Weights are by far the largest arrays here. All products with them run over members and layers at once, of all
    # heads with all heads, from which each head takes its own: that reads the weights once, in the order they lie in.

    @staticmethod
    def forward(
        ctx: Any, features: Tensor, weight: Tensor, vector: Tensor, groups: PooledGroups, bound: float | None
    ) -> Tensor:
        members, layers, _, heads, columns = weight.shape
        by_member = features.transpose(0, 1)
        wide = weight.reshape(members * layers, -1, heads * columns)
        toward = (wide @ _apart(vector.flatten(0, 1)).transpose(1, 2)).transpose(1, 2)
        toward = toward.reshape(members, layers * heads, -1)
        scores = toward @ by_member.transpose(1, 2)
        if bound is not None:
            scores.div_(bound).tanh_().mul_(bound)
        heard = scores.view(members, layers, heads, -1).index_select(1, groups.layer_of)
        shares = heard.masked_fill_(groups.outside[:, None], -torch.inf).softmax(-1)
        pooled = (shares.flatten(1, 2) @ by_member).view(members, groups.rows, heads, -1)
        pooled = groups.in_layers(pooled).flatten(1, 2)
        crossed = (pooled @ wide).view(members * layers, -1, heads, heads, columns)
        ctx.save_for_backward(features, weight, vector, toward, scores, shares, pooled)
        ctx.groups, ctx.bound = groups, bound
        own = crossed.diagonal(dim1=2, dim2=3).transpose(2, 3)
        return groups.in_rows(own.contiguous())

    @staticmethod
    @first_derivatives
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, Tensor, Tensor, None, None]:
        features, weight, vector, toward, scores, shares, pooled = ctx.saved_tensors
        groups: PooledGroups = ctx.groups
        members, layers, inputs, heads, columns = weight.shape
        by_member = features.transpose(0, 1)
        wide = weight.reshape(members * layers, inputs, heads * columns)
        upper = _apart(groups.in_layers(grads[0])).flatten(1, 2)
        to_pooled = groups.in_rows((upper @ wide.transpose(1, 2)).unflatten(1, (-1, heads)))
        to_pooled = to_pooled.flatten(1, 2)
        to_shares = (to_pooled @ by_member.transpose(1, 2)).view_as(shares)
        to_heard = to_shares.mul_(shares)
        to_heard -= shares * to_heard.sum(-1, keepdim=True)
        to_scores = torch.zeros_like(scores).view(members, layers, heads, -1)
        to_scores = to_scores.index_add_(1, groups.layer_of, to_heard).view_as(scores)
        if ctx.bound is not None:
            to_scores.mul_(1 - (scores / ctx.bound).square_())
        to_toward = (to_scores @ by_member).view(members * layers, heads, inputs)
        across = (to_toward @ wide).view(members, layers, heads, heads, columns)
        to_vector = across.diagonal(dim1=2, dim2=3).transpose(2, 3).contiguous()
        # the scores' part in the gradient of the weights is one more row for each head
        left = torch.cat([pooled, to_toward], dim=1)
        right = torch.cat([upper, _apart(vector.flatten(0, 1))], dim=1)
        to_weight = (left.transpose(1, 2) @ right).view_as(weight)
        to_features = None
        if ctx.needs_input_grad[0]:
            to_features = shares.flatten(1, 2).transpose(1, 2) @ to_pooled
            to_features = torch.baddbmm(to_features, to_scores.transpose(1, 2), toward)
            to_features = to_features.transpose(0, 1)
        return to_features, to_weight, to_vector, None, None


def _apart(values: Tensor) -> Tensor:
    """Each head's columns beside zeros in place of the other heads', (..., heads, heads * columns)."""
    heads, columns = values.shape[-2:]
    wide = values.new_zeros(*values.shape[:-1], heads, columns)
    wide.diagonal(dim1=-3, dim2=-2).copy_(values.transpose(-1, -2))
    return wide.flatten(-2)
