"""What a file of the user's seems to be, and what its columns are: guessed from names, header and first rows.

A guess says why it was made, so that whoever shows it can mark it as one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from gramme.errors import DataError, FileFormatError

from .headers import edge_header
from .plain_table import ENDINGS, header_of, plain_rows, read_table
from .tables import COMPANIONS

SAMPLE_BYTES = 1 << 18
"""Bytes of a file that are looked at to guess what its columns are."""
SAMPLE_ROWS = 5
"""Rows of a file that the page shows."""
MOST_LABELS = 20
"""Different values up to which a column may pass for labels unless it is called so."""

_LABEL_NAMES = {*("label", "labels", "class", "klasse", "category", "group", "party", "team", "target", "y")}
_COMPANION = re.compile(rf"(?P<start>.+)[_.](?:{'|'.join(COMPANIONS)})")
_LABEL_ENDINGS = (".label", ".labels")
KIND_ROLES = ("kind to label", "other kind")
"""What a column is of a file that joins two kinds of thing."""
_ID_NAMES = {"id", "name", "node", "nodeid", "person", "personid", "actor", "member", "row", "key"}


@dataclass
class ColumnGuess:
    """A column: its name, its role, and why the role was guessed."""

    name: str
    role: str
    why: str


@dataclass
class FileGuess:
    """A file: its role, its columns, and the first rows as text."""

    name: str
    size: int
    role: str
    why: str
    columns: list[ColumnGuess] = field(default_factory=list)
    rows: list[list[str]] = field(default_factory=list)


def guess_file(path: Path) -> FileGuess:
    """What a file seems to be, from its name, its header and its first rows."""
    byte_size = path.stat().st_size
    ending = path.suffix.lower()
    if ending in _LABEL_ENDINGS:
        return FileGuess(path.name, byte_size, "nodes", "by the end of its name: a list of labels")
    if ending not in ENDINGS:
        return FileGuess(path.name, byte_size, "edges", "by the end of its name")
    try:
        header_cells = header_of(path)
    except (DataError, OSError) as error:
        return FileGuess(path.name, byte_size, "edges", f"its header cannot be read: {error}")
    table_rows = _sample(path, len(header_cells))
    edge_columns = edge_header(header_cells)
    if edge_columns is not None:
        roles = edge_roles(header_cells)
        table_columns = [ColumnGuess(column_name, roles[column_name], "by its name") for column_name in header_cells]
        _guess_layer(table_columns, table_rows)
        why = f"it has columns {header_cells[edge_columns.source]!r} and {header_cells[edge_columns.target]!r}"
        return FileGuess(path.name, byte_size, "edges", why, table_columns, table_rows[:SAMPLE_ROWS])
    if len(header_cells) < 2 or _is_bare(header_cells, table_rows):
        why = "its first row looks like an edge or a number, not like names of columns"
        return FileGuess(path.name, byte_size, "edges", why, [], table_rows[:SAMPLE_ROWS])
    if _joins_kinds(header_cells, table_rows):
        table_columns = [
            ColumnGuess(column_name, column_role, "in its order")
            for column_name, column_role in zip(header_cells, KIND_ROLES, strict=True)
        ]
        why = "the names in its two columns repeat, and none is in both"
        return FileGuess(path.name, byte_size, "kinds", why, table_columns, table_rows[:SAMPLE_ROWS])
    return FileGuess(
        path.name,
        byte_size,
        "nodes",
        "no two columns are called like the ends of a tie",
        guess_columns(header_cells, table_rows),
        table_rows[:SAMPLE_ROWS],
    )


def _guess_layer(columns: Sequence[ColumnGuess], rows: Sequence[Sequence[str]]) -> None:
    """Make the first spare column of words that name a few kinds of tie the layer, where no column is called so."""
    if any(one.role == "layer" for one in columns):
        return
    for column_index, column in enumerate(columns):
        column_values = {row_cells[column_index].strip() for row_cells in rows}
        few = 2 <= len(column_values) <= min(MOST_LABELS, len(rows) // 5) and "" not in column_values
        if column.role == "leave out" and few and not _are_numbers(list(column_values)):
            column.role, column.why = "layer", f"its {len(column_values)} values may be kinds of tie"
            return


def _joins_kinds(header: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Whether rows join two kinds of thing: two columns of names, of which many repeat and none is in both."""
    if len(header) != 2 or len(rows) < SAMPLE_ROWS:
        return False
    first, second = ({row_cells[column_index].strip() for row_cells in rows} for column_index in (0, 1))
    are_names = not first & second and "" not in first | second
    return are_names and len(rows) > min(len(first), len(second)) > MOST_LABELS // 2 and len(first) < len(rows)


def edge_roles(header: Sequence[str]) -> dict[str, str]:
    """What the columns of a file of ties are by their names; empty if no two are the ends of a tie."""
    edge_columns = edge_header(header)
    if edge_columns is None:
        return {}
    named = {
        "source": edge_columns.source,
        "target": edge_columns.target,
        "layer": edge_columns.layer,
        "weight": edge_columns.weight,
    }
    places = {column_index: column_role for column_role, column_index in named.items() if column_index is not None}
    return {column_name: places.get(column_index, "leave out") for column_index, column_name in enumerate(header)}


def guess_columns(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[ColumnGuess]:
    """Which column names the rows, which is the label, and what the others are."""
    cells = [[row_cells[place].strip() for row_cells in rows] for place in range(len(header))]
    header_words = [re.sub(r"[\s_.-]+", "", column_name.lower()) for column_name in header]
    unique = [
        len(set(column_values)) == len(column_values) and all(column_values) and bool(column_values)
        for column_values in cells
    ]
    roles = [
        ColumnGuess(column_name, *_by_cells(column_values))
        for column_name, column_values in zip(header, cells, strict=True)
    ]
    name_columns = [place for place, word in enumerate(header_words) if word in _ID_NAMES and unique[place]]
    text = [place for place, one in enumerate(unique) if one and not _are_numbers(cells[place])]
    for column_index in (*name_columns[:1], *text[:1]):
        roles[column_index].role, roles[column_index].why = "id", "each row has a value of its own"
        break
    distinct_values = [len({cell_value for cell_value in column_values if cell_value}) for column_values in cells]
    few = [2 <= number <= MOST_LABELS for number in distinct_values]
    named = [word in _LABEL_NAMES for word in header_words]
    candidates = [place for place, one in enumerate(roles) if one.role != "id" and (few[place] or named[place])]
    called = [place for place in candidates if named[place]]
    gaps = [place for place in candidates if "" in cells[place] and not _are_numbers(cells[place])]
    for column_index in (*called[:1], *gaps[:1]):
        roles[column_index].role = "label"
        roles[column_index].why = "by its name" if called else "it has a few values, and some are missing"
        break
    return roles


def _by_cells(values: Sequence[str]) -> tuple[str, str]:
    known_cells = [cell_value for cell_value in values if cell_value]
    if not known_cells:
        return "leave out", "it is empty"
    distinct_values = len(set(known_cells))
    if distinct_values == 1:
        return "leave out", "it has one value"
    if _are_numbers(known_cells):
        return "feature", "its values are numbers"
    if len(known_cells) >= 20 and distinct_values > 0.9 * len(known_cells):
        return "leave out", "its text hardly ever repeats"
    return "layer", f"it has {distinct_values} different values"


def _are_numbers(values: Sequence[str]) -> bool:
    known_cells = [cell_value for cell_value in values if cell_value]
    return bool(known_cells) and all(re.fullmatch(r"[+-]?[\d.,]+(e[+-]?\d+)?", v, re.I) for v in known_cells)


def _is_bare(header: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first row is data already: numbers, or two or three columns whose cells also stand below."""
    if all(_are_numbers([column_name]) for column_name in header):
        return True
    below = {cell_content for row_cells in rows for cell_content in row_cells}
    return len(header) <= 3 and all(column_name in below for column_name in header[:2])


def _sample(path: Path, width: int) -> list[list[str]]:
    """The first rows of a table below its header, as text; none of Parquet and Excel files, whose cells have types."""
    if path.suffix.lower() in (".parquet", ".pq", ".xlsx"):
        facts_table = read_table(path).head(500)
        return [
            ["" if cell_content is None or cell_content != cell_content else str(cell_content) for cell_content in row]
            for row in facts_table.itertuples(index=False)
        ]
    with path.open("rb") as file:
        raw = file.read(SAMPLE_BYTES)
    file_text = raw.decode("utf-8", errors="replace").lstrip("\ufeff")
    if len(raw) == SAMPLE_BYTES:
        file_text = file_text[: file_text.rfind("\n") + 1]
    sample_rows: list[list[str]] = []
    with suppress(FileFormatError):
        sample_rows.extend(
            cells_of_row for _, cells_of_row in plain_rows(file_text, path)[2] if len(cells_of_row) == width
        )
    return sample_rows


def guess_plan(paths: Sequence[Path], labels: Path | None = None) -> list[FileGuess]:
    """What several files seem to be together; ``labels`` is one that the user named as the file of labels."""
    guesses = [guess_file(path) for path in paths]
    for one in guesses:
        belongs = _COMPANION.fullmatch(Path(one.name).stem)
        for main in guesses if belongs else ():
            if main is not one and belongs and main.name.startswith(belongs["start"]):
                one.role, one.why, one.columns = "leave out", f"it is read with {main.name}", []
    if labels is not None:
        named = guess_file(labels)
        if named.role != "nodes":
            header_cells = [column.name for column in named.columns]
            named.columns = guess_columns(header_cells, named.rows) if header_cells else []
        named.role, named.why = "nodes", "it was named as the file of labels"
        if len(named.columns) == 2:
            (named.columns[0].role, named.columns[1].role) = ("id", "label")
        for one in guesses:
            if one.role == "nodes":
                one.role, one.why = "leave out", "another file describes the nodes"
        guesses.append(named)
    tables = [one for one in guesses if one.role == "nodes"]
    for extra in tables[1:]:
        extra.role, extra.why = "leave out", "another file describes the nodes"
    if tables and len(tables[0].columns) == 2 and len(guesses) > 1:
        first, second = tables[0].columns
        if {first.role, second.role} & {"id"} and not {first.role, second.role} & {"label"}:
            label_column = second if first.role == "id" else first
            label_column.role, label_column.why = "label", "the only column besides the names"
    edge_features = next((one.name for one in tables[0].columns if one.role == "id"), None) if tables else None
    for kinds in guesses:
        if kinds.role == "kinds" and edge_features in [column.name for column in kinds.columns]:
            for column in kinds.columns:
                column.role = KIND_ROLES[column.name != edge_features]
                column.why = "the table of nodes describes them" if column.name == edge_features else column.why
    if all(one.role not in ("edges", "kinds") for one in guesses):  # alone, a table has no features, but groups
        for column in tables[0].columns if tables else ():
            if column.role == "feature":
                column.role, column.why = "layer", f"{column.why}, which are cut into groups"
    return guesses
