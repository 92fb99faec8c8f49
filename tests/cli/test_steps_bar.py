import pytest

from gramme._progress import watched
from gramme.cli import steps_bar as module
from gramme.cli.steps_bar import StepsBar, steps_bar


def test_short_work_and_silence_show_nothing(capsys):
    with steps_bar("work") as bar:  # standard error is not a terminal here
        bar(1, 2)
    assert bar.bar is None
    assert capsys.readouterr().err == ""


def test_long_work_gets_a_bar(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "PATIENCE_SECONDS", -1.0)
    bar = StepsBar("work", wanted=True)
    bar(1, 4)
    assert bar.bar is not None
    try:
        bar(3, 4)
        (task,) = bar.bar.tasks
        assert (task.completed, task.total, task.description) == (3, 4, "work")
    finally:
        bar.bar.stop()


def test_the_sign_of_life_knows_how_far_the_work_is():
    told = []
    with watched(lambda what, done, until: told.append((what, round(done, 2)))):
        with steps_bar("Learning", 0.8) as bar:
            bar(1, 4)
        with steps_bar("Looking", 0.2) as bar:
            bar(1, 2)
    assert ("Learning", 0.2) in told
    assert ("Looking", 0.9) in told
