"""``gramme rank``: who matters over all layers. What takes long to import is imported when it is needed."""

# ruff: noqa: RUF009  # `option` makes a field

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from gramme._progress import part
from gramme.errors import DataError

from .console import loading, note, text_table
from .options import Data, Output, Reading, listed, option, takes_options
from .progress import tell_steps

if TYPE_CHECKING:
    import pandas as pd

    from gramme.graph import MultilayerGraph

    from .analysis import Analysis

MAX_SPREAD_ENTRIES = 3_000_000
"""Edges and memberships up to which the spread of the ranks is computed; it takes 20 times as long as the ranks."""
SHOWN_MEASURES = ("degree", "pagerank", "eigenvector", "katz", "multirank", "voterank")


@dataclass(frozen=True)
class RankOptions:
    """How to rank, and how news spreads."""

    measures: str | None = option("Which measures, like pagerank,voterank; the usual ones if not given.")
    layers: list[str] = option("Use this layer only; may be repeated.", "--layer", default=[])
    negative: list[str] = option(
        "Leave out this layer, whose edges are negative, like dislike; guessed from names if not given. May be "
        'repeated; --negative "" keeps all layers.',
        default=[],
    )
    per_layer: bool = option("Add the measures of each layer alone.", default=False)
    coupling: float = option("Weight of the step from one layer to another.", default=1.0, min=0.0)
    restart: list[str] = option("Rank by PageRank around this node; may be repeated.", "--near", default=[])
    seeds: int = option("How many nodes to choose for spreading news; 0 for none.", default=5, min=0)
    model: str = option("How news spreads: cascade or threshold.", "--spreading", default="cascade")
    probability: float = option("Chance that news passes along an edge.", default=0.1, min=0.0, max=1.0)
    spread: bool = option("Whether to find out how sure the ranks are.", "--spread/--no-spread", default=True)


@takes_options
def rank(context: typer.Context, data: Data, output: Output, asked: RankOptions, *, read: Reading) -> None:
    """Say how much each node of DATA matters over all layers, how certain that is, and whom to tell first.

    Writes ranks.csv (a row per node: each measure, its rank, and between which ranks it moves), seeds.csv, layers.csv,
    report.html and config.json to the folder.
    """
    with loading():
        from gramme.ranking.influence import check_model
        from gramme.ranking.rank_nodes import chosen_measures

        from .analysis import analyse

    rank_request = asdict(asked) | {
        "measures": listed(None if asked.measures is None else [asked.measures]),
        "negative": asked.negative or None,
        "seed": output.seed,
    }
    layer_names = rank_request.pop("layers")
    chosen_measures(rank_request["measures"])
    check_model(asked.model)
    analyse(
        lambda graph: _rank_nodes(graph, output.target, rank_request), data, read, output, context, layers=layer_names
    )


def _rank_nodes(graph: MultilayerGraph, target: Path, request: dict[str, Any]) -> Analysis:
    """Rank, find out how sure that is, and choose seeds."""
    from gramme.ranking import MEASURES, layer_influences, rank
    from gramme.ranking.influence import easy_choice
    from gramme.ranking.rank_nodes import coinciding_measures, leading_nodes, num_steps, tied, without_negative
    from gramme.report.page.html import sentences
    from gramme.report.result_folders import write_ranks

    from .analysis import Analysis, named_nodes

    graph = without_negative(graph, request["negative"])
    entry_count = sum(layer.num_entries for layer in graph.layers.values())
    with_spread = request["spread"] and entry_count <= MAX_SPREAD_ENTRIES
    if request["spread"] and not with_spread:
        note(
            f"with {entry_count:,} edges and memberships, how sure the ranks are is left out "
            f"(it is computed up to {MAX_SPREAD_ENTRIES:,})"
        )
    # counted in rounds of all measures; choosing seeds takes about four, the layers and the page one each
    rank_rounds = 1 + request["per_layer"] + (sum(num_steps(graph)) if with_spread else 0)
    one_round = 1 / (rank_rounds + (4 if request["seeds"] else 0) + 2)
    with part("Ranks", rank_rounds * one_round):
        ranks = rank(
            graph,
            request["measures"],
            negative=(),
            coupling=request["coupling"],
            per_layer=request["per_layer"],
            restart=named_nodes(graph, request["restart"]) if request["restart"] else None,
            spread=with_spread,
            random_state=request["seed"],
        )
    with part("Whom to tell first", 4 * one_round if request["seeds"] else 0.0):
        chosen_seeds = _seeds(graph, request)
    with part("Influence of the layers", one_round):
        layer_influence = layer_influences(graph)

    def write(config: dict[str, Any], **options: Any) -> list[str]:
        with part("Writing the results and the page", one_round):
            return write_ranks(
                target, graph, ranks, seeds=chosen_seeds, layers=layer_influence, config=config | request, **options
            )

    leading_positions = leading_nodes(ranks)[:10]
    measure_names = [name for name in ranks.columns if name in MEASURES]
    shown_measures = [name for name in SHOWN_MEASURES if name in measure_names] or measure_names[: len(SHOWN_MEASURES)]
    shown_measures = [name for name in shown_measures if name in coinciding_measures(ranks)] or shown_measures
    shared_ranks = {name: tied(ranks[f"{name}_rank"].to_numpy()) for name in shown_measures}
    rank_rows = [
        [ranks.index[node]]
        + [
            f"{int(ranks[f'{name}_rank'].iloc[node]):,}{'=' if shared_ranks[name][node] else ''}"
            for name in shown_measures
        ]
        for node in leading_positions
    ]
    seed_facts = (
        None
        if chosen_seeds is None
        else {
            "names": [nodes.tolist() for _, nodes in chosen_seeds.groupby("order", sort=False)["node"]],
            "reach": chosen_seeds.iloc[-1].to_dict(),
            "easy": easy_choice(chosen_seeds["reach"].iloc[0], graph.num_nodes, request["model"]),
        }
    )
    script_record = {"nodes": graph.num_nodes, "leading": [row[0] for row in rank_rows]}
    rank_table = text_table(["rank by", *(f"{name}#" for name in shown_measures)], rank_rows)
    return Analysis(write, script_record, rank_table, sentences("seeds", seed_facts))


def _seeds(graph: MultilayerGraph, request: dict[str, Any]) -> pd.DataFrame | None:
    from gramme.ranking import influence

    if not request["seeds"]:
        return None
    try:
        return influence(
            graph,
            min(request["seeds"], graph.num_nodes),
            model=request["model"],
            probability=request["probability"],
            random_state=request["seed"],
            tell=tell_steps,
        )
    except DataError as error:
        if "more than the" not in str(error):
            raise
        note(f"no seeds are chosen: {error}")
        return None
