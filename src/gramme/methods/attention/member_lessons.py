"""What each member of an attention model learns from, of the labels it may see."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gramme.errors import GrammeWarning
from gramme.graph import MultilayerGraph
from gramme.methods.attention.class_weight import label_weights
from gramme.methods.labels import KnownLabels, coded_labels
from gramme.training import Lessons, held_out_labels

if TYPE_CHECKING:
    from gramme.methods.attention.estimator import AttentionModel


def lessons_of(
    model: AttentionModel,
    graph: MultilayerGraph,
    known: KnownLabels,
    seen: NDArray[np.bool_],
    validation: Any = None,
) -> Lessons:
    """What each member learns from, and which labels tell it when to stop.

    Parameters
    ----------
    model : AttentionModel
        Its settings and its seed count.
    graph : MultilayerGraph
    known : KnownLabels
    seen : array of bool, shape (labelled, members)
        Which labels each member may see.
    validation : sequence, mapping or Series, optional
        Labels of further nodes that decide when to stop, in place of some of those that are seen.
    """
    weights = label_weights(model.class_weight, known)[:, None] * seen
    if validation is not None:
        coded = coded_labels(graph, validation, known.classes, "validation", strict=True)
        return Lessons(known.nodes, known.codes, weights, validation=coded, graph=graph)
    aside = None
    if model.validation_fraction > 0:
        aside = held_out_labels(known.codes, seen, model.validation_fraction, model.seed_)
        if aside is None:
            warnings.warn(
                f"validation_fraction={model.validation_fraction} of {known.nodes.size} labels in "
                f"{len(known.classes)} classes sets none aside, so all {model.epochs} epochs are trained",
                GrammeWarning,
                stacklevel=6,
            )
    return Lessons(known.nodes, known.codes, weights, aside, graph=graph)
