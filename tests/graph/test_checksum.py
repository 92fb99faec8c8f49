import pickle

import numpy as np
import pytest
from hypothesis import given
from tests.processes import in_another_process
from tests.strategies import multilayer_graphs

from gramme.graph import EdgeLayer, MembershipLayer, MultilayerGraph
from gramme.graph.checksum import checksum

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
    named = [
        GRAPH.replace(nodes=names)
        for names in (["0", "1", "2", "3"], [0, 1, 3, 2], [(0,), 1, 2, "x"])
    ]
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
