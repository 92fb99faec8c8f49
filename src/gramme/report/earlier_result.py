"""Which folder may be replaced: one that holds a result of gramme's and nothing else, known by name and by content."""

from __future__ import annotations

import json
import re
from pathlib import Path

from gramme.errors import DataError

RESULT_FILES = re.compile(
    r"config\.json|model\.safetensors|report\.html"
    r"|(predictions|embedding|layers|history|links|ingredients|ranks|seeds)\.csv|embedding\.parquet"
    r"|predictions"  # a folder, of a fit in parts
)
PREDICTIONS_IN_PARTS = re.compile(r"part-\d+\.csv")
GRAPH_PARTS = re.compile(r"manifest\.json|part-\d+\.npz")
OF_THE_SYSTEM = {".DS_Store", "Thumbs.db", "desktop.ini"}  # made by looking into a folder
MAX_SETTINGS_BYTES = 1 << 28


def check_earlier_result(folder: Path) -> None:
    """Refuse to replace a folder with anything in it that ``gramme fit``, ``links`` or ``rank`` did not write.

    An empty folder may be replaced.
    """
    if not _holds_anything(folder):
        return
    record = _json_object(folder / "config.json")
    if not {"versions", "command"} & record.keys():
        raise DataError(f"{folder} holds something else than a gramme fit; name another folder")
    _check_names(folder, RESULT_FILES)
    if (folder / "predictions").is_dir():
        _check_names(folder / "predictions", PREDICTIONS_IN_PARTS)


def check_earlier_parts(folder: Path, format_name: str) -> None:
    """Refuse to replace a folder with anything in it that ``gramme convert --parts`` did not write."""
    if not _holds_anything(folder):
        return
    if _json_object(folder / "manifest.json").get("format") != format_name:
        raise DataError(f"{folder} holds something else than a graph in parts; name another folder")
    _check_names(folder, GRAPH_PARTS)


def _holds_anything(folder: Path) -> bool:
    return any(path.name not in OF_THE_SYSTEM for path in folder.iterdir())


def _check_names(folder: Path, ours: re.Pattern[str]) -> None:
    for path in sorted(folder.iterdir()):
        made = ours.fullmatch(path.name) and not path.is_symlink()
        file = path.is_file() or path.name == "predictions"
        if not (made and file) and path.name not in OF_THE_SYSTEM:
            raise DataError(
                f"{folder} also holds {path.name!r}, which gramme did not write and would be lost; move it away, "
                "or name another folder"
            )


def _json_object(path: Path) -> dict[str, object]:
    """What a file of settings holds; nothing if it is no such file."""
    try:
        if not path.is_file() or path.stat().st_size > MAX_SETTINGS_BYTES:
            return {}
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
