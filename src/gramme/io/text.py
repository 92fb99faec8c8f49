"""The rows of a table in a text file: any separator, comments at the top, row names as R writes them."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from gramme.errors import FileFormatError

from .headers import edge_header
from .source import numbered_lines, tell

# Fields separated by white space, with quotes where a field holds white space itself.
_FIELD = re.compile(r"[^ \t]+")
_QUOTED_FIELD = re.compile(r'[ \t]*(?:"((?:[^"\\]|\\.)*)"(?=[ \t]|\Z)|([^ \t]+))')
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_LETTERS = {"n": "\n", "r": "\r", "t": "\t"}
_PLAIN = re.compile(r'[^ \t\n\r"\\]+\Z')


def fields(line: str) -> list[str]:
    """The fields of a line without quotes."""
    return _FIELD.findall(line)


def quoted_fields(line: str) -> list[str]:
    """The fields of a line, some of them perhaps quoted."""
    field_texts = []
    for quoted, plain in _QUOTED_FIELD.findall(line.strip(" \t")):
        field_texts.append(plain or _ESCAPE.sub(lambda match: _LETTERS.get(match[1], match[1]), quoted))
    return field_texts


def quote(text: str) -> str:
    """The text as one field, quoted only where it must be."""
    if _PLAIN.match(text):
        return text
    text = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + text.replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t") + '"'


# Tables with a header whose cells are separated by commas or tabs, as spreadsheets and data
# frames write them.


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
            row_cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise FileFormatError(f"not readable as a table: {error}", file=path, line=line) from None
        check_width(len(row_cells), path, line)
        if len(row_cells) > 1 or raw[0].strip(" \t\r\n"):  # a quoted blank is no blank line
            if padded and any(cell_content != cell_content.strip(" \t") for cell_content in row_cells):
                if kept is None:
                    kept = {quoted_cell.replace('""', '"') for quoted_cell in _QUOTED_CELL.findall(text)}
                row_cells = [
                    cell_content if cell_content in kept else cell_content.strip(" \t") for cell_content in row_cells
                ]
                tell(f"{path.name}: blanks around cells left out")
            yield line, row_cells
        line = reader.line_num + 1


def _has_padding(text: str, separator: str) -> bool:
    """Whether blanks stand beside a separator or at the end of a line."""
    padded_pairs = [" " + separator, separator + " ", " \n", " \r", "\n "]
    if separator != "\t":
        padded_pairs += ["\t" + separator, separator + "\t", "\t\n", "\t\r"]
    return text[-1:] in (" ", "\t") or text[:1] == " " or any(pair in text for pair in padded_pairs)


def check_width(columns: int, path: Path, line: int | None = None) -> None:
    """Refuse more columns than a table can have."""
    if columns > MAX_TABLE_COLUMNS:
        raise FileFormatError(
            f"{columns:,} columns; a table may have at most {MAX_TABLE_COLUMNS:,}", file=path, line=line
        )


def format_row(values: Iterable[str], separator: str) -> str:
    """One line of a table."""
    return separator.join(map(quote_cell, values)) + "\n"


def quote_cell(value: str) -> str:
    """The cell, between quotes only where it must be."""
    return '"' + value.replace('"', '""') + '"' if _SPECIAL.search(value) else value


def separator_of(path: Path, text: str) -> str:
    """The separator a table uses: by its name, else by its first line; a space stands for any white space.

    A ``.csv`` whose first line has no comma but semicolons, tabs or bars is read with those, and the report says so.
    """
    usual = _USUAL.get(path.suffix.lower())
    first = _QUOTED.sub("", next((line_text for line_text in text.split("\n", 20) if line_text.strip()), ""))
    if usual is not None and usual in first:
        return usual
    separator_counts = {mark: first.count(mark) for mark in SEPARATORS}
    separator_mark = max(SEPARATORS, key=lambda one: separator_counts[one])
    if not separator_counts[separator_mark]:
        return usual or " "
    tell_separator(path, separator_mark)
    return separator_mark


def tell_separator(path: Path, mark: str) -> None:
    """Say which separator was found, where the name of the file lets expect another."""
    if _USUAL.get(path.suffix.lower(), mark) != mark:
        tell(f"{path.name}: read with { {chr(9): 'tabs', ' ': 'spaces'}.get(mark, mark) } between the cells")


Rows = list[tuple[int, list[str]]]
_MARKS = ("#", "%")
_SURE_COMMENT = re.compile(r"[#%](?:[\s#%]|\Z)")


def text_rows(text: str, separator: str, path: Path) -> Rows:
    """The rows of a text without the comments at its top; a space stands for any white space between cells.

    A line further down that starts with ``#`` or ``%`` is a comment where it has one cell alone. Where the header has
    one name less than the rows have cells, as R writes tables, the first cells are names of rows.
    """
    if separator == " ":
        table_rows = [
            (line_number, quoted_fields(row_cells))
            for line_number, row_cells in numbered_lines(text)
            if not _SURE_COMMENT.match(row_cells.strip())
        ]
    else:
        table_rows = list(cells(text, separator, path))
    if table_rows and len(table_rows[0][1]) > 1:
        filled = [one for one in table_rows if len(one[1]) > 1 or not one[1][0].startswith(_MARKS)]
        if len(filled) < len(table_rows):
            _tell_comments(len(table_rows) - len(filled), path)
            table_rows = filled
    return _with_row_names(table_rows, path)


def without_comments(text: str, path: Path) -> str:
    r"""The text with blank lines in place of the comments at its top, so that lines keep their numbers.

    A last comment that names the columns of edges is a header, as in files of the Stanford collection. A line like
    ``#cats,#dogs`` is not a comment: it has as many cells as the lines below it.
    """
    if not text.lstrip().startswith(_MARKS):
        return text
    file_lines = text.split("\n") if "\n" in text else text.split("\r")
    end = "\n" if "\n" in text else "\r"
    bare = [line_text.lstrip(" ") for line_text in file_lines]
    first = next(
        (k for k, line_text in enumerate(bare) if line_text.strip() and not line_text.startswith(_MARKS)),
        len(file_lines),
    )
    below = file_lines[first] if first < len(file_lines) else ""
    separator_mark = max(SEPARATORS, key=below.count)
    between = separator_mark if separator_mark in below else None  # None: any white space
    column_count = len(below.split(between))
    comments = [
        k
        for k in range(first)
        if file_lines[k].strip() and (_SURE_COMMENT.match(bare[k]) or len(file_lines[k].split(between)) < column_count)
    ]
    if not comments or len(comments) < sum(bool(line_text.strip()) for line_text in file_lines[:first]):
        return text  # the lines with the mark are rows of the table
    head = file_lines[comments[-1]].lstrip("#% \t")
    if _is_header(head, below):
        file_lines[comments.pop()] = head
    for k in comments:
        file_lines[k] = ""
    if comments:
        _tell_comments(len(comments), path)
    return end.join(file_lines)


def _is_header(comment: str, below: str) -> bool:
    for separator_mark in (*(mark for mark in SEPARATORS if mark in below), None):
        header_names, cells_below = comment.strip().split(separator_mark), below.strip().split(separator_mark)
        if len(header_names) == len(cells_below) and edge_header(header_names) is not None:
            return edge_header(cells_below) is None
    return False


def _tell_comments(count: int, path: Path) -> None:
    lines = "1 line" if count == 1 else f"{count} lines"
    tell(f"{path.name}: {lines} of comment left out (# or % at the start)")


def _with_row_names(rows: Rows, path: Path) -> Rows:
    """Rows under a header that names their first column too."""
    if len(rows) < 2:
        return rows
    column_count = len(rows[0][1])
    if column_count < 2 or any(len(row_cells) != column_count + 1 for _, row_cells in rows[1:]):
        return rows
    header_names = [row_cells[0] for _, row_cells in rows[1:]]
    if edge_header(rows[0][1]) is None or len(set(header_names)) < len(header_names):
        return rows
    tell(f"{path.name}: the first column has no name in the header; read as names of rows, not used")
    return [rows[0], *((line_number, row_cells[1:]) for line_number, row_cells in rows[1:])]
