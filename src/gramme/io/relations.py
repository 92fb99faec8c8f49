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
from .values import in_order, parse_weight

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
            pairs = {kinds: _one(file, kinds, chosen) for kinds, file in named.items()}
            met = list(named.values())
        else:
            met = [checked_file(files)]
            pairs = _typed(met[0], chosen)
        graph = _graph(pairs, target, paths, chosen, met)
    if chosen.labels is not None and isinstance(chosen.labels, (str, os.PathLike)):
        met.append(Path(chosen.labels))
    sizes = {name: layer.num_groups for name, layer in graph.layers.items() if isinstance(layer, MembershipLayer)}
    groups = ", ".join(f"{name} ({size:,})" for name, size in sizes.items())
    kinds_told = [f"the nodes are of the kind {target!r}; groups: {groups}"] if sizes else []
    report = ReadReport(
        format=FORMAT,
        files=tuple(map(str, met)),
        rows=sum(map(len, pairs.values())),
        id_base=None,
        direction="directed, as asked for" if chosen.directed else "undirected",
        self_loops_dropped={name: each.self_loops_dropped for name, each in graph.layers.items()},
        duplicates_merged={name: each.duplicates_merged for name, each in graph.layers.items()},
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
    columns = [
        frame[side]
        for kinds, frame in pairs.items()
        for side, kind in (("source", kinds[0]), ("target", kinds[-1]))
        if kind == target
    ]
    nodes: list[str] = in_order(name for column in columns for name in dict.fromkeys(column))
    labels, features = options.labels, None
    # without a node of the target its labels say nothing, and the fault is elsewhere
    if columns and labels is not None and isinstance(labels, (str, os.PathLike)):
        facts = _label_facts(Path(labels), nodes, target, options)
        nodes, features, labels = facts.nodes, facts.features, facts.labels
        if labels is not None:
            labels = settle_labels(labels, options)
    try:
        return MultilayerGraph.from_relations(
            pairs,
            target=target,
            paths=paths,
            directed=bool(options.directed),
            nodes={target: nodes} if columns else None,
            labels=labels,
            features=None if features is None else {target: features},
        )
    except FileFormatError:
        raise
    except DataError as error:
        raise DataError(f"{', '.join(map(str, files))}: {error}") from error


def _label_facts(path: Path, nodes: list[str], target: str, options: ReadOptions) -> NodeFacts:
    """The labels of a file; a header that names the kind is a header."""
    checked_file(path, "labels file")
    if path.suffix.lower() in (".csv", ".tsv", ".txt") and options.labels_format is None:
        table = read_attributes(path, options.encoding)
        if len(table.header) > 1 and table.header[0].strip().lower() == target.lower():
            return table_facts(table, nodes, options, complete=False)
    return read_labels(path, nodes, options, complete=False, form=options.labels_format)


def _one(path: Path, kinds: tuple[str, ...], options: ReadOptions) -> pd.DataFrame:
    """The pairs of a file of one relation."""
    table = read_attributes(path, options.encoding)
    if len(table.header) < 2:
        raise FileFormatError("a relation needs two columns, such as " + ",".join((kinds[0], kinds[-1])), file=path)
    words = [name.strip().lower() for name in table.header]
    first, last = kinds[0].lower(), kinds[-1].lower()
    ends = edge_header(table.header)
    if first in words and last in words and first != last:
        places = [words.index(first), words.index(last)]
    elif ends is not None:
        places = [ends.source, ends.target]
    else:
        places = [0, 1]
        tell(
            f"{path.name}: read {table.header[0]!r} as {kinds[0]} and {table.header[1]!r} as {kinds[-1]}; if the first "
            "line is a pair already, write a header above it",
            doubt=True,
        )
    return _frame(table, table.rows, places, words)


def _typed(path: Path, options: ReadOptions) -> dict[tuple[str, ...], pd.DataFrame]:
    """The pairs of a table of all relations, by kinds and the relation's name."""
    table = read_attributes(path, options.encoding)
    words = [name.strip().lower() for name in table.header]
    missing = next((name for name in _TYPED if name not in words), None)
    if missing is not None:
        raise FileFormatError(
            f"a table of relations has the columns {', '.join(_TYPED)}, and may have relation and weight; {missing!r} "
            "is missing",
            file=path,
        )
    at = {name: words.index(name) for name in words}
    rows: dict[tuple[str, ...], list[int]] = {}
    for number, (row, line) in enumerate(zip(table.rows, table.lines, strict=True)):
        kinds = (row[at["source_type"]], row[at["target_type"]])
        if not all(kinds):
            raise FileFormatError("a kind is missing here", file=path, line=line)
        name = row[at["relation"]] if "relation" in at else ""
        key: tuple[str, ...] = (kinds[0], name, kinds[1]) if name else kinds
        rows.setdefault(key, []).append(number)
    found: dict[tuple[str, ...], pd.DataFrame] = {}
    for relation, chosen in rows.items():
        part = AttributeTable(
            path, table.header, [table.rows[number] for number in chosen], [table.lines[number] for number in chosen]
        )
        found[relation] = _frame(part, part.rows, [at["source"], at["target"]], words)
    return found


def _frame(table: AttributeTable, rows: list[list[str]], places: list[int], words: list[str]) -> pd.DataFrame:
    """Source, target and perhaps weight; an empty cell or an unreadable weight is an error with its line."""
    for row, line in zip(rows, table.lines, strict=True):
        for place in places:
            if not row[place]:
                raise table.error(f"the column {table.header[place]!r} is empty here", line)
    columns: dict[str, Any] = {
        side: [row[place] for row in rows] for side, place in zip(("source", "target"), places, strict=True)
    }
    weights = [row[words.index("weight")] for row in rows] if "weight" in words else []
    if any(weights):
        columns["weight"] = []
        for text, line in zip(weights, table.lines, strict=True):
            try:
                columns["weight"].append(parse_weight(text) if text else 1.0)
            except ValueError as error:
                raise table.error(str(error), line) from None
    return pd.DataFrame(columns, dtype=object if "weight" not in columns else None)
