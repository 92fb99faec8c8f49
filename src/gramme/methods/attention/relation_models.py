"""Fitted networks over relations: what they say about any graph, by which layers and through whom.

:class:`LabelInputs` starts from the known labels, which it finds in another graph by the nodes' names.
:class:`LearnedInputs` knows neighbours and groups by their names; whoever has none that it has learned about gets what
it says about nobody in particular. Both are for one network; :mod:`gramme.methods.attention.relations` fits them and
pools what they say.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import scipy.sparse as sp
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from gramme.errors import DataError
from gramme.graph import MultilayerGraph
from gramme.methods.contributions import Pair, Through, kind_of
from gramme.methods.linear.one_hot import LayerColumns
from gramme.nn.plan import Output
from gramme.nn.relation_plan import RelationPlan, View, graph_views, source_names
from gramme.nn.relations import LabelNetwork, RelationNetwork, TableNetwork
from gramme.ops.views import SparseSum, StackedViews

HIDDEN_PARTS = 5
"""Known labels are predicted in so many parts, each while its labels are not shown."""
MAX_EXPLAINED_NODES = 5_000
"""Nodes from whose predictions the importance of layers is found."""
MAX_MUTED_ALONE, BLOCKS = 100, 32
"""Layers up to which each is muted by itself; more are muted in so many blocks, whose layers share alike."""

Floats = NDArray[np.float64]
Layout = list[tuple[int, bool, bool]]
"""Of each view its layer, whether it goes backwards, and whether it is one of groups."""


def layout_of(views: Sequence[View]) -> Layout:
    """What a network over views has to remember of them."""
    return [(view.layer, view.backwards, view.groups) for view in views]


def matching_views(graph: MultilayerGraph, layout: Layout) -> list[View]:
    """The views of another graph, once they are known to be those of the fit."""
    views = graph_views(graph)
    if layout_of(views) != layout:
        kinds = {layer: groups for layer, _, groups in layout}
        for place, (name, layer) in enumerate(graph.layers.items()):
            if kinds.get(place) != (layer.incidence() is not None):
                raise DataError(
                    f"the layer {name!r} has {layer.made_of} here; the model was fitted on one with "
                    f"{'groups' if kinds.get(place) else 'edges'}"
                )
        raise DataError(
            "the model was fitted on a graph whose layers have edges with a direction where these have none, or the "
            "other way round"
        )
    return views


@dataclass
class RelationModel:
    """A trained network over relations.

    ``layout``: The views that it was fitted on.
    """

    kind: ClassVar[str]

    layout: Layout
    network: RelationNetwork

    def output(self, graph: MultilayerGraph) -> Output:
        """Class scores and embedding of all nodes of a graph, with all known labels shown."""
        raise NotImplementedError

    def probabilities(self, graph: MultilayerGraph) -> Floats:
        """Class probabilities of all nodes; no known label tells its own node's."""
        found: Floats = self.output(graph).scores.double().softmax(1).numpy()
        return found

    def embedding(self, graph: MultilayerGraph) -> NDArray[np.float32]:
        """The embedding of all nodes."""
        found: NDArray[np.float32] = self.output(graph).embedding.numpy()
        return found

    def layer_shares(self, graph: MultilayerGraph) -> Floats:
        """How much the predictions rest on each layer, summing to 1.

        As :func:`gramme.methods.attention.explain.layer_shares`: what is lost without a layer and what it gives alone.
        On a large graph some nodes are asked, evenly spaced in the order of their names.
        """
        layers, nodes = graph.num_layers, None
        if graph.num_nodes > MAX_EXPLAINED_NODES:
            nodes = np.linspace(0, graph.num_nodes - 1, MAX_EXPLAINED_NODES).astype(np.int64)
        count = layers if layers <= MAX_MUTED_ALONE else BLOCKS
        blocks = [block.tolist() for block in np.array_split(np.arange(layers), count)]
        predict = self._repeated(graph, nodes)

        def said(muted: set[int]) -> Tensor:
            self.network.muted = tuple(muted)
            try:
                return predict().scores.log_softmax(1)
            finally:
                self.network.muted = ()

        full = said(set())

        def moved(muted: set[int]) -> float:
            divergence = (full.exp() * (full - said(muted))).sum(1)
            return divergence.double().mean().item() if divergence.numel() else 0.0

        every = set(range(layers))
        lost = np.array([moved(set(block)) for block in blocks])
        alone = np.array([moved(every - set(block)) for block in blocks])
        worth = np.maximum(lost, 0) + np.maximum(moved(every) - alone, 0)
        sizes = np.array([len(block) for block in blocks])
        worth = np.repeat(worth / sizes, sizes)
        shares: Floats = worth / worth.sum() if worth.sum() > 1e-12 else np.full(layers, 1 / layers)
        return shares

    def _repeated(self, graph: MultilayerGraph, nodes: NDArray[np.int64] | None = None) -> Callable[[], Output]:
        """A pass for some nodes or all that may be repeated, with what it needs made once."""
        raise NotImplementedError

    def received(self, graph: MultilayerGraph, hop: int) -> Floats:
        """How much attention each node gets in each layer relative to the average, (layers, nodes); see GrammeFusion.

        NaN for nodes that nobody hears, and for a layer without attention at such a hop.
        """
        raise NotImplementedError

    def through(self, graph: MultilayerGraph, pair: Pair, scale: Floats) -> list[Through]:
        """What came through neighbours and groups at the last hop, times a factor for each row."""
        raise NotImplementedError


@dataclass
class LabelInputs(RelationModel):
    """Starts from known labels.

    ``names``, ``codes``: The labelled nodes of the fit and their classes.
    """

    kind: ClassVar[str] = "labels"

    network: LabelNetwork
    names: pd.Index
    codes: NDArray[np.int64]

    def known(self, graph: MultilayerGraph) -> tuple[Tensor, Tensor]:
        """The nodes of a graph whose labels the model knows, in ascending order, and their classes."""
        places = self.names.get_indexer(graph.nodes)
        nodes = np.flatnonzero(places >= 0)
        return torch.from_numpy(nodes), torch.from_numpy(self.codes[places[nodes]])

    @torch.no_grad()
    def output(self, graph: MultilayerGraph) -> Output:
        return self._repeated(graph)()

    def _repeated(self, graph: MultilayerGraph, nodes: NDArray[np.int64] | None = None) -> Callable[[], Output]:
        plan = RelationPlan(matching_views(graph, self.layout), self.network.hops, nodes)
        shown, codes = self.known(graph)
        self.network.eval()

        @torch.no_grad()
        def once() -> Output:
            output: Output = self.network(plan, shown, codes)
            return output

        return once

    @torch.no_grad()
    def probabilities(self, graph: MultilayerGraph) -> Floats:
        found = super().probabilities(graph)
        nodes, codes = self.known(graph)
        if nodes.numel():
            found[nodes.numpy()] = self.of_hidden(graph, nodes, codes)
        return found

    def of_hidden(self, graph: MultilayerGraph, nodes: Tensor, codes: Tensor) -> Floats:
        """Probabilities of labelled nodes, each while its own label is not shown."""
        plan = RelationPlan(matching_views(graph, self.layout), self.network.hops, nodes.numpy().astype(np.int64))
        part = torch.arange(nodes.numel()) % HIDDEN_PARTS
        found = np.empty((nodes.numel(), self.network.bias.numel()))
        self.network.eval()
        for number in range(min(HIDDEN_PARTS, nodes.numel())):
            hidden = part == number
            output: Output = self.network(plan, nodes[~hidden], codes[~hidden])
            found[hidden.numpy()] = output.scores[hidden].double().softmax(1).numpy()
        return found

    @torch.no_grad()
    def received(self, graph: MultilayerGraph, hop: int) -> Floats:
        found = np.full((graph.num_layers, graph.num_nodes), np.nan)
        if hop > self.network.hops:
            return found
        views = matching_views(graph, self.layout)
        plan = RelationPlan(views, self.network.hops)
        state = self.network.states(plan, *self.known(graph))[hop - 1]
        step: Any = plan.steps[hop - 1]
        scores = step.heard.by_view(self.network.listened(hop - 1, step, state)[2], sources=True)
        sources = step.heard.by_view(step.heard.sources, sources=True)
        sums, counts = np.zeros_like(found), np.zeros_like(found)
        for view, score, source in zip(views, scores, sources, strict=True):
            if not view.groups:
                _add_relative(sums, counts, view.layer, source, score)
        if step.members is not None:
            said = self.network.member_scores(hop - 1, step, state)
            parts = step.members.by_view(said, sources=True)
            members = step.members.by_view(step.members.sources, sources=True)
            for place, score, source in zip(plan.group_views, parts, members, strict=True):
                _add_relative(sums, counts, views[place].layer, source, score)
        return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)

    @torch.no_grad()
    def through(self, graph: MultilayerGraph, pair: Pair, scale: Floats) -> list[Through]:
        views = matching_views(graph, self.layout)
        plan = RelationPlan(views, self.network.hops)
        nodes, codes = self.known(graph)
        self.network.eval()
        states = self.network.states(plan, nodes, codes)
        step: Any = plan.steps[-1]
        last = self.network.hops - 1
        _, said, scores = self.network.listened(last, step, states[-2])
        columns = self.network.columns
        weights = self.network.classifier[last * columns :].double().T
        direction = weights[pair.first] - weights[pair.second]
        direction = direction * _quotient(states[-1][pair.rows].double())
        turned = [direction @ weight.double().T for weight in self.network.weight[last]]
        return _through(graph, views, step.heard, said, scores, turned, pair.rows, scale)


@dataclass
class LearnedInputs(RelationModel):
    """Starts from learned rows of neighbours and groups.

    ``columns``: Of each view the names of the sources that have a row.
    """

    kind: ClassVar[str] = "learned"

    network: TableNetwork
    columns: list[LayerColumns]

    @torch.no_grad()
    def output(self, graph: MultilayerGraph) -> Output:
        return self._repeated(graph)()

    def _repeated(self, graph: MultilayerGraph, nodes: NDArray[np.int64] | None = None) -> Callable[[], Output]:
        views, stack, rows = self._on(graph, nodes)
        layers = [view.layer for view in views]
        self.network.eval()

        @torch.no_grad()
        def once() -> Output:
            output: Output = self.network(stack, rows, layers)
            return output

        return once

    def _on(
        self, graph: MultilayerGraph, nodes: NDArray[np.int64] | None = None
    ) -> tuple[list[View], StackedViews, SparseSum]:
        """A graph's views, stacked, with some listeners or all, and the table's row of each source."""
        views = matching_views(graph, self.layout)
        stack = table_views(views, nodes)
        return views, stack, self.rows_of(graph, views, stack)

    def rows_of(self, graph: MultilayerGraph, views: Sequence[View], stack: StackedViews) -> SparseSum:
        """The table's row of each source of stacked views, by name; none for a source that was not learned about."""
        rows, start, first = [], 0, 0
        sources = stack.by_view(stack.sources, sources=True)
        for view, columns, source in zip(views, self.columns, sources, strict=True):
            place = np.full(view.matrix.shape[1], -1)
            found = source_names(graph, view).get_indexer(columns.names)
            place[found[found >= 0]] = start + np.flatnonzero(found >= 0)
            rows.append(place[source.numpy() - first])
            start += len(columns.names)
            first += view.matrix.shape[1]
        row = np.concatenate([*rows, []]).astype(np.int64)
        known = np.flatnonzero(row >= 0)
        ones = np.ones(known.size, dtype=np.float32)
        return SparseSum(sp.csr_array((ones, (known, row[known])), shape=(row.size, start)))

    @torch.no_grad()
    def received(self, graph: MultilayerGraph, hop: int) -> Floats:
        sums, counts = np.zeros((2, graph.num_layers, graph.num_nodes))
        if hop == 1:
            views, stack, rows = self._on(graph)
            scores = stack.by_view(self.network.listened(stack, rows)[2], sources=True)
            sources = stack.by_view(stack.sources, sources=True)
            first = 0
            for view, score, source in zip(views, scores, sources, strict=True):
                if not view.groups:
                    _add_relative(sums, counts, view.layer, source - first, score)
                first += view.matrix.shape[1]
        return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)

    @torch.no_grad()
    def through(self, graph: MultilayerGraph, pair: Pair, scale: Floats) -> list[Through]:
        views, stack, rows = self._on(graph)
        self.network.eval()
        output: Output = self.network(stack, rows, [view.layer for view in views])
        _, said, scores = self.network.listened(stack, rows)
        weights = self.network.classifier.double().T
        direction = weights[pair.first] - weights[pair.second]
        direction = direction * _quotient(output.embedding[pair.rows].double())
        turned = [direction] * len(views)
        return _through(graph, views, stack, said, scores, turned, pair.rows, scale)


def table_views(views: Sequence[View], nodes: NDArray[np.int64] | None = None) -> StackedViews:
    """Views for a network with learned inputs, of some listeners or all: every view has sources of its own."""
    matrices = [view.matrix if nodes is None else sp.csr_array(view.matrix[nodes]) for view in views]
    sizes = [matrix.shape[1] for matrix in matrices]
    starts = np.cumsum([0, *sizes])
    return StackedViews(matrices, starts[:-1].tolist(), int(starts[-1]))


def _add_relative(sums: Floats, counts: Floats, layer: int, source: Tensor, scores: Tensor) -> None:
    """Add how much each source of a view is listened to, relative to the average one, and count the view."""
    if source.numel():
        relative = torch.softmax(scores.double(), 0) * scores.numel()
        sums[layer, source.numpy()] += relative.numpy()
        counts[layer, source.numpy()] += 1


def _quotient(activated: Tensor) -> Tensor:
    """elu(x) / x from elu(x): 1 where x is positive, and at 0."""
    before = torch.where(activated < 0, torch.log1p(activated.clamp(max=0)), activated)
    small = before.abs() < 1e-9
    return torch.where(small, torch.ones_like(before), activated / torch.where(small, 1.0, before))


def _through(
    graph: MultilayerGraph,
    views: Sequence[View],
    stack: StackedViews,
    said: Tensor,
    scores: Tensor,
    directions: Sequence[Tensor],
    rows: NDArray[np.int64],
    scale: Floats,
) -> list[Through]:
    """The last hop's parts of log-odds by view, both directions of a layer added up."""
    layers = list(graph.layers.items())
    found: dict[int, Any] = {}
    parts = (stack.by_view(said, sources=True), stack.by_view(scores, sources=True))
    for view, values, score, direction in zip(views, *parts, directions, strict=True):
        used = np.unique(view.matrix.indices)
        place = np.zeros(view.matrix.shape[1], dtype=np.int64)
        place[used] = np.arange(used.size)
        loudness = (score.double() - (score.max() if score.numel() else 0)).exp().numpy()
        heard = sp.csr_array(view.matrix[rows]).astype(np.float64)
        owner = np.repeat(np.arange(rows.size), np.diff(heard.indptr))
        weight = heard.data * loudness[place[heard.indices]]
        total = np.bincount(owner, weights=weight, minlength=rows.size)
        product = np.einsum("ij,ij->i", values.double().numpy()[place[heard.indices]], direction.numpy()[owner])
        heard.data = product * weight / total[owner] * scale[owner]
        found[view.layer] = heard + found[view.layer] if view.layer in found else heard
    return [
        Through(layers[place][0], kind_of(layers[place][1]), sp.csr_array(matrix))
        for place, matrix in sorted(found.items())
    ]


def log_pool(parts: Sequence[Floats], weights: Sequence[float], exponent: float) -> Floats:
    """The weighted geometric mean of probabilities, raised to a power and made to sum to 1."""
    mean = np.zeros_like(parts[0])
    for part, weight in zip(parts, weights, strict=True):
        mean += exponent * weight * np.log(np.maximum(part, np.finfo(np.float64).tiny))
    pooled: Floats = F.softmax(torch.from_numpy(mean), dim=1).numpy()
    return pooled
