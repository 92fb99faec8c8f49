"""What links, ranks, groups and ask do alike: read a graph, analyse it, write a folder with a page, show the result."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer
from rich.table import Table

from gramme._text import escape, json_text
from gramme.graph import MultilayerGraph
from gramme.io.values import require_proper
from gramme.report.result_folders import check_target

from .console import check_not_read, out, warnings_as_notes
from .data import open_data
from .options import Output, Reading, command_line


@dataclass(frozen=True)
class Analysis:
    """The result of a command."""

    write: Callable[..., list[str]]
    """Writes the folder, given ``config`` (what config.json shall say of the data, the command and the time),
    ``overwrite`` and ``raw_csv``; returns its files."""
    record: dict[str, Any]  # for a script
    table: Table  # for a person, with the lines below it
    lines: Sequence[str]
    what_next: str = ""  # after where the page is


def analyse(
    work: Callable[[MultilayerGraph], Analysis],
    data: list[str],
    read: Reading,
    output: Output,
    context: typer.Context,
    *,
    layers: list[str] | None = None,
    also_read: Path | None = None,
) -> None:
    """Read DATA, do the work, write its folder and show the result."""
    target = output.target
    check_target(target, overwrite=output.overwrite)
    check_not_read(target, [*data, *([] if also_read is None else [also_read])], read)
    with warnings_as_notes(silent=output.quiet):
        opened = open_data(data, read, needs_label=False, quiet=output.quiet)
        graph = opened.graph.select_layers(layers) if layers else opened.graph
        require_proper("layer", graph.layers)
        require_proper("node", graph.nodes)
        began = time.perf_counter()
        analysis = work(graph)
        seconds = round(time.perf_counter() - began, 2)
        config = {"data": " ".join(data), "command": command_line(context), "seconds": seconds}
        files = analysis.write(config=config, overwrite=output.overwrite, raw_csv=output.raw_csv)
    if output.as_json:
        typer.echo(json_text({"out": str(target), "files": files} | analysis.record))
    elif not output.quiet:
        out.print(analysis.table)
        for line in analysis.lines:
            out.print(escape(line))
        out.print(escape(f"in {target}: {', '.join(files)}"))
        out.print(escape(f"open {target / 'report.html'}{analysis.what_next}"))


def named_nodes(graph: MultilayerGraph, words: Sequence[str]) -> list[Any]:
    """Nodes as the graph calls them, from words: a file of numbers has nodes that are numbers."""
    by_text = {str(name): name for name in graph.nodes}
    return [by_text.get(word, word) for word in words]
