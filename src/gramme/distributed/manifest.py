"""The manifest of a graph in parts. Every process reads it once; an entry that does not fit is refused by name."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gramme.distributed.part_graph import WholeFacts
from gramme.errors import FileFormatError
from gramme.io.values import decode

MANIFEST = "manifest.json"
FORMAT = "gramme parts"
VERSION = 1
MAX_MANIFEST_BYTES = 1 << 28
MAX_COUNT = (
    1 << 48
)  # no graph has more nodes or edges, and sums of counts stay whole numbers of 64 bits

_LAYER = {
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
_PART = {"file": str, "nodes": int, "bytes": int, "sha256": str, "halo": int}
_WHOLE: dict[str, type] = {
    "nodes": int,
    "entries": int,
    "classes": list,
    "layers": list,
    "layer_order": list,
    "couplings": list,
    "layer_features": list,
    "parts": list,
}


@dataclass(frozen=True)
class Manifest:
    """What a folder of parts says about itself.

    Attributes
    ----------
    folder : Path
    record : dict
        The manifest as it was read and checked.
    """

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
        if path.stat().st_size > MAX_MANIFEST_BYTES:
            raise ValueError("it is larger than any manifest")
        record = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(record, dict) or record.get("format") != FORMAT:
            raise ValueError(f"it does not say that its format is {FORMAT!r}")
        if record.get("version") != VERSION:
            raise ValueError(
                f"its version is {record.get('version')!r}, and this gramme reads version {VERSION}"
            )
        _check(record, _WHOLE, "the manifest")
        for number, part in enumerate(record["parts"]):
            _check(part, _PART, f"part {number}")
            if not re.fullmatch(r"part-\d{4,}\.npz", part["file"]):
                raise ValueError(f"part {number} has the file name {part['file']!r}")
        if not record["parts"]:
            raise ValueError("it names no parts")
        total = sum(part["nodes"] for part in record["parts"])
        if total != record["nodes"]:
            raise ValueError(f"its parts have {total} nodes, the graph {record['nodes']}")
        for number, layer in enumerate(record["layers"]):
            if not isinstance(layer, dict) or layer.get("kind") not in list(_LAYER):
                raise ValueError(f"layer {number} is neither of edges nor of groups")
            _check(layer, _LAYER[layer["kind"]], f"layer {number}")
        decode(json.dumps(record["classes"]).encode("ascii"))
    except FileNotFoundError:
        raise FileFormatError(f"there is no {MANIFEST} in this folder", file=folder) from None
    except (OSError, ValueError, RecursionError) as error:
        raise FileFormatError(
            f"the manifest does not fit: {error}; make the parts again with gramme convert DATA parts/ --parts N",
            file=path,
        ) from None
    return Manifest(folder, record)


def _check(record: Any, fields: dict[str, type], what: str) -> None:
    if not isinstance(record, dict):
        raise ValueError(f"{what} is not a record")
    for name, kind in fields.items():
        value = record.get(name)
        if type(value) is not kind or (isinstance(value, int) and not 0 <= value <= MAX_COUNT):
            raise ValueError(f"{what} has {name!r}: {value!r}, where {kind.__name__} is needed")
