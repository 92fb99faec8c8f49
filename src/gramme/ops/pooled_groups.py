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
        for layer, layer_codes in enumerate(codes):
            met_groups, group_positions = np.unique(layer_codes[layer_codes >= 0], return_inverse=True)
            member_of[layer, layer_codes >= 0] = group_positions + sum(self.sizes)
            self.sizes.append(met_groups.size)
        self.rows = sum(self.sizes)
        of_layer, node = np.nonzero(member_of >= 0)
        member_rows = member_of[of_layer, node]
        ones = np.ones(node.size, dtype=np.float32)
        incidence = sp.csr_array((ones, (node, member_rows)), shape=(self.nodes, self.rows))
        is_outside = np.ones((self.rows, self.nodes), dtype=bool)
        is_outside[member_rows, node] = False
        hold(self, "layer_of", torch.from_numpy(np.repeat(np.arange(self.layers), self.sizes)))
        hold(self, "outside", torch.from_numpy(is_outside))
        hold(self, "member_of", torch.from_numpy(np.where(member_of < 0, self.rows, member_of)))
        self.widest = max(self.sizes, default=0)
        padded_rows = np.repeat(np.arange(self.layers), self.sizes) * self.widest
        padded_rows += np.concatenate([np.arange(size) for size in self.sizes]).astype(np.int64)
        equally_many = self.rows == self.layers * self.widest
        hold(self, "padded", None if equally_many else torch.from_numpy(padded_rows))
        member_counts = np.bincount(member_rows, minlength=self.rows)
        hold(self, "portion", torch.from_numpy(member_counts / max(self.nodes, 1)))
        self.to_nodes, self.to_groups = (SparseRowSum(incidence), SparseRowSum(sp.csr_array(incidence.T.tocsr())))

    @classmethod
    def of(cls, graph: MultilayerGraph, layers: Iterable[str], columns: int) -> PooledGroups | None:
        """The groups of the named layers, where pooling first pays; else None.

        It can be done where each node that a layer holds is in one group, and pays while a layer has no more groups, on
        average, than the projection has columns.
        """
        layer_codes = []
        group_count = 0
        for name in layers:
            layer = graph.layers[name]
            incidence = layer.incidence()
            if incidence is None or not one_each(incidence):
                return None
            in_group = np.diff(incidence.indptr) > 0
            if bool((layer.present & ~in_group).any()):
                return None
            node_codes = np.full(graph.num_nodes, -1, dtype=np.int64)
            node_codes[in_group] = incidence.indices
            group_count += incidence.shape[1]
            layer_codes.append(node_codes)
        if not layer_codes or group_count > columns * len(layer_codes):
            return None
        if group_count * graph.num_nodes > MAX_POOLED_NUMBERS:
            return None
        return cls(np.stack(layer_codes))

    def in_layers(self, values: Tensor) -> Tensor:
        """Values (members, rows, ...) as (members * layers, widest, ...): layers with fewer groups get zeros."""
        members, further_shape = values.shape[0], values.shape[2:]
        if self.padded is not None:
            padded_values = values.new_zeros(members, self.layers * self.widest, *further_shape)
            values = padded_values.index_copy_(1, self.padded, values)
        return values.reshape(members * self.layers, self.widest, *further_shape)

    def in_rows(self, values: Tensor) -> Tensor:
        """Back from (members * layers, widest, ...) to (members, rows, ...)."""
        joined_layers = values.reshape(-1, self.layers * self.widest, *values.shape[2:])
        return joined_layers if self.padded is None else joined_layers.index_select(1, self.padded)

    def joined(self, values: Tensor) -> Tensor:
        """Of each node the sum over its groups, (nodes, members, columns), from values (members, rows, columns)."""
        value_columns = values.transpose(0, 1).flatten(1)
        node_sums = linear(value_columns, self.to_nodes, self.to_groups)
        return node_sums.view(self.nodes, *values.shape[::2])

    def by_layer(self, values: Tensor) -> Tensor:
        """The rows of each layer given to their members, (layers, nodes, members, columns); 0 for absent nodes."""
        members, _, columns = values.shape
        with_absent = torch.cat([values, values.new_zeros(members, 1, columns)], dim=1)
        member_values = with_absent.index_select(1, self.member_of.flatten())
        return member_values.view(members, self.layers, self.nodes, columns).permute(1, 2, 0, 3)


def pooled_means(
    features: Tensor, weight: Tensor, vector: Tensor, groups: PooledGroups, score_bound: float | None = None
) -> Tensor:
    """What the members of each group hear, z of the formula, for all heads.

    ``features`` (nodes, members, in): Shared by the layers; ``weight`` (members, layers, in, heads, out); ``vector``
    (members, layers, heads, out); ``score_bound``: Scores t become ``bound tanh(t / bound)``.

    Returns (members, rows, heads, out).
    """
    group_means: Tensor = _PooledMeans.apply(features, weight, vector, groups, score_bound)  # type: ignore[no-untyped-call]
    return group_means


class _PooledMeans(torch.autograd.Function):
    # Weights are by far the largest arrays here. All products with them run over members and layers at once, of all
    # heads with all heads, from which each head takes its own: that reads the weights once, in the order they lie in.

    @staticmethod
    def forward(
        ctx: Any, features: Tensor, weight: Tensor, vector: Tensor, groups: PooledGroups, bound: float | None
    ) -> Tensor:
        members, layers, _, heads, columns = weight.shape
        by_member = features.transpose(0, 1)
        wide_weights = weight.reshape(members * layers, -1, heads * columns)
        score_directions = (wide_weights @ _apart(vector.flatten(0, 1)).transpose(1, 2)).transpose(1, 2)
        score_directions = score_directions.reshape(members, layers * heads, -1)
        node_scores = score_directions @ by_member.transpose(1, 2)
        if bound is not None:
            node_scores.div_(bound).tanh_().mul_(bound)
        group_scores = node_scores.view(members, layers, heads, -1).index_select(1, groups.layer_of)
        attention_shares = group_scores.masked_fill_(groups.outside[:, None], -torch.inf).softmax(-1)
        pooled_features = (attention_shares.flatten(1, 2) @ by_member).view(members, groups.rows, heads, -1)
        pooled_features = groups.in_layers(pooled_features).flatten(1, 2)
        crossed_heads = (pooled_features @ wide_weights).view(members * layers, -1, heads, heads, columns)
        ctx.save_for_backward(
            features, weight, vector, score_directions, node_scores, attention_shares, pooled_features
        )
        ctx.groups, ctx.bound = groups, bound
        own_heads = crossed_heads.diagonal(dim1=2, dim2=3).transpose(2, 3)
        return groups.in_rows(own_heads.contiguous())

    @staticmethod
    @first_derivatives
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, Tensor, Tensor, None, None]:
        features, weight, vector, toward, scores, shares, pooled = ctx.saved_tensors
        groups: PooledGroups = ctx.groups
        members, layers, inputs, heads, columns = weight.shape
        by_member = features.transpose(0, 1)
        wide_weights = weight.reshape(members * layers, inputs, heads * columns)
        apart_gradient = _apart(groups.in_layers(grads[0])).flatten(1, 2)
        to_pooled = groups.in_rows((apart_gradient @ wide_weights.transpose(1, 2)).unflatten(1, (-1, heads)))
        to_pooled = to_pooled.flatten(1, 2)
        to_shares = (to_pooled @ by_member.transpose(1, 2)).view_as(shares)
        to_heard = to_shares.mul_(shares)
        to_heard -= shares * to_heard.sum(-1, keepdim=True)
        to_scores = torch.zeros_like(scores).view(members, layers, heads, -1)
        to_scores = to_scores.index_add_(1, groups.layer_of, to_heard).view_as(scores)
        if ctx.bound is not None:
            to_scores.mul_(1 - (scores / ctx.bound).square_())
        to_toward = (to_scores @ by_member).view(members * layers, heads, inputs)
        crossed_gradient = (to_toward @ wide_weights).view(members, layers, heads, heads, columns)
        to_vector = crossed_gradient.diagonal(dim1=2, dim2=3).transpose(2, 3).contiguous()
        # the scores' part in the gradient of the weights is one more row for each head
        left_factor = torch.cat([pooled, to_toward], dim=1)
        right_factor = torch.cat([apart_gradient, _apart(vector.flatten(0, 1))], dim=1)
        to_weight = (left_factor.transpose(1, 2) @ right_factor).view_as(weight)
        to_features = None
        if ctx.needs_input_grad[0]:
            to_features = shares.flatten(1, 2).transpose(1, 2) @ to_pooled
            to_features = torch.baddbmm(to_features, to_scores.transpose(1, 2), toward)
            to_features = to_features.transpose(0, 1)
        return to_features, to_weight, to_vector, None, None


def _apart(values: Tensor) -> Tensor:
    """Each head's columns beside zeros in place of the other heads', (..., heads, heads * columns)."""
    heads, columns = values.shape[-2:]
    wide_values = values.new_zeros(*values.shape[:-1], heads, columns)
    wide_values.diagonal(dim1=-3, dim2=-2).copy_(values.transpose(-1, -2))
    return wide_values.flatten(-2)
