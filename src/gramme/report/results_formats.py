"""Tables of a benchmark as text: for the terminal, csv, json, markdown and latex."""

from __future__ import annotations

import io
import math
from collections.abc import Callable
from typing import Any

import pandas as pd
from rich.console import Console
from rich.table import Table

from gramme._terminal import escape, json_text
from gramme.errors import DataError, did_you_mean

# What people read is rounded; csv and json hold every digit.
_DIGITS = {
    "train_percent": "g",
    "accuracy_mean": ".2f",
    "accuracy_std": ".2f",
    "accuracy_ci95": ".2f",
    "peak_mean": ".2f",
    "macro_f1_mean": ".2f",
    "cpu_seconds_mean": ".2f",
    "paper_accuracy": ".2f",
    "difference": ".2f",
    "statistic": ".2f",
    "p_value": ".3g",
    "p_corrected": ".3g",
    "average_rank": ".2f",
}
# Shown to people only where there is something to say, or not at all: csv and json have them always.
_WHERE_NEEDED = ("settings", "missed_class_repeats", "failed")
_LEFT_OUT = (
    "log_loss_mean",
    "calibration_error_mean",
    "wall_seconds_mean",
    "memory_mean",
    "best",
    "level_with_best",
    "p_value",
)
_NOTES = (
    "accuracy, peak, macro F1 and the paper's figure in percent; accuracy_ci95 is the half width of the mean's 95 % "
    "interval",
    "peak_mean is optimistic: the best epoch by test accuracy, for comparison with the paper only",
    "* the best of its dataset and percentage: better than every other by the paired test, Holm-corrected, p < 0.05",
)


def format_results(table: pd.DataFrame, style: str = "table") -> str:
    """A table of :func:`gramme.evaluation.summarise`, or another of its kind, as text.

    Parameters
    ----------
    table : DataFrame
    style : {"table", "csv", "json", "markdown", "latex"}, default="table"

    Examples
    --------
    >>> table = pd.DataFrame({"dataset": ["wine"], "train_percent": [10.0], "p_corrected": [0.5]})
    >>> print(format_results(table, "markdown"))
    | dataset | train_percent | p_corrected |
    |---|---:|---:|
    | wine | 10 | 0.5 |
    """
    if style not in STYLES:
        raise DataError(f"there is no format {style!r}; {did_you_mean(style, STYLES)}")
    return STYLES[style](table)


def _csv(table: pd.DataFrame) -> str:
    return table.to_csv(index=False).rstrip("\n")


def _json(table: pd.DataFrame) -> str:
    rows = [
        {name: _plain(value) for name, value in row.items()} for row in table.to_dict("records")
    ]
    return json_text(rows, indent=2)


def _plain(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _terminal(table: pd.DataFrame) -> str:
    columns, rows, best = _readable(table)
    shown = Table(box=None, pad_edge=False, header_style="bold")
    for name in columns:
        # whole names: what is looked up elsewhere must not be cut
        shown.add_column(name, justify="right" if _is_number(table, name) else "left", no_wrap=True)
    for row, winner in zip(rows, best, strict=True):
        shown.add_row(*(escape(text) for text in _marked(columns, row, winner, "{} *")))
    text = io.StringIO()
    Console(file=text, width=10_000, highlight=False).print(shown)
    lines = [line.rstrip() for line in text.getvalue().splitlines()]
    return "\n".join(lines + _notes(columns))


def _markdown(table: pd.DataFrame) -> str:
    columns, rows, best = _readable(table)
    lines = [
        "| " + " | ".join(columns) + " |",
        "|" + "|".join("---:" if _is_number(table, name) else "---" for name in columns) + "|",
    ]
    for row, winner in zip(rows, best, strict=True):
        cells = [cell.replace("\\", "\\\\").replace("|", "\\|") for cell in row]
        lines.append("| " + " | ".join(_marked(columns, cells, winner, "**{}**")) + " |")
    return "\n".join(lines)


_LATEX = str.maketrans(
    {character: f"\\{character}" for character in "&%$#_{}"}
    | {"~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "\\": r"\textbackslash{}", "–": "--"}
)


def _latex(table: pd.DataFrame) -> str:
    columns, rows, best = _readable(table)
    places = "".join("r" if _is_number(table, name) else "l" for name in columns)
    lines = [rf"\begin{{tabular}}{{{places}}}", r"\hline"]
    lines += [" & ".join(name.translate(_LATEX) for name in columns) + r" \\", r"\hline"]
    for row, winner in zip(rows, best, strict=True):
        cells = [cell.translate(_LATEX) for cell in row]
        lines.append(" & ".join(_marked(columns, cells, winner, r"\textbf{{{}}}")) + r" \\")
    return "\n".join([*lines, r"\hline", r"\end{tabular}"])


STYLES: dict[str, Callable[[pd.DataFrame], str]] = {
    "table": _terminal,
    "csv": _csv,
    "json": _json,
    "markdown": _markdown,
    "latex": _latex,
}


def _readable(table: pd.DataFrame) -> tuple[list[str], list[list[str]], list[bool]]:
    """Columns, cells and which rows are best, for people."""
    is_summary = "level_with_best" in table
    columns = [
        name
        for name in table.columns
        if not (is_summary and name in _LEFT_OUT)
        and not (name in _WHERE_NEEDED and not table[name].astype(bool).any())
    ]
    rows = [
        [_cell(name, value) for name, value in zip(columns, row, strict=True)]
        for row in table[columns].itertuples(index=False)
    ]
    best = table["best"].tolist() if is_summary else [False] * len(table)
    return columns, rows, best


def _cell(name: str, value: Any) -> str:
    if isinstance(value, float):
        if math.isnan(value):
            return "–"
        return format(value, _DIGITS.get(name, ".4g"))
    return str(value)


def _marked(columns: list[str], row: list[str], winner: bool, mark: str) -> list[str]:
    if not winner:
        return row
    return [
        mark.format(cell) if name == "accuracy_mean" else cell
        for name, cell in zip(columns, row, strict=True)
    ]


def _is_number(table: pd.DataFrame, name: str) -> bool:
    return bool(pd.api.types.is_numeric_dtype(table[name]))


def _notes(columns: list[str]) -> list[str]:
    return ["", *_NOTES] if "accuracy_mean" in columns else []
