"""The work of ``gramme convert DATA parts/ --parts N``."""

from __future__ import annotations

from pathlib import Path

from gramme._terminal import escape
from gramme.cli.console import out
from gramme.distributed import assign, is_parts_folder, write_parts
from gramme.errors import DataError
from gramme.graph import MultilayerGraph
from gramme.report.output_folder import output_folder


def convert_to_parts(
    graph: MultilayerGraph, target: Path, parts: int, how: str, *, overwrite: bool
) -> None:
    """Write a graph in parts; the folder appears whole or not at all, and the halo's share is said."""
    if target.exists() and overwrite and not is_parts_folder(target):
        raise DataError(f"{target} holds something else than a graph in parts; name another folder")
    owner = assign(graph, parts, how)
    with output_folder(target, overwrite=overwrite) as place:
        manifest = write_parts(graph, place.folder, owner, parts)
    sizes = [part["nodes"] for part in manifest.parts]
    out.print(
        escape(
            f"{target}: {parts} parts of {min(sizes):,} to {max(sizes):,} nodes, assigned by {how}; "
            f"rows that parts need of others: {manifest.halo_share:.1%} of those in layers of edges"
        )
    )
