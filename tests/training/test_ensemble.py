"""Training an ensemble without any estimator: batches, interrupts, divergence, history."""

import numpy as np
import pytest
import torch
from tests.methods.graphs import planted

from gramme import GrammeError
from gramme.nn import FusionNetwork, MemberRandom, Shape, fusion_plan
from gramme.training import Lessons, Settings, ensemble, evaluate, train, train_ensemble

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
    lessons = Lessons(LABELLED, CODES[LABELLED], np.ones((8, 4)), **options.pop("lessons", {}))
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
    result = run(
        [range(2), range(2, 4)], trained=lambda members, output: found.update({members: output})
    )
    assert list(found) == [range(2), range(2, 4)]
    network, features = make(range(2, 4))
    network.load_state_dict({name: value[2:] for name, value in result.state.items()})
    wanted = evaluate(network, features, PLAN.everywhere)
    assert torch.equal(found[range(2, 4)].scores, wanted.scores)


def test_monitored_accuracy_is_that_of_the_members_mean():
    outputs = []
    result = run(
        [range(4)], monitor=MONITOR, trained=lambda _, output: outputs.append(output.scores)
    )
    mean = outputs[0].softmax(-1).mean(1)
    accuracy = (mean.argmax(1).numpy()[MONITOR[0]] == MONITOR[1]).mean()
    assert result.history["monitor_accuracy"].iloc[-1] == pytest.approx(accuracy)


def interrupt_in(monkeypatch, batch):
    calls = []

    def interrupted(network, *arguments, **options):
        calls.append(network)
        state = train(network, *arguments, **options | {"epochs": 2 if len(calls) == batch else 6})
        state.interrupted = len(calls) == batch
        return state

    monkeypatch.setattr(ensemble, "train", interrupted)


def test_an_interrupt_keeps_what_is_ready_or_else_what_is_under_way(monkeypatch):
    shown = []
    interrupt_in(monkeypatch, 2)
    result = run(
        [range(2), range(2, 3), range(3, 4)], trained=lambda members, _: shown.append(members)
    )
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
