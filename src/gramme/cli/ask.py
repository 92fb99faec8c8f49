"""``gramme ask``: whom to label next."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from gramme._progress import part

from .console import loading, text_table
from .options import Data, Layers, Output, Reading, takes_options

if TYPE_CHECKING:
    from gramme.graph import MultilayerGraph

    from .analysis import Analysis


@takes_options
def ask(
    context: typer.Context,
    data: Data,
    output: Output,
    count: int = typer.Option(10, "--count", min=1, help="How many nodes to choose."),
    among: Path | None = typer.Option(None, "--among", help="File with a node per line: only these can be asked."),
    layers: Layers = None,
    equal: bool = typer.Option(False, "--equal-layers", help="All layers count alike, instead of by what they show."),
    *,
    read: Reading,
) -> None:
    """Choose the nodes of DATA whose labels would tell most about the others; with --labels, beside those known.

    Writes ask.csv (node, an empty label to fill in, why, and whom it stands for), report.html and config.json to the
    folder. The filled table goes to gramme fit --labels, and to a further gramme ask --labels.
    """
    with loading():
        import numpy as np

        from gramme.errors import DataError
        from gramme.evaluation.learning_curve import MAX_ENTRIES, MIN_LABELS, learning_curve
        from gramme.grouping import ask as choose_nodes
        from gramme.methods.labels import aligned_labels
        from gramme.report.page.before_labels import write_ask
        from gramme.report.page.html import sentences

        from .analysis import Analysis, analyse, named_nodes

    def work(graph: MultilayerGraph) -> Analysis:
        can_be_asked = None
        if among is not None:
            node_words = [line.strip() for line in among.read_text(encoding="utf-8-sig").splitlines()]
            can_be_asked = named_nodes(graph, [word for word in node_words if word])
        with part("Whom to ask", 0.7):
            chosen_nodes = choose_nodes(
                graph,
                count=count,
                among=can_be_asked,
                layer_weights="equal" if equal else None,
                random_state=output.seed,
            )
        is_labelled = np.zeros(graph.num_nodes, dtype=bool)
        if graph.labels is not None:
            is_labelled = np.array([label is not None for label in aligned_labels(graph)])
        label_curve = None
        with part("What more labels would bring", 0.2):
            if is_labelled.sum() >= MIN_LABELS and graph.num_entries <= MAX_ENTRIES:
                try:
                    label_curve = learning_curve(graph, random_state=output.seed)
                except DataError:  # labels of one class, or numbers
                    label_curve = None

        def write(config: dict[str, Any], **options: Any) -> list[str]:
            config |= {"count": count, "labelled": int(is_labelled.sum()), "seed": output.seed}
            with part("Writing the results and the page", 0.1):
                return write_ask(
                    output.target,
                    graph,
                    chosen_nodes,
                    labelled=is_labelled,
                    curve=label_curve,
                    config=config,
                    **options,
                )

        script_record = {
            "nodes": graph.num_nodes,
            "labelled": int(is_labelled.sum()),
            "ask": [str(node) for node in chosen_nodes["node"]],
            "stands_for": [len(names) for names in chosen_nodes["stands_for"]],
            "expected": None if label_curve is None else label_curve.to_dict(orient="records"),
        }
        ask_table = text_table(["ask", "why"], chosen_nodes[["node", "why"]].to_numpy().tolist(), most=12)
        fill_in = f"; fill in the labels in {output.target / 'ask.csv'}"
        return Analysis(write, script_record, ask_table, sentences("ask", script_record["expected"]), fill_in)

    analyse(work, data, read, output, context, layers=layers, also_read=among)
