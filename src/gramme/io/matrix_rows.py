"""Rows of cells as a matrix: who is tied to whom (adjacency), or who belongs to what (incidence).

A matrix has names along its edges or none. Names in rows and columns alike, or a square of numbers with an even
diagonal, are an adjacency; names in rows and others in columns with nothing but 0 and 1 inside are an incidence. With
``format="matrix"`` the user insists, and any numbers will do. Names that are mostly alike can only be an adjacency
with a fault, such as a row that was lost; the error says where.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gramme.errors import FileFormatError

from .parsed import EdgeRows, Groups, Parsed
from .source import tell
from .values import UNKNOWN

_NUMBER = re.compile(r"[+-]?(\d+[.,]?\d*|[.,]\d+)([eE][+-]?\d+)?\Z")
Rows = Sequence[tuple[int, Sequence[str]]]


@dataclass
class Matrix:
    """Numbers with the names of rows and columns, and the line of each row."""

    path: Path
    values: NDArray[np.float64]
    rows: list[str]
    columns: list[str]
    lines: list[int]
    named: bool = True

    @property
    def square(self) -> bool:
        """Whether rows and columns are the same nodes."""
        return set(self.rows) == set(self.columns) and len(self.rows) == len(self.columns)


def find_matrix(rows: Rows, path: Path, *, insist: bool = False) -> Matrix | None:
    """The matrix that the rows are; None if they are none (an error if the user insists)."""
    found_matrix = _bare(rows, path, insist) or _named(rows, path, insist)
    if found_matrix is None and insist:
        raise FileFormatError(
            "this is not a matrix: it needs a row of numbers per node, with the names of rows in the first column and "
            "of columns in the first line, or numbers alone",
            file=path,
        )
    return found_matrix


def _is_number(cell: str) -> bool:
    cell = cell.strip()
    return not cell or cell == "." or _NUMBER.match(cell) is not None


def _bare(rows: Rows, path: Path, insist: bool) -> Matrix | None:
    """Numbers without names: a square, or, where the user insists, rows of nodes and columns of groups."""
    size, column_count = len(rows), len(rows[0][1]) if rows else 0
    if not all(len(row_cells) == column_count and all(map(_is_number, row_cells)) for _, row_cells in rows):
        return None
    # rows from which on a square without names is believed to be a matrix
    if not insist and (size < 3 or size != column_count or len(_diagonal(rows)) > 1):
        return None
    if insist and size and _looks_named(rows):
        return None
    node_names = [str(node_number) for node_number in range(1, size + 1)]
    column_names = (
        node_names if size == column_count else [f"group {node_number}" for node_number in range(1, column_count + 1)]
    )
    return _filled(path, rows, 0, node_names, list(column_names), named=False)


def _diagonal(rows: Rows) -> set[str]:
    return {row_cells[place].strip() for place, (_, row_cells) in enumerate(rows) if place < len(row_cells)}


def _looks_named(rows: Rows) -> bool:
    """Whether the first line and the first column count the same numbers, all different: names that are numbers."""
    first = [cell_content.strip() for cell_content in rows[0][1][1:]]
    if len(first) < 2 or first != [row_cells[0].strip() for _, row_cells in rows[1:]]:
        return False  # a symmetric matrix gets this far
    return len(set(first)) == len(first) and (not rows[0][1][0].strip() or len(_diagonal(rows)) > 1)


def _named(rows: Rows, path: Path, insist: bool) -> Matrix | None:
    """A matrix with names in the first line and in the first column."""
    if len(rows) < 2:
        return None
    head = [cell_content.strip() for cell_content in rows[0][1]]
    column_count = len(rows[1][1])
    if len(head) == column_count - 1:  # R leaves the corner out
        head = ["", *head]
    node_names = [row_cells[0].strip() if row_cells else "" for _, row_cells in rows[1:]]
    column_names = head[1:]
    if (
        column_count < 2
        or any(len(row_cells) != column_count for _, row_cells in rows[1:])
        or len(head) != column_count
    ):
        return None
    if _mostly_alike(node_names, column_names):
        _check_adjacency(rows, node_names, column_names, path)
        return _filled(path, rows[1:], 1, node_names, column_names, named=True)
    if (
        len(set(node_names)) < len(node_names)
        or len(set(column_names)) < len(column_names)
        or "" in (*node_names, *column_names)
    ):
        return None
    inside = [[cell_content.strip() for cell_content in row_cells[1:]] for _, row_cells in rows[1:]]
    if not all(_is_number(cell_content) for row_cells in inside for cell_content in row_cells):
        return None
    yes_or_no = {cell_content for row_cells in inside for cell_content in row_cells} <= {"", "0", "1"}
    if not insist and not (yes_or_no and len(node_names) > 2 and len(column_names) > 1):
        return None
    return _filled(path, rows[1:], 1, node_names, column_names, named=True)


def _mostly_alike(names: list[str], columns: list[str]) -> bool:
    """Whether more than half of the names of rows and of columns are the same, or differ by their case alone.

    A list of edges has one such column, a matrix several.
    """
    one, other = ({node_name.casefold() for node_name in each} - {""} for each in (names, columns))
    shared = one & other
    return len(columns) > 1 and 2 * len(shared) > max(len(names), len(columns))


def _check_adjacency(rows: Rows, names: list[str], columns: list[str], path: Path) -> None:
    """Say what is wrong with the names or the cells of a matrix of ties."""
    for what, mine, others in (("row", names, columns), ("column", columns, names)):
        here = Counter(mine)
        if "" in here:
            error_text = f"a {what} has no name"
        elif len(here) < len(mine):
            error_text = f"two {what}s are called {here.most_common(1)[0][0][:40]!r}"
        elif lost := [name for name in others if name and name not in here]:
            some = ", ".join(repr(name[:40]) for name in lost[:3])
            error_text = f"there is no {what} for {some}{', ...' if len(lost) > 3 else ''}"
        else:
            continue
        raise FileFormatError(f"a matrix of ties needs a row and a column for every node, but {error_text}", file=path)
    for line_number, row_cells in rows[1:]:
        for column, cell_content in zip(columns, row_cells[1:], strict=True):
            if not _is_number(cell_content) and cell_content.strip() not in UNKNOWN:
                raise FileFormatError(
                    f"{cell_content.strip()[:40]!r} in the column {column[:40]!r} of a matrix of ties is not a number",
                    file=path,
                    line=line_number,
                )


def _filled(path: Path, rows: Rows, skip: int, names: list[str], columns: list[str], *, named: bool) -> Matrix:
    values = np.zeros((len(names), len(columns)))
    commas = next((cell for _, row in rows for cell in row[skip:] if "," in cell), None)
    if commas is not None:
        tell(f"{path.name}: read with decimal commas, {commas.strip()[:40]} as a number")
    unknown = 0
    for place, (line, row) in enumerate(rows):
        for column, cell in enumerate(row[skip:]):
            text = cell.strip().replace(",", ".")
            number = 0.0
            if text in UNKNOWN:
                # a dot is how R prints a zero, and NA on the diagonal how it says that there is nothing to say
                unknown += text != "." and names[place] != columns[column]
            elif text:
                number = float(text)
            if not np.isfinite(number) or number < 0:
                problem = f"{cell.strip()[:40]!r} is not allowed here; ties are 0 or positive numbers"
                raise FileFormatError(problem, file=path, line=line)
            values[place, column] = number
    if unknown:
        ties = "1 tie that is" if unknown == 1 else f"{unknown:,} ties that are"
        tell(f"{path.name}: {ties} not known (NA) read as no tie", doubt=True)
    return Matrix(path, values, names, columns, [line for line, _ in rows], named)


def matrix_layer(matrix: Matrix, layer: str | None = None) -> Parsed:
    """What a matrix holds as a layer: edges between the same nodes, or memberships of rows in columns."""
    if matrix.square:
        return _adjacency(matrix, layer)
    return _incidence(matrix, layer or matrix.path.stem)


def _adjacency(matrix: Matrix, layer: str | None) -> Parsed:
    place = {name: position for position, name in enumerate(matrix.columns)}
    matrix_values = matrix.values[:, [place[name] for name in matrix.rows]]
    loops = int(np.count_nonzero(np.diag(matrix_values)))
    np.fill_diagonal(matrix_values, 0)
    symmetric = bool((matrix_values == matrix_values.T).all())
    source, target = np.nonzero(np.triu(matrix_values) if symmetric else matrix_values)
    edge_weight = matrix_values[source, target]
    table_rows = EdgeRows(
        [] if layer is None else [layer],
        list(matrix.rows),
        np.zeros(source.size, dtype=np.int64),
        source.astype(np.int64),
        target.astype(np.int64),
        edge_weight,
        lambda row: matrix.lines[int(source[row])],
    )
    size = f"{len(matrix.rows)} x {len(matrix.rows)}"
    node_names = "with names" if matrix.named else "without names, so the nodes are numbered from 1"
    way = "symmetric, so undirected" if symmetric else "not symmetric, so directed"
    diagonal = f"; {loops} ties on the diagonal dropped" if loops else ""
    what = matrix.path.name if layer is None else f"{matrix.path.name}, {layer!r}"
    tell(f"{what}: read as a matrix of ties, {size}, {node_names}; {way}{diagonal}", doubt=not matrix.named)
    return Parsed(
        [matrix.path],
        table_rows,
        nodes=list(matrix.rows),
        nodes_file=matrix.path,
        layers=None if layer is None else [layer],
        directed=not symmetric if layer is None else {layer: not symmetric},
        ones_mean_unweighted=True,
    )


def _incidence(matrix: Matrix, layer: str) -> Parsed:
    member, group = np.nonzero(matrix.values)
    edge_weights = matrix.values[member, group]
    group_names = Groups(
        [matrix.rows[place] for place in member.tolist()],
        [matrix.columns[place] for place in group.tolist()],
        [] if bool((edge_weights == 1).all()) else edge_weights.tolist(),
        all_present=True,
    )
    node_names = "" if matrix.named else ", without names, so both are numbered from 1"
    tell(
        f"{matrix.path.name}: read as a matrix of {len(matrix.rows)} nodes and {len(matrix.columns)} "
        f"groups{node_names}, "
        f"the layer {layer!r}; if its rows are persons and its columns questions, add --table",
        doubt=True,
    )
    nothing = np.zeros(0, dtype=np.int64)
    table_rows = EdgeRows([], [], nothing, nothing, nothing, None, lambda row: None)
    return Parsed(
        [matrix.path],
        table_rows,
        nodes=list(matrix.rows),
        nodes_file=matrix.path,
        layers=[layer],
        groups={layer: group_names},
    )
