import pytest

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
