"""The format ``matrix``: one adjacency or incidence matrix in a text file, with or without names.

Where the name of the file says ``csv`` or ``tsv`` a matrix is found by its shape; naming this format insists.
"""

from __future__ import annotations

from pathlib import Path

from gramme.io.delimited import separator_of
from gramme.io.matrix_rows import find_matrix, matrix_layer
from gramme.io.parsed import Parsed, ReadOptions
from gramme.io.source import read_text
from gramme.io.text_rows import text_rows, without_comments

NAME = "matrix"


def read(path: Path, options: ReadOptions) -> Parsed:
    """The layer of a matrix."""
    text = without_comments(read_text(path, options.encoding), path)
    rows = text_rows(text, separator_of(path, text), path)
    matrix = find_matrix(rows, path, insist=True)
    assert matrix is not None
    return matrix_layer(matrix)
