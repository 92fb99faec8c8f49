"""``gramme groups``: what groups are there, seen from all layers at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer
from rich.table import Table

from gramme._progress import part
from gramme._text import escape
from gramme._text import share as percent

from .console import loading
from .options import AsJson, Data, Layers, OutFolder, Overwrite, Quiet, RawCsv, Reading, Seed, takes_reading_options

if TYPE_CHECKING:
    from gramme.graph import MultilayerGraph
    from gramme.grouping import Groups

    from .analysis import Analysis

SHOWN_GROUPS = 12


@takes_reading_options
def groups(
    context: typer.Context,
    data: Data,
    target: OutFolder,
    count: int | None = typer.Option(
        None, "--count", min=1, help="How many groups; as many as the layers show if not given."
    ),
    layers: Layers = None,
    resolution: float | None = typer.Option(
        None, "--resolution", min=0.0, help="Larger values give more and smaller groups."
    ),
    equal: bool = typer.Option(False, "--equal-layers", help="All layers count alike, instead of by what they show."),
    repeats: int | None = typer.Option(
        None, "--repeats", min=2, help="How often groups are sought again for the stability."
    ),
    engine: str = typer.Option("gramme", "--engine", help="gramme, or leidenalg if that library is installed."),
    seed: Seed = 0,
    raw_csv: RawCsv = False,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
    *,
    read: Reading,
) -> None:
    """Find the groups of DATA that all layers together show, and say how far to trust them. Labels are not needed.

    Writes groups.csv (a row per node: its group, how stable that is, and its group in each layer), layers.csv,
    report.html and config.json to the folder.
    """
    with loading():
        from gramme.grouping import groups as find_groups
        from gramme.report.page.before_labels import write_groups

        from .analysis import Analysis, analyse

    def work(graph: MultilayerGraph) -> Analysis:
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

        def write(config: dict[str, Any], **options: Any) -> list[str]:
            config |= {"count": count, "resolution": found.resolution_, "seed": seed}
            with part("Writing the results and the page", 0.2):
                return write_groups(target, found, config=config, **options)

        record = {
            "nodes": graph.num_nodes,
            "groups": found.count_,
            "isolated": int(found.isolated_.sum()),
            "has_groups": found.has_groups_,
            "modularity": found.quality_,
            "seed_agreement": found.seed_agreement_,
            "layer_part": {str(name): float(one) for name, one in found.layer_part_.items()},
            "overlap": found.overlap_,
        }
        return Analysis(write, record, _shown(found))

    analyse(work, data, read, target, context, layers=layers)


def _shown(found: Groups) -> list[Any]:
    """The verdict, a table of the groups, the layers that support them, and how they agree with the labels."""
    summary = found.summary()
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("group", "nodes", "stability"):
        table.add_column(column, justify="right")
    table.add_column("more frequent than elsewhere", overflow="fold")
    for group, row in summary.head(SHOWN_GROUPS).iterrows():
        stability = "" if row["stability"] != row["stability"] else percent(row["stability"])
        table.add_row(str(group), f"{row['nodes']:,}", stability, escape(str(row["more_frequent"])))
    shown: list[Any] = [found.verdict, table]
    if len(summary) > SHOWN_GROUPS:
        shown.append(f"and {len(summary) - SHOWN_GROUPS:,} more")
    first = found.layer_part_.sort_values(ascending=False).head(5)
    shown.append(f"supported by the layers: {', '.join(f'{name} {percent(share)}' for name, share in first.items())}")
    if found.overlap_:
        shown.append(f"agreement with the labels: {found.overlap_['adjusted_rand']:.2f} (adjusted Rand)")
    return shown
