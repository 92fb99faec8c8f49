import re

import numpy as np
import pytest
from tests.methods.graphs import planted

from gramme.evaluation.benchmark import dataset_checksum, planned
from gramme.evaluation.run import RunSpec, execute, fit_and_predict
from gramme.evaluation.splits import random_split
from gramme.graph import MultilayerGraph
from gramme.methods import METHODS, Majority, Method, names

GRAPH = planted(60)
QUICK = {"epochs": 3, "ensemble": 2, "walks_per_node": 2, "walk_length": 5, "dim": 8}


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("GRAMME_CACHE", str(tmp_path))


def run_of(method: str | Method, graph: MultilayerGraph = GRAPH, percent=30.0, realisation=0):
    one = METHODS[method] if isinstance(method, str) else method
    known = one.estimator().get_params()
    settings = {one.name: {key: value for key, value in QUICK.items() if key in known}}
    specs = planned({"graph": graph}, [one], [percent], realisation + 1, settings)
    return next(spec for spec in specs if spec.realisation == realisation)


@pytest.mark.parametrize("name", names())
def test_permuted_test_labels_change_no_prediction(name):
    """Nothing of the test labels reaches a prediction, although they are watched for the peak."""
    split = random_split(GRAPH.labels, 30, 0)
    labels = GRAPH.labels.copy()
    labels[split.test] = np.roll(labels[split.test], 7)
    assert (labels != GRAPH.labels).sum() > 10
    other = GRAPH.replace(labels=labels)
    changed = random_split(labels, 30, 0)
    assert (changed.train == split.train).all()
    one = fit_and_predict(run_of(name), GRAPH, split)
    two = fit_and_predict(run_of(name), other, changed)
    assert (one.probabilities == two.probabilities).all()
    assert one.classes == two.classes
    if one.peak_accuracy is not None:
        assert one.peak_accuracy != two.peak_accuracy


def test_final_and_peak():
    found = execute(run_of("gramme-fusion"), GRAPH)
    assert found.status == "done"
    assert 0 < found.scores.accuracy <= found.peak_accuracy <= 1
    assert (found.train_nodes, found.test_nodes, found.classes) == (18, 42, 3)
    assert found.cost.cpu_seconds > 0
    assert found.cost.peak_memory > 1 << 20
    assert execute(run_of("majority"), GRAPH).peak_accuracy is None


@pytest.mark.parametrize("name", ["gramme-fusion", "label-propagation"])
def test_a_training_set_of_one_class_predicts_that_class_and_counts(name):
    graph = planted(60).replace(labels=["a"] * 55 + ["b"] * 5)
    chosen = next(r for r in range(20) if random_split(graph.labels, 5, r).missed)
    found = execute(run_of(name, graph, 5.0, chosen), graph)
    assert (found.status, found.missed_classes) == ("done", 1)
    assert found.scores.accuracy == pytest.approx(52 / 57)


class Broken(Majority):
    def fit(self, graph, y=None):
        raise ZeroDivisionError("no good")


def test_a_failure_is_a_result():
    found = execute(run_of(Method("broken", Broken, "")), GRAPH)
    assert (found.status, found.error) == ("failed", "ZeroDivisionError: no good")
    assert found.scores is None
    assert found.traceback.rstrip().endswith("ZeroDivisionError: no good")
    assert "in fit" in found.traceback
    assert found.train_nodes == 18


class Plain:
    """What docs/understand/evaluation.md asks of a method, and nothing more; ``change`` spoils what it returns."""

    def __init__(self, change=None):
        self.change = change

    def get_params(self, deep=True):
        return {"change": self.change}

    def fit(self, graph, y):
        known = np.array([label for label in y if label is not None], dtype=object)
        self.classes_, counts = np.unique(known.astype(str), return_counts=True)
        self.shares = np.tile(counts / counts.sum(), (graph.num_nodes, 1))
        if self.change == "classes":
            self.classes_ = np.array([f"class {name}" for name in self.classes_])
        return self

    def predict_proba(self):
        if self.change == "nan":
            self.shares[3, 0] = np.nan
        return self.shares[:-1] if self.change == "shape" else self.shares


def test_the_documented_contract_is_enough_and_text_means_the_number_it_writes():
    numbers = GRAPH.replace(labels=[{"a": 1, "b": 2, "c": 3}.get(one, 3) for one in GRAPH.labels])
    plain = execute(run_of(Method("plain", Plain, ""), numbers), numbers)
    assert (plain.status, plain.error) == ("done", None)
    assert plain.scores.accuracy == execute(run_of("majority", numbers), numbers).scores.accuracy > 0.2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("classes", r"classes_ has 'class \w+'.*labels of the graph are"),
        ("nan", "values that are not finite"),
        ("shape", r"shape \(59, 3\), but there are 60 nodes and 3 classes"),
    ],
)
def test_what_a_method_returns_and_cannot_be_scored_is_a_failure_not_a_zero(change, message):
    one = Method("plain", Plain, "")
    (spec,) = planned({"graph": GRAPH}, [one], [30.0], 1, {"plain": {"change": change}})
    found = execute(spec, GRAPH)
    assert found.status == "failed"
    assert re.search(message, found.error)
    assert found.scores is None


def test_an_interrupted_training_is_no_result(monkeypatch):
    from gramme.training import History

    def interrupt(self, state):
        raise KeyboardInterrupt

    monkeypatch.setattr(History, "after_epoch", interrupt)
    with pytest.raises(KeyboardInterrupt):
        execute(run_of("gramme-fusion"), GRAPH)


def test_the_cost_of_a_shared_embedding_counts_in_every_run():
    first, second = (execute(run_of("line", realisation=r), GRAPH) for r in (0, 1))
    assert first.cost.cpu_seconds > 0
    # the second finds the embedding on disk, and still pays for it
    from gramme.methods.embedding.base import folder

    (entry,) = folder().glob("*.npz")
    with np.load(entry) as file:
        cost = float(file["seconds"][0])
    assert second.cost.cpu_seconds > cost


def test_seeds():
    spec = run_of("gramme-sg", realisation=3)
    assert '"random_state": "the realisation\'s number"' in spec.settings
    shared = run_of("line", realisation=3)
    assert shared.shares_embedding
    assert '"embedding": "shared by all realisations"' in shared.settings


def test_a_spec_has_a_key():
    spec = run_of("majority")
    assert isinstance(spec, RunSpec)
    assert spec.key == ("graph", dataset_checksum(GRAPH), "majority", spec.settings_hash, 30.0, 0)
