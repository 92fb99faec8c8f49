"""The estimate that a mixture makes of itself while it is fitted."""

import numpy as np
import pytest
from tests.methods.graphs import half_known, planted

from gramme.evaluation import fitted_estimate
from gramme.methods import GrammeAuto, NodeClassifier
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
    assert "divided into 4 parts" in estimate.note
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
    assert "a class with a single label cannot be tested and counts nowhere here: 'alone'" in (
        estimate.note
    )


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
    assert kind.tests_itself == (kind is GrammeAuto)
    assert not kind.tests_itself or "folds" in kind._get_param_names()
