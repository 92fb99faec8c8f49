"""The sections of an ``mpx`` file: its lines under their headings, each with its number."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from gramme.errors import FileFormatError, did_you_mean
from gramme.io.source import numbered_lines

Row = tuple[int, list[str]]

VERSION, TYPE, LAYERS, ACTORS, NODES, EDGES = (
    "VERSION",
    "TYPE",
    "LAYERS",
    "ACTORS",
    "NODES",
    "EDGES",
)
ACTOR_ATTRIBUTES, NODE_ATTRIBUTES, EDGE_ATTRIBUTES = (
    "ACTOR ATTRIBUTES",
    "NODE ATTRIBUTES",
    "EDGE ATTRIBUTES",
)
_LAYER_ATTRIBUTES = "LAYER ATTRIBUTES"
_KNOWN = (
    VERSION,
    TYPE,
    LAYERS,
    ACTORS,
    NODES,
    EDGES,
    ACTOR_ATTRIBUTES,
    NODE_ATTRIBUTES,
    EDGE_ATTRIBUTES,
)
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
    """The cells of a line: bare ones are stripped, quoted ones taken as they are (a quote inside is doubled).

    >>> split_cells('a , " b,""c"" ",')
    ['a', ' b,"c" ', '']
    """
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
