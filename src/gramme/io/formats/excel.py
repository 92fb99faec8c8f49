"""Excel workbooks: every sheet with edges or a matrix is a layer; a sheet about their nodes gives labels and more."""

from __future__ import annotations

from pathlib import Path

from gramme.io.edge_table import parse_sheets
from gramme.io.parsed import Parsed, ReadOptions
from gramme.io.spreadsheet import read_sheets

NAME = "excel"


def read(path: Path, options: ReadOptions) -> Parsed:
    """The graph of a workbook."""
    return parse_sheets(read_sheets(path), path, options)
