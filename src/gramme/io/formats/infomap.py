"""Infomap's multilayer networks: ``*Vertices``, then ``*Intra`` and ``*Inter``, or ``*Multilayer`` for all links.

``*Intra`` has rows ``layer node node [weight]``, ``*Inter`` rows ``layer node layer [weight]`` between the copies of a
node, which the graph implies, and ``*Multilayer`` rows ``layer node layer node [weight]``. Vertices have numbers and
names in quotes; layers have numbers alone. A ``#`` starts a comment. A weight of 1 on every link of a layer means none.
"""

from __future__ import annotations

from pathlib import Path

from gramme.errors import FileFormatError, did_you_mean
from gramme.graph import MultilayerGraph
from gramme.io.atomic import Content
from gramme.io.lossy import as_text, lossy
from gramme.io.parsed import Parsed, ReadOptions, RowCollector
from gramme.io.source import numbered_lines, read_text
from gramme.io.text import quote, quoted_fields

from .multiplex import numbered_rows, warn_of_ones

NAME = "infomap"
_FORMS = {
    "*intra": "layer node node [weight]",
    "*inter": "layer node layer [weight]",
    "*multilayer": "layer node layer node [weight]",
}
_KNOWN = ("*vertices", "*multiplex", *_FORMS)


def read(path: Path, options: ReadOptions) -> Parsed:
    """The layers and couplings of a multilayer network."""
    row_collector = RowCollector(path)
    name_of_vertex: dict[str, str] = {}
    section, listed = "", False
    for line_number, file_text in numbered_lines(read_text(path, options.encoding)):
        if file_text.lstrip().startswith("#"):
            continue
        if file_text.lstrip().startswith("*"):
            section = file_text.split()[0].lower()
            listed = listed or section == "*vertices"
            if section not in _KNOWN:
                hint = did_you_mean(section, _KNOWN)
                raise FileFormatError(f"unknown section {section[:40]!r}; {hint}", file=path, line=line_number)
            continue
        line_fields = quoted_fields(file_text)
        if section == "*vertices":
            if not line_fields or line_fields[0] in name_of_vertex:
                error_text = "a vertex needs a number of its own"
                raise FileFormatError(error_text, file=path, line=line_number)
            name_of_vertex[line_fields[0]] = (
                line_fields[1] if len(line_fields) > 1 and line_fields[1] else line_fields[0]
            )
            continue
        form = _FORMS[section if section in _FORMS else "*multilayer"]
        column_count = form.count(" ")
        if len(line_fields) not in (column_count, column_count + 1):
            error_text = f"a row of {section or '*multilayer'} must be {form!r}, not {' '.join(line_fields)[:80]!r}"
            raise FileFormatError(error_text, file=path, line=line_number)
        layer, source, other_layer, target = (
            line_fields[:4] if column_count == 4 else (line_fields[0], line_fields[1], line_fields[0], line_fields[2])
        )
        if section == "*inter":
            row_collector.pillars += 1
            continue
        for node in (source, target):
            if name_of_vertex and node not in name_of_vertex:
                error_text = f"the node {node!r} is not among the vertices"
                raise FileFormatError(error_text, file=path, line=line_number)
        row_collector.add_between(
            layer,
            other_layer,
            source,
            target,
            line_fields[column_count] if len(line_fields) > column_count else None,
            line_number,
        )
    if len(set(name_of_vertex.values())) != len(name_of_vertex):
        name_of_vertex = {number: number for number in name_of_vertex}
    parsed = Parsed([path], row_collector.finish(), ones_mean_unweighted=True, id_start=1)
    parsed.rows.nodes = [name_of_vertex.get(node, node) for node in parsed.rows.nodes]
    if listed:
        parsed.nodes, parsed.nodes_file = list(name_of_vertex.values()), path
    return parsed


def write(graph: MultilayerGraph, path: Path) -> dict[Path, Content]:
    """The network, with ``*Intra`` alone where no layers are coupled; layers and nodes are numbered from 1."""
    text_graph = as_text(graph, NAME, directions=False, labels=False, features=False, couplings=True)
    warn_of_ones(text_graph, NAME)
    if list(text_graph.layers) != [str(layer_number) for layer_number in range(1, len(text_graph.layers) + 1)]:
        lossy(NAME, "names of layers; they are numbered from 1")
    empty = not all(layer.num_edges for _, layer in text_graph.edges())
    if empty or not all(coupling.num_edges for _, _, coupling in text_graph.couplings()):
        lossy(NAME, "layers and couplings without edges")
    lines = [f"*Vertices {len(text_graph.nodes)}\n"]
    for place, node in enumerate(text_graph.nodes, start=1):
        quoted = quote(node)
        lines.append(f"{place} {quoted}\n" if quoted[0] == '"' else f'{place} "{quoted}"\n')
    lines.append("*Multilayer\n" if text_graph.coupled else "*Intra\n")
    for here, source, there, target, edge_weight in numbered_rows(text_graph, weighted=True):
        second = f" {there}" if text_graph.coupled else ""
        lines.append(f"{here} {source}{second} {target}{edge_weight}\n")
    return {path: "".join(lines)}
