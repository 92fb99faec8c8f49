"""The page of a fit whose labels are numbers: how near the predictions are, what they are made of, how to repeat it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from gramme._text import number_within, rough_number
from gramme.graph import MultilayerGraph
from gramme.methods import GrammeRegressor
from gramme.methods.regression.ingredients import INGREDIENTS

from .charts import Series, chart
from .fit_facts import graph_facts, page_head
from .html import for_templates

DEFAULT_COVERAGE = 0.9
"""The share of nodes whose number the intervals of page and table should hold, where nothing else was asked for."""
MAX_POINTS = 600  # of the figure
MAX_ROWS = 200  # of the table


def number_data(model: GrammeRegressor, graph: MultilayerGraph, config: dict[str, Any]) -> dict[str, Any]:
    """Everything the page shows, as plain values; ``config`` says how the model was fitted on the graph."""
    known_numbers: list[float | None] = [None] * graph.num_nodes
    for place, value in zip(model.known_.tolist(), model.known_values_.tolist(), strict=True):
        known_numbers[place] = value
    coverage = float(config.get("coverage", DEFAULT_COVERAGE))
    half_width = model.half_width(coverage)
    return page_head("numbers", config, graph.name) | {
        "graph": graph_facts(graph),
        "r2": None if math.isnan(model.r2_) else model.r2_,
        "mean_absolute_error": model.mean_absolute_error_,
        "coverage": coverage,
        "half_width": half_width if math.isfinite(half_width) else None,
        "half_widths": model.half_widths(coverage).tolist() if math.isfinite(half_width) else None,
        "ingredients": {key: model.ingredients_[key].tolist() for key in model.ingredients_},
        "names": [str(one) for one in graph.nodes],
        "known": known_numbers,
        "words": {name: INGREDIENTS[name].in_words(one) for name, one in model.models_.items()},
        "predicted": model.predict().tolist(),
        "out_of_fold": [None if math.isnan(one) else one for one in model.out_of_fold_.tolist()],
    }


@for_templates
def number_figure(data: Mapping[str, Any]) -> dict[str, Any]:
    """Predicted against known numbers, and how far off always saying the mean would be."""
    known_pairs = [
        (one, other) for one, other in zip(data["known"], data["out_of_fold"], strict=True) if one is not None
    ]
    step = math.ceil(len(known_pairs) / MAX_POINTS)
    x, y = zip(*known_pairs[::step], strict=True)
    known_values = np.array([one for one, _ in known_pairs])
    number_chart = chart(
        [Series("labelled nodes", x, y)],
        title="Predicted without its own number, against the known number, for each labelled node",
        x_label="known",
        y_label="predicted",
        lines=False,
    )
    return {"figure": number_chart, "step": step, "plain": float(np.abs(known_values - known_values.mean()).mean())}


@for_templates
def number_rows(data: Mapping[str, Any]) -> tuple[list[dict[str, Any]], int]:
    """The first nodes without a number with what is predicted, and how many such nodes there are."""
    # of pages that an older version wrote, all intervals have one width
    half_widths = data.get("half_widths") or [data["half_width"]] * len(data["names"])
    node_columns = (data["names"], data["known"], data["predicted"], half_widths)
    unknown_nodes = [
        (node, value, half) for node, known, value, half in zip(*node_columns, strict=True) if known is None
    ]
    shown_rows = [
        {"node": node, "predicted": rough_number(value), "interval": "anything"}
        if half is None
        else {
            "node": node,
            "predicted": number_within(value, half),
            "interval": f"{number_within(value - half, half)} to {number_within(value + half, half)}",
        }
        for node, value, half in unknown_nodes[:MAX_ROWS]
    ]
    return shown_rows, len(unknown_nodes)
