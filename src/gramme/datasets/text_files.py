"""Small readers for the plain text files the datasets come as; every error names file and line."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gramme.errors import FileFormatError


def read_lines(path: Path, expected: int | None = None) -> list[str]:
    """The lines of a text file, without blank ones at its end."""
    try:
        lines = path.read_text(encoding="utf-8").rstrip().split("\n")
    except UnicodeDecodeError as error:
        raise FileFormatError("this is not a text file in UTF-8", file=path) from error
    lines = [line.rstrip("\r") for line in lines]
    if expected is not None and len(lines) != expected:
        raise FileFormatError(
            f"the file has {len(lines)} lines, {expected} are expected", file=path
        )
    return lines


def read_integers(path: Path, *columns: range, expected: int | None = None) -> NDArray[np.int64]:
    """A table of whole numbers between blanks, shape (rows, columns), each within its column's range."""
    parsers = [_within(column) for column in columns]
    rows = _parsed(path, read_lines(path, expected), str.split, parsers)
    return np.array(rows, dtype=np.int64)


def read_cells(
    path: Path, parsers: Sequence[Callable[[str], Any]], expected: int | None = None
) -> list[list[Any]]:
    """The columns of a file of comma-separated values without a header.

    A column's parser turns a cell into a value, or raises ValueError with what would be right.
    """
    rows = _parsed(path, read_lines(path, expected), lambda line: line.split(","), parsers)
    return [list(column) for column in zip(*rows, strict=True)]


def one_of(choices: Mapping[str, Any]) -> Callable[[str], Any]:
    """A parser of cells that may hold only some words.

    >>> one_of({"y": True, "n": False})("y")
    True
    """

    def parse(cell: str) -> Any:
        if cell not in choices:
            raise ValueError(f"{cell!r} must be one of {', '.join(choices)}")
        return choices[cell]

    return parse


def _within(admitted: range) -> Callable[[str], int]:
    def parse(cell: str) -> int:
        if not cell.isdecimal() or int(cell) not in admitted:
            raise ValueError(
                f"{cell!r} must be a whole number from {admitted.start} to {admitted.stop - 1}"
            )
        return int(cell)

    return parse


def _parsed(
    path: Path,
    lines: Sequence[str],
    split: Callable[[str], list[str]],
    parsers: Sequence[Callable[[str], Any]],
) -> list[list[Any]]:
    rows = []
    for number, line in enumerate(lines, start=1):
        cells = split(line)
        if len(cells) != len(parsers):
            raise FileFormatError(
                f"{len(cells)} values were found, {len(parsers)} are expected",
                file=path,
                line=number,
            )
        try:
            rows.append([parse(cell.strip()) for parse, cell in zip(parsers, cells, strict=True)])
        except ValueError as error:
            raise FileFormatError(str(error), file=path, line=number) from error
    return rows
