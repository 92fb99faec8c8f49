"""How sure a reader can be: the accuracy in plain words, its interval, and which classes are taken for which."""

from __future__ import annotations

from typing import Any

from gramme.report.page.charts import interval
from gramme.report.page.html import escape, name

_MOST_CLASSES = 25


def accuracy_section(data: dict[str, Any]) -> str:
    """The accuracy with its interval and meaning, and the confusion matrix where there is one."""
    estimate = data["estimate"]
    accuracy = estimate.get("accuracy")
    if accuracy is None:
        reason = estimate.get("note")
        because = f" ({escape(reason)})" if reason else ""
        return (
            f"<p>No accuracy was measured for this fit{because}, so nothing here says how often it is right. "
            "Fit again with <code>--holdout 20%</code> to measure it on labels set aside.</p>"
        )
    low, high = estimate.get("accuracy_ci95") or (None, None)
    guess = _most_common_share(estimate.get("confusion"))
    drawn = interval(accuracy, low, high, guess) if low is not None and high is not None else ""
    between = (
        f'<p class="between">95 % interval<br><strong>{low:.1%} to {high:.1%}</strong></p>'
        if drawn
        else ""
    )
    scale = '<p class="scale" aria-hidden="true"><span>0 %</span><span>50 %</span><span>100 %</span></p>'
    return (
        f'<div class="score"><p class="big"><strong>{accuracy:.1%}</strong> right</p>{between}'
        f'<div class="gauge">{drawn}{scale if drawn else ""}</div></div>'
        f'<div class="beside"><div><p>{_how(estimate)}</p><p>{_meaning(accuracy, low, high, guess)}</p></div>'
        f"{_confusion(estimate.get('confusion'))}</div>"
    )


def _how(estimate: dict[str, Any]) -> str:
    nodes = estimate.get("nodes")
    many = f"{nodes:,} labelled nodes" if nodes else "labelled nodes"
    if estimate.get("kind") == "cross-validation":
        note = (
            estimate.get("note")
            or "each was predicted by a model that had not learned from its label"
        )
        return (
            f"This is a cross-validated estimate from {many}: {escape(note)}. The model on this page learned from all "
            "labels, so it should do about as well on new nodes, or slightly better."
        )
    return (
        f"This was measured on {many} that were set aside before learning: the model never saw their labels, neither "
        "to learn nor to decide when to stop."
    )


def _meaning(accuracy: float, low: float | None, high: float | None, guess: float | None) -> str:
    words = f"Of 100 further nodes like these, expect about {round(100 * accuracy)} to be predicted right"
    if low is not None and high is not None:
        words += f"; since only so many nodes were tested, anything from {round(100 * low)} to {round(100 * high)} fits"
    words += "."
    if guess is not None:
        words += (
            f" Always answering with the most common class would be right for {guess:.0%} of them"
        )
        if low is not None and low <= guess:
            words += ", so the model is <strong>not clearly better than that guess</strong>."
        else:
            words += " (the thin mark)."
    return words


def _most_common_share(confusion: dict[str, Any] | None) -> float | None:
    if not confusion or not confusion.get("counts"):
        return None
    sizes = [sum(row) for row in confusion["counts"]]
    return max(sizes) / sum(sizes) if sum(sizes) else None


def _confusion(confusion: dict[str, Any] | None) -> str:
    if not confusion or not confusion.get("counts"):
        return ""
    classes, counts = confusion["classes"], confusion["counts"]
    kept = sorted(range(len(classes)), key=lambda place: -sum(counts[place]))[:_MOST_CLASSES]
    kept.sort()
    note = ""
    if len(kept) < len(classes):
        note = f" Shown are the {len(kept)} most frequent of {len(classes):,} classes."
    head = "".join(f'<th scope="col">{name(classes[place], 24)}</th>' for place in kept)
    body = []
    for row in kept:
        total = sum(counts[row])
        cells = []
        for column in kept:
            count = counts[row][column]
            share = count / total if total else 0.0
            kind = "right" if row == column else "wrong"
            level = 0 if not count else 1 + min(7, int(share * 8))
            cells.append(f'<td class="{kind} heat{level}">{count:,}</td>')
        right = counts[row][row] / total if total else None
        share_right = "–" if right is None else f"{right:.0%}"
        body.append(
            f'<tr><th scope="row">{name(classes[row], 40)}</th>{"".join(cells)}'
            f'<td class="number">{share_right}</td></tr>'
        )
    return (
        '<div class="scroll"><table class="confusion"><caption>Which classes are taken for which: a row per true '
        f"label, a column per prediction, numbers of nodes.{note}</caption><thead><tr><td></td>{head}"
        f'<th scope="col" class="number">found</th></tr></thead><tbody>{"".join(body)}</tbody></table></div>'
    )
