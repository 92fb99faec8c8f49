"""The tables of a fit: predictions, layers and embedding, with the columns that other programs rely on."""

from __future__ import annotations

import numpy as np
import pandas as pd

from gramme.graph import MultilayerGraph
from gramme.methods import NodeClassifier


def prediction_table(
    model: NodeClassifier, graph: MultilayerGraph, known: np.ndarray | None = None
) -> pd.DataFrame:
    """One row per node: node, known, predicted, probability, then ``probability_<class>`` for each class.

    Parameters
    ----------
    model : NodeClassifier
        A fitted model.
    graph : MultilayerGraph
        The graph to predict for; the one it was fitted on or another.
    known : array of object, optional
        Labels that are known, None where not; the graph's own where not given.
    """
    if known is None:
        known = np.full(graph.num_nodes, None) if graph.labels is None else graph.labels
    fitted = getattr(model, "graph_", None) is graph
    probabilities = model.predict_proba(None if fitted else graph)
    best = probabilities.argmax(axis=1)
    columns = {
        "node": graph.nodes.to_numpy(),
        "known": pd.Series(known, dtype=object),
        "predicted": model.classes_[best],
        "probability": probabilities.max(axis=1) if len(best) else [],
    }
    for position, label in enumerate(model.classes_.tolist()):
        columns[f"probability_{label}"] = probabilities[:, position]
    return pd.DataFrame(columns)


def layer_table(model: NodeClassifier) -> pd.DataFrame | None:
    """One row per layer: layer, importance and its spread over the members; None where a method has no such notion."""
    importance = getattr(model, "layer_importance_", None)
    if importance is None:
        return None
    table = pd.DataFrame({"layer": importance.index, "importance": importance.to_numpy()})
    members = getattr(model, "layer_importances_", None)
    if members is not None and len(members) > 1:
        table["spread"] = members.std(axis=0, ddof=1).to_numpy()
    return table


def embedding_table(model: NodeClassifier) -> pd.DataFrame | None:
    """One row per node: node and the columns of the embedding; None where a method has none."""
    embedding = getattr(model, "embedding_", None)
    if embedding is None:
        return None
    names = [f"e{position}" for position in range(embedding.shape[1])]
    table = pd.DataFrame(embedding, columns=names)
    table.insert(0, "node", model.nodes_.to_numpy())
    return table
