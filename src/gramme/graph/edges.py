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
    source_layers, target_layers, layer_names = _layers_of_ends(columns, coupled, layers)
    edge_numbers, described_as = (None, None) if edge_features is None else encoded_columns(edges, edge_features)
    node_names, source_nodes, target_nodes = numbered_ends(source, target, nodes)
    held_nodes = by_layer(node_sets or {}, layer_names, "node_sets")
    stated_directions: dict[Any, bool] = {}
    if isinstance(directed, Mapping):
        stated_directions = {key: bool(value) for key, value in directed.items() if isinstance(key, tuple)}
        directed = {key: value for key, value in directed.items() if not isinstance(key, tuple)}
    one_way = layer_directions(directed, layer_names)
    node_frame = MultilayerGraph({}, nodes=node_names)
    pair_codes = source_layers * len(layer_names) + target_layers
    pair_order = np.argsort(pair_codes, kind="stable") if len(layer_names) > 1 else np.arange(pair_codes.size)
    ordered_pairs = pair_codes[pair_order]

    def rows_of(pair: int) -> NDArray[np.int64]:
        first_row, last_row = np.searchsorted(ordered_pairs, [pair, pair + 1])
        return pair_order[first_row:last_row]

    def weights(rows: NDArray[np.int64]) -> NDArray[np.float64] | None:
        if weight is None or (coupled and bool(weight.iloc[rows].isna().all())):
            return None
        return positive_numbers(
            weight.iloc[rows],
            lambda row: f"the edge from {plain(source[rows[row]])!r} to {plain(target[rows[row]])!r} (row {rows[row]})",
        )

    joins_layers = source_layers != target_layers
    made_layers: dict[str, Layer] = {}
    for layer_code, layer in enumerate(layer_names):
        edge_rows = rows_of(layer_code * len(layer_names) + layer_code)
        layer_nodes = None
        if layer in held_nodes:
            layer_nodes = node_frame.positions(held_nodes[layer])
            _check_held(layer_nodes, source_nodes[edge_rows], target_nodes[edge_rows], layer, node_names)
        elif joins_layers.any():
            layer_nodes = np.unique(
                np.concatenate([source_nodes[source_layers == layer_code], target_nodes[target_layers == layer_code]])
            )
        try:
            made_layers[layer] = EdgeLayer(
                len(node_names),
                source_nodes[edge_rows],
                target_nodes[edge_rows],
                weights(edge_rows),
                directed=bool(one_way[layer]),
                nodes=layer_nodes,
                ways=np.ones(edge_rows.size, dtype=np.int8),
                features=None if edge_numbers is None else edge_numbers[edge_rows],
                feature_names=described_as,
            )
        except DataError as error:
            raise DataError(f"layer {layer!r}: {error}") from error
    couplings: dict[Pair, Coupling] = {}
    for pair_code in np.unique(pair_codes[joins_layers]).tolist():
        first_layer, second_layer = (
            layer_names[pair_code // len(layer_names)],
            layer_names[pair_code % len(layer_names)],
        )
        edge_rows = rows_of(pair_code)
        couplings[first_layer, second_layer] = Coupling(
            len(node_names),
            source_nodes[edge_rows],
            target_nodes[edge_rows],
            weights(edge_rows),
            directed=stated_directions.get(
                (first_layer, second_layer),
                stated_directions.get(
                    (second_layer, first_layer), bool(one_way[first_layer] and one_way[second_layer])
                ),
            ),
        )
    return MultilayerGraph(
        made_layers,
        nodes=node_names,
        labels=labels,
        features=features,
        couplings=couplings,
        name=name,
        num_nodes=len(node_names),
    )


def _columns(edges: Any, coupled: bool, described: Sequence[Any]) -> dict[str, pd.Series]:
    """The columns that are used, by name: of one length, and with a value for each node and layer."""
    if isinstance(edges, (pd.DataFrame, Mapping)):
        found_columns = _named_columns(edges, coupled, described)
    elif described:
        raise DataError("edge_features names columns, so give the edges as a DataFrame or a mapping")
    elif isinstance(edges, (tuple, list)) and len(edges) in (3, 4):
        found_columns = {_TUPLE_ORDER[column_position]: column for column_position, column in enumerate(edges)}
    else:
        raise DataError(
            "edges must be a DataFrame or mapping with source and target, or a tuple of arrays "
            "(layer, source, target[, weight])"
        )
    columns: dict[str, pd.Series] = {}
    for name, column in found_columns.items():
        if column is None:
            continue
        if isinstance(column, (str, bytes)) or not hasattr(column, "__len__"):
            raise DataError(f"a column of the edges must be a list or an array, not {column!r}")
        if isinstance(column, (list, tuple)):
            # One object per row: names that are tuples must not become a table of their parts
            column = pd.Series(object_array(list(column))).infer_objects()
        columns[name] = pd.Series(column).reset_index(drop=True)
    column_lengths = [len(column) for column in columns.values()]
    if len(set(column_lengths)) > 1:
        raise DataError(f"the columns of the edges have different lengths: {column_lengths}")
    for name in ("layer", "source_layer", "target_layer", "source", "target"):
        if name in columns and columns[name].isna().any():
            raise DataError(f"the edge in row {int(columns[name].isna().argmax())} has no {name}")
    return columns


def _named_columns(edges: Any, coupled: bool, described: Sequence[Any]) -> dict[str, Any]:
    needed_columns = ["source_layer", "source", "target_layer", "target"] if coupled else ["source", "target"]
    optional_columns = ["weight"] if coupled else ["layer", "weight"]
    for column in needed_columns:
        if column not in edges:
            who_needs = "edges that may join two layers" if coupled else "they"
            raise DataError(
                f"the edges have no column {column!r}; {who_needs} need {', '.join(needed_columns)}, and may have "
                f"{' and '.join(optional_columns)}, but have: {', '.join(map(str, edges.keys()))}"
            )
    if coupled and "layer" in edges:
        raise DataError("the edges have a column 'layer' beside source_layer and target_layer; leave one of them out")
    layer_columns = [key for key in edges.keys() if str(key).strip().lower() in _LAYER_WORDS]  # noqa: SIM118
    if not coupled and edges.get("layer") is None and layer_columns:
        raise DataError(
            f"the column {layer_columns[0]!r} seems to name the layers; rename it to 'layer', "
            "or drop it to make one layer of all edges"
        )
    unused_columns = [str(key) for key in edges.keys() if key not in (*needed_columns, *optional_columns, *described)]  # noqa: SIM118
    if unused_columns:
        warnings.warn(
            "not used of the edges: "
            f"{', '.join(map(repr, unused_columns[:5]))}{', ...' if unused_columns[5:] else ''}; only "
            f"{', '.join([*needed_columns, *optional_columns])} are, so rename or drop the "
            "others, or name them in edge_features",
            GrammeWarning,
            stacklevel=4,
        )
    return {name: edges.get(name) for name in (*needed_columns, *optional_columns)}


def _layers_of_ends(
    columns: Mapping[str, pd.Series], coupled: bool, layers: Iterable[str] | None
) -> tuple[NDArray[np.int64], NDArray[np.int64], list[str]]:
    """The layers of both ends as positions among the names of all layers."""
    edge_count = len(columns["source"])
    if coupled:
        both_layers = np.empty(2 * edge_count, dtype=object)
        both_layers[0::2], both_layers[1::2] = (columns[name].astype(str) for name in ("source_layer", "target_layer"))
        layer_codes, layer_names = _layer_codes(pd.Series(both_layers), layers)
        return layer_codes[0::2], layer_codes[1::2], layer_names
    if "layer" in columns:
        layer_codes, layer_names = _layer_codes(columns["layer"], layers)
        return layer_codes, layer_codes, layer_names
    layer_names = [ONLY_LAYER] if layers is None else [str(name) for name in layers]
    if len(layer_names) != 1:
        raise DataError("edges without a layer column make one layer; name just that one")
    layer_codes = np.zeros(edge_count, dtype=np.int64)
    return layer_codes, layer_codes, layer_names


def _layer_codes(column: pd.Series, layers: Iterable[str] | None) -> tuple[NDArray[np.int64], list[str]]:
    try:
        layer_codes, distinct_layers = pd.factorize(column)
    except TypeError as error:
        raise DataError(f"a layer name must be text: {error}") from error
    found_names = [str(value) for value in distinct_layers]
    layer_names = found_names if layers is None else [str(value) for value in layers]
    for name_list in (found_names, layer_names):
        if len(set(name_list)) != len(name_list):
            repeated_name = next(layer for layer in name_list if name_list.count(layer) > 1)
            raise DataError(f"two layers have the name {repeated_name!r}; names, as text, must differ")
    layer_position = {layer: position for position, layer in enumerate(layer_names)}
    for layer in found_names:
        if layer not in layer_position:
            raise DataError(f"an edge is in the layer {layer!r}; {did_you_mean(layer, layer_names)}")
    code_lookup = np.array([layer_position[layer] for layer in found_names], dtype=np.int64)
    return (code_lookup[layer_codes] if layer_codes.size else layer_codes.astype(np.int64)), layer_names


def numbered_ends(
    start: pd.Series, end: pd.Series, nodes: Iterable[Any] | None
) -> tuple[pd.Index, NDArray[np.int64], NDArray[np.int64]]:
    """Node names, and both ends of the edges as positions among them."""
    if nodes is not None:
        node_index = name_index(nodes)
        found_positions = [node_index.get_indexer(loose_index(ends)) for ends in (start, end)]
        for end_names, end_positions in zip((start, end), found_positions, strict=True):
            if (end_positions < 0).any():
                unknown_row = int(np.flatnonzero(end_positions < 0)[0])
                raise DataError(
                    f"row {unknown_row}: there is no node {plain(end_names[unknown_row])!r} "
                    f"among the {len(node_index)} nodes given"
                )
        return node_index, found_positions[0].astype(np.int64), found_positions[1].astype(np.int64)
    both_ends = pd.concat([start, end], ignore_index=True)
    if both_ends.dtype.kind in "iu":
        end_codes, end_nodes = pd.factorize(both_ends.to_numpy(), sort=True)
        node_index = name_index(end_nodes)
    else:
        # Row by row, so that nodes are numbered as a reader of the table meets them
        end_rows = np.empty(2 * len(start), dtype=object)
        end_rows[0::2], end_rows[1::2] = start.to_numpy(dtype=object), end.to_numpy(dtype=object)
        try:
            row_codes, end_nodes = pd.factorize(end_rows)
        except TypeError as error:
            raise DataError(f"a node name must be hashable: {error}") from error
        end_codes = np.concatenate([row_codes[0::2], row_codes[1::2]])
        node_index = name_index(end_nodes)
    end_codes = end_codes.astype(np.int64)
    return node_index, end_codes[: len(start)], end_codes[len(start) :]


def _check_held(
    inside: NDArray[np.int64], start: NDArray[np.int64], end: NDArray[np.int64], layer: str, index: pd.Index
) -> None:
    """An error that names the first edge with an end outside the nodes of its layer."""
    is_held = np.zeros(len(index), dtype=bool)
    is_held[inside] = True
    outside_edges = np.flatnonzero(~(is_held[start] & is_held[end]))
    if outside_edges.size:
        source_name, target_name = plain(index[start[outside_edges[0]]]), plain(index[end[outside_edges[0]]])
        outside_name = target_name if is_held[start[outside_edges[0]]] else source_name
        raise DataError(
            f"layer {layer!r}: the edge from {source_name!r} to {target_name!r} touches {outside_name!r}, which "
            "is not among the nodes of the layer (node_sets)"
        )


def by_layer(named: Mapping[Any, Any], layer_names: Iterable[str], what: str) -> dict[str, Any]:
    """A mapping by layer name as text, or an error for a layer that is not there."""
    known_names = list(layer_names)
    for key in named:
        if str(key) not in known_names:
            raise DataError(f"{what} names the layer {key!r}; {did_you_mean(str(key), known_names)}")
    return {str(key): value for key, value in named.items()}


def layer_directions(
    directed: bool | Mapping[str, bool] | None, layer_names: Iterable[str], otherwise: bool | None = False
) -> dict[str, bool | None]:
    """Whether each layer is directed, from one word for all or a mapping that may leave some out."""
    all_names = list(layer_names)
    if isinstance(directed, Mapping):
        stated_directions = by_layer(directed, all_names, "directed")
        return {name: stated_directions.get(name, otherwise) for name in all_names}
    return dict.fromkeys(all_names, otherwise if directed is None else bool(directed))
