"""What GrammeRegressor mixes: what each ingredient is, when it applies, what it is called."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from gramme.graph import MultilayerGraph
from gramme.methods.auto.ingredients import MAX_TABLE_NUMBERS
from gramme.methods.boosting.table_boosting import boosting_applies
from gramme.methods.regression.attention import AttentionRegressor
from gramme.methods.regression.base import NodeRegressor
from gramme.methods.regression.boosting import BoostedRegressor
from gramme.methods.regression.propagation import NumberPropagation
from gramme.methods.regression.ridges import WALK_DIM, GroupsRidge, WalksRidge

Settings = Mapping[str, Any]

MAX_ATTENTION_EDGES = 4_000_000
"""Edges, memberships and nodes over all layers, beyond which the attention model would take hours of CPU time."""


@dataclass(frozen=True)
class NumberIngredient:
    """A regression that takes part in the mixture of GrammeRegressor.

    Attributes
    ----------
    estimator : type
        The class of the method.
    words : str, or callable from the fitted method to str
        What it does, as the page says it.
    make : callable
        From the parameters of the mixture and a seed to the method, not yet fitted.
    applies : callable
        Whether it takes part on a graph when the user has not named the ingredients.
    """

    estimator: type[NodeRegressor]
    words: str | Callable[[Any], str]
    make: Callable[[Settings, int], NodeRegressor]
    applies: Callable[[MultilayerGraph], bool] = lambda graph: True

    def in_words(self, model: NodeRegressor) -> str:
        """What the fitted method does."""
        return self.words if isinstance(self.words, str) else self.words(model)


def _attention(settings: Settings, seed: int) -> NodeRegressor:
    shared = ("ensemble", "epochs", "features", "progress", "device")
    return AttentionRegressor(random_state=seed, **{name: settings[name] for name in shared})


INGREDIENTS: dict[str, NumberIngredient] = {
    "propagation": NumberIngredient(
        NumberPropagation,
        "known numbers spreading to neighbours",
        lambda settings, seed: NumberPropagation(),
    ),
    "groups-ridge": NumberIngredient(
        GroupsRidge,
        lambda model: f"a linear model of {model.columns_in_words()}",
        lambda settings, seed: GroupsRidge(),
    ),
    "walks-ridge": NumberIngredient(
        WalksRidge,
        "a linear model of where walks through the network lead",
        lambda settings, seed: WalksRidge(),
        applies=lambda graph: graph.num_nodes * 2 * WALK_DIM <= MAX_TABLE_NUMBERS,
    ),
    "boosting": NumberIngredient(
        BoostedRegressor,
        lambda model: f"boosted trees on numbers and groups{model.columns_in_words()}",
        lambda settings, seed: BoostedRegressor(random_state=seed),
        applies=boosting_applies,
    ),
    "attention": NumberIngredient(
        AttentionRegressor,
        "attention within each layer (the network of GrAMME-Fusion)",
        _attention,
        applies=lambda graph: graph.num_entries <= MAX_ATTENTION_EDGES,
    ),
}
"""All ingredients by name; slow ones last, so that little is lost by an interrupt."""
