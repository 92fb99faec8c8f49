"""gramme's own archive: the whole graph, nothing lost, arrays that can stay on disk, no pickles.

An uncompressed ``.npz`` with the member ``gramme.json`` (what there is, version, names of layers) and one array per
part of the graph. Names and labels keep their kinds (:mod:`gramme.io.values`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import NDArray

from gramme._runtime import free_bytes
from gramme._text import setting
from gramme.errors import DataError, FileFormatError
from gramme.graph import Coupling, EdgeLayer, Layer, MembershipLayer, MultilayerGraph
from gramme.graph.arrays import checked_names, name_index, smallest_int
from gramme.io.atomic import Content
from gramme.io.labels import with_labels
from gramme.io.parsed import ReadOptions, ReadReport
from gramme.io.source import checked_file, read_bytes
from gramme.io.values import decode, encode, id_base
from gramme.io.zip_arrays import ArrayReader, ArrayWriter, bytes_array, check_count, put_names, take_names

NAME = "npz"
#: The newest version that is read. A graph is written as the oldest version that can hold it.
VERSION = 4
_HEADER = "gramme.json"
_KIND = "gramme graph"


def write(graph: MultilayerGraph, path: Path) -> dict[Path, Content]:
    """The archive; all is encoded before a byte is written."""
    archive_members: dict[str, Any] = {}
    layer_headers = [_put_layer(archive_members, k, *item) for k, item in enumerate(graph.layers.items())]
    header: dict[str, Any] = {
        "format": _KIND,
        "version": _version(graph),
        "name": graph.name,
        "num_nodes": graph.num_nodes,
        "nodes": put_names(archive_members, "nodes", graph.nodes),
        "labels": graph.labels is not None,
        "features": None,
        "layers": layer_headers,
    }
    if graph.labels is not None:
        # the distinct labels, each of its own kind, and which of them each node has (-1 for none)
        number: dict[Any, int] = {}
        label_codes = [-1 if one is None else number.setdefault((type(one), one), len(number)) for one in graph.labels]
        archive_members["labels"] = np.array(label_codes, dtype=np.int64)
        archive_members["labels.classes"] = bytes_array(encode([node_label for _, node_label in number]))
    if graph.features is not None:
        header["features"] = _put_matrix(archive_members, "features", graph.features)
    if graph.feature_names is not None:
        header["feature_names"] = list(graph.feature_names)
    if header["version"] > 1:
        header["couplings"] = []
        for k, (pair, coupling) in enumerate(graph.couplings.items()):
            archive_parts = {part: getattr(coupling, part) for part in ("source", "target", "weight")}
            archive_members |= {
                f"coupling{k}.{part}": array for part, array in archive_parts.items() if array is not None
            }
            layer_facts = {"layers": list(pair), "directed": coupling.directed, "weighted": coupling.weighted}
            header["couplings"].append(layer_facts)
        header["layer_features"] = [
            {"layer": layer_name, "features": _put_matrix(archive_members, f"layer_features{k}", feature_matrix)}
            for k, (layer_name, feature_matrix) in enumerate(graph.layer_features.items())
        ]
    if graph.masks:
        header["masks"] = list(graph.masks)
        archive_members.update({f"mask{k}": mask for k, mask in enumerate(graph.masks.values())})
    head = json.dumps(header).encode("ascii")

    def fill(file: BinaryIO) -> None:
        with ArrayWriter(file) as archive:
            archive.add_bytes(_HEADER, head)
            for member_name, value in archive_members.items():
                archive.add(member_name, value)

    return {path: fill}


def _version(graph: MultilayerGraph) -> int:
    """The oldest that can hold it: 2 has weighted memberships, couplings, features of layers; 3 masks; 4 of edges."""
    if any(layer.features is not None for layer in graph.layers.values()):
        return 4
    if graph.masks:
        return 3
    weighted = any(isinstance(layer, MembershipLayer) and layer.weighted for layer in graph.layers.values())
    return 2 if weighted or graph.couplings or graph.layer_features else 1


def _put_matrix(members: dict[str, Any], key: str, matrix: Any) -> str:
    """Store a matrix under the key and return its kind."""
    if isinstance(matrix, np.ndarray):
        members[key] = matrix
        return "dense"
    members[f"{key}.shape"] = np.array(matrix.shape, dtype=np.int64)
    for part in ("data", "indices", "indptr"):
        members[f"{key}.{part}"] = getattr(matrix, part)
    return "sparse"


def _put_layer(members: dict[str, Any], number: int, name: str, layer: Layer) -> dict[str, Any]:
    member_key = f"layer{number}"
    attributes_of_node: dict[str, Any] = {"name": name, "all_present": layer.holds_all_nodes}
    if not layer.holds_all_nodes:
        members[f"{member_key}.present"] = layer.present
    if layer.features is not None and layer.feature_names is not None:
        members[f"{member_key}.features"], attributes_of_node["feature_names"] = (
            layer.features,
            list(layer.feature_names),
        )
    made: Any = layer if isinstance(layer, MembershipLayer) else layer.to_edges()
    for part in ("node", "group") if made is layer and layer.made_of == "groups" else ("source", "target"):
        members[f"{member_key}.{part}"] = getattr(made, part)
    if made.weight is not None:
        members[f"{member_key}.weight"] = made.weight
    if isinstance(layer, MembershipLayer):
        attributes_of_node |= {"weighted": True} if made.weight is not None else {}
        return attributes_of_node | {
            "kind": "groups",
            "groups": put_names(members, f"{member_key}.groups", layer.group_names),
        }
    return attributes_of_node | {"kind": "edges", "directed": made.directed, "weighted": made.weighted}


def read(path: Path, options: ReadOptions) -> tuple[MultilayerGraph, ReadReport]:
    """The graph of an archive."""
    checked_file(path)
    if options.directed is not None:
        raise DataError("the format 'npz' states which layers are directed; leave out directed=")
    if options.edge_columns:
        raise DataError(f"the format 'npz' holds the features of edges itself; leave out {setting('edge_features')}")
    try:
        graph = _read(ArrayReader(path), options.mmap)
    except FileFormatError:
        raise
    except (ValueError, TypeError, KeyError, OverflowError, AttributeError, RecursionError) as error:
        if not path.stat().st_size:
            read_bytes(path)  # says that it is empty
        error_text = error.args[0] if isinstance(error, _ForeignError) else f"the archive is damaged: {error}"
        raise FileFormatError(str(error_text), file=path) from None
    except OSError as error:
        raise DataError(f"the file {path} cannot be read: {error.strerror or error}") from None
    files = [str(path)]
    if options.labels is not None:
        from_file = isinstance(options.labels, (str, Path))
        graph = with_labels(graph, Path(options.labels), options) if from_file else graph.replace(labels=options.labels)
        files += [str(options.labels)] if from_file else []
    node_names = [node_name for node_name in graph.nodes if isinstance(node_name, (int, str))]
    report = ReadReport(
        format=NAME,
        files=tuple(files),
        rows=sum(layer.num_entries for layer in graph.layers.values()),
        id_base=id_base([str(node_name) for node_name in node_names]) if len(node_names) == graph.num_nodes else None,
        direction="as the file says",
        self_loops_dropped=dict.fromkeys(graph.layers, 0),
        duplicates_merged=dict.fromkeys(graph.layers, 0),
    )
    return graph, report


class _ForeignError(ValueError):
    """Not damaged, but not ours or newer."""


def _read(archive: ArrayReader, mapped: bool) -> MultilayerGraph:
    if _HEADER not in archive.names:
        raise _ForeignError(
            f"this is not a graph archive of gramme (it has no member {_HEADER}, but "
            f"{', '.join(archive.names[:4])[:100] or 'nothing'}); other arrays go through "
            "MultilayerGraph.from_scipy or from_edges"
        )
    header = json.loads(archive.bytes_of(_HEADER))
    if not isinstance(header, dict) or header.get("format") != _KIND:
        raise _ForeignError(f"this is not a graph archive of gramme: its {_HEADER} says otherwise")
    if not isinstance(header["version"], int) or header["version"] > VERSION:
        raise _ForeignError(
            f"the archive has version {header['version']!r}; this gramme reads up to version {VERSION}, "
            "a newer one is needed"
        )
    size = header["num_nodes"]
    if type(size) is not int:
        raise ValueError("the number of nodes is not a number")
    check_count(archive, size, "nodes")
    node_index = take_names(archive, "nodes", header["nodes"])
    if len(node_index) != size:
        raise ValueError(f"{len(node_index)} names for {size} nodes")
    free = free_bytes()
    if free is not None and size * len(header["layers"]) > free:  # each notes of each node whether it is present
        raise ValueError(
            f"{len(header['layers'])} layers of {size} nodes need more than {free / 1e9:,.1f} GB, the memory that is "
            "free"
        )
    graph_layers = {
        _text(layer_facts["name"]): _layer(archive, f"layer{number}", layer_facts, size, mapped)
        for number, layer_facts in enumerate(header["layers"])
    }
    if len(graph_layers) != len(header["layers"]):
        raise ValueError("two layers have the same name")
    node_labels = _labels(archive, size) if header["labels"] else None
    feature_matrix = _features(archive, "features", header["features"], mapped)
    graph_name = header.get("name")
    named = header.get("feature_names")
    graph = restored_graph(
        graph_layers,
        node_index,
        node_labels,
        feature_matrix,
        None if graph_name is None else _text(graph_name),
        None if named is None else [_text(one) for one in named],
    )
    if not any(header.get(part) for part in ("couplings", "layer_features", "masks")):
        return graph
    return graph.replace(
        masks={_text(mask): archive.array(f"mask{number}", "b") for number, mask in enumerate(header.get("masks", []))},
        couplings={
            (_text(layer_facts["layers"][0]), _text(layer_facts["layers"][1])): _coupling(
                archive, f"coupling{number}", layer_facts, size
            )
            for number, layer_facts in enumerate(header.get("couplings", []))
        },
        layer_features={
            _text(layer_facts["layer"]): _features(archive, f"layer_features{number}", layer_facts["features"], mapped)
            for number, layer_facts in enumerate(header.get("layer_features", []))
        },
    )


def _coupling(archive: ArrayReader, key: str, facts: Any, size: int) -> Coupling:
    edge_weight = archive.array(f"{key}.weight", "f") if facts["weighted"] is True else None
    source, target = archive.array(f"{key}.source", "i"), archive.array(f"{key}.target", "i")
    return Coupling(size, source, target, edge_weight, directed=facts["directed"] is True)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{value!r} is not text")
    return value


def _labels(archive: ArrayReader, size: int) -> Any:
    label_codes = archive.array("labels", "i")
    classes = decode(archive.array("labels.classes", "u").tobytes())
    if label_codes.size != size or label_codes.min(initial=-1) < -1 or label_codes.max(initial=-1) >= len(classes):
        raise ValueError("the labels do not fit the nodes")
    node_labels = np.empty(size, dtype=object)
    node_labels[:] = [None if code < 0 else classes[code] for code in label_codes.tolist()]
    return node_labels


def _layer(archive: ArrayReader, key: str, facts: Any, size: int, mapped: bool) -> Layer:
    present_nodes = None if facts["all_present"] is True else archive.array(f"{key}.present", "b")
    if present_nodes is not None and present_nodes.shape != (size,):
        raise ValueError(f"{key} does not say for each node whether it is present")
    edge_features, described_as = None, facts.get("feature_names")
    if described_as is not None:
        edge_features = archive.array(f"{key}.features", "f", 2, mapped=mapped and facts["kind"] == "edges")
        described_as = [_text(column) for column in described_as]
    if facts["kind"] == "groups":
        group_names = take_names(archive, f"{key}.groups", facts["groups"])
        node, group = archive.array(f"{key}.node", "i"), archive.array(f"{key}.group", "i")
        held_nodes = np.ones(size, dtype=bool) if present_nodes is None else present_nodes
        edge_weight = archive.array(f"{key}.weight", "f") if facts.get("weighted") is True else None
        return MembershipLayer(
            size,
            node,
            group,
            group_names,
            weight=edge_weight,
            nodes=held_nodes,
            features=edge_features,
            feature_names=described_as,
        )
    if facts["kind"] != "edges":
        raise ValueError(f"a layer of the unknown kind {facts['kind']!r}")
    source = archive.array(f"{key}.source", "i", mapped=mapped)
    target = archive.array(f"{key}.target", "i", mapped=mapped)
    edge_weight = archive.array(f"{key}.weight", "f", mapped=mapped) if facts["weighted"] is True else None
    return restored_edges(
        size, source, target, edge_weight, facts["directed"] is True, present_nodes, edge_features, described_as
    )


def _features(archive: ArrayReader, key: str, kind: object, mapped: bool) -> Any:
    if kind is None:
        return None
    if kind == "dense":
        return archive.array(key, "f", 2, mapped=mapped)
    if kind != "sparse":
        raise ValueError(f"features of the unknown kind {kind!r}")
    shape = archive.array(f"{key}.shape", "i").tolist()
    for length in shape:
        check_count(archive, length, "rows or columns of features")
    archive_parts = [
        archive.array(f"{key}.{part}", numbers, mapped=mapped)
        for part, numbers in (("data", "f"), ("indices", "i"), ("indptr", "i"))
    ]
    feature_matrix = sp.csr_array(tuple(archive_parts), shape=tuple(shape))
    feature_matrix.check_format(full_check=True)
    return feature_matrix


# Graphs put together again from arrays that a graph was saved as, without copying or sorting them anew.
_BLOCK_VALUES = 1 << 18


def restored_edges(
    num_nodes: int,
    source: NDArray[Any],
    target: NDArray[Any],
    weight: NDArray[Any] | None,
    directed: bool,
    present: NDArray[np.bool_] | None,
    features: NDArray[np.float64] | None = None,
    feature_names: Sequence[str] | None = None,
) -> EdgeLayer:
    """A layer from its own edges: in range, sorted, each once, no self loops, weights positive, features finite."""
    if source.size != target.size or (weight is not None and weight.size != source.size):
        raise ValueError("sources, targets and weights differ in number")
    last = -1
    for block in _blocks(source.size):
        start_nodes, end_nodes = source[block].astype(np.int64), target[block].astype(np.int64)
        if min(start_nodes.min(), end_nodes.min()) < 0 or max(start_nodes.max(), end_nodes.max()) >= num_nodes:
            raise ValueError("an edge touches a node that does not exist")
        if not (start_nodes != end_nodes if directed else start_nodes < end_nodes).all():
            raise ValueError("an edge is a self loop or stands the wrong way round")
        if present is not None and not (present[start_nodes] & present[end_nodes]).all():
            raise ValueError("an edge touches a node that is absent from its layer")
        place = start_nodes * num_nodes + end_nodes
        if place[0] <= last or not (place[1:] > place[:-1]).all():
            raise ValueError("the edges are not sorted")
        last = int(place[-1])
        if weight is not None and not (np.isfinite(weight[block]) & (weight[block] > 0)).all():
            raise ValueError("a weight is not a positive number")
        if features is not None and not np.isfinite(features[block]).all():
            raise ValueError("a feature of an edge is not a finite number")
    if features is not None and (
        feature_names is None
        or features.dtype != np.float64
        or features.shape != (source.size, len(feature_names))
        or not 0 < len(set(feature_names)) == len(feature_names)
    ):
        raise ValueError("features of edges must be numbers of 64 bits, a row per edge, under distinct names")
    if weight is not None and (weight.dtype != np.float64 or not weight.size):
        raise ValueError("weights must be numbers of 64 bits")
    layer = EdgeLayer.__new__(EdgeLayer)
    layer.__setstate__(
        {
            "num_nodes": num_nodes,
            "directed": directed,
            "_present": None if present is None or present.all() else present,
            "source": smallest_int(source, num_nodes),
            "target": smallest_int(target, num_nodes),
            "weight": weight,
            "ways": None,
            "features": features,
            "feature_names": None if feature_names is None else tuple(feature_names),
            "self_loops_dropped": 0,
            "duplicates_merged": 0,
        }
    )
    return layer


def restored_graph(
    layers: dict[str, Layer],
    nodes: pd.Index,
    labels: NDArray[np.object_] | None,
    features: Any,
    name: str | None,
    feature_names: Sequence[str] | None = None,
) -> MultilayerGraph:
    """A graph from its own parts; the features are used as they are, so that they can stay on disk."""
    graph = MultilayerGraph(layers, nodes=name_index(nodes), labels=labels, name=name, num_nodes=len(nodes))
    if features is None:
        return graph
    if features.shape[0] != len(nodes) or features.dtype not in (np.float32, np.float64):
        raise ValueError("the features do not fit the nodes")
    flat = features if isinstance(features, np.ndarray) else features.data
    for block in _blocks(flat.shape[0], flat.shape[1] if flat.ndim > 1 else 1):
        if not np.isfinite(flat[block]).all():
            raise ValueError("some features are not finite numbers")
    whole = MultilayerGraph.__new__(MultilayerGraph)
    named = checked_names(feature_names, features.shape[1])
    whole.__setstate__(graph.__getstate__() | {"features": features, "feature_names": named})
    return whole


def _blocks(length: int, width: int = 1) -> Iterator[slice]:
    step = max(1, _BLOCK_VALUES // max(1, width))
    for start_nodes in range(0, length, step):
        yield slice(start_nodes, start_nodes + step)
