"""Rows of text under a header as edges: one way for CSV, Excel and databases."""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from gramme._text import setting
from gramme.errors import DataError, FileFormatError, NoEdgesError

from .assemble import joined
from .headers import DIRECTIONS, EdgeHeader, edge_header, find_header, plain_word
from .labels import table_facts
from .matrix_rows import find_matrix, matrix_layer
from .node_table import node_column, tabled
from .parsed import Parsed, ReadOptions, RowCollector, between
from .source import tell
from .values import UNKNOWN

Rows = Sequence[tuple[int, Sequence[str]]]
#: Columns of other programs that say nothing about who is joined.
_BOOKKEEPING = {"id", "label", "timeset", "interval", "key", "edgeid", "edge_id"}
#: Names of columns of numbers that may be weights.
_STRENGTHS = {"w", "wt", "value", "count", "counts", "n", "freq", "frequency", "times", "amount", "intensity", "score"}
_NUMBER = re.compile(r"[+-]?(\d+[.,]?\d*|[.,]\d+)([eE][+-]?\d+)?\Z")


def parse_edges(
    names: Sequence[str],
    header: EdgeHeader,
    rows: Rows,
    path: Path,
    *,
    decimal_comma: bool = False,
    sheet: str | None = None,
    features: Sequence[str] = (),
) -> Parsed:
    """The edges of rows whose header is understood; columns among ``features`` become facts of the edges."""
    where = path.name if sheet is None else f"{path.name}, {sheet!r}"
    for line, row in rows:
        if len(row) != len(names):
            problem = f"there are {len(row)} cells, but the header names {len(names)} columns"
            raise FileFormatError(problem, file=path, line=line)
    _settle_type(header, rows)
    kept = take_features(header, names, features)
    tell_columns(header, names, lambda place: (row[place] for _, row in rows), len(rows), where)
    # edges to NA, in a list from elsewhere: a survey may mean nobody by it, where it is a node like any other here
    ends = (header.source, header.target)
    met = Counter(row[place] for _, row in rows for place in ends if row[place] in UNKNOWN)
    if met and not header.usual:
        nobody, times = met.most_common(1)[0]
        edges = "1 edge has" if times == 1 else f"{times:,} edges have"
        tell(f"{where}: {edges} the node {nobody!r}; if it means nobody, leave these rows out", doubt=True)
    place = header.weight
    example = None if place is None else next((row[place] for _, row in rows if "," in row[place]), None)
    decimal_comma = decimal_comma and example is not None
    if decimal_comma and example is not None:
        tell(f"{where}: read with decimal commas, {example.strip()[:40]} as a number")
    collector = RowCollector(path)
    one_way: dict[str, set[bool]] = {}
    back: list[tuple[str, str, str, str | None, int, dict[str, str]]] = []
    for line, row in rows:
        needed = [header.source, header.target, *(header.between or ())]
        needed += [] if header.layer is None or header.between else [header.layer]
        for place in needed:
            if not row[place]:
                problem = f"the column {names[place].strip()!r} is empty here"
                raise FileFormatError(problem, file=path, line=line)
        layer = "" if header.layer is None else row[header.layer]
        source, target = row[header.source], row[header.target]
        if header.between is not None:
            first, second = (row[place] for place in header.between)
            if first != second and source == target:
                collector.pillars += 1
                continue
            layer = between(first, second)
        weight = None if header.weight is None else row[header.weight].strip() or None
        if weight in UNKNOWN:
            weight = None
        if weight is not None and decimal_comma and "." not in weight:
            weight = weight.replace(",", ".")
        facts = {name: row[place].strip() for name, place in kept.items()}
        collector.add(layer, source, target, weight, line, facts)
        if header.direction is not None:
            directed = DIRECTIONS[row[header.direction].strip().lower()]
            one_way.setdefault(layer, set()).add(directed)
            if not directed:
                back.append((layer, target, source, weight, line, facts))
    for edge in back:  # an undirected edge in a layer that has directed ones too goes both ways
        if True in one_way[edge[0]]:
            collector.add(*edge)
    found = collector.finish()
    if header.layer is None and header.between is None:
        found.layers = []
    parsed = Parsed([path], found)
    if one_way:
        kinds = {layer: True in directions for layer, directions in one_way.items()}
        several = header.layer is not None or header.between is not None
        parsed.directed = kinds if several else kinds.get("", False)
    return parsed


def take_features(header: EdgeHeader, names: Sequence[str], features: Sequence[str]) -> dict[str, int]:
    """Where the columns are that describe edges, which are then no longer among those without use."""
    column_names = [column_name.strip() for column_name in names]
    feature_columns = {
        column_name: column_names.index(column_name) for column_name in features if column_names.count(column_name) == 1
    }
    header.others = [column_index for column_index in header.others if column_index not in feature_columns.values()]
    return feature_columns


def looks_like_edges(rows: Rows) -> bool:
    """Whether the first row of a list is an edge already: its ends are numbers, or stand in further rows too."""
    widths = {len(row_cells) for _, row_cells in rows}
    if len(rows) < 2 or len(widths) != 1 or not 2 <= min(widths) <= 3:
        return False
    first, *others = [row_cells for _, row_cells in rows]
    end_cells = {cell_content for row_cells in others for cell_content in row_cells[:2]}
    return all(map(_NUMBER.match, first[:2])) or any(cell_content in end_cells for cell_content in first[:2])


def _settle_type(header: EdgeHeader, rows: Rows) -> None:
    """Gephi's column Type holds directions; elsewhere a type is a kind of relation."""
    if header.direction is None:
        return
    column_index = header.direction
    if rows and all(row_cells[column_index].strip().lower() in DIRECTIONS for _, row_cells in rows):
        if header.layer == column_index:
            header.layer = None
        return
    header.direction = None
    if header.layer is None:
        header.layer = column_index
    elif header.layer != column_index:
        header.others.append(column_index)


def tell_columns(
    header: EdgeHeader, names: Sequence[str], cells_of: Callable[[int], Iterable[str]], rows: int, where: str
) -> None:
    """Say what the columns were taken for, and which are not used."""
    if not header.usual:
        shown = [
            f"{names[place].strip()!r} as {role}"
            for role in ("source", "target", "layer", "weight", "direction")
            if (place := getattr(header, role)) is not None
        ]
        tell(f"{where}: read {', '.join(shown)}")
    for place in header.others:
        name = names[place].strip()
        if name.lower() in _BOOKKEEPING:
            continue
        different = set(map(str.strip, cells_of(place))) - {*UNKNOWN, ""}
        numbers = all(map(_NUMBER.match, different))
        hint = ""
        if numbers and header.weight is None and plain_word(name) in _STRENGTHS:
            hint = "; if it says how strong a tie is, call the column 'weight'"
        elif header.layer is None and 1 < len(different) <= 20 and len(different) < rows and not numbers:
            hint = f"; its {len(different)} values may be relations: call the column 'layer' to make a layer of each"
        near = difflib.get_close_matches(name.lower(), ("layer", "weight"), n=1)
        if near:
            hint = f"; did you mean {near[0]!r}?"
        what = f"the column {name!r}" if name else f"column {place + 1}, which has no name,"
        tell(f"{where}: {what} is not used{hint}", doubt=bool(hint))


def without_header(rows: Rows, path: Path) -> tuple[list[str], EdgeHeader]:
    """The columns of a list of edges that has no header, by what they hold.

    Two columns are the ends. A last column of numbers after them is the weight, any other one the layer; of three
    columns besides the weight the one with the fewest different values is the layer.
    """
    column_count = len(rows[0][1]) if rows else 0
    if not 2 <= column_count <= 4:
        raise FileFormatError(
            f"there are {column_count} columns; a list of edges without a header has 2 to 4",
            file=path,
            line=rows[0][0] if rows else None,
        )
    table_columns = [
        [row_cells[column_index] if column_index < len(row_cells) else "" for _, row_cells in rows]
        for column_index in range(column_count)
    ]
    column_names = [f"column {column_index + 1}" for column_index in range(column_count)]
    for column_cells in table_columns[2:]:
        numbers = [_NUMBER.match(cell_content.strip()) is not None for cell_content in column_cells]
        if len(numbers) > 2 and not numbers[0] and all(numbers[1:]):
            raise FileFormatError(
                f"{column_cells[0].strip()!r} stands above numbers, so this line seems to be a header; name the "
                "columns of "
                f"the ends with {setting('source')} and {setting('target_column')}",
                file=path,
                line=rows[0][0],
            )
    weight_column = None
    if column_count > 2 and all(
        not cell_content.strip() or _NUMBER.match(cell_content.strip()) for cell_content in table_columns[-1]
    ):
        weight_column = column_count - 1
    rest = [column_index for column_index in range(column_count) if column_index != weight_column]
    layer = None
    if len(rest) == 3:
        layer = min(rest, key=lambda place: (len(set(table_columns[place])), place))
    elif len(rest) == 4:
        raise FileFormatError("of four columns the last must be weights", file=path)
    end_columns = [column_index for column_index in rest if column_index != layer]
    return column_names, EdgeHeader(end_columns[0], end_columns[1], layer, weight_column, usual=False)


def no_edges(names: Iterable[str], path: Path, line: int | None, *, database: bool = False) -> NoEdgesError:
    """What to say about a file whose header names no ends of edges."""
    cells = [column_name.strip() for column_name in names]
    listed = ", ".join(cells)[:100]
    wanted_fields = "source and target (or from and to, ego and alter, ...)"
    if database:
        error_text = (
            f"the columns must be {wanted_fields}, and may be layer and weight, but are {listed!r}; name them in a "
            "query, "
            f'like sqlite:{path.name}?query=SELECT "..." AS source, "..." AS target FROM "..."'
        )
        return NoEdgesError(error_text, file=path)
    numbered = len(cells) in (3, 4) and all(cell_content.isdecimal() for cell_content in cells[:3])
    multiplex = "; for rows of a layer, a node and a node, format='multiplex' (--from multiplex)" if numbered else ""
    return NoEdgesError(
        f"the header must name the columns {wanted_fields} and may name layer and weight, but is {listed!r}; if two "
        "of these "
        f"are the ends, name them with {setting('source')} and {setting('target_column')}; if the first "
        "line is an edge already, say header=False (--no-header); for a matrix of numbers, "
        f"format='matrix' (--from matrix){multiplex}",
        file=path,
        line=line,
    )


# Several tables in one file, as in a workbook or a database: lists of edges, matrices, and tables of nodes.
SheetsRows = Sequence[Sequence[str]]


def parse_sheets(
    sheets: Mapping[str, SheetsRows], path: Path, options: ReadOptions, *, database: bool = False
) -> Parsed:
    """One graph of all tables: a layer per list of edges or matrix, and attributes from the tables of their nodes."""
    parsed_by_layer: dict[str, Parsed] = {}
    others: dict[str, SheetsRows] = {}
    for sheet_name, table_rows in sheets.items():
        numbered = list(enumerate(table_rows, start=1))
        sheet_edges = edges_of_table(numbered, path, options, alone=len(sheets) == 1, sheet=sheet_name)
        if sheet_edges is None:
            others[sheet_name] = table_rows
        else:
            parsed_by_layer[sheet_name] = sheet_edges
    if not parsed_by_layer:
        first = next(iter(sheets.values()))
        if len(sheets) == 1:
            raise no_edges(first[0], path, 1, database=database)
        raise NoEdgesError(f"none of its tables is a list of edges or a matrix: {', '.join(sheets)[:200]}", file=path)
    parsed = joined(parsed_by_layer) if len(parsed_by_layer) > 1 else next(iter(parsed_by_layer.values()))
    parsed.files = [path]
    for sheet_name, table_rows in others.items():
        if _take_nodes(parsed, table_rows, path, options):
            tell(f"{path.name}: {sheet_name!r} tells about the nodes")
        else:
            tell(
                f"{path.name}: {sheet_name!r} is not used; it is not a list of edges, a matrix or a table of their "
                "nodes"
            )
    return parsed


def edges_of_table(
    rows: Rows, path: Path, options: ReadOptions, *, alone: bool = True, sheet: str | None = None, comma: bool = False
) -> Parsed | None:
    """The edges under the header of a table, or its matrix; None where it is neither. ``comma``: for decimals."""
    column_names: Sequence[str] = rows[0][1]
    below, edge_columns = rows[1:], None
    if options.header is False:
        column_names, edge_columns = without_header(rows, path)
        below = rows
    # a table among several need not have the columns that are named
    elif alone or {column for _, column in options.named_columns.values()} <= set(map(str.strip, column_names)):
        edge_columns = find_header(column_names, path, options)
    else:
        edge_columns = edge_header(column_names)
    if edge_columns is not None:
        feature_columns = options.edge_columns
        return parse_edges(
            column_names, edge_columns, below, path, decimal_comma=comma, sheet=sheet, features=feature_columns
        )
    matrix = find_matrix(rows, path)
    return None if matrix is None else matrix_layer(matrix, sheet)


def _take_nodes(parsed: Parsed, rows: SheetsRows, path: Path, options: ReadOptions) -> bool:
    """Labels, features and layers from a table of nodes; whether it is one."""
    if parsed.labels is not None or options.labels is not None or options.nodes is not None:
        return False
    node_names = parsed.nodes or parsed.rows.nodes
    try:
        facts_table = tabled(
            [(line_number, list(row_cells)) for line_number, row_cells in enumerate(rows, start=1)], path
        )
    except FileFormatError:
        return False
    named = options.id in facts_table.header or node_column(facts_table, set(node_names)) is not None
    if len(facts_table.header) < 2 or not named:
        return False
    try:
        labels_and_features = table_facts(facts_table, list(node_names), options, complete=False)
    except DataError as error:
        raise FileFormatError(str(error), file=path) from error
    parsed.nodes, parsed.nodes_file = labels_and_features.nodes, path
    parsed.labels, parsed.features, parsed.node_groups = (
        labels_and_features.labels,
        labels_and_features.features,
        labels_and_features.groups,
    )
    parsed.masks = labels_and_features.masks
    return True
