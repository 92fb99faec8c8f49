"""A training that was cut off anywhere goes on and ends with the same bits."""

import pytest
import torch
from tests.training.test_loop import LABELLED, parts, task

from gramme.distributed import SINGLE_PROCESS
from gramme.errors import DataError, GrammeWarning
from gramme.training import Callback, EarlyStopping, History, Settings, train
from gramme.training.checkpoint import checkpoints


class CutOffError(Exception):
    pass


class CutOff(Callback):
    """Ends the program after some epoch, as a killed process would."""

    def __init__(self, epoch):
        self.epoch = epoch

    def after_epoch(self, state):
        if state.epoch == self.epoch + 1:
            raise CutOffError


def trained(folder, *, resume, cut=None, stopping=False, rate=0.05, data=""):
    network, features, plan = parts()
    validation = task([8, 9, 10, 11])
    history = History(validation)
    callbacks = [history]
    if stopping:
        callbacks.append(EarlyStopping(validation, 3))
    callbacks.append(CutOff(100 if cut is None else cut))
    with checkpoints(folder, SINGLE_PROCESS, resume=resume, data=data):
        for _ in range(2):  # the second training of a command is told from the first
            state = train(network, features, plan, task(LABELLED), Settings(8, rate, 0.01), callbacks=callbacks)
    return ({name: value.clone() for name, value in network.state_dict().items()}, history.rows, state)


@pytest.mark.parametrize("stopping", [False, True])
@pytest.mark.parametrize("cut", [1, 5])
def test_a_training_goes_on_to_the_same_bits(cut, stopping, tmp_path, monkeypatch):
    monkeypatch.setenv("GRAMME_CHECKPOINT_SECONDS", "0")
    weights, rows, _ = trained(tmp_path / "whole", resume=False, stopping=stopping)
    with pytest.raises(CutOffError):
        trained(tmp_path / "cut", resume=False, cut=cut, stopping=stopping)
    assert (tmp_path / "cut" / "training-0001.safetensors").is_file()
    with pytest.warns(GrammeWarning, match=r"going on from the last checkpoint in .*, \d+ s old"):
        again, told, _ = trained(tmp_path / "cut", resume=True, stopping=stopping)
    assert all(torch.equal(weights[name], again[name]) for name in weights)
    assert told == rows
    assert not (tmp_path / "cut").exists()


def test_without_resume_it_begins_anew(tmp_path, monkeypatch):
    monkeypatch.setenv("GRAMME_CHECKPOINT_SECONDS", "0")
    weights, *_ = trained(tmp_path / "one", resume=False)
    with pytest.raises(CutOffError):
        trained(tmp_path / "two", resume=False, cut=3, rate=0.5)
    again, *_ = trained(tmp_path / "two", resume=False)
    assert all(torch.equal(weights[name], again[name]) for name in weights)


def test_a_checkpoint_of_another_fit_or_a_damaged_one_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("GRAMME_CHECKPOINT_SECONDS", "0")
    with pytest.raises(CutOffError):
        trained(tmp_path / "c", resume=False, cut=3)
    with pytest.raises(DataError, match=r"training-0001.*of another fit"):
        trained(tmp_path / "c", resume=True, rate=0.1)
    (tmp_path / "c" / "training-0001.safetensors").write_bytes(b"no tensors at all")
    with pytest.raises(DataError, match=r"training-0001.*damaged"):
        trained(tmp_path / "c", resume=True)


def test_a_folder_of_somebody_elses_is_never_emptied(tmp_path):
    theirs = tmp_path / "out.checkpoints"
    theirs.mkdir()
    (theirs / "thesis.txt").write_text("x")
    for resume in (False, True):
        with pytest.raises(DataError, match="not gramme's own"), checkpoints(theirs, SINGLE_PROCESS, resume=resume):
            pass
    assert (theirs / "thesis.txt").read_text() == "x"


def test_an_empty_folder_is_taken(tmp_path):
    (tmp_path / "out.checkpoints").mkdir()
    with checkpoints(tmp_path / "out.checkpoints", SINGLE_PROCESS, resume=False):
        pass
    assert not (tmp_path / "out.checkpoints").exists()


def test_a_fit_without_a_checkpoint_says_that_it_begins_anew(tmp_path):
    with (
        pytest.warns(GrammeWarning, match="no checkpoint in .*begins anew"),
        checkpoints(tmp_path / "out.checkpoints", SINGLE_PROCESS, resume=True),
    ):
        pass


def test_a_checkpoint_of_other_data_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("GRAMME_CHECKPOINT_SECONDS", "0")
    with pytest.raises(CutOffError):
        trained(tmp_path / "cut", resume=False, cut=3, data="one graph")
    with pytest.warns(GrammeWarning, match="going on"), pytest.raises(DataError, match="of other data, labels"):
        trained(tmp_path / "cut", resume=True, data="another graph")
