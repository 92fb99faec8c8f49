"""Smoothing a regression's predictions over neighbours, who often have the same label.

A regression on features looks at each node's columns alone. Where like joins like, its errors are not alike among
neighbours, and a mean over the neighbourhood takes part of them out. With p the regression's probabilities,

    q = (p + alpha P p + alpha^2 P^2 p + ...) made to sum to 1, raised to a power,

where P is the mean over a node and its neighbours, layers weighted as in label propagation. How far to smooth, which
layers to trust and how sharp the result is are chosen on training labels that a regression has not seen; not to
smooth at all is among the choices.

References
----------
Q. Huang, H. He, A. Singh, S.-N. Lim, A. R. Benson, "Combining Label Propagation and Simple Models Out-performs Graph
Neural Networks", ICLR 2021.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gramme.distributed import places_of, rows_at
from gramme.graph import MultilayerGraph
from gramme.methods.labels import KnownLabels
from gramme.methods.probability import Floats, softmax
from gramme.methods.propagation.series import NodeWalk, propagate
from gramme.methods.propagation.settings_choice import MIN_PROBABILITY, skill_weights, skills

ALPHAS = (0.3, 0.6, 0.9)
POWERS = (0.0, 2.0)  # of the layers' skills
SHARPNESS = (1.0, 2.0, 4.0)
STEPS = 10
MIN_SMOOTHED_PROBABILITY = 1e-6  # what a probability is at least, before its logarithm is taken


@dataclass(frozen=True)
class Smoothing:
    """How predictions are smoothed.

    Attributes
    ----------
    alpha : float
        How much of what neighbours say counts, 0 for nothing.
    sharpness : float
        The power that the mean is raised to.
    weights : array, shape (layers,)
        How much each layer counts, summing to 1.
    """

    alpha: float
    sharpness: float
    weights: Floats

    def applied(self, walk: NodeWalk, shares: Floats) -> Floats:
        """Smoothed class probabilities of all nodes, from those of the regression."""
        if self.alpha == 0:
            return shares
        return _sharpened(self.summed(walk, shares), self.sharpness)

    def summed(self, walk: NodeWalk, shares: Floats, steps: int = STEPS) -> Floats:
        """P + alpha P p + alpha^2 P^2 p + ..., up to a number of steps."""
        if self.alpha == 0:
            return shares
        columns = np.repeat(self.weights[:, None], shares.shape[1], axis=1)
        found: Floats = _spread(walk, shares, columns, [self.alpha], steps)[0]
        return found


def unsmoothed(layers: int) -> Smoothing:
    """Predictions as they are."""
    return Smoothing(0.0, 1.0, np.full(layers, 1 / max(layers, 1)))


def chosen_smoothing(
    graph: MultilayerGraph,
    walk: NodeWalk,
    known: KnownLabels,
    fold: NDArray[np.int64],
    unseen: Sequence[Floats],
) -> Smoothing:
    """The smoothing with the least log loss on held-out training labels; none where there is nothing to test.

    Parameters
    ----------
    graph : MultilayerGraph
    walk : NodeWalk
        Over the graph's layers.
    known : KnownLabels
    fold : array of int, shape (labels,)
        The fold of each label.
    unseen : sequence of array, shape (nodes, classes)
        For each fold, what a regression that has not seen its labels says about every node.
    """
    none = unsmoothed(graph.num_layers)
    tested = np.bincount(known.codes, minlength=len(known.classes))[known.codes] > 1
    if not unseen or not tested.any():
        return none
    kept = fold[None, :] != np.arange(len(unseen))[:, None]
    classes = len(known.classes)
    shares = np.concatenate(unseen, axis=1)
    # sharper predictions may suit the labels without any smoothing, which is then not what helps
    losses = {(0.0, 0.0, 1.0): _loss(graph, [shares], SHARPNESS, known, fold, tested).min()}
    skill = skills(graph, known, kept) if graph.num_layers > 1 else None
    for power in POWERS if skill is not None else POWERS[:1]:
        weights = np.full((graph.num_layers, len(unseen)), 1 / graph.num_layers)
        if skill is not None and power > 0:
            weights = skill_weights(skill, power).T
        found = _spread(walk, shares, np.repeat(weights, classes, axis=1), ALPHAS)
        for alpha, row in zip(
            ALPHAS, _loss(graph, found, SHARPNESS, known, fold, tested), strict=True
        ):
            for sharpness, loss in zip(SHARPNESS, row, strict=True):
                losses[power, alpha, sharpness] = loss
    power, alpha, sharpness = min(losses, key=losses.__getitem__)
    if alpha == 0:
        return none
    if skill is None or power == 0:
        return Smoothing(alpha, sharpness, none.weights)
    every = np.ones((1, known.nodes.size), dtype=bool)
    return Smoothing(alpha, sharpness, skill_weights(skills(graph, known, every)[0], power))


def _spread(
    walk: NodeWalk, shares: Floats, weights: Floats, alphas: Sequence[float], steps: int = STEPS
) -> Floats:
    """The sums of all nodes for each alpha; as many steps whatever the values, so that one step leads to the next."""
    nodes = places_of(walk.graph)
    return propagate(walk, nodes, shares, weights, alphas, None, tolerance=0, most=steps).values


def _sharpened(values: Floats, sharpness: float) -> Floats:
    total = values.sum(axis=-1, keepdims=True)
    return softmax(sharpness * np.log(np.maximum(values / total, MIN_SMOOTHED_PROBABILITY)))


def _loss(
    graph: MultilayerGraph,
    spread: Iterable[Floats],
    sharpness: Sequence[float],
    known: KnownLabels,
    fold: NDArray[np.int64],
    tested: NDArray[np.bool_],
) -> Floats:
    """The log loss of the labels that count, (alphas, sharpness), each label in the columns of its own fold."""
    classes = len(known.classes)
    labels = np.arange(known.nodes.size)
    found = []
    for values in spread:
        held = rows_at(graph, values, known.nodes).reshape(labels.size, -1, classes)[labels, fold]
        own = [_sharpened(held, power)[labels, known.codes] for power in sharpness]
        found.append([-np.log(np.maximum(one, MIN_PROBABILITY))[tested].sum() for one in own])
    return np.array(found)
