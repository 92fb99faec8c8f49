"""Training an ensemble without any estimator: batches, interrupts, divergence, history."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from tests.methods.graphs import planted

from gramme import GrammeError
from gramme.nn import FusionNetwork, MemberRandom, Shape, fusion_plan
from gramme.training import (
    ProgressDisplay,
    Settings,
    TrainingTargets,
    ensemble,
    evaluate,
    held_out_labels,
    train,
    train_ensemble,
)
from gramme.training import ensemble as progress

CPU = torch.device("cpu")
NODES, LESSONS_CODES = np.array([4, 0, 2, 7]), np.array([0, 1, 0, 1])


def test_members_learn_by_their_weights():
    weights = np.array([[1.0, 0.0], [1.0, 2.0], [0.0, 1.0], [2.0, 1.0]])
    lessons = TrainingTargets(NODES, LESSONS_CODES, weights)
    assert lessons.members == 2
    task, stopping = lessons.tasks(range(1, 2), CPU)
    assert stopping is None
    assert task.nodes.tolist() == NODES.tolist()
    assert task.weights[:, 0].tolist() == [0, 0.5, 0.25, 0.25]


def test_labels_set_aside_teach_nothing_and_tell_when_to_stop():
    aside = np.array([[True], [False], [False], [True]])
    task, stopping = TrainingTargets(NODES, LESSONS_CODES, np.ones((4, 1)), aside).tasks(range(1), CPU)
    assert stopping is not None
    assert (task.weights[:, 0] > 0).tolist() == (~aside[:, 0]).tolist()
    assert (stopping.weights[:, 0] > 0).tolist() == aside[:, 0].tolist()


def test_validation_labels_count_alike_for_all_members():
    validation = (np.array([1, 3]), np.array([0, 1]))
    task, stopping = TrainingTargets(NODES, LESSONS_CODES, np.ones((4, 3)), validation=validation).tasks(
        range(1, 3), CPU
    )
    assert stopping is not None
    assert stopping.nodes.tolist() == [1, 3]
    assert stopping.weights.tolist() == [[0.5, 0.5], [0.5, 0.5]]
    assert task.weights.shape == (4, 2)


def test_labels_are_held_out_within_each_class_and_one_of_each_stays():
    codes = np.repeat([0, 1, 2], [10, 6, 1])
    seen = np.ones((17, 3), dtype=bool)
    seen[:5, 2] = False
    aside = held_out_labels(codes, seen, 0.5, seed=0)
    assert aside is not None
    for member in range(3):
        assert set(codes[seen[:, member] & ~aside[:, member]]) == {0, 1, 2}
        assert not (aside & ~seen).any()
    assert aside[:, 0].sum() == 5 + 3
    assert (aside[:, 0] != aside[:, 1]).any()
    again = held_out_labels(codes, seen, 0.5, seed=0)
    assert np.array_equal(aside, again)


@pytest.mark.parametrize("codes", [[0, 1], []])
def test_too_few_labels_to_hold_any_out(codes):
    seen = np.ones((len(codes), 2), dtype=bool)
    assert held_out_labels(np.array(codes, dtype=np.int64), seen, 0.9, seed=0) is None


@pytest.fixture
def at_once(monkeypatch):
    monkeypatch.setattr(progress, "PATIENCE_SECONDS", -1.0)


def work(wanted):
    with ProgressDisplay(6, "GrammeFusion", wanted) as display:
        for _ in range(3):
            display.advance(1, 0.25)
        shown = display._bar is not None
        display.finish(3)
        assert display.done == 6
    return shown


@pytest.mark.usefixtures("at_once")
def test_is_shown_where_wanted(capsys):
    assert work(True)
    assert capsys.readouterr().out == ""


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("wanted", [False, None])
def test_is_not_shown_elsewhere(wanted, capsys):
    """Standard error is not a terminal here."""
    assert not work(wanted)
    assert capsys.readouterr() == ("", "")


def test_a_short_training_shows_nothing(capsys):
    assert not work(True)
    assert capsys.readouterr() == ("", "")


@pytest.mark.usefixtures("at_once")
def test_epochs_that_were_not_needed_count_as_done():
    with ProgressDisplay(6, "GrammeFusion", True) as display:
        display.advance(1, 0.5)
        display.finish(5)
        assert display._bar is not None
        assert display._bar.tasks[0].completed == 6


GRAPH = planted(12, ("no", "yes"))
CODES = (GRAPH.labels == "yes").astype(np.int64)
SHAPE = Shape(2, 5, 3, 2, (1, 1), (1, 1))
LABELLED = np.arange(8)
PLAN = fusion_plan(GRAPH, SHAPE, LABELLED, fuse="end")
MONITOR = (np.array([9, 10]), CODES[[9, 10]])


def make(members):
    random = MemberRandom(members)
    network = FusionNetwork(SHAPE, random, fusion_heads=1, feed_forward=False, fuse="end")
    features = torch.randn(12, 4, 5, generator=torch.Generator().manual_seed(0))
    return network, features[:, list(members)]


def run(batches, epochs=6, learning_rate=0.05, **options):
    lessons = TrainingTargets(LABELLED, CODES[LABELLED], np.ones((8, 4)), **options.pop("lessons", {}))
    settings = Settings(epochs, learning_rate, 0.0, patience=2)
    return train_ensemble(batches, make, PLAN, lessons, settings, **options)


def test_members_of_all_batches_lie_side_by_side():
    together, apart = run([range(4)]), run([range(1), range(1, 4)])
    assert together.members == apart.members == 4
    for name, value in together.state.items():
        assert value.shape[0] == 4
        torch.testing.assert_close(apart.state[name], value, rtol=1e-3, atol=1e-4)
    assert len(apart.history) == 6
    assert (apart.complete, apart.interrupted) == (True, False)


def test_each_batch_is_shown_once_trained():
    found = {}
    result = run([range(2), range(2, 4)], trained=lambda members, output: found.update({members: output}))
    assert list(found) == [range(2), range(2, 4)]
    network, features = make(range(2, 4))
    network.load_state_dict({name: value[2:] for name, value in result.state.items()})
    wanted = evaluate(network, features, PLAN.everywhere)
    assert torch.equal(found[range(2, 4)].scores, wanted.scores)


def test_monitored_accuracy_is_that_of_the_members_mean():
    outputs = []
    result = run([range(4)], monitor=MONITOR, trained=lambda _, output: outputs.append(output.scores))
    mean = outputs[0].softmax(-1).mean(1)
    accuracy = (mean.argmax(1).numpy()[MONITOR[0]] == MONITOR[1]).mean()
    assert result.history["monitor_accuracy"].iloc[-1] == pytest.approx(accuracy)


def interrupt_in(monkeypatch, batch):
    calls = []

    def interrupted(network, features, plan, task, settings, **options):
        calls.append(network)
        settings = replace(settings, epochs=2 if len(calls) == batch else 6)
        state = train(network, features, plan, task, settings, **options)
        state.interrupted = len(calls) == batch
        return state

    monkeypatch.setattr(ensemble, "train", interrupted)


def test_an_interrupt_keeps_what_is_ready_or_else_what_is_under_way(monkeypatch):
    shown = []
    interrupt_in(monkeypatch, 2)
    result = run([range(2), range(2, 3), range(3, 4)], trained=lambda members, _: shown.append(members))
    assert (result.members, result.interrupted, result.complete) == (2, True, True)
    assert len(result.history) == 6
    assert shown == [range(2)]
    interrupt_in(monkeypatch, 1)
    result = run([range(2), range(2, 4)])
    assert (result.members, result.interrupted, result.complete) == (2, True, False)
    assert len(result.history) == 2


def test_labels_set_aside_stop_the_training():
    aside = np.zeros((8, 4), dtype=bool)
    aside[::2] = True
    result = run([range(4)], epochs=300, learning_rate=0.3, lessons={"held_out": aside})
    assert len(result.history) < 300
    assert "validation_loss" in result.history


def test_weights_that_are_no_numbers_are_an_error():
    with pytest.raises(GrammeError, match="the training diverged"):
        run([range(4)], learning_rate=1e38)
