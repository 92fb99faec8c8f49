"""``gramme groups``: what groups are there, seen from all layers at once."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from .console import check_not_read, loading, out, warnings_as_notes
from .options import RAW_CSV, Data, Reading, command_line, takes_reading_options

if TYPE_CHECKING:
    from gramme.grouping import Groups

SHOWN_GROUPS = 12


@takes_reading_options
def groups(
    context: typer.Context,
    data: Data,
    target: Path = typer.Option(..., "--out", help="Folder to write the results to."),
    count: int | None = typer.Option(
        None, "--count", min=1, help="How many groups; as many as the layers show if not given."
    ),
    layers: list[str] | None = typer.Option(
        None, "--layer", help="Use this layer only; may be repeated."
    ),
    resolution: float | None = typer.Option(
        None, "--resolution", min=0.0, help="Larger values give more and smaller groups."
    ),
    equal: bool = typer.Option(
        False, "--equal-layers", help="All layers count alike, instead of by what they show."
    ),
    repeats: int | None = typer.Option(
        None, "--repeats", min=2, help="How often groups are sought again for the stability."
    ),
    engine: str = typer.Option(
        "gramme", "--engine", help="gramme, or leidenalg if that library is installed."
    ),
    seed: int = typer.Option(0, "--seed", min=0, help="The same seed gives the same result."),
    raw_csv: bool = typer.Option(False, "--raw-csv", help=RAW_CSV),
    overwrite: bool = typer.Option(False, "--overwrite", help="Replace an earlier result."),
    quiet: bool = typer.Option(False, "--quiet", help="Print nothing but errors."),
    as_json: bool = typer.Option(False, "--json", help="Print a JSON object for scripts."),
    *,
    read: Reading,
) -> None:
    """Find the groups of DATA that all layers together show, and say how far to trust them. Labels are not needed.

    Writes groups.csv (a row per node: its group, how stable that is, and its group in each layer), layers.csv,
    report.html and config.json to the folder.
    """
    with loading():
        from gramme._progress import part
        from gramme._text import escape, json_text
        from gramme.grouping import groups as find_groups
        from gramme.io.values import require_proper
        from gramme.report.page.before_labels import write_groups
        from gramme.report.result_folders import check_target

        from .data import open_data

    check_target(target, overwrite=overwrite)
    check_not_read(target, data, read)
    with warnings_as_notes(silent=quiet):
        opened = open_data(data, read, needs_label=False)
        if not quiet:
            opened.tell()
        graph = opened.graph.select_layers(layers) if layers else opened.graph
        require_proper("layer", graph.layers)
        require_proper("node", graph.nodes)
        with part("Groups", 0.8):
            found = find_groups(
                graph,
                count,
                resolution=resolution,
                layer_weights="equal" if equal else None,
                repeats=repeats,
                engine=engine,
                random_state=seed,
            )
        config = {
            "data": " ".join(data),
            "command": command_line(context),
            "count": count,
            "resolution": found.resolution_,
            "seed": seed,
        }
        with part("Writing the results and the page", 0.2):
            files = write_groups(target, found, config=config, overwrite=overwrite, raw_csv=raw_csv)
    if as_json:
        record = {
            "nodes": graph.num_nodes,
            "groups": found.count_,
            "isolated": int(found.isolated_.sum()),
            "has_groups": found.has_groups_,
            "modularity": found.quality_,
            "seed_agreement": found.seed_agreement_,
            "layer_part": {str(name): float(one) for name, one in found.layer_part_.items()},
            "overlap": found.overlap_,
            "out": str(target),
            "files": files,
        }
        typer.echo(json_text(record))
    elif not quiet:
        _show(found)
        out.print(escape(f"in {target}: {', '.join(files)}"))
        out.print(escape(f"open {target / 'report.html'}"))


def _show(found: Groups) -> None:
    from rich.table import Table

    from gramme._text import escape

    out.print(escape(found.verdict))
    summary = found.summary()
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("group", "nodes", "stability"):
        table.add_column(column, justify="right")
    table.add_column("more frequent than elsewhere", overflow="fold")
    for group, row in summary.head(SHOWN_GROUPS).iterrows():
        stability = "" if row["stability"] != row["stability"] else f"{row['stability']:.0%}"
        table.add_row(str(group), f"{row['nodes']:,}", stability, escape(str(row["more_frequent"])))
    out.print(table)
    if len(summary) > SHOWN_GROUPS:
        out.print(f"and {len(summary) - SHOWN_GROUPS:,} more")
    first = found.layer_part_.sort_values(ascending=False).head(5)
    told = ", ".join(f"{name} {share:.0%}" for name, share in first.items())
    out.print(escape(f"supported by the layers: {told}"))
    if found.overlap_:
        out.print(
            f"agreement with the labels: {found.overlap_['adjusted_rand']:.2f} (adjusted Rand)"
        )
