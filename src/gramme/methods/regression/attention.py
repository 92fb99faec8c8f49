"""Attention that predicts numbers: the network of GrAMME-Fusion with one output, trained by squared error."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Annotated, ClassVar

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
from gramme.methods.attention.members import (
    Members,
    TimeBudget,
    TrainingSize,
    seen_labels,
    settled_training_size,
    step_seconds,
)
from gramme.methods.linear.walk_profile import WalkProfile
from gramme.methods.params import (
    POSITIVE,
    Choice,
    DeviceName,
    NonNegativeFloat,
    Number,
    PositiveFloat,
    PositiveInt,
    RandomSeed,
    Share,
    torch_device,
)
from gramme.methods.persistence import MisfitError, SavedField, SavedValue
from gramme.nn import FusionNetwork, MemberRandom, Network, Output, Plan, Shape, ShapesOnly, fusion_plan
from gramme.training import NumberTask, Settings, TrainingTargets, evaluate, train_ensemble

from .base import KnownNumbers, NodeRegressor


@dataclass(kw_only=True, eq=False, repr=False)
class AttentionRegressor(NodeRegressor):
    """The network of :class:`~gramme.methods.GrammeFusion` with a number as its output.

    The numbers that a member sees are scaled to mean 0 and variance 1; the loss is the squared error. The prediction is
    the mean of the members'. Further members that leave out a fold each are trained in the same batched program.
    """

    ensemble: PositiveInt = 8
    hidden_dim: PositiveInt = 32
    epochs: PositiveInt = 60
    learning_rate: PositiveFloat = 0.003
    weight_decay: NonNegativeFloat = 0.01
    dropout: Share = 0.0
    features: Annotated[str, Choice(*SOURCES)] | None = None
    progress: bool | None = None
    device: DeviceName = "auto"
    random_state: RandomSeed = None

    saved_fields: ClassVar[tuple[SavedField, ...]] = (
        SavedValue("center", Number(-np.inf, open_low=True)),
        SavedValue("spread", POSITIVE),
        *NETWORK_FIELDS,
    )

    center_: float = field(init=False)
    spread_: float = field(init=False)
    source_: str = field(init=False)
    profile_: WalkProfile | None = field(init=False)
    scales_: GivenFeatures | None = field(init=False)
    walk_size_: float = field(init=False)
    seed_: int = field(init=False)
    members_: int = field(init=False)
    shape_: Shape = field(init=False)
    history_: pd.DataFrame = field(init=False)
    state_: dict[str, Tensor] = field(init=False)
    effort_: TrainingSize = field(init=False)

    def _fit(
        self,
        graph: MultilayerGraph,
        known: KnownNumbers,
        seed: int,
        *,
        fold: NDArray[np.int64] | None = None,
        copies: int = 2,
        allowance: TimeBudget | None = None,
    ) -> Floats:
        input_features = InputFeatures.of(graph, self.features)
        self.source_, self.profile_, self.scales_, self.walk_size_ = input_features.learned
        self.seed_, self.shape_ = seed, self._shape(graph, input_features.columns)
        networks = self._networks()
        plan = self._plan(graph, known.nodes).to(networks.device)
        settings = Settings(self.epochs, self.learning_rate, self.weight_decay, patience=self.epochs)
        num_folds = 0 if fold is None else int(fold.max()) + 1

        def timed() -> float:
            all_seen = np.ones((known.nodes.size, self.ensemble + num_folds * copies), dtype=bool)
            return step_seconds(networks, graph, plan, _targets(known, all_seen)[0], settings)

        full_size = TrainingSize(self.ensemble, copies, self.epochs)
        training_size = self.effort_ = settled_training_size(full_size, num_folds, allowance, graph, timed)
        seen_by_member = seen_labels(known.nodes.size, training_size.members, fold, training_size.copies)
        targets, member_centers, member_spreads = _targets(known, seen_by_member)
        self.center_, self.spread_ = float(member_centers[0]), float(member_spreads[0])
        self.unseen_ = np.zeros(known.values.size)

        def note(batch: range, output: Output) -> None:
            node_scores = output.scores[..., 0].double().cpu().numpy()
            for place_in_batch, member in enumerate(batch):
                is_unseen = ~seen_by_member[:, member]
                predicted = (
                    node_scores[known.nodes[is_unseen], place_in_batch] * member_spreads[member]
                    + member_centers[member]
                )
                self.unseen_[is_unseen] += predicted / training_size.copies

        trained_ensemble = train_ensemble(
            networks.batches(plan, targets.members),
            lambda batch: networks.new(graph, batch),
            plan,
            targets,
            replace(settings, epochs=training_size.epochs, patience=training_size.epochs),
            trained=note,
            title=type(self).__name__,
            progress=self.progress,
        )
        self.history_, self.interrupted_ = trained_ensemble.history, trained_ensemble.interrupted
        self.members_ = min(trained_ensemble.members, training_size.members)
        self.state_ = {name: value[: self.members_] for name, value in trained_ensemble.state.items()}
        if trained_ensemble.members < targets.members:
            self.unseen_[:] = np.nan
        return self._said(graph, plan)

    def _fit_with_folds(
        self,
        graph: MultilayerGraph,
        known: KnownNumbers,
        fold: NDArray[np.int64],
        copies: int = 2,
        allowance: TimeBudget | None = None,
    ) -> Floats:
        self._run_fit(graph, known, fold=fold, copies=copies, allowance=allowance)
        return self.unseen_

    def _shape(self, graph: MultilayerGraph, columns: int) -> Shape:
        return Shape(
            layers=graph.num_layers,
            in_dim=columns,
            hidden_dim=self.hidden_dim,
            classes=1,
            heads=(2,) * graph.num_layers,
            depth=(2,) * graph.num_layers,
            activation="relu",
            dropout=self.dropout,
            score_bound=5.0,
        )

    def _networks(self) -> Members:
        learned_inputs = (self.source_, self.profile_, self.scales_, self.walk_size_)
        input_features = InputFeatures.loaded(learned_inputs, None, self.shape_.in_dim)
        device = torch_device(self.device)
        return Members(_network, self.shape_, self.seed_, input_features, False, device)

    def _plan(self, graph: MultilayerGraph, nodes: NDArray[np.int64] | None = None) -> Plan:
        return fusion_plan(graph, self.shape_, nodes, fuse="every hop")

    def _each_batch(self, graph: MultilayerGraph, plan: Plan) -> Iterator[Output]:
        members = self._networks()
        for batch in members.batches(plan.everywhere, self.members_):
            yield evaluate(*members.trained(graph, batch, self.state_), plan.everywhere)

    def _said(self, graph: MultilayerGraph, plan: Plan) -> Floats:
        score_sums = np.zeros(graph.num_nodes)
        for output in self._each_batch(graph, plan) if graph.num_nodes else ():
            score_sums += output.scores[..., 0].double().sum(1).cpu().numpy()
        mean_numbers: Floats = score_sums / self.members_ * self.spread_ + self.center_
        return mean_numbers

    def _inductive(self, graph: MultilayerGraph) -> Floats:
        return self._said(graph, self._plan(graph).to(torch_device(self.device)))

    def _check_loaded(self) -> None:
        if (self.shape_.layers, self.shape_.classes) != (len(self.layers_), 1):
            raise MisfitError("shape does not match the layers and one output")
        input_features = self._networks().inputs
        with torch.device("meta"):
            check_members(
                self.shape_, input_features, self.state_, self.members_, lambda: _network(self.shape_, ShapesOnly())
            )


def _targets(known: KnownNumbers, seen: NDArray[np.bool_]) -> tuple[TrainingTargets, Floats, Floats]:
    """The numbers as each member sees them, scaled by mean and spread, (members,), of those that it sees."""
    label_weights = seen * known.weights[:, None]
    weight_sums = label_weights.sum(axis=0)
    member_centers: Floats = known.values @ label_weights / weight_sums
    member_spreads = np.sqrt(
        (((known.values[:, None] - member_centers) ** 2) * label_weights).sum(axis=0) / weight_sums
    )
    member_spreads = np.where(member_spreads > 0, member_spreads, 1.0)
    scaled_numbers = (known.values[:, None] - member_centers) / member_spreads
    return TrainingTargets(known.nodes, scaled_numbers, label_weights, task=NumberTask), member_centers, member_spreads


def _network(shape: Shape, random: MemberRandom) -> Network:
    return FusionNetwork(shape, random, fusion_heads=5, feed_forward=False, fuse="every hop")
