"""Whether probabilities hold: of the nodes predicted with 80 %, about 80 % should be right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .metrics import accuracy_interval

LABELS_PER_BIN = 15
"""Labels that a bin should have, or its interval says nothing."""


def reliability_table(
    probabilities: NDArray[np.floating[Any]], codes: NDArray[np.int64], bins: int | None = None
) -> pd.DataFrame:
    """Predictions in bins of equally many, by the probability of the predicted class.

    From probabilities of nodes whose label the model had not learned from, shape (nodes, classes), and their classes,
    -1 for one that the model does not know; a bin for every 15 labels if ``bins`` is not given, and at most 10. For
    each bin ``probability`` (the mean given), ``right`` (the share that is), its 95 % interval ``low`` to ``high``, and
    the number of ``nodes``.

    Examples
    --------
    >>> sure = np.repeat([[0.9, 0.1], [0.6, 0.4]], 10, axis=0)
    >>> codes = np.r_[np.zeros(9, int), 1, np.zeros(6, int), np.ones(4, int)]
    >>> reliability_table(sure, codes, bins=2).round(2)
       probability  right   low  high  nodes
    0          0.6    0.6  0.31  0.83     10
    1          0.9    0.9  0.60  0.98     10
    """
    top_probabilities = probabilities.max(axis=1) if probabilities.size else np.zeros(0)
    is_right = probabilities.argmax(axis=1) == codes if probabilities.size else np.zeros(0, bool)
    num_bins = min(10, codes.size // LABELS_PER_BIN) if bins is None else bins
    probability_order = np.argsort(top_probabilities, kind="stable")
    bin_rows = []
    for bin_nodes in np.array_split(probability_order, max(1, num_bins)):
        if not bin_nodes.size:
            continue
        num_right = int(is_right[bin_nodes].sum())
        lower_bound, upper_bound = accuracy_interval(num_right, bin_nodes.size)
        bin_rows.append(
            (
                float(top_probabilities[bin_nodes].mean()),
                num_right / bin_nodes.size,
                lower_bound,
                upper_bound,
                bin_nodes.size,
            )
        )
    return pd.DataFrame(bin_rows, columns=["probability", "right", "low", "high", "nodes"])


def bins_off(table: pd.DataFrame | Mapping[str, Sequence[float]]) -> list[int]:
    """The bins of a :func:`reliability_table` that are right less or more often than was said, beyond chance.

    With so many bins, one among them may be far off by chance alone: each is judged by an interval of the level
    1 - 0.05 / bins, in which the probability that was said must lie.

    >>> bins_off({"probability": [0.55, 0.56], "right": [0.6, 0.07], "nodes": [15, 15]})
    [1]
    """
    stated_probabilities, shares_right, bin_sizes = (
        list(table[column]) for column in ("probability", "right", "nodes")
    )
    bins_outside = []
    for bin_number, (stated_probability, share_right, bin_size) in enumerate(
        zip(stated_probabilities, shares_right, bin_sizes, strict=True)
    ):
        lower_bound, upper_bound = accuracy_interval(
            round(share_right * bin_size), int(bin_size), 1 - 0.05 / len(stated_probabilities)
        )
        if not lower_bound - 1e-3 <= stated_probability <= upper_bound + 1e-3:  # the table may be rounded
            bins_outside.append(bin_number)
    return bins_outside


@dataclass(frozen=True)
class OnTheWhole:
    """How sure predictions were on average, how often they were right, and whether chance explains the difference."""

    nodes: int
    said: float
    right: float
    verdict: Literal["fits", "too sure", "not sure enough"]


def on_the_whole(table: pd.DataFrame | Mapping[str, Sequence[float]]) -> OnTheWhole:
    """All bins of a :func:`reliability_table` together, which has at least one.

    If every prediction were right as often as it says, the number of right ones would have a variance of at most
    sum n p (1 - p) over the bins. A difference within 1.96 times its root is put down to chance.

    >>> on_the_whole({"probability": [0.6, 0.9], "right": [0.6, 0.6], "nodes": [50, 50]}).verdict
    'too sure'
    """
    bin_sizes, stated_probabilities, shares_right = (
        np.asarray(table[column], dtype=np.float64) for column in ("nodes", "probability", "right")
    )
    num_nodes = bin_sizes.sum()
    excess_sum = float((bin_sizes * (stated_probabilities - shares_right)).sum())
    standard_error = float(np.sqrt((bin_sizes * stated_probabilities * (1 - stated_probabilities)).sum()))
    verdict: Literal["fits", "too sure", "not sure enough"] = "fits"
    # more than chance at the 5 % level; the table may be rounded
    if abs(excess_sum) > 1.96 * standard_error + 1e-3 * num_nodes:
        verdict = "too sure" if excess_sum > 0 else "not sure enough"
    # Counted, since the mean of rounded shares may be another one in its last digit
    num_right = np.rint(bin_sizes * shares_right).sum()
    return OnTheWhole(
        int(num_nodes), float(bin_sizes @ stated_probabilities / num_nodes), float(num_right / num_nodes), verdict
    )
