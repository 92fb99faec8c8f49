"""The columns of a table of nodes as what they are: numbers are features, categories layers, the rest nothing."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from gramme._text import setting
from gramme.errors import DataError, FileFormatError, did_you_mean
from gramme.graph import MembershipLayer
from gramme.graph.columns import column_layer, settled
from gramme.graph.table import ROW_NUMBER_NAMES, says_nothing

from .cells import typed_column
from .headers import plain_word
from .parsed import Groups, Parsed, ReadOptions
from .source import decode, numbered_lines, read_bytes, tell
from .spreadsheet import PARQUET, column_texts, read_arrow, read_sheets
from .text import cells, quoted_fields, separator_of
from .values import is_whole, parse_number, tell_of_twins

# A table of nodes with their attributes: the label is one column, numeric columns may be features.
LABEL_COLUMN = "label"
NODE_WORDS = frozenset(
    ("node", "nodeid", "id", "name", "person", "personid", "actor", "ego", "vertex", "knoten", "nom", "nombre")
)  # fmt: skip
"""What a column with the names of nodes is called."""
_FEATURE_COLUMN = re.compile(r"feature[_ .:-]?\d+\Z", re.IGNORECASE)


_MASK = re.compile(r"(?<=.)_mask\Z", re.IGNORECASE)
#: How truth values are written.
TRUTH = {"yes": True, "no": False, "true": True, "false": False, "1": True, "0": False}


def is_feature_name(column: str) -> bool:
    """Whether a column is named like the features that gramme writes."""
    return _FEATURE_COLUMN.match(column) is not None


@dataclass
class AttributeTable:
    """Rows of text under a header; the first column names the node (or the layer)."""

    path: Path
    header: list[str]
    rows: list[list[str]] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    decimal_comma: bool = False

    def error(self, problem: str, line: int | None = None) -> FileFormatError:
        """What is wrong with the table, or on one of its lines."""
        return FileFormatError(problem, file=self.path, line=line)

    def has(self, column: str) -> bool:
        """Whether there is such a column."""
        return column in self.header

    def column(self, name: str) -> list[str]:
        """The cells of a column, or an error that suggests the nearest name."""
        if name not in self.header:
            raise DataError(f"{self.path} has no column {name!r}; {did_you_mean(name, self.header)}")
        place = self.header.index(name)
        return [row[place] for row in self.rows]

    def names(self, column: str | None = None) -> list[str]:
        """The cells of the first (or another) column, which must be filled and distinct."""
        column = self.header[0] if column is None else column
        names = self.column(column)
        first_line: dict[str, int] = {}
        for name, line in zip(names, self.lines, strict=True):
            problem = "" if name else f"the {column or 'name'} is missing"
            if name in first_line:
                problem = f"{name!r} is here for the second time, after line {first_line[name]}"
            if problem and len(self.header) > 1:
                shown = f"the column {column!r}" if column else "the first column"
                problem += f"; {shown} is taken for the names, {setting('id')} chooses another"
            if problem:
                raise FileFormatError(problem, file=self.path, line=line)
            first_line[name] = line
        return names

    def labels(self, nodes: Sequence[str], column: str | None) -> dict[str, str] | None:
        """The label of each node, empty cells left out; None without a column of labels."""
        if column is None and not self.has(LABEL_COLUMN):
            return None
        found = self.column(column or LABEL_COLUMN)
        return {node: label for node, label in zip(nodes, found, strict=True) if label}


def read_attributes(path: Path, encoding: str, separator: str | None = None) -> AttributeTable:
    """A table with a header, by comma, tab or white space (with quotes), Parquet, or Excel's first sheet."""
    if path.suffix.lower() in PARQUET:
        table = read_arrow(path)
        if not table.column_names:
            raise FileFormatError("the table has no columns", file=path)
        columns = [column_texts(table, name, path, empty=True) for name in table.column_names]
        rows = [list(row) for row in zip(*columns, strict=True)]
        return AttributeTable(path, table.column_names, rows, list(range(1, len(rows) + 1)))
    if path.suffix.lower() == ".xlsx":
        rows = next(iter(read_sheets(path).values()))
        return tabled(enumerate(rows, start=1), path)
    text = decode(read_bytes(path), path, encoding)
    return parse_attributes(text, path, separator or separator_of(path, text))


def parse_attributes(text: str, path: Path, separator: str) -> AttributeTable:
    """A table with a header from its text; every row has as many cells as the header."""
    lines: Iterator[tuple[int, list[str]]]
    if separator == " ":
        lines = ((line, quoted_fields(row)) for line, row in numbered_lines(text))
    else:
        lines = cells(text, separator, path)
    return tabled(lines, path, decimal_comma=separator == ";")


def tabled(lines: Iterable[tuple[int, list[str]]], path: Path, *, decimal_comma: bool = False) -> AttributeTable:
    """A table from its rows, the header first."""
    table: AttributeTable | None = None
    for line, row in lines:
        if table is None:
            row = [cell.strip() for cell in row]
            if len(set(row)) != len(row):
                raise FileFormatError("a column is named twice in the header", file=path, line=line)
            table = AttributeTable(path, row, decimal_comma=decimal_comma)
            continue
        if not table.rows and len(row) == len(table.header) + 1 and "" not in table.header:
            table.header.insert(0, "")  # R's write.table gives the names of rows no name
        if len(row) != len(table.header):
            raise FileFormatError(
                f"there are {len(row)} cells, but the header names {len(table.header)} columns: "
                f"{', '.join(table.header)[:100]}",
                file=path,
                line=line,
            )
        table.rows.append(row)
        table.lines.append(line)
    if table is None:
        raise FileFormatError("the file is blank; its first line must be a header", file=path)
    return table


def node_column(table: AttributeTable, known: Collection[str], taken: Collection[str | None] = ()) -> str | None:
    """The column that names the nodes: of those whose cells all differ, the one with the most nodes of the graph.

    Row numbers, as R and pandas write them beside a table, count only where no other column names nodes. Between equals
    a column called like names of nodes wins, ``node`` before all; None where no column has nodes in most rows.
    """
    ranks: dict[str, tuple[int, ...]] = {}
    for place, name in enumerate(table.header):
        values = [row[place] for row in table.rows]
        nodes_met = sum(value in known for value in values)
        word = plain_word(name)
        distinct = len(set(values)) == len(values)
        if name in taken or is_feature_name(name) or 2 * nodes_met <= len(values):
            continue
        if distinct or word in NODE_WORDS:
            called = 3 if word in ("node", "nodeid") else 2 if word in NODE_WORDS else bool(word)
            ranks[name] = (distinct, not _are_row_numbers(name, values), nodes_met, called)
    best = [name for name, rank in ranks.items() if rank == max(ranks.values())]
    if len(best) > 1:
        raise FileFormatError(
            f"the columns {' and '.join(map(repr, best[:2]))} could both name the nodes; say which one does with "
            f"{setting('id')}",
            file=table.path,
        )
    return best[0] if best else None


def _are_row_numbers(name: str, values: Sequence[str]) -> bool:
    """Whether a column may be the row numbers that R and pandas write: without a name of its own, and whole numbers."""
    return name.strip().lower() in ROW_NUMBER_NAMES - NODE_WORDS and all(map(is_whole, values))


def name_column(table: AttributeTable, known: Collection[str], options: ReadOptions) -> str:
    """The column that names the nodes (:func:`node_column`, else the first), which is said unless it is ``node``."""
    if options.id is not None:
        return options.id
    found = node_column(table, known, (options.label or LABEL_COLUMN,))
    chosen = table.header[0] if found is None else found
    if chosen == "node" or not table.rows:
        return chosen
    if _are_row_numbers(chosen, table.column(chosen)):
        tell(
            f"{table.path.name}: the row numbers are taken as names of the nodes, since no other column names them; "
            f"say {setting('id')} if one does",
            doubt=True,
        )
    else:
        shown = f"the column {chosen!r}" if chosen else "the first column, which has no name,"
        tell(f"{table.path.name}: {shown} names the nodes")
    return chosen


MAX_FEATURE_CATEGORIES = 50
"""Categories that still become features of 0 and 1 where that is asked for."""


@dataclass
class NodeColumns:
    """What the columns of a table say about its rows: features with a row each, groups by layer, nodes by mask."""

    features: NDArray[np.float64] | None = None
    groups: dict[str, Groups] = field(default_factory=dict)
    masks: dict[str, list[str]] = field(default_factory=dict)
    mask_columns: set[str] = field(default_factory=set)


def node_columns(
    table: AttributeTable, nodes: Sequence[str], taken: Collection[str], options: ReadOptions
) -> NodeColumns:
    """The columns that are neither the name nor the label.

    Columns named like ``feature_1``, as gramme writes them, are features as they stand, and those named like
    ``train_mask`` with truth values in them are masks. Where the user names columns,
    no others are used.
    """
    chosen = _chosen(table, set(taken), options)
    made = NodeColumns()
    for name in table.header:
        cells_of_mask = [cell.strip().lower() for cell in table.column(name)] if _MASK.search(name) else ["no mask"]
        if name not in taken and chosen.get(name) is None and set(cells_of_mask) <= TRUTH.keys():
            mask = _MASK.sub("", name)
            made.masks[mask] = [node for node, cell in zip(nodes, cells_of_mask, strict=True) if TRUTH[cell]]
            tell(f"{table.path.name}: {name!r} is the mask {mask!r}, of {len(made.masks[mask]):,} nodes")
            made.mask_columns.add(name)
            chosen.pop(name, None)
    matrix: list[NDArray[np.float64]] = []
    for name, role in chosen.items():
        if role != "layer" and is_feature_name(name):
            matrix.append(_plain_numbers(table, name))
            continue
        series = typed_column(
            pd.Series(table.column(name), dtype=object), name, options.marks, decimal_comma=table.decimal_comma
        )
        useless = says_nothing(series.rename(name))
        if useless is not None and role is None:
            tell(f"{table.path.name}: {name!r} is not used, {useless}")
            continue
        number = pd.api.types.is_numeric_dtype(series.dtype)
        if role == "feature" or (role is None and number):
            matrix.append(_as_features(table, name, series))
        else:
            made.groups[name] = _as_groups(table, name, series, nodes)
    if matrix:
        made.features = np.hstack(matrix)
    return made


def take_columns(parsed: Parsed, table: AttributeTable, taken: Collection[str], options: ReadOptions) -> NodeColumns:
    """Add what the columns of a table of all nodes say."""
    made = node_columns(table, parsed.nodes or (), taken, options)
    parsed.features, parsed.node_groups, parsed.masks = made.features, made.groups, made.masks
    return made


def _plain_numbers(table: AttributeTable, name: str) -> NDArray[np.float64]:
    column = np.empty((len(table.rows), 1))
    for row, (text, line) in enumerate(zip(table.column(name), table.lines, strict=True)):
        try:
            column[row] = parse_number(text.strip())
        except ValueError as error:
            problem = f"the feature {name!r}: {error} ({setting('features')} chooses the columns)"
            raise FileFormatError(problem, file=table.path, line=line or None) from None
    return column


def _chosen(table: AttributeTable, taken: Collection[str], options: ReadOptions) -> dict[str, str | None]:
    """The columns to use and what the user wants them to be, None if that is left to their values."""
    asked: dict[str, str | None] = {}
    for names, role in ((options.columns, None), (options.features, "feature"), (options.layers_from, "layer")):
        for name in [names] if isinstance(names, str) else names or ():
            if name not in table.header:
                raise DataError(f"{table.path} has no column {name!r}; {did_you_mean(name, table.header)}")
            if name in taken and role is not None:
                raise DataError(f"the column {name!r} is the label or the name of the nodes, so it can be no {role}")
            if name in taken:
                continue
            if asked.get(name) is not None and role is not None:
                raise DataError(f"the column {name!r} cannot be both a feature and a layer")
            asked[name] = role
    if asked or any(one is not None for one in (options.columns, options.features, options.layers_from)):
        return asked
    reasons = {"why", "stands_for"}  # what gramme ask says of those it chose is no attribute of theirs
    skipped = reasons if reasons <= set(table.header) else ()
    return {name: None for name in table.header if name not in taken and name not in skipped}


def _as_features(table: AttributeTable, name: str, series: pd.Series) -> NDArray[np.float64]:
    if pd.api.types.is_datetime64_any_dtype(series.dtype):
        years = 1970 + series.astype("datetime64[ns]").astype("int64") / (365.2425 * 86_400e9)
        series = years.where(series.notna())
    if pd.api.types.is_numeric_dtype(series.dtype):
        missing = series.isna()
        if missing.all():
            raise table.error(f"the feature {name!r} has no value")
        filled = series.fillna(series.median()).to_numpy(dtype=np.float64)
        gaps = f"; {int(missing.sum())} unknown, filled with the median" if missing.any() else ""
        tell(f"{table.path.name}: {name!r} is a feature, a number{gaps}")
        return filled[:, None]
    found = series.cat.remove_unused_categories().cat.categories
    if len(found) > MAX_FEATURE_CATEGORIES:
        raise FileFormatError(
            f"the feature {name!r} has {len(found)} different values, too many for a feature each; "
            f"{setting('layers_from', [name])} makes a layer of them",
            file=table.path,
        )
    tell(f"{table.path.name}: {name!r} is {len(found)} features, one per value")
    return np.stack([(series == value).to_numpy(dtype=np.float64) for value in found], axis=1)


def _as_groups(table: AttributeTable, name: str, series: pd.Series, nodes: Sequence[str]) -> Groups:
    layer = column_layer(series)
    assert isinstance(layer, MembershipLayer)
    way, unit = settled(series)
    by = f", dates by {unit}" if way == "dates" else ""
    names = [str(group) for group in layer.group_names]
    tell_of_twins(names, f"values of {name!r}", "groups")
    absent = int((~layer.present).sum())
    gaps = f"; {absent} unknown, in none of them" if absent else ""
    tell(
        f"{table.path.name}: {name!r} is a layer of {len(names)} groups{by}{gaps} "
        f"({setting('features', [name])} makes it features)"
    )
    return Groups([nodes[row] for row in layer.node.tolist()], [names[group] for group in layer.group.tolist()])
