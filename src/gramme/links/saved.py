"""A fitted GrammeLinks in a file: plain values in the record, arrays as tensors, all of it checked when it is read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
import torch

from gramme.errors import FileFormatError
from gramme.graph import EdgeLayer, Layer, MembershipLayer, MultilayerGraph
from gramme.graph.arrays import loose_index
from gramme.methods.boosting.trees import BoostedTrees, _check
from gramme.methods.persistence import Learned, MisfitError, broken, from_json, plain_name, read_model

from .evidence import Gathered, column_names
from .expected import LinkRates
from .mixture import LayerMixture, Line

FORMAT = 3
"""The form of the record; earlier ones hold other evidence."""
KINDS = {one.__name__: one for one in (BoostedTrees, Gathered, LayerMixture, Line, LinkRates)}


def links_record(model: Any) -> Learned:
    """What the file of a fitted model holds."""
    graph: MultilayerGraph = model.graph_
    learned = Learned()
    state = {
        "columns": column_names(),
        "layers": {name: _layer_fields(layer) for name, layer in graph.layers.items()},
        "features": graph.features,
        "mixtures": model.mixtures_,
        "rates": {name: model.rates_[name] for name in model.layers_},
        "unseen_scores": model.unseen_scores_,
        "gathered": model.gathered_,
        "explanation": model.explanation_,
        "ingredients": model.ingredients_.to_dict(orient="list"),
        "scores": model.scores_.to_dict(orient="list"),
    }
    learned.record = {"format": FORMAT, "nodes": [plain_name(name) for name in graph.nodes]}
    learned.record["state"] = _packed(state, learned, "links")
    return learned


def read_links(path: Any, kind: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Parameters and learned attributes of a model in a file; refused where its parts do not fit together."""
    name, parameters, learned = read_model(path)
    if name != kind:
        raise FileFormatError(f"holds a model of the kind {name!r}; read it with gramme.load", file=path)
    if learned.record.get("format") != FORMAT:
        raise FileFormatError(
            "holds a model of links that another version of gramme wrote, whose evidence differs from that of this "
            "one; fit it again and save it",
            file=path,
        )
    try:
        return parameters, _attributes(_unpacked(learned.record["state"], learned), from_json(learned.record["nodes"]))
    except Exception as error:  # whatever its content sets off is the file's fault
        raise broken(path, error) from error


def _attributes(state: Mapping[str, Any], names: list[Any]) -> dict[str, Any]:
    _require(state["columns"] == column_names(), "it was made of other evidence than this version of gramme uses")
    layers = {name: _layer(len(names), **entry) for name, entry in state["layers"].items()}
    graph = MultilayerGraph(layers, nodes=loose_index(names), features=state["features"], num_nodes=len(names))
    learned = [name for name in state["mixtures"] if name in layers]
    for name in learned:
        _check_layer(state["mixtures"][name], state["rates"][name], state["unseen_scores"][name], len(names))
    return {
        "graph_": graph,
        "layers_": learned,
        "mixtures_": state["mixtures"],
        "rates_": state["rates"],
        "unseen_scores_": state["unseen_scores"],
        "gathered_": state["gathered"],
        "explanation_": str(state["explanation"]),
        "ingredients_": pd.DataFrame(state["ingredients"]),
        "scores_": pd.DataFrame(state["scores"]),
    }


def _check_layer(mixture: LayerMixture, rates: LinkRates, unseen: sp.csr_array, nodes: int) -> None:
    width = (len(column_names()),)
    _require(set(mixture.parts) == set(mixture.weights), "a mixture has parts without a weight")
    shapes = [] if mixture.typical is None else [mixture.typical.shape]
    for part in mixture.parts.values():
        if isinstance(part, BoostedTrees):
            _check(part)
            shapes.append(part.gain.shape)
        else:
            shapes += [part.mean.shape, part.scale.shape, part.weight.shape]
    _require(all(shape == width for shape in shapes), "a mixture has another number of columns than the evidence")
    _require(len(rates.log_odds) == len(rates.rate) > 0, "the probabilities of a layer have no scores")
    rising = (np.diff(rates.log_odds) > 0).all() and (np.diff(rates.rate) >= 0).all()
    _require(rising, "the probabilities of a layer do not rise with its scores")
    fits = unseen.shape == (nodes, nodes) and ((unseen.data > 0) & (unseen.data <= 1)).all()
    _require(fits, "the pairs that were learned from do not fit the graph")


def _require(condition: Any, problem: str) -> None:
    if not condition:
        raise MisfitError(problem)


def _layer_fields(layer: Layer) -> dict[str, Any]:
    groups = layer.as_groups()
    made = {"members": groups is not None, "directed": layer.directed, "present": np.asarray(layer.present)}
    if groups is not None:
        return made | {"first": groups.node, "second": groups.group, "weight": groups.weight}
    edges = layer.to_edges()
    return made | {"first": edges.source, "second": edges.target, "weight": edges.weight}


def _layer(count: int, *, members: bool, directed: bool, present: Any, first: Any, second: Any, weight: Any) -> Layer:
    if members:
        return MembershipLayer(count, first, second, weight=weight, nodes=present)
    return EdgeLayer(count, first, second, weight, directed=directed, nodes=present)


def _packed(value: Any, learned: Learned, name: str) -> Any:
    """A value as JSON holds it; arrays become tensors that are called by where they stand."""
    if isinstance(value, np.ndarray):
        learned.tensors[name] = torch.from_numpy(np.array(value, order="C"))
        return {"tensor": name}
    kind = "mapping"
    if hasattr(value, "tocsr"):
        matrix: Any = value.tocsr()
        kind, value = "csr", {one: getattr(matrix, one) for one in ("data", "indices", "indptr", "shape")}
    elif is_dataclass(value):
        kind, value = type(value).__name__, {one.name: getattr(value, one.name) for one in fields(value)}
    if isinstance(value, Mapping):
        return {kind: [[key, _packed(inner, learned, f"{name}.{at}")] for at, (key, inner) in enumerate(value.items())]}
    if isinstance(value, tuple):
        return {"tuple": [_packed(inner, learned, f"{name}.{at}") for at, inner in enumerate(value)]}
    return value


def _unpacked(value: Any, learned: Learned) -> Any:
    if not isinstance(value, dict):
        return value
    ((kind, inner),) = value.items()
    if kind == "tensor":
        _require(inner in learned.tensors, f"{inner} is missing")
        return learned.tensors[inner].numpy()
    if kind == "tuple":
        return tuple(_unpacked(one, learned) for one in inner)
    found = {key: _unpacked(one, learned) for key, one in inner}
    if kind == "csr":
        shape = found.pop("shape")
        matrix = sp.csr_array((found["data"], found["indices"], found["indptr"]), shape=shape)
        matrix.check_format(full_check=True)
        return matrix
    return found if kind == "mapping" else KINDS[kind](**found)
