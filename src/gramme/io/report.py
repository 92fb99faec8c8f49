"""What was met while a file was read: which files, how many rows, what was dropped, which direction was taken."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class ReadReport:
    """An account of one reading, as ``gramme info`` prints it.

    Attributes
    ----------
    format : str
        Name of the format, as in :data:`gramme.io.FORMATS`.
    files : tuple of str
        All files that were read, the named one first.
    rows : int
        Edges (and memberships) as they stand in the files, before any is dropped or merged.
    id_base : int or None
        The smallest node id where all ids are whole numbers (0 or 1 in most files); None for other names.
    direction : str
        Which direction the edges were given, and why.
    self_loops_dropped, duplicates_merged : mapping of layer name to int
    notes : tuple of str
        Anything else a user should know, such as attributes that were left out.
    doubts : tuple of str
        Those of the notes that are guesses, such as an encoding that the file does not state.
    """

    format: str
    files: tuple[str, ...]
    rows: int
    id_base: int | None
    direction: str
    self_loops_dropped: Mapping[str, int]
    duplicates_merged: Mapping[str, int]
    notes: tuple[str, ...] = field(default=())
    doubts: tuple[str, ...] = field(default=())

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return {
            "format": self.format,
            "files": list(self.files),
            "rows": self.rows,
            "id_base": self.id_base,
            "direction": self.direction,
            "self_loops_dropped": dict(self.self_loops_dropped),
            "duplicates_merged": dict(self.duplicates_merged),
            "notes": list(self.notes),
            "doubts": list(self.doubts),
        }
