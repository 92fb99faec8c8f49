"""The names of a fitted method in its file: nodes, layers and classes, and the label of every node."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from gramme.errors import DataError
from gramme.graph.arrays import loose_index
from gramme.methods.saved_fields import SavedArray, SavedField, Sizes
from gramme.methods.saving import (
    Learned,
    MisfitError,
    from_json,
    natural_array,
    plain_name,
    to_json,
)

if TYPE_CHECKING:
    from gramme.methods.graph_estimator import GraphEstimator


class SavedNames(SavedField):
    """The names of nodes, layers or classes; sets the size of that dimension.

    Parameters
    ----------
    name : {"nodes", "layers", "classes"}
    """

    def save(self, model: GraphEstimator, learned: Learned) -> None:
        names = getattr(model, self.attribute)
        if self.name == "layers":
            learned.record[self.name] = names
        elif self.name == "classes":
            learned.record[self.name] = [to_json(label, "a class") for label in names.tolist()]
        else:
            plain_names = [plain_name(name) for name in names]
            if len(set(map(repr, plain_names))) < len(plain_names):
                raise DataError(
                    "two nodes have the same name as text, so the model cannot be saved"
                )
            learned.record[self.name] = plain_names

    def load(self, model: GraphEstimator, learned: Learned, sizes: Sizes) -> None:
        names = unique_names(self, self.entry(learned.record))
        least = {"classes": 2, "layers": 1}.get(self.name, 0)
        if len(names) < least:
            raise self.misfit(f"a list of at least {least}", names)
        sizes[self.name] = len(names)
        if self.name == "nodes":
            setattr(model, self.attribute, loose_index(names))
        elif self.name == "classes":
            setattr(model, self.attribute, natural_array(names))
        else:
            if not all(isinstance(name, str) for name in names):
                raise self.misfit("a list of texts", names)
            setattr(model, self.attribute, names)


class SavedLayerOrder(SavedField):
    """The layers in the order of the method's own arrays; files of older versions have them as they were given."""

    def save(self, model: GraphEstimator, learned: Learned) -> None:
        learned.record[self.name] = model.layer_order_

    def load(self, model: GraphEstimator, learned: Learned, sizes: Sizes) -> None:
        names = learned.record.get(self.name, model.layers_)
        if not isinstance(names, list) or sorted(map(repr, names)) != sorted(
            map(repr, model.layers_)
        ):
            raise self.misfit("the names of the layers", names)
        model.layer_order_ = list(names)


class SavedTransduction(SavedField):
    """A label for every node, in the file as the number of its class."""

    def __init__(self) -> None:
        super().__init__("transduction")
        self.codes = SavedArray(self.name, np.int32, ("nodes",), below="classes")

    def save(self, model: GraphEstimator, learned: Learned) -> None:
        number = {label: place for place, label in enumerate(model.classes_.tolist())}
        codes = [number[label] for label in model.transduction_.tolist()]
        learned.tensors[self.name] = torch.tensor(codes, dtype=torch.int32)

    def load(self, model: GraphEstimator, learned: Learned, sizes: Sizes) -> None:
        if self.name not in learned.tensors:
            raise MisfitError(f"{self.name} is missing")
        codes = self.codes.array(learned.tensors[self.name], sizes)
        model.transduction_ = model.classes_[codes]


def unique_names(field: SavedField, entry: Any) -> list[Any]:
    """Names from a file, which must be a list without repetition."""
    if not isinstance(entry, list):
        raise field.misfit("a list", entry)
    names = from_json(entry)
    try:
        repeated = len(set(names)) < len(names)
    except TypeError as error:
        raise field.misfit("a list of texts, numbers and tuples of them") from error
    if repeated:
        raise field.misfit("a list without repetition")
    return list(names)
