"""The results of a benchmark: accuracy over the share of labels, a line for each method, a panel for each dataset."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from gramme.errors import DataError, did_you_mean
from gramme.evaluation import Ledger, summarise

from .style import COLOURS, axes, panel_columns, panels, quiet, shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MAX_LINES = len(COLOURS)
"""Methods that a picture shows, those with the best mean first."""
_MARKS = "os^Dv<>PX*"


def plot_results(
    results: Ledger | pd.DataFrame,
    *,
    dataset: str | None = None,
    methods: Sequence[str] | None = None,
    ax: Axes | None = None,
) -> Any:
    """Draw the accuracies in a ledger; called as :meth:`gramme.evaluation.Ledger.plot_results`.

    Lines join the means of a method over the training percentages; the bars are their 95 % intervals.

    Parameters
    ----------
    results : Ledger or DataFrame
        A ledger, its runs, or what :func:`~gramme.evaluation.summarise` made of them.
    dataset : str, optional
        One dataset alone; a panel for each if not given.
    methods : sequence of str, optional
        The methods to show; if not given, the ten with the best mean.
    ax : matplotlib axes, optional
        Where to draw a single dataset; a new figure if not given.

    Returns
    -------
    matplotlib axes
        An array of them where there are several datasets.

    Examples
    --------
    >>> table = pd.DataFrame({"dataset": "votes", "method": "line", "train_percent": [10, 30]})
    >>> ax = plot_results(table.assign(repeats=5, accuracy_mean=[94.4, 95.8], accuracy_ci95=0.5))
    >>> ax.get_title()
    'votes'
    """
    is_summary = isinstance(results, pd.DataFrame) and "accuracy_mean" in results.columns
    summary_table = results if isinstance(results, pd.DataFrame) and is_summary else summarise(results)
    shown_rows: pd.DataFrame = summary_table[summary_table["repeats"] > 0].copy()
    setting_texts = shown_rows["settings"] if "settings" in shown_rows.columns else pd.Series("", shown_rows.index)
    shown_rows["line"] = (shown_rows["method"] + " " + setting_texts.fillna("")).str.strip()
    if methods is not None:
        for name in methods:
            if name not in set(shown_rows["method"]):
                raise DataError(f"no run of {name!r}; {did_you_mean(name, shown_rows['method'])}")
        shown_rows = shown_rows[shown_rows["method"].isin(list(methods))]
    dataset_names = list(dict.fromkeys(shown_rows["dataset"]))
    if dataset is not None:
        if dataset not in dataset_names:
            raise DataError(f"no run on {dataset!r}; {did_you_mean(dataset, dataset_names)}")
        dataset_names = [dataset]
    if not dataset_names:
        raise DataError("there are no finished runs to draw")
    method_means = shown_rows.groupby("line")["accuracy_mean"].mean().sort_values(ascending=False)
    line_names = method_means.index[:MAX_LINES].tolist()
    if len(dataset_names) == 1:
        drawn_axes = axes(ax, (5.6, 3.6))
        _draw(drawn_axes, shown_rows[shown_rows["dataset"] == dataset_names[0]], line_names)
        drawn_axes.set_title(shortened(dataset_names[0], 40), fontsize=10)
        _explain(drawn_axes, len(method_means))
        return drawn_axes
    if ax is not None:
        raise DataError("there are several datasets; name one with dataset= to draw on given axes")
    dataset_panels = panels(len(dataset_names))
    for one, name in zip(dataset_panels, dataset_names, strict=True):
        _draw(one, shown_rows[shown_rows["dataset"] == name], line_names)
        one.set_title(shortened(name, 30), fontsize=9)
    _explain(dataset_panels[panel_columns(len(dataset_names)) - 1], len(method_means))
    return dataset_panels


def _draw(ax: Axes, frame: pd.DataFrame, lines: list[str]) -> None:
    train_percents = sorted(set(frame["train_percent"]))
    line_offset = 0.006 * ((train_percents[-1] - train_percents[0]) or 1.0)
    for place, name in enumerate(lines):
        line_rows = frame[frame["line"] == name].sort_values("train_percent")
        ax.errorbar(
            # a little apart, so that intervals do not cover each other
            line_rows["train_percent"] + (place - len(lines) / 2) * line_offset,
            line_rows["accuracy_mean"],
            yerr=line_rows["accuracy_ci95"].fillna(0),
            color=COLOURS[place % len(COLOURS)],
            marker=_MARKS[place % len(_MARKS)],
            markersize=4,
            linewidth=1.2,
            label=shortened(name, 34),
        )
    ax.set_xticks(train_percents, [f"{one:g}" for one in train_percents])
    ax.set_xlabel("labels in %")
    ax.set_ylabel("accuracy in %")
    quiet(ax)


def _explain(ax: Axes, methods: int) -> None:
    title = f"{MAX_LINES} of {methods} methods" if methods > MAX_LINES else None
    ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False, fontsize=8, title=title, title_fontsize=8)
