"""What is particular about a group: values, labels and layers that are more frequent in it than among all nodes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.stats import hypergeom

from gramme.graph import MembershipLayer, MultilayerGraph

Codes = NDArray[np.int64]

CHANCE = 0.01
"""Probability of a coincidence among all values that are compared, below which a value is called over-represented."""
COLUMNS = ["group", "kind", "name", "value", "members", "share", "share_elsewhere", "probability"]


def over_represented(graph: MultilayerGraph, group: Codes) -> pd.DataFrame:
    """Values and labels that are more frequent in a group than chance explains, the most striking first.

    Groups come from the layers, so the values of a membership layer that shaped them are among what is found: this describes
    groups and tests nothing about that layer.

    Parameters
    ----------
    graph : MultilayerGraph
    group : array of int, shape (nodes,)

    Returns
    -------
    DataFrame
        A row per group and value: ``group``, ``kind`` ("layer" or "label"), ``name`` of the layer, ``value``, ``members`` of the group
        that have it, their ``share`` of the group's members of whom a value is known, ``share_elsewhere`` among other nodes,
        and the ``probability`` of as many by chance (hypergeometric; those kept are below 1 % times the number of comparisons).
    """
    rows: list[tuple[Any, ...]] = []
    for kind, name, layer in _sources(graph):
        rows.extend(_compared(group, kind, name, layer))
    table = pd.DataFrame(rows, columns=COLUMNS)
    order = ["group", "probability", "members"]
    return table.sort_values(order, ascending=[True, True, False], ignore_index=True)


def _sources(graph: MultilayerGraph) -> Iterator[tuple[str, str, MembershipLayer]]:
    if graph.labels is not None:
        yield "label", "label", MembershipLayer.from_values(graph.labels)
    for name, layer in graph.layers.items():
        groups = layer.as_groups()
        if groups is not None:
            yield "layer", name, groups


def _compared(
    group: Codes, kind: str, name: str, layer: MembershipLayer
) -> Iterator[tuple[Any, ...]]:
    nodes = group.size
    count = int(group.max()) + 1
    inside = layer.incidence()
    inside.data = np.ones_like(inside.data)
    known = np.diff(inside.indptr) > 0
    member = sp.csr_array((np.ones(nodes), (np.arange(nodes), group)), shape=(nodes, count))
    both = (member.T @ inside).tocoo()
    sizes = np.bincount(group[known], minlength=count)
    having = np.asarray(inside.sum(axis=0))
    total = int(known.sum())
    # one member with a value is an anecdote
    worth = both.data >= 2
    row, column, found = both.row[worth], both.col[worth], both.data[worth]
    if not found.size:
        return
    probability = hypergeom.sf(found - 1, total, having[column], sizes[row])
    for place in np.flatnonzero(probability < CHANCE / max(both.nnz, 1)):
        one, value = int(row[place]), int(column[place])
        elsewhere = total - sizes[one]
        yield (
            one,
            kind,
            name,
            layer.group_names[value],
            int(found[place]),
            float(found[place] / sizes[one]),
            float((having[value] - found[place]) / elsewhere) if elsewhere else 0.0,
            float(probability[place]),
        )


def words(row: Any) -> str:
    """One over-represented value as words.

    >>> words(pd.Series({"kind": "layer", "name": "sex", "value": "girl", "share": 1.0, "share_elsewhere": 0.2}))
    'sex girl: 100 % (elsewhere 20 %)'
    """
    return (
        f"{row['name']} {row['value']}: {round(100 * row['share'])} % "
        f"(elsewhere {round(100 * row['share_elsewhere'])} %)"
    )
