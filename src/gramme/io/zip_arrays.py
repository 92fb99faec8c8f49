"""Plain arrays in an uncompressed zip file, each at an aligned place, so that they can be mapped from disk.

The file is an ordinary ``.npz``: ``numpy.load`` opens it too. Arrays of objects are neither written nor read.
"""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from pathlib import Path
from typing import Any, BinaryIO, Self

import numpy as np
import pandas as pd
from numpy.lib import format as npy
from numpy.typing import NDArray

from .source import MAX_DECLARED_BEYOND_FILE
from .values import decode, encode

_LOCAL_HEADER = 30  # bytes before a member's name
_DATE = (1980, 1, 1, 0, 0, 0)  # the same graph gives the same bytes


class ArrayWriter:
    """Writes members one after the other; leaving the ``with`` block writes the directory of the file."""

    def __init__(self, file: BinaryIO) -> None:
        self._zip = zipfile.ZipFile(file, "w", compression=zipfile.ZIP_STORED)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self._zip.close()
        else:
            # as if closed: when it is collected, it would write a directory into a file that is gone
            self._zip.fp = None

    def add_bytes(self, name: str, data: bytes) -> None:
        """A member of plain bytes."""
        with self._open(name) as member:
            member.write(data)

    def add(self, name: str, array: NDArray[Any]) -> None:
        """An array as the member ``name.npy``."""
        if array.dtype.hasobject:
            raise TypeError("arrays of objects are not written")
        with self._open(name + ".npy") as member:
            npy.write_array(member, np.ascontiguousarray(array), allow_pickle=False)

    def _open(self, name: str) -> Any:
        info = zipfile.ZipInfo(name, date_time=_DATE)
        info.external_attr = 0o644 << 16
        assert self._zip.fp is not None
        start = self._zip.fp.tell() + _LOCAL_HEADER + len(name.encode()) + 20 + 4
        padding = -start % 64
        # the extra field that other tools use for alignment as well
        info.extra = struct.pack("<HH", 0xD935, padding) + b"\0" * padding
        return self._zip.open(info, "w", force_zip64=True)


class ArrayReader:
    """Reads members; every fault of the file is a ValueError."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._size = path.stat().st_size
        try:
            with zipfile.ZipFile(path) as archive:
                listed_names = archive.infolist()
                directory = archive.start_dir
        except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError, struct.error) as error:
            raise ValueError(str(error)) from None
        self._members = {info.filename: info for info in listed_names}
        self._limits = _limits(listed_names, directory)

    @property
    def size(self) -> int:
        """Bytes of the file."""
        return self._size

    @property
    def names(self) -> list[str]:
        """Names of all members."""
        return list(self._members)

    def bytes_of(self, name: str) -> bytes:
        """A member of plain bytes, checked against its checksum."""
        info = self._member(name)
        try:
            with self._path.open("rb") as file:
                start, end = self._place(file, name)
                file.seek(start)
                data = file.read(end - start)
        except OSError as error:
            raise ValueError(f"{name}: {error}") from None
        if len(data) != info.file_size:
            raise ValueError(f"{name} is cut off")
        if zlib.crc32(data) != info.CRC:
            raise ValueError(f"{name} does not have the checksum that it states")
        return data

    def array(self, name: str, kinds: str, ndim: int = 1, *, mapped: bool = False) -> NDArray[Any]:
        """An array whose type is of one of the given kinds, read-only; mapped from disk where asked for."""
        name += ".npy"
        if mapped:
            with self._path.open("rb") as file:
                start, end = self._place(file, name)
                file.seek(start)
                head = io.BytesIO(file.read(min(end - start, 1 << 16)))
        else:
            data = self.bytes_of(name)
            start, end, head = 0, len(data), io.BytesIO(data)
        shape, order, dtype = self._header(head, name)
        if dtype.kind not in kinds or dtype.hasobject or len(shape) != ndim or min(shape, default=0) < 0:
            raise ValueError(f"{name} is an array of another kind: {dtype}, {len(shape)}-dimensional")
        num_values = 1
        for length in shape:
            num_values *= length
        offset = start + head.tell()
        if num_values * dtype.itemsize != end - offset:
            raise ValueError(f"{name} has another length than it states")
        if num_values == 0:
            return np.zeros(shape, dtype=dtype)
        if mapped:
            return np.memmap(self._path, dtype=dtype, mode="r", offset=offset, shape=shape, order=order)
        return np.frombuffer(data, dtype=dtype, offset=offset).reshape(shape, order=order)

    def _member(self, name: str) -> zipfile.ZipInfo:
        if name not in self._members:
            raise ValueError(f"the member {name} is missing")
        info = self._members[name]
        if info.compress_type != zipfile.ZIP_STORED or info.file_size > self._size:
            raise ValueError(f"the member {name} is compressed, or larger than the file")
        # the flag of a member
        if info.flag_bits & 1:
            raise ValueError(f"the member {name} is encrypted")
        return info

    def _place(self, file: BinaryIO, name: str) -> tuple[int, int]:
        """Where a member's bytes start and end in the file."""
        info = self._member(name)
        if info.header_offset < 0:
            raise ValueError(f"the member {name} is not where it should be")
        file.seek(info.header_offset)
        header = file.read(_LOCAL_HEADER)
        if len(header) < _LOCAL_HEADER or header[:4] != b"PK\x03\x04":
            raise ValueError(f"the member {name} is not where it should be")
        name_length, extra_length = struct.unpack("<HH", header[26:30])
        start = info.header_offset + _LOCAL_HEADER + name_length + extra_length
        if start + info.file_size > self._size:
            raise ValueError(f"the member {name} is cut off")
        if start + info.file_size > self._limits[name]:
            raise ValueError(f"the member {name} overlaps another one")
        return start, start + info.file_size

    def _header(self, head: BinaryIO, name: str) -> tuple[tuple[int, ...], Any, np.dtype[Any]]:
        try:
            version = npy.read_magic(head)
            if version not in ((1, 0), (2, 0)):
                raise ValueError("unknown version")
            parse = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
            shape, fortran, dtype = parse(head)
        except Exception as error:  # the header is Python text, with many ways to be wrong
            raise ValueError(f"{name} is not an array: {error}") from None
        return shape, "F" if fortran else "C", dtype


def _limits(members: list[zipfile.ZipInfo], directory: int) -> dict[str, int]:
    """Where each member ends at the latest: shared bytes would let a small file hold any number of large arrays."""
    order = sorted(members, key=lambda info: info.header_offset)
    member_ends = [*(info.header_offset for info in order[1:]), directory][: len(order)]
    for info, end in zip(order, member_ends, strict=True):
        if info.header_offset + _LOCAL_HEADER + info.compress_size > end:
            raise ValueError(f"the member {info.filename} overlaps another one")
    return {info.filename: end for info, end in zip(order, member_ends, strict=True)}


# Names of any plain kind among the arrays of an archive: a range, whole numbers, text with its bounds, or JSON.
def bytes_array(data: bytes) -> Any:
    """Bytes as an array."""
    return np.frombuffer(data, dtype=np.uint8)


def put_names(members: dict[str, Any], name: str, names: pd.Index) -> Any:
    """Names as a range, as whole numbers, as text with its bounds, or as JSON.

    A range far longer than the members so far is spelled out, since :func:`take_names` refuses it.
    """
    held_bytes = sum(member.nbytes for member in members.values())
    if isinstance(names, pd.RangeIndex) and len(names) <= MAX_DECLARED_BEYOND_FILE + held_bytes:
        return {"kind": "range", "start": int(names.start), "stop": int(names.stop), "step": int(names.step)}
    if isinstance(names.dtype, np.dtype) and names.dtype.kind in "iu":
        members[name] = names.to_numpy()
        return {"kind": "numbers"}
    listed_names = list(names)
    if all(type(each) is str for each in listed_names):
        texts = [each.encode("utf-8", "surrogatepass") for each in listed_names]
        members[f"{name}.text"] = bytes_array(b"".join(texts))
        members[f"{name}.ends"] = np.cumsum([len(text) for text in texts], dtype=np.int64)
        return {"kind": "text"}
    members[f"{name}.json"] = bytes_array(encode(listed_names))
    return {"kind": "json"}


def take_names(archive: ArrayReader, name: str, facts: Any) -> pd.Index:
    """The names that :func:`put_names` put there; ValueError where they are damaged."""
    name_kind = facts["kind"]
    if name_kind == "range":
        bounds = [facts[member_key] for member_key in ("start", "stop", "step")]
        if any(type(bound) is not int or abs(bound) >= 1 << 62 for bound in bounds):
            raise ValueError("a range of names without bounds")
        start, stop, step = bounds
        check_count(archive, len(range(start, stop, step)), f"names ({name})")
        return pd.RangeIndex(start, stop, step)
    if name_kind == "numbers":
        numbers: pd.Index = pd.Index(archive.array(name, "iu"))
        return numbers
    if name_kind == "text":
        file_bytes = archive.array(f"{name}.text", "u").tobytes()
        text_ends = archive.array(f"{name}.ends", "i").tolist()
        starts = [0, *text_ends[:-1]]
        if any(a > b for a, b in zip(starts, text_ends, strict=False)) or (
            text_ends and text_ends[-1] != len(file_bytes)
        ):
            raise ValueError("the bounds of the names do not fit")
        listed_names = [
            file_bytes[a:b].decode("utf-8", "surrogatepass") for a, b in zip(starts, text_ends, strict=False)
        ]
    elif name_kind == "json":
        listed_names = decode(archive.array(f"{name}.json", "u").tobytes())
    else:
        raise ValueError(f"names of the unknown kind {name_kind!r}")
    name_array = np.empty(len(listed_names), dtype=object)
    name_array[:] = listed_names
    return pd.Index(name_array, dtype=object, tupleize_cols=False)


def check_count(archive: ArrayReader, count: int, what: str) -> None:
    """Refuse a number that would fill the memory though the archive holds next to nothing."""
    most = MAX_DECLARED_BEYOND_FILE + archive.size
    if not 0 <= count <= most:
        raise ValueError(
            f"{count} {what} are declared, but an archive of {archive.size} bytes may declare at most {most}"
        )
