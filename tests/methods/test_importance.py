"""Importance of layers: one that joins no nodes tells nothing, whatever a method has fitted to it."""

import numpy as np
import pytest

from gramme.graph import EdgeLayer, MembershipLayer, MultilayerGraph
from gramme.methods import GrammeFusion, GrammeSG, LabelPropagation, OneHotLogistic
from gramme.methods.importance import shares_of_joined
from gramme.methods.linear.spectral_logistic import SpectralLogistic

COUNT = 24


def graph() -> MultilayerGraph:
    code = np.arange(COUNT) % 2
    layers = {
        "vote": MembershipLayer.from_codes(code),
        "name": MembershipLayer.from_codes(np.arange(COUNT)),
        "none": EdgeLayer(COUNT, [], []),
    }
    return MultilayerGraph(layers, labels=np.where(np.arange(COUNT) < 16, code, None))


@pytest.mark.parametrize(
    "model",
    [
        GrammeFusion(ensemble=2, epochs=5, progress=False, random_state=0),
        GrammeSG(ensemble=1, epochs=5, progress=False, random_state=0),
        LabelPropagation(random_state=0),
        OneHotLogistic(random_state=0),
        SpectralLogistic(random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_a_layer_that_joins_nobody_has_no_importance(model) -> None:
    shares = model.fit(graph()).layer_importance_
    assert shares.to_dict() == {"vote": 1.0, "name": 0.0, "none": 0.0}


def test_where_no_layer_joins_anybody_all_are_zero() -> None:
    empty = MultilayerGraph({"a": EdgeLayer(3, [], []), "b": EdgeLayer(3, [], [])})
    assert shares_of_joined(np.array([0.4, 0.6]), empty).tolist() == [0.0, 0.0]
    joined = MultilayerGraph({"a": EdgeLayer(3, [0], [1]), "b": EdgeLayer(3, [], [])})
    assert shares_of_joined(np.array([[0.0, 0.0], [0.1, 0.9]]), joined).tolist() == [[1, 0], [1, 0]]


@pytest.mark.parametrize(
    "model",
    [
        LabelPropagation(random_state=0),
        OneHotLogistic(random_state=0),
        SpectralLogistic(random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_a_copy_for_a_fold_predicts_alike_and_is_not_explained(model) -> None:
    seen = graph()
    copy = model.fit(seen).fit_copy(seen)
    np.testing.assert_allclose(copy.probabilities_, model.probabilities_, rtol=1e-6)
    assert not hasattr(copy, "layer_importance_"), "nobody asks a copy what its layers count"
