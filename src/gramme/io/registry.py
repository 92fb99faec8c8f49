"""The formats by name, and which one a file's name asks for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gramme._plugins import Registry
from gramme._text import setting
from gramme.errors import DataError, did_you_mean
from gramme.graph import MultilayerGraph

from .atomic import Content
from .edge_table import parse_sheets
from .formats import (
    authors,
    csv_tables,
    databases,
    graphml,
    infomap,
    json_graph,
    mpx,
    multiplex,
    muxviz,
    npz,
    pajek,
    parquet,
    ucinet,
)
from .parsed import Parsed, ReadOptions, ReadReport
from .spreadsheet import read_sheets

Reading = Parsed | tuple[MultilayerGraph, ReadReport]


@dataclass(frozen=True)
class Format:
    """One way to keep a graph in files.

    Attributes
    ----------
    name : str
    endings : tuple of str
        How the names of such files end, in lower case.
    read : callable
        From the path and the options to what the files hold.
    write : callable
        From the graph and the path to the contents of all files; None if the format is only read.
    description, cannot : str
        What it is, and what of a graph it cannot hold; one line each.
    """

    name: str
    endings: tuple[str, ...]
    read: Callable[[Path, ReadOptions], Reading]
    write: Callable[[MultilayerGraph, Path], Mapping[Path, Content]] | None
    description: str
    cannot: str = "it is only read"


PACKED = (".gz", ".bz2", ".xz", ".zst", ".zip", ".graphmlz")


def _of(module: Any, endings: tuple[str, ...], description: str, cannot: str) -> Format:
    """The format of a module that has a name, a reader and a writer."""
    return Format(module.NAME, endings, module.read, module.write, description, cannot)


_ALL = (
    _of(
        authors,
        (".multilayer.edges",),
        "rows 'layer source target' counted from 0, with .labels and .features beside",
        "names, weights, directions, groups, absent nodes, layers without edges",
    ),
    _of(
        multiplex,
        ("_multiplex.edges", ".edges"),
        "rows 'layer source target [weight]', with _layers.txt and _nodes.txt beside",
        "directions, groups, absent nodes",
    ),
    _of(
        muxviz,
        (".muxviz", "_config.txt"),
        "a configuration 'edges;label;layout' per layer, with the files it names",
        "directions, groups, absent nodes",
    ),
    Format(
        muxviz.MUXVIZ_EXTENDED_NAME,
        (".muxviz-extended", "_extended.edges", "_extended.txt"),
        muxviz.read_muxviz_extended,
        muxviz.write_muxviz_extended,
        "rows 'node layer node layer [weight]', or a configuration 'edges;layers;layout'",
        "directions, groups, absent nodes",
    ),
    _of(
        mpx,
        (".mpx",),
        "sections of layers, actors, nodes and edges, as multinet and uunet use them",
        "groups, line ends in names",
    ),
    Format(
        "csv",
        (".csv",),
        csv_tables.reader(","),
        csv_tables.writer(",", "csv"),
        "a table layer,source,target[,weight], with .nodes.csv, .groups.csv and others beside",
        "names and labels other than text",
    ),
    Format(
        "tsv",
        (".tsv",),
        csv_tables.reader("\t"),
        csv_tables.writer("\t", "tsv"),
        "the same as csv, separated by tabs",
        "names and labels other than text",
    ),
    Format(
        csv_tables.TEXT_NAME,
        (".txt", ".dat", ".tab", ".edgelist", ".ncol", ".mtx"),
        csv_tables.read_text_file,
        None,
        "edges or a matrix by spaces, tabs, commas or semicolons, as R, igraph and networkx write them",
    ),
    _of(
        parquet,
        (".parquet", ".pq"),
        "the same tables as csv, stored by column (needs gramme[parquet])",
        "names and labels other than text",
    ),
    _of(
        pajek,
        (".net",),
        "Pajek networks with several relations, with a .clu partition beside as labels",
        "labels other than numbers, features, groups, absent nodes, quotes in names",
    ),
    _of(
        infomap,
        (".infomap", "_multilayer.net"),
        "Infomap's multilayer networks: *Vertices, *Intra, *Inter, *Multilayer",
        "labels, features, names of layers, directions, groups, absent nodes",
    ),
    _of(
        graphml,
        (".graphml",),
        "GraphML with an edge attribute 'layer' (needs gramme[networkx])",
        "groups, absent nodes, control characters in names",
    ),
    _of(
        json_graph,
        (".json",),
        "node-link data of networkx and d3, Cytoscape's elements, or a list of edges",
        "groups, absent nodes",
    ),
    Format("gexf", (".gexf",), graphml.read_gexf, None, "Gephi's format (needs gramme[networkx])"),
    Format("gml", (".gml",), graphml.read_gml, None, "GML (needs gramme[networkx])"),
    Format(
        ucinet.NAME, (".dl",), ucinet.read, None, "UCINET's DL: matrices, lists of edges or of nodes, several relations"
    ),
    Format(
        "excel",
        (".xlsx",),
        lambda path, options: parse_sheets(read_sheets(path), path, options),
        None,
        "a workbook with a layer per sheet: edges or matrices (needs gramme[excel])",
    ),
    Format(
        "sqlite",
        (".sqlite", ".sqlite3", ".db"),
        databases.reader("sqlite"),
        None,
        "tables or a query of a SQLite database: sqlite:FILE?query=...",
    ),
    Format(
        "duckdb",
        (".duckdb",),
        databases.reader("duckdb"),
        None,
        "tables or a query of a DuckDB database (needs gramme[duckdb])",
    ),
    Format(
        csv_tables.MATRIX_NAME,
        (".matrix",),
        csv_tables.read_matrix,
        None,
        "one adjacency or incidence matrix, with or without names",
    ),
    _of(npz, (".npz",), "gramme's own archive of arrays: keeps everything, can be mapped from disk", "nothing is lost"),
)

#: All formats by name.
FORMATS: Registry[Format] = Registry(_ALL, lambda each: each.name, "gramme.formats", Format)


def register_format(new: Format) -> Format:
    """Make a format known by its name and its endings, wherever files are read and written."""
    FORMATS.add(new)
    return new


def find_format(path: Path, name: str | None = None, *, to_write: bool = False) -> Format:
    """The named format, or the one with the longest ending that fits the file's name.

    >>> find_format(Path("school_multiplex.edges")).name
    'multiplex'
    """
    if name is not None:
        if name not in FORMATS:
            raise DataError(f"there is no format {name!r}; {did_you_mean(name, FORMATS)}")
        return FORMATS[name]
    fitting = [
        (len(ending), each)
        for each in FORMATS.values()
        for ending in each.endings
        if path.name.lower().endswith(ending)
    ]
    if not fitting:
        if path.suffix.lower() in PACKED and not to_write:
            raise DataError(f"{path} is compressed; unpack it first")
        known_formats = "; ".join(f"{each.name} ({', '.join(each.endings)})" for each in FORMATS.values())
        raise DataError(
            f"the format cannot be told from the name {path.name!r}; say which it is with "
            f"{setting('format', option='to' if to_write else 'from')}. Known: {known_formats}"
        )
    return max(fitting, key=lambda found: found[0])[1]
