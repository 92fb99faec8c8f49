"""The page of predicted links: what it shows, as plain values, and the page made from them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from gramme.links import GrammeLinks
from gramme.links.expected import ExpectedLinks, expected_by_layer
from gramme.links.explain import percent

from .charts import bar
from .fit_page import FORMAT, VERSION
from .html import command_and_versions, escape, frame, name, page
from .network import linked_network, plain_network_section

SHOWN_LINKS = 50
SHOWN_INGREDIENTS = 8


def render_links(data: dict[str, Any]) -> str:
    """The page as text, from its data alone."""
    return page(f"Links of {data['name']}", links_body(data), data)


def links_data(
    model: GrammeLinks, links: pd.DataFrame, *, config: Mapping[str, Any]
) -> dict[str, Any]:
    """Everything the page shows; parameters as for :func:`gramme.report.result_folders.write_links`."""
    shown = links.head(SHOWN_LINKS).astype({"source": str, "target": str})
    layers = []
    for row in model.scores_.to_dict(orient="records"):
        mine = model.ingredients_[model.ingredients_["layer"] == row["layer"]]
        leading = mine.sort_values("importance", ascending=False).head(SHOWN_INGREDIENTS)
        layers.append(
            {str(key): value for key, value in row.items()}
            | {
                "best": float(mine["roc_auc"].max()),
                "ingredients": leading[["meaning", "roc_auc", "importance"]].to_dict(
                    orient="records"
                ),
            }
        )
    return {
        "format": FORMAT,
        "version": VERSION,
        "kind": "links",
        "name": str(config.get("data") or model.graph_.name or "the graph"),
        "config": dict(config),
        "nodes": model.graph_.num_nodes,
        "total": len(links),
        "links": shown.to_dict(orient="records"),
        "layers": layers,
        "explanation": model.explanation_,
        "expected": expected_by_layer(model, links),
        "missing_share": model.missing_share,
        "picture": linked_network(model.graph_, links),
    }


def links_body(data: dict[str, Any]) -> str:
    """Everything between the body tags but the data and the script."""
    sections = [
        ("links", "The links", links_section(data)),
        ("network", "The network", plain_network_section(data)),
        *(
            [("expected", "How many are links", expected_section(data))]
            if data.get("expected")
            else []
        ),
        ("sure", "How sure", sure_section(data)),
        ("why", "What speaks for a link", ingredients_section(data)),
        ("repeat", "How to repeat this", repeat_section(data)),
    ]
    asked = bool(data["config"].get("pairs"))
    what = "pairs that were asked about" if asked else "pairs without a link"
    lead = (
        f'<p class="lead">Among {data["nodes"]:,} nodes, <strong>{data["total"]:,}</strong> {what} are listed with the '
        f"probability of a link. {_expected_words(data)}{escape(data['explanation'])}</p>"
    )
    return frame(
        "links",
        data["name"],
        lead,
        sections,
        without_script="The network needs JavaScript, which is switched off here. Everything else is below.",
    )


def _expected_words(data: dict[str, Any]) -> str:
    """How many of all pairs listed are expected to be links; nothing for a page from before that was known."""
    if not data.get("expected"):
        return ""
    words = str(_expected_links(data["expected"][-1])).replace("of these", "Of these", 1)
    return f"<strong>{escape(words[:1].upper() + words[1:])}</strong>. "


def _expected_links(row: Mapping[str, Any]) -> ExpectedLinks:
    return ExpectedLinks(row["count"], row["low"], row["high"], row["shown"])


def expected_section(data: dict[str, Any]) -> str:
    """For each layer, how many of the pairs listed are expected to be links, and what that rests on."""
    rows = "".join(
        f'<tr><th scope="row">{name(row["layer"], 60) if row["layer"] is not None else "all together"}</th>'
        f'<td class="number">{row["shown"]:,}</td><td class="number">{row["count"]:.1f}</td>'
        f'<td class="number">{row["low"]:,} to {row["high"]:,}</td></tr>'
        for row in data["expected"]
    )
    return (
        f"<p>This holds if {data['missing_share']:.0%} of a layer's links are missing in the data: no data can tell "
        "how many are, so it is your assumption (<code>--missing-share</code>). How many of the pairs listed are "
        "among them is seen from edges set aside: each is looked up in the list of candidates of the network without it. Nine of "
        "ten lists hold as many links as the interval says.</p>"
        '<div class="scroll"><table><caption>Links expected among the pairs listed</caption><thead><tr>'
        '<th scope="col">Layer</th><th scope="col" class="number">Pairs listed</th>'
        '<th scope="col" class="number">Links expected</th><th scope="col" class="number">90 % interval</th></tr>'
        f"</thead><tbody>{rows}</tbody></table></div>"
    )


def links_section(data: dict[str, Any]) -> str:
    """The most probable links with their reasons."""
    if not data["links"]:
        return "<p>No pair without a link is joined by a path of at most three steps.</p>"
    rows = "".join(
        f"<tr><td>{name(row['source'], 60)}</td><td>{name(row['target'], 60)}</td>"
        f"<td>{name(row['layer'], 40)}</td>"
        f'<td class="number">{escape(percent(row["probability"]))}</td>'
        f'<td class="number">{escape(percent(row["score"]) if "score" in row else "")}</td>'
        f"<td>{escape(row['why'])}</td></tr>"
        for row in data["links"]
    )
    more = (
        f"<p>links.csv has all {data['total']:,}.</p>" if data["total"] > len(data["links"]) else ""
    )
    return (
        "<p>The probability is the chance that the pair is a link. The score compares it with random pairs: the "
        "probability if links were as frequent as unlinked pairs, which they are not.</p>"
        '<div class="scroll" tabindex="0" role="region" aria-label="Links"><table class="reasons">'
        '<caption>Most probable first</caption><thead><tr><th scope="col">From</th>'
        '<th scope="col">To</th><th scope="col">Layer</th>'
        '<th scope="col" class="number">Probability</th><th scope="col" class="number">Score</th>'
        '<th scope="col">Why</th></tr></thead>'
        f"<tbody>{rows}</tbody></table></div>{more}"
    )


def sure_section(data: dict[str, Any]) -> str:
    """How well links that were set aside are told from pairs without one."""
    rows = "".join(
        f'<tr><th scope="row">{name(layer["layer"], 60)}</th>'
        f'<td class="wide">{bar(2 * max(layer["roc_auc"] - 0.5, 0))}</td>'
        f'<td class="number">{layer["roc_auc"]:.1%}</td><td class="number">{layer["best"]:.1%}</td>'
        f'<td class="number">{layer["calibration_error"]:.1%}</td><td class="number">{layer["pairs"]:,}</td></tr>'
        for layer in data["layers"]
    )
    return (
        "<p>Edges of each layer were set aside while the evidence was gathered, and compared with as many random pairs "
        "without an edge; links in other layers stayed visible, as they are for the pairs asked about.</p>"
        '<div class="scroll"><table class="bars"><caption>How often a linked pair gets the higher probability '
        "(ROC-AUC; 50 % is guessing), by the mixture and by the best single piece of evidence, and how far "
        'probabilities are off on average, beyond chance</caption><thead><tr><th scope="col">Layer</th>'
        '<th scope="col" class="wide"><span class="sr">Bar</span></th><th scope="col" class="number">Mixture</th>'
        '<th scope="col" class="number">Best alone</th><th scope="col" class="number">Off by</th>'
        f'<th scope="col" class="number">Pairs</th></tr></thead><tbody>{rows}</tbody></table></div>'
    )


def ingredients_section(data: dict[str, Any]) -> str:
    """What the mixture of each layer relies on."""
    tables = []
    for layer in data["layers"]:
        largest = max((one["importance"] for one in layer["ingredients"]), default=0.0) or 1.0
        rows = "".join(
            f'<tr><th scope="row">{escape(one["meaning"])}</th>'
            f'<td class="wide">{bar(one["importance"] / largest)}</td>'
            f'<td class="number">{one["roc_auc"]:.1%}</td></tr>'
            for one in layer["ingredients"]
        )
        tables.append(
            f'<div class="scroll"><table class="bars"><caption>{name(layer["layer"], 60)}: how much worse the mixture '
            "gets when a piece of evidence is shuffled, and how good it is alone</caption><thead><tr>"
            '<th scope="col">Evidence</th><th scope="col" class="wide"><span class="sr">Bar</span></th>'
            f'<th scope="col" class="number">Alone</th></tr></thead><tbody>{rows}</tbody></table></div>'
        )
    return "".join(tables[:20])


def repeat_section(data: dict[str, Any]) -> str:
    """The command and the versions."""
    return command_and_versions(data["config"], f"gramme links {data['name']} --out links")
