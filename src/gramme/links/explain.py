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

from gramme._text import share
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
    column_kinds = np.array([family(column_name) for column_name in column_names()])
    evidence_kinds = list(dict.fromkeys(column_kinds.tolist()))
    added_odds = mixture.contributions(rows, [column_kinds == kind for kind in evidence_kinds])
    pair_reasons = []
    for pair_index, pair_odds in enumerate(added_odds):
        strongest_kinds = [
            evidence_kinds[kind_index]
            for kind_index in np.argsort(-pair_odds, kind="stable")[:2]
            if pair_odds[kind_index] > 0.05
        ]
        reason_words: list[str] = []
        for kind in strongest_kinds:
            kind_words = named[kind][pair_index] if kind in named else ""
            if not kind_words or any(kind_words in earlier for earlier in reason_words):
                reason_words.append(kind)
            else:
                reason_words.append(f"{kind}: {kind_words}" if kind == WALKS_MEET else kind_words)
        pair_reasons.append("; ".join(reason_words))
    return pair_reasons


def named_reasons(evidence: Evidence, pairs: Pairs) -> dict[str, list[str]]:
    """By kind of evidence what it is for each pair, with names; an empty text where there is nothing to name."""
    adjacency, degree = evidence.scores["all"].adjacency, evidence.scores["all"].degree
    neighbours = [
        adjacency.indices[adjacency.indptr[node_index] : adjacency.indptr[node_index + 1]]
        for node_index in pairs.ravel()
    ]
    common_words, path_words = [], []
    for (first_node, second_node), first_neighbours, second_neighbours in zip(
        pairs.tolist(), neighbours[::2], neighbours[1::2], strict=True
    ):
        common_nodes = np.intersect1d(first_neighbours, second_neighbours, assume_unique=True)
        # nodes with few links say most
        common_nodes = common_nodes[np.lexsort((common_nodes, degree[common_nodes]))][:2]
        common_words.append(_joint(evidence, first_node, second_node, common_nodes.tolist()))
        path_words.append(
            common_words[-1]
            or _way(
                evidence,
                first_neighbours[first_neighbours != second_node],
                second_neighbours[second_neighbours != first_node],
            )
        )
    return {
        "linked in other layers": [
            f"linked in {layer_names}" if layer_names else "" for layer_names in evidence.linked_in(pairs)
        ],
        "common neighbours": common_words,
        "paths of length 3": path_words,
        WALKS_MEET: common_words,
        "groups in common": _groups(evidence, pairs),
    }


def _way(evidence: Evidence, one: Ints, other: Ints) -> str:
    """The two nodes over which a path of length 3 leads, those with fewest links."""
    path_scores = evidence.scores["all"]
    # a look at some of them is enough
    one, other = (
        neighbour_nodes[np.argsort(path_scores.degree[neighbour_nodes], kind="stable")[:50]]
        for neighbour_nodes in (one, other)
    )
    path_weights = (
        path_scores.adjacency[one][:, other].toarray() * path_scores.by_root[one][:, None] * path_scores.by_root[other]
    )
    if not path_weights.any():
        return ""
    first_index, second_index = np.unravel_index(int(path_weights.argmax()), path_weights.shape)
    return f"joined by way of {_name(evidence, one[first_index])} and {_name(evidence, other[second_index])}"


def _joint(evidence: Evidence, first: int, second: int, common: Sequence[int]) -> str:
    """How two nodes are linked with their common neighbours, and in which layers.

    Those with whom they are linked in the same way are named together.
    """
    names_by_way: dict[tuple[str, str], list[str]] = {}
    for common_node in common:
        layers_by_way: dict[str, list[str]] = {"with": [], "to": [], "from": []}
        for layer_name, matrix in evidence.matrices.directed.items():
            both_send = matrix[first, common_node] and matrix[second, common_node]
            both_get = matrix[common_node, first] and matrix[common_node, second]
            if both_send or both_get:
                layers_by_way["with" if both_send and both_get else "to" if both_send else "from"].append(layer_name)
        way, layer_names = max(layers_by_way.items(), key=lambda item: len(item[1]))
        layer_words = f"in {listed(layer_names)}" if layer_names else "in different layers"
        names_by_way.setdefault((way, layer_words), []).append(_name(evidence, common_node))
    way_words = [f"{way} {' and '.join(node_names)} {where}" for (way, where), node_names in names_by_way.items()]
    return f"both linked {' and '.join(way_words)}" if way_words else ""


def _groups(evidence: Evidence, pairs: Pairs) -> list[str]:
    """For each pair the smallest group that has both."""
    members = evidence.matrices.groups
    group_sizes = np.bincount(members.indices, minlength=members.shape[1])
    group_names = [
        (layer_name, group)
        for layer_name, graph_layer in evidence.graph.layers.items()
        if (group_layer := graph_layer.as_groups()) is not None
        for group in group_layer.group_names
    ]
    shared_groups = sp.csr_array(members[pairs[:, 0]].multiply(members[pairs[:, 1]]))
    pair_words = []
    for pair_index in range(len(pairs)):
        pair_groups = shared_groups.indices[shared_groups.indptr[pair_index] : shared_groups.indptr[pair_index + 1]]
        best_group = (
            group_names[pair_groups[np.lexsort((pair_groups, group_sizes[pair_groups]))[0]]]
            if pair_groups.size
            else None
        )
        pair_words.append("" if best_group is None else f"both in {_short(best_group[1])} ({_short(best_group[0])})")
    return pair_words


def _name(evidence: Evidence, node: Any) -> str:
    return _short(evidence.graph.nodes[int(node)])


def _short(name: Any) -> str:
    text = str(name)
    return text if len(text) <= 40 else f"{text[:39]}…"


def changes(evidence: Evidence, pairs: Pairs, part: Ints) -> list[str]:
    """What a link would change: it bridges two parts of the network, closes triangles, or shortens a path."""
    adjacency = evidence.scores["all"].adjacency
    link_pattern = sp.csr_array((np.ones(adjacency.nnz), adjacency.indices, adjacency.indptr), shape=adjacency.shape)
    triangles = row_products(link_pattern, pairs).astype(int)
    return [
        BRIDGE
        if in_two_parts
        else f"{CLOSES} {num_triangles:,} triangle{'s' * (num_triangles > 1)}"
        if num_triangles
        else "shortens a path"
        for in_two_parts, num_triangles in zip(
            (part[pairs[:, 0]] != part[pairs[:, 1]]).tolist(), triangles.tolist(), strict=True
        )
    ]


def network_parts(evidence: Evidence, seed: int) -> Ints:
    """The part of the network that each node is in, over all layers together; one where it does not fall into parts.

    By modularity (Leiden's algorithm), of which 0.3 is taken to show parts (Clauset, Newman, Moore 2004).
    """
    adjacency, strength = evidence.scores["all"].adjacency, evidence.scores["all"].strength
    total_strength = max(float(strength.sum()), 1e-300)
    part_of_node = leiden(adjacency, strength[:, None] / np.sqrt(total_strength), np.random.default_rng(seed))
    edge_entries = adjacency.tocoo()
    inside_share = (
        float(edge_entries.data[part_of_node[edge_entries.row] == part_of_node[edge_entries.col]].sum())
        / total_strength
    )
    modularity = inside_share - float((np.bincount(part_of_node, strength) ** 2).sum()) / total_strength**2
    return part_of_node if modularity >= 0.3 else np.zeros_like(part_of_node)


def ingredient_table(examples: Mapping[str, LayerExamples], mixtures: Mapping[str, LayerMixture]) -> pd.DataFrame:
    """Per layer and column: what it says, its ROC-AUC alone, and how far the mixture falls when it is shuffled."""
    table_rows: list[tuple[Any, ...]] = []
    for layer, layer_examples in examples.items():
        evidence_rows, is_linked = (
            layer_examples.rows[layer_examples.judged],
            layer_examples.linked[layer_examples.judged],
        )
        mixture_auc = roc_auc(is_linked, mixtures[layer].probability(evidence_rows))
        random_numbers = np.random.default_rng(0)
        shuffled_order = random_numbers.permutation(len(is_linked))
        for column_index, col_name in enumerate(column_names()):
            column = evidence_rows[:, column_index]
            if np.ptp(column) == 0:
                continue
            shuffled_rows = evidence_rows.copy()
            shuffled_rows[:, column_index] = column[shuffled_order]
            lost_auc = mixture_auc - roc_auc(is_linked, mixtures[layer].probability(shuffled_rows))
            table_rows.append((layer, col_name, in_words(col_name), roc_auc(is_linked, column), max(0.0, lost_auc)))
    return pd.DataFrame(table_rows, columns=["layer", "ingredient", "meaning", "roc_auc", "importance"])


def explanation(
    examples: Mapping[str, LayerExamples],
    unseen: Mapping[str, Floats],
    ingredients: pd.DataFrame,
    words: Iterable[str] = (),
) -> tuple[pd.DataFrame, str]:
    """The scores of each layer on pairs the mixture had not seen, and what to say about them, with further words."""
    score_rows = []
    for layer, layer_examples in examples.items():
        is_linked, probability = layer_examples.linked[layer_examples.judged], unseen[layer][layer_examples.judged]
        mean_error = link_calibration_error(is_linked, probability)
        score_rows.append((layer, len(is_linked), roc_auc(is_linked, probability), mean_error))
    scores = pd.DataFrame(score_rows, columns=["layer", "pairs", "roc_auc", "calibration_error"])
    family_importance = ingredients["importance"].groupby(ingredients["ingredient"].map(family), sort=False).sum()
    leading_families = family_importance.sort_values(ascending=False)
    family_names = [str(family_name) for family_name in leading_families.index[:3] if leading_families[family_name] > 0]
    first_sentence = (
        f"On pairs set aside, a linked one gets a higher probability than an unlinked one "
        f"{share(scores['roc_auc'].mean(), 1)} of the time."
    )
    if (num_pairs := int(scores["pairs"].sum())) < FEW_PAIRS:
        first_sentence += f" With {num_pairs} pairs that says little."
    if family_names:
        first_sentence += f" What counts most: {', '.join(family_names)}."
    return scores, " ".join([first_sentence, *(further_word for further_word in words if further_word)])


def percent(probability: float) -> str:
    """A probability for a reader; none is called certain or impossible.

    >>> percent(0.875), percent(0.99987), percent(0.00002)
    ('87.5 %', '>99.9 %', '<0.1 %')
    """
    if probability < 0.0005:
        return "<0.1 %"
    return ">99.9 %" if probability >= 0.9995 else share(probability, 1)


def roc_auc(linked: NDArray[np.bool_], scores: Floats) -> float:
    """How often a linked pair has the larger score than an unlinked one; a tie counts half."""
    num_linked = int(linked.sum())
    num_unlinked = len(linked) - num_linked
    if not num_linked or not num_unlinked:
        return float("nan")
    rank_sum = rankdata(scores)[linked].sum()
    return float((rank_sum - num_linked * (num_linked + 1) / 2) / (num_linked * num_unlinked))


def calibration_bins(linked: NDArray[np.bool_], probability: Floats, bins: int = 10) -> Floats:
    """Pairs, sum of their probabilities and linked ones among them, per tenth of the scale: shape (bins, 3)."""
    bin_index = np.minimum((probability * bins).astype(int), bins - 1)
    ones = np.ones(len(linked))
    sum_columns = (ones, probability, linked.astype(np.float64))
    return np.stack([np.bincount(bin_index, weights=sum_column, minlength=bins) for sum_column in sum_columns], axis=1)


def calibration_error(bins: Floats) -> float:
    """How far probabilities are from the share of linked pairs, on average over the pairs in :func:`calibration_bins`.

    Few pairs per bin make the plain difference look larger than it is: even perfect probabilities miss the share by
    chance. So the part that chance adds is estimated and taken away (Kumar, Liang and Ma 2019): with the difference
    ``d`` of a bin and the standard error ``s`` of its share, it is ``E|d + s z| - |d|`` for a normal ``z``. Bins of
    several splits are best added up first.

    >>> round(calibration_error(np.array([[100_000.0, 90_000.0, 80_000.0]])), 6)
    0.1
    """
    num_pairs, expected_links, num_linked = bins[bins[:, 0] > 0].T
    if not len(num_pairs):
        return 0.0
    linked_share = num_linked / num_pairs
    share_gap = np.abs(expected_links / num_pairs - linked_share)
    share_error = np.sqrt(linked_share * (1 - linked_share) / num_pairs)
    gap_ratio = np.divide(share_gap, share_error, out=np.full_like(share_gap, np.inf), where=share_error > 0)
    mean_size = share_error * np.sqrt(2 / np.pi) * np.exp(-(gap_ratio**2) / 2) + share_gap * (1 - 2 * ndtr(-gap_ratio))
    return max(0.0, float((2 * share_gap - mean_size) @ num_pairs / num_pairs.sum()))


def link_calibration_error(linked: NDArray[np.bool_], probability: Floats) -> float:
    """The :func:`calibration_error` of these pairs."""
    return calibration_error(calibration_bins(linked, probability))
