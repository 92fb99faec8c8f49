"""Names of any plain kind among the arrays of an archive: a range, whole numbers, text with its bounds, or JSON."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from gramme.io.source import MAX_DECLARED_BEYOND_FILE
from gramme.io.values import decode, encode
from gramme.io.zip_arrays import ArrayReader


def bytes_array(data: bytes) -> Any:
    """Bytes as an array."""
    return np.frombuffer(data, dtype=np.uint8)


def put_names(members: dict[str, Any], name: str, names: pd.Index) -> Any:
    """Names as a range, as whole numbers, as text with its bounds, or as JSON.

    A range far longer than the members so far is spelled out, since :func:`take_names` refuses it.
    """
    held = sum(member.nbytes for member in members.values())
    if isinstance(names, pd.RangeIndex) and len(names) <= MAX_DECLARED_BEYOND_FILE + held:
        return {
            "kind": "range",
            "start": int(names.start),
            "stop": int(names.stop),
            "step": int(names.step),
        }
    if isinstance(names.dtype, np.dtype) and names.dtype.kind in "iu":
        members[name] = names.to_numpy()
        return {"kind": "numbers"}
    listed = list(names)
    if all(type(each) is str for each in listed):
        texts = [each.encode("utf-8", "surrogatepass") for each in listed]
        members[f"{name}.text"] = bytes_array(b"".join(texts))
        members[f"{name}.ends"] = np.cumsum([len(text) for text in texts], dtype=np.int64)
        return {"kind": "text"}
    members[f"{name}.json"] = bytes_array(encode(listed))
    return {"kind": "json"}


def take_names(archive: ArrayReader, name: str, facts: Any) -> pd.Index:
    """The names that :func:`put_names` put there; ValueError where they are damaged."""
    kind = facts["kind"]
    if kind == "range":
        bounds = [facts[key] for key in ("start", "stop", "step")]
        if any(type(bound) is not int or abs(bound) >= 1 << 62 for bound in bounds):
            raise ValueError("a range of names without bounds")
        start, stop, step = bounds
        check_count(archive, len(range(start, stop, step)), f"names ({name})")
        return pd.RangeIndex(start, stop, step)
    if kind == "numbers":
        numbers: pd.Index = pd.Index(archive.array(name, "iu"))
        return numbers
    if kind == "text":
        data = archive.array(f"{name}.text", "u").tobytes()
        ends = archive.array(f"{name}.ends", "i").tolist()
        starts = [0, *ends[:-1]]
        if any(a > b for a, b in zip(starts, ends, strict=False)) or (
            ends and ends[-1] != len(data)
        ):
            raise ValueError("the bounds of the names do not fit")
        listed = [
            data[a:b].decode("utf-8", "surrogatepass") for a, b in zip(starts, ends, strict=False)
        ]
    elif kind == "json":
        listed = decode(archive.array(f"{name}.json", "u").tobytes())
    else:
        raise ValueError(f"names of the unknown kind {kind!r}")
    names = np.empty(len(listed), dtype=object)
    names[:] = listed
    return pd.Index(names, dtype=object, tupleize_cols=False)


def check_count(archive: ArrayReader, count: int, what: str) -> None:
    """Refuse a number that would fill the memory though the archive holds next to nothing."""
    most = MAX_DECLARED_BEYOND_FILE + archive.size
    if not 0 <= count <= most:
        raise ValueError(
            f"{count} {what} are declared, but an archive of {archive.size} bytes may declare at most {most}"
        )
