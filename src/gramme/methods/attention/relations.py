"""Labels as inputs and learned inputs: networks over relations beside those of the paper, or in their place.

With enough labels some can be set aside. They decide how long a network trains and how much each kind of input counts:
known labels, learned rows of neighbours and groups, and the fixed features that the networks of the paper start from,
which are left out where they would take minutes. Kinds whose share is small are dropped. What is left is pooled as a
geometric mean and calibrated on the same labels. With fewer labels nothing changes.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray

from gramme._runtime import return_memory
from gramme.graph import MultilayerGraph
from gramme.methods.auto.mixture import calibrating_exponent, mixture_weights
from gramme.methods.labels import ENOUGH_LABELS, KnownLabels, stratified_folds
from gramme.methods.linear.one_hot import LayerColumns
from gramme.nn import MemberRandom
from gramme.nn.relations import LabelNetwork, RelationPlan, TableNetwork, View, graph_views, source_names
from gramme.training import (
    Callback,
    ChangingTask,
    EarlyStopping,
    History,
    Progress,
    ProgressDisplay,
    Settings,
    State,
    Task,
    evaluate,
    joined_history,
    train,
)

from .relation_models import LabelInputs, LearnedInputs, RelationModel, RelationPool, layout_of, log_pool, table_views

RELATION_KINDS = ("labels", "learned")
RELATION_SOURCES = ("labels", "learned", "labels+learned")
"""What ``features`` may ask for beside the fixed ones."""
MIN_LABELS = 300
"""Labels from which a tenth of them, set aside, tells kinds of input apart."""
HELD_OUT_PARTS = 10
"""One of so many parts of the labels is set aside."""
HOPS = 4
"""Hops from known labels. Of two to five, held-out training labels of WordNet and Debian's packages were predicted
best after four."""

PATIENCE = 3
"""Looks without a gain after which a training ends."""

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class RelationOptions:
    """What a fit of networks over relations is asked for: some of :data:`RELATION_KINDS`, and so many of each kind.

    ``deadline``: On the clock of ``time.perf_counter``.
    """

    kinds: tuple[str, ...]
    members: int
    columns: int
    score_bound: float | None
    settings: Settings
    deadline: float | None = None
    title: str = ""
    progress: bool | None = False

    def display(self, networks: int) -> ProgressDisplay:
        """The bar for so many networks."""
        return ProgressDisplay(self.settings.epochs * networks, self.title, self.progress)

    def share_of_time(self, networks: int) -> RelationOptions:
        """The options for the first of so many networks, which have equal parts of the time that is left."""
        if self.deadline is None:
            return self
        now = time.perf_counter()
        return replace(self, deadline=now + max(self.deadline - now, 0) / max(networks, 1))


@dataclass(frozen=True)
class TrainedRelation:
    """A trained network, what it says about labels set aside, (held out, classes), and how its training went."""

    model: RelationModel
    held_out: Floats
    history: pd.DataFrame
    interrupted: bool


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
    held_out_codes = known.codes[aside]
    relation_views = graph_views(graph)
    trained: list[TrainedRelation] = []
    input_kinds = list(options.kinds)

    def interrupted() -> bool:
        return bool(trained) and trained[-1].interrupted

    with options.display(len(input_kinds) * options.members) as display:
        for member in range(options.members):
            # a network of each kind in turn; of a kind that hardly counts the first one is enough
            for kind_number, kind in enumerate(input_kinds):
                if not interrupted():
                    timed_options = options.share_of_time(len(input_kinds) * (options.members - member) - kind_number)
                    trained.append(
                        _fitted(
                            kind, graph, relation_views, known, aside, member_seed(seed, member), timed_options, display
                        )
                    )
            if not member and not interrupted():
                kind_shares, _ = chosen_shares(_held_out(trained), held_out_codes)
                input_kinds = [kind for kind, share in zip(input_kinds, kind_shares, strict=True) if share > 0]
    said = _held_out(trained)
    input_kinds = list(dict.fromkeys(trained_network.model.kind for trained_network in trained))
    if fixed is not None and not interrupted():
        said.append(fixed(aside))
    kind_shares, exponent = chosen_shares(said, held_out_codes)
    share_of = dict(zip(input_kinds, kind_shares.tolist(), strict=False))
    members = Counter(trained_network.model.kind for trained_network in trained)
    network_shares = [
        share_of[trained_network.model.kind] / members[trained_network.model.kind] for trained_network in trained
    ]
    kept_networks = [
        (trained_network.model, share)
        for trained_network, share in zip(trained, network_shares, strict=True)
        if share > 0
    ]
    fixed_share = float(kind_shares[len(input_kinds)]) if len(said) > len(input_kinds) else 0.0
    pool = RelationPool(
        [model for model, _ in kept_networks], [share for _, share in kept_networks], fixed_share, exponent
    )
    best = max(trained, key=lambda one: share_of[one.model.kind])
    return pool, best.history, interrupted()


def _held_out(trained: Sequence[TrainedRelation]) -> list[Floats]:
    """What all networks of each kind say together about the labels that were set aside."""
    parts_by_kind: dict[str, list[Floats]] = {}
    for trained_network in trained:
        parts_by_kind.setdefault(trained_network.model.kind, []).append(trained_network.held_out)
    return [log_pool(kind_parts, [1 / len(kind_parts)] * len(kind_parts), 1.0) for kind_parts in parts_by_kind.values()]


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
    input_kinds = list(pool.kind_shares())
    cumulative_sizes = np.cumsum(np.bincount(fold[fold >= 0]))
    tested_folds = np.arange(min(int(np.searchsorted(cumulative_sizes, ENOUGH_LABELS)) + 1, cumulative_sizes.size))
    found = {kind: np.full((known.nodes.size, len(known.classes)), np.nan) for kind in input_kinds}
    relation_views = graph_views(graph)
    runs = len(input_kinds) * tested_folds.size
    with options.display(runs) as display:
        for fold_number in tested_folds.tolist():
            left_out = fold == fold_number
            seen_labels = known.part(~left_out)
            aside = held_out_part(seen_labels.codes, seed + fold_number + 1)
            for kind in input_kinds:
                timed_options, own_seed = options.share_of_time(runs), member_seed(seed, 1_000 + fold_number)
                runs -= 1
                trained = _fitted(kind, graph, relation_views, seen_labels, aside, own_seed, timed_options, display)
                if trained.interrupted:
                    return found, tested_folds
                found[kind][left_out] = trained.model.probabilities(graph)[known.nodes[left_out]]
    return found, tested_folds


def held_out_part(codes: NDArray[np.int64], seed: int) -> NDArray[np.bool_]:
    """Which labels are set aside: a tenth, of every class that has several, and no more than a thousand."""
    set_aside: NDArray[np.bool_] = stratified_folds(codes, HELD_OUT_PARTS, seed) == 0
    class_counts = np.bincount(codes)
    seen_counts = np.bincount(codes[~set_aside], minlength=class_counts.size)
    set_aside &= seen_counts[codes] > 0  # somebody has to teach a class
    candidate_labels = np.flatnonzero(set_aside)
    if candidate_labels.size > ENOUGH_LABELS:
        kept_labels = np.random.default_rng(seed).permutation(candidate_labels)[:ENOUGH_LABELS]
        set_aside = np.zeros_like(set_aside)
        set_aside[kept_labels] = True
    return set_aside


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
    label_index = np.arange(codes.size)
    own = np.stack([np.maximum(part[label_index, codes], 1e-9) for part in said], axis=1)
    kind_shares = mixture_weights(own, [1.0] * len(said))  # each is credited with one label beforehand
    small = kind_shares < 0.05
    small[int(np.argmax(kind_shares))] = False
    kind_shares = np.where(small, 0.0, kind_shares)
    kind_shares /= kind_shares.sum()
    exponent = calibrating_exponent(np.maximum(log_pool(said, kind_shares.tolist(), 1.0), 1e-12), codes)
    return kind_shares, exponent


class _Deadline(Callback):
    """Ends a training when its time is over."""

    def __init__(self, deadline: float) -> None:
        self.deadline = deadline

    def after_epoch(self, state: State) -> None:
        state.stop = state.stop or time.perf_counter() > self.deadline


def _fitted(
    kind: str,
    graph: MultilayerGraph,
    views: list[View],
    known: KnownLabels,
    aside: NDArray[np.bool_],
    seed: int,
    options: RelationOptions,
    display: ProgressDisplay,
) -> TrainedRelation:
    """A network of one kind, trained until labels set aside are predicted no better.

    A label that is predicted is never shown in the same step, so that no node's own label reaches its loss.
    """
    settings = options.settings
    random = MemberRandom([(seed * 2 + RELATION_KINDS.index(kind)) % 2**63])
    shared: dict[str, Any] = {"columns": options.columns, "score_bound": options.score_bound, "random": random}
    classes = len(known.classes)
    learning, held_out = (torch.from_numpy(np.flatnonzero(label_mask)) for label_mask in (~aside, aside))
    network: Any
    inputs: Any
    plan: Any
    model: RelationModel
    if kind == "labels":
        groups = sum(view.groups for view in views)
        network = LabelNetwork(len(views), groups, classes, hops=HOPS, dropout=0.2, **shared)
        model = LabelInputs(layout_of(views), network, graph.nodes[known.nodes], known.codes)
        plan = RelationPlan(views, HOPS, known.nodes)
        inputs = tuple(torch.from_numpy(array[~aside]) for array in (known.nodes, known.codes))
    else:
        # of each view a row for every source that is heard by nodes whose labels are learned from
        layer_columns = []
        for view in views:
            name, layer = list(graph.layers.items())[view.layer]
            heard = np.unique(view.matrix[known.nodes[~aside]].indices)
            layer_columns.append(LayerColumns(name, layer.made_of, source_names(graph, view)[heard]))
        network = TableNetwork(
            sum(len(view_columns.names) for view_columns in layer_columns), classes, dropout=0.5, **shared
        )
        model = LearnedInputs(layout_of(views), network, layer_columns)
        plan = table_views(views, known.nodes)
        inputs = model.rows_of(graph, views, plan)
        # a row is in few labels' reach; like the dropout chosen on labels set aside of WordNet and Debian's packages
        rate, decay = 2 * settings.learning_rate, 4 * settings.weight_decay
        settings = replace(settings, learning_rate=rate, weight_decay=decay)
        network.asked = torch.arange(learning.numel())
    label_codes = torch.from_numpy(known.codes)
    label_weights = torch.from_numpy(known.weights[:, None]).to(torch.get_default_dtype())
    task = ChangingTask(learning, label_codes[learning], label_weights[learning], lambda: network.asked)
    stopping, looks = None, 10  # steps between two predictions of labels set aside
    callbacks: list[Callback] = [] if options.deadline is None else [_Deadline(options.deadline)]
    if held_out.numel():
        stopping = Task(held_out, label_codes[held_out], torch.full((held_out.numel(), 1), 1 / held_out.numel()))
        callbacks.append(EarlyStopping(stopping, settings.patience, looks))
    history = History(stopping, every=looks)
    state = train(
        network,
        inputs,
        plan,
        task,
        settings,
        callbacks=[*callbacks, history, Progress(display.advance)],
        largest_gradient=5.0,  # a step from a few labels at the start may be far too long
    )
    display.finish(settings.epochs - state.epoch)
    return_memory(graph.num_entries)
    said = evaluate(network, inputs, plan).scores[held_out, 0].double().softmax(1).numpy()
    return TrainedRelation(model, said, joined_history([history]), state.interrupted)
