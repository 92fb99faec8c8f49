"""Several files that make one graph: a layer per file, named after it, whatever their formats."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from pathlib import Path

from gramme.errors import DataError
from gramme.io.formats import text
from gramme.io.parsed import ReadOptions
from gramme.io.registry import FORMATS, find_format
from gramme.io.tables import COMPANIONS

_ABOUT = ("readme", "licen", "about", "notes", "citation")
Place = str | os.PathLike[str]
Source = Place | Sequence[Place] | Mapping[str, Place]


def several_files(source: Source, options: ReadOptions) -> dict[str, Path] | None:
    """The files by layer name of a sequence, a mapping, a folder or a pattern; None for a single file."""
    if isinstance(source, Mapping):
        return {str(layer): _path(path) for layer, path in source.items()}
    if isinstance(source, (str, os.PathLike)):
        found = _in_folder_or_pattern(source, options)
        return None if found is None else _named(found)
    if not isinstance(source, (Sequence, Set, Iterator)):  # a frame or a graph can be iterated too
        raise _no_file(source)
    paths = [_path(path) for path in source]
    if not paths:
        raise DataError("no file is named")
    return _named(paths)


def _path(place: object) -> Path:
    if not isinstance(place, (str, os.PathLike)):
        raise _no_file(place)
    return Path(place)


def _no_file(what: object) -> DataError:
    kind = type(what).__name__
    return DataError(
        f"a file, files, or a mapping of layers to files are needed, not {kind}; what is in memory already becomes a "
        "graph by MultilayerGraph.from_edges, from_table, from_networkx, from_igraph, ..."
    )


def _in_folder_or_pattern(source: Place, options: ReadOptions) -> list[Path] | None:
    name = os.fspath(source)
    try:
        path = Path(name)
        if path.is_dir():
            found = _layers(path.iterdir(), options)
            what = f"the folder {path}"
        elif not path.exists() and glob.has_magic(name):
            found = _layers(map(Path, glob.glob(name)), options)  # noqa: PTH207 (it may be absolute)
            what = f"the pattern {name!r}"
        else:
            return None
    except (OSError, ValueError):
        return None
    if not found:
        raise DataError(f"{what} holds no file of a known format")
    return found


def _layers(paths: Iterable[Path], options: ReadOptions) -> list[Path]:
    """The files that are layers; plain text only where there is nothing else, since a text may be about the others."""
    found = [each for each in sorted(paths) if _could_be_layer(each, options)]
    others = [each for each in found if find_format(each).name != text.NAME]
    return others or [each for each in found if not each.name.lower().startswith(_ABOUT)]


def _could_be_layer(path: Path, options: ReadOptions) -> bool:
    """Whether a file of a folder is one of its layers: of a known format, and none that belongs to another."""
    name = path.name.lower()
    if not path.is_file() or name.startswith((".", "~$")):
        return False
    taken = [
        Path(one) for one in (options.labels, options.nodes) if isinstance(one, (str, os.PathLike))
    ]
    if any(one.exists() and one.samefile(path) for one in taken):
        return False
    if any(f".{table}." in name for table in COMPANIONS):
        return False
    endings = [ending for each in FORMATS.values() for ending in each.endings]
    return name.endswith(tuple(endings))


def _named(paths: Sequence[Path]) -> dict[str, Path]:
    """The files by their names without endings, with the folder where two would be the same."""
    double = next((path for path in paths if list(paths).count(path) > 1), None)
    if double is not None:
        raise DataError(f"the file {double} is named twice")
    stems = [path.name.partition(".")[0].removesuffix("_multiplex") or path.name for path in paths]
    found: dict[str, Path] = {}
    for stem, path in zip(stems, paths, strict=True):
        name = stem if stems.count(stem) == 1 else path.name
        found[name if name not in found else str(path)] = path
    return found
