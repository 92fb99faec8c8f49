"""The work of ``gramme fit`` and ``gramme predict``: fit, measure on labels set aside, write, and show."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import typer
from numpy.typing import NDArray
from rich.markup import escape
from rich.table import Table

from gramme.cli.console import messages, out
from gramme.cli.settings import make_model
from gramme.errors import DataError
from gramme.evaluation import Holdout, hold_out
from gramme.graph import MultilayerGraph
from gramme.methods import NodeClassifier, load, method
from gramme.methods.labels import aligned_labels
from gramme.report import check_target, layer_table, prediction_table, write_fit

Show = Callable[[dict[str, Any], pd.DataFrame | None, Path, list[str]], None]


def fit_graph(
    graph: MultilayerGraph,
    model: NodeClassifier,
    target: Path,
    *,
    described: dict[str, Any],
    share: float | None,
    seed: int,
    overwrite: bool,
    show: Show,
) -> None:
    """Fit, measure on labels set aside where asked for, write the folder and show what came out."""
    labels = aligned_labels(graph)
    split = None if share is None else hold_out(labels, share, seed)
    train = labels if split is None else split.train
    started = time.perf_counter()
    model.fit(graph, train)
    result = described | _outcome(model, graph, train, split)
    result["seconds"] = round(time.perf_counter() - started, 2)
    files = write_fit(target, model, graph, known=train, config=result, overwrite=overwrite)
    show(result, layer_table(model), target, files)


def write_predictions(model: NodeClassifier, graph: MultilayerGraph, target: Path) -> None:
    """Predict the nodes of a graph and write them; the file appears whole or not at all."""
    table = prediction_table(model, graph)
    temporary = target.with_name(f".{target.name}.part")
    try:
        table.to_csv(temporary, index=False)
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)
    out.print(escape(f"{len(table):,} predictions in {target}"))


def printer(*, as_json: bool, quiet: bool) -> Show:
    """How the outcome of a fit is shown."""
    if as_json:
        return _print_json
    return _print_nothing if quiet else print_result


def parse_share(text: str) -> float:
    """A share from text: 20% or 0.2.

    >>> parse_share("20%"), parse_share("0.2")
    (0.2, 0.2)
    """
    try:
        value = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        value = float("nan")
    if not 0 < value < 1:
        raise DataError(f"{text!r} is no share; write 20% or 0.2")
    return value


def _outcome(
    model: NodeClassifier,
    graph: MultilayerGraph,
    train: NDArray[np.object_],
    split: Holdout | None,
) -> dict[str, Any]:
    outcome: dict[str, Any] = {
        "nodes": graph.num_nodes,
        "layers": graph.num_layers,
        "classes": [str(label) for label in model.classes_.tolist()],
        "training_labels": int(sum(label is not None for label in train)),
    }
    if split is not None:
        accuracy, (low, high) = split.accuracy(model.predict())
        outcome["held_out"] = int(split.held_out.size)
        outcome["accuracy"] = accuracy
        outcome["accuracy_ci95"] = [low, high]
    return outcome


def print_result(
    result: dict[str, Any], layers: pd.DataFrame | None, target: Path, files: list[str]
) -> None:
    """What a person sees after a fit."""
    out.print(
        escape(
            f"{result['method']} on {result['data']}: learned from {result['training_labels']:,} of "
            f"{result['nodes']:,} nodes in {result['seconds']:.1f} s"
        )
    )
    if "accuracy" in result:
        low, high = result["accuracy_ci95"]
        out.print(
            f"accuracy on {result['held_out']:,} held-out nodes: {result['accuracy']:.1%} "
            f"(95 % interval {low:.1%} to {high:.1%})"
        )
    else:
        messages.print("No labels were held out, so no accuracy was measured; add --holdout 20%.")
    if layers is not None:
        table = Table(box=None, pad_edge=False, header_style="bold")
        table.add_column("layer", overflow="fold")
        table.add_column("importance", justify="right")
        table.add_column("")
        ordered = layers.sort_values("importance", ascending=False)
        for row in ordered.head(20).to_dict(orient="records"):
            bar = "█" * round(30 * row["importance"] / ordered["importance"].max())
            table.add_row(escape(row["layer"]), f"{row['importance']:.1%}", bar)
        out.print(table)
    out.print(escape(f"in {target}: {', '.join(files)}"))


def _print_nothing(
    result: dict[str, Any], layers: pd.DataFrame | None, target: Path, files: list[str]
) -> None:
    pass


def _print_json(
    result: dict[str, Any], layers: pd.DataFrame | None, target: Path, files: list[str]
) -> None:
    shares = (
        None if layers is None else dict(zip(layers["layer"], layers["importance"], strict=True))
    )
    record = result | {"layer_importance": shares, "out": str(target), "files": files}
    typer.echo(json.dumps(record, ensure_ascii=False))


__all__ = [
    "check_target",
    "fit_graph",
    "load",
    "make_model",
    "method",
    "parse_share",
    "print_result",
    "printer",
    "write_predictions",
]
