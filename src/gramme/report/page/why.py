"""Why each node is predicted as it is, in a form small enough for a page: the parts of its log-odds."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from gramme.graph import MultilayerGraph
from gramme.methods import NodeClassifier
from gramme.methods.auto.ingredients import INGREDIENTS
from gramme.methods.hearing import NEIGHBOURS
from gramme.methods.reasons import Part, Reasons, reasons
from gramme.report.page.pack import pack_floats, pack_integers

MAX_THROUGH_PER_PART = 6
"""Neighbours and groups of a node that a page holds for each ingredient."""
MAX_PAGE_THROUGH = 400_000  # of all nodes together

Places = NDArray[np.int64]


def page_reasons(model: NodeClassifier, graph: MultilayerGraph, chosen: Places) -> Reasons | None:
    """Why the nodes that a page shows are predicted as they are; None without nodes, or with one class only."""
    if not chosen.size or len(model.classes_) < 2:
        return None
    return reasons(model, graph, chosen)


def why(
    model: NodeClassifier, graph: MultilayerGraph, chosen: Places, found: Reasons | None
) -> dict[str, Any] | None:
    """The reasons of the nodes that a page shows, None if there are none to show.

    Each part has ``value``, what it adds to the log-odds of the predicted class against the runner-up, and the largest
    of what that came through: ``layer``, ``thing`` (the neighbour's place on the page, or the group's, counted from 1;
    0 for a node that is not on the page) and ``amount``.
    """
    if found is None:
        return None
    most = int(
        np.clip(MAX_PAGE_THROUGH // (chosen.size * len(found.parts)), 1, MAX_THROUGH_PER_PART)
    )
    layers = list(graph.layers)
    names = {layer: _page_numbers(graph, layer, chosen) for layer in layers}
    inner = getattr(model, "models_", {})
    return {
        "against": pack_integers(found.against + 1),
        "layers": layers,
        "parts": [
            {
                "name": part.name,
                "words": INGREDIENTS[part.name].in_words(inner[part.name])
                if part.name in inner
                else part.name,
                "weight": part.weight,
                "value": pack_floats(part.log_odds),
            }
            | _largest(part, layers, names, most)
            for part in found.parts
        ],
    }


def _page_numbers(graph: MultilayerGraph, name: str, chosen: Places) -> Places:
    """The number on the page of each neighbour or group of a layer, counted from 1; 0 for those that are not there."""
    layer = graph.layers[name]
    incidence = layer.incidence()
    if incidence is not None:
        used = np.unique(incidence[chosen].indices).astype(np.int64)
        numbers = np.zeros(incidence.shape[1], dtype=np.int64)
    else:
        used = chosen
        numbers = np.zeros(graph.num_nodes, dtype=np.int64)
    numbers[used] = np.arange(1, used.size + 1)
    return numbers


def _largest(part: Part, layers: list[str], names: dict[str, Places], most: int) -> dict[str, Any]:
    """The largest of what a part came through, for each row."""
    rows, places, things, amounts = [], [], [], []
    for one in part.through:
        entries = sp.coo_array(one.parts)
        kept = entries.data != 0
        rows.append(entries.row[kept])
        places.append(np.full(int(kept.sum()), layers.index(one.layer)))
        things.append(names[one.layer][entries.col[kept]])
        amounts.append(entries.data[kept])
    if not rows:
        return {"counts": None}
    row, amount = np.concatenate(rows), np.concatenate(amounts)
    place, thing = np.concatenate(places), np.concatenate(things)
    order = np.lexsort((-np.abs(amount), row))
    row, amount, place, thing = row[order], amount[order], place[order], thing[order]
    starts = np.searchsorted(row, np.arange(part.log_odds.size))
    top = np.arange(row.size) - starts[row] < most
    return {
        "counts": pack_integers(np.bincount(row[top], minlength=part.log_odds.size)),
        "layer": pack_integers(place[top]),
        "thing": pack_integers(thing[top]),
        "amount": pack_floats(amount[top]),
        "kinds": {one.layer: one.kind == NEIGHBOURS for one in part.through},
    }
