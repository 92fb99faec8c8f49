"""What a prediction rests on: nodes that share nothing with the fit are told from those that do."""

import numpy as np
import pytest

from gramme.graph import EdgeLayer, MembershipLayer, MultilayerGraph
from gramme.methods import LabelPropagation, OneHotLogistic
from gramme.methods.basis import prediction_basis


def fitted(method):
    layers = {
        "talk": EdgeLayer(4, [0, 2], [1, 3]),
        "city": MembershipLayer.from_values(["x", "x", "y", "y"]),
    }
    return method.fit(MultilayerGraph(layers, nodes=list("ABCD"), labels=["l", None, "r", None]))


def other(features=None) -> MultilayerGraph:
    """A was met; E is joined to it, F to E; G is in its city, H in a city the linear model knows; I is alone."""
    layers = {
        "talk": EdgeLayer(6, [0, 1], [1, 2]),
        "city": MembershipLayer.from_values(["z", None, None, "z", "y", "w"]),
    }
    return MultilayerGraph(layers, nodes=list("AEFGHI"), features=features)


@pytest.mark.parametrize(
    ("method", "known_group"), [(LabelPropagation(), "nothing"), (OneHotLogistic(C=1.0), "groups")]
)
def test_the_first_that_holds(method, known_group: str) -> None:
    basis = prediction_basis(fitted(method), other()).tolist()
    assert basis == ["neighbours", "neighbours", "neighbours", "groups", known_group, "nothing"]


def test_features_count_only_where_the_model_reads_them() -> None:
    features = np.eye(6)
    assert prediction_basis(fitted(LabelPropagation()), other(features))[5] == "nothing"
    graph = MultilayerGraph(
        {"a": EdgeLayer(4, [0, 2], [1, 3])}, labels=["l", "l", "r", "r"], features=np.eye(4)
    )
    model = OneHotLogistic(C=1.0).fit(graph)
    new = MultilayerGraph({"a": EdgeLayer(2, [], [])}, nodes=["x", "y"], features=np.eye(2, 4))
    assert prediction_basis(model, new).tolist() == ["features", "features"]
