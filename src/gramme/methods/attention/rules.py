"""Which values the parameters of the attention models may have, and what their defaults mean."""

from __future__ import annotations

from collections.abc import Mapping

from gramme.methods.attention.feature_sources import SOURCES
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
from gramme.nn import ACTIVATIONS, HEAD_COMBINATIONS, HEAD_WEIGHTS, READOUTS

RULES: Mapping[str, Rule] = {
    "feature_dim": Optional(WholeNumber()),
    "hidden_dim": WholeNumber(),
    "heads": PerLayer(WholeNumber()),
    "depth": PerLayer(WholeNumber()),
    "learning_rate": POSITIVE,
    "epochs": WholeNumber(),
    "dropout": SHARE,
    "attention_dropout": SHARE,
    "weight_decay": Optional(Number(0)),
    "score_bound": Optional(POSITIVE),
    "activation": Choice(*ACTIVATIONS),
    "head_weights": Choice(*HEAD_WEIGHTS),
    "combine_heads": Choice(*HEAD_COMBINATIONS),
    "readout": Choice(*READOUTS),
    "features": Optional(Choice(*SOURCES)),
    "entry_sum": POSITIVE,
    "ensemble": WholeNumber(),
    "validation_fraction": SHARE,
    "patience": WholeNumber(),
    "class_weight": Optional(PerClass(("balanced",), POSITIVE)),
    "progress": Optional(Flag()),
    "device": Device(),
    "random_state": RandomState(),
}

DECAY_LABELS = 0.2
"""Weight decay times the number of labels if none is given; chosen on training labels, docs/defaults.md."""


def settled_decay(wanted: float | None, labels: int) -> float:
    """The weight decay: what was asked for, else the less the more labels there are."""
    return DECAY_LABELS / labels if wanted is None else wanted
