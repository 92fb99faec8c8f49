"""How networks over relations are trained, how much each kind of input counts, and which labels decide it."""

import numpy as np
import pytest
import torch
from tests.methods.attention.contradicting import contradicting_tree, some_known

from gramme import EdgeLayer, MultilayerGraph
from gramme.methods.attention.relation_models import log_pool
from gramme.methods.attention.relations import (
    HELD_OUT_PARTS,
    PATIENCE,
    RelationOptions,
    TrainedRelation,
    _fitted,
    chosen_shares,
    fit_relations,
    held_out_part,
    member_seed,
    out_of_fold_relations,
)
from gramme.methods.labels import ENOUGH_LABELS, known_labels
from gramme.nn.relations import LabelNetwork, graph_views
from gramme.training import ProgressDisplay, Settings

OPTIONS = RelationOptions(("labels", "learned"), 2, 8, 5.0, Settings(10, 0.02, 1e-4, PATIENCE))


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
    options = RelationOptions(("labels", "learned"), 2, 16, 5.0, Settings(100, 0.01, 1e-4, PATIENCE))
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


RING = MultilayerGraph(
    {"ring": EdgeLayer(40, np.arange(40), (np.arange(40) + 2) % 40)}, labels=[str(node % 2) for node in range(40)]
)


def trained(aside: np.ndarray, steps: int, kind: str = "labels", deadline: float | None = None) -> TrainedRelation:
    """A network on a ring in which even nodes are joined to even ones."""
    options = RelationOptions((kind,), 1, 6, 5.0, Settings(steps, 0.02, 0.0, 2), deadline)
    known = known_labels(RING)
    with ProgressDisplay(steps, "", False) as display:
        return _fitted(kind, RING, graph_views(RING), known, aside, 0, options, display)


@pytest.mark.parametrize("kind", ["labels", "learned"])
def test_training_ends_by_itself_with_the_weights_that_were_best(kind: str) -> None:
    aside = np.arange(40) % 5 == 0
    done = trained(aside, 2_000, kind)
    assert len(done.history) < 2_000
    right = np.arange(40)[aside] % 2
    own = done.held_out[np.arange(8), right]
    assert -np.log(own).mean() == pytest.approx(done.history["validation_loss"].min(), rel=1e-5, abs=1e-6)
    if kind == "labels":
        assert (done.held_out.argmax(1) == right).all()


def test_labels_set_aside_are_never_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    states, shown = LabelNetwork.states, set[int]()

    def watched(self: LabelNetwork, plan: object, some: torch.Tensor, codes: torch.Tensor) -> list[torch.Tensor]:
        shown.update(some.tolist())
        return states(self, plan, some, codes)

    monkeypatch.setattr(LabelNetwork, "states", watched)
    trained(np.arange(40) >= 35, 12)
    assert shown == set(range(35))


def test_without_labels_set_aside_all_steps_are_trained() -> None:
    done = trained(np.zeros(40, dtype=bool), 15)
    assert len(done.history) == 15
    assert done.held_out.shape == (0, 2)


def test_a_deadline_ends_the_training_with_something() -> None:
    done = trained(np.arange(40) % 5 == 0, 500, deadline=0.0)
    assert len(done.history) == 1
    assert done.held_out.shape == (8, 2)
