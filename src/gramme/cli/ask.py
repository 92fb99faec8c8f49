"""``gramme ask``: whom to label next."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from rich.table import Table

from gramme._progress import part
from gramme._text import escape
from gramme._text import share as percent

from .console import loading
from .options import AsJson, Data, Layers, OutFolder, Overwrite, Quiet, RawCsv, Reading, Seed, takes_reading_options

if TYPE_CHECKING:
    import pandas as pd

    from gramme.graph import MultilayerGraph

    from .analysis import Analysis

SHOWN_NODES = 12


@takes_reading_options
def ask(
    context: typer.Context,
    data: Data,
    target: OutFolder,
    count: int = typer.Option(10, "--count", min=1, help="How many nodes to choose."),
    among: Path | None = typer.Option(None, "--among", help="File with a node per line: only these can be asked."),
    layers: Layers = None,
    equal: bool = typer.Option(False, "--equal-layers", help="All layers count alike, instead of by what they show."),
    seed: Seed = 0,
    raw_csv: RawCsv = False,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
    *,
    read: Reading,
) -> None:
    """Choose the nodes of DATA whose labels would tell most about the others; with --labels, beside those known.

    Writes ask.csv (node, an empty label to fill in, why, and whom it stands for), report.html and config.json to the
    folder. The filled table goes to gramme fit --labels, and to a further gramme ask --labels.
    """
    with loading():
        import numpy as np

        from gramme.grouping import ask as choose_nodes
        from gramme.methods.labels import aligned_labels
        from gramme.report.page.before_labels import write_ask

        from .analysis import Analysis, analyse, named_nodes

    def work(graph: MultilayerGraph) -> Analysis:
        can_be_asked = None
        if among is not None:
            words = [line.strip() for line in among.read_text(encoding="utf-8-sig").splitlines()]
            can_be_asked = named_nodes(graph, [word for word in words if word])
        weights = "equal" if equal else None
        with part("Whom to ask", 0.7):
            chosen = choose_nodes(graph, count=count, among=can_be_asked, layer_weights=weights, random_state=seed)
        known = np.zeros(graph.num_nodes, dtype=bool)
        if graph.labels is not None:
            known = np.array([one is not None for one in aligned_labels(graph)])
        labelled = int(known.sum())
        with part("What more labels would bring", 0.2):
            curve = _curve(graph, labelled, seed)

        def write(config: dict[str, Any], **options: Any) -> list[str]:
            config |= {"count": count, "labelled": labelled, "seed": seed}
            with part("Writing the results and the page", 0.1):
                return write_ask(target, graph, chosen, labelled=known, curve=curve, config=config, **options)

        record = {
            "nodes": graph.num_nodes,
            "labelled": labelled,
            "ask": [str(one) for one in chosen["node"]],
            "stands_for": [len(names) for names in chosen["stands_for"]],
            "expected": None if curve is None else curve.to_dict(orient="records"),
        }
        return Analysis(write, record, _shown(chosen, curve), f"; fill in the labels in {target / 'ask.csv'}")

    analyse(work, data, read, target, context, layers=layers, also_read=among)


def _curve(graph: MultilayerGraph, labels: int, seed: int) -> pd.DataFrame | None:
    """What more labels would bring, where there are enough to tell and not so many nodes that it takes long."""
    from gramme.errors import DataError
    from gramme.evaluation.learning_curve import MAX_ENTRIES, MIN_LABELS, learning_curve

    if labels < MIN_LABELS or graph.num_entries > MAX_ENTRIES:
        return None
    try:
        return learning_curve(graph, random_state=seed)
    except DataError:  # labels of one class, or numbers: no curve, and whom to ask is known all the same
        return None


def _shown(chosen: pd.DataFrame, curve: pd.DataFrame | None) -> list[Any]:
    """A table of the nodes to ask, and what is expected of more labels."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("ask", overflow="fold")
    table.add_column("why", overflow="fold")
    for _, row in chosen.head(SHOWN_NODES).iterrows():
        table.add_row(escape(str(row["node"])), escape(str(row["why"])))
    shown: list[Any] = [table]
    if len(chosen) > SHOWN_NODES:
        shown.append(f"and {len(chosen) - SHOWN_NODES:,} more")
    if curve is not None:
        told = ", ".join(
            f"{percent(row['accuracy'])} ({percent(row['low'])} to {percent(row['high'])}) "
            + (f"with {row['more']} more" if row["more"] else "now")
            for row in curve.to_dict(orient="records")
        )
        shown.append(f"expected accuracy of label propagation: {told}")
    return shown
