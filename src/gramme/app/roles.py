"""What each file and column of the user's data is: guessed (``io/guesses``), changed on the page, said as options.

A plan is a list of files with a role each, and roles of their columns:

- ``edges``: a file of ties, in any format that gramme reads; several become a layer each.
- ``nodes``: a table with a row per person or thing. Beside files of ties it describes their nodes (``--labels``), alone
  it is the data (``--table``).
- ``leave out``: nothing.

The plan becomes the options of the command line, so that whatever the app reads, the command line reads too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from gramme.cli.options import Reading
from gramme.errors import DataError
from gramme.io.guesses import FileGuess, edge_roles
from gramme.io.plain_table import ENDINGS

FILE_ROLES: tuple[str, ...] = ("edges", "nodes", "leave out")
ROLES = {"table": ("layer", "label", "id", "leave out"), "nodes": ("feature", "layer", "label", "id", "leave out")}
"""What a column may be of a table that is the data by itself, and of one that describes the nodes of files of ties."""
EDGE_ROLES = ("source", "target", "weight", "layer", "leave out")
"""What a column of a file of ties may be."""


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
        if not isinstance(columns, dict) or not all(isinstance(text, str) for pair in columns.items() for text in pair):
            raise DataError(f"{record['name']}: columns must be names and roles")
        return cls(record["name"], role, dict(columns))

    def having(self, role: str) -> list[str]:
        """The columns with a role, in the order of the file."""
        return [column for column, given in self.columns.items() if given == role]

    def only(self, role: str) -> str | None:
        """The one column with a role, None if there is none; an error if there are several."""
        found = self.having(role)
        if len(found) > 1:
            raise DataError(f"{self.name}: {', '.join(map(repr, found))} cannot all be the {role}; choose one")
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
        roles = [{column.name: column.role for column in one.columns} for one in guesses]
        files = zip(guesses, roles, strict=True)
        return cls(tuple(FilePlan(one.name, one.role, columns) for one, columns in files))

    def as_records(self) -> list[dict[str, Any]]:
        """Plain values, for JSON."""
        return [asdict(file) for file in self.files]

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
            raise DataError(f"only one file can describe the nodes, not {names}; leave out the rest")
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
            # a column of labels in a table is no layer, since the layers are named
            return {key: value for key, value in said.items() if key != "label"} | {"labels": labels}
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
            if dict(file.columns) == edge_roles(list(file.columns)):
                continue  # as it is read anyway
            for role, option in edge_options().items():
                column = file.only(role)
                if column is None:
                    continue
                if said.get(option, column) != column:
                    raise DataError(f"{file.name}: the {role} must have the same column in all files of ties")
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
    return {role: name for role, name in found.items() if name is not None} if found["source"] else {}


_SPELLED = {"is_table": "--table", "source_format": "--from", "source_column": "--source"}


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
