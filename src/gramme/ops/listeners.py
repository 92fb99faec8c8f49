"""Attention in which listener and neighbour both count: LeakyReLU on the scores, as in GAT, exact on groups as well.

With ``e_ij = LeakyReLU(s_i + t_j)`` the listener's part no longer cancels in the softmax, and no sum with weights
``exp(t_j)`` gives the mean: every edge has a weight of its own. Groups stay groups. For a listener i the members of a
group fall into those with t_j >= -s_i, whose weight is exp(s_i) exp(t_j), and the others, whose weight is
exp(a s_i) exp(a t_j) with the slope a below 0. So the members are sorted by t once, and two cumulative sums, of the
former and of the latter weights, serve every listener of the group. Cost: (edges + memberships) x heads
x columns, and a sort of the memberships.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray
from torch import Tensor

from gramme.errors import DataError
from gramme.graph import MultilayerGraph

from .edge_features import Entries, entries_sum
from .neighbourhood import NeighbourhoodSum, hold
from .stacked import coupling_matrix

SLOPE = 0.2
"""Of LeakyReLU below 0, as in GAT."""


def leaky(scores: Tensor) -> Tensor:
    """LeakyReLU of sums of two ends' scores."""
    return torch.where(scores >= 0, scores, SLOPE * scores)


class ListenerSums(NeighbourhoodSum):
    """Who listens to whom by edges, and who shares groups, for scores of both ends.

    ``edges`` (rows, rows): How strongly each row listens to others; ``incidence`` (rows, groups): How strongly each row
    belongs to each group; those who share one listen to each other.
    """

    edge_weight: Tensor
    group: Tensor
    member: Tensor
    share: Tensor

    def __init__(self, edges: sp.csr_array, incidence: sp.csr_array) -> None:
        super().__init__()
        self.rows = self.outputs = edges.shape[0]
        # each row hears itself once, groups or not
        own_weights = 1 - np.asarray(incidence.power(2).sum(axis=1), dtype=np.float64).ravel()
        row_numbers = np.arange(self.rows)
        entry_rows = np.concatenate([np.repeat(row_numbers, np.diff(edges.indptr)), row_numbers])
        self.edges = Entries(entry_rows, np.concatenate([edges.indices, row_numbers]), edges.shape)
        by_group = sp.csc_array(incidence)
        entry_groups = np.repeat(np.arange(by_group.shape[1]), np.diff(by_group.indptr))
        self.groups = by_group.shape[1]
        hold(self, "edge_weight", torch.from_numpy(np.concatenate([edges.data, own_weights]).astype(np.float64)))
        hold(self, "group", torch.from_numpy(entry_groups))
        hold(self, "member", torch.from_numpy(by_group.indices.astype(np.int64)))
        hold(self, "share", torch.from_numpy(by_group.data.astype(np.float64)))

    def forward(self, values: Tensor) -> Tensor:
        """The plain sum, where all scores are 0."""
        no_scores = values.new_zeros(self.rows, 1)
        weighted_sums, _, score_reference = self.sums(values[:, None], no_scores, no_scores)
        return (weighted_sums * score_reference.exp()[..., None])[:, 0].to(values.dtype)

    def transposed(self, values: Tensor) -> Tensor:
        with torch.enable_grad():
            given_values = torch.zeros_like(values, requires_grad=True)
            return torch.autograd.grad(self.forward(given_values), given_values, values)[0]

    def means(self, values: Tensor, scores: Tensor, listening: Tensor) -> Tensor:
        """Attention-weighted means, (rows, heads, columns); the arguments are those of :meth:`sums`."""
        weighted_sums, weight_totals, _ = self.sums(values, scores, listening)
        return (weighted_sums / weight_totals[..., None]).to(values.dtype)

    def sums(self, values: Tensor, scores: Tensor, listening: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Numerators and denominators of the means, in double precision, and what the scores are relative to.

        ``values`` (rows, heads, columns); ``scores``, ``listening`` (rows, heads): t, how much each row is listened to,
        and s, how it listens.

        Returns tensor (rows, heads, columns), and two tensors (rows, heads): The last is the highest score that each
        row hears.
        """
        source_scores, listener_scores = scores.double(), listening.double()
        value_table = torch.cat([values.double(), torch.ones_like(source_scores)[..., None]], dim=-1)
        edge_scores = leaky(
            listener_scores.index_select(0, self.edges.row) + source_scores.index_select(0, self.edges.column)
        )
        member_scores = source_scores.index_select(0, self.member)
        group_top = _highest(member_scores, self.group, self.groups).index_select(0, self.group)
        shifted_scores = listener_scores.index_select(0, self.member) + group_top
        score_reference = _highest(edge_scores, self.edges.row, self.rows)
        score_reference = torch.maximum(score_reference, _highest(leaky(shifted_scores), self.member, self.rows))
        edge_weights = (edge_scores - score_reference.index_select(0, self.edges.row)).exp() * self.edge_weight[:, None]
        weighted_sums = entries_sum(value_table, edge_weights, self.edges)
        if self.member.numel():
            weighted_sums = weighted_sums + self._from_groups(
                value_table, member_scores - group_top, shifted_scores, score_reference
            )
        return weighted_sums[..., :-1], weighted_sums[..., -1], score_reference

    def _from_groups(self, table: Tensor, below: Tensor, shifted: Tensor, reference: Tensor) -> Tensor:
        """What rows hear in groups; ``below`` are members' scores below their group's highest, (memberships, heads)."""
        member_count = below.shape[0]
        # for every membership: how many members, of groups before or of its own with a lower score, come before the
        # first whom it hears with a score of at least 0
        asked_scores = torch.cat([-shifted, below]).detach()
        score_order = asked_scores.argsort(dim=0, stable=True)
        score_order = score_order.gather(0, self.group.repeat(2)[score_order].argsort(dim=0, stable=True))
        members_before = (score_order >= member_count).cumsum(0)
        first_heard = torch.zeros_like(score_order).scatter(0, score_order, members_before)[:member_count]
        group_start = torch.searchsorted(self.group, self.group)[:, None].expand_as(first_heard)
        group_end = torch.searchsorted(self.group, self.group, right=True)[:, None].expand_as(first_heard)
        ranked_members = score_order.t()[score_order.t() >= member_count].view(-1, member_count).t() - member_count
        member_values = table.index_select(0, self.member) * self.share[:, None, None]
        slope_sums = []
        for slope, first_member, last_member in ((1.0, first_heard, group_end), (SLOPE, group_start, first_heard)):
            weighted_members = member_values * (slope * below).exp()[..., None]
            running_sums = weighted_members.gather(0, ranked_members[..., None].expand_as(weighted_members)).cumsum(0)
            running_sums = torch.cat([torch.zeros_like(running_sums[:1]), running_sums])
            wide_shape = (*first_heard.shape, running_sums.shape[-1])
            range_sums = running_sums.gather(0, last_member[..., None].expand(wide_shape)) - running_sums.gather(
                0, first_member[..., None].expand(wide_shape)
            )
            relative_weights = (slope * shifted - reference.index_select(0, self.member)).exp()
            slope_sums.append(range_sums * relative_weights[..., None])
        heard_sums = (slope_sums[0] + slope_sums[1]) * self.share[:, None, None]
        return torch.zeros_like(table).index_add(0, self.member, heard_sums)


def _highest(values: Tensor, index: Tensor, count: int) -> Tensor:
    """The largest of the values of each index, without a gradient."""
    lowest_values = values.new_full((count, values.shape[1]), -torch.inf)
    return lowest_values.scatter_reduce(0, index[:, None].expand_as(values), values.detach(), "amax")


def listener_sums(
    graph: MultilayerGraph, layers: Iterable[str] | None = None, *, pillars: bool = False
) -> ListenerSums:
    """Who listens to whom over the stacked copies of the nodes in the named layers, or in all.

    With ``pillars`` over the supra graph, in which a node's copies are one more group of it, and couplings are edges.
    """
    if any(layer.part is not None for layer in graph.layers.values()):
        raise DataError(
            "attention_score='leaky' needs the whole graph in one process; fit in one, or take "
            "attention_score='neighbour'"
        )
    layer_names = list(graph.layers if layers is None else layers)
    layer_matrices: list[tuple[sp.csr_array, sp.csr_array]] = []
    empty_matrices = sp.csr_array((graph.num_nodes, graph.num_nodes)), sp.csr_array((graph.num_nodes, 0))
    for name in layer_names:
        layer = graph.layers[name]
        if layer.features is not None:
            raise DataError(
                f"attention_score='leaky' knows no features of edges, and the layer {name!r} has some; leave them out, "
                "or take attention_score='neighbour'"
            )
        incidence = layer.incidence()
        layer_matrices.append(
            (layer.to_scipy(), empty_matrices[1]) if incidence is None else (empty_matrices[0], incidence)
        )
    edge_matrix, incidence = (
        sp.csr_array(sp.block_diag(layer_parts or [empty_matrices[0]], format="csr"))
        for layer_parts in zip(*layer_matrices, strict=True)
    )
    if pillars:
        copy_node: NDArray[np.int64] = np.tile(np.arange(graph.num_nodes), len(layer_names))
        copy_present = np.concatenate([graph.layers[name].present for name in layer_names])
        copy_ends = np.flatnonzero(copy_present), copy_node[copy_present]
        copy_incidence = sp.csr_array((np.ones(copy_ends[0].size), copy_ends), shape=(copy_node.size, graph.num_nodes))
        incidence = sp.csr_array(sp.hstack([incidence, copy_incidence], format="csr"))
        if graph.couplings:
            edge_matrix = sp.csr_array(edge_matrix + coupling_matrix(graph))
    return ListenerSums(edge_matrix, incidence)
