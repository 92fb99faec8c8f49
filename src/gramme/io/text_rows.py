r"""The rows of a table in a text file: any separator, comments at the top, row names as R writes them."""

from __future__ import annotations

import re
from pathlib import Path

from gramme.io.delimited import SEPARATORS, cells
from gramme.io.headers import edge_header
from gramme.io.notes import tell
from gramme.io.source import numbered_lines
from gramme.io.tokens import quoted_fields

Rows = list[tuple[int, list[str]]]
_MARKS = ("#", "%")
_SURE_COMMENT = re.compile(r"[#%](?:[\s#%]|\Z)")
_ROW_NAMES = "row"


def text_rows(text: str, separator: str, path: Path) -> Rows:
    """The rows of a text without the comments at its top; a space stands for any white space between cells.

    A line further down that starts with ``#`` or ``%`` is a comment where it has one cell alone. Where the header has
    one name less than the rows have cells, as R writes tables, the first cells are names of rows.
    """
    if separator == " ":
        rows = [
            (line, quoted_fields(row))
            for line, row in numbered_lines(text)
            if not _SURE_COMMENT.match(row.strip())
        ]
    else:
        rows = list(cells(text, separator, path))
    if rows and len(rows[0][1]) > 1:
        filled = [one for one in rows if len(one[1]) > 1 or not one[1][0].startswith(_MARKS)]
        if len(filled) < len(rows):
            _tell_comments(len(rows) - len(filled), path)
            rows = filled
    return _with_row_names(rows, path)


def without_comments(text: str, path: Path) -> str:
    r"""The text with blank lines in place of the comments at its top, so that lines keep their numbers.

    A last comment that names the columns of edges is a header, as in files of the Stanford collection. A line like
    ``#cats,#dogs`` is not a comment: it has as many cells as the lines below it.

    >>> without_comments("# made by hand\nfrom,to\n", Path("a.csv"))
    '\nfrom,to\n'
    """
    if not text.lstrip().startswith(_MARKS):
        return text
    lines = text.split("\n") if "\n" in text else text.split("\r")
    end = "\n" if "\n" in text else "\r"
    first = next(
        (k for k, line in enumerate(lines) if line.strip() and not line.startswith(_MARKS)),
        len(lines),
    )
    below = lines[first] if first < len(lines) else ""
    marks = max(SEPARATORS, key=below.count)
    comments = [
        k
        for k in range(first)
        if lines[k].strip() and (_SURE_COMMENT.match(lines[k]) or lines[k].count(marks) < below.count(marks))
    ]  # fmt: skip
    if len(comments) < sum(bool(line.strip()) for line in lines[:first]):
        return text  # the lines with the mark are rows of the table
    head = lines[comments[-1]].lstrip("#% \t")
    if _is_header(head, below):
        lines[comments.pop()] = head
    for k in comments:
        lines[k] = ""
    if comments:
        _tell_comments(len(comments), path)
    return end.join(lines)


def _is_header(comment: str, below: str) -> bool:
    for mark in (*(mark for mark in SEPARATORS if mark in below), None):
        names, cells_below = comment.strip().split(mark), below.strip().split(mark)
        if len(names) == len(cells_below) and edge_header(names) is not None:
            return edge_header(cells_below) is None
    return False


def _tell_comments(count: int, path: Path) -> None:
    lines = "1 line" if count == 1 else f"{count} lines"
    tell(f"{path.name}: {lines} of comment left out (# or % at the start)")


def _with_row_names(rows: Rows, path: Path) -> Rows:
    """Rows under a header that names their first column too."""
    if len(rows) < 2:
        return rows
    width = len(rows[0][1])
    if width < 2 or any(len(row) != width + 1 for _, row in rows[1:]):
        return rows
    names = [row[0] for _, row in rows[1:]]
    if edge_header(rows[0][1]) is None or len(set(names)) < len(names):
        return rows
    tell(
        f"{path.name}: the first column has no name in the header; read as names of rows, not used"
    )
    return [rows[0], *((line, row[1:]) for line, row in rows[1:])]
