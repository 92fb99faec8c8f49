"""Everything compiled: random numbers, attention's largest loops, dropout, random walks, LINE, MNE and Leiden.

In one module, so that numba's cache on the disk notices every change.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar, cast

import numba
import numpy as np
import torch
from llvmlite import ir
from numba import types
from numba.extending import intrinsic
from numpy.typing import NDArray
from torch import Tensor

from gramme._types import Floats, Ints
from gramme.graph import Layer

# Compiled functions: numba with the options every kernel of this room uses, in a form type checkers understand.
Function = TypeVar("Function", bound=Callable[..., Any])

ZERO: Any = np.int64(0)
"""The number 0 for a compiled function to pass on: a plain 0 is a type of its own, for which others compile again."""


def compiled(function: Function) -> Function:
    """Compile a function when it is first called, keep the machine code on disk, run without the interpreter's lock."""
    return cast(Function, numba.njit(cache=True, nogil=True)(function))


def compiled_sums(function: Function) -> Function:
    """Compile sums of floats whose terms may be added in any order; one machine always adds in the same one."""
    made = numba.njit(cache=True, nogil=True, fastmath=True, error_model="numpy")(function)
    return cast(Function, made)


def compiled_careful_sums(function: Function) -> Function:
    """Compile sums that may contain NaN, which must not get lost."""
    order = {"contract", "reassoc", "nsz", "arcp"}
    made = numba.njit(cache=True, nogil=True, fastmath=order, error_model="numpy")(function)
    return cast(Function, made)


@compiled
def logistic(score: float) -> float:
    """1 / (1 + exp(-score)), also for scores that exp could not hold."""
    return 1.0 / (1.0 + math.exp(-min(max(score, -30.0), 30.0)))


# Random numbers for compiled loops: a counter, mixed; any stream can be started anywhere at no cost.
GOLDEN = np.uint64(0x9E3779B97F4A7C15)
FIRST_MIX = np.uint64(0xBF58476D1CE4E5B9)
SECOND_MIX = np.uint64(0x94D049BB133111EB)
_30, _27, _31, _11 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(11)
_UNIT = 1.0 / (1 << 53)

Stream = NDArray[np.uint64]


def derived_seed(seed: int, *numbers: int) -> np.uint64:
    """A 64-bit seed of its own for each purpose, from a seed of any size.

    >>> len({int(derived_seed(*numbers)) for numbers in ((0, 1), (0, 2), (10**30,), (10**30,))})
    3
    """
    return np.uint64(np.random.SeedSequence([seed, *numbers]).generate_state(1, np.uint64)[0])


@compiled
def _mixed(number: np.uint64) -> np.uint64:
    number = (number ^ (number >> _30)) * FIRST_MIX
    number = (number ^ (number >> _27)) * SECOND_MIX
    return number ^ (number >> _31)


@compiled
def start(stream: Stream, seed: np.uint64, first: int, second: int) -> None:
    """Set a stream to the beginning of the one that belongs to (seed, first, second)."""
    begun = _mixed(seed + GOLDEN)
    begun = _mixed(begun ^ (np.uint64(first) + GOLDEN))
    stream[0] = _mixed(begun ^ (np.uint64(second) * SECOND_MIX + GOLDEN))


@compiled
def uniform(stream: Stream) -> float:
    """A number from [0, 1) with 53 random bits."""
    stream[0] += GOLDEN
    return float(_mixed(stream[0]) >> _11) * _UNIT


@compiled
def below(stream: Stream, bound: int) -> int:
    """A whole number from 0 .. bound - 1."""
    return int(uniform(stream) * bound)


# Alias tables: draw from any distribution over n things with one random number, whatever n.
@compiled
def alias_tables(indptr: Ints, weights: Floats) -> tuple[Floats, Ints]:
    """Tables of all segments ``indptr[i] .. indptr[i + 1]`` of the weights; ``alias`` holds places in the array."""
    accept = np.ones(weights.size, np.float64)
    alias = np.arange(weights.size)
    stack = np.empty(weights.size, np.int64)
    for segment in range(indptr.size - 1):
        low, high = indptr[segment], indptr[segment + 1]
        count = high - low
        total, heaviest = 0.0, low
        for k in range(low, high):
            total += weights[k]
            if weights[k] > weights[heaviest]:
                heaviest = k
        if total <= 0:
            continue
        # Small cells are stacked from the bottom of the segment's part of the stack, large ones from its top
        small, large = low, high
        for k in range(low, high):
            accept[k] = weights[k] * count / total
            if accept[k] < 1:
                stack[small] = k
                small += 1
            else:
                large -= 1
                stack[large] = k
        while small > low and large < high:
            lesser = stack[small - 1]
            greater = stack[large]
            alias[lesser] = greater
            accept[greater] -= 1 - accept[lesser]
            if accept[greater] < 1:
                large += 1
                stack[small - 1] = greater
            else:
                small -= 1
        # What is left differs from a whole cell by rounding alone, but nothing without weight may be drawn
        for place in range(low, small):
            k = stack[place]
            accept[k] = 1.0 if weights[k] > 0 else 0.0
            alias[k] = heaviest
        for place in range(large, high):
            accept[stack[place]] = 1.0
    return accept, alias


@compiled
def drawn(accept: Floats, alias: Ints, low: int, high: int, stream: Stream) -> int:
    """A place of the segment ``low .. high``, in proportion to its weight; tables of length 0 mean equal weights."""
    cell = uniform(stream) * (high - low)
    place = low + int(cell)
    if accept.size and cell - int(cell) >= accept[place]:
        return int(alias[place])
    return place


# Compiled loops over the largest arrays of attention: each reads its inputs once and writes its results once.
Singles = NDArray[np.float32]
Doubles = NDArray[np.float64]

TINY = np.finfo(np.float32).tiny

RELU, ELU, NONE = 0, 1, 2
"""The activations that have a compiled loop."""


def fits_compiled(*tensors: Tensor | None) -> bool:
    """Whether the compiled loops can take these: single precision, on a CPU, where torch has one thread."""
    return torch.get_num_threads() == 1 and all(
        one is None or (one.dtype == torch.float32 and one.device.type == "cpu") for one in tensors
    )


def array(tensor: Tensor) -> Any:
    """A tensor's numbers for a compiled loop; a copy where they do not lie side by side."""
    return tensor.detach().contiguous().numpy()


def rows_of(tensor: Tensor) -> Any:
    """A tensor's numbers with a row for each node of each layer, from (layers, nodes, ...)."""
    return array(tensor).reshape(tensor.shape[0] * tensor.shape[1], -1)


@intrinsic
def _from_bits(context: Any, bits: Any) -> Any:
    """The float with these 32 bits."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.FloatType())

    return types.float32(types.int32), generate


@compiled_careful_sums
def _exp(x: Any) -> Any:
    """E to the power of a number from -87 to 0, to the last bits, in steps that a processor does eight at a time.

    2^(n + f) with whole n: 2^f by its series, n as the exponent of a float.
    """
    t = x * np.float32(1.4426950408889634)
    n = np.floor(t + np.float32(0.5))
    f = (x - n * np.float32(0.693359375)) + n * np.float32(2.12194440e-4)
    p = np.float32(1.9875691500e-4)
    p = p * f + np.float32(1.3981999507e-3)
    p = p * f + np.float32(8.3334519073e-3)
    p = p * f + np.float32(4.1665795894e-2)
    p = p * f + np.float32(1.6666665459e-1)
    p = p * f + np.float32(5.0000001201e-1)
    p = p * f * f + f + np.float32(1.0)
    exponent = (np.int32(n) + np.int32(127)) << np.int32(23)
    return p * _from_bits(exponent)  # type: ignore[call-arg]


@compiled_careful_sums
def attention_scores(values: Singles, vector: Singles, result: Singles) -> None:
    """Scores (rows, places): values (rows, places * columns) times vectors (layers, places * columns)."""
    rows, places = result.shape
    columns = values.shape[1] // places
    per_layer = rows // vector.shape[0]
    for r in range(rows):
        layer = r // per_layer
        for place in range(places):
            here = slice(place * columns, (place + 1) * columns)
            mine, heed = values[r, here], vector[layer, here]
            total = np.float32(0)
            for c in range(columns):
                total += mine[c] * heed[c]
            result[r, place] = total


@compiled_careful_sums
def weighted(values: Singles, weights: Singles, result: Singles) -> None:
    """What is summed, (rows, places * columns + places): values times weights, and after them the weights."""
    rows, places = weights.shape
    columns = values.shape[1] // places
    for r in range(rows):
        for place in range(places):
            here = slice(place * columns, (place + 1) * columns)
            mine, target, weight = values[r, here], result[r, here], weights[r, place]
            for c in range(columns):
                target[c] = mine[c] * weight
            result[r, places * columns + place] = weight


@compiled_careful_sums
def weighted_back(
    grad: Singles,
    values: Singles,
    weights: Singles,
    slopes: Singles,
    vector: Singles,
    to_values: Singles,
    to_vector: Doubles,
) -> None:
    """Gradients of :func:`weighted` and :func:`attention_scores` together.

    The weights are the exponentials of the scores; ``slopes`` says how fast these grow with what
    :func:`attention_scores` gives.
    """
    rows, places = weights.shape
    columns = values.shape[1] // places
    per_layer = rows // vector.shape[0]
    for r in range(rows):
        layer = r // per_layer
        for place in range(places):
            here = slice(place * columns, (place + 1) * columns)
            upper, mine, weight = grad[r, here], values[r, here], weights[r, place]
            heed, to_mine, to_heed = vector[layer, here], to_values[r, here], to_vector[layer, here]
            total = grad[r, places * columns + place]
            for c in range(columns):
                total += upper[c] * mine[c]
            to_score = total * weight * slopes[r, place]
            for c in range(columns):
                to_mine[c] = upper[c] * weight + to_score * heed[c]
            for c in range(columns):
                to_heed[c] += to_score * mine[c]


@compiled_careful_sums
def fused(
    sums: Singles, totals: Singles, totals_start: int, factors: Singles, activation: int, result: Singles
) -> None:
    """The activated means of each member's heads, summed with factors.

    ``sums``, ``totals`` (rows, width): A row begins with the sums of each place, and has their totals from
    ``totals_start`` on; both may be the same array. The mean of a head is its sum over its total; ``factors`` (layers,
    members, heads); ``result`` (rows, members * columns).
    """
    layers, members, heads = factors.shape
    rows, columns = result.shape[0], result.shape[1] // members
    per_layer = rows // layers
    for r in range(rows):
        layer = r // per_layer
        for m in range(members):
            out = result[r, m * columns : (m + 1) * columns]
            for c in range(columns):
                out[c] = np.float32(0)
            for h in range(heads):
                place = m * heads + h
                mine = sums[r, place * columns : (place + 1) * columns]
                total, factor = totals[r, totals_start + place], factors[layer, m, h]
                portion = np.float32(1) / max(total, TINY)
                if activation == ELU:
                    for c in range(columns):
                        mean = mine[c] * portion
                        low = max(min(mean, np.float32(0)), np.float32(-87))
                        value = max(mean, _exp(low) - np.float32(1)) + mean * np.float32(0)
                        out[c] += factor * value
                elif activation == RELU:
                    for c in range(columns):
                        mean = mine[c] * portion
                        value = mean if mean > 0 else mean * np.float32(0)
                        out[c] += factor * value
                else:
                    for c in range(columns):
                        out[c] += factor * mine[c] * portion


@compiled_careful_sums
def fused_back(
    sums: Singles,
    totals: Singles,
    totals_start: int,
    factors: Singles,
    activation: int,
    grad: Singles,
    to_sums: Singles,
    to_totals: Singles,
    to_factors: Doubles,
) -> None:
    """Gradients of :func:`fused`; ``to_sums`` and ``to_totals`` lie as ``sums`` and ``totals`` do."""
    layers, members, heads = factors.shape
    rows, columns = grad.shape[0], grad.shape[1] // members
    per_layer = rows // layers
    for r in range(rows):
        layer = r // per_layer
        for m in range(members):
            upper = grad[r, m * columns : (m + 1) * columns]
            for h in range(heads):
                place = m * heads + h
                here = slice(place * columns, (place + 1) * columns)
                mine, to_mine = sums[r, here], to_sums[r, here]
                total, factor = totals[r, totals_start + place], factors[layer, m, h]
                portion = np.float32(1) / max(total, TINY)
                both = portion * factor
                value_sum, mean_sum = np.float32(0), np.float32(0)
                if activation == ELU:
                    for c in range(columns):
                        mean = mine[c] * portion
                        slope = _exp(max(min(mean, np.float32(0)), np.float32(-87)))
                        slope += mean * np.float32(0)
                        value_sum += upper[c] * max(mean, slope - np.float32(1))
                        slope *= upper[c] * both
                        to_mine[c] = slope
                        mean_sum += slope * mean
                elif activation == RELU:
                    for c in range(columns):
                        mean = mine[c] * portion
                        value_sum += upper[c] * (mean if mean > 0 else mean * np.float32(0))
                        slope = upper[c] * both if mean > 0 else mean * np.float32(0)
                        to_mine[c] = slope
                        mean_sum += slope * mean
                else:
                    for c in range(columns):
                        mean = mine[c] * portion
                        value_sum += upper[c] * mean
                        to_mine[c] = upper[c] * both
                        mean_sum += upper[c] * both * mean
                to_factors[layer, m, h] += value_sum
                to_totals[r, totals_start + place] = -mean_sum


# Dropout that belongs to a node, not to its place among the rows of one process.
def keyed_mask(keys: Tensor | None, rows: int, columns: int, seed: int, call: int, keep: float, like: Tensor) -> Tensor:
    """Zeros and 1 / keep, shape (rows, columns), with the type and device of ``like``.

    ``keys`` (rows,): What each row is known by; its number if not given; ``seed``, ``call``: Of a member, and the
    number of the mask among those it has drawn; ``keep``: Probability to be kept.

    Examples
    --------
    >>> whole = keyed_mask(None, 6, 3, 0, 0, 0.5, torch.zeros(1))
    >>> part = keyed_mask(torch.tensor([1, 4]), 2, 3, 0, 0, 0.5, torch.zeros(1))
    >>> bool((whole[[1, 4]] == part).all())
    True
    """
    start = int(derived_seed(seed, call))
    below = int(keep * 2**53)
    if like.device.type != "cpu":
        return _on_device(keys, rows, columns, start, below, like) / keep
    names = torch.arange(rows) if keys is None else keys.cpu()
    kept = np.empty((rows, columns), dtype=np.float32)
    _fill(names.numpy(), np.uint64(start), np.uint64(below), np.float32(1), kept)
    return torch.from_numpy(kept).to(like.dtype).div_(keep)


@compiled
def _fill(
    keys: NDArray[np.int64], start: np.uint64, below: np.uint64, one: np.float32, out: NDArray[np.float32]
) -> None:
    for row in range(out.shape[0]):
        base = _mixed(np.uint64(keys[row]) * GOLDEN + start)
        for column in range(out.shape[1]):
            bits = _mixed(base + np.uint64(column + 1) * GOLDEN) >> _11
            out[row, column] = one if bits < below else np.float32(0)


def _on_device(keys: Tensor | None, rows: int, columns: int, start: int, below: int, like: Tensor) -> Tensor:
    """The mask in torch's own operations, whose 64-bit numbers have a sign but wrap around all the same."""
    golden, first, second = (_signed(int(one)) for one in (GOLDEN, FIRST_MIX, SECOND_MIX))

    def shifted(bits: Tensor, places: int) -> Tensor:
        """A shift to the right that fills up with zeros."""
        return (bits >> places) & ((1 << (64 - places)) - 1)

    def mixed(bits: Tensor) -> Tensor:
        bits = (bits ^ shifted(bits, 30)) * first
        bits = (bits ^ shifted(bits, 27)) * second
        return bits ^ shifted(bits, 31)

    names = torch.arange(rows, device=like.device) if keys is None else keys.to(like.device)
    base = mixed(names * golden + _signed(start))
    steps = torch.arange(1, columns + 1, device=like.device) * golden
    return (shifted(mixed(base[:, None] + steps), 11) < below).to(like.dtype)


def _signed(number: int) -> int:
    return number - 2**64 if number >= 2**63 else number


# What a random walk needs of layers: for each node the edges and groups it can leave through.
class WalkGraph(NamedTuple):
    """Slots of every row, in CSR form, sorted in each row; a tuple of arrays, as compiled code wants it.

    ``indptr`` (rows + 1,); ``slots``: A neighbour's position, or the complement of a group's number; ``weight``,
    ``accept``, ``alias``: Weights of the slots and their alias tables; empty where all slots of a row weigh the same;
    ``mass`` (rows,): Sum of the weights of each row: the node's weighted degree; ``group_indptr``, ``members``: The
    members of each group.
    """

    indptr: Ints
    slots: Ints
    weight: Floats
    accept: Floats
    alias: Ints
    mass: Floats
    group_indptr: Ints
    members: Ints

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return int(self.indptr.size - 1)


class _Slots(NamedTuple):
    """Rows of one layer, with its groups numbered from 0."""

    counts: Ints
    slots: Ints
    weight: Floats
    sizes: Ints
    members: Ints


def walk_graph(layers: Sequence[Layer], *, merged: bool = False) -> WalkGraph:
    """The structure to walk on.

    ``layers``: At least one, all over the same nodes; ``merged``: One row per node with the edges of all layers, whose
    weights thereby add; otherwise one row per layer and node: that of node i in layer l is ``l * num_nodes + i``.
    """
    parts = [_slots(layer) for layer in layers]
    first_group = np.cumsum([0, *(part.sizes.size for part in parts)])
    slots = np.concatenate(
        [
            np.where(part.slots < 0, part.slots - shift, part.slots)
            for part, shift in zip(parts, first_group[:-1], strict=True)
        ]
    )
    weight = np.concatenate([part.weight for part in parts])
    counts = np.concatenate([part.counts for part in parts])
    if merged and len(parts) > 1:
        nodes = layers[0].num_nodes
        row = np.repeat(np.tile(np.arange(nodes), len(parts)), counts)
        order = np.lexsort((slots, row))
        slots, weight = slots[order], weight[order]
        counts = np.bincount(row, minlength=nodes)
    indptr = _starts(counts)
    group_indptr = _starts(np.concatenate([part.sizes for part in parts]))
    members = np.concatenate([part.members for part in parts])
    sums = np.concatenate([[0.0], np.cumsum(weight)])
    mass = sums[indptr[1:]] - sums[indptr[:-1]]
    if _equal_in_rows(indptr, weight):
        none = np.zeros(0)
        # Without tables all slots of a row are alike; their weight still counts where rows are drawn
        return WalkGraph(indptr, slots, none, none, np.zeros(0, np.int64), mass, group_indptr, members)
    accept, alias = alias_tables(indptr, weight)
    return WalkGraph(indptr, slots, weight, accept, alias, mass, group_indptr, members)


def _slots(layer: Layer) -> _Slots:
    none = np.zeros(0, np.int64)
    incidence = layer.incidence()
    # weighted memberships go by their edges: a step within a group would need a table for every group
    if incidence is not None and (incidence.data == 1).all():
        group = incidence.indices.astype(np.int64)
        node = np.repeat(np.arange(layer.num_nodes), np.diff(incidence.indptr))
        sizes = np.bincount(group, minlength=incidence.shape[1])
        members = node[np.argsort(group, kind="stable")]
        joins = sizes[group] > 1  # nobody can leave through a group of one
        node, group = node[joins], group[joins]
        # Complements fall while groups rise: turn each row round to keep it sorted
        order = np.lexsort((~group, node))
        group = group[order]
        counts = np.bincount(node, minlength=layer.num_nodes)
        return _Slots(counts, ~group, (sizes[group] - 1).astype(np.float64), sizes, members)
    matrix = layer.to_scipy()
    counts = np.diff(matrix.indptr).astype(np.int64)
    return _Slots(counts, matrix.indices.astype(np.int64), matrix.data.astype(np.float64), none, none)


def _starts(counts: NDArray[np.int64]) -> Ints:
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)


def _equal_in_rows(indptr: Ints, weight: Floats) -> bool:
    """Whether the slots of each row weigh the same."""
    if weight.size == 0:
        return True
    same = np.diff(weight) == 0
    ends = indptr[1:-1]
    same[ends[(ends > 0) & (ends < weight.size)] - 1] = True  # the last of a row and the first of the next
    return bool(same.all())


# One step of a random walk: first order (in proportion to weight) and second order (node2vec), compiled.


@compiled
def first_step(graph: WalkGraph, row: int, node: int, stream: Stream) -> int:
    """A neighbour of the node, in proportion to weight; -1 where there is none. ``row`` is the node's row."""
    low, high = graph.indptr[row], graph.indptr[row + 1]
    if low == high:
        return -1
    slot = graph.slots[drawn(graph.accept, graph.alias, low, high, stream)]
    if slot >= 0:
        return int(slot)
    begin, end = graph.group_indptr[~slot], graph.group_indptr[~slot + 1]
    other = node
    while other == node:  # a group has at least two members, so two tries on average at most
        other = graph.members[begin + below(stream, end - begin)]
    return int(other)


@compiled
def joined(graph: WalkGraph, row: int, other_row: int, other: int) -> bool:
    """Whether a step can lead from the node of ``row`` to ``other``: by an edge or a shared group."""
    low, high = graph.indptr[row], graph.indptr[row + 1]
    left, right = low, high
    while left < right:
        middle = (left + right) >> 1
        if graph.slots[middle] < other:
            left = middle + 1
        else:
            right = middle
    if left < high and graph.slots[left] == other:
        return True
    # Groups stand first in a row, sorted
    mine, theirs = low, graph.indptr[other_row]
    end = graph.indptr[other_row + 1]
    while mine < high and theirs < end:
        one, two = graph.slots[mine], graph.slots[theirs]
        if one >= 0 or two >= 0:
            return False
        if one == two:
            return True
        if one < two:
            mine += 1
        else:
            theirs += 1
    return False


@compiled
def _bias(graph: WalkGraph, shift: int, came_from: int, other: int, p: float, q: float) -> float:
    if other == came_from:
        return 1.0 / p
    return 1.0 if joined(graph, shift + came_from, shift + other, other) else 1.0 / q


@compiled
def second_step(graph: WalkGraph, shift: int, node: int, came_from: int, p: float, q: float, stream: Stream) -> int:
    """A neighbour of the node by node2vec's rule; -1 where there is none. The row of node i is ``shift + i``."""
    row = shift + node
    if graph.indptr[row] == graph.indptr[row + 1]:
        return -1
    largest = max(1.0, 1.0 / p, 1.0 / q)
    for _ in range(100):  # then all neighbours are gone through
        other = first_step(graph, row, node, stream)
        threshold = uniform(stream) * largest
        if threshold < _bias(graph, shift, came_from, other, p, q):
            return other
    return _enumerated(graph, shift, node, came_from, p, q, stream)


@compiled
def _enumerated(graph: WalkGraph, shift: int, node: int, came_from: int, p: float, q: float, stream: Stream) -> int:
    """The second-order step by going through all neighbours twice: sum up, then stop where the draw falls."""
    low, high = graph.indptr[shift + node], graph.indptr[shift + node + 1]
    total, goal, last = 0.0, -1.0, -1
    for turn in range(2):
        if turn == 1:
            goal = uniform(stream) * total
            total = 0.0
        for place in range(low, high):
            slot = graph.slots[place]
            weight = graph.weight[place] if graph.weight.size else 1.0
            if slot >= 0:
                last = slot
                total += weight * _bias(graph, shift, came_from, slot, p, q)
                if turn == 1 and total > goal:
                    return int(slot)
                continue
            begin, end = graph.group_indptr[~slot], graph.group_indptr[~slot + 1]
            share = weight / (end - begin - 1)
            for k in range(begin, end):
                other = graph.members[k]
                if other == node:
                    continue
                last = other
                total += share * _bias(graph, shift, came_from, other, p, q)
                if turn == 1 and total > goal:
                    return int(other)
    return int(last)


# Random walks over layers, compiled: within a layer, on all layers merged, or hopping between layers.
Nodes = NDArray[np.int32]

NOWHERE: Any = np.int64(-1)
"""Where a walk comes from that has just begun."""


@dataclass(frozen=True)
class Walks:
    """Walks from many nodes, made one pass (a walk from every start) at a time.

    ``starts``: The nodes walks start from, those that some layer holds; ``length``: Nodes of a walk; fewer where it
    comes to a node without a way out; ``p``, ``q``: Return and in-out parameter of node2vec; 1 and 1 walk in proportion
    to the weights; ``hop``: Probability to change the layer before a step, where ``graph`` has a row per layer and
    node.
    """

    graph: WalkGraph
    num_nodes: int
    starts: NDArray[np.int64]
    length: int
    p: float
    q: float
    hop: float | None
    seed: np.uint64

    @classmethod
    def of(
        cls,
        layers: Sequence[Layer],
        *,
        length: int,
        p: float = 1.0,
        q: float = 1.0,
        hop: float | None = None,
        seed: int = 0,
    ) -> Walks:
        """Walks on layers: on one, on several as one merged network, or, with ``hop``, changing between them."""
        graph = walk_graph(layers, merged=hop is None)
        present = np.any([layer.present for layer in layers], axis=0)
        starts = np.flatnonzero(present)
        return cls(graph, layers[0].num_nodes, starts, length, p, q, hop, derived_seed(seed))

    def one_pass(self, number: int) -> tuple[Nodes, Nodes]:
        """A walk from every start, in an order of the pass's own.

        Returns (starts, length): Beyond a walk's end: -1; (starts,).
        """
        order = np.random.default_rng([int(self.seed), number]).permutation(self.starts)
        walks = np.full((order.size, self.length), -1, dtype=np.int32)
        lengths = np.ones(order.size, dtype=np.int32)
        p, q = float(self.p), float(self.q)  # whole numbers would be compiled for once more
        hop = 0.0 if self.hop is None else float(self.hop)
        _walk(self.graph, self.num_nodes, order, number, p, q, hop, self.hop is not None, self.seed, walks, lengths)
        return walks, lengths


@compiled
def _other_layer(graph: WalkGraph, num_nodes: int, node: int, layer: int, stream: NDArray[np.uint64]) -> int:
    """One of the other layers where the node has neighbours, each as likely; the same layer where there is none."""
    layers = (graph.indptr.size - 1) // num_nodes
    found = ZERO
    for other in range(layers):
        row = other * num_nodes + node
        if other != layer and graph.indptr[row] < graph.indptr[row + 1]:
            found += 1
    if found == 0:
        return layer
    chosen = below(stream, found)
    for other in range(layers):
        row = other * num_nodes + node
        if other != layer and graph.indptr[row] < graph.indptr[row + 1]:
            if chosen == 0:
                return other
            chosen -= 1
    return layer


@compiled
def _walk(
    graph: WalkGraph,
    num_nodes: int,
    starts: NDArray[np.int64],
    number: int,
    p: float,
    q: float,
    hop: float,
    hops: bool,
    seed: np.uint64,
    walks: Nodes,
    lengths: Nodes,
) -> None:
    """A walk from every start; one that hops changes the layer before a step by chance, or where it is stuck."""
    stream = np.zeros(1, np.uint64)
    plain = p == 1.0 and q == 1.0
    for k in range(starts.size):
        start(stream, seed, number, starts[k])
        node, came_from = starts[k], NOWHERE
        layer = ZERO
        if hops:
            layer = max(_other_layer(graph, num_nodes, node, NOWHERE, stream), ZERO)
        walks[k, 0] = node
        for place in range(1, walks.shape[1]):
            row = layer * num_nodes + node
            if hops and (graph.indptr[row] == graph.indptr[row + 1] or uniform(stream) < hop):
                other = _other_layer(graph, num_nodes, node, layer, stream)
                if other != layer:
                    # Where the walk came from says nothing about the new layer
                    layer, came_from = other, NOWHERE
            if plain or came_from < 0:
                following = first_step(graph, layer * num_nodes + node, node, stream)
            else:
                following = second_step(graph, layer * num_nodes, node, came_from, p, q, stream)
            if following < 0:
                break
            came_from, node = node, following
            walks[k, place] = node
            lengths[k] = place + 1


# LINE's training, compiled: edges drawn in proportion to weight, noise in proportion to degree^0.75.
Vectors = NDArray[np.float32]
_RATE = 0.025


def edge_vectors(graph: WalkGraph, *, order: int, dim: int, samples: int, negative: int, seed: int) -> Vectors:
    """Vectors that tell edges from noise, shape (rows, dim); zero for rows without edges.

    ``graph``: One row per node; ``order`` {1, 2}: 1: ends of an edge get similar vectors. 2: each node has a further
    vector for its part as somebody's neighbour, so that nodes with the same neighbours get similar vectors;
    ``samples``: Edges drawn. Cost: about ``samples * (negative + 1) * dim`` multiplications, whatever the number of
    edges.
    """
    rows = graph.rows
    random = np.random.default_rng(seed)
    vectors = ((random.random((rows, dim), dtype=np.float32) - np.float32(0.5)) / np.float32(dim)).astype(np.float32)
    # A node counts as often as edges lead to it; where edges have a direction, that is not its own mass
    arriving = _arrivals(graph)
    linked = (graph.mass > 0) | (arriving > 0)
    vectors[~linked] = 0
    if not linked.any():
        return vectors
    context = vectors if order == 1 else np.zeros_like(vectors)
    whole = np.array([0, rows], dtype=np.int64)
    sources = alias_tables(whole, graph.mass)
    noise = alias_tables(whole, (graph.mass + arriving) ** 0.75)
    _train(graph, *sources, *noise, samples, negative, derived_seed(seed), vectors, context)
    return vectors


def _arrivals(graph: WalkGraph) -> Floats:
    """The weight of the edges that lead to each node; memberships lead both ways and count as mass already."""
    places = np.flatnonzero(graph.slots >= 0)
    weight = graph.weight[places] if graph.weight.size else None
    return np.bincount(graph.slots[places], weights=weight, minlength=graph.rows).astype(np.float64)


@compiled_sums
def _train(
    graph: WalkGraph,
    source_accept: Floats,
    source_alias: Ints,
    noise_accept: Floats,
    noise_alias: Ints,
    samples: int,
    negative: int,
    seed: np.uint64,
    vectors: Vectors,
    context: Vectors,
) -> None:
    rows, dim = vectors.shape
    stream = np.zeros(1, np.uint64)
    start(stream, seed, ZERO, ZERO)
    change = np.zeros(dim, np.float32)
    for sample in range(samples):
        rate = np.float32(_RATE * max(1.0 - sample / samples, 1e-4))
        node = drawn(source_accept, source_alias, ZERO, rows, stream)
        neighbour = first_step(graph, node, node, stream)
        change[:] = 0
        for turn in range(negative + 1):
            other = neighbour
            if turn > 0:
                other = drawn(noise_accept, noise_alias, ZERO, rows, stream)
                if other in (neighbour, node):
                    continue
            score = np.float32(0)
            for k in range(dim):
                score += vectors[node, k] * context[other, k]
            wanted = 1.0 if turn == 0 else 0.0
            step = np.float32(rate * (wanted - logistic(float(score))))
            for k in range(dim):
                change[k] += step * context[other, k]
                context[other, k] += step * vectors[node, k]
        for k in range(dim):
            vectors[node, k] += change[k]


# MNE's training: skip-gram where a node's vector is b + u X. b has many columns and is shared by all layers; u has few
# and belongs to one layer, whose matrix X brings it to the size of b. Vectors predict the other nodes of a walk within
# a window against noise nodes (H. Zhang, L. Qiu, L. Yi, Y. Song, "Scalable Multiplex Network Embedding", IJCAI 2018).
_LEAST_RATE = 0.0001
_LARGEST = 1000.0  # of the norm of X


def train_common(
    walks: Nodes,
    lengths: Nodes,
    common: Vectors,
    context: Vectors,
    *,
    window: int,
    epochs: int,
    negative: int,
    seed: int,
) -> None:
    """Train the common vectors (nodes, columns) and the context vectors in place; a plain skip-gram."""
    none = np.zeros((0, 0), np.float32)
    settings = {"window": window, "epochs": epochs, "negative": negative, "seed": seed}
    train_layer(walks, lengths, common, none, none, context, **settings)


def train_layer(
    walks: Nodes,
    lengths: Nodes,
    common: Vectors,
    added: Vectors,
    matrix: Vectors,
    context: Vectors,
    *,
    window: int,
    epochs: int,
    negative: int,
    seed: int,
) -> None:
    """Train what a layer adds, u (nodes, few) and X (few, columns), and the context in place; b stays."""
    parts = (common, added, matrix, context)
    _train_multiplex_skip_gram(
        walks, lengths, *_noise(walks, len(common)), window, epochs, negative, derived_seed(seed), *parts
    )


def _noise(walks: Nodes, nodes: int) -> tuple[Floats, Ints]:
    counts = np.bincount(walks[walks >= 0], minlength=nodes).astype(np.float64)
    return alias_tables(np.array([0, nodes], dtype=np.int64), counts**0.75)


@compiled_sums
def _train_multiplex_skip_gram(
    walks: Nodes,
    lengths: Nodes,
    accept: Floats,
    alias: Ints,
    window: int,
    epochs: int,
    negative: int,
    seed: np.uint64,
    common: Vectors,
    added: Vectors,
    matrix: Vectors,
    context: Vectors,
) -> None:
    nodes, dim = common.shape
    few = matrix.shape[0]
    stream = np.zeros(1, np.uint64)
    vector = np.zeros(dim, np.float32)
    change = np.zeros(dim, np.float32)
    before = np.zeros(few, np.float32)
    total = epochs * walks.shape[0]
    for epoch in range(epochs):
        for walk in range(walks.shape[0]):
            start(stream, seed, epoch, walk)
            progress = (epoch * walks.shape[0] + walk) / total
            rate = np.float32(max(_LEAST_RATE, _RATE - (_RATE - _LEAST_RATE) * progress))
            for place in range(lengths[walk]):
                reach = window - below(stream, window)
                node = walks[walk, place]
                for near in range(max(0, place - reach), min(lengths[walk], place + reach + 1)):
                    if near == place:
                        continue
                    target = walks[walk, near]
                    for k in range(dim):
                        vector[k] = common[node, k]
                        change[k] = 0
                    for i in range(few):
                        for k in range(dim):
                            vector[k] += added[node, i] * matrix[i, k]
                    for turn in range(negative + 1):
                        other = target
                        if turn > 0:
                            other = drawn(accept, alias, 0, nodes, stream)
                            if other == target:
                                continue
                        score = np.float32(0)
                        for k in range(dim):
                            score += vector[k] * context[other, k]
                        wanted = 1.0 if turn == 0 else 0.0
                        step = np.float32(rate * (wanted - logistic(float(score))))
                        for k in range(dim):
                            change[k] += step * context[other, k]
                            context[other, k] += step * vector[k]
                    if few == 0:
                        for k in range(dim):
                            common[node, k] += change[k]
                        continue
                    for i in range(few):
                        before[i] = added[node, i]
                        rise = np.float32(0)
                        for k in range(dim):
                            rise += change[k] * matrix[i, k]
                        added[node, i] += rise
                    for i in range(few):
                        for k in range(dim):
                            matrix[i, k] += before[i] * change[k]
            if few:
                norm = np.sqrt(np.sum(matrix * matrix))
                if norm > _LARGEST:
                    shrink = np.float32(_LARGEST / norm)
                    for i in range(few):
                        for k in range(dim):
                            matrix[i, k] *= shrink


# Leiden's algorithm (``leiden.py``)
@compiled
def move_nodes(
    starts: NDArray[Any],
    neighbours: NDArray[Any],
    weights: Floats,
    expected: Floats,
    group: NDArray[np.int64],
    order: NDArray[np.int64],
) -> int:
    """Move nodes to the group that gains most until none wants to move; ``group`` is changed in place."""
    count, columns = expected.shape
    totals = np.zeros((count, columns))
    sizes = np.zeros(count, dtype=np.int64)
    for node in range(count):
        sizes[group[node]] += 1
        for column in range(columns):
            totals[group[node], column] += expected[node, column]
    empty = np.empty(count, dtype=np.int64)
    empties = 0
    for label in range(count - 1, -1, -1):
        if sizes[label] == 0:
            empty[empties] = label
            empties += 1
    queue = order.copy()
    queued = np.ones(count, dtype=np.bool_)
    head, waiting = 0, count
    tied = np.zeros(count)
    touched = np.empty(count, dtype=np.int64)
    moves = 0
    while waiting > 0:
        node = queue[head]
        head = (head + 1) % count
        waiting -= 1
        queued[node] = False
        own = group[node]
        number = 0
        strength = 0.0
        for at in range(starts[node], starts[node + 1]):
            other = neighbours[at]
            if other == node:
                continue
            label = group[other]
            if tied[label] == 0.0:
                touched[number] = label
                number += 1
            tied[label] += weights[at]
            strength += weights[at]
        for column in range(columns):
            totals[own, column] -= expected[node, column]
        stay = tied[own]
        for column in range(columns):
            stay -= expected[node, column] * totals[own, column]
        best, gain = own, stay
        least = 1e-10 * (strength + 1e-300)  # so that rounding moves nobody
        for place in range(number):
            label = touched[place]
            if label == own:
                continue
            value = tied[label]
            for column in range(columns):
                value -= expected[node, column] * totals[label, column]
            if value > gain + least:
                best, gain = label, value
        # a group of its own gains 0
        if gain < -least and sizes[own] > 1 and empties > 0:
            empties -= 1
            best = empty[empties]
        for place in range(number):
            tied[touched[place]] = 0.0
        for column in range(columns):
            totals[best, column] += expected[node, column]
        if best != own:
            moves += 1
            sizes[own] -= 1
            sizes[best] += 1
            if sizes[own] == 0:
                empty[empties] = own
                empties += 1
            group[node] = best
            for at in range(starts[node], starts[node + 1]):
                other = neighbours[at]
                if group[other] != best and not queued[other]:
                    queued[other] = True
                    queue[(head + waiting) % count] = other
                    waiting += 1
    return moves


@compiled
def refine_groups(
    starts: NDArray[Any],
    neighbours: NDArray[Any],
    weights: Floats,
    expected: Floats,
    group: NDArray[np.int64],
    order: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Divide every group into parts that are connected and well tied to the rest of their group."""
    count, columns = expected.shape
    part = np.arange(count)
    group_totals = np.zeros((count, columns))
    for node in range(count):
        for column in range(columns):
            group_totals[group[node], column] += expected[node, column]
    part_totals = expected.copy()
    single = np.ones(count, dtype=np.bool_)
    outward = np.zeros(count)  # weight from a part to the rest of its group
    for node in range(count):
        for at in range(starts[node], starts[node + 1]):
            other = neighbours[at]
            if other != node and group[other] == group[node]:
                outward[node] += weights[at]
    tied = np.zeros(count)
    touched = np.empty(count, dtype=np.int64)
    for place in range(count):
        node = order[place]
        if not single[node]:
            continue
        label = group[node]
        rest = 0.0
        for column in range(columns):
            rest += expected[node, column] * (group_totals[label, column] - expected[node, column])
        if outward[node] < rest:
            continue
        number = 0
        for at in range(starts[node], starts[node + 1]):
            other = neighbours[at]
            if other == node or group[other] != label:
                continue
            if tied[part[other]] == 0.0:
                touched[number] = part[other]
                number += 1
            tied[part[other]] += weights[at]
        best, gain = node, 0.0
        for seen in range(number):
            there = touched[seen]
            value = tied[there]
            needed = 0.0
            for column in range(columns):
                value -= expected[node, column] * part_totals[there, column]
                needed += part_totals[there, column] * (group_totals[label, column] - part_totals[there, column])
            if value > gain and outward[there] >= needed:
                best, gain = there, value
        if best != node:
            outward[best] += outward[node] - 2.0 * tied[best]
            for column in range(columns):
                part_totals[best, column] += expected[node, column]
            part[node] = best
            single[best] = False
            single[node] = False
        for seen in range(number):
            tied[touched[seen]] = 0.0
    return part
