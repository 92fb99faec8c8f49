"""One run of links: what it scores is what the split holds out, and a failure is a result."""

import numpy as np
import pytest
from sklearn.metrics import average_precision_score
from tests.links.graphs import planted_links

from gramme.evaluation.link_methods import LinkMethod
from gramme.evaluation.link_run import LinkSpec, hits_at
from gramme.evaluation.link_splits import link_splits
from gramme.links.pair_scores import entries


def test_a_run_scores_the_pairs_that_its_split_hides():
    graph = planted_links(24)
    asked = []

    def watch(seen, layer, pairs, seed):
        asked.append((entries(seen.layers[layer].to_scipy(), pairs), pairs))
        return np.arange(len(pairs), dtype=float)

    result = LinkSpec("d", "c", "talk", LinkMethod("watch", "", watch), 0, 3).run(graph)
    (seen, pairs), split = asked[0], list(link_splits(graph, "talk", 0))[3]
    assert not seen.any(), "none of the pairs has an edge that the method sees"
    assert (pairs[: len(split.linked)] == split.linked).all()
    assert [row["negatives"] for row in result.rows] == ["uniform", "degree-matched"]
    assert {row["fold"] for row in result.rows} == {3}


def test_what_goes_wrong_in_a_method_is_its_result():
    def bad(*_):
        raise ValueError("no")

    spec = LinkSpec("d", "c", "talk", LinkMethod("bad", "", bad), 0, 0)
    rows = spec.run(planted_links(24)).rows
    assert {row["error"] for row in rows} == {"ValueError: no"}
    assert {row["status"] for row in spec.failed("died").rows} == {"failed"}


def test_hits_count_pairs_above_the_twentieth_unlinked_one():
    assert hits_at(np.array([0.5, 0.2]), np.full(20, 0.3)) == 0.5


def test_average_precision_is_that_of_scikit_learn_and_of_the_definition():
    """Precision at each threshold, weighted by the recall it adds; equal scores are one threshold."""
    graph = planted_links(24)

    def tied(seen, layer, pairs, seed):
        return np.random.default_rng(seed).integers(0, 12, len(pairs)).astype(float)

    spec = LinkSpec("d", "c", "talk", LinkMethod("tied", "", tied), 0, 1)
    split = list(link_splits(graph, "talk", 0))[1]
    parts = [split.linked, *split.unlinked.values()]
    scores = np.split(
        tied(graph, "talk", np.concatenate(parts), 0), np.cumsum([len(part) for part in parts])[:-1]
    )
    for row, unlinked in zip(spec.run(graph).rows, scores[1:], strict=True):
        truth = np.repeat([True, False], [len(scores[0]), len(unlinked)])
        both = np.concatenate([scores[0], unlinked])
        by_hand = sum(
            truth[both >= score].mean() * (truth & (both == score)).sum() / truth.sum()
            for score in np.unique(both)
        )
        assert row["average_precision"] == pytest.approx(by_hand)
        assert row["average_precision"] == average_precision_score(truth, both)
