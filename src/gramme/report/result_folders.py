"""The page of a model that was fitted in Python, without a folder around it."""

from __future__ import annotations

import json
import platform
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch

from gramme._version import __version__
from gramme.distributed import PartGraph
from gramme.errors import DataError, import_extra
from gramme.evaluation.estimate import Estimate, UnseenPredictions, joined_estimate
from gramme.graph import MultilayerGraph
from gramme.io.atomic import write_files
from gramme.io.values import decode, encode
from gramme.links import GrammeLinks
from gramme.methods import METHODS, GrammeRegressor, NodeClassifier
from gramme.methods.persistence import to_json
from gramme.report.page.links_page import links_data
from gramme.report.page.number_page import number_data
from gramme.report.page.rank_page import rank_data

from .folder import check_earlier_result, check_writable, exists_already, output_folder
from .page import render, write_fit_page
from .tables import (
    MAX_EMBEDDING_CELLS,
    embedding_table,
    layer_table,
    prediction_table,
    with_columns,
    with_sets,
    with_truth,
    with_unseen,
    write_csv,
)

# The folder that a fit leaves: model, predictions, embedding, layers, history, settings and a
# page to read.


def check_target(folder: Path, *, overwrite: bool) -> None:
    """Refuse a folder that cannot be written, before the work begins."""
    check_writable(folder)
    if folder.exists() and not overwrite:
        raise exists_already(folder)
    if folder.exists() and not folder.is_dir():
        raise DataError(f"{folder} is a file, not a folder")
    if folder.is_dir():
        check_earlier_result(folder)


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
    given: pd.DataFrame | None = None,
    all_classes: bool | None = None,
) -> list[str]:
    """Write a fitted model, its tables and its page into a folder that is there; returns the names of the files.

    ``known`` are the labels it was fitted on, None where unknown, ``config`` is what else ``config.json`` notes, and
    ``estimate`` says how accurate it is, with the single ``predictions`` of tested nodes. ``embedding`` is "auto" (a
    large one is left out), "csv", "parquet" or "none"; ``given`` are the columns of a table that ``predictions.csv`` is
    to repeat, a row per node; ``all_classes`` as for :func:`gramme.report.prediction_table`.
    """
    model.save(folder / "model.safetensors")
    out_of_fold = (estimate or {}).get("predictions") or {}
    predictions = prediction_table(model, graph, known, all_classes=all_classes)
    if "sets" in config:
        set_settings = config["sets"]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # too few labels are said with the record of the sets
            predictions = with_sets(
                predictions, model, graph, set_settings["coverage"], by_class=set_settings["by_class"]
            )
    predictions = with_truth(with_unseen(predictions, out_of_fold), graph)
    if given is not None:
        predictions = with_columns(predictions, given)
    write_csv(predictions, folder / "predictions.csv", raw=raw_csv)
    if embedding != "none":
        config = config | _write_embedding(model, folder, embedding, raw_csv)
    layer_rows = layer_table(model)
    if "without_layer" in config:
        new_names = {
            "accuracy": "accuracy_without",
            "change": "change_without",
            "low": "change_low",
            "high": "change_high",
        }
        left_out_rows = pd.DataFrame(config["without_layer"]["layers"]).rename(columns=new_names)
        layer_rows = left_out_rows if layer_rows is None else layer_rows.merge(left_out_rows, on="layer", how="left")
    for name, table in (("layers", layer_rows), ("history", getattr(model, "history_", None))):
        if table is not None:
            write_csv(table, folder / f"{name}.csv", raw=raw_csv)
    settings_record = config | {"parameters": plain_parameters(model), "versions": versions()}
    write_settings(folder / "config.json", settings_record)
    page_path = folder / "report.html"
    write_fit_page(page_path, model, graph, known=known, estimate=estimate, config=settings_record)
    return sorted(path.name for path in folder.iterdir())


def write_settings(path: Path, record: dict[str, Any]) -> None:
    """Write settings as JSON; what is not valid Unicode text becomes an escape, which JSON reads back."""
    text = json.dumps(record, indent=2, ensure_ascii=False) + "\n"
    path.write_text(text, encoding="utf-8", errors="backslashreplace")


def _write_embedding(model: NodeClassifier, folder: Path, form: str, raw_csv: bool) -> dict[str, Any]:
    """Write the embedding; returns a note for ``config.json`` where it is not all of it."""
    if form == "auto" and getattr(model, "embedding_", np.zeros(0)).size > MAX_EMBEDDING_CELLS:
        return {"embedding": "left out, since the data are large; --embedding csv or parquet writes it"}
    embedding_rows, size_note = embedding_table(model)
    if embedding_rows is None:
        return {}
    if form == "parquet":
        import_extra("pyarrow", "parquet", "writing Parquet")
        embedding_rows["node"] = embedding_rows["node"].astype(str)
        embedding_rows.to_parquet(folder / "embedding.parquet", index=False)
    else:
        write_csv(embedding_rows, folder / "embedding.csv", raw=raw_csv)
    return {"embedding": size_note} if size_note else {}


def plain_parameters(model: NodeClassifier | GrammeRegressor) -> dict[str, Any]:
    """The parameters of a model as JSON can hold them."""
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


# The folder of a fit on a graph that no single process holds: tables in parts, and no page.


def fill_huge_folder(folder: Path | None, model: NodeClassifier, graph: PartGraph, record: dict[str, Any]) -> list[str]:
    """Write predictions part by part at the first process, which never holds more than one; a collective.

    ``folder`` is None at all processes but the first; ``record`` is for ``config.json``.
    """
    table_by_name = {"layers": layer_table(model), "history": getattr(model, "history_", None)}
    for rank in range(graph.communicator.size):
        part_table = _part_of(model, graph, rank)
        if folder is not None and part_table is not None:
            (folder / "predictions").mkdir(exist_ok=True)
            write_csv(part_table, folder / "predictions" / f"part-{rank:04d}.csv")
    if folder is None:
        return []
    for name, written_table in table_by_name.items():
        if written_table is not None:
            write_csv(written_table, folder / f"{name}.csv")
    size_note = "the graph is too large for one process, so that predictions are in parts and there is no page"
    write_settings(folder / "config.json", record | {"note": size_note, "versions": versions()})
    return sorted(path.name for path in folder.iterdir())


def _part_of(model: NodeClassifier, graph: PartGraph, rank: int) -> pd.DataFrame | None:
    """The predictions of one process's nodes, at the first."""
    communicator, is_own_rank = graph.communicator, graph.communicator.rank == rank
    own_probabilities = model.probabilities_ if is_own_rank else model.probabilities_[:0]
    encoded_names = encode(graph.nodes.tolist() if is_own_rank else [])
    probability_parts = communicator.gather_to_first(np.ascontiguousarray(own_probabilities))
    name_parts = communicator.gather_to_first(np.frombuffer(encoded_names, dtype=np.uint8))
    known_parts = communicator.gather_to_first(np.ascontiguousarray(graph.training_codes[: None if is_own_rank else 0]))
    if probability_parts is None or name_parts is None or known_parts is None:
        return None
    class_names = [str(label) for label in model.classes_.tolist()]
    node_names = decode(name_parts[rank].tobytes()) if name_parts[rank].size else []
    known_labels = [None if code < 0 else graph.whole.classes[code] for code in known_parts[rank].tolist()]
    predicted_codes = probability_parts[rank].argmax(axis=1)
    prediction_columns = {
        "node": node_names,
        "known": known_labels,
        "predicted": np.array(class_names, dtype=object)[predicted_codes],
        "probability": probability_parts[rank].max(axis=1, initial=0),
    }
    return pd.DataFrame(
        prediction_columns | {name: probability_parts[rank][:, k] for k, name in enumerate(class_names)}
    )


# The folder that ``gramme links`` leaves: links, ingredients, model, settings and a page to read.


def write_analysis(
    folder: Path,
    tables: Mapping[str, pd.DataFrame],
    config: dict[str, Any],
    page: Callable[[dict[str, Any]], str],
    *,
    also: Callable[[Path], None] = lambda _: None,
    overwrite: bool = False,
    raw_csv: bool = False,
) -> list[str]:
    """Write tables, settings and a page to a folder, which appears whole or not at all; returns the names of the files.

    ``tables`` go by the name of their file without its ending, ``page`` makes the page from what ``config.json`` notes,
    ``also`` writes further files, and with ``raw_csv`` cells that a spreadsheet runs as formulas stay as they are.
    """
    check_target(folder, overwrite=overwrite)
    with output_folder(folder, overwrite=overwrite) as output_place:
        for name, table in tables.items():
            write_csv(table, output_place.folder / f"{name}.csv", raw=raw_csv)
        settings_record = config | {"versions": versions()}
        write_settings(output_place.folder / "config.json", settings_record)
        also(output_place.folder)
        (output_place.folder / "report.html").write_text(page(settings_record), encoding="utf-8")
        return sorted(path.name for path in output_place.folder.iterdir())


def write_links(
    folder: Path, model: GrammeLinks, links: pd.DataFrame, *, config: dict[str, Any], **options: Any
) -> list[str]:
    """Write a fitted model, the links it found and their page; ``options`` as for :func:`write_analysis`."""

    def also(place: Path) -> None:
        model.save(place / "model.safetensors")
        if config.get("gephi"):
            model.to_gephi(links, place / "links.gexf")

    def page(record: dict[str, Any]) -> str:
        return render(links_data(model, links, config=record))

    table_by_name = {"links": links, "ingredients": model.ingredients_}
    return write_analysis(folder, table_by_name, config, page, also=also, **options)


def write_ranks(
    folder: Path,
    graph: MultilayerGraph,
    ranks: pd.DataFrame,
    *,
    seeds: pd.DataFrame | None,
    layers: pd.Series,
    config: dict[str, Any],
    **options: Any,
) -> list[str]:
    """Write the tables and the page of a ranking; ``options`` as for :func:`write_analysis`.

    ``ranks`` are as :func:`gramme.rank` gives them, ``seeds`` as :func:`gramme.ranking.influence`, ``layers`` the
    influence of each layer.
    """

    def page(record: dict[str, Any]) -> str:
        return render(rank_data(graph, ranks, seeds=seeds, layers=layers, config=record))

    table_by_name = {"ranks": ranks.reset_index(), "layers": layers.reset_index()}
    return write_analysis(folder, table_by_name | ({} if seeds is None else {"seeds": seeds}), config, page, **options)


def write_model_page(path: Path, model: NodeClassifier | GrammeRegressor, graph: MultilayerGraph) -> Path:
    """Write the page of a fitted model; called as ``model.report(path)``."""
    if isinstance(model, GrammeRegressor):
        write_files({path: render(number_data(model, graph, _page_config(model, graph)))}, overwrite=True)
        return path
    known_labels = np.full(graph.num_nodes, None, dtype=object)
    if hasattr(model, "labelled_"):
        known_labels[model.labelled_] = model.transduction_[model.labelled_].tolist()
    estimate = model_estimate(model)
    method_names = [method.name for method in METHODS.values() if method.class_name == type(model).__name__]
    page_config = _page_config(model, graph) | {"estimate": estimate.record()}
    page_config["method"] = min(method_names, key=len, default=page_config["method"])
    estimate_record = estimate.record() | {"predictions": estimate.predictions(graph.nodes)}
    return write_fit_page(path, model, graph, known=known_labels, estimate=estimate_record, config=page_config)


def _page_config(model: NodeClassifier | GrammeRegressor, graph: MultilayerGraph) -> dict[str, Any]:
    """What the page of a model says of how it was fitted, where no command did it."""
    return {
        "data": graph.name or "a graph",
        "method": type(model).__name__,
        "parameters": plain_parameters(model),
        "versions": versions(),
    }


def model_estimate(model: NodeClassifier) -> Estimate:
    """How good a model is, from labels that were predicted unseen; kind "none" if there are no such predictions."""
    if not hasattr(model, "tested_nodes_"):
        return Estimate("none", "call out_of_fold() on the model before report()")
    out_of_fold = model.out_of_fold()
    is_known_class = out_of_fold.codes >= 0
    node_labels = np.full(len(model.nodes_), None, dtype=object)
    node_labels[out_of_fold.nodes[is_known_class]] = model.classes_[out_of_fold.codes[is_known_class]].tolist()
    class_probabilities = np.zeros((len(model.nodes_), len(model.classes_)), dtype=np.float32)
    class_probabilities[out_of_fold.nodes] = out_of_fold.probabilities
    unseen_predictions = UnseenPredictions.of(
        out_of_fold.nodes[is_known_class], node_labels, model.classes_, class_probabilities
    )
    estimate_note = "each label was predicted by models that had not learned from it"
    return joined_estimate("cross-validation", estimate_note, [unseen_predictions])
