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
        all_ties = [
            layer.matrix(None if factors is None else factors[layer_index]) for layer_index, layer in enumerate(ties)
        ]
        strengths = np.stack([np.asarray(ties_csr @ np.ones(ties_csr.shape[1])) for ties_csr in all_ties], axis=1)
        return cls(all_ties, strengths, np.array([layer.from_groups for layer in ties]))

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
        summed_ties = sp.csr_array((self.num_nodes, self.num_nodes))
        for tie_matrix, layer_weight in zip(self.matrices, weights, strict=True):
            if tie_matrix.nnz and layer_weight > 0:
                summed_ties = sp.csr_array(summed_ties + tie_matrix * layer_weight)
        return summed_ties

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
        expected_rows = self.strengths * np.sqrt(weights * resolution / self.totals)
        joined_ties = self.joined(weights)
        if self.is_large:  # the second round finds most
            return leiden(joined_ties, expected_rows, random, rounds=2, start=start)
        tried_partitions = [leiden(joined_ties, expected_rows, random, rounds=4) for _ in range(tries)]
        return max(tried_partitions, key=lambda group: self.quality(group, weights, resolution))

    def inside(self, group: Ints, other: Ints | None = None) -> tuple[Floats, Floats]:
        """Weight of each layer's ties within groups, and what degrees alone would lead one to expect.

        With ``other``, one end of each tie is judged by that partition instead, numbered alike.
        """
        other = group if other is None else other
        num_groups = int(max(group.max(), other.max())) + 1
        inside_weight, expected_weight = [], []
        for layer_index, tie_matrix in enumerate(self.matrices):
            row_nodes = np.repeat(np.arange(self.num_nodes), np.diff(tie_matrix.indptr))
            inside_weight.append(float(tie_matrix.data[other[row_nodes] == group[tie_matrix.indices]].sum()))
            node_strength = self.strengths[:, layer_index]
            group_strength = np.bincount(group, node_strength, minlength=num_groups)
            other_strength = np.bincount(other, node_strength, minlength=num_groups)
            expected_weight.append(float(group_strength @ other_strength) / self.totals[layer_index])
        return np.array(inside_weight), np.array(expected_weight)

    def quality(self, group: Ints, weights: Floats, resolution: float = 1.0) -> float:
        """Modularity over all layers: the share of weighted ties inside groups beyond what is expected."""
        inside_weight, expected_weight = self.inside(group)
        total_weight = float(weights @ self.strengths.sum(axis=0))
        return float(weights @ (inside_weight - resolution * expected_weight)) / max(total_weight, 1e-300)

    def pull(self, group: Ints, layer: int, resolution: float = 1.0) -> Floats:
        """How much more than expected each node is tied to each group in a layer, shape (nodes, groups)."""
        num_nodes, num_groups = self.num_nodes, int(group.max()) + 1
        member_matrix = sp.csr_array((np.ones(num_nodes), (np.arange(num_nodes), group)), shape=(num_nodes, num_groups))
        tied_weight: Floats = (self.matrices[layer] @ member_matrix).toarray()
        node_strength = self.strengths[:, layer]
        group_mass = np.bincount(group, node_strength, minlength=num_groups)
        scale = resolution / self.totals[layer]
        tied_weight -= node_strength[:, None] * group_mass[None] * scale
        # a node does not expect a tie with itself
        tied_weight[np.arange(num_nodes), group] += node_strength**2 * scale
        return tied_weight


@dataclass(frozen=True)
class LearnedWeights:
    """Layer weights, the partition they were learned with, and how short its description is (the lower the better)."""

    weights: Floats
    group: Ints
    description: float


def learn_weights(layers: TiedLayers, random: np.random.Generator) -> LearnedWeights:
    """The layer weights under which the layers are described in the fewest words."""
    start_weights = [1e3 / layers.totals, np.ones(len(layers.matrices))]
    used_layers = np.flatnonzero(layers.strengths.sum(axis=0) > 0)
    start_weights = [
        np.where(np.isin(np.arange(start_weight.size), used_layers), start_weight, 0.0)
        for start_weight in start_weights
    ]
    edge_layers = [place for place in used_layers if not layers.from_groups[place]]
    if used_layers.size > 1:
        edge_layers.sort(key=lambda place: -layers.matrices[place].nnz)
        for layer_index in edge_layers[:8]:  # those with most ties; each costs as much as all layers together
            single_weight = np.full(len(layers.matrices), NEGLIGIBLE_WEIGHT)
            single_weight[layer_index] = 1.0
            start_weights.append(single_weight)
    else:
        start_weights = start_weights[1:]
    settled_starts = [
        _settled(layers, start_weight, random, steps=2 if layers.is_large else MAX_STEPS)
        for start_weight in start_weights
    ]
    best_start = min(settled_starts, key=lambda one: one.description)
    return _settled(layers, best_start.weights, random, begun=best_start) if layers.is_large else best_start


def _settled(
    layers: TiedLayers,
    weights: Floats,
    random: np.random.Generator,
    *,
    steps: int = MAX_STEPS,
    begun: LearnedWeights | None = None,
) -> LearnedWeights:
    """Weights and partition in turn until the description gets no shorter."""
    best_weights, of_groups = begun, weights
    for _ in range(steps):
        group_of_node = layers.partition(weights, random, start=None if best_weights is None else best_weights.group)
        inside_weight, expected_weight = evidence(layers, group_of_node, weights)
        totals = layers.strengths.sum(axis=0)
        description = description_length(group_of_node, inside_weight, expected_weight, totals)
        if best_weights is not None and description >= best_weights.description:
            break
        next_weights = log_odds(inside_weight, expected_weight, totals)
        # memberships are judged once
        weights = next_weights if best_weights is None else np.where(layers.from_groups, of_groups, next_weights)
        of_groups = weights
        is_small_gain = best_weights is not None and best_weights.description - description < 1e-3 * abs(description)
        best_weights = LearnedWeights(weights, group_of_node, description)
        if layers.from_groups.all() or (is_small_gain and layers.is_large):
            break
    assert best_weights is not None
    return best_weights


def evidence(layers: TiedLayers, group: Ints, weights: Floats) -> tuple[Floats, Floats]:
    """Ties inside groups and those expected, by layer; memberships judged by where the other layers put a node."""
    inside_weight, expected_weight = layers.inside(group)
    for layer_index in np.flatnonzero(layers.from_groups):
        group_by_others = _told_by_others(layers, group, weights, int(layer_index))
        inside_others, expected_others = layers.inside(group, group_by_others)
        inside_weight[layer_index], expected_weight[layer_index] = (
            inside_others[layer_index],
            expected_others[layer_index],
        )
    return inside_weight, expected_weight


def log_odds(found: Floats, expected: Floats, totals: Floats) -> Floats:
    """w_l of each layer, at least ``NEGLIGIBLE_WEIGHT``; one pair is added to every count so that none is 0."""
    odds_ratio = (found + 1) / (expected + 1)
    odds_ratio /= (totals - found + 1) / (totals - expected + 1)
    layer_odds: Floats = np.where(totals > 0, np.maximum(np.log(odds_ratio), NEGLIGIBLE_WEIGHT), 0.0)
    return layer_odds


def _told_by_others(layers: TiedLayers, group: Ints, weights: Floats, layer: int) -> Ints:
    """The group that each node would be in by all layers but one."""
    summed_pull = np.zeros((layers.num_nodes, int(group.max()) + 1))
    for layer_index in np.flatnonzero(weights > NEGLIGIBLE_WEIGHT):
        if layer_index != layer:
            summed_pull += weights[layer_index] * layers.pull(group, int(layer_index))
    group_by_others: Ints = summed_pull.argmax(axis=1)
    return group_by_others


def description_length(group: Ints, found: Floats, expected: Floats, totals: Floats) -> float:
    """Nats to state the partition, minus what it saves on the ties."""
    num_nodes, group_sizes = group.size, np.bincount(group)
    partition_cost = gammaln(num_nodes + 1) - gammaln(group_sizes + 1).sum() + np.log(num_nodes)
    partition_cost += gammaln(num_nodes) - gammaln(group_sizes.size) - gammaln(num_nodes - group_sizes.size + 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        inside_gain = np.where(found > 0, found * np.log(found / expected), 0.0)
        outside_weight, expected_outside = totals - found, totals - expected
        outside_gain = np.where(
            (outside_weight > 0) & (expected_outside > 0),
            outside_weight * np.log(outside_weight / expected_outside),
            0.0,
        )
    # fewer ties inside than expected speak against the groups
    saved_nats = np.where(found >= expected, inside_gain + outside_gain, -np.abs(inside_gain + outside_gain))
    return float(partition_cost - saved_nats.sum() / 2)
