"""Values per node, given in node order or by node name, as an array in node order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from gramme.errors import DataError
from gramme.graph.arrays import frozen, is_missing, plain, plain_list

if TYPE_CHECKING:
    from gramme.graph.multilayer import MultilayerGraph


def aligned(graph: MultilayerGraph, values: Any, what: str = "value") -> NDArray[np.object_]:
    """Values per node in node order, from a sequence in that order or a mapping by node name.

    None, NaN and pandas' NA become None, and so do nodes a mapping leaves out; numpy's scalars
    become Python's. A Series counts as a mapping by name unless its index is the default one
    (0, 1, 2, ...) while the nodes have names of their own.
    """
    aligned = np.full(graph.num_nodes, None, dtype=object)
    if isinstance(values, pd.Series):
        index = values.index
        default = isinstance(index, pd.RangeIndex) and index.start == 0 and index.step == 1
        if default and not isinstance(graph.nodes, pd.RangeIndex):
            values = values.to_numpy(dtype=object)
        else:
            if not values.index.is_unique:
                double = values.index[values.index.duplicated()][0]
                raise DataError(f"node {double!r} has more than one {what}")
            values = dict(zip(values.index, values.to_numpy(dtype=object), strict=True))
    if isinstance(values, Mapping):
        listed = [plain(value) for value in values.values()]
        places = graph.positions(values.keys())
    else:
        if isinstance(values, (str, bytes, set, frozenset)) or not isinstance(values, Iterable):
            raise DataError(f"{what}s must be a sequence or a mapping by node, not {values!r}")
        shape = getattr(values, "shape", (0,))
        if len(shape) != 1:
            raise DataError(f"{what}s must be one-dimensional, not of shape {tuple(shape)}")
        listed = plain_list(values)
        if len(listed) != graph.num_nodes:
            raise DataError(f"{len(listed)} {what}s were given for {graph.num_nodes} nodes")
        places = np.arange(graph.num_nodes)
    for place, value in zip(places.tolist(), listed, strict=True):
        if not is_missing(value):
            try:
                hash(value)
            except TypeError as error:
                name = plain(graph.nodes[place])
                raise DataError(f"the {what} of node {name!r} is not a value: {error}") from error
            aligned[place] = value
    return frozen(aligned)
