"""The reliability diagram of a fit: how sure predictions of unseen labels were, and how often they were right."""

from __future__ import annotations

from typing import Any

from gramme.evaluation.reliability import LABELS_PER_BIN, bins_off, on_the_whole
from gramme.report.page.charts import Series, chart, legend


def reliability_told(estimate: dict[str, Any], *, balanced: bool = False) -> str:
    """The diagram and what it says in words; nothing where no labels were tested.

    ``balanced`` where every class counts alike, so that the probabilities are about other nodes than those tested.
    """
    table = estimate.get("reliability")
    if not table or not table["probability"]:
        return ""
    words = f"<p>{in_words(table, estimate.get('kind'))}</p>"
    if balanced:
        words += (
            "<p>Every class counts alike in these probabilities, as if all were equally frequent. Among the nodes "
            "tested they are not, so those of a common class are too low here and those of a rare one too high.</p>"
        )
    figure = _figure(table) if len(table["probability"]) > 1 else ""
    return (
        "<h3>Can the probabilities be taken at their word?</h3>"
        f'<div class="beside reliability"><div>{words}</div>{figure}</div>'
    )


def in_words(table: dict[str, list[float]], kind: str | None) -> str:
    """The diagram in sentences made from its numbers."""
    found = on_the_whole(table)
    if kind == "holdout":
        who = f"On the labels that were set aside, this model was {found.said:.1%} sure of its"
    else:
        who = f"Models that had not learned from a node’s label were {found.said:.1%} sure of their"
    parts = [
        f"{who} predictions on average, and right for {found.right:.1%} of {found.nodes:,} nodes."
    ]
    apart = bins_off(table)
    if found.verdict == "fits" and not apart:
        parts.append("The difference is no more than chance explains.")
    elif found.verdict == "fits":
        parts.append(
            "On the whole the difference is no more than chance explains, but "
            "<strong>not everywhere</strong>: some predictions were too sure and others too modest."
        )
    else:
        take = "lower" if found.verdict == "too sure" else "higher"
        points = 100 * abs(found.said - found.right)
        parts.append(
            f"That is <strong>{found.verdict}</strong>, by {points:.1f} points, more than chance explains: take the "
            f"probabilities on this page for somewhat {take} than they are."
        )
    said, right, nodes = table["probability"], table["right"], table["nodes"]
    if len(said) > 1:
        off = max(range(len(said)), key=lambda place: abs(said[place] - right[place]))
        parts.append(
            "Each point stands for about equally many of these nodes, from the least to the most sure. Above the "
            "dashed line predictions were too modest, below it too sure."
        )
        given, found_right = f"{said[off]:.0%}", f"{right[off]:.0%}"
        if given != found_right:
            parts.append(
                f"Farthest from it, they were given {given} on average and {found_right} were right "
                f"({nodes[off]:,.0f} nodes"
                + (", more than chance explains)." if off in apart else ").")
            )
    if found.nodes < 4 * LABELS_PER_BIN:
        parts.append("So few nodes tell little about single probabilities.")
    return " ".join(parts)


def _figure(table: dict[str, list[float]]) -> str:
    start = int(10 * min(*table["probability"], *table["low"])) / 10
    line = Series("as said", [start, 1.0], [start, 1.0], style=0, dashed=True, bare=True)
    points = Series(
        "what happened, with 95 % interval",
        table["probability"],
        table["right"],
        table["low"],
        table["high"],
    )
    drawn = chart(
        [line, points],
        title="Share of right predictions by the probability they were given",
        x_label="probability of the prediction",
        y_label="share right",
        percent=True,
        percent_x=True,
    )
    return f"<figure><figcaption>{legend([line, points])}</figcaption>{drawn}</figure>"
