"""Attention that predicts numbers: the network of GrAMME-Fusion with one output, trained by squared error."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor

from gramme._types import Floats
from gramme.graph import MultilayerGraph
from gramme.methods.attention.estimator import NETWORK_FIELDS, check_members
from gramme.methods.attention.features import SOURCES, InputFeatures
from gramme.methods.attention.given_features import GivenFeatures
from gramme.methods.attention.members import Members, seen_labels
from gramme.methods.linear.walk_profile import WalkProfile
from gramme.methods.params import (
    POSITIVE,
    SHARE,
    Choice,
    Device,
    Flag,
    NoneOr,
    Number,
    RandomState,
    Rule,
    WholeNumber,
    torch_device,
)
from gramme.methods.persistence import MisfitError, SavedField, SavedValue
from gramme.nn import (
    FusionNetwork,
    MemberRandom,
    Network,
    Output,
    Plan,
    Shape,
    ShapesOnly,
    fusion_plan,
)
from gramme.training import NumberTask, Settings, TrainingTargets, evaluate, train_ensemble

from .base import KnownNumbers, NodeRegressor

HEADS, DEPTH, FUSION_HEADS = 2, 2, 5
SCORE_BOUND = 5.0
COPIES_PER_FOLD = 2  # members that leave out the same fold: one alone says less than all do


class AttentionRegressor(NodeRegressor):
    """The network of :class:`~gramme.methods.GrammeFusion` with a number as its output.

    The numbers that a member sees are scaled to mean 0 and variance 1; the loss is the squared error. The prediction is
    the mean of the members'. Further members that leave out a fold each are trained in the same batched program.

    Parameters
    ----------
    ensemble : int, default=8
        Members that see all numbers.
    hidden_dim : int, default=32
    epochs : int, default=60
    learning_rate : float, default=0.003
    weight_decay : float, default=0.01
    dropout : float, default=0.0
    features : str or None, default=None
        As for :class:`~gramme.methods.GrammeFusion`.
    progress : bool or None, default=None
    device : str, default="auto"
    random_state : int, numpy generator or None, default=None
    """

    parameter_rules: ClassVar[Mapping[str, Rule]] = {
        "ensemble": WholeNumber(),
        "hidden_dim": WholeNumber(),
        "epochs": WholeNumber(),
        "learning_rate": POSITIVE,
        "weight_decay": Number(0),
        "dropout": SHARE,
        "features": NoneOr(Choice(*SOURCES)),
        "progress": NoneOr(Flag()),
        "device": Device(),
        "random_state": RandomState(),
    }
    saved_fields: ClassVar[tuple[SavedField, ...]] = (
        SavedValue("center", Number(-np.inf, open_low=True)),
        SavedValue("spread", POSITIVE),
        *NETWORK_FIELDS,
    )

    center_: float
    spread_: float
    source_: str
    profile_: WalkProfile | None
    scales_: GivenFeatures | None
    walk_size_: float
    seed_: int
    members_: int
    shape_: Shape
    history_: pd.DataFrame
    state_: dict[str, Tensor]

    def __init__(
        self,
        *,
        ensemble: int = 8,
        hidden_dim: int = 32,
        epochs: int = 60,
        learning_rate: float = 0.003,
        weight_decay: float = 0.01,
        dropout: float = 0.0,
        features: str | None = None,
        progress: bool | None = None,
        device: str = "auto",
        random_state: Any = None,
    ) -> None:
        self.ensemble = ensemble
        self.hidden_dim = hidden_dim
        self.epochs = epochs
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.dropout = dropout
        self.features = features
        self.progress = progress
        self.device = device
        self.random_state = random_state

    def _fit(
        self,
        graph: MultilayerGraph,
        known: KnownNumbers,
        seed: int,
        *,
        fold: NDArray[np.int64] | None = None,
    ) -> Floats:
        inputs = InputFeatures.of(graph, self.features)
        self.source_, self.profile_, self.scales_, self.walk_size_ = inputs.learned
        self.seed_, self.shape_ = seed, self._shape(graph, inputs.columns)
        seen = seen_labels(known.nodes.size, self.ensemble, fold, COPIES_PER_FOLD)
        center, spread = _scales(known.values, seen)
        self.center_, self.spread_ = float(center[0]), float(spread[0])
        lessons = TrainingTargets(
            known.nodes,
            (known.values[:, None] - center) / spread,
            seen.astype(np.float64),
            task=NumberTask,
        )
        self.unseen_ = np.zeros(known.values.size)

        def note(batch: range, output: Output) -> None:
            said = output.scores[..., 0].double().cpu().numpy()
            for place, member in enumerate(batch):
                mine = ~seen[:, member]
                found = said[known.nodes[mine], place] * spread[member] + center[member]
                self.unseen_[mine] += found / COPIES_PER_FOLD

        members = self._networks()
        plan = self._plan(graph, known.nodes).to(members.device)
        found = train_ensemble(
            members.batches(plan, lessons.members),
            lambda batch: members.new(graph, batch),
            plan,
            lessons,
            Settings(self.epochs, self.learning_rate, self.weight_decay, patience=self.epochs),
            trained=note,
            title=type(self).__name__,
            progress=self.progress,
        )
        self.history_, self.interrupted_ = found.history, found.interrupted
        self.members_ = min(found.members, self.ensemble)
        self.state_ = {name: value[: self.members_] for name, value in found.state.items()}
        if found.members < lessons.members:
            self.unseen_[:] = np.nan
        return self._said(graph, plan)

    def _shape(self, graph: MultilayerGraph, columns: int) -> Shape:
        return Shape(
            layers=graph.num_layers,
            in_dim=columns,
            hidden_dim=self.hidden_dim,
            classes=1,
            heads=(HEADS,) * graph.num_layers,
            depth=(DEPTH,) * graph.num_layers,
            activation="relu",
            dropout=self.dropout,
            score_bound=SCORE_BOUND,
        )

    def _networks(self) -> Members:
        learned = (self.source_, self.profile_, self.scales_, self.walk_size_)
        inputs = InputFeatures.loaded(learned, None, self.shape_.in_dim)
        device = torch_device(self.device)
        return Members(_network, self.shape_, self.seed_, inputs, False, device)

    def _plan(self, graph: MultilayerGraph, nodes: NDArray[np.int64] | None = None) -> Plan:
        return fusion_plan(graph, self.shape_, nodes, fuse="every hop")

    def _each_batch(self, graph: MultilayerGraph, plan: Plan) -> Iterator[Output]:
        members = self._networks()
        for batch in members.batches(plan.everywhere, self.members_):
            yield evaluate(*members.trained(graph, batch, self.state_), plan.everywhere)

    def _said(self, graph: MultilayerGraph, plan: Plan) -> Floats:
        total = np.zeros(graph.num_nodes)
        for output in self._each_batch(graph, plan) if graph.num_nodes else ():
            total += output.scores[..., 0].double().sum(1).cpu().numpy()
        found: Floats = total / self.members_ * self.spread_ + self.center_
        return found

    def _inductive(self, graph: MultilayerGraph) -> Floats:
        return self._said(graph, self._plan(graph).to(torch_device(self.device)))

    def _check_loaded(self) -> None:
        if (self.shape_.layers, self.shape_.classes) != (len(self.layers_), 1):
            raise MisfitError("shape does not match the layers and one output")
        inputs = self._networks().inputs
        with torch.device("meta"):
            check_members(
                self.shape_,
                inputs,
                self.state_,
                self.members_,
                lambda: _network(self.shape_, ShapesOnly()),
            )


def _scales(values: Floats, seen: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """Mean and spread, (members,), of the numbers that each member sees."""
    count = seen.sum(axis=0)
    center: Floats = values @ seen / count
    spread = np.sqrt((((values[:, None] - center) ** 2) * seen).sum(axis=0) / count)
    return center, np.where(spread > 0, spread, 1.0)


def _network(shape: Shape, random: MemberRandom) -> Network:
    return FusionNetwork(
        shape, random, fusion_heads=FUSION_HEADS, feed_forward=False, fuse="every hop"
    )
