"""A graph in parts on disk: a manifest and one file per part, which is checked and then mapped by its process alone.

``manifest.json`` has the version, the counts, what layers there are, the classes, and for each part its file, its nodes
and its sha256. A part is an uncompressed ``.npz`` of plain arrays. Whatever does not fit is refused by name.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from gramme.distributed.cut import Cut, Members, coupling_facts, layer_facts, part_members
from gramme.distributed.manifest import FORMAT, MANIFEST, VERSION, Manifest, read_manifest
from gramme.errors import DataError
from gramme.graph import MultilayerGraph
from gramme.graph.name_order import in_name_order
from gramme.io.values import encode
from gramme.io.zip_arrays import ArrayWriter

Ints = NDArray[np.int64]


def write_parts(graph: MultilayerGraph, folder: Path, owner: NDArray[Any], parts: int) -> Manifest:
    """Write a whole graph in parts into a folder that is there and empty.

    Parameters
    ----------
    graph : MultilayerGraph
    folder : Path
    owner : array of int, shape (nodes,)
        The part of each node, 0 .. parts - 1, each with one node at least.
    parts : int
    """
    order = in_name_order(graph)  # in which models see it
    given = np.arange(graph.num_nodes) if order.places is None else order.places
    cut = Cut.of(np.asarray(owner)[given], parts)
    empty = [number for number, places in enumerate(cut.places) if not places.size]
    if empty:
        raise DataError(
            f"{graph.num_nodes} nodes cannot be divided into {parts} parts: part {empty[0]} would be empty"
        )
    classes = graph.classes
    number = {label: code for code, label in enumerate(classes)}
    codes = np.full(graph.num_nodes, -1, dtype=np.int64)
    for place, label in enumerate([] if graph.labels is None else graph.labels.tolist()):
        if label is not None:
            codes[place] = number[label]
    ordered = order.graph
    facts = {
        "name": graph.name,
        "nodes": graph.num_nodes,
        "entries": ordered.with_coupling_layers().num_entries,
        "classes": json.loads(encode(classes)),
        "layers": layer_facts(ordered, cut),
        "layer_order": list(graph.layers),
        "couplings": coupling_facts(ordered),
        "layer_features": list(ordered.layer_features),
    }
    return fill_parts(folder, facts, part_members(ordered, cut, codes[given], given))


def fill_parts(
    folder: Path, facts: dict[str, Any], parts: Iterable[tuple[Members, dict[str, Any]]]
) -> Manifest:
    """Write parts one after the other as they come, then the manifest; for graphs that no memory holds.

    Parameters
    ----------
    folder : Path
    facts : dict
        What the manifest says about the whole graph.
    parts : iterable of pairs
        The arrays of each part, and what the manifest says about it.
    """
    entries = []
    for rank, (members, said) in enumerate(parts):
        path = folder / f"part-{rank:04d}.npz"
        with path.open("wb") as file:
            _write_arrays(file, members)
        entries.append(
            {
                "file": path.name,
                "nodes": int(members["places"].size),
                "bytes": path.stat().st_size,
                "sha256": sha256_of(path),
                **said,
            }
        )
    manifest = {"format": FORMAT, "version": VERSION, **facts, "parts": entries}
    text = json.dumps(manifest, indent=1) + "\n"
    (folder / MANIFEST).write_text(text, encoding="ascii")
    return read_manifest(folder)


def _write_arrays(file: BinaryIO, members: Members) -> None:
    with ArrayWriter(file) as archive:
        for name, array in members.items():
            archive.add(name, np.asarray(array))


def sha256_of(path: Path) -> str:
    """The checksum of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
