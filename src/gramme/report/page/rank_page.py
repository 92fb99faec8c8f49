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
    repeated = {name for others in data.get("coinciding", {}).values() for name in others}
    differing = [one for one in data["measures"] if one["name"] not in repeated]
    return sum(one["importance"] for one in differing) or len(differing), bool(repeated)


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
    measures = [name for name in ranks.columns if name in MEASURES]
    table = ranks[[f"{name}_rank" for name in measures]].to_numpy()
    order = leading_nodes(ranks)
    return page_head("rank", config, graph.name) | {
        "nodes": graph.num_nodes,
        "layers": [
            {"name": name, "edges": layer.num_edges, "influence": float(layers[name])}
            for name, layer in with_coupling_layers(graph).layers.items()
        ],
        "measures": [_about(name) for name in measures],
        "leading": [_row(ranks, measures, place) for place in order[:SHOWN_NODES]],
        "coinciding": coinciding_measures(ranks),
        "agreement": _agreement(table),
        "gaps": _gaps(ranks, distinct_importances(ranks)),
        "seeds": None if seeds is None else _seeds(seeds),
        "picture": ranked_network(graph, order, {name: ranks[f"{name}_rank"].to_numpy() for name in measures}),
    }


def _about(name: str) -> dict[str, Any]:
    measure = MEASURES[name]
    return {"name": name, "meaning": measure.meaning, "importance": measure.importance}


def _row(ranks: pd.DataFrame, measures: list[str], place: int) -> dict[str, Any]:
    found = {}
    for measure in measures:
        rank = int(ranks[f"{measure}_rank"].iloc[place])
        low = ranks.get(f"{measure}_rank_low")
        high = ranks.get(f"{measure}_rank_high")
        found[measure] = {
            "rank": rank,
            "tied": bool((ranks[f"{measure}_rank"] == rank).sum() > 1),
            "low": None if low is None else int(low.iloc[place]),
            "high": None if high is None else int(high.iloc[place]),
        }
    mean = mean_ranks(ranks)
    return {
        "node": str(ranks.index[place]),
        "ranks": found,
        "mean": float(mean[place]),
        "tied": bool(np.isclose(mean, mean[place]).sum() > 1),
    }


def _agreement(table: np.ndarray) -> list[list[float | None]]:
    """Spearman's correlation of each pair of measures; None where one of them ranks all nodes alike."""
    count = table.shape[1]
    found: list[list[float | None]] = [[1.0] * count for _ in range(count)]
    for one in range(count):
        for other in range(one):
            alike = np.ptp(table[:, one]) == 0 or np.ptp(table[:, other]) == 0
            value = None if alike else float(spearmanr(table[:, one], table[:, other]).statistic)
            found[one][other] = found[other][one] = value
    return found


def _gaps(ranks: pd.DataFrame, measures: list[str]) -> list[dict[str, Any]]:
    """The nodes about which measures disagree most, among those that one of them puts at the top."""
    if len(measures) < 2:
        return []
    table = ranks[[f"{measure}_rank" for measure in measures]].to_numpy()
    # one of many that tie is not at the top: the middle of the places they share decides
    middle = middle_ranks(ranks, measures)
    top = np.flatnonzero(middle.min(axis=1, initial=len(table)) <= max(10, len(table) // 20))
    width = np.ptp(middle[top], axis=1)
    chosen = top[np.argsort(-width, kind="stable")][:SHOWN_GAPS]
    return [
        {
            "node": str(ranks.index[place]),
            "best": measures[int(middle[place].argmin())],
            "best_rank": int(table[place, middle[place].argmin()]),
            "worst": measures[int(middle[place].argmax())],
            "worst_rank": int(table[place, middle[place].argmax()]),
        }
        for place in chosen
        if np.ptp(table[place]) > 0
    ]


def _seeds(seeds: pd.DataFrame) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = seeds.to_dict(orient="records")  # type: ignore[assignment]
    return [row | {"node": str(row["node"])} for row in rows]
