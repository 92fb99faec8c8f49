"""The work of ``gramme links``: fit, ask about candidates or given pairs, write the folder and show the first."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import typer
from rich.table import Table

from gramme._progress import part
from gramme._text import escape, json_text
from gramme.errors import DataError, FileFormatError
from gramme.graph import MultilayerGraph
from gramme.io.values import require_proper
from gramme.links import GrammeLinks
from gramme.links.expected import expected_by_layer, expected_sentences
from gramme.links.expected_time import expected_seconds
from gramme.links.explain import percent
from gramme.links.sampling import checked, layers_to_learn, with_edges
from gramme.report.result_folders import check_target, write_links

from .console import out
from .options import command_line
from .progress import expect, steps_bar, tell_steps

_SHOWN = 10
PAGE_SECONDS, PAGE_SECONDS_PER_NODE, MAX_PAGE_SECONDS = 0.5, 3e-4, 8.0
"""The time that the tables and the page take."""


@dataclass(frozen=True)
class LinksRequest:
    """What was asked for."""

    layers: list[str] | None
    top: int
    node: str | None
    pairs: str | None
    missing_share: float
    seed: int


def links_of_graph(
    graph: MultilayerGraph,
    target: Path,
    request: LinksRequest,
    *,
    described: dict[str, Any],
    overwrite: bool,
    silent: bool,
    as_json: bool,
    raw_csv: bool = False,
) -> None:
    """Fit on a graph, list the candidates of each layer or score the given pairs, and write the folder."""
    require_proper("layer", graph.layers)
    require_proper("node", graph.nodes)
    began = time.perf_counter()
    names = {str(name): name for name in graph.nodes}
    node = None if request.node is None else names.get(request.node, request.node)
    if node is not None:
        graph.positions([node])
    flat = checked(graph)
    learnable = layers_to_learn(with_edges(flat), request.layers)
    asked = None if request.pairs is None else _read_pairs(Path(request.pairs), names, learnable)
    seconds_of = expected_seconds(flat, learnable)
    search = (
        sum(seconds_of.candidates.values()) if asked is None and node is None else len(learnable)
    )
    page = min(PAGE_SECONDS + PAGE_SECONDS_PER_NODE * graph.num_nodes, MAX_PAGE_SECONDS)
    whole = seconds_of.fit + search + page
    expect(whole)
    with steps_bar("Learning what speaks for a link", seconds_of.fit / whole, silent=silent):
        model = GrammeLinks(random_state=request.seed, missing_share=request.missing_share).fit(
            graph, layers=request.layers
        )
    found = []
    with steps_bar("Looking for candidates", search / whole, silent=silent):
        for layer in model.layers_:
            with part(
                f"in {layer}", seconds_of.candidates[layer] / sum(seconds_of.candidates.values())
            ):
                if asked is None:
                    found.append(model.candidates(layer, request.top, node, tell=tell_steps))
                else:
                    mine = asked[asked["layer"].isin([layer, ""])][["source", "target"]]
                    found.append(model.explained(layer, mine))
    links = pd.concat(found, ignore_index=True).sort_values(
        "probability", ascending=False, kind="stable", ignore_index=True
    )
    seconds = round(time.perf_counter() - began, 2)
    config = described | asdict(request) | {"seconds": seconds, "explanation": model.explanation_}
    with part("Writing the results and the page", page / whole):
        files = write_links(
            target, model, links, config=config, overwrite=overwrite, raw_csv=raw_csv
        )
    expected = expected_by_layer(model, links)
    if as_json:
        record = {"out": str(target), "files": files, "explanation": model.explanation_}
        typer.echo(json_text(record | {"links": len(links), "expected": expected}))
    elif not silent:
        out.print(_table(links.head(_SHOWN)))
        for sentence in expected_sentences(expected):
            out.print(escape(sentence))
        out.print(escape(model.explanation_))
        out.print(escape(f"in {target}: {', '.join(files)}"))
        out.print(escape(f"open {target / 'report.html'}"))


def _read_pairs(path: Path, names: dict[str, Any], layers: list[str]) -> pd.DataFrame:
    """Pairs from a CSV file, nodes as the graph calls them; an empty layer means every layer that is asked about."""
    if not path.is_file():
        raise DataError(f"there is no file {str(path)!r} of pairs")
    try:
        table = pd.read_csv(path, dtype=str, keep_default_na=False)
    except (ValueError, UnicodeDecodeError) as error:
        raise FileFormatError(f"is no CSV file of pairs ({error})", file=path) from error
    for column in ("source", "target"):
        if column not in table.columns:
            raise FileFormatError(
                f"has no column {column!r}; pairs need the columns source and target, and perhaps layer",
                file=path,
                line=1,
            )
        unknown = [name for name in table[column] if name not in names]
        if unknown:
            line = int((table[column] == unknown[0]).to_numpy().argmax()) + 2
            raise FileFormatError(
                f"there is no node {unknown[0]!r} in the data", file=path, line=line
            )
        table[column] = pd.Series([names[name] for name in table[column]], dtype=object)
    same = (table["source"] == table["target"]).to_numpy()
    if same.any():
        raise FileFormatError(
            f"{table['source'][same.argmax()]!r} is paired with itself; a pair needs two nodes",
            file=path,
            line=int(same.argmax()) + 2,
        )
    if "layer" not in table.columns:
        table["layer"] = ""
    other = ~table["layer"].isin([*layers, ""]).to_numpy()
    if other.any():
        raise FileFormatError(
            f"links of the layer {table['layer'][other.argmax()]!r} are not asked about; those of "
            f"{', '.join(layers)} are",
            file=path,
            line=int(other.argmax()) + 2,
        )
    return table


def _table(links: pd.DataFrame) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in links.columns:
        table.add_column(column, justify="right" if column in ("probability", "score") else "left")
    for row in links.to_dict(orient="records"):
        row["probability"] = percent(row["probability"])
        row["score"] = percent(row["score"])
        table.add_row(*(escape(str(value)) for value in row.values()))
    return table


__all__ = ["LinksRequest", "check_target", "command_line", "links_of_graph"]
