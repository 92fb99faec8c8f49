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
from gramme.ranking.rank_nodes import (
    coinciding_measures,
    distinct_importances,
    leading_nodes,
    mean_ranks,
    middle_ranks,
)

from .charts import bar
from .fit_page import FORMAT, VERSION
from .html import command_and_versions, escape, frame, name, page, shorten
from .network import plain_network_section, ranked_network

# The sections of a ranking's page: who matters, where measures disagree, whom to tell first,
# which layers lead.


_WIDTH, _ROW, _DRAWN = 420, 22, 12


def rank_body(data: dict[str, Any]) -> str:
    """Everything between the body tags but the data and the script."""
    sections = [
        ("leading", "Who matters", leading_section(data)),
        ("network", "The network", plain_network_section(data)),
        ("sure", "How sure the ranks are", intervals_section(data)),
        ("disagree", "Where measures disagree", disagreement_section(data)),
        ("seeds", "Whom to tell first", seeds_section(data)),
        ("layers", "Which layers lead", layers_section(data)),
        ("repeat", "The measures, and how to repeat this", repeat_section(data)),
    ]
    return frame(
        "ranking",
        data["name"],
        _summary(data),
        sections,
        without_script="The network needs JavaScript, which is switched off here. Everything else is below.",
    )


def _summary(data: dict[str, Any]) -> str:
    first = data["leading"][0]["node"] if data["leading"] else ""
    layers = len(data["layers"])
    repeated = {name for others in data.get("coinciding", {}).values() for name in others}
    differ = [one for one in data["measures"] if one["name"] not in repeated]
    telling = sum(one["importance"] for one in differ) or len(differ)
    over = (
        "all of them"
        if telling == len(data["measures"])
        else f"the {telling} that tell importance and differ here"
        if repeated
        else f"the {telling} that tell importance"
    )
    alike = sum(row.get("mean") == data["leading"][0].get("mean") for row in data["leading"])
    others = f", level with {alike - 1} more" if data["leading"] and alike > 1 else ""
    return (
        f'<p class="lead"><strong>{data["nodes"]:,}</strong> nodes in {layers:,} '
        f"{'layer' if layers == 1 else 'layers'} were ranked by {len(data['measures'])} measures. "
        f"Over {over}, {name(first, 60)} has the best mean rank{others}.</p>"
    )


def leading_section(data: dict[str, Any]) -> str:
    """The ranks of the leading nodes by every measure."""
    heads = "".join(
        f'<th scope="col" class="number">{escape(one["name"])}</th>' for one in data["measures"]
    )
    rows = "".join(
        f'<tr><th scope="row">{name(row["node"], 60)}</th>'
        + "".join(
            f'<td class="number">{_rank_text(row["ranks"][one["name"]])}</td>'
            for one in data["measures"]
        )
        + "</tr>"
        for row in data["leading"]
    )
    return (
        '<div class="scroll" tabindex="0" role="region" aria-label="Leading nodes"><table>'
        "<caption>Ranks by each measure; 1 is best. Nodes that tie share the better rank, marked by =. Nodes with the "
        "best mean rank first, in which ties count as the middle of the places they share; ranks.csv has all of them "
        "with the values.</caption>"
        f'<thead><tr><th scope="col">Node</th>{heads}</tr></thead><tbody>{rows}</tbody></table></div>'
    )


def _rank_text(rank: Mapping[str, Any]) -> str:
    """A rank, with = after one that nodes share."""
    return f"{rank['rank']:,}{'=' if rank.get('tied') else ''}"


def _coinciding_words(data: dict[str, Any]) -> str:
    """Which measures say the same on this graph, so that they count once."""
    words = [
        f"{escape(first)} is the same as {escape(' and '.join(others))}"
        for first, others in data.get("coinciding", {}).items()
        if others
    ]
    if not words:
        return ""
    return f"<p>On this network {'; '.join(words)}: such measures count once in the mean rank.</p>"


def intervals_section(data: dict[str, Any]) -> str:
    """For the measures that move, a figure with a line from the best to the worst rank of each leading node."""
    figures = []
    for measure in data["measures"]:
        rows = [(row["node"], row["ranks"][measure["name"]]) for row in data["leading"]][:_DRAWN]
        if not measure["importance"] or any(one["low"] is None for _, one in rows):
            continue
        figures.append(_intervals(measure["name"], sorted(rows, key=lambda row: row[1]["rank"])))
    if not figures:
        return ""
    return (
        "<p>Each line runs from the best to the worst rank of a node: over weaker and stronger coupling between the "
        "layers, and over graphs in which a tenth of the edges is left out at random. The dot is its rank in the whole "
        "graph. Where lines overlap, the order of the nodes is not to be relied on.</p>"
        f'<div class="figures">{"".join(figures)}</div>'
    )


def _intervals(measure: str, rows: list[tuple[str, dict[str, int]]]) -> str:
    worst = max(one["high"] for _, one in rows)
    left, right = 120, _WIDTH - 14
    height = _ROW * len(rows) + 30

    def across(rank: float) -> float:
        return round(left + (right - left) * (rank - 1) / max(worst - 1, 1), 1)

    parts = []
    for number, (node, one) in enumerate(rows):
        up = _ROW * number + 14
        low, high, at = across(one["low"]), across(one["high"]), across(one["rank"])
        parts.append(
            f'<text class="end" x="{left - 10}" y="{up + 4}">{escape(shorten(node, 16))}</text>'
            f'<line class="error c1" x1="{low}" x2="{high}" y1="{up}" y2="{up}"/>'
            f'<circle class="point c1" cx="{at}" cy="{up}" r="4.5"><title>{escape(shorten(node, 60))}: rank '
            f"{one['rank']:,}, from {one['low']:,} to {one['high']:,}</title></circle>"
        )
    for tick in sorted({1, (1 + worst) // 2, worst}):
        parts.append(
            f'<text class="tick middle" x="{across(tick)}" y="{height - 4}">{tick:,}</text>'
        )
    return (
        f"<figure><figcaption>{escape(measure)}</figcaption>"
        f'<svg class="chart" viewBox="0 0 {_WIDTH} {height}" role="img" '
        f'aria-label="Ranks by {escape(measure)} with their spread">{"".join(parts)}</svg></figure>'
    )


def disagreement_section(data: dict[str, Any]) -> str:
    """How alike the measures are, and the nodes about which they differ most."""
    names = [one["name"] for one in data["measures"]]
    if len(names) < 2:
        return ""
    heads = "".join(f'<th scope="col" class="number">{escape(one)}</th>' for one in names)
    rows = "".join(
        f'<tr><th scope="row">{escape(one)}</th>'
        + "".join(_agreement_cell(value) for value in values)
        + "</tr>"
        for one, values in zip(names, data["agreement"], strict=True)
    )
    text = _coinciding_words(data) + (
        '<div class="scroll" tabindex="0" role="region" aria-label="Agreement of measures"><table class="confusion">'
        "<caption>How alike two measures rank the nodes (Spearman’s correlation): 1 the same order, 0 unrelated, "
        "−1 the reverse.</caption>"
        f"<thead><tr><td></td>{heads}</tr></thead><tbody>{rows}</tbody></table></div>"
    )
    if data["gaps"]:
        text += (
            '<div class="scroll"><table><caption>Nodes that one measure puts near the top and another far '
            'down</caption><thead><tr><th scope="col">Node</th><th scope="col">Best by</th>'
            '<th scope="col" class="number">Rank</th><th scope="col">Worst by</th>'
            '<th scope="col" class="number">Rank</th></tr></thead><tbody>'
            + "".join(
                f'<tr><th scope="row">{name(row["node"], 60)}</th><td>{escape(row["best"])}</td>'
                f'<td class="number">{row["best_rank"]:,}</td><td>{escape(row["worst"])}</td>'
                f'<td class="number">{row["worst_rank"]:,}</td></tr>'
                for row in data["gaps"]
            )
            + "</tbody></table></div>"
        )
    return text


def _agreement_cell(value: float | None) -> str:
    if value is None:
        return '<td class="number">–</td>'
    heat = min(8, max(0, round(8 * abs(value))))
    kind = "right" if value >= 0 else "wrong"
    text = f"{value:.2f}".replace("-0.00", "0.00").replace("-", "−")
    return f'<td class="number {kind} heat{heat}">{text}</td>'


def seeds_section(data: dict[str, Any]) -> str:
    """The seeds with how far they reach together."""
    if not data["seeds"]:
        return ""
    config = data["config"]
    how = (
        "Whoever has heard the news passes it on once along each edge, with a probability of "
        f"{config.get('probability', 0):g} (independent cascade)."
        if config.get("model") == "cascade"
        else "A node takes part once those it listens to who do weigh more than a random share (linear threshold)."
    )
    rows = "".join(
        f'<tr><th scope="row">{name(row["node"], 60)}</th><td class="number">{_seed_order(row, data["seeds"])}</td>'
        '<td class="wide">'
        f"{bar(row['reach'] / data['nodes'], (row['reach_high'] - row['reach_low']) / 2 / data['nodes'])}</td>"
        f'<td class="number">{row["reach"]:,.1f} <span class="faint">{row["reach_low"]:,.1f} to '
        f"{row['reach_high']:,.1f}</span></td></tr>"
        for row in data["seeds"]
    )
    word = easy_choice(data["seeds"][0]["reach"], data["nodes"], str(config.get("model")))
    return (
        f"<p>{how} Each added node reaches the most nodes not already reached. Seeds with = after the same number are "
        f"not ordered: what they add differs by no more than chance. {escape(word)}</p>"
        '<div class="scroll"><table class="bars"><caption>Nodes reached on average by this node and those above it, '
        'with the 95 % interval of the mean</caption><thead><tr><th scope="col">Tell</th>'
        '<th scope="col" class="number">Order</th><th scope="col" class="wide">'
        '<span class="sr">Bar</span></th><th scope="col" class="number">Reach</th></tr></thead>'
        f"<tbody>{rows}</tbody></table></div>"
    )


def _seed_order(row: Mapping[str, Any], seeds: list[dict[str, Any]]) -> str:
    if "order" not in row:
        return ""
    shared = sum(other.get("order") == row["order"] for other in seeds) > 1
    return f"{row['order']}{'=' if shared else ''}"


def layers_section(data: dict[str, Any]) -> str:
    """The influence of the layers by MultiRank."""
    if len(data["layers"]) < 2:
        return ""
    ordered = sorted(data["layers"], key=lambda layer: -layer["influence"])[:50]
    largest = ordered[0]["influence"] or 1.0
    rows = "".join(
        f'<tr><th scope="row">{name(layer["name"], 60)}</th><td class="wide">'
        f'{bar(layer["influence"] / largest)}</td><td class="number">{layer["influence"]:.1%}</td></tr>'
        for layer in ordered
    )
    return (
        '<div class="scroll"><table class="bars"><caption>Influence by MultiRank: layers lead in which central nodes '
        'are active; the shares add up to 100 %.</caption><thead><tr><th scope="col">Layer</th>'
        '<th scope="col" class="wide"><span class="sr">Bar</span></th><th scope="col" class="number">Share</th></tr>'
        f"</thead><tbody>{rows}</tbody></table></div>"
    )


def repeat_section(data: dict[str, Any]) -> str:
    """The command, and what each measure means."""
    rows = "".join(
        f'<tr><th scope="row">{escape(one["name"])}</th><td>{escape(one["meaning"])}</td></tr>'
        for one in data["measures"]
    )
    return (
        command_and_versions(data["config"], f"gramme rank {data['name']} --out ranks")
        + '<div class="scroll"><table class="facts"><caption>What each measure says; where edges have a direction, '
        f"being listened to counts</caption><tbody>{rows}</tbody></table></div>"
    )


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
    """Everything the page of a ranking shows; parameters as for :func:`gramme.report.result_folders.write_ranks`."""
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
        "coinciding": coinciding_measures(ranks),
        "agreement": _agreement(table),
        "gaps": _gaps(ranks, distinct_importances(ranks)),
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
