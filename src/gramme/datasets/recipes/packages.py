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
    package_names = pd.Index(sorted(packages))
    graph_layers: dict[str, Layer] = {}
    for field in DEPENDENCIES:
        node_pairs = [
            (package_name, other)
            for package_name in package_names
            for other in dict.fromkeys(_named(packages[package_name].get(field, "")))
            if other != package_name and other in packages
        ]
        source, target = ([pair[end] for pair in node_pairs] for end in (0, 1))
        start_nodes, end_nodes = (
            package_names.get_indexer(pd.Index(source)),
            package_names.get_indexer(pd.Index(target)),
        )
        ways = np.ones(start_nodes.size, dtype=np.int8)
        graph_layers[field.lower()] = EdgeLayer(len(package_names), start_nodes, end_nodes, ways=ways)
    for field in GROUPS:
        column_values = [_values(field, packages[package_name]) for package_name in package_names]
        node = np.repeat(np.arange(len(package_names)), [len(some) for some in column_values])
        group, group_names = pd.factorize(pd.Index([value for some in column_values for value in some]))
        graph_layers[field.lower()] = MembershipLayer(len(package_names), node, group, group_names)
    node_labels = [packages[package_name].get(SECTION, "").rpartition("/")[2] or None for package_name in package_names]
    return MultilayerGraph(graph_layers, nodes=package_names, labels=node_labels, name="debian")


def _index_file(path: str | os.PathLike[str] | None) -> Path:
    if path is None:
        raise DataError(f'{_NEEDED} Then: load("debian", path="Packages")')
    file_path = Path(path).expanduser()
    if not file_path.is_file():
        raise DataError(f"there is no file {file_path}. {_NEEDED}")
    return file_path


def _packages(file: Path) -> dict[str, Paragraph]:
    """The paragraphs by package; the last one of a package counts, as later versions follow."""
    paragraph_by_package: dict[str, Paragraph] = {}
    for number, paragraph in _paragraphs(file):
        if "Package" not in paragraph:
            raise FileFormatError("a paragraph of a Packages index must have a line Package:", file=file, line=number)
        paragraph_by_package[paragraph["Package"]] = paragraph
    if not paragraph_by_package:
        raise FileFormatError("no package is in this index", file=file)
    return paragraph_by_package


def _paragraphs(file: Path) -> Iterator[tuple[int, Paragraph]]:
    """Fields by name, with the line at which each paragraph begins; lines that go on start with a blank."""
    paragraph: Paragraph = {}
    began, key = 1, ""
    with _opened(file) as lines:
        for line_number, line_text in enumerate(lines, start=1):
            if not line_text.strip():
                if paragraph:
                    yield began, paragraph
                paragraph, began, key = {}, line_number + 1, ""
            elif line_text[0] in " \t":
                if key:
                    paragraph[key] += f" {line_text.strip()}"
            else:
                key, colon, value = line_text.partition(":")
                if not colon:
                    raise FileFormatError("a line of a Packages index is Field: value", file=file, line=line_number)
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
        line_words = part.split()
        if line_words:
            yield line_words[0].partition(":")[0]


def _values(field: str, paragraph: Paragraph) -> list[str]:
    """A maintainer is one group, whatever is in the name; tags are separated by commas."""
    text = paragraph.get(field, "")
    line_fields = text.split(",") if field == "Tag" else [text]
    return list(dict.fromkeys(part.strip() for part in line_fields if part.strip()))


_NEEDED = (
    "A Packages index is needed: apt-cache dumpavail > Packages on a Debian machine, or a file "
    "dists/.../binary-amd64/Packages.xz of a mirror."
)
