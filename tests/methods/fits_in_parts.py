"""Fits on the parts of a graph, at several processes, for comparison with one fit on the whole."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from gramme.distributed import Communicator, read_part
from gramme.graph import MultilayerGraph
from gramme.methods import method
from gramme.methods.linear.neighbourhood_logistic import NeighbourhoodLogistic
from gramme.methods.linear.spectral_logistic import SpectralLogistic

SEED = 3
ONLY_INGREDIENTS: dict[str, Any] = {
    "spectral-logistic": SpectralLogistic,
    "neighbourhood-logistic": NeighbourhoodLogistic,
}


def fitted(name: str, settings: dict[str, Any], graph: MultilayerGraph) -> Any:
    kind = ONLY_INGREDIENTS.get(name) or method(name).estimator
    return kind(**{"random_state": SEED} | settings).fit(graph)


def learned(model: Any) -> dict[str, Any]:
    """What is the same at every process, and the probabilities of the own nodes."""
    found = {
        "probabilities": model.probabilities_,
        "importance": model.layer_importance_.sort_index().to_numpy(),  # parts have layers by name
    }
    if hasattr(model, "history_"):
        found["loss"] = model.history_["loss"].to_numpy()
        found["embedding"] = model.embedding_
    if hasattr(model, "ingredients_"):
        found["weights"] = model.ingredients_["weight"].to_numpy()
    return found


def fit_parts(communicator: Communicator, cases: dict[str, tuple[Any, str, dict[str, Any], bool]]) -> dict[str, Any]:
    found = {}
    for title, (folder, name, settings, double) in cases.items():
        torch.set_default_dtype(torch.float64 if double else torch.float32)
        part = read_part(folder, communicator)
        found[title] = part.given, learned(fitted(name, settings, part))
    torch.set_default_dtype(torch.float32)
    return found


def compare(expected: dict[str, Any], found: list[tuple[Any, dict[str, Any]]], tolerance: float, title: str) -> None:
    for places, one in found:
        assert set(one) == set(expected), title
        for key, value in expected.items():
            rows = value[places] if key in ("probabilities", "embedding") else value
            np.testing.assert_allclose(one[key], rows, rtol=0, atol=tolerance, err_msg=f"{title}: {key}")
