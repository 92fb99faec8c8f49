"""The pages of ``gramme groups`` and ``gramme ask``, and the folders that they stand in."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from gramme.errors import DataError
from gramme.evaluation.learning_curve import MIN_LABELS, learning_curve
from gramme.graph import MultilayerGraph
from gramme.grouping import Groups, ask
from gramme.grouping.found_groups import STABLE_SHARE, value_words
from gramme.io.atomic import write_files

from .fit_facts import page_head
from .html import render
from .network import marked_network

NEXT_NODES, NEXT_DIVISIONS, MAX_NEXT_ENTRIES = 5, 4, 50_000
"""For the page of a fit: nodes to label next, divisions of the labels for the learning curve, and nodes, memberships
and ends of edges up to which they are looked for; both take a second there."""
SHOWN_GROUPS = 40
"""Groups, or chosen nodes, that a page lists; the tables beside it have all."""
SHOWN_NAMES = 12
"""Nodes that are named for each of them."""
CSV_NAMES = 20
"""Nodes that a cell of ``ask.csv`` names."""


def write_groups(folder: Path, found: Groups, *, config: dict[str, Any], **options: Any) -> list[str]:
    """Write the groups, the layers that support them and their page; ``options`` as for ``write_analysis``."""
    from gramme.report.result_folders import write_analysis

    tables = {"groups": found.to_frame(), "layers": found.layer_support_.reset_index()}
    return write_analysis(folder, tables, config, lambda record: render(groups_data(found, config=record)), **options)


def write_ask(
    folder: Path,
    graph: MultilayerGraph,
    chosen: pd.DataFrame,
    *,
    labelled: NDArray[np.bool_],
    curve: pd.DataFrame | None,
    config: dict[str, Any],
    **options: Any,
) -> list[str]:
    """Write the nodes that :func:`gramme.ask` chose, and their page with a learning curve; ``options`` as above."""
    from gramme.report.result_folders import write_analysis

    def page(record: dict[str, Any]) -> str:
        return render(ask_data(graph, chosen, labelled=labelled, curve=curve, config=record))

    return write_analysis(folder, {"ask": ask_table(chosen)}, config, page, **options)


def write_groups_page(found: Groups, path: Any) -> Path:
    """Write the page of some groups alone; called as ``groups.report(path)``."""
    target = Path(path)
    text = render(groups_data(found, config={"data": found.graph.name or "a graph"}))
    write_files({target: text}, overwrite=True)
    return target


def ask_table(chosen: pd.DataFrame) -> pd.DataFrame:
    """The table of ``ask.csv``: node, an empty label to fill in, why, and whom it stands for in words."""
    return pd.DataFrame(
        {
            "node": chosen["node"],
            "label": "",
            "why": chosen["why"],
            "stands_for": [_in_words(names, CSV_NAMES) for names in chosen["stands_for"]],
        }
    )


def _in_words(names: list[Any], most: int) -> str:
    others = names[1:]
    text = "; ".join(str(one) for one in others[:most])
    more = len(others) - most
    return f"{text}; and {more:,} more" if more > 0 else text


def groups_data(found: Groups, *, config: Mapping[str, Any]) -> dict[str, Any]:
    """Everything the page of some groups shows."""
    graph, frequent_values = found.graph, found.over_represented_
    group_facts = []
    for group in range(min(found.count_, SHOWN_GROUPS)):
        member_positions = np.flatnonzero(found.labels_ == group)
        member_stability = found.stability_.to_numpy()[member_positions]
        shown_members = member_positions[np.argsort(-member_stability, kind="stable")][:SHOWN_NAMES]
        group_values = frequent_values[frequent_values["group"] == group].head(4)
        group_facts.append(
            {
                "group": group,
                "nodes": int(member_positions.size),
                "stability": float(member_stability.mean()),
                "words": [value_words(row) for _, row in group_values.iterrows()],
                "members": [str(graph.nodes[one]) for one in shown_members],
            }
        )
    group_codes = np.where(found.isolated_, 0, found.labels_ + 1)
    layer_support = found.layer_support_
    return page_head("groups", config, graph.name) | {
        "nodes": graph.num_nodes,
        "count": found.count_,
        "isolated": int(found.isolated_.sum()),
        "verdict": found.verdict,
        "has_groups": found.has_groups_,
        "stable_share": STABLE_SHARE,
        "seed_agreement": found.seed_agreement_,
        "resampled_agreement": found.resampled_agreement_,
        "overlap": found.overlap_,
        "groups": group_facts,
        "layers": [
            {"name": str(layer), **{key: float(value) for key, value in row.items()}}
            for layer, row in layer_support.iterrows()
        ],
        "picture": marked_network(graph, group_codes, [f"group {one}" for one in range(found.count_)]),
    }


def ask_data(
    graph: MultilayerGraph,
    chosen: pd.DataFrame,
    *,
    labelled: NDArray[np.bool_],
    curve: pd.DataFrame | None,
    config: Mapping[str, Any],
) -> dict[str, Any]:
    """Everything the page of chosen nodes shows; parameters as for :func:`write_ask`."""
    chosen_codes = np.zeros(graph.num_nodes, dtype=np.int64)
    for chosen_place, names in enumerate(chosen["stands_for"]):
        chosen_codes[graph.positions(names)] = chosen_place + 1
    asked_positions = graph.positions(chosen["node"])
    return page_head("ask", config, graph.name) | {
        "nodes": graph.num_nodes,
        "labelled": int(labelled.sum()),
        "covered": int((chosen_codes > 0).sum()),
        "count": len(chosen),
        "chosen": _chosen(chosen.head(SHOWN_GROUPS)),
        "curve": None if curve is None else curve.to_dict(orient="records"),
        "picture": marked_network(
            graph, chosen_codes, [str(one) for one in chosen["node"]], marked=asked_positions, labelled=labelled
        ),
    }


def _chosen(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Chosen nodes with how many they stand for, and some of these."""
    pairs = zip(table["node"], table["stands_for"], strict=True)
    return [
        {"node": str(node), "size": len(names), "some": [str(one) for one in names[1 : SHOWN_NAMES + 1]]}
        for node, names in pairs
    ]


def next_labels(graph: MultilayerGraph, labels: NDArray[np.object_], known: NDArray[np.bool_]) -> dict[str, Any] | None:
    """Whom to label next, and what that would bring, for the page of a fit; None for large graphs and complete labels.

    ``labels`` are those that were learned from, None elsewhere; ``known`` says which nodes have one, also set aside.
    """
    unlabelled_count = int((~known).sum())
    if not unlabelled_count or graph.num_entries > MAX_NEXT_ENTRIES:
        return None
    bare_graph = graph.replace(labels=None)
    label_marks = ["known" if one else None for one in known.tolist()]
    try:
        chosen_nodes = ask(bare_graph, label_marks, count=min(NEXT_NODES, unlabelled_count))
        label_curve = None
        if known.sum() >= MIN_LABELS:
            label_curve = learning_curve(bare_graph, labels, divisions=NEXT_DIVISIONS)
    except DataError:  # no ties, or labels of one class: nothing to say
        return None
    return {
        "chosen": _chosen(chosen_nodes),
        "curve": None if label_curve is None else label_curve.to_dict(orient="records"),
    }
