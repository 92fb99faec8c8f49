"""One run: a method learns from one realisation of a dataset and is scored once on all other labelled nodes."""

from __future__ import annotations

import contextlib
import inspect
import resource
import sys
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from gramme._runtime import thread_pools
from gramme.errors import GrammeError, GrammeWarning
from gramme.graph import MultilayerGraph
from gramme.io.values import proper_text

from .metrics import Scores, score
from .splits import Split, random_split

# What a run costs: CPU and wall seconds on one thread, and the most memory the process held
# meanwhile.


@dataclass
class Cost:
    """CPU and wall seconds, and the peak of the process's resident memory in bytes, its libraries included."""

    cpu_seconds: float = 0.0
    wall_seconds: float = 0.0
    peak_memory: int = 0


@contextlib.contextmanager
def measured() -> Iterator[Cost]:
    """Run the body on one thread and note what it costs, also where it fails.

    One thread whatever the machine: sums then have one order, and results do not depend on how many runs go on beside
    each other; cores are used by running several realisations at once.

    >>> with measured() as cost:
    ...     total = sum(range(100_000))
    >>> cost.cpu_seconds > 0, cost.peak_memory > 1_000_000
    (True, True)
    """
    cost = Cost()
    threads = torch.get_num_threads()
    _forget_peak()
    torch.set_num_threads(1)
    wall, cpu = time.perf_counter(), time.process_time()
    try:
        with thread_pools().limit(limits=1):
            yield cost
    finally:
        cost.cpu_seconds = time.process_time() - cpu
        cost.wall_seconds = time.perf_counter() - wall
        cost.peak_memory = _peak()
        torch.set_num_threads(threads)


def _forget_peak() -> None:
    """Reset the peak, if the system can; otherwise an earlier peak of the process counts too."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def _peak() -> int:
    with contextlib.suppress(OSError, ValueError, IndexError):
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    usage = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(usage if sys.platform == "darwin" else usage * 1024)


SHARED_SEED = 0
"""The seed of an embedding that all realisations share."""


@dataclass(frozen=True)
class RunSpec:
    """All that decides a run, as a worker needs it.

    Attributes
    ----------
    dataset, dataset_checksum : str
        Name of the dataset, and a checksum of its graph, labels and features.
    method : str
    estimator : type
        The method's class.
    parameters : dict
        What its constructor gets beside the seed.
    settings : str
        All settings, the method's defaults included, as JSON.
    settings_hash : str
    changed : str
        The settings that the user set, as ``name=value`` text.
    percent : float
    realisation : int
    shares_embedding : bool
        Whether the method's embedding, which sees no labels, is the same for all realisations.
    """

    dataset: str
    dataset_checksum: str
    method: str
    estimator: Any
    parameters: dict[str, Any]
    settings: str
    settings_hash: str
    changed: str
    percent: float
    realisation: int
    shares_embedding: bool = False

    @property
    def key(self) -> tuple[str, str, str, str, float, int]:
        """What tells this run from all others, in text that a ledger can hold."""
        return (
            proper_text(self.dataset),
            self.dataset_checksum,
            self.method,
            self.settings_hash,
            float(self.percent),
            self.realisation,
        )

    def run(self, graph: MultilayerGraph) -> RunResult:
        """Do the run: fit, predict and score, with what it took."""
        return execute(self, graph)

    def failed(self, error: str) -> RunResult:
        """The result of a run whose process died."""
        return RunResult(self, "failed", error=error)


@dataclass(frozen=True)
class RunResult:
    """The result of a run: scores, or the text of the error if it failed."""

    spec: RunSpec
    status: str
    error: str | None = None
    scores: Scores | None = None
    peak_accuracy: float | None = None
    train_nodes: int = 0
    test_nodes: int = 0
    classes: int = 0
    missed_classes: int = 0
    cost: Cost = field(default_factory=Cost)


@dataclass(frozen=True)
class Prediction:
    """Class probabilities for all nodes of a graph, and the best test accuracy over the epochs if there are any."""

    probabilities: NDArray[np.floating[Any]]
    classes: list[Any]
    peak_accuracy: float | None
    saved_seconds: tuple[float, float] = (0.0, 0.0)


def execute(spec: RunSpec, graph: MultilayerGraph) -> RunResult:
    """Do a run; if the method fails, the failure is the result, not an error here."""
    assert graph.labels is not None
    split = random_split(graph.labels, spec.percent, spec.realisation)
    known: dict[str, Any] = {
        "train_nodes": split.train.size,
        "test_nodes": split.test.size,
        "classes": len(split.classes),
        "missed_classes": split.missed,
    }
    cost = Cost()
    try:
        with measured() as cost:
            found = predicted(spec, graph, split)
        scores = score(graph.labels[split.test], found.probabilities[split.test], found.classes)
    except Exception as error:
        return RunResult(spec, "failed", error=told(error), cost=cost, **known)
    # as if the run were alone: an embedding that another run left on disk counts with what it had cost
    cost.cpu_seconds += found.saved_seconds[0]
    cost.wall_seconds += found.saved_seconds[1]
    peak = found.peak_accuracy
    if peak is not None:
        peak = max(peak, scores.accuracy)
    return RunResult(spec, "done", scores=scores, peak_accuracy=peak, cost=cost, **known)


def predicted(spec: RunSpec, graph: MultilayerGraph, split: Split) -> Prediction:
    """Fit the method on the training labels alone and predict every node.

    The graph it gets has no labels. Where the method has epochs, the test labels are watched to know the peak; nothing
    in the training depends on them. A training set of a single class predicts that class for everybody.
    """
    has_epochs = "monitor" in inspect.signature(spec.estimator.fit).parameters
    shown = {split.y[node] for node in split.train}
    if len(shown) == 1:
        right = [split.monitor[node] in shown for node in split.test]
        everyone = np.ones((graph.num_nodes, 1))
        return Prediction(everyone, list(shown), float(np.mean(right)) if has_epochs else None)
    model = spec.estimator(**_with_seed(spec))
    watch = {"monitor": split.monitor} if has_epochs else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GrammeWarning)
        model.fit(graph.replace(labels=None), split.y, **watch)
    if model.interrupted_:  # a training that Ctrl-C cut short must not pass for a whole one
        raise KeyboardInterrupt
    history = getattr(model, "history_", None)
    peak = None
    if has_epochs and history is not None and "monitor_accuracy" in history:
        peak = float(history["monitor_accuracy"].max())
    saved = getattr(model, "saved_seconds_", (0.0, 0.0))
    return Prediction(model.predict_proba(), model.classes_.tolist(), peak, saved)


def _with_seed(spec: RunSpec) -> dict[str, Any]:
    known = spec.estimator().get_params()
    chosen = dict(spec.parameters)
    if "random_state" in known and "random_state" not in chosen:
        chosen["random_state"] = SHARED_SEED if spec.shares_embedding else spec.realisation
    if "progress" in known:
        chosen["progress"] = False
    return chosen


def told(error: Exception) -> str:
    """An error's text; that of an unforeseen one begins with its kind."""
    text = str(error)
    return text if isinstance(error, GrammeError) else f"{type(error).__name__}: {text}"
