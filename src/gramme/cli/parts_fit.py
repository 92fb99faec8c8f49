"""A fit that several processes do together: starting them, and the share of each.

Each process reads its part of the graph and fits; the first one fills the folder and makes the page. Processes are
started on this machine, or as actors of a Ray cluster; all are ended when one is lost. On several machines torchrun
starts them, each as ``python -m gramme fit parts/ ...``. Whoever started the processes gives the folder its name and
shows what came out, once all have ended well; under torchrun the first process does that too.
"""

from __future__ import annotations

import atexit
import gc
import hashlib
import json
import math
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from gramme._files import scratch_folder
from gramme._progress import part
from gramme._runtime import PARENT, TORCH_LOG_LEVEL, connected_ray, end_with
from gramme._text import on_command_line
from gramme._version import __version__
from gramme.distributed import (
    Communicator,
    PartGraph,
    assign,
    join,
    node_count,
    read_manifest,
    read_part,
    whole_graph,
    write_parts,
)
from gramme.distributed.launch import LOOPBACK, LOST_EXIT, LostWorkerError, cleaned_up, free_port
from gramme.distributed.storage import MANIFEST, sha256_of
from gramme.errors import DataError, GrammeError
from gramme.evaluation import Estimate, fitted_estimate
from gramme.evaluation.cross_validation import EstimatePlan, cross_validate_parts, estimate_set_aside, set_aside
from gramme.evaluation.estimate import unseen_of
from gramme.graph import MultilayerGraph
from gramme.methods import NodeClassifier, method
from gramme.methods.base import keep_interrupted_fits
from gramme.methods.gather import join_model
from gramme.methods.labels import KnownLabels, known_labels
from gramme.report import fill_fit_folder, layer_table
from gramme.report.folder import output_folder
from gramme.report.result_folders import fill_huge_folder
from gramme.training.checkpoint import checkpoints

from .console import complain, warnings_as_notes
from .distributed_fit import speaks
from .fit_steps import FitRequest, SetPlan, fit_stages, show_fit
from .options import Output, make_model
from .progress import progress_file, relay, relay_progress, writing_progress
from .ray_worker import RayWorker

MAX_WHOLE_ENTRIES = 20_000_000
"""Edges, memberships and nodes up to which the first process reads the whole graph, for the page."""
JOB = "GRAMME_JOB"
"""The environment variable that names the file of a job, for processes that gramme itself starts."""


@dataclass(frozen=True)
class FitJob:
    """What to fit and where to write it, as every process gets it.

    ``folder`` is what the first process fills, where its starter has taken the name of the result; else it takes the
    name itself.
    """

    parts: str
    request: FitRequest
    method: str
    settings: list[str]
    device: str = "auto"
    resume: bool = False
    folder: str | None = None

    @property
    def target(self) -> Path:
        """The folder of the result."""
        return self.request.output.target

    def text(self) -> str:
        """The job as the text of a file."""
        return json.dumps(asdict(self), default=str)

    @classmethod
    def read(cls, path: Path) -> FitJob:
        """The job of a file that holds its :meth:`text`."""
        record = json.loads(path.read_text(encoding="utf-8"))
        request = record["request"]
        output = request["output"]
        request["output"] = Output(**output | {"folder": Path(output["folder"])})
        request["plan"] = EstimatePlan(**request["plan"])
        request["sets"] = None if request["sets"] is None else SetPlan(**request["sets"])
        return cls(**record | {"request": FitRequest(**request)})

    def terms(self) -> dict[str, Any]:
        """What all processes must have been asked alike, by the names of the options; paths may differ."""
        manifest, request = Path(self.parts) / MANIFEST, self.request
        return {
            "gramme": __version__,
            "a manifest with the sha256": sha256_of(manifest) if manifest.is_file() else None,
            "--method": self.method,
            "--set": self.settings,
            "--seed": request.output.seed,
            "--device": self.device,
            "--holdout": request.plan.share,
            "--folds": request.plan.folds,
            "--no-estimate": not request.plan.wanted,
            "--class-weight": request.described.get("class_weight"),
            "--coverage": request.sets and request.sets.coverage,
            "--coverage-by-class": bool(request.sets and request.sets.by_class),
            "--resume": self.resume,
        }


@dataclass(frozen=True)
class Outcome:
    """What a fit has to show at its end; the first process leaves it for its starter, beside the folder it fills."""

    result: dict[str, Any]
    layers: dict[Any, Any] | None
    files: list[str]

    @classmethod
    def read(cls, folder: Path) -> Outcome:
        """What :meth:`leave` left."""
        return cls(**json.loads(folder.with_name("outcome.json").read_text(encoding="utf-8")))

    def leave(self, folder: Path) -> None:
        """Leave it for the starter."""
        folder.with_name("outcome.json").write_text(json.dumps(asdict(self)), encoding="utf-8")

    def show(self, job: FitJob) -> None:
        """Print it as the job asks."""
        layers = None if self.layers is None else pd.DataFrame(self.layers)
        show_fit(self.result, layers, job.request.output, self.files)


def run_job(job: FitJob) -> None:
    """Do this process's share of a job; the processes meet by what is in the environment."""
    with (
        warnings_as_notes(silent=job.request.output.quiet or os.environ.get("RANK", "0") != "0"),
        join(terms=job.terms(), watch=True) as communicator,
    ):
        _fit_together(job, communicator)


def _fit_together(job: FitJob, communicator: Communicator) -> None:
    output_options = job.request.output
    graph = read_part(job.parts, communicator)
    model = make_model(
        method(job.method), job.settings, random_state=output_options.seed, device=job.device, progress=False
    )
    if not model.supports_couplings:
        graph = graph.with_coupling_layers()
    known_node_labels = known_labels(graph)
    if not communicator.first:
        _fit_and_join(job, communicator, graph, model, known_node_labels, None)
    elif job.folder is not None:
        folder = Path(job.folder)
        with writing_progress(progress_file(folder)):
            outcome = _fit_and_join(job, communicator, graph, model, known_node_labels, folder)
        outcome.leave(folder)
    else:
        with (
            output_folder(output_options.target, overwrite=output_options.overwrite) as place,
            cleaned_up(lambda: shutil.rmtree(place.folder.parent, ignore_errors=True)),
        ):
            outcome = _fit_and_join(job, communicator, graph, model, known_node_labels, place.folder)
        outcome.show(job)


def _data_digest(parts: Path, train: KnownLabels) -> str:
    """A digest of the parts of a graph, by those that their manifest holds, and of the labels that are learned from."""
    manifest = json.loads((parts / MANIFEST).read_text(encoding="utf-8"))
    learned_labels = train.nodes.tolist(), train.codes.tolist(), train.classes.tolist()
    digest_content = repr(([part["sha256"] for part in manifest["parts"]], learned_labels))
    return hashlib.sha256(digest_content.encode("utf-8", "surrogatepass")).hexdigest()


def _fit_and_join(
    job: FitJob,
    communicator: Communicator,
    graph: PartGraph,
    model: NodeClassifier,
    known: KnownLabels,
    folder: Path | None,
) -> Outcome:
    """Fit, estimate, and fill the folder at the first process; checkpoints are kept until all of it is done."""
    estimate_plan, training_labels = job.request.plan, known
    if estimate_plan.share is not None:
        is_held_out = set_aside(known, estimate_plan.share, job.request.output.seed)
        training_labels = known.without(is_held_out) if is_held_out.any() else known
    fit_stage, estimate_stage, writing_stage = fit_stages(graph, model, estimate_plan, job.method)
    start_time = time.perf_counter()
    data_digest = _data_digest(Path(job.parts), training_labels)
    with checkpoints(Path(f"{job.target}.checkpoints"), communicator, resume=job.resume, data=data_digest):
        with part(*fit_stage), keep_interrupted_fits():
            model.fit(graph, training_labels)
            if job.request.described.get("class_weight") == "balanced":
                model.balance_classes()
        fit_seconds = time.perf_counter() - start_time
        with part(*estimate_stage):
            estimate = _estimate(job, model, graph, known)
        fit_record = job.request.described | {
            "nodes": node_count(graph),
            "layers": graph.num_layers,
            "classes": [str(label) for label in model.classes_.tolist()],
            "training_labels": int(training_labels.nodes.size),
            "estimate": estimate.record(),
            "seconds": round(fit_seconds, 2),
            "processes": communicator.size,
        }
        with part(*writing_stage):
            if graph.num_entries > MAX_WHOLE_ENTRIES:
                file_names = fill_huge_folder(folder, model, graph, fit_record)
            else:
                file_names = _fill_joined(job, communicator, model, estimate, fit_record, folder)
        communicator.barrier()  # so that none is lost between the result and the end
    layer_importances = layer_table(model)
    return Outcome(fit_record, None if layer_importances is None else layer_importances.to_dict("list"), file_names)


def _fill_joined(
    job: FitJob,
    communicator: Communicator,
    model: NodeClassifier,
    estimate: Estimate,
    record: dict[str, Any],
    folder: Path | None,
) -> list[str]:
    """Join the parts of the model at the first process, and fill the folder there as a single process does."""
    joined_graph = whole_graph(job.parts) if communicator.first else None
    if joined_graph is not None and not model.supports_couplings:
        joined_graph = joined_graph.with_coupling_layers()
    to_given_order = join_model(model, joined_graph)
    if joined_graph is None or folder is None or to_given_order is None:
        return []
    learned_labels = np.full(joined_graph.num_nodes, None, dtype=object)
    learned_labels[model.labelled_] = model.transduction_[model.labelled_]
    if _tests_itself(job, model):
        estimate = fitted_estimate(model, learned_labels)
        record["estimate"] = estimate.record()
    elif estimate.labels:
        estimate = replace(estimate, tested=to_given_order[estimate.tested])
        model.keep_out_of_fold(unseen_of(estimate, model.classes_))
    if hasattr(model, "tested_nodes_"):
        # what copies would take over from the model is still about a part: no models of half of the labels
        model.keep_out_of_fold(replace(model.out_of_fold(), folds=0))
    if job.request.sets is not None:
        record["sets"] = job.request.sets.facts(model)
    if hasattr(model, "explanation_"):
        record["explanation"] = model.explanation_
    return fill_fit_folder(
        folder,
        model,
        joined_graph,
        known=learned_labels,
        config=record,
        estimate=record["estimate"] | {"predictions": estimate.predictions(joined_graph.nodes)},
        embedding=job.request.embedding,
        raw_csv=job.request.output.raw_csv,
    )


def _estimate(job: FitJob, model: NodeClassifier, graph: PartGraph, known: KnownLabels) -> Estimate:
    plan, seed = job.request.plan, job.request.output.seed
    if plan.share is not None:
        return estimate_set_aside(model, graph, known, plan.share, seed)
    if not plan.wanted:
        return Estimate("none", "it was not asked for")
    if _tests_itself(job, model):
        return Estimate("none", "the estimate is made when the parts are joined")
    return cross_validate_parts(
        model, graph, known, folds=plan.folds, random_state=seed, balanced=hasattr(model, "class_weights_")
    )


def _tests_itself(job: FitJob, model: NodeClassifier) -> bool:
    """Whether the fit itself tells how good it is."""
    plan = job.request.plan
    return model.has_out_of_fold and plan.folds is None and plan.share is None and plan.wanted


# Starting the processes, and ending all when one is lost.

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
    part_count = len(read_manifest(Path(job.parts)).parts)
    if part_count != workers:
        raise DataError(
            f"{job.parts} has {part_count} parts, for as many workers; say --workers {part_count}, or make {workers} "
            "parts with "
            f"gramme convert DATA parts/ --parts {workers}"
        )
    with _result_of(job) as taken, scratch_folder("job") as scratch:
        job_path = scratch / "job.json"
        job_path.write_text(taken.text(), encoding="utf-8")
        port = free_port()
        worker_processes: list[subprocess.Popen[bytes]] = []
        try:
            for rank in range(workers):
                worker_environment = _environment(rank, workers, port, job_path)
                worker_processes.append(
                    subprocess.Popen([sys.executable, "-m", "gramme.cli.parts_fit"], env=worker_environment)
                )
            _await(worker_processes, job.target, progress_file(taken.folder or ""))
        finally:
            for one in worker_processes:
                if one.poll() is None:
                    one.kill()
                one.wait()


@contextmanager
def _result_of(job: FitJob) -> Iterator[FitJob]:
    """Reserve the name of the result, and show the result there if all workers end well."""
    with output_folder(job.target, overwrite=job.request.output.overwrite) as place:
        relay("Starting the processes", 0.0, 1.0)
        yield replace(job, folder=str(place.folder))
        relay("", 1.0, 1.0)
        outcome = Outcome.read(place.folder)
    outcome.show(job)


def _environment(rank: int, workers: int, port: int, job: Path) -> dict[str, str]:
    """The environment of a worker on this machine."""
    threads_per_worker = max(1, (os.cpu_count() or 1) // workers)
    worker_environment = TORCH_LOG_LEVEL | {"OMP_NUM_THREADS": str(threads_per_worker)} | os.environ
    worker_environment |= _place(rank, workers, LOOPBACK, port)
    return worker_environment | {"LOCAL_RANK": str(rank), JOB: str(job), PARENT: str(os.getpid())}


def _place(rank: int, workers: int, address: str, port: int) -> dict[str, str]:
    """Which of the workers a process is and where they meet, as environment variables."""
    return {"RANK": str(rank), "WORLD_SIZE": str(workers), "MASTER_ADDR": address, "MASTER_PORT": str(port)}


def _await(started: list[subprocess.Popen[bytes]], target: Path, progress: Path) -> None:
    """Wait for all; when one fails, give the others a moment to end by themselves, then end them."""
    while True:
        exit_codes = [one.poll() for one in started]
        if all(code == 0 for code in exit_codes):
            return
        if any(code not in (None, 0) for code in exit_codes):
            break
        relay_progress(progress)
        time.sleep(LOOK_SECONDS)
    failed_codes = {rank: code for rank, code in enumerate(exit_codes) if code not in (None, 0)}
    deadline = time.monotonic() + GRACE_SECONDS
    while any(one.poll() is None for one in started) and time.monotonic() < deadline:
        time.sleep(LOOK_SECONDS)
    running_ranks = [rank for rank, one in enumerate(started) if one.poll() is None]
    for rank in running_ranks:
        started[rank].kill()
        started[rank].wait()
    if started[0].poll() == 2:  # a user's mistake, which the first process has reported
        raise SystemExit(2)
    # report a worker that ended first, not one that noticed it or was killed here
    lost_codes = {rank: code for rank, code in failed_codes.items() if code != LOST_EXIT}
    if lost_codes:
        rank, exit_code = next(iter(lost_codes.items()))
        ending_words = _how_it_ended(exit_code)
    elif running_ranks:  # the others noticed that it does not answer
        rank, ending_words = running_ranks[0], "stood still"
    else:
        rank, ending_words = next(iter(failed_codes)), "lost the others"
    raise GrammeError(
        f"worker {rank} of {len(started)} (process {started[rank].pid}) {ending_words}, so the fit cannot go on; "
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
    ray_workers: list[Any] = []
    try:
        own_node_id = ray.get_runtime_context().get_node_id()
        worker_class = ray.remote(num_cpus=1, max_restarts=0)(RayWorker)
        same_node = ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy(own_node_id, soft=False)
        ray_workers = [worker_class.options(scheduling_strategy=same_node).remote()]
        ray_workers += [worker_class.remote() for _ in range(workers - 1)]
        worker_hosts = ray.get([one.host.remote() for one in ray_workers])
        address = LOOPBACK if len(set(worker_hosts)) == 1 else worker_hosts[0]
        port = free_port()  # of this machine, on which the first one is
        rank_by_task = {
            one.run.remote(job.text(), JOB, _place(rank, workers, address, port)): rank
            for rank, one in enumerate(ray_workers)
        }
        open_tasks, noticing_rank, deadline = list(rank_by_task), None, math.inf
        progress_path = progress_file(job.folder or "")
        # who noticed that another is lost ends before or after that one is known to be
        while open_tasks and time.monotonic() < deadline:
            relay_progress(progress_path)
            finished_tasks, open_tasks = ray.wait(open_tasks, num_returns=1, timeout=RAY_LOOK_SECONDS)
            if not finished_tasks:
                continue
            rank = rank_by_task[finished_tasks[0]]
            try:
                exit_code = ray.get(finished_tasks[0])
            except ray.exceptions.RayError as error:
                raise _lost_on_ray(rank, workers, worker_hosts, job, f"is gone: {error}") from None
            if exit_code == 2:
                raise SystemExit(2)
            if exit_code == LOST_EXIT:
                noticing_rank, deadline = rank, min(deadline, time.monotonic() + GRACE_SECONDS)
            elif exit_code:
                raise _lost_on_ray(rank, workers, worker_hosts, job, _how_it_ended(exit_code))
        if noticing_rank is not None:
            raise _lost_on_ray(noticing_rank, workers, worker_hosts, job, "lost the others")
    finally:
        for ray_worker in ray_workers:
            ray.kill(ray_worker)


def _lost_on_ray(rank: int, workers: int, hosts: list[str], job: FitJob, how: str) -> GrammeError:
    return GrammeError(
        f"worker {rank} of {workers} on {hosts[rank]} {how.splitlines()[0]}, so the fit cannot go on; "
        f"{_what_is_left(job.target)}"
    )


def main() -> None:
    """One process of a job whose file the environment names."""
    end_with(int(os.environ[PARENT]))
    try:
        with on_command_line():
            run_job(FitJob.read(Path(os.environ[JOB])))
    except LostWorkerError as error:
        complain(str(error))
        sys.exit(LOST_EXIT)
    except GrammeError as error:
        if speaks():
            complain(str(error))
        sys.exit(2)


if __name__ == "__main__":
    atexit.register(gc.freeze)  # as in gramme.cli.app
    main()
