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
    found = []
    for line, row in numbered_lines(read_text(path, encoding)):
        parts = [part.strip() for part in row.split(";")]
        if not 2 <= len(parts) <= 3 or not parts[0]:
            problem = f"a line must be 'path;label;layout', not {row[:80]!r}"
            raise FileFormatError(problem, file=path, line=line)
        found.append((line, parts + [""] * (3 - len(parts))))
    return found


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
    for number, (line, (edges, label, layout)) in enumerate(config_lines(path, options.encoding), 1):
        layer = label or str(number)
        if layer in taken:
            raise FileFormatError(f"the layer {layer!r} is here for the second time", file=path, line=line)
        file = taken[layer] = named_file(path, edges, line)
        same = used.setdefault(file.resolve(), layer)
        if same != layer:  # a short configuration could name a large file any number of times
            problem = f"{edges!r} has the edges of the layer {same!r} already; each layer needs a file of its own"
            raise FileFormatError(problem, file=path, line=line)
        expected = "2 or 3 (source, target and perhaps weight)"
        rows = read_edge_rows(file, options.encoding, columns=(2, 3), order=(-1, 0, 1, 2), expected=expected)
        parts[layer] = Parsed([file], rows, ones_mean_unweighted=True)
        if layout:
            layouts[named_file(path, layout, line)] = line
    if not parts:
        raise FileFormatError("no layer is named here", file=path)
    parsed = joined(parts)
    parsed.id_start, parsed.rows.line_of = 1, lambda row: None  # a line of which file?
    parsed.files.insert(0, path)
    if len(layouts) > 1:
        line = list(layouts.values())[1]
        raise FileFormatError("the layers must share one layout", file=path, line=line)
    for layout_file in layouts:
        take_nodes(parsed, read_attributes(layout_file, options.encoding, " "), options)
    return parsed


def write(graph: MultilayerGraph, path: Path) -> dict[Path, Content]:
    """The configuration, a file of edges per layer and the layout; nodes are numbered from 1."""
    text = as_text(graph, NAME, directions=False)
    warn_of_ones(text, NAME)
    check_file_name(path)
    if not text.layers:
        raise DataError(f"a graph without layers cannot be held by the format {NAME!r}; 'csv' and 'npz' can")
    layout = path.with_name(f"{path.stem}_layout.txt")
    files: dict[Path, Content] = {}
    config = []
    for number, (name, layer) in enumerate(text.edges(), start=1):
        if name != name.strip() or any(mark in name for mark in ";\n\r"):
            raise DataError(
                f"the format {NAME!r} cannot hold the layer name {name!r} (a semicolon, a line end or white "
                "space around it); 'csv' and 'npz' can"
            )
        edges = path.with_name(f"{path.stem}_{number}.edges")
        config.append(f"{edges.name};{name};{layout.name}\n")
        files[edges] = "".join(numbered_edges(layer)) or "\n"
    return {path: "".join(config), **files, layout: node_table(text)}


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
        problem = "a configuration of an extended edge list has one line 'edges;layers;layout'"
        raise FileFormatError(problem, file=path, line=lines[1][0])
    line, (edges, layers, layout) = lines[0]
    file = named_file(path, edges, line)
    parsed = Parsed([path, file], _read_rows(file, options.encoding), ones_mean_unweighted=True, id_start=1)
    parsed.edges_file = file
    if layers:
        table = read_attributes(named_file(path, layers, line), options.encoding, " ")
        take_layers(parsed, table)
    if layout:
        table = read_attributes(named_file(path, layout, line), options.encoding, " ")
        take_nodes(parsed, table, options)
    return parsed


def _read_rows(path: Path, encoding: str) -> EdgeRows:
    rows = RowCollector(path)
    width = 0
    for line, text in numbered_lines(read_text(path, encoding)):
        parts = fields(text)
        if len(parts) not in (4, 5) or (width and len(parts) != width):
            problem = f"a row must be 'node layer node layer [weight]' as in the others, not {text[:80]!r}"
            raise FileFormatError(problem, file=path, line=line)
        width = len(parts)
        source, layer, target, other = parts[:4]
        rows.add_between(layer, other, source, target, parts[4] if width == 5 else None, line)
    return rows.finish()


def write_muxviz_extended(graph: MultilayerGraph, path: Path) -> dict[Path, Content]:
    """The configuration, the edge list and the two tables; nodes and layers are numbered from 1."""
    text = as_text(graph, MUXVIZ_EXTENDED_NAME, directions=False, couplings=True)
    warn_of_ones(text, MUXVIZ_EXTENDED_NAME)
    if not all(coupling.num_edges for _, _, coupling in text.couplings()):
        lossy(MUXVIZ_EXTENDED_NAME, "couplings without edges")
    check_file_name(path)
    weighted = any(part.weighted for part in (*text.layers.values(), *graph.couplings.values()))
    lines = [f"{a} {here} {b} {there}{weight}\n" for here, a, there, b, weight in numbered_rows(text, weighted)]
    names = [f"{path.stem}_{part}.txt" for part in ("edges", "layers", "layout")]
    return {
        path: ";".join(names) + "\n",
        path.with_name(names[0]): "".join(lines) or "\n",
        path.with_name(names[1]): layer_table(list(text.layers)),
        path.with_name(names[2]): node_table(text),
    }
