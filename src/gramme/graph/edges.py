"""From edges that name the layer of both ends: inside a layer, or from a node in one to a node in another."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from gramme.errors import DataError, GrammeWarning, did_you_mean

from .arrays import as_pandas, loose_index, name_index, object_array, plain, positive_numbers
from .coupling import Coupling, Pair
from .edge_features import encoded_columns
from .edge_layer import EdgeLayer
from .layer import Layer
from .multilayer import MultilayerGraph

ONLY_LAYER = "edges"
_TUPLE_ORDER = ["layer", "source", "target", "weight"]
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
    edge_features: Sequence[Any] | None = None,
    name: str | None = None,
) -> MultilayerGraph:
    """A graph of edge layers.

    Parameters
    ----------
    edges : DataFrame, mapping or tuple of arrays
        Columns ``layer`` (optional), ``source``, ``target`` and ``weight`` (optional): as a
        DataFrame, a mapping of arrays by these names, or a tuple of arrays
        (layer, source, target[, weight]). Layer names become text. With the columns
        ``source_layer`` and ``target_layer`` in place of ``layer``, an edge may join two layers and is then part of
        their coupling. As soon as there is a coupling, a layer holds only the nodes that some row names together with
        it, unless ``node_sets`` says otherwise: layers over different nodes are ordinary here.
    directed : bool or mapping of layer name to bool, default=False
        Whether edges have a direction: a node then hears the targets of its edges, those it names, follows or cites.
        For a coupling a mapping may name (layer, layer); one it leaves out is directed where both its layers are.
    nodes : iterable, optional
        All node names in order, also of nodes without edges. If not given, the nodes of the
        edges: sorted if they are whole numbers, else as they first appear.
    layers : iterable of str, optional
        All layer names in order, also of layers without edges. If not given, as they first
        appear.
    node_sets : mapping of layer name to node names, optional
        The nodes a layer holds, for layers that do not hold all.
    edge_features : list of column names, optional
        Further columns that describe each edge (amount, time, kind) and become the ``features`` of the layers, which
        attention learns from: numbers as they are, truth values as 0 and 1, dates as days since 1970, any other column
        as a feature of 0 and 1 for each of its values. A missing number becomes the column's mean, a missing kind 0 in
        all its features. All layers have the same columns. Repeated edges have the mean; couplings have no features.
    labels, features, name
        As for :class:`~gramme.MultilayerGraph`.

    Examples
    --------
    >>> layers = ["chat", "chat", "lunch"]
    >>> from_edges((layers, ["Ann", "Bo", "Ann"], ["Bo", "Cy", "Cy"]))
    MultilayerGraph(3 nodes, 2 layers: chat 2 edges, lunch 1 edge)
    >>> rows = [("grid", "a", "grid", "b"), ("web", "x", "web", "y"), ("grid", "a", "web", "x")]
    >>> from_edges(pd.DataFrame(rows, columns=["source_layer", "source", "target_layer", "target"]))
    MultilayerGraph(4 nodes, 2 layers: grid 1 edge, web 1 edge, 1 coupling: grid~web 1 edge)
    """
    edges = as_pandas(edges)
    coupled = isinstance(edges, (pd.DataFrame, Mapping)) and not ENDS.isdisjoint(edges.keys())
    columns = _columns(edges, coupled, edge_features or ())
    source, target, weight = columns["source"], columns["target"], columns.get("weight")
    here, there, names = _layers_of_ends(columns, coupled, layers)
    described, described_as = (None, None) if edge_features is None else encoded_columns(edges, edge_features)
    index, start, end = numbered_ends(source, target, nodes)
    held = by_layer(node_sets or {}, names, "node_sets")
    stated: dict[Any, bool] = {}
    if isinstance(directed, Mapping):
        stated = {key: bool(value) for key, value in directed.items() if isinstance(key, tuple)}
        directed = {key: value for key, value in directed.items() if not isinstance(key, tuple)}
    one_way = layer_directions(directed, names)
    frame = MultilayerGraph({}, nodes=index)
    pairs = here * len(names) + there
    order = np.argsort(pairs, kind="stable") if len(names) > 1 else np.arange(pairs.size)
    ordered = pairs[order]

    def rows_of(pair: int) -> NDArray[np.int64]:
        first, last = np.searchsorted(ordered, [pair, pair + 1])
        return order[first:last]

    def weights(rows: NDArray[np.int64]) -> NDArray[np.float64] | None:
        if weight is None or (coupled and bool(weight.iloc[rows].isna().all())):
            return None
        return positive_numbers(
            weight.iloc[rows],
            lambda row: f"the edge from {plain(source[rows[row]])!r} to {plain(target[rows[row]])!r} (row {rows[row]})",
        )

    between = here != there
    made: dict[str, Layer] = {}
    for code, layer in enumerate(names):
        rows = rows_of(code * len(names) + code)
        inside = None
        if layer in held:
            inside = frame.positions(held[layer])
            _check_held(inside, start[rows], end[rows], layer, index)
        elif between.any():
            inside = np.unique(np.concatenate([start[here == code], end[there == code]]))
        try:
            made[layer] = EdgeLayer(
                len(index),
                start[rows],
                end[rows],
                weights(rows),
                directed=bool(one_way[layer]),
                nodes=inside,
                ways=np.ones(rows.size, dtype=np.int8),
                features=None if described is None else described[rows],
                feature_names=described_as,
            )
        except DataError as error:
            raise DataError(f"layer {layer!r}: {error}") from error
    couplings: dict[Pair, Coupling] = {}
    for pair in np.unique(pairs[between]).tolist():
        first, second = names[pair // len(names)], names[pair % len(names)]
        rows = rows_of(pair)
        couplings[first, second] = Coupling(
            len(index),
            start[rows],
            end[rows],
            weights(rows),
            directed=stated.get((first, second), stated.get((second, first), bool(one_way[first] and one_way[second]))),
        )
    return MultilayerGraph(
        made, nodes=index, labels=labels, features=features, couplings=couplings, name=name, num_nodes=len(index)
    )


def _columns(edges: Any, coupled: bool, described: Sequence[Any]) -> dict[str, pd.Series]:
    """The columns that are used, by name: of one length, and with a value for each node and layer."""
    if isinstance(edges, (pd.DataFrame, Mapping)):
        found = _named_columns(edges, coupled, described)
    elif described:
        raise DataError("edge_features names columns, so give the edges as a DataFrame or a mapping")
    elif isinstance(edges, (tuple, list)) and len(edges) in (3, 4):
        found = {_TUPLE_ORDER[place]: column for place, column in enumerate(edges)}
    else:
        raise DataError(
            "edges must be a DataFrame or mapping with source and target, or a tuple of arrays "
            "(layer, source, target[, weight])"
        )
    columns: dict[str, pd.Series] = {}
    for name, column in found.items():
        if column is None:
            continue
        if isinstance(column, (str, bytes)) or not hasattr(column, "__len__"):
            raise DataError(f"a column of the edges must be a list or an array, not {column!r}")
        if isinstance(column, (list, tuple)):
            # One object per row: names that are tuples must not become a table of their parts
            column = pd.Series(object_array(list(column))).infer_objects()
        columns[name] = pd.Series(column).reset_index(drop=True)
    lengths = [len(column) for column in columns.values()]
    if len(set(lengths)) > 1:
        raise DataError(f"the columns of the edges have different lengths: {lengths}")
    for name in ("layer", "source_layer", "target_layer", "source", "target"):
        if name in columns and columns[name].isna().any():
            raise DataError(f"the edge in row {int(columns[name].isna().argmax())} has no {name}")
    return columns


def _named_columns(edges: Any, coupled: bool, described: Sequence[Any]) -> dict[str, Any]:
    needed = ["source_layer", "source", "target_layer", "target"] if coupled else ["source", "target"]
    may = ["weight"] if coupled else ["layer", "weight"]
    for column in needed:
        if column not in edges:
            who = "edges that may join two layers" if coupled else "they"
            raise DataError(
                f"the edges have no column {column!r}; {who} need {', '.join(needed)}, and may have "
                f"{' and '.join(may)}, but have: {', '.join(map(str, edges.keys()))}"
            )
    if coupled and "layer" in edges:
        raise DataError("the edges have a column 'layer' beside source_layer and target_layer; leave one of them out")
    unread = [key for key in edges.keys() if str(key).strip().lower() in _LAYER_WORDS]  # noqa: SIM118
    if not coupled and edges.get("layer") is None and unread:
        raise DataError(
            f"the column {unread[0]!r} seems to name the layers; rename it to 'layer', "
            "or drop it to make one layer of all edges"
        )
    unused = [str(key) for key in edges.keys() if key not in (*needed, *may, *described)]  # noqa: SIM118
    if unused:
        warnings.warn(
            f"not used of the edges: {', '.join(map(repr, unused[:5]))}{', ...' if unused[5:] else ''}; only "
            f"{', '.join([*needed, *may])} are, so rename or drop the others, or name them in edge_features",
            GrammeWarning,
            stacklevel=4,
        )
    return {name: edges.get(name) for name in (*needed, *may)}


def _layers_of_ends(
    columns: Mapping[str, pd.Series], coupled: bool, layers: Iterable[str] | None
) -> tuple[NDArray[np.int64], NDArray[np.int64], list[str]]:
    """The layers of both ends as positions among the names of all layers."""
    rows = len(columns["source"])
    if coupled:
        both = np.empty(2 * rows, dtype=object)
        both[0::2], both[1::2] = (columns[name].astype(str) for name in ("source_layer", "target_layer"))
        codes, names = _layer_codes(pd.Series(both), layers)
        return codes[0::2], codes[1::2], names
    if "layer" in columns:
        codes, names = _layer_codes(columns["layer"], layers)
        return codes, codes, names
    names = [ONLY_LAYER] if layers is None else [str(name) for name in layers]
    if len(names) != 1:
        raise DataError("edges without a layer column make one layer; name just that one")
    codes = np.zeros(rows, dtype=np.int64)
    return codes, codes, names


def _layer_codes(column: pd.Series, layers: Iterable[str] | None) -> tuple[NDArray[np.int64], list[str]]:
    try:
        codes, seen = pd.factorize(column)
    except TypeError as error:
        raise DataError(f"a layer name must be text: {error}") from error
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
    start: pd.Series, end: pd.Series, nodes: Iterable[Any] | None
) -> tuple[pd.Index, NDArray[np.int64], NDArray[np.int64]]:
    """Node names, and both ends of the edges as positions among them."""
    if nodes is not None:
        index = name_index(nodes)
        found = [index.get_indexer(loose_index(ends)) for ends in (start, end)]
        for ends, there in zip((start, end), found, strict=True):
            if (there < 0).any():
                row = int(np.flatnonzero(there < 0)[0])
                raise DataError(f"row {row}: there is no node {plain(ends[row])!r} among the {len(index)} nodes given")
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


def _check_held(
    inside: NDArray[np.int64], start: NDArray[np.int64], end: NDArray[np.int64], layer: str, index: pd.Index
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
    directed: bool | Mapping[str, bool] | None, layer_names: Iterable[str], otherwise: bool | None = False
) -> dict[str, bool | None]:
    """Whether each layer is directed, from one word for all or a mapping that may leave some out."""
    names = list(layer_names)
    if isinstance(directed, Mapping):
        stated = by_layer(directed, names, "directed")
        return {name: stated.get(name, otherwise) for name in names}
    return dict.fromkeys(names, otherwise if directed is None else bool(directed))
