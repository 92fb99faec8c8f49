"""What a parser hands over: the contents of the files, before labels given apart and before any graph is made."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from gramme.io.rows import EdgeRows
from gramme.io.source import AUTO
from gramme.io.unknown import unknown_marks

LabelsForm = Literal["list", "pairs"]


@dataclass(frozen=True)
class ReadOptions:
    """What the user said beside the file's name; see :func:`gramme.read`."""

    labels: Any = None
    labels_format: LabelsForm | None = None
    nodes: str | os.PathLike[str] | None = None
    label: str | None = None
    features: Sequence[str] | None = None
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
    table: str | None = None
    query: str | None = None

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
    """The contents of the files of one graph.

    Attributes
    ----------
    files : list of Path
        The files read, the main one first.
    rows : EdgeRows
    edges_file : Path or None
        The file the rows stand in, where it is not the first.
    nodes : list of str or None
        All nodes in order where the files state them; ``nodes_file`` is where they do.
    layers : list of str or None
        All layers in order where the files state them.
    directed : bool, mapping of layer to bool, or None
        What the files say about direction; None if they say nothing.
    ones_mean_unweighted : bool
        Whether a weight of 1 on every edge of a layer is this format's way to say "no weights".
    present : mapping of layer to node names
        Layers that do not hold all nodes.
    hold_all : set of str
        Layers of which the files say that they hold all nodes. Where layers are coupled, others hold the nodes that
        some row names together with them.
    groups : mapping of layer to Groups
        The membership layers.
    node_groups : mapping of layer to Groups
        Membership layers that come from attributes of the nodes.
    labels : mapping of node to label, or None
    labels_file : Path or None
        A file of labels that belongs to the graph; the user's own choice replaces it.
    id_start : int or None
        The first id where this format numbers its nodes from 0 or from 1.
    features : array, shape (nodes, columns), or None
        Aligned with ``nodes``.
    """

    files: list[Path]
    rows: EdgeRows
    nodes: list[str] | None = None
    nodes_file: Path | None = None
    layers: list[str] | None = None
    directed: bool | Mapping[str, bool] | None = None
    ones_mean_unweighted: bool = False
    present: Mapping[str, Sequence[str]] = field(default_factory=dict)
    hold_all: frozenset[str] = frozenset()
    groups: Mapping[str, Groups] = field(default_factory=dict)
    node_groups: Mapping[str, Groups] = field(default_factory=dict)
    labels: Mapping[str, Any] | None = None
    labels_file: Path | None = None
    labels_form: LabelsForm | None = None
    id_start: int | None = None
    features: NDArray[np.float64] | None = None
    notes: list[str] = field(default_factory=list)
    edges_file: Path | None = None

    @property
    def rows_file(self) -> Path:
        """Where the rows stand."""
        return self.edges_file or self.files[0]
