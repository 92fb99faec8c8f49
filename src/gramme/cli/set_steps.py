"""Prediction sets on the command line: what ``--coverage`` asks for, and what is printed about them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gramme.errors import DataError
from gramme.evaluation.set_facts import set_facts
from gramme.methods import NodeClassifier

MAX_SETS_PRINTED = 3


@dataclass(frozen=True)
class SetPlan:
    """How often a set must hold the true class, and whether in every class separately."""

    coverage: float
    by_class: bool = False

    @classmethod
    def of(cls, coverage: str | None, *, by_class: bool) -> SetPlan | None:
        """The plan from what was said on the command line; None if no sets are wanted."""
        if coverage is None:
            if by_class:
                raise DataError("--coverage-by-class needs --coverage, like --coverage 90%")
            return None
        return cls(parse_share(coverage), by_class)

    def facts(self, model: NodeClassifier) -> dict[str, Any]:
        """The record of a fitted model's sets."""
        return set_facts(model, self.coverage, by_class=self.by_class)[1]


def parse_share(text: str) -> float:
    """A share from text: 20% or 0.2.

    >>> parse_share("20%"), parse_share("0.2")
    (0.2, 0.2)
    """
    try:
        value = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        value = float("nan")
    if not 0 < value < 1:
        raise DataError(f"{text!r} is not a share; write 20% or 0.2")
    return value


def sets_told(facts: dict[str, Any]) -> list[str]:
    """The lines about prediction sets: the promise, or why there is none, and how large they are."""
    share = f"{100 * facts['coverage']:g} %"
    if not facts["enough"]:
        return [
            f"sets of classes: {facts['tested']:,} labels are too few to promise {share} ({facts['needed']:,} are "
            "needed), so every set holds all classes"
        ]
    how = " of each class" if facts["by_class"] else ""
    sizes = {int(size): count for size, count in facts["sizes"].items()}
    total = sum(sizes.values())
    promise = f"sets of classes: they hold the true class of {share} of new nodes{how}"
    if facts["alone"]:
        right = f"is right for about {100 * facts['expected']:.0f} % of new nodes"
        if facts["expected"] == 1:  # which a few labels do not promise of all others
            right = f"was right for all {facts['tested']:,} labels tested"
        promise = f"sets of classes: the most probable class alone {right}, more than the {share} asked for{how}"
    if not total:
        return [f"{promise}; every node has a label, so there is none to give a set to"]
    single = sizes.get(1, 0)
    lines = [f"{promise}; one class for {single:,} of {total:,} nodes to predict"]
    if facts["undecided"]:
        named = [
            f"{' or '.join(one['classes'])} {one['nodes']:,}"
            for one in facts["undecided"][:MAX_SETS_PRINTED]
        ]
        more = ", ..." if len(facts["undecided"]) > MAX_SETS_PRINTED else ""
        lines.append(f"  undecided: {', '.join(named)}{more}")
    if facts["unsettled"]:
        lines.append(
            f"  too few labels to promise it in {', '.join(facts['unsettled'][:5])}"
            f"{', ...' if len(facts['unsettled']) > 5 else ''}: every set holds that"
        )
    return lines
