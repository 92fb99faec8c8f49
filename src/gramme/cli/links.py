"""``gramme links``: which links are missing. What takes long to import is imported when it is needed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from rich.table import Table

from gramme._progress import part
from gramme._text import escape
from gramme.errors import DataError, FileFormatError

from .console import loading
from .options import AsJson, Data, OutFolder, Overwrite, Quiet, RawCsv, Reading, Seed, takes_reading_options
from .progress import tell_steps

if TYPE_CHECKING:
    import pandas as pd

    from gramme.graph import MultilayerGraph

    from .analysis import Analysis

SHOWN_LINKS = 10
LEARNING_SHARE, SEARCHING_SHARE, WRITING_SHARE = 0.7, 0.2, 0.1
"""A guess of what the stages take of all the time; it only shows how far the command is."""


@takes_reading_options
def links(
    context: typer.Context,
    data: Data,
    target: OutFolder,
    layers: list[str] | None = typer.Option(None, "--layer", help="Ask about this layer only; may be repeated."),
    top: int = typer.Option(100, "--top", min=1, help="How many candidates to list per layer."),
    node: str | None = typer.Option(None, "--node", help="Candidates for this node alone."),
    pairs: Path | None = typer.Option(
        None, "--pairs", help="CSV file of pairs to ask about: source,target or layer,source,target."
    ),
    missing_share: float = typer.Option(
        0.2,
        "--missing-share",
        help="Share of a layer's links that you take to be missing in the data; probabilities hold for it.",
    ),
    gephi: bool = typer.Option(
        False, "--gephi", help="Also write links.gexf for Gephi: the network with the pairs listed as further layers."
    ),
    seed: Seed = 0,
    raw_csv: RawCsv = False,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
    *,
    read: Reading,
) -> None:
    """Say which pairs of nodes of DATA will be, or should be, linked, with a probability and the reason.

    Writes links.csv (layer, source, target, probability, score, why, change), ingredients.csv, model.safetensors,
    report.html and config.json to the folder. The probability is the chance that the pair is a link, learned from where
    edges that are set aside stand in the list; so the terminal says how many links to expect: "of these 100 pairs
    expect about 46 (38 to 55) to be links". The score compares pairs as if links were as frequent as unlinked pairs.
    """
    with loading():
        from .analysis import analyse

    request: dict[str, Any] = {
        "layers": layers or None,
        "top": top,
        "node": node,
        "pairs": None if pairs is None else str(pairs),
        "missing_share": missing_share,
        "gephi": gephi,
        "seed": seed,
    }
    analyse(lambda graph: _find_links(graph, target, request), data, read, target, context, also_read=pairs)


def _find_links(graph: MultilayerGraph, target: Path, request: dict[str, Any]) -> Analysis:
    """Learn links, and list the candidates of each layer or score the given pairs."""
    import pandas as pd

    from gramme.links import GrammeLinks
    from gramme.links.expected import expected_by_layer, expected_sentences
    from gramme.links.sampling import checked, layers_to_learn, with_edges
    from gramme.report.result_folders import write_links

    from .analysis import Analysis

    names = {str(name): name for name in graph.nodes}
    node = None if request["node"] is None else names.get(request["node"], request["node"])
    if node is not None:
        graph.positions([node])
    learnable = layers_to_learn(with_edges(checked(graph)), request["layers"])
    asked = None
    if request["pairs"] is not None:
        asked = _read_pairs(Path(request["pairs"]), names, learnable)
    with part("Learning what speaks for a link", LEARNING_SHARE):
        model = GrammeLinks(request["seed"], request["missing_share"])
        model.fit(graph, layers=request["layers"])
    found = []
    for layer in model.layers_:
        with part(f"Looking for candidates in {layer}", SEARCHING_SHARE / len(model.layers_)):
            if asked is None:
                found.append(model.candidates(layer, request["top"], node, tell=tell_steps))
            else:
                mine = asked[asked["layer"].isin([layer, ""])][["source", "target"]]
                found.append(model.explained(layer, mine))
    links = pd.concat(found, ignore_index=True).sort_values(
        "probability", ascending=False, kind="stable", ignore_index=True
    )

    expected = expected_by_layer(model, links)

    def write(config: dict[str, Any], **options: Any) -> list[str]:
        config |= request | {"explanation": model.explanation_}
        with part("Writing the results and the page", WRITING_SHARE):
            return write_links(target, model, links, config=config, **options)

    return Analysis(
        write,
        {"explanation": model.explanation_, "links": len(links), "expected": expected},
        [_table(links.head(SHOWN_LINKS)), *expected_sentences(expected), model.explanation_],
    )


def _read_pairs(path: Path, names: dict[str, Any], layers: list[str]) -> pd.DataFrame:
    """Pairs from a CSV file, nodes as the graph calls them; an empty layer means every layer that is asked about."""
    import pandas as pd

    if not path.is_file():
        raise DataError(f"there is no file {str(path)!r} of pairs")
    try:
        table = pd.read_csv(path, dtype=str, keep_default_na=False)
    except (ValueError, UnicodeDecodeError) as error:
        raise FileFormatError(f"is no CSV file of pairs ({error})", file=path) from error

    def refuse(column: str, wrong: pd.Series, before: str, after: str = "") -> None:
        if wrong.any():
            place = int(wrong.to_numpy().argmax())
            raise FileFormatError(f"{before}{table[column].iloc[place]!r}{after}", file=path, line=place + 2)

    for column in ("source", "target"):
        if column not in table.columns:
            needed = "pairs need the columns source and target, and perhaps layer"
            raise FileFormatError(f"has no column {column!r}; {needed}", file=path, line=1)
        refuse(column, ~table[column].isin(names), "there is no node ", " in the data")
        table[column] = pd.Series([names[name] for name in table[column]], dtype=object)
    refuse("source", table["source"] == table["target"], "", " is paired with itself; a pair needs two nodes")
    if "layer" not in table.columns:
        table["layer"] = ""
    unknown = ~table["layer"].isin([*layers, ""])
    refuse("layer", unknown, "links of the layer ", f" are not asked about; those of {', '.join(layers)} are")
    return table


def _table(links: pd.DataFrame) -> Table:
    from gramme.links.explain import percent

    links = links.drop(columns=["score", "change"])
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in links.columns:
        table.add_column(column, justify="right" if column == "probability" else "left")
    for row in links.to_dict(orient="records"):
        row["probability"] = percent(row["probability"])
        table.add_row(*(escape(str(value)) for value in row.values()))
    return table
