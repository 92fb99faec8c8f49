"""Members of an ensemble: batches that fit the cache, seeds of their own."""

import torch
from tests.methods.graphs import planted

from gramme.methods.attention import members as module
from gramme.methods.attention.feature_sources import InputFeatures
from gramme.methods.attention.members import Members
from gramme.nn import SGNetwork, Shape, supra_plan

GRAPH = planted(12)
SHAPE = Shape(2, 5, 3, 2, (2, 2), (1, 1))


def members(seed=0):
    def network(shape, random):
        return SGNetwork(shape, random, pool="end")

    return Members(network, SHAPE, seed, InputFeatures("random", 5), False, torch.device("cpu"))


def test_batches_hold_every_member_once_and_no_more_numbers_than_allowed(monkeypatch):
    plan = supra_plan(GRAPH, SHAPE)
    assert plan.numbers(SHAPE) == 12 * 2 * 2 * 3
    monkeypatch.setattr(module, "MAX_BATCH_NUMBERS", 3 * plan.numbers(SHAPE))
    assert members().batches(plan, 7) == [range(3), range(3, 6), range(6, 7)]
    assert members().batches(plan, 0) == []
    monkeypatch.setattr(module, "MAX_BATCH_NUMBERS", 1)
    assert members().batches(plan, 2) == [range(1), range(1, 2)]


def test_a_member_is_the_same_in_any_batch():
    together, features = members().new(GRAPH, range(3))
    alone, own = members().new(GRAPH, range(1, 2))
    assert torch.equal(features[:, 1], own[:, 0])
    for name, value in together.state_dict().items():
        assert torch.equal(value[1:2], alone.state_dict()[name])


def test_another_seed_gives_other_members():
    one, other = members(0).features(GRAPH, range(1)), members(1).features(GRAPH, range(1))
    assert not torch.equal(one, other)


def test_trained_weights_are_those_of_the_members_asked_for():
    state = members(5).new(GRAPH, range(3))[0].state_dict()
    network, _ = members().trained(GRAPH, range(1, 3), state)
    for name, value in network.state_dict().items():
        assert torch.equal(value, state[name][1:3])
