import errno
import json
import os
import sys
import time
from pathlib import Path

import pytest
from tests.processes import Process

from gramme._files import lock, marker_of, unlock
from gramme.errors import DataError, GrammeWarning
from gramme.report import folder as module
from gramme.report.folder import check_earlier_parts, check_earlier_result, check_writable, output_folder, recover


def result(folder: Path) -> Path:
    folder.mkdir()
    for name in ("model.safetensors", "predictions.csv", "report.html"):
        (folder / name).touch()
    (folder / "config.json").write_text(json.dumps({"versions": {"gramme": "1"}}))
    return folder


def test_a_result_may_be_replaced_and_so_may_an_empty_folder(tmp_path):
    (tmp_path / "empty").mkdir()
    check_earlier_result(tmp_path / "empty")
    folder = result(tmp_path / "out")
    (folder / ".DS_Store").touch()  # left by looking at the page
    (folder / "predictions").mkdir()
    (folder / "predictions" / "part-0000.csv").touch()
    check_earlier_result(folder)


@pytest.mark.parametrize("name", ["notes.txt", "predictions/mine.csv", "sub/x", ".git/config"])
def test_what_a_user_put_beside_a_result_is_not_lost(tmp_path, name):
    folder = result(tmp_path / "out")
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).touch()
    with pytest.raises(DataError, match=r"also holds '(notes.txt|mine.csv|sub|.git)'"):
        check_earlier_result(folder)


@pytest.mark.parametrize("text", ['{"port": 80}', "[]", "{no json", "[" * 100_000, ""])
def test_a_project_with_settings_of_the_same_name_is_no_result(tmp_path, text):
    (tmp_path / "config.json").write_text(text)
    with pytest.raises(DataError, match="holds something else than a gramme fit"):
        check_earlier_result(tmp_path)


def test_a_link_among_the_files_is_not_ours(tmp_path):
    folder = result(tmp_path / "out")
    (folder / "layers.csv").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(DataError, match=r"also holds 'layers.csv'"):
        check_earlier_result(folder)


def test_a_graph_in_parts(tmp_path):
    (tmp_path / "part-0000.npz").touch()
    with pytest.raises(DataError, match="something else than a graph in parts"):
        check_earlier_parts(tmp_path, "of ours")
    (tmp_path / "manifest.json").write_text('{"format": "another program\'s"}')
    with pytest.raises(DataError, match="something else than a graph in parts"):
        check_earlier_parts(tmp_path, "of ours")
    (tmp_path / "manifest.json").write_text('{"format": "of ours"}')
    check_earlier_parts(tmp_path, "of ours")
    (tmp_path / "index.html").touch()
    with pytest.raises(DataError, match=r"also holds 'index.html'"):
        check_earlier_parts(tmp_path, "of ours")


def fill(folder: Path, text: str, overwrite: bool = True) -> None:
    with output_folder(folder, overwrite=overwrite) as place:
        (place.folder / "a").write_text(text)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def leftover(folder: Path) -> Path:
    """What a run that was killed has left: the marker and the hidden folder that it names."""
    hidden = folder.with_name(f".{folder.name}.0123abcd.gramme")
    (hidden / "new").mkdir(parents=True)
    (hidden / "new" / "a").write_text("half")
    record = {"gramme": "x", "process": 1, "started": "2026-01-01T00:00:00", "work": hidden.name}
    marker_of(folder).write_text(json.dumps(record))
    return hidden


@pytest.fixture(params=["one step", "two steps"])
def systems(request, monkeypatch):
    """Systems that exchange folders in one step, and others."""
    if request.param == "two steps":
        monkeypatch.setattr(module, "_rename", lambda source, target, how: False)


@pytest.mark.usefixtures("systems")
def test_a_folder_is_replaced_whole(tmp_path):
    fill(tmp_path / "out", "first")
    (tmp_path / "out" / "b").write_text("old only")
    fill(tmp_path / "out", "second")
    assert names(tmp_path) == ["out"]
    assert names(tmp_path / "out") == ["a"]
    assert (tmp_path / "out" / "a").read_text() == "second"


@pytest.mark.usefixtures("systems")
def test_without_overwrite_nothing_is_replaced(tmp_path):
    fill(tmp_path / "out", "first", overwrite=False)
    with pytest.raises(DataError, match=r"out exists already; .*overwrite"):
        fill(tmp_path / "out", "second", overwrite=False)
    assert (tmp_path / "out" / "a").read_text() == "first"


@pytest.mark.usefixtures("systems")
def test_what_appears_at_the_place_meanwhile_is_not_replaced(tmp_path):
    target = tmp_path / "out"

    def interfered() -> None:
        with output_folder(target) as place:
            (place.folder / "a").write_text("mine")
            target.mkdir()

    with pytest.raises(DataError, match="out exists already"):
        interfered()
    assert names(tmp_path) == ["out"]
    assert names(target) == []


@pytest.mark.usefixtures("systems")
@pytest.mark.parametrize(
    "error", [OSError(errno.ENOSPC, "No space left on device"), ValueError("x"), KeyboardInterrupt("x")]
)
def test_a_failure_changes_nothing(tmp_path, error):
    fill(tmp_path / "out", "first")

    def fail() -> None:
        with output_folder(tmp_path / "out", overwrite=True) as place:
            (place.folder / "a").write_text("half")
            raise error

    with pytest.raises(DataError if isinstance(error, OSError) else type(error)):
        fail()
    assert names(tmp_path) == ["out"]
    assert (tmp_path / "out" / "a").read_text() == "first"


def test_a_run_that_dies_between_the_two_steps_loses_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "_rename", lambda source, target, how: False)
    fill(tmp_path / "out", "first")
    replace, steps = Path.replace, []

    def dies_at_the_second(self: Path, target: Path) -> Path:
        steps.append(target)
        if len(steps) == 2:  # the old folder aside, and now the new one in place
            raise KeyboardInterrupt
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", dies_at_the_second)
    with pytest.raises(KeyboardInterrupt):
        fill(tmp_path / "out", "second")
    assert names(tmp_path) == ["out"]
    assert (tmp_path / "out" / "a").read_text() == "first"


def test_what_a_killed_run_left_is_removed_and_said(tmp_path):
    leftover(tmp_path / "out")
    with pytest.warns(GrammeWarning, match="did not end properly; what it left unfinished was"):
        fill(tmp_path / "out", "whole")
    assert names(tmp_path) == ["out"]


def test_a_folder_that_was_put_aside_comes_back(tmp_path):
    hidden = leftover(tmp_path / "out")
    (hidden / "old").mkdir()
    (hidden / "old" / "a").write_text("first")
    with pytest.warns(GrammeWarning, match="brought back"):
        recover(tmp_path / "out")
    assert names(tmp_path) == ["out"]
    assert (tmp_path / "out" / "a").read_text() == "first"


@pytest.mark.parametrize("name", [".out.gramme", ".out.old-2024", ".out.0123abcd.gramme"])
def test_what_is_not_ours_is_never_touched(tmp_path, name):
    other = tmp_path / name
    other.mkdir()
    (other / "thesis.txt").write_text("x")
    if name == ".out.gramme":
        with pytest.raises(DataError, match=r"\.out\.gramme is in the way and not gramme's own"):
            fill(tmp_path / "out", "whole")
    else:
        fill(tmp_path / "out", "whole")
    assert (other / "thesis.txt").read_text() == "x"


def test_links_in_a_circle_are_refused(tmp_path):
    (tmp_path / "out").symlink_to("out")
    for refuse in (check_writable, lambda out: fill(out, "x")):
        with pytest.raises(DataError, match="out is a link that leads in a circle"):
            refuse(tmp_path / "out")


def test_a_second_run_into_the_same_place_is_refused(tmp_path):
    with output_folder(tmp_path / "out") as place:
        (place.folder / "a").write_text("first")
        for overwrite in (False, True):
            with pytest.raises(DataError, match=rf"another run is writing to .*{os.getpid()}"):
                fill(tmp_path / "out", "second", overwrite=overwrite)
    assert (tmp_path / "out" / "a").read_text() == "first"
    assert names(tmp_path) == ["out"]


def take_the_name(out, text):
    try:
        with output_folder(out) as place:
            (place.folder / "a").write_text(text)
            time.sleep(0.5)
    except DataError:
        sys.exit(2)


def test_of_many_processes_one_gets_the_name(tmp_path):
    running = [Process(take_the_name, tmp_path / "out", str(number)) for number in range(4)]
    codes = [process.wait() for process in running]
    assert sorted(codes) == [0, 2, 2, 2]
    assert (tmp_path / "out" / "a").read_text() == str(codes.index(0))
    assert names(tmp_path) == ["out"]


def hold_the_name(out, ready):
    with output_folder(out) as place:
        (place.folder / "a").write_text("half")
        ready.touch()
        time.sleep(60)


def test_after_a_kill_the_next_run_goes_on(tmp_path_factory):
    tmp_path, ready = tmp_path_factory.mktemp("out"), tmp_path_factory.mktemp("ready") / "now"
    process = Process(hold_the_name, tmp_path / "out", ready)
    while not ready.exists():
        assert process.poll() is None
        time.sleep(0.01)
    with pytest.raises(DataError, match=f"another run is writing .*process {process.pid}"):
        fill(tmp_path / "out", "second")
    process.kill()
    process.wait()
    with pytest.warns(GrammeWarning, match="did not end properly"):
        fill(tmp_path / "out", "second", overwrite=False)
    assert names(tmp_path) == ["out"]
    assert (tmp_path / "out" / "a").read_text() == "second"


@pytest.mark.usefixtures("systems")
def test_a_link_is_followed(tmp_path):
    (tmp_path / "disk").mkdir()
    fill(tmp_path / "disk" / "real", "first")
    (tmp_path / "out").symlink_to(tmp_path / "disk" / "real")
    fill(tmp_path / "out", "second")
    assert names(tmp_path) == ["disk", "out"]
    assert (tmp_path / "out").is_symlink()
    assert (tmp_path / "disk" / "real" / "a").read_text() == "second"
    assert names(tmp_path / "disk") == ["real"]


def test_a_name_that_cannot_be_written_is_refused_before_the_work(tmp_path):
    with pytest.raises(DataError, match="not UTF-8"):
        check_writable(tmp_path / "out\udcff")
    with pytest.raises(DataError, match="not UTF-8"):
        fill(tmp_path / "out\udcff", "x")


def test_a_place_that_cannot_be_is_said_at_once(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(DataError, match="file is a file, not a folder"):
        check_writable(tmp_path / "file" / "deep" / "out")
    with pytest.raises(DataError, match="/proc/out cannot be written"):
        check_writable(Path("/proc/out"))
    check_writable(tmp_path / "new" / "out")
    assert names(tmp_path) == ["file"]


def test_locks_end_with_their_holder(tmp_path):
    (tmp_path / "x").write_text("")
    held = lock(tmp_path / "x")
    with pytest.raises(BlockingIOError):
        lock(tmp_path / "x")
    unlock(held)
    unlock(lock(tmp_path / "x"))
