"""The page of a fit whose labels are numbers: how near the predictions are, what they are made of, how to repeat it."""

from __future__ import annotations

from typing import Any

import numpy as np

from gramme.methods.regression.gramme_regressor import GrammeRegressor
from gramme.report.page.charts import Series, chart
from gramme.report.page.fit_page import FORMAT, VERSION
from gramme.report.page.fit_sections import data_name
from gramme.report.page.fit_settings import settings_section
from gramme.report.page.frame import frame
from gramme.report.page.html import escape, name, page

COVERAGE = 0.9
"""The share of nodes whose number the intervals of page and table should hold."""
MAX_POINTS = 600  # of the figure
MAX_ROWS = 200  # of the table
WORDS = {
    "propagation": "known numbers spreading to neighbours",
    "groups-ridge": "a linear model of groups, neighbours and features",
    "walks-ridge": "a linear model of where walks through the network lead",
}


def number_data(model: GrammeRegressor, known: Any, config: dict[str, Any]) -> dict[str, Any]:
    """Everything the page shows, as plain values."""
    graph = model.graph_
    low, high = model.predict_interval(COVERAGE).T
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
        "r2": model.r2_,
        "mean_absolute_error": model.mean_absolute_error_,
        "coverage": COVERAGE,
        "half_width": float((high - low)[0] / 2),
        "ingredients": {key: model.ingredients_[key].tolist() for key in model.ingredients_},
        "names": [str(one) for one in graph.nodes],
        "known": [None if value is None else float(value) for value in known],
        "predicted": model.predict().tolist(),
        "out_of_fold": model.out_of_fold_.tolist(),
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
    return (
        f'<p class="headline"><strong>{data["mean_absolute_error"]:.4g}</strong> off on average (R² {data["r2"]:.2f}) '
        f"on {known:,} labelled nodes, each predicted without its own number</p>"
        f'<p class="lead"><strong>GrammeRegressor</strong> learned from the numbers of <strong>{known:,}</strong> of '
        f"{data['graph']['nodes']:,} nodes and predicted a number for the other {data['graph']['nodes'] - known:,}.</p>"
    )


def _accuracy(data: dict[str, Any]) -> str:
    pairs = [
        (float(one), float(other))
        for one, other in zip(data["known"], data["out_of_fold"], strict=True)
        if one is not None
    ]
    step = max(1, len(pairs) // MAX_POINTS)
    x, y = zip(*pairs[::step], strict=True)
    drawn = chart(
        [Series("labelled nodes", x, y)],
        title="Predicted without its own number, against the known number, for each labelled node",
        x_label="known",
        y_label="predicted",
        lines=False,
    )
    spread = float(np.abs(np.array(x) - np.mean(x)).mean())
    half = data["half_width"]
    width = (
        f"within {half:.4g} of the prediction"
        if np.isfinite(half)
        else "anywhere: there are too few labels for an interval"
    )
    return (
        f"<p>R² {data['r2']:.3f}: the predictions explain {max(data['r2'], 0):.0%} of how much the numbers differ. On "
        f"average they are {data['mean_absolute_error']:.4g} off; always saying the mean would be about {spread:.4g} "
        f"off.</p><p>For {data['coverage']:.0%} of nodes like the labelled ones the true number lies {width} "
        f"(cross-conformal interval).</p><figure>{drawn}</figure>"
    )


def _ingredients(data: dict[str, Any]) -> str:
    rows = "".join(
        f'<tr><th scope="row">{escape(WORDS.get(one, one))}</th><td class="number">{weight:.1%}</td>'
        f'<td class="number">{error:.4g}</td></tr>'
        for one, weight, error in zip(*data["ingredients"].values(), strict=True)
    )
    return (
        '<div class="scroll"><table><caption>The prediction is the mean of these, by their weights, which are those '
        "with the least error on numbers that were not seen.</caption><thead><tr>"
        '<th scope="col">Ingredient</th><th scope="col" class="number">Weight</th>'
        f'<th scope="col" class="number">Mean error alone</th></tr></thead><tbody>{rows}</tbody></table></div>'
    )


def _table(data: dict[str, Any]) -> str:
    half = data["half_width"]
    rows: list[str] = []
    for node, known, value in zip(data["names"], data["known"], data["predicted"], strict=True):
        if known is None and len(rows) < MAX_ROWS:
            rows.append(
                f'<tr><th scope="row">{name(node, 60)}</th><td class="number">{value:.4g}</td>'
                f'<td class="number">{value - half:.4g} to {value + half:.4g}</td></tr>'
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
