"""Reading and writing a graph: finds the format, lets it parse or print, and makes the graph."""

from __future__ import annotations

import glob
import os
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from gramme.errors import DataError, GrammeWarning
from gramme.graph import MultilayerGraph

from .assemble import assemble, joined, parsed_graph
from .atomic import write_files
from .formats.csv_tables import TEXT_NAME
from .parsed import LabelsForm, Parsed, ReadOptions, ReadReport
from .registry import FORMATS, find_format
from .relations import inspect_relations
from .source import AUTO, checked_file, gathered
from .tables import COMPANIONS

# Addresses of data inside a database: ``sqlite:file.db?query=SELECT ...`` or ``duckdb:file.db?table=ties``.
DATABASE_KINDS = ("sqlite", "duckdb")


@dataclass(frozen=True)
class Address:
    """A database, and what of it to read: a table, a query, or what looks like edges."""

    format: str
    file: str
    table: str | None = None
    query: str | None = None


def is_address(text: object) -> bool:
    """Whether text is the address of a database."""
    return isinstance(text, str) and text.partition(":")[0] in DATABASE_KINDS and ":" in text


def parse_address(text: str) -> Address:
    """The parts of an address."""
    format_kind, _, rest = text.partition(":")
    file, sign, what = rest.partition("?")
    if not file:
        raise DataError(f"{text!r} names no file; write it like {format_kind}:school.db?table=ties")
    if not sign:
        return Address(format_kind, file)
    key, equals, value = what.partition("=")
    if key not in ("table", "query") or not equals or not value:
        raise DataError(f"{text!r}: after the file say ?table=NAME or ?query=SELECT ...")
    return Address(format_kind, file, value if key == "table" else None, value if key == "query" else None)


# Several files that make one graph: a layer per file, named after it, whatever their formats.
_ABOUT = ("readme", "licen", "about", "notes", "citation")
Place = str | os.PathLike[str]
Source = Place | Sequence[Place] | Mapping[str, Place]


def several_files(source: Source, options: ReadOptions) -> dict[str, Path] | None:
    """The files by layer name of a sequence, a mapping, a folder or a pattern; None for a single file."""
    if isinstance(source, Mapping):
        return {str(layer_name): _path(path) for layer_name, path in source.items()}
    if isinstance(source, (str, os.PathLike)):
        found_paths = _in_folder_or_pattern(source, options)
        return None if found_paths is None else _named(found_paths)
    if not isinstance(source, (Sequence, Set, Iterator)):  # a frame or a graph can be iterated too
        raise _no_file(source)
    paths = [_path(path) for path in source]
    if not paths:
        raise DataError("no file is named")
    return _named(paths)


def _path(place: object) -> Path:
    if not isinstance(place, (str, os.PathLike)):
        raise _no_file(place)
    return Path(place)


def _no_file(what: object) -> DataError:
    format_kind = type(what).__name__
    return DataError(
        f"a file, files, or a mapping of layers to files are needed, not {format_kind}; what is in memory already "
        "becomes a "
        "graph by MultilayerGraph.from_edges, from_table, from_networkx, from_igraph, ..."
    )


def _in_folder_or_pattern(source: Place, options: ReadOptions) -> list[Path] | None:
    file_name = os.fspath(source)
    try:
        path = Path(file_name)
        if path.is_dir():
            found_paths = _layers(path.iterdir(), options)
            what = f"the folder {path}"
        elif not path.exists() and glob.has_magic(file_name):
            found_paths = _layers(map(Path, glob.glob(file_name)), options)  # noqa: PTH207 (it may be absolute)
            what = f"the pattern {file_name!r}"
        else:
            return None
    except (OSError, ValueError):
        return None
    if not found_paths:
        raise DataError(f"{what} holds no file of a known format")
    return found_paths


def _layers(paths: Iterable[Path], options: ReadOptions) -> list[Path]:
    """The files that are layers; plain text only where there is nothing else, since a text may be about the others."""
    taken = [Path(one) for one in (options.labels, options.nodes) if isinstance(one, (str, os.PathLike))]
    endings = tuple(ending for each in FORMATS.values() for ending in each.endings)
    found_paths = [
        path
        for path in sorted(paths)
        if path.is_file()
        and path.name.lower().endswith(endings)
        and not path.name.startswith((".", "~$"))
        and not any(one.exists() and one.samefile(path) for one in taken)
        and not any(f".{table}." in path.name.lower() for table in COMPANIONS)
    ]
    others = [each for each in found_paths if find_format(each).name != TEXT_NAME]
    return others or [each for each in found_paths if not each.name.lower().startswith(_ABOUT)]


def _named(paths: Sequence[Path]) -> dict[str, Path]:
    """The files by their names without endings, with the folder where two would be the same."""
    double = next((path for path in paths if list(paths).count(path) > 1), None)
    if double is not None:
        raise DataError(f"the file {double} is named twice")
    stems = [path.name.partition(".")[0].removesuffix("_multiplex") or path.name for path in paths]
    path_by_layer: dict[str, Path] = {}
    for stem, path in zip(stems, paths, strict=True):
        file_name = stem if stems.count(stem) == 1 else path.name
        path_by_layer[file_name if file_name not in path_by_layer else str(path)] = path
    return path_by_layer


def read(
    path: Source,
    *,
    format: str | None = None,
    labels: Any = None,
    labels_format: LabelsForm | None = None,
    nodes: str | os.PathLike[str] | None = None,
    label: str | None = None,
    id: str | None = None,
    columns: Sequence[str] | None = None,
    features: Sequence[str] | None = None,
    layers_from: Sequence[str] | None = None,
    edge_features: Sequence[str] | None = None,
    label_bins: int | None = None,
    label_edges: Sequence[float] | None = None,
    label_kind: Literal["class", "number"] | None = None,
    header: bool | None = None,
    source: str | None = None,
    target_column: str | None = None,
    weight: str | None = None,
    layer: str | None = None,
    target: str | None = None,
    paths: Iterable[Sequence[str]] | None = None,
    directed: bool | None = None,
    encoding: str = AUTO,
    mmap: bool = False,
    missing: str | Sequence[str] = (),
    keep_na: bool = False,
) -> MultilayerGraph:
    r"""A graph from a file and the files that belong to it.

    Names of nodes, layers and labels are text, just as they stand in the file: ``1`` and ``01`` are two nodes.
    Nodes come in numeric order if all names are whole numbers, else as they first appear, or as a table of nodes lists
    them.

    Parameters
    ----------
    path : path, sequence of paths, or mapping of layer name to path
        The file; labels, layer names and the like in files beside it are found by their names. Several files, a folder
        or a pattern like ``"relations/*.csv"`` make one graph with a layer per file, named after it, in any formats.
        A database is named like ``"sqlite:school.db?table=ties"`` or ``"duckdb:school.db?query=SELECT ..."``.
    format : str, optional
        Name of the format (:data:`gramme.io.FORMATS`) where the file's name does not tell it.
    labels : path, sequence or mapping, optional
        A file of labels: one per line in node order, rows of a node and its label, or a table of nodes whose other
        columns become what they are (numbers features, categories membership layers, names and constants nothing).
        Or the labels themselves.
    labels_format : "list" or "pairs", optional
        Which of the two a file of labels is; needed only where it could be both.
    nodes : path, optional
        A table of all nodes with a header: the node, perhaps ``label``, and features.
    label : str, optional
        The column or attribute of the nodes that holds the label; ``"label"`` if not given.
    id : str, optional
        The column of a table of nodes that names them; if not given, the first that holds names of nodes.
    columns : sequence of str, optional
        The columns of a table of nodes to use; all where none is named here or in the next two.
    features : sequence of str, optional
        The columns or attributes of the nodes that are features; categories become a feature of 0 and 1 per value.
    layers_from : sequence of str, optional
        The columns of a table of nodes that are membership layers; numbers are cut into groups.
    edge_features : sequence of str, optional
        The columns of a list of edges, or attributes of edges, that are features of the edges, as
        :meth:`~gramme.MultilayerGraph.from_edges` has them: numbers as they are, categories as 0 and 1 per value.
    label_bins : int, optional
        Cut labels that are numbers into so many classes of about equal size.
    label_edges : sequence of float, optional
        Cut labels that are numbers at these values.
    label_kind : {"class", "number"}, optional
        What labels are that look like amounts: without this, more than 20 different numbers are refused unless they
        count 0, 1, 2, ...
    header : bool, optional
        False for a list of edges whose first line is an edge already.
    source, target_column, weight, layer : str, optional
        The columns of a list of edges that hold its ends, weights and layers, where their names do not tell.
    target : str, optional
        The kind whose nodes become the graph's, for a table of relations or a mapping of two kinds to a file; see
        ``read_relations``.
    paths : list of lists of kinds, optional
        With ``target``: which ways to other kinds are layers.
    directed : bool, optional
        Whether edges have a direction, whatever the file says. If not given, as the file says, else undirected.
    encoding : str, default="auto"
        Encoding of text files; "auto" is UTF-8, else UTF-16 by its byte order mark, else Windows-1252 with a warning.
    mmap : bool, default=False
        Leave the arrays of an ``npz`` file on disk and load what is touched.
    missing : str or sequence of str, optional
        Further labels and cells that mean "not known", besides blank ones, NA, N/A, NaN, null, "?" and ".".
    keep_na : bool, default=False
        Whether these usual marks are labels like any other; blank ones stay unknown.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "school.csv").write_text("layer,source,target\nchat,Ann,Bo\nlunch,Ann,Cy\n")
    >>> read(folder / "school.csv")
    MultilayerGraph('school', 3 nodes, 2 layers: chat 1 edge, lunch 1 edge)
    """
    options = dict(locals())
    graph, report = inspect(**options)
    for doubt in report.doubts:
        warnings.warn(doubt, GrammeWarning, stacklevel=2)
    return graph


def inspect(path: Source, *, format: str | None = None, **options: Any) -> tuple[MultilayerGraph, ReadReport]:
    """The graph of :func:`read`, and an account of what was met in the files."""
    target, paths = options.pop("target", None), options.pop("paths", None)
    if target is not None:
        files: Any = path
        return inspect_relations(files, target=target, paths=paths, **options)
    if paths is not None:
        raise DataError("paths are ways to other kinds of node; say with target which kind to label")
    chosen = ReadOptions(**options)
    if chosen.labels_format not in (None, "list", "pairs"):
        raise DataError(f"labels_format must be 'list' or 'pairs', not {chosen.labels_format!r}")
    with gathered() as notes:
        if is_address(path):
            address = parse_address(str(path))
            path, format = address.file, address.format
            chosen = replace(chosen, table=address.table, query=address.query)
        by_layer = several_files(path, chosen)
        if by_layer is None:
            assert isinstance(path, (str, os.PathLike))
            file_path = checked_file(path)
            format_kind = find_format(file_path, format)
            parsed_file = format_kind.read(file_path, chosen)
            graph, report = (
                assemble(parsed_file, chosen, format_kind.name) if isinstance(parsed_file, Parsed) else parsed_file
            )
        else:
            graph, report = _several(by_layer, format, chosen)
    told = dict.fromkeys((*report.notes, *notes.all))
    return graph, replace(report, notes=tuple(told), doubts=tuple(notes.doubts))


def _several(files: dict[str, Path], format: str | None, options: ReadOptions) -> tuple[MultilayerGraph, ReadReport]:
    """One graph from several files; options about nodes and labels apply to all of them together."""
    alone = replace(options, labels=None, nodes=None)
    if options.labels is not None or options.nodes is not None:  # whose columns these are
        alone = replace(alone, label=None, id=None, columns=None, features=None, layers_from=None)
    file_parts, kinds = {}, []
    for layer_name, path in files.items():
        file_path = checked_file(path)
        format_kind = find_format(file_path, format)
        parsed_file = format_kind.read(file_path, alone)
        file_parts[layer_name] = (
            parsed_file if isinstance(parsed_file, Parsed) else parsed_graph(parsed_file[0], file_path)
        )
        kinds.append(format_kind.name)
    graph, report = assemble(joined(file_parts), options, ", ".join(dict.fromkeys(kinds)))
    folders = {path.resolve().parent for path in files.values()}
    return graph.replace(name=folders.pop().name or None if len(folders) == 1 else None), report


def write(
    graph: MultilayerGraph, path: str | os.PathLike[str], *, format: str | None = None, overwrite: bool = True
) -> None:
    """Write the graph to a file, and to files beside it where the format needs them.

    All files are written apart and put in place together at the end, so that a failure leaves the old ones as they
    were. What the format cannot hold is named by a :class:`gramme.LossyFormatWarning`.

    Parameters
    ----------
    graph : MultilayerGraph
    path : path
    format : str, optional
        Name of the format where the file's name does not tell it.
    overwrite : bool, default=True
        Whether files that exist may be replaced.
    """
    file_path = Path(path)
    format_kind = find_format(file_path, format, to_write=True)
    if format_kind.write is None:
        able = ", ".join(each.name for each in FORMATS.values() if each.write is not None)
        raise DataError(f"the format {format_kind.name!r} is only read; formats to write: {able}")
    write_files(format_kind.write(graph, file_path), overwrite=overwrite)
