"""Rows ``layer source target [weight]`` separated by white space: the fast lane first, name by name otherwise."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from gramme.errors import FileFormatError

from .parsed import EdgeRows, RowCollector
from .source import AUTO, decode, numbered_lines, read_bytes
from .text import fields

# The fast lane for edge lists: a table of plain whole numbers, parsed by array operations.


_BLOCK_BYTES = 1 << 19
_MARGIN_BYTES = 1 << 12
_DIGITS_IN_WORD = 8
_MAX_DIGITS = 16
_MAX_WEIGHT_CHARACTERS = 32
_NEWLINE = 10

_U = np.uint64
# Keeps the last n digits of a word (the first digit is its lowest byte) as numbers 0 .. 9.
_LAST_DIGITS = np.array(
    [0]
    + [
        (0x0F0F0F0F0F0F0F0F << (8 * (_DIGITS_IN_WORD - n))) & 0x0F0F0F0F0F0F0F0F
        for n in range(1, _DIGITS_IN_WORD + 1)
    ],
    dtype=np.uint64,
)

# The smallest number that is written with n digits.
_SMALLEST = np.array([0, 0] + [10**n for n in range(1, _MAX_DIGITS)], dtype=np.uint64)

Columns = list[NDArray[Any]]


def integer_table(
    data: bytes, *, separators: bytes = b" \t", columns: tuple[int, ...] = (3, 4), weight: int = 3
) -> Columns | None:
    r"""The columns of the table, or None if it is not as plain as that.

    Parameters
    ----------
    data : bytes
        Lines of numbers.
    separators : bytes, default=b' \t'
        Any run of spaces and tabs, or one character that must stand exactly once between two numbers.
    columns : tuple of int, default=(3, 4)
        How many columns there may be; all lines have the same number.
    weight : int, default=3
        The column that may hold decimal numbers.

    >>> [column.tolist() for column in integer_table(b"1 10 2 0.5\n1 2 33 4\n")]
    [[1, 1], [10, 2], [2, 33], [0.5, 4.0]]
    >>> integer_table(b"1 07 2\n") is None
    True
    """
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n")
    count = len(data[: data.find(b"\n") + 1 or len(data)].replace(b",", b" ").split())
    if count not in columns:
        return None
    table = _Table(separators, count, weight if count > weight else -1)
    for part, start, stop in _parts(data):
        table.open(part, len(data))
        while start < stop:
            start = table.block(start, min(start + _BLOCK_BYTES, stop))
            if start < 0:
                return None
    return table.result()


def _parts(data: bytes) -> Iterator[tuple[NDArray[np.uint8], int, int]]:
    """The bytes as arrays, and where in them to start and stop.

    A word must exist before the first number, and a long weight's place after the last, so the first and the last
    lines are copied between line ends; all that lies between is used as it is.
    """
    first = data.find(b"\n", _MARGIN_BYTES) + 1
    last = data.rfind(b"\n", first, max(first, len(data) - _MARGIN_BYTES)) + 1
    if not first or not last:
        first = last = len(data)
    yield _padded(data[:first])
    if last > first:
        yield np.frombuffer(data, dtype=np.uint8), first, last
    if last < len(data):
        yield _padded(data[last:])


def _padded(data: bytes) -> tuple[NDArray[np.uint8], int, int]:
    body = data if data.endswith(b"\n") else data + b"\n"
    padded = b"".join((b"\n" * _MAX_DIGITS, body, b"\n" * _MAX_WEIGHT_CHARACTERS))
    return np.frombuffer(padded, dtype=np.uint8), _MAX_DIGITS, _MAX_DIGITS + len(body)


class _Table:
    """The columns as far as they are parsed."""

    data: NDArray[np.uint8]
    words: NDArray[np.uint64]

    def __init__(self, separators: bytes, count: int, weight: int) -> None:
        self.separators = separators
        self.count = count
        self.weight = weight
        self.columns = [np.empty(0, dtype=np.int64) for _ in range(count)]
        self.decimals: dict[int, NDArray[np.float64]] = {}
        self.row = 0
        self.read = 0

    def open(self, data: NDArray[np.uint8], whole: int) -> None:
        """Go on with these bytes; ``whole`` is the length of the whole text."""
        self.data, self.whole = data, whole
        self.words = np.ndarray(shape=(data.size - 7,), dtype="<u8", buffer=data, strides=(1,))

    def _reserve(self, rows: int) -> None:
        """Make room for further rows: as many as the lines so far let expect, and some more."""
        if self.row + rows <= self.columns[0].size:
            return
        expected = int(1.05 * self.whole * (self.row + rows) / max(1, self.read)) + 1
        size = max(self.row + rows, min(expected, self.whole // (2 * self.count) + 1))
        for place, column in enumerate(self.columns):
            self.columns[place] = np.empty(size, dtype=np.int64)
            self.columns[place][: self.row] = column[: self.row]

    def block(self, start: int, stop: int) -> int:
        """Parse the whole lines among these bytes; where the next block starts, or -1."""
        part = self.data[start:stop]
        ends = np.flatnonzero(part - 48 > 9)  # unsigned: everything but a digit
        kinds = part[ends]
        newline = kinds == _NEWLINE
        proper = newline.copy()
        for separator in self.separators:
            proper |= kinds == separator
        others = None
        if not proper.all():
            others = ends[~proper]
            ends, newline = ends[proper], newline[proper]
        lines = np.flatnonzero(newline)
        if not lines.size:
            return -1
        last = int(lines[-1])
        ends, newline = ends[: last + 1], newline[: last + 1]
        next_start = start + int(ends[last]) + 1
        self.read += next_start - start
        lengths = np.empty_like(ends)
        lengths[0] = ends[0]
        np.subtract(ends[1:], ends[:-1] + 1, out=lengths[1:])
        if not self._is_regular(newline):
            kept = lengths > 0
            if not self._is_lines_of(newline, kept):
                return -1
            ends, lengths = ends[kept], lengths[kept]
        if ends.size == 0:
            return next_start
        ends = ends + start
        if others is not None:
            others = others[others + start < next_start] + start
        return next_start if self._numbers(ends, lengths, others) else -1

    def _is_regular(self, newline: NDArray[np.bool_]) -> bool:
        """Whether every ``count``-th separator, and no other, ends a line."""
        if newline.size % self.count:
            return False
        grid = newline.reshape(-1, self.count)
        return bool(grid[:, -1].all()) and not grid[:, :-1].any()

    def _is_lines_of(self, newline: NDArray[np.bool_], kept: NDArray[np.bool_]) -> bool:
        """Whether, with runs of separators taken as one, every line has no number or ``count`` of them."""
        if len(self.separators) == 1:
            return False
        line: NDArray[np.int64] = (np.cumsum(newline) - newline)[kept]
        if line.size % self.count:
            return False
        grid: NDArray[np.int64] = line.reshape(-1, self.count)
        first, final = grid[:, 0], grid[:, -1]
        return bool((first == final).all() and (first[1:] > final[:-1]).all())

    def _numbers(
        self, ends: NDArray[np.int64], lengths: NDArray[np.int64], others: NDArray[np.int64] | None
    ) -> bool:
        rows = ends.size // self.count
        place = slice(self.row, self.row + rows)
        weights = None
        if others is not None and others.size:
            if self.weight < 0 or (np.searchsorted(ends, others) % self.count != self.weight).any():
                return False
            weights = self._decimals(
                ends[self.weight :: self.count], lengths[self.weight :: self.count]
            )
            if weights is None:
                return False
            self.decimals[self.row] = weights
            lengths = lengths.copy()
            lengths[self.weight :: self.count] = 1  # parsed already; whatever comes out is replaced
        shortest, longest = int(lengths.min()), int(lengths.max())
        if shortest < 1 or longest > _MAX_DIGITS:
            return False
        if longest <= _DIGITS_IN_WORD:
            values = _from_words(self.words[ends - 8], lengths)
        else:
            values = _from_words(self.words[ends - 8], np.minimum(lengths, 8))
            values += _from_words(self.words[ends - 16], np.maximum(lengths - 8, 0)) * _U(10**8)
        if (values < _SMALLEST.take(lengths)).any():
            return False  # a leading zero
        self._reserve(rows)
        grid = values.view(np.int64).reshape(rows, self.count)
        for column, numbers in zip(self.columns, grid.T, strict=True):
            column[place] = numbers
        self.row += rows
        return True

    def _decimals(
        self, ends: NDArray[np.int64], lengths: NDArray[np.int64]
    ) -> NDArray[np.float64] | None:
        width = int(lengths.max())
        if width > _MAX_WEIGHT_CHARACTERS or int(lengths.min()) < 1:
            return None
        offsets = np.arange(width)
        letters = self.data[(ends - lengths)[:, None] + offsets]
        letters[offsets >= lengths[:, None]] = 0
        try:
            numbers: NDArray[np.float64] = letters.view(f"S{width}").ravel().astype(np.float64)
        except ValueError:
            return None
        return numbers

    def result(self) -> Columns | None:
        columns: Columns = [column[: self.row] for column in self.columns]
        if self.weight >= 0:
            weights = columns[self.weight].astype(np.float64)
            for row, numbers in self.decimals.items():
                weights[row : row + numbers.size] = numbers
            if not (np.isfinite(weights) & (weights > 0)).all():
                return None  # the caller finds the line and says what is wrong
            columns[self.weight] = weights
        return columns if self.row else None


def _from_words(words: NDArray[np.uint64], lengths: NDArray[np.int64]) -> NDArray[np.uint64]:
    """The numbers spelled by the last ``lengths`` bytes of each word: pairs of digits, of pairs, of fours."""
    words &= _LAST_DIGITS.take(lengths)
    for factor, shift, mask in (
        (2561, 8, 0x00FF00FF00FF00FF),
        (6553601, 16, 0x0000FFFF0000FFFF),
        (42949672960001, 32, 0x00000000FFFFFFFF),
    ):
        words *= _U(factor)
        words >>= _U(shift)
        words &= _U(mask)
    return words


def read_edge_rows(
    path: Path, encoding: str = AUTO, *, columns: tuple[int, ...] = (3, 4), expected: str
) -> EdgeRows:
    """The rows of a file without a header."""
    data = read_bytes(path)
    rows = fast_rows(data, columns=columns)
    return rows if rows is not None else _slow_rows(path, data, encoding, columns, expected)


def fast_rows(
    data: bytes,
    *,
    columns: tuple[int, ...] = (3, 4),
    separators: bytes = b" \t",
    order: tuple[int, ...] = (0, 1, 2, 3),
    first_line: int = 1,
) -> EdgeRows | None:
    """The rows of a table of plain numbers; None if it is not one.

    ``order`` says in which column layer, source, target and weight stand, -1 for none.
    """
    body = data.removeprefix(codecs.BOM_UTF8)
    table = integer_table(body, columns=columns, separators=separators, weight=order[3])
    if table is None:
        return None

    def line_of(row: int) -> int | None:
        filled = (
            number for number, line in enumerate(body.split(b"\n"), first_line) if line.strip()
        )
        return next((number for position, number in enumerate(filled) if position == row), None)

    return _from_columns(table, order, line_of)


def _from_columns(table: Columns, order: tuple[int, ...], line_of: Any) -> EdgeRows:
    where_layer, where_source, where_target, where_weight = order
    source, target = table[where_source], table[where_target]
    ids, source, target = _numbered(source, target)
    codes, layers = (
        (np.zeros(source.size, dtype=np.int8), np.zeros(0, dtype=np.int64))
        if where_layer < 0
        else _layer_codes(table[where_layer])
    )
    weight = table[where_weight] if 0 <= where_weight < len(table) else None
    names, nodes = (list(map(str, numbers.tolist())) for numbers in (layers, ids))
    return EdgeRows(names, nodes, codes, source, target, weight, line_of, whole=True)


def _layer_codes(layer: NDArray[np.int64]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Each row's layer as a number from 0, and the ids of the layers as they first appear."""
    changes = np.flatnonzero(layer[1:] != layer[:-1]) + 1
    if changes.size < 1000:
        ids = layer[np.concatenate([[0], changes])]
        if np.unique(ids).size == ids.size:  # one layer after the other, as usual
            lengths = np.diff(np.concatenate([[0], changes, [layer.size]]))
            return np.repeat(np.arange(ids.size, dtype=np.int16), lengths), ids
    codes, ids = pd.factorize(layer)
    return (codes.astype(np.int16) if ids.size < 1 << 15 else codes), ids


def _numbered(source: NDArray[Any], target: NDArray[Any]) -> tuple[NDArray[Any], ...]:
    """The distinct ids in order, and both ends as positions among them."""
    smallest = int(min(source.min(), target.min()))
    spread = int(max(source.max(), target.max())) - smallest + 1
    if spread <= 4 * source.size + 1024:
        if smallest:
            source, target = source - smallest, target - smallest
        seen = np.zeros(spread, dtype=bool)
        seen[source] = True
        seen[target] = True
        ids = np.flatnonzero(seen)
        if ids.size < spread:
            place = np.cumsum(seen) - 1
            source, target = place[source], place[target]
        return ids + smallest, source, target
    codes, met = pd.factorize(np.concatenate([source, target]))
    order = np.argsort(met)
    place = np.empty(order.size, dtype=np.int64)
    place[order] = np.arange(order.size)
    codes = place[codes]
    return met[order], codes[: source.size], codes[source.size :]


def _slow_rows(
    path: Path, data: bytes, encoding: str, columns: tuple[int, ...], expected: str
) -> EdgeRows:
    rows = RowCollector(path)
    width = 0
    for line, text in numbered_lines(decode(data, path, encoding)):
        parts = fields(text)
        if len(parts) not in columns or (width and len(parts) != width):
            wanted = f"{width} as in the lines before" if width else expected
            problem = f"there are {len(parts)} fields, but {wanted} are needed: {text[:80]!r}"
            raise FileFormatError(problem, file=path, line=line)
        width = len(parts)
        weight = parts[3] if width == 4 else None
        rows.add(parts[0], parts[1], parts[2], weight, line)
    return rows.finish()
