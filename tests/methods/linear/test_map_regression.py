"""Regression on blocks of columns, against scikit-learn and finite differences."""

import numpy as np
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression

from gramme.methods.linear.map_regression import Block, MapTable, _Problem, fitted_maps, joined_tables

RNG = np.random.default_rng(0)
CODES = RNG.integers(3, size=120)
FULL = (RNG.normal(size=(120, 5)) + np.eye(5)[CODES]).astype(np.float32)


def table(values=FULL) -> MapTable:
    rows = np.flatnonzero(np.arange(120) % 3 > 0)
    odds = np.log(RNG.dirichlet(np.ones(3), size=rows.size)).astype(np.float32)
    blocks = [
        Block(None, values),
        Block(rows, FULL[rows, :2]),
        Block(None, sp.csr_array(FULL > 1.0).astype(np.float32)),
    ]
    return MapTable(120, blocks, [Block(rows, odds), Block(None, FULL[:, :3])])


def test_the_gradient_is_that_of_the_loss():
    problem = _Problem(table(), CODES, np.log(np.full(3, 1 / 3)), 2.0, None, np.array([0.3, 1.0]))
    start = problem.packed(None) + 0.1 * RNG.normal(size=problem.packed(None).size)
    _, gradient = problem.loss_and_gradient(start)
    for place in RNG.integers(start.size, size=25):
        step = np.zeros(start.size)
        step[place] = 1e-2
        change = (problem.loss_and_gradient(start + step)[0] - problem.loss_and_gradient(start - step)[0]) / 2e-2
        assert abs(change - gradient[place]) < 2e-4


def test_equals_scikit_learn_where_there_is_one_full_block():
    one = MapTable(120, [Block(None, FULL)], [])
    maps = fitted_maps(one, CODES, np.zeros(3), 2.0, max_steps=500)
    theirs = LogisticRegression(C=0.5, max_iter=1000).fit(FULL, CODES).predict_proba(FULL)
    scores = one.scores(maps)
    ours = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    # intercepts have a penalty here
    np.testing.assert_allclose(ours, theirs, atol=0.02)


def test_a_start_from_the_result_stays_there():
    some = table()
    maps = fitted_maps(some, CODES, np.log(np.full(3, 1 / 3)), 2.0, max_steps=300)
    again = fitted_maps(some, CODES, np.log(np.full(3, 1 / 3)), 2.0, maps, max_steps=2)
    np.testing.assert_allclose(some.scores(maps), some.scores(again), atol=0.05)


def test_parts_of_a_table_join_to_the_whole():
    some = table()
    kept = np.arange(120) % 2 == 0
    places = [np.flatnonzero(kept), np.flatnonzero(~kept)]
    whole = joined_tables([some.taken(kept), some.taken(~kept)], places)
    maps = fitted_maps(some, CODES, np.zeros(3), 2.0)
    np.testing.assert_allclose(whole.scores(maps), some.scores(maps), rtol=1e-4, atol=1e-5)


def test_without_labels_all_log_odds_count_once():
    none = table().taken(np.zeros(120, dtype=bool))
    maps = fitted_maps(none, CODES[:0], np.log([0.5, 0.25, 0.25]), 2.0)
    assert maps.weights.tolist() == [1, 1]
    assert fitted_maps(none, CODES[:0], np.zeros(3), 2.0, trust=np.array([0.2, 1.0])).weights.tolist() == [0.2, 1]
    assert not maps.coefficients.any()
