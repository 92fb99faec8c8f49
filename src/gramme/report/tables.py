"""The tables of a fit: predictions, layers and embedding, with the columns that other programs rely on."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from gramme.evaluation.estimate import joined_sets
from gramme.graph import MultilayerGraph
from gramme.io.values import proper_text
from gramme.methods import GrammeRegressor, NodeClassifier

_FORMULA = re.compile(r"[=+\-@\t\r]")
_NUMBER = re.compile(r"[+-]?[\d.]+(e[+-]?\d+)?", re.IGNORECASE)

MAX_EMBEDDING_CELLS = 5_000_000
"""Numbers of an embedding that are written whole: about 50 megabytes of text."""
MAX_CLASS_CELLS = 2_000_000
"""Probabilities, nodes x classes, up to which a table of predictions has a column for each class."""


def prediction_table(
    model: NodeClassifier, graph: MultilayerGraph, known: np.ndarray | None = None, *, all_classes: bool | None = None
) -> pd.DataFrame:
    """One row per node: node, known, predicted, probability, then ``probability_<class>`` for each class.

    Where that would be more than ``MAX_CLASS_CELLS`` numbers, the classes that come second and third stand there
    instead, each with its probability.

    Parameters
    ----------
    model : NodeClassifier
        A fitted model.
    graph : MultilayerGraph
        The graph to predict for; the one it was fitted on or another.
    known : array of object, optional
        Labels that are known, None if not; the graph's own if not given.
    all_classes : bool, optional
        Whether there is a column for each class, however many numbers that are.
    """
    if known is None:
        known = np.full(graph.num_nodes, None) if graph.labels is None else graph.labels
    on_fitted_graph = getattr(model, "graph_", None) is graph
    probabilities = model.predict_proba(None if on_fitted_graph else graph)
    predicted_codes = probabilities.argmax(axis=1)
    columns = {
        # objects, so that names and labels that are numbers, or are not valid Unicode, are kept as they are
        "node": pd.Series(graph.nodes.to_numpy(), dtype=object),
        "known": pd.Series(known, dtype=object),
        "predicted": pd.Series(model.classes_[predicted_codes], dtype=object),
        "probability": probabilities.max(axis=1) if len(predicted_codes) else [],
    }
    if all_classes or (all_classes is None and probabilities.size <= MAX_CLASS_CELLS):
        for class_position, label in enumerate(model.classes_.tolist()):
            columns[proper_text(f"probability_{label}")] = probabilities[:, class_position]
        return pd.DataFrame(columns)
    ranked_codes = np.argsort(-probabilities, axis=1, kind="stable")
    for class_position, rank_name in enumerate(("second", "third")[: len(model.classes_) - 1], start=1):
        class_codes = ranked_codes[:, class_position]
        columns[rank_name] = pd.Series(model.classes_[class_codes], dtype=object)
        columns[f"{rank_name}_probability"] = np.take_along_axis(probabilities, class_codes[:, None], 1)[:, 0]
    return pd.DataFrame(columns)


def with_sets(
    table: pd.DataFrame, model: NodeClassifier, graph: MultilayerGraph, coverage: float, *, by_class: bool = False
) -> pd.DataFrame:
    """Predictions with a column ``set``: the classes that are plausible for a node, joined by ``|``."""
    class_sets = model.predict_set(graph, coverage=coverage, by_class=by_class)
    return table.assign(set=pd.Series(joined_sets(class_sets, model.classes_), dtype=object))


def number_table(model: GrammeRegressor, graph: MultilayerGraph, coverage: float = 0.9) -> pd.DataFrame:
    """One row per node: node, known, predicted, and low and high of the interval.

    For the graph that the model was fitted on also ``out_of_fold_predicted``, what is said without the node's number.
    """
    on_fitted_graph = model.fitted_on(graph)
    lower_ends, upper_ends = model.predict_interval(coverage, graph=graph).T
    known_numbers = np.full(graph.num_nodes, None) if graph.labels is None else graph.labels
    columns = {
        "node": pd.Series(graph.nodes.to_numpy(), dtype=object),
        "known": pd.Series(known_numbers, dtype=object),
        "predicted": model.predict(graph),
        "low": lower_ends,
        "high": upper_ends,
    }
    return pd.DataFrame(columns | ({"out_of_fold_predicted": model.out_of_fold_} if on_fitted_graph else {}))


def with_truth(table: pd.DataFrame, graph: MultilayerGraph) -> pd.DataFrame:
    """Predictions with the label of each node, whether learned from or not, and which labels were set aside."""
    true_labels = pd.Series(np.full(len(table), None) if graph.labels is None else graph.labels, dtype=object)
    return table.assign(
        held_out=(true_labels.notna() & table["known"].isna()).to_numpy(), true_label=true_labels.set_axis(table.index)
    )


def with_columns(table: pd.DataFrame, given: pd.DataFrame) -> pd.DataFrame:
    """Predictions followed by the columns of the table that they were made from, row by row.

    A column whose name is taken already is called ``given_<name>``.
    """
    new_names = {name: f"given_{name}" if name in table.columns else name for name in given.columns}
    return pd.concat([table, given.rename(columns=new_names).reset_index(drop=True)], axis=1)


OUT_OF_FOLD = {
    "out_of_fold_predicted": "predicted",
    "out_of_fold_probability": "probability",
    "out_of_fold_probability_of_label": "own",
    "suggested": "suggested",
}
"""Columns on labelled nodes, and the entries of :meth:`gramme.evaluation.Estimate.predictions` that they hold."""


def with_unseen(table: pd.DataFrame, predictions: Mapping[Any, Mapping[str, Any]]) -> pd.DataFrame:
    """Predictions with what models that had not learned from a node's label say about it; empty where there are none.

    ``predictions`` are by node, of :meth:`gramme.evaluation.Estimate.predictions`.
    """
    unseen_rows = [predictions.get(node, {}) for node in table["node"]]
    added_columns = {
        column: pd.Series([row.get(key) for row in unseen_rows], dtype=object, index=table.index)
        for column, key in OUT_OF_FOLD.items()
    }
    for column in ("out_of_fold_probability", "out_of_fold_probability_of_label"):
        added_columns[column] = added_columns[column].astype(float)
    return table.assign(**added_columns)


def layer_table(model: NodeClassifier) -> pd.DataFrame | None:
    """One row per layer: layer, importance and its spread over the members; None if a method has no such notion."""
    importance = getattr(model, "layer_importance_", None)
    if importance is None:
        return None
    layer_rows = pd.DataFrame({"layer": importance.index, "importance": importance.to_numpy()})
    member_importances = getattr(model, "layer_importances_", None)
    if member_importances is not None and len(member_importances) > 1:
        layer_rows["spread"] = member_importances.std(axis=0, ddof=1).to_numpy()
    return layer_rows


def embedding_table(model: NodeClassifier) -> tuple[pd.DataFrame | None, str]:
    """One row per node: node and the columns of the embedding; None if a method has none.

    An ensemble's embedding is its members' side by side. Where that would make a file of more than
    ``MAX_EMBEDDING_CELLS`` numbers, the first member's alone is given, and a note that says so.
    """
    embedding = getattr(model, "embedding_", None)
    if embedding is None:
        return None, ""
    size_note, column_count, member_count = "", embedding.shape[1], getattr(model, "members_", 1)
    if embedding.size > MAX_EMBEDDING_CELLS and member_count > 1 and column_count % member_count == 0:
        column_count //= member_count
        size_note = f"of the first of {member_count} members, since the data are large"
    column_names = [f"e{position}" for position in range(column_count)]
    embedding_rows = pd.DataFrame(embedding[:, :column_count], columns=column_names)
    embedding_rows.insert(0, "node", pd.Series(model.nodes_.to_numpy(), dtype=object))
    return embedding_rows, size_note


def write_csv(table: pd.DataFrame, path: Path, *, raw: bool = False) -> None:
    """Write a table with 6 significant digits, which is what single precision can tell.

    A spreadsheet takes a cell that begins with ``=``, ``+``, ``-`` or ``@`` for a formula and runs it. Names and labels
    that do so get an apostrophe in front, as in the page's own export, unless they are numbers or ``raw`` is set.
    What is not valid Unicode text is written with backslashes.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "a.csv"
    >>> write_csv(pd.DataFrame({"node": ["a", "=1+1"], "p": np.array([1 / 3, 1], dtype=np.float32)}), path)
    >>> path.read_text().split()
    ['node,p', 'a,0.333333', "'=1+1,1"]
    """
    if not raw:
        guarded_columns = {
            without_formula(name): pd.Series([*map(without_formula, column)], dtype=object)
            if not (pd.api.types.is_numeric_dtype(column.dtype) or pd.api.types.is_bool_dtype(column.dtype))
            else column.reset_index(drop=True)
            for name, column in table.items()
        }
        table = pd.DataFrame(guarded_columns)
    table.to_csv(
        path, index=False, float_format="%.6g", encoding="utf-8", errors="backslashreplace", lineterminator="\n"
    )


def without_formula(cell: Any) -> Any:
    """A cell of a CSV file that no spreadsheet takes for a formula.

    >>> [without_formula(cell) for cell in ("=A1", "-2.5", "@x", "Ann", 3)]
    ["'=A1", '-2.5', "'@x", 'Ann', 3]
    """
    if isinstance(cell, str) and _FORMULA.match(cell) and not _NUMBER.fullmatch(cell):
        return f"'{cell}"
    return cell


def written_cell(text: str) -> str:
    """A name or label as :func:`write_csv` writes it where nothing else is asked for.

    >>> written_cell("=A1"), written_cell("Ann")
    ("'=A1", 'Ann')
    """
    guarded_text: str = without_formula(text)
    return proper_text(guarded_text)
