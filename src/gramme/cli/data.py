"""DATA on the command line: a file of any known format or, where no file has that name, a dataset."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from gramme import datasets
from gramme.cli.options import TableOptions
from gramme.cli.table import is_table_name, open_table, open_table_again
from gramme.errors import DataError, FileFormatError, did_you_mean
from gramme.graph import MultilayerGraph
from gramme.io import ReadReport, inspect
from gramme.io.plain_table import header_of


def open_data(name: str, **options: Any) -> tuple[MultilayerGraph, ReadReport | None]:
    """The graph of a file or, where no file has this name, of a dataset; options as for :func:`gramme.io.inspect`."""
    if Path(name).exists():
        try:
            return inspect(name, **options)
        except DataError as error:
            hint = None if options.get("format") else _table_hint(Path(name), options)
            if hint is None:
                raise
            raise DataError(hint) from error
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


def open_fit_data(
    name: str, table: TableOptions | None, **options: Any
) -> tuple[MultilayerGraph, dict[str, Any] | None]:
    """The graph of DATA and, for a table, the record of how its columns became layers."""
    if table is None:
        return open_data(name, **options)[0], None
    path = Path(name)
    if not path.exists():
        hint = "; a dataset is no table: leave out --table" if name in datasets.names() else ""
        raise DataError(f"there is no file {name!r}{hint}")
    for option in ("format", "directed"):
        if options.pop(option) is not None:
            written = {"format": "--from", "directed": "--directed and --undirected"}[option]
            raise DataError(f"{written} cannot go with --table, which has rows and no edges")
    return open_table(path, table, **options)


def open_again(name: str, record: dict[str, Any] | None, **options: Any) -> MultilayerGraph:
    """The graph of DATA for a model that was fitted before, on a table if there is a record of one."""
    path = Path(name)
    if record is None or options["format"] or not is_table_name(name) or not path.exists():
        return open_data(name, **options)[0]
    if options.pop("label") is not None:
        raise DataError("leave out --label: the model knows which column of the table it was")
    return open_table_again(
        path, record, **{key: options[key] for key in ("labels", "labels_format", "encoding")}
    )


def _table_hint(path: Path, options: dict[str, Any]) -> str | None:
    """What to say where a file that was read as edges is evidently a table of persons or things."""
    if not is_table_name(path.name):
        return None
    try:
        header = header_of(path, options.get("encoding", "utf-8"))
    except (DataError, OSError, FileFormatError):
        return None
    if len(header) < 2 or {"source", "target"} & {name.lower() for name in header}:
        return None
    names = ", ".join(header[:8]) + (", ..." if len(header) > 8 else "")
    return (
        f"{path} is no list of edges: it has no columns source and target. If every row of it is a person or a thing "
        f"and its columns say something about them, add --table --label COLUMN to gramme fit; columns: {names}"
    )
