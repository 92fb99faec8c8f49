"""What the parameters of the attention models may be."""

from __future__ import annotations

from collections.abc import Mapping

from gramme.methods.attention.inputs import SOURCES
from gramme.methods.parameters import (
    POSITIVE,
    SHARE,
    Choice,
    Device,
    Flag,
    Number,
    Optional,
    PerClass,
    PerLayer,
    RandomState,
    Rule,
    WholeNumber,
)
from gramme.nn import ACTIVATIONS, COMBINE, KINDS

RULES: Mapping[str, Rule] = {
    "feature_dim": WholeNumber(),
    "hidden_dim": WholeNumber(),
    "heads": PerLayer(WholeNumber()),
    "depth": PerLayer(WholeNumber()),
    "learning_rate": POSITIVE,
    "epochs": WholeNumber(),
    "dropout": SHARE,
    "attention_dropout": SHARE,
    "weight_decay": Number(0),
    "activation": Choice(*ACTIVATIONS),
    "head_weights": Choice(*KINDS),
    "combine_heads": Choice(*COMBINE),
    "features": Optional(Choice(*SOURCES)),
    "ensemble": WholeNumber(),
    "validation_fraction": SHARE,
    "patience": WholeNumber(),
    "class_weight": Optional(PerClass(("balanced",), POSITIVE)),
    "progress": Optional(Flag()),
    "device": Device(),
    "random_state": RandomState(),
}
