"""``gramme fit --workers``: real processes that are killed, stand still, or start on Ray.

Where the start of a worker is not what is tested, its process has done the imports before.
"""

import contextlib
import functools
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import mkdtemp
from types import SimpleNamespace

import pandas as pd
import pytest
from tests.distributed.graphs import graph
from tests.processes import Copy, HeardCommand
from tests.sizes import sample

from gramme.cli import main, parts_fit, workers
from gramme.io import write

SECONDS = 600
SETTINGS = ("--set", "epochs=60", "--set", "ensemble=1", "--set", "hidden_dim=4", "--no-estimate")


@pytest.fixture(scope="module")
def data(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("data") / "mixed.npz"
    write(graph("mixed"), path)
    return path


def fit(data, target, *options, method="gramme-fusion", **environment) -> HeardCommand:
    words = ["fit", data, "--method", method, "--out", target, *options]
    return HeardCommand(Path(mkdtemp(dir=data.parent)), *words, **environment)


def done(process) -> tuple[int, str, str]:
    return process.done(SECONDS)


def fit_here(data, target, *options, method="gramme-fusion") -> None:
    """The same in this process alone."""
    words = ["fit", data, "--method", method, "--out", target, *options]
    with pytest.raises(SystemExit) as end:
        main([str(word) for word in words])
    assert not end.value.code


def begin_when_told(environment) -> None:
    """The program of a worker, once somebody says in which environment."""
    os.environ.update(environment.recv())
    parts_fit.main()


def make_workers_ready(folder: Path) -> None:
    """Let two copies of this process wait to become workers; their process ids go to files as soon as they are."""
    waiting = []
    for _ in range(2):
        heard, told = multiprocessing.Pipe(duplex=False)
        waiting.append((Copy(begin_when_told, heard), told))

    def start(command, env) -> Copy:
        assert command == [sys.executable, "-m", "gramme.cli.parts_fit"]
        process, told = waiting[int(env["RANK"])]
        told.send(env)
        (folder / f"worker-{env['RANK']}").write_text(str(process.pid))
        return process

    workers.subprocess = SimpleNamespace(Popen=start)


def fit_by_two(data, target, *options, **environment) -> tuple[HeardCommand, Path]:
    """A fit by two workers that begin at once, and the folder that names them."""
    folder = Path(mkdtemp(dir=data.parent))
    words = ["fit", data, "--method", "gramme-fusion", "--out", target, *options, "--workers", 2]
    ready = functools.partial(make_workers_ready, folder)
    return HeardCommand(folder, *words, prepared=ready, **environment), folder


def workers_in(folder: Path) -> list[int]:
    """The process ids of both workers, in the order of their ranks, once they have begun."""
    deadline = time.monotonic() + SECONDS
    paths = [folder / f"worker-{rank}" for rank in range(2)]
    while not all(path.exists() and path.read_text() for path in paths):
        assert time.monotonic() < deadline, "the workers do not start"
        time.sleep(0.01)
    return [int(path.read_text()) for path in paths]


def tables(folder) -> dict[str, str]:
    return {name: (folder / name).read_text() for name in ("predictions.csv", "history.csv")}


@pytest.fixture(scope="module")
def undisturbed(data, tmp_path_factory) -> Path:
    """What a fit by two workers writes that nobody disturbs."""
    folder = tmp_path_factory.mktemp("undisturbed")
    code, _, err = done(fit(data, folder / "out", *SETTINGS, "--workers", 2))
    assert code == 0, err
    assert not list(folder.glob("*.checkpoints"))
    return folder / "out"


@pytest.mark.distributed
def test_two_workers_write_what_one_process_writes(data, undisturbed, tmp_path):
    fit_here(data, tmp_path / "one", *SETTINGS)
    assert {path.name for path in (tmp_path / "one").iterdir()} == {
        path.name for path in undisturbed.iterdir()
    }
    for name in ("predictions", "history", "layers", "embedding"):
        one, two = (pd.read_csv(where / f"{name}.csv") for where in (tmp_path / "one", undisturbed))
        pd.testing.assert_frame_equal(one, two, atol=1e-4, rtol=0)


@pytest.mark.distributed
def test_torchrun_fits_a_folder_of_parts(data, tmp_path):
    with pytest.raises(SystemExit) as end:
        main(["convert", str(data), str(tmp_path / "parts"), "--parts", "2"])
    assert not end.value.code
    words = ["--nproc-per-node", 2, "-m", "gramme", "fit", tmp_path / "parts", "--out"]
    command = [sys.executable, "-m", "torch.distributed.run", *words, tmp_path / "out"]
    options = ("--method", "label-propagation", "--folds", 2)
    found = subprocess.run(
        [*map(str, command), *map(str, options)],
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert found.returncode == 0, found.stderr
    assert found.stdout.count("label-propagation on") == 1  # one process speaks
    fit_here(data, tmp_path / "one", "--folds", 2, method="label-propagation")
    one, two = (pd.read_csv(tmp_path / where / "predictions.csv") for where in ("one", "out"))
    pd.testing.assert_frame_equal(one, two, atol=1e-4, rtol=0)


def first_checkpoint(folder: Path) -> None:
    """Wait until the training has begun and something of it is kept."""
    deadline = time.monotonic() + SECONDS
    while not list(folder.glob("*.checkpoints/*.safetensors")):
        assert time.monotonic() < deadline, "no checkpoint is written"
        time.sleep(0.005)


def kill_and_resume(data, folder, wait: Callable[[], None], rank) -> bool:
    """Kill a worker after a wait; all end, nothing is left, a resumed fit ends well. Whether it was early enough."""
    quick = {"GRAMME_CHECKPOINT_SECONDS": "0"}
    process, place = fit_by_two(data, folder / "out", *SETTINGS, **quick)
    both = workers_in(place)
    wait()
    with contextlib.suppress(ProcessLookupError):  # it may be through already
        os.kill(both[rank], signal.SIGKILL)
    struck = time.monotonic()
    code, _, err = done(process)
    early = code != 0  # it was not through already
    if early:
        assert time.monotonic() - struck < 30
        assert f"worker {rank} of 2 (process {both[rank]}) was ended by the signal SIGKILL" in err
        assert not (folder / "out").exists()
        assert not (folder / ".out.gramme").exists()
        assert not any(Path(f"/proc/{pid}").exists() for pid in both)
        again, _ = fit_by_two(data, folder / "out", *SETTINGS, "--resume", **quick)
        code, _, err = done(again)
    assert code == 0, err
    assert not list(folder.glob("*.checkpoints"))
    return early


@pytest.mark.distributed
def test_a_killed_worker_ends_all_and_resume_has_the_same_bits(data, undisturbed, tmp_path):
    assert kill_and_resume(data, tmp_path, lambda: first_checkpoint(tmp_path), 1)
    assert tables(tmp_path / "out") == tables(undisturbed)


@pytest.fixture(scope="module")
def usual_seconds(data, tmp_path_factory) -> float:
    """How long two workers take from their start to their end."""
    process, place = fit_by_two(data, tmp_path_factory.mktemp("usual") / "out", *SETTINGS)
    workers_in(place)
    began = time.monotonic()
    assert done(process)[0] == 0
    return time.monotonic() - began


@pytest.mark.slow
@pytest.mark.distributed
@pytest.mark.parametrize("seed", range(sample(20)))
def test_kills_at_any_moment(seed, data, undisturbed, usual_seconds, tmp_path):
    draw = random.Random(seed)
    seconds, rank = draw.uniform(0, usual_seconds), draw.randrange(2)
    kill_and_resume(data, tmp_path, lambda: time.sleep(seconds), rank)
    assert tables(tmp_path / "out") == tables(undisturbed)


@pytest.mark.slow
@pytest.mark.distributed
@pytest.mark.parametrize("rank", [0, 1])
def test_a_worker_that_stands_still_is_given_up(rank, data, tmp_path):
    options = (*SETTINGS, "--set", "epochs=100000")
    quick = {"GRAMME_SILENCE_SECONDS": "8", "GRAMME_CHECKPOINT_SECONDS": "0"}
    process, place = fit_by_two(data, tmp_path / "out", *options, **quick)
    both = workers_in(place)
    deadline = time.monotonic() + SECONDS
    while not list(tmp_path.glob("out.checkpoints/*.safetensors")):  # both have met and train
        assert time.monotonic() < deadline
        time.sleep(0.2)
    os.kill(both[rank], signal.SIGSTOP)
    struck = time.monotonic()
    code, _, err = done(process)
    assert code == 2
    assert time.monotonic() - struck < 30
    assert f"worker {rank} (process {both[rank]} on" in err  # as the other says
    assert f"worker {rank} of 2 (process {both[rank]}) stood still" in err
    assert not (tmp_path / "out").exists()


@pytest.mark.distributed
def test_a_mistake_is_told_once(data, tmp_path):
    process, _ = fit_by_two(data, tmp_path / "out", "--set", "epochs=-1")
    code, _, err = done(process)
    assert code == 2
    assert err.count("Error:") == 1
    assert "epochs" in err


@pytest.mark.ray
@pytest.mark.distributed
def test_workers_of_a_ray_cluster_write_the_same(data, tmp_path):
    pytest.importorskip("ray")
    options = ("--no-estimate",)
    code, _, err = done(
        fit(
            data,
            tmp_path / "ray",
            *options,
            "--workers",
            2,
            "--backend",
            "ray",
            method="label-propagation",
        )
    )
    assert code == 0, err
    fit_here(data, tmp_path / "one", *options, method="label-propagation")
    assert (tmp_path / "ray" / "predictions.csv").read_text() == (
        tmp_path / "one" / "predictions.csv"
    ).read_text()
