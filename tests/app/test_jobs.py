"""Jobs: one after the other, in processes of their own, stopped without a trace."""

import json
import time
from pathlib import Path

import pytest
from tests.app.serving import environment

from gramme.app.jobs import Job, Jobs, _died, _messages

pytestmark = pytest.mark.app


def wait(job: Job, *states: str, seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while job.state not in states:
        assert time.monotonic() < end, job
        time.sleep(0.05)


@pytest.fixture
def jobs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PYTHONPATH", environment()["PYTHONPATH"])
    (tmp_path / "ties.csv").write_text("from,to\n" + "".join(f"a{i},a{(i * 7 + 1) % 40}\n" for i in range(40)))
    labels = [f"a{i},{'xy'[i % 2]}\n" for i in range(12)]
    (tmp_path / "labels.csv").write_text("node,label\n" + "".join(labels))
    made = Jobs(tmp_path, lambda: None)
    yield made
    made.close()


FIT = ["fit", "ties.csv", "--labels", "labels.csv", "--method", "label-propagation", "--json", "--out"]


def test_jobs_run_one_after_the_other_and_say_what_came_out(jobs: Jobs) -> None:
    first = jobs.submit("fit", [*FIT, "one"], jobs.folder / "one")
    second = jobs.submit("fit", [*FIT, "one"], jobs.folder / "one")
    third = jobs.submit("fit", [*FIT, "three"], jobs.folder / "three")
    assert jobs.stop(third.number)
    assert third.state == "stopped"
    wait(first, "done", "failed")
    assert first.state == "done", first.message
    config = json.loads((jobs.folder / "one" / "config.json").read_text())
    assert config["method"] == "label-propagation"
    assert first.as_dict()["result"] == "one"
    wait(second, "done", "failed")
    assert second.state == "failed"
    assert "one" in second.message
    assert second.started is not None
    assert first.ended is not None
    assert second.started >= first.ended
    assert not (jobs.folder / "three").exists()
    assert not jobs.stop(first.number)
    assert not jobs.busy("fit")


def test_a_process_that_is_killed_is_told(jobs: Jobs) -> None:
    job = jobs.submit("fit", [*FIT, "one"], jobs.folder / "one")
    wait(job, "running")
    process = jobs._running
    while process is None:
        process = jobs._running
    process.popen.kill()
    wait(job, "failed")
    assert "SIGKILL" in job.message


def test_a_warm_process_is_used_and_replaced(jobs: Jobs) -> None:
    jobs.warm_up()
    ready = jobs._ready
    assert ready is not None
    jobs.warm_up()
    assert jobs._ready is ready
    job = jobs.submit("fit", [*FIT, "one"], jobs.folder / "one")
    wait(job, "running")
    assert jobs._running is ready
    wait(job, "done")
    end = time.monotonic() + 10
    while jobs._ready is None and time.monotonic() < end:
        time.sleep(0.05)
    assert jobs._ready not in (None, ready)


def test_closing_ends_every_process(tmp_path: Path) -> None:
    jobs = Jobs(tmp_path, lambda: None)
    jobs.warm_up()
    assert jobs._ready is not None
    process = jobs._ready.popen
    jobs.close()
    assert process.poll() is not None


def test_messages_are_found_among_what_was_said() -> None:
    said = "Note: few labels\nare known\nReading a ... 2 s so far\nError: there is no file 'a'\n"
    assert _messages(said, "Error: ") == ["there is no file 'a'"]
    assert _messages(said, "Note: ")[0].startswith("few labels are known")
    assert "SIGKILL" in _died(-9, "")
    assert _died(1, "Traceback\nValueError: x\n") == "ValueError: x"
    assert "exit code 3" in _died(3, "")
