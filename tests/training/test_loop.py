"""The training loop, its callbacks and history."""

import logging
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import torch
from tests.methods.graphs import PINNED, half_known, planted
from torch import nn

from gramme.methods import GrammeFusion
from gramme.nn import FusionNetwork, MemberRandom, Shape, fusion_plan
from gramme.training import (
    Callback,
    EarlyStopping,
    History,
    NumberTask,
    Progress,
    Settings,
    Task,
    evaluate,
    joined_history,
    loop,
    train,
)
from gramme.training.loop import MIN_SHARED_NUMBERS, Adam, threads_for


@pytest.fixture
def two_threads():
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


@pytest.mark.usefixtures("two_threads")
def test_only_large_work_is_shared() -> None:
    with threads_for(MIN_SHARED_NUMBERS - 1):
        assert torch.get_num_threads() == 1
    with threads_for(MIN_SHARED_NUMBERS):
        assert torch.get_num_threads() == 2


@pytest.mark.usefixtures("two_threads")
def test_an_error_restores_the_threads() -> None:
    with pytest.raises(RuntimeError), threads_for(1):
        raise RuntimeError
    assert torch.get_num_threads() == 2


def test_steps_are_those_of_torch_to_the_bit() -> None:
    start = torch.randn(7, generator=torch.Generator().manual_seed(0))
    mine, other = nn.Parameter(start.clone()), nn.Parameter(start.clone())
    later, later_other = nn.Parameter(start.clone()), nn.Parameter(start.clone())
    own = Adam([mine, later], 0.05, 0.1)
    torchs = torch.optim.Adam([other, later_other], lr=0.05, weight_decay=0.1, fused=True)
    for step in range(6):
        for optimiser, first, second in ((own, mine, later), (torchs, other, later_other)):
            optimiser.zero_grad()
            loss = (first**4).sum() + ((second - 1) ** 2).sum() * (step > 2)
            (loss if step > 2 else (first**4).sum()).backward()  # type: ignore[no-untyped-call]
            optimiser.step()
    assert torch.equal(mine, other)
    assert torch.equal(later, later_other)
    assert not torch.equal(mine, start)


def test_without_gradients_nothing_moves() -> None:
    parameter = nn.Parameter(torch.ones(2))
    Adam([parameter], 0.1, 0.1).step()
    assert parameter.tolist() == [1, 1]


@pytest.mark.slow  # loads torch anew
def test_a_training_does_not_load_the_compiler() -> None:
    code = (
        "import sys, torch; from gramme.training.loop import Adam\n"
        "p = torch.nn.Parameter(torch.ones(2)); a = Adam([p], 0.1, 0.0)\n"
        "(p ** 2).sum().backward(); a.step()\n"
        "assert p[0] < 1 and 'torch._dynamo' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


CPU = torch.device("cpu")
SCORES = torch.randn(5, 2, 3, generator=torch.Generator().manual_seed(0))


def losses(one, scores=SCORES):
    return one.losses(one.among(scores))


def task_task(weights):
    return Task.of(np.array([4, 0, 2]), np.array([2, 0, 1]), np.array(weights, dtype=float), CPU)


def test_the_loss_is_the_weighted_cross_entropy_of_each_member():
    weights = np.array([[1.0, 0.0], [1.0, 3.0], [2.0, 1.0]])
    found = losses(task_task(weights))
    for member in range(2):
        entropy = -SCORES[:, member].log_softmax(-1)[[4, 0, 2], [2, 0, 1]].numpy()
        expected = np.average(entropy, weights=weights[:, member])
        assert found[member].item() == pytest.approx(expected, rel=1e-5)


def test_a_weight_of_zero_hides_a_label():
    hidden = task_task([[0.0, 1.0], [1.0, 1.0], [1.0, 1.0]])
    other = SCORES.clone()
    other[4, 0] += 10
    assert losses(hidden)[0] == losses(hidden, other)[0]


def test_accuracy_counts_as_the_weights_do():
    scores = torch.zeros(5, 1, 3)
    scores[4, 0, 2] = 1  # right
    scores[0, 0, 1] = 1  # wrong
    scores[2, 0, 1] = 1  # right
    one = task_task([[1.0], [2.0], [1.0]])
    assert one.accuracies(one.among(scores)).item() == pytest.approx(0.5)


def test_a_member_without_labels_has_no_loss_instead_of_no_number():
    assert losses(task_task([[0.0, 1.0]] * 3))[0] == 0


def test_numbers_are_met_by_squared_error_each_member_its_own():
    numbers = np.array([[1.0, 10.0], [2.0, 20.0], [3.0, 30.0]])
    one = NumberTask.of(np.array([4, 0, 2]), numbers, np.array([[1.0, 1], [1, 0], [2, 1]]), CPU)
    scores = torch.zeros(5, 2, 1)
    scores[4, 0], scores[0, 0], scores[2, 0] = 1, 4, 3
    scores[2, 1] = 30
    assert losses(one, scores).tolist() == pytest.approx([4 / 4, 100 / 2])
    found = one.accuracies(one.among(scores)).tolist()
    assert found == pytest.approx([1 - 1 / 0.6875, 1 - 50 / 100])


GRAPH = planted(12, ("no", "yes"))
CODES = (GRAPH.labels == "yes").astype(np.int64)
LABELLED = np.arange(8)
SHAPE = Shape(2, 5, 3, 2, (1, 1), (1, 1), dropout=0.2)


def parts(members=2):
    network = FusionNetwork(SHAPE, MemberRandom(range(members)), fusion_heads=1, feed_forward=False, fuse="end")
    features = torch.randn(12, members, 5, generator=torch.Generator().manual_seed(0))
    return network, features, fusion_plan(GRAPH, SHAPE, LABELLED, fuse="end")


def task(nodes, members=2):
    nodes = np.array(nodes)
    return Task.of(nodes, CODES[nodes], np.ones((nodes.size, members)), CPU)


def run(callbacks=(), epochs=10, members=2, learning_rate=0.05):
    network, features, plan = parts(members)
    state = train(
        network, features, plan, task(LABELLED, members), Settings(epochs, learning_rate, 0.0), callbacks=callbacks
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
    network, features, plan, state = run([losses, EarlyStopping(validation, 5)], epochs=500, learning_rate=0.3)
    assert state.epoch < 500
    best = torch.stack(losses.found).min(0).values
    scores = evaluate(network, features, plan.everywhere).scores
    torch.testing.assert_close(validation.losses(validation.among(scores)), best)
    last = torch.stack(losses.found)[-5:]
    assert bool((last >= best).all())


@pytest.mark.parametrize("patience", [1, 2, 5])
@pytest.mark.parametrize("members", [1, 3])
def test_training_stops_at_the_epoch_at_which_all_members_have_waited_long_enough(patience, members):
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


def test_a_logger_says_how_a_training_goes(caplog):
    graph = planted()
    with caplog.at_level(logging.DEBUG, logger="gramme.training"):
        GrammeFusion(**PINNED | {"epochs": 3}).fit(graph, half_known(graph))
    said = [record.getMessage() for record in caplog.records]
    assert said[0].startswith("epoch 1 of 3: loss ")
    assert said[-1] == "trained 2 networks for 3 of at most 3 epochs"
