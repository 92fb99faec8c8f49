"""The folder of a fit on a graph that no single process holds: tables in parts, and no page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from gramme.distributed import PartGraph
from gramme.io.values import decode, encode
from gramme.methods import NodeClassifier
from gramme.report.fit_folder import history_table, versions, write_settings
from gramme.report.tables import layer_table, write_csv


def fill_huge_folder(
    folder: Path | None, model: NodeClassifier, graph: PartGraph, record: dict[str, Any]
) -> list[str]:
    """Write predictions part by part at the first process, which never holds more than one; a collective.

    Parameters
    ----------
    folder : Path or None
        None at all processes but the first.
    model : NodeClassifier
        Fitted on this process's part.
    graph : PartGraph
    record : dict
        For ``config.json``.
    """
    layers, history = layer_table(model), history_table(model)
    for rank in range(graph.world.size):
        table = _part_of(model, graph, rank)
        if folder is not None and table is not None:
            (folder / "predictions").mkdir(exist_ok=True)
            write_csv(table, folder / "predictions" / f"part-{rank:04d}.csv")
    if folder is None:
        return []
    for name, one in (("layers", layers), ("history", history)):
        if one is not None:
            write_csv(one, folder / f"{name}.csv")
    note = "the graph is too large for one process, so that predictions are in parts and there is no page"
    write_settings(folder / "config.json", record | {"note": note, "versions": versions()})
    return sorted(path.name for path in folder.iterdir())


def _part_of(model: NodeClassifier, graph: PartGraph, rank: int) -> pd.DataFrame | None:
    """The predictions of one process's nodes, at the first."""
    world, mine = graph.world, graph.world.rank == rank
    shares = model.probabilities_ if mine else model.probabilities_[:0]
    text = encode(graph.nodes.tolist() if mine else [])
    found = world.to_first(np.ascontiguousarray(shares))
    names = world.to_first(np.frombuffer(text, dtype=np.uint8))
    known = world.to_first(np.ascontiguousarray(graph.label_codes[: None if mine else 0]))
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
