"""What the peers built on PyTorch Geometric share: explicit edges, features, training, saving."""

from __future__ import annotations

import threading
import warnings
from abc import abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import ModuleType
from typing import Annotated, Any, ClassVar, NamedTuple, Self

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from gramme.errors import DataError, GrammeWarning, MissingExtraError, import_extra
from gramme.graph import MultilayerGraph
from gramme.methods.attention.features import feature_columns, peer_features, settled_source
from gramme.methods.base import GraphEstimator, NodeClassifier
from gramme.methods.contributions import shares_of_joined
from gramme.methods.labels import KnownLabels, by_name, coded_labels
from gramme.methods.params import (
    Choice,
    DeviceName,
    NonNegativeFloat,
    PositiveFloat,
    PositiveInt,
    RandomSeed,
    Share,
    WholeNumber,
    torch_device,
)
from gramme.methods.persistence import (
    Learned,
    MisfitError,
    SavedArray,
    SavedField,
    SavedValue,
    SavedWeights,
    Sizes,
    check_weights,
)
from gramme.methods.prepare import refuse_many_layers
from gramme.nn import Output
from gramme.training import History, Settings, Task, joined_history, train

# Networks of PyTorch Geometric in the shape that the project's training loop takes: one member,
# edges for a plan.


class PygOutput(NamedTuple):
    """Scores (nodes, classes), the embedding before the last step, and shares of the layers if there are any."""

    scores: Tensor
    embedding: Tensor
    shares: Tensor | None = None


@dataclass(frozen=True)
class EdgePlan:
    """What a network of PyG's needs of a graph: edges in its form, and the nodes whose output is wanted, or None."""

    edges: Any
    nodes: Tensor | None = None

    @property
    def everywhere(self) -> EdgePlan:
        """The same for all nodes."""
        return EdgePlan(self.edges)


class OneMember(nn.Module):
    """A network of PyG's as an ensemble of one member; ``width``: Numbers per node in its largest activation."""

    def __init__(self, network: nn.Module, width: int) -> None:
        super().__init__()
        self.network, self.width = network, width

    def forward(self, features: Tensor, plan: EdgePlan) -> Output:
        """Scores (nodes, 1, classes) and embedding (nodes, 1, columns)."""
        pyg_output: PygOutput = self.network(features, plan.edges)
        return Output(pyg_output.scores[:, None], pyg_output.embedding[:, None]).at(plan.nodes)

    def largest(self, plan: EdgePlan) -> int:
        """Numbers in the largest tensors of a pass: these networks hold a row for every edge."""
        lists = plan.edges.values() if isinstance(plan.edges, dict) else plan.edges[:1]
        return int(sum(edges.shape[-1] for edges in lists)) * self.width


def moved(edges: Any, device: Any) -> Any:
    """Edges on another device, by relation or as the arguments of a convolution."""
    if isinstance(edges, dict):
        return {relation_key: edge_tensor.to(device) for relation_key, edge_tensor in edges.items()}
    return tuple(edge_tensor.to(device) for edge_tensor in edges)


SOURCES = ("random", "given", "both")
MAX_PYG_EDGES = 20_000_000
"""Edges, both ways counted, that a graph may have: each one costs memory for every head and column."""


class SavedLosses(SavedField):
    """The loss of every epoch."""

    def save(self, model: GraphEstimator, learned: Learned) -> None:
        learned.record[self.name] = getattr(model, self.attribute)["loss"].tolist()

    def load(self, model: GraphEstimator, learned: Learned, sizes: Sizes) -> None:
        losses = self.entry(learned.record)
        if not isinstance(losses, list) or not all(isinstance(epoch_loss, float) for epoch_loss in losses):
            raise self.misfit("a list of numbers", losses)
        loss_table = pd.DataFrame({"epoch": np.arange(1, len(losses) + 1), "loss": losses})
        setattr(model, self.attribute, loss_table)


@dataclass(kw_only=True, eq=False, repr=False)
class PygModel(NodeClassifier):
    """Base of the peers; a method says what its network is and what edges it wants."""

    feature_dim: PositiveInt = 64
    hidden_dim: PositiveInt
    epochs: PositiveInt = 200
    learning_rate: PositiveFloat = 0.005
    weight_decay: NonNegativeFloat = 0.0005
    dropout: Share = 0.6
    features: Annotated[str, Choice(*SOURCES)] | None = None
    device: DeviceName = "auto"
    random_state: RandomSeed = None

    saved_fields: ClassVar[tuple[SavedField, ...]] = (
        SavedValue("source", Choice(*SOURCES)),
        SavedValue("seed", WholeNumber(0)),
        SavedValue("columns", WholeNumber()),
        SavedLosses("loss", attribute="history_"),
        SavedWeights("state"),
        SavedArray("embedding", np.float32, ("nodes", "embedding columns")),
    )

    source_: str = field(init=False)
    seed_: int = field(init=False)
    columns_: int = field(init=False)
    state_: dict[str, Tensor] = field(init=False)
    embedding_: NDArray[np.float32] = field(init=False)
    shares_: NDArray[np.float64] = field(init=False)
    history_: pd.DataFrame = field(init=False)

    @abstractmethod
    def _network(self, pyg: ModuleType, columns: int, layers: int, classes: int) -> nn.Module:
        """The network, whose forward takes features and edges and gives a ``PygOutput``."""

    @abstractmethod
    def _edges(self, graph: MultilayerGraph) -> Any:
        """The edges in the form the network takes."""

    def fit(
        self,
        graph: MultilayerGraph,
        y: Any = None,
        *,
        mask: str | None = None,
        sample_weight: Any = None,
        monitor: Any = None,
    ) -> Self:
        """Learn from the labelled nodes of a graph.

        Parameters
        ----------
        graph, y, mask, sample_weight
            As for :meth:`gramme.methods.NodeClassifier.fit`.
        monitor : sequence, mapping or Series, optional
            Labels of further nodes whose accuracy is noted after every epoch. For looking only: the training does not
            depend on them.
        """
        return self._run_fit(graph, y, mask=mask, sample_weight=sample_weight, monitor=by_name(graph, monitor))

    def _fit(
        self, graph: MultilayerGraph, known: KnownLabels, seed: int, *, monitor: Any = None
    ) -> NDArray[np.floating[Any]]:
        watched = None
        if monitor is not None:
            watched = coded_labels(graph, monitor, known.classes, "monitor", strict=False)
        pyg, device = self._pyg(), torch_device(self.device)
        self.source_, self.seed_ = settled_source(graph, self.features, "random"), seed
        self.columns_ = feature_columns(graph, self.source_, self.feature_dim)
        features, edges = self._inputs(graph, device), moved(self._edges(graph), device)
        with _own_random_numbers(self.seed_, device):
            network = self._new_network(pyg, device)
            self._train(network, features, edges, known, watched)
        self.state_ = {name: weight_tensor.cpu() for name, weight_tensor in network.state_dict().items()}
        output = _evaluated(network, features, edges)
        self.embedding_ = self._in_given_order(output.embedding.float().cpu().numpy())
        if output.shares is not None:
            self.shares_ = shares_of_joined(output.shares.double().cpu().numpy(), graph)
        return _probabilities(output)

    def _pyg(self) -> ModuleType:
        return import_extra("torch_geometric.nn", "pyg", f"the method {type(self).__name__}")

    def _check_parameters(self, graph: MultilayerGraph) -> None:
        self._pyg()
        refuse_many_layers(graph, type(self).__name__)
        _check_size(graph, type(self).__name__)

    def _inputs(self, graph: MultilayerGraph, device: torch.device) -> Tensor:
        return peer_features(graph, self.seed_, self.source_, self.feature_dim).to(device)

    def _new_network(self, pyg: ModuleType, device: torch.device) -> nn.Module:
        return self._network(pyg, self.columns_, len(self.layers_), len(self.classes_)).to(device)

    def _train(
        self,
        network: nn.Module,
        features: Tensor,
        edges: Any,
        known: KnownLabels,
        watched: tuple[NDArray[np.int64], NDArray[np.int64]] | None,
    ) -> None:
        """Adam on the cross entropy of the training labels, the full graph in every step."""
        device = features.device
        task = Task.of(known.nodes, known.codes, known.weights[:, None], device)
        history = History(watched=None if watched is None else torch.from_numpy(watched[0]).to(device))
        # an ensemble of one, in the loop that trains every network here
        member: Any = OneMember(network, self.hidden_dim * getattr(self, "heads", 1))
        plan: Any = EdgePlan(edges, task.nodes)
        state = train(
            member,
            features,
            plan,
            task,
            Settings(self.epochs, self.learning_rate, self.weight_decay),
            callbacks=[history],
        )
        self.history_ = joined_history([history])[["epoch", "loss"]]
        if watched is not None:
            right = [float((found.argmax(-1) == watched[1]).mean()) for found in history.watched_probabilities]
            self.history_ = self.history_.assign(monitor_accuracy=right)
        if state.interrupted:
            self.interrupted_ = True
            warnings.warn(
                f"interrupted: the model is trained for {state.epoch} of {self.epochs} epochs",
                GrammeWarning,
                stacklevel=5,
            )

    def _inductive_proba(self, graph: MultilayerGraph) -> NDArray[np.float32]:
        if feature_columns(graph, self.source_, self.feature_dim) != self.columns_:
            raise DataError(
                f"the model was fitted on {self.columns_} features per node, its random ones included; "
                f"the graph has {feature_columns(graph, self.source_, self.feature_dim)}"
            )
        _check_size(graph, type(self).__name__)
        device = torch_device(self.device)
        with _own_random_numbers(self.seed_, device):
            network = self._new_network(self._pyg(), device)
        network.load_state_dict(self.state_)
        edges = moved(self._edges(graph), device)
        return _probabilities(_evaluated(network, self._inputs(graph, device), edges))

    def _check_loaded(self) -> None:
        random_columns = self.feature_dim if self.source_ != "given" else 0
        if self.columns_ < random_columns or (self.source_ == "random" and self.columns_ != random_columns):
            raise MisfitError(f"columns must go with feature_dim, not be {self.columns_}")
        try:
            pyg = self._pyg()
        except MissingExtraError:
            return  # it can still say what it predicted for the graph it was fitted on
        with torch.random.fork_rng(devices=[]), torch.device("meta"):
            network = self._network(pyg, self.columns_, len(self.layers_), len(self.classes_))
        shapes = {name: weight_tensor.shape for name, weight_tensor in network.state_dict().items()}
        check_weights(self.state_, shapes)


def listening(graph: MultilayerGraph, name: str, *, self_loops: bool = False) -> Tensor:
    """The edges of a layer as PyG takes them, shape (2, edges): from who is heard to who listens.

    A node of a gramme graph listens to the nodes its edges point to, while PyG sends messages along an edge, so the
    direction is turned round. Weights are left out.
    """
    matrix = graph.layers[name].to_scipy().tocoo()
    listener, heard = matrix.row.astype(np.int64), matrix.col.astype(np.int64)
    if self_loops:
        present_nodes = np.flatnonzero(graph.layers[name].present)
        listener, heard = np.concatenate([listener, present_nodes]), np.concatenate([heard, present_nodes])
    return torch.from_numpy(np.stack([heard, listener]))


def _check_size(graph: MultilayerGraph, method: str) -> None:
    edge_total = 0
    for name, layer in graph.layers.items():
        edges = layer.num_edges * (1 if layer.directed else 2)
        edge_total += edges
        if edge_total > MAX_PYG_EDGES:
            raise DataError(
                f"the layer {name!r} has {edges:,} edges, both ways counted, and {method} must build every one: more "
                f"than {MAX_PYG_EDGES:,} in all do not fit; gramme-fusion, gramme-sg and label-propagation do without"
            )


_RANDOM = threading.RLock()


@contextmanager
def _own_random_numbers(seed: int, device: torch.device) -> Iterator[None]:
    """Torch's own random numbers from a seed; outside, they go on as if nothing had been drawn.

    There is one generator for all threads, so one at a time may have it.
    """
    with _RANDOM, torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
        torch.manual_seed(seed)
        yield


def _evaluated(network: nn.Module, features: Tensor, edges: Any) -> PygOutput:
    network.eval()
    with torch.no_grad():
        output: PygOutput = network(features, edges)
    return output


def _probabilities(output: PygOutput) -> NDArray[np.float32]:
    shares: NDArray[np.float32] = output.scores.double().softmax(-1).float().cpu().numpy()
    return shares
