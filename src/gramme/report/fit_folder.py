"""The folder that a fit leaves: model, predictions, embedding, layers, history and settings.

It is written to a temporary folder beside the target and moved in whole, so that an interrupted run leaves nothing
half done.
"""

from __future__ import annotations

import json
import platform
import shutil
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch

from gramme._version import __version__
from gramme.errors import DataError
from gramme.graph import MultilayerGraph
from gramme.methods import NodeClassifier
from gramme.methods.saving import plain
from gramme.report.tables import embedding_table, layer_table, prediction_table


def check_target(folder: Path, *, overwrite: bool) -> None:
    """Whether a folder may be written, said before the work begins rather than after it."""
    if folder.exists() and not overwrite:
        raise DataError(f"{folder} exists already; name another folder or say --overwrite")
    if folder.exists() and not folder.is_dir():
        raise DataError(f"{folder} is a file, not a folder")
    if folder.is_dir() and any(folder.iterdir()) and not (folder / "config.json").is_file():
        raise DataError(
            f"{folder} holds something else than a fit of gramme's; name another folder"
        )


def write_fit(
    folder: Path,
    model: NodeClassifier,
    graph: MultilayerGraph,
    *,
    known: np.ndarray | None = None,
    config: dict[str, Any],
    overwrite: bool = False,
) -> list[str]:
    """Write a fitted model and its tables to a folder; returns the names of the files.

    Parameters
    ----------
    folder : Path
    model : NodeClassifier
        Fitted on ``graph``.
    known : array of object, optional
        The labels it was fitted on, None where unknown.
    config : dict
        What else to note in ``config.json``: data, method, accuracy, ...
    overwrite : bool
        Replace the result of an earlier fit.
    """
    check_target(folder, overwrite=overwrite)
    folder.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}."))
    try:
        model.save(temporary / "model.safetensors")
        tables = {
            "predictions": prediction_table(model, graph, known),
            "embedding": embedding_table(model),
            "layers": layer_table(model),
            "history": getattr(model, "history_", None),
        }
        for name, table in tables.items():
            if table is not None:
                table.to_csv(temporary / f"{name}.csv", index=False)
        record = config | {"parameters": _plain_parameters(model), "versions": versions()}
        (temporary / "config.json").write_text(
            json.dumps(record, indent=2, ensure_ascii=False) + "\n"
        )
        files = sorted(path.name for path in temporary.iterdir())
        temporary.chmod(0o755)
        _move(temporary, folder)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise
    return files


def _move(temporary: Path, folder: Path) -> None:
    """Put the new folder in the place of the old one, which is removed only once the new one stands."""
    if not folder.exists():
        temporary.replace(folder)
        return
    old = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}.old."))
    folder.replace(old)
    temporary.replace(folder)
    shutil.rmtree(old, ignore_errors=True)


def _plain_parameters(model: NodeClassifier) -> dict[str, Any]:
    return {name: plain(value, name) for name, value in model.get_params().items()}


def versions() -> dict[str, str]:
    """The versions a result depends on."""
    return {
        "gramme": __version__,
        "python": platform.python_version(),
        "torch": torch.__version__,
        "numpy": np.__version__,
        "pandas": pd.__version__,
    }
