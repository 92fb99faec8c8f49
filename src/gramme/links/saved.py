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
    packed_state = {
        "columns": column_names(),
        "layers": {layer_name: _layer_fields(layer) for layer_name, layer in graph.layers.items()},
        "features": graph.features,
        "mixtures": model.mixtures_,
        "rates": {layer_name: model.rates_[layer_name] for layer_name in model.layers_},
        "unseen_scores": model.unseen_scores_,
        "gathered": model.gathered_,
        "explanation": model.explanation_,
        "ingredients": model.ingredients_.to_dict(orient="list"),
        "scores": model.scores_.to_dict(orient="list"),
    }
    learned.record = {"format": FORMAT, "nodes": [plain_name(layer_name) for layer_name in graph.nodes]}
    learned.record["state"] = _packed(packed_state, learned, "links")
    return learned


def read_links(path: Any, kind: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Parameters and learned attributes of a model in a file; refused where its parts do not fit together."""
    model_kind, parameters, learned = read_model(path)
    if model_kind != kind:
        raise FileFormatError(f"holds a model of the kind {model_kind!r}; read it with gramme.load", file=path)
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
    graph_layers = {name: _layer(len(names), **layer_fields) for name, layer_fields in state["layers"].items()}
    graph = MultilayerGraph(graph_layers, nodes=loose_index(names), features=state["features"], num_nodes=len(names))
    learned_layers = [name for name in state["mixtures"] if name in graph_layers]
    for layer_name in learned_layers:
        _check_layer(
            state["mixtures"][layer_name], state["rates"][layer_name], state["unseen_scores"][layer_name], len(names)
        )
    return {
        "graph_": graph,
        "layers_": learned_layers,
        "mixtures_": state["mixtures"],
        "rates_": state["rates"],
        "unseen_scores_": state["unseen_scores"],
        "gathered_": state["gathered"],
        "explanation_": str(state["explanation"]),
        "ingredients_": pd.DataFrame(state["ingredients"]),
        "scores_": pd.DataFrame(state["scores"]),
    }


def _check_layer(mixture: LayerMixture, rates: LinkRates, unseen: sp.csr_array, nodes: int) -> None:
    row_shape = (len(column_names()),)
    _require(set(mixture.parts) == set(mixture.weights), "a mixture has parts without a weight")
    part_shapes = [] if mixture.typical is None else [mixture.typical.shape]
    for mixture_part in mixture.parts.values():
        if isinstance(mixture_part, BoostedTrees):
            _check(mixture_part)
            part_shapes.append(mixture_part.gain.shape)
        else:
            part_shapes += [mixture_part.mean.shape, mixture_part.scale.shape, mixture_part.weight.shape]
    _require(
        all(part_shape == row_shape for part_shape in part_shapes),
        "a mixture has another number of columns than the evidence",
    )
    _require(len(rates.log_odds) == len(rates.rate) > 0, "the probabilities of a layer have no scores")
    is_rising = (np.diff(rates.log_odds) > 0).all() and (np.diff(rates.rate) >= 0).all()
    _require(is_rising, "the probabilities of a layer do not rise with its scores")
    fits_graph = unseen.shape == (nodes, nodes) and ((unseen.data > 0) & (unseen.data <= 1)).all()
    _require(fits_graph, "the pairs that were learned from do not fit the graph")


def _require(condition: Any, problem: str) -> None:
    if not condition:
        raise MisfitError(problem)


def _layer_fields(layer: Layer) -> dict[str, Any]:
    group_layer = layer.as_groups()
    layer_facts = {"members": group_layer is not None, "directed": layer.directed, "present": np.asarray(layer.present)}
    if group_layer is not None:
        return layer_facts | {"first": group_layer.node, "second": group_layer.group, "weight": group_layer.weight}
    edge_layer = layer.to_edges()
    return layer_facts | {"first": edge_layer.source, "second": edge_layer.target, "weight": edge_layer.weight}


def _layer(count: int, *, members: bool, directed: bool, present: Any, first: Any, second: Any, weight: Any) -> Layer:
    if members:
        return MembershipLayer(count, first, second, weight=weight, nodes=present)
    return EdgeLayer(count, first, second, weight, directed=directed, nodes=present)


def _packed(value: Any, learned: Learned, name: str) -> Any:
    """A value as JSON holds it; arrays become tensors that are called by where they stand."""
    if isinstance(value, np.ndarray):
        learned.tensors[name] = torch.from_numpy(np.array(value, order="C"))
        return {"tensor": name}
    value_kind = "mapping"
    if hasattr(value, "tocsr"):
        csr_matrix: Any = value.tocsr()
        value_kind, value = (
            "csr",
            {field_name: getattr(csr_matrix, field_name) for field_name in ("data", "indices", "indptr", "shape")},
        )
    elif is_dataclass(value):
        value_kind, value = (
            type(value).__name__,
            {field_name.name: getattr(value, field_name.name) for field_name in fields(value)},
        )
    if isinstance(value, Mapping):
        return {
            value_kind: [
                [field_key, _packed(inner_value, learned, f"{name}.{field_number}")]
                for field_number, (field_key, inner_value) in enumerate(value.items())
            ]
        }
    if isinstance(value, tuple):
        return {
            "tuple": [
                _packed(inner_value, learned, f"{name}.{field_number}")
                for field_number, inner_value in enumerate(value)
            ]
        }
    return value


def _unpacked(value: Any, learned: Learned) -> Any:
    if not isinstance(value, dict):
        return value
    ((value_kind, packed_value),) = value.items()
    if value_kind == "tensor":
        _require(packed_value in learned.tensors, f"{packed_value} is missing")
        return learned.tensors[packed_value].numpy()
    if value_kind == "tuple":
        return tuple(_unpacked(packed_item, learned) for packed_item in packed_value)
    field_values = {field_key: _unpacked(packed_item, learned) for field_key, packed_item in packed_value}
    if value_kind == "csr":
        shape = field_values.pop("shape")
        csr_matrix = sp.csr_array((field_values["data"], field_values["indices"], field_values["indptr"]), shape=shape)
        csr_matrix.check_format(full_check=True)
        return csr_matrix
    return field_values if value_kind == "mapping" else KINDS[value_kind](**field_values)
