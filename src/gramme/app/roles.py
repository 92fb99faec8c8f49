"""What each file and column of the user's data is: guessed from names and cells, changed on the page, said as options.

A plan is a list of files with a role each, and roles of their columns:

- ``edges``: a file of ties, in any format that gramme reads; several become a layer each.
- ``nodes``: a table with a row per person or thing. Beside files of ties it describes their nodes (``--labels``), alone
  it is the data (``--table``).
- ``leave out``: nothing.

The plan becomes the options of the command line, so that whatever the app reads, the command line reads too.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Literal

from gramme.cli.options import Reading
from gramme.errors import DataError
from gramme.io.headers import edge_header
from gramme.io.plain_table import ENDINGS, header_of

FileRole = Literal["edges", "nodes", "leave out"]
FILE_ROLES: tuple[str, ...] = ("edges", "nodes", "leave out")
TABLE_ROLES = ("layer", "label", "id", "leave out")
"""What a column of a table may be that is the data by itself."""
NODE_ROLES = ("feature", "layer", "label", "id", "leave out")
"""What a column of a table may be that describes the nodes of files of ties."""
EDGE_ROLES = ("source", "target", "weight", "layer", "leave out")
"""What a column of a file of ties may be."""
SAMPLE_BYTES = 1 << 18
"""Bytes of a file that are looked at to guess what its columns are."""
SAMPLE_ROWS = 5
"""Rows of a file that the page shows."""
MOST_LABELS = 20
"""Different values up to which a column may pass for labels unless it is called so."""

_LABEL_NAMES = {
    *("label", "labels", "class", "klasse", "category", "group", "party", "team", "target", "y"),
}
_LABEL_ENDINGS = (".label", ".labels")
_ID_NAMES = {"id", "name", "node", "nodeid", "person", "personid", "actor", "member", "row", "key"}


@dataclass
class ColumnGuess:
    """A column: its name, its role, and why the role was guessed."""

    name: str
    role: str
    why: str

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return {"name": self.name, "role": self.role, "why": self.why}


@dataclass
class FileGuess:
    """A file: its role, its columns, and the first rows as text."""

    name: str
    size: int
    role: str
    why: str
    columns: list[ColumnGuess] = field(default_factory=list)
    rows: list[list[str]] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return {
            "name": self.name,
            "size": self.size,
            "role": self.role,
            "why": self.why,
            "columns": [column.as_dict() for column in self.columns],
            "rows": self.rows,
        }


@dataclass(frozen=True)
class FilePlan:
    """What the user settled on for a file: its role and, where that matters, those of its columns."""

    name: str
    role: str
    columns: Mapping[str, str]

    @classmethod
    def from_record(cls, record: Any) -> FilePlan:
        """A plan from JSON; what is not one is an error that says so."""
        if not isinstance(record, dict) or not isinstance(record.get("name"), str):
            raise DataError("a plan names a file and its role")
        role, columns = record.get("role"), record.get("columns") or {}
        if role not in FILE_ROLES:
            raise DataError(f"{record['name']}: a file is one of {', '.join(FILE_ROLES)}")
        if not isinstance(columns, dict) or not all(
            isinstance(text, str) for pair in columns.items() for text in pair
        ):
            raise DataError(f"{record['name']}: columns must be names and roles")
        return cls(record["name"], role, dict(columns))

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return {"name": self.name, "role": self.role, "columns": dict(self.columns)}

    def having(self, role: str) -> list[str]:
        """The columns with a role, in the order of the file."""
        return [column for column, given in self.columns.items() if given == role]

    def only(self, role: str) -> str | None:
        """The one column with a role, None if there is none; an error if there are several."""
        found = self.having(role)
        if len(found) > 1:
            raise DataError(
                f"{self.name}: {', '.join(map(repr, found))} cannot all be the {role}; choose one"
            )
        return found[0] if found else None


@dataclass(frozen=True)
class Plan:
    """All files with their roles, and what follows from them for reading."""

    files: tuple[FilePlan, ...]

    @classmethod
    def from_records(cls, records: Any) -> Plan:
        """A plan from JSON."""
        if not isinstance(records, list) or not records:
            raise DataError("there is no file to read; add one")
        plan = cls(tuple(map(FilePlan.from_record, records)))
        names = [file.name for file in plan.files]
        if len(set(names)) < len(names):
            raise DataError("a file is named twice")
        return plan

    @classmethod
    def of_guesses(cls, guesses: Sequence[FileGuess]) -> Plan:
        """The plan that was guessed."""
        return cls(
            tuple(
                FilePlan(one.name, one.role, {column.name: column.role for column in one.columns})
                for one in guesses
            )
        )

    def as_records(self) -> list[dict[str, Any]]:
        """Plain values, for JSON."""
        return [file.as_dict() for file in self.files]

    @property
    def edges(self) -> list[FilePlan]:
        """The files of ties."""
        return [file for file in self.files if file.role == "edges"]

    @property
    def nodes(self) -> FilePlan | None:
        """The table of nodes."""
        found = [file for file in self.files if file.role == "nodes"]
        if len(found) > 1:
            names = ", ".join(file.name for file in found)
            raise DataError(
                f"only one file can describe the nodes, not {names}; leave out the rest"
            )
        return found[0] if found else None

    @property
    def is_table(self) -> bool:
        """Whether the data are a table alone."""
        return not self.edges and self.nodes is not None

    def data(self) -> list[str]:
        """The files that are DATA on the command line."""
        nodes = self.nodes
        names = [file.name for file in self.edges]
        if not names and nodes is not None:
            names = [nodes.name]
        if not names:
            raise DataError("every file is left out; give one a role")
        return names

    def options(self) -> dict[str, Any]:
        """How the data are read before the project has labels of its own: fields of ``Reading`` and their values.

        ``labels`` is the name of a file beside the data.
        """
        nodes = self.nodes
        if nodes is None:
            return self._edge_options()
        label, name = nodes.only("label"), nodes.only("id")
        said: dict[str, Any] = {"label": label, "id": name}
        if self.is_table and not nodes.name.lower().endswith(ENDINGS):
            raise DataError(f"{nodes.name} has labels alone; add a file of ties")
        if self.is_table:
            layers = nodes.having("layer")
            if nodes.columns and not layers:
                raise DataError(f"{nodes.name}: no column is a layer, so nothing joins its rows")
            said |= {"is_table": True, "columns": layers}
        else:
            said |= self._edge_options() | {"labels": nodes.name}
            said |= {"features": nodes.having("feature"), "layers_from": nodes.having("layer")}
        return {key: value for key, value in said.items() if value not in (None, [])}

    def options_with_labels(self, labels: str) -> dict[str, Any]:
        """The same with the project's own file of labels, as :meth:`labels_header` lays it out."""
        said = self.options()
        nodes = self.nodes
        if nodes is None or self.is_table:
            said.pop("labels", None)
            if not self.is_table:
                said.pop("label", None)
            return said | {"labels": labels}
        header = self.labels_header()
        return said | {"labels": labels, "id": header[0], "label": header[1]}

    def labels_header(self) -> list[str]:
        """The columns of the project's file of labels: node, label, then the columns that describe the nodes."""
        nodes = self.nodes
        if nodes is None or self.is_table:
            return ["node", "label"]
        name, label = nodes.only("id"), nodes.only("label")
        others = [*nodes.having("feature"), *nodes.having("layer")]
        name = name or _free("node", others)
        return [name, label or _free("label", [*others, name]), *others]

    def _edge_options(self) -> dict[str, Any]:
        """Which column of the files of ties is what, where that differs from how they are read by themselves."""
        said: dict[str, Any] = {}
        for file in self.edges:
            for role, option in edge_options().items():
                column = file.only(role)
                if column is None:
                    continue
                if said.get(option, column) != column:
                    raise DataError(
                        f"{file.name}: the {role} must have the same column in all files of ties"
                    )
                said[option] = column
        return said


def _free(name: str, taken: Sequence[str]) -> str:
    while name in taken:
        name += "_"
    return name


def edge_options() -> dict[str, str]:
    """The fields of ``Reading`` that name columns of ties, by role; none where this version has no such options."""
    wanted = {
        "source": ("source", "source_column"),
        "target": ("target_column",),
        "weight": ("weight", "weight_column"),
        "layer": ("layer_column",),
    }
    known = {one.name for one in fields(Reading)}
    found = {role: next((n for n in names if n in known), None) for role, names in wanted.items()}
    return (
        {role: name for role, name in found.items() if name is not None} if found["source"] else {}
    )


def guess_file(path: Path) -> FileGuess:
    """What a file seems to be, from its name, its header and its first rows."""
    size = path.stat().st_size
    ending = path.suffix.lower()
    if ending in _LABEL_ENDINGS:
        return FileGuess(path.name, size, "nodes", "by the end of its name: a list of labels")
    if ending not in ENDINGS:
        return FileGuess(path.name, size, "edges", "by the end of its name")
    try:
        header = header_of(path)
    except (DataError, OSError) as error:
        return FileGuess(path.name, size, "edges", f"its header cannot be read: {error}")
    rows = _sample(path, len(header))
    ends = edge_header(header)
    if ends is not None:
        places = {ends.source: "source", ends.target: "target"}
        if ends.layer is not None:
            places[ends.layer] = "layer"
        if ends.weight is not None:
            places[ends.weight] = "weight"
        columns = [
            ColumnGuess(name, places.get(place, "leave out"), "by its name")
            for place, name in enumerate(header)
        ]
        why = f"it has columns {header[ends.source]!r} and {header[ends.target]!r}"
        return FileGuess(path.name, size, "edges", why, columns, rows[:SAMPLE_ROWS])
    if len(header) < 2 or _is_bare(header, rows):
        why = "its first row looks like an edge or a number, not like names of columns"
        return FileGuess(path.name, size, "edges", why, [], rows[:SAMPLE_ROWS])
    return FileGuess(
        path.name,
        size,
        "nodes",
        "no two columns are called like the ends of a tie",
        guess_columns(header, rows),
        rows[:SAMPLE_ROWS],
    )


def guess_columns(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[ColumnGuess]:
    """Which column names the rows, which is the label, and what the others are.

    >>> found = guess_columns(
    ...     ["name", "age", "team"], [["Ann", "20", "a"], ["Bo", "31", ""], ["Cy", "31", "a"]]
    ... )
    >>> [column.role for column in found]
    ['id', 'feature', 'label']
    """
    cells = [[row[place].strip() for row in rows] for place in range(len(header))]
    words = [re.sub(r"[\s_.-]+", "", name.lower()) for name in header]
    unique = [len(set(values)) == len(values) and all(values) and bool(values) for values in cells]
    roles = [
        ColumnGuess(name, *_by_cells(values)) for name, values in zip(header, cells, strict=True)
    ]
    names = [place for place, word in enumerate(words) if word in _ID_NAMES and unique[place]]
    text = [place for place, one in enumerate(unique) if one and not _are_numbers(cells[place])]
    for place in (*names[:1], *text[:1]):
        roles[place].role, roles[place].why = "id", "each row has a value of its own"
        break
    different = [len({value for value in values if value}) for values in cells]
    few = [2 <= number <= MOST_LABELS for number in different]
    named = [word in _LABEL_NAMES for word in words]
    candidates = [
        place
        for place, one in enumerate(roles)
        if one.role != "id" and (few[place] or named[place])
    ]
    called = [place for place in candidates if named[place]]
    gaps = [place for place in candidates if "" in cells[place] and not _are_numbers(cells[place])]
    for place in (*called[:1], *gaps[:1]):
        roles[place].role = "label"
        roles[place].why = "by its name" if called else "it has a few values, and some are missing"
        break
    return roles


def _by_cells(values: Sequence[str]) -> tuple[str, str]:
    known = [value for value in values if value]
    if not known:
        return "leave out", "it is empty"
    different = len(set(known))
    if different == 1:
        return "leave out", "it has one value"
    if _are_numbers(known):
        return "feature", "its values are numbers"
    if len(known) >= 20 and different > 0.9 * len(known):
        return "leave out", "its text hardly ever repeats"
    return "layer", f"it has {different} different values"


def _are_numbers(values: Sequence[str]) -> bool:
    known = [value for value in values if value]
    return bool(known) and all(re.fullmatch(r"[+-]?[\d.,]+(e[+-]?\d+)?", v, re.I) for v in known)


def _is_bare(header: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first row is data already: numbers, or two or three columns whose cells also stand below."""
    if all(_are_numbers([name]) for name in header):
        return True
    below = {cell for row in rows for cell in row}
    return len(header) <= 3 and all(name in below for name in header[:2])


def _sample(path: Path, width: int) -> list[list[str]]:
    """The first rows of a table below its header, as text; none of Parquet and Excel files, whose cells have types."""
    if path.suffix.lower() in (".parquet", ".pq", ".xlsx"):
        from gramme.io.plain_table import read_table

        table = read_table(path).head(500)
        return [[_text(cell) for cell in row] for row in table.itertuples(index=False)]
    with path.open("rb") as file:
        raw = file.read(SAMPLE_BYTES)
    text = raw.decode("utf-8", errors="replace").lstrip("\ufeff")
    if len(raw) == SAMPLE_BYTES:
        text = text[: text.rfind("\n") + 1]
    best: list[list[str]] = []
    for separator in (",", ";", "\t", "|"):
        try:
            rows = [row for row in csv.reader(io.StringIO(text), delimiter=separator) if row]
        except csv.Error:
            continue
        fitting = [row for row in rows[1:] if len(row) == width]
        best = max(best, fitting, key=len)
    return best


def _text(cell: Any) -> str:
    return "" if cell is None or cell != cell else str(cell)


def table_columns(guess: FileGuess, *, alone: bool) -> FileGuess:
    """The guess where a table is the data alone: what could be a feature beside ties makes a layer there."""
    if guess.role != "nodes" or not alone:
        return guess
    for column in guess.columns:
        if column.role == "feature":
            column.role, column.why = "layer", f"{column.why}, which are cut into groups"
    return guess


def guess_plan(paths: Sequence[Path], labels: Path | None = None) -> list[FileGuess]:
    """What several files seem to be together; ``labels`` is one that the user named as the file of labels."""
    guesses = [guess_file(path) for path in paths]
    if labels is not None:
        named = guess_file(labels)
        if named.role != "nodes":
            header = [column.name for column in named.columns]
            named.columns = guess_columns(header, named.rows) if header else []
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
            other = second if first.role == "id" else first
            other.role, other.why = "label", "the only column besides the names"
    alone = all(one.role != "edges" for one in guesses)
    return [table_columns(one, alone=alone) for one in guesses]


_SPELLED = {"is_table": "--table", "source_format": "--from"}


def option_words(options: Mapping[str, Any]) -> list[str]:
    """The options as words of the command line.

    >>> option_words({"is_table": True, "label": "party", "columns": ["age", "city"]})
    ['--table', '--label', 'party', '--columns', 'age', '--columns', 'city']
    """
    words: list[str] = []
    for key, value in options.items():
        option = _SPELLED.get(key, f"--{key.replace('_', '-')}")
        if value is True:
            words.append(option)
        else:
            for one in value if isinstance(value, list) else [value]:
                # a name that begins like an option must not pass for one
                words += [f"{option}={one}"] if str(one).startswith("-") else [option, str(one)]
    return words


def reading_of(options: Mapping[str, Any], folder: Path) -> Reading:
    """The same options for reading within this process; files are looked for in a folder."""
    said = dict(options)
    if "labels" in said:
        said["labels"] = folder / said["labels"]
    return Reading(**said)
