"""A sign of life: within two seconds what is done, within ten how long it takes, revised as it goes."""

import time

import pytest

from gramme._progress import part
from gramme.cli import heartbeat as module
from gramme.cli.heartbeat import Heartbeat, expect, heartbeat


def test_the_time_left_follows_what_is_done_or_what_is_expected(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    beat = Heartbeat("reading", began=0.0)
    assert beat.line(5.0) == "reading ... 5 s so far"
    beat.expected_seconds = 65.0
    assert beat.line(5.0) == "reading ... about 60 s left"
    monkeypatch.setattr(module.time, "monotonic", lambda: 20.0)
    beat.started = 0.0
    beat.tell("fitting", 0.25)
    assert beat.line(20.0) == "fitting ... about 60 s left"
    assert beat.line(50.0) == "fitting ... about 30 s left", "it goes down while nothing is said"
    assert beat.line(120.0) == "fitting ... about 20 s left", "and up again when it is overdue"
    beat.tell("", 0.5)
    assert beat.line(20.0) == "fitting ... about 20 s left"


def test_the_first_two_lines_are_in_time() -> None:
    moments = module.moments()
    assert next(moments) < 2
    assert next(moments) < 10


def test_long_work_is_told_and_quiet_work_is_not(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(module, "FIRST_SECONDS", 0.4)
    with heartbeat(["fit", "votes.csv", "--table"]):
        expect(30)
        with part("Fitting", 0.5):
            time.sleep(0.9)
    told = capsys.readouterr().err
    assert "Fitting ... about" in told
    assert told.count("\n") == 1
    with heartbeat(["fit", "votes.csv", "--json"]):
        time.sleep(0.3)
    assert capsys.readouterr().err == ""


def test_no_sign_of_life_in_the_middle_of_a_question() -> None:
    with heartbeat(["new", "--print"]):
        assert not module._current
    with heartbeat(["info", "a.csv"]):
        assert module._current
