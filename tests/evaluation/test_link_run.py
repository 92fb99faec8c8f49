"""One run of links: what it scores is what the split holds out, and a failure is a result."""

import numpy as np
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
