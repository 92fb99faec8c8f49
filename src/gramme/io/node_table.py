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
from .values import is_whole, parse_number, parse_weight, tell_of_twins

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

    def weight(self, text: str, line: int) -> float | None:
        """The weight in a cell, None for a blank one."""
        try:
            return parse_weight(text) if text else None
        except ValueError as error:
            raise self.error(str(error), line) from None

    def has(self, column: str) -> bool:
        """Whether there is such a column."""
        return column in self.header

    def column(self, name: str) -> list[str]:
        """The cells of a column, or an error that suggests the nearest name."""
        if name not in self.header:
            raise DataError(f"{self.path} has no column {name!r}; {did_you_mean(name, self.header)}")
        column_index = self.header.index(name)
        return [row_cells[column_index] for row_cells in self.rows]

    def names(self, column: str | None = None) -> list[str]:
        """The cells of the first (or another) column, which must be filled and distinct."""
        column = self.header[0] if column is None else column
        row_names = self.column(column)
        first_line: dict[str, int] = {}
        for row_name, line_number in zip(row_names, self.lines, strict=True):
            error_text = "" if row_name else f"the {column or 'name'} is missing"
            if row_name in first_line:
                error_text = f"{row_name!r} is here for the second time, after line {first_line[row_name]}"
            if error_text and len(self.header) > 1:
                shown = f"the column {column!r}" if column else "the first column"
                error_text += f"; {shown} is taken for the names, {setting('id')} chooses another"
            if error_text:
                raise FileFormatError(error_text, file=self.path, line=line_number)
            first_line[row_name] = line_number
        return row_names

    def labels(self, nodes: Sequence[str], column: str | None) -> dict[str, str] | None:
        """The label of each node, empty cells left out; None without a column of labels."""
        if column is None and not self.has(LABEL_COLUMN):
            return None
        column_cells = self.column(column or LABEL_COLUMN)
        return {node: node_label for node, node_label in zip(nodes, column_cells, strict=True) if node_label}


def read_attributes(path: Path, encoding: str, separator: str | None = None) -> AttributeTable:
    """A table with a header, by comma, tab or white space (with quotes), Parquet, or Excel's first sheet."""
    if path.suffix.lower() in PARQUET:
        arrow_table = read_arrow(path)
        if not arrow_table.column_names:
            raise FileFormatError("the table has no columns", file=path)
        table_columns = [
            column_texts(arrow_table, column_name, path, empty=True) for column_name in arrow_table.column_names
        ]
        table_rows = [list(row_cells) for row_cells in zip(*table_columns, strict=True)]
        return AttributeTable(path, arrow_table.column_names, table_rows, list(range(1, len(table_rows) + 1)))
    if path.suffix.lower() == ".xlsx":
        table_rows = next(iter(read_sheets(path).values()))
        return tabled(enumerate(table_rows, start=1), path)
    file_text = decode(read_bytes(path), path, encoding)
    return parse_attributes(file_text, path, separator or separator_of(path, file_text))


def parse_attributes(text: str, path: Path, separator: str) -> AttributeTable:
    """A table with a header from its text; every row has as many cells as the header."""
    lines: Iterator[tuple[int, list[str]]]
    if separator == " ":
        lines = ((line_number, quoted_fields(row_cells)) for line_number, row_cells in numbered_lines(text))
    else:
        lines = cells(text, separator, path)
    return tabled(lines, path, decimal_comma=separator == ";")


def tabled(lines: Iterable[tuple[int, list[str]]], path: Path, *, decimal_comma: bool = False) -> AttributeTable:
    """A table from its rows, the header first."""
    facts_table: AttributeTable | None = None
    for line_number, row_cells in lines:
        if facts_table is None:
            row_cells = [cell_content.strip() for cell_content in row_cells]
            if len(set(row_cells)) != len(row_cells):
                raise FileFormatError("a column is named twice in the header", file=path, line=line_number)
            facts_table = AttributeTable(path, row_cells, decimal_comma=decimal_comma)
            continue
        if not facts_table.rows and len(row_cells) == len(facts_table.header) + 1 and "" not in facts_table.header:
            facts_table.header.insert(0, "")  # R's write.table gives the names of rows no name
        if len(row_cells) != len(facts_table.header):
            raise FileFormatError(
                f"there are {len(row_cells)} cells, but the header names {len(facts_table.header)} columns: "
                f"{', '.join(facts_table.header)[:100]}",
                file=path,
                line=line_number,
            )
        facts_table.rows.append(row_cells)
        facts_table.lines.append(line_number)
    if facts_table is None:
        raise FileFormatError("the file is blank; its first line must be a header", file=path)
    return facts_table


def node_column(table: AttributeTable, known: Collection[str], taken: Collection[str | None] = ()) -> str | None:
    """The column that names the nodes: of those whose cells all differ, the one with the most nodes of the graph.

    Row numbers, as R and pandas write them beside a table, count only where no other column names nodes. Between equals
    a column called like names of nodes wins, ``node`` before all; None where no column has nodes in most rows.
    """
    ranks: dict[str, tuple[int, ...]] = {}
    for column_index, column_name in enumerate(table.header):
        column_values = [row_cells[column_index] for row_cells in table.rows]
        nodes_met = sum(cell_value in known for cell_value in column_values)
        word = plain_word(column_name)
        distinct = len(set(column_values)) == len(column_values)
        if column_name in taken or is_feature_name(column_name) or 2 * nodes_met <= len(column_values):
            continue
        if distinct or word in NODE_WORDS:
            called = 3 if word in ("node", "nodeid") else 2 if word in NODE_WORDS else bool(word)
            ranks[column_name] = (distinct, not _are_row_numbers(column_name, column_values), nodes_met, called)
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
    found_column = node_column(table, known, (options.label or LABEL_COLUMN,))
    chosen_column = table.header[0] if found_column is None else found_column
    if chosen_column == "node" or not table.rows:
        return chosen_column
    if _are_row_numbers(chosen_column, table.column(chosen_column)):
        tell(
            f"{table.path.name}: the row numbers are taken as names of the nodes, since no other column names them; "
            f"say {setting('id')} if one does",
            doubt=True,
        )
    else:
        shown = f"the column {chosen_column!r}" if chosen_column else "the first column, which has no name,"
        tell(f"{table.path.name}: {shown} names the nodes")
    return chosen_column


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
    column_roles = _chosen(table, set(taken), options)
    column_facts = NodeColumns()
    for column_name in table.header:
        cells_of_mask = (
            [cell_content.strip().lower() for cell_content in table.column(column_name)]
            if _MASK.search(column_name)
            else ["no mask"]
        )
        if column_name not in taken and column_roles.get(column_name) is None and set(cells_of_mask) <= TRUTH.keys():
            mask = _MASK.sub("", column_name)
            column_facts.masks[mask] = [
                node for node, cell_content in zip(nodes, cells_of_mask, strict=True) if TRUTH[cell_content]
            ]
            tell(f"{table.path.name}: {column_name!r} is the mask {mask!r}, of {len(column_facts.masks[mask]):,} nodes")
            column_facts.mask_columns.add(column_name)
            column_roles.pop(column_name, None)
    feature_matrix: list[NDArray[np.float64]] = []
    for column_name, column_role in column_roles.items():
        if column_role != "layer" and is_feature_name(column_name):
            feature_matrix.append(_plain_numbers(table, column_name))
            continue
        series = typed_column(
            pd.Series(table.column(column_name), dtype=object),
            column_name,
            options.marks,
            decimal_comma=table.decimal_comma,
        )
        useless = says_nothing(series.rename(column_name))
        if useless is not None and column_role is None:
            tell(f"{table.path.name}: {column_name!r} is not used, {useless}")
            continue
        is_number = pd.api.types.is_numeric_dtype(series.dtype)
        if column_role == "feature" or (column_role is None and is_number):
            feature_matrix.append(_as_features(table, column_name, series))
        else:
            column_facts.groups[column_name] = _as_groups(table, column_name, series, nodes)
    if feature_matrix:
        column_facts.features = np.hstack(feature_matrix)
    return column_facts


def take_columns(parsed: Parsed, table: AttributeTable, taken: Collection[str], options: ReadOptions) -> NodeColumns:
    """Add what the columns of a table of all nodes say."""
    column_facts = node_columns(table, parsed.nodes or (), taken, options)
    parsed.features, parsed.node_groups, parsed.masks = column_facts.features, column_facts.groups, column_facts.masks
    return column_facts


def _plain_numbers(table: AttributeTable, name: str) -> NDArray[np.float64]:
    column_cells = np.empty((len(table.rows), 1))
    for row_index, (text, line_number) in enumerate(zip(table.column(name), table.lines, strict=True)):
        try:
            column_cells[row_index] = parse_number(text.strip())
        except ValueError as error:
            error_text = f"the feature {name!r}: {error} ({setting('features')} chooses the columns)"
            raise FileFormatError(error_text, file=table.path, line=line_number or None) from None
    return column_cells


def _chosen(table: AttributeTable, taken: Collection[str], options: ReadOptions) -> dict[str, str | None]:
    """The columns to use and what the user wants them to be, None if that is left to their values."""
    asked: dict[str, str | None] = {}
    for column_names, column_role in (
        (options.columns, None),
        (options.features, "feature"),
        (options.layers_from, "layer"),
    ):
        for column_name in [column_names] if isinstance(column_names, str) else column_names or ():
            if column_name not in table.header:
                raise DataError(
                    f"{table.path} has no column {column_name!r}; {did_you_mean(column_name, table.header)}"
                )
            if column_name in taken and column_role is not None:
                raise DataError(
                    f"the column {column_name!r} is the label or the name of the nodes, so it can be no {column_role}"
                )
            if column_name in taken:
                continue
            if asked.get(column_name) is not None and column_role is not None:
                raise DataError(f"the column {column_name!r} cannot be both a feature and a layer")
            asked[column_name] = column_role
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
        is_missing = series.isna()
        if is_missing.all():
            raise table.error(f"the feature {name!r} has no value")
        filled = series.fillna(series.median()).to_numpy(dtype=np.float64)
        gaps = f"; {int(is_missing.sum())} unknown, filled with the median" if is_missing.any() else ""
        tell(f"{table.path.name}: {name!r} is a feature, a number{gaps}")
        return filled[:, None]
    category_values = series.cat.remove_unused_categories().cat.categories
    # Categories that still become features of 0 and 1 where that is asked for.
    if len(category_values) > 50:
        raise FileFormatError(
            f"the feature {name!r} has {len(category_values)} different values, too many for a feature each; "
            f"{setting('layers_from', [name])} makes a layer of them",
            file=table.path,
        )
    tell(f"{table.path.name}: {name!r} is {len(category_values)} features, one per value")
    return np.stack([(series == cell_value).to_numpy(dtype=np.float64) for cell_value in category_values], axis=1)


def _as_groups(table: AttributeTable, name: str, series: pd.Series, nodes: Sequence[str]) -> Groups:
    layer = column_layer(series)
    assert isinstance(layer, MembershipLayer)
    way, unit = settled(series)
    by = f", dates by {unit}" if way == "dates" else ""
    group_names = [str(group) for group in layer.group_names]
    tell_of_twins(group_names, f"values of {name!r}", "groups")
    absent = int((~layer.present).sum())
    gaps = f"; {absent} unknown, in none of them" if absent else ""
    tell(
        f"{table.path.name}: {name!r} is a layer of {len(group_names)} groups{by}{gaps} "
        f"({setting('features', [name])} makes it features)"
    )
    return Groups([nodes[row] for row in layer.node.tolist()], [group_names[group] for group in layer.group.tolist()])
