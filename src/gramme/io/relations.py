r"""Relations between several kinds of node from files: one file per relation, or one table of all of them.

A file of one relation has a row per pair: the two columns named like the kinds, or source and target, else the first
two; a column ``weight`` may follow. A table of all has ``source_type,source,target_type,target``, and may have
``relation`` and ``weight``.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from gramme._text import setting
from gramme.errors import DataError, FileFormatError
from gramme.graph import MembershipLayer, MultilayerGraph

from .headers import edge_header
from .labels import NodeFacts, read_labels, settle_labels, table_facts
from .node_table import AttributeTable, read_attributes
from .parsed import ReadOptions, ReadReport
from .source import checked_file, gathered, tell
from .values import in_order

FORMAT = "relations"
_TYPED = ("source_type", "source", "target_type", "target")
Files = Mapping[tuple[str, ...], str | os.PathLike[str]]


def read_relations(
    files: Files | str | os.PathLike[str], *, target: str, paths: Iterable[Sequence[str]] | None = None, **options: Any
) -> MultilayerGraph:
    r"""A graph over the nodes of one kind, from files of relations.

    Parameters
    ----------
    files : path, or mapping of (kind, kind) or (kind, name, kind) to path
        One table with the columns source_type, source, target_type and target, or one file per relation.
    target : str
        The kind whose nodes become the graph's.
    paths : list of lists of kinds, optional
        As for :func:`gramme.graph.relations.from_relations`.
    **options
        As for :func:`gramme.read`: labels, labels_format, label, features, directed, encoding, missing, ...

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "pa.csv"
    >>> _ = file.write_text("paper,author\np1,Ann\np2,Ann\n")
    >>> read_relations({("paper", "author"): file}, target="paper")
    MultilayerGraph(2 nodes, 1 layer: author 1 group)
    """
    return inspect_relations(files, target=target, paths=paths, **options)[0]


def inspect_relations(
    files: Files | str | os.PathLike[str], *, target: str, paths: Iterable[Sequence[str]] | None = None, **options: Any
) -> tuple[MultilayerGraph, ReadReport]:
    """The graph of :func:`read_relations`, and an account of what was met in the files."""
    chosen = ReadOptions(**options)
    if chosen.edge_columns:
        raise DataError(f"relations have no features of edges; leave out {setting('edge_features')}")
    with gathered() as notes:
        if isinstance(files, Mapping):
            named = {kinds: checked_file(file) for kinds, file in files.items()}
            node_pairs = {kinds: _one(file, kinds, chosen) for kinds, file in named.items()}
            met = list(named.values())
        else:
            met = [checked_file(files)]
            node_pairs = _typed(met[0], chosen)
        graph = _graph(node_pairs, target, paths, chosen, met)
    if chosen.labels is not None and isinstance(chosen.labels, (str, os.PathLike)):
        met.append(Path(chosen.labels))
    sizes = {
        layer_name: layer.num_groups for layer_name, layer in graph.layers.items() if isinstance(layer, MembershipLayer)
    }
    group_text = ", ".join(f"{layer_name} ({size:,})" for layer_name, size in sizes.items())
    kinds_told = [f"the nodes are of the kind {target!r}; groups: {group_text}"] if sizes else []
    report = ReadReport(
        format=FORMAT,
        files=tuple(map(str, met)),
        rows=sum(map(len, node_pairs.values())),
        id_base=None,
        direction="directed, as asked for" if chosen.directed else "undirected",
        self_loops_dropped={layer_name: each.self_loops_dropped for layer_name, each in graph.layers.items()},
        duplicates_merged={layer_name: each.duplicates_merged for layer_name, each in graph.layers.items()},
        notes=tuple(dict.fromkeys((*notes.all, *kinds_told))),
        doubts=tuple(notes.doubts),
    )
    return graph, report


def _graph(
    pairs: Mapping[tuple[str, ...], pd.DataFrame],
    target: str,
    paths: Iterable[Sequence[str]] | None,
    options: ReadOptions,
    files: Sequence[Path],
) -> MultilayerGraph:
    table_columns = [
        frame[side]
        for kinds, frame in pairs.items()
        for side, kind in (("source", kinds[0]), ("target", kinds[-1]))
        if kind == target
    ]
    node_names: list[str] = in_order(
        node_name for column_cells in table_columns for node_name in dict.fromkeys(column_cells)
    )
    node_labels, feature_matrix = options.labels, None
    # without a node of the target its labels say nothing, and the fault is elsewhere
    if table_columns and node_labels is not None and isinstance(node_labels, (str, os.PathLike)):
        attributes_of_node = _label_facts(Path(node_labels), node_names, target, options)
        node_names, feature_matrix, node_labels = (
            attributes_of_node.nodes,
            attributes_of_node.features,
            attributes_of_node.labels,
        )
        if node_labels is not None:
            node_labels = settle_labels(node_labels, options)
    try:
        return MultilayerGraph.from_relations(
            pairs,
            target=target,
            paths=paths,
            directed=bool(options.directed),
            nodes={target: node_names} if table_columns else None,
            labels=node_labels,
            features=None if feature_matrix is None else {target: feature_matrix},
        )
    except FileFormatError:
        raise
    except DataError as error:
        raise DataError(f"{', '.join(map(str, files))}: {error}") from error


def _label_facts(path: Path, nodes: list[str], target: str, options: ReadOptions) -> NodeFacts:
    """The labels of a file; a header that names the kind is a header."""
    checked_file(path, "labels file")
    if path.suffix.lower() in (".csv", ".tsv", ".txt") and options.labels_format is None:
        facts_table = read_attributes(path, options.encoding)
        if len(facts_table.header) > 1 and facts_table.header[0].strip().lower() == target.lower():
            return table_facts(facts_table, nodes, options, complete=False)
    return read_labels(path, nodes, options, complete=False, form=options.labels_format)


def _one(path: Path, kinds: tuple[str, ...], options: ReadOptions) -> pd.DataFrame:
    """The pairs of a file of one relation."""
    facts_table = read_attributes(path, options.encoding)
    if len(facts_table.header) < 2:
        raise FileFormatError("a relation needs two columns, such as " + ",".join((kinds[0], kinds[-1])), file=path)
    header_words = [column_name.strip().lower() for column_name in facts_table.header]
    first, last = kinds[0].lower(), kinds[-1].lower()
    edge_columns = edge_header(facts_table.header)
    if first in header_words and last in header_words and first != last:
        places = [header_words.index(first), header_words.index(last)]
    elif edge_columns is not None:
        places = [edge_columns.source, edge_columns.target]
    else:
        places = [0, 1]
        tell(
            f"{path.name}: read {facts_table.header[0]!r} as {kinds[0]} and {facts_table.header[1]!r} as "
            f"{kinds[-1]}; if the first line is a pair already, write a header above it",
            doubt=True,
        )
    return _frame(facts_table, range(len(facts_table.rows)), places, header_words)


def _typed(path: Path, options: ReadOptions) -> dict[tuple[str, ...], pd.DataFrame]:
    """The pairs of a table of all relations, by kinds and the relation's name."""
    facts_table = read_attributes(path, options.encoding)
    header_words = [name.strip().lower() for name in facts_table.header]
    missing_name = next((name for name in _TYPED if name not in header_words), None)
    if missing_name is not None:
        raise FileFormatError(
            f"a table of relations has the columns {', '.join(_TYPED)}, and may have relation and weight; "
            f"{missing_name!r} is missing",
            file=path,
        )
    at = {name: header_words.index(name) for name in header_words}
    table_rows: dict[tuple[str, ...], list[int]] = {}
    for number, (row_cells, line_number) in enumerate(zip(facts_table.rows, facts_table.lines, strict=True)):
        kinds = (row_cells[at["source_type"]], row_cells[at["target_type"]])
        if not all(kinds):
            raise FileFormatError("a kind is missing here", file=path, line=line_number)
        column_name = row_cells[at["relation"]] if "relation" in at else ""
        key: tuple[str, ...] = (kinds[0], column_name, kinds[1]) if column_name else kinds
        table_rows.setdefault(key, []).append(number)
    places = [at["source"], at["target"]]
    return {relation: _frame(facts_table, chosen, places, header_words) for relation, chosen in table_rows.items()}


def _frame(table: AttributeTable, chosen: Iterable[int], places: list[int], words: list[str]) -> pd.DataFrame:
    """Source, target and perhaps weight; an empty cell or an unreadable weight is an error with its line."""
    columns: dict[str, list[Any]] = {"source": [], "target": [], "weight": []}
    weight_index = words.index("weight") if "weight" in words else None
    for row_number in chosen:
        row_cells, line_number = table.rows[row_number], table.lines[row_number]
        for side, column_index in zip(("source", "target"), places, strict=True):
            if not row_cells[column_index]:
                raise table.error(f"the column {table.header[column_index]!r} is empty here", line_number)
            columns[side].append(row_cells[column_index])
        columns["weight"].append(None if weight_index is None else table.weight(row_cells[weight_index], line_number))
    weights = columns.pop("weight")
    if all(weight is None for weight in weights):
        return pd.DataFrame(columns, dtype=object)
    return pd.DataFrame(columns | {"weight": [1.0 if weight is None else weight for weight in weights]})
