"""What a budget of time leaves of a training."""

import warnings
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from tests.methods.graphs import half_known, planted

from gramme.errors import GrammeWarning
from gramme.graph import EdgeLayer, MembershipLayer, MultilayerGraph
from gramme.methods import GrammeFusion
from gramme.methods.attention import members as module
from gramme.methods.attention.members import (
    OutOfTimeError,
    TimeBudget,
    TrainingSize,
    expected_step_seconds,
    settled_training_size,
)
from gramme.methods.labels import known_labels, stratified_folds

GRAPH = planted(30)
FULL = TrainingSize(8, 2, 40)


def test_copies_go_before_members_and_members_before_epochs() -> None:
    steps = [FULL.within(allowed, 5) for allowed in (720, 719, 519, 359, 279, 239, 60)]
    assert [(one.members, one.copies, one.epochs) for one in steps] == [
        (8, 2, 40), (8, 1, 40), (4, 1, 40), (2, 1, 40), (1, 1, 40), (1, 1, 39), (1, 1, 10),
    ]  # fmt: skip
    assert all(one.steps(5) <= allowed for one, allowed in zip(steps, (720, 719, 519, 359, 279, 239, 60), strict=True))


def test_a_long_training_without_a_budget_is_announced() -> None:
    many = SimpleNamespace(num_entries=10**6, num_layers=2000, layers={})
    said = r"8 members .* 40 epochs on 1,000,000 .* all 2,000 layers; fewer members \(ensemble=1\)"
    with pytest.warns(GrammeWarning, match=said):
        assert settled_training_size(FULL, 0, None, many, lambda: 1.0) == FULL
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # what would take less than one epoch of one member?
        huge = SimpleNamespace(num_entries=10**9, num_layers=2, layers={})
        assert settled_training_size(TrainingSize(1, 1, 1), 0, None, huge, lambda: 1.0) == TrainingSize(1, 1, 1)


@pytest.mark.parametrize("steps", [59, 0, -3])
def test_too_little_time_is_no_training(steps: float) -> None:
    with pytest.raises(OutOfTimeError, match="fewer than 10"):
        FULL.within(steps, 5)


def test_few_epochs_that_were_asked_for_are_enough() -> None:
    assert TrainingSize(2, 1, 3).within(100, 5) == TrainingSize(2, 1, 3)


def test_without_an_allowance_or_by_size_no_step_is_timed() -> None:
    def never() -> float:
        raise AssertionError

    def of_size(entries: int) -> Any:
        return SimpleNamespace(num_entries=entries, layers={})

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert settled_training_size(FULL, 5, None, of_size(100_000), never) == FULL
    default = TimeBudget(420, measured=False)
    assert settled_training_size(FULL, 5, default, of_size(1_000_000), never) == FULL
    large = settled_training_size(FULL, 1, default, of_size(21_000_000), never)
    assert (large.members, large.copies, large.epochs) == (1, 1, 40)
    assert settled_training_size(FULL, 5, TimeBudget(90, measured=True), GRAPH, lambda: 0.2).members == 4


def test_a_membership_costs_more_where_nodes_are_in_several_groups() -> None:
    single = MembershipLayer(3, [0, 1, 2], [0, 0, 1])
    several = MembershipLayer(3, [0, 1, 2, 2], [0, 0, 1, 0])
    pair = EdgeLayer(3, [0], [1])
    graph = MultilayerGraph({"single": single, "several": several, "pair": pair})
    assert graph.num_entries == 9 + 3 + 4 + 2
    wanted = 2e-7 * (9 + 3 + 4 * 4 + 2)
    assert expected_step_seconds(graph) == pytest.approx(wanted)


def test_a_fit_keeps_to_what_was_settled(monkeypatch: pytest.MonkeyPatch) -> None:
    known = known_labels(GRAPH, half_known(GRAPH))
    fold = stratified_folds(known.codes, 3, 0)
    fold[fold == 2] = -1
    model = GrammeFusion(ensemble=4, epochs=12, random_state=0)
    monkeypatch.setattr(module, "step_seconds", lambda *_: 1.0)
    monkeypatch.setattr("gramme.methods.attention.estimator.step_seconds", lambda *_: 1.0)
    unseen = model.fit_with_folds(GRAPH, known, fold, 2, TimeBudget(60, measured=True))
    assert model.effort_ == TrainingSize(2, 1, 12)
    assert model.members_ == 2
    assert len(model.history_) == 12
    assert {len(value) for value in model.state_.values()} == {2}
    np.testing.assert_array_equal(np.isnan(unseen).any(axis=1), fold < 0)


def test_steps_are_timed_on_the_training_itself() -> None:
    known = known_labels(GRAPH, half_known(GRAPH))
    fold = stratified_folds(known.codes, 2, 0)
    model = GrammeFusion(ensemble=2, epochs=11, random_state=0)
    plain = GrammeFusion(ensemble=2, epochs=11, random_state=0)
    timed = model.fit_with_folds(GRAPH, known, fold, 1, TimeBudget(1000, measured=True))
    assert (timed == plain.fit_with_folds(GRAPH, known, fold, 1)).all(), "timing changes nothing"
    assert (model.probabilities_ == plain.probabilities_).all()
    with pytest.raises(OutOfTimeError):
        model.fit_with_folds(GRAPH, known, fold, 1, TimeBudget(1e-9, measured=True))


def test_labels_decide_how_long_to_train_where_no_number_is_given() -> None:
    model = GrammeFusion.paper(random_state=0, hidden_dim=8, feature_dim=16, learning_rate=0.005)
    labels = half_known(GRAPH)
    chosen = model.fit(GRAPH, labels).epochs_
    assert chosen == len(model.history_) == model.fit(GRAPH, labels).epochs_
    assert 10 <= chosen <= module.MAX_EPOCHS
    assert chosen % module._LongestTraining.EVERY == 0


def test_a_training_ends_where_labels_left_out_are_predicted_worse() -> None:
    random = np.random.default_rng(0)
    noise = np.where(np.arange(GRAPH.num_nodes) % 2, random.permutation(GRAPH.labels), None)
    model = GrammeFusion.paper(random_state=0, hidden_dim=8, feature_dim=16, learning_rate=0.005)
    learned, guessed = (model.fit(GRAPH, labels).epochs_ for labels in (half_known(GRAPH), noise))
    assert guessed < learned


def test_few_labels_train_a_fixed_number_and_validation_labels_stop_by_themselves() -> None:
    few = np.where(np.arange(GRAPH.num_nodes) < 9, GRAPH.labels, None)
    model = GrammeFusion(epochs=None, features="random", ensemble=1, hidden_dim=4, random_state=0)
    assert model.fit(GRAPH, few).epochs_ == module.MAX_EPOCHS
    rest = np.where(np.arange(GRAPH.num_nodes) < 9, None, GRAPH.labels)
    model.set_params(patience=3, learning_rate=0.1).fit(GRAPH, few, validation=rest)
    assert model.epochs_ == len(model.history_) < module.MAX_EPOCHS
