"""How label propagation chooses its settings: inner cross-validation on the training labels, all folds at once.

Layer weights come from one number per layer, its **skill**: how much better the labels of a node's labelled neighbours
tell its own than the class frequencies do (mean gain in log probability, leaving the node itself out). Weights are
proportional to a power of the skill: 0 treats layers alike, a large power trusts the best one all but alone. The
power, alpha and the sharpness of the probabilities are those with the least log loss on held-out training labels; a
fold's skills come from its own remaining labels, so that the weights it tests have not seen what they are tested on.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from gramme._progress import part
from gramme.distributed import PartGraph, here, node_count, rows_at
from gramme.graph import MultilayerGraph
from gramme.methods.folds import enough_folds, stratified_folds
from gramme.methods.labels import KnownLabels
from gramme.methods.probability import class_prior, softmax
from gramme.methods.propagation.series import Floats, Walk, propagate
from gramme.ops import layers_sum

ALPHAS = (0.3, 0.1, 0.6, 0.9)
POWERS = (0.0, 0.5, 1.0, 2.0, 4.0)
SHARPNESS = (1.0, 2.0, 4.0, 8.0, 16.0)
MANY_FOLDS_LABELS = 200  # labels up to which ten folds are made, and five beyond
PSEUDO_LABELS = (
    3  # labelled neighbourhoods without gain that are added when a layer's skill is averaged
)
EVEN_SHARE = 0.05  # part of the weight that all layers share, as a node may be reached through the least of them only
BATCH_NUMBERS = 1 << 22  # in a batch of columns, which bounds the memory, ...
LARGE_BATCH_NUMBERS = 1 << 24
"""... and of large data: their rows lie out of cache, where many columns of a row cost little more than one."""
CHOICE_SHARE = 0.9  # of a fit that chooses its settings; used only to show progress
CHOICE_TOLERANCE = 1e-3  # of the propagations that settings are chosen by, at least
MIN_PROBABILITY = 1e-3  # below which a held-out label counts no worse


class Candidate(NamedTuple):
    """Settings of a propagation, in the order of preference where they do equally well."""

    power: float
    alpha: float
    sharpness: float


@dataclass(frozen=True)
class Plan:
    """What to choose from and how."""

    powers: Sequence[float]
    alphas: Sequence[float]
    sharpness: Sequence[float]
    class_mass: bool
    folds: int | None
    tolerance: float
    most: int


def probabilities(
    scores: Floats, prior: Floats, base: Floats, sharpness: float | Floats, labels: int
) -> Floats:
    """From propagated labels to class probabilities.

    The scores F of a node are made to sum to 1, f, mixed with one part in ``labels + 1`` of the prior (all of it where
    no label reaches the node), and compared with what a node hears on average: p_c ~ prior_c (f_c / base_c)^sharpness.
    """
    total = scores.sum(-1, keepdims=True)
    heard = np.where(total > 0, scores / np.where(total > 0, total, 1), prior)
    mixed = (labels * heard + prior) / (labels + 1)
    return softmax(np.log(prior) + sharpness * (np.log(mixed) - np.log(base)))


def baseline(prior: Floats, totals: Floats, class_mass: bool) -> Floats:
    """What a node hears on average: the class frequencies, or with ``class_mass`` the share of each class in F."""
    if not class_mass:
        return prior
    shares: Floats = np.maximum(totals / totals.sum(), 1e-12)
    return shares


def skills(graph: MultilayerGraph, known: KnownLabels, kept: NDArray[np.bool_]) -> Floats:
    """The skill of every layer for every fold, (folds, layers), from the labels it keeps, (folds, known)."""
    folds, size = kept.shape
    classes = len(known.classes)
    hot = np.zeros((size, folds, classes))
    hot[np.arange(size), :, known.codes] = kept.T
    counts = hot.sum(0)
    prior = class_prior(counts)
    # a class with a single label left cannot be told by others of its class, whatever the layer is worth
    tested = kept & (counts[:, known.codes] > 1)
    found = np.zeros((folds, graph.num_layers))
    for place, layer in enumerate(graph.layers):
        flat = hot.reshape(size, -1)
        votes = _votes(graph, layer, known.nodes, flat).reshape(size, folds, classes)
        heard = votes.sum(-1)
        own = votes[np.arange(size), :, known.codes]
        expected = prior[:, known.codes].T
        gain = np.log((own + expected) / (heard + 1)) - np.log(expected)
        counted = tested.T & (heard > 0)
        found[:, place] = (gain * counted).sum(0) / (counted.sum(0) + PSEUDO_LABELS)
    return np.maximum(found, 0)


def _votes(graph: MultilayerGraph, layer: str, nodes: NDArray[np.int64], values: Floats) -> Floats:
    """The sums over the labelled neighbours of labelled nodes in a layer."""
    if not isinstance(graph, PartGraph):
        found: Floats = graph.layers[layer].subset(nodes).neighbour_sums(values)
        return found
    which, positions = here(graph, nodes)
    start = torch.zeros(graph.num_nodes, values.shape[1], dtype=torch.float64)
    start[torch.from_numpy(positions)] = torch.from_numpy(values[which])
    heard = layers_sum(graph, [layer])(start) - start
    return rows_at(graph, heard.numpy(), nodes)


def skill_weights(skill: Floats, power: float) -> Floats:
    """Layer weights that sum to 1: a part spread evenly, the rest proportional to a power of the skills."""
    best = skill.max(-1, keepdims=True)
    raised = np.where(best > 0, (skill / np.where(best > 0, best, 1)) ** power, 1.0)
    weights: Floats = raised / raised.sum(-1, keepdims=True)
    mixed: Floats = (1 - EVEN_SHARE) * weights + EVEN_SHARE / skill.shape[-1]
    return mixed


def choose(
    graph: MultilayerGraph,
    walk: Walk,
    known: KnownLabels,
    plan: Plan,
    given: Floats | None,
    seed: int,
) -> Candidate:
    """The candidate with the least log loss on held-out training labels; the first where there is nothing to test."""
    candidates = [
        Candidate(power, alpha, sharpness)
        for power in plan.powers
        for alpha in plan.alphas
        for sharpness in plan.sharpness
    ]
    counts = np.bincount(known.codes, minlength=len(known.classes))
    tested = counts[known.codes] > 1
    if len(candidates) == 1 or not tested.any():
        return candidates[0]
    folds = plan.folds or (10 if known.codes.size <= MANY_FOLDS_LABELS else 5)
    fold = stratified_folds(known.codes, folds, seed)
    if walk.large:
        fold = enough_folds(fold, graph.num_entries)
    kept = fold[None, :] != np.arange(fold.max() + 1)[:, None]
    loss = np.zeros(len(candidates))
    skill = skills(graph, known, kept) if given is None and max(plan.powers) > 0 else None
    batches = list(_batches(walk, known, plan, kept))
    for units in batches:
        columns = []
        for number, power in units:
            if given is not None:
                columns.append(given)
            elif skill is None:
                columns.append(np.full(graph.num_layers, 1 / graph.num_layers))
            else:
                columns.append(skill_weights(skill[number], power))
        with part("", CHOICE_SHARE / len(batches)):
            found = list(_held_out_losses(walk, known, plan, kept, units, columns))
        for (number, power), losses in zip(units, found, strict=True):
            first = plan.powers.index(power) * losses.shape[0]
            scored = tested[~kept[number]]
            loss[first : first + losses.shape[0]] += losses[:, scored].sum(1)
    # rounding must not decide between candidates that do equally well
    return candidates[int(np.flatnonzero(loss <= loss.min() * (1 + 1e-9) + 1e-12)[0])]


def _batches(
    walk: Walk, known: KnownLabels, plan: Plan, kept: NDArray[np.bool_]
) -> Iterator[list[tuple[int, float]]]:
    """Pairs of fold and power that are propagated together, each with a column per class."""
    units = [(fold, power) for fold in range(kept.shape[0]) for power in plan.powers]
    rows = max(node_count(walk.graph), known.nodes.size * len(plan.alphas))
    numbers = LARGE_BATCH_NUMBERS if walk.large else BATCH_NUMBERS
    size = max(1, numbers // (rows * len(known.classes)))
    for begin in range(0, len(units), size):
        yield units[begin : begin + size]


def _held_out_losses(
    walk: Walk,
    known: KnownLabels,
    plan: Plan,
    kept: NDArray[np.bool_],
    units: list[tuple[int, float]],
    columns: list[Floats],
) -> Iterator[Floats]:
    """For each fold and power the log losses of its held-out labels, shape (alphas x sharpness, held out)."""
    classes = len(known.classes)
    hot = np.zeros((known.nodes.size, len(units), classes))
    for place, (number, _) in enumerate(units):
        hot[kept[number], place, known.codes[kept[number]]] = 1
    weights = np.repeat(np.stack(columns, axis=1), classes, axis=1)
    values, totals = propagate(
        walk,
        known.nodes,
        hot.reshape(known.nodes.size, -1),
        weights,
        plan.alphas,
        known.nodes,
        tolerance=max(plan.tolerance, CHOICE_TOLERANCE),
        most=plan.most,
        dtype=torch.float32,
    )
    shape = (len(plan.alphas), -1, len(units), classes)
    values, totals = values.reshape(shape), totals.reshape(shape)
    sharpness = np.array(plan.sharpness)[:, None, None]
    rows = max(1, BATCH_NUMBERS // (len(plan.alphas) * sharpness.size * classes))
    for place, (number, _) in enumerate(units):
        held = np.flatnonzero(~kept[number])
        prior = class_prior(hot[:, place].sum(0))
        bases = [baseline(prior, one, plan.class_mass) for one in totals[:, 0, place]]
        base = np.stack(bases)[:, None, None]
        losses = np.empty((len(plan.alphas), sharpness.size, held.size))
        for begin in range(0, held.size, rows):
            some = held[begin : begin + rows]
            # by alphas, sharpness, labels and classes, all in one: one after the other took most of the choice
            scores = np.ascontiguousarray(values[:, None, some, place])
            found = probabilities(scores, prior, base, sharpness, known.nodes.size)
            own = found[..., np.arange(some.size), known.codes[some]]
            losses[..., begin : begin + rows] = -np.log(np.maximum(own, MIN_PROBABILITY))
        yield losses.reshape(-1, held.size)
