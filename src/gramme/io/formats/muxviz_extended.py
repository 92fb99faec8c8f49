"""muxViz's extended edge lists: rows ``node layer node layer [weight]``, with tables of layers and nodes.

The file is either such a list or a configuration of one line ``edges;layers;layout`` that names it with its tables
(headers ``layerID layerLabel`` and ``nodeID nodeLabel``). Only edges inside a layer are read. Edges between the copies
of one node are implied by the graph and dropped; any other edge between layers is an error.
"""

from __future__ import annotations

from pathlib import Path

from gramme.errors import FileFormatError
from gramme.graph import MultilayerGraph
from gramme.io.atomic import Content
from gramme.io.attributes import read_attributes
from gramme.io.formats.multiplex import (
    layer_table,
    node_table,
    take_layers,
    take_nodes,
    warn_of_ones,
)
from gramme.io.formats.muxviz import check_file_name, config_lines, named_file
from gramme.io.losses import as_text
from gramme.io.parsed import Parsed, ReadOptions
from gramme.io.rows import EdgeRows, RowCollector
from gramme.io.source import numbered_lines, read_text
from gramme.io.tokens import fields
from gramme.io.weights import format_number

NAME = "muxviz-extended"


def read(path: Path, options: ReadOptions) -> Parsed:
    """The intra-layer edges of an extended edge list."""
    first = next(numbered_lines(read_text(path, options.encoding)), (1, ""))[1]
    if ";" not in first:
        rows, notes = _read_rows(path, options.encoding)
        return Parsed([path], rows, ones_mean_unweighted=True, id_start=1, notes=notes)
    lines = config_lines(path, options.encoding)
    if len(lines) > 1:
        problem = "a configuration of an extended edge list has one line 'edges;layers;layout'"
        raise FileFormatError(problem, file=path, line=lines[1][0])
    line, (edges, layers, layout) = lines[0]
    file = named_file(path, edges, line)
    rows, notes = _read_rows(file, options.encoding)
    parsed = Parsed([path, file], rows, ones_mean_unweighted=True, id_start=1, notes=notes)
    parsed.edges_file = file
    if layers:
        table = read_attributes(named_file(path, layers, line), options.encoding, " ")
        take_layers(parsed, table)
    if layout:
        table = read_attributes(named_file(path, layout, line), options.encoding, " ")
        take_nodes(parsed, table, options)
    return parsed


def _read_rows(path: Path, encoding: str) -> tuple[EdgeRows, list[str]]:
    rows = RowCollector(path)
    width = pillars = 0
    for line, text in numbered_lines(read_text(path, encoding)):
        parts = fields(text)
        if len(parts) not in (4, 5) or (width and len(parts) != width):
            problem = f"a row must be 'node layer node layer [weight]' as in the others, not {text[:80]!r}"
            raise FileFormatError(problem, file=path, line=line)
        width = len(parts)
        source, layer, target, other = parts[:4]
        if layer == other:
            rows.add(layer, source, target, parts[4] if width == 5 else None, line)
        elif source == target:
            pillars += 1
        else:
            raise FileFormatError(
                f"an edge between the layers {layer!r} and {other!r} joins different nodes; only edges "
                "inside a layer can be read",
                file=path,
                line=line,
            )
    note = f"{pillars} edges between the copies of a node dropped: they are implied"
    return rows.finish(), [note] if pillars else []


def write(graph: MultilayerGraph, path: Path) -> dict[Path, Content]:
    """The configuration, the edge list and the two tables; nodes and layers are numbered from 1."""
    text = as_text(graph, NAME, directions=False)
    warn_of_ones(text, NAME)
    check_file_name(path)
    weighted = any(layer.weighted for layer in text.layers.values())
    lines = []
    for number, (_, layer) in enumerate(text.edges(), start=1):
        weights = [1.0] * layer.num_edges if layer.weight is None else layer.weight.tolist()
        for source, target, weight in zip(
            layer.source.tolist(), layer.target.tolist(), weights, strict=True
        ):
            end = f" {format_number(weight)}" if weighted else ""
            lines.append(f"{source + 1} {number} {target + 1} {number}{end}\n")
    names = [f"{path.stem}_{part}.txt" for part in ("edges", "layers", "layout")]
    return {
        path: ";".join(names) + "\n",
        path.with_name(names[0]): "".join(lines) or "\n",
        path.with_name(names[1]): layer_table(list(text.layers)),
        path.with_name(names[2]): node_table(text),
    }
