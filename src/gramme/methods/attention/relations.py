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
    codes = known.codes[aside]
    views = graph_views(graph)
    trained: list[TrainedRelation] = []
    kinds = list(options.kinds)

    def interrupted() -> bool:
        return bool(trained) and trained[-1].interrupted

    with options.display(len(kinds) * options.members) as display:
        for member in range(options.members):
            # a network of each kind in turn; of a kind that hardly counts the first one is enough
            for place, kind in enumerate(kinds):
                if not interrupted():
                    left = options.share_of_time(len(kinds) * (options.members - member) - place)
                    trained.append(_fitted(kind, graph, views, known, aside, member_seed(seed, member), left, display))
            if not member and not interrupted():
                shares, _ = chosen_shares(_held_out(trained), codes)
                kinds = [kind for kind, share in zip(kinds, shares, strict=True) if share > 0]
    said = _held_out(trained)
    kinds = list(dict.fromkeys(one.model.kind for one in trained))
    if fixed is not None and not interrupted():
        said.append(fixed(aside))
    shares, exponent = chosen_shares(said, codes)
    share_of = dict(zip(kinds, shares.tolist(), strict=False))
    members = Counter(one.model.kind for one in trained)
    each = [share_of[one.model.kind] / members[one.model.kind] for one in trained]
    kept = [(one.model, share) for one, share in zip(trained, each, strict=True) if share > 0]
    fixed_share = float(shares[len(kinds)]) if len(said) > len(kinds) else 0.0
    pool = RelationPool([model for model, _ in kept], [share for _, share in kept], fixed_share, exponent)
    best = max(trained, key=lambda one: share_of[one.model.kind])
    return pool, best.history, interrupted()


def _held_out(trained: Sequence[TrainedRelation]) -> list[Floats]:
    """What all networks of each kind say together about the labels that were set aside."""
    parts: dict[str, list[Floats]] = {}
    for one in trained:
        parts.setdefault(one.model.kind, []).append(one.held_out)
    return [log_pool(some, [1 / len(some)] * len(some), 1.0) for some in parts.values()]


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
                trained = _fitted(kind, graph, views, seen, aside, own_seed, left, display)
                if trained.interrupted:
                    return found, tested
                found[kind][left_out] = trained.model.probabilities(graph)[known.nodes[left_out]]
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
    small = shares < 0.05
    small[int(np.argmax(shares))] = False
    shares = np.where(small, 0.0, shares)
    shares /= shares.sum()
    exponent = calibrating_exponent(np.maximum(log_pool(said, shares.tolist(), 1.0), 1e-12), codes)
    return shares, exponent


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
    learning, held_out = (torch.from_numpy(np.flatnonzero(part)) for part in (~aside, aside))
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
        columns = []
        for view in views:
            name, layer = list(graph.layers.items())[view.layer]
            heard = np.unique(view.matrix[known.nodes[~aside]].indices)
            columns.append(LayerColumns(name, layer.made_of, source_names(graph, view)[heard]))
        network = TableNetwork(sum(len(one.names) for one in columns), classes, dropout=0.5, **shared)
        model = LearnedInputs(layout_of(views), network, columns)
        plan = table_views(views, known.nodes)
        inputs = model.rows_of(graph, views, plan)
        # a row is in few labels' reach; like the dropout chosen on labels set aside of WordNet and Debian's packages
        rate, decay = 2 * settings.learning_rate, 4 * settings.weight_decay
        settings = replace(settings, learning_rate=rate, weight_decay=decay)
        network.asked = torch.arange(learning.numel())
    codes = torch.from_numpy(known.codes)
    weights = torch.from_numpy(known.weights[:, None]).to(torch.get_default_dtype())
    task = ChangingTask(learning, codes[learning], weights[learning], lambda: network.asked)
    stopping, looks = None, 10  # steps between two predictions of labels set aside
    callbacks: list[Callback] = [] if options.deadline is None else [_Deadline(options.deadline)]
    if held_out.numel():
        stopping = Task(held_out, codes[held_out], torch.full((held_out.numel(), 1), 1 / held_out.numel()))
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
