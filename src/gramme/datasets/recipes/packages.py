"""Debian: packages joined by dependencies, maintainers and tags; the user brings the index."""

from __future__ import annotations

import gzip
import lzma
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import numpy as np
import pandas as pd

from gramme.datasets.record import Paths
from gramme.errors import DataError, FileFormatError
from gramme.graph import EdgeLayer, Layer, MembershipLayer, MultilayerGraph

DEPENDENCIES = ("Depends", "Recommends", "Suggests")
GROUPS = ("Maintainer", "Tag")
SECTION = "Section"

Paragraph = dict[str, str]


def build_debian(paths: Paths, *, path: str | os.PathLike[str] | None = None) -> MultilayerGraph:
    """A layer per kind of dependency, the way it was stated known, and one of maintainers and of tags."""
    packages = _packages(_index_file(path))
    names = pd.Index(sorted(packages))
    layers: dict[str, Layer] = {}
    for field in DEPENDENCIES:
        pairs = [
            (name, other)
            for name in names
            for other in dict.fromkeys(_named(packages[name].get(field, "")))
            if other != name and other in packages
        ]
        source, target = ([pair[end] for pair in pairs] for end in (0, 1))
        start, end = names.get_indexer(pd.Index(source)), names.get_indexer(pd.Index(target))
        ways = np.ones(start.size, dtype=np.int8)
        layers[field.lower()] = EdgeLayer(len(names), start, end, ways=ways)
    for field in GROUPS:
        values = [_values(field, packages[name]) for name in names]
        node = np.repeat(np.arange(len(names)), [len(some) for some in values])
        group, groups = pd.factorize(pd.Index([value for some in values for value in some]))
        layers[field.lower()] = MembershipLayer(len(names), node, group, groups)
    labels = [packages[name].get(SECTION, "").rpartition("/")[2] or None for name in names]
    return MultilayerGraph(layers, nodes=names, labels=labels, name="debian")


def _index_file(path: str | os.PathLike[str] | None) -> Path:
    if path is None:
        raise DataError(f'{_NEEDED} Then: load("debian", path="Packages")')
    file = Path(path).expanduser()
    if not file.is_file():
        raise DataError(f"there is no file {file}. {_NEEDED}")
    return file


def _packages(file: Path) -> dict[str, Paragraph]:
    """The paragraphs by package; the last one of a package counts, as later versions follow."""
    found: dict[str, Paragraph] = {}
    for number, paragraph in _paragraphs(file):
        if "Package" not in paragraph:
            raise FileFormatError("a paragraph of a Packages index must have a line Package:", file=file, line=number)
        found[paragraph["Package"]] = paragraph
    if not found:
        raise FileFormatError("no package is in this index", file=file)
    return found


def _paragraphs(file: Path) -> Iterator[tuple[int, Paragraph]]:
    """Fields by name, with the line at which each paragraph begins; lines that go on start with a blank."""
    paragraph: Paragraph = {}
    began, key = 1, ""
    with _opened(file) as lines:
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                if paragraph:
                    yield began, paragraph
                paragraph, began, key = {}, number + 1, ""
            elif line[0] in " \t":
                if key:
                    paragraph[key] += f" {line.strip()}"
            else:
                key, colon, value = line.partition(":")
                if not colon:
                    raise FileFormatError("a line of a Packages index is Field: value", file=file, line=number)
                paragraph[key] = value.strip()
    if paragraph:
        yield began, paragraph


def _opened(file: Path) -> IO[str]:
    """The file as text, unpacked if its name says that it is packed."""
    if file.suffix == ".gz":
        return gzip.open(file, "rt", encoding="utf-8", errors="replace")
    if file.suffix == ".xz":
        return lzma.open(file, "rt", encoding="utf-8", errors="replace")
    return file.open(encoding="utf-8", errors="replace")


def _named(text: str) -> Iterator[str]:
    """The packages that a list of dependencies names, alternatives included, without version and architecture."""
    for part in re.split(r"[,|]", text):
        words = part.split()
        if words:
            yield words[0].partition(":")[0]


def _values(field: str, paragraph: Paragraph) -> list[str]:
    """A maintainer is one group, whatever is in the name; tags are separated by commas."""
    text = paragraph.get(field, "")
    parts = text.split(",") if field == "Tag" else [text]
    return list(dict.fromkeys(part.strip() for part in parts if part.strip()))


_NEEDED = (
    "A Packages index is needed: apt-cache dumpavail > Packages on a Debian machine, or a file "
    "dists/.../binary-amd64/Packages.xz of a mirror."
)
