"""Reinnovation: countries joined where they are alike in a pillar of competitiveness; the user brings the table."""

from __future__ import annotations

import math
import os
import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from gramme.datasets.files import cache_folder, data_folder
from gramme.datasets.readers import nearest_edges, positive_int
from gramme.datasets.record import Dataset, DatasetInfo, Paths
from gramme.errors import DataError, FileFormatError, import_extra
from gramme.graph import EdgeLayer, Layer, MultilayerGraph

# Read a table of countries with a stage of development and 12 scores, however its columns are spelled.
PILLARS = (
    "institutions",
    "infrastructure",
    "macroeconomic environment",
    "health and primary education",
    "higher education and training",
    "goods market efficiency",
    "labor market efficiency",
    "financial market development",
    "technological readiness",
    "market size",
    "business sophistication",
    "innovation",
)
COUNTRY = ("country", "economy", "countryeconomy", "countryname", "entity")
STAGE = ("stage", "stageofdevelopment", "developmentstage", "developmentlevel", "levelofdevelopment")
BLANK = ("", "-", "–", "..", "n/a", "na", "nan")
MAX_HEADER_ROW = 30
"""Rows of a sheet among which the header must be."""


@dataclass(frozen=True)
class CountryTable:
    """Countries in the order of the file, their stage (None where empty), their scores (NaN where empty)."""

    file: Path
    countries: list[str]
    stages: list[str | None]
    scores: dict[str, NDArray[np.float64]]


def read_countries(path: Path) -> CountryTable:
    """The first sheet of the workbook, or the CSV file, that has all the columns."""
    best: tuple[list[str], str] | None = None
    for sheet, cells in _sheets(path):
        for row in range(min(MAX_HEADER_ROW, len(cells))):
            columns, missing = _columns(cells.iloc[row].tolist())
            if not missing:
                return _table(path, cells, row, columns)
            if best is None or len(missing) < len(best[0]):
                best = missing, f"row {row + 1} of {sheet}"
    if best is None:
        raise FileFormatError("the table is empty", file=path)
    raise FileFormatError(
        "no row names all the columns. A row must have country, stage of development and the 12 "
        f"pillars; the nearest, {best[1]}, lacks: {', '.join(best[0])}",
        file=path,
    )


def plain_name(cell: object) -> str:
    """A column's name without case, numbering and spelling variants."""
    text = str(cell).casefold().replace("labour", "labor").replace("&", "and")
    text = re.sub(r"\(.*?\)|,.*$", "", text)
    text = re.sub(r"^\W*(\d+(st|nd|rd|th)?|[a-z])?[\s.]*pillar\s*\d*|^\s*(\d+|[a-z])[.)]\s*", "", text)
    text = re.sub(r"^\W*\d+(st|nd|rd|th)?\b|\bscore\b|\bvalue\b|\b1-7\b", "", text)
    return re.sub(r"[^a-z0-9]", "", text)


def _sheets(path: Path) -> Iterator[tuple[str, pd.DataFrame]]:
    if path.suffix.casefold() == ".csv":
        try:
            yield "the file", pd.read_csv(path, header=None, dtype=object, skip_blank_lines=False)
        except (ValueError, pd.errors.ParserError) as error:  # decoding errors are ValueErrors
            raise FileFormatError(f"this is not a readable CSV ({error})", file=path) from error
    elif path.suffix.casefold() == ".xlsx":
        import_extra("openpyxl", "excel", "reading a workbook")
        try:
            sheets = pd.read_excel(path, header=None, dtype=object, sheet_name=None)
        except (ValueError, KeyError, zipfile.BadZipFile) as error:
            raise FileFormatError(f"this is not a readable workbook ({error})", file=path) from error
        yield from ((f"sheet {name!r}", cells) for name, cells in sheets.items())
    else:
        raise DataError(f"{path}: the table must be an .xlsx or a .csv file")


def _columns(header: list[Any]) -> tuple[dict[str, int], list[str]]:
    """Where each needed column is, and which are missing."""
    seen: dict[str, int] = {}
    for position, cell in enumerate(header):
        if isinstance(cell, str):
            seen.setdefault(plain_name(cell), position)
    wanted: dict[str, tuple[str, ...]] = {"country": COUNTRY, "stage of development": STAGE}
    wanted |= {pillar: (pillar.replace(" ", ""),) for pillar in PILLARS}
    found = {
        name: seen[spelling]
        for name, spellings in wanted.items()
        for spelling in reversed(spellings)
        if spelling in seen
    }
    return found, [name for name in wanted if name not in found]


def _table(path: Path, cells: pd.DataFrame, header: int, columns: dict[str, int]) -> CountryTable:
    countries, stages, scores = [], [], []
    for row in range(header + 1, len(cells)):
        values = cells.iloc[row].tolist()
        country, stage = values[columns["country"]], values[columns["stage of development"]]
        try:
            known = [_score(values[columns[pillar]], pillar) for pillar in PILLARS]
        except ValueError as error:
            if pd.isna(country):
                continue
            raise FileFormatError(str(error), file=path, line=row + 1) from error
        if pd.isna(country) or np.isnan(known).all():
            continue  # a blank line, a heading or a note below the table
        countries.append(str(country).strip())
        stages.append(None if pd.isna(stage) else _stage(stage))
        scores.append(known)
    table = np.array(scores, dtype=np.float64).reshape(-1, len(PILLARS))
    return CountryTable(path, countries, stages, dict(zip(PILLARS, table.T, strict=True)))


def _score(cell: Any, pillar: str) -> float:
    """A number, or NaN for an empty cell and the usual signs for one."""
    if pd.isna(cell) or str(cell).strip().casefold() in BLANK:
        return math.nan
    try:
        number = float(cell)
    except (TypeError, ValueError):
        number = math.inf
    if not math.isfinite(number):
        raise ValueError(f"{cell!r} is not a score in {pillar!r}")
    return number


def _stage(value: Any) -> str:
    """Stages as text; a workbook's 3.0 is the stage 3."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value).strip()


def build_reinnovation(
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
    return MultilayerGraph(layers, nodes=table.countries, labels=table.stages, name=REINNOVATION_INFO.name)


def _workbook(path: str | os.PathLike[str] | None) -> Path:
    """The file the user named, or the only table in the dataset's folder."""
    if path is not None:
        chosen = Path(path).expanduser()
        if not chosen.is_file():
            raise DataError(f"there is no file {chosen}. {_NEEDED}")
        return chosen
    folders = [folder / REINNOVATION_INFO.name for folder in (data_folder(), cache_folder()) if folder]
    for folder in folders:
        tables = sorted([*folder.glob("*.xlsx"), *folder.glob("*.csv")])
        if len(tables) == 1:
            return tables[0]
        if tables:
            found = ", ".join(table.name for table in tables)
            raise DataError(f"{folder} holds {found}: say which with path=...")
    places = " or ".join(str(folder) for folder in folders)
    raise DataError(f'{_NEEDED} Then: load("reinnovation", path="table.xlsx"), or put the file alone into {places}')


_NEEDED = (
    "The reinnovation dataset may not be passed on, so the table must be yours: an .xlsx or .csv with one row per "
    "country and the columns country, stage of development and the 12 pillars of the Global Competitiveness Index ("
    + ", ".join(PILLARS)
    + "), edition 2012-2013 or 2014-2015. The World Economic Forum publishes them with its "
    "Global Competitiveness Report at https://www.weforum.org/."
)
REINNOVATION_INFO = DatasetInfo(
    name="reinnovation",
    title="Reinnovation: Global Competitiveness Index by pillar",
    description="about 144 countries, alike in 12 pillars of competitiveness; bring your own table",
    nodes=None,
    layers=12,
    classes=3,
    recipe="one layer per pillar with an edge where either country is among the other's 10 nearest by score; countries "
    "without a score are absent from that layer. Label: stage of development as the table states it",
    citation="K. Schwab (ed.), The Global Competitiveness Report, World Economic Forum",
    licence="World Economic Forum, not redistributable; the table must be the user's own",
    caveat="The paper speaks of an innovation index of 144 countries in its text and of 145 nodes in its table, and "
    "its layers' rule is not given: 12 pillars with the stage of development fit the description, but its 18,648 edges "
    "cannot be checked. A table that names stages in between (such as 1 to 2) has more than three classes.",
    options={
        "path": "the table, .xlsx (needs the extra gramme[excel]) or .csv",
        "neighbours": "nearest countries each one is joined to in a layer (default: 10)",
    },
)
REINNOVATION_DATASET = Dataset(REINNOVATION_INFO, build_reinnovation)
