"""Attention with one output: it learns by squared error, in any unit of the numbers, and is the same every time."""

import numpy as np
import pytest
from sklearn.base import clone

from gramme.graph import MembershipLayer, MultilayerGraph
from gramme.methods.regression.attention import AttentionRegressor
from gramme.methods.regression.base import KnownNumbers

ONE, OTHER = np.arange(120) % 4, np.arange(120) // 4 % 3
TRUTH = 5.0 * (ONE == 2) - 3.0 * OTHER
GRAPH = MultilayerGraph({"one": MembershipLayer.from_codes(ONE), "other": MembershipLayer.from_codes(OTHER)})
HALF = np.sort(np.random.default_rng(0).permutation(120)[:60])
KNOWN = KnownNumbers(HALF, TRUTH[HALF])


def model(**settings) -> AttentionRegressor:
    return AttentionRegressor(**({"ensemble": 2, "epochs": 40, "progress": False, "random_state": 0} | settings))


@pytest.fixture(scope="module")
def fitted() -> AttentionRegressor:
    return model().fit(GRAPH, KNOWN)


def test_it_learns_what_columns_add_up_to(fitted: AttentionRegressor) -> None:
    hidden = np.setdiff1d(np.arange(120), KNOWN.nodes)
    assert np.corrcoef(fitted.predict()[hidden], TRUTH[hidden])[0, 1] > 0.95
    assert fitted.history_["loss"].iloc[-1] < 0.3 * fitted.history_["loss"].iloc[0]
    assert fitted.history_["accuracy"].iloc[-1] == pytest.approx(1 - fitted.history_["loss"].iloc[-1], abs=1e-3)


def test_the_unit_of_the_numbers_does_not_matter(fitted: AttentionRegressor) -> None:
    scaled = model().fit(GRAPH, KnownNumbers(KNOWN.nodes, 1e6 + 1e4 * KNOWN.values))
    assert np.allclose((scaled.predict() - 1e6) / 1e4, fitted.predict(), atol=1e-2)


def test_the_same_seed_gives_the_same_bits_and_folds_change_nothing(fitted: AttentionRegressor) -> None:
    again = clone(fitted)
    again.fit_with_folds(GRAPH, KNOWN, np.arange(60) % 3)
    assert np.allclose(again.predict(), fitted.predict(), atol=1e-5)
    assert np.array_equal(model().fit(GRAPH, KNOWN).predict(), fitted.predict())
    assert not np.array_equal(model(random_state=1).fit(GRAPH, KNOWN).predict(), fitted.predict())


def test_numbers_that_are_all_the_same() -> None:
    found = model(epochs=2).fit(GRAPH, KnownNumbers(KNOWN.nodes, np.full(60, 7.0))).predict()
    assert np.abs(found - 7).max() < 2
