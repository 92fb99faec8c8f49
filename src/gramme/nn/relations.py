"""Networks of weighted attention for graphs whose layers say different things: labels as inputs, and learned inputs.

The two networks of the paper start from fixed features and give each layer one factor. On a graph with many relations
and many classes that is not enough: a relation may join unlike labels, most relations say nothing about a node, and a
label may be several hops away. Both networks here attend over views, in compact rows where empty neighbourhoods say
nothing.

*Labels as inputs* (:class:`LabelNetwork`): a node starts from the embedding of its label where that is shown, else from
nothing. Every hop has a matrix and an attention vector for each view, so that a view may turn one class into another:

    h_i' = elu(W h_i + b + sum over views v of V_v z_vi),
    z_vi = sum over j of c_ij exp(t_vj) h_j / sum over j of c_ij exp(t_vj),   t_vj = <a_v, h_j>.

A group says the attention-weighted mean of its members, and a node attends over its groups. The hops' states, side by
side, give the scores. Whether a label is shown is the training's choice: it hides some and asks for them.

*Learned inputs* (:class:`TableNetwork`): one hop, where each source of each view has a learned row and a learned score
in place of h_j and t_vj. Only sources that a labelled node hears have a row; all others say nothing.

A *view* is one way to listen in a layer: to those a node's edges point to, to those whose edges point to it, or to the
groups it belongs to. Most nodes have nobody to listen to in most views of a graph with many layers, so views are
stacked without empty rows: a row stands for a node that hears somebody in a view, and a source for somebody who is
heard there. What a view without neighbours would say is never computed and dilutes nothing. A node does not hear itself
here. The rest is the attention of :mod:`gramme.ops.attention`: nothing is stored per edge.

Only the nodes that are asked about matter after the last hop, before it those they hear, and so on back to the first:
in training most of the last hops' rows are left out. Rows that nobody listens to are never computed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, cast

import numpy as np
import pandas as pd
import scipy.sparse as sp
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor, nn

from gramme.graph import MultilayerGraph
from gramme.ops import attention_sums
from gramme.ops.neighbourhood import NeighbourhoodSum, SparseRowSum, linear

from .attention import MemberRandom, bounded
from .plan import Output

Positions = NDArray[np.int64]


# The views of a graph, stacked.
class SparseSum(NeighbourhoodSum):
    """A sparse matrix as a neighbourhood sum: nobody hears itself unless the matrix says so.

    ``matrix`` (outputs, rows).
    """

    def __init__(self, matrix: sp.csr_array) -> None:
        super().__init__()
        self.outputs, self.rows = matrix.shape
        self.heard = SparseRowSum(matrix)
        self.listeners = SparseRowSum(sp.csr_array(matrix.T.tocsr()))

    def forward(self, values: Tensor) -> Tensor:
        return self.heard(values)

    def transposed(self, values: Tensor) -> Tensor:
        return self.listeners(values)

    def sums(self, values: Tensor) -> Tensor:
        """The same with a gradient."""
        return linear(values, self, self.transposed)


class StackedViews(nn.Module):
    """Several views below each other, each without the nodes that hear nobody and the sources that nobody hears.

    ``matrices`` (listeners, sources): How strongly each node listens to each source. Views may share their sources or
    have sources of their own; ``starts``: Where the sources of each view begin in the table of all sources, which has
    ``num_sources`` rows; ``apart``: Whether every view has listeners of its own, those of one after those of another;
    ``layers``: The layer of each view, for networks that need it.

    ``row_counts``, ``source_counts``: Rows and sources of each view; ``rows``: The listener that each row stands for;
    ``sources``: Where each source stands in the table of all sources.
    """

    rows: Tensor
    sources: Tensor

    def __init__(
        self,
        matrices: Sequence[sp.csr_array],
        starts: Sequence[int] | None = None,
        num_sources: int | None = None,
        *,
        apart: bool = False,
        layers: Sequence[int] = (),
    ) -> None:
        super().__init__()
        self.layers = layers
        listeners, source_count = matrices[0].shape if matrices else (0, 0)
        source_count = source_count if num_sources is None else num_sources
        firsts = np.cumsum([0, *(matrix.shape[0] for matrix in matrices)]) if apart else [0] * (len(matrices) + 1)
        listeners = int(firsts[-1]) if apart else listeners
        view_rows: list[Positions] = []
        sources: list[Positions] = []
        blocks: list[sp.csr_array] = []
        for matrix, first_source, first_listener in zip(matrices, starts or [0] * len(matrices), firsts, strict=False):
            row = np.flatnonzero(np.diff(matrix.indptr))
            source = np.unique(matrix.indices).astype(np.int64)
            blocks.append(sp.csr_array(sp.csr_array(matrix[row])[:, source]))
            view_rows.append(row + first_listener)
            sources.append(source + first_source)
        self.row_counts, self.source_counts = [len(r) for r in view_rows], [len(s) for s in sources]
        row, source = np.concatenate([*view_rows, []]), np.concatenate([*sources, []])
        row, source = row.astype(np.int64), source.astype(np.int64)
        diagonal = sp.csr_array((0, 0)) if not blocks else sp.block_diag(blocks, format="csr")
        self.sum = SparseSum(sp.csr_array(diagonal))
        self.gather = SparseSum(_selection(source, source_count))
        self.join = SparseSum(sp.csr_array(_selection(row, listeners).T.tocsr()))
        self.register_buffer("rows", torch.from_numpy(row), persistent=False)
        self.register_buffer("sources", torch.from_numpy(source), persistent=False)

    @property
    def num_rows(self) -> int:
        """Rows of all views."""
        return self.sum.outputs

    @property
    def everywhere(self) -> StackedViews:
        """Itself: the listeners of the stack are those whose output is wanted."""
        return self

    def attend(self, values: Tensor, scores: Tensor) -> Tensor:
        """Attention-weighted means of what the sources say, (rows, columns).

        ``values`` (sources, columns); ``scores`` (sources,).
        """
        weighted_sums, weight_totals = attention_sums(values[:, None], scores[:, None], self.sum)
        return (weighted_sums / weight_totals[..., None])[:, 0]

    def by_view(self, values: Tensor, *, sources: bool = False) -> tuple[Tensor, ...]:
        """Rows, or sources, of each view apart."""
        return torch.split(values, self.source_counts if sources else self.row_counts)


def _selection(positions: Positions, count: int) -> sp.csr_array:
    """The matrix that takes some positions of ``count``, one a row."""
    ones = np.ones(positions.size, dtype=np.float32)
    pointer = np.arange(positions.size + 1)
    return sp.csr_array((ones, positions, pointer), shape=(positions.size, count))


@dataclass(frozen=True)
class View:
    """One way to listen in a layer.

    ``layer``: Position of the layer; ``backwards``: Whether edges are followed from their target to their source;
    ``matrix`` (nodes, sources): How strongly each node listens to each source: to nodes, or to groups; ``groups``:
    Whether the sources are groups.
    """

    layer: int
    backwards: bool
    matrix: sp.csr_array
    groups: bool


def graph_views(graph: MultilayerGraph) -> list[View]:
    """The views of every layer, in order: two of a layer of directed edges, one of any other.

    A group with a single member is left out, as it joins nobody.
    """
    found_views = []
    for layer_index, layer in enumerate(graph.layers.values()):
        incidence = layer.incidence()
        if incidence is not None:
            found_views.append(View(layer_index, False, _shared_groups(incidence), True))
            continue
        matrix = layer.to_scipy()
        found_views.append(View(layer_index, False, matrix, False))
        if layer.directed:
            found_views.append(View(layer_index, True, sp.csr_array(matrix.T.tocsr()), False))
    return found_views


def _shared_groups(incidence: sp.csr_array) -> sp.csr_array:
    """Memberships of groups that have several members; the others' columns stay, empty."""
    shared = np.bincount(incidence.indices, minlength=incidence.shape[1]) > 1
    kept_memberships = shared[incidence.indices]
    pointer = np.concatenate([[0], np.cumsum(kept_memberships)])[incidence.indptr]
    matrix_parts = (incidence.data[kept_memberships], incidence.indices[kept_memberships], pointer)
    return sp.csr_array(matrix_parts, shape=incidence.shape)


def views_size(views: Sequence[View]) -> int:
    """Entries, rows and sources of all views, on which the cost of a step depends; groups also hear their members."""
    size = 0
    for view in views:
        listeners = int(np.count_nonzero(np.diff(view.matrix.indptr)))
        sources = int(np.unique(view.matrix.indices).size)
        size += (2 if view.groups else 1) * (int(view.matrix.nnz) + listeners + sources)
    return size


def source_names(graph: MultilayerGraph, view: View) -> pd.Index:
    """The names of a view's sources."""
    return list(graph.layers.values())[view.layer].columns(graph.nodes)[1]


class RelationStep(nn.Module):
    """One hop: who listens to whom among some nodes.

    ``inputs``, ``outputs``: The nodes whose states are there before and after the hop, all if not given; whoever an
    output hears must be among the inputs. ``members``: Groups listen to their members; ``heard``: Nodes listen to nodes
    and to groups, whose table is that of the inputs, then that of the groups; ``own``: Where the outputs stand among
    the inputs; None if they are the same.
    """

    own: Tensor | None

    def __init__(
        self, views: Sequence[View], inputs: Positions | None = None, outputs: Positions | None = None
    ) -> None:
        super().__init__()
        nodes = views[0].matrix.shape[0] if views else 0
        before = np.arange(nodes) if inputs is None else inputs
        heard, starts = [], []
        members = []
        start = before.size
        for view in views:
            matrix = view.matrix if outputs is None else sp.csr_array(view.matrix[outputs])
            if not view.groups:
                heard.append(matrix if inputs is None else sp.csr_array(matrix[:, before]))
                starts.append(0)
                continue
            groups = np.unique(matrix.indices)
            inside = sp.csr_array(view.matrix[:, groups].T.tocsr())
            members.append(inside if inputs is None else sp.csr_array(inside[:, before]))
            heard.append(sp.csr_array(matrix[:, groups]))
            starts.append(start)
            start += groups.size
        self.heard = StackedViews(heard, starts, start)
        self.members = StackedViews(members, None, before.size, apart=True) if members else None
        own = None
        if outputs is not None:
            own = torch.from_numpy(np.searchsorted(before, outputs))
        self.register_buffer("own", own, persistent=False)


class RelationPlan(nn.Module):
    """The hops of a network over a graph's views, for the output of some nodes, in ascending order, or of all.

    ``start``: The nodes whose inputs are needed; None for all; ``ends``: For each hop, where the nodes asked about
    stand among its outputs; None if they are all of them.
    """

    def __init__(self, views: Sequence[View], hops: int, nodes: Positions | None = None) -> None:
        super().__init__()
        self.layer_of_view = [view.layer for view in views]
        self.group_views = [place for place, view in enumerate(views) if view.groups]
        self.num_nodes = int(views[0].matrix.shape[0]) if views else 0
        needed: list[Positions | None] = [nodes]
        for _ in range(hops):
            needed.append(None if needed[-1] is None else reached(views, needed[-1]))
        needed = needed[::-1]
        steps: list[RelationStep] = []
        for before, after in pairwise(needed):
            if steps and before is None and after is None:
                steps.append(steps[-1])
            else:
                steps.append(RelationStep(views, before, after))
        self.steps = nn.ModuleList(steps)
        self.start = needed[0]
        self.ends: list[Tensor | None] = [
            None if nodes is None else torch.from_numpy(_among(after, nodes)) for after in needed[1:]
        ]

    @property
    def num_rows(self) -> int:
        """Rows of the largest hop."""
        return max((cast("RelationStep", step).heard.num_rows for step in self.steps), default=0)

    @property
    def everywhere(self) -> RelationPlan:
        """Itself: held-out labels are among the nodes it is for."""
        return self

    def at_start(self, nodes: Tensor) -> tuple[Tensor, Tensor]:
        """Which of some nodes are among those whose inputs are needed, and where they stand there."""
        if self.start is None:
            return torch.ones_like(nodes, dtype=torch.bool), nodes
        start = torch.from_numpy(self.start)
        places = torch.searchsorted(start, nodes).clamp(max=max(start.numel() - 1, 0))
        there = start[places] == nodes if start.numel() else torch.zeros_like(nodes, dtype=torch.bool)
        return there, places[there]


def reached(views: Sequence[View], nodes: Positions) -> Positions | None:
    """Some nodes and all whom they hear, also through groups, in ascending order; None where these are all nodes."""
    count = views[0].matrix.shape[0] if views else 0
    found = np.zeros(count, dtype=bool)
    found[nodes] = True
    for view in views:
        heard = np.zeros(view.matrix.shape[1], dtype=bool)
        heard[sp.csr_array(view.matrix[nodes]).indices] = True
        if view.groups:
            inside = heard[view.matrix.indices]
            owners = np.repeat(np.arange(count), np.diff(view.matrix.indptr))
            found[owners[inside]] = True
        else:
            found |= heard
    return None if found.all() else np.flatnonzero(found)


def _among(positions: Positions | None, nodes: Positions) -> Positions:
    found: Positions = nodes if positions is None else np.searchsorted(positions, nodes)
    return found


# The two networks.


class RelationNetwork(nn.Module):
    """What the two networks share; as an ensemble they have one member.

    ``random``: Draws starting values and dropout. ``muted``: Layers that say the same to all who hear somebody in them,
    so that they tell no nodes apart: for explanations.
    """

    muted: tuple[int, ...] = ()
    hops = 1

    def __init__(self, columns: int, dropout: float, score_bound: float | None, random: MemberRandom) -> None:
        super().__init__()
        self.columns, self.dropout, self.score_bound, self.random = columns, dropout, score_bound, random

    def drawn(self, *shape: int, scale: float) -> nn.Parameter:
        """A parameter with normal starting values."""
        return nn.Parameter(self.random.normal(shape)[0] * scale)

    def dropped(self, values: Tensor) -> Tensor:
        """Values with some set to zero in training."""
        if not self.training or self.dropout == 0:
            return values
        return values * self.random.mask(values[:, None], 1, self.dropout)[:, 0]

    def levelled(self, rows: Tensor, layer: int) -> Tensor:
        """What a view says to its rows: of a muted layer the mean."""
        if layer not in self.muted or not rows.shape[0]:
            return rows
        return rows.mean(0, keepdim=True).expand_as(rows)

    def largest(self, plan: RelationPlan | StackedViews) -> int:
        """Numbers in the largest tensors of a pass."""
        return plan.num_rows * self.columns


class LabelNetwork(RelationNetwork):
    """Several hops from shown labels; see the module.

    ``group_views``: How many of the views are of groups. ``asked``: Which of the labels were hidden in the last step of
    a training, by their positions, and are to be predicted.
    """

    asked: Tensor

    def __init__(self, views: int, group_views: int, classes: int, *, columns: int, hops: int, **shared: Any) -> None:
        super().__init__(columns, **shared)
        self.hops = hops
        level = columns**-0.5
        self.labels = self.drawn(classes, columns, scale=0.3)
        self.weight = self.drawn(hops, views, columns, columns, scale=level / 2)  # several views are added
        self.attention = nn.Parameter(torch.zeros(hops, views, columns))
        self.member_attention = nn.Parameter(torch.zeros(hops, group_views, columns))
        self.own = self.drawn(hops, columns, columns, scale=level)
        self.own_bias = nn.Parameter(torch.zeros(hops, columns))
        self.classifier = self.drawn(hops * columns, classes, scale=(hops * columns) ** -0.5)
        self.bias = nn.Parameter(torch.zeros(classes))

    def forward(self, labels: tuple[Tensor, Tensor], plan: RelationPlan) -> Output:
        """Class scores and embedding, (nodes, 1, classes) and (nodes, 1, hops * columns), of the plan's nodes.

        ``labels``: Nodes and their classes. In training a random part of them is hidden.
        """
        if self.training:
            hidden = self.random.mask(self.labels.new_zeros(labels[0].numel(), 1, 1), 1, 0.3).flatten() == 0
            hidden[self.random.calls % hidden.numel()] = True  # at least one is predicted
            self.asked = torch.nonzero(hidden)[:, 0]
            labels = labels[0][~hidden], labels[1][~hidden]
        states = self.states(plan, *labels)
        ends = [
            state if end is None else state.index_select(0, end)
            for state, end in zip(states[1:], plan.ends, strict=True)
        ]
        embedding = torch.cat(ends, 1)
        return Output((embedding @ self.classifier + self.bias)[:, None], embedding[:, None])

    def states(self, plan: RelationPlan, shown: Tensor, codes: Tensor) -> list[Tensor]:
        """The states before the first hop and after each; ``codes`` are the classes of the nodes ``shown``."""
        there, places = plan.at_start(shown)
        count = plan.num_nodes if plan.start is None else len(plan.start)
        state = self.labels.new_zeros(count, self.columns)
        state = state.index_put((places,), self.labels.index_select(0, codes[there]))
        states = [state]
        for hop, step in enumerate(plan.steps):
            states.append(self._hop(hop, cast("RelationStep", step), states[-1], plan))
        return states

    def _hop(self, hop: int, step: RelationStep, state: Tensor, plan: RelationPlan) -> Tensor:
        rows = self.listened(hop, step, state)[0]
        own = state if step.own is None else state.index_select(0, step.own)
        said = [
            self.levelled(part, layer) @ weight
            for part, weight, layer in zip(step.heard.by_view(rows), self.weight[hop], plan.layer_of_view, strict=True)
        ]
        total = own @ self.own[hop] + self.own_bias[hop]
        if said:
            total = total + step.heard.join.sums(torch.cat(said))
        return self.dropped(F.elu(total))

    def listened(self, hop: int, step: RelationStep, state: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """What each row of a hop hears, and of each source what it says and its score."""
        table = state
        if step.members is not None:
            said, scores = self._scored(step.members, state, self.member_attention[hop])
            groups = step.members.join.sums(step.members.attend(said, scores))
            table = torch.cat([state, groups])
        said, scores = self._scored(step.heard, table, self.attention[hop])
        return step.heard.attend(said, scores), said, scores

    def member_scores(self, hop: int, step: RelationStep, state: Tensor) -> Tensor:
        """How much each node is listened to by groups, for each view of groups and each member of one."""
        assert step.members is not None
        return self._scored(step.members, state, self.member_attention[hop])[1]

    def _scored(self, views: StackedViews, table: Tensor, vectors: Tensor) -> tuple[Tensor, Tensor]:
        """What each source says, and its score."""
        said = views.gather.sums(table)
        parts = views.by_view(said, sources=True)
        found = [part @ vector for part, vector in zip(parts, vectors, strict=True)]
        return said, bounded(torch.cat(found) if found else said.new_zeros(0), self.score_bound)


class TableNetwork(RelationNetwork):
    """One hop from learned inputs; see the module.

    ``rows``: Sources that have a row.
    """

    def __init__(self, rows: int, classes: int, *, columns: int, **shared: Any) -> None:
        super().__init__(columns, **shared)
        self.table = self.drawn(rows, columns, scale=0.05)
        self.scores = nn.Parameter(torch.zeros(rows))
        self.hidden_bias = nn.Parameter(torch.zeros(columns))
        self.classifier = self.drawn(columns, classes, scale=columns**-0.5)
        self.bias = nn.Parameter(torch.zeros(classes))

    def forward(self, rows: SparseSum, views: StackedViews) -> Output:
        """Class scores and embedding of the listeners, (nodes, 1, classes) and (nodes, 1, columns).

        ``rows`` (sources of the views, rows of the table): The table's row of each source, none for a source without.
        """
        parts = zip(views.by_view(self.listened(views, rows)[0]), views.layers, strict=True)
        said = [self.levelled(part, layer) for part, layer in parts]
        hidden = self.hidden_bias.expand(views.join.outputs, -1)
        if said:
            hidden = hidden + views.join.sums(torch.cat(said))
        embedding = F.elu(hidden)
        return Output((self.dropped(embedding) @ self.classifier + self.bias)[:, None], embedding[:, None])

    def listened(self, views: StackedViews, rows: SparseSum) -> tuple[Tensor, Tensor, Tensor]:
        """What each row hears, and of each source what it says and its score."""
        said = rows.sums(self.table)
        scores = bounded(rows.sums(self.scores[:, None])[:, 0], self.score_bound)
        return views.attend(said, scores), said, scores
