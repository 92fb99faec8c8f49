"""What GrAMME-SG and GrAMME-Fusion share as estimators: parameters, fitting, predicting, explaining, saving.

A fit makes a plan of the graph, trains the members of the ensemble on it (``gramme.training``), and adds up what each
batch of them says. The ensemble predicts the mean of its members' probabilities.
"""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, asdict, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor

from gramme.distributed import communicator_of, local_index
from gramme.errors import DataError, GrammeWarning
from gramme.graph import MultilayerGraph
from gramme.graph.canonical import NameOrder
from gramme.methods.base import NodeClassifier
from gramme.methods.contributions import Pair, Through, shares_of_joined
from gramme.methods.labels import KnownLabels, by_name, coded_labels, labels_within
from gramme.methods.linear.walk_profile import SavedProfile, WalkProfile
from gramme.methods.params import (
    POSITIVE,
    SHARE,
    Choice,
    Device,
    Flag,
    NoneOr,
    Number,
    PerClass,
    PerLayer,
    RandomState,
    Rule,
    WholeNumber,
    per_layer,
    torch_device,
)
from gramme.methods.persistence import (
    Learned,
    MisfitError,
    SavedField,
    SavedTable,
    SavedValue,
    SavedWeights,
    Sizes,
    check_weights,
)
from gramme.nn import (
    ACTIVATIONS,
    HEAD_COMBINATIONS,
    HEAD_WEIGHTS,
    READOUTS,
    AttentionHop,
    MemberRandom,
    Network,
    Plan,
    Shape,
    ShapesOnly,
)
from gramme.ops import Features
from gramme.training import Settings, evaluate, train_ensemble

from .explain import attention_reasons, attention_received, member_shares
from .features import SOURCES, InputFeatures
from .given_features import GivenFeatures, SavedScales
from .members import EnsemblePredictions, Members, make_targets
from .training_size import TimeBudget, TrainingSize, settled_training_size, step_seconds

if TYPE_CHECKING:
    from gramme.methods.base import GraphEstimator


# Which values the parameters of the attention models may have, and what their defaults mean.


RULES: Mapping[str, Rule] = {
    "feature_dim": NoneOr(WholeNumber()),
    "hidden_dim": WholeNumber(),
    "heads": PerLayer(WholeNumber()),
    "depth": PerLayer(WholeNumber()),
    "learning_rate": POSITIVE,
    "epochs": WholeNumber(),
    "dropout": SHARE,
    "attention_dropout": SHARE,
    "weight_decay": NoneOr(Number(0)),
    "score_bound": NoneOr(POSITIVE),
    "activation": Choice(*ACTIVATIONS),
    "head_weights": Choice(*HEAD_WEIGHTS),
    "combine_heads": Choice(*HEAD_COMBINATIONS),
    "readout": Choice(*READOUTS),
    "features": NoneOr(Choice(*SOURCES)),
    "entry_sum": POSITIVE,
    "ensemble": WholeNumber(),
    "validation_fraction": SHARE,
    "patience": WholeNumber(),
    "class_weight": NoneOr(PerClass(("balanced",), POSITIVE)),
    "progress": NoneOr(Flag()),
    "device": Device(),
    "random_state": RandomState(),
}

DECAY_LABELS = 0.2
"""Weight decay times the number of labels if none is given; chosen on training labels, docs/defaults.md."""


def settled_decay(wanted: float | None, labels: int) -> float:
    """The weight decay: what was asked for, else the less the more labels there are."""
    return DECAY_LABELS / labels if wanted is None else wanted


# What the file of an attention model holds besides: the sizes of its networks and how much they
# rely on each layer.


class SavedShape(SavedField):
    """The sizes and choices of the networks."""

    RULES: ClassVar[Mapping[str, Rule]] = {
        "layers": WholeNumber(),
        "in_dim": WholeNumber(),
        "hidden_dim": WholeNumber(),
        "classes": WholeNumber(),
        "head_weights": Choice(*HEAD_WEIGHTS),
        "activation": Choice(*ACTIVATIONS),
        "dropout": SHARE,
        "attention_dropout": SHARE,
        "combine_heads": Choice(*HEAD_COMBINATIONS),
        "score_bound": NoneOr(POSITIVE),
        "readout": Choice(*READOUTS),
    }

    def save(self, model: GraphEstimator, learned: Learned) -> None:
        learned.record[self.name] = asdict(getattr(model, self.attribute))

    def load(self, model: GraphEstimator, learned: Learned, sizes: Sizes) -> None:
        entry = self.entry(learned.record)
        known = {one.name: one for one in fields(Shape)}
        needed = {name for name, one in known.items() if one.default is MISSING}
        if not isinstance(entry, dict) or not needed <= set(entry) <= set(known):
            raise self.misfit("the sizes of a network", entry)
        found: dict[str, Any] = {}
        for name, value in entry.items():
            try:
                if name in self.RULES:
                    found[name] = self.RULES[name].check(name, value)
                elif not isinstance(value, list) or len(value) != sizes["layers"]:
                    raise self.misfit(f"such that {name} has a number per layer", value)
                else:
                    found[name] = tuple(WholeNumber().check(name, one) for one in value)
            except DataError as error:
                raise MisfitError(f"{self.name}: {error}") from error
        setattr(model, self.attribute, Shape(**found))


class SavedImportances(SavedField):
    """How much each member relies on each layer."""

    def save(self, model: GraphEstimator, learned: Learned) -> None:
        learned.record[self.name] = getattr(model, self.attribute).to_numpy().tolist()

    def load(self, model: GraphEstimator, learned: Learned, sizes: Sizes) -> None:
        entry = self.entry(learned.record)
        try:
            table = np.array(entry, dtype=np.float64)
        except (TypeError, ValueError, OverflowError) as error:
            raise self.misfit("a table of numbers", entry) from error
        if table.ndim != 2 or table.shape[1] != sizes["layers"] or not np.isfinite(table).all():
            raise self.misfit("a row of finite numbers per member, one for each layer", entry)
        setattr(model, self.attribute, pd.DataFrame(table, columns=model.layers_))


NETWORK_FIELDS: tuple[SavedField, ...] = (
    SavedValue("source", Choice(*SOURCES)),
    SavedProfile("profile", optional=True),
    SavedScales("scales"),
    SavedValue("walk_size", Number(0), default=1.0),
    SavedValue("seed", WholeNumber(0)),
    SavedValue("members", WholeNumber(0)),
    SavedShape("shape"),
    SavedTable("history"),
    SavedWeights("state"),
)
"""What the file of every model with attention networks holds, whatever it predicts."""

FIELDS: tuple[SavedField, ...] = (
    *NETWORK_FIELDS,
    SavedImportances("importance", attribute="layer_importances_"),
)
"""What the file of an attention model holds."""


def check_networks(model: AttentionModel, network: Callable[[], Network]) -> None:
    """Raise a MisfitError if what a file holds is not of the network that the parameters describe."""
    shape = model.shape_
    if (shape.layers, shape.classes) != (len(model.layers_), len(model.classes_)):
        raise MisfitError("shape does not match the layers and classes")
    check_members(shape, model._inputs(), model.state_, model.members_, network)


def check_members(
    shape: Shape,
    inputs: InputFeatures,
    state: Mapping[str, Tensor],
    members: int,
    network: Callable[[], Network],
) -> None:
    """Raise a MisfitError if weights from a file are not those of so many networks on these features."""
    if ("walks" in inputs.source) != (inputs.profile is not None):
        raise MisfitError(
            "there must be a walk profile if networks start from walks, and else none"
        )
    if inputs.columns != shape.in_dim or inputs.layer_columns < 0:
        raise MisfitError(f"the in_dim of shape must go with the features, not be {shape.in_dim}")
    if sum(shape.depth) > len(shape.depth) * len(state):
        raise MisfitError("there are fewer weights than hops")
    expected = network().state_dict()
    check_weights(state, {name: (members, *value.shape[1:]) for name, value in expected.items()})


class AttentionModel(NodeClassifier):
    """Base of the two attention models; see :class:`GrammeFusion` for the parameters.

    Attributes
    ----------
    members_, state_
        How many members were trained, and the weights of all of them, who lie along the first axis.
    history_, shape_, seed_, source_, profile_, scales_, walk_size_
        Loss by epoch, sizes of the networks, the seed of everything random, and where features come from.
    """

    parameter_rules: ClassVar[Mapping[str, Rule]] = RULES
    saved_fields: ClassVar[tuple[SavedField, ...]] = FIELDS

    members_: int
    seed_: int
    source_: str
    profile_: WalkProfile | None
    scales_: GivenFeatures | None
    walk_size_: float
    shape_: Shape
    state_: dict[str, Tensor]
    history_: pd.DataFrame
    out_of_fold_: NDArray[np.float64]
    effort_: TrainingSize

    _features_per_layer: Any = False

    def __init__(
        self,
        *,
        feature_dim: int | None,
        hidden_dim: int,
        heads: int | Mapping[str, int],
        depth: int | Mapping[str, int],
        learning_rate: float,
        epochs: int,
        dropout: float,
        attention_dropout: float,
        weight_decay: float | None,
        score_bound: float | None,
        activation: str,
        head_weights: str,
        combine_heads: str,
        readout: str,
        features: str | None,
        entry_sum: float,
        ensemble: int,
        validation_fraction: float,
        patience: int,
        class_weight: str | Mapping[Any, float] | None,
        progress: bool | None,
        device: str,
        random_state: Any,
    ) -> None:
        self.feature_dim = feature_dim
        self.hidden_dim = hidden_dim
        self.heads = heads
        self.depth = depth
        self.learning_rate = learning_rate
        self.epochs = epochs
        self.dropout = dropout
        self.attention_dropout = attention_dropout
        self.weight_decay = weight_decay
        self.score_bound = score_bound
        self.activation = activation
        self.head_weights = head_weights
        self.combine_heads = combine_heads
        self.readout = readout
        self.features = features
        self.entry_sum = entry_sum
        self.ensemble = ensemble
        self.validation_fraction = validation_fraction
        self.patience = patience
        self.class_weight = class_weight
        self.progress = progress
        self.device = device
        self.random_state = random_state

    @abstractmethod
    def _network(self, shape: Shape, random: MemberRandom) -> Network:
        """The network for the members of one batch."""

    @abstractmethod
    def _plan(self, graph: MultilayerGraph, nodes: NDArray[np.int64] | None = None) -> Plan:
        """What the network needs of a graph, for the output of some nodes or of all."""

    @abstractmethod
    def _hops(self, network: Network, layer: int) -> tuple[list[AttentionHop], int]:
        """The hops a layer passes, and the layer's place among those they treat."""

    # Fitting

    def fit(
        self,
        graph: MultilayerGraph,
        y: Any = None,
        *,
        mask: str | None = None,
        validation: Any = None,
        monitor: Any = None,
    ) -> Self:
        """Learn from the labelled nodes of a graph.

        Parameters
        ----------
        graph : MultilayerGraph
        y : sequence, mapping or Series, optional
            Labels in node order or by node name; -1, None and NaN mean unknown. The graph's own labels if not given,
            of its mask "train" where it has one.
        mask : str, optional
            One of the graph's masks: labels of other nodes are not learned from.
        validation : sequence, mapping or Series, optional
            Labels of further nodes that decide when to stop, in place of a share of the training labels. They are used
            for nothing else.
        monitor : sequence, mapping or Series, optional
            Labels of further nodes whose accuracy is recorded after every epoch. Neither the training nor the stopping
            depends on them.
        """
        if mask is not None:
            y = labels_within(self._check_graph(graph), y, mask)
        return self._run_fit(
            graph, y, validation=by_name(graph, validation), monitor=by_name(graph, monitor)
        )

    def _fit_with_folds(
        self,
        graph: MultilayerGraph,
        known: KnownLabels,
        fold: NDArray[np.int64],
        copies: int,
        allowance: TimeBudget | None = None,
    ) -> NDArray[np.float64]:
        """Fit, and in the same batched program further members for each fold that do not see the fold's labels."""
        self._run_fit(graph, known, fold=fold, copies=copies, allowance=allowance)
        return self.out_of_fold_

    def _fit(
        self,
        graph: MultilayerGraph,
        known: KnownLabels,
        seed: int,
        *,
        validation: Any = None,
        monitor: Any = None,
        fold: NDArray[np.int64] | None = None,
        copies: int = 1,
        allowance: TimeBudget | None = None,
        fixed_only: bool = False,
    ) -> NDArray[np.floating[Any]]:
        if not fixed_only:
            asked = {"validation": validation, "monitor": monitor}
            asked |= {"fold": fold, "copies": copies, "allowance": allowance}
            otherwise = self._fit_otherwise(graph, known, seed, asked)
            if otherwise is not None:
                return otherwise
        wanted = self.features, self.feature_dim, self.entry_sum
        inputs = InputFeatures.of(graph, *wanted, known, seed)
        self.source_, self.profile_, self.scales_, self.walk_size_ = inputs.learned
        self.seed_, self.shape_ = seed, self._shape(graph, inputs.columns)
        members, communicator = self._members(), communicator_of(graph)
        plan = self._plan(graph, local_index(graph, known.nodes)[1]).to(members.device)
        decay = settled_decay(self.weight_decay, known.nodes.size)
        settings = Settings(self.epochs, self.learning_rate, decay, self.patience)
        folds = 0 if fold is None else int(fold.max()) + 1

        def timed() -> float:
            every = np.ones((known.nodes.size, self.ensemble + folds * copies), dtype=bool)
            tried = make_targets(self, graph, known, every, validation)
            return step_seconds(members, graph, plan, tried, settings)

        full = TrainingSize(self.ensemble, copies, self.epochs)
        effort = self.effort_ = settled_training_size(full, folds, allowance, graph, timed)
        tally = EnsemblePredictions(graph, known, effort.members, fold, effort.copies)
        lessons = make_targets(self, graph, known, tally.seen, validation)
        watched = monitor
        if monitor is not None:
            watched = coded_labels(graph, monitor, known.classes, "monitor", strict=False)
        found = train_ensemble(
            members.batches(plan, lessons.members),
            lambda batch: members.new(graph, batch),
            plan,
            lessons,
            replace(settings, epochs=effort.epochs),
            monitor=watched,
            trained=tally.add,
            title=type(self).__name__,
            progress=self.progress,
            communicator=communicator,
        )
        self.history_, self.interrupted_ = found.history, found.interrupted
        self.members_ = min(found.members, effort.members)
        self.state_ = {name: value[: self.members_] for name, value in found.state.items()}
        if found.interrupted:
            after = f"after {len(found.history)} of {effort.epochs} epochs"
            how = "fully trained" if found.complete else after
            warnings.warn(
                f"interrupted: the model has {found.members} of {lessons.members} members, {how}",
                GrammeWarning,
                stacklevel=4,
            )
        if fold is None:
            return tally.mean()
        self.out_of_fold_ = tally.unseen * (1.0 if found.members == lessons.members else np.nan)
        # asked without the members that leave out a fold: to the bit what the model says about any other graph
        return self._inductive_proba(graph, plan)

    def _fit_otherwise(
        self, graph: MultilayerGraph, known: KnownLabels, seed: int, asked: Mapping[str, Any]
    ) -> NDArray[np.floating[Any]] | None:
        """A fit with other inputs than fixed features, or with several, where these suit the task; else None.

        ``asked`` are the further arguments of ``_fit``, which with ``fixed_only`` takes fixed features alone.
        """
        return None

    def _inputs(self) -> InputFeatures:
        """Where the members' features come from."""
        learned = (self.source_, self.profile_, self.scales_, self.walk_size_)
        return InputFeatures.loaded(learned, self.feature_dim, self.shape_.in_dim)

    def _members(self) -> Members:
        made_from = self._network, self.shape_, self.seed_, self._inputs(), self._features_per_layer
        return Members(*made_from, torch_device(self.device))

    def _check_parameters(self, graph: MultilayerGraph) -> None:
        heads = self._per_layer("heads", graph)
        self._per_layer("depth", graph)
        if self.combine_heads == "concatenate":
            for one in heads:
                if self.hidden_dim % one:
                    raise DataError(
                        f"heads that are concatenated share the columns of the embedding: hidden_dim "
                        f"({self.hidden_dim}) must be a multiple of heads ({one})"
                    )

    def _per_layer(self, name: str, graph: MultilayerGraph) -> tuple[int, ...]:
        """A number for each layer, from one number or a mapping by layer name."""
        return tuple(per_layer(name, getattr(self, name), graph.layers))

    def _shape(self, graph: MultilayerGraph, columns: int) -> Shape:
        return Shape(
            layers=graph.num_layers,
            in_dim=columns,
            hidden_dim=self.hidden_dim,
            classes=len(self.classes_),
            heads=self._per_layer("heads", graph),
            depth=self._per_layer("depth", graph),
            head_weights=self.head_weights,
            activation=self.activation,
            dropout=self.dropout,
            attention_dropout=self.attention_dropout,
            combine_heads=self.combine_heads,
            score_bound=self.score_bound,
            readout=self.readout,
        )

    # Predicting

    def start_features(
        self, graph: MultilayerGraph, nodes: NDArray[np.int64] | None = None
    ) -> NDArray[np.float32]:
        """The features that the first member starts from, shape (nodes, columns); of some nodes, by position, or all.

        Where a node's copies have features of their own, (layers * nodes, columns), the first layer's copies first.
        """
        self.check_fitted()
        order = self._ordered(graph)
        rows = np.arange(graph.num_nodes) if nodes is None else nodes
        found = self._members().start(order.graph, order.to_sorted(rows))
        copies = found.reshape(-1, rows.size, found.shape[1])
        if len(copies) > 1:
            copies = copies[[self.layer_order_.index(name) for name in self.layers_]]
        return copies.reshape(found.shape)

    def _each_batch(
        self, graph: MultilayerGraph, plan: Plan | None = None
    ) -> Iterator[tuple[Network, Features, Plan]]:
        """Trained network, features and plan of each batch of members; the plan is made if none is given."""
        members = self._members()
        whole = (self._plan(graph).to(members.device) if plan is None else plan).everywhere
        for batch in members.batches(whole, self.members_):
            yield *members.trained(graph, batch, self.state_), whole

    def _inductive_proba(
        self, graph: MultilayerGraph, plan: Plan | None = None
    ) -> NDArray[np.float32]:
        total = np.zeros((graph.num_nodes, len(self.classes_)))
        if not graph.num_nodes:
            return total.astype(np.float32)
        for network, features, whole in self._each_batch(graph, plan):
            scores = evaluate(network, features, whole).scores
            total += scores.double().softmax(-1).sum(1).cpu().numpy()
        return (total / self.members_).astype(np.float32)

    def embed(self, graph: MultilayerGraph) -> NDArray[np.float32]:
        """The embedding of a graph's nodes, shape (nodes, members * hidden_dim): the members' side by side."""
        self.check_fitted()
        return self._embed(self._ordered(graph))

    def _embed(self, order: NameOrder) -> NDArray[np.float32]:
        if not order.graph.num_nodes:
            return np.zeros((0, self.members_ * self.shape_.out_dim), dtype=np.float32)
        parts = [
            evaluate(network, features, plan).embedding.flatten(1).cpu().numpy()
            for network, features, plan in self._each_batch(order.graph)
        ]
        return order.to_given(np.concatenate(parts, axis=1).astype(np.float32, copy=False))

    @cached_property
    def embedding_(self) -> NDArray[np.float32]:
        """The embedding of the fitted graph's nodes; see :meth:`embed`."""
        self.check_fitted()
        return self._embed(self._fitted_order())

    # Explaining

    @cached_property
    def layer_importances_(self) -> pd.DataFrame:
        """How much each member relies on each layer: one row per member, summing to 1.

        See ``gramme.methods.attention.explain.layer_shares``. On a large graph only the first members are asked.
        """
        self.check_fitted()
        graph = self._fitted_order().graph
        shares = member_shares(self._each_batch(graph), graph)
        return pd.DataFrame(shares_of_joined(shares, graph), columns=self.layer_order_)[
            self.layers_
        ]

    @property
    def layer_importance_(self) -> pd.Series:
        """Which layers the model relies on, by name, summing to 1: the mean over the members."""
        return self.layer_importances_.mean(axis=0).rename("importance")

    def node_attention(
        self, layer: str, *, hop: int = 1, graph: MultilayerGraph | None = None
    ) -> pd.Series:
        """How much attention each node of a layer receives, relative to the average node (1); NaN for absent nodes.

        The attention a node receives depends only on that node, not on who listens, because the listener's part of the
        score cancels in the softmax. So one number per node is enough: all its neighbours hear it in proportion to this
        number.

        Parameters
        ----------
        layer : str
        hop : int, default=1
            Which hop, counted from 1.
        graph : MultilayerGraph, optional
            A graph other than the fitted one.
        """
        self.check_fitted()
        order = self._fitted_order() if graph is None else self._ordered(graph)
        order.graph.layer(layer)  # says so where there is none
        position = self.layer_order_.index(layer)
        WholeNumber().check("hop", hop)
        if hop > self._most_hops(position):
            raise DataError(f"layer {layer!r} has {self._most_hops(position)} hops, not {hop}")
        # one pass serves all layers, and who asks for one of the fitted graph's will ask for the others
        kept = self.__dict__.setdefault("_received_", {}) if graph is None else {}
        if hop not in kept:
            kept[hop] = self._received(order.graph, hop)
        names = order.to_given(order.graph.nodes.to_numpy())
        return pd.Series(order.to_given(kept[hop][position]), index=names, name=layer)

    def _most_hops(self, position: int) -> int:
        """Hops of the layer at a position."""
        return self.shape_.depth[position]

    def _received(self, graph: MultilayerGraph, hop: int) -> NDArray[np.float64]:
        """How much attention each node receives in each layer at a hop, (layers, nodes)."""
        return attention_received(self._each_batch(graph), self._hops, graph, hop)

    def reasons(self, graph: MultilayerGraph, pair: Pair) -> list[Through]:
        """What came through neighbours and groups, as parts of the log-odds of two classes."""
        return attention_reasons(self._each_batch(graph), graph, pair).through

    def _check_loaded(self) -> None:
        with torch.device("meta"):
            check_networks(self, lambda: self._network(self.shape_, ShapesOnly()))
