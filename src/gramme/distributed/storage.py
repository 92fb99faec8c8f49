"""A graph in parts on disk: its manifest, reading the part of one process, writing parts, and putting them together."""

from __future__ import annotations

import hashlib
import json
import re
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from gramme._types import Ints
from gramme.errors import DataError, FileFormatError, LossyFormatWarning
from gramme.graph import Coupling, EdgeLayer, Layer, MembershipLayer, MultilayerGraph
from gramme.graph.arrays import loose_index
from gramme.graph.canonical import in_name_order
from gramme.io.values import decode, encode
from gramme.io.zip_arrays import ArrayReader, ArrayWriter, take_names
from gramme.ops.communicator import SINGLE_PROCESS, Communicator
from gramme.ops.parts import Links

from .part_graph import PartCouplings, PartEdges, PartGraph, PartGroups, WholeFacts
from .partition import Cut, Members, coupling_facts, layer_facts, part_members

# The manifest of a graph in parts. Every process reads it once; an entry that does not fit is
# refused by name.


MANIFEST = "manifest.json"
FORMAT = "gramme parts"
VERSION = 2
"""The newest that is read: 2 has masks. A graph is written as the oldest version that can hold it."""

# What a record must hold: a type, a list of one kind of entry, or a record of fields
_LAYERS = {
    "edges": {"name": str, "coupling": bool, "directed": bool, "weighted": bool, "edges": int},
    "groups": {
        "name": str,
        "coupling": bool,
        "single": bool,
        "weighted": bool,
        "edges": int,
        "groups": int,
        "memberships": int,
        "shared": int,
    },
}
_WHOLE = {
    "nodes": int,
    "entries": int,
    "classes": list,
    "layers": [dict],
    "layer_order": [str],
    "couplings": [{"layers": [str], "name": str, "directed": bool}],
    "layer_features": [str],
    "masks": [str],
    "parts": [{"file": str, "nodes": int, "bytes": int, "sha256": str, "halo": int}],
}


@dataclass(frozen=True)
class Manifest:
    """What a folder of parts says about itself: the record that was read and checked."""

    folder: Path
    record: dict[str, Any]

    @property
    def parts(self) -> list[dict[str, Any]]:
        """The entry of each part."""
        found: list[dict[str, Any]] = self.record["parts"]
        return found

    @property
    def nodes(self) -> int:
        """Nodes of the whole graph."""
        return int(self.record["nodes"])

    @property
    def layers(self) -> list[dict[str, Any]]:
        """The entries of the layers, those of couplings last."""
        found: list[dict[str, Any]] = self.record["layers"]
        return found

    @property
    def halo_share(self) -> float:
        """Rows that processes need of others, as a share of the rows in layers of edges: 0 where nothing travels."""
        rows = self.nodes * sum(layer["kind"] == "edges" for layer in self.layers)
        return sum(part["halo"] for part in self.parts) / rows if rows else 0.0

    def whole(self) -> WholeFacts:
        """What every process knows of the whole graph."""
        return WholeFacts(
            self.nodes,
            int(self.record["entries"]),
            np.array([part["nodes"] for part in self.parts], dtype=np.int64),
            tuple(decode(json.dumps(self.record["classes"]).encode("ascii"))),
        )


def read_manifest(folder: Path) -> Manifest:
    """The manifest of a folder; what is wrong with it is said by name."""
    path = folder / MANIFEST
    try:
        if path.stat().st_size > 1 << 28:
            raise ValueError("it is larger than any manifest")
        record = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(record, dict) or record.get("format") != FORMAT:
            raise ValueError(f"it does not say that its format is {FORMAT!r}")
        if record.get("version") not in range(1, VERSION + 1):
            raise ValueError(f"its version is {record.get('version')!r}; this gramme reads up to version {VERSION}")
        record.setdefault("masks", [])  # version 1 had none
        _check(record, _WHOLE, "the manifest")
        for layer_number, layer in enumerate(record["layers"]):
            if layer.get("kind") not in list(_LAYERS):
                raise ValueError(f"layer {layer_number} is neither of edges nor of groups")
            _check(layer, _LAYERS[layer["kind"]], f"layer {layer_number}")
        _check_whole(record)
        classes = decode(json.dumps(record["classes"]).encode("ascii"))
        if len(set(classes)) < len(classes):
            raise ValueError(f"a class stands twice among {record['classes']}")
    except FileNotFoundError:
        raise FileFormatError(f"there is no {MANIFEST} in this folder", file=folder) from None
    except (OSError, ValueError, TypeError, RecursionError) as error:
        raise FileFormatError(
            f"the manifest does not fit: {error}; make the parts again with gramme convert DATA parts/ --parts N",
            file=path,
        ) from None
    return Manifest(folder, record)


def _check(value: Any, wanted: Any, what: str) -> None:
    """Refuse a value that is not of the type, or not a list or record of what is wanted."""
    if isinstance(wanted, dict):
        if type(value) is not dict:
            raise ValueError(f"{what} is not a record")
        for name, kind in wanted.items():
            _check(value.get(name), kind, f"{name!r} of {what}")
    elif isinstance(wanted, list):
        if type(value) is not list:
            raise ValueError(f"{what} is {value!r}, where a list is needed")
        for entry_number, entry in enumerate(value):
            _check(entry, wanted[0], f"entry {entry_number} of {what}")
    elif type(value) is not wanted or (wanted is int and not 0 <= value <= 1 << 48):
        # no graph has more nodes or edges, and sums of such counts stay whole numbers of 64 bits
        raise ValueError(f"{what} is {value!r}, where {wanted.__name__} is needed")


def _check_whole(record: dict[str, Any]) -> None:
    """Refuse a manifest whose entries contradict each other."""
    for part_number, part in enumerate(record["parts"]):
        if not re.fullmatch(r"part-\d{4,}\.npz", part["file"]):
            raise ValueError(f"part {part_number} has the file name {part['file']!r}")
    if not record["parts"]:
        raise ValueError("it names no parts")
    node_total = sum(part["nodes"] for part in record["parts"])
    if node_total != record["nodes"]:
        raise ValueError(f"its parts have {node_total} nodes, the graph {record['nodes']}")
    layer_names = [layer["name"] for layer in record["layers"]]
    plain_names = [layer["name"] for layer in record["layers"] if not layer["coupling"]]
    for listed_names, listed_what in (
        (layer_names, "layers"),
        (record["masks"], "masks"),
        (record["layer_features"], "features"),
    ):
        if len(set(listed_names)) < len(listed_names):
            raise ValueError(f"two of its {listed_what} have one name: {', '.join(map(repr, sorted(listed_names)))}")
    if sorted(record["layer_order"]) != sorted(plain_names):
        raise ValueError(f"it orders the layers {record['layer_order']} and describes the layers {plain_names}")
    coupling_ends = [name for coupling in record["couplings"] for name in coupling["layers"]]
    unknown_names = [name for name in (*record["layer_features"], *coupling_ends) if name not in plain_names]
    if unknown_names or len(coupling_ends) != 2 * len(record["couplings"]):
        raise ValueError(f"features or couplings are about layers that it does not have: {unknown_names}")
    if not isinstance(record.get("name"), (str, type(None))):
        raise ValueError(f"the name of the graph is {record['name']!r}")


# Reading the part of one process: its checksum and every number in it are checked before anything
# is computed.


def read_part(folder: Path | str, communicator: Communicator = SINGLE_PROCESS) -> PartGraph:
    """The part of a graph that belongs to this process.

    Parameters
    ----------
    folder : path
        What ``gramme convert DATA folder --parts N`` wrote, with as many parts as there are processes.
    communicator : Communicator, optional
        From :func:`gramme.distributed.join`; without one the folder must have a single part.

    Raises
    ------
    DataError
        At all processes, if the part of one of them does not fit.
    """
    own_part, own_problem = None, ""
    try:
        manifest = read_manifest(Path(folder))
        part_count = len(manifest.parts)
        if part_count != communicator.size:
            raise DataError(
                f"{folder} has {part_count} parts and {communicator.size} processes are to work on it; make as many "
                "parts "
                f"with gramme convert DATA parts/ --parts {communicator.size}, or start {part_count} processes"
            )
        own_part = open_part(manifest, communicator.rank, communicator)
    except DataError as error:
        if communicator.alone:
            raise
        own_problem = str(error)
    all_problems = communicator.gather_text(own_problem)
    for rank, part_problem in enumerate(all_problems):
        if part_problem:
            worker_prefix = "" if len(set(all_problems)) == 1 else f"worker {rank} of {communicator.size}: "
            raise DataError(worker_prefix + part_problem)
    assert own_part is not None
    return own_part


def open_part(manifest: Manifest, number: int, communicator: Communicator) -> PartGraph:
    """One part of a folder."""
    part_entry = manifest.parts[number]
    path = manifest.folder / part_entry["file"]
    try:
        if path.stat().st_size != part_entry["bytes"]:
            raise ValueError(f"it has {path.stat().st_size} bytes, not {part_entry['bytes']}")
        if sha256_of(path) != part_entry["sha256"]:
            raise ValueError("its checksum (sha256) is another than the manifest's")
        return _Part(manifest, number, ArrayReader(path), communicator).graph()
    except FileNotFoundError:
        raise FileFormatError("this part of the graph is missing", file=path) from None
    except (OSError, ValueError, KeyError, TypeError, IndexError) as error:
        raise FileFormatError(
            f"the part does not fit: {error}; make the parts again with gramme convert DATA parts/ --parts N", file=path
        ) from None


class _Part:
    """The arrays of a part, each checked as it is taken."""

    def __init__(self, manifest: Manifest, number: int, archive: ArrayReader, communicator: Communicator) -> None:
        self.manifest, self.entry, self.archive = manifest, manifest.parts[number], archive
        self.communicator = communicator
        self.number, self.nodes = number, int(self.entry["nodes"])
        self.whole = manifest.whole()
        self.has = set(archive.names)

    def graph(self) -> PartGraph:
        node_places = self._numbers("places", self.nodes, self.whole.nodes)
        if (np.diff(node_places) <= 0).any():
            raise ValueError("the places of its nodes do not ascend")
        given_places = self._numbers("given", self.nodes, self.whole.nodes)
        label_codes = self._numbers("labels", self.nodes, len(self.whole.classes), low=-1)
        node_names = take_names(self.archive, "nodes", self.entry["nodes_kind"])
        if len(node_names) != self.nodes:
            raise ValueError(f"it names {len(node_names)} nodes of {self.nodes}")
        layers = {facts["name"]: self._layer(k, facts) for k, facts in enumerate(self.manifest.layers)}
        plain_layers = {facts["name"]: layers[facts["name"]] for facts in self.manifest.layers if not facts["coupling"]}
        layer_features = {
            name: self._matrix(f"layer_features{k}") for k, name in enumerate(self.manifest.record["layer_features"])
        }
        return PartGraph(
            plain_layers,
            nodes=node_names,
            places=node_places,
            given=given_places,
            label_codes=label_codes,
            communicator=self.communicator,
            whole=self.whole,
            features=self._matrix("features"),
            layer_features={name: each for name, each in layer_features.items() if each is not None},
            part_couplings=self._couplings(layers, len(plain_layers)),
            masks={name: self._mask(f"mask{k}") for k, name in enumerate(self.manifest.record["masks"])},
            name=self.manifest.record.get("name"),
        )

    def _mask(self, key: str) -> NDArray[np.bool_]:
        mask = self.archive.array(key, "b")
        if mask.shape != (self.nodes,):
            raise ValueError(f"{key} must hold a truth value for each of {self.nodes} nodes, not {mask.size}")
        return mask

    def _layer(self, k: int, facts: dict[str, Any]) -> Layer:
        present_mask = self._mask(f"layer{k}.present") if f"layer{k}.present.npy" in self.has else None
        if facts["kind"] == "groups":
            return self._groups(f"layer{k}", facts, present_mask)
        links, halo_place = self._links(f"layer{k}", 1)
        return PartEdges(
            links,
            halo_place,
            directed=facts["directed"],
            weighted=facts["weighted"],
            num_edges=facts["edges"],
            present=present_mask,
        )

    def _links(self, key: str, copies: int) -> tuple[Links, NDArray[np.int64]]:
        row_count = copies * self.nodes
        indptr = self._indptr(key, row_count)
        halo_owner = self.archive.array(f"{key}.halo_owner", "i").astype(np.int64)
        halo_size, part_sizes = halo_owner.size, self.whole.part_sizes
        if halo_size and (
            halo_owner.min() < 0 or halo_owner.max() >= part_sizes.size or (np.diff(halo_owner) < 0).any()
        ):
            raise ValueError(f"{key}: the owners of its halo are not parts in order")
        if (halo_owner == self.number).any():
            raise ValueError(f"{key}: its halo holds rows of its own")
        halo_row = self._numbers(f"{key}.halo_row", halo_size, None)
        if (halo_row >= copies * part_sizes[halo_owner]).any():
            raise ValueError(f"{key}: its halo names a row that its owner does not have")
        halo_place = self._numbers(f"{key}.halo_place", halo_size, self.whole.nodes)
        entry_count = int(indptr[-1])
        indices = self._numbers(f"{key}.indices", entry_count, row_count + halo_size, keep=True)
        edge_weights: NDArray[Any] = np.ones(entry_count, dtype=np.int8)  # a byte for each edge, not eight
        if f"{key}.weight.npy" in self.has:
            edge_weights = self._weights(key, entry_count, "edge")
        matrix_shape = (row_count, row_count + halo_size)
        matrix = sp.csr_array((edge_weights, indices, indptr), shape=matrix_shape)
        return Links(matrix, halo_owner, halo_row, part_sizes, self.communicator), halo_place

    def _groups(self, key: str, facts: dict[str, Any], present: NDArray[np.bool_] | None) -> PartGroups:
        indptr = self._indptr(key, self.nodes)
        group_names = take_names(self.archive, f"{key}.names", self.entry[key])
        group_count = len(group_names)
        membership_count = int(indptr[-1])
        member_weights = self._weights(key, membership_count, "membership") if facts["weighted"] else None
        group_counts = np.diff(indptr)
        if facts["single"] and group_counts.max(initial=0) > 1:
            raise ValueError(f"{key}: a node is in several groups of a layer where none should be")
        return PartGroups(
            self.nodes,
            group_counts,
            self._numbers(f"{key}.group", membership_count, group_count, keep=True),
            group_names,
            weight=member_weights,
            sizes=self._numbers(f"{key}.sizes", group_count, None),
            group_place=self._numbers(f"{key}.group_place", group_count, facts["groups"]),
            shared=self._numbers(f"{key}.shared", group_count, facts["shared"], low=-1),
            facts=facts,
            present=present,
            communicator=self.communicator,
        )

    def _couplings(self, layers: dict[str, Layer], count: int) -> PartCouplings | None:
        if not self.manifest.record["couplings"]:
            return None
        links, _ = self._links("couplings", count)
        any_directed = any(one["directed"] for one in self.manifest.record["couplings"])
        coupling_layers = {facts["name"]: layers[facts["name"]] for facts in self.manifest.layers if facts["coupling"]}
        edges = {name: layer for name, layer in coupling_layers.items() if isinstance(layer, PartEdges)}
        return PartCouplings(links, any_directed, edges)

    def _matrix(self, key: str) -> Any:
        if f"{key}.npy" in self.has:
            dense_rows = self.archive.array(key, "fiub", 2, mapped=True)
            # a row of NaN among the features of a layer says that they are missing
            is_bad = np.isinf(dense_rows) if key.startswith("layer") else ~np.isfinite(dense_rows)
            if dense_rows.shape[0] != self.nodes or is_bad.any():
                raise ValueError(f"{key} must have a row of numbers for each of {self.nodes} nodes")
            return dense_rows
        if f"{key}.shape.npy" not in self.has:
            return None
        matrix_shape = tuple(self.archive.array(f"{key}.shape", "i").tolist())
        if len(matrix_shape) != 2 or matrix_shape[0] != self.nodes or matrix_shape[1] < 0:
            raise ValueError(f"{key} has the shape {matrix_shape}")
        indptr = self._indptr(key, self.nodes)
        indices = self._numbers(f"{key}.indices", int(indptr[-1]), matrix_shape[1], keep=True)
        entry_values = self.archive.array(f"{key}.data", "fiub")
        if entry_values.size != indices.size or not np.isfinite(entry_values).all():
            raise ValueError(f"{key} must hold numbers, one for each entry")
        return sp.csr_array((entry_values, indices, indptr), shape=matrix_shape)

    def _weights(self, key: str, count: int, of: str) -> NDArray[Any]:
        weight_array = self.archive.array(f"{key}.weight", "f", mapped=True)
        if weight_array.shape != (count,) or not (np.isfinite(weight_array) & (weight_array > 0)).all():
            raise ValueError(f"{key}: weights must be positive numbers, one for each {of}")
        return weight_array

    def _indptr(self, key: str, rows: int) -> NDArray[np.int64]:
        row_starts = self._numbers(f"{key}.indptr", rows + 1, None)
        if row_starts[0] != 0 or (np.diff(row_starts) < 0).any():
            raise ValueError(f"{key}: its rows do not ascend")
        return row_starts

    def _numbers(self, name: str, count: int, below: int | None, *, low: int = 0, keep: bool = False) -> NDArray[Any]:
        """Whole numbers from ``low`` to below a bound; ``keep`` leaves them mapped in the type they have."""
        number_array = self.archive.array(name, "iu", mapped=keep)
        if number_array.shape != (count,):
            raise ValueError(f"{name} has {number_array.size} numbers, not {count}")
        if count and (int(number_array.min()) < low or (below is not None and int(number_array.max()) >= below)):
            raise ValueError(f"{name} has a number out of its range")
        return number_array if keep else number_array.astype(np.int64)


# A graph in parts on disk: a manifest and one file per part, which is checked and then mapped by
# its process alone.


def write_parts(graph: MultilayerGraph, folder: Path, owner: NDArray[Any], parts: int) -> Manifest:
    """Write a whole graph in parts into a folder that is there and empty.

    ``owner`` is the part of each node, 0 .. parts - 1; each has one node at least.
    """
    if any(layer.features is not None for layer in graph.layers.values()):
        warnings.warn("a graph in parts cannot hold features of edges", LossyFormatWarning, stacklevel=2)
    name_order = in_name_order(graph)  # in which models see it
    given_places = np.arange(graph.num_nodes) if name_order.places is None else name_order.places
    cut = Cut.of(np.asarray(owner)[given_places], parts)
    empty_parts = [number for number, places in enumerate(cut.places) if not places.size]
    if empty_parts:
        raise DataError(
            f"{graph.num_nodes} nodes cannot be divided into {parts} parts: part {empty_parts[0]} would be empty"
        )
    classes = graph.classes
    code_of = {None: -1} | {label: code for code, label in enumerate(classes)}
    node_labels = [None] * graph.num_nodes if graph.labels is None else graph.labels.tolist()
    label_codes = np.array([code_of[label] for label in node_labels], dtype=np.int64)
    ordered_graph = name_order.graph
    graph_facts = {
        "name": graph.name,
        "nodes": graph.num_nodes,
        "entries": ordered_graph.with_coupling_layers().num_entries,
        "classes": json.loads(encode(classes)),
        "layers": layer_facts(ordered_graph, cut),
        "layer_order": list(graph.layers),
        "couplings": coupling_facts(ordered_graph),
        "layer_features": list(ordered_graph.layer_features),
        "masks": list(graph.masks),
    }
    ordered_masks = [mask[given_places] for mask in graph.masks.values()]
    return fill_parts(
        folder, graph_facts, part_members(ordered_graph, cut, label_codes[given_places], given_places, ordered_masks)
    )


def fill_parts(folder: Path, facts: dict[str, Any], parts: Iterable[tuple[Members, dict[str, Any]]]) -> Manifest:
    """Write parts one after the other as they come, then the manifest; for graphs that no memory holds.

    ``facts`` is what the manifest says about the whole graph; each part has its arrays and what is said about it.
    """
    part_entries = []
    for rank, (members, part_facts) in enumerate(parts):
        path = folder / f"part-{rank:04d}.npz"
        with path.open("wb") as file, ArrayWriter(file) as archive:
            for name, array in members.items():
                archive.add(name, np.asarray(array))
        part_record = {"nodes": int(members["places"].size), "bytes": path.stat().st_size, "sha256": sha256_of(path)}
        part_entries.append({"file": path.name, **part_record, **part_facts})
    version = VERSION if facts.get("masks") else 1  # an older gramme would learn from labels outside "train"
    manifest = {"format": FORMAT, "version": version, **facts, "parts": part_entries}
    manifest_text = json.dumps(manifest, indent=1) + "\n"
    (folder / MANIFEST).write_text(manifest_text, encoding="ascii")
    return read_manifest(folder)


def sha256_of(path: Path) -> str:
    """The checksum of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


# A graph in parts made whole again: for the page of a result, and to go back to other formats.


def whole_graph(folder: Path | str) -> MultilayerGraph:
    """All parts of a folder as one graph, its nodes and layers in the order they were given in."""
    manifest = read_manifest(Path(folder))
    parts = [open_part(manifest, number, SINGLE_PROCESS) for number in range(len(manifest.parts))]
    node_names = np.empty(manifest.nodes, dtype=object)
    label_codes = np.full(manifest.nodes, -1, dtype=np.int64)
    given_places = np.empty(manifest.nodes, dtype=np.int64)
    node_masks = {name: np.zeros(manifest.nodes, dtype=bool) for name in manifest.record["masks"]}
    for part in parts:
        for name, mask in part.masks.items():
            node_masks[name][part.given] = mask
        node_names[part.given] = part.nodes.to_numpy(dtype=object)
        label_codes[part.given] = part.label_codes
        given_places[part.places] = part.given
    classes = manifest.whole().classes
    node_labels = np.empty(manifest.nodes, dtype=object)
    node_labels[:] = [None if code < 0 else classes[code] for code in label_codes.tolist()]
    layer_names = [str(name) for name in manifest.record["layer_order"]]
    return MultilayerGraph(
        {name: _layer(name, parts, given_places) for name in layer_names},
        nodes=loose_index(node_names.tolist()),
        labels=node_labels if classes else None,
        features=_rows([part.features for part in parts], parts),
        layer_features={
            name: _rows([part.layer_features[name] for part in parts], parts) for name in parts[0].layer_features
        },
        couplings=_couplings(manifest, given_places),
        masks=node_masks,
        name=manifest.record.get("name"),
    )


def _layer(name: str, parts: list[PartGraph], given: Ints) -> Layer:
    part_layers = [part.layers[name] for part in parts]
    part_entries = [_entries(layer, part.places) for part, layer in zip(parts, part_layers, strict=True)]
    first_ends, second_ends, entry_weights, present_places = (
        np.concatenate(arrays) for arrays in zip(*part_entries, strict=True)
    )
    group_layers, group_names = [one for one in part_layers if isinstance(one, PartGroups)], None
    if group_layers:
        listed_names = np.empty(group_layers[0].groups_in_all, dtype=object)
        for one in group_layers:
            listed_names[one.group_place] = one.group_names.to_numpy(dtype=object)
        group_names = loose_index(listed_names.tolist())
    else:
        second_ends = given[second_ends]
    return _of_entries(
        part_layers[0], given[first_ends], second_ends, entry_weights, given[present_places], given.size, group_names
    )


def _entries(layer: Layer, places: Ints) -> tuple[Ints, Ints, NDArray[np.float64], Ints]:
    """What a process has, in numbers of the whole: both ends of edges, or node and group; weights; who is present."""
    if isinstance(layer, PartEdges):
        own_entries = layer.links.matrix.tocoo()
        start_places, end_places = places[own_entries.row], layer.heard_places(places)[own_entries.col]
        # an undirected edge stands at both ends and is taken from one of them
        kept_entries = np.full(start_places.size, True) if layer.directed else start_places < end_places
        return (
            start_places[kept_entries],
            end_places[kept_entries],
            own_entries.data[kept_entries].astype(np.float64),
            places[layer.present],
        )
    assert isinstance(layer, PartGroups)
    member_weights = np.ones(layer.group.size) if layer.weight is None else np.asarray(layer.weight)
    return places[layer.node], layer.group_place[layer.group], member_weights, places[layer.present]


def _of_entries(
    layer: Layer,
    first: Ints,
    second: Ints,
    weight: NDArray[np.float64],
    present: Ints,
    nodes: int,
    group_names: Iterable[Any] | None,
) -> Layer:
    """The whole layer of a part's, from the entries of all parts."""
    entry_weights = weight if layer.weighted else None
    if isinstance(layer, PartEdges):
        return EdgeLayer(nodes, first, second, entry_weights, directed=layer.directed, nodes=present)
    return MembershipLayer(nodes, first, second, group_names, weight=entry_weights, nodes=present)


def _rows(matrices: list[Any], parts: list[PartGraph]) -> Any:
    if matrices[0] is None:
        return None
    given_order = np.argsort(np.concatenate([part.given for part in parts]))
    if isinstance(matrices[0], np.ndarray):
        return np.concatenate(matrices)[given_order]
    return sp.csr_array(sp.vstack(matrices, format="csr")[given_order])


def _couplings(manifest: Manifest, given: Ints) -> dict[tuple[str, str], Coupling]:
    part_archives = [ArrayReader(manifest.folder / part["file"]) for part in manifest.parts]
    made_couplings = {}
    for k, facts in enumerate(manifest.record["couplings"]):
        source_places, target_places = (
            np.concatenate([one.array(f"coupling{k}.{end}", "i") for one in part_archives])
            for end in ("source", "target")
        )
        edge_weights = None
        if f"coupling{k}.weight.npy" in part_archives[0].names:
            edge_weights = np.concatenate([one.array(f"coupling{k}.weight", "f") for one in part_archives])
        layer_pair = (str(facts["layers"][0]), str(facts["layers"][1]))
        made_couplings[layer_pair] = Coupling(
            manifest.nodes, given[source_places], given[target_places], edge_weights, directed=bool(facts["directed"])
        )
    return made_couplings


def gathered_graph(part: PartGraph) -> MultilayerGraph:
    """The layers of the whole graph; nodes and groups are named by their numbers."""
    made_layers, node_count = {}, part.whole.nodes
    for name, layer in part.layers.items():
        all_entries = [np.concatenate(part.communicator.gather(each)) for each in _entries(layer, part.places)]
        group_names = range(layer.groups_in_all) if isinstance(layer, PartGroups) else None
        made_layers[name] = _of_entries(
            layer, all_entries[0], all_entries[1], all_entries[2], all_entries[3], node_count, group_names
        )
    return MultilayerGraph(made_layers, num_nodes=node_count)
