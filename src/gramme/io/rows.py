"""Edges as they stand in a file, row by row, with names replaced by numbers as early as possible."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gramme.errors import FileFormatError
from gramme.io.names import in_order
from gramme.io.weights import parse_weight


@dataclass
class EdgeRows:
    """The edges of a file.

    Attributes
    ----------
    layers, nodes : list of str
        Distinct names: layers as they first appear, nodes in the order of :func:`gramme.io.names.in_order`.
    layer, source, target : array of int, shape (rows,)
        Positions in ``layers`` and ``nodes``.
    weight : array of float64 or None
        NaN where a row states none.
    line_of : callable
        The line on which a row stands; may be slow, as only an error asks for it.
    whole : bool
        Whether all names of nodes are known to be whole numbers, so that nobody need look again.
    """

    layers: list[str]
    nodes: list[str]
    layer: NDArray[Any]
    source: NDArray[Any]
    target: NDArray[Any]
    weight: NDArray[np.float64] | None
    line_of: Callable[[int], int | None]
    whole: bool = False

    def __len__(self) -> int:
        return int(self.source.size)


class RowCollector:
    """Takes rows one by one, in the order of the file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._layers: dict[str, int] = {}
        self._nodes: dict[str, int] = {}
        self._codes = (array("q"), array("q"), array("q"))
        self._weights = array("d")
        self._lines = array("q")
        self._weighted = False

    def add(
        self, layer: str, source: str, target: str, weight: str | None, line: int | None
    ) -> None:
        """One edge; an unreadable weight is an error that names the line."""
        layers, starts, ends = self._codes
        layers.append(self._layers.setdefault(layer, len(self._layers)))
        starts.append(self._nodes.setdefault(source, len(self._nodes)))
        ends.append(self._nodes.setdefault(target, len(self._nodes)))
        self._lines.append(-1 if line is None else line)
        if weight is None:
            self._weights.append(float("nan"))
            return
        self._weighted = True
        try:
            self._weights.append(parse_weight(weight))
        except ValueError as error:
            raise FileFormatError(str(error), file=self.path, line=line) from None

    def finish(self) -> EdgeRows:
        """All rows, with the nodes in their final order."""
        nodes = in_order(self._nodes)
        place = np.zeros(len(nodes), dtype=np.int64)
        for position, name in enumerate(nodes):
            place[self._nodes[name]] = position
        layer, source, target = (np.array(codes, dtype=np.int64) for codes in self._codes)
        lines = self._lines
        return EdgeRows(
            list(self._layers),
            nodes,
            layer,
            place[source],
            place[target],
            np.array(self._weights, dtype=np.float64) if self._weighted else None,
            lambda row: lines[row] if lines[row] > 0 else None,
        )
