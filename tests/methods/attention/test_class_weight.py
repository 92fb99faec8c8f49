"""Labels weighted by class."""

import numpy as np
import pytest
from tests.methods.graphs import planted

from gramme import DataError
from gramme.methods.attention.class_weight import label_weights
from gramme.methods.labels import known_labels

KNOWN = known_labels(planted(), {"n0": "a", "n1": "a", "n2": "a", "n3": "b"})


def test_balanced_weights_give_every_class_the_same_say():
    weights = label_weights("balanced", KNOWN)
    assert weights[:3].sum() == pytest.approx(weights[3])


def test_weights_by_class():
    assert label_weights(None, KNOWN).tolist() == [1, 1, 1, 1]
    assert label_weights({"b": 2.5}, KNOWN).tolist() == [1, 1, 1, 2.5]
    with pytest.raises(DataError, match=r"names 'z', which is not a class; classes: \['a', 'b'\]"):
        label_weights({"z": 1.0}, KNOWN)
    assert label_weights("balanced", KNOWN).dtype == np.float64
