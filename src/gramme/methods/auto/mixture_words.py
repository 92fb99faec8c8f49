"""What a mixture of methods leans on, in a sentence or two for the person who asked."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

IN_WORDS = {
    "gramme-fusion": "attention within each layer (GrAMME-Fusion)",
    "label-propagation": "known labels spreading to neighbours (label propagation)",
    "one-hot-logistic": "a linear model of who belongs to which group",
    "spectral-logistic": "a linear model of where walks through the network lead",
    "neighbourhood-logistic": "a linear model of the features in each node's surroundings",
}
MINOR = 0.1  # share below which an ingredient or a layer is not named
MOST = 3  # layers named at most


def mixture_in_words(weights: Mapping[str, float], layers: Mapping[str, pd.Series]) -> str:
    """A sentence on the ingredients with their weights, and on the layers the main one uses.

    >>> importance = pd.Series({"advice": 0.6, "friendship": 0.35, "discussion": 0.05})
    >>> weights = {"label-propagation": 0.8, "gramme-fusion": 0.2}
    >>> mixture_in_words(weights, {name: importance for name in weights})
    'Mostly known labels spreading to neighbours (label propagation), 80 %, over advice and friendship; then attention within each layer (GrAMME-Fusion), 20 %.'
    """  # noqa: E501
    order = sorted(weights, key=lambda name: -weights[name])
    named = [name for name in order if weights[name] >= MINOR] or order[:1]
    first, *others = named
    start = "Mostly " if weights[first] >= 0.5 else "A mix: "
    sentence = f"{start}{IN_WORDS[first]}, {weights[first]:.0%}, {_over(layers[first])}"
    rest = [f"{IN_WORDS[name]}, {weights[name]:.0%}" for name in others]
    if rest:
        sentence += f"; then {_joined(rest)}"
    return sentence.replace("%", " %") + "."


def _over(importance: pd.Series) -> str:
    ordered = importance.sort_values(ascending=False)
    even = 1 / max(len(ordered), 1)
    if len(ordered) > 1 and float(ordered.iloc[0]) < 1.3 * even:
        return "over all layers about alike"
    named = [str(name) for name, share in ordered.head(MOST).items() if share >= max(MINOR, even)]
    return f"over {_joined(named or [str(ordered.index[0])])}"


def _joined(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
