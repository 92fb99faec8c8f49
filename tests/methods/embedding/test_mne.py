from typing import ClassVar

import pytest
from tests.methods.cases import MethodCase
from tests.methods.graphs import planted

from gramme import DataError
from gramme.methods import MNE


class TestMNE(MethodCase):
    name = "mne"
    arguments: ClassVar = {
        "walks_per_node": 2,
        "common_dim": 16,
        "layer_dim": 3,
        "common_epochs": 2,
        "layer_epochs": 1,
        "cache": False,
    }
    trained: ClassVar = {"walks_per_node": 5, "common_epochs": 10, "layer_epochs": 3}


def test_the_layers_part_counts_by_its_weight():
    without, much = (MNE(weight=w, random_state=0, **FEW).fit(planted()) for w in (0, 1))
    assert (without.embedding_ != much.embedding_).any()


FEW = {"walks_per_node": 2, "common_dim": 4, "common_epochs": 2, "layer_epochs": 2, "cache": False}


@pytest.mark.parametrize("wrong", [{"weight": -1}, {"layer_dim": 0}, {"common_epochs": 0}])
def test_wrong_parameters_are_a_clear_error(wrong):
    with pytest.raises(DataError, match=next(iter(wrong))):
        MNE(**wrong).fit(planted())
