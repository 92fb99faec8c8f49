"""The section about prediction sets and their promise."""

from __future__ import annotations

from typing import Any

from gramme.report.page.charts import bar
from gramme.report.page.html import name

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
