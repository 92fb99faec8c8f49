"""Fitted networks over relations: what they say about any graph, by which layers and through whom.

:class:`LabelInputs` starts from the known labels, which it finds in another graph by the nodes' names.
:class:`LearnedInputs` knows neighbours and groups by their names; whoever has none that it has learned about gets what
it says about nobody in particular. Both are for one network; :mod:`gramme.methods.attention.relations` fits them and
pools what they say.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np
import pandas as pd
import scipy.sparse as sp
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from gramme.errors import DataError
from gramme.graph import MultilayerGraph
from gramme.methods.contributions import NeighbourContributions, Pair, Through, kind_of
from gramme.methods.linear.one_hot import LayerColumns
from gramme.methods.params import Number, WholeNumber
from gramme.methods.persistence import Learned, SavedArray, SavedField, SavedWeights, Sizes, check_weights, checked
from gramme.nn import MemberRandom, Output
from gramme.nn.relations import (
    LabelNetwork,
    RelationNetwork,
    RelationPlan,
    SparseSum,
    StackedViews,
    TableNetwork,
    View,
    graph_views,
    source_names,
)
from gramme.training import evaluate

from .explain import shares_by_muting

if TYPE_CHECKING:
    from gramme.methods.base import GraphEstimator

MAX_EXPLAINED_NODES = 5_000
"""Nodes from whose predictions the importance of layers is found."""

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
        return self._evaluated(*self._inputs(graph))

    def _inputs(self, graph: MultilayerGraph, nodes: NDArray[np.int64] | None = None) -> tuple[Any, Any]:
        """What the network takes for some nodes or all."""
        raise NotImplementedError

    def _evaluated(self, inputs: Any, plan: Any) -> Output:
        return evaluate(cast("Any", self.network), inputs, plan)

    def probabilities(self, graph: MultilayerGraph) -> Floats:
        """Class probabilities of all nodes; no known label tells its own node's."""
        found: Floats = self.output(graph).scores[:, 0].double().softmax(1).numpy()
        return found

    def embedding(self, graph: MultilayerGraph) -> NDArray[np.float32]:
        """The embedding of all nodes."""
        found: NDArray[np.float32] = self.output(graph).embedding[:, 0].numpy()
        return found

    def layer_shares(self, graph: MultilayerGraph) -> Floats:
        """How much the predictions rest on each layer, summing to 1.

        As :func:`gramme.methods.attention.explain.layer_shares`: what is lost without a layer and what it gives alone.
        On a large graph some nodes are asked, evenly spaced in the order of their names.
        """
        nodes = None
        if graph.num_nodes > MAX_EXPLAINED_NODES:
            nodes = np.linspace(0, graph.num_nodes - 1, MAX_EXPLAINED_NODES).astype(np.int64)
        inputs = self._inputs(graph, nodes)

        def log_probabilities(muted: Iterable[int]) -> Tensor:
            self.network.muted = tuple(muted)
            try:
                return self._evaluated(*inputs).scores.log_softmax(-1)
            finally:
                self.network.muted = ()

        shares: Floats = shares_by_muting(graph.num_layers, log_probabilities)[0]
        return shares

    @torch.no_grad()
    def received(self, graph: MultilayerGraph, hop: int) -> Floats:
        """How much attention each node gets in each layer relative to the average, (layers, nodes); see GrammeFusion.

        NaN for nodes that nobody hears, and for a layer without attention at such a hop.
        """
        sums, counts = np.zeros((2, graph.num_layers, graph.num_nodes))
        for layer, nodes, scores in self._scores(graph, hop) if hop <= self.network.hops else ():
            if nodes.numel():
                relative = torch.softmax(scores.double(), 0) * scores.numel()
                sums[layer, nodes.numpy()] += relative.numpy()
                counts[layer, nodes.numpy()] += 1
        return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)

    def _scores(self, graph: MultilayerGraph, hop: int) -> Iterator[tuple[int, Tensor, Tensor]]:
        """For each view its layer, the nodes that are heard at a hop, and their scores."""
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

    def _inputs(self, graph: MultilayerGraph, nodes: NDArray[np.int64] | None = None) -> tuple[Any, RelationPlan]:
        return self.known(graph), RelationPlan(matching_views(graph, self.layout), self.network.hops, nodes)

    def probabilities(self, graph: MultilayerGraph) -> Floats:
        found = super().probabilities(graph)
        nodes, codes = self.known(graph)
        _, plan = self._inputs(graph, nodes.numpy())
        part = torch.arange(nodes.numel()) % 5
        for number in range(min(5, nodes.numel())):  # labelled nodes, each while its own is not shown
            hidden = part == number
            output = self._evaluated((nodes[~hidden], codes[~hidden]), plan)
            found[nodes[hidden].numpy()] = output.scores[hidden, 0].double().softmax(1).numpy()
        return found

    def _scores(self, graph: MultilayerGraph, hop: int) -> Iterator[tuple[int, Tensor, Tensor]]:
        labels, plan = self._inputs(graph)
        views = matching_views(graph, self.layout)
        step: Any = plan.steps[hop - 1]
        state = self.network.states(plan, *labels)[hop - 1]
        said = step.heard, self.network.listened(hop - 1, step, state)[2], range(len(views))
        of_members = []
        if step.members is not None:
            of_members = [(step.members, self.network.member_scores(hop - 1, step, state), plan.group_views)]
        for stack, every, places in [said, *of_members]:
            sources = stack.by_view(stack.sources, sources=True)
            for place, nodes, scores in zip(places, sources, stack.by_view(every, sources=True), strict=True):
                if stack is step.members or not views[place].groups:
                    yield views[place].layer, nodes, scores

    @torch.no_grad()
    def through(self, graph: MultilayerGraph, pair: Pair, scale: Floats) -> list[Through]:
        labels, plan = self._inputs(graph)
        self.network.eval()
        states = self.network.states(plan, *labels)
        step: Any = plan.steps[-1]
        last = self.network.hops - 1
        _, said, scores = self.network.listened(last, step, states[-2])
        weights = self.network.classifier[last * self.network.columns :]
        direction = _direction(weights, states[-1][:, :-1], pair)
        turned = [direction @ weight.double().T for weight in self.network.weight[last]]
        heard = said[:, -1] > 0
        scores = scores.masked_fill(~heard, -torch.inf)
        return _through(graph, self.layout, step.heard, said[:, :-1], scores, turned, pair.rows, scale)


@dataclass
class LearnedInputs(RelationModel):
    """Starts from learned rows of neighbours and groups.

    ``columns``: Of each view the names of the sources that have a row.
    """

    kind: ClassVar[str] = "learned"

    network: TableNetwork
    columns: list[LayerColumns]

    def _inputs(self, graph: MultilayerGraph, nodes: NDArray[np.int64] | None = None) -> tuple[SparseSum, StackedViews]:
        views = matching_views(graph, self.layout)
        stack = table_views(views, nodes)
        return self.rows_of(graph, views, stack), stack

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

    def _scores(self, graph: MultilayerGraph, hop: int) -> Iterator[tuple[int, Tensor, Tensor]]:
        rows, stack = self._inputs(graph)
        scores = stack.by_view(self.network.listened(stack, rows)[2], sources=True)
        first = 0
        views = matching_views(graph, self.layout)
        for view, nodes, said in zip(views, stack.by_view(stack.sources, sources=True), scores, strict=True):
            if not view.groups:
                yield view.layer, nodes - first, said
            first += view.matrix.shape[1]

    @torch.no_grad()
    def through(self, graph: MultilayerGraph, pair: Pair, scale: Floats) -> list[Through]:
        rows, stack = self._inputs(graph)
        embedding = self._evaluated(rows, stack).embedding[:, 0]
        _, said, scores = self.network.listened(stack, rows)
        turned = [_direction(self.network.classifier, embedding, pair)] * len(self.layout)
        return _through(graph, self.layout, stack, said, scores, turned, pair.rows, scale)


def table_views(views: Sequence[View], nodes: NDArray[np.int64] | None = None) -> StackedViews:
    """Views for a network with learned inputs, of some listeners or all: every view has sources of its own."""
    matrices = [view.matrix if nodes is None else sp.csr_array(view.matrix[nodes]) for view in views]
    starts = np.cumsum([0, *(matrix.shape[1] for matrix in matrices)])
    return StackedViews(matrices, starts[:-1].tolist(), int(starts[-1]), layers=[view.layer for view in views])


def _direction(classifier: Tensor, activated: Tensor, pair: Pair) -> Tensor:
    """What is multiplied with the input of an elu to give the log-odds of two classes, (rows, columns).

    The activation counts as the product with elu(x) / x, which is 1 where x is positive, and at 0.
    """
    weights, activated = classifier.double().T, activated[pair.rows].double()
    before = torch.where(activated < 0, torch.log1p(activated.clamp(max=0)), activated)
    small = before.abs() < 1e-9
    quotient = torch.where(small, torch.ones_like(before), activated / torch.where(small, 1.0, before))
    return (weights[pair.first] - weights[pair.second]) * quotient


def _through(
    graph: MultilayerGraph,
    layout: Layout,
    stack: StackedViews,
    said: Tensor,
    scores: Tensor,
    directions: Sequence[Tensor],
    rows: NDArray[np.int64],
    scale: Floats,
) -> list[Through]:
    """The last hop's parts of log-odds by view, both directions of a layer added up."""
    found: dict[int, Any] = {}
    parts = (stack.by_view(said, sources=True), stack.by_view(scores, sources=True))
    for view, values, score, direction in zip(matching_views(graph, layout), *parts, directions, strict=True):
        used = np.unique(view.matrix.indices)
        weights = np.zeros(view.matrix.shape[1])
        weights[used] = (score.double() - (score.max().clamp(min=-1e30) if score.numel() else 0)).exp().numpy()
        spoken = np.zeros((view.matrix.shape[1], values.shape[1]))
        spoken[used] = values.double().numpy()
        heard = sp.csr_array(sp.csr_array(view.matrix[rows]).astype(np.float64) * weights[None, :])
        totals = np.asarray(heard.sum(axis=1), dtype=np.float64)
        contributions = NeighbourContributions("", rows, heard, None)
        factor = np.divide(scale, totals, out=np.zeros_like(totals), where=totals > 0)
        matrix = contributions.through(contributions.parts(spoken, direction.numpy()), factor).parts
        found[view.layer] = matrix + found[view.layer] if view.layer in found else matrix
    layers = list(graph.layers.items())
    return [Through(layers[place][0], kind_of(layers[place][1]), sp.csr_array(found[place])) for place in sorted(found)]


def log_pool(parts: Sequence[Floats], weights: Sequence[float], exponent: float) -> Floats:
    """The weighted geometric mean of probabilities, raised to a power and made to sum to 1."""
    mean = np.zeros_like(parts[0])
    for part, weight in zip(parts, weights, strict=True):
        mean += exponent * weight * np.log(np.maximum(part, np.finfo(np.float64).tiny))
    pooled: Floats = F.softmax(torch.from_numpy(mean), dim=1).numpy()
    return pooled


@dataclass
class RelationPool:
    """Fitted networks over relations, with the share of each and that of the networks with fixed features.

    ``shares``: Of the models; ``fixed_share``: Of the networks that start from fixed features; all shares sum to 1;
    ``exponent``: What the pooled probabilities are raised to.
    """

    models: list[RelationModel]
    shares: list[float]
    fixed_share: float
    exponent: float

    def first_of_kind(self) -> list[RelationModel]:
        """The first network of each kind, in the order of :meth:`kind_shares`."""
        return [next(m for m in self.models if m.kind == kind) for kind in self.kind_shares()]

    def kind_shares(self) -> dict[str, float]:
        """The share of all networks of a kind."""
        found: dict[str, float] = {}
        for model, share in zip(self.models, self.shares, strict=True):
            found[model.kind] = found.get(model.kind, 0.0) + share
        return found

    def pooled(self, parts: Sequence[Floats], shares: Iterable[float], fixed: Floats | None) -> Floats:
        """One set of probabilities from several, (rows, classes), and those of fixed features, if there are any."""
        every = [*parts] if fixed is None else [*parts, fixed]
        return log_pool(every, [*shares, self.fixed_share][: len(every)], self.exponent)

    def probabilities(self, graph: MultilayerGraph, fixed: Floats | None) -> Floats:
        """What all say about the nodes of a graph; ``fixed`` is what networks with fixed features say."""
        return self.pooled([model.probabilities(graph) for model in self.models], self.shares, fixed)


# A pool in a model's file. Nodes are kept as positions among the nodes of the model, which its file has once.


class SavedRelations(SavedField):
    """A :class:`RelationPool`, or nothing: sizes, weights, shares, and the names of what networks know."""

    def save(self, model: GraphEstimator, learned: Learned) -> None:
        pool: RelationPool | None = getattr(model, self.attribute)
        if pool is None:
            return
        entries: list[dict[str, Any]] = []
        for place, one in enumerate(pool.models):
            weights = {name: value.detach().clone() for name, value in one.network.state_dict().items()}
            holder: Any = SimpleNamespace(weights=weights)
            SavedWeights(f"{self.name}.{place}", attribute="weights").save(holder, learned)
            if isinstance(one, LabelInputs):
                entries.append({"kind": "labels", "hops": one.network.hops})
                self._keep_nodes(f"known.{place}", one.names, model, learned)
                learned.tensors[f"{self.name}.codes.{place}"] = torch.from_numpy(one.codes.copy())
            elif isinstance(one, LearnedInputs):
                groups = [columns.record() for columns in one.columns if columns.kind == "groups"]
                for view, columns in enumerate(one.columns):
                    if columns.kind != "groups":
                        self._keep_nodes(f"sources.{place}.{view}", columns.names, model, learned)
                entries.append({"kind": "learned", "groups": groups})
        learned.record[self.name] = {
            "layout": [[int(part) for part in view] for view in pool.models[0].layout],
            "models": entries,
            "shares": pool.shares,
            "fixed_share": pool.fixed_share,
            "exponent": pool.exponent,
        }

    def _keep_nodes(self, name: str, nodes: pd.Index, model: GraphEstimator, learned: Learned) -> None:
        places = model.nodes_.get_indexer(nodes)
        learned.tensors[f"{self.name}.{name}"] = torch.from_numpy(places.copy())

    def load(self, model: GraphEstimator, learned: Learned, sizes: Sizes) -> None:
        setattr(model, self.attribute, None)
        entry = learned.record.get(self.name)
        if entry is None:
            return
        layout = [(int(layer), bool(backwards), bool(groups)) for layer, backwards, groups in entry["layout"]]
        if not all(0 <= layer < sizes["layers"] for layer, _, _ in layout):
            raise self.misfit("such that a view has a layer", layout)
        shares = [checked(Number(0, 1 + 1e-6), self.name, one) for one in (*entry["shares"], entry["fixed_share"])]
        if len(shares) != len(entry["models"]) + 1:
            raise self.misfit("lists of models and of a share for each", shares)
        found = [self._model(place, one, layout, model, learned, sizes) for place, one in enumerate(entry["models"])]
        exponent = checked(Number(0, 100), self.name, entry["exponent"])
        setattr(model, self.attribute, RelationPool(found, shares[:-1], shares[-1], exponent))

    def _model(
        self, place: int, entry: Any, layout: Layout, model: GraphEstimator, learned: Learned, sizes: Sizes
    ) -> RelationModel:
        """One network with what it knows, once its parts are known to fit."""
        holder: Any = SimpleNamespace()
        SavedWeights(f"{self.name}.{place}", attribute="weights").load(holder, learned, sizes)
        state: dict[str, Tensor] = holder.weights
        kind = entry["kind"]
        if kind not in ("labels", "learned"):
            raise self.misfit("models with labels or learned rows as inputs", entry)
        table = state["labels" if kind == "labels" else "table"]
        shared: dict[str, Any] = {
            "columns": checked(WholeNumber(1, 4096), self.name, int(table.shape[1])),
            "dropout": 0.0,
            "score_bound": getattr(model, "score_bound", None),
            "random": MemberRandom([0]),
        }

        def positions(name: str, below: str) -> NDArray[np.int64]:
            key = f"{self.name}.{name}"
            return SavedArray(key, np.int64, (key,), below=below).array(learned.tensors[key], sizes)

        if kind == "labels":
            hops = checked(WholeNumber(1, 64), self.name, entry["hops"])
            groups = sum(grouped for _, _, grouped in layout)
            labels = LabelNetwork(len(layout), groups, sizes["classes"], hops=hops, **shared)
            nodes, codes = positions(f"known.{place}", "nodes"), positions(f"codes.{place}", "classes")
            if nodes.size != codes.size:
                raise self.misfit("such that every known node has a class", nodes.size)
            found: RelationModel = LabelInputs(layout, labels, model.nodes_[nodes], codes)
        else:
            records = iter(entry.get("groups") or [])
            columns = []
            for view, (layer, _, grouped) in enumerate(layout):
                name = model.layer_order_[layer]
                if grouped:
                    columns.append(LayerColumns.from_record(next(records, None), self, name))
                else:
                    known = model.nodes_[positions(f"sources.{place}.{view}", "nodes")]
                    columns.append(LayerColumns(name, "edges", pd.Index(known)))
            rows = TableNetwork(sum(len(one.names) for one in columns), sizes["classes"], **shared)
            found = LearnedInputs(layout, rows, columns)
        check_weights(state, {name: one.shape for name, one in found.network.state_dict().items()})
        found.network.load_state_dict(state)
        return found
