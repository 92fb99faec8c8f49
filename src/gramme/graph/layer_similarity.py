"""Which layers tell the same story: the correlation of two layers over all pairs of nodes.

For layers with adjacency matrices A and B it is Pearson's correlation of a_ij and b_ij over all pairs i != j (what
sociologists call the QAP correlation): 1 where they join the same pairs equally strongly, 0 where one says nothing
about the other. It needs the sums of a, of b and of a b over all pairs. For memberships M and N these come from the
groups, and no edges are built:

    sum over i, j of (M M')_ij (N N')_ij  =  |M' N|^2      and with edges A:  sum of (A N) * N.

Terms i = j are taken off. Where that would still be much work, a random sample of the nodes stands for all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import NDArray

from gramme.graph.layer import Layer
from gramme.graph import MultilayerGraph

MAX_PRODUCTS = 3_000_000
"""Products of two memberships or edges that are taken; beyond them nodes are sampled."""

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class LayerSimilarity:
    """How alike layers are.

    Attributes
    ----------
    table : DataFrame
        Correlations, a row and a column per layer; NaN for a layer that joins all pairs alike, or none.
    nodes : int
        Nodes whose pairs were looked at: all, or a random sample.
    """

    table: pd.DataFrame
    nodes: int


def layer_similarity(
    graph: MultilayerGraph, layers: Sequence[str] | None = None, *, random_state: int = 0
) -> LayerSimilarity:
    """The correlation of every two layers over the pairs of nodes.

    Parameters
    ----------
    graph : MultilayerGraph
    layers : sequence of str, optional
        Names of layers, in the order wanted; all if not given. A node that a layer does not hold is joined to
        nobody there.
    random_state : int, default=0
        For the sample of nodes of a large graph.

    Examples
    --------
    >>> from gramme.graph import MembershipLayer
    >>> one, other = (
    ...     MembershipLayer.from_codes([0, 0, 1, 1]),
    ...     MembershipLayer.from_codes([0, 1, 0, 1]),
    ... )
    >>> g = MultilayerGraph({"a": one, "b": one, "c": other})
    >>> layer_similarity(g).table.round(2).loc["a"].tolist()
    [1.0, 1.0, -0.5]
    """
    names = list(graph.layers if layers is None else layers)
    chosen = {name: graph.layer(name) for name in names}
    nodes = _looked_at(list(chosen.values()), graph.num_nodes, random_state)
    if nodes.size < graph.num_nodes:
        chosen = {name: layer.subset(nodes) for name, layer in chosen.items()}
    sums, products = _sums(list(chosen.values()), nodes.size)
    pairs = max(nodes.size * (nodes.size - 1), 1)
    covariance = products / pairs - np.outer(sums, sums) / pairs**2
    deviation = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    # what rounding leaves of a layer that joins all pairs alike is not a deviation
    steady = deviation <= 1e-7 * np.sqrt(np.diag(products) / pairs)
    deviation[steady] = np.nan
    table = np.clip(covariance / np.outer(deviation, deviation), -1.0, 1.0)
    return LayerSimilarity(pd.DataFrame(table, index=names, columns=names), int(nodes.size))


def _looked_at(layers: list[Layer], count: int, random_state: int) -> NDArray[np.int64]:
    """All nodes, or a sample whose pairs are few enough to look at."""
    groups, edges = np.zeros(count), np.zeros(count)
    for layer in layers:
        inside = layer.incidence()
        if inside is None:
            edges += layer.degrees()
        else:
            groups += np.diff(inside.indptr)
    mean = float(groups.mean()) if count else 0.0
    work = float((groups**2).sum() + edges.sum() * (mean + len(layers)))
    if work <= MAX_PRODUCTS:
        return np.arange(count)
    kept = max(2, int(count * MAX_PRODUCTS / work))
    return np.sort(np.random.default_rng(random_state).choice(count, kept, replace=False))


def _sums(layers: list[Layer], count: int) -> tuple[Floats, Floats]:
    """The sum of each layer over all ordered pairs, and of the product of every two."""
    inside = [layer.incidence() for layer in layers]
    grouped = [place for place, matrix in enumerate(inside) if matrix is not None]
    edged = {
        place: _unit(layer.to_scipy())
        for place, layer in enumerate(layers)
        if inside[place] is None
    }
    empty = sp.csr_array((count, 0))
    parts = [_unit(matrix) for matrix in inside if matrix is not None]
    all_groups = sp.csr_array(sp.hstack([empty, *parts]))
    owner = np.repeat(grouped, [part.shape[1] for part in parts]).astype(np.int64)
    own = np.zeros((count, len(layers)))  # what a node shares with itself in each layer
    for place, part in zip(grouped, parts, strict=True):
        own[:, place] = part.multiply(part).sum(axis=1)

    sums = np.zeros(len(layers))
    products = np.zeros((len(layers), len(layers)))
    for place, part in zip(grouped, parts, strict=True):
        sums[place] = (np.asarray(part.sum(axis=0)) ** 2).sum() - own[:, place].sum()
    shared = (all_groups.T @ all_groups).tocoo()
    number = owner[shared.row] * len(layers) + owner[shared.col]
    products += np.bincount(number, shared.data**2, minlength=products.size).reshape(products.shape)
    products -= own.T @ own
    for place, matrix in edged.items():
        sums[place] = matrix.sum()
        heard = (matrix @ all_groups).multiply(all_groups).tocoo()
        across = np.bincount(owner[heard.col], heard.data, minlength=len(layers))
        for other, second in edged.items():
            across[other] = matrix.multiply(second).sum()
        products[place] += across
        products[grouped, place] += across[grouped]
    return sums, products


def _unit(matrix: sp.csr_array) -> sp.csr_array:
    """Divided by the largest weight: a correlation does not change, and squares of extreme weights stay finite."""
    return sp.csr_array(matrix / matrix.data.max(initial=1e-300))
