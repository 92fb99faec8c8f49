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
    relation_views = graph_views(graph)
    if layout_of(relation_views) != layout:
        layer_has_groups = {layer: groups for layer, _, groups in layout}
        for layer_index, (name, layer) in enumerate(graph.layers.items()):
            if layer_has_groups.get(layer_index) != (layer.incidence() is not None):
                raise DataError(
                    f"the layer {name!r} has {layer.made_of} here; the model was fitted on one with "
                    f"{'groups' if layer_has_groups.get(layer_index) else 'edges'}"
                )
        raise DataError(
            "the model was fitted on a graph whose layers have edges with a direction where these have none, or the "
            "other way round"
        )
    return relation_views


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
        node_embedding: NDArray[np.float32] = self.output(graph).embedding[:, 0].numpy()
        return node_embedding

    def layer_shares(self, graph: MultilayerGraph) -> Floats:
        """How much the predictions rest on each layer, summing to 1.

        As :func:`gramme.methods.attention.explain.layer_shares`: what is lost without a layer and what it gives alone.
        On a large graph some nodes are asked, evenly spaced in the order of their names.
        """
        asked_nodes = None
        if graph.num_nodes > MAX_EXPLAINED_NODES:
            asked_nodes = np.linspace(0, graph.num_nodes - 1, MAX_EXPLAINED_NODES).astype(np.int64)
        inputs = self._inputs(graph, asked_nodes)

        def log_probabilities(muted: Iterable[int]) -> Tensor:
            self.network.muted = tuple(muted)
            try:
                return self._evaluated(*inputs).scores.log_softmax(-1)
            finally:
                self.network.muted = ()

        muted_shares: Floats = shares_by_muting(graph.num_layers, log_probabilities)[0]
        return muted_shares

    @torch.no_grad()
    def received(self, graph: MultilayerGraph, hop: int) -> Floats:
        """How much attention each node gets in each layer relative to the average, (layers, nodes); see GrammeFusion.

        NaN for nodes that nobody hears, and for a layer without attention at such a hop.
        """
        attention_sums, view_counts = np.zeros((2, graph.num_layers, graph.num_nodes))
        for layer, heard_nodes, scores in self._scores(graph, hop) if hop <= self.network.hops else ():
            if heard_nodes.numel():
                relative = torch.softmax(scores.double(), 0) * scores.numel()
                attention_sums[layer, heard_nodes.numpy()] += relative.numpy()
                view_counts[layer, heard_nodes.numpy()] += 1
        return np.where(view_counts > 0, attention_sums / np.maximum(view_counts, 1), np.nan)

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
        label_index = self.names.get_indexer(graph.nodes)
        known_nodes = np.flatnonzero(label_index >= 0)
        return torch.from_numpy(known_nodes), torch.from_numpy(self.codes[label_index[known_nodes]])

    def _inputs(self, graph: MultilayerGraph, nodes: NDArray[np.int64] | None = None) -> tuple[Any, RelationPlan]:
        return self.known(graph), RelationPlan(matching_views(graph, self.layout), self.network.hops, nodes)

    def probabilities(self, graph: MultilayerGraph) -> Floats:
        found = super().probabilities(graph)
        known_nodes, label_codes = self.known(graph)
        _, plan = self._inputs(graph, known_nodes.numpy())
        label_parts = torch.arange(known_nodes.numel()) % 5
        for part_number in range(min(5, known_nodes.numel())):  # labelled nodes, each while its own is not shown
            hidden = label_parts == part_number
            output = self._evaluated((known_nodes[~hidden], label_codes[~hidden]), plan)
            found[known_nodes[hidden].numpy()] = output.scores[hidden, 0].double().softmax(1).numpy()
        return found

    def _scores(self, graph: MultilayerGraph, hop: int) -> Iterator[tuple[int, Tensor, Tensor]]:
        labels, plan = self._inputs(graph)
        relation_views = matching_views(graph, self.layout)
        step: Any = plan.steps[hop - 1]
        state = self.network.states(plan, *labels)[hop - 1]
        node_scores = step.heard, self.network.listened(hop - 1, step, state)[2], range(len(relation_views))
        of_members = []
        if step.members is not None:
            of_members = [(step.members, self.network.member_scores(hop - 1, step, state), plan.group_views)]
        for stack, source_scores, view_numbers in [node_scores, *of_members]:
            sources = stack.by_view(stack.sources, sources=True)
            for view_number, heard_nodes, scores in zip(
                view_numbers, sources, stack.by_view(source_scores, sources=True), strict=True
            ):
                if stack is step.members or not relation_views[view_number].groups:
                    yield relation_views[view_number].layer, heard_nodes, scores

    @torch.no_grad()
    def through(self, graph: MultilayerGraph, pair: Pair, scale: Floats) -> list[Through]:
        labels, plan = self._inputs(graph)
        self.network.eval()
        states = self.network.states(plan, *labels)
        step: Any = plan.steps[-1]
        last = self.network.hops - 1
        _, source_values, scores = self.network.listened(last, step, states[-2])
        class_weights = self.network.classifier[last * self.network.columns :]
        direction = _direction(class_weights, states[-1], pair)
        turned = [direction @ weight.double().T for weight in self.network.weight[last]]
        return _through(graph, self.layout, step.heard, source_values, scores, turned, pair.rows, scale)


@dataclass
class LearnedInputs(RelationModel):
    """Starts from learned rows of neighbours and groups.

    ``columns``: Of each view the names of the sources that have a row.
    """

    kind: ClassVar[str] = "learned"

    network: TableNetwork
    columns: list[LayerColumns]

    def _inputs(self, graph: MultilayerGraph, nodes: NDArray[np.int64] | None = None) -> tuple[SparseSum, StackedViews]:
        relation_views = matching_views(graph, self.layout)
        stack = table_views(relation_views, nodes)
        return self.rows_of(graph, relation_views, stack), stack

    def rows_of(self, graph: MultilayerGraph, views: Sequence[View], stack: StackedViews) -> SparseSum:
        """The table's row of each source of stacked views, by name; none for a source that was not learned about."""
        table_rows, first_row, first_source = [], 0, 0
        sources = stack.by_view(stack.sources, sources=True)
        for view, layer_columns, source in zip(views, self.columns, sources, strict=True):
            row_of_source = np.full(view.matrix.shape[1], -1)
            source_index = source_names(graph, view).get_indexer(layer_columns.names)
            row_of_source[source_index[source_index >= 0]] = first_row + np.flatnonzero(source_index >= 0)
            table_rows.append(row_of_source[source.numpy() - first_source])
            first_row += len(layer_columns.names)
            first_source += view.matrix.shape[1]
        row = np.concatenate([*table_rows, []]).astype(np.int64)
        sources_with_rows = np.flatnonzero(row >= 0)
        ones = np.ones(sources_with_rows.size, dtype=np.float32)
        return SparseSum(sp.csr_array((ones, (sources_with_rows, row[sources_with_rows])), shape=(row.size, first_row)))

    def _scores(self, graph: MultilayerGraph, hop: int) -> Iterator[tuple[int, Tensor, Tensor]]:
        source_rows, stack = self._inputs(graph)
        scores = stack.by_view(self.network.listened(stack, source_rows)[2], sources=True)
        first_source = 0
        relation_views = matching_views(graph, self.layout)
        for view, heard_nodes, view_scores in zip(
            relation_views, stack.by_view(stack.sources, sources=True), scores, strict=True
        ):
            if not view.groups:
                yield view.layer, heard_nodes - first_source, view_scores
            first_source += view.matrix.shape[1]

    @torch.no_grad()
    def through(self, graph: MultilayerGraph, pair: Pair, scale: Floats) -> list[Through]:
        source_rows, stack = self._inputs(graph)
        embedding = self._evaluated(source_rows, stack).embedding[:, 0]
        _, source_values, scores = self.network.listened(stack, source_rows)
        turned = [_direction(self.network.classifier, embedding, pair)] * len(self.layout)
        return _through(graph, self.layout, stack, source_values, scores, turned, pair.rows, scale)


def table_views(views: Sequence[View], nodes: NDArray[np.int64] | None = None) -> StackedViews:
    """Views for a network with learned inputs, of some listeners or all: every view has sources of its own."""
    matrices = [view.matrix if nodes is None else sp.csr_array(view.matrix[nodes]) for view in views]
    starts = np.cumsum([0, *(matrix.shape[1] for matrix in matrices)])
    return StackedViews(matrices, starts[:-1].tolist(), int(starts[-1]), layers=[view.layer for view in views])


def _direction(classifier: Tensor, activated: Tensor, pair: Pair) -> Tensor:
    """What is multiplied with the input of an elu to give the log-odds of two classes, (rows, columns).

    The activation counts as the product with elu(x) / x, which is 1 where x is positive, and at 0.
    """
    class_weights, activated = classifier.double().T, activated[pair.rows].double()
    before_activation = torch.where(activated < 0, torch.log1p(activated.clamp(max=0)), activated)
    small = before_activation.abs() < 1e-9
    quotient = torch.where(
        small, torch.ones_like(before_activation), activated / torch.where(small, 1.0, before_activation)
    )
    return (class_weights[pair.first] - class_weights[pair.second]) * quotient


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
    parts_by_layer: dict[int, Any] = {}
    values_and_scores = (stack.by_view(said, sources=True), stack.by_view(scores, sources=True))
    for view, values, score, direction in zip(
        matching_views(graph, layout), *values_and_scores, directions, strict=True
    ):
        used = np.unique(view.matrix.indices)
        source_weights = np.zeros(view.matrix.shape[1])
        source_weights[used] = (score.double() - (score.max() if score.numel() else 0)).exp().numpy()
        spoken = np.zeros((view.matrix.shape[1], values.shape[1]))
        spoken[used] = values.double().numpy()
        heard = sp.csr_array(sp.csr_array(view.matrix[rows]).astype(np.float64) * source_weights[None, :])
        weight_totals = np.asarray(heard.sum(axis=1), dtype=np.float64)
        contributions = NeighbourContributions("", rows, heard, None)
        factor = np.divide(scale, weight_totals, out=np.zeros_like(weight_totals), where=weight_totals > 0)
        matrix = contributions.through(contributions.parts(spoken, direction.numpy()), factor).parts
        parts_by_layer[view.layer] = matrix + parts_by_layer[view.layer] if view.layer in parts_by_layer else matrix
    layers = list(graph.layers.items())
    return [
        Through(layers[layer_index][0], kind_of(layers[layer_index][1]), sp.csr_array(parts_by_layer[layer_index]))
        for layer_index in sorted(parts_by_layer)
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
        share_by_kind: dict[str, float] = {}
        for model, share in zip(self.models, self.shares, strict=True):
            share_by_kind[model.kind] = share_by_kind.get(model.kind, 0.0) + share
        return share_by_kind

    def pooled(self, parts: Sequence[Floats], shares: Iterable[float], fixed: Floats | None) -> Floats:
        """One set of probabilities from several, (rows, classes), and those of fixed features, if there are any."""
        all_parts = [*parts] if fixed is None else [*parts, fixed]
        return log_pool(all_parts, [*shares, self.fixed_share][: len(all_parts)], self.exponent)

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
        for model_number, relation_model in enumerate(pool.models):
            network_weights = {
                name: weight_tensor.detach().clone()
                for name, weight_tensor in relation_model.network.state_dict().items()
            }
            weight_holder: Any = SimpleNamespace(weights=network_weights)
            SavedWeights(f"{self.name}.{model_number}", attribute="weights").save(weight_holder, learned)
            if isinstance(relation_model, LabelInputs):
                entries.append({"kind": "labels", "hops": relation_model.network.hops})
                self._keep_nodes(f"known.{model_number}", relation_model.names, model, learned)
                learned.tensors[f"{self.name}.codes.{model_number}"] = torch.from_numpy(relation_model.codes.copy())
            elif isinstance(relation_model, LearnedInputs):
                groups = [columns.record() for columns in relation_model.columns if columns.kind == "groups"]
                for view, layer_columns in enumerate(relation_model.columns):
                    if layer_columns.kind != "groups":
                        self._keep_nodes(f"sources.{model_number}.{view}", layer_columns.names, model, learned)
                entries.append({"kind": "learned", "groups": groups})
        learned.record[self.name] = {
            "layout": [[int(view_part) for view_part in view] for view in pool.models[0].layout],
            "models": entries,
            "shares": pool.shares,
            "fixed_share": pool.fixed_share,
            "exponent": pool.exponent,
        }

    def _keep_nodes(self, name: str, nodes: pd.Index, model: GraphEstimator, learned: Learned) -> None:
        node_positions = model.nodes_.get_indexer(nodes)
        learned.tensors[f"{self.name}.{name}"] = torch.from_numpy(node_positions.copy())

    def load(self, model: GraphEstimator, learned: Learned, sizes: Sizes) -> None:
        setattr(model, self.attribute, None)
        entry = learned.record.get(self.name)
        if entry is None:
            return
        layout = [(int(layer), bool(backwards), bool(groups)) for layer, backwards, groups in entry["layout"]]
        if not all(0 <= layer < sizes["layers"] for layer, _, _ in layout):
            raise self.misfit("such that a view has a layer", layout)
        model_shares = [
            checked(Number(0, 1 + 1e-6), self.name, saved_share)
            for saved_share in (*entry["shares"], entry["fixed_share"])
        ]
        if len(model_shares) != len(entry["models"]) + 1:
            raise self.misfit("lists of models and of a share for each", model_shares)
        relation_models = [
            self._model(model_number, saved_share, layout, model, learned, sizes)
            for model_number, saved_share in enumerate(entry["models"])
        ]
        exponent = checked(Number(0, 100), self.name, entry["exponent"])
        setattr(model, self.attribute, RelationPool(relation_models, model_shares[:-1], model_shares[-1], exponent))

    def _model(
        self, place: int, entry: Any, layout: Layout, model: GraphEstimator, learned: Learned, sizes: Sizes
    ) -> RelationModel:
        """One network with what it knows, once its parts are known to fit."""
        weight_holder: Any = SimpleNamespace()
        SavedWeights(f"{self.name}.{place}", attribute="weights").load(weight_holder, learned, sizes)
        state: dict[str, Tensor] = weight_holder.weights
        kind = entry["kind"]
        if kind not in ("labels", "learned"):
            raise self.misfit("models with labels or learned rows as inputs", entry)
        first_weights = state["labels" if kind == "labels" else "table"]
        shared: dict[str, Any] = {
            "columns": checked(WholeNumber(1, 4096), self.name, int(first_weights.shape[1])),
            "dropout": 0.0,
            "score_bound": getattr(model, "score_bound", None),
            "random": MemberRandom([0]),
        }

        def positions(name: str, below: str) -> NDArray[np.int64]:
            tensor_name = f"{self.name}.{name}"
            return SavedArray(tensor_name, np.int64, (tensor_name,), below=below).array(
                learned.tensors[tensor_name], sizes
            )

        if kind == "labels":
            hops = checked(WholeNumber(1, 64), self.name, entry["hops"])
            groups = sum(grouped for _, _, grouped in layout)
            labels = LabelNetwork(len(layout), groups, sizes["classes"], hops=hops, **shared)
            known_nodes, label_codes = positions(f"known.{place}", "nodes"), positions(f"codes.{place}", "classes")
            if known_nodes.size != label_codes.size:
                raise self.misfit("such that every known node has a class", known_nodes.size)
            relation_model: RelationModel = LabelInputs(layout, labels, model.nodes_[known_nodes], label_codes)
        else:
            records = iter(entry.get("groups") or [])
            layer_columns = []
            for view, (layer, _, grouped) in enumerate(layout):
                name = model.layer_order_[layer]
                if grouped:
                    layer_columns.append(LayerColumns.from_record(next(records, None), self, name))
                else:
                    source_names = model.nodes_[positions(f"sources.{place}.{view}", "nodes")]
                    layer_columns.append(LayerColumns(name, "edges", pd.Index(source_names)))
            table_network = TableNetwork(
                sum(len(view_columns.names) for view_columns in layer_columns), sizes["classes"], **shared
            )
            relation_model = LearnedInputs(layout, table_network, layer_columns)
        check_weights(
            state, {name: view_columns.shape for name, view_columns in relation_model.network.state_dict().items()}
        )
        relation_model.network.load_state_dict(state)
        return relation_model
