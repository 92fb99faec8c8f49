"""``gramme rank``: who matters over all layers. What takes long to import is imported when it is needed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from rich.table import Table

from gramme._progress import part
from gramme._text import escape
from gramme.errors import DataError

from .console import loading, note
from .options import AsJson, Data, Layers, OutFolder, Overwrite, Quiet, RawCsv, Reading, Seed, takes_reading_options
from .progress import tell_steps

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

    from gramme.graph import MultilayerGraph

    from .analysis import Analysis

MAX_SPREAD_ENTRIES = 3_000_000
"""Edges and memberships up to which the spread of the ranks is computed; it takes 20 times as long as the ranks."""
SHOWN_NODES = 10
SHOWN_MEASURES = ("degree", "pagerank", "eigenvector", "katz", "multirank", "voterank")


@takes_reading_options
def rank(
    context: typer.Context,
    data: Data,
    target: OutFolder,
    measures: str | None = typer.Option(
        None, "--measures", help="Which measures, like pagerank,voterank; the usual ones if not given."
    ),
    layers: Layers = None,
    negative: list[str] | None = typer.Option(
        None,
        "--negative",
        help="Leave out this layer, whose edges are negative, like dislike; guessed from names if not given. May be "
        'repeated; --negative "" keeps all layers.',
    ),
    per_layer: bool = typer.Option(False, "--per-layer", help="Add the measures of each layer alone."),
    coupling: float = typer.Option(1.0, "--coupling", min=0.0, help="Weight of the step from one layer to another."),
    restart: list[str] | None = typer.Option(
        None, "--near", help="Rank by PageRank around this node; may be repeated."
    ),
    seeds: int = typer.Option(5, "--seeds", min=0, help="How many nodes to choose for spreading news; 0 for none."),
    model: str = typer.Option("cascade", "--spreading", help="How news spreads: cascade or threshold."),
    probability: float = typer.Option(
        0.1, "--probability", min=0.0, max=1.0, help="Chance that news passes along an edge."
    ),
    spread: bool = typer.Option(True, "--spread/--no-spread", help="Whether to find out how sure the ranks are."),
    seed: Seed = 0,
    raw_csv: RawCsv = False,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
    *,
    read: Reading,
) -> None:
    """Say how much each node of DATA matters over all layers, how certain that is, and whom to tell first.

    Writes ranks.csv (a row per node: each measure, its rank, and between which ranks it moves), seeds.csv, layers.csv,
    report.html and config.json to the folder.
    """
    with loading():
        from gramme.ranking.influence import check_model
        from gramme.ranking.rank_nodes import chosen_measures

        from .analysis import analyse

    request: dict[str, Any] = {
        "measures": _words(measures),
        "negative": negative or None,
        "per_layer": per_layer,
        "coupling": coupling,
        "restart": restart,
        "seeds": seeds,
        "model": model,
        "probability": probability,
        "spread": spread,
        "seed": seed,
    }
    chosen_measures(request["measures"])
    check_model(model)
    analyse(lambda graph: _rank_nodes(graph, target, request), data, read, target, context, layers=layers)


def _words(text: str | None) -> list[str] | None:
    """Words with commas between them."""
    return None if text is None else [word.strip() for word in text.split(",") if word.strip()]


def _rank_nodes(graph: MultilayerGraph, target: Path, request: dict[str, Any]) -> Analysis:
    """Rank, find out how sure that is, and choose seeds."""
    from gramme.ranking import layer_influences, rank
    from gramme.ranking.influence import easy_choice
    from gramme.ranking.rank_nodes import leading_nodes, num_steps, without_negative
    from gramme.report.result_folders import write_ranks

    from .analysis import Analysis, named_nodes, shares_of

    graph = without_negative(graph, request["negative"])
    spread = request["spread"] and _small_enough(graph)
    # counted in rounds of all measures; the last two take about one each
    shares = shares_of(
        ranks=1 + request["per_layer"] + (sum(num_steps(graph)) if spread else 0),
        seeds=4 if request["seeds"] else 0,
        layers=1,
        writing=1,
    )
    with part("Ranks", shares["ranks"]):
        ranks = rank(
            graph,
            request["measures"],
            negative=(),
            coupling=request["coupling"],
            per_layer=request["per_layer"],
            restart=named_nodes(graph, request["restart"]) if request["restart"] else None,
            spread=spread,
            random_state=request["seed"],
        )
    with part("Whom to tell first", shares["seeds"]):
        seeds = _seeds(graph, request)
    with part("Influence of the layers", shares["layers"]):
        layers = layer_influences(graph)

    def write(config: dict[str, Any], **options: Any) -> list[str]:
        with part("Writing the results and the page", shares["writing"]):
            return write_ranks(target, graph, ranks, seeds=seeds, layers=layers, config=config | request, **options)

    first = leading_nodes(ranks)[:SHOWN_NODES]
    shown: list[Any] = [_table(ranks, first)]
    if seeds is not None:
        last = seeds.iloc[-1]
        shown.append(
            f"to spread news begin with: {_seed_names(seeds)}; they reach {last['reach']:.1f} nodes on average "
            f"(95 % interval {last['reach_low']:.1f} to {last['reach_high']:.1f})"
        )
        if sentence := easy_choice(seeds["reach"].iloc[0], graph.num_nodes, request["model"]):
            shown.append(sentence)
    leading = [str(name) for name in ranks.index[first]]
    return Analysis(write, {"nodes": graph.num_nodes, "leading": leading}, shown)


def _seed_names(seeds: pd.DataFrame) -> str:
    """The seeds in order; those that are not ordered with "or" between them.

    >>> import pandas as pd
    >>> _seed_names(pd.DataFrame({"node": ["a", "b", "c"], "order": [1, 1, 3]}))
    'a or b, c'
    """
    groups = seeds.groupby("order", sort=False)["node"]
    return ", ".join(" or ".join(str(name) for name in some) for _, some in groups)


def _seeds(graph: MultilayerGraph, request: dict[str, Any]) -> pd.DataFrame | None:
    from gramme.ranking import influence

    if not request["seeds"]:
        return None
    try:
        return influence(
            graph,
            min(request["seeds"], graph.num_nodes),
            model=request["model"],
            probability=request["probability"],
            random_state=request["seed"],
            tell=tell_steps,
        )
    except DataError as error:
        if "more than the" not in str(error):
            raise
        note(f"no seeds are chosen: {error}")
        return None


def _small_enough(graph: MultilayerGraph) -> bool:
    entries = sum(layer.num_entries for layer in graph.layers.values())
    if entries > MAX_SPREAD_ENTRIES:
        note(
            f"with {entries:,} edges and memberships, how sure the ranks are is left out "
            f"(it is found up to {MAX_SPREAD_ENTRIES:,})"
        )
    return entries <= MAX_SPREAD_ENTRIES


def _table(ranks: pd.DataFrame, first: NDArray[np.int64]) -> Table:
    from gramme.ranking import MEASURES
    from gramme.ranking.rank_nodes import coinciding_measures, tied

    measures = [name for name in ranks.columns if name in MEASURES]
    shown = [name for name in SHOWN_MEASURES if name in measures] or measures[: len(SHOWN_MEASURES)]
    shown = [name for name in shown if name in coinciding_measures(ranks)] or shown
    table = Table(box=None, pad_edge=False, header_style="bold", title_justify="left")
    table.add_column("rank by", overflow="fold")
    for name in shown:
        table.add_column(name, justify="right")
    shared = {name: tied(ranks[f"{name}_rank"].to_numpy()) for name in shown}
    for place in first:
        values = [f"{int(ranks[f'{name}_rank'].iloc[place]):,}{'=' if shared[name][place] else ''}" for name in shown]
        table.add_row(escape(str(ranks.index[place])), *values)
    return table
