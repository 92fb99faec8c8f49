"""From edges that name the layer of both ends: inside a layer, or from a node in one to a node in another."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from gramme.errors import DataError, did_you_mean
from gramme.graph.coupling import Coupling, Pair
from gramme.graph.edge_layer import EdgeLayer
from gramme.graph.from_edges import ENDS, by_layer, layer_directions, numbered_ends, row_weights
from gramme.graph.layer import Layer
from gramme.graph.multilayer import MultilayerGraph


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
        As for :func:`gramme.graph.from_edges.from_edges`.

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
    columns = _columns(edges)
    here, there, names = _layer_codes(columns["source_layer"], columns["target_layer"], layers)
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


def _columns(edges: pd.DataFrame | Mapping[str, Any]) -> dict[str, pd.Series]:
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


def _layer_codes(
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
