"""How much each kind of input counts, and which labels decide it."""

import numpy as np
import pytest
from tests.methods.attention.contradicting import contradicting_tree, some_known

from gramme.methods.attention.relation_models import log_pool
from gramme.methods.attention.relations import (
    HELD_OUT_PARTS,
    RelationOptions,
    chosen_shares,
    fit_relations,
    held_out_part,
    member_seed,
    out_of_fold_relations,
)
from gramme.methods.labels import ENOUGH_LABELS, known_labels
from gramme.training.relations import RelationSettings

OPTIONS = RelationOptions(("labels", "learned"), 2, 8, 5.0, RelationSettings(10, 0.02, 1e-4))


def test_a_tenth_is_set_aside_and_every_class_keeps_a_label() -> None:
    codes = np.concatenate([np.repeat(np.arange(5), 80), [5]])
    aside = held_out_part(codes, 0)
    assert abs(aside.sum() - codes.size / HELD_OUT_PARTS) <= 5
    assert set(codes[~aside]) == set(range(6))
    assert held_out_part(np.zeros(40_000, dtype=np.int64), 0).sum() == ENOUGH_LABELS
    assert (held_out_part(codes, 1) != aside).any()


def test_shares_follow_what_is_said_about_labels_not_seen() -> None:
    random = np.random.default_rng(0)
    codes = random.integers(0, 3, 300)
    sure = np.full((300, 3), 0.1)
    sure[np.arange(300), codes] = 0.8
    even = np.full((300, 3), 1 / 3)
    shares, exponent = chosen_shares([sure, even], codes)
    assert shares.tolist() == [1.0, 0.0]
    assert exponent > 1  # it is right more often than it says
    shares, _ = chosen_shares([even, sure], codes)
    assert shares.tolist() == [0.0, 1.0]
    first, second = sure.copy(), sure.copy()
    first[150:], second[:150] = 1 / 3, 1 / 3  # each knows one half
    shares, _ = chosen_shares([first, second], codes)
    assert shares == pytest.approx([0.5, 0.5], abs=0.05)
    assert chosen_shares([even, sure], codes[:0])[0].tolist() == [1.0, 0.0]


def test_a_pool_is_a_geometric_mean() -> None:
    first, second = np.array([[0.5, 0.5]]), np.array([[0.9, 0.1]])
    pooled = log_pool([first, second], [0.5, 0.5], 1.0)
    assert pooled[0, 0] / pooled[0, 1] == pytest.approx(3.0)
    assert log_pool([np.array([[1.0, 0.0]])], [1.0], 1.0)[0] == pytest.approx([1.0, 0.0])


def test_a_kind_that_hardly_counts_has_one_network_and_is_not_kept() -> None:
    tree = contradicting_tree()
    known = known_labels(tree, some_known(tree))
    options = RelationOptions(("labels", "learned"), 2, 16, 5.0, RelationSettings(100, 0.01, 1e-4))
    pool, history, _ = fit_relations(tree, known, 0, options)
    assert pool.fixed_share == 0
    assert sum(pool.shares) == pytest.approx(1)
    assert pool.kind_shares()["labels"] > 0.5
    assert {"loss", "validation_loss"} <= set(history)


def test_only_as_many_folds_are_left_out_as_have_enough_labels(monkeypatch: pytest.MonkeyPatch) -> None:
    tree = contradicting_tree()
    known = known_labels(tree, some_known(tree))
    pool, *_ = fit_relations(tree, known, 0, OPTIONS)
    fold = np.arange(known.nodes.size) % 4
    fold[:10] = -1
    monkeypatch.setattr("gramme.methods.attention.relations.ENOUGH_LABELS", 100)
    found, tested = out_of_fold_relations(tree, known, fold, 0, OPTIONS, pool)
    assert tested.tolist() == [0, 1]
    for said in found.values():
        assert np.isfinite(said[np.isin(fold, tested)]).all()
        assert np.isnan(said[~np.isin(fold, tested)]).all()


def test_networks_have_seeds_of_their_own() -> None:
    seeds = {member_seed(seed, member) for seed in range(5) for member in range(20)}
    assert len(seeds) == 100
    assert all(0 <= seed < 2**62 for seed in seeds)
