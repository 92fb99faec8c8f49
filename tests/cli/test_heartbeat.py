"""A sign of life: within two seconds what is done, within ten how long it takes, revised as it goes."""

import time

import pytest

from gramme._progress import part
from gramme.cli import heartbeat as module
from gramme.cli.heartbeat import Heartbeat, expect, heartbeat


class Clock:
    """Time that a test sets."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 0.0
        monkeypatch.setattr(module.time, "monotonic", lambda: self.now)

    def at(self, now: float) -> float:
        self.now = now
        return now


def test_the_time_left_follows_what_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch)
    beat = Heartbeat("reading", began=0.0)
    assert beat.line(clock.at(5.0)) == "reading ... 5 s so far"
    beat.tell("fitting", 0.0, 1.0)
    clock.at(25.0)
    beat.tell("fitting", 0.25, 1.0)
    assert beat.line(25.0) == "fitting ... about 60 s left"
    assert beat.line(55.0) == "fitting ... about 30 s left", "it goes down while nothing is said"
    assert beat.line(125.0) == "fitting ... about 20 s left", "and up again when it is overdue"
    clock.at(35.0)
    beat.tell("", 0.5, 1.0)
    assert beat.line(35.0) == "fitting ... about 30 s left"


def test_a_slow_first_second_is_no_slow_hour(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch)
    beat = Heartbeat("reading", began=0.0)
    beat.expect(30.0)
    assert beat.line(clock.at(2.0)) == "reading ... about 28 s left"
    beat.tell("fit: propagation", 0.0, 0.02)
    clock.at(6.0)  # four seconds for a fiftieth of the work, most of it to get going
    beat.tell("fit", 0.02, 1.0)
    assert 28 < beat.left(6.0) < 60
    beat.tell("fit: attention", 0.02, 0.9)


def test_a_busy_machine_takes_longer_from_the_first_word_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = Clock(monkeypatch)
    beat = Heartbeat("reading", began=0.0, cpu_began=0.0)
    monkeypatch.setattr(module.time, "process_time", lambda: clock.now / 3)
    clock.at(6.0)
    beat.expect(10.0)
    assert beat.line(6.0) == "reading ... about 30 s left"
    beat.tell("fit: propagation", 0.0, 0.2)
    beat.tell("fit: propagation", 0.001, 0.2)
    assert beat.left(6.0) == pytest.approx(30, rel=0.01)
    monkeypatch.setattr(module.time, "process_time", lambda: clock.now * 2)
    assert beat.left(6.0) == pytest.approx(10, rel=0.01), "two threads are no reason to hurry"


@pytest.mark.parametrize("slower", [0.5, 1.0, 6.0])
def test_a_part_that_was_misjudged_goes_on_at_its_own_speed(
    monkeypatch: pytest.MonkeyPatch, slower: float
) -> None:
    """Three quick parts as expected, then attention that takes longer than was thought, then a page."""
    clock, beat = Clock(monkeypatch), Heartbeat("", began=0.0)
    beat.expect(8.0)
    seconds = {"one": 1.0, "two": 1.0, "attention": 4.0 * slower, "page": 2.0}
    shares = {"one": 1 / 8, "two": 1 / 8, "attention": 1 / 2, "page": 1 / 4}
    now = done = 0.0
    whole = sum(seconds.values())
    for name, taken in seconds.items():
        until = done + shares[name]
        for step in range(11):
            here = clock.at(now + taken * step / 10)
            beat.tell(name, done + shares[name] * step / 10, until)
            if name == "attention" and step >= 2:
                assert 0.5 < beat.left(here) / (whole - here) < 2
        now, done = now + taken, until


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
    monkeypatch.setattr(module, "FIRST_SECONDS", 0.05)
    with heartbeat(["fit", "votes.csv", "--table"]):
        time.sleep(0.3)  # too early to say how long it takes, which is said as soon as it is known
        expect(30)
        time.sleep(0.5)
    first, second = capsys.readouterr().err.splitlines()
    assert first.endswith("so far")
    assert second.endswith("about 30 s left")
    with heartbeat(["fit", "votes.csv", "--json"]):
        time.sleep(0.3)
    assert capsys.readouterr().err == ""


def test_no_sign_of_life_in_the_middle_of_a_question() -> None:
    with heartbeat(["new", "--print"]):
        assert not module._current
    with heartbeat(["info", "a.csv"]):
        assert module._current
