"""Where a high figure says little: layers of groups, and layers of edges whose pairs are given away by the others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
import scipy.sparse as sp

from gramme.graph import Layer, MembershipLayer, MultilayerGraph
from gramme.links.asked import MAX_IMPLIED_EDGES, columns
from gramme.links.evidence import named
from gramme.links.pair_scores import entries

SAMPLED_PATHS = 4000
MIN_CLOSED_SHARE = 0.9
"""The share of paths of two steps whose ends are linked from which on a layer looks like one of groups."""
MIN_ABOVE_DENSITY = 0.2
"""How much larger that share must be than the share of all pairs that are linked."""


def easily_told(
    graph: MultilayerGraph, layers: Iterable[str], groups: Mapping[str, MembershipLayer]
) -> list[str]:
    """What to say about how edges of layers were set aside, a sentence or two for each kind of layer.

    Parameters
    ----------
    graph : MultilayerGraph
        All layers that are asked about as edges.
    layers : iterable of str
        The layers that are asked about.
    groups : mapping of layer to MembershipLayer
        Those of them whose edges are implied by groups.
    """
    said = []
    alone = columns(groups)
    if alone:
        said.append(
            "Who is in one group with whom is told from the other layers alone: within a layer, any member of a group "
            "would give away all others."
        )
    if set(groups) - set(alone):
        said.append(
            "Whole memberships were set aside, not single pairs, which the rest of their group would give away."
        )
    closed = [
        name for name in layers if name not in groups and _looks_like_groups(graph.layers[name])
    ]
    if closed:
        said.append(
            f"In {named(closed)}, nearly all neighbours of a node are linked with each other, as the members of groups "
            "are. A pair set aside there is given away by the rest of its group, so the figure says little about links "
            "between groups."
        )
    return said


def evidence_only(graph: MultilayerGraph, layers: Iterable[str]) -> list[str]:
    """What to say about layers of groups that are not asked about: why, and that they serve as evidence.

    >>> evidence_only(MultilayerGraph({"team": MembershipLayer.from_codes([0, 0, 1])}), ["team"])
    []
    """
    rest = {name: graph.layers[name] for name in graph.layers if name not in set(layers)}
    groups = [name for name, layer in rest.items() if layer.made_of == "groups"]
    large = [name for name in groups if rest[name].num_edges > MAX_IMPLIED_EDGES]
    said = []
    if large:
        said.append(
            f"Who shares a group of {named(large)} is not asked about, since more than {MAX_IMPLIED_EDGES:,} pairs do; "
            "such groups serve as evidence."
        )
    if small := [name for name in groups if name not in large]:
        said.append(
            f"The groups of {named(small)} serve as evidence; links are asked about in layers of edges."
        )
    return said


def closed_share(matrix: sp.csr_array, random: np.random.Generator) -> float:
    """The share of paths of two steps whose ends are linked, from a sample; 0 without such paths.

    >>> triangle = sp.csr_array(np.ones((3, 3)) - np.eye(3))
    >>> closed_share(triangle, np.random.default_rng(0))
    1.0
    """
    degree = np.diff(matrix.indptr).astype(np.int64)
    chance = (degree * (degree - 1)).astype(np.float64)
    if not chance.any():
        return 0.0
    middle = random.choice(degree.size, size=SAMPLED_PATHS, p=chance / chance.sum())
    first = random.integers(0, degree[middle])
    second = (first + random.integers(1, degree[middle])) % degree[middle]
    ends = matrix.indices[matrix.indptr[middle][:, None] + np.column_stack([first, second])]
    return float((entries(matrix, ends.astype(np.int64)) != 0).mean())


def _looks_like_groups(layer: Layer) -> bool:
    matrix = layer.to_scipy()
    both = sp.csr_array(matrix + matrix.T) if layer.directed else matrix
    nodes = max(int(np.count_nonzero(np.diff(both.indptr))), 2)
    density = both.nnz / (nodes * (nodes - 1))
    closed = closed_share(both, np.random.default_rng(0))
    return closed >= max(MIN_CLOSED_SHARE, density + MIN_ABOVE_DENSITY)
