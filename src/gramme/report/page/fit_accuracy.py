"""How certain a reader can be: the accuracy in plain words, its interval, and which classes are mistaken for which."""

from __future__ import annotations

from typing import Any

from gramme.report.page.charts import interval
from gramme.report.page.fit_promise import sets_told
from gramme.report.page.fit_reliability import reliability_told
from gramme.report.page.html import escape, name

_MAX_CONFUSION_CLASSES = 25
_MAX_CLASSES_IN_SENTENCE = 8  # classes named in a sentence


def accuracy_section(data: dict[str, Any]) -> str:
    """The accuracy with its interval and meaning, and the confusion matrix if there is one."""
    estimate = data["estimate"]
    accuracy = estimate.get("accuracy")
    sets = sets_told(data.get("config", {}).get("sets"))
    if accuracy is None:
        reason = estimate.get("note")
        because = f" ({escape(reason)})" if reason else ""
        return (
            f"<p>No accuracy was measured for this fit{because}, so nothing here says how often it is right. "
            "Fit again with <code>--holdout 20%</code> to measure it on labels set aside.</p>"
            + sets
        )
    value, bounds, guess, words = leading(estimate)
    low, high = bounds or (None, None)
    drawn = interval(value, low, high, guess) if low is not None and high is not None else ""
    between = (
        f'<p class="between">95 % interval<br><strong>{low:.1%} to {high:.1%}</strong></p>'
        if drawn
        else ""
    )
    balanced = data.get("config", {}).get("class_weight") == "balanced"
    scale = '<p class="scale" aria-hidden="true"><span>0 %</span><span>50 %</span><span>100 %</span></p>'
    return (
        f'<div class="score"><p class="big"><strong>{value:.1%}</strong> {words}</p>{between}'
        f'<div class="gauge">{drawn}{scale if drawn else ""}</div></div>'
        f'<div class="beside"><div><p>{_how(estimate)}</p>{_per_class(estimate)}<p>{_meaning(estimate)}</p></div>'
        f"{_confusion(estimate.get('confusion'))}</div>"
        f"{reliability_told(estimate, balanced=balanced)}{sets}"
    )


def leading(
    estimate: dict[str, Any],
) -> tuple[float, tuple[float, float] | None, float | None, str]:
    """The number to lead with, its interval, what a blind guess reaches of it, and what it is.

    The accuracy; where classes are unequal the balanced accuracy, since a rare class hardly counts in the other.
    """
    guess = estimate.get("guess") or {}
    if estimate.get("unequal_classes"):
        classes = len(estimate["recall"])
        return (
            estimate["balanced_accuracy"],
            estimate.get("balanced_accuracy_ci95"),
            1 / classes,
            "of a class found, mean over the classes",
        )
    return estimate["accuracy"], estimate.get("accuracy_ci95"), guess.get("accuracy"), "right"


def headline(estimate: dict[str, Any]) -> str:
    """How good it is in one line, for the top of the page."""
    if estimate.get("accuracy") is None:
        return "<strong>How often it is right was not measured.</strong>"
    value, bounds, _, _ = leading(estimate)
    what = "balanced accuracy" if estimate.get("unequal_classes") else "accuracy"
    where = "held-out" if estimate.get("kind") == "holdout" else "labelled"
    nodes = estimate.get("nodes")
    on = f" on {nodes:,} {where} nodes" if nodes else ""
    reach = f" (95 % interval {bounds[0]:.1%} to {bounds[1]:.1%})" if bounds else ""
    text = f"<strong>{value:.1%}</strong> {what}{on}{reach}"
    verdict = verdict_told(estimate)
    return f"{text}: <strong>{verdict}</strong>" if verdict else text


def verdict_told(estimate: dict[str, Any]) -> str:
    """That the model does not beat a blind guess, where it does not; else nothing."""
    guess, against = estimate.get("guess"), estimate.get("against_guess")
    if not guess or against not in ("no better", "unclear"):
        return ""
    word = "no better than" if against == "no better" else "not clearly better than"
    return f"{word} always saying “{escape(guess['class'])}”"


def _how(estimate: dict[str, Any]) -> str:
    nodes = estimate.get("nodes")
    many = f"{nodes:,} labelled nodes" if nodes else "labelled nodes"
    if estimate.get("kind") in ("cross-validation", "cross-fitting"):
        how = "cross-validated" if estimate["kind"] == "cross-validation" else "cross-fitted"
        note = (
            estimate.get("note")
            or "each was predicted by a model that had not learned from its label"
        )
        worth = estimate.get("independent_tests")
        counted = (
            f" For the interval they count as {worth:,.0f}, since models that learn from nearly the same labels err "
            "together."
            if worth
            else ""
        )
        return (
            f"This is a {how} estimate from {many}: {escape(note)}.{counted} The model on this page learned from all "
            "labels, so it should do about as well on new nodes, or slightly better."
        )
    return (
        f"This was measured on {many} that were set aside before learning: the model never saw their labels, neither "
        "to learn nor to decide when to stop."
    )


def _per_class(estimate: dict[str, Any]) -> str:
    """How many of each class were found, where classes are unequal: accuracy alone would hide the rare ones."""
    recall = estimate.get("recall")
    if not recall or not estimate.get("unequal_classes"):
        return ""
    rarest = sorted(recall, key=lambda label: recall[label]["nodes"])
    told = "; ".join(
        f"{name(label, 40)} {recall[label]['found']:,} of {recall[label]['nodes']:,} "
        f"({recall[label]['recall']:.0%})"
        for label in rarest[:_MAX_CLASSES_IN_SENTENCE]
    )
    more = "; …" if len(rarest) > _MAX_CLASSES_IN_SENTENCE else ""
    return f"<p>The classes are of unequal size. Found of each: {told}{more}.</p>"


def _meaning(estimate: dict[str, Any]) -> str:
    accuracy = estimate["accuracy"]
    low, high = estimate.get("accuracy_ci95") or (None, None)
    words = f"Of 100 further nodes like these, expect about {round(100 * accuracy)} to be predicted right"
    if low is not None and high is not None:
        tested = f"only {estimate['nodes']:,} nodes" if estimate.get("nodes") else "only some nodes"
        span = f"{round(100 * low)} to {round(100 * high)}"
        words += f"; since {tested} were tested, anything from {span} is possible"
    words += "."
    guess = estimate.get("guess")
    if not guess:
        return words
    always = f"Always saying {name(guess['class'], 40)}, the most common class,"
    words += f" {always} would be right for {guess['accuracy']:.0%}"
    if estimate.get("unequal_classes"):
        words += f", with a balanced accuracy of {1 / len(estimate['recall']):.0%} (the thin mark)"
    else:
        words += " (the thin mark)"
    verdict = verdict_told(estimate)
    by = "by balanced accuracy " if estimate.get("unequal_classes") else ""
    return f"{words}, so {by}the model is <strong>{verdict}</strong>." if verdict else f"{words}."


def doubts_told(estimate: dict[str, Any]) -> str:
    """How labels were judged, with the thresholds that a doubt must reach."""
    thresholds = estimate.get("label_thresholds")
    if not thresholds:
        return (
            "No label was judged: that takes predictions by models that had not learned from it, which come with the "
            "estimate of the accuracy."
        )
    bars = ", ".join(
        f"{name(label, 40)} {bar:.1%}"
        for label, bar in list(thresholds.items())[:_MAX_CLASSES_IN_SENTENCE]
    )
    more = ", …" if len(thresholds) > _MAX_CLASSES_IN_SENTENCE else ""
    which = (
        "Each held-out label" if estimate.get("kind") == "holdout" else "Each label that was tested"
    )
    return (
        f"{which} was judged by a model that had not learned from it. A label counts as likely wrong where that model "
        "gives another class at least the probability that this class's own nodes get on average "
        f"({bars}{more}). A doubt is a reason to look, not a verdict."
    )


def _confusion(confusion: dict[str, Any] | None) -> str:
    if not confusion or not confusion.get("counts"):
        return ""
    classes, counts = confusion["classes"], confusion["counts"]
    kept = sorted(range(len(classes)), key=lambda place: -sum(counts[place]))[
        :_MAX_CONFUSION_CLASSES
    ]
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
