"""GrammeSG: the contract of every method, and what is its own."""

import pytest
from tests.methods.cases import MethodCase
from tests.methods.graphs import PINNED, planted

from gramme import DataError, GrammeSG

FAST = PINNED | {"epochs": 25, "hidden_dim": 8, "feature_dim": 32, "learning_rate": 0.02}


class TestGrammeSG(MethodCase):
    name = "gramme-sg"
    arguments = FAST | {"epochs": 4}
    trained = FAST
    inductive = True


@pytest.mark.parametrize("name", ["heads", "depth"])
def test_all_layers_share_the_weights(name):
    with pytest.raises(DataError, match=f"{name} must be one number: all layers share the weights"):
        GrammeSG(**FAST | {name: {"friends": 1, "room": 2}}).fit(planted())


def test_features_may_be_shared_by_the_copies_of_a_node():
    graph = planted()
    own = GrammeSG(**FAST | {"epochs": 1}).fit(graph).probabilities_
    shared = GrammeSG(**FAST | {"epochs": 1}, shared_features=True).fit(graph).probabilities_
    assert (own != shared).any()
