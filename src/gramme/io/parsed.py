"""What a parser hands over: the contents of the files, before labels given apart and before any graph is made."""

from __future__ import annotations

import os
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from gramme.errors import FileFormatError

from .source import AUTO, tell
from .values import in_order, parse_weight, unknown_marks


# What was met while a file was read: which files, how many rows, what was dropped, which direction was taken.
@dataclass(frozen=True)
class ReadReport:
    """An account of one reading, as ``gramme info`` prints it.

    Attributes
    ----------
    format : str
        Name of the format, as in :data:`gramme.io.FORMATS`.
    files : tuple of str
        All files that were read, the named one first.
    rows : int
        Edges (and memberships) as they stand in the files, before any is dropped or merged.
    id_base : int or None
        The smallest node id where all ids are whole numbers (0 or 1 in most files); None for other names.
    direction : str
        Which direction the edges were given, and why.
    self_loops_dropped, duplicates_merged : mapping of layer name to int
    notes : tuple of str
        Anything else a user should know, such as attributes that were left out.
    doubts : tuple of str
        Those of the notes that are guesses, such as an encoding that the file does not state.
    """

    format: str
    files: tuple[str, ...]
    rows: int
    id_base: int | None
    direction: str
    self_loops_dropped: Mapping[str, int]
    duplicates_merged: Mapping[str, int]
    notes: tuple[str, ...] = field(default=())
    doubts: tuple[str, ...] = field(default=())

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        plain = {key: list(value) if isinstance(value, tuple) else value for key, value in vars(self).items()}
        return {key: dict(value) if isinstance(value, Mapping) else value for key, value in plain.items()}


# Edges as they stand in a file, row by row, with names replaced by numbers as early as possible.
@dataclass
class EdgeRows:
    """The edges of a file."""

    layers: list[str]  # distinct, as they first appear
    nodes: list[str]  # distinct, in the order of `values.in_order`
    layer: NDArray[Any]  # positions in `layers` and `nodes`, one of each per row
    source: NDArray[Any]
    target: NDArray[Any]
    weight: NDArray[np.float64] | None  # NaN where a row states none
    line_of: Callable[[int], int | None]  # the line of a row; may be slow, as only an error asks for it
    whole: bool = False  # whether all names of nodes are known to be whole numbers, so that nobody need look again
    facts: dict[str, list[str]] = field(default_factory=dict)  # further columns, a cell per row, blank where not known

    def __len__(self) -> int:
        return int(self.source.size)


class RowCollector:
    """Takes rows one by one, in the order of the file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.pillars = 0
        self._layers: dict[str, int] = {}
        self._nodes: dict[str, int] = {}
        self._codes = (array("q"), array("q"), array("q"))
        self._weights = array("d")
        self._lines = array("q")
        self._weighted = False
        self._facts: dict[str, list[str]] = {}

    def add(
        self,
        layer: str,
        source: str,
        target: str,
        weight: str | None,
        line: int | None,
        facts: Mapping[str, str] | None = None,
    ) -> None:
        """One edge; an unreadable weight is an error that names the line."""
        for fact_name, cell_content in (facts or {}).items():
            fact_cells = self._facts.setdefault(fact_name, [])
            fact_cells += [""] * (len(self._lines) - len(fact_cells)) + [cell_content]
        layer_codes, source_codes, target_codes = self._codes
        layer_codes.append(self._layers.setdefault(layer, len(self._layers)))
        source_codes.append(self._nodes.setdefault(source, len(self._nodes)))
        target_codes.append(self._nodes.setdefault(target, len(self._nodes)))
        self._lines.append(-1 if line is None else line)
        if weight is None:
            self._weights.append(float("nan"))
            return
        self._weighted = True
        try:
            self._weights.append(parse_weight(weight))
        except ValueError as error:
            raise FileFormatError(str(error), file=self.path, line=line) from None

    def add_between(
        self, first: str, second: str, source: str, target: str, weight: str | None, line: int | None, **facts: Any
    ) -> None:
        """One edge from a node in a layer to one in another; between the copies of a node it is implied anyway."""
        if first != second and source == target:
            self.pillars += 1
        else:
            self.add(between(first, second), source, target, weight, line, **facts)

    def finish(self) -> EdgeRows:
        """All rows, with the nodes in their final order."""
        if self.pillars:
            edges = "1 edge" if self.pillars == 1 else f"{self.pillars:,} edges"
            tell(f"{self.path.name}: {edges} between the copies of a node dropped: they are implied")
        node_names = in_order(self._nodes)
        final_positions = np.zeros(len(node_names), dtype=np.int64)
        for position, node_name in enumerate(node_names):
            final_positions[self._nodes[node_name]] = position
        layer, source, target = (np.array(layer_codes, dtype=np.int64) for layer_codes in self._codes)
        lines = self._lines
        return EdgeRows(
            list(self._layers),
            node_names,
            layer,
            final_positions[source],
            final_positions[target],
            np.array(self._weights, dtype=np.float64) if self._weighted else None,
            lambda row: lines[row] if lines[row] > 0 else None,
            facts={name: column + [""] * (len(lines) - len(column)) for name, column in self._facts.items()},
        )


LabelsForm = Literal["list", "pairs"]


@dataclass(frozen=True)
class ReadOptions:
    """What the user said beside the file's name; see :func:`gramme.read`."""

    labels: Any = None
    labels_format: LabelsForm | None = None
    nodes: str | os.PathLike[str] | None = None
    label: str | None = None
    features: Sequence[str] | None = None
    edge_features: Sequence[str] | None = None
    directed: bool | None = None
    encoding: str = AUTO
    mmap: bool = False
    missing: str | Sequence[str] = ()
    keep_na: bool = False
    id: str | None = None
    columns: Sequence[str] | None = None
    layers_from: Sequence[str] | None = None
    label_bins: int | None = None
    label_edges: Sequence[float] | None = None
    label_kind: str | None = None
    header: bool | None = None
    source: str | None = None
    target_column: str | None = None
    weight: str | None = None
    layer: str | None = None
    table: str | None = None
    query: str | None = None

    @property
    def named_columns(self) -> dict[str, tuple[str, str]]:
        """The option and the column of each part of an edge whose column the user named."""
        options = {"source": "source", "target": "target_column", "weight": "weight", "layer": "layer"}
        return {
            part: (option, str(getattr(self, option)))
            for part, option in options.items()
            if getattr(self, option) is not None
        }

    @property
    def edge_columns(self) -> list[str]:
        """The columns or attributes of edges that are features."""
        return [self.edge_features] if isinstance(self.edge_features, str) else list(self.edge_features or ())

    @property
    def marks(self) -> frozenset[str]:
        """The text that means "not known"."""
        return unknown_marks(self.missing, keep_na=self.keep_na)


@dataclass
class Groups:
    """The memberships of one layer, by name, all with a weight or none.

    Who is in no group is absent unless all are present.
    """

    nodes: list[str] = field(default_factory=list)
    groups: list[str] = field(default_factory=list)
    weights: list[float] = field(default_factory=list)
    all_present: bool = False


@dataclass
class Parsed:
    """The contents of the files of one graph."""

    files: list[Path]  # the files read, the main one first
    rows: EdgeRows
    nodes: list[str] | None = None  # all nodes in order where the files state them
    nodes_file: Path | None = None  # where they do
    layers: list[str] | None = None  # all layers in order where the files state them
    directed: bool | Mapping[str, bool] | None = None  # what the files say, perhaps by layer; None if nothing
    ones_mean_unweighted: bool = False  # whether a weight of 1 on every edge of a layer is this format's "no weights"
    present: Mapping[str, Sequence[str]] = field(default_factory=dict)  # the nodes of layers that do not hold all
    # Layers of which the files say that they hold all nodes. Where layers are coupled, others hold the nodes that some
    # row names together with them.
    hold_all: frozenset[str] = frozenset()
    groups: Mapping[str, Groups] = field(default_factory=dict)  # the membership layers
    node_groups: Mapping[str, Groups] = field(default_factory=dict)  # those that come from attributes of the nodes
    labels: Mapping[str, Any] | None = None  # by node
    labels_file: Path | None = None  # one that belongs to the graph; the user's own choice replaces it
    labels_form: LabelsForm | None = None
    id_start: int | None = None  # the first id where this format numbers its nodes from 0 or from 1
    features: NDArray[np.float64] | None = None  # a row for each of `nodes`
    masks: Mapping[str, Sequence[str]] = field(default_factory=dict)  # the nodes in each mask
    notes: list[str] = field(default_factory=list)
    edges_file: Path | None = None  # the file the rows stand in, where it is not the first

    @property
    def rows_file(self) -> Path:
        """Where the rows stand."""
        return self.edges_file or self.files[0]


# Edges between layers on their way through files: rows whose layer is the joined name of two.

# Long enough that no layer has it in its name by chance; a file that does is refused as one with a coupling it lacks
_MARK = chr(0) + "~ to the layer ~" + chr(0)


def between(first: str, second: str) -> str:
    """The name under which edges from one layer to another are collected; a layer's own name where both are one."""
    return first if first == second else f"{first}{_MARK}{second}"


def ends_of(name: str) -> list[str]:
    """The layers of a collected name: one, or two of a coupling."""
    return name.split(_MARK)


def couples(name: str) -> bool:
    """Whether the name is that of a coupling."""
    return _MARK in name


def own_layers(names: Iterable[str]) -> list[str]:
    """The layers that collected names speak of, each once, in order."""
    return list(dict.fromkeys(layer_name for collected_name in names for layer_name in ends_of(collected_name)))


def renamed_ends(name: str, label_of: Mapping[str, str]) -> str:
    """A collected name with other names for its layers."""
    layer_names = [label_of[end_layer] for end_layer in ends_of(name)]
    return between(layer_names[0], layer_names[-1])


def named_nodes(parsed: Parsed) -> dict[str, NDArray[np.int64]]:
    """The nodes that some row names together with each layer, as positions among the rows' nodes."""
    edge_rows = parsed.rows
    nodes_by_layer: dict[str, list[NDArray[Any]]] = {}
    for code, layer_name in enumerate(edge_rows.layers):
        row_selection = edge_rows.layer == code
        first_layer, *rest = ends_of(layer_name)
        second_layer = rest[0] if rest else first_layer
        nodes_by_layer.setdefault(first_layer, []).append(edge_rows.source[row_selection])
        nodes_by_layer.setdefault(second_layer, []).append(edge_rows.target[row_selection])
    return {name: np.unique(np.concatenate(parts)) for name, parts in nodes_by_layer.items()}
