"""Whom a node hears: sums by neighbour and group are those of the neighbourhood sums that methods use."""

import numpy as np
import pytest
import torch
from tests.methods.auto.test_gramme_auto import fits

from gramme.graph import EdgeLayer, MembershipLayer, MultilayerGraph
from gramme.methods import GrammeFusion, GrammeSG, LabelPropagation, OneHotLogistic
from gramme.methods.contributions import (
    GROUPS,
    NEIGHBOURS,
    NeighbourContributions,
    Pair,
    kind_of,
    logarithmic_mean,
    shares_of_joined,
)
from gramme.methods.linear.spectral_logistic import SpectralLogistic
from gramme.ops.stacked import stack

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
    [LabelPropagation(random_state=0), OneHotLogistic(random_state=0), SpectralLogistic(random_state=0)],
    ids=lambda model: type(model).__name__,
)
def test_a_copy_for_a_fold_predicts_alike_and_is_not_explained(model) -> None:
    seen = graph()
    copy = model.fit(seen)._fit_copy(seen)
    np.testing.assert_allclose(copy.probabilities_, model.probabilities_, rtol=1e-6)
    assert not hasattr(copy, "layer_importance_"), "nobody asks a copy what its layers count"


RANDOM = np.random.default_rng(0)


def layers() -> list:
    several = MembershipLayer(
        40, RANDOM.integers(40, size=90), RANDOM.integers(6, size=90), weight=RANDOM.uniform(0.5, 2, 90)
    )
    return [*fits()[2].layers.values(), several]


@pytest.mark.parametrize("place", range(4))
def test_sums_are_the_neighbourhood_sums(place: int) -> None:
    layer = layers()[place]
    values = RANDOM.normal(size=(40, 3))
    rows = np.array([3, 0, 17])
    wanted = stack([layer], 40)(torch.from_numpy(values)).numpy()[rows]
    assert np.allclose(NeighbourContributions.of("one", layer, rows).sums(values), wanted)


@pytest.mark.parametrize("place", range(4))
def test_parts_and_the_node_itself_are_the_product_with_the_sum(place: int) -> None:
    layer = layers()[place]
    values, rows = RANDOM.normal(size=(40, 3)), np.array([5, 30, 2, 11])
    directions = RANDOM.normal(size=(4, 3))
    heard = NeighbourContributions.of("one", layer, rows)
    through = heard.through(heard.parts(values, directions), np.array([1.0, 2, 3, 4]))
    itself = (values[rows] * directions).sum(axis=1)
    wanted = (heard.sums(values) * directions).sum(axis=1)
    found = np.asarray(through.parts.sum(axis=1)) / [1, 2, 3, 4] + itself
    assert np.allclose(found, wanted)
    assert through.kind == kind_of(layer) == (NEIGHBOURS if place == 0 else GROUPS)


def test_a_pair_compares_two_classes() -> None:
    pair = Pair(np.array([4, 7]), np.array([0, 2]), np.array([1, 0]))
    values = np.array([[0.5, 0.3, 0.2], [0.1, 0.2, 0.7]])
    assert np.allclose(pair.difference(values), [0.2, 0.6])
    assert np.allclose((pair.direction(3) * values).sum(axis=1), [0.2, 0.6])
    assert np.allclose(pair.log_odds(values), np.log([5 / 3, 7]))


def test_the_logarithmic_mean_lies_between() -> None:
    one, other = np.array([0.2, 0.9]), np.array([0.8, 0.9])
    mean = logarithmic_mean(one, other)
    assert 0.2 < mean[0] < 0.8
    assert mean[1] == 0.9
