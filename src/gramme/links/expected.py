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
            return f"this pair is a link with a probability of about {self.count:.0%}"
        about = f"{self.count:.0f}" if self.count >= 1 or self.high > 1 else "none"
        spread = f"{self.low}" if self.low == self.high else f"{self.low} to {self.high}"
        return f"of these {self.shown:,} pairs expect about {about} ({spread}) to be links"


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
        found = np.searchsorted(self.ranks, depth, side="right").astype(np.float64)
        if self.thinner_ranks is not None:
            fewer = np.searchsorted(self.thinner_ranks, depth, side="right")
            # five edges that are taken to be found alike keep few edges found from telling a great change; half of the
            # growth is carried on, since mixtures know the graphs they were fitted on best
            found *= ((found + 5.0) / (fewer + 5.0)) ** (0.5 * self.growth)
        share: Floats = found / max(self.set_aside, 1)
        return np.minimum(np.maximum.accumulate(share), 1.0)

    def told_apart(self, depth: Floats) -> Floats:
        """Those of the depths between which eight edges were found, and the last.

        Fewer would make the top of a list look too good.
        """
        found = np.searchsorted(self.ranks, depth, side="right")
        kept, before = [], 0
        for place, count in enumerate(found):
            if count - before >= 8 or place == len(found) - 1:
                kept.append(place)
                before = count
        return depth[kept]

    @classmethod
    def of_lists(
        cls, examples: LayerExamples, mixtures: Sequence[LayerMixture], fold_of_pair: sp.csr_array
    ) -> FoundRanks:
        """From the candidates of each graph that lacks a part, scored by mixtures that have not seen the pairs.

        There is a mixture for each fold, fitted without it; ``fold_of_pair`` has the fold of each example, plus one.
        """
        ranks, thinner = [np.zeros(0)], [np.zeros(0)]
        for listed in examples.lists:
            ranks += _ranks_in(listed, mixtures, fold_of_pair)
            if listed.thinner is not None:
                thinner += _ranks_in(listed.thinner, mixtures, fold_of_pair)
        shares = np.mean([listed.visible_shares for listed in examples.lists], axis=0)
        # recall grows as a power of the share of edges that are visible
        growth = float(np.log(1 / shares[0]) / np.log(shares[0] / shares[1])) if shares[1] else 0.0
        return cls(
            np.sort(np.concatenate(ranks)),
            sum(listed.set_aside for listed in examples.lists),
            np.sort(np.concatenate(thinner)),
            growth,
        )

    @classmethod
    def of_scores(cls, linked: Floats, candidates: Floats) -> FoundRanks:
        """From the scores of pairs known to be links, and those of the candidates they compete with."""
        against = np.sort(candidates)
        return cls(np.sort(len(against) - np.searchsorted(against, linked) + 1.0), len(linked))


def _ranks_in(listed: CandidateList, mixtures: Sequence[LayerMixture], fold_of_pairs: sp.csr_array) -> list[Floats]:
    """The ranks of edges set aside, by mixtures that have not seen them nor the unlinked pairs.

    Unlinked pairs that were learned from may be the very links that are missing; a mixture that has seen them as
    unlinked would put them down. One that was not learned from is judged by the mixture of the edge.
    """
    folds = entries(fold_of_pairs, listed.pairs).astype(np.int64) - 1
    rows = listed.rows.astype(np.float64)
    unlinked = ~listed.linked
    found = []
    for fold in np.unique(folds[listed.linked & (folds >= 0)]):
        odds = mixtures[fold].mixed(rows[unlinked])
        for other in np.unique(folds[unlinked & (folds >= 0)]):
            seen_without = folds[unlinked] == other
            odds[seen_without] = mixtures[other].mixed(rows[unlinked][seen_without])
        against = np.sort(odds)
        own = mixtures[fold].mixed(rows[listed.linked & (folds == fold)])
        # of those with the same score, half are ahead
        ahead = len(against) - (np.searchsorted(against, own, "left") + np.searchsorted(against, own, "right")) / 2
        found.append(1.0 + ahead / listed.sampled_share)
    return found


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
        odds = np.sort(log_odds_of(scores))[::-1]
        # evenly spaced in their logarithm, from the first to the last candidate
        spaced = np.geomspace(1, len(odds), int(np.ceil(8 * np.log(len(odds)))) + 1) if len(odds) else np.zeros(0)
        depth = ranks.told_apart(np.unique(np.round(spaced)))
        found_share = ranks.found_share(depth)
        # Missing links would stand in the list as edges set aside do, one at each place: if half of all edges have a
        # rank of at most 10, half of what is missing is among the first 10 candidates, so that it cannot be more than
        # 10, or 20 links in all, but for chance.
        seen = found_share > 0
        room = depth[seen] + 2 * np.sqrt(depth[seen]) + 2
        missing = min(missing, float((room / found_share[seen]).min(initial=np.inf)))
        found = np.minimum(missing * found_share, depth)
        # what is missing beyond the candidates is spread over all other pairs
        beyond = max(missing - (found[-1] if len(found) else 0.0), 0.5)
        others = max(num_unlinked - len(odds), 1)
        pairs = np.diff(depth, prepend=0.0)
        links = np.diff(found, prepend=0.0)
        # half a link in all keeps a list in which none was found from being called hopeless
        links = links + 0.5 * pairs / max(depth[-1] if len(depth) else 1.0, 1.0)
        share = links / np.maximum(pairs, 1.0)
        if len(share):
            share = isotonic_regression(share, sample_weight=pairs, increasing=False)
        rate = logit(np.clip(share, 1e-9, 0.97))  # no pair is called more probable
        middle = np.maximum((depth + np.concatenate([[0.0], depth[:-1]])) / 2 - 0.5, 0.0)
        where = np.interp(middle, np.arange(len(odds)), odds) if len(odds) else np.zeros(0)
        last = where[-1] if len(where) else 0.0
        bottom = min(float(logit(np.clip(beyond / others, 1e-9, 0.5))), rate[-1] if len(rate) else np.inf)
        where = np.concatenate([where, [last - 3.0]])
        rate = np.concatenate([rate, [bottom]])
        order = np.argsort(where, kind="stable")
        where, kept = np.unique(where[order], return_index=True)
        return cls(where, np.maximum.accumulate(rate[order][kept]), missing, ranks.set_aside)

    def probability(self, scores: Floats) -> Floats:
        """The chance that a pair of a score is a link; in the order of the scores."""
        odds = log_odds_of(scores)
        below = np.minimum(odds - self.log_odds[0], 0.0)
        # the last term keeps pairs of equal probability in the order of their scores
        found: Floats = expit(np.interp(odds, self.log_odds, self.rate) + below + 1e-3 * odds)
        return found

    def expected(self, probabilities: Floats, level: float = 0.9) -> ExpectedLinks:
        """How many of some pairs are links, from their probabilities.

        Three things make the number uncertain: chance of each pair, the few edges the rates were learned from, and the
        step from the graph without a part to the whole one.
        """
        shown, mean = len(probabilities), float(probabilities.sum())
        if not shown:
            return ExpectedLinks(0.0, 0, 0, 0)
        by_chance = float((probabilities * (1 - probabilities)).sum())
        found = max(mean * self.set_aside / max(self.missing, 1e-9), 1.0)
        learned = mean**2 * (1 / found + TRANSFER_ERROR**2) * (1 - mean / shown)
        learned += (LEAST_ERROR * mean) ** 2
        low, high = _count_interval(mean, by_chance, learned, shown, level)
        return ExpectedLinks(mean, low, high, shown)


def _count_interval(mean: float, by_chance: float, learned: float, shown: int, level: float) -> tuple[int, int]:
    """Quantiles of a count from 0 to ``shown``: the beta-binomial one of that mean and variance."""
    from scipy.stats import betabinom, binom

    share = float(np.clip(mean / shown, 1e-6, 1 - 1e-6))
    plain = shown * share * (1 - share)
    tail = (1 - level) / 2
    if shown == 1:
        return (0, 1) if tail < share < 1 - tail else (int(share > 0.5),) * 2
    overlap = ((by_chance + learned) / plain - 1) / (shown - 1)
    if overlap <= 1e-6:
        return int(binom.ppf(tail, shown, share)), int(binom.ppf(1 - tail, shown, share))
    strength = 1 / min(overlap, 0.9) - 1
    spread = betabinom(shown, share * strength, (1 - share) * strength)
    return int(spread.ppf(tail)), int(spread.ppf(1 - tail))


def expected_in_all(counts: Sequence[ExpectedLinks]) -> ExpectedLinks:
    """Of several lists together, their errors taken to be independent.

    >>> expected_in_all([ExpectedLinks(4.0, 1, 7, 10), ExpectedLinks(5.0, 1, 9, 10)])
    ExpectedLinks(count=9.0, low=4, high=14, shown=20)
    """
    count = sum(one.count for one in counts)
    below = float(np.sqrt(sum((one.count - one.low) ** 2 for one in counts)))
    above = float(np.sqrt(sum((one.high - one.count) ** 2 for one in counts)))
    shown = sum(one.shown for one in counts)
    return ExpectedLinks(count, max(int(np.floor(count - below)), 0), min(int(np.ceil(count + above)), shown), shown)


def expected_by_layer(model: GrammeLinks, links: pd.DataFrame) -> list[dict[str, Any]]:
    """How many of the pairs listed for each layer are expected to be links, and of all of them in a last row.

    ``links`` is as from :meth:`~gramme.GrammeLinks.candidates`, of one layer or several.
    """
    counts = {
        str(layer): model.expected_of(str(layer), rows["score"].to_numpy())
        for layer, rows in links.groupby("layer", sort=False)
    }
    found: list[dict[str, Any]] = [{"layer": layer} | count._asdict() for layer, count in counts.items()]
    if len(counts) > 1:
        found.append({"layer": None} | expected_in_all(list(counts.values()))._asdict())
    return found


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
