"""The progress bar: late, on standard error, and only where it is wanted."""

import pytest

from gramme.training import ProgressDisplay, progress


@pytest.fixture
def at_once(monkeypatch):
    monkeypatch.setattr(progress, "PATIENCE_SECONDS", -1.0)


def work(wanted):
    with ProgressDisplay(6, "GrammeFusion", wanted) as display:
        for _ in range(3):
            display.advance(1, 0.25)
        shown = display._bar is not None
        display.finish(3)
        assert display.done == 6
    return shown


@pytest.mark.usefixtures("at_once")
def test_is_shown_where_wanted(capsys):
    assert work(True)
    assert capsys.readouterr().out == ""


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("wanted", [False, None])
def test_is_not_shown_elsewhere(wanted, capsys):
    """Standard error is not a terminal here."""
    assert not work(wanted)
    assert capsys.readouterr() == ("", "")


def test_a_short_training_shows_nothing(capsys):
    assert not work(True)
    assert capsys.readouterr() == ("", "")


@pytest.mark.usefixtures("at_once")
def test_epochs_that_were_not_needed_count_as_done():
    with ProgressDisplay(6, "GrammeFusion", True) as display:
        display.advance(1, 0.5)
        display.finish(5)
        assert display._bar is not None
        assert display._bar.tasks[0].completed == 6
