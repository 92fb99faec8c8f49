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
        own = 1 - np.asarray(incidence.power(2).sum(axis=1), dtype=np.float64).ravel()
        node = np.arange(self.rows)
        row = np.concatenate([np.repeat(node, np.diff(edges.indptr)), node])
        self.edges = Entries(row, np.concatenate([edges.indices, node]), edges.shape)
        by_group = sp.csc_array(incidence)
        group = np.repeat(np.arange(by_group.shape[1]), np.diff(by_group.indptr))
        self.groups = by_group.shape[1]
        hold(self, "edge_weight", torch.from_numpy(np.concatenate([edges.data, own]).astype(np.float64)))
        hold(self, "group", torch.from_numpy(group))
        hold(self, "member", torch.from_numpy(by_group.indices.astype(np.int64)))
        hold(self, "share", torch.from_numpy(by_group.data.astype(np.float64)))

    def forward(self, values: Tensor) -> Tensor:
        """The plain sum, where all scores are 0."""
        nothing = values.new_zeros(self.rows, 1)
        sums, _, reference = self.sums(values[:, None], nothing, nothing)
        return (sums * reference.exp()[..., None])[:, 0].to(values.dtype)

    def transposed(self, values: Tensor) -> Tensor:
        with torch.enable_grad():
            given = torch.zeros_like(values, requires_grad=True)
            return torch.autograd.grad(self.forward(given), given, values)[0]

    def means(self, values: Tensor, scores: Tensor, listening: Tensor) -> Tensor:
        """Attention-weighted means, (rows, heads, columns); the arguments are those of :meth:`sums`."""
        sums, totals, _ = self.sums(values, scores, listening)
        return (sums / totals[..., None]).to(values.dtype)

    def sums(self, values: Tensor, scores: Tensor, listening: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Numerators and denominators of the means, in double precision, and what the scores are relative to.

        ``values`` (rows, heads, columns); ``scores``, ``listening`` (rows, heads): t, how much each row is listened to,
        and s, how it listens.

        Returns tensor (rows, heads, columns), and two tensors (rows, heads): The last is the highest score that each
        row hears.
        """
        to, come = scores.double(), listening.double()
        table = torch.cat([values.double(), torch.ones_like(to)[..., None]], dim=-1)
        each = leaky(come.index_select(0, self.edges.row) + to.index_select(0, self.edges.column))
        members = to.index_select(0, self.member)
        top = _highest(members, self.group, self.groups).index_select(0, self.group)
        shifted = come.index_select(0, self.member) + top
        reference = _highest(each, self.edges.row, self.rows)
        reference = torch.maximum(reference, _highest(leaky(shifted), self.member, self.rows))
        weights = (each - reference.index_select(0, self.edges.row)).exp() * self.edge_weight[:, None]
        found = entries_sum(table, weights, self.edges)
        if self.member.numel():
            found = found + self._from_groups(table, members - top, shifted, reference)
        return found[..., :-1], found[..., -1], reference

    def _from_groups(self, table: Tensor, below: Tensor, shifted: Tensor, reference: Tensor) -> Tensor:
        """What rows hear in groups; ``below`` are members' scores below their group's highest, (memberships, heads)."""
        count = below.shape[0]
        # for every membership: how many members, of groups before or of its own with a lower score, come before the
        # first whom it hears with a score of at least 0
        asked = torch.cat([-shifted, below]).detach()
        order = asked.argsort(dim=0, stable=True)
        order = order.gather(0, self.group.repeat(2)[order].argsort(dim=0, stable=True))
        before = (order >= count).cumsum(0)
        place = torch.zeros_like(order).scatter(0, order, before)[:count]
        start = torch.searchsorted(self.group, self.group)[:, None].expand_as(place)
        end = torch.searchsorted(self.group, self.group, right=True)[:, None].expand_as(place)
        ranked = order.t()[order.t() >= count].view(-1, count).t() - count
        said = table.index_select(0, self.member) * self.share[:, None, None]
        sums = []
        for slope, first, last in ((1.0, place, end), (SLOPE, start, place)):
            loud = said * (slope * below).exp()[..., None]
            running = loud.gather(0, ranked[..., None].expand_as(loud)).cumsum(0)
            running = torch.cat([torch.zeros_like(running[:1]), running])
            wide = (*place.shape, running.shape[-1])
            part = running.gather(0, last[..., None].expand(wide)) - running.gather(0, first[..., None].expand(wide))
            relative = (slope * shifted - reference.index_select(0, self.member)).exp()
            sums.append(part * relative[..., None])
        heard = (sums[0] + sums[1]) * self.share[:, None, None]
        return torch.zeros_like(table).index_add(0, self.member, heard)


def _highest(values: Tensor, index: Tensor, count: int) -> Tensor:
    """The largest of the values of each index, without a gradient."""
    start = values.new_full((count, values.shape[1]), -torch.inf)
    return start.scatter_reduce(0, index[:, None].expand_as(values), values.detach(), "amax")


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
    names = list(graph.layers if layers is None else layers)
    found: list[tuple[sp.csr_array, sp.csr_array]] = []
    empty = sp.csr_array((graph.num_nodes, graph.num_nodes)), sp.csr_array((graph.num_nodes, 0))
    for name in names:
        layer = graph.layers[name]
        if layer.features is not None:
            raise DataError(
                f"attention_score='leaky' knows no features of edges, and the layer {name!r} has some; leave them out, "
                "or take attention_score='neighbour'"
            )
        incidence = layer.incidence()
        found.append((layer.to_scipy(), empty[1]) if incidence is None else (empty[0], incidence))
    edges, incidence = (
        sp.csr_array(sp.block_diag(parts or [empty[0]], format="csr")) for parts in zip(*found, strict=True)
    )
    if pillars:
        node: NDArray[np.int64] = np.tile(np.arange(graph.num_nodes), len(names))
        there = np.concatenate([graph.layers[name].present for name in names])
        ends = np.flatnonzero(there), node[there]
        copies = sp.csr_array((np.ones(ends[0].size), ends), shape=(node.size, graph.num_nodes))
        incidence = sp.csr_array(sp.hstack([incidence, copies], format="csr"))
        if graph.couplings:
            edges = sp.csr_array(edges + coupling_matrix(graph))
    return ListenerSums(edges, incidence)
