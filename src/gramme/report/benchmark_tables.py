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
from gramme.evaluation.summary import LABEL_SET_METRICS, METRICS, default_metric

# Tables of a benchmark as text: for the terminal, csv, json, markdown and latex.

# What people read is rounded; csv and json hold every digit.
_DIGITS = {
    "train_percent": "g",
    "accuracy_mean": ".2f",
    "accuracy_std": ".2f",
    "accuracy_ci95": ".2f",
    "peak_mean": ".2f",
    "macro_f1_mean": ".2f",
    "micro_f1_mean": ".2f",
    "ranking_loss_mean": ".2f",
    "cpu_seconds_mean": ".2f",
    "paper_accuracy": ".2f",
    "difference": ".2f",
    "statistic": ".2f",
    "p_value": ".3g",
    "p_corrected": ".3g",
    "average_rank": ".2f",
}
# Shown to people only where there is something to say, or not at all: csv and json have them always.
_WHERE_NEEDED = ("settings", "missed_class_repeats", "failed", "micro_f1_mean", "ranking_loss_mean")
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
_LABEL_SETS_NOTE = (
    "where nodes have several labels (micro_f1_mean), accuracy is the share of nodes with all labels right; "
    "F1 and ranking loss in percent"
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
    finite_table = table.astype(object).where(~table.isin([math.inf, -math.inf]) & table.notna(), None)
    return json_text(finite_table.to_dict("records"), indent=2)


def _terminal(table: pd.DataFrame) -> str:
    column_names, cell_rows = _readable(table, "{} *", escape)
    rich_table = Table(box=None, pad_edge=False, header_style="bold")
    for column_name in column_names:
        # whole names: what is looked up elsewhere must not be cut
        rich_table.add_column(column_name, justify="right" if _is_number(table, column_name) else "left", no_wrap=True)
    for cell_row in cell_rows:
        rich_table.add_row(*cell_row)
    text_buffer = io.StringIO()
    Console(file=text_buffer, width=10_000, highlight=False).print(rich_table)
    text_lines = [line.rstrip() for line in text_buffer.getvalue().splitlines()]
    notes = [*_NOTES, *([_LABEL_SETS_NOTE] if "micro_f1_mean" in column_names else [])]
    return "\n".join([*text_lines, "", *notes] if "accuracy_mean" in column_names else text_lines)


def _markdown(table: pd.DataFrame) -> str:
    column_names, cell_rows = _readable(table, "**{}**", lambda cell: cell.replace("\\", "\\\\").replace("|", "\\|"))
    text_lines = [
        "| " + " | ".join(column_names) + " |",
        "|" + "|".join("---:" if _is_number(table, column_name) else "---" for column_name in column_names) + "|",
    ]
    text_lines += ["| " + " | ".join(cell_row) + " |" for cell_row in cell_rows]
    return "\n".join(text_lines)


_LATEX = str.maketrans(
    {character: f"\\{character}" for character in "&%$#_{}"}
    | {"~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "\\": r"\textbackslash{}", "–": "--"}
)


def _latex(table: pd.DataFrame) -> str:
    column_names, cell_rows = _readable(table, r"\textbf{{{}}}", lambda cell: cell.translate(_LATEX))
    alignment = "".join("r" if _is_number(table, name) else "l" for name in column_names)
    text_lines = [rf"\begin{{tabular}}{{{alignment}}}", r"\hline"]
    text_lines += [" & ".join(name.translate(_LATEX) for name in column_names) + r" \\", r"\hline"]
    text_lines += [" & ".join(cell_row) + r" \\" for cell_row in cell_rows]
    return "\n".join([*text_lines, r"\hline", r"\end{tabular}"])


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
    deciding_column = f"{table['metric'].iloc[0]}_mean" if is_summary and len(table) else ""
    left_out = {*(_LEFT_OUT if is_summary else ()), "traceback"} - {deciding_column}
    column_names = [
        name
        for name in table.columns
        if name not in left_out and not (name in _WHERE_NEEDED and not table[name].fillna(0).astype(bool).any())
    ]
    cell_rows = [
        [escaped(_cell(name, value)) for name, value in zip(column_names, row, strict=True)]
        for row in table[column_names].itertuples(index=False)
    ]
    for cell_row, is_best in zip(cell_rows, table["best"] if is_summary else [], strict=is_summary):
        if is_best:
            deciding_place = column_names.index(deciding_column)
            cell_row[deciding_place] = mark.format(cell_row[deciding_place])
    return column_names, cell_rows


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


def results_table(runs: pd.DataFrame, shown: str, metric: str | None = None) -> pd.DataFrame:
    """What ``shown`` names of some runs of a ledger; the metric decides which method is the best."""
    metric = metric or default_metric(runs)
    absent_metrics = {name for name in LABEL_SET_METRICS if runs[name].isna().all()}
    known_metrics = {*METRICS, *runs["metric"].dropna()} - absent_metrics
    if metric not in known_metrics:
        raise DataError(f"there is no metric {metric!r} in this ledger; {did_you_mean(metric, known_metrics)}")
    if shown == "summary":
        return summarise(runs, metric=metric)
    if shown == "pairs":
        return compare_pairs(runs, metric=metric)
    if shown == "runs":
        return runs
    if shown == "failures":
        failed_runs: pd.DataFrame = runs.loc[runs["status"] == "failed", _FAILURE]
        return failed_runs.rename(columns={"changed": "settings"})
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

    method_count = len(ranking.methods)
    left_count = (method_count + 1) // 2
    joined_methods = ranking.groups()
    top_depth = 0.6 + 0.25 * len(joined_methods)
    figure = Figure(figsize=(7.5, 1.4 + 0.28 * left_count + 0.16 * len(joined_methods)), layout="constrained")
    axes = figure.add_subplot()
    axes.set_xlim(0.4, method_count + 0.6)
    axes.set_ylim(top_depth + 0.75 * left_count + 0.2, -1.5)
    axes.axis("off")
    axes.set_title(title, fontsize=10)
    axes.plot([1, method_count], [0, 0], color="black", linewidth=1)
    for rank in range(1, method_count + 1):
        axes.plot([rank, rank], [0, -0.15], color="black", linewidth=1)
        axes.text(rank, -0.3, str(rank), ha="center", va="bottom", fontsize=8)
    difference_end = min(1 + ranking.critical_difference, method_count + 0.6)
    axes.plot([1, difference_end], [-1.0, -1.0], color="black", linewidth=1.5)
    difference_note = f"critical difference {ranking.critical_difference:.2f} ({ranking.datasets} datasets)"
    axes.text(1, -1.08, difference_note, va="bottom", fontsize=8)
    for method_place, (method, rank) in enumerate(zip(ranking.methods, ranking.ranks, strict=True)):
        on_left = method_place < left_count
        text_height = top_depth + 0.75 * (method_place if on_left else method_count - 1 - method_place)
        text_edge = 0.9 if on_left else method_count + 0.1
        axes.plot([rank, rank, text_edge], [0, text_height, text_height], color="0.4", linewidth=0.8)
        method_text = f"{method}  {rank:.2f}" if on_left else f"{rank:.2f}  {method}"
        axes.text(
            text_edge + (-0.05 if on_left else 0.05),
            text_height,
            method_text,
            ha="right" if on_left else "left",
            va="center",
            fontsize=9,
            parse_math=False,
        )
    for bar_number, (first_method, last_method) in enumerate(joined_methods):
        bar_ends = [ranking.ranks[first_method] - 0.04, ranking.ranks[last_method] + 0.04]
        bar_height = 0.25 + 0.25 * bar_number
        axes.plot(bar_ends, [bar_height, bar_height], color="black", linewidth=3, solid_capstyle="butt")
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
        already_done = f", {done:,} are done already" if done else ""
        self.console.print(f"{self.total:,} runs to do{already_done}; {jobs} at a time")
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
        shown_words = [f"{self.finished:,} of {self.total:,} runs"]
        if self.finished:
            spent_seconds = max(time.monotonic() - self._began, 1e-9)
            shown_words.append(f"{60 * self.finished / spent_seconds:.1f} per minute")
        if self.failed:
            shown_words.append(f"{self.failed} failed")
        return ", ".join(shown_words)

    def line(self) -> str:
        """Runs done, rate and time left, in words."""
        seconds_left = self.left() if self.finished < self.total else None
        return self.words() + ("" if seconds_left is None else f", about {rough_duration(seconds_left)} left")

    def render(self) -> Group:
        """The table as it is now; finished rows go first when there are more than the screen holds."""
        live_table = Table("dataset", "method", box=None, pad_edge=False, header_style="bold")
        live_table.add_column("runs", justify="right")
        live_table.add_column("")
        live_table.add_column("accuracy so far", justify="right")
        live_table.add_column("failed", justify="right")
        row_limit = max(3, self.console.size.height - 4)
        open_rows = [key for key, row in self._rows.items() if row.finished < row.total]
        closed_rows = [key for key in self._rows if key not in open_rows]
        spare_rows = max(0, row_limit - len(open_rows))
        shown_rows = (closed_rows[-spare_rows:] if spare_rows else []) + open_rows[:row_limit]
        for key in shown_rows:
            row = self._rows[key]
            good_runs = row.finished - row.failed
            live_table.add_row(
                *(escape(word) for word in key),
                f"{row.finished}/{row.total}",
                ProgressBar(total=row.total, completed=row.finished, width=20),
                f"{100 * row.accuracy / good_runs:.1f}" if good_runs else "",
                str(row.failed) if row.failed else "",
            )
        return Group(live_table, Text(self.line()))

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
