"""The plan of a fit: its stages together are the whole, and the estimate's cost is part of it."""

import io
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from rich.console import Console

from gramme._progress import advance, part, share_done, watched
from gramme.cli import progress as module
from gramme.cli.progress import (
    START_SECONDS,
    Heartbeat,
    NoteReader,
    TimeLeft,
    WorkClock,
    expect,
    expected_entries,
    heartbeat,
    listening,
    note_beside,
    noted,
    reading,
    reading_seconds,
    relay,
    saying,
    seconds_left,
    steps_bar,
    usual_seconds,
    waited_seconds,
)


def sized(path: Path, size: int) -> str:
    path.write_bytes(b"x" * size)
    return str(path)


def test_larger_files_take_longer_and_hold_more(tmp_path: Path) -> None:
    small, large = sized(tmp_path / "a.csv", 1000), sized(tmp_path / "b.csv", 1_000_000)
    assert START_SECONDS < reading_seconds([small]) < reading_seconds([large])
    assert expected_entries([large]) == pytest.approx(1000 * expected_entries([small]))
    assert expected_entries([small, large]) > expected_entries([large])
    assert reading_seconds([sized(tmp_path / "c.xlsx", 1_000_000)]) > 4 * reading_seconds([large])


def test_folders_patterns_and_databases_are_the_files_they_stand_for(tmp_path: Path) -> None:
    database = sized(tmp_path / "d.db", 700_000)
    alone = expected_entries([database])
    assert alone > 0
    assert expected_entries([f"sqlite:{database}?query=select 1"]) == alone
    assert expected_entries([str(tmp_path)]) == alone
    assert expected_entries([str(tmp_path / "*.db")]) == alone


def test_what_is_no_file_takes_no_time() -> None:
    assert reading_seconds(["ckm_social", "", "no/such*", "\0"]) == START_SECONDS
    assert expected_entries(["ckm_social"]) == 0


@dataclass
class Machine:
    """Time as it passes on a machine that is ``slow`` times as slow as an idle one."""

    slow: float = 1.0
    clock: float = 100.0
    waited: float = 7.0
    left: TimeLeft = field(init=False)

    def __post_init__(self) -> None:
        self.left = TimeLeft(WorkClock(lambda: self.clock, lambda: self.waited))

    def work(self, seconds: float) -> Iterator[float]:
        """Do work that takes so long on an idle machine; yields what the machine has still to do of it."""
        steps = max(1, round(seconds / 0.2))
        for step in range(steps):
            self.clock += self.slow * seconds / steps
            self.waited += (self.slow - 1) * seconds / steps
            yield seconds * (steps - step - 1) / steps


Step = tuple[str, float, float, int]
"""Name, planned seconds, seconds it takes, and how often it says how far it is."""


def told(machine: Machine, steps: list[Step]) -> list[tuple[float, float, float]]:
    """Go through the steps; returns (seconds on the clock so far, said left, really left)."""
    left = machine.left
    began = machine.clock
    planned = sum(plan for _, plan, _, _ in steps)
    taken = [seconds for _, _, seconds, _ in steps]
    left.expect(planned)
    found, done = [], 0.0
    for place, (name, plan, seconds, words) in enumerate(steps):
        until = done + plan / planned
        left.tell(name, done, until)
        for rest in machine.work(seconds):
            share = 1 - rest / seconds
            if words:
                left.tell(name, done + (until - done) * int(share * words) / words, until)
            said = left.seconds()
            assert said is not None
            real = (rest + sum(taken[place + 1 :])) * machine.slow
            found.append((machine.clock - began, said, real))
        done = until
        left.tell("", done, 1.0)
    return found


def worst(rows: list[tuple[float, float, float]], least: float = 4.0) -> float:
    """The largest factor between what is said and what remains, from the tenth second on."""
    return max(
        max(said / real, real / said) for at, said, real in rows if at >= 10 and real >= least
    )


AS_PLANNED: list[Step] = [
    ("propagation", 3, 3, 0),
    ("groups", 4, 4, 6),
    ("attention", 30, 30, 40),
    ("page", 3, 3, 0),
]


@pytest.mark.parametrize("slow", [1.0, 2.0, 5.0])
def test_a_plan_that_holds_is_told_as_it_is_on_an_idle_and_on_a_busy_machine(slow: float) -> None:
    rows = told(Machine(slow), AS_PLANNED)
    assert worst(rows) < 1.25
    assert all(said / real < 2 for at, said, real in rows if at > 1 and real > 1)


@pytest.mark.parametrize("factor", [0.4, 2.5])
def test_a_slower_or_faster_computer_than_the_plan_is_noticed(factor: float) -> None:
    steps = [(name, plan, plan * factor, words) for name, plan, _, words in AS_PLANNED]
    assert worst(told(Machine(), steps)) < 2


@pytest.mark.parametrize("factor", [0.4, 3.0, 6.0])
def test_a_step_that_was_misjudged_goes_on_at_its_own_speed(factor: float) -> None:
    steps = [
        (name, plan, seconds * factor if name == "attention" else seconds, words)
        for name, plan, seconds, words in AS_PLANNED
    ]
    rows = told(Machine(), steps)
    share = [row for row in rows if row[0] > 7 + 0.3 * 30 * factor]
    assert worst(share) < 2


def test_a_first_step_that_was_misjudged_says_little_about_the_rest() -> None:
    steps: list[Step] = [("propagation", 2, 20, 10), *AS_PLANNED[1:]]
    rows = told(Machine(), steps)
    later = [row for row in rows if row[0] > 20 and row[2] > 1]
    assert max(said / real for at, said, real in later) < 3
    assert max(said / real for at, said, real in later if at > 26) < 2


RECORDED: dict[str, list[Step]] = {
    "a dense graph with words": [
        ("label-propagation", 0.4, 2, 0),
        ("one-hot-logistic", 156, 162, 25),
        ("spectral-logistic", 4.3, 1.8, 10),
        ("neighbourhood-logistic", 51, 55, 20),
        ("gramme-fusion", 25, 28, 40),
        ("page", 11, 13, 0),
    ],
    "120,000 edges": [
        ("label-propagation", 3.2, 3.4, 5),
        ("one-hot-logistic", 1.9, 2.2, 25),
        ("spectral-logistic", 1.8, 0.8, 20),
        ("gramme-fusion", 22, 21.5, 40),
        ("page", 6, 6.5, 0),
    ],
}
"""Fits with the plans that are made for them and what they took, in CPU seconds."""


@pytest.mark.parametrize("slow", [1.0, 3.0])
@pytest.mark.parametrize("name", RECORDED)
def test_fits_as_they_went(name: str, slow: float) -> None:
    assert worst(told(Machine(slow), RECORDED[name]), least=6) < 2


def test_the_machine_gets_busy_on_the_way() -> None:
    machine = Machine()
    left = machine.left
    left.expect(60)
    left.tell("fit", 0.0, 1.0)
    for _ in machine.work(20):
        pass
    left.tell("fit", 1 / 3, 1.0)
    assert left.seconds() == pytest.approx(40, rel=0.05)
    machine.slow = 3.0
    for _ in machine.work(10):  # 30 seconds on the clock
        pass
    left.tell("fit", 1 / 2, 1.0)
    assert left.seconds() == pytest.approx(90, rel=0.15)


def test_a_step_without_a_word_that_takes_longer_is_never_about_to_end() -> None:
    rows = told(Machine(), [("reading", 5, 60, 0)])
    assert all(said > 3 for at, said, _ in rows if at > 10), "'1 s left' must not stand for long"
    assert all(said >= 0.25 * at for at, said, _ in rows if at > 10)


def test_without_a_plan_the_share_that_is_done_tells() -> None:
    machine = Machine()
    left = machine.left
    assert left.seconds() is None
    left.tell("fitting", 0.0, 1.0)
    for _ in machine.work(25):
        pass
    assert left.seconds() is None
    left.tell("fitting", 0.25, 1.0)
    assert left.seconds() == pytest.approx(75)
    for _ in machine.work(30):
        pass
    assert left.seconds() == pytest.approx(45), "it goes down while nothing is said"


def test_a_plan_made_on_the_way_is_for_what_is_still_to_do() -> None:
    machine = Machine()
    left = machine.left
    left.expect(100)
    left.tell("cutting", 0.0, 0.5)
    left.tell("", 0.5, 1.0)
    left.expect(20)
    assert left.seconds() == pytest.approx(20)
    left.tell("fit", 0.5, 0.75)
    for _ in machine.work(10):
        pass
    left.tell("", 0.75, 1.0)
    assert left.seconds() == pytest.approx(10)


def test_who_sleeps_while_others_work_does_not_wait_for_a_turn() -> None:
    machine = Machine()
    left = machine.left
    left.expect(30)
    machine.clock += 10
    assert left.seconds() == pytest.approx(20)


def test_waiting_for_a_turn_is_known_or_none() -> None:
    assert 0 <= waited_seconds() < 1e6


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


def test_short_work_and_logs_show_nothing(capsys):
    with steps_bar("work") as tell:  # standard error is not a terminal here
        tell(1, 2)
    assert capsys.readouterr().err == ""


def test_short_work_shows_nothing_in_a_terminal(monkeypatch):
    terminal = in_a_terminal(monkeypatch)
    with steps_bar("work") as tell:
        tell(1, 2)
    assert terminal.getvalue() == ""


@pytest.mark.parametrize("command", [["links", "x.csv"], ["methods"]])
def test_long_work_gets_a_bar_that_follows_it(command, monkeypatch):
    """Whether the command gives signs of life or not."""
    terminal = in_a_terminal(monkeypatch)
    monkeypatch.setattr(module, "PATIENCE_SECONDS", 0.0)
    shown = threading.Event()
    write = terminal.write

    def noted(text: str) -> int:
        if "75%" in text and " left" in text:
            shown.set()
        return write(text)

    monkeypatch.setattr(terminal, "write", noted)
    with heartbeat(command), steps_bar("work") as tell:
        tell(3, 4)
        assert shown.wait(10.0), terminal.getvalue()
    assert "work" in terminal.getvalue()


def test_the_sign_of_life_knows_how_far_the_work_is():
    told = []
    with watched(lambda what, done, until: told.append((what, round(done, 2)))):
        with steps_bar("Learning", 0.8) as tell:
            tell(1, 4)
        with steps_bar("Looking", 0.2) as tell:
            tell(1, 2)
    assert ("Learning", 0.2) in told
    assert ("Looking", 0.9) in told


def test_how_far_a_part_is_can_be_asked_from_any_thread():
    found = []
    with watched(lambda what, done, until: None), steps_bar("Learning", 0.5):
        advance(0.5)
        ask = share_done()
        thread = threading.Thread(target=lambda: found.append(ask()))
        thread.start()
        thread.join()
    assert found == [0.5]


class Heard:
    """Whoever is told what the reader finds."""

    def __init__(self) -> None:
        self.plans: list[float] = []
        self.places: list[tuple[str, float]] = []

    def expect(self, seconds: float) -> None:
        self.plans.append(seconds)

    def tell(self, what: str, done: float, until: float) -> None:
        self.places.append((what, round(done, 3)))


def test_plan_and_progress_reach_the_command(tmp_path: Path) -> None:
    path = note_beside(tmp_path / "result")
    reader, heard = NoteReader(path), Heard()
    with listening(heard):
        reader.look()
        assert heard.plans == heard.places == [], "nothing is noted yet"
    with noted(path):
        expect(40)
        with part("Fitting", 0.5), listening(heard):
            reader.look()
            reader.look()
        with part("Writing", 0.5), listening(heard):
            reader.look()
    assert heard.plans == [40], "a plan is passed on once"
    assert heard.places == [("Fitting", 0.0), ("Writing", 0.5)]


def test_half_a_note_and_a_folder_that_is_gone_do_no_harm(tmp_path: Path) -> None:
    path = tmp_path / "progress.json"
    path.write_text('{"plans": 1, "sec')
    heard = Heard()
    with listening(heard):
        NoteReader(path).look()
    assert heard.plans == []
    with noted(tmp_path / "gone" / "progress.json"), part("Fitting", 1.0):
        expect(3)
