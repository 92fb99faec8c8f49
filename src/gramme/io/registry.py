"""The formats by name, and which one a file's name asks for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

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
    cannot: str


READ_ONLY = "it is only read"
PACKED = (".gz", ".bz2", ".xz", ".zst", ".zip", ".graphmlz")
_ALL = (
    Format(
        authors.NAME,
        (".multilayer.edges",),
        authors.read,
        authors.write,
        "rows 'layer source target' counted from 0, with .labels and .features beside",
        "names, weights, directions, groups, absent nodes, layers without edges",
    ),
    Format(
        multiplex.NAME,
        ("_multiplex.edges", ".edges"),
        multiplex.read,
        multiplex.write,
        "rows 'layer source target [weight]', with _layers.txt and _nodes.txt beside",
        "directions, groups, absent nodes",
    ),
    Format(
        muxviz.NAME,
        (".muxviz", "_config.txt"),
        muxviz.read,
        muxviz.write,
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
    Format(
        mpx.NAME,
        (".mpx",),
        mpx.read,
        mpx.write,
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
        (".txt", ".dat", ".tab", ".edgelist", ".ncol"),
        csv_tables.read_text_file,
        None,
        "edges or a matrix by spaces, tabs, commas or semicolons, as R, igraph and networkx write them",
        READ_ONLY,
    ),
    Format(
        parquet.NAME,
        (".parquet", ".pq"),
        parquet.read,
        parquet.write,
        "the same tables as csv, stored by column (needs gramme[parquet])",
        "names and labels other than text",
    ),
    Format(
        pajek.NAME,
        (".net",),
        pajek.read,
        pajek.write,
        "Pajek networks with several relations, with a .clu partition beside as labels",
        "labels other than numbers, features, groups, absent nodes, quotes in names",
    ),
    Format(
        infomap.NAME,
        (".infomap", "_multilayer.net"),
        infomap.read,
        infomap.write,
        "Infomap's multilayer networks: *Vertices, *Intra, *Inter, *Multilayer",
        "labels, features, names of layers, directions, groups, absent nodes",
    ),
    Format(
        graphml.NAME,
        (".graphml",),
        graphml.read,
        graphml.write,
        "GraphML with an edge attribute 'layer' (needs gramme[networkx])",
        "groups, absent nodes, control characters in names",
    ),
    Format(
        json_graph.NAME,
        (".json",),
        json_graph.read,
        json_graph.write,
        "node-link data of networkx and d3, Cytoscape's elements, or a list of edges",
        "groups, absent nodes",
    ),
    Format("gexf", (".gexf",), graphml.read_gexf, None, "Gephi's format (needs gramme[networkx])", READ_ONLY),
    Format("gml", (".gml",), graphml.read_gml, None, "GML (needs gramme[networkx])", READ_ONLY),
    Format(
        ucinet.NAME,
        (".dl",),
        ucinet.read,
        None,
        "UCINET's DL: matrices, lists of edges or of nodes, several relations",
        READ_ONLY,
    ),
    Format(
        "excel",
        (".xlsx",),
        lambda path, options: parse_sheets(read_sheets(path), path, options),
        None,
        "a workbook with a layer per sheet: edges or matrices (needs gramme[excel])",
        READ_ONLY,
    ),
    Format(
        "sqlite",
        (".sqlite", ".sqlite3", ".db"),
        databases.reader("sqlite"),
        None,
        "tables or a query of a SQLite database: sqlite:FILE?query=...",
        READ_ONLY,
    ),
    Format(
        "duckdb",
        (".duckdb",),
        databases.reader("duckdb"),
        None,
        "tables or a query of a DuckDB database (needs gramme[duckdb])",
        READ_ONLY,
    ),
    Format(
        csv_tables.MATRIX_NAME,
        (".matrix",),
        csv_tables.read_matrix,
        None,
        "one adjacency or incidence matrix, with or without names",
        READ_ONLY,
    ),
    Format(
        npz.NAME,
        (".npz",),
        npz.read,
        npz.write,
        "gramme's own archive of arrays: keeps everything, can be mapped from disk",
        "nothing is lost",
    ),
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
        known = "; ".join(f"{each.name} ({', '.join(each.endings)})" for each in FORMATS.values())
        raise DataError(
            f"the format cannot be told from the name {path.name!r}; say which it is with "
            f"{setting('format', option='to' if to_write else 'from')}. Known: {known}"
        )
    return max(fitting, key=lambda found: found[0])[1]
