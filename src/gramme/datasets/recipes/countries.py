"""Reinnovation: countries joined where they are alike in a pillar of competitiveness; the user brings the table."""

from __future__ import annotations

import math
import os
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gramme.datasets.files import cache_folder, data_folder
from gramme.datasets.readers import nearest_edges, positive_int
from gramme.datasets.record import Paths
from gramme.errors import DataError, FileFormatError
from gramme.graph import EdgeLayer, Layer, MultilayerGraph
from gramme.io.source import read_text
from gramme.io.spreadsheet import read_sheets
from gramme.io.text import cells

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
_STAGE_WORDS = ("stage", "stageofdevelopment", "developmentstage", "developmentlevel", "levelofdevelopment")
WANTED: dict[str, tuple[str, ...]] = {
    "country": ("country", "economy", "countryeconomy", "countryname", "entity"),
    "stage of development": _STAGE_WORDS,
    **{pillar: (pillar.replace(" ", ""),) for pillar in PILLARS},
}
"""The columns that must be there, by any of these names."""
BLANK = ("", "-", "–", "..", "n/a", "na", "nan")


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
    for sheet, table_rows in _sheets(path).items():
        # Rows of a sheet among which the header must be.
        for place, (_, header_cells) in enumerate(table_rows[:30]):
            seen: dict[str, int] = {}
            for position, cell_content in enumerate(header_cells):
                seen.setdefault(plain_name(cell_content), position)
            table_columns = {
                name: seen[word] for name, line_words in WANTED.items() for word in reversed(line_words) if word in seen
            }
            missing_name = [name for name in WANTED if name not in table_columns]
            if not missing_name:
                return _table(path, table_rows[place + 1 :], table_columns)
            if best is None or len(missing_name) < len(best[0]):
                best = missing_name, f"row {place + 1} of {sheet}"
    if best is None:
        raise FileFormatError("the table is empty", file=path)
    raise FileFormatError(
        "no row names all the columns. A row must have country, stage of development and the 12 "
        f"pillars; the nearest, {best[1]}, lacks: {', '.join(best[0])}",
        file=path,
    )


def plain_name(cell: object) -> str:
    """A column's name without case, numbering and spelling variants."""
    plain_text = str(cell).casefold().replace("labour", "labor").replace("&", "and")
    plain_text = re.sub(r"\(.*?\)|,.*$", "", plain_text)
    plain_text = re.sub(r"^\W*(\d+(st|nd|rd|th)?|[a-z])?[\s.]*pillar\s*\d*|^\s*(\d+|[a-z])[.)]\s*", "", plain_text)
    plain_text = re.sub(r"^\W*\d+(st|nd|rd|th)?\b|\bscore\b|\bvalue\b|\b1-7\b", "", plain_text)
    return re.sub(r"[^a-z0-9]", "", plain_text)


def _sheets(path: Path) -> dict[str, list[tuple[int, list[str]]]]:
    """The rows of each sheet with their lines."""
    if path.suffix.casefold() == ".csv":
        return {"the file": list(cells(read_text(path), ",", path))}
    if path.suffix.casefold() == ".xlsx":
        return {
            f"sheet {name!r}": list(enumerate(table_rows, start=1)) for name, table_rows in read_sheets(path).items()
        }
    raise DataError(f"{path}: the table must be an .xlsx or a .csv file")


def _table(path: Path, rows: list[tuple[int, list[str]]], columns: dict[str, int]) -> CountryTable:
    countries, stages, scores = [], [], []
    for line_number, row_cells in rows:
        values = {name: row_cells[place].strip() if place < len(row_cells) else "" for name, place in columns.items()}
        values = {
            name: "" if cell_content.casefold() in BLANK else cell_content for name, cell_content in values.items()
        }
        known_scores = np.array([_score(values[pillar]) for pillar in PILLARS])
        if not values["country"] or np.isnan(known_scores).all():
            continue  # a blank line, a heading or a note below the table
        wrong = next((pillar for pillar, score in zip(PILLARS, known_scores, strict=True) if np.isinf(score)), None)
        if wrong is not None:
            raise FileFormatError(f"{values[wrong]!r} is not a score in {wrong!r}", file=path, line=line_number)
        countries.append(values["country"])
        stages.append(values["stage of development"] or None)
        scores.append(known_scores)
    table = np.array(scores, dtype=np.float64).reshape(-1, len(PILLARS))
    return CountryTable(path, countries, stages, dict(zip(PILLARS, table.T, strict=True)))


def _score(cell: str) -> float:
    """A number, NaN for an empty cell, and infinity for what is no number."""
    try:
        return float(cell or "nan")
    except ValueError:
        return math.inf


def build_reinnovation(
    paths: Paths, *, path: str | os.PathLike[str] | None = None, neighbours: int = 10
) -> MultilayerGraph:
    """One layer per pillar: an edge where either country is among the other's nearest by its score.

    A country without a score in a pillar is absent from that layer.
    """
    neighbours = positive_int(neighbours, "neighbours")
    table = read_countries(_workbook(path))
    graph_layers: dict[str, Layer] = {}
    for pillar in PILLARS:
        scores = table.scores[pillar]
        known_countries = np.flatnonzero(np.isfinite(scores))
        if known_countries.size < 2:
            raise DataError(f"{table.file}: fewer than two countries have a score in {pillar!r}")
        edges = nearest_edges(scores[known_countries, None], min(neighbours, known_countries.size - 1))
        graph_layers[pillar] = EdgeLayer(scores.size, *known_countries[edges], nodes=known_countries)
    return MultilayerGraph(graph_layers, nodes=table.countries, labels=table.stages, name="reinnovation")


def _workbook(path: str | os.PathLike[str] | None) -> Path:
    """The file the user named, or the only table in the dataset's folder."""
    if path is not None:
        chosen = Path(path).expanduser()
        if not chosen.is_file():
            raise DataError(f"there is no file {chosen}. {_NEEDED}")
        return chosen
    folders = [folder / "reinnovation" for folder in (data_folder(), cache_folder()) if folder]
    for folder in folders:
        tables = sorted([*folder.glob("*.xlsx"), *folder.glob("*.csv")])
        if len(tables) == 1:
            return tables[0]
        if tables:
            table_names = ", ".join(table.name for table in tables)
            raise DataError(f"{folder} holds {table_names}: say which with path=...")
    places = " or ".join(str(folder) for folder in folders)
    raise DataError(f'{_NEEDED} Then: load("reinnovation", path="table.xlsx"), or put the file alone into {places}')


_NEEDED = (
    "The reinnovation dataset may not be passed on, so the table must be yours: an .xlsx or .csv with one row per "
    "country and the columns country, stage of development and the 12 pillars of the Global Competitiveness Index ("
    + ", ".join(PILLARS)
    + "), edition 2012-2013 or 2014-2015. The World Economic Forum publishes them with its "
    "Global Competitiveness Report at https://www.weforum.org/."
)
