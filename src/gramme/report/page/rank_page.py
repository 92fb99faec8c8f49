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
from gramme.ranking.rank_nodes import leading_nodes
from gramme.report.page.fit_page import FORMAT, VERSION
from gramme.report.page.html import page
from gramme.report.page.plain_network import ranked_network
from gramme.report.page.rank_sections import rank_body

SHOWN_NODES = 20
SHOWN_GAPS = 10


def render_rank(data: dict[str, Any]) -> str:
    """The page as text, from its data alone."""
    return page(f"Who matters in {data['name']}", rank_body(data), data)


def rank_data(
    graph: MultilayerGraph,
    ranks: pd.DataFrame,
    *,
    seeds: pd.DataFrame | None,
    layers: pd.Series,
    config: Mapping[str, Any],
) -> dict[str, Any]:
    """Everything the page of a ranking shows; parameters as for :func:`gramme.report.rank_folder.write_ranks`."""
    measures = [name for name in ranks.columns if name in MEASURES]
    table = ranks[[f"{name}_rank" for name in measures]].to_numpy()
    order = leading_nodes(ranks)
    return {
        "format": FORMAT,
        "version": VERSION,
        "kind": "rank",
        "name": str(config.get("data") or graph.name or "the graph"),
        "config": dict(config),
        "nodes": graph.num_nodes,
        "layers": [
            {"name": name, "edges": layer.num_edges, "influence": float(layers[name])}
            for name, layer in with_coupling_layers(graph).layers.items()
        ],
        "measures": [_about(name) for name in measures],
        "leading": [_row(ranks, measures, place) for place in order[:SHOWN_NODES]],
        "agreement": _agreement(table),
        "gaps": _gaps(ranks, [name for name in measures if MEASURES[name].importance]),
        "seeds": None if seeds is None else _seeds(seeds),
        "picture": ranked_network(
            graph, order, {name: ranks[f"{name}_rank"].to_numpy() for name in measures}
        ),
    }


def _about(name: str) -> dict[str, Any]:
    measure = MEASURES[name]
    return {"name": name, "meaning": measure.meaning, "importance": measure.importance}


def _row(ranks: pd.DataFrame, measures: list[str], place: int) -> dict[str, Any]:
    found = {}
    for name in measures:
        rank = int(ranks[f"{name}_rank"].iloc[place])
        low = ranks.get(f"{name}_rank_low")
        high = ranks.get(f"{name}_rank_high")
        found[name] = {
            "rank": rank,
            "low": None if low is None else int(low.iloc[place]),
            "high": None if high is None else int(high.iloc[place]),
        }
    return {"node": str(ranks.index[place]), "ranks": found}


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
    table = ranks[[f"{name}_rank" for name in measures]].to_numpy()
    top = np.flatnonzero(table.min(axis=1, initial=len(table)) <= max(10, len(table) // 20))
    width = np.ptp(table[top], axis=1)
    chosen = top[np.argsort(-width, kind="stable")][:SHOWN_GAPS]
    return [
        {
            "node": str(ranks.index[place]),
            "best": measures[int(table[place].argmin())],
            "best_rank": int(table[place].min()),
            "worst": measures[int(table[place].argmax())],
            "worst_rank": int(table[place].max()),
        }
        for place in chosen
        if np.ptp(table[place]) > 0
    ]


def _seeds(seeds: pd.DataFrame) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = seeds.to_dict(orient="records")  # type: ignore[assignment]
    return [row | {"node": str(row["node"])} for row in rows]
