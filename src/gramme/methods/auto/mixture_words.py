"""What a mixture of methods relies on, in a sentence or two for the person who asked.

Every number in a sentence is one of those in the tables beside it: the weights of the ingredients, and the layers'
importance in the mixture as a whole, never in one ingredient of it.
"""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

MINOR_WEIGHT = 0.1  # below which an ingredient is not named
MAX_NAMED_LAYERS = 3  # named at most
ALIKE_RATIO = (
    1.3  # the largest importance divided by the smallest, up to which layers count about alike
)


def mixture_in_words(
    weights: Mapping[str, float], words: Mapping[str, str], importance: pd.Series
) -> str:
    r"""A sentence on the ingredients with their weights, and one on the layers.

    Parameters
    ----------
    weights : mapping of str to float
        The weight of each ingredient.
    words : mapping of str to str
        What each ingredient does.
    importance : Series
        How much the mixture relies on each layer.

    Examples
    --------
    >>> importance = pd.Series({"advice": 0.6, "friendship": 0.35, "discussion": 0.05})
    >>> words = {"spread": "known labels spreading to neighbours", "attention": "attention"}
    >>> print(
    ...     mixture_in_words({"spread": 0.8, "attention": 0.2}, words, importance).replace(
    ...         ". ", ".\n"
    ...     )
    ... )
    Mostly known labels spreading to neighbours, 80 %; then attention, 20 %.
    Of the layers, advice counts most (60 %), then friendship (35 %) and discussion (5 %).
    """
    order = sorted(weights, key=lambda name: -weights[name])
    named = [name for name in order if weights[name] >= MINOR_WEIGHT] or order[:1]
    parts = [f"{words[name]}, {_percent(weights[name])}" for name in named]
    start = "Mostly " if weights[named[0]] >= 0.5 else "A mix: "
    sentence = start + parts[0]
    if len(parts) > 1:
        sentence += f"; then {_joined(parts[1:])}"
    rest = 1 - sum(weights[name] for name in named)
    if round(100 * rest) > 0:
        sentence += f"; the rest, {_percent(rest)}, is less than {_percent(MINOR_WEIGHT)} each"
    return f"{sentence}. {layers_in_words(importance)}".strip()


def layers_in_words(importance: pd.Series) -> str:
    """A sentence on how much each layer counts, nothing where there is but one.

    >>> layers_in_words(pd.Series({"a": 0.26, "b": 0.25, "c": 0.25, "d": 0.24}))
    'The 4 layers count about alike (24 % to 26 %).'
    """
    ordered = importance.sort_values(ascending=False, kind="stable")
    if len(ordered) < 2:
        return ""
    if not ordered.iloc[0] > 0:
        return "No layer joins any nodes, so none of them counts."
    high, low = float(ordered.iloc[0]), float(ordered.iloc[-1])
    if low > 0 and high <= ALIKE_RATIO * low:
        return f"The {len(ordered)} layers count about alike ({_percent(low)} to {_percent(high)})."
    told = [f"{name} ({_percent(share)})" for name, share in ordered.items() if share >= 0.005]
    first = f"Of the layers, {ordered.index[0]} counts most ({_percent(high)})"
    if len(told) < 2:
        return f"{first}, the others not at all."
    others = told[1:MAX_NAMED_LAYERS]
    if len(told) > MAX_NAMED_LAYERS:
        rest = len(told) - MAX_NAMED_LAYERS
        others.append(f"{rest} {'other' if rest == 1 else 'others'} with less each")
    return f"{first}, then {_joined(others)}."


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _joined(parts: list[str]) -> str:
    return ", ".join(parts) if len(parts) < 2 else f"{', '.join(parts[:-1])} and {parts[-1]}"
