"""The format ``text``: edges or a matrix in a plain text file, by any separator, as R, igraph and networkx write them.

Files named ``.edgelist`` and ``.ncol`` have no header; others have one, unless the user says there is none.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import replace
from pathlib import Path

from gramme.io.edge_rows import fast_rows
from gramme.io.headers import edge_header
from gramme.io.matrix_rows import find_matrix, matrix_layer
from gramme.io.parsed import Parsed, ReadOptions
from gramme.io.source import decode, read_bytes, read_text
from gramme.io.text import separator_of, text_rows, without_comments

from .csv_tables import parse_table

# The format ``matrix``: one adjacency or incidence matrix in a text file, with or without names.
MATRIX_NAME = "matrix"


def read_matrix(path: Path, options: ReadOptions) -> Parsed:
    """The layer of a matrix."""
    text = without_comments(read_text(path, options.encoding), path)
    rows = text_rows(text, separator_of(path, text), path)
    matrix = find_matrix(rows, path, insist=True)
    assert matrix is not None
    return matrix_layer(matrix)


NAME = "text"
HEADERLESS = (".edgelist", ".ncol")
# What networkx writes behind an edge: {'weight': 2.0}
_FACTS = re.compile(r"[ \t]*\{([^{}]*)\}[ \t]*(?=\r?$)", re.MULTILINE)
_WEIGHT = re.compile(r"""['"]weight['"]\s*:\s*([^,\s]+)""")


def read(path: Path, options: ReadOptions) -> Parsed:
    """The edges or the matrix of a text file."""
    data = read_bytes(path)
    bare = path.suffix.lower() in HEADERLESS
    if options.header is False or bare:
        body = data.removeprefix(codecs.BOM_UTF8)
        found = fast_rows(body, columns=(2, 3), order=(-1, 0, 1, 2))
        if found is not None:
            return Parsed([path], found)
    text = without_comments(decode(data, path, options.encoding), path)
    if "\n" not in text:
        text = text.replace("\r", "\n")
    if "{" in text:
        text = _FACTS.sub(_weight_only, text)
    separator = separator_of(path, text)
    rows = text_rows(text, separator, path)
    if bare and options.header is None and rows and edge_header(rows[0][1]) is None:
        options = replace(options, header=False)
    return parse_table(rows, path, options, separator)


def _weight_only(facts: re.Match[str]) -> str:
    found = _WEIGHT.search(facts[1])
    return f" {found[1]}" if found else ""
