"""The page of an earlier fit made anew: from the page in its folder, or from its model and the data."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from gramme.errors import DataError, FileFormatError
from gramme.graph import MultilayerGraph
from gramme.methods import NodeClassifier
from gramme.report.page.fit_page import fit_data, render_fit
from gramme.report.page.html import read_data


def page_from_page(path: Path) -> str:
    """The page of a fit with the looks of this version, from the data within an earlier page."""
    data = read_data(path)
    if data.get("kind") != "fit":
        raise FileFormatError("is a page about a benchmark; name its ledger instead", file=path)
    try:
        return render_fit(data)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise FileFormatError(
            f"is a page whose data do not fit together ({error!r}); make it anew with --data",
            file=path,
        ) from error


def page_from_model(folder: Path, model: NodeClassifier, graph: MultilayerGraph) -> str:
    """The page of the fit in a folder, from its model and the graph that it was fitted on.

    Parameters
    ----------
    folder : Path
        What ``gramme fit`` wrote; ``config.json`` and ``predictions.csv`` say what was learned from and how good it is.
    model : NodeClassifier
        Read from that folder.
    graph : MultilayerGraph
        The same nodes in the same order as then.
    """
    config = _config(folder)
    names = [str(one) for one in graph.nodes]
    if names != [str(one) for one in model.nodes_]:
        raise DataError(
            f"the data have other nodes than those the model in {folder} was fitted on; give the same data again"
        )
    if set(model.layers_) - set(graph.layers):
        raise DataError(f"the data lack layers of the model in {folder}; give the same data again")
    # a loaded model does not hold its graph, which embeddings and attention are computed from
    model.graph_ = graph.select_layers(model.layers_)
    return render_fit(
        fit_data(
            model,
            model.graph_,
            known=_known(folder, names),
            estimate=config.get("estimate"),
            config=config,
        )
    )


def _config(folder: Path) -> dict[str, Any]:
    path = folder / "config.json"
    try:
        config = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise DataError(f"{folder} is no folder of gramme fit: it has no config.json") from None
    except ValueError as error:
        raise FileFormatError(f"is no proper JSON ({error})", file=path) from None
    if not isinstance(config, dict):
        raise FileFormatError("holds something else than settings", file=path)
    return config


def _known(folder: Path, names: list[str]) -> NDArray[np.object_] | None:
    """The labels that were learned from, as text; None where the table of predictions is gone."""
    path = folder / "predictions.csv"
    if not path.is_file():
        return None
    try:
        table = pd.read_csv(path, dtype=str, keep_default_na=False)
        nodes, known = table["node"].tolist(), table["known"].tolist()
    except (ValueError, KeyError) as error:
        raise FileFormatError(f"is no table of predictions ({error})", file=path) from None
    if nodes != names:
        raise FileFormatError("lists other nodes than the data", file=path)
    return np.array([label or None for label in known], dtype=object)
