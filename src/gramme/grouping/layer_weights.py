"""How much each layer counts when groups are sought: learned from the layers themselves, without labels.

Under a planted partition with degrees (the model of which modularity is the maximum-likelihood estimate), a tie
inside a group is r times as likely, relative to the degrees of its ends, as one between groups. The likelihood is
highest for layer weights

    w_l = log( inside_l / expected inside_l ) - log( outside_l / expected outside_l ),

so a partition gives weights and weights give a partition (A. R. Pamfil, S. D. Howison, R. Lambiotte, M. A. Porter,
"Relating modularity maximization and stochastic block models in multilayer networks", SIAM J. Math. Data Sci. 1,
2019). Both are repeated from several starts: all layers alike, all ties alike, and each layer of edges alone, since
one noisy layer can hide the groups that another shows plainly. The start with the shortest description wins: what
groups save on the ties minus what they cost to state.

A column of a table would explain itself: take its values as the groups, and all its ties are inside. So a layer of
memberships is judged by where the other layers alone would put each of its nodes, and once per start: repeating that
favours the columns that agree with each other, until little but them is left.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.special import gammaln

from gramme._types import Floats, Ints
from gramme.ops.leiden import leiden

from .layer_ties import LayerTies

MAX_STEPS = 8
"""Times that weights and partition are found in turn, at most; most starts settle in three."""
NEGLIGIBLE_WEIGHT = 1e-9
"""In place of 0, so that nodes of which only such layers know something are not torn apart."""


@dataclass(frozen=True)
class TiedLayers:
    """The layers' matrices and strengths, ready for partitions with any weights."""

    matrices: list[sp.csr_array]
    strengths: Floats  # the sum of a node's ties in each layer, shape (nodes, layers)
    from_groups: NDArray[np.bool_]  # by layer

    @classmethod
    def of(cls, ties: Sequence[LayerTies], factors: Sequence[Floats] | None = None) -> TiedLayers:
        """From ties, each perhaps times a factor."""
        matrices = [layer.matrix(None if factors is None else factors[place]) for place, layer in enumerate(ties)]
        strengths = np.stack([np.asarray(one @ np.ones(one.shape[1])) for one in matrices], axis=1)
        return cls(matrices, strengths, np.array([layer.from_groups for layer in ties]))

    @property
    def num_nodes(self) -> int:
        """Nodes, tied or not."""
        return int(self.strengths.shape[0])

    @property
    def is_large(self) -> bool:
        """Whether time is saved: Leiden's algorithm is tried once, and only the best start is settled."""
        return sum(one.nnz for one in self.matrices) >= 400_000

    @property
    def totals(self) -> Floats:
        """Twice the ties of each layer; tiny for an empty one, so that it can be divided by."""
        found: Floats = np.maximum(self.strengths.sum(axis=0), 1e-300)
        return found

    def joined(self, weights: Floats) -> sp.csr_array:
        """All ties in one matrix."""
        found = sp.csr_array((self.num_nodes, self.num_nodes))
        for one, weight in zip(self.matrices, weights, strict=True):
            if one.nnz and weight > 0:
                found = sp.csr_array(found + one * weight)
        return found

    def partition(
        self,
        weights: Floats,
        random: np.random.Generator,
        *,
        resolution: float = 1.0,
        tries: int = 1,
        start: Ints | None = None,
    ) -> Ints:
        """A partition of high modularity over all layers, by Leiden's algorithm; the best of some tries.

        Large graphs are tried once, perhaps from a partition that is known to be good.
        """
        expected = self.strengths * np.sqrt(weights * resolution / self.totals)
        ties = self.joined(weights)
        if self.is_large:  # the second round finds most
            return leiden(ties, expected, random, rounds=2, start=start)
        found = [leiden(ties, expected, random, rounds=4) for _ in range(tries)]
        return max(found, key=lambda group: self.quality(group, weights, resolution))

    def inside(self, group: Ints, other: Ints | None = None) -> tuple[Floats, Floats]:
        """Weight of each layer's ties within groups, and what degrees alone would lead one to expect.

        With ``other``, one end of each tie is judged by that partition instead, numbered alike.
        """
        other = group if other is None else other
        count = int(max(group.max(), other.max())) + 1
        found, expected = [], []
        for place, one in enumerate(self.matrices):
            rows = np.repeat(np.arange(self.num_nodes), np.diff(one.indptr))
            found.append(float(one.data[other[rows] == group[one.indices]].sum()))
            strength = self.strengths[:, place]
            mine = np.bincount(group, strength, minlength=count)
            theirs = np.bincount(other, strength, minlength=count)
            expected.append(float(mine @ theirs) / self.totals[place])
        return np.array(found), np.array(expected)

    def quality(self, group: Ints, weights: Floats, resolution: float = 1.0) -> float:
        """Modularity over all layers: the share of weighted ties inside groups beyond what is expected."""
        found, expected = self.inside(group)
        total = float(weights @ self.strengths.sum(axis=0))
        return float(weights @ (found - resolution * expected)) / max(total, 1e-300)

    def pull(self, group: Ints, layer: int, resolution: float = 1.0) -> Floats:
        """How much more than expected each node is tied to each group in a layer, shape (nodes, groups)."""
        nodes, count = self.num_nodes, int(group.max()) + 1
        member = sp.csr_array((np.ones(nodes), (np.arange(nodes), group)), shape=(nodes, count))
        tied: Floats = (self.matrices[layer] @ member).toarray()
        strength = self.strengths[:, layer]
        mass = np.bincount(group, strength, minlength=count)
        scale = resolution / self.totals[layer]
        tied -= strength[:, None] * mass[None] * scale
        # a node does not expect a tie with itself
        tied[np.arange(nodes), group] += strength**2 * scale
        return tied


@dataclass(frozen=True)
class LearnedWeights:
    """Layer weights, the partition they were learned with, and how short its description is (the lower the better)."""

    weights: Floats
    group: Ints
    description: float


def learn_weights(layers: TiedLayers, random: np.random.Generator) -> LearnedWeights:
    """The layer weights under which the layers are described in the fewest words."""
    starts = [1e3 / layers.totals, np.ones(len(layers.matrices))]
    used = np.flatnonzero(layers.strengths.sum(axis=0) > 0)
    starts = [np.where(np.isin(np.arange(start.size), used), start, 0.0) for start in starts]
    edges = [place for place in used if not layers.from_groups[place]]
    if used.size > 1:
        edges.sort(key=lambda place: -layers.matrices[place].nnz)
        for place in edges[:8]:  # those with most ties; each costs as much as all layers together
            alone = np.full(len(layers.matrices), NEGLIGIBLE_WEIGHT)
            alone[place] = 1.0
            starts.append(alone)
    else:
        starts = starts[1:]
    begun = [_settled(layers, start, random, steps=2 if layers.is_large else MAX_STEPS) for start in starts]
    first = min(begun, key=lambda one: one.description)
    return _settled(layers, first.weights, random, begun=first) if layers.is_large else first


def _settled(
    layers: TiedLayers,
    weights: Floats,
    random: np.random.Generator,
    *,
    steps: int = MAX_STEPS,
    begun: LearnedWeights | None = None,
) -> LearnedWeights:
    """Weights and partition in turn until the description gets no shorter."""
    best, of_groups = begun, weights
    for _ in range(steps):
        group = layers.partition(weights, random, start=None if best is None else best.group)
        found, expected = evidence(layers, group, weights)
        totals = layers.strengths.sum(axis=0)
        description = description_length(group, found, expected, totals)
        if best is not None and description >= best.description:
            break
        learned = log_odds(found, expected, totals)
        # memberships are judged once
        weights = learned if best is None else np.where(layers.from_groups, of_groups, learned)
        of_groups = weights
        small = best is not None and best.description - description < 1e-3 * abs(description)
        best = LearnedWeights(weights, group, description)
        if layers.from_groups.all() or (small and layers.is_large):
            break
    assert best is not None
    return best


def evidence(layers: TiedLayers, group: Ints, weights: Floats) -> tuple[Floats, Floats]:
    """Ties inside groups and those expected, by layer; memberships judged by where the other layers put a node."""
    found, expected = layers.inside(group)
    for place in np.flatnonzero(layers.from_groups):
        told = _told_by_others(layers, group, weights, int(place))
        one, other = layers.inside(group, told)
        found[place], expected[place] = one[place], other[place]
    return found, expected


def log_odds(found: Floats, expected: Floats, totals: Floats) -> Floats:
    """w_l of each layer, at least ``NEGLIGIBLE_WEIGHT``; one pair is added to every count so that none is 0."""
    ratio = (found + 1) / (expected + 1)
    ratio /= (totals - found + 1) / (totals - expected + 1)
    odds: Floats = np.where(totals > 0, np.maximum(np.log(ratio), NEGLIGIBLE_WEIGHT), 0.0)
    return odds


def _told_by_others(layers: TiedLayers, group: Ints, weights: Floats, layer: int) -> Ints:
    """The group that each node would be in by all layers but one."""
    pull = np.zeros((layers.num_nodes, int(group.max()) + 1))
    for place in np.flatnonzero(weights > NEGLIGIBLE_WEIGHT):
        if place != layer:
            pull += weights[place] * layers.pull(group, int(place))
    told: Ints = pull.argmax(axis=1)
    return told


def description_length(group: Ints, found: Floats, expected: Floats, totals: Floats) -> float:
    """Nats to state the partition, minus what it saves on the ties."""
    count, sizes = group.size, np.bincount(group)
    cost = gammaln(count + 1) - gammaln(sizes + 1).sum() + np.log(count)
    cost += gammaln(count) - gammaln(sizes.size) - gammaln(count - sizes.size + 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        inside = np.where(found > 0, found * np.log(found / expected), 0.0)
        rest, other = totals - found, totals - expected
        between = np.where((rest > 0) & (other > 0), rest * np.log(rest / other), 0.0)
    # fewer ties inside than expected speak against the groups
    saved = np.where(found >= expected, inside + between, -np.abs(inside + between))
    return float(cost - saved.sum() / 2)
