"""Embeddings on disk: they see no labels, so one serves every split of a graph.

An entry is one npz file below ``$GRAMME_CACHE/embeddings`` (see :func:`gramme.datasets.locate.cache_folder`), named by
a checksum of the graph, the settings and the seed. It holds plain arrays and is written whole or not at all; one that
is damaged is computed anew. When all entries together exceed a limit, those not used for longest go.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import struct
import time
import zipfile
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gramme.datasets.locate import cache_folder
from gramme.errors import DataError
from gramme.graph import MultilayerGraph
from gramme.graph.checksum import checksum
from gramme.io.atomic import write_files

MAX_CACHE_BYTES = 2 << 30  # bytes of all entries together
CACHE_VERSION = 1  # raise it when the same settings come to mean another embedding

Embedding = NDArray[np.float32]
_DAMAGE = (OSError, ValueError, KeyError, EOFError, NotImplementedError, RuntimeError)


class Kept(NamedTuple):
    """An embedding, the CPU and wall seconds it cost when it was made, and whether that was just now."""

    embedding: Embedding
    cpu_seconds: float
    wall_seconds: float
    fresh: bool


def folder() -> Path:
    """Where the entries are."""
    return cache_folder() / "embeddings"


def cached(
    graph: MultilayerGraph,
    settings: Mapping[str, Any],
    compute: Callable[[], Embedding],
    *,
    limit: int = MAX_CACHE_BYTES,
) -> Kept:
    """The embedding from the cache, or computed and kept, with what it cost.

    Parameters
    ----------
    graph : MultilayerGraph
    settings : mapping
        All that decides the embedding beside the graph, the seed included, as JSON can hold it.
    compute : callable
        Makes the embedding, shape (nodes, columns).
    limit : int
        Bytes that all entries together may take.
    """
    path = folder() / f"{_key(graph, settings)}.npz"
    found = _read(path, graph.num_nodes)
    if found is not None:
        with contextlib.suppress(OSError):
            os.utime(path)  # used just now
        return found
    cpu, wall = time.process_time(), time.perf_counter()
    embedding = np.ascontiguousarray(compute(), dtype=np.float32)
    made = Kept(embedding, time.process_time() - cpu, time.perf_counter() - wall, fresh=True)
    if embedding.nbytes <= limit:
        _write(path, made, settings)
        _make_room(path.parent, limit)
    return made


def _key(graph: MultilayerGraph, settings: Mapping[str, Any]) -> str:
    told = json.dumps(
        {"version": CACHE_VERSION, "graph": checksum(graph)} | dict(settings), sort_keys=True
    )
    return hashlib.sha256(told.encode()).hexdigest()


def _read(path: Path, nodes: int) -> Kept | None:
    try:
        with np.load(path, allow_pickle=False) as file:
            embedding = file["embedding"]
            cpu, wall = file["seconds"].astype(np.float64).tolist()
    except (*_DAMAGE, TypeError, zipfile.BadZipFile, zlib.error, struct.error):
        return None
    whole = embedding.dtype == np.float32 and embedding.ndim == 2 and len(embedding) == nodes
    if not whole or not bool(np.isfinite(embedding).all()):
        return None
    return Kept(embedding, cpu, wall, fresh=False)


def _write(path: Path, made: Kept, settings: Mapping[str, Any]) -> None:
    """Keep an embedding; a folder that cannot be written costs time later, nothing else."""
    seconds = np.array([made.cpu_seconds, made.wall_seconds])
    about = np.frombuffer(json.dumps(dict(settings), sort_keys=True).encode(), dtype=np.uint8)

    def fill(file: BinaryIO) -> None:
        np.savez(file, embedding=made.embedding, seconds=seconds, settings=about)

    with contextlib.suppress(OSError, DataError):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_files({path: fill})


def _make_room(place: Path, limit: int) -> None:
    entries: list[tuple[float, int, Path]] = []
    for path in place.glob("*.npz"):
        with contextlib.suppress(OSError):  # another process may be making room too
            known = path.stat()
            entries.append((known.st_mtime, known.st_size, path))
    total = sum(size for _, size, _ in entries)
    for _, size, path in sorted(entries):
        if total <= limit:
            return
        with contextlib.suppress(OSError):
            path.unlink()
        total -= size
