"""Tables with a header whose cells are separated by commas or tabs, as spreadsheets and data frames write them."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from gramme.errors import FileFormatError
from gramme.io.notes import tell

# What a cell must not show bare: the separators, quotes, line ends, and white space that a reader might strip.
SEPARATORS = (",", "\t", ";", "|")
_USUAL = {".csv": ",", ".tsv": "\t"}
_QUOTED = re.compile(r'"[^"]*"')
#: More columns than any table of people has; a header of commas alone would fill the memory.
MAX_TABLE_COLUMNS = 100_000
_SPECIAL = re.compile(r'[,\t"\n\r]|^\s|\s$')
_QUOTED_CELL = re.compile(r'"((?:[^"]|"")*)"')


def cells(text: str, separator: str, path: Path) -> Iterator[tuple[int, list[str]]]:
    """The cells of each row with the line it starts on, without blanks around them; blank lines are left out.

    Blanks inside quotes belong to a cell.
    """
    raw = [""]  # the line that was read last
    padded = _has_padding(text, separator)
    kept: set[str] | None = None  # cells between quotes that begin or end with a blank

    def lines() -> Iterator[str]:
        for raw[0] in io.StringIO(text, newline=""):
            yield raw[0]

    reader = csv.reader(lines(), delimiter=separator, strict=True, skipinitialspace=padded)
    line = 1
    while True:
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise FileFormatError(
                f"not readable as a table: {error}", file=path, line=line
            ) from None
        check_width(len(row), path, line)
        if len(row) > 1 or raw[0].strip(" \t\r\n"):  # a quoted blank is no blank line
            if padded and any(cell != cell.strip(" \t") for cell in row):
                if kept is None:
                    kept = {found.replace('""', '"') for found in _QUOTED_CELL.findall(text)}
                row = [cell if cell in kept else cell.strip(" \t") for cell in row]
                tell(f"{path.name}: blanks around cells left out")
            yield line, row
        line = reader.line_num + 1


def _has_padding(text: str, separator: str) -> bool:
    """Whether blanks stand beside a separator or at the end of a line."""
    found = [" " + separator, separator + " ", " \n", " \r", "\n "]
    if separator != "\t":
        found += ["\t" + separator, separator + "\t", "\t\n", "\t\r"]
    return text[-1:] in (" ", "\t") or text[:1] == " " or any(pair in text for pair in found)


def check_width(columns: int, path: Path, line: int | None = None) -> None:
    """Refuse more columns than a table can have."""
    if columns > MAX_TABLE_COLUMNS:
        raise FileFormatError(
            f"{columns:,} columns; a table may have at most {MAX_TABLE_COLUMNS:,}",
            file=path,
            line=line,
        )


def format_row(values: Iterable[str], separator: str) -> str:
    r"""One line of a table.

    >>> format_row(["a", "b,c", "NA"], ",")
    'a,"b,c",NA\n'
    """
    return separator.join(map(quote_cell, values)) + "\n"


def quote_cell(value: str) -> str:
    """The cell, between quotes only where it must be."""
    return '"' + value.replace('"', '""') + '"' if _SPECIAL.search(value) else value


def format_table(header: Sequence[str], rows: Iterable[Sequence[str]], separator: str) -> str:
    """A whole table with its header."""
    return format_row(header, separator) + "".join(format_row(row, separator) for row in rows)


def separator_of(path: Path, text: str) -> str:
    """The separator a table uses: by its name, else by its first line; a space stands for any white space.

    A ``.csv`` whose first line has no comma but semicolons, tabs or bars is read with those, and the report says so.
    """
    usual = _USUAL.get(path.suffix.lower())
    first = _QUOTED.sub("", next((line for line in text.split("\n", 20) if line.strip()), ""))
    if usual is not None and usual in first:
        return usual
    counts = {mark: first.count(mark) for mark in SEPARATORS}
    mark = max(SEPARATORS, key=lambda one: counts[one])
    if not counts[mark]:
        return usual or " "
    tell_separator(path, mark)
    return mark


def tell_separator(path: Path, mark: str) -> None:
    """Say which separator was found, where the name of the file lets expect another."""
    if _USUAL.get(path.suffix.lower(), mark) != mark:
        tell(f"{path.name}: read with {'tabs' if mark == chr(9) else mark} between the cells")
