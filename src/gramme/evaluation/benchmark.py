"""The benchmark: datasets times methods times training percentages times realisations, into a ledger."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import pandas as pd

from gramme.errors import DataError
from gramme.evaluation.backends import check_backend, default_jobs, executed
from gramme.evaluation.ledger import Ledger
from gramme.evaluation.one_run import RunResult, RunSpec
from gramme.evaluation.plan import (
    DEFAULT_DATASETS,
    DEFAULT_REPEATS,
    DEFAULT_TRAIN_PERCENTS,
    chosen_graphs,
    chosen_methods,
    default_methods,
    planned,
)
from gramme.evaluation.summary import summarise
from gramme.graph import MultilayerGraph
from gramme.methods import Method

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
