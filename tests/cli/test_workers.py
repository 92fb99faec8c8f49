"""``gramme fit --workers``: real processes that are killed, stand still, or start on Ray."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest
from tests.distributed.graphs import graph
from tests.sizes import sample

from gramme.io import write

SECONDS = 600
SETTINGS = ("--set", "epochs=12", "--set", "ensemble=1", "--set", "hidden_dim=4", "--no-estimate")


@pytest.fixture(scope="module")
def data(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("data") / "mixed.npz"
    write(graph("mixed"), path)
    return path


def fit(data, target, *options, method="gramme-fusion", **environment):
    command = [sys.executable, "-m", "gramme", "fit", data, "--method", method, "--out", target]
    return subprocess.Popen(
        [*map(str, command), *map(str, options)],
        env={k: v for k, v in os.environ.items() if k not in ("RANK", "WORLD_SIZE")} | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def done(process) -> tuple[int, str, str]:
    out, err = process.communicate(timeout=SECONDS)
    return process.returncode, out, err


def workers_of(parent: int, count: int) -> list[int]:
    """The process ids of the workers, in the order of their ranks, once all have begun."""
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        found = {}
        for path in Path("/proc").glob("[0-9]*"):
            try:
                if f"\nPPid:\t{parent}\n" in (path / "status").read_text():
                    words = (path / "environ").read_bytes().split(b"\0")
                    ranks = [word[5:] for word in words if word.startswith(b"RANK=")]
                    if ranks:
                        found[int(ranks[0])] = int(path.name)
            except OSError:
                continue
        if len(found) == count:
            return [found[rank] for rank in range(count)]
        time.sleep(0.05)
    raise AssertionError("the workers do not start")


def tables(folder) -> dict[str, str]:
    return {name: (folder / name).read_text() for name in ("predictions.csv", "history.csv")}


@pytest.mark.distributed
def test_two_workers_write_what_one_process_writes(data, tmp_path):
    both = [
        fit(data, tmp_path / "one", *SETTINGS),
        fit(data, tmp_path / "two", *SETTINGS, "--workers", 2),
    ]
    for process in both:
        code, _, err = done(process)
        assert code == 0, err
    assert {path.name for path in (tmp_path / "one").iterdir()} == {
        path.name for path in (tmp_path / "two").iterdir()
    }
    for name in ("predictions", "history", "layers", "embedding"):
        one, two = (pd.read_csv(tmp_path / where / f"{name}.csv") for where in ("one", "two"))
        pd.testing.assert_frame_equal(one, two, atol=1e-4, rtol=0)
    assert not list(tmp_path.glob("*.checkpoints"))


@pytest.mark.distributed
def test_torchrun_fits_a_folder_of_parts(data, tmp_path):
    convert = [sys.executable, "-m", "gramme", "convert", data, tmp_path / "parts", "--parts", 2]
    subprocess.run([*map(str, convert)], check=True, capture_output=True)
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
    code, _, err = done(fit(data, tmp_path / "one", "--folds", 2, method="label-propagation"))
    assert code == 0, err
    one, two = (pd.read_csv(tmp_path / where / "predictions.csv") for where in ("one", "out"))
    pd.testing.assert_frame_equal(one, two, atol=1e-4, rtol=0)


def kill_and_resume(data, folder, seconds, rank, signal_number=signal.SIGKILL) -> None:
    """Kill a worker after some time; all end, nothing is left, and a resumed fit has the same bits."""
    quick = {"GRAMME_CHECKPOINT_SECONDS": "0"}
    options = (*SETTINGS, "--set", "epochs=60", "--workers", 2)
    process = fit(data, folder / "out", *options, **quick)
    workers = workers_of(process.pid, 2)
    time.sleep(seconds)
    os.kill(workers[rank], signal_number)
    struck = time.monotonic()
    code, _, err = done(process)
    if code != 0:  # it was not through already
        assert time.monotonic() - struck < 30
        assert (
            f"worker {rank} of 2 (process {workers[rank]}) was ended by the signal SIGKILL" in err
        )
        assert not (folder / "out").exists()
        assert not (folder / ".out.gramme").exists()
        assert not any(Path(f"/proc/{pid}").exists() for pid in workers)
        code, _, err = done(fit(data, folder / "out", *options, "--resume", **quick))
    assert code == 0, err
    assert not list(folder.glob("*.checkpoints"))


@pytest.fixture(scope="module")
def undisturbed(data, tmp_path_factory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("undisturbed")
    options = (*SETTINGS, "--set", "epochs=60", "--workers", 2)
    code, _, err = done(fit(data, folder / "out", *options))
    assert code == 0, err
    return tables(folder / "out")


@pytest.mark.distributed
def test_a_killed_worker_ends_all_and_resume_has_the_same_bits(data, undisturbed, tmp_path):
    kill_and_resume(data, tmp_path, 3.0, 1)
    assert tables(tmp_path / "out") == undisturbed


@pytest.mark.slow
@pytest.mark.distributed
@pytest.mark.parametrize("seed", range(sample(20)))
def test_kills_at_any_moment(seed, data, undisturbed, tmp_path):
    draw = random.Random(seed)
    kill_and_resume(data, tmp_path, draw.uniform(0, 12), draw.randrange(2))
    assert tables(tmp_path / "out") == undisturbed


@pytest.mark.slow
@pytest.mark.distributed
def test_a_worker_that_stands_still_is_given_up(data, tmp_path):
    options = (*SETTINGS, "--set", "epochs=100000", "--workers", 2)
    process = fit(data, tmp_path / "out", *options, GRAMME_SILENCE_SECONDS="8")
    workers = workers_of(process.pid, 2)
    time.sleep(10)
    os.kill(workers[1], signal.SIGSTOP)
    struck = time.monotonic()
    code, _, err = done(process)
    assert code == 2
    assert time.monotonic() - struck < 30
    assert f"worker 1 (process {workers[1]} on" in err
    assert not (tmp_path / "out").exists()


@pytest.mark.distributed
def test_a_mistake_is_told_once(data, tmp_path):
    code, _, err = done(fit(data, tmp_path / "out", "--set", "epochs=-1", "--workers", 2))
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
    code, _, err = done(fit(data, tmp_path / "one", *options, method="label-propagation"))
    assert code == 0, err
    assert (tmp_path / "ray" / "predictions.csv").read_text() == (
        tmp_path / "one" / "predictions.csv"
    ).read_text()
