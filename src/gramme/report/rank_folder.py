"""The folder that ``gramme rank`` leaves: ranks, seeds, layers, settings and a page to read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

from gramme.graph import MultilayerGraph
from gramme.report.fit_folder import check_target, versions, write_settings
from gramme.report.output_folder import output_folder
from gramme.report.page.rank_page import rank_data, render_rank
from gramme.report.tables import write_csv


def write_ranks(
    folder: Path,
    graph: MultilayerGraph,
    ranks: pd.DataFrame,
    *,
    seeds: pd.DataFrame | None,
    layers: pd.Series,
    config: dict[str, Any],
    overwrite: bool = False,
    raw_csv: bool = False,
) -> list[str]:
    """Write the tables and the page of a ranking to a folder; returns the names of the files.

    Parameters
    ----------
    folder : Path
    graph : MultilayerGraph
    ranks : DataFrame
        As :func:`gramme.rank` gives it.
    seeds : DataFrame or None
        As :func:`gramme.ranking.influence` gives it.
    layers : Series
        The influence of each layer.
    config : dict
        What to note in ``config.json``.
    overwrite : bool, default=False
    raw_csv : bool, default=False
        Whether cells that a spreadsheet runs as formulas are written as they are.
    """
    check_target(folder, overwrite=overwrite)
    with output_folder(folder, overwrite=overwrite) as place:
        temporary = place.folder
        write_csv(ranks.reset_index(), temporary / "ranks.csv", raw=raw_csv)
        write_csv(layers.reset_index(), temporary / "layers.csv", raw=raw_csv)
        if seeds is not None:
            write_csv(seeds, temporary / "seeds.csv", raw=raw_csv)
        record = config | {"versions": versions()}
        write_settings(temporary / "config.json", record)
        page = render_rank(rank_data(graph, ranks, seeds=seeds, layers=layers, config=record))
        (temporary / "report.html").write_text(page, encoding="utf-8")
        files = sorted(path.name for path in temporary.iterdir())
    return files
