"""The features a network starts from: random ones by node name, a graph's real attributes, or both."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from gramme.errors import DataError
from gramme.graph import MultilayerGraph
from gramme.ops import random_features

SOURCES = ("random", "given", "both")


def feature_source(graph: MultilayerGraph, wanted: str | None) -> str:
    """Which features to use: what was asked for, else the graph's own where it has them, else random ones."""
    if wanted is None:
        return "random" if graph.features is None else "given"
    if wanted != "random" and graph.features is None:
        raise DataError(f"features={wanted!r} needs a graph with features, and this one has none")
    return wanted


def input_features(
    graph: MultilayerGraph,
    seeds: Sequence[int],
    *,
    source: str,
    dim: int,
    per_layer: bool,
    device: torch.device,
) -> Tensor:
    """Features of shape (nodes, members, columns), or (layers * nodes, members, columns) with ``per_layer``.

    Parameters
    ----------
    seeds : sequence of int
        The seed of each member's random features.
    source : {"random", "given", "both"}
    dim : int
        Random columns.
    per_layer : bool
        Whether the copies of a node in the supra graph have random features of their own, keyed by the layer's name.
    """
    parts: list[Tensor] = []
    copies = [zlib.crc32(name.encode()) + 1 for name in graph.layers] if per_layer else [0]
    rows = graph.num_nodes * len(copies)
    if source != "random":
        given = torch.from_numpy(_dense(graph)).to(device)
        parts.append(given.repeat(len(copies), 1)[:, None, :].expand(rows, len(seeds), -1))
    if source != "given":
        drawn = np.empty((len(seeds), len(copies), graph.num_nodes, dim), dtype=np.float32)
        for member, seed in enumerate(seeds):
            for place, copy in enumerate(copies):
                random_features(graph.nodes, dim, seed, copy=copy, out=drawn[member, place])
        random = torch.from_numpy(drawn).view(len(seeds), rows, dim).transpose(0, 1)
        parts.append(random.contiguous().to(device))
    return parts[0] if len(parts) == 1 else torch.cat(parts, dim=-1)


def _dense(graph: MultilayerGraph) -> np.ndarray:
    assert graph.features is not None
    matrix = graph.features.toarray() if sp.issparse(graph.features) else graph.features
    return np.array(matrix, dtype=np.float32)
