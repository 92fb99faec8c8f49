"""What each file and column of the user's data is: guessed (``io/guesses``), changed on the page, said as options.

A plan is a list of files with a role each, and roles of their columns:

- ``edges``: a file of ties, in any format that gramme reads; several become a layer each.
- ``kinds``: a table whose rows join two kinds of thing, such as a paper and its author (``--relation``).
- ``nodes``: a table with a row per person or thing. Beside other files it describes their nodes (``--labels``), alone
  it is the data (``--table``).
- ``leave out``: nothing.

The plan becomes the options of the command line, so that whatever the app reads, the command line reads too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gramme.cli.options import Reading
from gramme.errors import DataError
from gramme.io.guesses import FileGuess, edge_roles
from gramme.io.plain_table import ENDINGS

FILE_ROLES: tuple[str, ...] = ("edges", "kinds", "nodes", "leave out")
ROLES = {
    "table": ("layer", "label", "number", "id", "leave out"),
    "nodes": ("feature", "layer", "label", "number", "id", "leave out"),
    "edges": ("source", "target", "weight", "layer", "leave out"),
    "kinds": ("kind to label", "other kind", "leave out"),
}
"""What a column may be of a table that is the data by itself, of one that describes nodes, and of files that join them.

A label is a class, or a number."""
_EDGE_OPTIONS = {"source": "source_column", "target": "target_column", "weight": "weight", "layer": "layer_column"}
"""The fields of ``Reading`` that name columns of ties, by role."""


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

    @property
    def edges(self) -> list[FilePlan]:
        """The files of ties."""
        return [file for file in self.files if file.role == "edges"]

    @property
    def kinds(self) -> list[FilePlan]:
        """The files that join two kinds of thing."""
        return [file for file in self.files if file.role == "kinds"]

    @property
    def predicts_numbers(self) -> bool:
        """Whether the labels are numbers, and not classes."""
        return self.nodes is not None and self.nodes.only("number") is not None

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
        return not self.edges and not self.kinds and self.nodes is not None

    def data(self) -> list[str]:
        """The files that are the data, not what is said about the nodes."""
        nodes, names = self.nodes, [file.name for file in (*self.edges, *self.kinds)]
        if not names and nodes is not None:
            names = [nodes.name]
        if not names:
            raise DataError("every file is left out; give one a role")
        return names

    def words(self, options: Mapping[str, Any], place: str = "") -> list[str]:
        """DATA and options as words of the command line; the files are in a folder."""
        data = [] if self.kinds else [f"{place}{name}" for name in self.data()]
        return [*data, *option_words(_located(options, place))]

    def options(self) -> dict[str, Any]:
        """How the data are read before the project has labels of its own: fields of ``Reading`` and their values.

        ``labels`` is the name of a file beside the data.
        """
        nodes = self.nodes
        if nodes is None:
            return self._edge_options()
        said: dict[str, Any] = {"label": self.label_column(), "id": nodes.only("id")}
        if self.predicts_numbers:
            said["label_kind"] = "number"
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
        others = [*nodes.having("feature"), *nodes.having("layer")]
        name = nodes.only("id") or _free("node", others)
        return [name, self.label_column() or _free("label", [*others, name]), *others]

    def label_column(self) -> str | None:
        """The column of the table of nodes that holds the labels, classes or numbers; None if there is none."""
        if self.nodes is None:
            return None
        label, number = self.nodes.only("label"), self.nodes.only("number")
        if label and number:
            raise DataError(f"{self.nodes.name}: {label!r} and {number!r} cannot both be predicted; choose one")
        return label or number

    def _edge_options(self) -> dict[str, Any]:
        """Which column of the files is what, where that differs from how they are read by themselves."""
        if self.kinds:
            return self._kinds_options()
        said: dict[str, Any] = {}
        for file in self.edges:
            if dict(file.columns) == edge_roles(list(file.columns)):
                continue  # as it is read anyway
            for role, option in _EDGE_OPTIONS.items():
                column = file.only(role)
                if column is None:
                    continue
                if said.get(option, column) != column:
                    raise DataError(f"{file.name}: the {role} must have the same column in all files of ties")
                said[option] = column
        return said

    def _kinds_options(self) -> dict[str, Any]:
        """The kinds that each file joins, named like its columns, and the one to label."""
        if self.edges:
            raise DataError(f"{self.edges[0].name} and {self.kinds[0].name} cannot be read together; leave one out")
        relations, targets = [], set()
        for file in self.kinds:
            joined = [column for column, role in file.columns.items() if role in ("kind to label", "other kind")]
            if len(joined) != 2:
                raise DataError(f"{file.name}: choose the two columns that name the kinds of thing")
            if any(set(column) & set(":=") for column in joined):
                raise DataError(f"{file.name}: the name of a kind cannot have : or = in it; rename the column")
            relations.append(f"{':'.join(joined)}={file.name}")
            targets |= set(file.having("kind to label"))
        if len(targets) != 1:
            raise DataError("choose one column as the kind to label")
        return {"relation": relations, "target": targets.pop()}


def _located(options: Mapping[str, Any], place: str) -> dict[str, Any]:
    """The options with the files of relations in a folder."""
    relations = [one.replace("=", f"={place}", 1) for one in options.get("relation", ())]
    return dict(options) | ({"relation": relations} if relations else {})


def _free(name: str, taken: Sequence[str]) -> str:
    while name in taken:
        name += "_"
    return name


_SPELLED = {"is_table": "--table", "source_column": "--source"}


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
    said = _located(options, f"{folder}/")
    if "labels" in said:
        said["labels"] = folder / said["labels"]
    if "target" in said:
        said["target_kind"] = said.pop("target")
    return Reading(**said)
