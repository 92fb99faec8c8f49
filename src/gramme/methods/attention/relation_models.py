"""Fitted networks over relations: what they say about any graph, by which layers and through whom.

:class:`LabelInputs` starts from the known labels, which it finds in another graph by the nodes' names.
:class:`LearnedInputs` knows neighbours and groups by their names; whoever has none that it has learned about gets what
it says about nobody in particular. Both are for one network; :mod:`gramme.methods.attention.relations` fits them and
pools what they say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, ClassVar

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
from gramme.methods.params import Number, WholeNumber
from gramme.methods.persistence import (
    Learned,
    MisfitError,
    SavedArray,
    SavedField,
    SavedWeights,
    Sizes,
    check_weights,
    checked,
)
from gramme.nn.plan import Output
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

from .explain import shares_by_muting

if TYPE_CHECKING:
    from gramme.methods.base import GraphEstimator

HIDDEN_PARTS = 5
"""Known labels are predicted in so many parts, each while its labels are not shown."""
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
        return self._repeated(graph)()

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
        nodes = None
        if graph.num_nodes > MAX_EXPLAINED_NODES:
            nodes = np.linspace(0, graph.num_nodes - 1, MAX_EXPLAINED_NODES).astype(np.int64)
        predict = self._repeated(graph, nodes)

        def log_probabilities(muted: Iterable[int]) -> Tensor:
            self.network.muted = tuple(muted)
            try:
                return predict().scores.log_softmax(1)[:, None]
            finally:
                self.network.muted = ()

        shares: Floats = shares_by_muting(graph.num_layers, log_probabilities)[0]
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

    def pooled(self, parts: Mapping[str, Floats], fixed: Floats | None) -> Floats:
        """One set of probabilities from those of each kind and of fixed features, (rows, classes)."""
        shares = self.kind_shares()
        every = [parts[kind] for kind in shares]
        if fixed is None:
            return log_pool(every, list(shares.values()), self.exponent)
        return log_pool([*every, fixed], [*shares.values(), self.fixed_share], self.exponent)

    def probabilities(self, graph: MultilayerGraph, fixed: Floats | None) -> Floats:
        """What all say about the nodes of a graph; ``fixed`` is what networks with fixed features say."""
        parts = [model.probabilities(graph) for model in self.models]
        if fixed is None:
            return log_pool(parts, self.shares, self.exponent)
        return log_pool([*parts, fixed], [*self.shares, self.fixed_share], self.exponent)


# A pool in a model's file. Nodes are kept as positions among the nodes of the model, which its file has once.
MAX_HOPS, MAX_COLUMNS = 64, 4096
"""More than any network over relations has."""


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
        wanted = {"layout", "models", "shares", "fixed_share", "exponent"}
        if not isinstance(entry, dict) or set(entry) != wanted:
            raise self.misfit(f"a record of {', '.join(sorted(wanted))}", entry)
        layout = self._layout(entry["layout"], sizes)
        models, shares = entry["models"], entry["shares"]
        if not isinstance(models, list) or not isinstance(shares, list) or not models or len(models) != len(shares):
            raise self.misfit("lists of models and of a share for each", models)
        found = [self._model(place, one, layout, model, learned, sizes) for place, one in enumerate(models)]
        share = Number(0, 1 + 1e-6)
        numbers = [checked(share, self.name, one) for one in (*shares, entry["fixed_share"])]
        exponent = checked(Number(0, 100), self.name, entry["exponent"])
        setattr(model, self.attribute, RelationPool(found, numbers[:-1], numbers[-1], exponent))

    def _layout(self, entry: Any, sizes: Sizes) -> Layout:
        found: Layout = []
        for view in entry if isinstance(entry, list) else [None]:
            if (
                not isinstance(view, list)
                or len(view) != 3
                or not all(isinstance(part, int) for part in view)
                or not 0 <= view[0] < sizes["layers"]
            ):
                raise self.misfit("such that a view has a layer and two flags", view)
            found.append((int(view[0]), bool(view[1]), bool(view[2])))
        return found

    def _model(
        self, place: int, entry: Any, layout: Layout, model: GraphEstimator, learned: Learned, sizes: Sizes
    ) -> RelationModel:
        """One network with what it knows, once its parts are known to fit."""
        holder: Any = SimpleNamespace()
        SavedWeights(f"{self.name}.{place}", attribute="weights").load(holder, learned, sizes)
        state: dict[str, Tensor] = holder.weights
        kind = entry.get("kind") if isinstance(entry, dict) else None
        table = state.get("labels" if kind == "labels" else "table")
        if kind not in ("labels", "learned") or table is None or table.dim() != 2:
            raise self.misfit("models with labels or learned rows as inputs", entry)
        columns = checked(WholeNumber(1, MAX_COLUMNS), self.name, int(table.shape[1]))
        shared: dict[str, Any] = {
            "columns": columns,
            "dropout": 0.0,
            "score_bound": getattr(model, "score_bound", None),
            "generator": torch.Generator(),
        }

        def positions(name: str, below: str) -> NDArray[np.int64]:
            key = f"{self.name}.{name}"
            if key not in learned.tensors:
                raise MisfitError(f"{key} is missing")
            return SavedArray(key, np.int64, (key,), below=below).array(learned.tensors[key], sizes)

        if kind == "labels":
            hops = checked(WholeNumber(1, MAX_HOPS), self.name, entry.get("hops"))
            groups = sum(grouped for _, _, grouped in layout)
            network = LabelNetwork(len(layout), groups, sizes["classes"], hops=hops, **shared)
            nodes, codes = positions(f"known.{place}", "nodes"), positions(f"codes.{place}", "classes")
            if nodes.size != codes.size:
                raise self.misfit("such that every known node has a class", nodes.size)
            _load_weights(network, state)
            return LabelInputs(layout, network, model.nodes_[nodes], codes)
        records = iter(entry.get("groups") or [])
        named = []
        for view, (layer, _, grouped) in enumerate(layout):
            name = model.layer_order_[layer]
            if grouped:
                named.append(LayerColumns.from_record(next(records, None), self, name))
            else:
                known = model.nodes_[positions(f"sources.{place}.{view}", "nodes")]
                named.append(LayerColumns(name, "edges", pd.Index(known)))
        rows = TableNetwork(sum(len(one.names) for one in named), sizes["classes"], **shared)
        _load_weights(rows, state)
        return LearnedInputs(layout, rows, named)


def _load_weights(network: RelationNetwork, state: Mapping[str, Tensor]) -> None:
    """Give a network weights from a file, once they are known to be of its shape."""
    check_weights(state, {name: one.shape for name, one in network.state_dict().items()})
    network.load_state_dict(state)
    network.eval()
