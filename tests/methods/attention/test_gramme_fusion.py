"""GrammeFusion: the contract of every method, and what is its own."""

import pytest
from tests.methods.cases import MethodCase
from tests.methods.graphs import PINNED, planted

from gramme import DataError, GrammeFusion

FAST = PINNED | {"epochs": 25, "hidden_dim": 8, "feature_dim": 32, "learning_rate": 0.02}


class TestGrammeFusion(MethodCase):
    name = "gramme-fusion"
    arguments = FAST | {"epochs": 4}
    trained = FAST
    inductive = True


def test_hops_of_unlike_depth_cannot_be_fused_at_every_hop():
    graph = planted()
    unlike = {"friends": 1, "room": 2}
    with pytest.raises(DataError, match="need the same depth; use fuse='end'"):
        GrammeFusion(**FAST | {"depth": unlike}).fit(graph)
    model = GrammeFusion(**FAST | {"depth": unlike, "epochs": 1}, fuse="end").fit(graph)
    assert model.shape_.depth == (1, 2)
