"""Networks of weighted attention for graphs whose layers say different things: labels as inputs, and learned inputs.

The two networks of the paper start from fixed features and give each layer one factor. On a graph with many relations
and many classes that is not enough: a relation may join unlike labels, most relations say nothing about a node, and a
label may be several hops away. Both networks here attend over views (:mod:`gramme.ops.views`), where empty
neighbourhoods say nothing.

*Labels as inputs* (:class:`LabelNetwork`): a node starts from the embedding of its label where that is shown, else from
nothing. Every hop has a matrix and an attention vector for each view, so that a view may turn one class into another:

    h_i' = elu(W h_i + b + sum over views v of V_v z_vi),
    z_vi = sum over j of c_ij exp(t_vj) h_j / sum over j of c_ij exp(t_vj),   t_vj = <a_v, h_j>.

A group says the attention-weighted mean of its members, and a node attends over its groups. The hops' states, side by
side, give the scores. Whether a label is shown is the training's choice: it hides some and asks for them.

*Learned inputs* (:class:`TableNetwork`): one hop, where each source of each view has a learned row and a learned score
in place of h_j and t_vj. Only sources that a labelled node hears have a row; all others say nothing.
"""

from __future__ import annotations

from typing import cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from gramme.nn.attention import bounded
from gramme.nn.plan import Output
from gramme.nn.relation_plan import RelationPlan, RelationStep
from gramme.ops.views import SparseSum, StackedViews

VIEW_START = 0.5
"""Starting size of a view's matrix relative to one that keeps the size of states: several views are added."""
LABEL_START = 0.3
"""Standard deviation of a label's embedding at the start."""
TABLE_START = 0.05
"""Standard deviation of a learned input at the start."""


class RelationNetwork(nn.Module):
    """What the two networks share.

    ``muted``: Layers that say the same to all who hear somebody in them, so that they tell no nodes apart: for
    explanations.
    """

    muted: tuple[int, ...] = ()

    def __init__(self, dropout: float, score_bound: float | None, generator: torch.Generator) -> None:
        super().__init__()
        self.dropout, self.score_bound, self.generator = dropout, score_bound, generator

    def drawn(self, *shape: int, scale: float) -> nn.Parameter:
        """A parameter with normal starting values."""
        return nn.Parameter(torch.randn(*shape, generator=self.generator) * scale)

    def dropped(self, values: Tensor) -> Tensor:
        """Values with some set to zero in training."""
        if not self.training or self.dropout == 0:
            return values
        kept = torch.rand(values.shape, generator=self.generator) >= self.dropout
        return values * kept / (1 - self.dropout)

    def levelled(self, rows: Tensor, layer: int) -> Tensor:
        """What a view says to its rows: of a muted layer the mean."""
        if layer not in self.muted or not rows.shape[0]:
            return rows
        return rows.mean(0, keepdim=True).expand_as(rows)


class LabelNetwork(RelationNetwork):
    """Several hops from shown labels; see the module.

    ``group_views``: How many of the views are of groups; ``generator``: Draws starting values and dropout.
    """

    def __init__(
        self,
        views: int,
        group_views: int,
        classes: int,
        *,
        columns: int,
        hops: int,
        dropout: float,
        score_bound: float | None,
        generator: torch.Generator,
    ) -> None:
        super().__init__(dropout, score_bound, generator)
        self.columns, self.hops = columns, hops
        level = columns**-0.5
        self.labels = self.drawn(classes, columns, scale=LABEL_START)
        self.weight = self.drawn(hops, views, columns, columns, scale=VIEW_START * level)
        self.attention = nn.Parameter(torch.zeros(hops, views, columns))
        self.member_attention = nn.Parameter(torch.zeros(hops, group_views, columns))
        self.own = self.drawn(hops, columns, columns, scale=level)
        self.own_bias = nn.Parameter(torch.zeros(hops, columns))
        self.classifier = self.drawn(hops * columns, classes, scale=(hops * columns) ** -0.5)
        self.bias = nn.Parameter(torch.zeros(classes))

    def forward(self, plan: RelationPlan, shown: Tensor, codes: Tensor) -> Output:
        """Class scores and embedding, (nodes, classes) and (nodes, hops * columns), of the nodes the plan is for.

        ``shown``, ``codes`` (shown,): The nodes whose labels are shown, and their classes.
        """
        states = self.states(plan, shown, codes)
        ends = [
            state if end is None else state.index_select(0, end)
            for state, end in zip(states[1:], plan.ends, strict=True)
        ]
        embedding = torch.cat(ends, 1)
        return Output(embedding @ self.classifier + self.bias, embedding)

    def states(self, plan: RelationPlan, shown: Tensor, codes: Tensor) -> list[Tensor]:
        """The states before the first hop and after each."""
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
            said = step.members.gather.sums(state)
            scores = self._scores(step.members, said, self.member_attention[hop])
            groups = step.members.join.sums(step.members.attend(said, scores))
            table = torch.cat([state, groups])
        said = step.heard.gather.sums(table)
        scores = self._scores(step.heard, said, self.attention[hop])
        return step.heard.attend(said, scores), said, scores

    def member_scores(self, hop: int, step: RelationStep, state: Tensor) -> Tensor:
        """How much each node is listened to by groups, for each view of groups and each member of one."""
        assert step.members is not None
        said = step.members.gather.sums(state)
        return self._scores(step.members, said, self.member_attention[hop])

    def _scores(self, views: StackedViews, said: Tensor, vectors: Tensor) -> Tensor:
        parts = views.by_view(said, sources=True)
        found = [part @ vector for part, vector in zip(parts, vectors, strict=True)]
        scores = torch.cat(found) if found else said.new_zeros(0)
        return bounded(scores, self.score_bound)


class TableNetwork(RelationNetwork):
    """One hop from learned inputs; see the module.

    ``rows``: Sources that have a row.
    """

    def __init__(
        self,
        rows: int,
        classes: int,
        *,
        columns: int,
        dropout: float,
        score_bound: float | None,
        generator: torch.Generator,
    ) -> None:
        super().__init__(dropout, score_bound, generator)
        self.columns = columns
        self.table = self.drawn(rows, columns, scale=TABLE_START)
        self.scores = nn.Parameter(torch.zeros(rows))
        self.hidden_bias = nn.Parameter(torch.zeros(columns))
        self.classifier = self.drawn(columns, classes, scale=columns**-0.5)
        self.bias = nn.Parameter(torch.zeros(classes))

    def forward(self, views: StackedViews, rows: SparseSum | None, layers: list[int]) -> Output:
        """Class scores and embedding of the listeners.

        ``rows`` (sources of the views, rows of the table): The table's row of each source, none for a source without
        one; if not given, each source has its own; ``layers``: The layer of each view.
        """
        heard = self.listened(views, rows)[0]
        parts = zip(views.by_view(heard), layers, strict=True)
        said = [self.levelled(part, layer) for part, layer in parts]
        hidden = self.hidden_bias.expand(views.join.outputs, -1)
        if said:
            hidden = hidden + views.join.sums(torch.cat(said))
        embedding = F.elu(hidden)
        return Output(self.dropped(embedding) @ self.classifier + self.bias, embedding)

    def listened(self, views: StackedViews, rows: SparseSum | None) -> tuple[Tensor, Tensor, Tensor]:
        """What each row hears, and of each source what it says and its score."""
        said: Tensor = self.table
        scores: Tensor = self.scores
        if rows is not None:
            said, scores = rows.sums(said), rows.sums(scores[:, None])[:, 0]
        scores = bounded(scores, self.score_bound)
        return views.attend(said, scores), said, scores
