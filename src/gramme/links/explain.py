"""Why a pair may be linked, and what the predictions of a layer are based on, in words and numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .evidence import WALKS, column_names, in_words
from .mixture import LayerExamples, LayerMixture

REASONS_PER_PAIR = 2
"""Pieces of evidence that are named for a pair."""
_MIN_REASON_SHARE = 0.05
FEW_PAIRS = 50
"""Pairs set aside, in all layers, below which how well they are told is called a figure that says little."""


_FAMILIES = {
    "adamic_adar": "common neighbours",
    "resource_allocation": "common neighbours",
    "paths": "paths of length 3",
    "paths_normalised": "paths of length 3",
    "attachment": "both have many links",
    "smaller_degree": "both have many links",
    "repeated": "linked in other layers",
    "repeated_likely": "linked in other layers",
    "repeated_answered": "linked in other layers",
    "answered": "linked the other way round",
    "sends": "points to many",
    "receives": "many point to it",
    "groups": "groups in common",
    "group_shares": "groups in common",
    **dict.fromkeys(WALKS, "walks from both often meet"),
    "attention": "attention trained for links",
    "attributes": "similar attributes",
    "attributes_far": "similar attributes",
}


def family(column: str) -> str:
    """What a column is about, in the fewest words.

    >>> family("own_paths"), family("repeated")
    ('paths of length 3', 'linked in other layers')
    """
    return _FAMILIES.get(column) or _FAMILIES[column.partition("_")[2]]


def reasons(
    mixture: LayerMixture, rows: NDArray[np.float64], linked_in: Sequence[str] | None = None
) -> list[str]:
    """For each pair the kinds of evidence that speak most for a link, against a typical pair without one.

    Parameters
    ----------
    mixture : LayerMixture
    rows : array of float, shape (pairs, columns)
        The evidence.
    linked_in : sequence of str, optional
        For each pair the other layers that link it, to be named.
    """
    families = np.array([family(name) for name in column_names()])
    kinds = list(dict.fromkeys(families.tolist()))
    added = mixture.contributions(rows, [families == kind for kind in kinds])
    found = []
    for pair, row in enumerate(added):
        words = []
        for place in np.argsort(-row, kind="stable")[:REASONS_PER_PAIR]:
            if row[place] > _MIN_REASON_SHARE:
                named = linked_in[pair] if linked_in is not None else ""
                repeated = named and kinds[place] == "linked in other layers"
                words.append(f"linked in {named}" if repeated else kinds[place])
        found.append("; ".join(words))
    return found


def ingredient_table(
    examples: Mapping[str, LayerExamples], mixtures: Mapping[str, LayerMixture]
) -> pd.DataFrame:
    """Per layer and column: what it says, its ROC-AUC alone, and how far the mixture falls when it is shuffled."""
    rows: list[dict[str, Any]] = []
    for layer, one in examples.items():
        evidence, linked = one.rows[one.judged], one.linked[one.judged]
        whole = roc_auc(linked, mixtures[layer].probability(evidence))
        random = np.random.default_rng(0)
        shuffled = random.permutation(len(linked))
        for place, name in enumerate(column_names()):
            column = evidence[:, place]
            if np.ptp(column) == 0:
                continue
            without = evidence.copy()
            without[:, place] = column[shuffled]
            rows.append(
                {
                    "layer": layer,
                    "ingredient": name,
                    "meaning": in_words(name),
                    "roc_auc": roc_auc(linked, column),
                    "importance": max(
                        0.0, whole - roc_auc(linked, mixtures[layer].probability(without))
                    ),
                }
            )
    return pd.DataFrame(rows, columns=["layer", "ingredient", "meaning", "roc_auc", "importance"])


def explanation(
    examples: Mapping[str, LayerExamples],
    unseen: Mapping[str, NDArray[np.float64]],
    ingredients: pd.DataFrame,
    words: Iterable[str] = (),
) -> tuple[pd.DataFrame, str]:
    """The scores of each layer on pairs the mixture had not seen, and what to say about them, with further words."""
    rows = []
    for layer, one in examples.items():
        linked, probability = one.linked[one.judged], unseen[layer][one.judged]
        rows.append(
            {
                "layer": layer,
                "pairs": len(linked),
                "roc_auc": roc_auc(linked, probability),
                "calibration_error": link_calibration_error(linked, probability),
            }
        )
    scores = pd.DataFrame(rows)
    leading = (
        ingredients.assign(family=ingredients["ingredient"].map(family))
        .groupby("family", sort=False)["importance"]
        .sum()
        .sort_values(ascending=False)
    )
    named = [str(name) for name in leading.index[:3] if leading[name] > 0]
    text = (
        f"On pairs set aside, a linked one gets a higher probability than an unlinked one "
        f"{scores['roc_auc'].mean():.1%} of the time."
    )
    if (pairs := int(scores["pairs"].sum())) < FEW_PAIRS:
        text += f" With {pairs} pairs that says little."
    if named:
        text += f" What counts most: {', '.join(named)}."
    return scores, " ".join([text, *(word for word in words if word)])


def percent(probability: float) -> str:
    """A probability for a reader; none is called certain or impossible.

    >>> percent(0.875), percent(0.99987), percent(0.00002)
    ('87.5%', '>99.9%', '<0.1%')
    """
    if probability < 0.0005:
        return "<0.1%"
    return ">99.9%" if probability >= 0.9995 else f"{probability:.1%}"


def roc_auc(linked: NDArray[np.bool_], scores: NDArray[np.float64]) -> float:
    """How often a linked pair has the larger score than an unlinked one; a tie counts half."""
    from scipy.stats import rankdata

    positive = int(linked.sum())
    negative = len(linked) - positive
    if not positive or not negative:
        return float("nan")
    ranks = rankdata(scores)[linked].sum()
    return float((ranks - positive * (positive + 1) / 2) / (positive * negative))


def calibration_bins(
    linked: NDArray[np.bool_], probability: NDArray[np.float64], bins: int = 10
) -> NDArray[np.float64]:
    """Pairs, sum of their probabilities and linked ones among them, per tenth of the scale: shape (bins, 3)."""
    place = np.minimum((probability * bins).astype(int), bins - 1)
    ones = np.ones(len(linked))
    columns = (ones, probability, linked.astype(np.float64))
    return np.stack([np.bincount(place, weights=one, minlength=bins) for one in columns], axis=1)


def calibration_error(bins: NDArray[np.float64]) -> float:
    """How far probabilities are from the share of linked pairs, on average over the pairs in :func:`calibration_bins`.

    Few pairs per bin make the plain difference look larger than it is: even perfect probabilities miss the share by
    chance. So the part that chance adds is estimated and taken away (Kumar, Liang and Ma 2019): with the difference
    ``d`` of a bin and the standard error ``s`` of its share, it is ``E|d + s z| - |d|`` for a normal ``z``. Bins of
    several splits are best added up first.

    >>> round(calibration_error(np.array([[100_000.0, 90_000.0, 80_000.0]])), 6)
    0.1
    """
    pairs, expected, linked = bins[bins[:, 0] > 0].T
    if not len(pairs):
        return 0.0
    share = linked / pairs
    gap = np.abs(expected / pairs - share)
    error = np.sqrt(share * (1 - share) / pairs)
    by_chance = _mean_size(gap, error) - gap
    return max(0.0, float((gap - by_chance) @ pairs / pairs.sum()))


def _mean_size(mean: NDArray[np.float64], error: NDArray[np.float64]) -> NDArray[np.float64]:
    """The mean of ``|mean + error z|`` for a normal ``z``, with a mean that is not negative."""
    from scipy.special import ndtr

    ratio = np.divide(mean, error, out=np.full_like(mean, np.inf), where=error > 0)
    found: NDArray[np.float64] = error * np.sqrt(2 / np.pi) * np.exp(-(ratio**2) / 2)
    found += mean * (1 - 2 * ndtr(-ratio))
    return found


def link_calibration_error(linked: NDArray[np.bool_], probability: NDArray[np.float64]) -> float:
    """The :func:`calibration_error` of these pairs."""
    return calibration_error(calibration_bins(linked, probability))
