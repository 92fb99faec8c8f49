import numpy as np
import pytest
from tests.report.page.graphs import two_blocks

from gramme.graph import MultilayerGraph
from gramme.methods import LabelPropagation
from gramme.report.page.nodes import (
    HELD_OUT,
    LEARNED,
    UNLABELLED,
    NodeTable,
    node_table,
    packed_sets,
)
from gramme.report.page.pack import pack_integers


@pytest.fixture(scope="module")
def graph() -> MultilayerGraph:
    return two_blocks()


@pytest.fixture(scope="module")
def known(graph: MultilayerGraph) -> np.ndarray:
    """The labels but for two that are held out."""
    labels = graph.labels.copy()
    labels[[3, 4]] = None
    return labels


@pytest.fixture(scope="module")
def model(graph, known) -> LabelPropagation:
    return LabelPropagation().fit(graph, known)


def test_each_node_has_what_the_model_says(model, graph, known) -> None:
    table = node_table(model, graph, known, None)
    labels = np.array(["", *table.labels])
    assert labels[table.predicted].tolist() == model.predict().tolist()
    assert np.allclose(table.probability, model.predict_proba().max(axis=1))
    assert labels[table.label[:24]].tolist() == graph.labels[:24].tolist()
    assert table.use[[0, 3, 30]].tolist() == [LEARNED, HELD_OUT, UNLABELLED]
    assert not table.judged.any(), "the model that learned from a label is not a judge of it"
    assert not table.doubtful.any()


def test_a_label_that_models_without_it_contradict_is_in_doubt(model, graph, known) -> None:
    predictions = {
        name: {"predicted": label, "probability": 0.9, "own": 0.9, "suggested": None}
        for name, label in zip(graph.nodes[:24], graph.labels[:24], strict=True)
    }
    other = {"left": "right", "right": "left"}[graph.labels[5]]
    predictions["node 5"] |= {"predicted": other, "probability": 0.6, "own": 0.4}
    assert not node_table(model, graph, known, predictions).doubtful.any()
    predictions["node 5"] |= {"probability": 0.98, "own": 0.02, "suggested": other}
    table = node_table(model, graph, known, predictions)
    assert np.flatnonzero(table.doubtful).tolist() == [5]
    assert table.labels[table.judged[5] - 1] == other
    assert (table.judged_probability[5], table.own[5]) == (0.98, 0.02)


def test_a_label_outside_the_classes_is_kept(model, graph, known) -> None:
    other = graph.replace(labels=[*graph.labels[:59], "centre"])
    table = node_table(model, other, known, None)
    assert table.labels == ["left", "right", "centre"]
    assert table.labels[table.label[59] - 1] == "centre"


def test_distinct_sets_are_named_once() -> None:
    sets = np.array([[True, False], [True, True], [True, False]])
    found = packed_sets(sets, ["left", "right"])
    assert found["names"] == ["left", "left or right"]
    assert found["of"] == pack_integers(np.array([0, 1, 0]))


def test_a_sample_holds_the_least_certain_and_the_doubtful() -> None:
    count = 5000
    random = np.random.default_rng(0)
    ones = np.ones(count, dtype=np.int64)
    doubtful = np.arange(count) % 100 == 0
    table = NodeTable(
        [str(k) for k in range(count)], ["a", "b"], ones, ones, ones, random.random(count),
        ones, random.random(count), random.random(count), doubtful,
    )  # fmt: skip
    chosen = table.chosen(1000)
    assert chosen.size == np.unique(chosen).size == 1000
    assert set(np.argsort(table.probability)[:250]) <= set(chosen.tolist())
    assert set(range(0, count, 100)) <= set(chosen.tolist())
    assert np.array_equal(chosen, table.chosen(1000))
    assert table.chosen(count).tolist() == list(range(count))
