"""Features as they are, for any network: random ones by node name, a graph's real attributes, or both."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from gramme.errors import DataError
from gramme.graph import MultilayerGraph
from gramme.graph.arrays import plain
from gramme.methods.seen_graph import given_columns, given_features
from gramme.ops import random_features

SOURCES = ("random", "given", "both")
#: Products of larger features and their sums overflow in 32 bits.
MAX_FEATURE_SIZE = 1e15


def feature_source(graph: MultilayerGraph, wanted: str | None) -> str:
    """Which features to use: what was asked for, else the graph's own if it has any, else random ones."""
    if wanted is None:
        return "given" if given_columns(graph) else "random"
    if wanted != "random" and not given_columns(graph):
        raise DataError(f"features={wanted!r} needs a graph with features, and this one has none")
    return wanted


def feature_columns(graph: MultilayerGraph, source: str, dim: int) -> int:
    """Columns of the features a network gets: the graph's own, ``dim`` random ones, or both."""
    return (source != "random") * given_columns(graph) + (source != "given") * dim


def input_features(
    graph: MultilayerGraph,
    seeds: Sequence[int],
    *,
    source: str,
    dim: int,
    per_layer: bool,
    own_layers: bool = True,
    device: torch.device,
) -> Tensor:
    """Features of shape (nodes, members, columns), or (layers * nodes, members, columns) with ``per_layer``.

    A graph whose layers have features of their own gets the second by ``own_layers``: a layer starts from its own
    columns, the others are zero; a layer without any starts from all of them.

    Parameters
    ----------
    graph : MultilayerGraph
    seeds : sequence of int
        The seed of each member's random features.
    source : {"random", "given", "both"}
    dim : int
        Random columns.
    per_layer : bool
        Whether the copies of a node in the supra graph have random features of their own, keyed by the layer's name.
    own_layers : bool, default=True
        Whether layers start from their own features; else all nodes have all of them side by side.
    device : torch.device
    """
    parts: list[Tensor] = []
    layered = own_layers and bool(graph.layer_features) and source != "random"
    copies = [0] * (graph.num_layers if layered else 1)
    if per_layer:
        copies = layer_copies(graph)
    rows = graph.num_nodes * len(copies)
    if source != "random":
        given = torch.from_numpy(
            by_layer(dense_features(graph), graph) if layered else dense_features(graph)
        ).to(device)
        whole = given if layered else given.repeat(len(copies), 1)
        parts.append(whole[:, None, :].expand(rows, len(seeds), -1))
    if source != "given":
        parts.append(random_columns(graph, seeds, dim, copies).to(device))
    features = parts[0] if len(parts) == 1 else torch.cat(parts, dim=-1)
    return features.to(torch.get_default_dtype())


def random_columns(
    graph: MultilayerGraph, seeds: Sequence[int], dim: int, copies: Sequence[int]
) -> Tensor:
    """Random features of each member, (copies * nodes, members, dim); equal copies have equal ones."""
    drawn = np.empty((len(seeds), len(copies), graph.num_nodes, dim), dtype=np.float32)
    for member, seed in enumerate(seeds):
        for place, copy in enumerate(copies):
            random_features(graph.nodes, dim, seed, copy=copy, out=drawn[member, place])
    rows = graph.num_nodes * len(copies)
    return torch.from_numpy(drawn).view(len(seeds), rows, dim).transpose(0, 1).contiguous()


def layer_copies(graph: MultilayerGraph) -> list[int]:
    """What tells the copies of a node in the layers apart: the layers' names."""
    return [zlib.crc32(name.encode(errors="surrogatepass")) + 1 for name in graph.layers]


def by_layer(every: NDArray[np.float32], graph: MultilayerGraph) -> NDArray[np.float32]:
    """What each layer starts from, (layers * nodes, columns), where the last columns are those of single layers.

    A layer with features of its own does not see those of the others.
    """
    start = every.shape[1] - sum(matrix.shape[1] for matrix in graph.layer_features.values())
    found = np.tile(every, (graph.num_layers, 1, 1))
    own = {}
    for name, matrix in graph.layer_features.items():
        own[name] = slice(start, start + matrix.shape[1])
        start += matrix.shape[1]
    for place, name in enumerate(graph.layers):
        for other, columns in own.items():
            if name in own and other != name:
                found[place, :, columns] = 0
    return found.reshape(-1, every.shape[1])


def dense_features(graph: MultilayerGraph) -> NDArray[np.float32]:
    """All features of the graph as a matrix of float32."""
    matrix = given_features(graph)
    with np.errstate(over="ignore"):
        dense = np.array(
            matrix if isinstance(matrix, np.ndarray) else matrix.toarray(), dtype=np.float32
        )
    if dense.size and max(dense.max(), -dense.min()) > MAX_FEATURE_SIZE:
        row, column = np.argwhere(np.abs(dense) > MAX_FEATURE_SIZE)[0].tolist()
        raise DataError(
            f"the feature in column {column} of node {plain(graph.nodes[row])!r} is too large to "
            f"compute with in 32 bits, where {MAX_FEATURE_SIZE:g} is the most; scale the features"
        )
    return dense
