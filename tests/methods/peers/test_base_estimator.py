"""What the peers share: an interrupt keeps what there is, weights of a file must fit, sizes are bounded."""

import numpy as np
import pytest
import torch
from tests.methods.graphs import half_known, planted

import gramme
from gramme import DataError, GrammeWarning
from gramme.methods import RGCN
from gramme.methods.peers import base as estimator
from gramme.methods.peers.base import listening
from gramme.methods.persistence import MisfitError
from gramme.training import History

pytest.importorskip("torch_geometric")
GRAPH = planted()
Y = half_known(GRAPH)
FAST = {"epochs": 4, "feature_dim": 4, "hidden_dim": 3, "random_state": 0, "device": "cpu"}


def test_an_interrupt_keeps_the_model_as_it_is(monkeypatch):
    short = RGCN(**FAST | {"epochs": 2}).fit(GRAPH, Y)
    proper = History.after_epoch

    def interrupt(self, state):
        proper(self, state)
        if state.epoch == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(History, "after_epoch", interrupt)
    model = RGCN(**FAST)
    with (
        pytest.warns(GrammeWarning, match="interrupted: the model is trained for 2 of 4") as caught,
        pytest.raises(KeyboardInterrupt),
    ):
        model.fit(GRAPH, Y)
    assert caught[0].filename == __file__
    assert model.interrupted_
    assert model.probabilities_.tobytes() == short.probabilities_.tobytes()


def test_the_monitor_is_only_looked_at():
    assert GRAPH.labels is not None
    hidden = np.where([value is None for value in Y], GRAPH.labels, None)
    watched = RGCN(**FAST).fit(GRAPH, Y, monitor=hidden)
    plain = RGCN(**FAST).fit(GRAPH, Y)
    assert watched.probabilities_.tobytes() == plain.probabilities_.tobytes()
    assert watched.history_["monitor_accuracy"].between(0, 1).all()
    assert watched.history_["monitor_accuracy"].iloc[-1] == pytest.approx(watched.score(y=hidden))
    assert list(plain.history_) == ["epoch", "loss"]


def test_weights_must_be_those_of_the_network():
    model = RGCN(**FAST).fit(GRAPH, Y)
    learned = model._learned()
    name = next(name for name in learned.tensors if name.startswith("state."))
    learned.tensors[name] = torch.zeros(2, 2)
    with pytest.raises(MisfitError, match="must be of shape"):
        RGCN._restored(model.get_params(), learned)
    learned = model._learned()
    learned.record["columns"] = 5
    with pytest.raises(MisfitError, match="columns must go with feature_dim"):
        RGCN._restored(model.get_params(), learned)


def test_without_pyg_a_model_still_loads(monkeypatch, tmp_path):
    model = RGCN(**FAST).fit(GRAPH, Y)
    model.save(tmp_path / "m")

    def missing(self):
        raise gramme.MissingExtraError("no pyg")

    monkeypatch.setattr(estimator.PygModel, "_pyg", missing)
    loaded = gramme.load(tmp_path / "m")
    assert loaded.predict_proba().tobytes() == model.predict_proba().tobytes()


def test_too_many_edges_are_refused(monkeypatch):
    monkeypatch.setattr(estimator, "MAX_PYG_EDGES", 10)
    with pytest.raises(DataError, match="RGCN must build every one: more than 10 in all"):
        RGCN(**FAST).fit(GRAPH, Y)


def test_messages_go_from_who_is_heard_to_who_listens():
    matrix = GRAPH.layers["friends"].to_scipy().toarray() > 0
    heard, listener = listening(GRAPH, "friends").numpy()
    assert matrix[listener, heard].all()
    assert heard.size == matrix.sum()
    with_self = listening(GRAPH, "friends", self_loops=True)
    present = GRAPH.layers["friends"].present
    assert with_self.shape[1] == heard.size + present.sum()
