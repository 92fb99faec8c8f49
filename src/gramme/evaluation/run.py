"""One run: a method learns from one realisation of a dataset and is scored once on all other labelled nodes."""

from __future__ import annotations

import contextlib
import inspect
import resource
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray

from gramme._runtime import thread_pools
from gramme.errors import DataError, GrammeError, GrammeWarning
from gramme.graph import MultilayerGraph
from gramme.io.values import proper_text
from gramme.methods.multilabel import (
    DEFAULT_THRESHOLD,
    KnownLabelSets,
    MultiLabelClassifier,
    known_label_sets,
    multilabel_scores,
)

from .ledger import PROTOCOL
from .metrics import LabelSetScores, Scores, score
from .splits import GivenSplit, Split, random_split


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
    run_cost = Cost()
    torch_threads = torch.get_num_threads()
    with contextlib.suppress(OSError):  # where the system cannot, an earlier peak of the process counts too
        Path("/proc/self/clear_refs").write_text("5")
    torch.set_num_threads(1)
    wall_start, cpu_start = time.perf_counter(), time.process_time()
    try:
        with thread_pools().limit(limits=1):
            yield run_cost
    finally:
        run_cost.cpu_seconds = time.process_time() - cpu_start
        run_cost.wall_seconds = time.perf_counter() - wall_start
        run_cost.peak_memory = _peak()
        torch.set_num_threads(torch_threads)


def _peak() -> int:
    with contextlib.suppress(OSError, ValueError, IndexError):
        for status_line in Path("/proc/self/status").read_text().splitlines():
            if status_line.startswith("VmHWM:"):
                return int(status_line.split()[1]) * 1024
    usage = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(usage if sys.platform == "darwin" else usage * 1024)


SHARED_SEED = 0
"""The seed of an embedding that all realisations share."""
Metric = Callable[[Any, Any], float]
"""A metric of one's own: true and predicted labels of the test nodes give a number, higher is better."""


@dataclass(frozen=True)
class RunSpec:
    """All that decides a run, as a worker needs it."""

    dataset: str
    dataset_checksum: str
    """Of its graph, labels, features and, where they were given, splits."""
    method: str
    estimator: Any
    """The method's class, or what else returns a new estimator for keyword arguments."""
    parameters: dict[str, Any]
    """What it is called with beside the seed."""
    settings: str
    """All settings, the method's defaults included, as JSON."""
    settings_hash: str
    changed: str
    """The settings that the user set, as ``name=value`` text."""
    percent: float
    realisation: int
    shares_embedding: bool = False
    """Whether the method's embedding, which sees no labels, is the same for all realisations."""
    split: GivenSplit | None = None
    """The nodes to learn from and to test on; drawn at random if not given."""
    metric: Metric | None = None
    """A metric of one's own, computed beside the others."""
    label_separator: str | None = None
    """What stands between the labels of a node that has several; None where each has one."""

    @property
    def key(self) -> tuple[str, str, str, str, float, int]:
        """What tells this run from all others, in text that a ledger can hold."""
        dataset_key = proper_text(self.dataset), self.dataset_checksum
        return *dataset_key, self.method, self.settings_hash, float(self.percent), self.realisation

    def run(self, graph: MultilayerGraph) -> RunResult:
        """Do the run; if the method fails, the failure is the result, not an error here."""
        return execute(self, graph)

    def failed(self, error: str) -> RunResult:
        """The result of a run whose process died."""
        return RunResult(self, "failed", error=error)


@dataclass(frozen=True)
class RunResult:
    """The result of a run: scores, or the text of the error and its traceback if it failed."""

    spec: RunSpec
    status: str
    error: str | None = None
    traceback: str | None = None
    scores: Scores | LabelSetScores | None = None
    metric_value: float | None = None
    peak_accuracy: float | None = None
    train_nodes: int = 0
    test_nodes: int = 0
    classes: int = 0
    missed_classes: int = 0
    cost: Cost = field(default_factory=Cost)

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The one row of a ledger."""
        spec = self.spec
        key_columns = ("dataset", "dataset_checksum", "method", "settings_hash", "train_percent", "realisation")
        plain_columns = ("status", "error", "traceback", "metric_value", "peak_accuracy", "train_nodes", "test_nodes")
        ledger_row = dict(zip(key_columns, spec.key, strict=True))
        ledger_row |= {name: getattr(self, name) for name in (*plain_columns, "classes", "missed_classes")}
        ledger_row |= (vars(self.scores) if self.scores else {}) | vars(self.cost)
        ledger_row |= {"settings": spec.settings, "changed": spec.changed, "protocol": PROTOCOL}
        return [ledger_row | {"metric": spec.metric and metric_name(spec.metric)}]


@dataclass(frozen=True)
class Prediction:
    """Class probabilities for all nodes of a graph, and the best test accuracy over the epochs if there are any."""

    probabilities: NDArray[np.floating[Any]]
    classes: list[Any]
    peak_accuracy: float | None
    saved_seconds: tuple[float, float] = (0.0, 0.0)


def execute(spec: RunSpec, graph: MultilayerGraph) -> RunResult:
    """Do a run; if the method or the metric fails, the failure is the result, not an error here."""
    labels = graph.labels
    assert labels is not None
    split = random_split(labels, spec.percent, spec.realisation) if spec.split is None else spec.split.of(labels)
    split_counts: dict[str, Any] = {
        "train_nodes": int(split.train.size),
        "test_nodes": int(split.test.size),
        "classes": len(split.classes),
        "missed_classes": int(split.missed),
    }
    label_sets = None
    if spec.label_separator is not None:
        label_sets = known_label_sets(graph, separator=spec.label_separator)
        is_trained = np.isin(label_sets.nodes, split.train)
        missed_labels = int((~label_sets.indicator[is_trained].any(axis=0)).sum())
        split_counts |= {"classes": len(label_sets.labels), "missed_classes": missed_labels}
    run_cost = Cost()
    test_scores: Scores | LabelSetScores
    try:
        with measured() as run_cost:
            prediction = (fit_and_predict if label_sets is None else fit_label_sets)(spec, graph, split)
        true_labels, test_probabilities = labels[split.test], prediction.probabilities[split.test]
        if label_sets is not None:
            test_scores, metric_value = _label_set_scores(spec.metric, label_sets, split, prediction)
        else:
            test_scores = score(true_labels, test_probabilities, prediction.classes)
            metric_value = (
                None
                if spec.metric is None
                else _own_metric(spec.metric, true_labels, test_probabilities, prediction.classes)
            )
    except Exception as error:
        return RunResult(
            spec, "failed", error=error_text(error), traceback=trace_text(error), cost=run_cost, **split_counts
        )
    # as if the run were alone: an embedding that another run left on disk counts with what it had cost
    run_cost.cpu_seconds += prediction.saved_seconds[0]
    run_cost.wall_seconds += prediction.saved_seconds[1]
    peak_accuracy = prediction.peak_accuracy
    if peak_accuracy is not None:
        peak_accuracy = max(peak_accuracy, test_scores.accuracy)
    return RunResult(
        spec,
        "done",
        scores=test_scores,
        metric_value=metric_value,
        peak_accuracy=peak_accuracy,
        cost=run_cost,
        **split_counts,
    )


def fit_and_predict(spec: RunSpec, graph: MultilayerGraph, split: Split) -> Prediction:
    """Fit the method on the training labels alone and predict every node.

    The graph it gets has no labels. Where the method has epochs, the test labels are watched to know the peak; nothing
    in the training depends on them. A training set of a single class predicts that class for everybody.
    """
    model = _new_model(spec)
    has_epochs = "monitor" in inspect.signature(model.fit).parameters
    training_classes = {split.y[node] for node in split.train}
    if len(training_classes) == 1:
        is_right = [split.monitor[node] in training_classes for node in split.test]
        certain_probabilities = np.ones((graph.num_nodes, 1))
        return Prediction(
            certain_probabilities, list(training_classes), float(np.mean(is_right)) if has_epochs else None
        )
    monitor_argument = {"monitor": split.monitor} if has_epochs else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GrammeWarning)
        model.fit(graph.replace(labels=None), split.y, **monitor_argument)
    if getattr(model, "interrupted_", False):  # a training that Ctrl-C cut short must not pass for a whole one
        raise KeyboardInterrupt
    history = getattr(model, "history_", None)
    peak_accuracy = None
    if has_epochs and history is not None and "monitor_accuracy" in history:
        peak_accuracy = float(history["monitor_accuracy"].max())
    saved_seconds = getattr(model, "saved_seconds_", (0.0, 0.0))
    class_probabilities = np.asarray(model.predict_proba())
    method_classes = _true_classes(np.asarray(model.classes_).tolist(), split.classes)
    if class_probabilities.shape != (graph.num_nodes, len(method_classes)):
        raise DataError(
            f"predict_proba() of {spec.method} has shape {class_probabilities.shape}, but there are "
            f"{graph.num_nodes} nodes "
            f"and {len(method_classes)} classes in classes_"
        )
    if not np.isfinite(class_probabilities).all():
        raise DataError(f"predict_proba() of {spec.method} has values that are not finite numbers")
    return Prediction(class_probabilities, method_classes, peak_accuracy, saved_seconds)


def _new_model(spec: RunSpec) -> Any:
    """The method with its parameters and the seed of the run."""
    known_parameters = spec.estimator().get_params()
    chosen_parameters = dict(spec.parameters)
    if "random_state" in known_parameters:
        chosen_parameters.setdefault("random_state", SHARED_SEED if spec.shares_embedding else spec.realisation)
    if "progress" in known_parameters:
        chosen_parameters["progress"] = False
    return spec.estimator(**chosen_parameters)


def fit_label_sets(spec: RunSpec, graph: MultilayerGraph, split: Split) -> Prediction:
    """Fit the method once per label on the training nodes' labels, and predict every label of every node."""
    model = MultiLabelClassifier(_new_model(spec))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GrammeWarning)
        model.fit(graph.replace(labels=None), split.y, separator=spec.label_separator)
    label_models = [one for one in model.models_.values() if not isinstance(one, float)]
    if any(getattr(one, "interrupted_", False) for one in label_models):
        raise KeyboardInterrupt
    # an embedding is made for the first label and found on disk for the others
    saved_seconds = getattr(label_models[0], "saved_seconds_", (0.0, 0.0)) if label_models else (0.0, 0.0)
    return Prediction(model.predict_proba(), model.classes_.tolist(), None, saved_seconds)


def _label_set_scores(
    metric: Metric | None, label_sets: KnownLabelSets, split: Split, prediction: Prediction
) -> tuple[LabelSetScores, float | None]:
    """Scores on the test nodes; a label that no training node has counts with a probability of 0."""
    truth = label_sets.indicator[np.searchsorted(label_sets.nodes, split.test)]
    probabilities = np.zeros(truth.shape)
    label_columns = pd.Index(label_sets.labels).get_indexer(prediction.classes)
    probabilities[:, label_columns] = prediction.probabilities[split.test]
    if not np.isfinite(probabilities).all():
        raise DataError("a label has probabilities that are not finite numbers")
    named_scores = multilabel_scores(truth, probabilities)
    ranking_loss = named_scores["ranking_loss"]
    test_scores = LabelSetScores(
        accuracy=named_scores["exact"],
        macro_f1=named_scores["macro_f1"],
        micro_f1=named_scores["micro_f1"],
        ranking_loss=ranking_loss if np.isfinite(ranking_loss) else None,
    )
    if metric is None:
        return test_scores, None
    return test_scores, _finite(metric, truth.astype(int), (probabilities >= DEFAULT_THRESHOLD).astype(int))


def _true_classes(classes: list[Any], labels: list[Any]) -> list[Any]:
    """A method's classes as the labels that they mean: 2 for "2" or 2.0 where no label is the same as it stands.

    >>> _true_classes(["1", "2"], [1, 2, 3]), _true_classes([1.0, 2.0], ["1", "2"])
    ([1, 2], ['1', '2'])
    """
    known_classes = set(labels)
    if set(classes) <= known_classes:
        return classes
    class_by_text = {str(label): label for label in labels}
    whole_numbers = [int(one) if isinstance(one, float) and one.is_integer() else one for one in classes]
    mapped_classes = [
        one if one in known_classes else class_by_text.get(str(other), one)
        for one, other in zip(classes, whole_numbers, strict=True)
    ]
    strange_classes = [one for one in mapped_classes if one not in known_classes]
    if strange_classes or len(set(mapped_classes)) < len(mapped_classes) or len(class_by_text) < len(known_classes):
        named_classes = ", ".join(map(repr, (strange_classes or classes)[:3]))
        raise DataError(
            f"classes_ has {named_classes}, but the labels of the graph are {', '.join(map(repr, labels[:5]))}"
        )
    return mapped_classes


def _own_metric(metric: Metric, truth: Any, probabilities: Any, classes: list[Any]) -> float:
    class_labels = np.empty(len(classes), dtype=object)
    class_labels[:] = classes
    # as plain lists scikit-learn's metrics take numbers for numbers, not for objects
    return _finite(metric, list(truth), class_labels[probabilities.argmax(axis=1)].tolist())


def _finite(metric: Metric, truth: Any, predicted: Any) -> float:
    metric_value = float(metric(truth, predicted))
    if not np.isfinite(metric_value):
        raise DataError(f"the metric {metric_name(metric)} is {metric_value} here; a finite number is needed")
    return metric_value


def metric_name(metric: Metric) -> str:
    """The name under which a ledger keeps a metric of one's own."""
    function_name = getattr(metric, "__name__", "<lambda>")
    if not function_name.isidentifier():
        raise DataError("a metric of your own needs a name; write it with def")
    return str(function_name)


def error_text(error: Exception) -> str:
    """An error's text; that of an unforeseen one begins with its kind."""
    message_text = str(error)
    return message_text if isinstance(error, GrammeError) else f"{type(error).__name__}: {message_text}"


def trace_text(error: Exception) -> str:
    """Where an error came from, at most its last 20,000 characters."""
    return "".join(traceback.format_exception(error))[-20_000:]
