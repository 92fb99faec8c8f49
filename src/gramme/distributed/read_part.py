"""Reading the part of one process: its checksum and every number in it are checked before anything is computed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from gramme.distributed.halo import Links
from gramme.distributed.manifest import Manifest, read_manifest
from gramme.distributed.part_graph import PartCouplings, PartGraph, WholeFacts
from gramme.distributed.part_layers import PartEdges, PartGroups
from gramme.distributed.parts_folder import sha256_of
from gramme.distributed.world import ALONE, World
from gramme.errors import DataError, FileFormatError
from gramme.graph import Layer
from gramme.io.formats.npz_names import take_names
from gramme.io.zip_arrays import ArrayReader


def read_part(folder: Path | str, world: World = ALONE) -> PartGraph:
    """The part of a graph that belongs to this process.

    Parameters
    ----------
    folder : path
        What ``gramme convert DATA folder --parts N`` wrote, with as many parts as there are processes.
    world : World, optional
        From :func:`gramme.distributed.join`; without one the folder must have a single part.

    Raises
    ------
    DataError
        At all processes, if the part of one of them does not fit.
    """
    found, problem = None, ""
    try:
        found = _own_part(Path(folder), world)
    except DataError as error:
        if world.alone:
            raise
        problem = str(error)
    problems = world.texts(problem)
    for rank, said in enumerate(problems):
        if said:
            one = "" if len(set(problems)) == 1 else f"worker {rank} of {world.size}: "
            raise DataError(one + said)
    assert found is not None
    return found


def _own_part(folder: Path, world: World) -> PartGraph:
    manifest = read_manifest(folder)
    count = len(manifest.parts)
    if count != world.size:
        raise DataError(
            f"{folder} has {count} parts and {world.size} processes are to work on it; make as many parts with "
            f"gramme convert DATA parts/ --parts {world.size}, or start {count} processes"
        )
    return open_part(manifest, world.rank, world)


def open_part(manifest: Manifest, number: int, world: World) -> PartGraph:
    """One part of a folder."""
    entry = manifest.parts[number]
    path = manifest.folder / entry["file"]
    try:
        if path.stat().st_size != entry["bytes"]:
            raise ValueError(f"it has {path.stat().st_size} bytes, not {entry['bytes']}")
        if sha256_of(path) != entry["sha256"]:
            raise ValueError("its checksum (sha256) is another than the manifest's")
        return _Part(manifest, number, ArrayReader(path)).graph(world)
    except FileNotFoundError:
        raise FileFormatError("this part of the graph is missing", file=path) from None
    except (OSError, ValueError, KeyError, TypeError, IndexError) as error:
        raise FileFormatError(
            f"the part does not fit: {error}; make the parts again with gramme convert DATA parts/ --parts N",
            file=path,
        ) from None


class _Part:
    """The arrays of a part, each checked as it is taken."""

    def __init__(self, manifest: Manifest, number: int, archive: ArrayReader) -> None:
        self.manifest, self.entry, self.archive = manifest, manifest.parts[number], archive
        self.number, self.nodes = number, int(self.entry["nodes"])
        self.whole = manifest.whole()
        self.has = set(archive.names)

    def graph(self, world: World) -> PartGraph:
        places = self._numbers("places", self.nodes, self.whole.nodes)
        if (np.diff(places) <= 0).any():
            raise ValueError("the places of its nodes do not ascend")
        given = self._numbers("given", self.nodes, self.whole.nodes)
        codes = self._numbers("labels", self.nodes, len(self.whole.classes), low=-1)
        names = take_names(self.archive, "nodes", self.entry["nodes_kind"])
        if len(names) != self.nodes:
            raise ValueError(f"it names {len(names)} nodes of {self.nodes}")
        layers = {
            facts["name"]: self._layer(k, facts) for k, facts in enumerate(self.manifest.layers)
        }
        plain = {
            facts["name"]: layers[facts["name"]]
            for facts in self.manifest.layers
            if not facts["coupling"]
        }
        features = {
            name: self._matrix(f"layer_features{k}")
            for k, name in enumerate(self.manifest.record["layer_features"])
        }
        return PartGraph(
            plain,
            nodes=names,
            places=places,
            given=given,
            label_codes=codes,
            world=world,
            whole=self.whole,
            features=self._matrix("features"),
            layer_features={name: each for name, each in features.items() if each is not None},
            couplings=self._couplings(layers, len(plain)),
            name=self.manifest.record.get("name"),
        )

    def _layer(self, k: int, facts: dict[str, Any]) -> Layer:
        present = None
        if f"layer{k}.present.npy" in self.has:
            present = self.archive.array(f"layer{k}.present", "b")
            if present.shape != (self.nodes,):
                raise ValueError(
                    f"layer {facts['name']!r} says about {present.size} nodes if it holds them"
                )
        if facts["kind"] == "groups":
            return self._groups(f"layer{k}", facts, present)
        links, place = self._links(f"layer{k}", 1)
        return PartEdges(
            links,
            place,
            directed=facts["directed"],
            weighted=facts["weighted"],
            num_edges=facts["edges"],
            present=present,
        )

    def _links(self, key: str, copies: int) -> tuple[Links, NDArray[np.int64]]:
        rows = copies * self.nodes
        indptr = self._indptr(key, rows)
        owner = self.archive.array(f"{key}.halo_owner", "i").astype(np.int64)
        halo, sizes = owner.size, self.whole.part_sizes
        if halo and (owner.min() < 0 or owner.max() >= sizes.size or (np.diff(owner) < 0).any()):
            raise ValueError(f"{key}: the owners of its halo are not parts in order")
        if (owner == self.number).any():
            raise ValueError(f"{key}: its halo holds rows of its own")
        row = self._numbers(f"{key}.halo_row", halo, None)
        if (row >= copies * sizes[owner]).any():
            raise ValueError(f"{key}: its halo names a row that its owner does not have")
        place = self._numbers(f"{key}.halo_place", halo, self.whole.nodes)
        entries = int(indptr[-1])
        indices = self._numbers(f"{key}.indices", entries, rows + halo, keep=True)
        data: NDArray[Any] = np.ones(entries, dtype=np.int8)  # a byte for each edge, not eight
        if f"{key}.weight.npy" in self.has:
            data = self.archive.array(f"{key}.weight", "f", mapped=True)
            if data.shape != (entries,) or not (np.isfinite(data) & (data > 0)).all():
                raise ValueError(f"{key}: weights must be positive numbers, one for each edge")
        shape = (rows, rows + halo)
        matrix = sp.csr_array((data, indices, indptr), shape=shape)
        return Links(matrix, owner, row), place

    def _groups(
        self, key: str, facts: dict[str, Any], present: NDArray[np.bool_] | None
    ) -> PartGroups:
        indptr = self._indptr(key, self.nodes)
        names = take_names(self.archive, f"{key}.names", self.entry[key])
        groups = len(names)
        memberships = int(indptr[-1])
        weight = None
        if facts["weighted"]:
            weight = self.archive.array(f"{key}.weight", "f", mapped=True)
            if weight.shape != (memberships,) or not (np.isfinite(weight) & (weight > 0)).all():
                raise ValueError(
                    f"{key}: weights must be positive numbers, one for each membership"
                )
        counts = np.diff(indptr)
        if facts["single"] and counts.max(initial=0) > 1:
            raise ValueError(f"{key}: a node is in several groups of a layer where none should be")
        return PartGroups(
            self.nodes,
            counts,
            self._numbers(f"{key}.group", memberships, groups, keep=True),
            names,
            weight=weight,
            sizes=self._numbers(f"{key}.sizes", groups, None),
            group_place=self._numbers(f"{key}.group_place", groups, facts["groups"]),
            shared=self._numbers(f"{key}.shared", groups, facts["shared"], low=-1),
            facts=facts,
            present=present,
        )

    def _couplings(self, layers: dict[str, Layer], count: int) -> PartCouplings | None:
        if not self.manifest.record["couplings"]:
            return None
        links, _ = self._links("couplings", count)
        directed = any(one["directed"] for one in self.manifest.record["couplings"])
        found = {
            facts["name"]: layers[facts["name"]]
            for facts in self.manifest.layers
            if facts["coupling"]
        }
        edges = {name: layer for name, layer in found.items() if isinstance(layer, PartEdges)}
        return PartCouplings(links, directed, edges)

    def _matrix(self, key: str) -> Any:
        if f"{key}.npy" in self.has:
            dense = self.archive.array(key, "fiub", 2, mapped=True)
            # a row of NaN among the features of a layer says that they are missing
            bad = np.isinf(dense) if key.startswith("layer") else ~np.isfinite(dense)
            if dense.shape[0] != self.nodes or bad.any():
                raise ValueError(f"{key} must have a row of numbers for each of {self.nodes} nodes")
            return dense
        if f"{key}.shape.npy" not in self.has:
            return None
        shape = tuple(self.archive.array(f"{key}.shape", "i").tolist())
        if len(shape) != 2 or shape[0] != self.nodes or shape[1] < 0:
            raise ValueError(f"{key} has the shape {shape}")
        indptr = self._indptr(key, self.nodes)
        indices = self._numbers(f"{key}.indices", int(indptr[-1]), shape[1], keep=True)
        data = self.archive.array(f"{key}.data", "fiub")
        if data.size != indices.size or not np.isfinite(data).all():
            raise ValueError(f"{key} must hold numbers, one for each entry")
        return sp.csr_array((data, indices, indptr), shape=shape)

    def _indptr(self, key: str, rows: int) -> NDArray[np.int64]:
        found = self._numbers(f"{key}.indptr", rows + 1, None)
        if found[0] != 0 or (np.diff(found) < 0).any():
            raise ValueError(f"{key}: its rows do not ascend")
        return found

    def _numbers(
        self, name: str, count: int, below: int | None, *, low: int = 0, keep: bool = False
    ) -> NDArray[Any]:
        """Whole numbers from ``low`` to below a bound; ``keep`` leaves them mapped in the type they have."""
        found = self.archive.array(name, "iu", mapped=keep)
        if found.shape != (count,):
            raise ValueError(f"{name} has {found.size} numbers, not {count}")
        if count and (int(found.min()) < low or (below is not None and int(found.max()) >= below)):
            raise ValueError(f"{name} has a number out of its range")
        return found if keep else found.astype(np.int64)


__all__ = ["WholeFacts", "open_part", "read_part"]
