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
    rows = RowCollector(path)
    names: dict[str, str] = {}
    section, listed = "", False
    for line, text in numbered_lines(read_text(path, options.encoding)):
        if text.lstrip().startswith("#"):
            continue
        if text.lstrip().startswith("*"):
            section = text.split()[0].lower()
            listed = listed or section == "*vertices"
            if section not in _KNOWN:
                hint = did_you_mean(section, _KNOWN)
                raise FileFormatError(f"unknown section {section[:40]!r}; {hint}", file=path, line=line)
            continue
        parts = quoted_fields(text)
        if section == "*vertices":
            if not parts or parts[0] in names:
                problem = "a vertex needs a number of its own"
                raise FileFormatError(problem, file=path, line=line)
            names[parts[0]] = parts[1] if len(parts) > 1 and parts[1] else parts[0]
            continue
        form = _FORMS[section if section in _FORMS else "*multilayer"]
        width = form.count(" ")
        if len(parts) not in (width, width + 1):
            problem = f"a row of {section or '*multilayer'} must be {form!r}, not {' '.join(parts)[:80]!r}"
            raise FileFormatError(problem, file=path, line=line)
        layer, source, other, target = parts[:4] if width == 4 else (parts[0], parts[1], parts[0], parts[2])
        if section == "*inter":
            rows.pillars += 1
            continue
        for node in (source, target):
            if names and node not in names:
                problem = f"the node {node!r} is not among the vertices"
                raise FileFormatError(problem, file=path, line=line)
        rows.add_between(layer, other, source, target, parts[width] if len(parts) > width else None, line)
    if len(set(names.values())) != len(names):
        names = {number: number for number in names}
    parsed = Parsed([path], rows.finish(), ones_mean_unweighted=True, id_start=1)
    parsed.rows.nodes = [names.get(node, node) for node in parsed.rows.nodes]
    if listed:
        parsed.nodes, parsed.nodes_file = list(names.values()), path
    return parsed


def write(graph: MultilayerGraph, path: Path) -> dict[Path, Content]:
    """The network, with ``*Intra`` alone where no layers are coupled; layers and nodes are numbered from 1."""
    text = as_text(graph, NAME, directions=False, labels=False, features=False, couplings=True)
    warn_of_ones(text, NAME)
    if list(text.layers) != [str(number) for number in range(1, len(text.layers) + 1)]:
        lossy(NAME, "names of layers; they are numbered from 1")
    empty = not all(layer.num_edges for _, layer in text.edges())
    if empty or not all(coupling.num_edges for _, _, coupling in text.couplings()):
        lossy(NAME, "layers and couplings without edges")
    lines = [f"*Vertices {len(text.nodes)}\n"]
    for place, node in enumerate(text.nodes, start=1):
        quoted = quote(node)
        lines.append(f"{place} {quoted}\n" if quoted[0] == '"' else f'{place} "{quoted}"\n')
    lines.append("*Multilayer\n" if text.coupled else "*Intra\n")
    for here, source, there, target, weight in numbered_rows(text, weighted=True):
        second = f" {there}" if text.coupled else ""
        lines.append(f"{here} {source}{second} {target}{weight}\n")
    return {path: "".join(lines)}
