"""A table of nodes with their attributes: the label is one column, numeric columns may be features."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gramme._wording import setting
from gramme.errors import DataError, FileFormatError, did_you_mean
from gramme.io.delimited import cells, separator_of
from gramme.io.source import decode, numbered_lines, read_bytes
from gramme.io.spreadsheet import read_sheets
from gramme.io.tokens import quoted_fields
from gramme.io.weights import parse_number

LABEL_COLUMN = "label"
_FEATURE_COLUMN = re.compile(r"feature[_ .:-]?\d+\Z", re.IGNORECASE)


def is_feature_name(column: str) -> bool:
    """Whether a column is named like the features that gramme writes.

    >>> is_feature_name("feature_1"), is_feature_name("age")
    (True, False)
    """
    return _FEATURE_COLUMN.match(column) is not None


@dataclass
class AttributeTable:
    """Rows of text under a header; the first column names the node (or the layer)."""

    path: Path
    header: list[str]
    rows: list[list[str]] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    decimal_comma: bool = False

    def has(self, column: str) -> bool:
        """Whether there is such a column."""
        return column in self.header

    def column(self, name: str) -> list[str]:
        """The cells of a column, or an error that suggests the nearest name."""
        if name not in self.header:
            raise DataError(
                f"{self.path} has no column {name!r}; {did_you_mean(name, self.header)}"
            )
        place = self.header.index(name)
        return [row[place] for row in self.rows]

    def names(self, column: str | None = None) -> list[str]:
        """The cells of the first (or another) column, which must be filled and distinct."""
        found = self.column(column) if column is not None else [row[0] for row in self.rows]
        seen: dict[str, int] = {}
        for name, line in zip(found, self.lines, strict=True):
            if not name:
                raise FileFormatError(f"the {self.header[0]} is missing", file=self.path, line=line)
            if name in seen:
                problem = f"{name!r} is here for the second time, after line {seen[name]}"
                raise FileFormatError(problem, file=self.path, line=line)
            seen[name] = line
        return found

    def labels(self, nodes: Sequence[str], column: str | None) -> dict[str, str] | None:
        """The label of each node, empty cells left out; None without a column of labels."""
        if column is None and not self.has(LABEL_COLUMN):
            return None
        found = self.column(column or LABEL_COLUMN)
        return {node: label for node, label in zip(nodes, found, strict=True) if label}

    def feature_columns(
        self, chosen: Sequence[str] | None, label: str | None, names: Sequence[str], every: bool
    ) -> list[str]:
        """The columns that are features: those chosen, else all others or all named like ``feature_1``."""
        if chosen is not None:
            return [chosen] if isinstance(chosen, str) else list(chosen)
        taken = {label or LABEL_COLUMN, *names}
        others = [column for column in self.header if column not in taken]
        return others if every else [name for name in others if is_feature_name(name)]

    def features(self, columns: Sequence[str]) -> NDArray[np.float64] | None:
        """The columns as numbers, one row per row of the table."""
        if not columns:
            return None
        matrix = np.empty((len(self.rows), len(columns)))
        for place, column in enumerate(columns):
            for row, text in enumerate(self.column(column)):
                try:
                    matrix[row, place] = parse_number(text.strip())
                except ValueError as error:
                    raise FileFormatError(
                        f"the feature {column!r}: {error} ({setting('features')} chooses the columns)",
                        file=self.path,
                        line=self.lines[row],
                    ) from None
        return matrix


def read_attributes(path: Path, encoding: str, separator: str | None = None) -> AttributeTable:
    """A table with a header, by comma, tab or white space (where quotes are allowed), or the first sheet of Excel."""
    if path.suffix.lower() == ".xlsx":
        rows = next(iter(read_sheets(path).values()))
        return tabled(enumerate(rows, start=1), path)
    text = decode(read_bytes(path), path, encoding)
    return parse_attributes(text, path, separator or separator_of(path, text))


def parse_attributes(text: str, path: Path, separator: str) -> AttributeTable:
    """A table with a header from its text; every row has as many cells as the header."""
    lines: Iterator[tuple[int, list[str]]]
    if separator == " ":
        lines = ((line, quoted_fields(row)) for line, row in numbered_lines(text))
    else:
        lines = cells(text, separator, path)
    return tabled(lines, path, decimal_comma=separator == ";")


def tabled(
    lines: Iterable[tuple[int, list[str]]], path: Path, *, decimal_comma: bool = False
) -> AttributeTable:
    """A table from its rows, the header first."""
    table: AttributeTable | None = None
    for line, row in lines:
        if table is None:
            row = [cell.strip() for cell in row]
            if len(set(row)) != len(row):
                raise FileFormatError("a column is named twice in the header", file=path, line=line)
            table = AttributeTable(path, row, decimal_comma=decimal_comma)
        elif len(row) != len(table.header):
            raise FileFormatError(
                f"there are {len(row)} cells, but the header names {len(table.header)} columns: "
                f"{', '.join(table.header)[:100]}",
                file=path,
                line=line,
            )
        else:
            table.rows.append(row)
            table.lines.append(line)
    if table is None:
        raise FileFormatError("the file is blank; its first line must be a header", file=path)
    return table
