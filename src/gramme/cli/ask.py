"""``gramme ask``: whom to label next."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from .console import check_not_read, loading, out, warnings_as_notes
from .options import RAW_CSV, Data, Reading, command_line, takes_reading_options

if TYPE_CHECKING:
    import pandas as pd

    from gramme.graph import MultilayerGraph

SHOWN_NODES = 12


@takes_reading_options
def ask(
    context: typer.Context,
    data: Data,
    target: Path = typer.Option(..., "--out", help="Folder to write the results to."),
    count: int = typer.Option(10, "--count", min=1, help="How many nodes to choose."),
    among: Path | None = typer.Option(
        None, "--among", help="File with a node per line: only these can be asked."
    ),
    layers: list[str] | None = typer.Option(
        None, "--layer", help="Use this layer only; may be repeated."
    ),
    equal: bool = typer.Option(
        False, "--equal-layers", help="All layers count alike, instead of by what they show."
    ),
    seed: int = typer.Option(0, "--seed", min=0, help="The same seed gives the same result."),
    raw_csv: bool = typer.Option(False, "--raw-csv", help=RAW_CSV),
    overwrite: bool = typer.Option(False, "--overwrite", help="Replace an earlier result."),
    quiet: bool = typer.Option(False, "--quiet", help="Print nothing but errors."),
    as_json: bool = typer.Option(False, "--json", help="Print a JSON object for scripts."),
    *,
    read: Reading,
) -> None:
    """Choose the nodes of DATA whose labels would tell most about the others; with --labels, beside those known.

    Writes ask.csv (node, an empty label to fill in, why, and whom it stands for), report.html and config.json to the
    folder. The filled table goes to gramme fit --labels, and to a further gramme ask --labels.
    """
    with loading():
        import numpy as np

        from gramme._progress import part
        from gramme._text import escape, json_text
        from gramme.grouping import ask as choose_nodes
        from gramme.io.values import require_proper
        from gramme.methods.labels import aligned_labels
        from gramme.report.page.before_labels import write_ask
        from gramme.report.result_folders import check_target

        from .data import open_data

    check_target(target, overwrite=overwrite)
    check_not_read(target, [*data, among] if among else data, read)
    with warnings_as_notes(silent=quiet):
        opened = open_data(data, read, needs_label=False)
        if not quiet:
            opened.tell()
        graph = opened.graph.select_layers(layers) if layers else opened.graph
        require_proper("layer", graph.layers)
        require_proper("node", graph.nodes)
        with part("Whom to ask", 0.7):
            chosen = choose_nodes(
                graph,
                count=count,
                among=None if among is None else _listed(graph, among),
                layer_weights="equal" if equal else None,
                random_state=seed,
            )
        labelled = np.zeros(graph.num_nodes, dtype=bool)
        if graph.labels is not None:
            labelled = np.array([one is not None for one in aligned_labels(graph)])
        with part("What more labels would bring", 0.2):
            curve = _curve(graph, int(labelled.sum()), seed)
        config = {
            "data": " ".join(data),
            "command": command_line(context),
            "count": count,
            "labelled": int(labelled.sum()),
            "seed": seed,
        }
        with part("Writing the results and the page", 0.1):
            files = write_ask(
                target,
                graph,
                chosen,
                labelled=labelled,
                curve=curve,
                config=config,
                overwrite=overwrite,
                raw_csv=raw_csv,
            )
    if as_json:
        record = {
            "nodes": graph.num_nodes,
            "labelled": int(labelled.sum()),
            "ask": [str(one) for one in chosen["node"]],
            "stands_for": [len(names) for names in chosen["stands_for"]],
            "expected": None if curve is None else curve.to_dict(orient="records"),
            "out": str(target),
            "files": files,
        }
        typer.echo(json_text(record))
    elif not quiet:
        _show(chosen, curve)
        out.print(escape(f"in {target}: {', '.join(files)}"))
        out.print(
            escape(f"open {target / 'report.html'}; fill in the labels in {target / 'ask.csv'}")
        )


def _listed(graph: MultilayerGraph, path: Path) -> list[object]:
    """The nodes that a file names, a line each, as the graph calls them."""
    names = [line.strip() for line in path.read_text(encoding="utf-8-sig").splitlines()]
    by_text = {str(name): name for name in graph.nodes}
    return [by_text.get(name, name) for name in names if name]


def _curve(graph: MultilayerGraph, labels: int, seed: int) -> pd.DataFrame | None:
    """What more labels would bring, where there are enough to tell and not so many nodes that it takes long."""
    from gramme.errors import DataError
    from gramme.evaluation.learning_curve import MAX_ENTRIES, MIN_LABELS, learning_curve

    if labels < MIN_LABELS or graph.num_entries > MAX_ENTRIES:
        return None
    try:
        return learning_curve(graph, random_state=seed)
    except (
        DataError
    ):  # labels of one class, or numbers: no curve, and whom to ask is known all the same
        return None


def _show(chosen: pd.DataFrame, curve: pd.DataFrame | None) -> None:
    from rich.table import Table

    from gramme._text import escape

    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("ask", overflow="fold")
    table.add_column("why", overflow="fold")
    for _, row in chosen.head(SHOWN_NODES).iterrows():
        table.add_row(escape(str(row["node"])), escape(str(row["why"])))
    out.print(table)
    if len(chosen) > SHOWN_NODES:
        out.print(f"and {len(chosen) - SHOWN_NODES:,} more")
    if curve is not None:
        told = ", ".join(
            f"{row['accuracy']:.0%} ({row['low']:.0%} to {row['high']:.0%}) "
            + (f"with {row['more']} more" if row["more"] else "now")
            for row in curve.to_dict(orient="records")
        )
        out.print(f"expected accuracy of label propagation: {told}")
