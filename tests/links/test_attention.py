"""Attention trained for links: it tells linked pairs apart, knows directions, keeps to its limits, or stays out."""

import numpy as np
import pytest
from tests.links.graphs import planted_links

from gramme.graph import EdgeLayer, MembershipLayer, MultilayerGraph
from gramme.links import GrammeLinks
from gramme.links.attention import LinkAttention, attention_is_affordable, members_for
from gramme.links.estimator import NO_GAIN, TOO_LARGE, TOO_SMALL
from gramme.links.explain import roc_auc
from gramme.links.sampling import rounds


def test_edges_set_aside_score_higher_than_pairs_without_one():
    graph = planted_links()
    found = []
    for one in rounds(graph, "talk", np.random.default_rng(0)):
        attention = LinkAttention.trained(one.graph, 0)
        scores = attention.of_pairs("talk", np.concatenate([one.linked, one.unlinked]))
        truth = np.repeat([True, False], [len(one.linked), len(one.unlinked)])
        found.append(roc_auc(truth, scores))
    assert np.mean(found) > 0.8


@pytest.fixture
def short(monkeypatch):
    monkeypatch.setattr("gramme.links.attention.EPOCHS", 4)


def test_the_same_seed_gives_the_same_bits_and_pairs_do_not_depend_on_each_other(short):
    graph = planted_links(30)
    one, other = (LinkAttention.trained(graph, 3) for _ in range(2))
    pairs = np.array([[0, 4], [1, 2], [5, 9]])
    together = one.of_pairs("mail", pairs)
    assert together.tobytes() == other.of_pairs("mail", pairs).tobytes()
    assert one.of_pairs("mail", pairs[1:2])[0] == together[1]


def test_only_a_directed_layer_tells_the_order_of_a_pair(short):
    random = np.random.default_rng(0)
    ends = random.integers(0, 20, (2, 60))
    graph = MultilayerGraph({"asks": EdgeLayer(20, *ends, directed=True), "knows": EdgeLayer(20, *ends)})
    found = LinkAttention.trained(graph, 0)
    pair = np.array([[2, 7]])
    assert found.of_pairs("asks", pair) != found.of_pairs("asks", pair[:, ::-1])
    assert np.isclose(found.of_pairs("knows", pair), found.of_pairs("knows", pair[:, ::-1]))


def test_groups_take_part_and_a_layer_without_edges_scores_nothing(short):
    base = planted_links(24)
    graph = base.replace(
        layers={**base.layers, "club": MembershipLayer.from_codes(np.arange(24) % 4), "none": EdgeLayer(24, [], [])}
    )
    found = LinkAttention.trained(graph, 0)
    assert set(found.weights) == {"talk", "mail"}
    assert found.of_pairs("none", np.array([[0, 1]])).tolist() == [0.0]


def test_a_graph_too_large_or_too_small_goes_without_and_says_so(monkeypatch):
    graph = planted_links()
    assert attention_is_affordable(graph, 10)
    assert not attention_is_affordable(graph, 10**6)
    assert members_for(graph) > 1
    tiny = MultilayerGraph({"a": EdgeLayer(5, [0, 1, 2, 3], [1, 2, 3, 4])})
    model = GrammeLinks().fit(tiny)
    assert TOO_SMALL in model.explanation_
    assert not model.gathered_.attention
    monkeypatch.setattr("gramme.links.attention.MAX_WORK", 0)
    assert TOO_LARGE in GrammeLinks().fit(planted_links(16)).explanation_


def test_attention_that_gains_nothing_is_left_out_with_a_word(monkeypatch):
    def nothing(graph, seed):
        return LinkAttention(np.zeros((graph.num_nodes, 1, 2), np.float32), {}, {})

    monkeypatch.setattr(LinkAttention, "trained", nothing)
    model = GrammeLinks().fit(planted_links(24))
    assert NO_GAIN in model.explanation_
    assert not model.gathered_.attention
    assert "attention" not in set(model.ingredients_["ingredient"])
