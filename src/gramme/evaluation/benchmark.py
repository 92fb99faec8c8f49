"""The benchmark: datasets times methods times training percentages times realisations, into a ledger."""

from __future__ import annotations

import hashlib
import importlib.util
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

from gramme.datasets import load
from gramme.errors import DataError, MissingExtraError, did_you_mean
from gramme.graph import MultilayerGraph
from gramme.graph.canonical import checksum
from gramme.methods import METHODS, Method, method
from gramme.methods.embedding.base import EmbeddingModel

from .backends import check_backend, default_jobs, executed
from .ledger import Ledger
from .run import SHARED_SEED, RunResult, RunSpec
from .splits import check_percent, random_split
from .summary import summarise

# What a benchmark has to do: datasets and methods as the user names them become runs with checked
# settings.


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
    """The methods that are benchmarked if none is named: those that need neither extras nor explicit edges."""
    embeds = [name for name, one in METHODS.items() if issubclass(one.estimator, EmbeddingModel)]
    return [name for name, one in METHODS.items() if one.extra is None and name not in embeds]


def chosen_methods(methods: Iterable[str | Method]) -> list[Method]:
    """Methods by name or as they are; one that is unknown or lacks its extra is refused before any work starts."""
    found = [method(one) if isinstance(one, str) else one for one in methods]
    if not found:
        raise DataError("no method is named; see gramme methods")
    _refuse_doubles([one.name for one in found], "method")
    for one in found:
        module = _EXTRA_MODULES.get(one.extra or "")
        if module is not None and importlib.util.find_spec(module) is None:
            raise MissingExtraError(
                f"the method {one.name!r} needs the package {module!r}, which is not installed: "
                f'pip install "gramme[{one.extra}]", or leave the method out'
            )
    return found


def chosen_graphs(
    datasets: Iterable[str] | Mapping[str, MultilayerGraph],
) -> dict[str, MultilayerGraph]:
    """Graphs by name, loaded where only a name is given; each must have labels of at least two classes."""
    if isinstance(datasets, Mapping):
        graphs = dict(datasets)
    else:
        names = list(datasets)
        _refuse_doubles(names, "dataset")
        graphs = {name: load(name) for name in names}
    if not graphs:
        raise DataError("no dataset is named; see gramme datasets list")
    for name, graph in graphs.items():
        known = [] if graph.labels is None else [one for one in graph.labels if one is not None]
        if len(set(known)) < 2:
            raise DataError(
                f"{name}: a benchmark needs nodes of at least two classes; this graph has {len(known)} labelled nodes "
                f"of {len(set(known))}"
            )
    return graphs


def planned(
    graphs: Mapping[str, MultilayerGraph],
    methods: Sequence[Method],
    train: Sequence[float],
    repeats: int,
    settings: Mapping[str, Mapping[str, Any]],
) -> list[RunSpec]:
    """All runs, in an order that lets workers share embeddings.

    An embedding that sees no labels is made by the first run that needs it and then found on disk. So one run of each
    such method and dataset comes first, then the runs of all other methods, then the rest: few wait for one another.
    """
    if repeats < 1:
        raise DataError(f"at least one repeat is needed, not {repeats}")
    percents = list(dict.fromkeys(float(percent) for percent in train))
    if not percents:
        raise DataError("no training percentage is named")
    for name, graph in graphs.items():
        for percent in percents:
            check_percent(percent)
            try:
                random_split(np.asarray(graph.labels, dtype=object), percent, 0)
            except DataError as error:
                raise DataError(f"{name}: {error}") from error
    unknown = [name for name in settings if name not in {one.name for one in methods}]
    if unknown:
        hint = did_you_mean(unknown[0], [one.name for one in methods])
        raise DataError(f"settings for {unknown[0]!r}, which is not benchmarked; {hint}")
    first, plain, rest = [], [], []
    for name, graph in graphs.items():
        code = dataset_checksum(graph)
        for one in methods:
            specs = _runs(name, code, one, percents, repeats, settings.get(one.name, {}))
            if specs[0].shares_embedding:
                first.append(specs[0])
                rest += specs[1:]
            else:
                plain += specs
    return first + plain + rest


def _runs(
    name: str,
    code: str,
    one: Method,
    percents: Sequence[float],
    repeats: int,
    changed: Mapping[str, Any],
) -> list[RunSpec]:
    shares = issubclass(one.estimator, EmbeddingModel)
    known = one.estimator().get_params()
    for key in changed:
        if key not in known:
            raise DataError(f"{one.name} has no parameter {key!r}; {did_you_mean(key, known)}")
    full = {
        key: value
        for key, value in (known | dict(changed)).items()
        if key not in _PARAMETERS_WITHOUT_EFFECT
    }
    if "random_state" in changed:
        full["random_state"] = changed["random_state"]
    elif "random_state" in known:
        full["random_state"] = SHARED_SEED if shares else "the realisation's number"
    if shares:
        full["embedding"] = "shared by all realisations"
    told = json.dumps(full, sort_keys=True, default=repr)
    return [
        RunSpec(
            dataset=name,
            dataset_checksum=code,
            method=one.name,
            estimator=one.estimator,
            parameters=dict(changed),
            settings=told,
            settings_hash=hashlib.sha256(told.encode()).hexdigest()[:16],
            changed=", ".join(f"{key}={value}" for key, value in sorted(changed.items())),
            percent=percent,
            realisation=realisation,
            shares_embedding=shares,
        )
        for percent in percents
        for realisation in range(repeats)
    ]


def dataset_checksum(graph: MultilayerGraph) -> str:
    """A checksum of all that a result depends on: nodes, layers, labels and features.

    >>> graph = load("wine")
    >>> dataset_checksum(graph) == dataset_checksum(load("wine"))
    True
    >>> dataset_checksum(graph) == dataset_checksum(graph.replace(labels=None))
    False
    """
    digest = hashlib.sha256(checksum(graph).encode())
    labels = [] if graph.labels is None else graph.labels.tolist()
    digest.update(json.dumps(labels, default=repr).encode("utf-8", "surrogatepass"))
    matrices = [] if graph.features is None else [("", graph.features)]
    for name, features in [*matrices, *graph.layer_features.items()]:
        digest.update(name.encode("utf-8", "surrogatepass"))
        matrix = sp.csr_array(features)
        matrix.sort_indices()
        digest.update(repr(matrix.shape).encode())
        for part in (matrix.indptr, matrix.indices, matrix.data):
            kind = "<f8" if part.dtype.kind == "f" else "<i8"
            digest.update(np.ascontiguousarray(part, dtype=kind).tobytes())
    return digest.hexdigest()


def _refuse_doubles(names: Sequence[str], what: str) -> None:
    twice = [name for place, name in enumerate(names) if name in names[:place]]
    if twice:
        raise DataError(f"the {what} {twice[0]!r} is named twice")


Start = Callable[[list[RunSpec], int, int], None]


def benchmark(
    datasets: Iterable[str] | Mapping[str, MultilayerGraph] = DEFAULT_DATASETS,
    methods: Iterable[str | Method] | None = None,
    *,
    out: Any,
    train: Iterable[float] = DEFAULT_TRAIN_PERCENTS,
    repeats: int = DEFAULT_REPEATS,
    settings: Mapping[str, Mapping[str, Any]] | None = None,
    jobs: int | None = None,
    backend: str = "loky",
    force: bool = False,
    command: str | None = None,
    on_start: Start | None = None,
    on_result: Callable[[RunResult], None] | None = None,
) -> pd.DataFrame:
    """Compare methods on datasets over random splits, resuming where an earlier call ended.

    Realisation r learns from a training set drawn with seed r, the same for every method, and is scored once on all
    other labelled nodes. Each run is written to the ledger when it ends; calling again does only what is missing or
    has failed. Results do not depend on jobs, backend or order.

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
    ...     table = benchmark(
    ...         ["wine"], ["majority"], train=[10], repeats=3, jobs=1, out=Path(folder, "r.sqlite")
    ...     )
    >>> table[["dataset", "method", "train_percent", "repeats"]].to_dict("records")
    [{'dataset': 'wine', 'method': 'majority', 'train_percent': 10.0, 'repeats': 3}]
    """
    jobs = default_jobs() if jobs is None else jobs
    if jobs < 1:
        raise DataError(f"at least one job is needed, not {jobs}")
    check_backend(backend)
    chosen = chosen_methods(default_methods() if methods is None else methods)
    graphs = chosen_graphs(datasets)
    specs = planned(graphs, chosen, list(train), repeats, settings or {})
    with Ledger(out) as ledger:
        if command is not None:
            ledger.note_command(command)
        done = set() if force else ledger.done()
        missing = [spec for spec in specs if spec.key not in done]
        if on_start is not None:
            on_start(missing, len(specs) - len(missing), jobs)
        for result in executed(missing, graphs, jobs=jobs, backend=backend):
            ledger.record(result, replace=force)
            if on_result is not None:
                on_result(result)
        wanted = {spec.key[:5] for spec in specs}
        runs = ledger.runs()
    keys = zip(*(runs[name] for name in _GROUP), strict=True)
    return summarise(runs[[key in wanted for key in keys]])


_GROUP = ("dataset", "dataset_checksum", "method", "settings_hash", "train_percent")
