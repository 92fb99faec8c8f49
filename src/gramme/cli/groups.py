"""``gramme groups``: what groups are there, seen from all layers at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from gramme._progress import part
from gramme._text import share

from .console import loading, text_table
from .options import Data, Layers, Output, Reading, takes_options

if TYPE_CHECKING:
    from gramme.graph import MultilayerGraph

    from .analysis import Analysis


@takes_options
def groups(
    context: typer.Context,
    data: Data,
    output: Output,
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
        from gramme.report.page.html import sentences

        from .analysis import Analysis, analyse

    def work(graph: MultilayerGraph) -> Analysis:
        with part("Groups", 0.8):
            grouping = find_groups(
                graph,
                count,
                resolution=resolution,
                layer_weights="equal" if equal else None,
                repeats=repeats,
                engine=engine,
                random_state=output.seed,
            )

        def write(config: dict[str, Any], **options: Any) -> list[str]:
            config |= {"count": count, "resolution": grouping.resolution_, "seed": output.seed}
            with part("Writing the results and the page", 0.2):
                return write_groups(output.target, grouping, config=config, **options)

        script_record = {
            "nodes": graph.num_nodes,
            "groups": grouping.count_,
            "isolated": int(grouping.isolated_.sum()),
            "has_groups": grouping.has_groups_,
            "modularity": grouping.quality_,
            "seed_agreement": grouping.seed_agreement_,
            "layer_part": {str(name): float(value) for name, value in grouping.layer_part_.items()},
            "overlap": grouping.overlap_,
        }
        group_rows = [
            (group, row["nodes"], share(row["stability"]) if row["stability"] >= 0 else "", row["more_frequent"])
            for group, row in grouping.summary().iterrows()
        ]
        group_table = text_table(
            ["group#", "nodes#", "stability#", "more frequent than elsewhere"], group_rows, most=12
        )
        return Analysis(
            write, script_record, group_table, sentences("groups", script_record | {"verdict": grouping.verdict})
        )

    analyse(work, data, read, output, context, layers=layers)
