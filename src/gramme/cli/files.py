"""The commands about files: ``info`` shows what is in one, ``convert`` writes it in another format."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import typer
from rich.table import Table

from gramme._progress import part
from gramme._text import escape, json_text

from .console import check_not_read, out, warnings_as_notes
from .options import Reading, takes_options

if TYPE_CHECKING:
    from gramme.graph import MultilayerGraph

    from .data import Opened


@takes_options
def info(
    data: list[str] = typer.Argument(None, help="Files, read as one graph as gramme fit would, or names of datasets."),
    each: bool = typer.Option(False, "--each", help="Read each of several files by itself."),
    as_json: bool = typer.Option(False, "--json", help="Print one JSON object per file."),
    *,
    read: Reading,
) -> None:
    """What is in a file: nodes, layers, labels, and what was dropped while reading.

    In the table of layers, "loops cut" counts self loops that were dropped (the models add one per node) and "merged"
    counts repeated edges that became one.
    """
    from .data import is_dataset

    read_separately = each or len(data) == 1 or any(map(is_dataset, data))
    show_data([[name] for name in data] if read_separately and data else [data], read.looking(), as_json=as_json)


def show_data(data: list[list[str]], read: Reading, *, as_json: bool) -> None:
    """Print what is in each graph of one or several files, and what became of the columns of tables."""
    from .data import open_data

    opened_data = []
    for file_names in data:
        with warnings_as_notes():
            shown_name = " ".join(file_names) or " ".join(read.relation or ())
            opened_data.append((shown_name, open_data(file_names, read, needs_label=False)))
    for name, opened in opened_data:
        data_facts = _facts(name, opened)
        if as_json:
            typer.echo(json_text(data_facts))
        else:
            _show(data_facts)


@takes_options
def convert(
    source: list[str] = typer.Argument(
        None, metavar="IN...", help="A file, several with a layer each, or the name of a dataset."
    ),
    target: Path = typer.Argument(..., metavar="OUT", help="The file to write."),
    target_format: str | None = typer.Option(None, "--to", help="Format to write where the name does not say it."),
    parts: int | None = typer.Option(
        None,
        "--parts",
        min=1,
        help="Write a folder with this many parts, one for each process of a fit.",
        show_default=False,
    ),
    assign: Literal["communities", "contiguous", "random"] = typer.Option(
        "communities", "--assign", help="With --parts: which nodes go together."
    ),
    overwrite: bool = typer.Option(False, "--overwrite", help="Replace files that exist."),
    *,
    read: Reading,
) -> None:
    """Write the graph of a file in another format, or in parts for several processes."""
    from gramme.io import write

    from .data import open_data

    check_not_read(target, source or [], read)
    with warnings_as_notes():
        opened = open_data(source, read.looking(), quiet=False)
        if parts is not None:
            _convert_to_parts(opened.graph, target, parts, assign, overwrite=overwrite)
            return
        with part(f"Writing {target}", 1.0):
            write(opened.graph, target, format=target_format, overwrite=overwrite)
    out.print(escape(f"{target}: {opened.graph!r}"))


def _convert_to_parts(graph: MultilayerGraph, target: Path, parts: int, how: str, *, overwrite: bool) -> None:
    """Write a graph in parts; the folder appears whole or not at all, and the halo's share is said."""
    from gramme.distributed import assign, write_parts
    from gramme.distributed.storage import FORMAT
    from gramme.errors import DataError
    from gramme.report.folder import check_earlier_parts, output_folder

    if target.exists() and overwrite:
        if not target.is_dir():
            raise DataError(f"{target} is a file, not a folder")
        check_earlier_parts(target, FORMAT)
    with output_folder(target, overwrite=overwrite) as place, part(f"Writing {target}", 1.0):
        owner = assign(graph, parts, how)
        manifest = write_parts(graph, place.folder, owner, parts)
    sizes = [part["nodes"] for part in manifest.parts]
    out.print(
        escape(
            f"{target}: {parts} parts of {min(sizes):,} to {max(sizes):,} nodes, assigned by {how}; "
            f"rows that parts need of others: {manifest.halo_share:.1%} of those in layers of edges"
        )
    )


def _facts(name: str, opened: Opened) -> dict[str, Any]:
    from gramme.graph.columns import amounts, too_many
    from gramme.io.values import require_proper

    from .table import describe

    graph, report = opened.graph, opened.report
    require_proper("layer", graph.layers)
    layer_summary = graph.summary().reset_index()
    layer_facts = json.loads(layer_summary.to_json(orient="records")) if graph.layers else []
    for facts in layer_facts:
        layer_name = facts["layer"]
        graph_layer = graph.layers.get(layer_name)  # None for a coupling
        facts["self_loops_dropped"] = int(getattr(graph_layer, "self_loops_dropped", 0))
        facts["duplicates_merged"] = int(getattr(graph_layer, "duplicates_merged", 0))
    facts = {
        "name": name,
        "nodes": graph.num_nodes,
        "layers": layer_facts,
        "labelled_nodes": None,
        "classes": None,
        "features": None if graph.features is None else graph.features.shape[1],
        "reading": None if report is None else report.as_dict(),
        "notes": list(opened.notes),
        "plan": [] if opened.table is None else describe(opened.table, graph, most=1000),
    }
    if graph.labels is not None:
        known_labels = [label for label in graph.labels if label is not None]
        facts["labelled_nodes"] = len(known_labels)
        class_counts = Counter(known_labels)
        facts["classes"] = {str(each): class_counts[each] for each in graph.classes[:1000]}
        amount_count = amounts(known_labels)
        if amount_count:
            facts["notes"].append(too_many(amount_count, len(known_labels)))
    return facts


def _show(facts: dict[str, Any]) -> None:
    fact_rows: list[tuple[str, str]] = []
    read_report = facts["reading"]
    if read_report is not None:
        fact_rows.append(("format", read_report["format"]))
        fact_rows.append(("files", "\n".join(read_report["files"])))
        fact_rows.append(("rows read", f"{read_report['rows']:,}"))
        first_id = read_report["id_base"]
        fact_rows.append(("node ids", "names" if first_id is None else f"whole numbers from {first_id}"))
        fact_rows.append(("direction", read_report["direction"]))
    fact_rows.append(("nodes", f"{facts['nodes']:,}"))
    coupling_count = sum(each["kind"] == "coupling" for each in facts["layers"])
    fact_rows.append(("layers", f"{len(facts['layers']) - coupling_count:,}"))
    if coupling_count:
        fact_rows.append(("couplings", f"{coupling_count:,}"))
    if facts["classes"] is None:
        fact_rows.append(("labels", "none"))
    else:
        class_sizes = ", ".join(_shortened(f"{name} ({count})" for name, count in facts["classes"].items()))
        labelled_nodes, node_count = facts["labelled_nodes"], facts["nodes"]
        fact_rows.append(
            ("labels", f"{labelled_nodes:,} of {node_count:,} nodes, {len(facts['classes'])} classes: {class_sizes}")
        )
    fact_rows.append(("features", str(facts["features"] or "none")))
    fact_rows += [("note", note) for note in facts["notes"]]
    fact_rows += [("column", line) for line in facts["plan"]]
    out.print(f"[bold]{escape(facts['name'])}[/]")
    for fact_name, fact_text in fact_rows:
        for line in fact_text.split("\n"):
            out.print(f"  {fact_name:<10} {escape(line)}")
            fact_name = ""
    out.print(_layer_table(facts["layers"]))


def _shortened(words: Iterable[str], most: int = 12) -> list[str]:
    listed = list(words)
    return listed if len(listed) <= most else [*listed[:most], "..."]


MIN_NAME_WIDTH = 14  # characters of a layer's name that stand on one line in any terminal
_SELDOM = ("weighted", "self_loops_dropped", "duplicates_merged")


def _layer_table(layers: list[dict[str, Any]]) -> Table:
    table = Table(box=None, header_style="bold")
    column_titles = {
        "layer": "layer",
        "kind": "kind",
        "nodes": "nodes",
        "edges": "edges",
        "groups": "groups",
        "directed": "directed",
        "weighted": "weighted",
        "homophily": "homophily",
        "self_loops_dropped": "loops cut",
        "duplicates_merged": "merged",
    }
    column_keys = [key for key in column_titles if any(layer.get(key) is not None for layer in layers)]
    # a column that is empty for every layer takes room that names need in a narrow terminal
    column_keys = [key for key in column_keys if key not in _SELDOM or any(layer.get(key) for layer in layers)]
    longest_name = max((len(str(layer.get("layer"))) for layer in layers), default=0)
    for key in column_keys:
        justify: Literal["left", "right"] = "left" if key in ("layer", "kind") else "right"
        min_width = min(longest_name, MIN_NAME_WIDTH) if key == "layer" else None
        table.add_column(
            column_titles[key], justify=justify, no_wrap=key != "layer", overflow="fold", min_width=min_width
        )
    for layer in layers[:200]:
        table.add_row(*(escape(_cell(layer.get(key))) for key in column_keys))
    if len(layers) > 200:
        table.add_row("...")
    return table


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.3g}"
    return f"{value:,}" if isinstance(value, int) else str(value)
