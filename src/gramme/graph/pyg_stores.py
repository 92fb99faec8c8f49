"""What the stores of a PyTorch Geometric object hold: numbers of nodes, weights, labels and features."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch

from gramme.errors import DataError, LossyFormatWarning
from gramme.graph.arrays import object_array, plain_list

NODE = "node"
PRESENT = "present_in_"
FEATURES = "features_of_"


def number_of_nodes(store: Any, relations: Mapping[Any, Any]) -> int:
    """As stated, or as far as the edges reach."""
    # PyG guesses from edge_index where nothing states the number, and warns; so do we without a word
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        stated = store.num_nodes
    if stated is not None:
        return int(stated)
    ends = [edges["edge_index"] for edges in relations.values() if "edge_index" in edges]
    return max((int(pair.max()) + 1 for pair in ends if pair.numel()), default=0)


def stored_weights(relation: str, edges: Any) -> Any:
    """``edge_weight``, or ``edge_attr`` of one column; None without."""
    for key in ("edge_weight", "edge_attr"):
        if key in edges and edges[key] is not None:
            values = edges[key].detach().cpu().numpy()
            if values.ndim == 2 and values.shape[1] == 1:
                values = values[:, 0]
            if values.ndim == 1:
                return values
            warnings.warn(
                f"layer {relation!r}: {key} has {values.shape[1]} columns, so it is not a weight and "
                "is left out",
                LossyFormatWarning,
                stacklevel=5,
            )
    return None


def stored_labels(store: Any, data: Any) -> Any:
    """``y`` as labels, -1 for unknown; positions in ``data.classes`` where that is there."""
    if "y" not in store or store["y"] is None:
        return None
    labels = store["y"].detach().cpu().numpy()
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.ndim != 1:
        raise DataError(f"y must hold one label per node, not be of shape {labels.shape}")
    classes = data.classes if "classes" in data else None
    if classes is None:
        return object_array([None if value == -1 else value for value in plain_list(labels)])
    return object_array([None if value < 0 else classes[value] for value in labels.tolist()])


def given_matrix(store: Any, key: str) -> Any:
    """The matrix under a key as numpy or scipy; None if there is none."""
    return _to_numpy(store[key]) if key in store and store[key] is not None else None


def stored_layer_features(store: Any, layers: Iterable[str]) -> dict[str, Any]:
    """The features of layers that have some of their own."""
    return {
        name: given_matrix(store, FEATURES + name) for name in layers if FEATURES + name in store
    }


def _to_numpy(features: Any) -> Any:
    features = features.detach().cpu()
    if features.layout == torch.strided:
        return features.numpy()
    pairs = features.to_sparse_coo().coalesce()
    shape = tuple(features.shape)
    return sp.csr_array((pairs.values().numpy(), pairs.indices().numpy()), shape=shape)


def as_tensor(features: Any) -> torch.Tensor:
    """Dense or sparse features as a tensor of the same layout."""
    if isinstance(features, np.ndarray):
        return torch.from_numpy(features.copy())
    pairs = features.tocoo()
    places = torch.from_numpy(np.stack([pairs.row, pairs.col]).astype(np.int64))
    values = torch.from_numpy(pairs.data.copy())
    return torch.sparse_coo_tensor(
        places, values, pairs.shape, is_coalesced=True, check_invariants=True
    )
