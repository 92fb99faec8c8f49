"""The benchmark of links: every layer of every dataset, the same edges held out for all methods, into a ledger."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import pandas as pd

from gramme.errors import DataError
from gramme.evaluation.backends import check_backend, default_jobs, executed
from gramme.evaluation.link_ledger import LinkLedger
from gramme.evaluation.link_methods import DEFAULT_LINK_METHODS, LinkMethod, link_method
from gramme.evaluation.link_run import LinkSpec
from gramme.evaluation.link_splits import layers_with_links, num_splits
from gramme.evaluation.link_summary import summarise_links
from gramme.graph import MultilayerGraph
from gramme.graph.checksum import checksum


def link_benchmark(
    datasets: Mapping[str, MultilayerGraph],
    methods: Iterable[str] = DEFAULT_LINK_METHODS,
    *,
    out: Any,
    repeats: int = 1,
    jobs: int | None = 1,
    backend: str = "loky",
    force: bool = False,
    tell: Callable[[int, int], None] | None = None,
) -> pd.DataFrame:
    """Compare methods that predict links, resuming where an earlier call ended.

    Each run is written when it ends; calling again does only what is missing or has failed. Results do not depend on
    jobs, backend or order.

    Parameters
    ----------
    datasets : mapping of str to MultilayerGraph
    methods : sequence of str
        See :data:`gramme.evaluation.link_methods.LINK_METHODS`.
    out : path-like
        The ledger, a sqlite file.
    repeats : int, default=1
        How often the edges are divided anew.
    jobs : int, default=1
        Runs at a time, each on one thread; None for as many as there are cores.
    backend : {"loky", "ray"}, default="loky"
        Processes of this machine, or a Ray cluster (``$RAY_ADDRESS``, or a local one).
    force : bool, default=False
        Do everything again.
    tell : callable, optional
        Called with the number of runs done and in all.

    Returns
    -------
    DataFrame
        The summary, see :func:`gramme.evaluation.link_summary.summarise_links`.
    """
    chosen = [link_method(name) for name in dict.fromkeys(methods)]
    jobs = default_jobs() if jobs is None else jobs
    if repeats < 1:
        raise DataError(f"at least one repeat is needed, not {repeats}")
    if jobs < 1:
        raise DataError(f"at least one job is needed, not {jobs}")
    check_backend(backend)
    specs = _planned(datasets, chosen, repeats)
    if not specs:
        raise DataError("no layer of the data has at least 2 edges, so no link can be held out")
    with LinkLedger(out) as ledger:
        done = set() if force else ledger.done()
        missing = [spec for spec in specs if spec.key not in done]
        finished = len(specs) - len(missing)
        for result in executed(missing, datasets, jobs=jobs, backend=backend):
            ledger.record(result.rows)
            finished += 1
            if tell is not None:
                tell(finished, len(specs))
        table = ledger.rows()
    wanted = {spec.key[:2] for spec in specs}
    mine = [key in wanted for key in zip(table["dataset"], table["checksum"], strict=True)]
    return summarise_links(table[mine])


def _planned(
    datasets: Mapping[str, MultilayerGraph], methods: Iterable[LinkMethod], repeats: int
) -> list[LinkSpec]:
    """All runs, those of one split after each other."""
    return [
        LinkSpec(name, code, layer, method, realisation, fold)
        for name, graph in datasets.items()
        for code in [checksum(graph)]
        for layer in layers_with_links(graph)
        for realisation in range(repeats)
        for fold in range(num_splits(graph, layer))
        for method in methods
    ]
