"""Reading the files of a plan as the command line reads them, and the CSV files of a project."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import re
import tempfile
import unicodedata
import warnings
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from gramme.errors import DataError, GrammeWarning

from .roles import Plan, reading_of

if TYPE_CHECKING:
    from gramme.graph import MultilayerGraph
    from gramme.io.node_table import AttributeTable

Read: TypeAlias = "tuple[MultilayerGraph, list[str], dict[str, Any] | None]"
"""A graph, the notes from reading it, and the report."""
_COMMA_NUMBER = re.compile(r"[+-]?\d*,\d+")


def read_plan(plan: Plan, folder: Path, options: Mapping[str, Any] | None = None) -> Read:
    """The graph of a plan, the notes from reading it, and the report, read as the command line reads."""
    from gramme.cli.data import open_data

    file_paths = [str(folder / checked_name(name)) for name in plan.data()]
    data_paths = [] if plan.kinds else file_paths
    with contextlib.ExitStack() as stack, warnings.catch_warnings(record=True) as caught_warnings:
        warnings.simplefilter("always", GrammeWarning)
        if options is None:
            options = plan.options()
            if "labels" in options and "label" not in options and plan.labels_header()[2:]:
                # the reader wants a column of labels, which may be blank: a copy of the table has one
                scratch_folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
                options = plan.options_with_labels(str(_with_blank_labels(plan, folder, scratch_folder)))
        opened_data = open_data(data_paths, reading_of(options, folder).looking(), needs_label=False)
    warning_texts = [
        str(caught_warning.message)
        for caught_warning in caught_warnings
        if issubclass(caught_warning.category, GrammeWarning)
    ]
    reading_notes = list(dict.fromkeys([*opened_data.notes, *warning_texts]))
    if opened_data.graph.num_nodes == 0:
        raise DataError("the data have no nodes")
    return opened_data.graph, reading_notes, None if opened_data.report is None else opened_data.report.as_dict()


def _with_blank_labels(plan: Plan, folder: Path, scratch: Path) -> Path:
    """The table of nodes with a blank column of labels, in a file of the same name in another folder."""
    assert plan.nodes is not None
    node_table, name = _node_table(plan, folder, set())
    node_names = [str(node_name) for node_name in node_table.names(name)]
    header = plan.labels_header()
    described_cells = described_rows(plan, folder, node_names, header[2:])
    copy_path = scratch / f"{Path(plan.nodes.name).stem}.csv"
    table_rows = ([node, "", *other_cells] for node, other_cells in zip(node_names, described_cells, strict=True))
    copy_path.write_text(csv_text([header, *table_rows]), encoding="utf-8", errors="surrogatepass")
    return copy_path


def label_texts(graph: MultilayerGraph) -> list[str | None]:
    """The labels of a graph as text."""
    if graph.labels is None:
        return [None] * graph.num_nodes
    return [
        None if label is None else f"{label:.15g}" if isinstance(label, float) else str(label) for label in graph.labels
    ]


def described_rows(plan: Plan, folder: Path, names: Sequence[str], columns: Sequence[str]) -> list[list[str]]:
    """What the table of nodes says in some of its columns about each node, as text; blank where it says nothing."""
    node_file = plan.nodes
    if not columns or node_file is None:
        return [[] for _ in names]
    node_table, name = _node_table(plan, folder, set(names))
    decimal_comma = node_table.decimal_comma
    columns_of_cells = [[_cell(value, decimal_comma) for value in node_table.column(column)] for column in columns]
    cells_by_node = dict(zip(map(str, node_table.names(name)), zip(*columns_of_cells, strict=True), strict=True))
    blank_cells = [""] * len(columns)
    return [list(cells_by_node.get(node, blank_cells)) for node in names]


def _node_table(plan: Plan, folder: Path, known: set[str]) -> tuple[AttributeTable, str]:
    """The table of nodes as it is read, and its column of names."""
    from gramme.io.node_table import node_column, read_attributes

    node_file = plan.nodes
    assert node_file is not None
    path = folder / checked_name(node_file.name)
    node_table = read_attributes(path, "auto")
    return node_table, node_file.only("id") or node_column(node_table, known) or node_table.header[0]


def _cell(value: Any, decimal_comma: bool) -> str:
    text = "" if value is None or value != value else str(value)
    return text.replace(",", ".") if decimal_comma and _COMMA_NUMBER.fullmatch(text) else text


def checked_name(name: str) -> str:
    """A name for a file that stays in its folder; an error for any other."""
    text = unicodedata.normalize("NFC", name)
    bad_character = re.search(r'[\x00-\x1f\x7f/\\:*?"<>|]', text)
    too_long = len(text.encode("utf-8", "replace")) > 200
    if not text.strip() or text.startswith(".") or bad_character or too_long:
        raise DataError(f"{name[:80]!r} is no name for a file here; use letters, digits, - and _")
    return text


def facts(read: Read) -> dict[str, Any]:
    """What was read, in numbers and sentences."""
    graph, notes, reading_report = read
    layer_summary = graph.summary().reset_index() if graph.layers else None
    known_labels = [label for label in label_texts(graph) if label is not None]
    doubtful_notes = set((reading_report or {}).get("doubts", []))
    return {
        "nodes": graph.num_nodes,
        "layers": [] if layer_summary is None else json.loads(layer_summary.to_json(orient="records"))[:500],
        "labelled": len(known_labels),
        "classes": dict(sorted(Counter(known_labels).items())[:1000]),
        "features": 0 if graph.features is None else int(graph.features.shape[1]),
        "notes": [{"text": note, "doubt": note in doubtful_notes} for note in notes],
    }


def csv_text(rows: Iterable[Sequence[str]]) -> str:
    """Rows as the text of a CSV file."""
    output_buffer = io.StringIO()
    csv.writer(output_buffer, lineterminator="\n").writerows(rows)
    return output_buffer.getvalue()


def read_csv(path: Path) -> list[list[str]]:
    """The rows of a CSV file that this app wrote, or that somebody edited."""
    text = path.read_text(encoding="utf-8-sig", errors="surrogateescape")
    return [row for row in csv.reader(io.StringIO(text, newline="")) if row]
