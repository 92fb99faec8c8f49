"""muxViz's configuration of an edge-coloured network: one line ``edges;label;layout`` per layer.

Every layer has a file of rows ``source target [weight]``. The layout is a table of all nodes with the header
``nodeID nodeLabel ...``; it may be missing. Paths are relative to the configuration. A weight of 1 on every edge of a
layer means no weights.
"""

from __future__ import annotations

from pathlib import Path

from gramme.errors import DataError, FileFormatError
from gramme.graph import MultilayerGraph
from gramme.io.assemble import joined
from gramme.io.atomic import Content
from gramme.io.edge_rows import read_edge_rows
from gramme.io.lossy import as_text, lossy
from gramme.io.node_table import read_attributes
from gramme.io.parsed import EdgeRows, Parsed, ReadOptions, RowCollector
from gramme.io.source import checked_file, numbered_lines, read_text
from gramme.io.text import fields

from .multiplex import layer_table, node_table, numbered_edges, numbered_rows, take_layers, take_nodes, warn_of_ones

NAME = "muxviz"


def config_lines(path: Path, encoding: str) -> list[tuple[int, list[str]]]:
    """The fields of each line, which are separated by semicolons."""
    found_values = []
    for line_number, row_cells in numbered_lines(read_text(path, encoding)):
        line_fields = [part.strip() for part in row_cells.split(";")]
        if not 2 <= len(line_fields) <= 3 or not line_fields[0]:
            error_text = f"a line must be 'path;label;layout', not {row_cells[:80]!r}"
            raise FileFormatError(error_text, file=path, line=line_number)
        found_values.append((line_number, line_fields + [""] * (3 - len(line_fields))))
    return found_values


def named_file(config: Path, name: str, line: int) -> Path:
    """A file that the configuration names, relative to its own folder."""
    try:
        return checked_file(config.parent / name)
    except DataError as error:
        raise FileFormatError(str(error), file=config, line=line) from None


def read(path: Path, options: ReadOptions) -> Parsed:
    """The network of a configuration."""
    parts: dict[str, Parsed] = {}
    layouts = {}
    taken: dict[str, Path] = {}
    used: dict[Path, str] = {}
    for config_number, (line_number, (edges, node_label, layout)) in enumerate(config_lines(path, options.encoding), 1):
        layer_name = node_label or str(config_number)
        if layer_name in taken:
            raise FileFormatError(f"the layer {layer_name!r} is here for the second time", file=path, line=line_number)
        file_path = taken[layer_name] = named_file(path, edges, line_number)
        same = used.setdefault(file_path.resolve(), layer_name)
        if same != layer_name:  # a short configuration could name a large file any number of times
            error_text = f"{edges!r} has the edges of the layer {same!r} already; each layer needs a file of its own"
            raise FileFormatError(error_text, file=path, line=line_number)
        expected = "2 or 3 (source, target and perhaps weight)"
        table_rows = read_edge_rows(file_path, options.encoding, columns=(2, 3), order=(-1, 0, 1, 2), expected=expected)
        parts[layer_name] = Parsed([file_path], table_rows, ones_mean_unweighted=True)
        if layout:
            layouts[named_file(path, layout, line_number)] = line_number
    if not parts:
        raise FileFormatError("no layer is named here", file=path)
    parsed = joined(parts)
    parsed.id_start, parsed.rows.line_of = 1, lambda row: None  # a line of which file?
    parsed.files.insert(0, path)
    if len(layouts) > 1:
        line_number = list(layouts.values())[1]
        raise FileFormatError("the layers must share one layout", file=path, line=line_number)
    for layout_file in layouts:
        take_nodes(parsed, read_attributes(layout_file, options.encoding, " "), options)
    return parsed


def write(graph: MultilayerGraph, path: Path) -> dict[Path, Content]:
    """The configuration, a file of edges per layer and the layout; nodes are numbered from 1."""
    text_graph = as_text(graph, NAME, directions=False)
    warn_of_ones(text_graph, NAME)
    check_file_name(path)
    if not text_graph.layers:
        raise DataError(f"a graph without layers cannot be held by the format {NAME!r}; 'csv' and 'npz' can")
    layout = path.with_name(f"{path.stem}_layout.txt")
    files: dict[Path, Content] = {}
    config = []
    for layer_number, (layer_name, layer) in enumerate(text_graph.edges(), start=1):
        if layer_name != layer_name.strip() or any(mark in layer_name for mark in ";\n\r"):
            raise DataError(
                f"the format {NAME!r} cannot hold the layer name {layer_name!r} (a semicolon, a line end or white "
                "space around it); 'csv' and 'npz' can"
            )
        edges = path.with_name(f"{path.stem}_{layer_number}.edges")
        config.append(f"{edges.name};{layer_name};{layout.name}\n")
        files[edges] = "".join(numbered_edges(layer)) or "\n"
    return {path: "".join(config), **files, layout: node_table(text_graph)}


def check_file_name(path: Path) -> None:
    """The configuration names files between semicolons, so no name may hold one."""
    if ";" in path.name or path.name != path.name.strip() or "\n" in path.name:
        raise DataError(f"a file {path.name!r} cannot be named in a muxViz configuration")


# muxViz's extended edge lists: rows ``node layer node layer [weight]``, with tables of layers and nodes.
MUXVIZ_EXTENDED_NAME = "muxviz-extended"


def read_muxviz_extended(path: Path, options: ReadOptions) -> Parsed:
    """The edges of an extended edge list."""
    first = next(numbered_lines(read_text(path, options.encoding)), (1, ""))[1]
    if ";" not in first:
        return Parsed([path], _read_rows(path, options.encoding), ones_mean_unweighted=True, id_start=1)
    lines = config_lines(path, options.encoding)
    if len(lines) > 1:
        error_text = "a configuration of an extended edge list has one line 'edges;layers;layout'"
        raise FileFormatError(error_text, file=path, line=lines[1][0])
    line_number, (edges, layers_file, layout) = lines[0]
    file_path = named_file(path, edges, line_number)
    parsed = Parsed([path, file_path], _read_rows(file_path, options.encoding), ones_mean_unweighted=True, id_start=1)
    parsed.edges_file = file_path
    if layers_file:
        facts_table = read_attributes(named_file(path, layers_file, line_number), options.encoding, " ")
        take_layers(parsed, facts_table)
    if layout:
        facts_table = read_attributes(named_file(path, layout, line_number), options.encoding, " ")
        take_nodes(parsed, facts_table, options)
    return parsed


def _read_rows(path: Path, encoding: str) -> EdgeRows:
    row_collector = RowCollector(path)
    column_count = 0
    for line_number, file_text in numbered_lines(read_text(path, encoding)):
        line_fields = fields(file_text)
        if len(line_fields) not in (4, 5) or (column_count and len(line_fields) != column_count):
            error_text = f"a row must be 'node layer node layer [weight]' as in the others, not {file_text[:80]!r}"
            raise FileFormatError(error_text, file=path, line=line_number)
        column_count = len(line_fields)
        source, layer, target, other_layer = line_fields[:4]
        row_collector.add_between(
            layer, other_layer, source, target, line_fields[4] if column_count == 5 else None, line_number
        )
    return row_collector.finish()


def write_muxviz_extended(graph: MultilayerGraph, path: Path) -> dict[Path, Content]:
    """The configuration, the edge list and the two tables; nodes and layers are numbered from 1."""
    text_graph = as_text(graph, MUXVIZ_EXTENDED_NAME, directions=False, couplings=True)
    warn_of_ones(text_graph, MUXVIZ_EXTENDED_NAME)
    if not all(coupling.num_edges for _, _, coupling in text_graph.couplings()):
        lossy(MUXVIZ_EXTENDED_NAME, "couplings without edges")
    check_file_name(path)
    weighted = any(part.weighted for part in (*text_graph.layers.values(), *graph.couplings.values()))
    file_lines = [
        f"{a} {here} {b} {there}{edge_weight}\n"
        for here, a, there, b, edge_weight in numbered_rows(text_graph, weighted)
    ]
    file_names = [f"{path.stem}_{part}.txt" for part in ("edges", "layers", "layout")]
    return {
        path: ";".join(file_names) + "\n",
        path.with_name(file_names[0]): "".join(file_lines) or "\n",
        path.with_name(file_names[1]): layer_table(list(text_graph.layers)),
        path.with_name(file_names[2]): node_table(text_graph),
    }
