"""How the figures of the paper look: one style, colours that colour-blind readers can tell apart, modest files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

# Okabe and Ito's colours without the yellow, which is hard to see on white.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
plt.rcParams |= {
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.25,
    "axes.titlesize": 10,
    "axes.labelsize": 9,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "legend.fontsize": 8,
    "legend.frameon": False,
    "lines.linewidth": 1.4,
    "lines.markersize": 4.5,
}


def panels(count: int, *, rows: int = 1, width: float = 3.1, height: float = 2.8, **how: Any) -> Any:
    """A figure with panels in rows, and its axes as a flat list."""
    figure, axes = plt.subplots(
        rows,
        count // rows,
        figsize=(width * (count // rows), height * rows),
        layout="constrained",
        squeeze=False,
        **how,
    )
    return figure, list(axes.flat)


def save(figure: Any, path: Path) -> None:
    """Write a figure and close it."""
    figure.savefig(path, dpi=110)
    plt.close(figure)
    print(f"wrote {path}")


def means(axes: Any, table: pd.DataFrame, across: str, by: str, order: Sequence[str]) -> None:
    """Lines of mean accuracy with 95 % intervals, one line for each value of a column."""
    # a little apart, so that intervals do not cover each other
    step = 0.015 * (table[across].max() - table[across].min())
    for place, name in enumerate(order):
        part = table[table[by] == name].sort_values(across)
        axes.errorbar(
            part[across] + (place - (len(order) - 1) / 2) * step,
            part["accuracy_mean"],
            yerr=part["accuracy_ci95"],
            color=COLOURS[place],
            marker=MARKERS[place],
            capsize=2,
            elinewidth=0.8,
            label=name,
        )


def band(axes: Any, values: np.ndarray, colour: str, label: str) -> None:
    """Mean over the rows as a line, and one standard deviation to both sides as a band."""
    epochs = np.arange(1, values.shape[1] + 1)
    mean, spread = values.mean(0), values.std(0, ddof=1) if len(values) > 1 else 0 * values[0]
    axes.fill_between(epochs, mean - spread, mean + spread, color=colour, alpha=0.2, linewidth=0)
    axes.plot(epochs, mean, color=colour, label=label)
