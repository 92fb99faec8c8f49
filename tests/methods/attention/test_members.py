"""Members of an ensemble: batches that fit the cache, seeds of their own."""

import numpy as np
import pytest
import torch
from tests.methods.graphs import half_known, planted

from gramme import DataError
from gramme.errors import GrammeWarning
from gramme.methods import GrammeFusion
from gramme.methods.attention import members as module
from gramme.methods.attention.features import InputFeatures
from gramme.methods.attention.members import EnsemblePredictions, Members, make_targets
from gramme.methods.labels import known_labels
from gramme.nn import Output, SGNetwork, Shape, supra_plan

KNOWN = known_labels(planted(), {"n0": "a", "n1": "a", "n2": "a", "n3": "b"})


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


MEMBER_LESSONS_GRAPH = planted(30)
Y = half_known(MEMBER_LESSONS_GRAPH)
MEMBER_LESSONS_KNOWN = known_labels(MEMBER_LESSONS_GRAPH, Y)


def model(**settings: object) -> GrammeFusion:
    made = GrammeFusion(**settings)
    made.seed_ = 0
    return made


def test_a_label_that_is_not_seen_counts_nothing() -> None:
    seen = np.ones((MEMBER_LESSONS_KNOWN.nodes.size, 2), dtype=bool)
    seen[0, 1] = False
    lessons = make_targets(model(), MEMBER_LESSONS_GRAPH, MEMBER_LESSONS_KNOWN, seen)
    np.testing.assert_array_equal(lessons.weights > 0, seen)
    assert lessons.held_out is None


def test_labels_set_aside_are_among_those_seen_and_none_where_they_are_too_few() -> None:
    seen = np.ones((MEMBER_LESSONS_KNOWN.nodes.size, 2), dtype=bool)
    lessons = make_targets(model(validation_fraction=0.4), MEMBER_LESSONS_GRAPH, MEMBER_LESSONS_KNOWN, seen)
    assert lessons.held_out is not None
    assert 0 < lessons.held_out.sum() < seen.sum()
    with pytest.warns(GrammeWarning, match="sets none aside"):
        assert (
            make_targets(model(validation_fraction=0.01), MEMBER_LESSONS_GRAPH, MEMBER_LESSONS_KNOWN, seen).held_out
            is None
        )
    with pytest.raises(DataError, match="both to learn from and in validation"):
        make_targets(model(), MEMBER_LESSONS_GRAPH, MEMBER_LESSONS_KNOWN, seen, validation=Y)
    labels = [str(MEMBER_LESSONS_KNOWN.classes[0])] * MEMBER_LESSONS_GRAPH.num_nodes
    others = {
        name: labels[place]
        for place, name in enumerate(MEMBER_LESSONS_GRAPH.nodes)
        if place not in set(MEMBER_LESSONS_KNOWN.nodes.tolist())
    }
    given = make_targets(model(), MEMBER_LESSONS_GRAPH, MEMBER_LESSONS_KNOWN, seen, validation=others)
    assert given.validation is not None


TALLY_GRAPH = planted(6, ("no", "yes"))
TALLY_KNOWN = known_labels(TALLY_GRAPH, {"n0": "no", "n2": "yes", "n5": "no", "n1": "yes"})


def said(members, seed=0):
    scores = torch.randn(6, members, 2, generator=torch.Generator().manual_seed(seed))
    return Output(scores, torch.zeros(6, members, 1))


def test_the_mean_over_batches_is_the_mean_over_members():
    tally = EnsemblePredictions(TALLY_GRAPH, TALLY_KNOWN, 5)
    one, two = said(3), said(2, seed=1)
    tally.add(range(3), one)
    tally.add(range(3, 5), two)
    every = torch.cat([one.scores, two.scores], dim=1).double().softmax(-1)
    np.testing.assert_allclose(tally.mean(), every.mean(1).numpy())
    assert tally.seen.shape == (4, 5)
    assert tally.seen.all()
    assert (tally.unseen == 0).all()


def test_members_that_leave_out_a_fold_speak_of_it_alone():
    fold = np.array([0, 1, 0, 1])
    tally = EnsemblePredictions(TALLY_GRAPH, TALLY_KNOWN, 1, fold, copies=2)
    assert tally.seen.tolist() == [
        [True, False, False, True, True] if one == 0 else [True, True, True, False, False] for one in fold
    ]
    output = said(5)
    tally.add(range(5), output)
    found = output.scores.double().softmax(-1).numpy()
    for label, node in enumerate(TALLY_KNOWN.nodes):
        blind = [1, 2] if fold[label] == 0 else [3, 4]
        np.testing.assert_allclose(tally.unseen[label], found[node, blind].mean(0))
