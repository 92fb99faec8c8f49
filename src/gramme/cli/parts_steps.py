"""The work of ``gramme convert DATA parts/ --parts N``."""

from __future__ import annotations

from pathlib import Path

from gramme._terminal import escape
from gramme.cli.console import out
from gramme.distributed import assign, write_parts
from gramme.distributed.manifest import FORMAT
from gramme.errors import DataError
from gramme.graph import MultilayerGraph
from gramme.report.earlier_result import check_earlier_parts
from gramme.report.output_folder import output_folder


def convert_to_parts(
    graph: MultilayerGraph, target: Path, parts: int, how: str, *, overwrite: bool
) -> None:
    """Write a graph in parts; the folder appears whole or not at all, and the halo's share is said."""
    if target.exists() and overwrite:
        if not target.is_dir():
            raise DataError(f"{target} is a file, not a folder")
        check_earlier_parts(target, FORMAT)
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
