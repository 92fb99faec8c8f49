"""What a file of :class:`~gramme.GrammeLinks` holds: the graph whose edges are the evidence, and the mixtures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from gramme.graph import EdgeLayer, Layer, MembershipLayer, MultilayerGraph
from gramme.graph.arrays import loose_index
from gramme.links.attention import LinkAttention
from gramme.links.evidence import column_names
from gramme.links.mixture import LayerMixture, Line
from gramme.links.trees import Trees
from gramme.links.whole_graph import Gathered, WholeGraph
from gramme.methods.saving import Learned, MisfitError, from_json, plain_name

_TREE_ARRAYS = ("roots", "column", "left", "right", "threshold", "value")


def graph_to_file(graph: MultilayerGraph, learned: Learned) -> None:
    """Add a graph's nodes, layers and attributes to what is written."""
    learned.record["nodes"] = [plain_name(name) for name in graph.nodes]
    layers = []
    for number, (name, layer) in enumerate(graph.layers.items()):
        groups = layer.as_groups()
        if groups is not None:
            first, second, weight = groups.node, groups.group, groups.weight
        else:
            edges = layer.to_edges()
            first, second, weight = edges.source, edges.target, edges.weight
        layers.append({"name": name, "members": groups is not None, "directed": layer.directed})
        _put(learned, f"layer{number}.first", np.asarray(first, dtype=np.int64))
        _put(learned, f"layer{number}.second", np.asarray(second, dtype=np.int64))
        _put(learned, f"layer{number}.present", np.asarray(layer.present, dtype=np.uint8))
        if weight is not None:
            _put(learned, f"layer{number}.weight", np.asarray(weight, dtype=np.float64))
    learned.record["layers"] = layers
    if graph.features is not None:
        matrix = sp.csr_array(graph.features)
        for name in ("data", "indices", "indptr"):
            _put(learned, f"features.{name}", np.asarray(getattr(matrix, name)))
        learned.record["feature_columns"] = int(matrix.shape[1])
        learned.record["sparse_features"] = sp.issparse(graph.features)


def graph_from_file(learned: Learned) -> MultilayerGraph:
    """The graph of a file, checked as any graph is when it is made."""
    nodes = loose_index(from_json(learned.record["nodes"]))
    count = len(nodes)
    layers: dict[str, Layer] = {}
    for number, entry in enumerate(learned.record["layers"]):
        first, second = (
            _get(learned, f"layer{number}.first"),
            _get(learned, f"layer{number}.second"),
        )
        weight = learned.tensors.get(f"layer{number}.weight")
        weights = None if weight is None else weight.numpy()
        present = _get(learned, f"layer{number}.present").astype(bool)
        if entry["members"]:
            layers[entry["name"]] = MembershipLayer(
                count, first, second, weight=weights, nodes=present
            )
        else:
            layers[entry["name"]] = EdgeLayer(
                count, first, second, weights, directed=entry["directed"], nodes=present
            )
    features: Any = None
    if "feature_columns" in learned.record:
        parts = tuple(_get(learned, f"features.{name}") for name in ("data", "indices", "indptr"))
        matrix = sp.csr_array(parts, shape=(count, learned.record["feature_columns"]))
        features = matrix if learned.record["sparse_features"] else matrix.toarray()
    return MultilayerGraph(layers, nodes=nodes, features=features, num_nodes=count)


def mixtures_to_file(mixtures: Mapping[str, LayerMixture], learned: Learned) -> None:
    """Add the mixtures to what is written."""
    learned.record["columns"] = column_names()
    entries = []
    for number, (name, mixture) in enumerate(mixtures.items()):
        parts = []
        for place, (part, model) in enumerate(mixture.parts.items()):
            prefix = f"mixture{number}.{place}"
            trees = isinstance(model, Trees)
            base = model.base if isinstance(model, Trees) else model.offset
            parts.append(
                {"name": part, "trees": trees, "base": base, "weight": mixture.weights[part]}
            )
            for array in _TREE_ARRAYS if trees else ("mean", "scale", "weight"):
                _put(learned, f"{prefix}.{array}", getattr(model, array))
        if mixture.typical is not None:
            _put(learned, f"mixture{number}.typical", mixture.typical)
        entries.append(
            {
                "layer": name,
                "parts": parts,
                "slope": mixture.slope,
                "offset": mixture.offset,
                "hidden": mixture.hidden,
            }
        )
    learned.record["mixtures"] = entries


def mixtures_from_file(learned: Learned) -> dict[str, LayerMixture]:
    """The mixtures of a file; one that was made of other evidence is refused."""
    if learned.record["columns"] != column_names():
        raise MisfitError("the model was made of other evidence than this version of gramme finds")
    found = {}
    for number, entry in enumerate(learned.record["mixtures"]):
        mixture = LayerMixture(
            slope=float(entry["slope"]),
            offset=float(entry["offset"]),
            hidden=float(entry["hidden"]),
        )
        if not 0.0 <= mixture.hidden < 1.0:
            raise MisfitError("the share of hidden links must be from 0 to 1")
        for place, part in enumerate(entry["parts"]):
            prefix = f"mixture{number}.{place}"
            base = float(part["base"])
            if part["trees"]:
                arrays = [_get(learned, f"{prefix}.{array}") for array in _TREE_ARRAYS]
                mixture.parts[part["name"]] = _checked_trees(Trees(base, *arrays))
            else:
                sizes = [
                    _get(learned, f"{prefix}.{array}") for array in ("mean", "scale", "weight")
                ]
                if any(len(one) != len(column_names()) for one in sizes):
                    raise MisfitError("a mixture has another number of columns than the evidence")
                mixture.parts[part["name"]] = Line(sizes[0], sizes[1], sizes[2], base)
            mixture.weights[part["name"]] = float(part["weight"])
        mixture.typical = _typical(learned, number, mixture)
        found[entry["layer"]] = mixture
    return found


def _typical(learned: Learned, number: int, mixture: LayerMixture) -> Any:
    """The evidence of a typical pair; files of before it was written have that of a line, if there is one."""
    if f"mixture{number}.typical" not in learned.tensors:
        return next((part.mean for part in mixture.parts.values() if isinstance(part, Line)), None)
    found = _get(learned, f"mixture{number}.typical")
    if found.shape != (len(column_names()),):
        raise MisfitError("a mixture has another number of columns than the evidence")
    return found


def whole_to_file(whole: WholeGraph, learned: Learned) -> None:
    """Add which costly evidence is gathered, and the attention that was trained."""
    learned.record["gathered"] = asdict(whole.gathered)
    if whole.attention is not None and whole.gathered.attention:
        _put(learned, "attention.rows", whole.attention.rows)
        learned.record["attention"] = list(whole.attention.weights)
        for number, name in enumerate(whole.attention.weights):
            _put(learned, f"attention.{number}.weight", whole.attention.weights[name])
            _put(learned, f"attention.{number}.offset", whole.attention.offsets[name])


def whole_from_file(
    graph: MultilayerGraph, learned: Learned
) -> tuple[Gathered, LinkAttention | None]:
    """What :func:`whole_to_file` wrote, which must fit the graph."""
    record = learned.record["gathered"]
    alone = tuple(str(name) for name in record.get("told_by_others", ()))
    gathered = Gathered(**{**record, "told_by_others": alone})
    if not gathered.attention:
        return gathered, None
    rows = _get(learned, "attention.rows")
    weights, offsets = {}, {}
    for number, name in enumerate(learned.record["attention"]):
        weights[name] = _get(learned, f"attention.{number}.weight")
        offsets[name] = _get(learned, f"attention.{number}.offset")
    if rows.ndim != 3 or len(rows) != graph.num_nodes:
        raise MisfitError("the rows of attention are not those of the nodes")
    _, members, dim = rows.shape
    for name, weight in weights.items():
        shapes = ((members, dim), (members, dim, dim))
        if weight.shape not in shapes or offsets[name].shape != (members,):
            raise MisfitError(f"the attention of layer {name!r} has another size than its rows")
    return gathered, LinkAttention(rows, weights, offsets)


def _checked_trees(trees: Trees) -> Trees:
    """Trees in which every step leads forward to a node and every question is about a column that exists."""
    count = len(trees.column)
    inner = trees.column >= 0
    places = np.arange(count)
    for way in (trees.left, trees.right):
        if len(way) != count or ((way[inner] <= places[inner]) | (way[inner] >= count)).any():
            raise MisfitError("the trees of a mixture lead nowhere")
    sizes_fit = len(trees.threshold) == count and len(trees.value) == count
    if not sizes_fit or (trees.column >= len(column_names())).any():
        raise MisfitError("the trees of a mixture ask about evidence that is not there")
    if ((trees.roots < 0) | (trees.roots >= max(count, 1))).any():
        raise MisfitError("the trees of a mixture begin nowhere")
    return trees


def _put(learned: Learned, name: str, values: Any) -> None:
    learned.tensors[name] = torch.from_numpy(np.array(values, order="C"))


def _get(learned: Learned, name: str) -> Any:
    tensor: Tensor | None = learned.tensors.get(name)
    if tensor is None:
        raise MisfitError(f"{name} is missing")
    return tensor.numpy()
