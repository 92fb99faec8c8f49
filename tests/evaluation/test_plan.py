import numpy as np
import pytest
from tests.methods.graphs import planted

from gramme.errors import DataError
from gramme.evaluation.plan import (
    chosen_graphs,
    chosen_methods,
    dataset_checksum,
    default_methods,
    planned,
)

GRAPH = planted(40)


def test_runs_of_shared_embeddings_come_first_and_last():
    specs = planned({"g": GRAPH}, chosen_methods(["line", "majority"]), [10, 20], 3, {})
    assert [spec.method for spec in specs] == ["line"] + ["majority"] * 6 + ["line"] * 5
    assert len({spec.key for spec in specs}) == 12


def test_settings_make_another_hash_and_what_does_not_matter_does_not():
    def code(method, **settings):
        return planned({"g": GRAPH}, chosen_methods([method]), [10], 1, {method: settings})[0]

    plain = code("gramme-sg")
    assert code("gramme-sg", epochs=7).settings_hash != plain.settings_hash
    assert code("gramme-sg", epochs=7).changed == "epochs=7"
    assert code("gramme-sg", progress=True).settings_hash == plain.settings_hash
    assert code("line", cache=False).settings_hash == code("line").settings_hash
    assert code("gramme-sg", random_state=5).settings_hash != plain.settings_hash


@pytest.mark.parametrize(
    ("train", "repeats", "settings", "message"),
    [
        ([10, 100], 1, {}, "less than 100"),
        ([], 1, {}, "no training percentage"),
        ([10], 0, {}, "at least one repeat"),
        ([10], 1, {"gramme-sg": {}}, "not benchmarked"),
        ([10], 1, {"majority": {"depth": 2}}, "no parameter 'depth'"),
        ([99.9], 1, {}, "g: 99.9 % of 40 labelled nodes"),
    ],
    ids=["percent", "none", "repeats", "method", "parameter", "nothing left"],
)
def test_mistakes_are_found_before_work_starts(train, repeats, settings, message):
    with pytest.raises(DataError, match=message):
        planned({"g": GRAPH}, chosen_methods(["majority"]), train, repeats, settings)


def test_unknown_and_doubled_names():
    with pytest.raises(DataError, match="did you mean 'majority'"):
        chosen_methods(["majorty"])
    with pytest.raises(DataError, match="named twice"):
        chosen_methods(["majority", "majority"])
    with pytest.raises(DataError, match="did you mean 'wine'"):
        chosen_graphs(["wyne"])
    with pytest.raises(DataError, match="named twice"):
        chosen_graphs(["wine", "wine"])


@pytest.mark.parametrize("labels", [None, ["a"] * 40], ids=["none", "one class"])
def test_a_graph_without_two_classes_is_refused(labels):
    with pytest.raises(DataError, match="at least two classes"):
        chosen_graphs({"g": GRAPH.replace(labels=labels)})


def test_a_missing_extra_is_refused_and_named(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r"gramme\[walks\]"):
        chosen_methods(["deepwalk"])
    assert chosen_methods(default_methods())


def test_labels_and_features_are_in_the_checksum():
    codes = {
        dataset_checksum(GRAPH),
        dataset_checksum(GRAPH.replace(labels=list(reversed(GRAPH.labels)))),
        dataset_checksum(GRAPH.replace(features=np.eye(40))),
        dataset_checksum(GRAPH.replace(features=2 * np.eye(40))),
    }
    assert len(codes) == 4
