import errno
import fcntl
import os
import subprocess
import sys
from pathlib import Path

import pytest

from gramme.errors import DataError
from gramme.report import whole_folder as module
from gramme.report.whole_folder import check_writable, recover, whole_folder


def fill(folder: Path, text: str) -> None:
    with whole_folder(folder) as new:
        (new / "a").write_text(text)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("exchange", [True, False])
def test_a_folder_is_replaced_whole(tmp_path, monkeypatch, exchange):
    if not exchange:
        monkeypatch.setattr(module, "_exchanged", lambda one, other: False)
    fill(tmp_path / "out", "first")
    (tmp_path / "out" / "b").write_text("old only")
    fill(tmp_path / "out", "second")
    assert names(tmp_path) == ["out"]
    assert names(tmp_path / "out") == ["a"]
    assert (tmp_path / "out" / "a").read_text() == "second"


def test_linux_exchanges_in_one_step(tmp_path):
    for name in "xy":
        (tmp_path / name).mkdir()
        (tmp_path / name / name).write_text(name)
    assert module._exchanged(tmp_path / "x", tmp_path / "y") is sys.platform.startswith("linux")
    assert names(tmp_path / "x") == ["y"]


@pytest.mark.parametrize(
    "error", [OSError(errno.ENOSPC, "No space left on device"), ValueError("x")]
)
def test_a_failure_changes_nothing(tmp_path, error):
    fill(tmp_path / "out", "first")
    expected = DataError if isinstance(error, OSError) else ValueError

    def fail() -> None:
        with whole_folder(tmp_path / "out") as new:
            (new / "a").write_text("half")
            raise error

    with pytest.raises(expected, match=r"No space left|x"):
        fail()
    assert names(tmp_path) == ["out"]
    assert (tmp_path / "out" / "a").read_text() == "first"


def test_what_a_killed_run_left_is_removed(tmp_path):
    left = tmp_path / ".out.part-dead"
    left.mkdir()
    (left / "a").write_text("half")
    (tmp_path / ".other.part-dead").mkdir()
    fill(tmp_path / "out", "whole")
    assert names(tmp_path) == [".other.part-dead", "out"]


def test_what_a_living_run_writes_is_left_alone(tmp_path):
    other = tmp_path / ".out.part-alive"
    other.mkdir()
    handle = os.open(other, os.O_RDONLY)
    fcntl.flock(handle, fcntl.LOCK_EX)
    try:
        fill(tmp_path / "out", "whole")
        assert names(tmp_path) == [".out.part-alive", "out"]
    finally:
        os.close(handle)


def test_a_folder_that_was_put_aside_comes_back(tmp_path):
    """Without an exchange in one step a run can be killed after the old folder was put aside."""
    aside = tmp_path / ".out.old-dead"
    aside.mkdir()
    (aside / "a").write_text("first")
    recover(tmp_path / "out")
    assert names(tmp_path) == ["out"]
    assert (tmp_path / "out" / "a").read_text() == "first"


def test_two_processes_may_write_to_the_same_place(tmp_path):
    code = (
        "import sys; from pathlib import Path; from gramme.report.whole_folder import whole_folder\n"
        "for turn in range(100):\n"
        "    with whole_folder(Path(sys.argv[1])) as new:\n"
        "        (new / 'a').write_text(sys.argv[2]); (new / 'b').write_text(sys.argv[2])\n"
    )
    running = [
        subprocess.Popen([sys.executable, "-c", code, str(tmp_path / "out"), name]) for name in "xy"
    ]
    assert [process.wait(120) for process in running] == [0, 0]
    assert names(tmp_path) == ["out"]
    assert (tmp_path / "out" / "a").read_text() == (tmp_path / "out" / "b").read_text()


def test_a_place_that_cannot_be_is_said_at_once(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(DataError, match="file is a file, not a folder"):
        check_writable(tmp_path / "file" / "deep" / "out")
    with pytest.raises(DataError, match="/proc/out cannot be written"):
        check_writable(Path("/proc/out"))
    check_writable(tmp_path / "new" / "out")
    assert names(tmp_path) == ["file"]
