import copy
import itertools
import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.strategies import membership_layers

from gramme.errors import DataError
from gramme.graph import EdgeLayer, MembershipLayer

LAYERS = st.integers(0, 8).flatmap(membership_layers)
WEIGHTED = st.integers(0, 8).flatmap(lambda nodes: membership_layers(nodes, weighted=True))


def brute_force(layer):
    """The sum over shared groups of the product of both weights; without weights, how many they are."""
    groups = [{} for _ in range(layer.num_nodes)]
    weights = np.ones(layer.num_memberships) if layer.weight is None else layer.weight
    rows = zip(layer.node.tolist(), layer.group.tolist(), weights.tolist(), strict=True)
    for node, group, weight in rows:
        groups[node][group] = weight
    shared = np.zeros((layer.num_nodes, layer.num_nodes))
    for i, j in itertools.permutations(range(layer.num_nodes), 2):
        both = groups[i].keys() & groups[j].keys()
        shared[i, j] = sum(groups[i][group] * groups[j][group] for group in both)
    return shared


@given(WEIGHTED)
def test_weighted_memberships_equal_their_explicit_edges(layer):
    weights = brute_force(layer)
    assert np.array_equal(layer.to_edges().to_scipy().toarray(), weights)
    assert layer.num_edges == layer.to_edges().num_edges or not layer.groups_per_node.max() < 2
    assert layer.weighted == (layer.num_memberships > 0)
    assert not (layer.weighted and layer.single)
    for node in range(layer.num_nodes):
        others, heard = layer.neighbours(node)
        assert others.tolist() == np.flatnonzero(weights[node]).tolist()
        assert heard.tolist() == weights[node][others].tolist()


def test_weights_of_a_repeated_membership_add():
    layer = MembershipLayer(2, [0, 0, 1], [0, 0, 0], weight=[1, 2, 4])
    assert layer.weight.tolist() == [3, 4]
    assert layer.duplicates_merged == 1
    assert layer != MembershipLayer(2, [0, 1], [0, 0])
    assert layer != MembershipLayer(2, [0, 1], [0, 0], weight=[4, 3])
    assert layer == MembershipLayer(2, [1, 0], [1, 1], [8, 0], weight=[4, 3])


@pytest.mark.parametrize(
    ("weight", "problem"), [([1.0, 0.0], "node 1 in 'b' has the weight 0.0"), ([1.0], "shape"), (["x", 1], "numbers")]
)
def test_bad_weights_are_named(weight, problem):
    with pytest.raises(DataError, match=problem):
        MembershipLayer(2, [0, 1], [0, 1], ["a", "b"], weight=weight)


@given(LAYERS)
def test_implied_edges_equal_brute_force(layer):
    shared = brute_force(layer)
    edges = layer.to_edges()
    assert isinstance(edges, EdgeLayer)
    assert np.array_equal(edges.to_scipy().toarray(), shared)
    assert np.array_equal(layer.to_scipy().toarray(), shared)
    assert edges.weighted == bool((shared > 1).any())
    assert edges.present.tolist() == layer.present.tolist()
    assert layer.num_edges == shared.sum() / 2
    assert layer.degrees().tolist() == shared.sum(axis=1).tolist()
    for node in range(layer.num_nodes):
        others, weights = layer.neighbours(node)
        assert others.tolist() == np.flatnonzero(shared[node]).tolist()
        assert weights.tolist() == shared[node][others].tolist()


@given(LAYERS)
def test_groups_are_told_consistently(layer):
    assert layer.sizes.tolist() == [len(members) for members in layer.members()]
    assert (layer.sizes > 0).all()
    assert layer.sizes.sum() == layer.num_memberships == layer.groups_per_node.sum()
    assert layer.single == (layer.groups_per_node <= 1).all()
    for place, members in enumerate(layer.members()):
        assert members.tolist() == layer.node[layer.group == place].tolist()
    if layer.single:
        again = MembershipLayer.from_codes(layer.codes(), layer.group_names, nodes=layer.present)
        assert again == layer
    else:
        with pytest.raises(DataError, match="several groups"):
            layer.codes()


@given(st.one_of(LAYERS, WEIGHTED), st.randoms(use_true_random=False))
def test_a_subset_equals_the_materialised_subset(layer, random):
    nodes = [node for node in range(layer.num_nodes) if random.random() < 0.6]
    random.shuffle(nodes)
    places = np.array(nodes, dtype=np.int64)
    part = layer.subset(places)
    materialised = layer.to_edges().subset(places)
    assert np.array_equal(part.to_scipy().toarray(), materialised.to_scipy().toarray())
    assert part.present.tolist() == materialised.present.tolist()
    assert set(part.group_names) <= set(layer.group_names)


@given(st.one_of(LAYERS, WEIGHTED))
def test_copies_and_pickles_are_equal_and_read_only(layer):
    again = pickle.loads(pickle.dumps(layer))
    assert again == layer
    assert not again.group.flags.writeable
    assert copy.deepcopy(layer) is layer


@given(LAYERS)
def test_the_order_of_groups_does_not_count(layer):
    reverse = np.arange(layer.num_groups)[::-1]
    again = MembershipLayer(
        layer.num_nodes, layer.node, reverse[layer.group], layer.group_names[::-1], nodes=layer.present
    )
    assert again == layer


def test_values_make_groups_in_the_order_they_appear():
    values = ["yes", None, "no", "yes", np.nan, pd.NA]
    layer = MembershipLayer.from_values(values)
    assert list(layer.group_names) == ["yes", "no"]
    assert layer.codes().tolist() == [0, -1, 1, 0, -1, -1]
    assert layer.num_present == 3
    assert MembershipLayer.from_values(pd.Series(values, dtype="category")) == layer


def test_values_of_any_hashable_type():
    values = [(1, 2), 10**30, "ü", (1, 2), 10**30, "ü", b"x", 1.5]
    layer = MembershipLayer.from_values(values)
    assert layer.num_edges == 3
    assert list(layer.group_names) == [(1, 2), 10**30, "ü", b"x", 1.5]
    with pytest.raises(DataError, match="must be hashable"):
        MembershipLayer.from_values([[1], [1]])


def test_a_membership_stated_again_counts_once():
    layer = MembershipLayer(3, [0] * 256 + [1], [1] * 256 + [1], ["empty", "full"])
    assert layer.duplicates_merged == 255
    assert list(layer.group_names) == ["full"]
    assert layer.num_edges == 1


def test_who_joins_nobody_is_absent_unless_said_otherwise():
    assert MembershipLayer(3, [0, 1], [0, 0]).present.tolist() == [True, True, False]
    everyone = MembershipLayer(3, [0, 1], [0, 0], nodes=[0, 1, 2])
    assert everyone.holds_all_nodes
    assert everyone != MembershipLayer(3, [0, 1], [0, 0])
    with pytest.raises(DataError, match="node 1 is in a group but not among the nodes"):
        MembershipLayer(3, [0, 1], [0, 0], nodes=[0])


def test_group_numbers_may_be_far_apart():
    layer = MembershipLayer(3, [0, 1, 2], [5, 10**12, 10**12])
    assert list(layer.group_names) == [5, 10**12]
    assert MembershipLayer.from_codes([10**15, -1, 10**15]).num_edges == 1


def test_many_memberships_are_counted_beyond_a_machine_integer():
    layer = MembershipLayer.from_codes(np.zeros(1_000_000, dtype=np.int8))
    assert layer.num_edges == 499_999_500_000
    assert layer.degrees()[0] == 999_999


@pytest.mark.parametrize("size", [0, 1, 3])
def test_nobody_in_any_group(size):
    layer = MembershipLayer.from_values([None] * size)
    assert (layer.num_edges, layer.num_groups, layer.num_present) == (0, 0, 0)
    assert layer.members() == []
    assert layer.to_edges().num_edges == 0
    assert layer.degrees().tolist() == [0] * size


def test_it_does_not_change():
    layer = MembershipLayer.from_values("aab")
    for name in ("group", "directed", "weighted", "self_loops_dropped", "colour"):
        with pytest.raises(AttributeError, match="does not change once made"):
            setattr(layer, name, True)
    with pytest.raises(ValueError, match="read-only"):
        layer.group[0] = 1


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: MembershipLayer(2, [2], [0]), "2 at position 0 is not a node"),
        (lambda: MembershipLayer(2, [0], [-1]), "-1 at position 0 is not a group"),
        (lambda: MembershipLayer(2, [0], [1], ["a"]), "the groups are numbered from 0 to 0"),
        (lambda: MembershipLayer(2, [0], ["a"]), "must be whole numbers"),
        (lambda: MembershipLayer(2, [0, 1], [0]), "2 members were given for 1 groups"),
        (lambda: MembershipLayer(2, [0], [0], ["a", "a"]), "two groups have the name 'a'"),
        (lambda: MembershipLayer(2, [0], [0], [None]), "the group at position 0 has no name"),
        (lambda: MembershipLayer.from_codes([0.5]), "must be whole numbers, not float64"),
        (lambda: MembershipLayer.from_codes([[0]]), "must be one-dimensional"),
        (lambda: MembershipLayer.from_values("ab").neighbours(2), "2 at position 0 is not a node"),
    ],
)
def test_bad_input_is_quoted(make, message):
    with pytest.raises(DataError) as error:
        make()
    assert message in str(error.value)
