"""The work of ``gramme rank``: measures, their spread, seeds, and the folder."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import typer
from numpy.typing import NDArray
from rich.table import Table

from gramme._progress import part
from gramme._text import escape, json_text
from gramme.errors import DataError
from gramme.graph import MultilayerGraph
from gramme.io.values import require_proper
from gramme.ranking import MEASURES, influence, layer_influences, rank
from gramme.ranking.influence import check_model, easy_choice
from gramme.ranking.measures import chosen_measures
from gramme.ranking.rank_nodes import (
    coinciding_measures,
    expected_seconds,
    leading_nodes,
    tied,
    without_negative,
)
from gramme.report.result_folders import check_target, write_ranks

from .console import note, out
from .options import command_line
from .progress import expect, steps_bar

MAX_SPREAD_ENTRIES = 3_000_000
"""Edges and memberships up to which the spread of the ranks is computed; it takes 20 times as long as the ranks."""
PAGE_SECONDS, PAGE_SECONDS_PER_NODE, MAX_PAGE_SECONDS = 0.2, 6e-5, 8.0
"""The time that the tables and the page take."""
_SHOWN_NODES = 10
_IN_TERMINAL = ("degree", "pagerank", "eigenvector", "katz", "multirank", "voterank")


@dataclass(frozen=True)
class RankRequest:
    """What was asked for."""

    measures: list[str] | None
    negative: list[str] | None
    per_layer: bool
    coupling: float
    restart: list[str] | None
    seeds: int
    model: str
    probability: float
    spread: bool
    seed: int


def words(text: str | None) -> list[str] | None:
    """Words with commas between them."""
    return None if text is None else [word.strip() for word in text.split(",") if word.strip()]


def check_request(target: Path, measures: str | None, model: str, *, overwrite: bool) -> None:
    """Say what is wrong before any data are read."""
    check_target(target, overwrite=overwrite)
    chosen_measures(words(measures))
    check_model(model)


def rank_graph(
    graph: MultilayerGraph,
    target: Path,
    request: RankRequest,
    *,
    described: dict[str, Any],
    overwrite: bool,
    silent: bool,
    as_json: bool,
    raw_csv: bool = False,
) -> None:
    """Rank, find out how sure that is, choose seeds, write the folder and show the first nodes."""
    require_proper("layer", graph.layers)
    require_proper("node", graph.nodes)
    began = time.perf_counter()
    graph = without_negative(graph, request.negative)
    spread = request.spread and _small_enough(graph)
    expected = expected_seconds(
        graph, spread=spread, seeds=bool(request.seeds), per_layer=request.per_layer
    )
    page = min(PAGE_SECONDS + PAGE_SECONDS_PER_NODE * graph.num_nodes, MAX_PAGE_SECONDS)
    whole = expected.ranks + expected.seeds + expected.layers + page
    expect(whole)
    with steps_bar("Ranks", expected.ranks / whole, silent=silent):
        ranks = rank(
            graph,
            request.measures,
            negative=(),
            coupling=request.coupling,
            per_layer=request.per_layer,
            restart=_named(graph, request.restart),
            spread=spread,
            random_state=request.seed,
        )
    seeds = _seeds(graph, request, expected.seeds / whole, silent)
    with part("Influence of the layers", expected.layers / whole):
        layers = layer_influences(graph)
    config = described | asdict(request) | {"seconds": round(time.perf_counter() - began, 2)}
    with part("Writing the results and the page", page / whole):
        files = write_ranks(
            target,
            graph,
            ranks,
            seeds=seeds,
            layers=layers,
            config=config,
            overwrite=overwrite,
            raw_csv=raw_csv,
        )
    first = leading_nodes(ranks)[:_SHOWN_NODES]
    if as_json:
        record = {"nodes": graph.num_nodes, "out": str(target), "files": files}
        listed = [str(name) for name in ranks.index[first]]
        typer.echo(json_text(record | {"leading": listed}))
    elif not silent:
        out.print(_table(ranks, first))
        if seeds is not None:
            last = seeds.iloc[-1]
            out.print(
                escape(
                    f"to spread news begin with: {_seed_names(seeds)}; they reach {last['reach']:.1f} nodes on average "
                    f"(95 % interval {last['reach_low']:.1f} to {last['reach_high']:.1f})"
                )
            )
            if word := easy_choice(seeds["reach"].iloc[0], graph.num_nodes, request.model):
                out.print(escape(word))
        out.print(escape(f"in {target}: {', '.join(files)}"))
        out.print(escape(f"open {target / 'report.html'}"))


def _named(graph: MultilayerGraph, names: list[str] | None) -> list[Any] | None:
    """Nodes as the graph calls them, from words: a file of numbers has nodes that are numbers."""
    if not names:
        return None
    by_text = {str(name): name for name in graph.nodes}
    return [by_text.get(name, name) for name in names]


def _small_enough(graph: MultilayerGraph) -> bool:
    entries = sum(layer.num_entries for layer in graph.layers.values())
    if entries > MAX_SPREAD_ENTRIES:
        note(
            f"with {entries:,} edges and memberships, how sure the ranks are is left out "
            f"(it is found up to {MAX_SPREAD_ENTRIES:,})"
        )
    return entries <= MAX_SPREAD_ENTRIES


def _seeds(
    graph: MultilayerGraph, request: RankRequest, share: float, silent: bool
) -> pd.DataFrame | None:
    if not request.seeds:
        return None
    try:
        with steps_bar("Whom to tell first", share, silent=silent) as tell:
            return influence(
                graph,
                min(request.seeds, graph.num_nodes),
                model=request.model,
                probability=request.probability,
                random_state=request.seed,
                tell=tell,
            )
    except DataError as error:
        if "more than the" not in str(error):
            raise
        note(f"no seeds are chosen: {error}")
        return None


def _seed_names(seeds: pd.DataFrame) -> str:
    """The seeds in order; those that are not ordered with "or" between them.

    >>> _seed_names(pd.DataFrame({"node": ["a", "b", "c"], "order": [1, 1, 3]}))
    'a or b, c'
    """
    groups = seeds.groupby("order", sort=False)["node"]
    return ", ".join(" or ".join(str(name) for name in some) for _, some in groups)


def _table(ranks: pd.DataFrame, first: NDArray[np.int64]) -> Table:
    measures = [name for name in ranks.columns if name in MEASURES]
    shown = [name for name in _IN_TERMINAL if name in measures] or measures[: len(_IN_TERMINAL)]
    shown = [name for name in shown if name in coinciding_measures(ranks)] or shown
    table = Table(box=None, pad_edge=False, header_style="bold", title_justify="left")
    table.add_column("rank by", overflow="fold")
    for name in shown:
        table.add_column(name, justify="right")
    shared = {name: tied(ranks[f"{name}_rank"].to_numpy()) for name in shown}
    for place in first:
        values = [
            f"{int(ranks[f'{name}_rank'].iloc[place]):,}{'=' if shared[name][place] else ''}"
            for name in shown
        ]
        table.add_row(escape(str(ranks.index[place])), *values)
    return table


__all__ = ["RankRequest", "check_request", "command_line", "rank_graph", "words"]
