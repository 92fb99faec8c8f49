"""A fit that several processes do together, as one of them sees it: read its part, fit, and hand over to the first.

The first process fills the folder and makes the page; the others are silent. Whoever started the processes puts the
folder in its place and shows what came out, once all have ended well. Under torchrun the first process does that too.
"""

from __future__ import annotations

import atexit
import gc
import hashlib
import json
import os
import shutil
import sys
import time
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from gramme._progress import part
from gramme._runtime import PARENT, end_with
from gramme._text import escape, on_command_line
from gramme._version import __version__
from gramme.distributed import Communicator, PartGraph, assign, join, node_count, read_part, whole_graph, write_parts
from gramme.distributed.launch import LOST_EXIT, LostWorkerError, cleaned_up
from gramme.distributed.storage import FORMAT, MANIFEST, sha256_of
from gramme.errors import DataError, GrammeError
from gramme.evaluation import Estimate, fitted_estimate
from gramme.evaluation.cross_validation import EstimatePlan, cross_validate_parts, estimate_set_aside, set_aside
from gramme.evaluation.estimate import unseen_of
from gramme.graph import MultilayerGraph
from gramme.methods import NodeClassifier, method
from gramme.methods.base import keep_interrupted_fits
from gramme.methods.gather import join_model
from gramme.methods.labels import KnownLabels, known_labels
from gramme.methods.registry import METHODS_IN_PARTS
from gramme.report import fill_fit_folder, layer_table
from gramme.report.folder import check_earlier_parts, output_folder
from gramme.report.result_folders import fill_huge_folder
from gramme.training.checkpoint import checkpoints

from .console import complain, out, warnings_as_notes
from .distributed_fit import speaks
from .fit_steps import SetPlan, fit_stages, printer
from .options import make_model
from .progress import progress_file, writing_progress

MAX_WHOLE_ENTRIES = 20_000_000
"""Edges, memberships and nodes up to which the first process reads the whole graph, for the page."""
JOB = "GRAMME_JOB"
"""The environment variable that names the file of a job, for processes that gramme itself starts."""


@dataclass(frozen=True)
class FitJob:
    """What to fit and where to write it, as every process gets it.

    ``folder`` is what the first process fills, where its starter has taken the name ``target``; else it takes the name
    itself.
    """

    parts: str
    target: str
    method: str
    settings: list[str] = field(default_factory=list)
    seed: int = 0
    device: str = "auto"
    holdout: float | None = None
    folds: int | None = None
    estimate: bool = True
    coverage: float | None = None
    coverage_by_class: bool = False
    embedding: str = "csv"
    raw_csv: bool = False
    overwrite: bool = False
    quiet: bool = False
    as_json: bool = False
    resume: bool = False
    folder: str | None = None
    described: dict[str, Any] = field(default_factory=dict)

    def text(self) -> str:
        """The job as the text of a file."""
        return json.dumps(asdict(self))

    def written(self, path: Path) -> Path:
        """The job as a file."""
        path.write_text(self.text(), encoding="utf-8")
        return path

    def terms(self) -> dict[str, Any]:
        """What all processes must have been asked alike, by the names of the options; paths may differ."""
        manifest = Path(self.parts) / MANIFEST
        return {
            "gramme": __version__,
            "a manifest with the sha256": sha256_of(manifest) if manifest.is_file() else None,
            "--method": self.method,
            "--set": self.settings,
            "--seed": self.seed,
            "--device": self.device,
            "--holdout": self.holdout,
            "--folds": self.folds,
            "--no-estimate": not self.estimate,
            "--class-weight": self.described.get("class_weight"),
            "--coverage": self.coverage,
            "--coverage-by-class": self.coverage_by_class,
            "--resume": self.resume,
        }

    @classmethod
    def read(cls, path: Path) -> FitJob:
        """What :meth:`written` wrote."""
        return cls(**json.loads(path.read_text(encoding="utf-8")))


@dataclass(frozen=True)
class Outcome:
    """What a fit has to show at its end."""

    result: dict[str, Any]
    layers: dict[Any, Any] | None
    files: list[str]

    @staticmethod
    def path(folder: Path) -> Path:
        """Where the first process leaves it for its starter: beside the folder that it fills."""
        return folder.with_name("outcome.json")

    @classmethod
    def read(cls, folder: Path) -> Outcome:
        """What :meth:`leave` left."""
        return cls(**json.loads(cls.path(folder).read_text(encoding="utf-8")))

    def leave(self, folder: Path) -> None:
        """Leave it for the starter."""
        self.path(folder).write_text(json.dumps(asdict(self)), encoding="utf-8")

    def show(self, job: FitJob) -> None:
        """Print it as the job asks."""
        layers = None if self.layers is None else pd.DataFrame(self.layers)
        show = printer(as_json=job.as_json, quiet=job.quiet)
        show(self.result, layers, Path(job.target), self.files)


def check_method(name: str) -> None:
    """Refuse a method that several processes cannot fit together, before any of them starts."""
    if name not in METHODS_IN_PARTS:
        raise DataError(f"{name} is fitted by one process; several can fit {', '.join(METHODS_IN_PARTS)}")


def run_job(job: FitJob) -> None:
    """Do this process's share of a job; the processes meet by what is in the environment."""
    with (
        warnings_as_notes(silent=job.quiet or os.environ.get("RANK", "0") != "0"),
        join(terms=job.terms(), watch=True) as communicator,
    ):
        _fit_together(job, communicator)


def _fit_together(job: FitJob, communicator: Communicator) -> None:
    graph = read_part(job.parts, communicator)
    model = make_model(method(job.method), job.settings, random_state=job.seed, device=job.device, progress=False)
    if not model.supports_couplings:
        graph = graph.with_coupling_layers()
    known = known_labels(graph)
    if not communicator.first:
        _fit_and_join(job, communicator, graph, model, known, None)
    elif job.folder is not None:
        folder = Path(job.folder)
        with writing_progress(progress_file(folder)):
            outcome = _fit_and_join(job, communicator, graph, model, known, folder)
        outcome.leave(folder)
    else:
        with (
            output_folder(Path(job.target), overwrite=job.overwrite) as place,
            cleaned_up(lambda: shutil.rmtree(place.folder.parent, ignore_errors=True)),
        ):
            outcome = _fit_and_join(job, communicator, graph, model, known, place.folder)
        outcome.show(job)


def _data_digest(parts: Path, train: KnownLabels) -> str:
    """A digest of the parts of a graph, by those that their manifest holds, and of the labels that are learned from."""
    manifest = json.loads((parts / MANIFEST).read_text(encoding="utf-8"))
    labels = train.nodes.tolist(), train.codes.tolist(), train.classes.tolist()
    content = repr(([part["sha256"] for part in manifest["parts"]], labels))
    return hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()


def _fit_and_join(
    job: FitJob,
    communicator: Communicator,
    graph: PartGraph,
    model: NodeClassifier,
    known: KnownLabels,
    folder: Path | None,
) -> Outcome:
    """Fit, estimate, and fill the folder at the first process; checkpoints are kept until all of it is done."""
    aside = np.zeros(known.nodes.size, dtype=bool)
    if job.holdout is not None:
        aside = set_aside(known, job.holdout, job.seed)
    train = known.without(aside) if aside.any() else known
    estimating = EstimatePlan(job.holdout, job.folds, job.estimate)
    fitting, testing, writing = fit_stages(graph, model, estimating, job.method)
    started = time.perf_counter()
    kept = Path(f"{job.target}.checkpoints")
    with checkpoints(kept, communicator, resume=job.resume, data=_data_digest(Path(job.parts), train)):
        with part(*fitting), keep_interrupted_fits():
            model.fit(graph, train)
            if job.described.get("class_weight") == "balanced":
                model.balance_classes()
        seconds = time.perf_counter() - started
        with part(*testing):
            estimate = _estimate(job, model, graph, known)
        record = _record(job, model, graph, train, estimate, seconds)
        with part(*writing):
            if graph.num_entries > MAX_WHOLE_ENTRIES:
                files = fill_huge_folder(folder, model, graph, record)
            else:
                files = _fill_joined(job, communicator, model, estimate, record, folder)
        communicator.barrier()  # so that none is lost between the result and the end
    layers = layer_table(model)
    return Outcome(record, None if layers is None else layers.to_dict("list"), files)


def _fill_joined(
    job: FitJob,
    communicator: Communicator,
    model: NodeClassifier,
    estimate: Estimate,
    record: dict[str, Any],
    folder: Path | None,
) -> list[str]:
    """Join the parts of the model at the first process, and fill the folder there as a single process does."""
    whole = whole_graph(job.parts) if communicator.first else None
    if whole is not None and not model.supports_couplings:
        whole = whole.with_coupling_layers()
    back = join_model(model, whole)
    if whole is None or folder is None or back is None:
        return []
    labels = np.full(whole.num_nodes, None, dtype=object)
    labels[model.labelled_] = model.transduction_[model.labelled_]
    if _tests_itself(job, model):
        estimate = fitted_estimate(model, labels)
        record["estimate"] = estimate.record()
    elif estimate.labels:
        estimate = replace(estimate, tested=back[estimate.tested])
        model.keep_out_of_fold(unseen_of(estimate, model.classes_))
    if hasattr(model, "tested_nodes_"):
        # what copies would take over from the model is still about a part: no models of half of the labels
        model.keep_out_of_fold(replace(model.out_of_fold(), folds=0))
    if job.coverage is not None:
        record["sets"] = SetPlan(job.coverage, job.coverage_by_class).facts(model)
    if hasattr(model, "explanation_"):
        record["explanation"] = model.explanation_
    return fill_fit_folder(
        folder,
        model,
        whole,
        known=labels,
        config=record,
        estimate=record["estimate"] | {"predictions": estimate.predictions(whole.nodes)},
        embedding=job.embedding,
        raw_csv=job.raw_csv,
    )


def _estimate(job: FitJob, model: NodeClassifier, graph: PartGraph, known: KnownLabels) -> Estimate:
    plan = EstimatePlan(job.holdout, job.folds, job.estimate)
    if plan.share is not None:
        return estimate_set_aside(model, graph, known, plan.share, job.seed)
    if not plan.wanted:
        return Estimate("none", "it was not asked for")
    if _tests_itself(job, model):
        return Estimate("none", "the estimate is made when the parts are joined")
    return cross_validate_parts(
        model, graph, known, folds=plan.folds, random_state=job.seed, balanced=hasattr(model, "class_weights_")
    )


def _tests_itself(job: FitJob, model: NodeClassifier) -> bool:
    """Whether the fit itself tells how good it is."""
    return model.has_out_of_fold and job.folds is None and job.holdout is None and job.estimate


def _record(
    job: FitJob, model: NodeClassifier, graph: PartGraph, train: KnownLabels, estimate: Estimate, seconds: float
) -> dict[str, Any]:
    return job.described | {
        "nodes": node_count(graph),
        "layers": graph.num_layers,
        "classes": [str(label) for label in model.classes_.tolist()],
        "training_labels": int(train.nodes.size),
        "estimate": estimate.record(),
        "seconds": round(seconds, 2),
        "processes": graph.communicator.size,
    }


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


# The work of ``gramme convert DATA parts/ --parts N``.


def convert_to_parts(graph: MultilayerGraph, target: Path, parts: int, how: str, *, overwrite: bool) -> None:
    """Write a graph in parts; the folder appears whole or not at all, and the halo's share is said."""
    if target.exists() and overwrite:
        if not target.is_dir():
            raise DataError(f"{target} is a file, not a folder")
        check_earlier_parts(target, FORMAT)
    with output_folder(target, overwrite=overwrite) as place, part(f"Writing {target}", 1.0):
        owner = assign(graph, parts, how)
        manifest = write_parts(graph, place.folder, owner, parts)
    sizes = [part["nodes"] for part in manifest.parts]
    out.print(
        escape(
            f"{target}: {parts} parts of {min(sizes):,} to {max(sizes):,} nodes, assigned by {how}; "
            f"rows that parts need of others: {manifest.halo_share:.1%} of those in layers of edges"
        )
    )
