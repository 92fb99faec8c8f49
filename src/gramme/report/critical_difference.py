"""The critical-difference figure: average ranks on a line, methods that are not told apart joined by a bar."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from gramme.errors import DataError
from gramme.evaluation import Ranking


def critical_difference_figure(ranking: Ranking, title: str = "") -> Any:
    """Draw average ranks, 1 at the left, with bars over methods that differ by less than the critical difference.

    Parameters
    ----------
    ranking : Ranking
        From :func:`gramme.evaluation.rank_methods`.
    title : str, default=""

    Returns
    -------
    matplotlib Figure
    """
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
