"""A graph in parts made whole again: for the page of a result, and to go back to other formats."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from gramme.distributed.manifest import Manifest, read_manifest
from gramme.distributed.part_graph import PartGraph
from gramme.distributed.part_layers import PartEdges, PartGroups
from gramme.distributed.read_part import open_part
from gramme.distributed.world import ALONE
from gramme.graph import Coupling, EdgeLayer, Layer, MembershipLayer, MultilayerGraph
from gramme.graph.arrays import loose_index
from gramme.io.zip_arrays import ArrayReader

Ints = NDArray[np.int64]


def whole_graph(folder: Path | str) -> MultilayerGraph:
    """All parts of a folder as one graph, its nodes and layers in the order they were given in."""
    manifest = read_manifest(Path(folder))
    parts = [open_part(manifest, number, ALONE) for number in range(len(manifest.parts))]
    nodes = np.empty(manifest.nodes, dtype=object)
    codes = np.full(manifest.nodes, -1, dtype=np.int64)
    given = np.empty(manifest.nodes, dtype=np.int64)
    for part in parts:
        nodes[part.given] = part.nodes.to_numpy(dtype=object)
        codes[part.given] = part.label_codes
        given[part.places] = part.given
    classes = manifest.whole().classes
    labels = np.empty(manifest.nodes, dtype=object)
    labels[:] = [None if code < 0 else classes[code] for code in codes.tolist()]
    names = [str(name) for name in manifest.record["layer_order"]]
    return MultilayerGraph(
        {name: _layer(name, parts, given) for name in names},
        nodes=loose_index(nodes.tolist()),
        labels=labels if classes else None,
        features=_rows([part.features for part in parts], parts),
        layer_features={
            name: _rows([part.layer_features[name] for part in parts], parts)
            for name in parts[0].layer_features
        },
        couplings=_couplings(manifest, given),
        name=manifest.record.get("name"),
    )


def _layer(name: str, parts: list[PartGraph], given: Ints) -> Layer:
    nodes = parts[0].whole.nodes
    layers = [part.layers[name] for part in parts]
    present = None
    if not all(layer.holds_all_nodes for layer in layers):
        present = np.zeros(nodes, dtype=bool)
        for part, layer in zip(parts, layers, strict=True):
            present[part.given] = layer.present
    edges = [one for one in layers if isinstance(one, PartEdges)]
    if edges:
        return _edges(parts, edges, present, given)
    groups = [one for one in layers if isinstance(one, PartGroups)]
    names = np.empty(groups[0].groups_in_all, dtype=object)
    for one in groups:
        names[one.group_place] = one.group_names.to_numpy(dtype=object)
    weights = [one.weight for one in groups if one.weight is not None]
    return MembershipLayer(
        nodes,
        np.concatenate([part.given[one.node] for part, one in zip(parts, groups, strict=True)]),
        np.concatenate([one.group_place[one.group] for one in groups]),
        loose_index(names.tolist()),
        weight=np.concatenate(weights) if groups[0].weighted else None,
        nodes=np.ones(nodes, dtype=bool) if present is None else present,
    )


def _edges(parts: list[PartGraph], edges: list[PartEdges], present: Any, given: Ints) -> EdgeLayer:
    source, target, weight = [], [], []
    for part, one in zip(parts, edges, strict=True):
        found = one.links.matrix.tocoo()
        start, end = part.places[found.row], one.heard_places(part.places)[found.col]
        # an undirected edge stands at both ends and is taken from one of them
        kept = np.full(start.size, True) if one.directed else start < end
        source.append(start[kept])
        target.append(end[kept])
        weight.append(found.data[kept])
    return EdgeLayer(
        parts[0].whole.nodes,
        given[np.concatenate(source)],
        given[np.concatenate(target)],
        np.concatenate(weight) if edges[0].weighted else None,
        directed=edges[0].directed,
        nodes=present,
    )


def _rows(matrices: list[Any], parts: list[PartGraph]) -> Any:
    if matrices[0] is None:
        return None
    order = np.argsort(np.concatenate([part.given for part in parts]))
    if isinstance(matrices[0], np.ndarray):
        return np.concatenate(matrices)[order]
    return sp.csr_array(sp.vstack(matrices, format="csr")[order])


def _couplings(manifest: Manifest, given: Ints) -> dict[tuple[str, str], Coupling]:
    archives = [ArrayReader(manifest.folder / part["file"]) for part in manifest.parts]
    found = {}
    for k, facts in enumerate(manifest.record["couplings"]):
        source, target = (
            np.concatenate([one.array(f"coupling{k}.{end}", "i") for one in archives])
            for end in ("source", "target")
        )
        weight = None
        if f"coupling{k}.weight.npy" in archives[0].names:
            weight = np.concatenate([one.array(f"coupling{k}.weight", "f") for one in archives])
        pair = (str(facts["layers"][0]), str(facts["layers"][1]))
        found[pair] = Coupling(
            manifest.nodes, given[source], given[target], weight, directed=bool(facts["directed"])
        )
    return found
