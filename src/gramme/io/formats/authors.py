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
    table_rows = read_edge_rows(path, options.encoding, columns=(3,), expected="3 (layer, source and target)")
    parsed = Parsed([path], table_rows, id_start=0)
    node_labels, feature_matrix = _beside(path, ".labels"), _beside(path, ".features")
    if node_labels is not None and options.labels is None and node_labels.stat().st_size:
        parsed.labels_file, parsed.labels_form = node_labels, "list"
    if feature_matrix is not None:
        parsed.features = _read_features(feature_matrix, options.encoding)
        node_count = parsed.features.shape[0]
        if all(is_whole(node_name) and 0 <= int(node_name) < node_count for node_name in table_rows.nodes):
            parsed.nodes, parsed.nodes_file = [str(node) for node in range(node_count)], feature_matrix
        elif node_count != len(table_rows.nodes):
            error_text = f"there are {node_count} rows of features for {len(table_rows.nodes)} nodes"
            raise FileFormatError(error_text, file=feature_matrix)
        parsed.files.append(feature_matrix)
    return parsed


def _beside(path: Path, ending: str) -> Path | None:
    return beside(path, path.name.removesuffix(_ENDING) + ending)


def _read_features(path: Path, encoding: str) -> NDArray[np.float64]:
    feature_matrix: list[list[float]] = []
    for line_number, file_text in numbered_lines(read_text(path, encoding)):
        try:
            row = [parse_number(field) for field in fields(file_text.replace(",", " "))]
        except ValueError as error:
            raise FileFormatError(f"the feature {error}", file=path, line=line_number) from None
        if feature_matrix and len(row) != len(feature_matrix[0]):
            error_text = f"there are {len(row)} features, but {len(feature_matrix[0])} in the lines before"
            raise FileFormatError(error_text, file=path, line=line_number)
        feature_matrix.append(row)
    if not feature_matrix:
        raise FileFormatError("the file is blank", file=path)
    return np.array(feature_matrix)


def write(graph: MultilayerGraph, path: Path) -> dict[Path, Content]:
    """The files of a graph; nodes and layers are written as numbers from 0."""
    text_graph = as_text(graph, NAME, weights=False, directions=False)
    numbers = [str(node) for node in range(len(text_graph.nodes))]
    if text_graph.nodes != numbers:
        lossy(NAME, "names of nodes; they are numbered from 0")
    if list(text_graph.layers) != [str(number) for number in range(len(text_graph.layers))]:
        lossy(NAME, "names of layers; they are numbered from 0")
    if any(layer.num_edges == 0 for layer in text_graph.layers.values()):
        lossy(NAME, "layers without edges")
    file_lines: list[str] = []
    touched = np.zeros(len(numbers), dtype=bool)
    for index_text, (_, layer) in enumerate(text_graph.edges()):
        touched[layer.source] = touched[layer.target] = True
        pairs = zip(layer.source.tolist(), layer.target.tolist(), strict=True)
        file_lines.extend(f"{index_text} {source} {target}\n" for source, target in pairs)
    feature_rows = text_graph.features()
    if not file_lines and feature_rows is None and not any(text_graph.labels or ()):
        raise DataError(f"a graph without edges, labels and features cannot be held by the format {NAME!r}")
    stem = path.name.removesuffix(_ENDING)
    files: dict[Path, Content] = {path: "".join(file_lines) or "\n"}
    files[path.with_name(stem + ".labels")] = _label_lines(text_graph.labels, touched, feature_rows is not None)
    files[path.with_name(stem + ".features")] = (
        None if feature_rows is None else "".join(" ".join(row) + "\n" for row in feature_rows)
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
    for node_label in labels:
        if node_label != node_label.strip(" \t\r") or "\n" in node_label:
            lossy(NAME, f"white space around a label or a line end in it: {node_label!r}")
            labels = [" ".join(label.split()) for label in labels]
            break
    return "".join(f"{label}\n" for label in labels)
