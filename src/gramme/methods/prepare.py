"""A graph as a model sees it: couplings become layers if the model knows only layers, and views get a common scale.

The columns of a layer's own features are brought to mean 0 and standard deviation 1 on the graph of the fit, and by the
same numbers on any other graph; a missing row is then zero, the mean. A graph with neither couplings nor features of
layers stays what it is.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from gramme._types import Floats
from gramme.distributed import communicator_of
from gramme.errors import DataError, GrammeWarning
from gramme.graph import MultilayerGraph
from gramme.graph.node_values import Features, missing_rows


@dataclass(frozen=True)
class ViewScale:
    """The centre and the scale of each column of the layers' features, one layer after the other by name."""

    center: Floats
    scale: Floats

    @classmethod
    def learned(cls, graph: MultilayerGraph) -> ViewScale:
        """From a graph; the columns of a sparse matrix keep their zeros, so they are scaled but not moved."""
        centers, scales = [np.zeros(0)], [np.zeros(0)]
        for _, matrix in _by_name(graph):
            present_rows: Any = matrix[~missing_rows(matrix)].astype(np.float64)
            sum_over_parts = communicator_of(graph).all_sum
            row_count = sum_over_parts(present_rows.shape[0])
            squared_rows: Any = (
                present_rows**2 if isinstance(present_rows, np.ndarray) else present_rows.multiply(present_rows)
            )
            column_means, column_squares = (
                sum_over_parts(np.asarray(one.sum(axis=0), dtype=np.float64).ravel()) / max(row_count, 1)
                for one in (present_rows, squared_rows)
            )
            deviation = np.sqrt(np.maximum(column_squares - np.square(column_means), 0)) * np.ones(matrix.shape[1])
            is_constant = deviation <= 1e-12 * np.sqrt(column_squares)
            scales.append(np.where(is_constant, 0.0, 1 / np.where(is_constant, 1, deviation)))
            centers.append(
                np.zeros(matrix.shape[1]) if sp.issparse(present_rows) else column_means * np.ones(matrix.shape[1])
            )
        return cls(np.concatenate(centers), np.concatenate(scales))

    def applied(self, graph: MultilayerGraph) -> dict[str, Any]:
        """The features of every layer on the common scale, nothing missing."""
        scaled_features: dict[str, Any] = {}
        first_column = 0
        for name, matrix in _by_name(graph):
            column_slice = slice(first_column, first_column + matrix.shape[1])
            first_column += matrix.shape[1]
            if sp.issparse(matrix):
                scaled_features[name] = sp.csr_array(matrix @ sp.diags_array(self.scale[column_slice]))
                continue
            with np.errstate(over="ignore", invalid="ignore"):
                scaled_matrix = (np.asarray(matrix, np.float64) - self.center[column_slice]) * self.scale[column_slice]
            scaled_matrix[missing_rows(matrix)] = 0
            scaled_features[name] = scaled_matrix.astype(np.float32)
        return scaled_features


def _by_name(graph: MultilayerGraph) -> Iterator[tuple[str, Features]]:
    return ((name, graph.layer_features[name]) for name in sorted(graph.layer_features))


def with_layers_of_fit(graph: MultilayerGraph, layers: Sequence[str]) -> MultilayerGraph:
    """The graph with the layers of a fit, in their order; others are left out with a warning."""
    if list(graph.layers) == list(layers):
        return graph
    missing_layers = [name for name in layers if name not in graph.layers]
    if missing_layers:
        raise DataError(
            f"the graph has no layer {missing_layers[0]!r}, which the model was fitted on; it needs: "
            f"{', '.join(layers)}"
        )
    extra_layers = [name for name in graph.layers if name not in layers]
    if extra_layers:
        warnings.warn(
            f"layers the model does not know are left out: {', '.join(extra_layers)}", GrammeWarning, stacklevel=5
        )
    return graph.select_layers(layers)


def warn_of_new_groups(fitted: MultilayerGraph, graph: MultilayerGraph) -> None:
    """Warn of groups that no node of the fit was in, as a value of a column that it did not have."""
    for name, layer in graph.layers.items():
        known_groups = fitted.layers[name].group_names if name in fitted.layers else None
        if layer.group_names is not None and known_groups is not None:
            new_groups = layer.group_names[~layer.group_names.isin(known_groups)]
            if len(new_groups):
                shown_names = ", ".join(map(repr, new_groups[:3])) + (", ..." if len(new_groups) > 3 else "")
                warnings.warn(
                    f"layer {name!r} has groups that the model has not seen: {shown_names}", GrammeWarning, stacklevel=5
                )


def prepare_graph(graph: MultilayerGraph, views: ViewScale | None, *, supports_couplings: bool) -> MultilayerGraph:
    """The graph for a model; ``views`` is what it learned of the layers' features, None if it learned nothing."""
    prepared_graph = graph if supports_couplings else graph.with_coupling_layers()
    if not prepared_graph.layer_features:
        return prepared_graph
    if views is None:
        return prepared_graph.replace(layer_features=None)
    num_columns = sum(matrix.shape[1] for matrix in prepared_graph.layer_features.values())
    if num_columns != views.scale.size:
        raise DataError(f"the model needs {views.scale.size} features of single layers; the graph has {num_columns}")
    return prepared_graph.replace(layer_features=views.applied(prepared_graph))


def given_columns(graph: MultilayerGraph) -> int:
    """Columns of the graph's own features, those of single layers included; 0 where it has none."""
    own_columns = 0 if graph.features is None else int(graph.features.shape[1])
    return own_columns + sum(int(matrix.shape[1]) for matrix in graph.layer_features.values())


def feature_blocks(graph: MultilayerGraph) -> list[Any]:
    """The graph's own features, then those of each layer that has some."""
    own_features = [] if graph.features is None else [graph.features]
    return [*own_features, *graph.layer_features.values()]


def given_features(graph: MultilayerGraph) -> Any:
    """All features of a graph side by side, those of single layers last: dense, or CSR where some are sparse."""
    matrix_blocks = feature_blocks(graph)
    if len(matrix_blocks) == 1:
        return matrix_blocks[0]
    if any(sp.issparse(block) for block in matrix_blocks):
        return sp.csr_array(sp.hstack([sp.csr_array(block) for block in matrix_blocks], format="csr"))
    return np.hstack(matrix_blocks)


MAX_LAYERS_ONE_BY_ONE = 1000
"""Layers for which the methods compared with train something each."""


def refuse_many_layers(graph: MultilayerGraph, method: str) -> None:
    """For methods of others that train an embedding or convolutions for every layer by itself."""
    if graph.num_layers > MAX_LAYERS_ONE_BY_ONE:
        raise DataError(
            f"{method} trains something for each of the {graph.num_layers:,} layers and takes at most "
            f"{MAX_LAYERS_ONE_BY_ONE:,}; take gramme-auto or label-propagation, or join layers"
        )
