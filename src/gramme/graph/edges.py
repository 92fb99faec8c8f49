"""From edges that name the layer of both ends: inside a layer, or from a node in one to a node in another."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from gramme.errors import DataError, GrammeWarning, did_you_mean

from .arrays import as_pandas, loose_index, name_index, object_array, plain
from .coupling import Coupling, Pair
from .edge_layer import EdgeLayer
from .layer import Layer
from .multilayer import MultilayerGraph

# From edges as people have them: a row per edge with layer, source, target, perhaps a weight.


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
        see :func:`gramme.graph.edges.from_coupled_edges`.
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
                ways=np.ones(rows.size, dtype=np.int8),
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


def from_coupled_edges(
    edges: pd.DataFrame | Mapping[str, Any],
    *,
    directed: bool | Mapping[Any, bool] = False,
    nodes: Iterable[Any] | None = None,
    layers: Iterable[str] | None = None,
    node_sets: Mapping[str, Iterable[Any]] | None = None,
    labels: Any = None,
    features: Any = None,
    name: str | None = None,
) -> MultilayerGraph:
    """A graph of edge layers and couplings, from a table with the layers of both ends of each edge.

    An edge within one layer is that layer's; any other is part of the coupling of its two layers. As soon as there is a
    coupling, a layer holds only the nodes that some row names together with it, unless ``node_sets`` says otherwise:
    layers over different nodes are ordinary here.

    Parameters
    ----------
    edges : DataFrame or mapping of arrays
        Columns ``source_layer``, ``source``, ``target_layer``, ``target`` and perhaps ``weight``.
    directed : bool or mapping, default=False
        Whether edges have a direction. A mapping is by layer name, or by (layer, layer) for a coupling; a coupling it
        leaves out is directed where both its layers are.
    nodes, layers, node_sets, labels, features, name
        As for :func:`gramme.graph.edges.from_edges`.

    Examples
    --------
    >>> rows = [
    ...     ("grid", "a", "grid", "b"),
    ...     ("web", "x", "web", "y"),
    ...     ("grid", "a", "web", "x"),
    ... ]
    >>> from_coupled_edges(
    ...     pd.DataFrame(rows, columns=["source_layer", "source", "target_layer", "target"])
    ... )
    MultilayerGraph(4 nodes, 2 layers: grid 1 edge, web 1 edge, 1 coupling: grid~web 1 edge)
    """
    columns = _columns_from_coupled_edges(edges)
    here, there, names = _layer_codes_from_coupled_edges(
        columns["source_layer"], columns["target_layer"], layers
    )
    index, start, end = numbered_ends(columns["source"], columns["target"], nodes)
    held = by_layer(node_sets or {}, names, "node_sets")
    frame = MultilayerGraph({}, nodes=index)
    pairs = here * len(names) + there
    between = here != there

    def weights(rows: NDArray[np.int64]) -> NDArray[np.float64] | None:
        if "weight" not in columns or _all_missing(columns["weight"], rows):
            return None
        return row_weights(columns["weight"], rows, columns["source"], columns["target"])

    inside: dict[str, NDArray[np.int64] | None] = {}
    for code, layer in enumerate(names):
        if layer in held:
            inside[layer] = frame.positions(held[layer])
        elif between.any():
            named = np.concatenate([start[here == code], end[there == code]])
            inside[layer] = np.unique(named)
        else:
            inside[layer] = None
    one_way = layer_directions(
        {key: value for key, value in directed.items() if not isinstance(key, tuple)}
        if isinstance(directed, Mapping)
        else directed,
        names,
    )
    made: dict[str, Layer] = {}
    for code, layer in enumerate(names):
        rows = np.flatnonzero(pairs == code * len(names) + code)
        try:
            made[layer] = EdgeLayer(
                len(index),
                start[rows],
                end[rows],
                weights(rows),
                directed=bool(one_way[layer]),
                nodes=inside[layer],
            )
        except DataError as error:
            raise DataError(f"layer {layer!r}: {error}") from error
    couplings: dict[Pair, Coupling] = {}
    for pair in np.unique(pairs[between]).tolist():
        first, second = names[pair // len(names)], names[pair % len(names)]
        rows = np.flatnonzero(pairs == pair)
        couplings[first, second] = Coupling(
            len(index),
            start[rows],
            end[rows],
            weights(rows),
            directed=_coupling_directed(directed, one_way, first, second),
        )
    return MultilayerGraph(
        made,
        nodes=index,
        labels=labels,
        features=features,
        couplings=couplings,
        name=name,
        num_nodes=len(index),
    )


def _columns_from_coupled_edges(edges: pd.DataFrame | Mapping[str, Any]) -> dict[str, pd.Series]:
    needed = ["source_layer", "source", "target_layer", "target"]
    for column in needed:
        if column not in edges:
            raise DataError(
                f"the edges have no column {column!r}; edges that may join two layers need "
                f"{', '.join(needed)}, and may have weight, but have: {', '.join(map(str, edges.keys()))}"
            )
    if "layer" in edges:
        raise DataError(
            "the edges have a column 'layer' beside source_layer and target_layer; leave one of them out"
        )
    wanted = [*needed, "weight"] if edges.get("weight") is not None else needed
    try:
        found = {name: pd.Series(edges[name]).reset_index(drop=True) for name in wanted}
    except (TypeError, ValueError) as error:
        raise DataError(f"a column of the edges is not a list of values: {error}") from error
    lengths = [len(column) for column in found.values()]
    if len(set(lengths)) > 1:
        raise DataError(f"the columns of the edges have different lengths: {lengths}")
    for column in sorted(ENDS):
        if found[column].isna().any():
            row = int(np.flatnonzero(found[column].isna())[0])
            raise DataError(f"the edge in row {row} has no {column}")
    return found


def _layer_codes_from_coupled_edges(
    here: pd.Series, there: pd.Series, layers: Iterable[str] | None
) -> tuple[NDArray[np.int64], NDArray[np.int64], list[str]]:
    """The layers of both ends as positions among the names of all layers."""
    both = np.empty(2 * len(here), dtype=object)
    both[0::2], both[1::2] = here.astype(str).to_numpy(), there.astype(str).to_numpy()
    codes, seen = pd.factorize(both)
    names = [str(value) for value in (seen if layers is None else layers)]
    place = {layer: position for position, layer in enumerate(names)}
    for layer in seen:
        if layer not in place:
            raise DataError(f"an edge is in the layer {layer!r}; {did_you_mean(layer, names)}")
    lookup = np.array([place[layer] for layer in seen], dtype=np.int64)
    found = lookup[codes] if codes.size else codes.astype(np.int64)
    return found[0::2], found[1::2], names


def _all_missing(weight: pd.Series, rows: NDArray[np.int64]) -> bool:
    return bool(weight.iloc[rows].isna().all())


def _coupling_directed(
    directed: bool | Mapping[Any, bool], one_way: Mapping[str, bool | None], first: str, second: str
) -> bool:
    if isinstance(directed, Mapping):
        for pair in ((first, second), (second, first)):
            if pair in directed:
                return bool(directed[pair])
        return bool(one_way[first] and one_way[second])
    return bool(directed)
