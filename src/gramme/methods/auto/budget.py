"""How a mixture keeps to a time: how long attention may train, and how that is said.

Nothing is left out silently. If time is short, the attention model has fewer members and epochs, and the explanation of
the fit says so.
"""

from __future__ import annotations

import time

from gramme._durations import rough_duration
from gramme.methods.attention.effort import Allowance, Effort
from gramme.methods.auto.ingredients import INGREDIENTS, Recipe
from gramme.methods.data_size import DataSize
from gramme.methods.parameters import Duration

DEFAULT_SECONDS = 420.0
"""For attention where no budget is given, on one core, judged by the size of the data: enough for everything up to some
three million nodes, ends of edges and memberships over all layers; memberships of nodes in several groups count four
times."""


def expected_costs(recipe: Recipe, size: DataSize, copies: int) -> dict[str, float]:
    """About how many seconds each ingredient takes with its folds: only for saying how far a fit is."""
    folds = size.folds(recipe.settings["folds"])
    slow = [name for name in recipe.names if INGREDIENTS[name].slow]
    costs = {
        name: INGREDIENTS[name].made(recipe).seconds_with_folds(size, folds)
        for name in recipe.names
        if name not in slow
    }
    left, budget = DEFAULT_SECONDS, recipe.settings["budget"]
    if budget is not None:  # attention comes last and has what the others leave
        left = max(Duration().check("budget", budget) - sum(costs.values()), 1.0)
    full = Effort(recipe.settings["ensemble"], copies, recipe.settings["epochs"])
    attention = min(full.seconds(size, folds), left)
    return costs | dict.fromkeys(slow, attention)


def attention_allowance(budget: float | None, began: float) -> Allowance:
    """What a budget for the whole, in seconds on the clock, leaves to attention, which comes last."""
    if budget is None:
        return Allowance(DEFAULT_SECONDS, measured=False)
    return Allowance(budget - (time.perf_counter() - began), measured=True)


def effort_in_words(
    effort: Effort, full: Effort, folds: int, tested: int, budget: float | None
) -> str:
    """A sentence on what was done where it was less than everything; nothing where it was all.

    >>> full = Effort(8, 2, 40)
    >>> effort_in_words(Effort(2, 1, 40), full, folds=5, tested=5, budget=600)
    'To keep to 10 min, attention has 2 of 8 members and 1 of 2 members for each fold.'
    >>> effort_in_words(full, full, 5, 5, None)
    ''
    """
    less = [
        f"{have} of {asked} {what}"
        for have, asked, what in (
            (effort.members, full.members, "members"),
            (effort.copies, full.copies, "members for each fold"),
            (effort.epochs, full.epochs, "epochs"),
        )
        if have < asked
    ]
    within = rough_duration(DEFAULT_SECONDS if budget is None else budget)
    how = f"about {within} of one core" if budget is None else within
    parts = [f"To keep to {how}, attention has {_joined(less)}"] if less else []
    if tested < folds:
        parts.append(
            f"{'s' if less else 'S'}ince the data are large, {tested} of {folds} folds weigh the ingredients"
        )
    return "; ".join(parts) + "." * bool(parts)


def left_out_in_words(budget: float | None) -> str:
    """A sentence for where there was no time for attention at all."""
    within = "the default" if budget is None else rough_duration(budget)
    return f"Attention is left out: a budget of {within} is too short for it."


def _joined(parts: list[str]) -> str:
    return parts[0] if len(parts) < 2 else f"{', '.join(parts[:-1])} and {parts[-1]}"
