"""What is known about a dataset before it is loaded: its size, origin, terms, caveats and files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gramme.graph import MultilayerGraph


@dataclass(frozen=True)
class DataFile:
    """One file of a dataset, known by its checksum wherever it lies.

    Parameters
    ----------
    folder, name : str
        Where the file lies below a data folder: ``folder/name``.
    size : int
        Bytes.
    sha256 : str
        Checksum of the content.
    address : str, optional
        Where the public can get it; None where nobody serves the file in this form.
    exact : bool, default=False
        Whether only the very file will do: for formats that are dangerous to read from strangers.
    """

    folder: str
    name: str
    size: int
    sha256: str
    address: str | None = None
    exact: bool = False


@dataclass(frozen=True)
class DatasetInfo:
    """The record of a dataset.

    Attributes
    ----------
    name, title, description : str
        The name to load it by, its full name, and one line on what it holds.
    nodes, layers, classes : int or None
        Size of the graph with default options; None if it depends on the user's file.
    recipe : str
        How the source becomes a multi-layered graph.
    citation, licence : str
        Whom to cite, and the terms as far as they are known.
    caveat : str
        What the paper did otherwise and where a number on this dataset needs care; may be empty.
    files : tuple of DataFile
        What is read; empty where nothing is.
    embedded : bool
        Whether it loads on a machine with neither files nor network.
    options : mapping of str to str
        Keyword arguments of :func:`gramme.datasets.load`, and what each does.
    """

    name: str
    title: str
    description: str
    nodes: int | None
    layers: int | None
    classes: int | None
    recipe: str
    citation: str
    licence: str
    caveat: str = ""
    files: tuple[DataFile, ...] = ()
    embedded: bool = False
    options: Mapping[str, str] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """Everything as plain values, for JSON."""
        plain = {key: value for key, value in vars(self).items() if key not in ("files", "options")}
        files = [asdict(file) for file in self.files]
        return plain | {"files": files, "options": dict(self.options)}


Paths = Mapping[str, Path]
"""Where the files of a dataset are on this machine, by file name."""

Split = dict[str, NDArray[np.int64]]
"""Positions of nodes by purpose: train, validation, test."""


@dataclass(frozen=True)
class Dataset:
    """A record with the functions that make the graph and, where the source has one, its split.

    Both functions take the paths of the files first and then the user's options by keyword.
    """

    info: DatasetInfo
    build: Callable[..., MultilayerGraph]
    split: Callable[..., Split] | None = None
