"""What a person or a script sees after a fit."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import typer
from rich.cells import cell_len
from rich.table import Table

from gramme._terminal import escape, json_text
from gramme.cli.console import out
from gramme.cli.set_steps import sets_told

MAX_CLASSES_PRINTED = 8  # classes whose recall is printed, the rarest first

Show = Callable[[dict[str, Any], pd.DataFrame | None, Path, list[str]], None]


def printer(*, as_json: bool, quiet: bool) -> Show:
    """How the outcome of a fit is shown."""
    if as_json:
        return _print_json
    return _print_nothing if quiet else print_result


def print_result(
    result: dict[str, Any], layers: pd.DataFrame | None, target: Path, files: list[str]
) -> None:
    """What a person sees after a fit."""
    predicted = result["nodes"] - result["training_labels"]
    out.print(
        escape(
            f"{result['method']} on {result['data']}: learned from {result['training_labels']:,} of "
            f"{result['nodes']:,} nodes in {result['seconds']:.1f} s and predicted the other {predicted:,}"
            if predicted
            else f"{result['method']} on {result['data']}: learned from all {result['nodes']:,} nodes in "
            f"{result['seconds']:.1f} s; every node has a label, so there is none left to predict"
        )
    )
    for line in accuracy_told(result["estimate"]):
        out.print(escape(line))
    for line in sets_told(result["sets"]) if "sets" in result else []:
        out.print(escape(line))
    if "explanation" in result:
        out.print(escape(f"made of: {result['explanation']}"))
    if layers is not None:
        out.print(_layers(layers))
    out.print(escape(f"in {target}: {', '.join(files)}"))
    best = "report.html" if "report.html" in files else "predictions.csv"
    out.print(escape(f"open {target / best}"))


def accuracy_told(estimate: dict[str, Any]) -> list[str]:
    """The lines about how good a fit is; if classes are unequal, balanced accuracy and recall come first."""
    if estimate["kind"] == "none":
        return [f"accuracy: not known ({estimate['note']})"]
    where = {
        "holdout": f"on {estimate['nodes']:,} held-out nodes",
        "cross-validation": f"by cross-validation on {estimate['nodes']:,} labelled nodes",
        "cross-fitting": f"by cross-fitting on {estimate['nodes']:,} labelled nodes",
    }[estimate["kind"]]
    low, high = estimate["accuracy_ci95"]
    plain = f"{estimate['accuracy']:.1%} (95 % interval {low:.1%} to {high:.1%})"
    lines = [f"accuracy {where}: {plain}"]
    if estimate["unequal_classes"]:
        low, high = estimate["balanced_accuracy_ci95"]
        lines = [
            f"balanced accuracy {where}: {estimate['balanced_accuracy']:.1%} "
            f"(95 % interval {low:.1%} to {high:.1%})",
            f"  found of each class: {_recalls(estimate['recall'])}",
            f"  accuracy: {plain}",
        ]
    guess = estimate["guess"]
    if estimate["against_guess"] != "better":
        word = "no better" if estimate["against_guess"] == "no better" else "not clearly better"
        always = f"{word} than always saying {guess['class']!r}, which"
        right = f"is right for {guess['accuracy']:.1%}"
        if estimate["unequal_classes"]:
            blind = 1 / len(estimate["recall"])
            lines.append(f"  by balanced accuracy {always} has {blind:.1%} and {right}")
        else:
            lines.append(f"  {always} {right}")
    return [*lines, f"  {estimate['note']}"]


def _recalls(recall: dict[str, dict[str, Any]]) -> str:
    rarest = sorted(recall.items(), key=lambda one: one[1]["nodes"])
    told = [
        f"{label} {one['found']:,} of {one['nodes']:,}"
        for label, one in rarest[:MAX_CLASSES_PRINTED]
    ]
    return ", ".join(told) + (", ..." if len(rarest) > MAX_CLASSES_PRINTED else "")


MIN_BAR, MAX_BAR = 10, 30  # characters of the longest bar
NUMBER_COLUMN = 14  # characters between a layer's name and its bar


def _layers(layers: pd.DataFrame) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("layer", overflow="fold")
    table.add_column("importance", justify="right")
    table.add_column("")
    ordered = layers.sort_values("importance", ascending=False)
    longest = ordered["importance"].max() or 1.0  # all are 0 if no layer joins any nodes
    rows = ordered.head(20).to_dict(orient="records")
    names = [escape(str(row["layer"])) for row in rows]
    # bars give way to names, so that these break only where even a short bar leaves too little
    room = out.width - max(cell_len(name) for name in names) - NUMBER_COLUMN
    bars = min(max(room, MIN_BAR), MAX_BAR)
    for name, row in zip(names, rows, strict=True):
        bar = "█" * round(bars * row["importance"] / longest)
        table.add_row(name, f"{row['importance']:.1%}", bar)
    if len(ordered) > 20:
        table.add_row(f"and {len(ordered) - 20} more in layers.csv")
    return table


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
    typer.echo(json_text(record))
