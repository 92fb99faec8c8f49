"""Tables of a benchmark: as text for people and programs, its ranks as a figure, and a live one while it runs."""

from __future__ import annotations

import io
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pandas as pd
from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from gramme._text import escape, json_text, rough_duration
from gramme.errors import DataError, did_you_mean
from gramme.evaluation import Ranking, RunResult, RunSpec, compare_pairs, rank_methods, summarise
from gramme.evaluation.summary import METRICS

# Tables of a benchmark as text: for the terminal, csv, json, markdown and latex.

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
    "metric",
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
    """A table of :func:`gramme.evaluation.summarise`, or another of its kind, as text in one of ``STYLES``.

    >>> table = pd.DataFrame({"dataset": ["wine"], "train_percent": [10.0], "p_corrected": [0.5]})
    >>> print(format_results(table, "markdown"))
    | dataset | train_percent | p_corrected |
    |---|---:|---:|
    | wine | 10 | 0.5 |
    """
    if style not in STYLES:
        raise DataError(f"there is no format {style!r}; {did_you_mean(style, STYLES)}")
    return STYLES[style](table)


def _json(table: pd.DataFrame) -> str:
    finite = table.astype(object).where(~table.isin([math.inf, -math.inf]) & table.notna(), None)
    return json_text(finite.to_dict("records"), indent=2)


def _terminal(table: pd.DataFrame) -> str:
    columns, rows = _readable(table, "{} *", escape)
    shown = Table(box=None, pad_edge=False, header_style="bold")
    for name in columns:
        # whole names: what is looked up elsewhere must not be cut
        shown.add_column(name, justify="right" if _is_number(table, name) else "left", no_wrap=True)
    for row in rows:
        shown.add_row(*row)
    text = io.StringIO()
    Console(file=text, width=10_000, highlight=False).print(shown)
    lines = [line.rstrip() for line in text.getvalue().splitlines()]
    return "\n".join([*lines, "", *_NOTES] if "accuracy_mean" in columns else lines)


def _markdown(table: pd.DataFrame) -> str:
    columns, rows = _readable(table, "**{}**", lambda cell: cell.replace("\\", "\\\\").replace("|", "\\|"))
    lines = [
        "| " + " | ".join(columns) + " |",
        "|" + "|".join("---:" if _is_number(table, name) else "---" for name in columns) + "|",
    ]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines)


_LATEX = str.maketrans(
    {character: f"\\{character}" for character in "&%$#_{}"}
    | {"~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "\\": r"\textbackslash{}", "–": "--"}
)


def _latex(table: pd.DataFrame) -> str:
    columns, rows = _readable(table, r"\textbf{{{}}}", lambda cell: cell.translate(_LATEX))
    places = "".join("r" if _is_number(table, name) else "l" for name in columns)
    lines = [rf"\begin{{tabular}}{{{places}}}", r"\hline"]
    lines += [" & ".join(name.translate(_LATEX) for name in columns) + r" \\", r"\hline"]
    lines += [" & ".join(row) + r" \\" for row in rows]
    return "\n".join([*lines, r"\hline", r"\end{tabular}"])


STYLES: dict[str, Callable[[pd.DataFrame], str]] = {
    "table": _terminal,
    "csv": lambda table: table.to_csv(index=False).rstrip("\n"),
    "json": _json,
    "markdown": _markdown,
    "latex": _latex,
}


def _readable(table: pd.DataFrame, mark: str, escaped: Callable[[str], str]) -> tuple[list[str], list[list[str]]]:
    """Columns and escaped cells for people; what decides the best is marked where the row is the best."""
    is_summary = "level_with_best" in table
    decides = f"{table['metric'].iloc[0]}_mean" if is_summary and len(table) else ""
    left_out = {*(_LEFT_OUT if is_summary else ()), "traceback"} - {decides}
    columns = [
        name
        for name in table.columns
        if name not in left_out and not (name in _WHERE_NEEDED and not table[name].astype(bool).any())
    ]
    rows = [
        [escaped(_cell(name, value)) for name, value in zip(columns, row, strict=True)]
        for row in table[columns].itertuples(index=False)
    ]
    for row, is_best in zip(rows, table["best"] if is_summary else [], strict=is_summary):
        if is_best:
            place = columns.index(decides)
            row[place] = mark.format(row[place])
    return columns, rows


def _cell(name: str, value: Any) -> str:
    if isinstance(value, float):
        if math.isnan(value):
            return "–"
        return format(value, _DIGITS.get(name, ".4g"))
    return str(value)


def _is_number(table: pd.DataFrame, name: str) -> bool:
    return bool(pd.api.types.is_numeric_dtype(table[name]))


# The tables that ``gramme results`` can show of a ledger's runs.

_FAILURE = ["dataset", "method", "changed", "train_percent", "realisation", "error", "traceback"]


def results_table(runs: pd.DataFrame, shown: str, metric: str = "accuracy") -> pd.DataFrame:
    """What ``shown`` names of some runs of a ledger; the metric decides which method is the best."""
    known = {*METRICS, *runs["metric"].dropna()}
    if metric not in known:
        raise DataError(f"there is no metric {metric!r} in this ledger; {did_you_mean(metric, known)}")
    if shown == "summary":
        return summarise(runs, metric=metric)
    if shown == "pairs":
        return compare_pairs(runs, metric=metric)
    if shown == "runs":
        return runs
    if shown == "failures":
        failed: pd.DataFrame = runs.loc[runs["status"] == "failed", _FAILURE]
        return failed.rename(columns={"changed": "settings"})
    ranking = rank_methods(runs, metric=metric)
    return pd.DataFrame(
        {
            "method": ranking.methods,
            "average_rank": ranking.ranks,
            "train_percent": runs["train_percent"].min(),
            "datasets": ranking.datasets,
            "critical_difference": ranking.critical_difference,
            "friedman_p": ranking.p_value,
        }
    )


def critical_difference_figure(ranking: Ranking, title: str = "") -> Any:
    """A matplotlib figure of average ranks, 1 at the left; bars join methods closer than the critical difference."""
    from matplotlib.figure import Figure  # a figure of its own: no window, no global state

    count = len(ranking.methods)
    half = (count + 1) // 2
    bars = ranking.groups()
    depth = 0.6 + 0.25 * len(bars)
    figure = Figure(figsize=(7.5, 1.4 + 0.28 * half + 0.16 * len(bars)), layout="constrained")
    axes = figure.add_subplot()
    axes.set_xlim(0.4, count + 0.6)
    axes.set_ylim(depth + 0.75 * half + 0.2, -1.5)
    axes.axis("off")
    axes.set_title(title, fontsize=10)
    axes.plot([1, count], [0, 0], color="black", linewidth=1)
    for rank in range(1, count + 1):
        axes.plot([rank, rank], [0, -0.15], color="black", linewidth=1)
        axes.text(rank, -0.3, str(rank), ha="center", va="bottom", fontsize=8)
    reach = min(1 + ranking.critical_difference, count + 0.6)
    axes.plot([1, reach], [-1.0, -1.0], color="black", linewidth=1.5)
    note = f"critical difference {ranking.critical_difference:.2f} ({ranking.datasets} datasets)"
    axes.text(1, -1.08, note, va="bottom", fontsize=8)
    for place, (method, rank) in enumerate(zip(ranking.methods, ranking.ranks, strict=True)):
        left = place < half
        level = depth + 0.75 * (place if left else count - 1 - place)
        edge = 0.9 if left else count + 0.1
        axes.plot([rank, rank, edge], [0, level, level], color="0.4", linewidth=0.8)
        text = f"{method}  {rank:.2f}" if left else f"{rank:.2f}  {method}"
        axes.text(
            edge + (-0.05 if left else 0.05),
            level,
            text,
            ha="right" if left else "left",
            va="center",
            fontsize=9,
            parse_math=False,
        )
    for row, (first, last) in enumerate(bars):
        ends = [ranking.ranks[first] - 0.04, ranking.ranks[last] + 0.04]
        height = 0.25 + 0.25 * row
        axes.plot(ends, [height, height], color="black", linewidth=3, solid_capstyle="butt")
    return figure


def write_critical_difference(ranking: Ranking, path: Path, title: str = "") -> None:
    """Write the figure to a file; its name's ending says the format: png, pdf or svg."""
    if path.suffix.lower() not in (".png", ".pdf", ".svg"):
        raise DataError(f"{path}: name the figure .png, .pdf or .svg")
    if not path.absolute().parent.is_dir():
        raise DataError(f"there is no folder {path.parent} to write {path.name} into")
    critical_difference_figure(ranking, title).savefig(path, dpi=150)


class LiveTable:
    """One row per dataset and method, and a line with runs done, rate and time left.

    On a terminal it is redrawn in place. Elsewhere, in a log file for instance, it says only what there is to do.
    ``left`` returns the seconds left, None if they are unknown.
    """

    def __init__(
        self, console: Console, *, wanted: bool = True, left: Callable[[], float | None] = lambda: None
    ) -> None:
        self.console, self.wanted, self.left = console, wanted, left
        self.total = self.finished = self.failed = 0
        self._began = time.monotonic()
        self._rows: dict[tuple[str, str], _Row] = {}
        self._live: Live | None = None

    def start(self, specs: Sequence[RunSpec], done: int, jobs: int) -> None:
        """Take note of what is to be done; ``done`` runs are in the ledger already."""
        self.total = len(specs)
        self._began = time.monotonic()
        for spec in specs:
            self._rows.setdefault((spec.dataset, spec.method), _Row()).total += 1
        if not self.wanted:
            return
        already = f", {done:,} are done already" if done else ""
        self.console.print(f"{self.total:,} runs to do{already}; {jobs} at a time")
        if self.total and self.console.is_terminal:
            self._live = Live(get_renderable=self.render, console=self.console, refresh_per_second=2)
            self._live.start()

    def add(self, result: RunResult) -> None:
        """Count a run that has ended."""
        self.finished += 1
        row = self._rows[result.spec.dataset, result.spec.method]
        row.finished += 1
        if result.scores is None:
            self.failed += 1
            row.failed += 1
        else:
            row.accuracy += result.scores.accuracy

    def words(self) -> str:
        """Runs done and their rate."""
        words = [f"{self.finished:,} of {self.total:,} runs"]
        if self.finished:
            spent = max(time.monotonic() - self._began, 1e-9)
            words.append(f"{60 * self.finished / spent:.1f} per minute")
        if self.failed:
            words.append(f"{self.failed} failed")
        return ", ".join(words)

    def line(self) -> str:
        """Runs done, rate and time left, in words."""
        left = self.left() if self.finished < self.total else None
        return self.words() + ("" if left is None else f", about {rough_duration(left)} left")

    def render(self) -> Group:
        """The table as it is now; finished rows go first when there are more than the screen holds."""
        table = Table("dataset", "method", box=None, pad_edge=False, header_style="bold")
        table.add_column("runs", justify="right")
        table.add_column("")
        table.add_column("accuracy so far", justify="right")
        table.add_column("failed", justify="right")
        room = max(3, self.console.size.height - 4)
        open_rows = [key for key, row in self._rows.items() if row.finished < row.total]
        closed = [key for key in self._rows if key not in open_rows]
        spare = max(0, room - len(open_rows))
        shown = (closed[-spare:] if spare else []) + open_rows[:room]
        for key in shown:
            row = self._rows[key]
            good = row.finished - row.failed
            table.add_row(
                *(escape(word) for word in key),
                f"{row.finished}/{row.total}",
                ProgressBar(total=row.total, completed=row.finished, width=20),
                f"{100 * row.accuracy / good:.1f}" if good else "",
                str(row.failed) if row.failed else "",
            )
        return Group(table, Text(self.line()))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._live.stop()
            self._live = None


@dataclass
class _Row:
    total: int = 0
    finished: int = 0
    failed: int = 0
    accuracy: float = 0.0
