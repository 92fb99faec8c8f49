"""An estimate from predictions that a fit has already made, for labels by models that had not seen them.

A mixture weights its ingredients by their predictions for labels they have not learned from. The same predictions,
mixed and calibrated with what the other folds say, are predictions of the whole mixture for labels it has not seen. So
its accuracy is known without further fits (``benchmarks/estimate_check.py`` compares it with the truth).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gramme.evaluation.cross_validation import nodes_without_label, untested_note
from gramme.evaluation.estimate import Estimate, UnseenPredictions, joined_estimate
from gramme.methods import NodeClassifier

CROSS_FITTING = "cross-fitting"


def fitted_estimate(model: NodeClassifier, labels: NDArray[np.object_]) -> Estimate:
    """The estimate of a fitted model that tests itself (:attr:`~gramme.methods.NodeClassifier.tests_itself`).

    Parameters
    ----------
    model : NodeClassifier
        Fitted on these labels.
    labels : array of object, shape (nodes,)
        The known labels, None where unknown.
    """
    found = model.out_of_fold()
    counts = np.bincount(found.codes, minlength=len(model.classes_))
    counted = (
        counts[found.codes] > 1
    )  # the only label of a class cannot be predicted from the others
    single: list[Any] = [
        label for label, n in zip(model.classes_.tolist(), counts, strict=True) if n == 1
    ]
    nodes = found.nodes[counted]
    if not nodes.size:
        return Estimate("none", "every class has a single label, so none can be tested")
    folds = int(min(model.get_params()["folds"], found.nodes.size))
    part = UnseenPredictions(
        nodes, list(labels[nodes]), model.classes_.tolist(), found.probabilities[counted]
    )
    note = (
        f"while it was fitted the labelled nodes were divided into {folds} parts, and each part was predicted by "
        "ingredients that learned from the other parts only, weighed and calibrated by the other parts only; penalties "
        "and the like were chosen once, for all parts"
    )
    return joined_estimate(
        CROSS_FITTING,
        note + untested_note(single),
        [part],
        folds=folds,
        folds_tested=folds,
        to_predict=nodes_without_label(labels),
    )
