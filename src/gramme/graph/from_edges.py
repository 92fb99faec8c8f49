"""From edges as people have them: a row per edge with layer, source, target, perhaps a weight."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from gramme.errors import DataError, GrammeWarning, did_you_mean
from gramme.graph.arrays import as_pandas, loose_index, name_index, object_array, plain
from gramme.graph.edge_layer import EdgeLayer
from gramme.graph.layer import Layer
from gramme.graph.multilayer import MultilayerGraph

ONLY_LAYER = "edges"
_LAYER_WORDS = {"layer", "relation", "relationship", "relation_type", "edge_type", "tie_type"}
#: The columns of edges that may join two layers.
ENDS = frozenset({"source_layer", "target_layer"})


def from_edges(
    edges: pd.DataFrame | Mapping[str, Any] | tuple[Any, ...],
    *,
    directed: bool | Mapping[Any, bool] = False,
    nodes: Iterable[Any] | None = None,
    layers: Iterable[str] | None = None,
    node_sets: Mapping[str, Iterable[Any]] | None = None,
    labels: Any = None,
    features: Any = None,
    name: str | None = None,
) -> MultilayerGraph:
    """A graph of edge layers.

    Parameters
    ----------
    edges : DataFrame, mapping or tuple of arrays
        Columns ``layer`` (optional), ``source``, ``target`` and ``weight`` (optional): as a
        DataFrame, a mapping of arrays by these names, or a tuple of arrays
        (layer, source, target[, weight]). Layer names become text. With the columns
        ``source_layer`` and ``target_layer`` in place of ``layer``, an edge may join two layers;
        see :func:`gramme.graph.from_coupled_edges.from_coupled_edges`.
    directed : bool or mapping of layer name to bool, default=False
        Whether edges have a direction.
    nodes : iterable, optional
        All node names in order, also of nodes without edges. If not given, the nodes of the
        edges: sorted if they are whole numbers, else as they first appear.
    layers : iterable of str, optional
        All layer names in order, also of layers without edges. If not given, as they first
        appear.
    node_sets : mapping of layer name to node names, optional
        The nodes a layer holds, for layers that do not hold all.
    labels, features, name
        As for :class:`~gramme.MultilayerGraph`.

    Examples
    --------
    >>> layers = ["chat", "chat", "lunch"]
    >>> from_edges((layers, ["Ann", "Bo", "Ann"], ["Bo", "Cy", "Cy"]))
    MultilayerGraph(3 nodes, 2 layers: chat 2 edges, lunch 1 edge)
    """
    if isinstance(edges, (pd.DataFrame, Mapping)) and not ENDS.isdisjoint(edges.keys()):
        from gramme.graph.from_coupled_edges import from_coupled_edges

        return from_coupled_edges(
            edges,
            directed=directed,
            nodes=nodes,
            layers=layers,
            node_sets=node_sets,
            labels=labels,
            features=features,
            name=name,
        )
    layer_column, source, target, weight = _columns(as_pandas(edges))
    codes, layer_names = _layer_codes(layer_column, len(source), layers)
    index, start, end = numbered_ends(source, target, nodes)
    held = by_layer(node_sets or {}, layer_names, "node_sets")
    one_way = layer_directions(directed, layer_names)
    frame = MultilayerGraph({}, nodes=index)
    made: dict[str, Layer] = {}
    order = np.argsort(codes, kind="stable") if len(layer_names) > 1 else np.arange(codes.size)
    bounds = np.searchsorted(codes[order], np.arange(len(layer_names) + 1))
    for position, layer in enumerate(layer_names):
        rows = order[bounds[position] : bounds[position + 1]]
        inside = frame.positions(held[layer]) if layer in held else None
        if inside is not None:
            _check_held(inside, start[rows], end[rows], layer, index)
        try:
            made[layer] = EdgeLayer(
                len(index),
                start[rows],
                end[rows],
                None if weight is None else row_weights(weight, rows, source, target),
                directed=bool(one_way[layer]),
                nodes=inside,
            )
        except DataError as error:
            raise DataError(f"layer {layer!r}: {error}") from error
    return MultilayerGraph(
        made, nodes=index, labels=labels, features=features, name=name, num_nodes=len(index)
    )


_USED = ("layer", "source", "target", "weight")


def _columns(edges: Any) -> tuple[Any, Any, Any, Any]:
    if isinstance(edges, (pd.DataFrame, Mapping)):
        for needed in ("source", "target"):
            if needed not in edges:
                raise DataError(
                    f"the edges have no column {needed!r}; they need source and target, and may "
                    f"have layer and weight, but have: {', '.join(map(str, edges.keys()))}"
                )
        columns = [edges.get(key) for key in _USED]
        unread = [key for key in edges.keys() if str(key).strip().lower() in _LAYER_WORDS]  # noqa: SIM118
        if columns[0] is None and unread:
            raise DataError(
                f"the column {unread[0]!r} seems to name the layers; rename it to 'layer', "
                "or drop it to make one layer of all edges"
            )
        unused = [str(key) for key in edges.keys() if key not in _USED]  # noqa: SIM118
        if unused:
            warnings.warn(
                f"not used of the edges: {', '.join(map(repr, unused[:5]))}{', ...' if unused[5:] else ''}; only "
                "layer, source, target and weight are, so rename or drop the others",
                GrammeWarning,
                stacklevel=4,
            )
    elif isinstance(edges, (tuple, list)) and len(edges) in (3, 4):
        columns = [*edges, None][:4]
    else:
        raise DataError(
            "edges must be a DataFrame or mapping with source and target, or a tuple of arrays "
            "(layer, source, target[, weight])"
        )
    for position, column in enumerate(columns):
        if isinstance(column, (str, bytes)) or not (column is None or hasattr(column, "__len__")):
            raise DataError(f"a column of the edges must be a list or an array, not {column!r}")
        if isinstance(column, (list, tuple)):
            # One object per row: names that are tuples must not become a table of their parts
            columns[position] = pd.Series(object_array(list(column))).infer_objects()
    lengths = [len(column) for column in columns if column is not None]
    if len(set(lengths)) > 1:
        raise DataError(f"the columns of the edges have different lengths: {lengths}")
    return columns[0], columns[1], columns[2], columns[3]


def _layer_codes(
    column: Any, rows: int, layers: Iterable[str] | None
) -> tuple[NDArray[np.int64], list[str]]:
    if column is None:
        names = list(layers) if layers is not None else [ONLY_LAYER]
        if len(names) != 1:
            raise DataError("edges without a layer column make one layer; name just that one")
        return np.zeros(rows, dtype=np.int64), [str(names[0])]
    try:
        codes, seen = pd.factorize(pd.Series(column))
    except TypeError as error:
        raise DataError(f"a layer name must be text: {error}") from error
    if (codes < 0).any():
        raise DataError(f"the edge in row {int(np.flatnonzero(codes < 0)[0])} has no layer")
    found = [str(value) for value in seen]
    names = found if layers is None else [str(value) for value in layers]
    for wanted in (found, names):
        if len(set(wanted)) != len(wanted):
            double = next(layer for layer in wanted if wanted.count(layer) > 1)
            raise DataError(f"two layers have the name {double!r}; names, as text, must differ")
    place = {layer: position for position, layer in enumerate(names)}
    for layer in found:
        if layer not in place:
            raise DataError(f"an edge is in the layer {layer!r}; {did_you_mean(layer, names)}")
    lookup = np.array([place[layer] for layer in found], dtype=np.int64)
    return (lookup[codes] if codes.size else codes.astype(np.int64)), names


def numbered_ends(
    source: Any, target: Any, nodes: Iterable[Any] | None
) -> tuple[pd.Index, NDArray[np.int64], NDArray[np.int64]]:
    """Node names, and both ends of the edges as positions among them."""
    start, end = (pd.Series(column).reset_index(drop=True) for column in (source, target))
    for ends, what in ((start, "source"), (end, "target")):
        if ends.isna().any():
            raise DataError(f"the edge in row {int(np.flatnonzero(ends.isna())[0])} has no {what}")
    if nodes is not None:
        index = name_index(nodes)
        found = [index.get_indexer(loose_index(ends)) for ends in (start, end)]
        for ends, there in zip((start, end), found, strict=True):
            if (there < 0).any():
                row = int(np.flatnonzero(there < 0)[0])
                raise DataError(
                    f"row {row}: there is no node {plain(ends[row])!r} among the {len(index)} "
                    "nodes given"
                )
        return index, found[0].astype(np.int64), found[1].astype(np.int64)
    both = pd.concat([start, end], ignore_index=True)
    if both.dtype.kind in "iu":
        places, names = pd.factorize(both.to_numpy(), sort=True)
        index = name_index(names)
    else:
        # Row by row, so that nodes are numbered as a reader of the table meets them
        rows = np.empty(2 * len(start), dtype=object)
        rows[0::2], rows[1::2] = start.to_numpy(dtype=object), end.to_numpy(dtype=object)
        try:
            codes, names = pd.factorize(rows)
        except TypeError as error:
            raise DataError(f"a node name must be hashable: {error}") from error
        places = np.concatenate([codes[0::2], codes[1::2]])
        index = name_index(names)
    places = places.astype(np.int64)
    return index, places[: len(start)], places[len(start) :]


def row_weights(
    weight: Any, rows: NDArray[np.int64], source: Any, target: Any
) -> NDArray[np.float64]:
    """The weights of some rows, or an error that names the first bad one."""
    given = pd.Series(weight).iloc[rows]
    weights = pd.to_numeric(given, errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)
    bad = np.flatnonzero(~(np.isfinite(weights) & (weights > 0)))
    if bad.size:
        row = int(rows[bad[0]])
        start, end = (plain(pd.Series(column).iloc[row]) for column in (source, target))
        raise DataError(
            f"the edge from {start!r} to {end!r} (row {row}) has the weight "
            f"{plain(given.iloc[bad[0]])}; weights must be positive and finite"
        )
    return weights


def _check_held(
    inside: NDArray[np.int64],
    start: NDArray[np.int64],
    end: NDArray[np.int64],
    layer: str,
    index: pd.Index,
) -> None:
    """An error that names the first edge with an end outside the nodes of its layer."""
    held = np.zeros(len(index), dtype=bool)
    held[inside] = True
    outside = np.flatnonzero(~(held[start] & held[end]))
    if outside.size:
        first, second = plain(index[start[outside[0]]]), plain(index[end[outside[0]]])
        stranger = second if held[start[outside[0]]] else first
        raise DataError(
            f"layer {layer!r}: the edge from {first!r} to {second!r} touches {stranger!r}, which "
            "is not among the nodes of the layer (node_sets)"
        )


def by_layer(named: Mapping[Any, Any], layer_names: Iterable[str], what: str) -> dict[str, Any]:
    """A mapping by layer name as text, or an error for a layer that is not there."""
    names = list(layer_names)
    for key in named:
        if str(key) not in names:
            raise DataError(f"{what} names the layer {key!r}; {did_you_mean(str(key), names)}")
    return {str(key): value for key, value in named.items()}


def layer_directions(
    directed: bool | Mapping[str, bool] | None,
    layer_names: Iterable[str],
    otherwise: bool | None = False,
) -> dict[str, bool | None]:
    """Whether each layer is directed, from one word for all or a mapping that may leave some out."""
    names = list(layer_names)
    if isinstance(directed, Mapping):
        stated = by_layer(directed, names, "directed")
        return {name: stated.get(name, otherwise) for name in names}
    return dict.fromkeys(names, otherwise if directed is None else bool(directed))
