"""The benchmark of links: shared splits without leaks, scores by hand, resuming, and the summary."""

import sqlite3

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score
from tests.links.graphs import planted_links

from gramme.errors import DataError
from gramme.evaluation.link_benchmark import link_benchmark
from gramme.evaluation.link_ledger import LinkLedger, is_link_ledger
from gramme.evaluation.link_methods import LINK_METHODS, LinkMethod
from gramme.evaluation.link_run import hits_at
from gramme.graph import EdgeLayer, MultilayerGraph
from gramme.links.reasons import link_calibration_error, roc_auc

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
    assert is_link_ledger(path)
    monkeypatch.setitem(LINK_METHODS, METHODS[0], LinkMethod(METHODS[0], "", _refuse))
    monkeypatch.setitem(LINK_METHODS, METHODS[1], LinkMethod(METHODS[1], "", _refuse))
    again = link_benchmark({"g": graph}, METHODS, out=path)
    assert again.equals(first), "nothing is done twice"
    with LinkLedger(path, create=False) as ledger:
        rows = ledger.rows()
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
    table = link_benchmark({"g": planted_links(24)}, METHODS, out=path)
    bad = table[(table["method"] == METHODS[0]) & (table["layer"] != "mean")]
    assert (bad["failed"] == 5).all()
    assert bad["roc_auc"].isna().all()
    with LinkLedger(path, create=False) as ledger:
        assert set(ledger.rows()["error"].dropna()) == {"AssertionError: it was done before"}
    monkeypatch.setitem(LINK_METHODS, METHODS[0], kept)
    mended = link_benchmark({"g": planted_links(24)}, METHODS, out=path)
    assert not mended["failed"].any()


def test_mistakes_are_named(tmp_path):
    graph = planted_links(20)
    with pytest.raises(DataError, match="did you mean 'gramme-links'"):
        link_benchmark({"g": graph}, ["gramme-link"], out=tmp_path / "l.sqlite")
    empty = MultilayerGraph({"none": EdgeLayer(3, [], [])})
    with pytest.raises(DataError, match="no link can be held out"):
        link_benchmark({"g": empty}, METHODS, out=tmp_path / "l.sqlite")
