"""The ingredients of GrammeAuto: what each is, when it applies, its pseudo-labels, and its name in words.

An ingredient is one entry here. Naming, choosing, fitting, weighting, explaining, saving and loading all follow from
it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

from gramme.distributed import PartGraph, node_count
from gramme.graph import MultilayerGraph
from gramme.methods.attention.gramme_fusion import GrammeFusion
from gramme.methods.base import GraphEstimator
from gramme.methods.boosting.table_boosting import TableBoosting, boosting_applies
from gramme.methods.linear.label_shares import LabelShares
from gramme.methods.linear.neighbourhood_logistic import NeighbourhoodLogistic, numbers_needed
from gramme.methods.linear.one_hot_logistic import OneHotLogistic
from gramme.methods.linear.spectral_logistic import SpectralLogistic
from gramme.methods.prepare import MAX_LAYERS_ONE_BY_ONE
from gramme.methods.propagation.label_propagation import LabelPropagation

CREDIT_LABELS = 0.25  # that an ingredient has beforehand; chosen on training labels, docs/understand/auto.md
MAX_TABLE_NUMBERS = 200_000_000  # in an ingredient's table, beyond which it is not made


@dataclass(frozen=True)
class Recipe:
    """What an ingredient is made from."""

    settings: Mapping[str, Any]  # the parameters of the mixture
    names: tuple[str, ...]  # all ingredients of this mixture
    labels: int  # how many there are to learn from
    seed: int


def _everywhere(graph: MultilayerGraph) -> bool:
    return True


@dataclass(frozen=True)
class Ingredient:
    """A method that takes part in a mixture: of classes in GrammeAuto, of numbers in GrammeRegressor.

    Attributes
    ----------
    name : str
        What the user and the model file call it.
    estimator : type
        The class of the method.
    words : str, or callable from the fitted model to str
        What it does, as the explanation of a mixture says it.
    make : callable, optional
        From a :class:`Recipe` to the method, not yet fitted; ``estimator(random_state=recipe.seed)`` if not given.
    applies : callable
        Whether it takes part on a graph when the user has not named the ingredients; always if not given.
    fits : callable
        Whether a graph is small enough for it; always if not given. Where one that applies does not fit, it is said.
    credit : callable
        Labels' worth of belief in it before any evidence, from the number of labels; 0.25 if not given.
    slow : bool
        Whether it is fitted after the others, so that little is lost by an interrupt.
    """

    name: str
    estimator: type[GraphEstimator]
    words: str | Callable[[Any], str]
    make: Callable[[Recipe], GraphEstimator] | None = None
    applies: Callable[[MultilayerGraph], bool] = _everywhere
    fits: Callable[[MultilayerGraph], bool] = _everywhere
    credit: Callable[[int], float] = lambda labels: CREDIT_LABELS
    slow: bool = False

    def made(self, recipe: Recipe) -> Any:
        """The method for a mixture."""
        if self.make is not None:
            return self.make(recipe)
        seed_argument = {"random_state": recipe.seed} if "random_state" in self.estimator._get_param_names() else {}
        return self.estimator(**seed_argument)

    def in_words(self, model: GraphEstimator) -> str:
        """What the fitted method does."""
        return self.words if isinstance(self.words, str) else self.words(model)


INGREDIENTS: dict[str, Ingredient] = {}
"""All ingredients by name."""


def register_ingredient(ingredient: Ingredient) -> Ingredient:
    """Make an ingredient known to GrammeAuto, by default and by its name."""
    INGREDIENTS[ingredient.name] = ingredient
    return ingredient


def names_for(
    graph: MultilayerGraph, wanted: Collection[str] | None = None, ingredients: Mapping[str, Ingredient] = INGREDIENTS
) -> list[str]:
    """The ingredients that are wanted, or else all that apply to a graph and fit; the slow ones last."""
    if wanted is not None:
        ingredient_names = [name for name in ingredients if name in wanted]
    else:
        ingredient_names = [name for name, one in ingredients.items() if one.applies(graph) and one.fits(graph)]
    return sorted(ingredient_names, key=lambda name: ingredients[name].slow)


def too_large_for(graph: MultilayerGraph, ingredients: Mapping[str, Ingredient] = INGREDIENTS) -> list[str]:
    """The ingredients that would take part if a graph were smaller."""
    return [name for name, one in ingredients.items() if one.applies(graph) and not one.fits(graph)]


# The ingredients


def _groups(recipe: Recipe) -> GraphEstimator:
    # where the neighbourhood model looks at the features, the groups alone are left to this one
    return OneHotLogistic(
        use_features="neighbourhood-logistic" not in recipe.names, weigh_layers=True, random_state=recipe.seed
    )


def _maps_in_words(model: LabelShares) -> str:
    map_words = model.maps_in_words()
    general_words = "what the labels of neighbours say, learned for each layer"
    return f"{general_words} ({map_words})" if map_words else general_words


def _spectral_credit(labels: int) -> float:
    # it has least to learn: up to ten labels two more, beyond falling with the square of their number
    return CREDIT_LABELS + 2.0 * min(1.0, 10 / labels) ** 2


def attention_settings(recipe: Recipe) -> dict[str, Any]:
    """The parameters that the attention model of a mixture takes over from it."""
    shared_names = ("ensemble", "epochs", "features", "progress", "device")
    return {"random_state": recipe.seed} | {name: recipe.settings[name] for name in shared_names}


for _ingredient in (
    Ingredient("label-propagation", LabelPropagation, "known labels spreading to neighbours (label propagation)"),
    Ingredient(
        "one-hot-logistic", OneHotLogistic, lambda model: f"a linear model of {model.columns_in_words()}", make=_groups
    ),
    Ingredient(
        "label-shares",
        LabelShares,
        _maps_in_words,
        # of many small layers no map of classes could be learned
        applies=lambda graph: not isinstance(graph, PartGraph) and graph.num_layers <= 200,
        fits=lambda graph: 3 * graph.num_entries <= MAX_TABLE_NUMBERS,
    ),
    Ingredient(
        "spectral-logistic",
        SpectralLogistic,
        "a linear model of where walks through the network lead",
        fits=lambda graph: node_count(graph) * 2 * SpectralLogistic().dim <= MAX_TABLE_NUMBERS,
        credit=_spectral_credit,
    ),
    Ingredient(
        "neighbourhood-logistic",
        NeighbourhoodLogistic,
        "a linear model of the features in each node's surroundings",
        # the named numbers of a table have units of their own, and no directions
        applies=lambda graph: numbers_needed(graph) > 0 and graph.feature_names is None,
        fits=lambda graph: numbers_needed(graph) <= MAX_TABLE_NUMBERS,
        credit=lambda labels: 1.0,
    ),
    Ingredient(
        "boosting",
        TableBoosting,
        lambda model: f"boosted trees on numbers and groups{model.columns_in_words()}",
        applies=boosting_applies,
    ),
    Ingredient(
        "gramme-fusion",
        GrammeFusion,
        "attention within each layer (GrAMME-Fusion)",
        make=lambda recipe: GrammeFusion(**attention_settings(recipe)),
        fits=lambda graph: graph.num_layers <= MAX_LAYERS_ONE_BY_ONE,
        slow=True,
    ),
):
    register_ingredient(_ingredient)
