"""One hop of weighted graph attention, for all members of an ensemble and all layers of the graph at once."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from gramme.ops import (
    ACTIVATIONS,
    Activation,
    Features,
    NeighbourhoodSum,
    PooledGroups,
    attention_hop,
    attention_sums,
    featured_attention_sums,
    fuse_heads,
    hop_fits,
    pooled_means,
    project,
)
from gramme.ops.kernels import keyed_mask
from gramme.ops.listeners import ListenerSums

# Small learned weights: the scaling factors of a fusion head, in the three ways they may be constrained.
HEAD_WEIGHTS = ("nonnegative", "simplex", "free")


class ScalingFactors(nn.Module):
    """Scaling factors over the last axis: the numbers a fusion head multiplies its inputs with.

    They start near 1 / n, a little apart from each other so that several heads do not learn the same. The first axis
    are the members of ``random``, ``shape`` has the further ones; ``kind`` says how they are constrained.
    """

    def __init__(self, random: MemberRandom, shape: tuple[int, ...], kind: str) -> None:
        super().__init__()
        if kind not in HEAD_WEIGHTS:
            raise ValueError(f"head_weights must be one of {', '.join(HEAD_WEIGHTS)}, not {kind!r}")
        self.kind = kind
        self.raw = nn.Parameter(raw_factors(random.normal(shape), kind))

    def forward(self) -> Tensor:
        """The factors, constrained as asked."""
        return constrained(self.raw, self.kind)

    def extra_repr(self) -> str:
        """Shape and constraint."""
        return f"{tuple(self.raw.shape)}, {self.kind}"


def constrained(raw: Tensor, kind: str) -> Tensor:
    """Factors from numbers that may be anything: f = log(1 + exp(raw)), f = softmax(raw) or f = raw."""
    if kind == "nonnegative":
        return nn.functional.softplus(raw)
    return raw.softmax(-1) if kind == "simplex" else raw


def raw_factors(noise: Tensor, kind: str) -> Tensor:
    """Numbers that :func:`constrained` turns into factors near 1 / n, from normal noise; n is its last axis."""
    if noise.is_meta:
        return noise  # of which only the shape is asked: see ShapesOnly
    start_factor = 1.0 / max(noise.shape[-1], 1)
    noise = noise * 0.1
    if kind == "nonnegative":
        noise += math.log(math.expm1(start_factor))  # softplus of this is the start
    elif kind == "free":
        noise = start_factor * (1.0 + noise)
    return noise


def glorot(random: MemberRandom, shape: tuple[int, ...], fan_in: int, fan_out: int) -> nn.Parameter:
    """A parameter (members, *shape) drawn uniformly with Glorot's range for the given fans."""
    return nn.Parameter(random.uniform(shape, glorot_bound(fan_in, fan_out)))


def glorot_bound(fan_in: int, fan_out: int) -> float:
    """Half the width of Glorot's range."""
    return math.sqrt(6.0 / (fan_in + fan_out))


# Random numbers for an ensemble: every member draws from its own generators.
class MemberRandom:
    """What the members draw, each from a seed of its own: starting values from a generator, dropout by node."""

    def __init__(self, seeds: Sequence[int]) -> None:
        self.seeds = [int(seed) % 2**63 for seed in seeds]
        self._start = [torch.Generator().manual_seed(seed) for seed in self.seeds]
        self.calls = 0  # masks drawn so far

    @property
    def members(self) -> int:
        """How many members there are."""
        return len(self.seeds)

    def uniform(self, shape: tuple[int, ...], bound: float) -> Tensor:
        """Uniform between -bound and bound, shape (members, *shape)."""
        draws = [torch.rand(shape, generator=member_generator) for member_generator in self._start]
        return (torch.stack(draws) * 2 - 1) * bound

    def normal(self, shape: tuple[int, ...]) -> Tensor:
        """Standard normal, shape (members, *shape)."""
        return torch.stack([torch.randn(shape, generator=member_generator) for member_generator in self._start])

    def mask(self, like: Tensor, axis: int, probability: float, places: Places | EntryPlaces | None = None) -> Tensor:
        """A dropout mask of zeros and 1 / (1 - p) in the shape of ``like``, whose members lie along ``axis``.

        Axes before the members' are rows, those after it columns. A row belongs to a node: with ``places`` to the one
        that stands there in the whole graph.
        """
        row_count, column_count = math.prod(like.shape[:axis]), math.prod(like.shape[axis + 1 :])
        keys = None if places is None else places.keys(row_count)
        keep = 1.0 - probability
        draws = [
            keyed_mask(keys, row_count, column_count, seed + 1, self.calls, keep, like).view(
                like.shape[:axis] + like.shape[axis + 1 :]
            )
            for seed in self.seeds
        ]
        self.calls += 1
        return torch.stack(draws, axis)


class ShapesOnly(MemberRandom):
    """One member that draws nothing, for networks on torch's device ``meta``, of which only the shapes are asked.

    There even to multiply makes torch load its compiler, which takes seconds.
    """

    def __init__(self) -> None:
        super().__init__([0])

    def uniform(self, shape: tuple[int, ...], bound: float) -> Tensor:
        return torch.empty((1, *shape))

    def normal(self, shape: tuple[int, ...]) -> Tensor:
        return torch.empty((1, *shape))


@dataclass(frozen=True)
class Places:
    """Which nodes of a whole graph some rows stand for.

    ``nodes`` (nodes here,): Positions in the whole graph, which has ``whole`` nodes. Rows may be several copies of
    them, those of the first layer first.
    """

    nodes: Tensor
    whole: int

    def keys(self, rows: int) -> Tensor:
        """A number for each row that is the same whichever process has it."""
        copies = rows // max(self.nodes.numel(), 1)
        shift = torch.arange(copies, device=self.nodes.device)[:, None] * self.whole
        return (shift + self.nodes).flatten()


@dataclass(frozen=True)
class EntryPlaces:
    """The same for the entries of sparse features: a key tells the row's node, and the entry's place within the row."""

    places: Places | None
    rows: int
    row: Tensor
    within: Tensor

    def keys(self, entries: int) -> Tensor:
        """A number for each entry that is the same whichever process has it."""
        row_keys = self.row if self.places is None else self.places.keys(self.rows)[self.row]
        return row_keys * (1 << 24) + self.within  # more than a row has entries


# The formula of weighted graph attention, Eqs. 1 to 5 of the paper, for every module that uses it.
EDGE_RATE = 5.0
"""How much faster than other weights the coefficients of edge features are learned: few as they are, they come too late
otherwise, when the labels are known by heart. Chosen on graphs of 120 and 300 nodes whose edges say friend or foe."""
HEAD_COMBINATIONS = ("weighted", "average", "concatenate")
"""What becomes of several heads: summed with factors as in Eqs. 4 and 5, averaged, or put side by side."""


def weighted_attention(
    features: Features,
    weight: Tensor,
    vector: Tensor,
    factors: Tensor | None,
    neighbourhood: NeighbourhoodSum | None,
    activation: Activation,
    *,
    concatenate: bool = False,
    score_bound: float | None = None,
    drop: Callable[[Tensor], Tensor] | None = None,
    edge_vector: Tensor | None = None,
    listening: Tensor | None = None,
) -> Tensor:
    """One hop of attention for all layers and members, from ``features`` that the layers share or each layer's own.

    ``weight`` (members, layers, in, heads, out): W; ``vector`` (members, layers, heads, out): a; ``factors`` (members,
    layers, heads): f; 1 / heads if not given; ``neighbourhood``: Over the nodes of all layers stacked. Without one each
    node hears itself alone; ``concatenate``: Put the activated heads side by side in place of the sum; ``score_bound``:
    See :func:`bounded`; ``drop``: Applied to x, (nodes of all layers, members, heads, out), on the way into the sums;
    ``edge_vector`` (members, heads, edge features): c; ``listening``, of the shape of a: Gives the listener's part of a
    score, on which LeakyReLU then works; with a ``ListenerSums``.

    Returns (layers, outputs, members, out): The nodes are the outputs of the neighbourhood sum.
    """
    members, layers, _, heads, column_count = weight.shape
    head_shares = None
    if not concatenate:
        even = weight.new_full((layers, members, heads), 1 / heads)
        head_shares = even if factors is None else factors.transpose(0, 1)
    weight_totals = None
    if neighbourhood is None:
        (column_sums,) = project(features, weight.flatten(3))
    else:
        if (
            head_shares is not None
            and drop is None
            and listening is None
            and hop_fits(weight, neighbourhood, activation)
        ):
            (projected,) = project(features, weight.flatten(3))
            hop_output = attention_hop(
                projected, vector.transpose(0, 1), head_shares, neighbourhood, activation, score_bound
            )
            if hop_output is not None:
                return hop_output
            (scores,) = project(features, score_weight(weight, vector))
        else:
            score_weights = [
                score_weight(weight, score_vector) for score_vector in (vector, listening) if score_vector is not None
            ]
            projected, scores, *listener_scores = project(features, weight.flatten(3), *score_weights)
        row_shape = (neighbourhood.rows, members * heads)
        heard = projected.view(neighbourhood.rows, members, heads, column_count)
        if drop is not None:
            heard = drop(heard)
        sum_inputs = heard.view(*row_shape, column_count), bounded(scores, score_bound).view(row_shape), neighbourhood
        if isinstance(neighbourhood, ListenerSums):
            column_sums = neighbourhood.means(*sum_inputs[:2], bounded(listener_scores[0], score_bound).view(row_shape))
        elif neighbourhood.featured and edge_vector is not None:
            column_sums, weight_totals = featured_attention_sums(*sum_inputs, edge_vector.flatten(0, 1), score_bound)
        else:
            column_sums, weight_totals = attention_sums(*sum_inputs)
        weight_totals = None if weight_totals is None else weight_totals.view(layers, -1, members, heads)
    column_sums = column_sums.view(layers, -1, members, heads, column_count)
    if head_shares is None:
        attention_means = column_sums if weight_totals is None else column_sums / weight_totals.unsqueeze(-1)
        return activation(attention_means).flatten(-2)
    return fuse_heads(column_sums, weight_totals, head_shares, activation)


def pooled_attention(
    features: Tensor,
    weight: Tensor,
    vector: Tensor,
    factors: Tensor | None,
    groups: PooledGroups,
    activation: Activation,
    *,
    concatenate: bool = False,
    score_bound: float | None = None,
) -> Tensor:
    """The same where every layer puts each node in one group: (members, groups, out), pooled before the projection."""
    heard = pooled_means(features, weight, vector, groups, score_bound)
    members, group_count, heads, column_count = heard.shape
    if concatenate:
        return activation(heard).flatten(2)
    if factors is None:
        portions = heard.new_full((members, group_count, heads), 1 / heads)
    else:
        portions = factors.index_select(1, groups.layer_of)
    flat_means = heard.view(members * group_count, 1, 1, heads, column_count)
    fused = fuse_heads(flat_means, None, portions.reshape(-1, 1, heads), activation)
    return fused.view(members, group_count, column_count)


def score_weight(weight: Tensor, vector: Tensor) -> Tensor:
    """W a, which gives the scores t straight from the features and saves a pass over all of x."""
    return torch.einsum("mlihd,mlhd->mlih", weight, vector)


def bounded(scores: Tensor, bound: float | None) -> Tensor:
    """Scores kept between minus and plus a bound, next to unchanged where they are small: ``bound tanh(t / bound)``.

    Left alone, scores grow as long as the loss falls, until each node listens to a single other one and gradients
    of all others vanish. Within a bound of 5 nobody counts more than exp(10) times as much as another.
    """
    return scores if bound is None else bound * torch.tanh(scores / bound)


class AttentionHop(nn.Module):
    """H attention heads and their fusion head, with parameters of its own for each layer.

    ``layers``: With parameters of their own; ``in_dim``, ``out_dim``, ``heads``: When heads are concatenated, each has
    ``out_dim / heads`` columns; ``attention_dropout``: Probability with which a node is not heard, by anybody, in a
    training step; ``edge_columns``: Features of edges and memberships of all layers together; ``score`` {"neighbour",
    "leaky"}: Whether the neighbour's part of a score counts alone, or both ends' with LeakyReLU.
    """

    def __init__(
        self,
        random: MemberRandom,
        layers: int,
        in_dim: int,
        out_dim: int,
        heads: int,
        *,
        head_weights: str,
        activation: str,
        attention_dropout: float,
        combine_heads: str = "weighted",
        score_bound: float | None = None,
        edge_columns: int = 0,
        score: str = "neighbour",
    ) -> None:
        super().__init__()
        self.heads, self.out_dim, self.combine_heads = heads, out_dim, combine_heads
        self.columns = out_dim // heads if combine_heads == "concatenate" else out_dim
        self.activation = ACTIVATIONS[activation]
        self.attention_dropout = attention_dropout
        self.score_bound = score_bound
        self.random = random
        self.weight = glorot(random, (layers, in_dim, heads, self.columns), in_dim, self.columns)
        self.attention = glorot(random, (layers, heads, self.columns), self.columns, 1)
        self.factors = ScalingFactors(random, (layers, heads), head_weights) if combine_heads == "weighted" else None
        # of zeros: at first no feature counts
        c = self.attention.new_zeros(self.attention.shape[0], heads, edge_columns)
        self.edge_vector = nn.Parameter(c) if edge_columns else None
        self.listening = glorot(random, (layers, heads, self.columns), self.columns, 1) if score == "leaky" else None

    def forward(
        self, features: Features, neighbourhood: NeighbourhoodSum | PooledGroups | None, places: Places | None = None
    ) -> Tensor:
        """From (nodes, members, in_dim), shared by the layers, or (layers, nodes, members, in_dim) to (.., out_dim).

        The nodes of the result are the outputs of the neighbourhood sum. Without one each node hears itself alone. From
        groups that are pooled come (members, groups, out_dim).
        """
        factors = None if self.factors is None else self.factors()
        shared_options: Any = {"concatenate": self.combine_heads == "concatenate", "score_bound": self.score_bound}
        hop_parameters = self.weight, self.attention, factors
        if isinstance(neighbourhood, PooledGroups):
            assert isinstance(features, Tensor)
            return pooled_attention(features, *hop_parameters, neighbourhood, self.activation, **shared_options)
        shared_options["drop"] = (
            partial(self._dropped, places) if self.training and self.attention_dropout > 0 else None
        )
        shared_options |= {"edge_vector": self.edge_coefficients(), "listening": self.listening}
        return weighted_attention(features, *hop_parameters, neighbourhood, self.activation, **shared_options)

    def scores(self, features: Features, *, of_listener: bool = False) -> Tensor:
        """How much each node is listened to, t of the formula, or how it listens, (layers, nodes, members, heads)."""
        vector = self.listening if of_listener and self.listening is not None else self.attention
        scores = project(features, score_weight(self.weight, vector))[0]
        return bounded(scores, self.score_bound)

    def messages(self, features: Features) -> tuple[Tensor, Tensor]:
        """What each node says to those who hear it, x and t of the formula.

        Of shape (layers, nodes, members, heads, columns) and (layers, nodes, members, heads).
        """
        values, scores = project(features, self.weight.flatten(3), score_weight(self.weight, self.attention))
        return values.view(*scores.shape, -1), bounded(scores, self.score_bound)

    def edge_coefficients(self) -> Tensor | None:
        """What features of edges and memberships are multiplied with, c, (members, heads, features)."""
        return None if self.edge_vector is None else EDGE_RATE * self.edge_vector

    def entry_weights(self, neighbourhood: NeighbourhoodSum, layer: int) -> Tensor | None:
        """What features multiply each edge or membership of a layer with, (entries, members, heads); None without."""
        coefficients = self.edge_coefficients()
        if coefficients is None:
            return None
        learned_weights = neighbourhood.entry_weights(layer, coefficients.flatten(0, 1), self.score_bound)
        return None if learned_weights is None else learned_weights.view(-1, *coefficients.shape[:2])

    def head_factors(self) -> Tensor:
        """What the activated heads are multiplied with before they are added, (members, layers, heads)."""
        if self.factors is not None:
            found: Tensor = self.factors()
            return found
        return self.attention.new_full(self.attention.shape[:3], 1 / self.heads)

    def _dropped(self, places: Places | None, values: Tensor) -> Tensor:
        return values * self.random.mask(values[..., :1], 1, self.attention_dropout, places)
