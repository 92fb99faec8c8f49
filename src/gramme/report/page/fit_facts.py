"""What the template of a fit's page says in sentences, worked out from the page's data."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gramme._text import share
from gramme.evaluation.calibration import LABELS_PER_BIN, bins_off, on_the_whole
from gramme.graph import MultilayerGraph

from .charts import Series, chart, legend
from .html import for_templates, there

MAX_CONFUSION_CLASSES = 12
"""Classes up to which the confusions are a matrix; of more, a list that can be searched."""
WORST_CONFUSIONS = 10
MAX_SET_SIZES = 6
ATTENTION = "gramme-fusion"
"""The ingredient of a mixture that is trained in epochs."""


FORMAT, VERSION = "gramme-report", 1


def page_head(kind: str, config: Mapping[str, Any], graph_name: str | None) -> dict[str, Any]:
    """What the data of every page begin with."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "kind": kind,
        "name": data_name(config.get("data"), graph_name),
        "of_table": "table" in config,
        "config": dict(config),
    }


def graph_facts(graph: MultilayerGraph) -> dict[str, Any]:
    """The size of a graph and of its layers."""
    layers = [
        {
            "name": name,
            "edges": layer.num_edges,
            "groups": None if layer.group_names is None else len(layer.group_names),
            "present": layer.num_present,
        }
        for name, layer in graph.layers.items()
    ]
    return {"name": graph.name, "nodes": graph.num_nodes, "layers": layers}


@for_templates
def leading(estimate: Mapping[str, Any]) -> dict[str, Any]:
    """The number to lead with, its interval, what a blind guess reaches of it, and what it is.

    The accuracy; where classes are unequal the balanced accuracy, since a rare class hardly counts in the other.
    """
    if estimate.get("unequal_classes"):
        return {
            "value": estimate["balanced_accuracy"],
            "interval": estimate.get("balanced_accuracy_ci95"),
            "guess": 1 / len(estimate["recall"]),
            "words": "of each class identified correctly, on average",
        }
    return {
        "value": estimate["accuracy"],
        "interval": estimate.get("accuracy_ci95"),
        "guess": (estimate.get("guess") or {}).get("accuracy"),
        "words": "right",
    }


@for_templates
def untested_classes(estimate: Mapping[str, Any], classes: Sequence[str]) -> list[str]:
    """The classes that no tested label is of, so that nothing is known of how well they are identified."""
    recall = estimate.get("recall")
    return [] if not recall else [label for label in classes if not recall.get(label, {"nodes": 0})["nodes"]]


@for_templates
def confusion_shown(confusion: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """What the matrix of confusions says: its rows with their cells, and the most frequent mistakes; None without one.

    ``cells`` are there for a matrix that can be read at a glance only.
    """
    if not confusion or not confusion.get("counts"):
        return None
    classes, counts = confusion["classes"], confusion["counts"]
    rows, mistakes = [], []
    for place, (label, row) in enumerate(zip(classes, counts, strict=True)):
        total = sum(row)
        wrong = [(count, other) for other, count in zip(classes, row, strict=True) if count and other != label]
        mistakes += [
            {"label": label, "predicted": other, "count": count, "share": count / total} for count, other in wrong
        ]
        cells = [
            {
                "count": count,
                "share": count / total if total else 0.0,
                "kind": "right" if place == column else "wrong",
                "heat": 1 + min(7, int(8 * count / total)) if count else 0,
            }
            for column, count in enumerate(row)
        ]
        rows.append(
            {
                "label": label,
                "tested": total,
                "right": row[place] / total if total else None,
                "mostly": max(wrong, default=None, key=lambda pair: pair[0]),
                "cells": cells if len(classes) <= MAX_CONFUSION_CLASSES else [],
            }
        )
    mistakes.sort(key=lambda one: (-one["count"], -one["share"]))
    return {"rows": rows, "mistakes": mistakes[:WORST_CONFUSIONS], "matrix": len(classes) <= MAX_CONFUSION_CLASSES}


@for_templates
def reliability_facts(estimate: Mapping[str, Any]) -> dict[str, Any] | None:
    """How sure predictions of unseen labels were and how often they were right; None where no labels were tested."""
    table = estimate.get("reliability")
    if not table or not table["probability"]:
        return None
    whole, apart = on_the_whole(table), bins_off(table)
    said, right = table["probability"], table["right"]
    facts: dict[str, Any] = {
        "holdout": estimate.get("kind") == "holdout",
        "said": whole.said,
        "right": whole.right,
        "nodes": whole.nodes,
        "verdict": whole.verdict,
        "apart": bool(apart),
        "few": whole.nodes < 4 * LABELS_PER_BIN,
        "figure": None,
    }
    if len(said) > 1:
        off = max(range(len(said)), key=lambda place: abs(said[place] - right[place]))
        start = int(10 * min(*said, *table["low"])) / 10
        line = Series("as said", [start, 1.0], [start, 1.0], style=0, dashed=True, bare=True)
        points = Series("what happened, with 95 % interval", said, right, table["low"], table["high"])
        figure = chart(
            [line, points],
            title="Share of right predictions by the probability they were given",
            x_label="probability of the prediction",
            y_label="share right",
            percent=True,
            percent_x=True,
        )
        facts |= {"far_said": share(said[off]), "far_right": share(right[off]), "far_nodes": table["nodes"][off]}
        facts |= {"far_apart": off in apart, "figure": figure, "legend": legend([line, points])}
    return facts


@for_templates
def set_sizes(facts: Mapping[str, Any]) -> list[tuple[str, int, float]]:
    """How many classes the sets hold, as words, nodes and the share of nodes; many sizes are joined."""
    sizes = sorted((int(size), count) for size, count in facts["sizes"].items())
    total = sum(count for _, count in sizes)
    rows = [("1 class" if size == 1 else f"{size} classes", count) for size, count in sizes[:MAX_SET_SIZES]]
    if len(sizes) > MAX_SET_SIZES:
        rows.append(("more", sum(count for _, count in sizes[MAX_SET_SIZES:])))
    return [(words, count, count / total) for words, count in rows] if total else []


@for_templates
def importance_rows(layers: Mapping[str, list[Any]]) -> tuple[list[dict[str, Any]], float]:
    """Layers with their share and its spread, the largest first, and what the longest bar stands for."""
    spread = layers.get("spread") or [None] * len(layers["layer"])
    rows = [
        {"layer": layer, "share": part or 0, "spread": wide}
        for layer, part, wide in zip(layers["layer"], layers["importance"], spread, strict=True)
    ]
    rows.sort(key=lambda row: -row["share"])
    return rows, max((row["share"] + (row["spread"] or 0) for row in rows), default=0) or 1.0


@for_templates
def table_rows(table: Mapping[str, list[Any]]) -> list[list[tuple[str, Any]]]:
    """The rows of a table of columns, as pairs of column and value."""
    return [list(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]


@for_templates
def training_figures(history: Mapping[str, list[Any]] | None) -> list[dict[str, Any]]:
    """Curves of the loss and of accuracies over the epochs."""
    if not history:
        return []
    across = next((key for key in ("epoch", "iteration", "step") if key in history), None)
    places = history[across] if across else range(1, len(next(iter(history.values()))) + 1)
    columns = [key for key in history if key not in (across, "member")]
    accuracies = [key for key in columns if "accuracy" in key or "f1" in key]
    figures = []
    for keys, title in (([key for key in columns if key not in accuracies], "Loss"), (accuracies, "Accuracy")):
        series = []
        for style, key in enumerate(keys, start=1):
            points = [
                (x, float(y)) for x, y in zip(places, history[key], strict=True) if there(y) and not isinstance(y, bool)
            ]
            if points:
                x, y = zip(*points, strict=True)
                series.append(Series(key.replace("_", " "), x, y, style=style))
        if series:
            figure = chart(
                series,
                title=f"{title} over the {across or 'step'}s of training",
                x_label=across or "step",
                y_label=title,
                percent=title == "Accuracy",
            )
            figures.append({"title": title, "figure": figure, "legend": legend(series) if len(series) > 1 else ""})
    return figures


@for_templates
def attention_weight(ingredients: Mapping[str, list[Any]] | None) -> float | None:
    """The weight of attention in a mixture, None if it has no part in one."""
    made_of = ingredients or {}
    weights: dict[str, float] = dict(zip(made_of.get("ingredient", []), made_of.get("weight", []), strict=False))
    return weights.get(ATTENTION)


@for_templates
def command(config: Mapping[str, Any]) -> str:
    """The command line of a fit: as it was given where that is known, else from what was noted.

    >>> command({"data": "my votes.csv", "method": "gramme-fusion", "seed": 3})
    "gramme fit 'my votes.csv' --method gramme-fusion --seed 3 --out result"
    """
    given = config.get("command")
    if given:
        try:
            words = [str(word) for word in given] if isinstance(given, list) else shlex.split(given)
        except ValueError:  # changed by hand
            return str(given)
        # into another folder, since the results of the first run would be in the way
        places = enumerate(words)
        return shlex.join(
            word.rstrip("/") + "-again" if place and words[place - 1] == "--out" else word for place, word in places
        )
    words = ["gramme", "fit", str(config.get("data", "DATA"))]
    for option in ("method", "holdout", "seed"):
        if config.get(option) is not None:
            words += [f"--{option}", str(config[option])]
    return shlex.join([*words, "--out", str(config.get("out", "result"))])


OWN_OPTIONS = ("--out", "--count", "--labels", "--label", "--among", "--engine", "--resolution", "--repeats", "--seed")
OWN_FLAGS = ("--equal-layers", "--raw-csv")
"""Options of ``gramme ask`` and ``gramme groups`` that say nothing about how the data are read."""
LABELS_OPTIONS = ("--id", "--features", "--layers-from", "--labels-format")
"""Options about the file of labels, where the data are no table."""


@for_templates
def same_data(data: Mapping[str, Any], verb: str, options: str) -> str:
    """Another command on the data of a page, read with the options that were given.

    >>> same_data({"config": {"command": "gramme ask a.csv --layer-column kind --count 5 --out x"}}, "fit", "--out y")
    'gramme fit a.csv --layer-column kind --out y'
    """
    words = shlex.split(str(data["config"].get("command") or ""))[2:] or [str(data["config"].get("data", data["name"]))]
    kept, skip = [], False
    left_out = (*OWN_OPTIONS, *(() if "--table" in words else LABELS_OPTIONS))
    for word in words:
        if not skip and word not in (*left_out, *OWN_FLAGS):
            kept.append(word)
        skip = word in left_out
    return f"gramme {verb} {shlex.join(kept)} {options}"


@for_templates
def general_settings(config: Mapping[str, Any]) -> dict[str, Any]:
    """What was noted of a fit and stands nowhere else on its page."""
    apart = {"parameters", "versions", "command", "estimate", "classes", "accuracy_ci95", "reading", "layer_importance"}
    return {key.replace("_", " "): value for key, value in config.items() if key not in apart}


@for_templates
def as_text(value: Any) -> str:
    """A setting as text."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


@for_templates
def data_name(given: Any, graph_name: str | None = None) -> str:
    """What a reader would call the data: a file or folder by its name alone, anything else as it was given.

    >>> data_name("ties/2024 by week"), data_name("balance_scale"), data_name(None, "club")
    ('ties/2024 by week', 'balance_scale', 'club')
    """
    if not given:
        return str(graph_name or "a graph")
    path = Path(str(given))
    try:
        if path.is_dir():
            return path.name or str(given)
        if path.is_file():
            return path.stem
        several = [Path(word.rpartition("=")[2]) for word in str(given).split()]  # a relation is kinds=FILE
        if several and all(one.is_file() for one in several):
            return ", ".join(one.stem for one in several)
    except OSError:  # too long for a file's name
        pass
    return str(given)
