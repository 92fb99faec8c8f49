"""Starting the processes of a fit: on this machine, or as actors of a Ray cluster; and ending all when one is lost.

On several machines torchrun starts them, each as ``python -m gramme fit parts/ ...``.
"""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from gramme._files import scratch_folder
from gramme._runtime import PARENT, TORCH_LOG_LEVEL, connected_ray
from gramme.distributed import assign, read_manifest, write_parts
from gramme.distributed.launch import LOOPBACK, LOST_EXIT, free_port
from gramme.errors import DataError, GrammeError
from gramme.graph import MultilayerGraph
from gramme.report.folder import output_folder

from .parts_fit import JOB, FitJob, Outcome
from .progress import progress_file, relay, relay_progress
from .ray_worker import RayWorker

GRACE_SECONDS = 5.0
"""How long the other processes may take to end by themselves once one is lost, before they are killed."""
LOOK_SECONDS, RAY_LOOK_SECONDS = 0.1, 1.0


@contextmanager
def parts_for(graph: MultilayerGraph, workers: int) -> Iterator[Path]:
    """A folder of parts of a graph, for the duration of a fit."""
    if workers > graph.num_nodes:
        raise DataError(f"--workers {workers}: the graph has {graph.num_nodes} nodes to divide")
    with scratch_folder("parts") as scratch:
        folder = scratch / "parts"
        folder.mkdir()
        write_parts(graph, folder, assign(graph, workers), workers)
        yield folder


def run_workers(job: FitJob, workers: int) -> None:
    """Run a job in several processes of this machine; return when all have finished."""
    count = len(read_manifest(Path(job.parts)).parts)
    if count != workers:
        raise DataError(
            f"{job.parts} has {count} parts, for as many workers; say --workers {count}, or make {workers} parts with "
            f"gramme convert DATA parts/ --parts {workers}"
        )
    with _result_of(job) as taken, scratch_folder("job") as scratch:
        path = taken.written(scratch / "job.json")
        port = free_port()
        started: list[subprocess.Popen[bytes]] = []
        try:
            for rank in range(workers):
                started.append(_started(rank, workers, port, path))
            _await(started, Path(job.target), progress_file(taken.folder or ""))
        finally:
            for one in started:
                if one.poll() is None:
                    one.kill()
                one.wait()


@contextmanager
def _result_of(job: FitJob) -> Iterator[FitJob]:
    """Reserve the name of the result, and show the result there if all workers end well."""
    with output_folder(Path(job.target), overwrite=job.overwrite) as place:
        relay("Starting the processes", 0.0, 1.0)
        yield replace(job, folder=str(place.folder))
        relay("", 1.0, 1.0)
        outcome = Outcome.read(place.folder)
    outcome.show(job)


def _started(rank: int, workers: int, port: int, job: Path) -> subprocess.Popen[bytes]:
    environment = _environment(rank, workers, port, job)
    return subprocess.Popen([sys.executable, "-m", "gramme.cli.parts_fit"], env=environment)


def _environment(rank: int, workers: int, port: int, job: Path) -> dict[str, str]:
    """The environment of a worker on this machine."""
    threads = max(1, (os.cpu_count() or 1) // workers)
    environment = TORCH_LOG_LEVEL | {"OMP_NUM_THREADS": str(threads)} | os.environ
    environment |= _place(rank, workers, LOOPBACK, port)
    return environment | {"LOCAL_RANK": str(rank), JOB: str(job), PARENT: str(os.getpid())}


def _place(rank: int, workers: int, address: str, port: int) -> dict[str, str]:
    """Which of the workers a process is and where they meet, as environment variables."""
    return {"RANK": str(rank), "WORLD_SIZE": str(workers), "MASTER_ADDR": address, "MASTER_PORT": str(port)}


def _await(started: list[subprocess.Popen[bytes]], target: Path, progress: Path) -> None:
    """Wait for all; when one fails, give the others a moment to end by themselves, then end them."""
    while True:
        codes = [one.poll() for one in started]
        if all(code == 0 for code in codes):
            return
        if any(code not in (None, 0) for code in codes):
            break
        relay_progress(progress)
        time.sleep(LOOK_SECONDS)
    first = {rank: code for rank, code in enumerate(codes) if code not in (None, 0)}
    deadline = time.monotonic() + GRACE_SECONDS
    while any(one.poll() is None for one in started) and time.monotonic() < deadline:
        time.sleep(LOOK_SECONDS)
    still = [rank for rank, one in enumerate(started) if one.poll() is None]
    for rank in still:
        started[rank].kill()
        started[rank].wait()
    if started[0].poll() == 2:  # a user's mistake, which the first process has reported
        raise SystemExit(2)
    # report a worker that ended first, not one that noticed it or was killed here
    lost = {rank: code for rank, code in first.items() if code != LOST_EXIT}
    if lost:
        rank, code = next(iter(lost.items()))
        what = _how_it_ended(code)
    elif still:  # the others noticed that it does not answer
        rank, what = still[0], "stood still"
    else:
        rank, what = next(iter(first)), "lost the others"
    raise GrammeError(
        f"worker {rank} of {len(started)} (process {started[rank].pid}) {what}, so the fit cannot go on; "
        f"{_what_is_left(target)}"
    )


def _what_is_left(target: Path) -> str:
    return f"nothing was written to {target}, and --resume goes on from the last checkpoint"


def _how_it_ended(code: int | None) -> str:
    if code is not None and code < 0:
        return f"was ended by the signal {signal.Signals(-code).name}"
    return f"ended with exit code {code}"


def run_on_ray(job: FitJob, workers: int) -> None:
    """Run a job as actors of a Ray cluster; the first one runs where this command does, and writes there."""
    with connected_ray("--backend ray", workers, talks=True) as ray, _result_of(job) as taken:
        _run_actors(ray, taken, workers)


def _run_actors(ray: Any, job: FitJob, workers: int) -> None:
    made: list[Any] = []
    try:
        here = ray.get_runtime_context().get_node_id()
        kind = ray.remote(num_cpus=1, max_restarts=0)(RayWorker)
        nearby = ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy(here, soft=False)
        made = [kind.options(scheduling_strategy=nearby).remote()]
        made += [kind.remote() for _ in range(workers - 1)]
        hosts = ray.get([one.host.remote() for one in made])
        address = LOOPBACK if len(set(hosts)) == 1 else hosts[0]
        port = free_port()  # of this machine, on which the first one is
        running = {
            one.run.remote(job.text(), JOB, _place(rank, workers, address, port)): rank for rank, one in enumerate(made)
        }
        waiting, noticed, deadline = list(running), None, math.inf
        progress = progress_file(job.folder or "")
        # who noticed that another is lost ends before or after that one is known to be
        while waiting and time.monotonic() < deadline:
            relay_progress(progress)
            done, waiting = ray.wait(waiting, num_returns=1, timeout=RAY_LOOK_SECONDS)
            if not done:
                continue
            rank = running[done[0]]
            try:
                code = ray.get(done[0])
            except ray.exceptions.RayError as error:
                raise _lost_on_ray(rank, workers, hosts, job, f"is gone: {error}") from None
            if code == 2:
                raise SystemExit(2)
            if code == LOST_EXIT:
                noticed, deadline = rank, min(deadline, time.monotonic() + GRACE_SECONDS)
            elif code:
                raise _lost_on_ray(rank, workers, hosts, job, _how_it_ended(code))
        if noticed is not None:
            raise _lost_on_ray(noticed, workers, hosts, job, "lost the others")
    finally:
        for one in made:
            ray.kill(one)


def _lost_on_ray(rank: int, workers: int, hosts: list[str], job: FitJob, how: str) -> GrammeError:
    return GrammeError(
        f"worker {rank} of {workers} on {hosts[rank]} {how.splitlines()[0]}, so the fit cannot go on; "
        f"{_what_is_left(Path(job.target))}"
    )
