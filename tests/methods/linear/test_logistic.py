"""What the linear models share: the regression, the choice of its penalty, what a copy takes over."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression
from tests.methods.graphs import half_known, planted
from threadpoolctl import threadpool_info, threadpool_limits

import gramme
from gramme.methods import OneHotLogistic
from gramme.methods.labels import KnownLabels
from gramme.methods.linear import logistic
from gramme.methods.linear.logistic import chosen_strength, class_shares, fitted_regression, importances, regression

RANDOM = np.random.default_rng(0)
ROWS = RANDOM.normal(size=(60, 4))
CODES = (ROWS[:, 0] + 0.3 * RANDOM.normal(size=60) > 0).astype(np.int64)
GRAPH = planted()


def known_of(codes: np.ndarray, classes: int) -> KnownLabels:
    return KnownLabels(np.arange(codes.size), codes, np.arange(classes))


@pytest.mark.parametrize("classes", [2, 3])
def test_the_shares_are_those_of_scikit_learn(classes):
    codes = (CODES + (ROWS[:, 1] > 1) * (classes - 2)).clip(max=classes - 1)
    expected = LogisticRegression(C=0.5, max_iter=500).fit(ROWS, codes).predict_proba(ROWS)
    found = class_shares(ROWS, *regression(ROWS, codes, classes, 0.5))
    np.testing.assert_allclose(found, expected, atol=1e-10)


def test_what_favours_no_class_or_every_node_alike_gives_a_layer_no_importance():
    random = np.random.default_rng(2)
    count = len(GRAPH.layers)
    parts = [random.normal(size=(GRAPH.num_nodes, 3)) * (number + 1) for number in range(count)]
    plain = importances(parts, GRAPH)
    assert plain.sum() == pytest.approx(1)
    assert plain[0] < plain[-1]
    # added to all classes of a node, it changes no probability
    per_node = [part + 10 * random.normal(size=(len(part), 1)) for part in parts[:1]]
    np.testing.assert_allclose(importances(per_node + parts[1:], GRAPH), plain)
    # added to a class of all nodes, it tells no nodes apart
    per_class = [part + 10 * random.normal(size=(1, 3)) for part in parts[:1]]
    np.testing.assert_allclose(importances(per_class + parts[1:], GRAPH), plain)


def test_a_regression_of_few_labels_takes_one_thread_whatever_the_graph(monkeypatch):
    def look(*arguments, **options):
        seen.update(pool["num_threads"] for pool in threadpool_info())
        return minimize(*arguments, **options)

    seen, minimize = set(), logistic.minimize
    monkeypatch.setattr(logistic, "minimize", look)
    with threadpool_limits(limits=2):
        fitted_regression(ROWS, CODES, 1.0, 500)
    assert seen == {1}


@pytest.mark.parametrize("most", [0, logistic.MAX_DENSE_NUMBERS])
def test_sparse_rows_and_rows_of_single_precision_give_the_same(most, monkeypatch):
    monkeypatch.setattr(logistic, "MAX_DENSE_NUMBERS", most)
    rows = np.where(ROWS > 0.5, ROWS, 0).astype(np.float32)
    codes = CODES + (ROWS[:, 1] > 1)
    expected = LogisticRegression(C=2.0, max_iter=500).fit(rows.astype(float), codes)
    for table in (rows, sp.csr_array(rows), sp.csr_array(rows.astype(float))):
        coefficients, intercept = fitted_regression(table, codes, 2.0, 500)
        np.testing.assert_allclose(coefficients, expected.coef_.T, atol=1e-10)
        np.testing.assert_allclose(intercept, expected.intercept_, atol=1e-10)


def test_a_class_that_nobody_has_gets_no_chance():
    found = class_shares(ROWS, *regression(ROWS, CODES * 2, 3, 1.0))
    assert (found[:, 1] == 0).all()
    np.testing.assert_allclose(found.sum(1), 1)


def test_one_class_and_no_columns():
    assert class_shares(ROWS, *regression(ROWS, np.ones(60, int), 2, 1.0))[:, 1].min() == 1
    empty = np.zeros((4, 0))
    shares = class_shares(empty, *regression(empty, np.array([0, 0, 0, 1]), 2, 1.0))
    np.testing.assert_allclose(shares, [[0.75, 0.25]] * 4)


def test_a_regression_that_has_not_settled_says_nothing(recwarn):
    fitted_regression(ROWS * 1e3, CODES, 1e6, 2)
    assert not recwarn.list


def test_the_penalty_with_the_least_loss_is_chosen():
    """Noise wants a strong penalty, a clear signal a weak one; the first where there is nothing to test."""
    noise = known_of(RANDOM.integers(2, size=60).astype(np.int64), 2)
    assert chosen_strength(ROWS, noise, (1.0, 1e-3, 1e3), 0) == 1e-3
    clear = known_of((ROWS[:, 0] > 0).astype(np.int64), 2)
    assert chosen_strength(ROWS, clear, (1.0, 1e-3, 1e3), 0) == 1e3
    assert chosen_strength(ROWS, clear, (1.0, 1e-3, 1e3), 0, caution=1e6) == 1
    assert chosen_strength(ROWS[:2], known_of(np.array([0, 1]), 2), (7.0, 1.0), 0) == 7


def test_many_labels_are_sampled(monkeypatch):
    seen = []
    proper = logistic.regression

    def noted(rows, *arguments, **options):
        seen.append(rows.shape[0])
        return proper(rows, *arguments, **options)

    monkeypatch.setattr(logistic, "MAX_PENALTY_LABELS", 20)
    monkeypatch.setattr(logistic, "regression", noted)
    chosen_strength(ROWS, known_of(CODES, 2), (1.0, 10.0), 0)
    assert max(seen) <= 20


def test_how_many_labels_there_were_is_saved(tmp_path):
    model = OneHotLogistic(random_state=0).fit(GRAPH, half_known(GRAPH))
    assert model.labels_ == 18
    model.save(tmp_path / "m")
    assert gramme.load(tmp_path / "m").labels_ == 18


def test_with_many_labels_strengths_that_cannot_win_are_not_tried(monkeypatch):
    random = np.random.default_rng(0)
    codes = random.integers(0, 3, 1_200)
    rows = np.eye(3)[codes] + random.normal(size=(1_200, 3))
    tried = []
    proper = logistic.regression

    def noted(rows, codes, classes, strength, *arguments, **options):
        tried.append(strength)
        return proper(rows, codes, classes, strength, *arguments, **options)

    monkeypatch.setattr(logistic, "regression", noted)
    strengths = (1.0, 1e-2, 1e-4, 1e-6)
    known = known_of(codes, 3)
    assert chosen_strength(rows, known, strengths, 0) == 1.0
    assert tried.count(1e-6) == 0, "the loss rises already on the way there"
    monkeypatch.setattr(logistic, "ENOUGH_LABELS", 10_000)
    assert chosen_strength(rows, known, strengths, 0) == 1.0, "trying all comes to the same"
    assert tried.count(1e-6) > 0


def test_a_regression_that_begins_elsewhere_ends_at_the_same_place():
    random = np.random.default_rng(1)
    codes = random.integers(0, 3, 200)
    rows = np.eye(3)[codes] + random.normal(size=(200, 3))
    from_zero = logistic.regression(rows, codes, 4, 1.0)
    begun = logistic.regression(rows, codes, 4, 1.0, start=logistic.regression(rows, codes, 4, 10))
    assert np.allclose(from_zero[0], begun[0], atol=1e-2)
    assert np.isneginf(begun[1][3])


def test_many_labels_are_learned_from_as_few_are(monkeypatch):
    random = np.random.default_rng(0)
    rows = sp.csr_array(random.random((1_200, 30)) * (random.random((1_200, 30)) < 0.3))
    codes = (rows @ random.normal(size=(30, 3)) + random.normal(0, 0.3, (1_200, 3))).argmax(axis=1)
    quick = class_shares(rows, *regression(rows, codes, 3, 10.0))
    monkeypatch.setattr(logistic, "ENOUGH_LABELS", codes.size + 1)
    settled = class_shares(rows, *regression(rows, codes, 3, 10.0))
    assert np.abs(quick - settled).mean() < 0.005
    assert (quick.argmax(axis=1) == settled.argmax(axis=1)).mean() > 0.99


def test_a_step_too_far_is_shortened():
    seen = []

    def steep(point):
        seen.append(float(point[0]))
        return float(np.cosh(3 * point).sum()), 3 * np.sinh(3 * point)

    assert abs(logistic.minimised(steep, np.array([5.0]), 200, 1e-12)[0]) < 1e-3
    alone = logistic.minimised(lambda point: (0.0 if point[0] == 1 else np.inf, point), np.ones(1), 5, 1e-9)
    assert alone.tolist() == [1.0]
