"""What the template of a fit's page says in sentences, worked out from the page's data."""

from __future__ import annotations

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
    layer_facts = [
        {
            "name": name,
            "edges": layer.num_edges,
            "groups": None if layer.group_names is None else len(layer.group_names),
            "present": layer.num_present,
        }
        for name, layer in graph.layers.items()
    ]
    return {"name": graph.name, "nodes": graph.num_nodes, "layers": layer_facts}


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
    class_recall = estimate.get("recall")
    return (
        [] if not class_recall else [label for label in classes if not class_recall.get(label, {"nodes": 0})["nodes"]]
    )


@for_templates
def confusion_shown(confusion: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """What the matrix of confusions says: its rows with their cells, and the most frequent mistakes; None without one.

    ``cells`` are there for a matrix that can be read at a glance only.
    """
    if not confusion or not confusion.get("counts"):
        return None
    class_names, confusion_counts = confusion["classes"], confusion["counts"]
    class_rows, mistakes = [], []
    for class_place, (label, class_counts) in enumerate(zip(class_names, confusion_counts, strict=True)):
        tested_count = sum(class_counts)
        wrong_counts = [
            (count, other) for other, count in zip(class_names, class_counts, strict=True) if count and other != label
        ]
        mistakes += [
            {"label": label, "predicted": other, "count": count, "share": count / tested_count}
            for count, other in wrong_counts
        ]
        row_cells = [
            {
                "count": count,
                "share": count / tested_count if tested_count else 0.0,
                "kind": "right" if class_place == column else "wrong",
                "heat": 1 + min(7, int(8 * count / tested_count)) if count else 0,
            }
            for column, count in enumerate(class_counts)
        ]
        class_rows.append(
            {
                "label": label,
                "tested": tested_count,
                "right": class_counts[class_place] / tested_count if tested_count else None,
                "mostly": max(wrong_counts, default=None, key=lambda pair: pair[0]),
                "cells": row_cells if len(class_names) <= MAX_CONFUSION_CLASSES else [],
            }
        )
    mistakes.sort(key=lambda one: (-one["count"], -one["share"]))
    return {
        "rows": class_rows,
        "mistakes": mistakes[:WORST_CONFUSIONS],
        "matrix": len(class_names) <= MAX_CONFUSION_CLASSES,
    }


@for_templates
def reliability_facts(estimate: Mapping[str, Any]) -> dict[str, Any] | None:
    """How sure predictions of unseen labels were and how often they were right; None where no labels were tested."""
    reliability_table = estimate.get("reliability")
    if not reliability_table or not reliability_table["probability"]:
        return None
    overall_reliability, bins_apart = on_the_whole(reliability_table), bins_off(reliability_table)
    said_probabilities, right_shares = reliability_table["probability"], reliability_table["right"]
    facts: dict[str, Any] = {
        "holdout": estimate.get("kind") == "holdout",
        "said": overall_reliability.said,
        "right": overall_reliability.right,
        "nodes": overall_reliability.nodes,
        "verdict": overall_reliability.verdict,
        "apart": bool(bins_apart),
        "few": overall_reliability.nodes < 4 * LABELS_PER_BIN,
        "figure": None,
    }
    if len(said_probabilities) > 1:
        farthest_bin = max(
            range(len(said_probabilities)), key=lambda place: abs(said_probabilities[place] - right_shares[place])
        )
        axis_start = int(10 * min(*said_probabilities, *reliability_table["low"])) / 10
        equal_line = Series("as said", [axis_start, 1.0], [axis_start, 1.0], style=0, dashed=True, bare=True)
        bin_points = Series(
            "what happened, with 95 % interval",
            said_probabilities,
            right_shares,
            reliability_table["low"],
            reliability_table["high"],
        )
        reliability_figure = chart(
            [equal_line, bin_points],
            title="Share of right predictions by the probability they were given",
            x_label="probability of the prediction",
            y_label="share right",
            percent=True,
            percent_x=True,
        )
        facts |= {
            "far_said": share(said_probabilities[farthest_bin]),
            "far_right": share(right_shares[farthest_bin]),
            "far_nodes": reliability_table["nodes"][farthest_bin],
        }
        facts |= {
            "far_apart": farthest_bin in bins_apart,
            "figure": reliability_figure,
            "legend": legend([equal_line, bin_points]),
        }
    return facts


@for_templates
def importance_rows(layers: Mapping[str, list[Any]]) -> tuple[list[dict[str, Any]], float]:
    """Layers with their share and its spread, the largest first, and what the longest bar stands for."""
    importance_spread = layers.get("spread") or [None] * len(layers["layer"])
    layer_rows = [
        {"layer": layer, "share": part or 0, "spread": wide}
        for layer, part, wide in zip(layers["layer"], layers["importance"], importance_spread, strict=True)
    ]
    layer_rows.sort(key=lambda row: -row["share"])
    return layer_rows, max((row["share"] + (row["spread"] or 0) for row in layer_rows), default=0) or 1.0


@for_templates
def training_figures(history: Mapping[str, list[Any]] | None) -> list[dict[str, Any]]:
    """Curves of the loss and of accuracies over the epochs."""
    if not history:
        return []
    step_column = next((key for key in ("epoch", "iteration", "step") if key in history), None)
    step_values = history[step_column] if step_column else range(1, len(next(iter(history.values()))) + 1)
    value_columns = [key for key in history if key not in (step_column, "member")]
    accuracies = [key for key in value_columns if "accuracy" in key or "f1" in key]
    curve_figures = []
    for curve_columns, title in (
        ([key for key in value_columns if key not in accuracies], "Loss"),
        (accuracies, "Accuracy"),
    ):
        curve_series = []
        for style, key in enumerate(curve_columns, start=1):
            curve_points = [
                (x, float(y))
                for x, y in zip(step_values, history[key], strict=True)
                if there(y) and not isinstance(y, bool)
            ]
            if curve_points:
                x, y = zip(*curve_points, strict=True)
                curve_series.append(Series(key.replace("_", " "), x, y, style=style))
        if curve_series:
            figure = chart(
                curve_series,
                title=f"{title} over the {step_column or 'step'}s of training",
                x_label=step_column or "step",
                y_label=title,
                percent=title == "Accuracy",
            )
            curve_figures.append(
                {"title": title, "figure": figure, "legend": legend(curve_series) if len(curve_series) > 1 else ""}
            )
    return curve_figures


@for_templates
def command(config: Mapping[str, Any]) -> str:
    """The command line of a fit: as it was given where that is known, else from what was noted.

    >>> command({"data": "my votes.csv", "method": "gramme-fusion", "seed": 3})
    "gramme fit 'my votes.csv' --method gramme-fusion --seed 3 --out result"
    """
    given_command = config.get("command")
    if given_command:
        try:
            command_words = (
                [str(word) for word in given_command] if isinstance(given_command, list) else shlex.split(given_command)
            )
        except ValueError:  # changed by hand
            return str(given_command)
        # into another folder, since the results of the first run would be in the way
        numbered_words = enumerate(command_words)
        return shlex.join(
            word.rstrip("/") + "-again" if place and command_words[place - 1] == "--out" else word
            for place, word in numbered_words
        )
    command_words = ["gramme", "fit", str(config.get("data", "DATA"))]
    for option in ("method", "holdout", "seed"):
        if config.get(option) is not None:
            command_words += [f"--{option}", str(config[option])]
    return shlex.join([*command_words, "--out", str(config.get("out", "result"))])


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
    command_words = shlex.split(str(data["config"].get("command") or ""))[2:] or [
        str(data["config"].get("data", data["name"]))
    ]
    kept_words, skip_next = [], False
    left_out = (*OWN_OPTIONS, *(() if "--table" in command_words else LABELS_OPTIONS))
    for word in command_words:
        if not skip_next and word not in (*left_out, *OWN_FLAGS):
            kept_words.append(word)
        skip_next = word in left_out
    return f"gramme {verb} {shlex.join(kept_words)} {options}"


@for_templates
def data_name(given: Any, graph_name: str | None = None) -> str:
    """What a reader would call the data: a file or folder by its name alone, anything else as it was given.

    >>> data_name("ties/2024 by week"), data_name("balance_scale"), data_name(None, "club")
    ('ties/2024 by week', 'balance_scale', 'club')
    """
    if not given:
        return str(graph_name or "a graph")
    data_path = Path(str(given))
    try:
        if data_path.is_dir():
            return data_path.name or str(given)
        if data_path.is_file():
            return data_path.stem
        file_paths = [Path(word.rpartition("=")[2]) for word in str(given).split()]  # a relation is kinds=FILE
        if file_paths and all(one.is_file() for one in file_paths):
            return ", ".join(one.stem for one in file_paths)
    except OSError:  # too long for a file's name
        pass
    return str(given)
