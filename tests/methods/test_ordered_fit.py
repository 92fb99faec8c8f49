"""Whatever the order of nodes and layers, a node gets the same prediction, and results come in the order given.

Every method is held to it by ``cases.py``; here are many orders for one, and what attention shows of nodes and layers.
"""

import functools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.graph.permuted import permuted
from tests.methods.graphs import PINNED, half_known, planted

from gramme.errors import NotFittedError
from gramme.methods import GrammeSG, LabelPropagation, Majority, load

GRAPH = planted(24)
LABELS = half_known(GRAPH)
QUICK = PINNED | {"epochs": 1, "ensemble": 1, "heads": 1, "features": "walks+random"}


@given(seed=st.integers(0, 10_000))
@settings(max_examples=10)
def test_no_order_changes_a_prediction(seed):
    graph = permuted(GRAPH, seed)
    places = GRAPH.positions(graph.nodes)
    found = LabelPropagation(random_state=0).fit(graph, LABELS[places])
    assert found.predict_proba().tobytes() == expected_shares()[places].tobytes()
    assert found.labelled_.tolist() == [label is not None for label in LABELS[places]]


@functools.cache
def expected_shares() -> np.ndarray:
    return LabelPropagation(random_state=0).fit(GRAPH, LABELS).predict_proba()


def test_what_attention_shows_of_nodes_and_layers_is_in_the_order_given():
    graph = permuted(GRAPH, seed=1)
    places = GRAPH.positions(graph.nodes)
    expected = GrammeSG(**QUICK).fit(GRAPH, LABELS)
    found = GrammeSG(**QUICK).fit(graph, LABELS[places], monitor=GRAPH.labels[places])
    assert found.layer_order_ == expected.layer_order_ == sorted(graph.layers)
    assert found.history_["loss"].tolist() == expected.history_["loss"].tolist()
    copies = expected.start_features(GRAPH).reshape(2, 24, -1)
    order = [list(GRAPH.layers).index(name) for name in graph.layers]
    start = found.start_features(graph).reshape(2, 24, -1)
    assert np.array_equal(start, copies[order][:, places])
    for layer in graph.layers:
        heard = found.node_attention(layer)
        assert heard.index.tolist() == graph.nodes.tolist()
        assert heard.tolist() == expected.node_attention(layer)[graph.nodes].tolist()
    np.testing.assert_array_equal(found.embed(GRAPH), expected.embedding_)


def test_a_loaded_model_has_no_graph_to_put_in_order():
    with pytest.raises(NotFittedError, match="does not hold the graph"):
        Majority()._fitted_order()


def test_a_model_knows_the_graph_of_its_fit(tmp_path):
    model = Majority().fit(GRAPH, LABELS)
    assert model.fitted_on(GRAPH)
    assert not model.fitted_on(planted(24))
    model.save(tmp_path / "m.safetensors")
    assert not load(tmp_path / "m.safetensors").fitted_on(GRAPH)
