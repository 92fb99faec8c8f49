"""A disk that is really full: a small file system of its own, which takes the right to mount one."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.app.serving import running
from tests.app.test_faults import open_office, saved_labels

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    disk = tmp_path / "disk"
    disk.mkdir()
    try:
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=300k", "tmpfs", disk], capture_output=True)
    except OSError:
        pytest.skip("there is no program mount")
    if mounted.returncode:
        pytest.skip("file systems cannot be mounted here")
    try:
        yield disk
    finally:
        subprocess.run(["umount", "-l", disk], check=True)


def fill(path: Path) -> None:
    with path.open("wb", buffering=0) as file:
        while file.write(b"x" * 1024):
            pass


def test_a_full_disk_loses_no_label_and_takes_more_once_there_is_room(tmp_path: Path, small_disk: Path) -> None:
    _, arguments = open_office(tmp_path)
    project, ballast = small_disk / "project", small_disk / "ballast"
    with running(project, *arguments) as served:
        assert served.wait_open()["open"]
        served.ask("POST", "/api/labels", {"changes": [[0, "Red"], [1, "Blue"]]})
        with pytest.raises(OSError, match="No space left"):
            fill(ballast)
        before = saved_labels(project)
        status, answer = served.try_("POST", "/api/labels", {"changes": [[n, "y" * 150 + str(n)] for n in range(60)]})
        assert status == 507
        assert "disk is full" in answer["problem"]
        assert saved_labels(project) == before
        assert served.ask("GET", "/api/state")["open"]
        job = served.job("fit", method="label-propagation")
        assert job["state"] == "failed"
        assert job["message"]
        assert not [path for path in (project / "results").iterdir() if not path.name.startswith(".")]
        ballast.unlink()
        served.ask("POST", "/api/labels", {"changes": [[2, "Green"]]})
        assert "Green" in saved_labels(project).values()
    with running(project) as served:
        assert served.wait_open()["open"]
        assert "Green" in saved_labels(project).values()
