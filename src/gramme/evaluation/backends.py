"""Where runs are executed: in this process, in processes of this machine, or on a Ray cluster; results are the same.

Every run has one thread, so as many run side by side as there are jobs. Results come back in any order; whoever asked
writes them down. A process that dies, killed for lack of memory for instance, costs the run that killed it, not the
others.
"""

from __future__ import annotations

import os
import pickle
import signal
import threading
import time
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from multiprocessing import resource_tracker
from pathlib import Path
from typing import Any

import joblib
from joblib.externals.loky.process_executor import TerminatedWorkerError

from gramme._files import scratch_folder
from gramme._progress import unwatched
from gramme._runtime import connected_ray, end_with, import_ray
from gramme.errors import DataError, did_you_mean
from gramme.graph import MultilayerGraph

Graphs = Mapping[str, MultilayerGraph]
Spec = Any
"""A run to be done, as a worker needs it: ``dataset`` names the graph, ``key`` tells it from all others, ``run(graph)``
returns its result also where the method fails, and ``failed(error)`` that of a run which could not end."""
Result = Any
"""The result of a run; its ``spec`` says which run."""

BACKENDS = ("loky", "ray")
_PURPOSE = "the backend ray"
WORKER_DIED = "the process that ran it died; there may have been too little memory"


def check_backend(backend: str) -> None:
    """Refuse a backend that is unknown or not installed."""
    if backend not in BACKENDS:
        raise DataError(f"there is no backend {backend!r}; {did_you_mean(backend, BACKENDS)}")
    if backend == "ray":
        import_ray(_PURPOSE)


def executed(specs: Sequence[Spec], graphs: Graphs, *, jobs: int, backend: str) -> Iterator[Result]:
    """Do all runs on the graphs of their datasets, ``jobs`` at a time, and yield each result as it arrives.

    With one job and the backend "loky", everything runs in this process.
    """
    if backend == "ray":
        yield from _on_ray(specs, graphs, jobs)
    elif jobs == 1:
        for spec in specs:
            with unwatched():
                result = spec.run(graphs[spec.dataset])
            yield result
    else:
        yield from _in_processes(specs, graphs, jobs)


# Processes of this machine


def _in_processes(specs: Sequence[Spec], graphs: Graphs, jobs: int) -> Iterator[Result]:
    # A graph goes to disk once and each worker reads it once, rather than travelling with every run.
    with scratch_folder("benchmark") as folder:
        graph_paths = {}
        for graph_number, (dataset_name, graph) in enumerate(graphs.items()):
            graph_paths[dataset_name] = folder / f"{graph_number}.pickle"
            graph_paths[dataset_name].write_bytes(pickle.dumps(graph, pickle.HIGHEST_PROTOCOL))

        def results(some: Sequence[Spec], workers: int) -> Iterator[Result]:
            worker_calls = (
                joblib.delayed(_in_worker)(spec, str(graph_paths[spec.dataset]), os.getpid()) for spec in some
            )
            with joblib.parallel_config(backend="loky", inner_max_num_threads=1):
                pool = joblib.Parallel(
                    n_jobs=workers, return_as="generator_unordered", pre_dispatch=workers, batch_size=1
                )
            with _started(pool, worker_calls) as worker_results:
                for result in worker_results:  # noqa: UP028 - yield from would end the pool in its own way
                    yield result

        yield from surviving(specs, results, jobs)


@contextmanager
def _started(pool: joblib.Parallel, calls: Iterable[Any]) -> Iterator[Iterator[Any]]:
    """A pool's results, as they arrive; its workers are ended with the context."""
    started_results: Generator[Any] | None = None
    try:
        with _quiet_trackers(), _interrupts_put_off():
            started_results = pool(calls)
        yield started_results
    finally:
        if started_results is not None:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # joblib's, that runs under way are cut short
                started_results.close()


@contextmanager
def _interrupts_put_off() -> Iterator[None]:
    """Ctrl-C within this is raised at its end, and processes that start within it never hear it.

    It reaches the whole group of processes, but the parent alone decides what becomes of it, and it can end its workers
    only once they have all started.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # Python interrupts the main thread alone
        return
    signals_received: list[int] = []
    handler = signal.signal(signal.SIGINT, lambda number, _: signals_received.append(number))
    try:
        with _blocked_for_children():
            yield
    finally:
        signal.signal(signal.SIGINT, handler)
        if signals_received:
            time.sleep(0.2)  # a new pool fails if it is ended before its thread has taken up the first runs
            signal.raise_signal(signal.SIGINT)


@contextmanager
def _blocked_for_children() -> Iterator[None]:
    """Processes that start within this have Ctrl-C blocked from their first moment, where the system can do that."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # its start would unblock it again
    previous_mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, previous_mask)


@contextmanager
def _quiet_trackers() -> Iterator[None]:
    """Processes that start within this and clean up behind a killed parent do not say so: they name their own code."""
    previous_filter = os.environ.get("PYTHONWARNINGS")
    os.environ["PYTHONWARNINGS"] = ",".join(filter(None, [previous_filter, "ignore:resource_tracker"]))
    try:
        yield
    finally:
        if previous_filter is None:
            del os.environ["PYTHONWARNINGS"]
        else:
            os.environ["PYTHONWARNINGS"] = previous_filter


def surviving(
    specs: Sequence[Spec], results: Callable[[Sequence[Spec], int], Iterator[Result]], jobs: int
) -> Iterator[Result]:
    """Do all runs, even if some kill their worker and with it the pool.

    After a death the first runs that are left, among them those that were under way, are tried one by one; one that
    kills its worker again, alone, has failed.
    """
    remaining_specs = {spec.key: spec for spec in specs}
    while remaining_specs:
        try:
            for result in results(list(remaining_specs.values()), jobs):
                del remaining_specs[result.spec.key]
                yield result
        except TerminatedWorkerError:
            for spec in list(remaining_specs.values())[: 2 * jobs]:
                del remaining_specs[spec.key]
                try:
                    # joblib would run one job in this very process; a pool of two has a worker for it
                    yield from results([spec], 2)
                except TerminatedWorkerError:
                    yield spec.failed(WORKER_DIED)


def _in_worker(spec: Spec, path: str, parent: int) -> Result:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # where it could not be blocked from the start
    warnings.simplefilter("ignore")  # what a run has to say is in its result
    end_with(parent)
    return spec.run(_read(path))


@lru_cache(maxsize=2)
def _read(path: str) -> MultilayerGraph:
    graph: MultilayerGraph = pickle.loads(Path(path).read_bytes())
    return graph


# Ray


def _run(spec: Spec, graph: MultilayerGraph) -> Result:
    return spec.run(graph)


def _on_ray(specs: Sequence[Spec], graphs: Graphs, jobs: int) -> Iterator[Result]:
    """On the cluster that $RAY_ADDRESS names or that this program is connected to, else on a local one."""
    with connected_ray(_PURPOSE, jobs) as ray:
        # A run that fails says so in its result; one that kills its worker would kill the next worker too.
        remote_run = ray.remote(num_cpus=1, max_retries=0)(_run)
        graph_references = {name: ray.put(graph) for name, graph in graphs.items()}
        waiting_specs, running_specs = iter(specs), {}
        for spec in waiting_specs:
            running_specs[remote_run.remote(spec, graph_references[spec.dataset])] = spec
            if len(running_specs) >= jobs:
                yield from _arrived(ray, running_specs)
        while running_specs:
            yield from _arrived(ray, running_specs)


def _arrived(ray: Any, running: dict[Any, Spec]) -> Iterator[Result]:
    """Wait for at least one of the running and yield those that have ended."""
    ready_references, _ = ray.wait(list(running), num_returns=1)
    for reference in ready_references:
        spec = running.pop(reference)
        try:
            result = ray.get(reference)
        except ray.exceptions.RayError as error:
            result = spec.failed(f"{WORKER_DIED} ({str(error).splitlines()[0]})")
        yield result
