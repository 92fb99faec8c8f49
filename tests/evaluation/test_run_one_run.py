import numpy as np
import pytest
from tests.methods.graphs import planted

from gramme.evaluation.benchmark import dataset_checksum, planned
from gramme.evaluation.run import RunSpec, execute, predicted
from gramme.evaluation.splits import random_split
from gramme.graph import MultilayerGraph
from gramme.methods import METHODS, Majority, Method, names

GRAPH = planted(60)
QUICK = {
    "epochs": 3,
    "ensemble": 2,
    "walks_per_node": 2,
    "walk_length": 5,
    "dim": 8,
}


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
    one = predicted(run_of(name), GRAPH, split)
    two = predicted(run_of(name), other, changed)
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
    assert found.train_nodes == 18


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
