"""muxViz's extended edge lists: rows ``node layer node layer [weight]``, with tables of layers and nodes.

The file is either such a list or a configuration of one line ``edges;layers;layout`` that names it with its tables
(headers ``layerID layerLabel`` and ``nodeID nodeLabel``). Edges between different nodes in two layers are couplings; as
soon as there is one, a layer holds the nodes that its rows name. Edges between the copies of one node are implied by
the graph and dropped.
"""

from __future__ import annotations

from pathlib import Path

from gramme.errors import FileFormatError
from gramme.graph import Coupling, EdgeLayer, MultilayerGraph
from gramme.io.atomic import Content
from gramme.io.attributes import read_attributes
from gramme.io.between import between
from gramme.io.formats.multiplex import (
    layer_table,
    node_table,
    take_layers,
    take_nodes,
    warn_of_ones,
)
from gramme.io.formats.muxviz import check_file_name, config_lines, named_file
from gramme.io.losses import as_text, lossy
from gramme.io.parsed import Parsed, ReadOptions
from gramme.io.rows import EdgeRows, RowCollector
from gramme.io.source import numbered_lines, read_text
from gramme.io.tokens import fields
from gramme.io.weights import format_number

NAME = "muxviz-extended"


def read(path: Path, options: ReadOptions) -> Parsed:
    """The edges of an extended edge list."""
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
        if layer != other and source == target:
            pillars += 1
        else:
            weight = parts[4] if width == 5 else None
            rows.add(between(layer, other), source, target, weight, line)
    note = f"{pillars} edges between the copies of a node dropped: they are implied"
    return rows.finish(), [note] if pillars else []


def write(graph: MultilayerGraph, path: Path) -> dict[Path, Content]:
    """The configuration, the edge list and the two tables; nodes and layers are numbered from 1."""
    text = as_text(graph, NAME, directions=False, couplings=True)
    warn_of_ones(text, NAME)
    if not all(coupling.num_edges for _, _, coupling in text.couplings()):
        lossy(NAME, "couplings without edges")
    check_file_name(path)
    number = {name: place for place, name in enumerate(text.layers, start=1)}
    parts: list[tuple[int, int, EdgeLayer | Coupling]] = [
        (number[name], number[name], layer) for name, layer in text.edges()
    ]
    parts += [(number[a], number[b], coupling) for a, b, coupling in text.couplings()]
    weighted = any(part.weighted for _, _, part in parts)
    lines = []
    for here, there, part in parts:
        weights = [1.0] * part.num_edges if part.weight is None else part.weight.tolist()
        ends = zip(part.source.tolist(), part.target.tolist(), weights, strict=True)
        for source, target, weight in ends:
            end = f" {format_number(weight)}" if weighted else ""
            lines.append(f"{source + 1} {here} {target + 1} {there}{end}\n")
    names = [f"{path.stem}_{part}.txt" for part in ("edges", "layers", "layout")]
    return {
        path: ";".join(names) + "\n",
        path.with_name(names[0]): "".join(lines) or "\n",
        path.with_name(names[1]): layer_table(list(text.layers)),
        path.with_name(names[2]): node_table(text),
    }
