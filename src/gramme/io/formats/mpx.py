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
        word_rows = [*([self.words[name]] if name in self.words else []), *self.of(name)]
        return (word_rows[0][0], word_rows[0][1][0]) if word_rows else None


def read_sections(text: str, path: Path) -> Sections:
    """Cut the text into sections; without any heading all lines are edges."""
    sections = Sections(path)
    current = EDGES
    for line_number, row_cells in numbered_lines(text):
        row_cells = row_cells.strip(" \t")
        if row_cells.startswith("--"):
            continue
        if row_cells.startswith("#"):
            current, rest = _heading(row_cells[1:].strip(), path, line_number)
            sections.rows.setdefault(current, [])
            if rest:
                sections.words[current] = (line_number, [rest])
            continue
        sections.rows.setdefault(current, []).append((line_number, split_cells(row_cells)))
    return sections


def _heading(heading: str, path: Path, line: int) -> tuple[str, str]:
    line_words = " ".join(heading.split())
    for section_name in sorted((*_KNOWN, *_SAME, _LAYER_ATTRIBUTES), key=len, reverse=True):
        if line_words.upper() == section_name or line_words.upper().startswith(section_name + " "):
            return _SAME.get(section_name, section_name), line_words[len(section_name) :].strip()
    error_text = f"unknown section {'#' + heading[:60]!r}; {did_you_mean(line_words.upper(), _KNOWN)}"
    raise FileFormatError(error_text, file=path, line=line)


def split_cells(row: str) -> list[str]:
    """The cells of a line: bare ones are stripped, quoted ones taken as they are (a quote inside is doubled)."""
    if '"' not in row:
        return [cell_content.strip(" \t") for cell_content in row.split(",")]
    row_cells, place = [], 0
    while True:
        match = _QUOTED.match(row, place)
        if match:
            row_cells.append(match[1].replace('""', '"'))
        else:
            match = _BARE.match(row, place)
            assert match is not None  # it matches the empty text
            row_cells.append(match[0].strip(" \t"))
        place = match.end()
        if place >= len(row):
            return row_cells
        place += 1  # the comma


def _lines(text: TextGraph) -> Iterator[str]:
    several = bool(text.graph.couplings)
    yield f"#VERSION\n3.0\n\n#TYPE\n{'multilayer' if several else 'multiplex'}\n\n"
    feature_rows = text.features() or None
    header_cells = [] if text.labels is None else ["label,STRING\n"]
    header_cells += [
        f"feature_{feature_number},NUMERIC\n" for feature_number in range(1, len((feature_rows or [[]])[0]) + 1)
    ]
    if header_cells:
        yield "#ACTOR ATTRIBUTES\n" + "".join(header_cells) + "\n"
    parts = [([first_layer, second_layer][: 1 + several], part) for first_layer, second_layer, part in text.parts()]
    weighted = [names for names, part in parts if part.weighted]
    if weighted:
        yield ("#EDGE ATTRIBUTES\n" + "".join(_row(*names, "weight", "NUMERIC") for names in weighted) + "\n")
    yield "#LAYERS\n"
    for layer_pair, part in parts:
        yield _row(*layer_pair, "DIRECTED" if part.directed else "UNDIRECTED")
    yield "\n#ACTORS\n"
    for place, node in enumerate(text.nodes):
        node_label = [] if text.labels is None else [text.labels[place]]
        yield _row(node, *node_label, *(feature_rows[place] if feature_rows else ()))
    if several or not all(layer.holds_all_nodes for layer in text.layers.values()):
        yield "\n#NODES\n"
        for layer_name, layer in text.edges():
            yield from (_row(text.nodes[node], layer_name) for node in layer.present.nonzero()[0])
    yield "\n#EDGES\n"
    for layer_pair, part in parts:
        for start, end, size in text.named_edges(part):
            edge_weight = () if size is None else (format_number(size),)
            yield _row(
                *((start, layer_pair[0], end, layer_pair[1]) if several else (start, end, layer_pair[0])), *edge_weight
            )


def _row(*values: str) -> str:
    for value in values:
        if "\n" in value or "\r" in value:
            raise DataError(f"the format 'mpx' cannot hold the line end in {value!r}; 'csv' and 'npz' can")
    first_layer = values[0]
    row = format_row(values, ",")
    # A first cell that looks like a heading or a comment is protected by quotes.
    if first_layer.startswith(("#", "--")) and not row.startswith('"'):
        row = f'"{first_layer}"' + row[len(first_layer) :]
    return row


NAME = "mpx"
_DIRECTED = {"DIRECTED": True, "UNDIRECTED": False}


def read(path: Path, options: ReadOptions) -> Parsed:
    """The graph of an mpx file of version 3 (or older ones of the same form)."""
    sections = read_sections(read_text(path, options.encoding), path)
    several = _check_kind(sections)
    directed_by_layer, loops = _layers(sections, several)
    edge_weights = _weight_columns(sections, several)
    row_collector = RowCollector(path)
    _edges(sections, several, directed_by_layer, edge_weights, row_collector)
    parsed = Parsed([path], row_collector.finish())
    layers_stated = bool(sections.of(LAYERS))
    parsed.directed = directed_by_layer if layers_stated else None
    if layers_stated:
        parsed.layers = own_layers(directed_by_layer)
    _actors(sections, parsed, options)
    if loops:
        parsed.notes.append(f"layers that allow self loops: {', '.join(loops)}")
    return parsed


def _check_kind(sections: Sections) -> bool:
    """Whether edges name the layers of both ends; errors on versions and types from elsewhere."""
    version, type_word = sections.word(VERSION), sections.word(TYPE)
    if version is not None and version[1].partition(".")[0] not in ("1", "2", "3"):
        raise sections.error(
            f"version {version[1][:40]!r} of the format is not known; versions up to 3 are", version[0]
        )
    if type_word is None:
        return False
    known_types = ("multiplex", "multilayer")
    if type_word[1].lower() not in known_types:
        raise sections.error(
            f"unknown type {type_word[1][:40]!r}; {did_you_mean(type_word[1], known_types)}", type_word[0]
        )
    return type_word[1].lower() == "multilayer"


def _layers(sections: Sections, several: bool) -> tuple[dict[str, bool], list[str]]:
    """The direction of each layer, and the layers that allow self loops."""
    directed_by_layer: dict[str, bool] = {}
    loops: list[str] = []
    for line_number, row_cells in sections.of(LAYERS):
        end_layers, rest = (row_cells[:2], row_cells[2:]) if several else (row_cells[:1] * 2, row_cells[1:])
        if len(end_layers) < 2 or not end_layers[0] or not end_layers[1]:
            raise sections.error("a layer without a name", line_number)
        direction = rest[0].upper() if rest else "UNDIRECTED"
        if direction not in _DIRECTED:
            raise sections.error(f"{rest[0][:40]!r} is neither DIRECTED nor UNDIRECTED", line_number)
        layer_name = between(end_layers[0], end_layers[1])
        if layer_name in directed_by_layer:
            shown = " and ".join(repr(end) for end in dict.fromkeys(end_layers))
            raise sections.error(f"the layer {shown} is here for the second time", line_number)
        directed_by_layer[layer_name] = _DIRECTED[direction]
        if "LOOPS" in (word.upper() for word in rest[1:]):
            loops.append(end_layers[0])
    return directed_by_layer, loops


def _weight_columns(sections: Sections, several: bool) -> dict[str | None, tuple[int, int]]:
    """Where the attribute ``weight`` stands among the values of an edge.

    For a layer with attributes of its own: how many they are and the place of its weight (-1 for none); under None
    the same of the attributes of all layers, which come after.
    """
    local: dict[str | None, list[str]] = {None: []}
    for line_number, row_cells in sections.of(EDGE_ATTRIBUTES):
        if several and len(row_cells) == 4:
            layer: str | None = between(row_cells[0], row_cells[1])
        elif len(row_cells) == 3 and not several:
            layer = row_cells[0]
        elif len(row_cells) == 2:
            layer = None
        else:
            raise sections.error("an attribute needs its name and type, perhaps after a layer", line_number)
        local.setdefault(layer, []).append(row_cells[-2].lower())
    weight_places: dict[str | None, tuple[int, int]] = {}
    for layer, attribute_names in local.items():
        if attribute_names:
            weight_places[layer] = (
                len(attribute_names),
                attribute_names.index("weight") if "weight" in attribute_names else -1,
            )
    return weight_places


def _edges(
    sections: Sections,
    several: bool,
    directed: dict[str, bool],
    weights: dict[str | None, tuple[int, int]],
    rows: RowCollector,
) -> None:
    needed = 4 if several else 3
    known_layers = own_layers(directed)
    for line_number, row_cells in sections.of(EDGES):
        if len(row_cells) < needed or not all(row_cells[:needed]):
            wanted_fields = "actor, layer, actor, layer" if several else "actor, actor, layer"
            raise sections.error(f"an edge needs {wanted_fields}", line_number)
        if several:
            source, layer, target, other_layer = row_cells[:4]
        else:
            (source, target, layer), other_layer = row_cells[:3], row_cells[2]
        for layer_name in (layer, other_layer):
            if directed and layer_name not in known_layers:
                raise sections.error(
                    f"unknown layer {layer_name[:60]!r}; {did_you_mean(layer_name, known_layers)}", line_number
                )
        turned = between(other_layer, layer)
        edge_weight = _weight(row_cells[needed:], weights, turned if turned in weights else between(layer, other_layer))
        rows.add_between(layer, other_layer, source, target, edge_weight, line_number)


def _weight(values: Sequence[str], weights: dict[str | None, tuple[int, int]], layer: str) -> str | None:
    count, place = weights.get(layer, (0, -1))
    if place < 0 and None in weights and weights[None][1] >= 0:
        place = count + weights[None][1]
    if not 0 <= place < len(values):
        return None
    return values[place] or None


def _actors(sections: Sections, parsed: Parsed, options: ReadOptions) -> None:
    attribute_names = [row[0] for _, row in sections.of(ACTOR_ATTRIBUTES)]
    facts_table = AttributeTable(sections.path, ["actor", *attribute_names])
    if len(set(facts_table.header)) != len(facts_table.header):
        raise FileFormatError("an actor attribute is declared twice", file=sections.path)
    for line_number, row_cells in sections.of(ACTORS):
        if len(row_cells) > len(facts_table.header):
            raise sections.error(
                f"there are {len(row_cells) - 1} values for {len(attribute_names)} attributes of actors", line_number
            )
        facts_table.rows.append(row_cells + [""] * (len(facts_table.header) - len(row_cells)))
        facts_table.lines.append(line_number)
    present_nodes: dict[str, list[str]] = {}
    for line_number, row_cells in sections.of(NODES):
        if len(row_cells) < 2 or not row_cells[0] or not row_cells[1]:
            raise sections.error("a node needs an actor and a layer", line_number)
        present_nodes.setdefault(row_cells[1], []).append(row_cells[0])
    _take_presence(sections, parsed, present_nodes)
    if not sections.of(ACTORS):
        if options.label is not None or options.features is not None:
            raise DataError(f"{sections.path} has no actors with attributes")
        if ACTORS in sections.rows:
            parsed.nodes = []
            parsed.labels = facts_table.labels([], None)
        return
    nodes = facts_table.names()
    known_nodes = set(nodes)
    met = (*parsed.rows.nodes, *(node_name for names in present_nodes.values() for node_name in names))
    nodes = nodes + list(dict.fromkeys(node_name for node_name in met if node_name not in known_nodes))
    parsed.nodes, parsed.nodes_file = nodes[: len(facts_table.rows)], sections.path
    take_attributes(parsed, facts_table, options, {"actor"})
    parsed.nodes = nodes
    if parsed.features is not None and len(nodes) > len(facts_table.rows):
        raise FileFormatError(f"the actor {nodes[len(facts_table.rows)]!r} has no features", file=sections.path)


def _take_presence(sections: Sections, parsed: Parsed, present: dict[str, list[str]]) -> None:
    """Where nodes are listed, a layer holds those and the ends of its edges."""
    if NODES not in sections.rows:
        return
    nodes_by_layer = {layer: dict.fromkeys(node_names) for layer, node_names in present.items()}
    edge_rows = parsed.rows
    for layer_name, end_nodes in named_nodes(parsed).items():
        member_nodes = nodes_by_layer.setdefault(layer_name, {})
        member_nodes.update(dict.fromkeys(edge_rows.nodes[end] for end in end_nodes.tolist()))
    for layer_name in parsed.layers or ():
        nodes_by_layer.setdefault(layer_name, {})
    parsed.present = {layer: list(members) for layer, members in nodes_by_layer.items()}
    if parsed.layers is None:
        parsed.layers = list(dict.fromkeys((*own_layers(edge_rows.layers), *nodes_by_layer)))
    unknown = next((layer for layer in nodes_by_layer if layer not in parsed.layers), None)
    if unknown is not None:
        raise FileFormatError(f"a node is in the unknown layer {unknown!r}", file=sections.path)


def write(graph: MultilayerGraph, path: Path) -> dict[Path, Content]:
    """The graph as a file of the type multiplex, or multilayer where layers are coupled, version 3.0."""
    return {path: "".join(_lines(as_text(graph, NAME, presence=True, couplings=True)))}
