"""From adjacency matrices, sparse or dense: one square matrix per layer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from gramme.errors import DataError
from gramme.graph.arrays import name_index, plain
from gramme.graph.edge_layer import EdgeLayer
from gramme.graph.edges import ONLY_LAYER, layer_directions
from gramme.graph.layer import Layer
from gramme.graph.multilayer import MultilayerGraph


# Layers from objects that state an undirected edge both ways: adjacency matrices, edge indices.
def layer_from_both_ways(
    nodes: pd.Index,
    source: ArrayLike,
    target: ArrayLike,
    weight: ArrayLike | None = None,
    *,
    directed: bool | None = None,
    present: ArrayLike | None = None,
    features: ArrayLike | None = None,
    feature_names: Sequence[str] | None = None,
) -> EdgeLayer:
    """An edge layer from edges as a matrix states them."""
    one_way = EdgeLayer(
        len(nodes), source, target, weight, directed=True, nodes=present, features=features, feature_names=feature_names
    )
    if directed:
        return one_way
    start_nodes, end_nodes = one_way.source.astype(np.int64), one_way.target.astype(np.int64)
    edge_features = one_way.features
    if _symmetric(one_way):
        kept = start_nodes < end_nodes
    elif directed is None:
        return one_way
    else:
        is_reversed, reversal = _reversals(one_way, nodes)
        kept = (start_nodes < end_nodes) | ~is_reversed
        if edge_features is not None:
            edge_features = np.where(is_reversed[:, None], (edge_features + edge_features[reversal]) / 2, edge_features)
    loops = np.asarray(source)[np.asarray(source) == np.asarray(target)]
    edge_weights = None
    if one_way.weight is not None:
        edge_weights = np.concatenate([one_way.weight[kept], np.ones(loops.size)])
    if edge_features is not None:
        edge_features = np.concatenate([edge_features[kept], np.zeros((loops.size, edge_features.shape[1]))])
    return EdgeLayer(
        len(nodes),
        np.concatenate([start_nodes[kept], loops]).astype(np.int64),
        np.concatenate([end_nodes[kept], loops]).astype(np.int64),
        edge_weights,
        nodes=present,
        features=edge_features,
        feature_names=one_way.feature_names,
    )


def _symmetric(layer: EdgeLayer) -> bool:
    """Whether the edges of a directed layer equal their own reversal, in time linear in the edges."""
    layer_matrix = layer.edge_numbers()
    backwards: Any = sp.csr_array(layer_matrix.T)
    return (
        np.array_equal(layer_matrix.indptr, backwards.indptr)
        and np.array_equal(layer_matrix.indices, backwards.indices)
        and all(
            matrix_values is None or np.array_equal(matrix_values, matrix_values[backwards.data])
            for matrix_values in (layer.weight, layer.features)
        )
    )


def _reversals(layer: EdgeLayer, nodes: pd.Index) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
    """For each edge whether its reversal is there, and which edge that is; an error if that has another weight."""
    start_nodes, end_nodes = layer.source.astype(np.int64), layer.target.astype(np.int64)
    # Edges are sorted by (source, target), so a reversal is found by bisection
    keys, reversed_keys = start_nodes * layer.num_nodes + end_nodes, end_nodes * layer.num_nodes + start_nodes
    key_index = np.minimum(np.searchsorted(keys, reversed_keys), keys.size - 1)
    is_reversed: NDArray[np.bool_] = keys[key_index] == reversed_keys
    if layer.weight is not None:
        differ = np.flatnonzero(is_reversed & (layer.weight != layer.weight[key_index]))
        if differ.size:
            first = int(differ[0])
            i, j = plain(nodes[int(start_nodes[first])]), plain(nodes[int(end_nodes[first])])
            raise DataError(
                f"the edge between {i!r} and {j!r} has the weight {layer.weight[first]} one way "
                f"and {layer.weight[key_index[first]]} the other, so it is not undirected"
            )
    return is_reversed, key_index


def from_scipy(
    matrices: Any,
    *,
    directed: bool | Mapping[str, bool] | None = None,
    nodes: Iterable[Any] | None = None,
    labels: Any = None,
    features: Any = None,
    name: str | None = None,
) -> MultilayerGraph:
    """A graph of edge layers from adjacency matrices.

    Entry (i, j) is the weight of the edge from i to j; zero means no edge. Where edges have a direction, i hears j: the
    matrix times a table of values sums over the nodes that each node hears. A matrix whose edges all
    weigh 1 makes an unweighted layer. The diagonal is dropped. ``graph.to_scipy()`` is the way
    back: edges, weights and directions survive it, while names, labels and which nodes a layer
    holds are not in a matrix, and membership layers come back as edges.

    Parameters
    ----------
    matrices : mapping, sequence or one matrix
        Square sparse or dense matrices of equal size, by layer name or in order ("layer 1",
        "layer 2", ...). A single matrix makes the layer "edges". A pandas frame brings its names:
        rows and columns are put in one order by them, the same for all layers, and a node that is
        not in a frame is absent from its layer.
    directed : bool or mapping of layer name to bool, optional
        If not given, a matrix equal to its transpose is undirected, any other directed.
        False on a matrix that states an edge one way only joins both ways.
    nodes, labels, features, name
        As for :class:`~gramme.MultilayerGraph`.

    Examples
    --------
    >>> friends = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    >>> likes = np.array([[0, 2, 0], [0, 0, 0], [0, 0, 0]])
    >>> g = from_scipy({"friends": friends, "likes": likes})
    >>> g.layers["friends"], g.layers["likes"]
    (EdgeLayer(3 nodes, 2 edges), EdgeLayer(3 nodes, 1 edges, directed, weighted))
    """
    given = _named(matrices)
    node_names, rows_of_frame = _common_names(given, nodes)
    named = {key: _adjacency(matrix, key) for key, matrix in given.items()}
    named = {
        key: _placed(matrix, rows_of_frame[key], len(node_names)) if key in rows_of_frame else matrix
        for key, matrix in named.items()
    }
    if not named and node_names is None:
        raise DataError("there is no matrix to make a layer of, and no node names either")
    sizes = {matrix.shape[0] for matrix in named.values()}
    if len(sizes) > 1:
        listed = ", ".join(f"{key!r} {matrix.shape[0]}" for key, matrix in named.items())
        raise DataError(f"the matrices are over different numbers of nodes: {listed}")
    node_lookup = name_index(node_names, sizes.pop() if sizes else None)
    one_way = layer_directions(directed, named, otherwise=None)
    graph_layers: dict[str, Layer] = {}
    for layer_key, layer_matrix in named.items():
        entries, held_nodes = layer_matrix.tocoo(), rows_of_frame.get(layer_key)
        bad = np.flatnonzero(~(np.isfinite(entries.data) & (entries.data > 0)))
        if bad.size:
            i, j = (plain(node_lookup[int(edge_ends[bad[0]])]) for edge_ends in (entries.row, entries.col))
            raise DataError(
                f"layer {layer_key!r}: the edge from {i!r} to {j!r} has the weight {entries.data[bad[0]]}; weights "
                "must be "
                "positive and finite, with 0 for no edge"
            )
        edge_weights = None if (entries.data[entries.row != entries.col] == 1).all() else entries.data
        present_nodes = None if held_nodes is None or held_nodes.size == len(node_lookup) else held_nodes
        try:
            graph_layers[layer_key] = layer_from_both_ways(
                node_lookup, entries.row, entries.col, edge_weights, directed=one_way[layer_key], present=present_nodes
            )
        except DataError as error:
            raise DataError(f"layer {layer_key!r}: {error}") from error
    return MultilayerGraph(
        graph_layers, nodes=node_lookup, labels=labels, features=features, name=name, num_nodes=len(node_lookup)
    )


def _named(matrices: Any) -> dict[str, Any]:
    if isinstance(matrices, Mapping):
        return {str(layer_key): layer_matrix for layer_key, layer_matrix in matrices.items()}
    if (
        sp.issparse(matrices)
        or isinstance(matrices, pd.DataFrame)
        or (isinstance(matrices, np.ndarray) and matrices.ndim == 2)
    ):
        return {ONLY_LAYER: matrices}
    if isinstance(matrices, str) or not isinstance(matrices, Iterable):
        raise DataError(f"matrices must be a mapping or a sequence of matrices, not {matrices!r}")
    return {f"layer {layer_number}": layer_matrix for layer_number, layer_matrix in enumerate(matrices, start=1)}


def _common_names(given: dict[str, Any], nodes: Any) -> tuple[Any, dict[str, NDArray[np.int64]]]:
    """The nodes of all frames in order, and which of them each frame's rows are; no places without frames."""
    frames = {key: layer_matrix for key, layer_matrix in given.items() if isinstance(layer_matrix, pd.DataFrame)}
    if not frames:
        return nodes, {}
    for layer_key, frame in frames.items():
        _check_frame(layer_key, frame)
        given[layer_key] = frame.reindex(columns=frame.index).to_numpy()
    plain_key = next((key for key in given if key not in frames), None)
    if plain_key is not None:
        raise DataError(
            f"layer {plain_key!r} is a matrix without names beside frames with names; give all or none of them names"
        )
    if nodes is None:
        index = next(iter(frames.values())).index
        for frame in frames.values():
            index = index.append(frame.index.difference(index, sort=False))
    else:
        index = name_index(nodes)
    rows_of_frame = {}
    for layer_key, frame in frames.items():
        frame_rows = index.get_indexer(frame.index)
        if (frame_rows < 0).any():
            stray = plain(frame.index[int(np.flatnonzero(frame_rows < 0)[0])])
            raise DataError(f"layer {layer_key!r}: {stray!r} is not among the nodes")
        rows_of_frame[layer_key] = frame_rows.astype(np.int64)
    return index, rows_of_frame


def _check_frame(key: str, frame: pd.DataFrame) -> None:
    """Whether rows and columns name the same nodes, each once."""
    for node_names, what in ((frame.index, "row"), (frame.columns, "column")):
        if not node_names.is_unique:
            double = plain(node_names[node_names.duplicated()][0])
            raise DataError(f"layer {key!r}: two {what}s have the name {double!r}")
    for these, those, what in ((frame.index, frame.columns, "row"), (frame.columns, frame.index, "column")):
        alone = these[~these.isin(those)]
        if len(alone):
            other = "column" if what == "row" else "row"
            raise DataError(
                f"layer {key!r}: the {what} {plain(alone[0])!r} has no {other} of the same name; rows and columns "
                "must name the same nodes (frame.to_numpy() takes them by position)"
            )


def _placed(matrix: Any, place: NDArray[np.int64], size: int) -> Any:
    """The matrix over all nodes."""
    entries = matrix.tocoo()
    spread: Any = sp.csr_array((entries.data, (place[entries.row], place[entries.col])), shape=(size, size))
    return spread


def _adjacency(matrix: Any, key: str) -> Any:
    """A copy of the matrix as CSR without zeros, checked to be square and of numbers."""
    try:
        given: Any = matrix if sp.issparse(matrix) else np.atleast_2d(matrix)
        csr: Any = sp.csr_array(given)
        if np.iscomplexobj(csr.data):
            raise TypeError("they are complex")
        csr = csr.astype(np.float64)  # also the copy, so that the user's matrix stays as it is
    except (TypeError, ValueError) as error:
        raise DataError(f"layer {key!r}: the matrix must hold numbers: {error}") from error
    if csr.ndim != 2 or csr.shape[0] != csr.shape[1]:
        raise DataError(f"layer {key!r}: the matrix must be square, not of shape {csr.shape}")
    csr.sum_duplicates()
    csr.eliminate_zeros()
    return csr
