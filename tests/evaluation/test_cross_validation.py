from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.methods.graphs import half_known, planted

from gramme.errors import DataError, GrammeWarning
from gramme.evaluation import EstimatePlan, cross_validate, fit_with_estimate, fitted_estimate, hold_out
from gramme.evaluation import cross_validation as module
from gramme.evaluation.cross_validation import deal_folds, folds_to_test
from gramme.graph import EdgeLayer, MembershipLayer, MultilayerGraph
from gramme.methods import GrammeAuto, LabelPropagation, Majority, NodeClassifier
from gramme.methods.labels import aligned_labels

GRAPH = planted(90)
FAST = ("label-propagation", "spectral-logistic")


def auto(labels: np.ndarray) -> GrammeAuto:
    return GrammeAuto(ingredients=FAST, folds=4, random_state=0).fit(GRAPH, labels)


def test_every_label_is_predicted_once_by_what_had_not_seen_it() -> None:
    y = half_known(GRAPH)
    model = auto(y)
    estimate = fitted_estimate(model, y)
    assert estimate.kind == "cross-fitting"
    assert (estimate.folds, estimate.folds_tested) == (4, 4)
    assert sorted(estimate.tested) == np.flatnonzero([one is not None for one in y]).tolist()
    assert estimate.labels == list(y[estimate.tested])
    found = model.out_of_fold()
    right = model.classes_[found.probabilities.argmax(axis=1)] == y[found.nodes]
    assert estimate.accuracy == right.mean()
    assert "4-fold cross-validation" in estimate.note
    assert estimate.to_predict == 90 - len(estimate.labels)


def test_it_tells_of_labels_that_carry_nothing_that_they_carry_nothing() -> None:
    random = np.random.default_rng(1)
    y = np.array([*"ab"] * 45, dtype=object)[random.permutation(90)]
    y[::3] = None
    estimate = fitted_estimate(auto(y), y)
    assert estimate.accuracy is not None
    assert estimate.accuracy < 0.7
    low, high = estimate.interval
    assert low < 0.5 < high


def test_the_only_label_of_a_class_is_not_tested_and_named() -> None:
    y = half_known(GRAPH)
    known = np.flatnonzero([one is not None for one in y])
    y[known[0]] = "alone"
    estimate = fitted_estimate(auto(y), y)
    assert known[0] not in estimate.tested
    assert "a class with a single label cannot be tested and counts nowhere here: 'alone'" in (estimate.note)


def test_nothing_can_be_told_where_every_class_has_one_label() -> None:
    y = np.full(90, None, dtype=object)
    y[[0, 40]] = ["a", "b"]
    assert fitted_estimate(auto(y), y).kind == "none"


def test_classes_that_count_alike_are_tested_alike() -> None:
    y = aligned_labels(GRAPH)
    y[::2] = None
    model = auto(y)
    before = fitted_estimate(model, y)
    after = fitted_estimate(model.balance_classes(), y)
    assert not np.allclose(before.shares, after.shares)


@pytest.mark.parametrize("kind", [GrammeAuto, NodeClassifier])
def test_who_tests_itself_has_folds(kind: type[NodeClassifier]) -> None:
    assert kind.has_out_of_fold == (kind is GrammeAuto)
    assert not kind.has_out_of_fold or "folds" in kind._get_param_names()


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


@pytest.fixture
def graph():
    ring = list(range(12))
    edges = EdgeLayer(12, ring, [*ring[1:], 0])
    return MultilayerGraph({"ring": edges}, labels=[*"aaaaabbbbb", None, None])


def test_labels_set_aside_never_reach_the_fit(graph, monkeypatch):
    seen = []
    fit = Majority.fit
    monkeypatch.setattr(Majority, "fit", lambda model, g, y: seen.append(y) or fit(model, g, y))
    found = fit_with_estimate(Majority(), graph, EstimatePlan(share=0.4), random_state=3)
    aside = hold_out(graph.labels, 0.4, 3, graph.nodes).held_out
    assert found.estimate.tested.tolist() == aside.tolist()
    assert found.estimate.labels == graph.labels[aside].tolist()
    assert all(seen[0][place] is None for place in aside)
    assert [label for label in found.train if label is not None] == [label for label in seen[0] if label is not None]


def test_without_a_plan_it_is_the_cross_validation_of_all_labels(graph):
    model = LabelPropagation()
    found = fit_with_estimate(model, graph, random_state=1)
    expected = cross_validate(LabelPropagation(), graph, graph.labels, random_state=1)
    assert found.estimate.record() == expected.record()
    assert sum(label is not None for label in found.train) == 10
    assert sorted(model.out_of_fold().nodes.tolist()) == list(range(10))


def test_nothing_is_estimated_that_is_not_wanted_or_was_interrupted(graph, monkeypatch):
    assert fit_with_estimate(Majority(), graph, EstimatePlan(wanted=False)).estimate.kind == "none"

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "cross_validate", interrupted)
    with pytest.warns(GrammeWarning, match="the accuracy is not estimated"):
        found = fit_with_estimate(Majority(), graph, EstimatePlan(folds=3))
    assert found.estimate.note == "the estimation was interrupted"


def test_how_many_further_fits_an_estimate_takes(graph):
    model = Majority()
    assert EstimatePlan().further_fits(graph, model) == 5
    assert EstimatePlan(folds=3).further_fits(graph, model) == 3
    assert EstimatePlan(share=0.2).further_fits(graph, model) == 0
    assert EstimatePlan(wanted=False).further_fits(graph, model) == 0
    assert EstimatePlan().further_fits(graph, GrammeAuto()) == 0


def test_every_class_counts_alike_where_asked_for(graph):
    model = LabelPropagation()
    fit_with_estimate(model, graph, EstimatePlan(folds=2), balanced=True)
    assert model.class_weights_.shape == (2,)
