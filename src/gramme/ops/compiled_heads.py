"""Compiled loops over the largest arrays of attention: each reads its inputs once and writes its results once.

Torch works operation by operation, and each of them reads and writes arrays of (rows x heads x columns) numbers, which
costs more than the arithmetic. These loops do the same sums for single precision on one thread of a CPU; elsewhere
torch's operations do (:mod:`gramme.ops.heads` and :mod:`gramme.nn.formula` choose). What is not a number stays none: a
product with 0 is there for that.

Arrays have a row for each node of each layer, those of the first layer first, and in it some columns for each head of
each member of an ensemble; "place" is the number of a member's head.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from llvmlite import ir
from numba import types
from numba.extending import intrinsic
from numpy.typing import NDArray
from torch import Tensor

from gramme.ops.compiled import compiled_careful_sums

Floats = NDArray[np.float32]
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
    """The same numbers for a compiled loop; a copy where they do not lie side by side."""
    return tensor.detach().contiguous().numpy()


def rows_of(tensor: Tensor) -> Any:
    """The same with a row for each node of each layer, from (layers, nodes, ...)."""
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
def heeded(values: Floats, vector: Floats, result: Floats) -> None:
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
def weighted(values: Floats, weights: Floats, result: Floats) -> None:
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
    grad: Floats,
    values: Floats,
    weights: Floats,
    slopes: Floats,
    vector: Floats,
    to_values: Floats,
    to_vector: Doubles,
) -> None:
    """Gradients of :func:`weighted` and :func:`heeded` together.

    The weights are the exponentials of the scores; ``slopes`` says how fast these grow with what :func:`heeded` gives.
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
    sums: Floats,
    totals: Floats,
    totals_start: int,
    factors: Floats,
    activation: int,
    result: Floats,
) -> None:
    """The activated means of each member's heads, summed with factors.

    Parameters
    ----------
    sums, totals : array, shape (rows, width)
        A row begins with the sums of each place, and has their totals from ``totals_start`` on; both may be the same
        array. The mean of a head is its sum over its total.
    totals_start : int
    factors : array, shape (layers, members, heads)
    activation : int
    result : array, shape (rows, members * columns)
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
    sums: Floats,
    totals: Floats,
    totals_start: int,
    factors: Floats,
    activation: int,
    grad: Floats,
    to_sums: Floats,
    to_totals: Floats,
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
