"""What is left when `gramme fit` is killed, when the disk is full and where nothing can be written."""

import gc
import json
import os
import random
import resource
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pandas as pd
import pytest
from tests.processes import Command
from tests.sizes import sample

from gramme.cli import main
from gramme.methods import load

ROWS = 150
FILES = {"config.json", "model.safetensors", "predictions.csv", "report.html"}


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("data") / "people.csv"
    rows = [f"{row % 7},{row % 5},{'ab'[row % 7 > 3] if row % 2 else ''}" for row in range(ROWS)]
    path.write_text("\n".join(["x,y,kind", *rows]) + "\n")
    return path


def command(table: Path, out: Path, *options: str) -> list[str]:
    words = ["fit", table, "--table", "--label", "kind", "--method", "one-hot-logistic"]
    words += ["--folds", "2", "--out", out, *options]
    return [str(word) for word in words]


def hidden(folder: Path) -> list[Path]:
    return [path for path in folder.iterdir() if path.name.startswith(".")]


def is_whole(out: Path) -> bool:
    """Whether all of a result is there and can be used."""
    assert {path.name for path in out.iterdir()} >= FILES
    assert len(pd.read_csv(out / "predictions.csv")) == ROWS
    assert "</html>" in (out / "report.html").read_text()[-200:]
    model = load(out / "model.safetensors")
    return len(model.predict()) == ROWS


def seed_of(out: Path) -> int:
    return int(json.loads((out / "config.json").read_text())["seed"])


def kill_while_writing(process: Command, out: Path, delay: float) -> None:
    """Kill so many seconds after the first file in the hidden folder, in which the result is gathered."""
    while process.poll() is None and not any(out.parent.glob(f".{out.name}.*.gramme/new/*")):
        time.sleep(0.001)
    time.sleep(delay)
    process.kill()
    process.wait()


def kill_and_look(table: Path, folder: Path, moments: list[tuple[str, float]]) -> dict[str, int]:
    """Kill at each of the moments while an old result is being replaced; counts what stood there afterwards."""
    out = folder / "out"
    assert Command(*command(table, out, "--quiet")).wait() == 0
    found = {"old": 0, "new": 0}
    for turn, (when, delay) in enumerate(moments, start=1):
        before = seed_of(out)
        words = command(table, out, "--quiet", "--overwrite", "--seed", str(turn))
        process = Command(*words)
        if when == "writing":
            kill_while_writing(process, out, delay)
        else:
            time.sleep(delay)
            process.kill()
            process.wait()
        assert is_whole(out)
        assert seed_of(out) in (before, turn)
        found["new" if seed_of(out) == turn else "old"] += 1
    words = command(table, out, "--quiet", "--overwrite", "--seed", "1000")
    assert Command(*words).wait() == 0
    assert (is_whole(out), seed_of(out)) == (True, 1000)
    assert hidden(folder) == []  # what the killed ones left was cleared away
    return found


def moments(count: int, seed: int) -> list[tuple[str, float]]:
    chance = random.Random(seed)
    while_writing = [("writing", chance.choice([0, 0.3, 1]) * chance.random()) for _ in range(count)]
    while_writing[0] = ("writing", 0.0)  # however fast the machine, this one is killed before it is done
    return while_writing + [("any", 1.5 * chance.random()) for _ in range(count // 2)]


def test_a_killed_fit_leaves_the_old_result_or_the_new_one(table: Path, tmp_path: Path) -> None:
    found = kill_and_look(table, tmp_path, moments(2, seed=0))
    assert found["old"] >= 1


@pytest.mark.slow
def test_killed_at_many_moments(table: Path, tmp_path: Path) -> None:
    found = kill_and_look(table, tmp_path, moments(sample(16, least=2), seed=1))
    assert found["old"] >= sample(5)


def test_a_killed_first_fit_leaves_no_folder(table: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    kill_while_writing(Command(*command(table, out, "--quiet")), out, 0)
    assert not out.exists()
    assert Command(*command(table, out, "--quiet")).wait() == 0
    assert is_whole(out)
    assert hidden(tmp_path) == []


def run(table: Path, out: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    """Run in this process: exit code and messages."""
    return call(command(table, out), capsys)


def call(words: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    with pytest.raises(SystemExit) as end:
        main(words)
    return int(end.value.code or 0), capsys.readouterr().err


@contextmanager
def largest_file(size: int) -> Iterator[None]:
    """A limit on the size of files makes writing fail as a full disk does, for any user on any machine."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("size", [0, 4000, 60_000])
def test_a_full_disk_is_said_and_leaves_nothing(
    table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], size: int
) -> None:
    with largest_file(size):
        code, said = run(table, tmp_path / "out", capsys)
    assert code == 2
    assert "out cannot be written: File too large. Nothing was left half done" in said
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 100 kB."""
    place = tmp_path / "disk"
    place.mkdir()
    words = ["mount", "-t", "tmpfs", "-o", "size=100k", "tmpfs", str(place)]
    if os.geteuid() or subprocess.run(words, check=False).returncode:
        pytest.skip("only root may mount a file system")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def test_a_disk_that_fills_up(table: Path, tiny_disk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, said = run(table, tiny_disk / "out", capsys)
    assert code == 2
    assert "cannot be written: No space left on device" in said
    assert list(tiny_disk.iterdir()) == []


def test_a_disk_that_is_read_only(table: Path, tiny_disk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    subprocess.run(["mount", "-o", "remount,ro", str(tiny_disk)], check=True)
    code, said = run(table, tiny_disk / "deep" / "out", capsys)
    assert code == 2
    assert "cannot be written: Read-only file system" in said
    assert "rows have a label" not in said  # said before any work was done


def test_places_that_cannot_be_written(table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("x")
    for out in (tmp_path / "file", tmp_path / "file" / "out", Path("/proc/nowhere/out")):
        code, said = run(table, out, capsys)
        assert code == 2
        assert said.startswith("Error: ")
        assert "rows have a label" not in said
    assert (tmp_path / "file").read_text() == "x"


def test_predict_to_a_full_disk_leaves_nothing(table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(table, tmp_path / "out", capsys)[0] == 0
    words = ["predict", str(tmp_path / "out"), str(table), "--out", str(tmp_path / "p.csv")]
    with largest_file(1000):
        code, said = call(words, capsys)
    assert code == 2
    assert "p.csv cannot be written: File too large" in said
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize("size", [0, 1000, 4000])
def test_an_archive_on_a_full_disk_is_one_message(
    table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], size: int
) -> None:
    words = ["convert", str(table), str(tmp_path / "g.npz"), "--table", "--label", "kind"]
    with largest_file(size):
        code, said = call(words, capsys)
        gc.collect()  # an archive that is half written must not be written to again
    said += capsys.readouterr().err
    assert code == 2
    assert said.endswith(f"Error: {tmp_path / 'g.npz'}: File too large\n")
    assert list(tmp_path.iterdir()) == []
