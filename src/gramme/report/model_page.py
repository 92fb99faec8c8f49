"""The page of a model that was fitted in Python, without a folder around it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from gramme.evaluation.estimate import Estimate, UnseenPredictions, joined_estimate
from gramme.graph import MultilayerGraph
from gramme.io.atomic import write_files
from gramme.methods import METHODS, GrammeRegressor, NodeClassifier
from gramme.methods.saving import to_json
from gramme.report.fit_folder import versions
from gramme.report.page import write_fit_page
from gramme.report.page.number_page import number_data, render_numbers


def write_model_page(path: Path, model: NodeClassifier, graph: MultilayerGraph) -> Path:
    """Write the page of a fitted model; called as ``model.report(path)``."""
    known = np.full(graph.num_nodes, None, dtype=object)
    if hasattr(model, "labelled_"):
        known[model.labelled_] = model.transduction_[model.labelled_].tolist()
    estimate = model_estimate(model)
    names = [
        method.name for method in METHODS.values() if method.class_name == type(model).__name__
    ]
    config: dict[str, Any] = {
        "data": graph.name or "a graph",
        "method": min(names, key=len, default=type(model).__name__),
        "parameters": {name: to_json(value, name) for name, value in model.get_params().items()},
        "versions": versions(),
        "estimate": estimate.record(),
    }
    measured = estimate.record() | {"predictions": estimate.predictions(graph.nodes)}
    return write_fit_page(path, model, graph, known=known, estimate=measured, config=config)


def write_number_page(path: Path, model: GrammeRegressor, graph: MultilayerGraph) -> Path:
    """Write the page of a fitted regression; called as ``model.report(path)``."""
    config: dict[str, Any] = {
        "data": graph.name or "a graph",
        "method": type(model).__name__,
        "parameters": {name: to_json(value, name) for name, value in model.get_params().items()},
        "versions": versions(),
    }
    page = render_numbers(number_data(model, graph, config))
    write_files({path: page}, overwrite=True)
    return path


def model_estimate(model: NodeClassifier) -> Estimate:
    """How good a model is, from labels that were predicted unseen; kind "none" if there are no such predictions."""
    if not hasattr(model, "tested_nodes_"):
        return Estimate("none", "call out_of_fold() on the model before report()")
    seen = model.out_of_fold()
    inside = seen.codes >= 0
    labels = np.full(len(model.nodes_), None, dtype=object)
    labels[seen.nodes[inside]] = model.classes_[seen.codes[inside]].tolist()
    shares = np.zeros((len(model.nodes_), len(model.classes_)), dtype=np.float32)
    shares[seen.nodes] = seen.probabilities
    part = UnseenPredictions.of(seen.nodes[inside], labels, model.classes_, shares)
    note = "each label was predicted by models that had not learned from it"
    return joined_estimate("cross-validation", note, [part])
