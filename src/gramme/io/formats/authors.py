"""The form of the paper's own data: ``*.multilayer.edges`` with labels and features in files beside it.

Rows ``layer source target`` of ids counted from 0; ``*.multilayer.labels`` has one label per node in node order, and
``*.multilayer.features`` one row of numbers per node.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gramme.errors import DataError, FileFormatError
from gramme.graph import MultilayerGraph
from gramme.io.atomic import Content
from gramme.io.edge_rows import read_edge_rows
from gramme.io.lossy import as_text, lossy
from gramme.io.parsed import Parsed, ReadOptions
from gramme.io.source import beside, numbered_lines, read_text
from gramme.io.text import fields
from gramme.io.values import is_whole, parse_number

NAME = "authors"
_ENDING = ".edges"


def read(path: Path, options: ReadOptions) -> Parsed:
    """The edges, with the labels and features beside it."""
    rows = read_edge_rows(path, options.encoding, columns=(3,), expected="3 (layer, source and target)")
    parsed = Parsed([path], rows, id_start=0)
    labels, features = _beside(path, ".labels"), _beside(path, ".features")
    if labels is not None and options.labels is None and labels.stat().st_size:
        parsed.labels_file, parsed.labels_form = labels, "list"
    if features is not None:
        parsed.features = _read_features(features, options.encoding)
        count = parsed.features.shape[0]
        if all(is_whole(name) and 0 <= int(name) < count for name in rows.nodes):
            parsed.nodes, parsed.nodes_file = [str(node) for node in range(count)], features
        elif count != len(rows.nodes):
            problem = f"there are {count} rows of features for {len(rows.nodes)} nodes"
            raise FileFormatError(problem, file=features)
        parsed.files.append(features)
    return parsed


def _beside(path: Path, ending: str) -> Path | None:
    return beside(path, path.name.removesuffix(_ENDING) + ending)


def _read_features(path: Path, encoding: str) -> NDArray[np.float64]:
    matrix: list[list[float]] = []
    for line, text in numbered_lines(read_text(path, encoding)):
        try:
            row = [parse_number(field) for field in fields(text.replace(",", " "))]
        except ValueError as error:
            raise FileFormatError(f"the feature {error}", file=path, line=line) from None
        if matrix and len(row) != len(matrix[0]):
            problem = f"there are {len(row)} features, but {len(matrix[0])} in the lines before"
            raise FileFormatError(problem, file=path, line=line)
        matrix.append(row)
    if not matrix:
        raise FileFormatError("the file is blank", file=path)
    return np.array(matrix)


def write(graph: MultilayerGraph, path: Path) -> dict[Path, Content]:
    """The files of a graph; nodes and layers are written as numbers from 0."""
    text = as_text(graph, NAME, weights=False, directions=False)
    numbers = [str(node) for node in range(len(text.nodes))]
    if text.nodes != numbers:
        lossy(NAME, "names of nodes; they are numbered from 0")
    if list(text.layers) != [str(number) for number in range(len(text.layers))]:
        lossy(NAME, "names of layers; they are numbered from 0")
    if any(layer.num_edges == 0 for layer in text.layers.values()):
        lossy(NAME, "layers without edges")
    lines: list[str] = []
    touched = np.zeros(len(numbers), dtype=bool)
    for number, (_, layer) in enumerate(text.edges()):
        touched[layer.source] = touched[layer.target] = True
        pairs = zip(layer.source.tolist(), layer.target.tolist(), strict=True)
        lines.extend(f"{number} {source} {target}\n" for source, target in pairs)
    features = text.features()
    if not lines and features is None and not any(text.labels or ()):
        raise DataError(f"a graph without edges, labels and features cannot be held by the format {NAME!r}")
    stem = path.name.removesuffix(_ENDING)
    files: dict[Path, Content] = {path: "".join(lines) or "\n"}
    files[path.with_name(stem + ".labels")] = _label_lines(text.labels, touched, features is not None)
    files[path.with_name(stem + ".features")] = (
        None if features is None else "".join(" ".join(row) + "\n" for row in features)
    )
    return files


def _label_lines(labels: list[str] | None, touched: NDArray[np.bool_], all_known: bool) -> str | None:
    labelled = np.array([bool(label) for label in labels or [""] * touched.size], dtype=bool)
    kept = touched | labelled
    if not all_known and not kept[: np.flatnonzero(kept)[-1] + 1 if kept.any() else None].all() and not labelled.any():
        lossy(NAME, "nodes without edges where there are no labels")
    elif not all_known and kept.size and not kept[-1]:
        lossy(NAME, "nodes at the end that have neither edges nor labels")
    if labels is None:
        return None
    for label in labels:
        if label != label.strip(" \t\r") or "\n" in label:
            lossy(NAME, f"white space around a label or a line end in it: {label!r}")
            labels = [" ".join(label.split()) for label in labels]
            break
    return "".join(f"{label}\n" for label in labels)
