"""The ``mpx`` files of multinet and uunet: layers, actors, nodes, edges and their attributes in sections.

In files of the type ``multilayer`` an edge between different actors in two layers is a coupling; one between the copies
of one actor is implied anyway and dropped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from gramme.errors import DataError, FileFormatError, did_you_mean
from gramme.graph import MultilayerGraph
from gramme.io.atomic import Content
from gramme.io.attribute_graph import take_attributes
from gramme.io.lossy import TextGraph, as_text
from gramme.io.node_table import AttributeTable
from gramme.io.parsed import Parsed, ReadOptions, RowCollector, between, named_nodes, own_layers
from gramme.io.source import numbered_lines, read_text
from gramme.io.text import format_row
from gramme.io.values import format_number

# The sections of an ``mpx`` file: its lines under their headings, each with its number.
Row = tuple[int, list[str]]

VERSION, TYPE, LAYERS, ACTORS, NODES, EDGES = ("VERSION", "TYPE", "LAYERS", "ACTORS", "NODES", "EDGES")
ACTOR_ATTRIBUTES, NODE_ATTRIBUTES, EDGE_ATTRIBUTES = ("ACTOR ATTRIBUTES", "NODE ATTRIBUTES", "EDGE ATTRIBUTES")
_LAYER_ATTRIBUTES = "LAYER ATTRIBUTES"
_KNOWN = (VERSION, TYPE, LAYERS, ACTORS, NODES, EDGES, ACTOR_ATTRIBUTES, NODE_ATTRIBUTES, EDGE_ATTRIBUTES)
_QUOTED = re.compile(r'[ \t]*"((?:[^"]|"")*)"[ \t]*(?=,|\Z)')
_BARE = re.compile(r"[^,]*")
_SAME = {"VERTICES": NODES, "VERTEX ATTRIBUTES": NODE_ATTRIBUTES}


@dataclass
class Sections:
    """The rows of each section; ``words`` holds what stands on the line of a heading itself."""

    path: Path
    rows: dict[str, list[Row]] = field(default_factory=dict)
    words: dict[str, Row] = field(default_factory=dict)

    def of(self, name: str) -> list[Row]:
        """The rows of a section, none if it is missing."""
        return self.rows.get(name, [])

    def error(self, problem: str, line: int) -> FileFormatError:
        """What is wrong on a line."""
        return FileFormatError(problem, file=self.path, line=line)

    def word(self, name: str) -> tuple[int, str] | None:
        """The single word of a section such as #TYPE, on its heading's line or the next."""
        found = [*([self.words[name]] if name in self.words else []), *self.of(name)]
        return (found[0][0], found[0][1][0]) if found else None


def read_sections(text: str, path: Path) -> Sections:
    """Cut the text into sections; without any heading all lines are edges."""
    sections = Sections(path)
    current = EDGES
    for line, row in numbered_lines(text):
        row = row.strip(" \t")
        if row.startswith("--"):
            continue
        if row.startswith("#"):
            current, rest = _heading(row[1:].strip(), path, line)
            sections.rows.setdefault(current, [])
            if rest:
                sections.words[current] = (line, [rest])
            continue
        sections.rows.setdefault(current, []).append((line, split_cells(row)))
    return sections


def _heading(heading: str, path: Path, line: int) -> tuple[str, str]:
    words = " ".join(heading.split())
    for name in sorted((*_KNOWN, *_SAME, _LAYER_ATTRIBUTES), key=len, reverse=True):
        if words.upper() == name or words.upper().startswith(name + " "):
            return _SAME.get(name, name), words[len(name) :].strip()
    problem = f"unknown section {'#' + heading[:60]!r}; {did_you_mean(words.upper(), _KNOWN)}"
    raise FileFormatError(problem, file=path, line=line)


def split_cells(row: str) -> list[str]:
    """The cells of a line: bare ones are stripped, quoted ones taken as they are (a quote inside is doubled)."""
    if '"' not in row:
        return [cell.strip(" \t") for cell in row.split(",")]
    found, place = [], 0
    while True:
        match = _QUOTED.match(row, place)
        if match:
            found.append(match[1].replace('""', '"'))
        else:
            match = _BARE.match(row, place)
            assert match is not None  # it matches the empty text
            found.append(match[0].strip(" \t"))
        place = match.end()
        if place >= len(row):
            return found
        place += 1  # the comma


def _lines(text: TextGraph) -> Iterator[str]:
    several = bool(text.graph.couplings)
    yield f"#VERSION\n3.0\n\n#TYPE\n{'multilayer' if several else 'multiplex'}\n\n"
    features = text.features() or None
    header = [] if text.labels is None else ["label,STRING\n"]
    header += [f"feature_{number},NUMERIC\n" for number in range(1, len((features or [[]])[0]) + 1)]
    if header:
        yield "#ACTOR ATTRIBUTES\n" + "".join(header) + "\n"
    parts = [([first, second][: 1 + several], part) for first, second, part in text.parts()]
    weighted = [names for names, part in parts if part.weighted]
    if weighted:
        yield ("#EDGE ATTRIBUTES\n" + "".join(_row(*names, "weight", "NUMERIC") for names in weighted) + "\n")
    yield "#LAYERS\n"
    for names, part in parts:
        yield _row(*names, "DIRECTED" if part.directed else "UNDIRECTED")
    yield "\n#ACTORS\n"
    for place, node in enumerate(text.nodes):
        label = [] if text.labels is None else [text.labels[place]]
        yield _row(node, *label, *(features[place] if features else ()))
    if several or not all(layer.holds_all_nodes for layer in text.layers.values()):
        yield "\n#NODES\n"
        for name, layer in text.edges():
            yield from (_row(text.nodes[node], name) for node in layer.present.nonzero()[0])
    yield "\n#EDGES\n"
    for names, part in parts:
        for start, end, size in text.named_edges(part):
            weight = () if size is None else (format_number(size),)
            yield _row(*((start, names[0], end, names[1]) if several else (start, end, names[0])), *weight)


def _row(*values: str) -> str:
    for value in values:
        if "\n" in value or "\r" in value:
            raise DataError(f"the format 'mpx' cannot hold the line end in {value!r}; 'csv' and 'npz' can")
    first = values[0]
    row = format_row(values, ",")
    # A first cell that looks like a heading or a comment is protected by quotes.
    if first.startswith(("#", "--")) and not row.startswith('"'):
        row = f'"{first}"' + row[len(first) :]
    return row


NAME = "mpx"
_DIRECTED = {"DIRECTED": True, "UNDIRECTED": False}


def read(path: Path, options: ReadOptions) -> Parsed:
    """The graph of an mpx file of version 3 (or older ones of the same form)."""
    sections = read_sections(read_text(path, options.encoding), path)
    several = _check_kind(sections)
    directed, loops = _layers(sections, several)
    weights = _weight_columns(sections, several)
    rows = RowCollector(path)
    _edges(sections, several, directed, weights, rows)
    parsed = Parsed([path], rows.finish())
    stated = bool(sections.of(LAYERS))
    parsed.directed = directed if stated else None
    if stated:
        parsed.layers = own_layers(directed)
    _actors(sections, parsed, options)
    if loops:
        parsed.notes.append(f"layers that allow self loops: {', '.join(loops)}")
    return parsed


def _check_kind(sections: Sections) -> bool:
    """Whether edges name the layers of both ends; errors on versions and types from elsewhere."""
    version, kind = sections.word(VERSION), sections.word(TYPE)
    if version is not None and version[1].partition(".")[0] not in ("1", "2", "3"):
        raise sections.error(
            f"version {version[1][:40]!r} of the format is not known; versions up to 3 are", version[0]
        )
    if kind is None:
        return False
    known = ("multiplex", "multilayer")
    if kind[1].lower() not in known:
        raise sections.error(f"unknown type {kind[1][:40]!r}; {did_you_mean(kind[1], known)}", kind[0])
    return kind[1].lower() == "multilayer"


def _layers(sections: Sections, several: bool) -> tuple[dict[str, bool], list[str]]:
    """The direction of each layer, and the layers that allow self loops."""
    directed: dict[str, bool] = {}
    loops: list[str] = []
    for line, row in sections.of(LAYERS):
        ends, rest = (row[:2], row[2:]) if several else (row[:1] * 2, row[1:])
        if len(ends) < 2 or not ends[0] or not ends[1]:
            raise sections.error("a layer without a name", line)
        direction = rest[0].upper() if rest else "UNDIRECTED"
        if direction not in _DIRECTED:
            raise sections.error(f"{rest[0][:40]!r} is neither DIRECTED nor UNDIRECTED", line)
        name = between(ends[0], ends[1])
        if name in directed:
            shown = " and ".join(repr(end) for end in dict.fromkeys(ends))
            raise sections.error(f"the layer {shown} is here for the second time", line)
        directed[name] = _DIRECTED[direction]
        if "LOOPS" in (word.upper() for word in rest[1:]):
            loops.append(ends[0])
    return directed, loops


def _weight_columns(sections: Sections, several: bool) -> dict[str | None, tuple[int, int]]:
    """Where the attribute ``weight`` stands among the values of an edge.

    For a layer with attributes of its own: how many they are and the place of its weight (-1 for none); under None
    the same of the attributes of all layers, which come after.
    """
    local: dict[str | None, list[str]] = {None: []}
    for line, row in sections.of(EDGE_ATTRIBUTES):
        if several and len(row) == 4:
            layer: str | None = between(row[0], row[1])
        elif len(row) == 3 and not several:
            layer = row[0]
        elif len(row) == 2:
            layer = None
        else:
            raise sections.error("an attribute needs its name and type, perhaps after a layer", line)
        local.setdefault(layer, []).append(row[-2].lower())
    found: dict[str | None, tuple[int, int]] = {}
    for layer, names in local.items():
        if names:
            found[layer] = (len(names), names.index("weight") if "weight" in names else -1)
    return found


def _edges(
    sections: Sections,
    several: bool,
    directed: dict[str, bool],
    weights: dict[str | None, tuple[int, int]],
    rows: RowCollector,
) -> None:
    needed = 4 if several else 3
    known = own_layers(directed)
    for line, row in sections.of(EDGES):
        if len(row) < needed or not all(row[:needed]):
            wanted = "actor, layer, actor, layer" if several else "actor, actor, layer"
            raise sections.error(f"an edge needs {wanted}", line)
        if several:
            source, layer, target, other = row[:4]
        else:
            (source, target, layer), other = row[:3], row[2]
        for name in (layer, other):
            if directed and name not in known:
                raise sections.error(f"unknown layer {name[:60]!r}; {did_you_mean(name, known)}", line)
        turned = between(other, layer)
        weight = _weight(row[needed:], weights, turned if turned in weights else between(layer, other))
        rows.add_between(layer, other, source, target, weight, line)


def _weight(values: Sequence[str], weights: dict[str | None, tuple[int, int]], layer: str) -> str | None:
    count, place = weights.get(layer, (0, -1))
    if place < 0 and None in weights and weights[None][1] >= 0:
        place = count + weights[None][1]
    if not 0 <= place < len(values):
        return None
    return values[place] or None


def _actors(sections: Sections, parsed: Parsed, options: ReadOptions) -> None:
    names = [row[0] for _, row in sections.of(ACTOR_ATTRIBUTES)]
    table = AttributeTable(sections.path, ["actor", *names])
    if len(set(table.header)) != len(table.header):
        raise FileFormatError("an actor attribute is declared twice", file=sections.path)
    for line, row in sections.of(ACTORS):
        if len(row) > len(table.header):
            raise sections.error(f"there are {len(row) - 1} values for {len(names)} attributes of actors", line)
        table.rows.append(row + [""] * (len(table.header) - len(row)))
        table.lines.append(line)
    present: dict[str, list[str]] = {}
    for line, row in sections.of(NODES):
        if len(row) < 2 or not row[0] or not row[1]:
            raise sections.error("a node needs an actor and a layer", line)
        present.setdefault(row[1], []).append(row[0])
    _take_presence(sections, parsed, present)
    if not sections.of(ACTORS):
        if options.label is not None or options.features is not None:
            raise DataError(f"{sections.path} has no actors with attributes")
        if ACTORS in sections.rows:
            parsed.nodes = []
            parsed.labels = table.labels([], None)
        return
    nodes = table.names()
    known = set(nodes)
    met = (*parsed.rows.nodes, *(name for names in present.values() for name in names))
    nodes = nodes + list(dict.fromkeys(name for name in met if name not in known))
    parsed.nodes, parsed.nodes_file = nodes[: len(table.rows)], sections.path
    take_attributes(parsed, table, options, {"actor"})
    parsed.nodes = nodes
    if parsed.features is not None and len(nodes) > len(table.rows):
        raise FileFormatError(f"the actor {nodes[len(table.rows)]!r} has no features", file=sections.path)


def _take_presence(sections: Sections, parsed: Parsed, present: dict[str, list[str]]) -> None:
    """Where nodes are listed, a layer holds those and the ends of its edges."""
    if NODES not in sections.rows:
        return
    held = {layer: dict.fromkeys(names) for layer, names in present.items()}
    rows = parsed.rows
    for layer, ends in named_nodes(parsed).items():
        members = held.setdefault(layer, {})
        members.update(dict.fromkeys(rows.nodes[end] for end in ends.tolist()))
    for layer in parsed.layers or ():
        held.setdefault(layer, {})
    parsed.present = {layer: list(members) for layer, members in held.items()}
    if parsed.layers is None:
        parsed.layers = list(dict.fromkeys((*own_layers(rows.layers), *held)))
    unknown = next((layer for layer in held if layer not in parsed.layers), None)
    if unknown is not None:
        raise FileFormatError(f"a node is in the unknown layer {unknown!r}", file=sections.path)


def write(graph: MultilayerGraph, path: Path) -> dict[Path, Content]:
    """The graph as a file of the type multiplex, or multilayer where layers are coupled, version 3.0."""
    return {path: "".join(_lines(as_text(graph, NAME, presence=True, couplings=True)))}
