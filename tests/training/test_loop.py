"""The training loop, its callbacks and history."""

import numpy as np
import pandas as pd
import pytest
import torch
from tests.methods.graphs import planted

from gramme.nn import FusionNetwork, MemberRandom, Shape, fusion_plan
from gramme.training import (
    Callback,
    EarlyStopping,
    History,
    Progress,
    Task,
    evaluate,
    joined_history,
    loop,
    train,
)

CPU = torch.device("cpu")
GRAPH = planted(12, ("no", "yes"))
CODES = (GRAPH.labels == "yes").astype(np.int64)
LABELLED = np.arange(8)
SHAPE = Shape(2, 5, 3, 2, (1, 1), (1, 1), dropout=0.2)


def parts(members=2):
    network = FusionNetwork(
        SHAPE, MemberRandom(range(members)), fusion_heads=1, feed_forward=False, fuse="end"
    )
    features = torch.randn(12, members, 5, generator=torch.Generator().manual_seed(0))
    return network, features, fusion_plan(GRAPH, SHAPE, LABELLED, fuse="end")


def task(nodes, members=2):
    nodes = np.array(nodes)
    return Task.of(nodes, CODES[nodes], np.ones((nodes.size, members)), CPU)


def run(callbacks=(), epochs=10, members=2, learning_rate=0.05):
    network, features, plan = parts(members)
    state = train(
        network,
        features,
        plan,
        task(LABELLED, members),
        epochs=epochs,
        learning_rate=learning_rate,
        weight_decay=0.0,
        callbacks=callbacks,
    )
    return network, features, plan, state


class Recorder(Callback):
    def __init__(self):
        self.events = []

    def start(self, state):
        self.events.append("start")

    def after_epoch(self, state):
        self.events.append(state.epoch)

    def end(self, state):
        self.events.append("end")


def test_callbacks_hear_of_start_epochs_and_end():
    recorder = Recorder()
    run([recorder], epochs=3)
    assert recorder.events == ["start", 1, 2, 3, "end"]


def test_a_callback_may_stop():
    class Stop(Recorder):
        def after_epoch(self, state):
            super().after_epoch(state)
            state.stop = state.epoch == 2

    stop = Stop()
    *_, state = run([stop])
    assert stop.events == ["start", 1, 2, "end"]
    assert not state.interrupted


def test_an_interrupt_ends_the_training_in_order():
    class Interrupt(Recorder):
        def after_epoch(self, state):
            super().after_epoch(state)
            if state.epoch == 2:
                raise KeyboardInterrupt

    interrupt = Interrupt()
    *_, state = run([interrupt])
    assert interrupt.events == ["start", 1, 2, "end"]
    assert state.interrupted


@pytest.mark.parametrize("where", ["step", "callback"])
def test_an_interrupt_before_the_first_epoch_is_over_leaves_no_result(where, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    place = (loop, "_step") if where == "step" else (Recorder, "after_epoch")
    monkeypatch.setattr(*place, interrupt)
    with pytest.raises(KeyboardInterrupt):
        run([Recorder()])


def test_other_errors_are_not_swallowed():
    class Broken(Callback):
        def after_epoch(self, state):
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        run([Broken()])


def test_the_loss_falls():
    history = History()
    run([history], epochs=60)
    assert history.rows[-1]["loss"] < 0.7 * history.rows[0]["loss"]


def test_predictions_are_computed_once_per_epoch_and_never_stale():
    class Compare(Callback):
        def after_epoch(self, state):
            first = state.predict()
            assert state.predict() is first
            fresh = evaluate(state.network, state.features, state.plan.everywhere)
            assert torch.equal(first.scores, fresh.scores)

    run([Compare(), EarlyStopping(task([9, 10]), 3), Compare()])


def test_looking_changes_nothing():
    plain, *_ = run()
    watched, *_ = run([History(task([9, 10]), torch.tensor([8, 11])), Progress(lambda *_: None)])
    for name, value in plain.state_dict().items():
        assert torch.equal(value, watched.state_dict()[name])


class Losses(Callback):
    """The held-out loss of every member after every epoch."""

    def __init__(self, validation):
        self.validation, self.found = validation, []

    def after_epoch(self, state):
        scores = self.validation.among(state.predict().scores)
        self.found.append(self.validation.losses(scores))


def test_early_stopping_keeps_each_members_best_weights():
    validation = task([8, 9, 10, 11])
    losses = Losses(validation)
    network, features, plan, state = run(
        [losses, EarlyStopping(validation, 5)], epochs=500, learning_rate=0.3
    )
    assert state.epoch < 500
    best = torch.stack(losses.found).min(0).values
    scores = evaluate(network, features, plan.everywhere).scores
    torch.testing.assert_close(validation.losses(validation.among(scores)), best)
    last = torch.stack(losses.found)[-5:]
    assert bool((last >= best).all())


@pytest.mark.parametrize("patience", [1, 2, 5])
@pytest.mark.parametrize("members", [1, 3])
def test_training_stops_at_the_epoch_at_which_all_members_have_waited_long_enough(
    patience, members
):
    validation = task([8, 9, 10, 11], members)
    everything, stopped = Losses(validation), Losses(validation)
    run([everything], epochs=120, members=members, learning_rate=0.3)
    losses = torch.stack(everything.found)

    def epochs_since_best(epoch):
        return epoch - 1 - losses[:epoch].argmin(0)

    ends = [epoch for epoch in range(1, 121) if bool((epochs_since_best(epoch) >= patience).all())]
    assert ends, "no member improves for ever"
    stopping = EarlyStopping(validation, patience)
    *_, state = run([stopped, stopping], epochs=120, members=members, learning_rate=0.3)
    assert state.epoch == len(stopped.found) == ends[0]


def test_histories_of_batches_are_joined_by_weight():
    long, short = History(), History()
    long.rows = [{"epoch": 1.0, "loss": 3.0}, {"epoch": 2.0, "loss": 1.0}]
    short.rows = [{"epoch": 1.0, "loss": 6.0}]
    long.members, short.members = 2, 1
    expected = pd.DataFrame({"epoch": [1, 2], "loss": [4.0, 1.0]})
    pd.testing.assert_frame_equal(joined_history([long, short]), expected)


def test_a_history_without_epochs_is_an_empty_table():
    table = joined_history([History()])
    assert table.columns.tolist() == ["epoch", "loss", "accuracy"]
    assert len(table) == 0
