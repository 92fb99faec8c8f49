"""Why a pair may be linked, and what the predictions of a layer are based on, in words and numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.special import ndtr
from scipy.stats import rankdata

from gramme._types import Floats, Ints
from gramme.ops.leiden import leiden

from .evidence import WALKS_MEET, Evidence, column_names, family, in_words
from .evidence import named as listed
from .mixture import LayerExamples, LayerMixture
from .pair_scores import Pairs, row_products

BRIDGE, CLOSES = "bridges two parts", "closes"
"""How the words for what a link would change begin."""
FEW_PAIRS = 50
"""Pairs set aside, in all layers, below which how well they are told is called a figure that says little."""


def reasons(
    mixture: LayerMixture, rows: Floats, named: Mapping[str, Sequence[str]] = MappingProxyType({})
) -> list[str]:
    """For each pair the kinds of evidence that speak most for a link, against a typical pair without one.

    ``named`` has words for a kind that name the people, layers or groups of each pair; see :func:`named_reasons`.
    """
    families = np.array([family(name) for name in column_names()])
    kinds = list(dict.fromkeys(families.tolist()))
    added = mixture.contributions(rows, [families == kind for kind in kinds])
    found = []
    for pair, row in enumerate(added):
        strongest = [kinds[place] for place in np.argsort(-row, kind="stable")[:2] if row[place] > 0.05]
        words: list[str] = []
        for kind in strongest:
            names = named[kind][pair] if kind in named else ""
            if not names or any(names in earlier for earlier in words):
                words.append(kind)
            else:
                words.append(f"{kind}: {names}" if kind == WALKS_MEET else names)
        found.append("; ".join(words))
    return found


def named_reasons(evidence: Evidence, pairs: Pairs) -> dict[str, list[str]]:
    """By kind of evidence what it is for each pair, with names; an empty text where there is nothing to name."""
    adjacency, degree = evidence.scores["all"].adjacency, evidence.scores["all"].degree
    neighbours = [adjacency.indices[adjacency.indptr[node] : adjacency.indptr[node + 1]] for node in pairs.ravel()]
    shared, ways = [], []
    for (first, second), one, other in zip(pairs.tolist(), neighbours[::2], neighbours[1::2], strict=True):
        common = np.intersect1d(one, other, assume_unique=True)
        # nodes with few links say most
        common = common[np.lexsort((common, degree[common]))][:2]
        shared.append(_joint(evidence, first, second, common.tolist()))
        ways.append(shared[-1] or _way(evidence, one[one != second], other[other != first]))
    return {
        "linked in other layers": [f"linked in {names}" if names else "" for names in evidence.linked_in(pairs)],
        "common neighbours": shared,
        "paths of length 3": ways,
        WALKS_MEET: shared,
        "groups in common": _groups(evidence, pairs),
    }


def _way(evidence: Evidence, one: Ints, other: Ints) -> str:
    """The two nodes over which a path of length 3 leads, those with fewest links."""
    scores = evidence.scores["all"]
    # a look at some of them is enough
    one, other = (some[np.argsort(scores.degree[some], kind="stable")[:50]] for some in (one, other))
    between = scores.adjacency[one][:, other].toarray() * scores.by_root[one][:, None] * scores.by_root[other]
    if not between.any():
        return ""
    first, second = np.unravel_index(int(between.argmax()), between.shape)
    return f"joined by way of {_name(evidence, one[first])} and {_name(evidence, other[second])}"


def _joint(evidence: Evidence, first: int, second: int, common: Sequence[int]) -> str:
    """How two nodes are linked with their common neighbours, and in which layers.

    Those with whom they are linked in the same way are named together.
    """
    ways: dict[tuple[str, str], list[str]] = {}
    for node in common:
        links: dict[str, list[str]] = {"with": [], "to": [], "from": []}
        for name, matrix in evidence.matrices.directed.items():
            sent = matrix[first, node] and matrix[second, node]
            heard = matrix[node, first] and matrix[node, second]
            if sent or heard:
                links["with" if sent and heard else "to" if sent else "from"].append(name)
        way, layers = max(links.items(), key=lambda item: len(item[1]))
        where = f"in {listed(layers)}" if layers else "in different layers"
        ways.setdefault((way, where), []).append(_name(evidence, node))
    parts = [f"{way} {' and '.join(names)} {where}" for (way, where), names in ways.items()]
    return f"both linked {' and '.join(parts)}" if parts else ""


def _groups(evidence: Evidence, pairs: Pairs) -> list[str]:
    """For each pair the smallest group that has both."""
    members = evidence.matrices.groups
    sizes = np.bincount(members.indices, minlength=members.shape[1])
    names = [
        (layer, group)
        for layer, one in evidence.graph.layers.items()
        if (made := one.as_groups()) is not None
        for group in made.group_names
    ]
    both = sp.csr_array(members[pairs[:, 0]].multiply(members[pairs[:, 1]]))
    found = []
    for pair in range(len(pairs)):
        groups = both.indices[both.indptr[pair] : both.indptr[pair + 1]]
        smallest = names[groups[np.lexsort((groups, sizes[groups]))[0]]] if groups.size else None
        found.append("" if smallest is None else f"both in {_short(smallest[1])} ({_short(smallest[0])})")
    return found


def _name(evidence: Evidence, node: Any) -> str:
    return _short(evidence.graph.nodes[int(node)])


def _short(name: Any) -> str:
    text = str(name)
    return text if len(text) <= 40 else f"{text[:39]}…"


def changes(evidence: Evidence, pairs: Pairs, part: Ints) -> list[str]:
    """What a link would change: it bridges two parts of the network, closes triangles, or shortens a path."""
    adjacency = evidence.scores["all"].adjacency
    pattern = sp.csr_array((np.ones(adjacency.nnz), adjacency.indices, adjacency.indptr), shape=adjacency.shape)
    triangles = row_products(pattern, pairs).astype(int)
    return [
        BRIDGE if apart else f"{CLOSES} {count:,} triangle{'s' * (count > 1)}" if count else "shortens a path"
        for apart, count in zip((part[pairs[:, 0]] != part[pairs[:, 1]]).tolist(), triangles.tolist(), strict=True)
    ]


def network_parts(evidence: Evidence, seed: int) -> Ints:
    """The part of the network that each node is in, over all layers together; one where it does not fall into parts.

    By modularity (Leiden's algorithm), of which 0.3 is taken to show parts (Clauset, Newman, Moore 2004).
    """
    adjacency, strength = evidence.scores["all"].adjacency, evidence.scores["all"].strength
    total = max(float(strength.sum()), 1e-300)
    part = leiden(adjacency, strength[:, None] / np.sqrt(total), np.random.default_rng(seed))
    edges = adjacency.tocoo()
    inside = float(edges.data[part[edges.row] == part[edges.col]].sum()) / total
    modularity = inside - float((np.bincount(part, strength) ** 2).sum()) / total**2
    return part if modularity >= 0.3 else np.zeros_like(part)


def ingredient_table(examples: Mapping[str, LayerExamples], mixtures: Mapping[str, LayerMixture]) -> pd.DataFrame:
    """Per layer and column: what it says, its ROC-AUC alone, and how far the mixture falls when it is shuffled."""
    rows: list[tuple[Any, ...]] = []
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
            lost = whole - roc_auc(linked, mixtures[layer].probability(without))
            rows.append((layer, name, in_words(name), roc_auc(linked, column), max(0.0, lost)))
    return pd.DataFrame(rows, columns=["layer", "ingredient", "meaning", "roc_auc", "importance"])


def explanation(
    examples: Mapping[str, LayerExamples],
    unseen: Mapping[str, Floats],
    ingredients: pd.DataFrame,
    words: Iterable[str] = (),
) -> tuple[pd.DataFrame, str]:
    """The scores of each layer on pairs the mixture had not seen, and what to say about them, with further words."""
    rows = []
    for layer, one in examples.items():
        linked, probability = one.linked[one.judged], unseen[layer][one.judged]
        error = link_calibration_error(linked, probability)
        rows.append((layer, len(linked), roc_auc(linked, probability), error))
    scores = pd.DataFrame(rows, columns=["layer", "pairs", "roc_auc", "calibration_error"])
    families = ingredients["importance"].groupby(ingredients["ingredient"].map(family), sort=False).sum()
    leading = families.sort_values(ascending=False)
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


def roc_auc(linked: NDArray[np.bool_], scores: Floats) -> float:
    """How often a linked pair has the larger score than an unlinked one; a tie counts half."""
    positive = int(linked.sum())
    negative = len(linked) - positive
    if not positive or not negative:
        return float("nan")
    ranks = rankdata(scores)[linked].sum()
    return float((ranks - positive * (positive + 1) / 2) / (positive * negative))


def calibration_bins(linked: NDArray[np.bool_], probability: Floats, bins: int = 10) -> Floats:
    """Pairs, sum of their probabilities and linked ones among them, per tenth of the scale: shape (bins, 3)."""
    place = np.minimum((probability * bins).astype(int), bins - 1)
    ones = np.ones(len(linked))
    columns = (ones, probability, linked.astype(np.float64))
    return np.stack([np.bincount(place, weights=one, minlength=bins) for one in columns], axis=1)


def calibration_error(bins: Floats) -> float:
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
    ratio = np.divide(gap, error, out=np.full_like(gap, np.inf), where=error > 0)
    mean_size = error * np.sqrt(2 / np.pi) * np.exp(-(ratio**2) / 2) + gap * (1 - 2 * ndtr(-ratio))
    return max(0.0, float((2 * gap - mean_size) @ pairs / pairs.sum()))


def link_calibration_error(linked: NDArray[np.bool_], probability: Floats) -> float:
    """The :func:`calibration_error` of these pairs."""
    return calibration_error(calibration_bins(linked, probability))
