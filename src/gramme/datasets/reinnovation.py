"""Reinnovation: countries joined where they are alike in a pillar of competitiveness; the user brings the table."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from gramme.datasets.country_table import PILLARS, read_countries
from gramme.datasets.knn_edges import nearest_edges
from gramme.datasets.locate import cache_folder, data_folder
from gramme.datasets.options import positive_int
from gramme.datasets.record import Dataset, DatasetInfo, Paths
from gramme.errors import DataError
from gramme.graph import EdgeLayer, Layer, MultilayerGraph


def build(
    paths: Paths, *, path: str | os.PathLike[str] | None = None, neighbours: int = 10
) -> MultilayerGraph:
    """One layer per pillar: an edge where either country is among the other's nearest by its score.

    A country without a score in a pillar is absent from that layer.
    """
    neighbours = positive_int(neighbours, "neighbours")
    table = read_countries(_workbook(path))
    layers: dict[str, Layer] = {}
    for pillar in PILLARS:
        scores = table.scores[pillar]
        known = np.flatnonzero(np.isfinite(scores))
        if known.size < 2:
            raise DataError(f"{table.file}: fewer than two countries have a score in {pillar!r}")
        edges = nearest_edges(scores[known, None], min(neighbours, known.size - 1))
        layers[pillar] = EdgeLayer(scores.size, *known[edges], nodes=known)
    return MultilayerGraph(layers, nodes=table.countries, labels=table.stages, name=INFO.name)


def _workbook(path: str | os.PathLike[str] | None) -> Path:
    """The file the user named, or the only table in the dataset's folder."""
    if path is not None:
        chosen = Path(path).expanduser()
        if not chosen.is_file():
            raise DataError(f"there is no file {chosen}. {_NEEDED}")
        return chosen
    folders = [folder / INFO.name for folder in (data_folder(), cache_folder()) if folder]
    for folder in folders:
        tables = sorted([*folder.glob("*.xlsx"), *folder.glob("*.csv")])
        if len(tables) == 1:
            return tables[0]
        if tables:
            found = ", ".join(table.name for table in tables)
            raise DataError(f"{folder} holds {found}: say which with path=...")
    places = " or ".join(str(folder) for folder in folders)
    raise DataError(
        f'{_NEEDED} Then: load("reinnovation", path="table.xlsx"), or put the file alone into '
        f"{places}"
    )


_NEEDED = (
    "The reinnovation dataset may not be passed on, so the table must be yours: an .xlsx or .csv "
    "with one row per country and the columns country, stage of development and the 12 pillars of "
    "the Global Competitiveness Index ("
    + ", ".join(PILLARS)
    + "), edition 2012-2013 or 2014-2015. The World Economic Forum publishes them with its "
    "Global Competitiveness Report at https://www.weforum.org/."
)
INFO = DatasetInfo(
    name="reinnovation",
    title="Reinnovation: Global Competitiveness Index by pillar",
    description="about 144 countries, alike in 12 pillars of competitiveness; bring your own table",
    nodes=None,
    layers=12,
    classes=3,
    recipe="one layer per pillar with an edge where either country is among the other's 10 nearest "
    "by score; countries without a score are absent from that layer. Label: stage of development "
    "as the table states it",
    citation="K. Schwab (ed.), The Global Competitiveness Report, World Economic Forum",
    licence="World Economic Forum, not redistributable; the table must be the user's own",
    caveat="The paper speaks of an innovation index of 144 countries in its text and of 145 nodes in "
    "its table, and its layers' rule is not given: 12 pillars with the stage of development fit the "
    "description, but its 18,648 edges cannot be checked. A table that names stages in between (such "
    "as 1 to 2) has more than three classes.",
    options={
        "path": "the table, .xlsx (needs the extra gramme[excel]) or .csv",
        "neighbours": "nearest countries each one is joined to in a layer (default: 10)",
    },
)
DATASET = Dataset(INFO, build)
