"""The file of a mixture holds the fitted models it is made of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from gramme.methods.graph_estimator import GraphEstimator
from gramme.methods.saved_fields import SavedField, Sizes
from gramme.methods.saving import Learned, MisfitError, from_json, to_json

SHARED = ("classes", "layers", "nodes")  # what all ingredients know alike is saved once


class Kind(Protocol):
    """An ingredient, as far as its file goes: which class it is of."""

    @property
    def estimator(self) -> type[GraphEstimator]:
        """The class of the method."""


class SavedModels(SavedField):
    """The fitted ingredients, each with its parameters; what all of them know alike is saved once.

    Parameters
    ----------
    name : str
    ingredients : mapping of str to Ingredient
    """

    def __init__(self, name: str, ingredients: Mapping[str, Kind]) -> None:
        super().__init__(name)
        self.ingredients = ingredients

    def save(self, model: GraphEstimator, learned: Learned) -> None:
        learned.record[self.name] = {}
        for name, inner in getattr(model, self.attribute).items():
            own = inner._learned()
            learned.record[self.name][name] = {
                "parameters": {
                    key: to_json(value, key) for key, value in inner.get_params().items()
                },
                "learned": {key: v for key, v in own.record.items() if key not in SHARED},
            }
            learned.tensors |= {f"{name}/{key}": value for key, value in own.tensors.items()}

    def load(self, model: GraphEstimator, learned: Learned, sizes: Sizes) -> None:
        entry = self.entry(learned.record)
        if not isinstance(entry, dict) or not set(entry) <= set(self.ingredients):
            raise self.misfit("models by the names of ingredients", entry)
        shared = {key: learned.record[key] for key in SHARED if key in learned.record}
        found = {}
        for name, saved in entry.items():
            try:
                parameters = {key: from_json(value) for key, value in saved["parameters"].items()}
                record = saved["learned"] | shared
            except (TypeError, KeyError, AttributeError) as error:
                raise self.misfit(f"parameters and what was learned for {name}") from error
            start = f"{name}/"
            tensors = {
                key.removeprefix(start): value
                for key, value in learned.tensors.items()
                if key.startswith(start)
            }
            try:
                kind = self.ingredients[name].estimator
                found[name] = kind._restored(parameters, Learned(record, tensors))
            except MisfitError as error:
                raise MisfitError(f"{name}: {error}") from error
        setattr(model, self.attribute, found)
