"""``gramme fit`` in several processes: what was asked for, and where it runs."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from gramme._runtime import TORCH_LOG_LEVEL
from gramme.errors import DataError

from .options import Reading

if TYPE_CHECKING:
    from gramme.graph import MultilayerGraph

    from .parts_fit import FitJob

MANIFEST = "manifest.json"


def is_first_process() -> bool:
    """Whether this process writes and shows: a single one, or the first that torchrun started."""
    return os.environ.get("RANK", "0") == "0"


def speaks() -> bool:
    """Whether this process reports a mistake: one does on each machine, where the options or files may be wrong."""
    return os.environ.get("LOCAL_RANK", os.environ.get("RANK", "0")) == "0"


@dataclass(frozen=True)
class DistributedFit:
    """A fit in several processes.

    Attributes
    ----------
    folder : Path or None
        The parts, if DATA is a folder of them.
    workers : int or None
        How many processes to start; one per part if not given.
    started : bool
        Whether this process is one of them already, as under torchrun.
    """

    folder: Path | None
    workers: int | None
    backend: str
    started: bool
    resume: bool = False

    @classmethod
    def of(
        cls, data: list[str], read: Reading, workers: int | None, backend: str, *, resume: bool
    ) -> DistributedFit | None:
        """From the options; None for a fit in one process."""
        folder = Path(data[0]) if len(data) == 1 and (Path(data[0]) / MANIFEST).is_file() else None
        started = "RANK" in os.environ and int(os.environ.get("WORLD_SIZE", "1")) > 1
        if folder is None and workers is None and not started:
            if backend != "local" or resume:
                raise DataError("--backend and --resume go with --workers, like --workers 4")
            return None
        if started:
            for name, value in TORCH_LOG_LEVEL.items():
                os.environ.setdefault(name, value)
        if started and (folder is None or workers is not None):
            named = " ".join(data) or "this"
            missing = "" if folder is not None else f"{named} is no folder with a {MANIFEST}: "
            raise DataError(
                f"{missing}processes that torchrun starts work on a graph in parts, which must be on every machine; "
                "make them with gramme convert DATA parts/ --parts N, give the folder as DATA, and leave out --workers"
            )
        given = [one for one in read.used() if one != "--label-kind"]
        if folder is not None and given:
            raise DataError(f"a graph in parts comes complete; leave out {', '.join(given)}")
        if read.label_kind == "number":
            raise DataError("numbers are predicted by one process; leave out --workers")
        return cls(folder, workers, backend, started, resume)

    @property
    def in_parts(self) -> bool:
        """Whether the data are in parts already."""
        return self.folder is not None

    def run(self, job: FitJob) -> None:
        """Do a job on parts that are there."""
        from gramme.distributed import read_manifest

        from .parts_fit import run_job, run_on_ray, run_workers

        if self.started:
            run_job(job)
            return
        count = self.workers or len(read_manifest(Path(job.parts)).parts)
        start = run_on_ray if self.backend == "ray" else run_workers
        start(job, count)

    def run_on(self, job: FitJob, graph: MultilayerGraph) -> None:
        """Do a job on a graph that was read whole. It is cut into parts for the duration of the fit."""
        from .parts_fit import parts_for

        if graph.labels is None:
            raise DataError("there are no labels to learn from; name a file of them with --labels")
        with parts_for(graph, self.workers or 1) as folder:
            self.run(replace(job, parts=str(folder)))


def check_method(name: str) -> None:
    """Refuse a method that several processes cannot fit together, before any of them starts."""
    from gramme.methods.registry import METHODS_IN_PARTS

    if name not in METHODS_IN_PARTS:
        raise DataError(f"{name} is fitted by one process; several can fit {', '.join(METHODS_IN_PARTS)}")
