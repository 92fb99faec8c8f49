"""DATA on the command line: a file of any known format or, where no file has that name, a dataset."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from gramme import datasets
from gramme.cli.console import note
from gramme.cli.options import TABLE_ONLY, Reading
from gramme.cli.table import is_table_name, open_table, open_table_again
from gramme.errors import DataError, FileFormatError, did_you_mean
from gramme.graph import MultilayerGraph
from gramme.io import ReadReport, inspect
from gramme.io.notes import gathered
from gramme.io.plain_table import header_of


@dataclass(frozen=True)
class Opened:
    """DATA once it is read: the graph, the account of the reading, and how a table became layers."""

    graph: MultilayerGraph
    report: ReadReport | None = None
    table: dict[str, Any] | None = None
    notes: tuple[str, ...] = ()

    def tell(self) -> None:
        """Show what was found out while reading."""
        for sentence in self.notes:
            note(sentence)


def open_data(name: str, read: Reading, *, needs_label: bool = True) -> Opened:
    """The graph of a table, of a file of edges or, where no file has this name, of a dataset.

    ``needs_label`` says whether a table must have a column of labels.
    """
    if read.is_table:
        return _open_table(name, read, needs_label)
    only = read.used(*TABLE_ONLY)
    if only:
        raise DataError(f"{', '.join(only)} can be said of a table only; add --table")
    if Path(name).exists():
        try:
            graph, report = inspect(name, **read.file_options())
        except DataError as error:
            hint = None if read.source_format else _table_hint(Path(name), read.encoding)
            if hint is None:
                raise
            raise DataError(hint) from error
        return Opened(graph, report, notes=report.notes)
    known = list(datasets.names())
    if name not in known:
        looks_like_file = "." in name or "/" in name or "\\" in name
        hint = "" if looks_like_file else f"; datasets: {did_you_mean(name, known)}"
        raise DataError(f"there is no file {name!r}{hint}")
    given = [one for one in read.used() if one != "--label-kind"]
    if given:
        raise DataError(
            f"{name!r} is a dataset, which comes complete; leave out {', '.join(given)}"
        )
    return Opened(datasets.load(name))


def _open_table(name: str, read: Reading, needs_label: bool) -> Opened:
    path = Path(name)
    if not path.exists():
        hint = "; a dataset is no table: leave out --table" if name in datasets.names() else ""
        raise DataError(f"there is no file {name!r}{hint}")
    for option in read.used("source_format", "directed"):
        raise DataError(f"{option} cannot go with --table, which has rows and no edges")
    with gathered() as notes:
        graph, record = open_table(path, read, needs_label=needs_label)
    return Opened(graph, table=record, notes=tuple(notes.all))


def open_again(name: str, record: dict[str, Any] | None, read: Reading) -> Opened:
    """The graph of DATA for a model that was fitted before, on a table if there is a record of one."""
    path = Path(name)
    if record is None or read.source_format or not is_table_name(name) or not path.exists():
        return open_data(name, read)
    if read.label is not None:
        raise DataError("leave out --label: the model knows which column of the table it was")
    with gathered() as notes:
        graph = open_table_again(path, record, replace(read, is_table=True))
    return Opened(graph, table=record, notes=tuple(notes.all))


def _table_hint(path: Path, encoding: str) -> str | None:
    """What to say where a file that was read as edges is evidently a table of persons or things."""
    if not is_table_name(path.name):
        return None
    try:
        header = header_of(path, encoding)
    except (DataError, OSError, FileFormatError):
        return None
    if len(header) < 2 or {"source", "target"} & {name.lower() for name in header}:
        return None
    names = ", ".join(header[:8]) + (", ..." if len(header) > 8 else "")
    return (
        f"{path} is no list of edges: it has no columns source and target. If every row of it is a person or a thing "
        f"and its columns say something about them, add --table --label COLUMN to gramme fit; columns: {names}"
    )
