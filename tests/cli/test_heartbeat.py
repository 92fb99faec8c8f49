"""A sign of life: within two seconds what is done, within ten how long it takes, revised as it goes."""

import time

import pytest

from gramme._progress import advance, part
from gramme.cli import heartbeat as module
from gramme.cli.heartbeat import (
    Heartbeat,
    expect,
    heartbeat,
    reading,
    relay,
    saying,
    seconds_left,
)
from gramme.cli.reading_time import usual_seconds


@pytest.fixture
def beat():
    """A sign of life that nobody prints."""
    made = Heartbeat("gramme fit", "Starting gramme fit")
    with module.listening(made):
        yield made


def test_the_first_two_lines_are_in_time() -> None:
    moments = module.moments()
    assert next(moments) < 2
    assert next(moments) < 10


def test_a_line_says_what_is_done_and_how_long_it_takes(beat: Heartbeat) -> None:
    assert beat.line(beat.began + 3) == "Starting gramme fit ... 3 s so far"
    expect(30)
    relay("Fitting", 0.0, 0.9)
    assert beat.line(beat.began + 3) == "Fitting ... about 30 s left"


def test_while_files_are_read_their_size_tells(beat: Heartbeat, tmp_path) -> None:
    edges = tmp_path / "edges.csv"
    with edges.open("wb") as file:
        file.truncate(100_000_000)
    sizes = []
    with reading([str(edges), "labels.csv"], lambda entries: sizes.append(entries) or 100.0):
        assert beat.what == f"Reading {edges} and 1 more"
        advance(0.5)  # a download within it is no step of the work
        assert 100 < seconds_left() < 200
    assert sizes[0] > 5e6
    assert seconds_left() is None, "what was said of the reading does not hold any longer"
    assert "the data are read" in beat.line(beat.began)
    with reading([str(edges)]):
        assert beat.line(beat.began).endswith(" s left of reading"), (
            "of what follows nothing is known"
        )


def test_who_is_slow_to_start_is_judged_by_the_size_of_the_files(beat: Heartbeat, tmp_path) -> None:
    file = tmp_path / "edges.csv"
    file.write_bytes(b"x" * 100_000)
    beat.guess = usual_seconds("fit", [str(file)])
    assert beat.guess > 5
    assert beat.line(beat.began + 1.5) == "Starting gramme fit ... 2 s so far"
    assert beat.line(beat.began + 8).endswith(" left")
    assert usual_seconds("benchmark", []) is None
    expect(3)
    assert beat.guess is None


def test_a_table_that_is_shown_beside_speaks_for_itself(beat: Heartbeat) -> None:
    with saying(lambda: "3 of 8 runs", silent=True):
        assert beat.silent
        assert beat.line(beat.began).startswith("3 of 8 runs ... ")
    assert not beat.silent
    assert beat.line(beat.began).startswith("Starting")


def test_nobody_needs_to_listen() -> None:
    expect(3)
    relay("Fitting", 0.0, 1.0)
    assert seconds_left() is None
    with reading(["a.csv"]), saying(lambda: "runs"):
        pass


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


def test_news_that_are_old_are_not_told_again_and_again(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(module, "FIRST_SECONDS", 0.05)
    with heartbeat(["info", "a.csv"]):
        with reading(["a.csv"]):
            time.sleep(0.3)
        time.sleep(0.7)
    assert len(capsys.readouterr().err.splitlines()) <= 2


def test_no_sign_of_life_in_the_middle_of_a_question() -> None:
    with heartbeat(["new", "--print"]):
        assert not module._current
    with heartbeat(["info", "a.csv"]):
        assert module._current
