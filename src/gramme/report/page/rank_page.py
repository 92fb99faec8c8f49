"""The page of a ranking: what it shows, as plain values, and the page made from them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import spearmanr

from gramme.graph import MultilayerGraph
from gramme.graph.coupling import with_coupling_layers
from gramme.ranking import MEASURES
from gramme.ranking.influence import easy_choice
from gramme.ranking.rank_nodes import coinciding_measures, distinct_importances, leading_nodes, mean_ranks, middle_ranks

from .fit_facts import page_head
from .html import for_templates
from .network import ranked_network

SHOWN_NODES = 20
SHOWN_GAPS = 10


@for_templates
def telling_measures(data: Mapping[str, Any]) -> tuple[int, bool]:
    """How many measures the mean rank is over, and whether some are left out since others say the same."""
    repeated_measures = {name for others in data.get("coinciding", {}).values() for name in others}
    differing_measures = [one for one in data["measures"] if one["name"] not in repeated_measures]
    return sum(one["importance"] for one in differing_measures) or len(differing_measures), bool(repeated_measures)


for_templates(easy_choice)


def rank_data(
    graph: MultilayerGraph,
    ranks: pd.DataFrame,
    *,
    seeds: pd.DataFrame | None,
    layers: pd.Series,
    config: Mapping[str, Any],
) -> dict[str, Any]:
    """Everything the page of a ranking shows; parameters as for :func:`gramme.report.result_folders.write_ranks`."""
    measure_names = [name for name in ranks.columns if name in MEASURES]
    rank_values = ranks[[f"{name}_rank" for name in measure_names]].to_numpy()
    node_order = leading_nodes(ranks)
    return page_head("rank", config, graph.name) | {
        "nodes": graph.num_nodes,
        "layers": [
            {"name": name, "edges": layer.num_edges, "influence": float(layers[name])}
            for name, layer in with_coupling_layers(graph).layers.items()
        ],
        "measures": [_about(name) for name in measure_names],
        "leading": [_row(ranks, measure_names, place) for place in node_order[:SHOWN_NODES]],
        "coinciding": coinciding_measures(ranks),
        "agreement": _agreement(rank_values),
        "gaps": _gaps(ranks, distinct_importances(ranks)),
        "seeds": None if seeds is None else _seeds(seeds),
        "picture": ranked_network(
            graph, node_order, {name: ranks[f"{name}_rank"].to_numpy() for name in measure_names}
        ),
    }


def _about(name: str) -> dict[str, Any]:
    measure = MEASURES[name]
    return {"name": name, "meaning": measure.meaning, "importance": measure.importance}


def _row(ranks: pd.DataFrame, measures: list[str], place: int) -> dict[str, Any]:
    ranks_by_measure = {}
    for measure in measures:
        rank = int(ranks[f"{measure}_rank"].iloc[place])
        lowest_ranks = ranks.get(f"{measure}_rank_low")
        highest_ranks = ranks.get(f"{measure}_rank_high")
        ranks_by_measure[measure] = {
            "rank": rank,
            "tied": bool((ranks[f"{measure}_rank"] == rank).sum() > 1),
            "low": None if lowest_ranks is None else int(lowest_ranks.iloc[place]),
            "high": None if highest_ranks is None else int(highest_ranks.iloc[place]),
        }
    mean_rank_values = mean_ranks(ranks)
    return {
        "node": str(ranks.index[place]),
        "ranks": ranks_by_measure,
        "mean": float(mean_rank_values[place]),
        "tied": bool(np.isclose(mean_rank_values, mean_rank_values[place]).sum() > 1),
    }


def _agreement(table: np.ndarray) -> list[list[float | None]]:
    """Spearman's correlation of each pair of measures; None where one of them ranks all nodes alike."""
    measure_count = table.shape[1]
    correlations: list[list[float | None]] = [[1.0] * measure_count for _ in range(measure_count)]
    for one in range(measure_count):
        for other in range(one):
            ranks_all_alike = np.ptp(table[:, one]) == 0 or np.ptp(table[:, other]) == 0
            value = None if ranks_all_alike else float(spearmanr(table[:, one], table[:, other]).statistic)
            correlations[one][other] = correlations[other][one] = value
    return correlations


def _gaps(ranks: pd.DataFrame, measures: list[str]) -> list[dict[str, Any]]:
    """The nodes about which measures disagree most, among those that one of them puts at the top."""
    if len(measures) < 2:
        return []
    rank_values = ranks[[f"{measure}_rank" for measure in measures]].to_numpy()
    # one of many that tie is not at the top: the middle of the places they share decides
    middle_rank_values = middle_ranks(ranks, measures)
    top_nodes = np.flatnonzero(
        middle_rank_values.min(axis=1, initial=len(rank_values)) <= max(10, len(rank_values) // 20)
    )
    rank_ranges = np.ptp(middle_rank_values[top_nodes], axis=1)
    shown_nodes = top_nodes[np.argsort(-rank_ranges, kind="stable")][:SHOWN_GAPS]
    return [
        {
            "node": str(ranks.index[place]),
            "best": measures[int(middle_rank_values[place].argmin())],
            "best_rank": int(rank_values[place, middle_rank_values[place].argmin()]),
            "worst": measures[int(middle_rank_values[place].argmax())],
            "worst_rank": int(rank_values[place, middle_rank_values[place].argmax()]),
        }
        for place in shown_nodes
        if np.ptp(rank_values[place]) > 0
    ]


def _seeds(seeds: pd.DataFrame) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = seeds.to_dict(orient="records")  # type: ignore[assignment]
    return [row | {"node": str(row["node"])} for row in rows]
