"""The sign of life: words within two seconds, a time left that is measured and revised, a bar in a terminal only."""

import io
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from rich.console import Console

from gramme._progress import advance, part, watched
from gramme.cli import progress as module
from gramme.cli.progress import (
    SignOfLife,
    TimeLeft,
    progress_file,
    reading,
    relay,
    relay_progress,
    saying,
    seconds_left,
    sign_of_life,
    tell_steps,
    writing_progress,
)


@dataclass
class FakeWork:
    """Steps with a share of the work, the seconds that each takes, and how often it says how far it is."""

    steps: list[tuple[float, float, int]]
    now: float = 100.0
    left: TimeLeft = field(init=False)

    def __post_init__(self) -> None:
        self.left = TimeLeft(lambda: self.now)

    def told(self) -> list[tuple[float, float | None, float]]:
        """Go through the steps; returns (share of the time that has passed, said left, really left)."""
        whole = sum(seconds for _, seconds, _ in self.steps)
        began, found, done = self.now, [], 0.0
        for number, (share, seconds, words) in enumerate(self.steps):
            begun, until = self.now, done + share
            self.left.tell(f"step {number}", done, until)
            ticks = min(max(1, round(seconds / 0.1)), 400)
            for tick in range(1, ticks + 1):
                self.now = begun + seconds * tick / ticks
                if words:
                    told = done + share * int(words * tick / ticks) / words
                    self.left.tell(f"step {number}", told, until)
                passed = self.now - began
                found.append((passed / whole, self.left.seconds(), whole - passed))
            done = until
            self.left.tell("", done, 1.0)
        return found


def worst(rows: list[tuple[float, float | None, float]], after: float) -> float:
    """The largest factor between what is said and what is left, once a share of the time has passed."""
    told = [(said, real) for passed, said, real in rows if after < passed < 0.97 and real > 1]
    assert all(said is not None for said, _ in told)
    return max(max(said / real, real / said) for said, real in told if said)


@pytest.mark.parametrize("words", [20, 400])
@pytest.mark.parametrize("seconds", [20.0, 3600.0])
def test_once_a_tenth_is_done_the_time_left_is_within_half_of_it(seconds, words):
    assert worst(FakeWork([(1.0, seconds, words)]).told(), 0.1) < 1.5


def test_steps_without_a_word_count_by_the_pace_of_those_before():
    steps = [(0.1, 6.0, 0), (0.2, 12.0, 0), (0.6, 36.0, 40), (0.1, 6.0, 0)]
    assert worst(FakeWork(steps).told(), 0.11) < 1.5


def test_shares_that_are_off_by_a_half_do_little_harm():
    steps = [(0.15, 6.0, 5), (0.25, 23.0, 20), (0.5, 60.0, 40), (0.1, 11.0, 0)]
    assert worst(FakeWork(steps).told(), 0.1) < 2


# Of gramme-auto: the models that each ingredient trains as shares, and the seconds it took.
RECORDED = {
    "congress_votes": [(0.17, 0.5), (0.17, 1.5), (0.17, 0.6), (0.5, 3.9)],
    "ckm_social": [(0.17, 0.5), (0.17, 1.0), (0.17, 0.3), (0.5, 3.7)],
    "mammography": [(0.17, 0.4), (0.17, 2.2), (0.17, 1.6), (0.5, 3.4)],
    "cora": [(0.14, 1.4), (0.14, 5.7), (0.14, 5.7), (0.14, 116.0), (0.43, 14.0)],
}


@pytest.mark.parametrize("name", RECORDED)
def test_a_step_that_was_misjudged_is_noticed_while_it_runs(name):
    steps = [(0.9 * share, seconds, 20) for share, seconds in RECORDED[name]] + [(0.1, 0.8, 0)]
    assert worst(FakeWork(steps).told(), 0.6) < 2.5


def test_nothing_is_said_before_anything_is_done():
    work = FakeWork([])
    assert work.left.seconds() is None
    work.left.tell("fit", 0.0, 1.0)
    work.now += 100
    assert work.left.seconds() is None
    work.left.tell("fit", 0.5, 1.0)
    assert work.left.seconds() == pytest.approx(100)
    work.now += 40
    assert work.left.seconds() == pytest.approx(60), "it goes down while nothing is said"


def test_a_step_that_is_late_is_never_about_to_end():
    work = FakeWork([(0.2, 5.0, 0), (0.8, 300.0, 0)])
    late = [(passed, said) for passed, said, _ in work.told() if passed > 0.2]
    assert all(said is not None and said > 305 * passed / 20 for passed, said in late)


@pytest.fixture
def sign(monkeypatch):
    """A sign of life with a clock that the test sets, which nobody prints by itself."""
    made = SignOfLife("Starting gramme fit", clock=lambda: made_clock[0])
    made.time = made_clock
    monkeypatch.setattr(module, "_current", [made])
    return made


made_clock = [0.0]


def test_a_line_says_what_is_done_and_the_time_left_or_so_far(sign):
    sign.time[0] = sign.began + 3
    assert sign.line() == "Starting gramme fit ... 3 s so far"
    relay("Fitting", 0.0, 0.9)
    sign.time[0] += 10
    assert sign.line() == "Fitting ... 13 s so far"
    relay("Fitting", 0.25, 0.9)
    assert sign.line() == "Fitting ... about 30 s left"
    assert seconds_left() == pytest.approx(30)


def test_the_first_line_comes_within_two_seconds_and_then_some_in_a_minute(sign, capsys):
    said = []
    for tenth in range(600):
        sign.time[0] = sign.began + tenth / 10
        sign.refresh()
        if capsys.readouterr().err:
            said.append(tenth / 10)
    assert said[0] < 2
    assert 2 <= len(said) <= 5


def test_who_was_told_only_the_time_so_far_hears_the_time_left_at_once(sign, capsys):
    sign.time[0] = sign.began + 2
    sign.refresh()
    relay("Fitting", 0.0, 1.0)
    sign.time[0] += 1.5
    relay("Fitting", 0.1, 1.0)
    for _ in range(3):
        sign.time[0] += 0.2
        sign.refresh()
    first, second = capsys.readouterr().err.splitlines()
    assert first.endswith("so far")
    assert second.endswith("left")


def test_reading_says_which_files_and_a_download_within_it_is_no_step(sign):
    with reading(["edges.csv", "labels.csv"]):
        assert sign.what == "Reading edges.csv and 1 more"
        advance(0.5)
    assert sign.left.done == 0
    assert sign.what == "The data are read"


def test_a_table_that_is_shown_beside_speaks_for_itself(sign, capsys):
    with saying(lambda: "3 of 8 runs", silent=True):
        sign.time[0] = sign.began + 5
        sign.refresh()
        assert sign.line().startswith("3 of 8 runs ... ")
    assert capsys.readouterr().err == ""
    assert sign.line().startswith("Starting")


def test_nobody_needs_to_listen():
    relay("Fitting", 0.0, 1.0)
    assert seconds_left() is None
    with reading(["a.csv"]), saying(lambda: "runs"):
        pass


def test_long_work_is_told_and_quiet_work_is_not(monkeypatch, capsys):
    monkeypatch.setattr(module, "FIRST_SECONDS", 0.1)
    with sign_of_life(["fit", "votes.csv", "--table"]), part("Fitting", 0.5):
        time.sleep(0.8)
    told = capsys.readouterr().err
    assert told.startswith("Fitting ... ")
    assert told.count("\n") == 1
    for silent in (["fit", "votes.csv", "--json"], ["new", "--print"], ["--help"]):
        with sign_of_life(silent):
            assert not module._current
            time.sleep(0.3)
    assert capsys.readouterr().err == ""


class Terminal(io.StringIO):
    """Text that is written to a terminal."""

    def isatty(self) -> bool:
        return True


def in_a_terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Called by the test itself: pytest exchanges standard error between a fixture and its test."""
    made = Terminal()
    monkeypatch.setattr(sys, "stderr", made)
    monkeypatch.setenv("TERM", "xterm")
    console = Console(file=made, force_terminal=True, width=100, color_system=None)
    monkeypatch.setattr(module, "messages", console)
    monkeypatch.setattr(module, "REFRESH_SECONDS", 0.01)
    return made


def test_short_work_shows_nothing_in_a_terminal(monkeypatch):
    terminal = in_a_terminal(monkeypatch)
    with sign_of_life(["links", "x.csv"]), part("work", 1.0):
        tell_steps(1, 2)
    assert terminal.getvalue() == ""


def test_long_work_gets_a_bar_that_follows_it_and_is_gone_between_parts(monkeypatch):
    terminal = in_a_terminal(monkeypatch)
    monkeypatch.setattr(module, "FIRST_SECONDS", 0.0)
    shown = threading.Event()
    write = terminal.write

    def noted(text: str) -> int:
        if "75%" in text and "work" in text:
            shown.set()
        return write(text)

    monkeypatch.setattr(terminal, "write", noted)
    with sign_of_life(["links", "x.csv"]):
        with part("work", 1.0):
            tell_steps(3, 4)
            assert shown.wait(10.0), terminal.getvalue()
        assert module._current[0].bar is None, "what is printed now does not meet the bar"


def test_progress_reaches_the_command_through_a_file(tmp_path: Path, sign):
    path = progress_file(tmp_path / "result")
    relay_progress(path)
    assert sign.what == "Starting gramme fit", "nothing is written yet"
    with writing_progress(path):
        with part("Fitting", 0.5):
            relay_progress(path)
            assert (sign.what, sign.left.done, sign.left.until) == ("Fitting", 0.0, 0.5)
        with part("Writing", 0.5):
            relay_progress(path)
            assert (sign.what, sign.left.done) == ("Writing", 0.5)


def test_half_a_file_and_a_folder_that_is_gone_do_no_harm(tmp_path: Path, sign):
    path = tmp_path / "progress.json"
    path.write_text('["Fit')
    relay_progress(path)
    assert sign.what == "Starting gramme fit"
    with writing_progress(tmp_path / "gone" / "progress.json"), part("Fitting", 1.0):
        pass


def test_steps_of_a_library_function_move_their_part():
    told = []
    with watched(lambda what, done, until: told.append((what, round(done, 2)))):
        with part("Learning", 0.8):
            tell_steps(1, 4)
        with part("Looking", 0.2):
            tell_steps(1, 2)
    assert ("Learning", 0.2) in told
    assert ("Looking", 0.9) in told
