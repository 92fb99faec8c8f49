"""Labels as inputs and learned inputs: networks over relations beside those of the paper, or in their place.

With enough labels some can be set aside. They decide how long a network trains and how much each kind of input counts:
known labels, learned rows of neighbours and groups, and the fixed features that the networks of the paper start from,
which are left out where they would take minutes. Kinds whose share is small are dropped. What is left is pooled as a
geometric mean and calibrated on the same labels. With fewer labels nothing changes.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from sklearn.base import clone

from gramme._runtime import return_memory
from gramme.distributed import communicator_of
from gramme.errors import DataError, GrammeWarning
from gramme.graph import MultilayerGraph
from gramme.graph.canonical import NameOrder
from gramme.methods.auto.mixture import calibrating_exponent, mixture_weights
from gramme.methods.contributions import Pair, Through, shares_of_joined
from gramme.methods.labels import ENOUGH_LABELS, KnownLabels, stratified_folds
from gramme.methods.linear.one_hot import LayerColumns
from gramme.methods.persistence import SavedField
from gramme.nn.relations import LabelNetwork, RelationPlan, TableNetwork, View, graph_views, source_names, views_size
from gramme.training.ensemble import ProgressDisplay
from gramme.training.relations import (
    RelationSettings,
    RelationTask,
    RelationTraining,
    train_label_network,
    train_table_network,
)

from .estimator import AttentionModel, settled_decay
from .explain import attention_reasons, attention_received, member_shares
from .features import RANDOM_DIM
from .relation_models import (
    LabelInputs,
    LearnedInputs,
    RelationModel,
    RelationPool,
    SavedRelations,
    layout_of,
    log_pool,
    table_views,
)
from .training_size import TRAINING_SHARE, TimeBudget, TrainingSize, expected_step_seconds

RELATION_KINDS = ("labels", "learned")
RELATION_SOURCES = ("labels", "learned", "labels+learned")
"""What ``features`` may ask for beside the fixed ones."""
MIN_LABELS = 300
"""Labels from which a tenth of them, set aside, tells kinds of input apart."""
HELD_OUT_PARTS = 10
"""One of so many parts of the labels is set aside."""
STEPS_PER_EPOCH = 5
"""Most steps of a network over relations for each epoch asked for; held-out labels end most trainings before."""
HOPS = 4
"""Hops from known labels. Of two to five, held-out training labels of WordNet and Debian's packages were predicted
best after four."""
LABEL_DROPOUT, TABLE_DROPOUT = 0.2, 0.5
"""Chosen, as the next ones, on a tenth of the training labels of WordNet and Debian's packages."""
TABLE_RATE, TABLE_DECAY = 2.0, 4.0
"""Learning rate and weight decay of learned inputs relative to other weights': a row is in few labels' reach."""
MIN_SHARE = 0.05
"""Least share of a kind of input that is kept."""
MAX_FIXED_SECONDS = 60.0
"""Expected seconds of networks with fixed features up to which they are tried beside networks over relations."""
MEMBER_SIZE = 3_000_000
"""Entries, rows and sources of a graph's views times networks of a kind: about two minutes of one core."""

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class RelationOptions:
    """What a fit of networks over relations is asked for: some of :data:`RELATION_KINDS`, and so many of each kind."""

    kinds: tuple[str, ...]
    members: int
    columns: int
    score_bound: float | None
    settings: RelationSettings
    title: str = ""
    progress: bool | None = False

    def display(self, networks: int) -> ProgressDisplay:
        """The bar for so many networks."""
        return ProgressDisplay(self.settings.steps * networks, self.title, self.progress)

    def share_of_time(self, networks: int) -> RelationOptions:
        """The options for the first of so many networks, which have equal parts of the time that is left."""
        end = self.settings.deadline
        if end is None:
            return self
        now = time.perf_counter()
        return replace(self, settings=replace(self.settings, deadline=now + max(end - now, 0) / max(networks, 1)))


def fit_relations(
    graph: MultilayerGraph,
    known: KnownLabels,
    seed: int,
    options: RelationOptions,
    fixed: Callable[[NDArray[np.bool_]], Floats] | None = None,
) -> tuple[RelationPool, pd.DataFrame, bool]:
    """Fit networks for each kind of input and choose how much each kind counts.

    Labels are in ascending order of the nodes. ``fixed`` gives what networks with fixed features say about the labels
    of a mask, which they have not seen. Returns the pool, the history of the network with the largest share, and
    whether the fit was interrupted.
    """
    aside = held_out_part(known.codes, seed)
    codes = known.codes[aside]
    views = graph_views(graph)
    models: list[RelationModel] = []
    trainings: list[RelationTraining] = []
    kinds = list(options.kinds)

    def interrupted() -> bool:
        return bool(trainings) and trainings[-1].interrupted

    with options.display(len(kinds) * options.members) as display:
        for member in range(options.members):
            # a network of each kind in turn; of a kind that hardly counts the first one is enough
            for place, kind in enumerate(kinds):
                if not interrupted():
                    left = options.share_of_time(len(kinds) * (options.members - member) - place)
                    done = _fitted(kind, graph, views, known, aside, member_seed(seed, member), left, display)
                    models.append(done[0])
                    trainings.append(done[1])
            if not member and not interrupted():
                shares, _ = chosen_shares(_held_out(models, trainings), codes)
                kinds = [kind for kind, share in zip(kinds, shares, strict=True) if share > 0]
    said = _held_out(models, trainings)
    kinds = list(dict.fromkeys(model.kind for model in models))
    if fixed is not None and not interrupted():
        said.append(fixed(aside))
    shares, exponent = chosen_shares(said, codes)
    share_of = dict(zip(kinds, shares.tolist(), strict=False))
    each = [share_of[model.kind] / sum(other.kind == model.kind for other in models) for model in models]
    kept = [place for place, share in enumerate(each) if share > 0]
    fixed_share = float(shares[len(kinds)]) if len(said) > len(kinds) else 0.0
    pool = RelationPool([models[place] for place in kept], [each[place] for place in kept], fixed_share, exponent)
    best = max(kept or range(len(models)), key=lambda place: share_of[models[place].kind])
    return pool, trainings[best].history, interrupted()


def _held_out(models: Sequence[RelationModel], trainings: Sequence[RelationTraining]) -> list[Floats]:
    """What all networks of each kind say together about the labels that were set aside."""
    logs: dict[str, list[Floats]] = {}
    for model, training in zip(models, trainings, strict=True):
        logs.setdefault(model.kind, []).append(np.exp(training.held_out))
    return [log_pool(one, [1 / len(one)] * len(one), 1.0) for one in logs.values()]


def member_seed(seed: int, member: int) -> int:
    """The seed of a network; the first has that of the fit."""
    return int(np.random.SeedSequence([seed, member]).generate_state(1, np.uint64)[0]) >> 2


def out_of_fold_relations(
    graph: MultilayerGraph,
    known: KnownLabels,
    fold: NDArray[np.int64],
    seed: int,
    options: RelationOptions,
    pool: RelationPool,
) -> tuple[dict[str, Floats], NDArray[np.int64]]:
    """What networks say that have seen a fold neither as inputs nor as labels to learn, one for each kind and fold.

    Returns their probabilities by kind of input, (labelled, classes), NaN for labels in no fold that was left out, and
    the folds that were left out: no more than have :data:`ENOUGH_LABELS` labels.
    """
    kinds = list(pool.kind_shares())
    sizes = np.cumsum(np.bincount(fold[fold >= 0]))
    tested = np.arange(min(int(np.searchsorted(sizes, ENOUGH_LABELS)) + 1, sizes.size))
    found = {kind: np.full((known.nodes.size, len(known.classes)), np.nan) for kind in kinds}
    views = graph_views(graph)
    runs = len(kinds) * tested.size
    with options.display(runs) as display:
        for number in tested.tolist():
            left_out = fold == number
            seen = known.part(~left_out)
            aside = held_out_part(seen.codes, seed + number + 1)
            for kind in kinds:
                left, own_seed = options.share_of_time(runs), member_seed(seed, 1_000 + number)
                runs -= 1
                model, training = _fitted(kind, graph, views, seen, aside, own_seed, left, display)
                if training.interrupted:
                    return found, tested
                found[kind][left_out] = model.probabilities(graph)[known.nodes[left_out]]
    return found, tested


def held_out_part(codes: NDArray[np.int64], seed: int) -> NDArray[np.bool_]:
    """Which labels are set aside: a tenth, of every class that has several, and no more than a thousand."""
    part: NDArray[np.bool_] = stratified_folds(codes, HELD_OUT_PARTS, seed) == 0
    counts = np.bincount(codes)
    seen = np.bincount(codes[~part], minlength=counts.size)
    part &= seen[codes] > 0  # somebody has to teach a class
    chosen = np.flatnonzero(part)
    if chosen.size > ENOUGH_LABELS:
        kept = np.random.default_rng(seed).permutation(chosen)[:ENOUGH_LABELS]
        part = np.zeros_like(part)
        part[kept] = True
    return part


def chosen_shares(said: Sequence[Floats], codes: NDArray[np.int64]) -> tuple[Floats, float]:
    """The share of each kind of input, small ones dropped, and the exponent that calibrates their pool.

    ``said`` (held out, classes): What each kind says about labels that it has not seen; ``codes`` (held out,).

    Examples
    --------
    >>> sure, wrong = np.array([[0.9, 0.1]] * 50), np.array([[0.2, 0.8]] * 50)
    >>> shares, _ = chosen_shares([sure, wrong], np.zeros(50, dtype=int))
    >>> shares.tolist()
    [1.0, 0.0]
    """
    if not codes.size:
        return np.eye(len(said))[0], 1.0
    rows = np.arange(codes.size)
    own = np.stack([np.maximum(part[rows, codes], 1e-9) for part in said], axis=1)
    shares = mixture_weights(own, [1.0] * len(said))  # each is credited with one label beforehand
    small = shares < MIN_SHARE
    small[int(np.argmax(shares))] = False
    shares = np.where(small, 0.0, shares)
    shares /= shares.sum()
    exponent = calibrating_exponent(np.maximum(log_pool(said, shares.tolist(), 1.0), 1e-12), codes)
    return shares, exponent


def _fitted(
    kind: str,
    graph: MultilayerGraph,
    views: list[View],
    known: KnownLabels,
    aside: NDArray[np.bool_],
    seed: int,
    options: RelationOptions,
    display: ProgressDisplay,
) -> tuple[RelationModel, RelationTraining]:
    """A network of one kind, trained."""
    task = RelationTask.of(known.nodes, known.codes, known.weights, aside)
    settings = options.settings
    generator = torch.Generator().manual_seed((seed * 2 + RELATION_KINDS.index(kind)) % 2**63)
    shared: dict[str, Any] = {"columns": options.columns, "score_bound": options.score_bound, "generator": generator}
    classes, layers = len(known.classes), [view.layer for view in views]
    model: RelationModel
    if kind == "labels":
        groups = sum(view.groups for view in views)
        network = LabelNetwork(len(views), groups, classes, hops=HOPS, dropout=LABEL_DROPOUT, **shared)
        model = LabelInputs(layout_of(views), network, graph.nodes[known.nodes], known.codes)
        plan = RelationPlan(views, HOPS, known.nodes)
        training = train_label_network(network, plan, task, settings, display.advance)
    else:
        # of each view a row for every source that is heard by nodes whose labels are learned from
        columns = []
        for view in views:
            name, layer = list(graph.layers.items())[view.layer]
            heard = np.unique(view.matrix[known.nodes[~aside]].indices)
            columns.append(LayerColumns(name, layer.made_of, source_names(graph, view)[heard]))
        table = TableNetwork(sum(len(one.names) for one in columns), classes, dropout=TABLE_DROPOUT, **shared)
        model = LearnedInputs(layout_of(views), table, columns)
        stack = table_views(views, known.nodes)
        own = replace(
            settings,
            learning_rate=TABLE_RATE * settings.learning_rate,
            weight_decay=TABLE_DECAY * settings.weight_decay,
        )
        rows = model.rows_of(graph, views, stack)
        training = train_table_network(table, stack, layers, rows, task, own, display.advance)
    display.finish(settings.steps - len(training.history))
    return_memory(graph.num_entries)
    return model, training


class RelationFusion(AttentionModel):
    """Base of :class:`GrammeFusion`: networks with fixed features, networks over relations, or both.

    ``relations_``: The networks over relations and the share of each; None if there are none.
    """

    saved_fields: ClassVar[tuple[SavedField, ...]] = (SavedRelations("relations"),)

    relations_: RelationPool | None = None

    # Fitting

    def _fit_otherwise(
        self, graph: MultilayerGraph, known: KnownLabels, seed: int, asked: Mapping[str, Any]
    ) -> NDArray[np.floating[Any]] | None:
        self.relations_ = None
        if not self._considers_relations(graph, known, asked["validation"]):
            return None
        fold, copies, allowance = asked["fold"], asked["copies"], asked["allowance"]
        options = self._relation_options(graph, known, allowance)
        probe = None
        if self.features is None and self._fixed_seconds(graph) <= MAX_FIXED_SECONDS:

            def probe(aside: NDArray[np.bool_]) -> NDArray[np.float64]:
                return self._fixed_at(graph, known, seed, aside)

        pool, history, interrupted = fit_relations(graph, known, seed, options, probe)
        if not pool.models:  # fixed features alone say more
            return None
        fixed = None
        if pool.fixed_share > 0:
            fixed = self._fit(graph, known, seed, **asked, fixed_only=True).astype(np.float64)
        else:
            self._without_fixed(graph, seed, history, TrainingSize(self.ensemble, copies, self._most_epochs))
        self.relations_, self.interrupted_ = pool, self.interrupted_ or interrupted
        if interrupted:
            warnings.warn("interrupted: networks over relations are trained in part", GrammeWarning, stacklevel=5)
        if fold is not None:
            parts, tested = out_of_fold_relations(graph, known, fold, seed, options, pool)
            unseen = None if fixed is None else self.out_of_fold_
            said = pool.pooled(parts, unseen)
            said[~np.isin(fold, tested)] = np.nan
            self.out_of_fold_ = said
        return pool.probabilities(graph, fixed)

    def _considers_relations(self, graph: MultilayerGraph, known: KnownLabels, validation: Any) -> bool:
        """Whether networks over relations take part: where they are asked for, or nothing is and labels are many."""
        if not communicator_of(graph).alone:
            return False
        if self.features in RELATION_SOURCES:
            return True
        return self.features is None and validation is None and known.nodes.size >= MIN_LABELS

    def _relation_options(
        self, graph: MultilayerGraph, known: KnownLabels, allowance: TimeBudget | None
    ) -> RelationOptions:
        kinds = RELATION_KINDS if self.features is None else tuple(self.features.split("+"))
        deadline = None
        if allowance is not None and allowance.measured:
            deadline = time.perf_counter() + TRAINING_SHARE * allowance.seconds
        decay = settled_decay(self.weight_decay, known.nodes.size)
        steps = self._most_epochs * STEPS_PER_EPOCH
        settings = RelationSettings(steps, self.learning_rate, decay, deadline=deadline)
        members = min(self.ensemble, max(1, MEMBER_SIZE // max(views_size(graph_views(graph)), 1)))
        title = type(self).__name__
        return RelationOptions(kinds, members, self.hidden_dim, self.score_bound, settings, title, self.progress)

    @property
    def _most_epochs(self) -> int:
        """Epochs as far as networks over relations go by them: their training ends by labels set aside in any case."""
        return self.epochs or AttentionModel.epochs or 1

    def _fixed_seconds(self, graph: MultilayerGraph) -> float:
        """About how long the networks with fixed features take, judged by the size of the graph."""
        return self.ensemble * self._most_epochs * expected_step_seconds(graph)

    def _fixed_at(
        self, graph: MultilayerGraph, known: KnownLabels, seed: int, aside: NDArray[np.bool_]
    ) -> NDArray[np.float64]:
        """What a network with fixed features says about labels that it has not seen."""
        probe = clone(self).set_params(ensemble=1, progress=False)
        probe.classes_ = known.classes
        probe._fit(graph, known, seed, fold=np.where(aside, 0, -1), copies=1, fixed_only=True)
        found: NDArray[np.float64] = probe.out_of_fold_[aside]
        return found

    def _without_fixed(self, graph: MultilayerGraph, seed: int, history: pd.DataFrame, effort: TrainingSize) -> None:
        """What a fit stores where no network has fixed features."""
        self.source_, self.profile_, self.scales_, self.walk_size_ = "random", None, None, 1.0
        columns = RANDOM_DIM[True] if self.feature_dim is None else self.feature_dim
        self.edge_features_ = {}
        self.seed_, self.shape_ = seed, self._shape(graph, columns)
        self.members_, self.state_ = 0, {}
        self.history_, self.effort_, self.interrupted_ = history, effort, False
        self.epochs_ = len(history)

    # Predicting

    def _inductive_proba(self, graph: MultilayerGraph, plan: Any = None) -> NDArray[np.float32]:
        pool = self.relations_
        if pool is None or not graph.num_nodes:
            return super()._inductive_proba(graph, plan)
        fixed = None
        if self.members_:
            fixed = super()._inductive_proba(graph, plan).astype(np.float64)
        return pool.probabilities(graph, fixed).astype(np.float32)

    def _embed(self, order: NameOrder) -> NDArray[np.float32]:
        pool = self.relations_
        if pool is None:
            return super()._embed(order)
        parts = [order.to_given(model.embedding(order.graph)) for model in pool.first_of_kind()]
        if self.members_:
            parts.append(super()._embed(order))
        return np.concatenate(parts, axis=1)

    # Explaining

    @cached_property
    def layer_importances_(self) -> pd.DataFrame:
        """How much each member relies on each layer: rows that sum to 1.

        Of networks over relations the first of each kind has a row, after those of the members.
        """
        self.check_fitted()
        graph = self._fitted_order().graph
        rows = []
        if self.members_:
            rows.append(member_shares(self._each_batch(graph), graph))
        if self.relations_ is not None:
            rows += [model.layer_shares(graph)[None] for model in self.relations_.first_of_kind()]
        shares = shares_of_joined(np.concatenate(rows), graph)
        return pd.DataFrame(shares, columns=self.layer_order_)[self.layers_]

    @property
    def layer_importance_(self) -> pd.Series:
        """Which layers the model relies on, by name, summing to 1: the mean over the networks, by their shares."""
        table = self.layer_importances_
        if self.relations_ is None:
            return table.mean(axis=0).rename("importance")
        shares = list(self.relations_.kind_shares().values())
        fixed = len(table) - len(shares)
        weights = np.array([self.relations_.fixed_share / max(fixed, 1)] * fixed + shares)
        weighed = table.mul(weights, axis=0).sum(axis=0)
        return (weighed / weighed.sum()).rename("importance")

    def _received(self, graph: MultilayerGraph, hop: int, head: int | None, member: int | None) -> NDArray[np.float64]:
        """How much attention each node receives in each layer at a hop, (layers, nodes)."""
        if self.relations_ is None or (self.members_ and (head, member) != (None, None)):
            return super()._received(graph, hop, head, member)
        if (head, member) != (None, None):
            raise DataError("this model has no networks with fixed features, which alone have heads and members")
        found = [model.received(graph, hop) for model in self.relations_.models]
        weights = list(self.relations_.shares)
        if self.members_:
            found.append(attention_received(self._each_batch(graph), self._hops, graph, hop))
            weights.append(self.relations_.fixed_share)
        every, share = np.stack(found), np.array(weights)[:, None, None]
        there = ~np.isnan(every)
        total = (there * share).sum(0)
        mean = np.where(there, every * share, 0.0).sum(0)
        return np.where(total > 0, mean / np.where(total > 0, total, 1.0), np.nan)

    def _most_hops(self, position: int) -> int:
        pool = self.relations_
        if pool is None:
            return super()._most_hops(position)
        hops = [getattr(model.network, "hops", 1) for model in pool.models]
        return max(hops + [super()._most_hops(position)] * bool(self.members_))

    def reasons(self, graph: MultilayerGraph, pair: Pair) -> list[Through]:
        """What came through neighbours and groups, as parts of the log-odds of two classes."""
        pool = self.relations_
        if pool is None:
            return super().reasons(graph, pair)
        every = np.ones(pair.rows.size)
        found = [
            through
            for model, share in zip(pool.models, pool.shares, strict=True)
            for through in model.through(graph, pair, pool.exponent * share * every)
        ]
        if self.members_:
            for through in attention_reasons(self._each_batch(graph), graph, pair).through:
                scaled = through.parts * (pool.exponent * pool.fixed_share)
                found.append(Through(through.layer, through.kind, scaled))
        joined: dict[str, Through] = {}
        for through in found:
            if through.layer in joined:
                parts = joined[through.layer].parts + through.parts
                through = Through(through.layer, through.kind, parts)
            joined[through.layer] = through
        return list(joined.values())

    def _check_loaded(self) -> None:
        if self.members_:
            super()._check_loaded()
