"""The bar of a piece of work: drawn late and in a terminal alone, it follows what the work says of itself."""

import io
import sys
import threading

import pytest
from rich.console import Console

from gramme._progress import advance, share_done, watched
from gramme.cli import steps_bar as module
from gramme.cli.heartbeat import heartbeat
from gramme.cli.steps_bar import steps_bar


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
