"""The features a network starts from: which are used, that random ones follow names, that copies differ by layer."""

import numpy as np
import pytest
import torch
from tests.methods.graphs import planted

from gramme import DataError
from gramme.methods.attention.inputs import (
    feature_columns,
    feature_source,
    given_columns,
    input_features,
)

BARE = planted()
OWN = np.random.default_rng(0).normal(size=(36, 3))
WITH = planted(features=OWN)
CPU = torch.device("cpu")


def features(graph, seeds=(1,), source="random", per_layer=False):
    return input_features(graph, list(seeds), source=source, dim=4, per_layer=per_layer, device=CPU)


def test_a_graphs_own_features_are_taken_where_it_has_some():
    assert (given_columns(BARE), given_columns(WITH)) == (0, 3)
    assert feature_source(BARE, None) == "random"
    assert feature_source(WITH, None) == "given"
    assert feature_source(WITH, "random") == "random"
    with pytest.raises(DataError, match="features='both' needs a graph with features"):
        feature_source(BARE, "both")


@pytest.mark.parametrize(("source", "columns"), [("random", 4), ("given", 3), ("both", 7)])
def test_columns(source, columns):
    assert feature_columns(WITH, source, 4) == columns
    assert features(WITH, (1, 2), source).shape == (36, 2, columns)


def test_random_features_follow_names_and_seeds():
    one, two = features(BARE, (1, 2)).unbind(1)
    assert not torch.equal(one, two)
    assert torch.equal(one, features(BARE, (1,))[:, 0])
    order = BARE.subgraph(BARE.nodes[::-1])
    assert torch.equal(features(order)[:, 0].flip(0), one)


def test_copies_in_the_supra_graph_have_features_of_their_own():
    found = features(BARE, per_layer=True)
    assert found.shape == (72, 1, 4)
    assert not torch.equal(found[:36], found[36:])


def test_the_graphs_own_features_come_first():
    both = features(WITH, source="both")[:, 0]
    np.testing.assert_allclose(both[:, :3], OWN, rtol=1e-6)
    assert torch.equal(both[:, 3:], features(WITH)[:, 0])


@pytest.mark.parametrize("value", [1e30, -1e38, 1e300])
def test_features_too_large_for_32_bits_are_named(value):
    large = OWN.copy()
    large[4, 2] = value
    with pytest.raises(DataError, match="column 2 of node 'n4' is too large"):
        features(planted(features=large), source="given")
