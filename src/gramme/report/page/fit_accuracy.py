"""How certain a reader can be: the accuracy in plain words, its interval, and which classes are mistaken for which."""

from __future__ import annotations

from typing import Any

from gramme.evaluation.calibration import LABELS_PER_BIN, bins_off, on_the_whole

from .charts import Series, bar, chart, interval, legend
from .html import escape, name

# The section about prediction sets and their promise.


_MAX_SIZES = 6


def sets_told(facts: dict[str, Any] | None) -> str:
    """The promise of the prediction sets, how many classes they hold, and which classes stay undecided."""
    if not facts:
        return ""
    share = f"{100 * facts['coverage']:g} %"
    if not facts["enough"]:
        return (
            f"<h3>Sets of classes</h3><p>{facts['tested']:,} labels are too few to promise that a set of classes holds "
            f"the true one in {share} of cases; {facts['needed']:,} are needed. So every set holds all classes.</p>"
        )
    sizes = sorted((int(size), count) for size, count in facts["sizes"].items())
    total = sum(count for _, count in sizes)
    where = "in every class by itself" if facts["by_class"] else "on average over the nodes"
    words = (
        "For every node, the column <code>set</code> of <code>predictions.csv</code> names the classes that are "
        f"plausible: the true class is among them for <strong>{share}</strong> of nodes like the labelled ones, "
        f"{where}."
    )
    if facts["alone"]:
        right = f"it is right for about <strong>{100 * facts['expected']:.0f} %</strong>"
        if facts["expected"] == 1:  # which a few labels do not promise of all others
            right = f"it was right for all <strong>{facts['tested']:,}</strong> labels tested"
        words = (
            "The column <code>set</code> of <code>predictions.csv</code> names the classes that are plausible for a "
            f"node. You asked that the true class be among them for {share} of nodes like the labelled ones, {where}. "
            f"The most probable class alone does better: {right}, so no set holds a second one."
        )
    words += f" The promise rests on {facts['tested']:,} labels that were predicted without having been learned from."
    if facts.get("halved"):
        words += (
            " The models that predicted them learned from fewer labels than this one; how much less this one misses "
            "was judged by models of half of the labels."
        )
    if facts["unsettled"]:
        some = ", ".join(name(one, 40) for one in facts["unsettled"][:5])
        more = ", …" if len(facts["unsettled"]) > 5 else ""
        words += (
            f" There are too few labels to promise it in {some}{more}, so every set holds these."
        )
    if not total:
        return f"<h3>Sets of classes</h3><p>{words} Every node here has a label already.</p>"
    shown = sizes[:_MAX_SIZES]
    rest = sum(count for _, count in sizes[_MAX_SIZES:])
    rows = [("1 class" if size == 1 else f"{size} classes", count) for size, count in shown]
    if rest:
        rows.append(("more", rest))
    lines = "".join(
        f'<tr><th scope="row">{words_of}</th><td class="wide">{bar(count / total)}</td>'
        f'<td class="number">{count:,}</td></tr>'
        for words_of, count in rows
    )
    table = (
        '<div class="scroll"><table class="bars"><caption>How many classes the nodes to predict have in their sets.'
        "</caption>"
        '<thead><tr><th scope="col">Set</th><th scope="col" class="wide"><span class="sr">Bar</span></th>'
        f'<th scope="col" class="number">Nodes</th></tr></thead><tbody>{lines}</tbody></table></div>'
    )
    return f'<h3>Sets of classes</h3><div class="beside"><div><p>{words}</p>{_undecided(facts)}</div>{table}</div>'


def _undecided(facts: dict[str, Any]) -> str:
    if not facts["undecided"]:
        return ""
    told = "; ".join(
        f"{' or '.join(name(one, 40) for one in each['classes'])} ({each['nodes']:,})"
        for each in facts["undecided"][:5]
    )
    more = "; …" if len(facts["undecided"]) > 5 else ""
    return f"<p>Most often undecided: {told}{more}.</p>"


# The reliability diagram of a fit: how sure predictions of unseen labels were, and how often they
# were right.


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
        "<h3>Can you trust the probabilities?</h3>"
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
            "of each class identified correctly, on average",
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
