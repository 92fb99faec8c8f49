"""What a fitted regression predicts and what it is made of, as pictures."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from gramme.errors import DataError
from gramme.methods import GrammeRegressor
from gramme.methods.regression.base import explained, known_numbers
from gramme.plots.style import COLOURS, FAINT, axes, quiet

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MAX_POINTS = 20_000
"""Nodes that are drawn; of more a random sample, and the picture says so."""


def plot_predictions(
    model: GrammeRegressor, y: Any = None, *, coverage: float = 0.9, ax: Axes | None = None
) -> Axes:
    """Draw predicted against true numbers; called as ``model.plot_predictions()``.

    On the dashed line both are equal; the band is the interval that holds ``coverage`` of the true numbers.

    Parameters
    ----------
    model : GrammeRegressor
    y : sequence, mapping or Series, optional
        True numbers; drawn are nodes that the model has not learned from. Where not given, the numbers that it has
        learned from, each predicted without itself.
    coverage : float, default=0.9
    ax : matplotlib axes, optional
        Where to draw; a new figure if not given.
    """
    half = model.half_width(coverage)
    if y is None:
        true, said = model.known_values_, model.unseen_
    else:
        graph = vars(model).get("graph_")
        if graph is None:
            raise DataError("a loaded model does not hold the graph it was fitted on; leave y out")
        given = known_numbers(graph, y)
        new = ~np.isin(given.nodes, model.known_)
        if not new.any():
            raise DataError("the model has learned from all these numbers; leave y out")
        true, said = given.values[new], model.predict()[given.nodes[new]]
    chosen = np.arange(true.size)
    if true.size > MAX_POINTS:
        chosen = np.sort(np.random.default_rng(0).choice(true.size, MAX_POINTS, replace=False))
    drawn = axes(ax, (4.6, 4.2))
    ends = np.array([min(true.min(), said.min()), max(true.max(), said.max())])
    if math.isfinite(half):
        drawn.fill_between(
            ends, ends - half, ends + half, color=COLOURS[0], alpha=0.12, linewidth=0
        )
    drawn.plot(ends, ends, linestyle="--", color=FAINT, linewidth=1)
    size = float(np.clip(4000 / chosen.size, 3, 24))
    look: Any = {"s": size, "color": COLOURS[0], "linewidths": 0.3, "edgecolors": "white"}
    drawn.scatter(said[chosen], true[chosen], **look)
    drawn.set_xlabel("predicted")
    drawn.set_ylabel("true")
    some = "" if chosen.size == true.size else f" ({chosen.size:,} drawn)"
    off = float(np.abs(true - said).mean())
    drawn.set_title(
        f"{true.size:,} nodes{some}: {off:.3g} off on average, R² {explained(true, said):.2f}",
        fontsize=9,
    )
    quiet(drawn)
    return drawn


def plot_ingredients(model: GrammeRegressor, *, ax: Axes | None = None) -> Axes:
    """Draw the weight of each ingredient; called as ``model.plot_ingredients()``.

    Beside each bar stands how far the ingredient alone is off on average, on numbers it had not seen.

    Parameters
    ----------
    model : GrammeRegressor
    ax : matplotlib axes, optional
        Where to draw; a new figure if not given.
    """
    model.check_fitted()
    table = model.ingredients_.sort_values("weight", kind="stable")
    weights = 100 * table["weight"].to_numpy()
    drawn = axes(ax, (5.0, 0.8 + 0.32 * len(table)))
    drawn.barh(range(len(table)), weights, color=COLOURS[0], height=0.7)
    for place, (weight, error) in enumerate(
        zip(weights, table["mean_absolute_error"], strict=True)
    ):
        drawn.text(
            weight + 1, place, f"{error:.3g} off alone", va="center", fontsize=8, color="#333333"
        )
    drawn.set_yticks(range(len(table)), table["ingredient"].tolist())
    drawn.set_xlim(0, max(float(weights.max()) * 1.35, 1))
    drawn.set_xlabel("weight in %")
    quiet(drawn)
    drawn.grid(visible=False, axis="y")
    return drawn
