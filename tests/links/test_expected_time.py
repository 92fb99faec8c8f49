"""How long links should take: more for more, nothing for what is left out, and steps that make up the whole."""

import numpy as np
import pytest

from gramme.graph import EdgeLayer, MembershipLayer, MultilayerGraph
from gramme.links.evidence import Gathered
from gramme.links.expected_time import ExpectedSeconds, expected_seconds


def random_graph(nodes: int, degree: int, layers: int = 2) -> MultilayerGraph:
    random = np.random.default_rng(0)
    ends = lambda: random.integers(0, nodes, nodes * degree // 2)  # noqa: E731
    return MultilayerGraph({f"l{n}": EdgeLayer(nodes, ends(), ends()) for n in range(layers)})


def test_more_nodes_edges_and_layers_take_longer():
    small = expected_seconds(random_graph(100, 6), ["l0", "l1"])
    for more in (random_graph(1000, 6), random_graph(100, 60), random_graph(100, 6, layers=4)):
        assert expected_seconds(more, list(more.layers)).fit > small.fit
    one = expected_seconds(random_graph(100, 6), ["l0"])
    assert one.fit < small.fit
    assert set(one.candidates) == {"l0"}


def test_a_dense_graph_of_thousands_of_nodes_is_known_to_take_seconds_and_not_hours():
    nodes = 3000
    filled = np.triu_indices(nodes, 1)
    keep = np.random.default_rng(0).random(filled[0].size) < 0.3
    dense = MultilayerGraph({"a": EdgeLayer(nodes, filled[0][keep], filled[1][keep])})
    assert 1 < expected_seconds(dense, ["a"]).fit < 120


def test_steps_make_up_the_whole_and_attention_counts_where_it_is_tried():
    graph = random_graph(100, 6)
    parts = {"l0": 5, "l1": 5}
    without = ExpectedSeconds.of(graph, parts, Gathered(attention=False))
    with_it = ExpectedSeconds.of(graph, parts, Gathered(attention=True))
    assert without.trial == without.attention == 0.0
    assert with_it.attention > with_it.trial > 0.0
    steps = sum(without.set_aside.values()) + sum(without.all_edges.values()) + without.mixtures
    assert without.fit == pytest.approx(steps)
    assert with_it.fit == pytest.approx(steps + with_it.trial + with_it.attention)


def test_groups_alone_and_layers_named_like_words_of_ours_have_a_time():
    groups = MultilayerGraph({"all": MembershipLayer.from_codes(np.arange(60) % 6)})
    assert expected_seconds(groups, ["all"]).fit > 0
