import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from tests.graph.permuted import permuted
from tests.processes import in_another_process
from tests.strategies import multilayer_graphs

from gramme.graph import Coupling, EdgeLayer, MembershipLayer, MultilayerGraph
from gramme.graph.canonical import checksum, in_name_order, sorted_places


def several(names: list[str]) -> MultilayerGraph:
    """A graph with everything that has an order: weights, directions, groups, couplings, features, absent nodes."""
    count = len(names)
    random = np.random.default_rng(1)
    ends = random.integers(count, size=(2, 3 * count))
    return MultilayerGraph(
        {
            "work": EdgeLayer(count, *ends, random.random(3 * count) + 0.1, directed=True),
            "club": MembershipLayer(
                count, ends[0] // 2, ends[1] % 3, ["z", "a", "m"], weight=random.random(3 * count) + 1
            ),
            "age": MembershipLayer.from_values([None, *("old", "young") * count][:count]),
            "advice": EdgeLayer(count, ends[1], ends[0]),
        },
        nodes=names,
        labels=[name[0] for name in names],
        features=sp.csr_array(random.random((count, 3)).round(1)),
        couplings={("work", "advice"): Coupling(count, [0, 1], [2, 3], [1.0, 2.0])},
        layer_features={"work": random.random((count, 2))},
    )


@given(seed=st.integers(0, 1000))
def test_every_order_of_a_graph_has_the_same_order_of_names(seed):
    graph = several([f"n{number}" for number in range(12)])
    given = permuted(graph, seed)
    order = in_name_order(given)
    expected = in_name_order(graph).graph
    assert order.graph == expected
    assert list(order.graph.layers) == ["advice", "age", "club", "work"]
    assert all(
        layer.group_names.tolist() == sorted(layer.group_names)
        for layer in order.graph.layers.values()
        if isinstance(layer, MembershipLayer)
    )
    assert order.to_given(order.graph.nodes.to_numpy()).tolist() == given.nodes.tolist()
    places = np.arange(given.num_nodes)
    assert order.graph.nodes[order.to_sorted(places)].tolist() == given.nodes.tolist()
    assert order.graph.labels is None, "who works on it has no label but those it is given"


def test_a_graph_in_order_is_itself_and_another_is_made_once():
    graph = MultilayerGraph({"a": EdgeLayer(3, [0], [1]), "b": EdgeLayer(3, [0], [2])})
    assert in_name_order(graph).graph is graph
    other = graph.select_layers(["b", "a"])
    assert in_name_order(other).graph is in_name_order(other).graph
    assert in_name_order(other).places is None, "the nodes are in order"


@pytest.mark.parametrize(
    "names",
    [["b", 1, ("x", 2), 1.5, "a", True], [frozenset("a"), frozenset("b")], [2**70, 2**70 + 1, 5], ["\ud800", "z", "ü"]],
)
def test_names_of_any_kind_have_an_order(names):
    random = np.random.default_rng(0)
    expected = None
    for _ in range(5):
        index = pd.Index([names[place] for place in random.permutation(len(names))], dtype=object)
        places = sorted_places(index)
        found = list(index if places is None else index[places])
        assert expected is None or found == expected
        expected = found


EDGES = EdgeLayer(4, [0, 1], [1, 2])
GRAPH = MultilayerGraph({"a": EDGES, "b": MembershipLayer.from_codes([0, 0, 1, 1], range(2))})

OTHERS = {
    "another edge": {"a": EdgeLayer(4, [0, 1], [1, 3])},
    "weights": {"a": EdgeLayer(4, [0, 1], [1, 2], [1.0, 2.0])},
    "a direction": {"a": EdgeLayer(4, [0, 1], [1, 2], directed=True)},
    "an absent node": {"a": EdgeLayer(4, [0, 1], [1, 2], nodes=[0, 1, 2])},
    "other groups": {"b": MembershipLayer.from_codes([0, 1, 0, 1], range(2))},
    "groups as edges": {"b": GRAPH.layers["b"].to_edges()},
    "one more layer": {"c": EDGES},
}


@pytest.mark.parametrize("change", OTHERS)
def test_structure_counts(change):
    assert checksum(GRAPH.replace(layers={**GRAPH.layers, **OTHERS[change]})) != checksum(GRAPH)


def test_names_and_order_count():
    swapped = GRAPH.replace(layers=dict(reversed(GRAPH.layers.items())))
    named = [GRAPH.replace(nodes=names) for names in (["0", "1", "2", "3"], [0, 1, 3, 2], [(0,), 1, 2, "x"])]
    renamed = GRAPH.replace(layers={"x": GRAPH.layers["a"], "b": GRAPH.layers["b"]})
    found = {checksum(graph) for graph in (GRAPH, swapped, renamed, *named)}
    assert len(found) == 6


def test_labels_features_and_the_graphs_name_do_not_count():
    other = GRAPH.replace(labels=[1, 2, 3, 4], features=np.eye(4), name="x")
    assert checksum(other) == checksum(GRAPH)


@given(multilayer_graphs(weighted_groups=None))
def test_an_equal_graph_has_the_same_checksum(graph):
    assert checksum(pickle.loads(pickle.dumps(graph))) == checksum(graph)
    assert checksum(graph.replace(nodes=list(graph.nodes))) == checksum(graph)


def checksum_of_three() -> str:
    return checksum(MultilayerGraph({"a": EdgeLayer(3, [0], [1])}, nodes=["x", "y", "z"]))


def test_it_is_the_same_in_another_process(tmp_path):
    assert in_another_process(checksum_of_three, tmp_path) == checksum_of_three()
