"""``gramme rank``: who matters over all layers. Only the options are here; the work is in ``rank_steps.py``."""

from __future__ import annotations

from pathlib import Path

import typer

from .console import check_not_read, loading, warnings_as_notes
from .options import RAW_CSV, Data, Reading, takes_reading_options


@takes_reading_options
def rank(
    context: typer.Context,
    data: Data,
    target: Path = typer.Option(..., "--out", help="Folder to write the results to."),
    measures: str | None = typer.Option(
        None,
        "--measures",
        help="Which measures, like pagerank,voterank; the usual ones if not given.",
    ),
    layers: list[str] | None = typer.Option(
        None, "--layer", help="Use this layer only; may be repeated."
    ),
    negative: list[str] | None = typer.Option(
        None,
        "--negative",
        help="Leave out this layer, whose edges are negative, like dislike; guessed from names if not given. May be "
        'repeated; --negative "" keeps all layers.',
    ),
    per_layer: bool = typer.Option(
        False, "--per-layer", help="Add the measures of each layer alone."
    ),
    coupling: float = typer.Option(
        1.0, "--coupling", min=0.0, help="Weight of the step from one layer to another."
    ),
    restart: list[str] | None = typer.Option(
        None, "--near", help="Rank by PageRank around this node; may be repeated."
    ),
    seeds: int = typer.Option(
        5, "--seeds", min=0, help="How many nodes to choose for spreading news; 0 for none."
    ),
    model: str = typer.Option(
        "cascade", "--spreading", help="How news spreads: cascade or threshold."
    ),
    probability: float = typer.Option(
        0.1, "--probability", min=0.0, max=1.0, help="Chance that news passes along an edge."
    ),
    spread: bool = typer.Option(
        True, "--spread/--no-spread", help="Whether to find out how sure the ranks are."
    ),
    seed: int = typer.Option(0, "--seed", min=0, help="The same seed gives the same result."),
    raw_csv: bool = typer.Option(False, "--raw-csv", help=RAW_CSV),
    overwrite: bool = typer.Option(False, "--overwrite", help="Replace an earlier result."),
    quiet: bool = typer.Option(False, "--quiet", help="Print nothing but errors."),
    as_json: bool = typer.Option(False, "--json", help="Print a JSON object for scripts."),
    *,
    read: Reading,
) -> None:
    """Say how much each node of DATA matters over all layers, how certain that is, and whom to tell first.

    Writes ranks.csv (a row per node: each measure, its rank, and between which ranks it moves), seeds.csv, layers.csv,
    report.html and config.json to the folder.
    """
    with loading():
        from . import rank_steps
        from .data import open_data

    rank_steps.check_request(target, measures, model, overwrite=overwrite)
    check_not_read(target, data, read)
    with warnings_as_notes(silent=quiet):
        opened = open_data(data, read, needs_label=False)
        if not quiet:
            opened.tell()
        graph = opened.graph.select_layers(layers) if layers else opened.graph
        rank_steps.rank_graph(
            graph,
            target,
            rank_steps.RankRequest(
                measures=rank_steps.words(measures),
                negative=negative or None,
                per_layer=per_layer,
                coupling=coupling,
                restart=restart,
                seeds=seeds,
                model=model,
                probability=probability,
                spread=spread,
                seed=seed,
            ),
            described={"data": " ".join(data), "command": rank_steps.command_line(context)},
            overwrite=overwrite,
            raw_csv=raw_csv,
            silent=quiet or as_json,
            as_json=as_json,
        )
