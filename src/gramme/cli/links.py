"""``gramme links``: which links are missing. What takes long to import is imported when it is needed."""

# ruff: noqa: RUF009  # `option` makes a field

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from gramme._progress import part
from gramme.errors import DataError, FileFormatError

from .console import loading, text_table
from .options import Data, Output, Reading, option, takes_options
from .progress import tell_steps

if TYPE_CHECKING:
    import pandas as pd

    from gramme.graph import MultilayerGraph

    from .analysis import Analysis


@dataclass(frozen=True)
class LinkOptions:
    """Which links to ask about."""

    layers: list[str] = option("Ask about this layer only; may be repeated.", "--layer", default=[])
    top: int = option("How many candidates to list per layer.", default=100, min=1)
    node: str | None = option("Candidates for this node alone.")
    pairs: Path | None = option("CSV file of pairs to ask about: source,target or layer,source,target.")
    missing_share: float = option(
        "Share of a layer's links that you take to be missing in the data; probabilities hold for it.", default=0.2
    )
    gephi: bool = option(
        "Also write links.gexf for Gephi: the network with the pairs listed as further layers.", default=False
    )


@takes_options
def links(context: typer.Context, data: Data, output: Output, asked: LinkOptions, *, read: Reading) -> None:
    """Say which pairs of nodes of DATA will be, or should be, linked, with a probability and the reason.

    Writes links.csv (layer, source, target, probability, score, why, change), ingredients.csv, model.safetensors,
    report.html and config.json to the folder. The probability is the chance that the pair is a link, learned from where
    edges that are set aside stand in the list; so the terminal says how many links to expect: "of these 100 pairs
    expect about 46 (38 to 55) to be links". The score compares pairs as if links were as frequent as unlinked pairs.
    """
    with loading():
        from .analysis import analyse

    link_request = asdict(asked) | {
        "layers": asked.layers or None,
        "pairs": None if asked.pairs is None else str(asked.pairs),
        "seed": output.seed,
    }
    analyse(
        lambda graph: _find_links(graph, output.target, link_request),
        data,
        read,
        output,
        context,
        also_read=asked.pairs,
    )


def _find_links(graph: MultilayerGraph, target: Path, request: dict[str, Any]) -> Analysis:
    """Learn links, and list the candidates of each layer or score the given pairs."""
    import pandas as pd

    from gramme.links import GrammeLinks
    from gramme.links.expected import expected_by_layer, expected_sentences
    from gramme.links.explain import percent
    from gramme.links.sampling import checked, layers_to_learn, with_edges
    from gramme.report.result_folders import write_links

    from .analysis import Analysis

    node_by_text = {str(name): name for name in graph.nodes}
    asked_node = None if request["node"] is None else node_by_text.get(request["node"], request["node"])
    if asked_node is not None:
        graph.positions([asked_node])
    learnable_layers = layers_to_learn(with_edges(checked(graph)), request["layers"])
    asked_pairs = None
    if request["pairs"] is not None:
        asked_pairs = _read_pairs(Path(request["pairs"]), node_by_text, learnable_layers)
    with part("Learning what speaks for a link", 0.7):  # the shares only show how far the command is
        link_model = GrammeLinks(request["seed"], request["missing_share"])
        link_model.fit(graph, layers=request["layers"])
    link_tables = []
    for layer in link_model.layers_:
        with part(f"Looking for candidates in {layer}", 0.2 / len(link_model.layers_)):
            if asked_pairs is None:
                link_tables.append(link_model.candidates(layer, request["top"], asked_node, tell=tell_steps))
            else:
                pairs = asked_pairs[asked_pairs["layer"].isin([layer, ""])][["source", "target"]]
                link_tables.append(link_model.explained(layer, pairs))
    all_links = pd.concat(link_tables, ignore_index=True).sort_values(
        "probability", ascending=False, kind="stable", ignore_index=True
    )

    expected_counts = expected_by_layer(link_model, all_links)

    def write(config: dict[str, Any], **options: Any) -> list[str]:
        config |= request | {"explanation": link_model.explanation_}
        with part("Writing the results and the page", 0.1):
            return write_links(target, link_model, all_links, config=config, **options)

    return Analysis(
        write,
        {"explanation": link_model.explanation_, "links": len(all_links), "expected": expected_counts},
        text_table(
            ["layer", "source", "target", "probability#", "why"],
            [
                (row["layer"], row["source"], row["target"], percent(row["probability"]), row["why"])
                for row in all_links.head(10).to_dict(orient="records")
            ],
        ),
        [*expected_sentences(expected_counts), link_model.explanation_],
    )


def _read_pairs(path: Path, names: dict[str, Any], layers: list[str]) -> pd.DataFrame:
    """Pairs from a CSV file, nodes as the graph calls them; an empty layer means every layer that is asked about."""
    import pandas as pd

    if not path.is_file():
        raise DataError(f"there is no file {str(path)!r} of pairs")
    try:
        pair_table = pd.read_csv(path, dtype=str, keep_default_na=False)
    except (ValueError, UnicodeDecodeError) as error:
        raise FileFormatError(f"is no CSV file of pairs ({error})", file=path) from error

    def refuse(column: str, wrong: pd.Series, before: str, after: str = "") -> None:
        if wrong.any():
            place = int(wrong.to_numpy().argmax())
            raise FileFormatError(f"{before}{pair_table[column].iloc[place]!r}{after}", file=path, line=place + 2)

    for column in ("source", "target"):
        if column not in pair_table.columns:
            needed_columns = "pairs need the columns source and target, and perhaps layer"
            raise FileFormatError(f"has no column {column!r}; {needed_columns}", file=path, line=1)
        refuse(column, ~pair_table[column].isin(names), "there is no node ", " in the data")
        pair_table[column] = pd.Series([names[name] for name in pair_table[column]], dtype=object)
    refuse("source", pair_table["source"] == pair_table["target"], "", " is paired with itself; a pair needs two nodes")
    if "layer" not in pair_table.columns:
        pair_table["layer"] = ""
    in_unknown_layer = ~pair_table["layer"].isin([*layers, ""])
    refuse("layer", in_unknown_layer, "links of the layer ", f" are not asked about; those of {', '.join(layers)} are")
    return pair_table
