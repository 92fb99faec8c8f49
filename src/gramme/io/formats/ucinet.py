"""UCINET's DL files: full matrices, half matrices, lists of edges or of neighbours, with several relations.

A file of one mode has ``n`` nodes; one of two modes has ``nr`` rows and ``nc`` columns and becomes membership layers.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gramme.errors import FileFormatError
from gramme.io.assemble import joined
from gramme.io.matrix_rows import Matrix, matrix_layer
from gramme.io.parsed import Groups, Parsed, ReadOptions, RowCollector
from gramme.io.source import check_declared, numbered_lines, read_text

NAME = "ucinet"
_DATA = re.compile(r"^\s*data\s*:", re.IGNORECASE | re.MULTILINE)
_LABELS = re.compile(r"\b(row|column|col|matrix|level)?\s*labels\s*(:|embedded)", re.IGNORECASE)
_SETTING = re.compile(r"\b(n|nr|nc|nm|format|diagonal)\s*=\s*(\w+)", re.IGNORECASE)
_TOKEN = re.compile(r'"([^"]*)"|([^,\s]+)')
_FORMATS = ("fullmatrix", "lowerhalf", "upperhalf", "edgelist1", "edgelist2", "nodelist1", "nodelist2")


@dataclass
class _Header:
    settings: dict[str, str] = field(default_factory=dict)
    labels: dict[str, list[str]] = field(default_factory=dict)
    embedded: set[str] = field(default_factory=set)

    def number(self, key: str, path: Path, size: int) -> int | None:
        text = self.settings.get(key)
        if text is None:
            return None
        if not text.isdecimal() or len(text) > 12:
            raise FileFormatError(f"{key} must be a whole number, not {text[:40]!r}", file=path, line=1)
        check_declared(int(text), "nodes or relations", size, path, 1)
        return int(text)


def read(path: Path, options: ReadOptions) -> Parsed:
    """The graph of a DL file."""
    file_text = read_text(path, options.encoding)
    start = re.match(r"\s*dl\b", file_text, re.IGNORECASE)
    data = _DATA.search(file_text)
    if start is None or data is None:
        raise FileFormatError("a DL file starts with 'dl' and has a line 'data:'", file=path, line=1)
    header = _header(file_text[start.end() : data.start()])
    first_line = file_text.count("\n", 0, data.end()) + 1
    file_lines = [
        (first_line + number - 1, _tokens(line_number))
        for number, line_number in numbered_lines(file_text[data.end() :])
    ]
    matrix_format = header.settings.get("format", "fullmatrix").lower()
    if matrix_format not in _FORMATS:
        raise FileFormatError(
            f"the format {matrix_format[:40]!r} of a DL file is not known; known: {', '.join(_FORMATS)}", file=path
        )
    return _Reader(path, header, file_lines, len(file_text)).parsed(matrix_format)


def _tokens(line: str) -> list[str]:
    return [quoted or bare for quoted, bare in _TOKEN.findall(line)]


def _header(text: str) -> _Header:
    dl_header = _Header()
    places = list(_LABELS.finditer(text))
    label_ends = [label_match.start() for label_match in places[1:]] + [len(text)]
    for match, end in zip(places, label_ends, strict=False):
        word = (match[1] or "row").lower()
        which = {"col": "column", "level": "matrix"}.get(word, word)
        if match[2] == ":":
            dl_header.labels[which] = _tokens(_SETTING.sub("", text[match.end() : end]))
        else:
            dl_header.embedded.add(which)
            if match[1] is None:
                dl_header.embedded.add("column")
    settings = text[: places[0].start()] if places else text
    for setting_name, value in _SETTING.findall(settings):
        dl_header.settings[setting_name.lower()] = value
    return dl_header


class _Reader:
    def __init__(self, path: Path, header: _Header, lines: list[tuple[int, list[str]]], size: int) -> None:
        self.path, self.header, self.lines, self.size = path, header, lines, size
        num_nodes = header.number("n", path, size)
        table_rows = header.number("nr", path, size) if num_nodes is None else num_nodes
        table_columns = header.number("nc", path, size) if num_nodes is None else num_nodes
        if table_rows is None or table_columns is None:
            raise FileFormatError("a DL file states n=..., or nr=... and nc=...", file=path, line=1)
        self.rows, self.columns = table_rows, table_columns
        self.two_modes = num_nodes is None
        self._sets: dict[str, set[str]] = {}
        self.matrices = header.number("nm", path, size) or 1

    def error(self, problem: str, line: int | None = None) -> FileFormatError:
        return FileFormatError(problem, file=self.path, line=line)

    def names(self, which: str, count: int) -> list[str]:
        """The labels of rows, columns or matrices; numbers from 1 where there are none."""
        label_names = self.header.labels.get(which)
        if label_names is None and which == "column" and not self.two_modes:
            label_names = self.header.labels.get("row")
        if not label_names:
            return [str(node_number) for node_number in range(1, count + 1)]
        if len(label_names) != count or len(set(label_names)) != count:
            raise self.error(f"there are {len(set(label_names))} different {which} labels for {count}")
        return label_names

    def parsed(self, kind: str) -> Parsed:
        if kind in ("edgelist1", "nodelist1", "edgelist2", "nodelist2"):
            return self._lists(kind)
        layer_names = self.layers()
        parsed_by_layer = {
            layer_name: matrix_layer(matrix, layer_name)
            for layer_name, matrix in zip(layer_names, self._full(kind), strict=True)
        }
        return joined(parsed_by_layer) if len(parsed_by_layer) > 1 else next(iter(parsed_by_layer.values()))

    def layers(self) -> list[str]:
        """The names of the relations; a single one without a name is called like the file."""
        if self.matrices == 1 and not self.header.labels.get("matrix"):
            return [self.path.stem]
        return self.names("matrix", self.matrices)

    def _full(self, kind: str) -> list[Matrix]:
        """One matrix after the other, from all numbers in the order they stand."""
        table_rows, table_columns = self.names("row", self.rows), self.names("column", self.columns)
        file_lines = list(self.lines)
        if "column" in self.header.embedded and file_lines:
            table_columns = file_lines.pop(0)[1]
        cells: list[str] = []
        embedded: list[str] = []
        for _, tokens in file_lines:
            if "column" in self.header.embedded and tokens == table_columns:
                continue  # each further matrix may begin with the names again
            if "row" in self.header.embedded and tokens:
                embedded.append(tokens[0])
                tokens = tokens[1:]
            cells += tokens
        if "row" in self.header.embedded:
            table_rows = embedded[: self.rows]
        if len(set(table_rows)) != self.rows or len(set(table_columns)) != self.columns:
            raise self.error(f"the labels do not tell {self.rows} rows and {self.columns} columns apart")
        return [
            Matrix(self.path, matrix_values, list(table_rows), list(table_columns), [1] * len(table_rows))
            for matrix_values in self._blocks(cells, kind)
        ]

    def _blocks(self, cells: list[str], kind: str) -> list[NDArray[np.float64]]:
        n = self.rows
        no_diagonal = self.header.settings.get("diagonal", "").lower() == "absent"
        if kind != "fullmatrix" and self.two_modes:
            raise self.error(f"the format {kind} is for one mode, n=...")
        if kind == "fullmatrix":
            each = n * self.columns - (n if no_diagonal else 0)
        else:
            each = n * (n - 1) // 2 if no_diagonal else n * (n + 1) // 2
        if len(cells) != each * self.matrices:
            raise self.error(f"there are {len(cells)} numbers, but {each * self.matrices} are needed")
        try:
            numbers = np.array([float(cell_content) for cell_content in cells]).reshape(self.matrices, each)
        except ValueError as error:
            raise self.error(f"the matrix holds something that is not a number: {error}") from None
        if not np.isfinite(numbers).all() or (numbers < 0).any():
            raise self.error("ties are 0 or positive numbers")
        matrix_list = []
        for block in numbers:
            matrix_values = np.zeros((n, self.columns))
            if kind == "fullmatrix":
                where = ~np.eye(n, self.columns, dtype=bool) if no_diagonal else np.ones_like(matrix_values, bool)
                matrix_values[where] = block
            else:
                part = np.tril_indices(n, -1 if no_diagonal else 0)
                if kind == "upperhalf":
                    part = np.triu_indices(n, 1 if no_diagonal else 0)
                matrix_values[part] = block
                matrix_values = np.maximum(matrix_values, matrix_values.T)
            matrix_list.append(matrix_values)
        return matrix_list

    def _lists(self, kind: str) -> Parsed:
        """Lists of edges, or of each node with those it names; a line with ``!`` begins the next relation."""
        layer_names = self.layers()
        collector = RowCollector(self.path)
        layer_groups = {layer_name: Groups(all_present=True) for layer_name in layer_names}
        number = 0
        met: dict[str, None] = {}
        for line_number, tokens in self.lines:
            if tokens and tokens[0].startswith("!"):
                number += 1
                continue
            if number >= len(layer_names):
                raise self.error(f"a relation more than nm={len(layer_names)} says", line_number)
            if len(tokens) < 2:
                raise self.error("two names or more are needed here", line_number)
            edge_weight = None
            if kind.startswith("edgelist"):
                if len(tokens) > 3:
                    raise self.error(f"there are {len(tokens)} fields; 2 or 3 are needed", line_number)
                edge_weight = tokens[2] if len(tokens) == 3 else "1"
                tokens = tokens[:2]
            source = self._name(tokens[0], "row", self.rows, line_number)
            met[source] = None
            for token in tokens[1:]:
                other = self._name(token, "column", self.columns, line_number)
                if kind.endswith("2"):
                    layer_groups[layer_names[number]].nodes.append(source)
                    layer_groups[layer_names[number]].groups.append(other)
                else:
                    met[other] = None
                    collector.add(layer_names[number], source, other, edge_weight or "1", line_number)
        listed = self.header.labels.get("row")
        if listed is None and not self.header.embedded:
            listed = [str(node_position) for node_position in range(1, self.rows + 1)]
        node_names = list(dict.fromkeys((*(listed or ()), *met)))
        if len(node_names) > self.rows:
            raise self.error(f"{len(node_names)} nodes are named, but n={self.rows} says there are fewer")
        parsed = Parsed([self.path], collector.finish(), nodes=node_names, nodes_file=self.path)
        parsed.layers, parsed.ones_mean_unweighted = list(layer_names), True
        if kind.endswith("2"):
            parsed.groups = layer_groups
        else:
            parsed.directed = dict.fromkeys(layer_names, True)
        return parsed

    def _known(self, which: str, names: list[str]) -> set[str]:
        if which not in self._sets:
            self._sets[which] = set(names)
        return self._sets[which]

    def _name(self, token: str, which: str, count: int, line: int) -> str:
        """A node by its label, or by its number among the labels."""
        if which in self.header.embedded or "row" in self.header.embedded:
            return token
        node_names = self.header.labels.get(which)
        if node_names is None and not self.two_modes:
            node_names = self.header.labels.get("row")
        if token.isdecimal() and 1 <= int(token[:12]) <= count:
            node_position = int(token[:12])
            return node_names[node_position - 1] if node_names and node_position <= len(node_names) else token
        if node_names is not None and token in self._known(which, node_names):
            return token
        raise self.error(f"{token[:40]!r} is neither a label nor a number up to {count}", line)
