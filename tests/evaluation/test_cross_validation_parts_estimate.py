"""Estimates of a model that several processes fit are those of one process, to the label."""

import numpy as np
import pytest
from tests.distributed.graphs import graph, parts_of
from tests.distributed.processes import together

from gramme.distributed import Communicator, read_part
from gramme.evaluation import cross_validate, hold_out, holdout_estimate
from gramme.evaluation.cross_validation import cross_validate_parts, estimate_set_aside, set_aside
from gramme.methods import LabelPropagation
from gramme.methods.labels import known_labels

pytestmark = pytest.mark.distributed

# Told how to spread: what it would choose by itself is compared in tests/methods/test_gather.py.
TOLD = {"alpha": 0.6, "sharpness": 2.0, "layer_weights": "equal", "random_state": 0}


def estimates(communicator: Communicator, folder) -> list[dict]:
    part = read_part(folder, communicator)
    known = known_labels(part)
    model = LabelPropagation(**TOLD)
    crossed = cross_validate_parts(model, part, known, folds=3)
    model.fit(part, known.without(set_aside(known, 0.4, 1)))
    aside = estimate_set_aside(model, part, known, 0.4, 1)
    return [one.record() | {"tested": one.tested.tolist()} for one in (crossed, aside)]


def test_folds_and_labels_set_aside_are_the_same(tmp_path):
    whole = graph("mixed")
    model = LabelPropagation(**TOLD)
    split = hold_out(whole.labels, 0.4, 1, whole.nodes)
    fitted = LabelPropagation(**TOLD).fit(whole, split.train)
    expected = [
        cross_validate(model, whole, whole.labels, folds=3),
        holdout_estimate(split, fitted.classes_, fitted.predict_proba()),
    ]
    for found in together(2, estimates, parts_of(whole, tmp_path, 2)):
        for one, other in zip(found, expected, strict=True):
            # parts number the nodes in the order of their names
            tested = {sorted(whole.nodes)[place] for place in one.pop("tested")}
            assert tested == set(whole.nodes[np.asarray(other.tested)])
            record = other.record()
            for key in ("kind", "note", "nodes", "accuracy", "confusion", "recall", "folds"):
                assert one.get(key) == record.get(key), key
