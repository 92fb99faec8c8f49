"""What the file of an attention model holds besides: the sizes of its networks and how much they rely on each layer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, asdict, fields
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd
from torch import Tensor

from gramme.errors import DataError
from gramme.methods.attention.feature_sources import SOURCES, InputFeatures
from gramme.methods.attention.given_features import SavedScales
from gramme.methods.linear.walk_profile import SavedProfile
from gramme.methods.parameters import (
    POSITIVE,
    SHARE,
    Choice,
    Number,
    Optional,
    Rule,
    WholeNumber,
)
from gramme.methods.saved_fields import (
    SavedField,
    SavedTable,
    SavedValue,
    SavedWeights,
    Sizes,
    check_weights,
)
from gramme.methods.saving import Learned, MisfitError
from gramme.nn import ACTIVATIONS, HEAD_COMBINATIONS, HEAD_WEIGHTS, READOUTS, Network, Shape

if TYPE_CHECKING:
    from gramme.methods.attention.estimator import AttentionModel
    from gramme.methods.graph_estimator import GraphEstimator


class SavedShape(SavedField):
    """The sizes and choices of the networks."""

    RULES: ClassVar[Mapping[str, Rule]] = {
        "layers": WholeNumber(),
        "in_dim": WholeNumber(),
        "hidden_dim": WholeNumber(),
        "classes": WholeNumber(),
        "head_weights": Choice(*HEAD_WEIGHTS),
        "activation": Choice(*ACTIVATIONS),
        "dropout": SHARE,
        "attention_dropout": SHARE,
        "combine_heads": Choice(*HEAD_COMBINATIONS),
        "score_bound": Optional(POSITIVE),
        "readout": Choice(*READOUTS),
    }

    def save(self, model: GraphEstimator, learned: Learned) -> None:
        learned.record[self.name] = asdict(getattr(model, self.attribute))

    def load(self, model: GraphEstimator, learned: Learned, sizes: Sizes) -> None:
        entry = self.entry(learned.record)
        known = {one.name: one for one in fields(Shape)}
        needed = {name for name, one in known.items() if one.default is MISSING}
        if not isinstance(entry, dict) or not needed <= set(entry) <= set(known):
            raise self.misfit("the sizes of a network", entry)
        found: dict[str, Any] = {}
        for name, value in entry.items():
            try:
                if name in self.RULES:
                    found[name] = self.RULES[name].check(name, value)
                elif not isinstance(value, list) or len(value) != sizes["layers"]:
                    raise self.misfit(f"such that {name} has a number per layer", value)
                else:
                    found[name] = tuple(WholeNumber().check(name, one) for one in value)
            except DataError as error:
                raise MisfitError(f"{self.name}: {error}") from error
        setattr(model, self.attribute, Shape(**found))


class SavedImportances(SavedField):
    """How much each member relies on each layer."""

    def save(self, model: GraphEstimator, learned: Learned) -> None:
        learned.record[self.name] = getattr(model, self.attribute).to_numpy().tolist()

    def load(self, model: GraphEstimator, learned: Learned, sizes: Sizes) -> None:
        entry = self.entry(learned.record)
        try:
            table = np.array(entry, dtype=np.float64)
        except (TypeError, ValueError, OverflowError) as error:
            raise self.misfit("a table of numbers", entry) from error
        if table.ndim != 2 or table.shape[1] != sizes["layers"] or not np.isfinite(table).all():
            raise self.misfit("a row of finite numbers per member, one for each layer", entry)
        setattr(model, self.attribute, pd.DataFrame(table, columns=model.layers_))


NETWORK_FIELDS: tuple[SavedField, ...] = (
    SavedValue("source", Choice(*SOURCES)),
    SavedProfile("profile", optional=True),
    SavedScales("scales"),
    SavedValue("walk_size", Number(0), default=1.0),
    SavedValue("seed", WholeNumber(0)),
    SavedValue("members", WholeNumber(0)),
    SavedShape("shape"),
    SavedTable("history"),
    SavedWeights("state"),
)
"""What the file of every model with attention networks holds, whatever it predicts."""

FIELDS: tuple[SavedField, ...] = (
    *NETWORK_FIELDS,
    SavedImportances("importance", attribute="layer_importances_"),
)
"""What the file of an attention model holds."""


def check_networks(model: AttentionModel, network: Callable[[], Network]) -> None:
    """Raise a MisfitError if what a file holds is not of the network that the parameters describe."""
    shape = model.shape_
    if (shape.layers, shape.classes) != (len(model.layers_), len(model.classes_)):
        raise MisfitError("shape does not match the layers and classes")
    check_members(shape, model._inputs(), model.state_, model.members_, network)


def check_members(
    shape: Shape,
    inputs: InputFeatures,
    state: Mapping[str, Tensor],
    members: int,
    network: Callable[[], Network],
) -> None:
    """Raise a MisfitError if weights from a file are not those of so many networks on these features."""
    if ("walks" in inputs.source) != (inputs.profile is not None):
        raise MisfitError(
            "there must be a walk profile if networks start from walks, and else none"
        )
    if inputs.columns != shape.in_dim or inputs.layer_columns < 0:
        raise MisfitError(f"the in_dim of shape must go with the features, not be {shape.in_dim}")
    if sum(shape.depth) > len(shape.depth) * len(state):
        raise MisfitError("there are fewer weights than hops")
    expected = network().state_dict()
    check_weights(state, {name: (members, *value.shape[1:]) for name, value in expected.items()})
