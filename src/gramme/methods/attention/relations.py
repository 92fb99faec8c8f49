"""Labels as inputs and learned inputs: fitting networks over relations, and pooling them with those of the paper.

With enough labels some can be set aside. They decide how long a network trains and how much each kind of input counts:
known labels, learned rows of neighbours and groups, and the fixed features that the networks of the paper start from.
Kinds whose share is small are dropped. What is left is pooled as a geometric mean and calibrated on the same labels.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray

from gramme.graph import MultilayerGraph
from gramme.methods.attention.relation_models import (
    LabelInputs,
    LearnedInputs,
    RelationModel,
    layout_of,
    log_pool,
    table_views,
)
from gramme.methods.auto.mixture import calibrating_exponent, mixture_weights
from gramme.methods.labels import ENOUGH_LABELS, KnownLabels, stratified_folds
from gramme.methods.linear.one_hot import LayerColumns
from gramme.nn.relation_plan import RelationPlan, View, graph_views, source_names
from gramme.nn.relations import LabelNetwork, TableNetwork
from gramme.training.ensemble import ProgressDisplay
from gramme.training.relations import (
    RelationSettings,
    RelationTask,
    RelationTraining,
    train_label_network,
    train_table_network,
)

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
SCORE_CREDIT = 1.0
"""Labels that each kind of input is credited with beforehand."""
MIN_SHARE = 0.05
"""Least share of a kind of input that is kept."""

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class RelationOptions:
    """What a fit of networks over relations is asked for.

    ``kinds``: Some of :data:`RELATION_KINDS`; ``members``: Networks of each kind; ``deadline``: On the clock of
    ``time.perf_counter``.
    """

    kinds: tuple[str, ...]
    members: int
    columns: int
    epochs: int
    learning_rate: float
    weight_decay: float
    score_bound: float | None
    deadline: float | None = None
    title: str = ""
    progress: bool | None = False


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


@dataclass
class RelationFit:
    """A fit: the pool, the history of the network with the largest share, and whether it was interrupted."""

    pool: RelationPool
    history: pd.DataFrame
    interrupted: bool


def fit_relations(
    graph: MultilayerGraph,
    known: KnownLabels,
    weights: Floats,
    seed: int,
    options: RelationOptions,
    fixed: Callable[[NDArray[np.bool_]], Floats] | None = None,
) -> RelationFit:
    """Fit a network for each kind of input and choose how much each counts.

    ``known``: In ascending order of the nodes; ``weights`` (labelled,): How much each label counts in the loss;
    ``fixed``: From a mask of labels to what networks with fixed features that have not seen them say about them.
    """
    aside = held_out_part(known.codes, seed)
    codes = known.codes[aside]
    views = graph_views(graph)
    models: list[RelationModel] = []
    trainings: list[RelationTraining] = []
    kinds, interrupted = list(options.kinds), False
    with _display(options, len(kinds) * options.members) as display:
        for member in range(options.members):
            # a network of each kind in turn; of a kind that hardly counts the first one is enough
            for place, kind in enumerate(kinds):
                runs = len(kinds) * (options.members - member) - place
                left = _share_of_time(options, runs)
                number = member_seed(seed, member)
                model, training = _fitted(kind, graph, views, known, weights, aside, number, left, display)
                models.append(model)
                trainings.append(training)
                interrupted |= training.interrupted
                if interrupted:
                    break
            if interrupted:
                break
            if not member:
                shares, _ = chosen_shares(_held_out(models, trainings), codes)
                kinds = [kind for kind, share in zip(kinds, shares, strict=True) if share > 0]
    kinds = list(dict.fromkeys(model.kind for model in models))
    counts = {kind: sum(model.kind == kind for model in models) for kind in kinds}
    said = _held_out(models, trainings)
    if fixed is not None and not interrupted:
        said.append(fixed(aside))
    shares, exponent = chosen_shares(said, codes)
    share_of = dict(zip(kinds, shares.tolist(), strict=False))
    kept = [model for model in models if share_of[model.kind] > 0]
    pool = RelationPool(
        kept,
        [share_of[model.kind] / counts[model.kind] for model in kept],
        float(shares[len(kinds)]) if len(said) > len(kinds) else 0.0,
        exponent,
    )
    best = models.index(max(kept or models, key=lambda model: share_of[model.kind]))
    return RelationFit(pool, trainings[best].history, interrupted)


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
    weights: Floats,
    fold: NDArray[np.int64],
    seed: int,
    options: RelationOptions,
    pool: RelationPool,
) -> tuple[dict[str, Floats], NDArray[np.int64]]:
    """What networks say that have seen a fold neither as inputs nor as labels to learn.

    One network for each kind of input and fold.

    Returns (labelled, classes): By kind of input. NaN for labels in no fold that was left out; array of int: The folds
    that were left out: no more than have :data:`ENOUGH_LABELS` labels.
    """
    kinds = list(dict.fromkeys(model.kind for model in pool.models))
    sizes = np.cumsum(np.bincount(fold[fold >= 0]))
    tested = np.arange(min(int(np.searchsorted(sizes, ENOUGH_LABELS)) + 1, sizes.size))
    shape = (known.nodes.size, len(known.classes))
    found = {kind: np.full(shape, np.nan) for kind in kinds}
    views = graph_views(graph)
    runs = len(kinds) * tested.size
    with _display(options, runs) as display:
        for number in tested:
            left_out = fold == number
            seen = known.part(~left_out)
            aside = held_out_part(seen.codes, seed + int(number) + 1)
            for kind in kinds:
                left = _share_of_time(options, runs)
                runs -= 1
                model, training = _fitted(
                    kind,
                    graph,
                    views,
                    seen,
                    weights[~left_out],
                    aside,
                    member_seed(seed, 1_000 + int(number)),
                    left,
                    display,
                )
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
    shares = mixture_weights(own, [SCORE_CREDIT] * len(said))
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
    weights: Floats,
    aside: NDArray[np.bool_],
    seed: int,
    options: RelationOptions,
    display: ProgressDisplay,
) -> tuple[RelationModel, RelationTraining]:
    """A network of one kind, trained."""
    task = RelationTask.of(known.nodes, known.codes, weights, aside)
    settings = RelationSettings(
        options.epochs * STEPS_PER_EPOCH, options.learning_rate, options.weight_decay, deadline=options.deadline
    )
    generator = torch.Generator().manual_seed((seed * 2 + RELATION_KINDS.index(kind)) % 2**63)
    classes = len(known.classes)
    if kind == "labels":
        plan = RelationPlan(views, HOPS, known.nodes)
        network = LabelNetwork(
            len(views),
            sum(view.groups for view in views),
            classes,
            columns=options.columns,
            hops=HOPS,
            dropout=LABEL_DROPOUT,
            score_bound=options.score_bound,
            generator=generator,
        )
        training = train_label_network(network, plan, task, settings, display.advance)
        display.finish(settings.steps - len(training.history))
        names = graph.nodes[known.nodes]
        return LabelInputs(layout_of(views), network, names, known.codes), training
    learning = known.nodes[~aside]
    columns = table_columns(graph, views, learning)
    rows = sum(len(one.names) for one in columns)
    table = TableNetwork(
        rows,
        classes,
        columns=options.columns,
        dropout=TABLE_DROPOUT,
        score_bound=options.score_bound,
        generator=generator,
    )
    model = LearnedInputs(layout_of(views), table, columns)
    settings = replace(
        settings, learning_rate=TABLE_RATE * options.learning_rate, weight_decay=TABLE_DECAY * options.weight_decay
    )
    stack = table_views(views, known.nodes)
    layers = [view.layer for view in views]
    training = train_table_network(
        table, stack, layers, model.rows_of(graph, views, stack), task, settings, display.advance
    )
    display.finish(settings.steps - len(training.history))
    return model, training


def table_columns(graph: MultilayerGraph, views: Sequence[View], nodes: NDArray[np.int64]) -> list[LayerColumns]:
    """Of each view the sources that some nodes hear: those of the labels that are learned from."""
    layers = list(graph.layers.items())
    found = []
    for view in views:
        name, layer = layers[view.layer]
        heard = np.unique(view.matrix[nodes].indices)
        found.append(LayerColumns(name, layer.made_of, source_names(graph, view)[heard]))
    return found


def _display(options: RelationOptions, networks: int) -> ProgressDisplay:
    total = options.epochs * STEPS_PER_EPOCH * networks
    return ProgressDisplay(total, options.title, options.progress)


def _share_of_time(options: RelationOptions, networks: int) -> RelationOptions:
    """The options for the first of so many networks, which have equal parts of the time that is left."""
    if options.deadline is None:
        return options
    now = time.perf_counter()
    return replace(options, deadline=now + max(options.deadline - now, 0) / max(networks, 1))
