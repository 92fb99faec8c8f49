"""Fitting the attention models: validation, monitoring, history, interrupts, class weights."""

import importlib
import os
import signal
import time
from pathlib import Path

import numpy as np
import pytest
from tests.methods.graphs import PINNED, half_known, planted
from tests.processes import Process

from gramme import DataError, GrammeFusion, GrammeSG, GrammeWarning
from gramme.methods.attention import members
from gramme.methods.labels import known_labels
from gramme.nn import Network, plan
from gramme.training import Callback, History, ensemble, train

FAST = PINNED
GRAPH = planted()
Y = half_known(GRAPH)
BOTH = pytest.mark.parametrize("kind", [GrammeSG, GrammeFusion])


def hidden_labels(every=4, offset=1):
    return {GRAPH.nodes[place]: GRAPH.labels[place] for place in range(offset, 36, every) if Y[place] is None}


# Stopping


@BOTH
def test_stops_early_on_held_out_training_labels(kind):
    settings = FAST | {"epochs": 400, "learning_rate": 0.1, "patience": 3}
    model = kind(**settings | {"validation_fraction": 0.4}).fit(GRAPH, Y)
    assert 3 < len(model.history_) < 400
    assert model.history_.columns.tolist() == ["epoch", "loss", "accuracy", "validation_loss", "validation_accuracy"]
    assert model.history_["epoch"].tolist() == list(range(1, len(model.history_) + 1))


@BOTH
def test_stopping_sees_no_label_but_those_of_training(kind):
    model = kind(**FAST | {"validation_fraction": 0.3, "patience": 2})
    own = model.fit(GRAPH, Y).probabilities_.tobytes()
    blind = model.fit(GRAPH.replace(labels=None), Y).probabilities_.tobytes()
    assert own == blind


@BOTH
def test_too_few_labels_to_hold_any_out_is_a_warning(kind):
    y = {"n0": "a", "n1": "b"}
    with pytest.warns(GrammeWarning, match="sets none aside"):
        model = kind(**FAST | {"validation_fraction": 0.3}).fit(GRAPH, y)
    assert len(model.history_) == 12


@BOTH
def test_validation_labels_decide_when_to_stop_and_teach_nothing(kind):
    settings = FAST | {"epochs": 300, "learning_rate": 0.1, "patience": 3}
    stopped = kind(**settings).fit(GRAPH, Y, validation=hidden_labels())
    assert len(stopped.history_) < 300
    assert "validation_loss" in stopped.history_
    patient = kind(**(settings | {"epochs": 5, "patience": 100})).fit(GRAPH, Y)
    watched = kind(**(settings | {"epochs": 5, "patience": 100})).fit(GRAPH, Y, validation=hidden_labels())
    # while no member has got worse, the validated training is the plain one
    np.testing.assert_array_equal(patient.history_["loss"], watched.history_["loss"])


@BOTH
def test_a_validation_class_that_training_lacks_is_an_error(kind):
    with pytest.raises(DataError, match="the validation label 'z' is not among the training labels"):
        kind(**FAST).fit(GRAPH, Y, validation={"n1": "z"})
    with pytest.raises(DataError, match="no node has a known validation label"):
        kind(**FAST).fit(GRAPH, Y, validation={"n1": None})


# Monitoring


@BOTH
@pytest.mark.parametrize("fraction", [0.0, 0.3])
def test_a_monitor_has_no_influence(kind, fraction):
    model = kind(**FAST | {"dropout": 0.3, "validation_fraction": fraction})
    plain = model.fit(GRAPH, Y).probabilities_.tobytes()
    watched = model.fit(GRAPH, Y, monitor=GRAPH.labels)
    assert watched.probabilities_.tobytes() == plain
    assert watched.history_["monitor_accuracy"].between(0, 1).all()


@BOTH
def test_the_last_monitored_accuracy_is_that_of_the_model(kind, monkeypatch):
    monkeypatch.setattr(members, "MAX_BATCH_NUMBERS", 1)
    truth = hidden_labels(every=2)
    model = kind(**FAST).fit(GRAPH, Y, monitor=truth)
    answers = dict(zip(GRAPH.nodes, model.predict(), strict=True))
    accuracy = np.mean([answers[node] == label for node, label in truth.items()])
    assert model.history_["monitor_accuracy"].iloc[-1] == pytest.approx(accuracy)
    assert len(model.history_) == 12


@BOTH
def test_classes_unseen_in_training_count_as_wrong(kind):
    model = kind(**FAST).fit(GRAPH, Y, monitor={"n1": "never seen", "n3": "nor this"})
    assert (model.history_["monitor_accuracy"] == 0).all()


@BOTH
def test_the_loss_falls(kind):
    history = kind(**FAST | {"epochs": 40}).fit(GRAPH, Y).history_
    assert history["loss"].iloc[-1] < 0.7 * history["loss"].iloc[0]
    assert history["accuracy"].iloc[-1] > history["accuracy"].iloc[0]


# Interrupts


class Interrupt(Callback):
    """Ctrl-C after so many epochs of all batches together."""

    def __init__(self, epochs):
        self.left = epochs

    def after_epoch(self, state):
        self.left -= 1
        if self.left == 0:
            raise KeyboardInterrupt


def interrupt_after(monkeypatch, epochs):
    callback = Interrupt(epochs)

    def interrupted(*arguments, callbacks, **options):
        return train(*arguments, callbacks=[*callbacks, callback], **options)

    monkeypatch.setattr(ensemble, "train", interrupted)


@BOTH
def test_an_interrupt_in_the_first_batch_keeps_the_model_as_it_is(kind, monkeypatch):
    short = kind(**FAST | {"epochs": 5}).fit(GRAPH, Y)
    interrupt_after(monkeypatch, 5)
    model = kind(**FAST)
    with (
        pytest.warns(GrammeWarning, match="2 of 2 members, after 5 of 12 epochs") as caught,
        pytest.raises(KeyboardInterrupt),
    ):
        model.fit(GRAPH, Y)
    assert caught[0].filename == __file__
    assert model.interrupted_
    assert not short.interrupted_
    assert model.probabilities_.tobytes() == short.probabilities_.tobytes()
    assert len(model.history_) == 5
    assert model.layer_importance_.sum() == pytest.approx(1)


@BOTH
def test_an_interrupt_in_the_first_epoch_leaves_no_model(kind, monkeypatch):
    interrupt_after(monkeypatch, 1)
    with pytest.raises(KeyboardInterrupt):
        kind(**FAST).fit(GRAPH, Y)


@BOTH
def test_an_interrupt_in_a_later_batch_keeps_the_members_that_are_ready(kind, monkeypatch, tmp_path):
    monkeypatch.setattr(members, "MAX_BATCH_NUMBERS", 1)
    one = kind(**FAST | {"ensemble": 1}).fit(GRAPH, Y)
    interrupt_after(monkeypatch, 12 + 1)
    model = kind(**FAST)
    with pytest.warns(GrammeWarning, match="1 of 2 members, fully trained"), pytest.raises(KeyboardInterrupt):
        model.fit(GRAPH, Y, monitor=GRAPH.labels)
    assert model.members_ == 1
    assert model.probabilities_.tobytes() == one.probabilities_.tobytes()
    assert model.embedding_.shape == (36, 4)
    assert len(model.history_) == 12
    model.save(tmp_path / "model")


@BOTH
def test_an_interrupt_with_early_stopping_keeps_the_best_weights(kind, monkeypatch):
    interrupt_after(monkeypatch, 4)
    model = kind(**FAST | {"validation_fraction": 0.3})
    with pytest.warns(GrammeWarning, match="interrupted"), pytest.raises(KeyboardInterrupt):
        model.fit(GRAPH, Y)
    assert len(model.predict()) == 36


class Announcing(History):
    """Says in a file of its own that the training is under way."""

    place: Path

    def after_epoch(self, state):
        super().after_epoch(state)
        if state.epoch == 3:
            self.place.touch()


def train_without_end(folder: Path) -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have it ignored
    Announcing.place = folder / "training"
    ensemble.History = Announcing
    model = GrammeFusion(**FAST | {"epochs": 10**9, "ensemble": 1})
    with pytest.warns(GrammeWarning, match="interrupted"), pytest.raises(KeyboardInterrupt):
        model.fit(GRAPH, Y)
    assert model.interrupted_
    (folder / "predicted").write_text(str(len(model.predict())))


def test_a_real_ctrl_c_leaves_a_usable_model(tmp_path):
    process = Process(train_without_end, tmp_path)
    try:
        while not (tmp_path / "training").exists():
            assert process.poll() is None
            time.sleep(0.01)
        os.kill(process.pid, signal.SIGINT)
        assert process.wait(60) == 0
    finally:
        process.kill()
    assert (tmp_path / "predicted").read_text() == "36"


# Class weights


@BOTH
def test_class_weights_count(kind):
    plain = kind(**FAST).fit(GRAPH, Y)
    even = kind(**FAST | {"class_weight": {"a": 1, "b": 1.0}}).fit(GRAPH, Y)
    heavy = kind(**FAST | {"class_weight": {"c": 50}}).fit(GRAPH, Y)
    assert even.probabilities_.tobytes() == plain.probabilities_.tobytes()
    assert heavy.probabilities_[:, 2].mean() > plain.probabilities_[:, 2].mean() + 0.1


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ("balance", "did you mean 'balanced'"),
        ({"z": 1.0}, "class_weight names 'z', which is not a class"),
        ({"a": 0}, r"class_weight\['a'\] must be a number of more than 0, not 0"),
        ({"a": float("nan")}, r"class_weight\['a'\] must be a number"),
        ({"a": "1"}, r"class_weight\['a'\] must be a number"),
        (3, "class_weight must be 'balanced' or a mapping of name to number, not 3"),
    ],
)
def test_wrong_class_weights_are_clear_errors(weights, message):
    with pytest.raises(DataError, match=message):
        GrammeFusion(**FAST | {"class_weight": weights}).fit(GRAPH, Y)


# One of everything


@BOTH
@pytest.mark.parametrize("batches", [1, 3])
def test_structure_and_networks_are_built_once_per_fit(kind, batches, monkeypatch):
    made = {"plans": 0, "sums": 0, "networks": 0}

    def counted(owner, name, what):
        original = getattr(owner, name)

        def count(*arguments, **options):
            made[what] += 1
            return original(*arguments, **options)

        monkeypatch.setattr(owner, name, count)

    counted(kind, "_plan", "plans")
    counted(Network, "__init__", "networks")
    for whole in ("layers_sum", "supra_sum", "groups_sum"):
        counted(plan, whole, "sums")
    if batches > 1:
        monkeypatch.setattr(members, "MAX_BATCH_NUMBERS", 1)
    kind(**FAST | {"ensemble": batches}).fit(GRAPH, Y)
    # one sum for every hop but the last, one for the last; Fusion first asks whether all layers are groups
    sums = 3 if kind is GrammeFusion else 2
    assert made == {"plans": 1, "sums": sums, "networks": batches}


# Decay and bound


@BOTH
def test_decay_is_by_labels_where_none_is_given(kind):
    labels = known_labels(GRAPH, Y).nodes.size
    by_labels, same, none = (
        kind(**FAST | {"weight_decay": decay}).fit(GRAPH, Y).probabilities_ for decay in (None, 0.2 / labels, 0.0)
    )
    assert by_labels.tobytes() == same.tobytes()
    assert by_labels.tobytes() != none.tobytes()


@BOTH
def test_scores_stay_in_one_band_however_long_the_training(kind, monkeypatch):
    module = importlib.import_module("gramme.ops.attention")  # the name is that of its function, too

    class CutError(Exception):
        pass

    def cut(*arguments):
        raise CutError

    monkeypatch.setattr(module, "_Bands", cut)
    far = FAST | {"epochs": 60, "learning_rate": 1.0, "weight_decay": 0.0}
    kind(**far | {"score_bound": 5.0}).fit(GRAPH, Y)
    with pytest.raises(CutError):  # without a bound the same training needs several
        kind(**far | {"score_bound": None}).fit(GRAPH, Y)


# Hooks of one's own


@BOTH
def test_callbacks_see_every_epoch_and_may_stop(kind):
    class StopAt(Callback):
        def __init__(self):
            self.epochs, self.ended = [], 0

        def after_epoch(self, state):
            self.epochs.append(state.epoch)
            state.stop = state.epoch == 3

        def end(self, state):
            self.ended += 1

    stop = StopAt()
    model = kind(**FAST | {"epochs": 20}).fit(GRAPH, Y, callbacks=[stop])
    assert stop.epochs == [1, 2, 3]
    assert stop.ended == 1
    assert model.epochs_ == 3
    with pytest.raises(DataError, match="callbacks and loss need networks with fixed features"):
        GrammeFusion(features="labels").fit(GRAPH, Y, callbacks=[stop])


@BOTH
def test_a_loss_of_ones_own_takes_the_place_of_the_cross_entropy(kind):
    def same(scores, task):
        return task.losses(scores)

    def focal(scores, task):
        chances = scores.log_softmax(-1).gather(-1, task.classes[:, None, None].expand(*scores.shape[:2], 1))[..., 0]
        return (-((1 - chances.exp()) ** 2) * chances * task.weights).sum(0)

    own = kind(**FAST).fit(GRAPH, Y).probabilities_
    assert (kind(**FAST).fit(GRAPH, Y, loss=same).probabilities_ == own).all()
    assert (kind(**FAST).fit(GRAPH, Y, loss=focal).probabilities_ != own).any()
