"""How far groups can be trusted: what stays together under other seeds and other data, and what chance would give.

Each repetition seeks the groups anew. Half of them change the seed alone; the others resample: in turn the ties, each
counted as often as it is drawn when as many as there are are drawn at random (the bootstrap), and the layers, each
weighed by a random number of mean 1 (the Bayesian bootstrap, which loses none). A node's stability is the share of
repetitions in which a pair of it and a member of its group stays together. For chance, groups are sought where
partners are random.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from gramme._types import Floats, Ints

from .layer_ties import LayerTies
from .layer_weights import TiedLayers

Partition = Callable[[TiedLayers, Floats, np.random.Generator], Ints]

CHANCE_GRAPHS = 5
"""Randomised graphs with which the quality of the groups is compared."""
CHANCE_DEVIATIONS = 3.0
"""Standard deviations by which groups must be better than those of randomised graphs."""
CHANCE_SHARE = 0.02
"""Share of the quality by which they must be better at least: weights were fitted to the graph and not to randomised
ones."""


@dataclass(frozen=True)
class Repetitions:
    """Partitions found again: with other seeds only, and of resampled ties and layers."""

    by_seed: list[Ints]
    resampled: list[Ints]

    @property
    def all(self) -> list[Ints]:
        """Both kinds."""
        return [*self.by_seed, *self.resampled]


def repeated(
    ties: Sequence[LayerTies],
    layers: TiedLayers,
    weights: Floats,
    partition: Partition,
    repeats: int,
    random: np.random.Generator,
) -> Repetitions:
    """Groups sought ``repeats`` times, half of them with resampled data."""
    seeds = (repeats + 1) // 2
    by_seed = [partition(layers, weights, random) for _ in range(seeds)]
    resampled = []
    for turn in range(repeats - seeds):
        if turn % 2 and len(ties) > 1:
            counts = random.exponential(size=len(ties))
            resampled.append(partition(layers, weights * counts, random))
        else:
            factors = [random.poisson(1.0, layer.weight.size).astype(float) for layer in ties]
            resampled.append(partition(TiedLayers.of(ties, factors), weights, random))
    return Repetitions(by_seed, resampled)


def together(group: Ints, others: Sequence[Ints]) -> Floats:
    """For each node the share of pairs with members of its group that stay together, mean over the other partitions.

    A node alone in its group has no pairs: its share says how often it stays alone.

    Examples
    --------
    >>> together(np.array([0, 0, 0, 1]), [np.array([0, 0, 1, 1])]).tolist()
    [0.5, 0.5, 0.0, 0.0]
    """
    sizes = np.bincount(group)
    share = np.zeros(group.size)
    for other in others:
        count = int(other.max()) + 1
        _, place, both = np.unique(group * count + other, return_inverse=True, return_counts=True)
        kept = both[place] - 1
        pairs = sizes[group] - 1
        alone = np.bincount(other, minlength=count)[other] == 1
        share += np.where(pairs > 0, kept / np.maximum(pairs, 1), alone)
    found: Floats = share / max(len(others), 1)
    return found


def agreement(partitions: Sequence[Ints]) -> float:
    """The mean adjusted Rand index of every two partitions; 1 if there are fewer than two."""
    from sklearn.metrics import adjusted_rand_score

    scores = [adjusted_rand_score(one, other) for place, one in enumerate(partitions) for other in partitions[:place]]
    return float(np.mean(scores)) if scores else 1.0


def chance_qualities(ties: Sequence[LayerTies], weights: Floats, random: np.random.Generator) -> Floats:
    """The best modularity of graphs with the same degrees, or the same columns, and random partners."""
    found = []
    for _ in range(CHANCE_GRAPHS):
        other = TiedLayers.of([layer.shuffled(random) for layer in ties])
        found.append(other.quality(other.partition(weights, random), weights))
    return np.array(found)


def beyond_chance(quality: float, chance: Floats) -> bool:
    """Whether groups are clearly better than those of randomised graphs."""
    margin = max(CHANCE_DEVIATIONS * float(chance.std(ddof=1)), CHANCE_SHARE * quality)
    return quality > float(chance.mean()) + margin
