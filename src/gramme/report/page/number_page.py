"""The page of a fit whose labels are numbers: how near the predictions are, what they are made of, how to repeat it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gramme._text import number_within, rough_number
from gramme.graph import MultilayerGraph
from gramme.methods import GrammeRegressor
from gramme.methods.regression.ingredients import INGREDIENTS

from .charts import Series, chart
from .fit_page import FORMAT, VERSION
from .fit_sections import data_name, settings_section
from .html import escape, frame, name, page

DEFAULT_COVERAGE = 0.9
"""The share of nodes whose number the intervals of page and table should hold, where nothing else was asked for."""
MAX_POINTS = 600  # of the figure
MAX_ROWS = 200  # of the table


def number_data(
    model: GrammeRegressor, graph: MultilayerGraph, config: dict[str, Any]
) -> dict[str, Any]:
    """Everything the page shows, as plain values.

    Parameters
    ----------
    model : GrammeRegressor
        Fitted on ``graph``.
    graph : MultilayerGraph
    config : dict
        How it was fitted, for the section on how to repeat it.
    """
    known: list[float | None] = [None] * graph.num_nodes
    for place, value in zip(model.known_.tolist(), model.known_values_.tolist(), strict=True):
        known[place] = value
    coverage = float(config.get("coverage", DEFAULT_COVERAGE))
    half = model.half_width(coverage)
    return {
        "format": FORMAT,
        "version": VERSION,
        "kind": "numbers",
        "config": config,
        "graph": {
            "name": graph.name,
            "nodes": graph.num_nodes,
            "layers": [
                {
                    "name": layer_name,
                    "edges": layer.num_edges,
                    "groups": getattr(layer, "num_groups", None),
                    "present": layer.num_present,
                }
                for layer_name, layer in graph.layers.items()
            ],
        },
        "r2": None if math.isnan(model.r2_) else model.r2_,
        "mean_absolute_error": model.mean_absolute_error_,
        "coverage": coverage,
        "half_width": half if math.isfinite(half) else None,
        "half_widths": model.half_widths(coverage).tolist() if math.isfinite(half) else None,
        "ingredients": {key: model.ingredients_[key].tolist() for key in model.ingredients_},
        "names": [str(one) for one in graph.nodes],
        "known": known,
        "words": {name: INGREDIENTS[name].in_words(one) for name, one in model.models_.items()},
        "predicted": model.predict().tolist(),
        "out_of_fold": [None if math.isnan(one) else one for one in model.out_of_fold_.tolist()],
    }


def render_numbers(data: dict[str, Any]) -> str:
    """The page as text, from its data alone."""
    title = data_name(data["config"].get("data"), data["graph"]["name"])
    sections = [
        ("accuracy", "How sure", _accuracy(data)),
        ("ingredients", "What it is made of", _ingredients(data)),
        ("nodes", "Predictions", _table(data)),
        ("settings", "Settings and how to repeat this", settings_section(data)),
    ]
    body = frame("report of a fit", title, _summary(data), sections, without_script="")
    return page(f"numbers on {title}", body, data)


def _summary(data: dict[str, Any]) -> str:
    known = sum(value is not None for value in data["known"])
    others = data["graph"]["nodes"] - known
    rest = (
        f"predicted a number for the other {others:,}"
        if others
        else "there was none left to predict"
    )
    return (
        f'<p class="headline"><strong>{rough_number(data["mean_absolute_error"])}</strong> off on average'
        f"{_in_brackets(data['r2'])} on {known:,} labelled nodes, each predicted without its own number</p>"
        f'<p class="lead"><strong>GrammeRegressor</strong> learned from the numbers of <strong>{known:,}</strong> of '
        f"{data['graph']['nodes']:,} nodes and {rest}.</p>"
    )


def _in_brackets(r2: float | None) -> str:
    return "" if r2 is None else f" (R² {r2:.2f})"


def _accuracy(data: dict[str, Any]) -> str:
    pairs = [
        (float(one), float(other))
        for one, other in zip(data["known"], data["out_of_fold"], strict=True)
        if one is not None
    ]
    step = math.ceil(len(pairs) / MAX_POINTS)
    x, y = zip(*pairs[::step], strict=True)
    drawn = chart(
        [Series("labelled nodes", x, y)],
        title="Predicted without its own number, against the known number, for each labelled node",
        x_label="known",
        y_label="predicted",
        lines=False,
    )
    numbers = np.array([one for one, _ in pairs])
    plain = float(np.abs(numbers - numbers.mean()).mean())
    half = data["half_width"]
    width = (
        f"lies within {rough_number(half)} of the prediction (cross-conformal interval)"
        if half is not None
        else "may be anywhere: there are too few labels for an interval"
    )
    shown = "" if step == 1 else f"<p>The figure shows one in {step:,} of them.</p>"
    return (
        f"<p>{_explained(data['r2'])} On average the predictions are {rough_number(data['mean_absolute_error'])} off; "
        f"always saying the mean would be {rough_number(plain)} off.</p><p>For {data['coverage']:.0%} of nodes like "
        f"the labelled ones the true number {width}.</p><figure>{drawn}</figure>{shown}"
    )


def _explained(r2: float | None) -> str:
    if r2 is None:
        return "All known numbers are the same, so there is nothing to explain (R² is not defined)."
    if r2 <= 0:
        return f"R² {r2:.3f}: the predictions are no better than always saying the mean of the known numbers."
    return f"R² {r2:.3f}: the predictions explain {r2:.0%} of how much the numbers differ."


def _ingredients(data: dict[str, Any]) -> str:
    listed = sorted(zip(*data["ingredients"].values(), strict=True), key=lambda row: -row[1])
    rows = "".join(
        f'<tr><th scope="row">{escape(data.get("words", {}).get(one, one))}</th><td class="number">{weight:.1%}</td>'
        f'<td class="number">{rough_number(error)}</td></tr>'
        for one, weight, error in listed
    )
    return (
        '<div class="scroll"><table><caption>The prediction is the mean of these, by their weights, which are those '
        "with the least squared error on numbers that were not seen.</caption><thead><tr>"
        '<th scope="col">Ingredient</th><th scope="col" class="number">Weight</th>'
        f'<th scope="col" class="number">Mean error alone</th></tr></thead><tbody>{rows}</tbody></table></div>'
    )


def _table(data: dict[str, Any]) -> str:
    # of pages that an older version wrote, all intervals have one width
    halves = data.get("half_widths") or [data["half_width"]] * len(data["names"])
    rows: list[str] = []
    for node, known, value, half in zip(
        data["names"], data["known"], data["predicted"], halves, strict=True
    ):
        if known is None and len(rows) < MAX_ROWS:
            rows.append(
                f'<tr><th scope="row">{name(node, 60)}</th><td class="number">{_shown(value, half)}</td>'
                f'<td class="number">{_interval(value, half)}</td></tr>'
            )
    if not rows:
        return "<p>Every node has a number, so there is none left to predict.</p>"
    total = sum(known is None for known in data["known"])
    told = f"The first {len(rows):,} of {total:,}; " if total > len(rows) else ""
    return (
        f"<p>{told}predictions.csv has every node.</p>"
        '<div class="scroll"><table><caption>Nodes without a known number</caption><thead><tr><th scope="col">Node</th>'
        '<th scope="col" class="number">Predicted</th>'
        f'<th scope="col" class="number">{data["coverage"]:.0%} interval</th></tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


def _interval(value: float, half: float | None) -> str:
    return (
        "anything"
        if half is None
        else f"{number_within(value - half, half)} to {number_within(value + half, half)}"
    )


def _shown(value: float, half: float | None) -> str:
    return rough_number(value) if half is None else number_within(value, half)
