"""What ``--table`` does: which columns of a table become layers, and how."""

from __future__ import annotations

import shlex
import warnings
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from gramme._text import rough_number, share
from gramme.errors import DataError, FileFormatError, GrammeWarning
from gramme.graph import MultilayerGraph
from gramme.graph.columns import MAX_CATEGORIES, amounts, settled_labels, too_many
from gramme.graph.table import LayerPlan, TablePlan, known_column
from gramme.io.labels import with_labels
from gramme.io.parsed import ReadOptions
from gramme.io.plain_table import header_of, read_table
from gramme.io.source import tell
from gramme.io.values import tell_of_twins

from .options import Reading


def open_table(path: Path, read: Reading, *, needs_label: bool = True) -> tuple[MultilayerGraph, dict[str, Any]]:
    """The graph of a table, and a record with which another table can be turned into a graph in the same way."""
    label, labels = read.label, read.labels
    table = read_table(
        path,
        encoding=read.encoding,
        missing=read.marks(),
        keep_na=read.keep_na,
        text=[c for c in (label, read.id) if c],
        label=label,
    )
    column_names = list(table.columns)
    for name in column_names:
        if name.lower() in ("freq", "frequency") and name != label:  # as R writes a table of counts
            tell(f"{path.name}: {name!r} may count whom each row stands for, but each row is one here", doubt=True)
    if needs_label and label is None and labels is None:
        raise DataError(
            f"{path}: say with --label which column has the labels to learn and predict; "
            f"columns: {', '.join(column_names)[:300]}"
        )
    try:
        chosen_id = read.id
        if chosen_id is None and column_names[0] == "row" != label and table["row"].is_unique:
            chosen_id = "row"
            warnings.warn(
                "the first column, which has no name, is taken for the names of the rows (--id)",
                GrammeWarning,
                stacklevel=2,
            )
        if chosen_id is not None and chosen_id == label:
            raise DataError(f"the column {label!r} cannot be both --id and --label")
        column_neighbours, joint_neighbours = _neighbours(read.knn or (), column_names)
        plan = TablePlan.of(
            table,
            label=label,
            id=chosen_id,
            columns=_columns(read.columns, column_names) if read.columns else None,
            bins={column: _edges(column, text) for column, text in _pairs("--bins", read.bins or ())},
            quantiles={
                column: _whole(f"--quantiles {column}", text)
                for column, text in _pairs("--quantiles", read.quantiles or ())
            },
            knn=column_neighbours,
            together=joint_neighbours,
            separator=_separators(read.split or ()),
            dates=dict(_pairs("--dates", read.dates or ())),
            missing="group" if read.missing_group else "nobody",
        )
        graph = plan.graph(_named(table, chosen_id), name=path.stem)
        if label is not None:
            if needs_label and not read.label_bins and not read.label_edges:
                _check_labels(table[label], label, read.label_kind)
            graph = graph.replace(labels=_settled(graph, read))
    except FileFormatError:
        raise
    except DataError as error:
        raise DataError(f"{path}: {error}") from error
    if labels is not None:
        graph = with_labels(graph, labels, ReadOptions(**read.label_options()))
    reading_record = {"missing_values": read.marks(), "keep_na": read.keep_na}
    return graph, plan.record() | reading_record | {"categories": _categories(graph, plan)}


def given_columns(path: Path, read: Reading) -> pd.DataFrame:
    """The columns of a table as text, each cell as it stands in the file."""
    return read_table(path, encoding=read.encoding, keep_na=True, text=header_of(path, read.encoding))


def open_table_again(path: Path, record: dict[str, Any], read: Reading) -> MultilayerGraph:
    """The graph of another table, made as the record of the fit says."""
    table_plan = TablePlan.from_record(record)
    table = read_table(
        path,
        encoding=read.encoding,
        missing=record.get("missing_values", []),
        keep_na=bool(record.get("keep_na", False)),
        text=[c for c in (table_plan.label, table_plan.id) if c],
    )
    try:
        graph = table_plan.graph(_named(table, table_plan.id), name=path.stem)
    except FileFormatError:
        raise
    except DataError as error:
        raise DataError(f"{path}: {error} (the model was fitted on it)") from error
    _tell_of_new(path, table, graph, table_plan, record)
    if read.labels is None:
        return graph
    return with_labels(graph, read.labels, ReadOptions(**read.label_options()))


def _categories(graph: MultilayerGraph, plan: TablePlan) -> dict[str, list[str]]:
    """The values of the columns that are categories, as the model learns them."""
    return {
        name: sorted(map(str, getattr(graph.layers[name], "group_names", ())))
        for name, layer in plan.layers.items()
        if layer.way == "categories"
    }


def _tell_of_new(
    path: Path, table: pd.DataFrame, graph: MultilayerGraph, plan: TablePlan, record: dict[str, Any]
) -> None:
    """Say which columns and values of a table a model that was fitted on another one knows nothing about."""
    used_columns = {column for layer in plan.layers.values() for column in layer.columns}
    known_columns = used_columns | set(plan.left_out) | {plan.label, plan.id, "row"}
    for column in table.columns:
        if column not in known_columns:
            tell(f"{path.name}: the column {column!r} is not used, the model was fitted without it")
    learned_categories = record.get("categories")
    if not isinstance(learned_categories, dict):
        return
    for name, category_values in _categories(graph, plan).items():
        learned_values = learned_categories.get(name)
        new_values = [
            value for value in category_values if isinstance(learned_values, list) and value not in set(learned_values)
        ]
        if new_values:
            shown_values = ", ".join(map(repr, new_values[:3])) + (", ..." if len(new_values) > 3 else "")
            tell(f"{path.name}: the column {name!r} has values that the model has not seen: {shown_values}")


def describe(plan: dict[str, Any], graph: MultilayerGraph, most: int = 20) -> list[str]:
    """How each column became a layer or why it did not, in a line each with the option that changes it."""
    column_lines = []
    for name, layer in list(plan["layers"].items())[:most]:
        layer_plan = LayerPlan(**layer)
        missing_share = 1 - float(np.mean(graph.layers[name].present)) if graph.num_nodes else 0.0
        missing_words = f", {share(missing_share)} missing" if missing_share >= 0.005 else ""
        option_examples = {"groups": 5, "neighbours": 10, "weekday": "weekday"}
        option_words = {key: shlex.quote(f"{layer_plan.columns[0]}={value}") for key, value in option_examples.items()}
        change_words = _TO_CHANGE.get(layer_plan.way, "").format(**option_words)
        column_lines.append(f"{name}: {_in_words(layer_plan, graph, name)}{missing_words}{change_words}")
    if len(plan["layers"]) > most:
        column_lines.append(f"... and {len(plan['layers']) - most} more columns")
    for name, reason in list(plan.get("left_out", {}).items())[:most]:
        column_lines.append(f"{name}: left out, {reason} (--columns names the columns to use)")
    return column_lines


def _in_words(plan: LayerPlan, graph: MultilayerGraph, name: str) -> str:
    if plan.way in ("knn", "together"):
        return f"each row joined to the {plan.choice} rows with the nearest numbers"
    group_count = getattr(graph.layers[name], "num_groups", 0)
    if plan.way == "bins":
        cuts_are_numbers = all(isinstance(edge, (int, float)) for edge in plan.choice)
        if not cuts_are_numbers:
            cut_days = ", ".join(str(edge).partition("T")[0] for edge in plan.choice)
            return f"dates cut at {cut_days}"
        single_values = [low for low, high in pairwise(plan.choice) if high == np.nextafter(low, np.inf)]
        single_value_ends = {*single_values, *np.nextafter(single_values, np.inf)}
        cut_texts = [rough_number(edge) for edge in plan.choice if edge not in single_value_ends]
        text = f"numbers cut at {', '.join(cut_texts)}" if cut_texts else "numbers"
        return f"{text}; {', '.join(map(rough_number, single_values))} by itself" if single_values else text
    if plan.way == "dates":
        return f"dates, {group_count:,} groups by {plan.choice}"
    group_kind = "values between separators" if plan.way == "separator" else "categories"
    return f"{group_count:,} {group_kind}"


_TO_CHANGE = {
    "bins": " (--bins {groups}, --knn {neighbours})",
    "dates": " (--dates {weekday}, --bins {groups})",
    "knn": " (--bins {groups})",
    "categories": " (--columns leaves it out)",
}
"""The options that would make another layer of a column, by the way it became one."""


def _named(table: pd.DataFrame, id: str | None) -> pd.DataFrame:
    """The table with plain text for the names of the rows, which come as categories."""
    if id is None or id not in table.columns:
        return table
    return table.assign(**{id: table[id].astype(object)})


def _check_labels(column: pd.Series, label: str, kind: str | None) -> None:
    """Refuse labels that cannot be learned; numbers for a regression may all differ."""
    known_labels = column.dropna()
    if not len(known_labels):
        raise DataError(
            f"the column {label!r} is empty in every row, so there is nothing to learn from; fill in the labels "
            "you know"
        )
    distinct_count = known_labels.nunique()
    if distinct_count == len(known_labels) and distinct_count > MAX_CATEGORIES and kind != "number":
        amount_count = amounts(known_labels) if kind is None else 0
        if amount_count:
            raise DataError(too_many(amount_count, len(known_labels)))
        raise DataError(
            f"the column {label!r} has another value in each of the {distinct_count:,} rows that have one; labels must "
            "repeat, so say with --label which other column holds them"
        )


def _settled(graph: MultilayerGraph, read: Reading) -> np.ndarray[Any, Any]:
    """The labels of the graph, cut into classes where they are numbers and that was asked for."""
    assert graph.labels is not None
    label_by_position = {str(place): label for place, label in enumerate(graph.labels) if label is not None}
    tell_of_twins(dict.fromkeys(map(str, label_by_position.values())), "labels", "classes")
    settled_by_position = settled_labels(label_by_position, read.label_kind, read.label_bins, read.edges())
    return np.array([settled_by_position.get(str(place)) for place in range(graph.num_nodes)], dtype=object)


def _columns(texts: Iterable[str], names: list[str]) -> list[str]:
    """The columns that --columns names; a text that is the name of one stands for that, whatever commas it holds."""
    parts = [part.strip() for text in texts for part in ([text] if text in names else text.split(","))]
    return list(dict.fromkeys(part for part in parts if part))


def _pairs(option: str, texts: Iterable[str]) -> list[tuple[str, str]]:
    """Column and value of each ``column=value``; several may stand in one text, with commas between."""
    pairs = []
    for text in texts:
        open_text = ""
        for part in text.split(","):
            open_text = f"{open_text},{part}" if open_text else part
            if "=" in open_text:
                column, _, value = open_text.rpartition("=")
                pairs.append((column.strip(), value.strip()))
                open_text = ""
        if open_text.strip():
            raise DataError(f"{option} {text!r}: write it as COLUMN=VALUE, like age=5")
    return pairs


def _separators(texts: Iterable[str]) -> dict[str, str]:
    mark_by_column = {}
    for text in texts:
        column, _, mark = text.partition("=")
        if not mark:
            raise DataError(f"--split {text!r}: write it as COLUMN=MARK, like 'authors=;'")
        mark_by_column[column.strip()] = mark
    return mark_by_column


def _neighbours(texts: Iterable[str], names: list[str]) -> tuple[dict[str, int], dict[tuple[str, ...], int]]:
    """How many neighbours each column has by itself, and each combination of columns."""
    column_neighbours: dict[str, int] = {}
    joint_neighbours: dict[tuple[str, ...], int] = {}
    for column, text in _pairs("--knn", texts):
        neighbour_count = _whole(f"--knn {column}", text)
        column_parts = tuple(part.strip() for part in column.split("+"))
        if column in names or len(column_parts) == 1:
            column_neighbours[column] = neighbour_count
            continue
        for part in column_parts:
            known_column(part, names, "--knn")
        joint_neighbours[column_parts] = neighbour_count
    return column_neighbours, joint_neighbours


def _whole(what: str, text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise DataError(f"{what}={text}: this must be a whole number") from None


def _edges(column: str, text: str) -> int | list[Any]:
    """A number of bins, or edges with colons between."""
    if ":" not in text:
        return _whole(f"--bins {column}", text)
    parts = [part.strip() for part in text.split(":")]
    try:
        return [float(part) for part in parts]
    except ValueError:
        return parts  # dates; anything else is found wrong when they are used
