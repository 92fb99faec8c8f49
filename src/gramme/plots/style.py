"""How pictures look: colours that colour-blind readers can tell apart, and quiet axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from gramme.errors import DataError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOURS = (
    "#0072b2", "#d55e00", "#009e73", "#b0478e", "#8a7a00", "#3aa0dd", "#e08e00", "#5b4bb5", "#7a5230", "#a3243b",
)  # fmt: skip
"""The colours of the pages, for classes in their order."""
NO_COLOUR, OTHER_COLOUR = "#b4bcc6", "#7d8894"
"""Of nodes without a label, and of classes beyond the tenth."""
FAINT = "#8a94a0"


def axes(ax: Axes | None, size: tuple[float, float] = (5.0, 3.6)) -> Axes:
    """The axes to draw on: those given, or those of a new figure."""
    if ax is not None:
        if not hasattr(ax, "scatter"):
            raise DataError(f"ax must be matplotlib axes, not {type(ax).__name__}")
        return ax
    import matplotlib.pyplot as plt

    _, made = plt.subplots(figsize=size, layout="constrained")
    return made


def panel_columns(count: int) -> int:
    """Panels side by side: three, or fewer where that fills the rows better.

    >>> [panel_columns(count) for count in (1, 2, 3, 4, 5, 7)]
    [1, 2, 3, 2, 3, 3]
    """
    return 2 if count == 4 else min(3, count)


def panels(count: int, size: float = 3.0) -> NDArray[Any]:
    """The axes of a new figure with this many panels; those left over are hidden."""
    import matplotlib.pyplot as plt

    column_count = panel_columns(count)
    row_count = -(-count // column_count)
    _, panel_grid = plt.subplots(
        row_count, column_count, figsize=(size * column_count, size * row_count), layout="constrained", squeeze=False
    )
    flat_panels = panel_grid.ravel()
    for spare in flat_panels[count:]:
        spare.set_visible(False)
    used_panels: NDArray[Any] = flat_panels[:count]
    return used_panels


def quiet(ax: Axes, lines: Literal["both", "x"] = "both") -> None:
    """No frame above and to the right, and a faint grid."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(alpha=0.25, linewidth=0.6, axis=lines)
    ax.set_axisbelow(True)


def bare(ax: Axes) -> None:
    """A picture without scales: places that have no unit."""
    ax.set_xticks([])
    ax.set_yticks([])
    ax.set_aspect("equal", adjustable="datalim")
    ax.spines[:].set_visible(False)


def class_colours(codes: NDArray[np.int64]) -> list[str]:
    """A colour for each class number; -1 means none.

    >>> class_colours(np.array([0, -1, 10]))
    ['#0072b2', '#b4bcc6', '#7d8894']
    """
    colour_table = [*COLOURS, OTHER_COLOUR, NO_COLOUR]
    return [colour_table[min(code, len(COLOURS))] if code >= 0 else colour_table[-1] for code in codes.tolist()]


def class_legend(ax: Axes, names: Sequence[Any], *, unlabelled: bool = False) -> None:
    """What the colours mean, beside the picture."""
    from matplotlib.lines import Line2D

    shown_classes = [(str(name), COLOURS[place]) for place, name in enumerate(names[: len(COLOURS)])]
    if len(names) > len(COLOURS):
        shown_classes.append((f"{len(names) - len(COLOURS)} more", OTHER_COLOUR))
    if unlabelled:
        shown_classes.append(("unknown", NO_COLOUR))
    legend_marks = [
        Line2D([], [], marker="o", linestyle="", markersize=5, color=colour, label=shortened(name))
        for name, colour in shown_classes
    ]
    ax.legend(handles=legend_marks, loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False, fontsize=8)


def shortened(text: str, most: int = 24) -> str:
    """Text that is not too long for a picture, and has nothing that matplotlib would take for a formula.

    >>> shortened("a" * 30, 10), len(shortened("$x$"))
    ('aaaaaaaaa…', 5)
    """
    short = text if len(text) <= most else text[: most - 1] + "…"
    return short.replace("$", r"\$")
