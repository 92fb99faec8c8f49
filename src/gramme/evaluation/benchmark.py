"""The benchmark: datasets times methods times training percentages times realisations, into a ledger."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import joblib
import numpy as np
import pandas as pd
import scipy.sparse as sp

from gramme._text import setting
from gramme.datasets import load
from gramme.errors import DataError, GrammeWarning, MissingExtraError, did_you_mean
from gramme.graph import MultilayerGraph
from gramme.graph.canonical import checksum
from gramme.methods import METHODS, Method, method
from gramme.methods.embedding.base import EmbeddingModel
from gramme.methods.multilabel import known_label_sets, label_texts

from .backends import check_backend, executed
from .ledger import LEDGER_KINDS, Ledger
from .run import SHARED_SEED, Metric, RunResult, RunSpec, error_text, trace_text
from .splits import GivenSplit, check_percent, given_splits, random_split
from .summary import check_metric, summarise

DEFAULT_DATASETS = ("balance_scale", "wine")
"""What is benchmarked where no dataset is named: embedded, so that it runs anywhere."""
DEFAULT_TRAIN_PERCENTS = (10.0, 20.0, 30.0)
DEFAULT_REPEATS = 20
QUICK_TRAIN_PERCENTS = (20.0,)
QUICK_REPEATS = 3
"""With these, the default datasets and methods take about a minute on two cores."""

_EXTRA_MODULES = {"walks": "gensim", "pyg": "torch_geometric"}
# Settings that cannot change a prediction.
_PARAMETERS_WITHOUT_EFFECT = ("progress", "cache", "random_state")


def default_methods() -> list[str]:
    """The methods that are benchmarked if none is named: no presets, and none that needs an extra or explicit edges."""
    own_methods = {name: one for name, one in METHODS.items() if one.extra is one.preset is one.package is None}
    return [name for name, one in own_methods.items() if not _embeds(one)]


def _embeds(method: Method) -> bool:
    """Whether a method embeds the graph without its labels, once for all realisations."""
    estimator: Any = method.estimator
    return isinstance(estimator, type) and issubclass(estimator, EmbeddingModel)


def chosen_methods(methods: Iterable[str | Method]) -> list[Method]:
    """Methods by name or as they are; one that is unknown or lacks its extra is refused before any work starts."""
    method_list: list[Any] = [method(one) if isinstance(one, str) else one for one in methods]
    if not method_list:
        raise DataError("no method is named; see gramme methods")
    for one in method_list:
        if not isinstance(one, Method):
            kind_name = one.__name__ if isinstance(one, type) else type(one).__name__
            raise DataError(f'a method is a name, or gramme.methods.Method("my-name", {kind_name}, "what it does")')
    _refuse_doubles([one.name for one in method_list], "method")
    for one in method_list:
        module = _EXTRA_MODULES.get(one.extra or "")
        if module is not None and importlib.util.find_spec(module) is None:
            raise MissingExtraError(
                f"the method {one.name!r} needs the package {module!r}, which is not installed: "
                f'pip install "gramme[{one.extra}]", or leave the method out'
            )
    return method_list


def chosen_graphs(datasets: Iterable[str] | Mapping[str, MultilayerGraph]) -> dict[str, MultilayerGraph]:
    """Graphs by name, loaded where only a name is given; each must have labels of at least two classes."""
    if isinstance(datasets, Mapping):
        graphs = dict(datasets)
    else:
        dataset_names = list(datasets)
        if not all(isinstance(name, str) for name in dataset_names):
            raise DataError('datasets are named; graphs of your own have names as well: {"mine": graph}')
        _refuse_doubles(dataset_names, "dataset")
        graphs = {name: load(name) for name in dataset_names}
    if not graphs:
        raise DataError("no dataset is named; see gramme datasets list")
    for name, graph in graphs.items():
        if graph.labels is None:
            raise DataError(f"{name} has no labels; say with {setting('label')} which attribute or column they are")
        known_labels = [label for label in graph.labels if label is not None]
        if len(set(known_labels)) < 2:
            raise DataError(
                f"{name}: a benchmark needs nodes of at least two classes; this graph has {len(known_labels)} "
                "labelled nodes "
                f"of {len(set(known_labels))} classes"
            )
    return graphs


def planned(
    graphs: Mapping[str, MultilayerGraph],
    methods: Sequence[Method],
    train: Sequence[float],
    repeats: int,
    settings: Mapping[str, Mapping[str, Any]],
    splits: Mapping[str, Sequence[GivenSplit]] | None = None,
    metric: Metric | None = None,
    first: int = 0,
    label_separator: str | None = None,
) -> list[RunSpec]:
    """All runs, in an order that lets workers share embeddings.

    An embedding that sees no labels is made by the first run that needs it and then found on disk. So one run of each
    such method and dataset comes first, then the runs of all other methods, then the rest: few wait for one another.
    """
    check_repeats(repeats)
    train_percents = list(dict.fromkeys(float(percent) for percent in train))
    if not train_percents and splits is None:
        raise DataError("no training percentage is named")
    for name, graph in graphs.items():
        for percent in train_percents if splits is None else ():
            check_percent(percent)
            try:
                random_split(np.asarray(graph.labels, dtype=object), percent, 0)
            except DataError as error:
                raise DataError(f"{name}: {error}") from error
    method_names = [one.name for one in methods]
    unknown_methods = [name for name in settings if name not in method_names]
    if unknown_methods:
        raise DataError(
            f"settings for {unknown_methods[0]!r}, which is not benchmarked; "
            f"{did_you_mean(unknown_methods[0], method_names)}"
        )
    embedding_specs, plain_specs, later_specs = [], [], []
    for name, graph in graphs.items():
        split_cells: list[tuple[float, int, GivenSplit | None]]
        if splits is None:
            data_checksum = dataset_checksum(graph, label_separator=label_separator)
            split_cells = [
                (percent, realisation_number, None)
                for percent in train_percents
                for realisation_number in range(first, first + repeats)
            ]
        else:
            own_splits = splits[name]
            data_checksum = dataset_checksum(graph, own_splits, label_separator)
            num_labelled = sum(label is not None for label in graph.labels.tolist()) if graph.labels is not None else 0
            percent = round(100 * float(np.mean([split.train.size for split in own_splits])) / num_labelled, 4)
            split_cells = [(percent, realisation_number, split) for realisation_number, split in enumerate(own_splits)]
        for one in methods:
            shared_fields = _shared_fields(one, settings.get(one.name, {}), label_separator)
            method_specs = [
                RunSpec(
                    name,
                    data_checksum,
                    percent=percent,
                    realisation=realisation_number,
                    split=split,
                    metric=metric,
                    **shared_fields,
                )
                for percent, realisation_number, split in split_cells
            ]
            if method_specs[0].shares_embedding:
                embedding_specs.append(method_specs[0])
                later_specs += method_specs[1:]
            else:
                plain_specs += method_specs
    return embedding_specs + plain_specs + later_specs


def _shared_fields(method: Method, changed: Mapping[str, Any], label_separator: str | None) -> dict[str, Any]:
    """What all runs of a method have in common, by the fields of :class:`RunSpec`."""
    shares_embedding = _embeds(method)
    default_parameters = method.create().get_params()
    for key in changed:
        if key not in default_parameters:
            raise DataError(f"{method.name} has no parameter {key!r}; {did_you_mean(key, default_parameters)}")
    full_settings = {
        key: value
        for key, value in (default_parameters | dict(changed)).items()
        if key not in _PARAMETERS_WITHOUT_EFFECT
    }
    if "random_state" in changed:
        full_settings["random_state"] = changed["random_state"]
    elif "random_state" in default_parameters:
        full_settings["random_state"] = SHARED_SEED if shares_embedding else "the realisation's number"
    if shares_embedding:
        full_settings["embedding"] = "shared by all realisations"
    if label_separator is not None:
        full_settings["label_separator"] = label_separator
    settings_text = json.dumps(full_settings, sort_keys=True, default=repr)
    return {
        "method": method.name,
        "estimator": method.estimator,
        "parameters": method.settings | dict(changed),
        "settings": settings_text,
        "settings_hash": hashlib.sha256(settings_text.encode()).hexdigest()[:16],
        "changed": ", ".join(f"{key}={value}" for key, value in sorted(changed.items())),
        "shares_embedding": shares_embedding,
        "label_separator": label_separator,
    }


def dataset_checksum(
    graph: MultilayerGraph, splits: Iterable[GivenSplit] = (), label_separator: str | None = None
) -> str:
    """A checksum of all that a result depends on: nodes, layers, labels, features, and splits that were given.

    With a separator of several labels it is another one: these are never compared with runs of one label per node.

    >>> graph = load("wine")
    >>> dataset_checksum(graph) == dataset_checksum(load("wine"))
    True
    >>> dataset_checksum(graph) == dataset_checksum(graph.replace(labels=None))
    False
    """
    digest = hashlib.sha256(checksum(graph).encode())
    labels = [] if graph.labels is None else graph.labels.tolist()
    digest.update(json.dumps(labels, default=repr).encode("utf-8", "surrogatepass"))
    feature_matrices = [] if graph.features is None else [("", graph.features)]
    for name, features in [*feature_matrices, *graph.layer_features.items()]:
        digest.update(name.encode("utf-8", "surrogatepass"))
        matrix = sp.csr_array(features)
        matrix.sort_indices()
        digest.update(repr(matrix.shape).encode())
        for raw_array in (matrix.indptr, matrix.indices, matrix.data):
            number_format = "<f8" if raw_array.dtype.kind == "f" else "<i8"
            digest.update(np.ascontiguousarray(raw_array, dtype=number_format).tobytes())
    for split in splits:
        for raw_array in (split.train, split.test):
            digest.update(repr(raw_array.shape).encode() + np.ascontiguousarray(raw_array, dtype="<i8").tobytes())
    if label_separator is not None:
        digest.update(f"several labels: {label_separator}".encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def _with_label_texts(graphs: Mapping[str, MultilayerGraph], separator: str) -> dict[str, MultilayerGraph]:
    """The graphs with the labels of each node as one text, checked."""
    if not separator:
        raise DataError("label_separator must be what stands between labels, like ';'")
    text_graphs = {name: graph.replace(labels=label_texts(graph, separator)) for name, graph in graphs.items()}
    for name, graph in text_graphs.items():
        try:
            known_label_sets(graph, separator=separator)
        except DataError as error:
            raise DataError(f"{name}: {error}") from error
    return text_graphs


def _refuse_doubles(names: Sequence[str], what: str) -> None:
    repeated_names = [name for name_position, name in enumerate(names) if name in names[:name_position]]
    if repeated_names:
        raise DataError(f"the {what} {repeated_names[0]!r} is named twice")


@dataclass(frozen=True)
class TaskResult:
    """The result of a run of links or of asking."""

    spec: TaskSpec
    scores: list[dict[str, Any]]

    @property
    def rows(self) -> list[dict[str, Any]]:
        """As the ledger of the task has them."""
        key_fields = dict(zip(LEDGER_KINDS[self.spec.task].run_key, self.spec.key, strict=True))
        return [key_fields | score_row for score_row in self.scores]


class TaskSpec:
    """All that decides a run of links or of asking: what both share. Each says what its key is and how it is scored."""

    task: ClassVar[str]
    row_keys: ClassVar[tuple[dict[str, Any], ...]] = ({},)
    """What tells the rows of one run from each other."""
    dataset: str

    @property
    def key(self) -> tuple[Any, ...]:
        """What tells this run from all others, in text that a ledger can hold."""
        raise NotImplementedError

    def scored(self, graph: MultilayerGraph) -> list[dict[str, Any]]:
        """The rows of a run that ends well."""
        raise NotImplementedError

    def run(self, graph: MultilayerGraph) -> TaskResult:
        """Do it; whatever goes wrong in a method is its result and no error here."""
        try:
            return TaskResult(self, [{"status": "done"} | score_row for score_row in self.scored(graph)])
        except Exception as error:
            return self.failed(error_text(error), trace_text(error))

    def failed(self, error: str, traceback: str | None = None) -> TaskResult:
        """The result of a run that could not end."""
        failure_fields = {"status": "failed", "error": error, "traceback": traceback}
        return TaskResult(self, [key_row | failure_fields for key_row in self.row_keys])


def recorded(
    specs: Sequence[Any],
    graphs: Mapping[str, MultilayerGraph],
    *,
    task: str,
    out: Any,
    jobs: int | None,
    backend: str,
    force: bool = False,
    metric: str | None = None,
    command: str | None = None,
    on_start: Callable[[Any, int, int], None] | None = None,
    on_result: Callable[[Any], None] | None = None,
    tell: Callable[[int, int], None] | None = None,
) -> pd.DataFrame:
    """Do the runs that the ledger of a task lacks, write each one down as it ends, and return all rows of the ledger.

    Failed runs are recorded with their tracebacks, and a warning says that there are some. ``metric`` names a metric of
    one's own that finished runs must have; the callables are explained at :func:`benchmark` and ``link_benchmark``.
    """
    jobs = joblib.cpu_count() if jobs is None else jobs
    if jobs < 1:
        raise DataError(f"at least one job is needed, not {jobs}")
    check_backend(backend)
    with Ledger(out, task) as ledger:
        if command is not None:
            ledger.note_command(command)
        done_keys = set() if force else ledger.done(metric)
        missing_specs = [spec for spec in specs if spec.key not in done_keys]
        num_finished = len(specs) - len(missing_specs)
        if on_start is not None:
            on_start(missing_specs, num_finished, jobs)
        failed_rows = []
        for result in executed(missing_specs, graphs, jobs=jobs, backend=backend):
            ledger.record(result, replace=force or metric is not None)
            failed_rows += [row for row in result.rows[:1] if row["status"] == "failed"]
            num_finished += 1
            if on_result is not None:
                on_result(result)
            if tell is not None:
                tell(num_finished, len(specs))
        all_rows = ledger.runs()
    if failed_rows:
        readable_keys = [name for name in LEDGER_KINDS[task].run_key if "checksum" not in name and "hash" not in name]
        first_failure = ", ".join(str(failed_rows[0][name]) for name in readable_keys)
        warnings.warn(
            f"{len(failed_rows)} of {len(missing_specs)} runs failed and count nowhere, first {first_failure}: "
            f"{failed_rows[0]['error']}; "
            f"{out} has the traceback of each",
            GrammeWarning,
            stacklevel=3,
        )
    return all_rows


def check_repeats(repeats: int) -> None:
    """Refuse a benchmark without realisations."""
    if repeats < 1:
        raise DataError(f"at least one repeat is needed, not {repeats}")


def splits_by_dataset(graphs: Mapping[str, MultilayerGraph], splits: Any) -> dict[str, list[GivenSplit]] | None:
    """The checked splits of each graph, from a mapping by dataset or one list for all; None stays None."""
    if splits is None:
        return None
    by_dataset = splits if isinstance(splits, Mapping) else dict.fromkeys(graphs, splits)
    missing_datasets = [name for name in graphs if name not in by_dataset]
    if missing_datasets:
        raise DataError(f"there are no splits for the dataset {missing_datasets[0]!r}")
    checked_splits = {}
    for name, graph in graphs.items():
        try:
            checked_splits[name] = given_splits(graph, by_dataset[name])
        except DataError as error:
            raise DataError(f"{name}: {error}") from error
    return checked_splits


def benchmark(
    datasets: Iterable[str] | Mapping[str, MultilayerGraph] = DEFAULT_DATASETS,
    methods: Iterable[str | Method] | None = None,
    *,
    out: Any,
    train: Iterable[float] = DEFAULT_TRAIN_PERCENTS,
    repeats: int = DEFAULT_REPEATS,
    first: int = 0,
    splits: Any = None,
    metric: str | Metric | None = None,
    label_separator: str | None = None,
    settings: Mapping[str, Mapping[str, Any]] | None = None,
    jobs: int | None = None,
    backend: str = "loky",
    force: bool = False,
    command: str | None = None,
    on_start: Callable[[list[RunSpec], int, int], None] | None = None,
    on_result: Callable[[RunResult], None] | None = None,
) -> pd.DataFrame:
    """Compare methods on datasets over random or given splits, resuming where an earlier call ended.

    Realisation r learns from a training set drawn with seed r, the same for every method, and is scored once on all
    other labelled nodes. Each run is written to the ledger when it ends; calling again does only what is missing or
    has failed. Results do not depend on jobs, backend or order. A method that fails does not stop the others: the
    ledger has its traceback, the summary counts it as failed, and a :class:`~gramme.errors.GrammeWarning` says so.

    Parameters
    ----------
    datasets : sequence of str, or mapping of str to MultilayerGraph, default=("balance_scale", "wine")
        Datasets by name, or any graphs with labels under names of your choice.
    methods : sequence of str or Method, optional
        Methods by name; ``Method("mine", MyClassifier, "what it does")`` brings your own.
    out : path-like
        The ledger, a sqlite file.
    train : sequence of float, default=(10, 20, 30)
        Percentages of the labelled nodes to learn from.
    repeats : int, default=20
        Realisations.
    first : int, default=0
        The number of the first realisation. Settings that were chosen on some realisations are best judged on others.
    splits : sequence of (train, test), or mapping of dataset to such a sequence, optional
        Splits of your own in place of random ones; ``train`` and ``repeats`` then say nothing. Each part is a mask's
        name, an array of bool over all nodes, an array of positions, or a list of node names. ``("train", "test")`` is
        the one split that two masks of the graph make.
    metric : {"accuracy", "macro_f1", "log_loss", "calibration_error", "micro_f1", "ranking_loss"} or callable, optional
        What decides which method is the best: the accuracy if not given, macro F1 where nodes have several labels. A
        callable gets the true and the predicted labels of the test nodes (indicators, where there are several), as
        scikit-learn's metrics do, and returns a number, higher is better.
    label_separator : str, optional
        What stands between the labels of a node that has several, as in ``"a;b"``. Each method is then that of a
        :class:`~gramme.MultiLabelClassifier`, and a run has ``macro_f1``, ``micro_f1``, ``ranking_loss`` and, as its
        ``accuracy``, the share of nodes with all labels right.
    settings : mapping of method name to mapping, optional
        Parameters other than the defaults.
    jobs : int, optional
        Runs at a time, each on one thread; as many as there are cores if not given.
    backend : {"loky", "ray"}, default="loky"
        Processes of this machine, or a Ray cluster (``$RAY_ADDRESS``, or a local one).
    force : bool, default=False
        Do everything again.
    command : str, optional
        The command that started this; the ledger keeps it for anyone who wants to repeat it.
    on_start : callable, optional
        Called once with the runs to do, the number that are done already, and the number of jobs.
    on_result : callable, optional
        Called with each :class:`RunResult` once it is in the ledger.

    Returns
    -------
    DataFrame
        The summary of these datasets and methods, see :func:`gramme.evaluation.summarise`.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     table = benchmark(["wine"], ["majority"], train=[10], repeats=3, jobs=1, out=Path(folder, "r.sqlite"))
    >>> table[["dataset", "method", "train_percent", "repeats"]].to_dict("records")
    [{'dataset': 'wine', 'method': 'majority', 'train_percent': 10.0, 'repeats': 3}]
    """
    metric_label = check_metric(metric, several_labels=label_separator is not None)
    own_metric = None if isinstance(metric, str) else metric
    method_list = chosen_methods(default_methods() if methods is None else methods)
    graphs = chosen_graphs(datasets)
    if label_separator is not None:
        graphs = _with_label_texts(graphs, label_separator)
    run_specs = planned(
        graphs,
        method_list,
        list(train),
        repeats,
        settings or {},
        splits_by_dataset(graphs, splits),
        own_metric,
        first,
        label_separator,
    )
    all_runs = recorded(
        run_specs,
        graphs,
        task="labels",
        out=out,
        jobs=jobs,
        backend=backend,
        force=force,
        metric=None if own_metric is None else metric_label,
        command=command,
        on_start=on_start,
        on_result=on_result,
    )
    key_columns = list(LEDGER_KINDS["labels"].run_key[:-1])
    wanted_keys = {spec.key[:-1] for spec in run_specs}
    return summarise(
        all_runs[[run_key in wanted_keys for run_key in all_runs[key_columns].itertuples(index=False, name=None)]],
        metric=metric_label,
    )
