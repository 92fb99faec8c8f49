"""The benchmark of links: shared splits without leaks, scores by hand, resuming, and the summary."""

import sqlite3

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import average_precision_score, roc_auc_score
from tests.links.graphs import planted_links
from tests.links.short import short_fits

from gramme.errors import DataError, GrammeWarning
from gramme.evaluation.ledger import Ledger, ledger_task
from gramme.evaluation.link_benchmark import (
    TEST_TO_TRAIN,
    LinkSpec,
    hits_at,
    layers_with_links,
    link_benchmark,
    link_splits,
    rank_link_methods,
    summarise_links,
)
from gramme.evaluation.link_methods import DEFAULT_LINK_METHODS, LINK_METHODS, LinkMethod, link_method
from gramme.evaluation.statistics import corrected_t_test
from gramme.graph import EdgeLayer, MembershipLayer, MultilayerGraph
from gramme.links import column_names
from gramme.links.explain import link_calibration_error, roc_auc
from gramme.links.pair_scores import entries


def test_splits_are_shared_and_hold_edges_out_in_both_directions():
    graph = planted_links()
    once, again = (list(link_splits(graph, "talk", 3)) for _ in range(2))
    for one, other in zip(once, again, strict=True):
        assert (one.linked == other.linked).all()
        for kind in ("uniform", "degree-matched"):
            assert (one.unlinked[kind] == other.unlinked[kind]).all()
        left = one.graph.layers["talk"].to_scipy()
        for pairs in (one.linked, one.linked[:, ::-1]):
            assert left[pairs[:, 0], pairs[:, 1]].sum() == 0
        whole = graph.layers["talk"].to_scipy()
        for pairs in one.unlinked.values():
            assert whole[pairs[:, 0], pairs[:, 1]].sum() == 0
    another = next(iter(link_splits(graph, "talk", 4)))
    assert not np.array_equal(once[0].linked, another.linked)


def test_an_edge_that_another_layer_repeats_stays_visible_there_as_the_protocol_says():
    base = planted_links()
    graph = MultilayerGraph({"talk": base.layers["talk"], "copy": base.layers["talk"]})
    split = next(iter(link_splits(graph, "talk", 0)))
    copy = split.graph.layers["copy"].to_scipy()
    assert copy[split.linked[:, 0], split.linked[:, 1]].all()


def test_only_layers_with_edges_are_asked_about():
    layers = {
        "two": EdgeLayer(3, [0, 1], [1, 2]),
        "one": EdgeLayer(3, [0], [1]),
        "groups": MembershipLayer.from_codes([0, 0, 0]),
    }
    assert layers_with_links(MultilayerGraph(layers)) == ["two"]


@pytest.mark.parametrize("name", DEFAULT_LINK_METHODS)
def test_held_out_links_score_higher(name):
    split = next(iter(link_splits(planted_links(60), "talk", 0)))
    pairs = np.concatenate([split.linked, split.unlinked["uniform"]])
    with short_fits():
        scores = link_method(name).score(split.graph, "talk", pairs, 0)
    linked = np.arange(len(pairs)) < len(split.linked)
    assert scores.shape == (len(pairs),)
    assert np.isfinite(scores).all()
    # degrees say nothing in this graph, where groups decide
    if name != "own-attachment":
        assert roc_auc(linked, scores) > (0.8 if link_method(name).probabilities else 0.5)


@pytest.mark.parametrize("name", ["node2vec-hadamard", "gae", "gat-autoencoder"])
def test_methods_of_others_find_held_out_links_and_repeat_themselves(name):
    if "ga" in name:
        pytest.importorskip("torch_geometric")
    else:
        pytest.importorskip("gensim")
    split = next(iter(link_splits(planted_links(60), "talk", 0)))
    pairs = np.concatenate([split.linked, split.unlinked["uniform"]])
    score = link_method(name).score
    scores = score(split.graph, "talk", pairs, 0)
    assert roc_auc(np.arange(len(pairs)) < len(split.linked), scores) > 0.7
    assert np.array_equal(score(split.graph, "talk", pairs, 0), scores)


def test_every_ingredient_is_a_method_and_a_mistyped_one_is_named():
    for column in column_names():
        assert column.replace("_", "-") in LINK_METHODS
    with pytest.raises(DataError, match="did you mean 'gramme-links'"):
        link_method("gramme-link")


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
    scores = np.split(tied(graph, "talk", np.concatenate(parts), 0), np.cumsum([len(part) for part in parts])[:-1])
    for row, unlinked in zip(spec.run(graph).rows, scores[1:], strict=True):
        truth = np.repeat([True, False], [len(scores[0]), len(unlinked)])
        both = np.concatenate([scores[0], unlinked])
        by_hand = sum(
            truth[both >= score].mean() * (truth & (both == score)).sum() / truth.sum() for score in np.unique(both)
        )
        assert row["average_precision"] == pytest.approx(by_hand)
        assert row["average_precision"] == average_precision_score(truth, both)


def rows(scores: dict[tuple[str, str], list[float]]) -> pd.DataFrame:
    """A row per split from the scores of each layer and method."""
    found = [
        {
            "dataset": "d",
            "negatives": "uniform",
            "layer": layer,
            "method": method,
            "realisation": 0,
            "fold": fold,
            "status": "done",
            "roc_auc": score,
            "average_precision": score,
            "hits_at_20": score,
            "calibration_bins": None,
            "cpu_seconds": 1.0,
        }
        for (layer, method), values in scores.items()
        for fold, score in enumerate(values)
    ]
    return pd.DataFrame(found)


GOOD, FAIR = [0.95, 0.94, 0.96, 0.95, 0.94], [0.85, 0.86, 0.84, 0.86, 0.85]
NEAR = [0.94, 0.95, 0.95, 0.96, 0.93]


def verdict(table: pd.DataFrame, layer: str, method: str) -> pd.Series:
    return table[(table["layer"] == layer) & (table["method"] == method)].iloc[0]


def test_the_best_is_told_from_every_other_by_the_corrected_test():
    table = summarise_links(rows({("a", "x"): GOOD, ("a", "y"): FAIR}))
    assert verdict(table, "a", "x")["best"]
    assert verdict(table, "mean", "x")["best"]
    p = verdict(table, "a", "y")["p_value"]
    assert p == pytest.approx(corrected_t_test(np.subtract(GOOD, FAIR), TEST_TO_TRAIN)[1])


def test_the_best_follows_the_metric():
    table = rows({("a", "x"): GOOD, ("a", "y"): FAIR})
    table["average_precision"] = 1 - table["roc_auc"]
    by_precision = summarise_links(table, metric="average_precision")
    assert verdict(by_precision, "a", "y")["best"]
    assert not verdict(by_precision, "a", "x")["best"]


def test_no_method_is_best_where_two_are_not_told_apart_or_splits_are_few():
    table = summarise_links(rows({("a", "x"): GOOD, ("a", "y"): NEAR}))
    assert not table["best"].any()
    assert table["level_with_best"].all()
    few = summarise_links(rows({("a", "x"): GOOD[:2], ("a", "y"): FAIR[:2]}))
    assert not few["best"].any()


def test_the_mean_is_compared_on_splits_that_all_layers_have():
    """A large layer has one split, so the means of both have one, which tells nothing."""
    table = summarise_links(rows({("a", "x"): GOOD, ("a", "y"): FAIR, ("b", "x"): GOOD[:1], ("b", "y"): FAIR[:1]}))
    assert verdict(table, "a", "x")["best"]
    assert not verdict(table, "mean", "x")["best"]


def test_ranks_over_layers_need_two_of_them():
    runs = rows({("a", "x"): GOOD, ("a", "y"): FAIR, ("b", "x"): GOOD, ("b", "y"): FAIR})
    ranking = rank_link_methods(runs, "uniform")
    assert ranking.methods == ["x", "y"]
    assert ranking.datasets == 2
    with pytest.raises(DataError, match="at least 2 layers"):
        rank_link_methods(runs[runs["layer"] == "a"], "uniform")


METHODS = ["own-adamic-adar", "repeated"]


def test_scores_are_what_they_say():
    linked, scores = np.array([True, False, True, False]), np.array([0.9, 0.4, 0.4, 0.1])
    assert roc_auc(linked, scores) == roc_auc_score(linked, scores) == 0.875
    assert hits_at(np.array([0.5, 0.2]), np.full(20, 0.3)) == 0.5
    assert hits_at(np.array([0.5]), np.array([0.9])) == 1.0, "fewer than 20 to be above"
    sure = np.repeat([True, False], 50)
    assert link_calibration_error(sure, np.repeat([1.0, 0.0], 50)) == 0
    assert link_calibration_error(sure, np.repeat([0.0, 1.0], 50)) == pytest.approx(1)


def test_a_benchmark_resumes_and_a_ledger_of_another_kind_is_refused(tmp_path, monkeypatch):
    graph = planted_links(40)
    path = tmp_path / "links.sqlite"
    first = link_benchmark({"g": graph}, METHODS, out=path)
    assert ledger_task(path) == "links"
    monkeypatch.setitem(LINK_METHODS, METHODS[0], LinkMethod(METHODS[0], "", _refuse))
    monkeypatch.setitem(LINK_METHODS, METHODS[1], LinkMethod(METHODS[1], "", _refuse))
    again = link_benchmark({"g": graph}, METHODS, out=path)
    assert again.equals(first), "nothing is done twice"
    with Ledger(path, "links", create=False) as ledger:
        rows = ledger.runs()
    assert len(rows) == 2 * 5 * 2 * 2
    assert set(rows["negatives"]) == {"uniform", "degree-matched"}
    sqlite3.connect(tmp_path / "other.sqlite").execute("CREATE TABLE t (x)")
    with pytest.raises(DataError, match="is not a ledger of links"):
        link_benchmark({"g": graph}, METHODS, out=tmp_path / "other.sqlite")


def _refuse(*_: object) -> np.ndarray:
    raise AssertionError("it was done before")


def test_the_summary_has_a_mean_over_layers(tmp_path):
    table = link_benchmark({"g": planted_links(40)}, METHODS, out=tmp_path / "l.sqlite")
    mine = table[(table["method"] == "repeated") & (table["negatives"] == "uniform")]
    layers = mine[mine["layer"] != "mean"]["roc_auc"]
    assert mine[mine["layer"] == "mean"]["roc_auc"].item() == pytest.approx(layers.mean())


def test_wrong_jobs_and_backends_are_refused(tmp_path):
    """That jobs change no rows is in test_backends.py, where workers are at hand."""
    datasets = {"g": planted_links(24)}
    with pytest.raises(DataError, match="did you mean 'ray'"):
        link_benchmark(datasets, METHODS, out=tmp_path / "3.sqlite", backend="rai")
    with pytest.raises(DataError, match="at least one job"):
        link_benchmark(datasets, METHODS, out=tmp_path / "3.sqlite", jobs=0)


def test_a_method_that_fails_is_told_and_tried_again(tmp_path, monkeypatch):
    path = tmp_path / "links.sqlite"
    kept = LINK_METHODS[METHODS[0]]
    monkeypatch.setitem(LINK_METHODS, METHODS[0], LinkMethod(METHODS[0], "", _refuse))
    with pytest.warns(GrammeWarning, match="10 of 20 runs failed and count nowhere, first g, .*it was done before"):
        table = link_benchmark({"g": planted_links(24)}, METHODS, out=path)
    bad = table[(table["method"] == METHODS[0]) & (table["layer"] != "mean")]
    assert (bad["failed"] == 5).all()
    assert bad["roc_auc"].isna().all()
    with Ledger(path, "links", create=False) as ledger:
        assert set(ledger.runs()["error"].dropna()) == {"AssertionError: it was done before"}
        assert all("in _refuse" in text for text in ledger.runs()["traceback"].dropna())
    monkeypatch.setitem(LINK_METHODS, METHODS[0], kept)
    mended = link_benchmark({"g": planted_links(24)}, METHODS, out=path)
    assert not mended["failed"].any()


def test_mistakes_are_named(tmp_path):
    graph = planted_links(20)
    with pytest.raises(DataError, match="did you mean 'gramme-links'"):
        link_benchmark({"g": graph}, ["gramme-link"], out=tmp_path / "l.sqlite")
    with pytest.raises(DataError, match="did you mean 'roc_auc'"):
        link_benchmark({"g": graph}, METHODS, out=tmp_path / "l.sqlite", metric="roc_acu")
    empty = MultilayerGraph({"none": EdgeLayer(3, [], [])})
    with pytest.raises(DataError, match="no link can be held out"):
        link_benchmark({"g": empty}, METHODS, out=tmp_path / "l.sqlite")
