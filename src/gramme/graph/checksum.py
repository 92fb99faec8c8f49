"""A checksum of a graph's structure, to know again what was computed for it: the same graph, the same checksum."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gramme.graph.edge_layer import EdgeLayer
from gramme.graph.layer import Layer
from gramme.graph.membership_layer import MembershipLayer
from gramme.graph.multilayer import MultilayerGraph


def checksum(graph: MultilayerGraph) -> str:
    """The sha256 over node names, layers in order, edges or memberships, weights and couplings.

    Labels, features and the names of groups do not count. It is the same in every process and on every machine.

    >>> layers = {"a": EdgeLayer(3, [0], [1])}
    >>> one, other = MultilayerGraph(layers), MultilayerGraph(layers, labels=["x", "y", "z"])
    >>> (
    ...     checksum(one) == checksum(other),
    ...     checksum(one) == checksum(one.replace(nodes=["p", "q", "r"])),
    ... )
    (True, False)
    """
    digest = hashlib.sha256(b"gramme graph 1")
    _add_text(digest, "nodes", str(graph.num_nodes))
    if graph.nodes.dtype == object:
        for name in graph.nodes:
            _add_text(digest, type(name).__name__, repr(name))
    elif graph.num_nodes:
        _add(digest, graph.nodes.to_numpy())
    for name, layer in graph.layers.items():
        _add_text(digest, "layer", name)
        _add_layer(digest, layer)
    for pair, coupling in graph.couplings.items():
        _add_text(digest, "coupling", *pair, "directed" if coupling.directed else "undirected")
        for ends in (coupling.source, coupling.target, coupling.weight):
            _add(digest, ends)
    return digest.hexdigest()


def _add_layer(digest: Any, layer: Layer) -> None:
    _add_text(digest, type(layer).__name__, "directed" if layer.directed else "undirected")
    _add(digest, None if layer.holds_all_nodes else layer.present)
    if isinstance(layer, MembershipLayer):
        _add(digest, layer.groups_per_node)
        _add(digest, layer.group)
        if layer.weight is not None:  # nothing otherwise, so that older checksums stay true
            _add(digest, layer.weight)
    elif isinstance(layer, EdgeLayer):
        _add(digest, layer.source)
        _add(digest, layer.target)
        _add(digest, layer.weight)


def _add_text(digest: Any, *words: str) -> None:
    for word in words:
        raw = word.encode("utf-8", "surrogatepass")
        digest.update(len(raw).to_bytes(8, "little"))
        digest.update(raw)


def _add(digest: Any, array: NDArray[Any] | None) -> None:
    """Numbers by value: neither the integer type nor the machine's byte order counts."""
    if array is None:
        _add_text(digest, "none")
        return
    kind = "<f8" if array.dtype.kind == "f" else "<i8"
    _add_text(digest, kind, str(array.size))
    digest.update(np.ascontiguousarray(array, dtype=kind).tobytes())
