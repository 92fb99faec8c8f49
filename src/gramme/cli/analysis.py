"""What links, ranks, groups and ask do alike: read a graph, analyse it, write a folder with a page, show the result."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer
from rich.console import RenderableType

from gramme._text import escape, json_text
from gramme.graph import MultilayerGraph
from gramme.io.values import require_proper
from gramme.report.result_folders import check_target

from .console import check_not_read, out, warnings_as_notes
from .data import open_data
from .options import Reading, command_line


@dataclass(frozen=True)
class Analysis:
    """What a command has found."""

    write: Callable[..., list[str]]
    """Writes the folder, given ``config`` (what config.json shall say of the data, the command and the time),
    ``overwrite`` and ``raw_csv``; returns its files."""
    record: dict[str, Any]
    """What a script is told."""
    shown: Sequence[RenderableType]
    """What a person is shown: text, or a table."""
    what_next: str = ""  # after where the page is


def analyse(
    work: Callable[[MultilayerGraph], Analysis],
    data: list[str],
    read: Reading,
    target: Path,
    context: typer.Context,
    *,
    layers: list[str] | None = None,
    also_read: Path | None = None,
) -> None:
    """Read DATA, do the work, write its folder and show what was found, as the options of the command have it."""
    options = context.params
    check_target(target, overwrite=options["overwrite"])
    check_not_read(target, [*data, *([] if also_read is None else [also_read])], read)
    with warnings_as_notes(silent=options["quiet"]):
        opened = open_data(data, read, needs_label=False)
        if not options["quiet"]:
            opened.tell()
        graph = opened.graph.select_layers(layers) if layers else opened.graph
        require_proper("layer", graph.layers)
        require_proper("node", graph.nodes)
        began = time.perf_counter()
        found = work(graph)
        seconds = round(time.perf_counter() - began, 2)
        described = {"data": " ".join(data), "command": command_line(context), "seconds": seconds}
        files = found.write(config=described, overwrite=options["overwrite"], raw_csv=options["raw_csv"])
    if options["as_json"]:
        typer.echo(json_text({"out": str(target), "files": files} | found.record))
    elif not options["quiet"]:
        for one in found.shown:
            out.print(escape(one) if isinstance(one, str) else one)
        out.print(escape(f"in {target}: {', '.join(files)}"))
        out.print(escape(f"open {target / 'report.html'}{found.what_next}"))


def named_nodes(graph: MultilayerGraph, words: Sequence[str]) -> list[Any]:
    """Nodes as the graph calls them, from words: a file of numbers has nodes that are numbers."""
    by_text = {str(name): name for name in graph.nodes}
    return [by_text.get(word, word) for word in words]


def shares_of(**work: float) -> dict[str, float]:
    """The share that each stage is of all the work, in whatever it is counted.

    >>> shares_of(learn=3, write=1)
    {'learn': 0.75, 'write': 0.25}
    """
    total = sum(work.values())
    return {name: amount / total for name, amount in work.items()}
