"""Which groups of a layer mattered: the venues, the terms, the answers through which most of the predictions came.

Why a node is predicted as it is adds up over the groups it is in (:mod:`gramme.methods.reasons`). Added up over the
nodes, without regard to sign, that says how much of all log-odds came through a group. With regard to sign it says for
which class the group speaks: what it adds to a class where that is predicted, less what it adds against it where that
is the runner-up, and less what a membership of the layer adds on average, which is all groups' doing.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from gramme.graph import MultilayerGraph
from gramme.methods.hearing import GROUPS
from gramme.methods.reasons import Reasons
from gramme.report.page.html import name, shorten, soft_name

MAX_LAYERS = 12
"""Layers with a row, those through which most came."""
MAX_GROUPS = 6
"""Groups named in a layer."""

_LEAST_SHARE = 0.02  # of what came through a layer, below which a group is not named
_MAX_NAME_CHARACTERS = 60


def leading_groups(
    found: Reasons | None, graph: MultilayerGraph, classes: list[str]
) -> dict[str, Any] | None:
    """The groups through which most of the predictions came, by layer; None if a method does not tell.

    Parameters
    ----------
    found : Reasons or None
        Why the nodes of a page are predicted as they are.
    graph : MultilayerGraph
        As the model saw it.
    classes : list of str
    """
    if found is None:
        return None
    through: dict[str, sp.csr_array] = {}
    for part in found.parts:
        for one in part.through:
            if one.kind == GROUPS:
                before = through.get(one.layer)
                through[one.layer] = one.parts if before is None else before + one.parts
    layers: list[dict[str, Any]] = []
    for layer, parts in through.items():
        amount = np.asarray(abs(parts).sum(axis=0)).ravel()
        total = float(amount.sum())
        if not total > 0:
            continue
        speaks = _for_classes(parts, found, len(classes))
        names = graph.layers[layer].group_names
        first = np.argsort(-amount, kind="stable")[:MAX_GROUPS]
        layers.append(
            {
                "layer": layer,
                "groups": int((amount > 0).sum()),
                "amount": total / max(found.rows.size, 1),
                "leading": [
                    {
                        "group": shorten(names[place], _MAX_NAME_CHARACTERS),  # type: ignore[index]
                        "share": float(amount[place] / total),
                        "class": classes[int(speaks[place].argmax())],
                    }
                    for place in first.tolist()
                    if amount[place] >= _LEAST_SHARE * total
                ],
            }
        )
    layers.sort(key=lambda row: -row["amount"])
    return {"layers": layers[:MAX_LAYERS], "total_layers": len(layers)} if layers else None


def _for_classes(parts: sp.csr_array, found: Reasons, classes: int) -> np.ndarray:
    """What each group adds to each class, more than the layer's groups do on average, (groups, classes)."""
    rows = np.arange(found.rows.size)
    ones = np.ones(rows.size)
    shape = (rows.size, classes)
    sign = sp.csr_array((ones, (rows, found.predicted)), shape=shape) - sp.csr_array(
        (ones, (rows, found.against)), shape=shape
    )
    added = np.asarray((parts.T @ sign).todense())
    members = np.bincount(parts.tocoo().col, minlength=parts.shape[1])
    mean = added.sum(axis=0) / max(int(members.sum()), 1)
    found_more: np.ndarray = added - members[:, None] * mean
    return found_more


def leading_groups_section(data: dict[str, Any]) -> str:
    """A row per layer with its leading groups; nothing where there are none."""
    found = data.get("leading_groups")
    if not found or not found["layers"]:
        return ""
    rows = []
    for row in found["layers"]:
        if row["leading"]:
            told = ", ".join(
                f"<strong>{name(one['group'], 60)}</strong> {one['share']:.0%} "
                f'<span class="faint">for {name(one["class"], 40)}</span>'
                for one in row["leading"]
            )
        else:
            told = '<span class="faint">no single one: each has less than 2%</span>'
        rows.append(
            f'<tr><th scope="row">{soft_name(row["layer"], 60)}</th><td>{told}</td>'
            f'<td class="number">{row["groups"]:,}</td><td class="number">{row["amount"]:.2f}</td></tr>'
        )
    some = ""
    if len(rows) < found["total_layers"]:
        some = f" Shown are the {len(rows)} layers through which most came, of {found['total_layers']:,}."
    return (
        "<h3>Which groups mattered</h3><p>The log-odds of a prediction add up over the groups that a node is in. Named "
        "are the groups of each layer through which most of the log-odds came, over all nodes and whichever way they "
        "spoke: their share of the layer’s, and the class that each speaks for more than the layer’s other groups do. "
        f"The last column is how much came through the layer for the mean node.{some}</p>"
        '<div class="scroll" tabindex="0" role="region" aria-label="Groups that mattered"><table class="groups">'
        '<caption class="sr">Groups that mattered, by layer</caption><thead><tr><th scope="col">Layer</th>'
        '<th scope="col">Leading groups</th><th scope="col" class="number">Groups</th>'
        '<th scope="col" class="number">Log-odds per node</th></tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )
