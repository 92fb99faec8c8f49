"""How long a ranking should take: more for more, nothing for what is not asked for."""

import numpy as np

from gramme.graph import EdgeLayer, MultilayerGraph
from gramme.ranking.expected_time import expected_seconds


def random_graph(nodes: int, degree: int, layers: int = 2) -> MultilayerGraph:
    random = np.random.default_rng(0)
    ends = lambda: random.integers(0, nodes, nodes * degree // 2)  # noqa: E731
    return MultilayerGraph({f"l{n}": EdgeLayer(nodes, ends(), ends()) for n in range(layers)})


def test_more_nodes_edges_and_layers_take_longer():
    small = expected_seconds(random_graph(100, 6))
    for more in (random_graph(1000, 6), random_graph(100, 60), random_graph(100, 6, layers=4)):
        assert expected_seconds(more).ranks > small.ranks


def test_what_is_not_asked_for_takes_no_time():
    graph = random_graph(100, 6)
    whole, bare = expected_seconds(graph), expected_seconds(graph, spread=False, seeds=False)
    assert bare.spread == bare.seeds == 0.0
    assert whole.measures == bare.measures < whole.spread
    assert expected_seconds(graph, per_layer=True).measures > whole.measures


def test_one_layer_has_no_couplings_to_try():
    two = random_graph(100, 6)
    one = MultilayerGraph({"both": two.layers["l0"]})
    assert expected_seconds(one).spread < expected_seconds(two).spread
