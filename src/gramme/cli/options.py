"""The options that several commands share: how to read DATA, and which columns of a table become layers.

Only words stand here, so that ``gramme --help`` has nothing to wait for; ``data.py`` and ``table.py`` act on them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import typer

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
IsTable = Annotated[
    bool,
    typer.Option(
        "--table",
        help="DATA is a table with a row per person or thing (CSV, TSV, Excel or Parquet).",
    ),
]
Id = Annotated[
    str | None, typer.Option("--id", help="Table: the column with the names of the rows.")
]
Columns = Annotated[
    list[str] | None,
    typer.Option("--columns", help="Table: the columns to use, like age,city; all where not said."),
]
Bins = Annotated[
    list[str] | None,
    typer.Option("--bins", help="Table: cut numbers into groups, like age=5 or age=18:35:65."),
]
Quantiles = Annotated[
    list[str] | None,
    typer.Option(
        "--quantiles", help="Table: cut numbers into groups of equal size, like income=4."
    ),
]
Knn = Annotated[
    list[str] | None,
    typer.Option(
        "--knn",
        help="Table: join each row to those with the nearest numbers, like income=10 or lat+lon=10.",
    ),
]
Split = Annotated[
    list[str] | None,
    typer.Option("--split", help="Table: cells with several values, like 'authors=;'."),
]
Missing = Annotated[
    list[str] | None,
    typer.Option("--missing", help="Table: cells that mean 'not known', like 99 or 'no answer'."),
]
MissingGroup = Annotated[
    bool,
    typer.Option("--missing-group", help="Table: rows with a missing value are alike in that."),
]


@dataclass
class TableOptions:
    """What was said on the command line about a table."""

    id: str | None = None
    columns: list[str] = field(default_factory=list)
    bins: list[str] = field(default_factory=list)
    quantiles: list[str] = field(default_factory=list)
    knn: list[str] = field(default_factory=list)
    split: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    missing_group: bool = False

    def used(self) -> list[str]:
        """The options that were given, as the user writes them."""
        return [f"--{name.replace('_', '-')}" for name, value in vars(self).items() if value]
