"""The mixture: parts that help get weight, and probabilities hold."""

from dataclasses import replace

import numpy as np
import pytest

from gramme.links import column_names
from gramme.links.explain import link_calibration_error, roc_auc
from gramme.links.mixture import NUM_TREES, LayerExamples, fitted_mixtures


def examples(pairs: int, seed: int = 0) -> LayerExamples:
    """Pairs with one telling column."""
    random = np.random.default_rng(seed)
    linked = np.arange(pairs) < pairs // 2
    rows = random.normal(size=(pairs, len(column_names())))
    rows[:, 0] += 3.0 * linked
    return LayerExamples(rows, linked)


@pytest.fixture(autouse=True)
def few_trees(monkeypatch):
    monkeypatch.setattr("gramme.links.mixture.NUM_TREES", 60)


def test_probabilities_hold_for_new_pairs(monkeypatch):
    monkeypatch.setattr("gramme.links.mixture.NUM_TREES", NUM_TREES)
    mixtures = fitted_mixtures({"a": examples(2000)}, seed=0).mixtures
    fresh = examples(2000, seed=5)
    found = mixtures["a"].probability(fresh.rows)
    assert link_calibration_error(fresh.linked, found) < 0.02
    assert roc_auc(fresh.linked, found) > 0.97


def test_layers_learn_from_each_other_and_the_loss_is_of_unseen_pairs():
    few, many = examples(40, seed=2), examples(1000, seed=3)
    fitted = fitted_mixtures({"few": few, "many": many}, seed=0)
    mixtures, unseen = fitted.mixtures, fitted.unseen
    assert {"all layers", "trees of all layers"} & set(mixtures["few"].parts)
    assert roc_auc(few.linked, unseen["few"]) > 0.9


def test_evidence_that_is_nothing_plays_no_part():
    asked = examples(600)
    without = replace(asked, rows=asked.rows * (np.arange(asked.rows.shape[1]) > 0))
    fitted = fitted_mixtures({"a": without}, seed=0)
    mixtures, unseen = fitted.mixtures, fitted.unseen
    assert roc_auc(asked.linked, unseen["a"]) < 0.65
    changed = asked.rows.copy()
    changed[:, 0] += 5.0
    assert (mixtures["a"].probability(asked.rows) == mixtures["a"].probability(changed)).all()


def test_evidence_of_the_whole_graph_does_not_make_every_pair_more_likely():
    one = examples(300, seed=5)
    richer = one.rows.copy()
    richer[:, :3] += 0.4  # what set-aside edges add to every pair
    plain = fitted_mixtures({"a": one}, 0).mixtures["a"]
    before = plain.probability(one.rows).mean()
    assert plain.probability(richer).mean() > before + 0.02
    compared = replace(one, whole=richer[one.compared])
    found = fitted_mixtures({"a": compared}, 0).mixtures["a"]
    np.testing.assert_allclose(found.probability(richer).mean(), before, atol=0.02)
    same = replace(one, whole=one.rows[one.compared])
    assert fitted_mixtures({"a": same}, 0).mixtures["a"].offset == pytest.approx(plain.offset)


def test_what_a_model_knows_by_heart_is_not_taken_for_more_evidence():
    """Unlinked pairs whose evidence with all edges is drawn anew: nothing was gained, but nothing is known of it."""
    rises = []
    for seed in range(3):
        one, other = (examples(500, seed=number) for number in (seed, seed + 50))
        anew = replace(one, whole=other.rows[one.compared])
        plain, found = (fitted_mixtures({"a": some}, seed).mixtures["a"] for some in (one, anew))
        rises.append(plain.offset - found.offset)
    assert abs(np.mean(rises)) < 0.15


def test_a_pair_that_was_drawn_twice_is_seen_or_not_seen_as_a_whole():
    pairs = np.array([[0, 1], [2, 3], [1, 0], [4, 5], [0, 1], [6, 7]])
    one = LayerExamples(np.zeros((6, 1)), np.arange(6) < 3, pairs=pairs)
    for seed in range(20):
        folds = one.folds(np.random.default_rng(seed))
        assert folds[0] == folds[2] == folds[4]
    assert len(set(folds.tolist())) > 1


def test_degree_matched_pairs_are_learned_from_but_probabilities_are_about_the_others():
    """Degrees tell linked pairs from uniform ones; only another column tells them from degree-matched ones."""

    def drawn(pairs: int, seed: int, linked: bool, busy: bool) -> np.ndarray:
        rows = np.random.default_rng(seed).normal(size=(pairs, len(column_names())))
        rows[:, 0] += 4.0 * busy
        rows[:, 1] += 1.5 * linked
        return rows

    kinds = [drawn(600, 0, True, True), drawn(600, 1, False, False), drawn(300, 2, False, True)]
    linked, matched = np.arange(1500) < 600, np.arange(1500) >= 1200
    both = LayerExamples(np.concatenate(kinds), linked, matched)
    plain = LayerExamples(both.rows[~matched], linked[~matched])
    fresh = {
        "linked": drawn(2000, 3, True, True),
        "uniform": drawn(2000, 4, False, False),
        "matched": drawn(2000, 5, False, True),
    }
    truth = np.repeat([True, False], 2000)
    found = {}
    for name, examples_ in (("both", both), ("plain", plain)):
        mixture = fitted_mixtures({"a": examples_}, seed=0).mixtures["a"]
        for kind in ("uniform", "matched"):
            rows = np.concatenate([fresh["linked"], fresh[kind]])
            found[name, kind] = mixture.probability(rows)
    assert roc_auc(truth, found["both", "matched"]) > roc_auc(truth, found["plain", "matched"]) + 0.02
    assert roc_auc(truth, found["both", "uniform"]) > roc_auc(truth, found["plain", "uniform"]) - 0.01
    assert link_calibration_error(truth, found["both", "uniform"]) < 0.03
