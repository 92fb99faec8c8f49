"""How many of the candidates shown are links: probabilities at the rate of the world, and counts with an interval.

A score compares a pair with random pairs; links are rare among candidates, so a score near 1 may still be a poor bet.
What a list of candidates holds is seen from edges set aside. For each of them, its *rank* is the number of unlinked
pairs ahead of it in the list of the graph that lacks it. A link that is missing in the data meets the same competition
in the list of the whole graph: it is among the first k candidates as often as an edge set aside has a rank of at most
k. With H missing links, ``H * share(rank <= k)`` of the first k candidates are links.

How many links are missing no data can tell: H follows from the share of a layer's links that the user takes to be
missing, a fifth unless said otherwise. Every count is given for that share.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.special import expit, logit
from sklearn.isotonic import isotonic_regression

from gramme._text import share
from gramme._types import Floats

from .mixture import CandidateList, LayerExamples, LayerMixture, log_odds_of
from .pair_scores import entries

if TYPE_CHECKING:
    import pandas as pd

    from .estimator import GrammeLinks

TRANSFER_ERROR, LEAST_ERROR = 0.2, 0.03
"""Error, as a standard deviation, of carrying a count from the graph without a part to the whole one: relative to the
count where most pairs are no links, and at least. Chosen, like the constants in the code below, so that nine of ten
lists lie in their interval: benchmarks/accuracy/links.py, seeds 0 and 1, 17 networks of under 2,000 edges a layer."""


class ExpectedLinks(NamedTuple):
    """How many of the first candidates are expected to be links.

    Attributes
    ----------
    count : float
        The expected number.
    low, high : int
        The interval that contains the number in nine of ten lists.
    shown : int
        The number of candidates; fewer than were asked for where there are not as many.
    """

    count: float  # type: ignore[assignment]  # a tuple's own count is of no use here
    low: int
    high: int
    shown: int

    def __str__(self) -> str:
        """In words.

        >>> print(ExpectedLinks(46.2, 38, 55, 100))
        of these 100 pairs expect about 46 (38 to 55) to be links
        """
        if self.shown == 1:
            return f"this pair is a link with a probability of about {share(self.count)}"
        count_text = f"{self.count:.0f}" if self.count >= 1 or self.high > 1 else "none"
        interval_text = f"{self.low}" if self.low == self.high else f"{self.low} to {self.high}"
        return f"of these {self.shown:,} pairs expect about {count_text} ({interval_text}) to be links"


@dataclass(frozen=True)
class FoundRanks:
    """At which ranks of the lists of candidates edges set aside were found."""

    ranks: Floats  # unlinked candidates ahead of each edge found, plus one; in order
    set_aside: int  # edges, found or not
    thinner_ranks: Floats | None = None  # the same in graphs that lack as many edges again
    growth: float = (
        0.0  # of log visible edges: from without a part to whole, relative to from thinner to without a part
    )

    def found_share(self, depth: Floats) -> Floats:
        """The share of missing links that are among the first candidates of the whole graph, at each depth.

        It is that of edges set aside, carried on to the whole graph: more visible edges tell more, as the step from the
        thinner graphs shows.
        """
        num_found = np.searchsorted(self.ranks, depth, side="right").astype(np.float64)
        if self.thinner_ranks is not None:
            num_found_thinner = np.searchsorted(self.thinner_ranks, depth, side="right")
            # five edges that are taken to be found alike keep few edges found from telling a great change; half of the
            # growth is carried on, since mixtures know the graphs they were fitted on best
            num_found *= ((num_found + 5.0) / (num_found_thinner + 5.0)) ** (0.5 * self.growth)
        share_found: Floats = num_found / max(self.set_aside, 1)
        return np.minimum(np.maximum.accumulate(share_found), 1.0)

    def told_apart(self, depth: Floats) -> Floats:
        """Those of the depths between which eight edges were found, and the last.

        Fewer would make the top of a list look too good.
        """
        num_found = np.searchsorted(self.ranks, depth, side="right")
        kept_index, num_before = [], 0
        for depth_index, num_at_depth in enumerate(num_found):
            if num_at_depth - num_before >= 8 or depth_index == len(num_found) - 1:
                kept_index.append(depth_index)
                num_before = num_at_depth
        return depth[kept_index]

    @classmethod
    def of_lists(
        cls, examples: LayerExamples, mixtures: Sequence[LayerMixture], fold_of_pair: sp.csr_array
    ) -> FoundRanks:
        """From the candidates of each graph that lacks a part, scored by mixtures that have not seen the pairs.

        There is a mixture for each fold, fitted without it; ``fold_of_pair`` has the fold of each example, plus one.
        """
        edge_ranks, thinner_ranks = [np.zeros(0)], [np.zeros(0)]
        for candidate_list in examples.lists:
            edge_ranks += _ranks_in(candidate_list, mixtures, fold_of_pair)
            if candidate_list.thinner is not None:
                thinner_ranks += _ranks_in(candidate_list.thinner, mixtures, fold_of_pair)
        mean_shares = np.mean([listed.visible_shares for listed in examples.lists], axis=0)
        # recall grows as a power of the share of edges that are visible
        growth_ratio = (
            float(np.log(1 / mean_shares[0]) / np.log(mean_shares[0] / mean_shares[1])) if mean_shares[1] else 0.0
        )
        return cls(
            np.sort(np.concatenate(edge_ranks)),
            sum(listed.set_aside for listed in examples.lists),
            np.sort(np.concatenate(thinner_ranks)),
            growth_ratio,
        )

    @classmethod
    def of_scores(cls, linked: Floats, candidates: Floats) -> FoundRanks:
        """From the scores of pairs known to be links, and those of the candidates they compete with."""
        sorted_scores = np.sort(candidates)
        return cls(np.sort(len(sorted_scores) - np.searchsorted(sorted_scores, linked) + 1.0), len(linked))


def _ranks_in(listed: CandidateList, mixtures: Sequence[LayerMixture], fold_of_pairs: sp.csr_array) -> list[Floats]:
    """The ranks of edges set aside, by mixtures that have not seen them nor the unlinked pairs.

    Unlinked pairs that were learned from may be the very links that are missing; a mixture that has seen them as
    unlinked would put them down. One that was not learned from is judged by the mixture of the edge.
    """
    fold_index = entries(fold_of_pairs, listed.pairs).astype(np.int64) - 1
    evidence_rows = listed.rows.astype(np.float64)
    is_unlinked = ~listed.linked
    edge_ranks = []
    for fold_number in np.unique(fold_index[listed.linked & (fold_index >= 0)]):
        unlinked_odds = mixtures[fold_number].mixed(evidence_rows[is_unlinked])
        for other_fold in np.unique(fold_index[is_unlinked & (fold_index >= 0)]):
            seen_without = fold_index[is_unlinked] == other_fold
            unlinked_odds[seen_without] = mixtures[other_fold].mixed(evidence_rows[is_unlinked][seen_without])
        sorted_odds = np.sort(unlinked_odds)
        edge_odds = mixtures[fold_number].mixed(evidence_rows[listed.linked & (fold_index == fold_number)])
        # of those with the same score, half are ahead
        num_ahead = (
            len(sorted_odds)
            - (np.searchsorted(sorted_odds, edge_odds, "left") + np.searchsorted(sorted_odds, edge_odds, "right")) / 2
        )
        edge_ranks.append(1.0 + num_ahead / listed.sampled_share)
    return edge_ranks


def missing_links(num_edges: int, missing_share: float, num_unlinked: int) -> float:
    """How many links are missing if they are such a share of all links; no more than there are unlinked pairs.

    >>> missing_links(80, 0.2, 1000)
    20.0
    """
    return min(num_edges * missing_share / (1.0 - missing_share), float(num_unlinked))


@dataclass(frozen=True)
class LinkRates:
    """From scores to probabilities at the rate among candidates: knots between which log-odds are interpolated."""

    log_odds: Floats  # of scores, rising
    rate: Floats  # log-odds of the probability there, not falling
    missing: float  # links that are taken to be missing
    set_aside: int  # edges that the rates were learned from

    @classmethod
    def of(cls, ranks: FoundRanks, scores: Floats, missing: float, num_unlinked: int) -> LinkRates:
        """From the ranks of edges set aside to the candidates of the whole graph, given by all their scores.

        ``missing`` links are taken to be missing among the ``num_unlinked`` pairs of the layer without an edge.
        """
        odds_down = np.sort(log_odds_of(scores))[::-1]
        # evenly spaced in their logarithm, from the first to the last candidate
        spaced_ranks = (
            np.geomspace(1, len(odds_down), int(np.ceil(8 * np.log(len(odds_down)))) + 1)
            if len(odds_down)
            else np.zeros(0)
        )
        depth = ranks.told_apart(np.unique(np.round(spaced_ranks)))
        found_share = ranks.found_share(depth)
        # Missing links would stand in the list as edges set aside do, one at each place: if half of all edges have a
        # rank of at most 10, half of what is missing is among the first 10 candidates, so that it cannot be more than
        # 10, or 20 links in all, but for chance.
        has_found = found_share > 0
        most_found = depth[has_found] + 2 * np.sqrt(depth[has_found]) + 2
        missing = min(missing, float((most_found / found_share[has_found]).min(initial=np.inf)))
        links_by_depth = np.minimum(missing * found_share, depth)
        # what is missing beyond the candidates is spread over all other pairs
        links_beyond = max(missing - (links_by_depth[-1] if len(links_by_depth) else 0.0), 0.5)
        num_other_pairs = max(num_unlinked - len(odds_down), 1)
        pairs_in_step = np.diff(depth, prepend=0.0)
        links_in_step = np.diff(links_by_depth, prepend=0.0)
        # half a link in all keeps a list in which none was found from being called hopeless
        links_in_step = links_in_step + 0.5 * pairs_in_step / max(depth[-1] if len(depth) else 1.0, 1.0)
        link_share = links_in_step / np.maximum(pairs_in_step, 1.0)
        if len(link_share):
            link_share = isotonic_regression(link_share, sample_weight=pairs_in_step, increasing=False)
        rate_odds = logit(np.clip(link_share, 1e-9, 0.97))  # no pair is called more probable
        middle_rank = np.maximum((depth + np.concatenate([[0.0], depth[:-1]])) / 2 - 0.5, 0.0)
        knot_odds = np.interp(middle_rank, np.arange(len(odds_down)), odds_down) if len(odds_down) else np.zeros(0)
        last_odds = knot_odds[-1] if len(knot_odds) else 0.0
        bottom_odds = min(
            float(logit(np.clip(links_beyond / num_other_pairs, 1e-9, 0.5))),
            rate_odds[-1] if len(rate_odds) else np.inf,
        )
        knot_odds = np.concatenate([knot_odds, [last_odds - 3.0]])
        rate_odds = np.concatenate([rate_odds, [bottom_odds]])
        knot_order = np.argsort(knot_odds, kind="stable")
        knot_odds, kept_knots = np.unique(knot_odds[knot_order], return_index=True)
        return cls(knot_odds, np.maximum.accumulate(rate_odds[knot_order][kept_knots]), missing, ranks.set_aside)

    def probability(self, scores: Floats) -> Floats:
        """The chance that a pair of a score is a link; in the order of the scores."""
        score_odds = log_odds_of(scores)
        odds_below = np.minimum(score_odds - self.log_odds[0], 0.0)
        # the last term keeps pairs of equal probability in the order of their scores
        link_chance: Floats = expit(np.interp(score_odds, self.log_odds, self.rate) + odds_below + 1e-3 * score_odds)
        return link_chance

    def expected(self, probabilities: Floats, level: float = 0.9) -> ExpectedLinks:
        """How many of some pairs are links, from their probabilities.

        Three things make the number uncertain: chance of each pair, the few edges the rates were learned from, and the
        step from the graph without a part to the whole one.
        """
        num_shown, expected_count = len(probabilities), float(probabilities.sum())
        if not num_shown:
            return ExpectedLinks(0.0, 0, 0, 0)
        by_chance = float((probabilities * (1 - probabilities)).sum())
        num_found = max(expected_count * self.set_aside / max(self.missing, 1e-9), 1.0)
        learned_variance = expected_count**2 * (1 / num_found + TRANSFER_ERROR**2) * (1 - expected_count / num_shown)
        learned_variance += (LEAST_ERROR * expected_count) ** 2
        low, high = _count_interval(expected_count, by_chance, learned_variance, num_shown, level)
        return ExpectedLinks(expected_count, low, high, num_shown)


def _count_interval(mean: float, by_chance: float, learned: float, shown: int, level: float) -> tuple[int, int]:
    """Quantiles of a count from 0 to ``shown``: the beta-binomial one of that mean and variance."""
    from scipy.stats import betabinom, binom

    mean_share = float(np.clip(mean / shown, 1e-6, 1 - 1e-6))
    binomial_variance = shown * mean_share * (1 - mean_share)
    tail_share = (1 - level) / 2
    if shown == 1:
        return (0, 1) if tail_share < mean_share < 1 - tail_share else (int(mean_share > 0.5),) * 2
    pair_correlation = ((by_chance + learned) / binomial_variance - 1) / (shown - 1)
    if pair_correlation <= 1e-6:
        return int(binom.ppf(tail_share, shown, mean_share)), int(binom.ppf(1 - tail_share, shown, mean_share))
    beta_strength = 1 / min(pair_correlation, 0.9) - 1
    count_distribution = betabinom(shown, mean_share * beta_strength, (1 - mean_share) * beta_strength)
    return int(count_distribution.ppf(tail_share)), int(count_distribution.ppf(1 - tail_share))


def expected_in_all(counts: Sequence[ExpectedLinks]) -> ExpectedLinks:
    """Of several lists together, their errors taken to be independent.

    >>> expected_in_all([ExpectedLinks(4.0, 1, 7, 10), ExpectedLinks(5.0, 1, 9, 10)])
    ExpectedLinks(count=9.0, low=4, high=14, shown=20)
    """
    total_count = sum(layer_count.count for layer_count in counts)
    error_below = float(np.sqrt(sum((layer_count.count - layer_count.low) ** 2 for layer_count in counts)))
    error_above = float(np.sqrt(sum((layer_count.high - layer_count.count) ** 2 for layer_count in counts)))
    total_shown = sum(layer_count.shown for layer_count in counts)
    return ExpectedLinks(
        total_count,
        max(int(np.floor(total_count - error_below)), 0),
        min(int(np.ceil(total_count + error_above)), total_shown),
        total_shown,
    )


def expected_by_layer(model: GrammeLinks, links: pd.DataFrame) -> list[dict[str, Any]]:
    """How many of the pairs listed for each layer are expected to be links, and of all of them in a last row.

    ``links`` is as from :meth:`~gramme.GrammeLinks.candidates`, of one layer or several.
    """
    counts = {
        str(layer): model.expected_of(str(layer), layer_links["score"].to_numpy())
        for layer, layer_links in links.groupby("layer", sort=False)
    }
    count_rows: list[dict[str, Any]] = [{"layer": layer} | one_count._asdict() for layer, one_count in counts.items()]
    if len(counts) > 1:
        count_rows.append({"layer": None} | expected_in_all(list(counts.values()))._asdict())
    return count_rows


def expected_sentences(expected: Sequence[Mapping[str, Any]]) -> list[str]:
    """The counts of :func:`expected_by_layer` in words.

    >>> expected_sentences([{"layer": "advice", "count": 46.0, "low": 38, "high": 55, "shown": 100}])
    ['advice: of these 100 pairs expect about 46 (38 to 55) to be links']
    """
    return [
        f"{'all layers' if row['layer'] is None else row['layer']}: "
        f"{ExpectedLinks(row['count'], row['low'], row['high'], row['shown'])}"
        for row in expected
    ]
