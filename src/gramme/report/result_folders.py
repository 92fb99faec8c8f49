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
    embedding : {"auto", "csv", "parquet", "none"}, default="csv"
        How to write the embedding; "auto" leaves out a large one.
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
    given: pd.DataFrame | None = None,
    all_classes: bool | None = None,
) -> list[str]:
    """Write the files of :func:`write_fit` into a folder that is there; returns their names.

    ``given`` are the columns of a table that ``predictions.csv`` is to repeat, a row per node; ``all_classes`` as for
    :func:`gramme.report.prediction_table`.
    """
    model.save(folder / "model.safetensors")
    unseen = (estimate or {}).get("predictions") or {}
    predicted = prediction_table(model, graph, known, all_classes=all_classes)
    if "sets" in config:
        wanted = config["sets"]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # too few labels are said with the record of the sets
            predicted = with_sets(predicted, model, graph, wanted["coverage"], by_class=wanted["by_class"])
    predicted = with_truth(with_unseen(predicted, unseen), graph)
    if given is not None:
        predicted = with_columns(predicted, given)
    write_csv(predicted, folder / "predictions.csv", raw=raw_csv)
    if embedding != "none":
        config = config | _write_embedding(model, folder, embedding, raw_csv)
    layers = layer_table(model)
    if "without_layer" in config:
        names = {"accuracy": "accuracy_without", "change": "change_without", "low": "change_low", "high": "change_high"}
        without = pd.DataFrame(config["without_layer"]["layers"]).rename(columns=names)
        layers = without if layers is None else layers.merge(without, on="layer", how="left")
    for name, table in (("layers", layers), ("history", getattr(model, "history_", None))):
        if table is not None:
            write_csv(table, folder / f"{name}.csv", raw=raw_csv)
    record = config | {"parameters": plain_parameters(model), "versions": versions()}
    write_settings(folder / "config.json", record)
    page = folder / "report.html"
    write_fit_page(page, model, graph, known=known, estimate=estimate, config=record)
    return sorted(path.name for path in folder.iterdir())


def write_settings(path: Path, record: dict[str, Any]) -> None:
    """Write settings as JSON; what is not valid Unicode text becomes an escape, which JSON reads back."""
    text = json.dumps(record, indent=2, ensure_ascii=False) + "\n"
    path.write_text(text, encoding="utf-8", errors="backslashreplace")


def _write_embedding(model: NodeClassifier, folder: Path, form: str, raw_csv: bool) -> dict[str, Any]:
    """Write the embedding; returns a note for ``config.json`` where it is not all of it."""
    if form == "auto" and getattr(model, "embedding_", np.zeros(0)).size > MAX_EMBEDDING_CELLS:
        return {"embedding": "left out, since the data are large; --embedding csv or parquet writes it"}
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
    tables = {"layers": layer_table(model), "history": getattr(model, "history_", None)}
    for rank in range(graph.communicator.size):
        table = _part_of(model, graph, rank)
        if folder is not None and table is not None:
            (folder / "predictions").mkdir(exist_ok=True)
            write_csv(table, folder / "predictions" / f"part-{rank:04d}.csv")
    if folder is None:
        return []
    for name, one in tables.items():
        if one is not None:
            write_csv(one, folder / f"{name}.csv")
    note = "the graph is too large for one process, so that predictions are in parts and there is no page"
    write_settings(folder / "config.json", record | {"note": note, "versions": versions()})
    return sorted(path.name for path in folder.iterdir())


def _part_of(model: NodeClassifier, graph: PartGraph, rank: int) -> pd.DataFrame | None:
    """The predictions of one process's nodes, at the first."""
    communicator, mine = graph.communicator, graph.communicator.rank == rank
    shares = model.probabilities_ if mine else model.probabilities_[:0]
    text = encode(graph.nodes.tolist() if mine else [])
    found = communicator.gather_to_first(np.ascontiguousarray(shares))
    names = communicator.gather_to_first(np.frombuffer(text, dtype=np.uint8))
    known = communicator.gather_to_first(np.ascontiguousarray(graph.training_codes[: None if mine else 0]))
    if found is None or names is None or known is None:
        return None
    classes = [str(label) for label in model.classes_.tolist()]
    listed = decode(names[rank].tobytes()) if names[rank].size else []
    said = [None if code < 0 else graph.whole.classes[code] for code in known[rank].tolist()]
    best = found[rank].argmax(axis=1)
    table = {
        "node": listed,
        "known": said,
        "predicted": np.array(classes, dtype=object)[best],
        "probability": found[rank].max(axis=1, initial=0),
    }
    return pd.DataFrame(table | {name: found[rank][:, k] for k, name in enumerate(classes)})


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
    with output_folder(folder, overwrite=overwrite) as place:
        for name, table in tables.items():
            write_csv(table, place.folder / f"{name}.csv", raw=raw_csv)
        record = config | {"versions": versions()}
        write_settings(place.folder / "config.json", record)
        also(place.folder)
        (place.folder / "report.html").write_text(page(record), encoding="utf-8")
        return sorted(path.name for path in place.folder.iterdir())


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

    tables = {"links": links, "ingredients": model.ingredients_}
    return write_analysis(folder, tables, config, page, also=also, **options)


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

    tables = {"ranks": ranks.reset_index(), "layers": layers.reset_index()}
    return write_analysis(folder, tables | ({} if seeds is None else {"seeds": seeds}), config, page, **options)


def write_model_page(path: Path, model: NodeClassifier | GrammeRegressor, graph: MultilayerGraph) -> Path:
    """Write the page of a fitted model; called as ``model.report(path)``."""
    if isinstance(model, GrammeRegressor):
        write_files({path: render(number_data(model, graph, _page_config(model, graph)))}, overwrite=True)
        return path
    known = np.full(graph.num_nodes, None, dtype=object)
    if hasattr(model, "labelled_"):
        known[model.labelled_] = model.transduction_[model.labelled_].tolist()
    estimate = model_estimate(model)
    names = [method.name for method in METHODS.values() if method.class_name == type(model).__name__]
    config = _page_config(model, graph) | {"estimate": estimate.record()}
    config["method"] = min(names, key=len, default=config["method"])
    measured = estimate.record() | {"predictions": estimate.predictions(graph.nodes)}
    return write_fit_page(path, model, graph, known=known, estimate=measured, config=config)


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
    seen = model.out_of_fold()
    inside = seen.codes >= 0
    labels = np.full(len(model.nodes_), None, dtype=object)
    labels[seen.nodes[inside]] = model.classes_[seen.codes[inside]].tolist()
    shares = np.zeros((len(model.nodes_), len(model.classes_)), dtype=np.float32)
    shares[seen.nodes] = seen.probabilities
    part = UnseenPredictions.of(seen.nodes[inside], labels, model.classes_, shares)
    note = "each label was predicted by models that had not learned from it"
    return joined_estimate("cross-validation", note, [part])
