"""Nearest-neighbour edges, exact and the same on every machine: ties go to the earlier row."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import cycle, islice
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from gramme.errors import DataError, FileFormatError
from gramme.graph import EdgeLayer, Layer, MultilayerGraph

# Checks of options: whole numbers for any dataset; signals, classes and random streams for the synthetic ones.
DEFAULT_SIGNAL = (0.8, 0.5, 0.0)


def positive_int(value: object, what: str, least: int = 1) -> int:
    """A whole number of at least ``least``, or an error that quotes it."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise DataError(f"{what} must be a whole number of at least {least}, not {value!r}")
    return int(value)


def layer_signals(signal: float | Sequence[float] | None, layers: int | None) -> list[float]:
    """One signal per layer."""
    node_count = None if layers is None else positive_int(layers, "layers")
    if signal is None:
        return list(islice(cycle(DEFAULT_SIGNAL), node_count or len(DEFAULT_SIGNAL)))
    if isinstance(signal, (int, float)):
        values = [float(signal)] * (node_count or len(DEFAULT_SIGNAL))
    else:
        try:
            values = [float(value) for value in signal]
        except (TypeError, ValueError):
            raise DataError(f"signal must be a number or one for each layer, not {signal!r}") from None
    if not values or (node_count is not None and len(values) != node_count):
        raise DataError(f"{len(values)} signals were given for {node_count} layers; give one for each")
    for value in values:
        if not 0 <= value <= 1:
            raise DataError(f"a signal must be between 0 and 1, not {value}")
    return values


def streams(random_state: int | None, count: int) -> list[np.random.Generator]:
    """Independent random streams; the first ones do not depend on how many there are."""
    if random_state is not None:
        random_state = positive_int(random_state, "random_state", least=0)
    seeds = np.random.SeedSequence(random_state).spawn(count)
    return [np.random.default_rng(seed) for seed in seeds]


def shuffled_classes(nodes: int, classes: int, random: np.random.Generator) -> NDArray[np.int64]:
    """A class per node, equally many of each, in random order."""
    return random.permutation(np.arange(nodes) % classes)


# Small readers for the plain text files the datasets come as; every error names file and line.
def read_lines(path: Path, expected: int | None = None) -> list[str]:
    """The lines of a text file, without blank ones at its end."""
    try:
        file_lines = path.read_text(encoding="utf-8").rstrip().split("\n")
    except UnicodeDecodeError as error:
        raise FileFormatError("this is not a text file in UTF-8", file=path) from error
    file_lines = [line.rstrip("\r") for line in file_lines]
    if expected is not None and len(file_lines) != expected:
        raise FileFormatError(f"the file has {len(file_lines)} lines, {expected} are expected", file=path)
    return file_lines


def read_integers(path: Path, *columns: range, expected: int | None = None) -> NDArray[np.int64]:
    """A table of whole numbers between blanks, shape (rows, columns), each within its column's range."""
    parsers = [_within(admitted_range) for admitted_range in columns]
    table_rows = _parsed(path, read_lines(path, expected), str.split, parsers)
    return np.array(table_rows, dtype=np.int64)


def read_cells(path: Path, parsers: Sequence[Callable[[str], Any]], expected: int | None = None) -> list[list[Any]]:
    """The columns of a file of comma-separated values without a header.

    A column's parser turns a cell into a value, or raises ValueError with what would be right.
    """
    table_rows = _parsed(path, read_lines(path, expected), lambda line: line.split(","), parsers)
    return [list(column_cells) for column_cells in zip(*table_rows, strict=True)]


def one_of(choices: Mapping[str, Any]) -> Callable[[str], Any]:
    """A parser of cells that may hold only some words."""

    def parse(cell: str) -> Any:
        if cell not in choices:
            raise ValueError(f"{cell!r} must be one of {', '.join(choices)}")
        return choices[cell]

    return parse


def _within(admitted: range) -> Callable[[str], int]:
    def parse(cell: str) -> int:
        if not cell.isdecimal() or int(cell) not in admitted:
            raise ValueError(f"{cell!r} must be a whole number from {admitted.start} to {admitted.stop - 1}")
        return int(cell)

    return parse


def _parsed(
    path: Path, lines: Sequence[str], split: Callable[[str], list[str]], parsers: Sequence[Callable[[str], Any]]
) -> list[list[Any]]:
    table_rows = []
    for line_number, line_text in enumerate(lines, start=1):
        cells = split(line_text)
        if len(cells) != len(parsers):
            raise FileFormatError(
                f"{len(cells)} values were found, {len(parsers)} are expected", file=path, line=line_number
            )
        try:
            table_rows.append([parse(cell_content.strip()) for parse, cell_content in zip(parsers, cells, strict=True)])
        except ValueError as error:
            raise FileFormatError(str(error), file=path, line=line_number) from error
    return table_rows


# The form in which the paper's authors publish edges: rows ``layer source target``, counted from 0.


def read_edge_layers(path: Path, names: Sequence[str], num_nodes: int) -> dict[str, Layer]:
    """One undirected layer per name.

    The rows hold every edge in both directions and one self loop per node and layer, so a layer's rows are its
    ``num_edges + self_loops_dropped + duplicates_merged``.
    """
    table_rows = read_integers(path, range(len(names)), range(num_nodes), range(num_nodes))
    return {
        layer_name: EdgeLayer(num_nodes, *table_rows[table_rows[:, 0] == layer_number, 1:].T)
        for layer_number, layer_name in enumerate(names)
    }


# Graphs stored as one ``graph.npz`` of plain arrays, without pickled objects.
def read_arrays(path: Path) -> dict[str, NDArray[Any]]:
    """All arrays of the file; pickled ones are refused."""
    try:
        with np.load(path, allow_pickle=False) as archive:
            return {name: archive[name] for name in archive.files}
    except FileNotFoundError:
        raise
    # zip files, compressed bytes and the arrays' headers, which are Python text, have many ways to be wrong
    except Exception as error:
        raise FileFormatError(f"this is not an archive of plain arrays ({error})", file=path) from error


def read_graph(path: Path, name: str) -> MultilayerGraph:
    """The graph of a ``graph.npz``; labels are the numbers of the source."""
    arrays = read_arrays(path)
    try:
        node_count = int(arrays["num_nodes"])
        if len(arrays["labels"]) != node_count:  # before anything of that size is made
            raise ValueError(f"{len(arrays['labels'])} labels were given for {node_count} nodes")
        graph_layers: dict[str, Layer] = {
            str(layer): EdgeLayer(node_count, *arrays[f"edges_{layer_number}"], directed=bool(arrays["directed"]))
            for layer_number, layer in enumerate(arrays["layer_names"])
        }
        feature_matrix = _features(arrays) if "features_shape" in arrays else None
        return MultilayerGraph(graph_layers, labels=arrays["labels"], features=feature_matrix, name=name)
    except KeyError as error:
        raise FileFormatError(f"the array {error} is missing", file=path) from error
    except (TypeError, ValueError, IndexError, OverflowError, MemoryError) as error:
        raise FileFormatError(f"the arrays do not make a graph ({error})", file=path) from error


def _features(arrays: dict[str, NDArray[Any]]) -> sp.csr_array:
    matrix_parts = tuple(arrays[f"features_{part}"] for part in ("data", "indices", "indptr"))
    feature_matrix = sp.csr_array(matrix_parts, shape=tuple(arrays["features_shape"].tolist()))
    feature_matrix.check_format(full_check=True)
    return feature_matrix


def read_positions(path: Path, **names: str) -> dict[str, NDArray[np.int64]]:
    """Index arrays of the file, as int64 by the names they are wanted under."""
    arrays = read_arrays(path)
    try:
        return {wanted_name: arrays[stored].astype(np.int64) for wanted_name, stored in names.items()}
    except KeyError as error:
        raise FileFormatError(f"the array {error} is missing", file=path) from error
    except (TypeError, ValueError) as error:
        raise FileFormatError(f"the positions are not numbers ({error})", file=path) from error


BLOCK_ROWS = 512


def nearest_edges(points: NDArray[Any], neighbours: int) -> NDArray[np.int64]:
    """Edges from every row to its nearest other rows, shape (2, rows x neighbours).

    Distances of all pairs are looked at, a block of rows at a time: for some ten thousand rows at most.
    """
    table_rows = len(points)
    if not 1 <= neighbours < table_rows:
        raise DataError(f"neighbours must be from 1 to {table_rows - 1}, not {neighbours}")
    points = np.asarray(points, dtype=np.float64)
    edge_blocks = []
    for begin in range(0, table_rows, BLOCK_ROWS):
        block = np.arange(begin, min(begin + BLOCK_ROWS, table_rows))
        distance = cdist(points[block], points, "sqeuclidean")
        distance[block - begin, block] = np.inf
        farthest = np.partition(distance, neighbours - 1, axis=1)[:, [neighbours - 1]]
        nearer = distance < farthest
        tied = distance == farthest
        places = neighbours - nearer.sum(axis=1, keepdims=True)
        source, target = np.nonzero(nearer | (tied & (np.cumsum(tied, axis=1) <= places)))
        edge_blocks.append(np.stack([source + begin, target]))
    return np.concatenate(edge_blocks, axis=1)
