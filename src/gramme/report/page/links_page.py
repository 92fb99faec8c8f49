"""The page of predicted links: what it shows, as plain values, and the page made from them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from gramme.links import GrammeLinks
from gramme.links.expected import ExpectedLinks, expected_by_layer
from gramme.links.explain import BRIDGE, CLOSES

from .fit_facts import page_head
from .html import for_templates
from .network import linked_network

SHOWN_LINKS = 50
SHOWN_INGREDIENTS = 8
SHOWN_PER_CHANGE = 10


def links_data(model: GrammeLinks, links: pd.DataFrame, *, config: Mapping[str, Any]) -> dict[str, Any]:
    """Everything the page shows; parameters as for :func:`gramme.report.result_folders.write_links`."""
    shown_links = links.head(SHOWN_LINKS).astype({"source": str, "target": str})
    layer_facts = []
    for row in model.scores_.to_dict(orient="records"):
        layer_ingredients = model.ingredients_[model.ingredients_["layer"] == row["layer"]]
        leading_ingredients = layer_ingredients.sort_values("importance", ascending=False).head(SHOWN_INGREDIENTS)
        layer_facts.append(
            {str(key): value for key, value in row.items()}
            | {
                "best": float(layer_ingredients["roc_auc"].max()),
                "ingredients": leading_ingredients[["meaning", "roc_auc", "importance"]].to_dict(orient="records"),
            }
        )
    return page_head("links", config, model.graph_.name) | {
        "nodes": model.graph_.num_nodes,
        "total": len(links),
        "links": shown_links.to_dict(orient="records"),
        "changes": _by_change(links.astype({"source": str, "target": str})),
        "layers": layer_facts,
        "explanation": model.explanation_,
        "expected": expected_by_layer(model, links),
        "missing_share": model.missing_share,
        "picture": linked_network(model.graph_, links),
    }


def _by_change(links: pd.DataFrame) -> list[dict[str, Any]]:
    """The pairs listed, by what a link would change: how many there are, how many links among them, and the first."""
    change_kinds = (
        ("Bridges between parts of the network", links["change"] == BRIDGE),
        ("Closed triangles within a part", links["change"].str.startswith(CLOSES)),
        ("Shorter paths within a part", ~links["change"].str.startswith((BRIDGE, CLOSES))),
    )
    return [
        {
            "kind": kind,
            "pairs": int(of_this_kind.sum()),
            "expected": float(links.loc[of_this_kind, "probability"].sum()),
            "links": links[of_this_kind].head(SHOWN_PER_CHANGE).to_dict(orient="records"),
        }
        for kind, of_this_kind in change_kinds
        if of_this_kind.any()
    ]


@for_templates
def expected_links(row: Mapping[str, Any]) -> str:
    """How many of some pairs are expected to be links, in words."""
    return str(ExpectedLinks(row["count"], row["low"], row["high"], row["shown"]))
