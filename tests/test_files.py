import json
import os
import time
from contextlib import ExitStack

import pytest
from tests.processes import Process

from gramme import _files as module
from gramme._files import give_name, holder, marker_of, open_nameless, sweep, taken


def test_a_file_appears_whole_and_replaces_nothing(tmp_path):
    handle = open_nameless(tmp_path)
    if handle is None:
        pytest.skip("there are no such files here")
    os.write(handle, b"whole")
    assert list(tmp_path.iterdir()) == []
    give_name(handle, tmp_path / "a")
    assert (tmp_path / "a").read_bytes() == b"whole"
    with pytest.raises(FileExistsError):
        give_name(handle, tmp_path / "a")
    os.close(handle)


@pytest.mark.parametrize("folder", ["none", "with\0zero"])
def test_where_there_can_be_none(tmp_path, folder):
    assert open_nameless(tmp_path / folder) is None


def names(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture(params=["at one stroke", "in two steps"])
def systems(request, monkeypatch):
    """Systems on which a file can appear whole, and others."""
    if request.param == "in two steps":
        monkeypatch.setattr(module, "open_nameless", lambda folder, mode: None)


@pytest.mark.usefixtures("systems")
def test_a_place_is_taken_once_and_nothing_stays(tmp_path):
    place = tmp_path / "out"
    with taken(place) as work:
        work.write_text("half")
        found = holder(place)
        assert (found.process, found.work) == (os.getpid(), work)
        with pytest.raises(FileExistsError), taken(place):
            pass
        assert not sweep(place)
        assert work.read_text() == "half"
    assert names(tmp_path) == []
    assert holder(place) is None


def die(place, folder):
    with taken(place) as work:
        if folder:
            (work / "deep").mkdir(parents=True)
        else:
            work.write_text("half")
        os._exit(9)


@pytest.mark.parametrize("folder", [False, True])
def test_what_a_dead_run_left_is_swept_once(tmp_path, folder):
    assert Process(die, tmp_path / "out", folder).wait() == 9
    assert len(names(tmp_path)) == 2
    assert sweep(tmp_path / "out")
    assert names(tmp_path) == []
    assert not sweep(tmp_path / "out")


@pytest.mark.parametrize(
    "work", ["thesis", "../thesis", "/etc/passwd", ".out.0123abcd.gramme/..", ".out.gramme", 7, None]
)
def test_a_marker_cannot_name_what_is_not_ours(tmp_path, work):
    place = tmp_path / "folder" / "out"
    place.parent.mkdir()
    (tmp_path / "thesis").write_text("x")
    (place.parent / "thesis").write_text("x")
    record = {"gramme": "x", "process": 1, "started": "2026", "work": work}
    marker_of(place).write_text(json.dumps(record))
    assert not sweep(place)
    assert holder(place) is None
    assert (tmp_path / "thesis").exists()
    assert names(place.parent) == [".out.gramme", "thesis"]


@pytest.mark.parametrize("text", ["", "thesis", "[1]", '{"process": 1}', "[" * 100_000, "\udcff"])
def test_other_files_of_that_name_are_not_ours(tmp_path, text, monkeypatch):
    monkeypatch.setattr(module, "_MARKER_SECONDS", 0.1)
    marker_of(tmp_path / "out").write_text(text, errors="surrogateescape")
    assert not sweep(tmp_path / "out")
    assert holder(tmp_path / "out") is None
    assert names(tmp_path) == [".out.gramme"]


def test_a_marker_that_another_run_has_just_put_there_stays(tmp_path, monkeypatch):
    """Two runs find the same leftover: while the second waits, the first sweeps it and takes the place."""
    place = tmp_path / "out"
    assert Process(die, place, False).wait() == 9
    lock = module.lock

    def late(marker):
        held = lock(marker)
        marker.unlink()
        begun.enter_context(taken(place))
        return held

    with ExitStack() as begun:
        monkeypatch.setattr(module, "lock", lambda path: late(path) if path == marker_of(place) else lock(path))
        assert not sweep(place)
        assert holder(place).process == os.getpid()


def sweep_and_take(place, refused, others):
    """Take what is left, and keep it until the others have been refused."""
    sweep(place)
    try:
        with taken(place):
            end = time.monotonic() + 60
            while len(list(refused.iterdir())) < others and time.monotonic() < end:
                time.sleep(0.01)
    except FileExistsError:
        (refused / str(os.getpid())).touch()
        os._exit(2)


def test_of_many_one_gets_what_a_dead_one_left(tmp_path, tmp_path_factory):
    assert Process(die, tmp_path / "out", True).wait() == 9
    refused = tmp_path_factory.mktemp("refused")
    running = [Process(sweep_and_take, tmp_path / "out", refused, 2) for _ in range(3)]
    assert sorted(process.wait() for process in running) == [0, 2, 2]
    assert names(tmp_path) == []
