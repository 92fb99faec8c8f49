"""The folder that a fit leaves: model, predictions, embedding, layers, history, settings and a page to read."""

from __future__ import annotations

import json
import platform
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch

from gramme._version import __version__
from gramme.errors import DataError, import_extra
from gramme.graph import MultilayerGraph
from gramme.methods import NodeClassifier
from gramme.methods.saving import to_json
from gramme.report.earlier_result import check_earlier_result
from gramme.report.output_folder import check_writable, exists_already, output_folder
from gramme.report.page import write_fit_page
from gramme.report.tables import (
    embedding_table,
    layer_table,
    prediction_table,
    with_sets,
    with_unseen,
    write_csv,
)

EMBEDDINGS = ("csv", "parquet", "none")


def check_target(folder: Path, *, overwrite: bool) -> None:
    """Refuse a folder that cannot be written, before the work begins."""
    check_writable(folder)
    if folder.exists() and not overwrite:
        raise exists_already(folder)
    if folder.exists() and not folder.is_dir():
        raise DataError(f"{folder} is a file, not a folder")
    if folder.is_dir():
        check_earlier_result(folder)


def write_fit(
    folder: Path,
    model: NodeClassifier,
    graph: MultilayerGraph,
    *,
    known: np.ndarray | None = None,
    config: dict[str, Any],
    estimate: Mapping[str, Any] | None = None,
    embedding: str = "csv",
    raw_csv: bool = False,
    overwrite: bool = False,
) -> list[str]:
    """Write a fitted model, its tables and its page to a new folder; returns the names of the files.

    Parameters
    ----------
    folder : Path
        Appears whole or not at all.
    model : NodeClassifier
        Fitted on ``graph``.
    known : array of object, optional
        The labels it was fitted on, None where unknown.
    config : dict
        What else to note in ``config.json``: data, method, estimate, ...
    estimate : mapping, optional
        How accurate it is, with the single ``predictions`` of tested nodes, for the page.
    embedding : {"csv", "parquet", "none"}, default="csv"
        How to write the embedding.
    raw_csv : bool, default=False
        Whether cells that a spreadsheet runs as formulas are written as they are.
    overwrite : bool, default=False
        Replace the result of an earlier fit.
    """
    check_target(folder, overwrite=overwrite)
    with output_folder(folder, overwrite=overwrite) as place:
        return fill_fit_folder(
            place.folder,
            model,
            graph,
            known=known,
            config=config,
            estimate=estimate,
            embedding=embedding,
            raw_csv=raw_csv,
        )


def fill_fit_folder(
    folder: Path,
    model: NodeClassifier,
    graph: MultilayerGraph,
    *,
    known: np.ndarray | None = None,
    config: dict[str, Any],
    estimate: Mapping[str, Any] | None = None,
    embedding: str = "csv",
    raw_csv: bool = False,
) -> list[str]:
    """Write the files of :func:`write_fit` into a folder that is there; returns their names."""
    model.save(folder / "model.safetensors")
    unseen = (estimate or {}).get("predictions") or {}
    predicted = prediction_table(model, graph, known)
    if "sets" in config:
        wanted = config["sets"]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # too few labels are said with the record of the sets
            predicted = with_sets(
                predicted, model, graph, wanted["coverage"], by_class=wanted["by_class"]
            )
    predicted = with_unseen(predicted, unseen)
    write_csv(predicted, folder / "predictions.csv", raw=raw_csv)
    if embedding != "none":
        config = config | _write_embedding(model, folder, embedding, raw_csv)
    for name, table in (("layers", layer_table(model)), ("history", history_table(model))):
        if table is not None:
            write_csv(table, folder / f"{name}.csv", raw=raw_csv)
    record = config | {"parameters": _plain_parameters(model), "versions": versions()}
    write_settings(folder / "config.json", record)
    page = folder / "report.html"
    write_fit_page(page, model, graph, known=known, estimate=estimate, config=record)
    files = sorted(path.name for path in folder.iterdir())
    return files


def write_settings(path: Path, record: dict[str, Any]) -> None:
    """Write settings as JSON; what is not valid Unicode text becomes an escape, which JSON reads back."""
    text = json.dumps(record, indent=2, ensure_ascii=False) + "\n"
    path.write_text(text, encoding="utf-8", errors="backslashreplace")


def history_table(model: NodeClassifier) -> pd.DataFrame | None:
    """What happened epoch by epoch; None if a method has no epochs."""
    history: pd.DataFrame | None = getattr(model, "history_", None)
    return history


def _write_embedding(
    model: NodeClassifier, folder: Path, form: str, raw_csv: bool
) -> dict[str, Any]:
    """Write the embedding; returns a note for ``config.json`` where it is not all of it."""
    table, note = embedding_table(model)
    if table is None:
        return {}
    if form == "parquet":
        import_extra("pyarrow", "parquet", "writing Parquet")
        table["node"] = table["node"].astype(str)
        table.to_parquet(folder / "embedding.parquet", index=False)
    else:
        write_csv(table, folder / "embedding.csv", raw=raw_csv)
    return {"embedding": note} if note else {}


def _plain_parameters(model: NodeClassifier) -> dict[str, Any]:
    return {name: to_json(value, name) for name, value in model.get_params().items()}


def versions() -> dict[str, str]:
    """The versions a result depends on."""
    return {
        "gramme": __version__,
        "python": platform.python_version(),
        "torch": torch.__version__,
        "numpy": np.__version__,
        "pandas": pd.__version__,
    }
