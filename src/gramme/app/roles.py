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
        return [column for column, column_role in self.columns.items() if column_role == role]

    def only(self, role: str) -> str | None:
        """The one column with a role, None if there is none; an error if there are several."""
        role_columns = self.having(role)
        if len(role_columns) > 1:
            raise DataError(f"{self.name}: {', '.join(map(repr, role_columns))} cannot all be the {role}; choose one")
        return role_columns[0] if role_columns else None


@dataclass(frozen=True)
class Plan:
    """All files with their roles, and what follows from them for reading."""

    files: tuple[FilePlan, ...]

    @classmethod
    def from_records(cls, records: Any) -> Plan:
        if not isinstance(records, list) or not records:
            raise DataError("there is no file to read; add one")
        plan = cls(tuple(map(FilePlan.from_record, records)))
        file_names = [file.name for file in plan.files]
        if len(set(file_names)) < len(file_names):
            raise DataError("a file is named twice")
        return plan

    @classmethod
    def of_guesses(cls, guesses: Sequence[FileGuess]) -> Plan:
        roles_by_file = [{column.name: column.role for column in guess.columns} for guess in guesses]
        guessed_files = zip(guesses, roles_by_file, strict=True)
        return cls(tuple(FilePlan(guess.name, guess.role, column_roles) for guess, column_roles in guessed_files))

    @property
    def edges(self) -> list[FilePlan]:
        return [file for file in self.files if file.role == "edges"]

    @property
    def kinds(self) -> list[FilePlan]:
        """The files that join two kinds of thing."""
        return [file for file in self.files if file.role == "kinds"]

    @property
    def predicts_numbers(self) -> bool:
        return self.nodes is not None and self.nodes.only("number") is not None

    @property
    def nodes(self) -> FilePlan | None:
        node_files = [file for file in self.files if file.role == "nodes"]
        if len(node_files) > 1:
            file_names = ", ".join(file.name for file in node_files)
            raise DataError(f"only one file can describe the nodes, not {file_names}; leave out the rest")
        return node_files[0] if node_files else None

    @property
    def is_table(self) -> bool:
        return not self.edges and not self.kinds and self.nodes is not None

    def data(self) -> list[str]:
        """The files that are the data, not what is said about the nodes."""
        node_file, data_names = self.nodes, [file.name for file in (*self.edges, *self.kinds)]
        if not data_names and node_file is not None:
            data_names = [node_file.name]
        if not data_names:
            raise DataError("every file is left out; give one a role")
        return data_names

    def words(self, options: Mapping[str, Any], place: str = "") -> list[str]:
        """DATA and options as words of the command line; the files are in a folder."""
        data_words = [] if self.kinds else [f"{place}{name}" for name in self.data()]
        return [*data_words, *option_words(_located(options, place))]

    def options(self) -> dict[str, Any]:
        """How the data are read before the project has labels of its own: fields of ``Reading`` and their values.

        ``labels`` is the name of a file beside the data.
        """
        node_file = self.nodes
        if node_file is None:
            return self._edge_options()
        reading_options: dict[str, Any] = {"label": self.label_column(), "id": node_file.only("id")}
        if self.predicts_numbers:
            reading_options["label_kind"] = "number"
        if self.is_table and not node_file.name.lower().endswith(ENDINGS):
            raise DataError(f"{node_file.name} has labels alone; add a file of ties")
        if self.is_table:
            layer_columns = node_file.having("layer")
            if node_file.columns and not layer_columns:
                raise DataError(f"{node_file.name}: no column is a layer, so nothing joins its rows")
            reading_options |= {"is_table": True, "columns": layer_columns}
        else:
            reading_options |= self._edge_options() | {"labels": node_file.name}
            reading_options |= {"features": node_file.having("feature"), "layers_from": node_file.having("layer")}
        return {option_name: value for option_name, value in reading_options.items() if value not in (None, [])}

    def options_with_labels(self, labels: str) -> dict[str, Any]:
        """The same with the project's own file of labels, as :meth:`labels_header` lays it out."""
        reading_options = self.options()
        node_file = self.nodes
        if node_file is None or self.is_table:
            # a column of labels in a table is no layer, since the layers are named
            reading_options.pop("label", None)
            return reading_options | {"labels": labels}
        header = self.labels_header()
        return reading_options | {"labels": labels, "id": header[0], "label": header[1]}

    def labels_header(self) -> list[str]:
        """The columns of the project's file of labels: node, label, then the columns that describe the nodes."""
        node_file = self.nodes
        if node_file is None or self.is_table:
            return ["node", "label"]
        other_columns = [*node_file.having("feature"), *node_file.having("layer")]
        id_column = node_file.only("id") or _free("node", other_columns)
        return [id_column, self.label_column() or _free("label", [*other_columns, id_column]), *other_columns]

    def label_column(self) -> str | None:
        """The column of the table of nodes that holds the labels, classes or numbers; None if there is none."""
        if self.nodes is None:
            return None
        class_column, number_column = self.nodes.only("label"), self.nodes.only("number")
        if class_column and number_column:
            columns = f"{class_column!r} and {number_column!r}"
            raise DataError(f"{self.nodes.name}: {columns} cannot both be predicted; choose one")
        return class_column or number_column

    def _edge_options(self) -> dict[str, Any]:
        """Which column of the files is what, where that differs from how they are read by themselves."""
        if self.kinds:
            return self._kinds_options()
        edge_options: dict[str, Any] = {}
        for file in self.edges:
            if dict(file.columns) == edge_roles(list(file.columns)):
                continue  # as it is read anyway
            for role, option in _EDGE_OPTIONS.items():
                column = file.only(role)
                if column is None:
                    continue
                if edge_options.get(option, column) != column:
                    raise DataError(f"{file.name}: the {role} must have the same column in all files of ties")
                edge_options[option] = column
        return edge_options

    def _kinds_options(self) -> dict[str, Any]:
        """The kinds that each file joins, named like its columns, and the one to label."""
        if self.edges:
            raise DataError(f"{self.edges[0].name} and {self.kinds[0].name} cannot be read together; leave one out")
        relations, target_kinds = [], set()
        for file in self.kinds:
            kind_columns = [column for column, role in file.columns.items() if role in ("kind to label", "other kind")]
            if len(kind_columns) != 2:
                raise DataError(f"{file.name}: choose the two columns that name the kinds of thing")
            if any(set(column) & set(":=") for column in kind_columns):
                raise DataError(f"{file.name}: the name of a kind cannot have : or = in it; rename the column")
            relations.append(f"{':'.join(kind_columns)}={file.name}")
            target_kinds |= set(file.having("kind to label"))
        if len(target_kinds) != 1:
            raise DataError("choose one column as the kind to label")
        return {"relation": relations, "target": target_kinds.pop()}


def _located(options: Mapping[str, Any], place: str) -> dict[str, Any]:
    """The options with the files of relations in a folder."""
    located_relations = [relation_text.replace("=", f"={place}", 1) for relation_text in options.get("relation", ())]
    return dict(options) | ({"relation": located_relations} if located_relations else {})


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
    command_words: list[str] = []
    for option_name, value in options.items():
        option = _SPELLED.get(option_name, f"--{option_name.replace('_', '-')}")
        if value is True:
            command_words.append(option)
        else:
            for option_value in value if isinstance(value, list) else [value]:
                # a name that begins like an option must not pass for one
                command_words += (
                    [f"{option}={option_value}"] if str(option_value).startswith("-") else [option, str(option_value)]
                )
    return command_words


def reading_of(options: Mapping[str, Any], folder: Path) -> Reading:
    """The same options for reading within this process; files are looked for in a folder."""
    located_options = _located(options, f"{folder}/")
    if "labels" in located_options:
        located_options["labels"] = folder / located_options["labels"]
    if "target" in located_options:
        located_options["target_kind"] = located_options.pop("target")
    return Reading(**located_options)
