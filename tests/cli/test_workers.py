"""``gramme fit --workers``: real processes that write together, are killed or stand still.

Where the start of a worker is not what is tested, its process has done the imports before.
"""

import contextlib
import functools
import itertools
import json
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from tempfile import mkdtemp
from types import SimpleNamespace

import pandas as pd
import pytest
from tests.distributed.graphs import graph
from tests.processes import Copy, HeardCommand, is_alive
from tests.sizes import sample

from gramme.cli import main, parts_fit
from gramme.distributed.launch import LOOPBACK, free_port
from gramme.io import write

SECONDS = 600
SETTINGS = ("--set", "epochs=60", "--set", "ensemble=1", "--set", "hidden_dim=4", "--no-estimate")


@pytest.fixture(scope="module")
def data(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("data") / "mixed.npz"
    write(graph("mixed"), path)
    return path


def done(process) -> tuple[int, str, str]:
    return process.done(SECONDS)


def fit_here(data, target, *options, method="gramme-fusion") -> None:
    """The same in this process alone."""
    words = ["fit", data, "--method", method, "--out", target, *options]
    with pytest.raises(SystemExit) as end:
        main([str(word) for word in words])
    assert not end.value.code


def begin_when_told(environment, other: Path | None) -> None:
    """The program of a worker, once somebody says in which environment. It may kill another, by its file."""
    os.environ.update(environment.recv())
    if other is not None and os.environ["RANK"] == "0":
        kill_when_something_is_kept(other)
    parts_fit.main()


def kill_when_something_is_kept(other: Path) -> None:
    """Kill another worker as soon as there is a checkpoint: it cannot be through, since this one has yet to go on."""
    kept = itertools.count()

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        if event == "os.rename" and ".checkpoints" in str(arguments[1]) and next(kept) == 1:
            os.kill(int(other.read_text()), signal.SIGKILL)

    sys.addaudithook(hook)


def make_workers_ready(folder: Path, kill: bool) -> None:
    """Let two copies of this process wait to become workers; their process ids go to files as soon as they are."""
    waiting = []
    for _ in range(2):
        heard, told = multiprocessing.Pipe(duplex=False)
        other = folder / "worker-1" if kill else None
        waiting.append((Copy(begin_when_told, heard, other), told))

    def start(command, env) -> Copy:
        assert command == [sys.executable, "-m", "gramme.cli.parts_fit"]
        process, told = waiting[int(env["RANK"])]
        told.send(env)
        (folder / f"worker-{env['RANK']}").write_text(str(process.pid))
        return process

    parts_fit.subprocess = SimpleNamespace(Popen=start)


def fit_by_two(data, target, *options, kill=False, **environment) -> tuple[HeardCommand, Path]:
    """A fit by two workers that begin at once, and the folder that names them. The second may be killed underway."""
    folder = Path(mkdtemp(dir=data.parent))
    words = ["fit", data, "--method", "gramme-fusion", "--out", target, *options, "--workers", 2]
    ready = functools.partial(make_workers_ready, folder, kill)
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
    code, _, err = done(fit_by_two(data, folder / "out", *SETTINGS)[0])
    assert code == 0, err
    assert not list(folder.glob("*.checkpoints"))
    return folder / "out"


@pytest.mark.distributed
def test_two_workers_write_what_one_process_writes(data, undisturbed, tmp_path):
    fit_here(data, tmp_path / "one", *SETTINGS)
    assert {path.name for path in (tmp_path / "one").iterdir()} == {path.name for path in undisturbed.iterdir()}
    for name in ("predictions", "history", "layers", "embedding"):
        one, two = (pd.read_csv(where / f"{name}.csv") for where in (tmp_path / "one", undisturbed))
        pd.testing.assert_frame_equal(one, two, atol=1e-4, rtol=0)


@pytest.mark.slow
@pytest.mark.distributed
def test_workers_that_start_as_new_programs_write_the_same(data, undisturbed, tmp_path):
    """As from a shell; tests/test_runtime.py starts them so as well."""
    fit_here(data, tmp_path / "out", *SETTINGS, "--workers", 2)
    assert tables(tmp_path / "out") == tables(undisturbed)


@pytest.mark.distributed
def test_two_workers_promise_what_their_folds_did(data, tmp_path):
    """Copies on half of the labels would be fitted by one process, with what the others share."""
    words = ("--coverage", "80%", "--method", "label-propagation")
    code, _, err = done(fit_by_two(data, tmp_path / "out", *words)[0])
    assert code == 0, err
    sets = json.loads((tmp_path / "out" / "config.json").read_text())["sets"]
    assert not sets["halved"]
    assert sets["enough"]


@pytest.fixture(scope="module")
def parts(data) -> Path:
    folder = data.parent / "parts"
    with pytest.raises(SystemExit) as end:
        main(["convert", str(data), str(folder), "--parts", "2"])
    assert not end.value.code
    return folder


TOGETHER = ("--method", "label-propagation", "--folds", "2")


def same_as_one_process(data, folder) -> None:
    fit_here(data, folder / "one", "--folds", 2, method="label-propagation")
    one, two = (pd.read_csv(folder / where / "predictions.csv") for where in ("one", "out"))
    pd.testing.assert_frame_equal(one, two, atol=1e-4, rtol=0)


@pytest.mark.distributed
def test_processes_that_somebody_else_started_fit_a_folder_of_parts(data, parts, tmp_path):
    """As torchrun starts them: by what stands in the environment alone."""
    port = str(free_port())
    both = [
        HeardCommand(
            Path(mkdtemp(dir=tmp_path)), "fit", parts, *TOGETHER, "--out", tmp_path / "out",
            RANK=str(rank), WORLD_SIZE="2", MASTER_ADDR=LOOPBACK, MASTER_PORT=port,
        )
        for rank in range(2)
    ]  # fmt: skip
    (code, out, err), (other_code, other_out, _) = (done(one) for one in both)
    assert code == other_code == 0, err
    assert (out + other_out).count("label-propagation on") == 1  # one process speaks
    same_as_one_process(data, tmp_path)


@pytest.mark.slow
@pytest.mark.distributed
def test_torchrun_fits_a_folder_of_parts(data, parts, tmp_path):
    words = ["--nproc-per-node", 2, "-m", "gramme", "fit", parts, *TOGETHER, "--out"]
    command = [sys.executable, "-m", "torch.distributed.run", *words, tmp_path / "out"]
    found = subprocess.run([*map(str, command)], capture_output=True, text=True, timeout=SECONDS, check=False)
    assert found.returncode == 0, found.stderr
    assert found.stdout.count("label-propagation on") == 1
    same_as_one_process(data, tmp_path)


def first_checkpoint(folder: Path) -> None:
    """Wait until the training has begun, for which all must have met, and something of it is kept."""
    deadline = time.monotonic() + SECONDS
    while not list(folder.glob("out.checkpoints/*.safetensors")):
        assert time.monotonic() < deadline, "no checkpoint is written"
        time.sleep(0.005)


def kill_and_resume(data, folder, rank, seconds: float | None = None) -> bool:
    """Kill a worker; all end, nothing is left, a resumed fit ends well. Whether it was early enough.

    It is killed after so many seconds; without a number, the second one as soon as something of the training is kept.
    """
    quick = {"GRAMME_CHECKPOINT_SECONDS": "0"}
    process, place = fit_by_two(data, folder / "out", *SETTINGS, kill=seconds is None, **quick)
    both = workers_in(place)
    if seconds is not None:
        time.sleep(seconds)
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
    assert kill_and_resume(data, tmp_path, 1)
    assert tables(tmp_path / "out") == tables(undisturbed)


MEET = """
import sys, time
from gramme.distributed import join
with join(watch=True):
    print("met", flush=True)
    time.sleep(600)
"""


@pytest.mark.distributed
def test_the_message_about_a_lost_worker_has_no_frames_of_torch(tmp_path):
    port, started = free_port(), []
    for rank in range(2):
        environment = parts_fit._environment(rank, 2, port, tmp_path / "job.json") | {"GRAMME_SILENCE_SECONDS": "3"}
        options = {"env": environment, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        started.append(subprocess.Popen([sys.executable, "-c", MEET], **options))
    try:
        assert [one.stdout.readline() for one in started] == ["met\n", "met\n"]
        started[0].kill()
        said = started[1].communicate(timeout=120)[1]
    finally:
        for one in started:
            one.kill()
            one.communicate()
    assert said.startswith("Error: worker 0 (process")
    assert "frame #" not in said


@pytest.mark.distributed
def test_workers_end_with_a_killed_command(data, tmp_path):
    options = (*SETTINGS, "--set", "epochs=100000")
    process, place = fit_by_two(data, tmp_path / "out", *options, GRAMME_CHECKPOINT_SECONDS="0")
    both = workers_in(place)
    first_checkpoint(tmp_path)
    process.kill()
    deadline = time.monotonic() + 30
    while any(map(is_alive, both)):
        assert time.monotonic() < deadline, "the workers go on"
        time.sleep(0.1)
    assert not (tmp_path / "out").exists()
    assert list(tmp_path.glob("out.checkpoints/*.safetensors"))  # for --resume


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
    kill_and_resume(data, tmp_path, rank, seconds)
    assert tables(tmp_path / "out") == tables(undisturbed)


@pytest.mark.slow
@pytest.mark.distributed
@pytest.mark.parametrize("rank", [0, 1])
def test_a_worker_that_stands_still_is_given_up(rank, data, tmp_path):
    options = (*SETTINGS, "--set", "epochs=100000")
    quick = {"GRAMME_SILENCE_SECONDS": "8", "GRAMME_CHECKPOINT_SECONDS": "0"}
    process, place = fit_by_two(data, tmp_path / "out", *options, **quick)
    both = workers_in(place)
    first_checkpoint(tmp_path)
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
