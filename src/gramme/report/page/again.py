"""The page of an earlier fit made anew: from the page in its folder, or from its model and the data."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from jinja2 import UndefinedError

from gramme.errors import DataError, FileFormatError
from gramme.graph import MultilayerGraph
from gramme.methods import GrammeRegressor, MultiLabelClassifier, NodeClassifier
from gramme.report.tables import OUT_OF_FOLD, written_cell

from .fit_page import fit_data
from .html import read_data, render
from .number_page import number_data


def page_from_page(path: Path) -> str:
    """The page of a fit with the looks of this version, from the data within an earlier page."""
    page_data = read_data(path)
    if page_data.get("kind") not in ("fit", "numbers", "label-sets"):
        raise FileFormatError("is not a page about a fit; for one about a benchmark name its ledger instead", file=path)
    try:
        return render(page_data)
    except (KeyError, TypeError, ValueError, AttributeError, UndefinedError) as error:
        raise FileFormatError(
            f"is a page whose data do not fit together ({error!r}); make it anew with --data", file=path
        ) from error


def page_from_model(
    folder: Path, model: NodeClassifier | GrammeRegressor | MultiLabelClassifier, graph: MultilayerGraph
) -> str:
    """The page of the fit in a folder, from its model and the graph that it was fitted on, in the same order of nodes.

    ``config.json`` and ``predictions.csv`` say what was learned from and how good it is.
    """
    if isinstance(model, MultiLabelClassifier):
        raise DataError(f"the model in {folder} predicts several labels; its page is made by gramme fit alone")
    fit_config = _config(folder)
    node_names = [str(one) for one in graph.nodes]
    if node_names != [str(one) for one in model.nodes_]:
        raise DataError(
            f"the data have other nodes than those the model in {folder} was fitted on; give the same data again"
        )
    if set(model.layers_) - set(graph.layers):
        raise DataError(f"the data lack layers of the model in {folder}; give the same data again")
    # a loaded model does not hold its graph, which embeddings and attention are computed from
    model.graph_ = graph.select_layers(model.layers_)
    if isinstance(model, GrammeRegressor):
        return render(number_data(model, model.graph_, fit_config))
    prediction_rows = _predictions(folder, node_names, [str(label) for label in model.classes_.tolist()])
    estimate_record = fit_config.get("estimate")
    if prediction_rows is not None and isinstance(estimate_record, dict):
        estimate_record = estimate_record | {"predictions": _unseen(prediction_rows)}
    known_labels = (
        None if prediction_rows is None else np.array([one or None for one in prediction_rows["known"]], object)
    )
    try:
        return render(fit_data(model, model.graph_, known=known_labels, estimate=estimate_record, config=fit_config))
    except (KeyError, TypeError, ValueError, AttributeError, UndefinedError, RecursionError) as error:
        raise FileFormatError(
            f"holds other settings than gramme fit notes ({error!r}); fit again", file=folder / "config.json"
        ) from error


def _config(folder: Path) -> dict[str, Any]:
    config_path = folder / "config.json"
    try:
        config = json.loads(config_path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise DataError(f"{folder} is not a folder of gramme fit: it has no config.json") from None
    except (OSError, ValueError, RecursionError) as error:
        raise FileFormatError(f"is not valid JSON ({error})", file=config_path) from None
    if not isinstance(config, dict):
        raise FileFormatError("holds something else than settings", file=config_path)
    for key in ("parameters", "versions"):
        if not isinstance(config.get(key), (dict, type(None))):
            raise FileFormatError(f"its entry {key!r} should hold named values", file=config_path)
    return config


def _predictions(folder: Path, names: list[str], classes: list[str]) -> pd.DataFrame | None:
    """The table of predictions as text, empty cells as ""; None if it is gone.

    Names and labels that a spreadsheet would run are guarded in the file; here they are as in the data.
    """
    table_path = folder / "predictions.csv"
    if not table_path.is_file():
        return None
    try:
        table = pd.read_csv(table_path, dtype=str, keep_default_na=False)
        listed_nodes, _ = table["node"].tolist(), table["known"]
    except (ValueError, KeyError) as error:
        raise FileFormatError(f"is not a table of predictions ({error})", file=table_path) from None
    if listed_nodes not in (names, [written_cell(name) for name in names]):
        raise FileFormatError("lists other nodes than the data", file=table_path)
    table["node"] = pd.Series(names, dtype=object)
    label_by_cell = {written_cell(label): label for label in classes}
    for column in ("known", "predicted", "out_of_fold_predicted", "suggested"):
        if column in table.columns:
            label_cells = [label_by_cell.get(cell, cell) for cell in table[column]]
            table[column] = pd.Series(label_cells, dtype=object)
    return table


def _unseen(table: pd.DataFrame) -> dict[str, dict[str, Any]]:
    """What models that had not learned from a label said about it, by node; tables of older versions hold none."""
    if not set(OUT_OF_FOLD) <= set(table.columns):
        return {}
    tested_rows = table[table["out_of_fold_predicted"] != ""]
    return {
        row["node"]: {key: row[column] or None for column, key in OUT_OF_FOLD.items()}
        for row in tested_rows.to_dict(orient="records")
    }
