from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gramme.errors import DataError
from gramme.evaluation import cross_validate
from gramme.evaluation.cross_validation import deal_folds, folds_to_test
from gramme.graph import MembershipLayer, MultilayerGraph
from gramme.methods import LabelPropagation, Majority


def labels_of(text: str) -> np.ndarray:
    return np.array([None if mark == "." else mark for mark in text], dtype=object)


def graph_of(labels: np.ndarray, groups: list[str]) -> MultilayerGraph:
    return MultilayerGraph({"a": MembershipLayer.from_values(groups)}, labels=labels)


@given(st.text(alphabet="abc.", min_size=1, max_size=60), st.integers(2, 8), st.integers(0, 99))
def test_every_label_is_in_one_fold_and_its_class_stays_known(text, folds, seed):
    labels = labels_of(text)
    dealt, single = deal_folds(labels, folds, seed)
    tested = [position for fold in dealt for position in fold.tolist()]
    wanted = [i for i, mark in enumerate(text) if mark != "." and mark not in single]
    assert sorted(tested) == wanted
    assert all(text.count(mark) == 1 for mark in single)
    for fold in dealt:
        assert fold.size
        rest = [mark for i, mark in enumerate(text) if mark != "." and i not in fold]
        assert set(rest) == set(text) - {"."}
    for mark in set(text) - {"."} - set(single):
        counts = [sum(text[i] == mark for i in fold) for fold in dealt]
        assert max(counts) - min(counts) <= 1


class Spy(Majority):
    """Notes which labels it is shown."""

    seen: ClassVar[list] = []

    def fit(self, graph, y=None):
        Spy.seen.append(list(y))
        return super().fit(graph, y)


def test_no_model_sees_the_label_it_is_tested_on():
    labels = labels_of("aabbabab..ab")
    Spy.seen = []
    estimate = cross_validate(Spy(), graph_of(labels, list("xy" * 6)), labels, folds=5)
    assert len(Spy.seen) == estimate.folds == estimate.folds_tested == 5
    hidden = [
        position
        for shown in Spy.seen
        for position, label in enumerate(shown)
        if label is None and labels[position] is not None
    ]
    assert sorted(hidden) == sorted(estimate.tested.tolist()) == [*range(8), 10, 11]


def test_what_groups_tell_is_found_and_counted():
    labels = labels_of("aaaaabbbbb" * 2)
    labels[0] = "b"
    told = []
    estimate = cross_validate(
        LabelPropagation(),
        graph_of(labels, [*("x" * 5 + "y" * 5) * 2]),
        labels,
        tell=lambda done, total: told.append((done, total)),
    )
    assert told == [(place, 5) for place in range(5)]
    assert estimate.accuracy == 0.95
    classes, counts = estimate.confusion()
    assert (classes, counts.tolist()) == (["a", "b"], [[9, 0], [1, 10]])
    low, high = estimate.interval
    assert low < 0.95 < high
    record = estimate.record()
    assert (record["kind"], record["nodes"], record["folds"]) == ("cross-validation", 20, 5)
    assert record["confusion"]["counts"] == [[9, 0], [1, 10]]
    said = estimate.predictions(np.arange(20))[0]
    assert said["predicted"] == said["suggested"] == "a"
    assert said["own"] < 0.5 < said["probability"]
    assert record["doubtful_labels"] == 1


def test_classes_with_one_label_are_not_tested_and_that_is_said():
    labels = labels_of("aabbc...")
    estimate = cross_validate(Majority(), graph_of(labels, list("xyxyxyxy")), labels)
    assert sorted(estimate.tested.tolist()) == [0, 1, 2, 3]
    assert "'c'" in estimate.note
    nothing = cross_validate(Majority(), graph_of(labels_of("ab"), ["x", "x"]), labels_of("ab"))
    assert nothing.record() == {"kind": "none", "nodes": 0, "note": nothing.note}
    assert "single label" in nothing.note


def test_large_data_test_fewer_folds():
    small = graph_of(labels_of("ab"), ["x", "x"])
    assert folds_to_test(small, 5) == 5
    layer = MembershipLayer.from_codes(np.zeros(1_000_000, dtype=np.int64), ["x"])
    assert folds_to_test(MultilayerGraph({"a": layer}), 5) == 2
    assert folds_to_test(MultilayerGraph(dict.fromkeys("abcde", layer)), 5) == 1


def test_the_same_seed_gives_the_same_folds():
    labels = labels_of("ab" * 20)
    one, other, third = (deal_folds(labels, 5, seed)[0] for seed in (1, 1, 2))
    assert all((a == b).all() for a, b in zip(one, other, strict=True))
    assert any((a != b).any() for a, b in zip(one, third, strict=True))
    with pytest.raises(DataError, match="at least 2"):
        deal_folds(labels, 1, 0)


def test_the_fold_of_a_node_depends_on_names_and_not_on_their_order():
    labels = labels_of("aabb.caabbcc..abca")
    names = pd.Index([f"n{place}" for place in range(labels.size)])
    order = np.random.default_rng(0).permutation(labels.size)
    expected, _ = deal_folds(labels, 3, 0, names)
    found, _ = deal_folds(labels[order], 3, 0, names[order])
    for one, other in zip(expected, found, strict=True):
        assert set(names[one]) == set(names[order][other])
