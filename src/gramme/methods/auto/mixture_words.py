"""What a mixture of methods leans on, in a sentence or two for the person who asked.

Every number in a sentence is one of those in the tables beside it: the weights of the ingredients, and the layers'
importance in the mixture as a whole, never in one ingredient of it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

import pandas as pd

IN_WORDS = {
    "gramme-fusion": "attention within each layer (GrAMME-Fusion)",
    "label-propagation": "known labels spreading to neighbours (label propagation)",
    "one-hot-logistic": "a linear model of {columns}",
    "spectral-logistic": "a linear model of where walks through the network lead",
    "neighbourhood-logistic": "a linear model of the features in each node's surroundings",
}
COLUMNS = {"groups": "groups", "edges": "neighbours", "features": "features"}
"""What a linear model may look at, and what that is called."""
MINOR = 0.1  # weight below which an ingredient is not named
MOST_LAYERS = 3  # named at most
ALIKE = 1.3  # the largest importance divided by the smallest, up to which layers count about alike


def mixture_in_words(
    weights: Mapping[str, float], importance: pd.Series, columns: Collection[str] = ("groups",)
) -> str:
    r"""A sentence on the ingredients with their weights, and one on the layers.

    Parameters
    ----------
    weights : mapping of str to float
        The weight of each ingredient.
    importance : Series
        How much the mixture leans on each layer.
    columns : collection of {"groups", "edges", "features"}
        What the linear model of each node's columns has seen.

    Examples
    --------
    >>> importance = pd.Series({"advice": 0.6, "friendship": 0.35, "discussion": 0.05})
    >>> weights = {"label-propagation": 0.8, "gramme-fusion": 0.2}
    >>> print(mixture_in_words(weights, importance).replace(". ", ".\n"))
    Mostly known labels spreading to neighbours (label propagation), 80 %; then attention within each layer (GrAMME-Fusion), 20 %.
    Of the layers, advice counts most (60 %), then friendship (35 %) and discussion (5 %).
    """  # noqa: E501
    order = sorted(weights, key=lambda name: -weights[name])
    named = [name for name in order if weights[name] >= MINOR] or order[:1]
    parts = [f"{_words(name, columns)}, {_percent(weights[name])}" for name in named]
    start = "Mostly " if weights[named[0]] >= 0.5 else "A mix: "
    sentence = start + parts[0]
    if len(parts) > 1:
        sentence += f"; then {_joined(parts[1:])}"
    rest = 1 - sum(weights[name] for name in named)
    if round(100 * rest) > 0:
        sentence += f"; the rest, {_percent(rest)}, is less than {_percent(MINOR)} each"
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
    if low > 0 and high <= ALIKE * low:
        return f"The {len(ordered)} layers count about alike ({_percent(low)} to {_percent(high)})."
    told = [f"{name} ({_percent(share)})" for name, share in ordered.items() if share >= 0.005]
    first = f"Of the layers, {ordered.index[0]} counts most ({_percent(high)})"
    if len(told) < 2:
        return f"{first}, the others not at all."
    others = told[1:MOST_LAYERS]
    if len(told) > MOST_LAYERS:
        rest = len(told) - MOST_LAYERS
        others.append(f"{rest} {'other' if rest == 1 else 'others'} with less each")
    return f"{first}, then {_joined(others)}."


def _words(ingredient: str, columns: Collection[str]) -> str:
    seen = [word for kind, word in COLUMNS.items() if kind in columns]
    told = "who belongs to which group" if seen == ["groups"] else f"each node's {_joined(seen)}"
    return IN_WORDS[ingredient].format(columns=told if seen else "how frequent the classes are")


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _joined(parts: list[str]) -> str:
    return ", ".join(parts) if len(parts) < 2 else f"{', '.join(parts[:-1])} and {parts[-1]}"
