"""DATA on the command line: a file of any known format or, where no file has that name, a dataset.

The options that say how to read a file are the same for every command; they stand here once.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from gramme import datasets
from gramme.errors import DataError, did_you_mean
from gramme.graph import MultilayerGraph
from gramme.io import ReadReport, inspect

Data = Annotated[str, typer.Argument(help="A file, or the name of a dataset.")]
Labels = Annotated[
    Path | None, typer.Option("--labels", help="File of labels: a list, or rows of node and label.")
]
LabelsFormat = Annotated[
    str | None, typer.Option("--labels-format", help="What that file is: list or pairs.")
]
Label = Annotated[
    str | None, typer.Option("--label", help="The column or attribute of nodes that is the label.")
]
SourceFormat = Annotated[
    str | None, typer.Option("--from", help="Format of the file where its name does not tell.")
]
Directed = Annotated[
    bool | None,
    typer.Option(
        "--directed/--undirected",
        help="Whether edges have a direction, whatever the file says.",
        show_default=False,
    ),
]
Encoding = Annotated[str, typer.Option("--encoding", help="Encoding of text files.")]


def open_data(name: str, **options: Any) -> tuple[MultilayerGraph, ReadReport | None]:
    """The graph of a file or, where no file has this name, of a dataset; options as for :func:`gramme.io.inspect`."""
    if Path(name).exists():
        return inspect(name, **options)
    known = list(datasets.names())
    if name not in known:
        looks_like_file = "." in name or "/" in name or "\\" in name
        hint = "" if looks_like_file else f"; datasets: {did_you_mean(name, known)}"
        raise DataError(f"there is no file {name!r}{hint}")
    given = [key for key, value in options.items() if value not in (None, "utf-8")]
    if given:
        raise DataError(
            f"{name!r} is a dataset, which comes complete; leave out {', '.join(given)}"
        )
    return datasets.load(name), None
