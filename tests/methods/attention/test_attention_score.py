"""Scores of both ends in a whole model: what is learned, read off, saved, explained and exported."""

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from tests.methods.graphs import PINNED, half_known, planted

import gramme
from gramme import DataError, EdgeLayer, GrammeFusion, GrammeSG, MultilayerGraph
from gramme.methods.attention.explain import attention_reasons
from gramme.methods.contributions import Pair

GRAPH = planted()
Y = half_known(GRAPH)
LEAKY = PINNED | {"attention_score": "leaky"}
BOTH = pytest.mark.parametrize("kind", [GrammeFusion, GrammeSG])


@BOTH
def test_finds_classes_saves_loads_and_exports(kind, tmp_path):
    model = kind(**LEAKY | {"epochs": 60}).fit(GRAPH, Y)
    assert (model.predict() == GRAPH.labels)[1::2].mean() > 0.7
    model.save(tmp_path / "m.safetensors")
    back = gramme.load(tmp_path / "m.safetensors")
    part = GRAPH.subgraph(GRAPH.nodes[:20])
    np.testing.assert_array_equal(back.predict_proba(part), model.predict_proba(part))
    module, inputs = model.to_torch()
    np.testing.assert_allclose(module(*inputs).detach(), model.predict_proba(), atol=1e-5)
    assert model.layer_importance_.sum() == pytest.approx(1)


def test_two_listeners_weigh_the_same_two_neighbours_each_in_its_own_way():
    graph = MultilayerGraph({"a": EdgeLayer(36, np.repeat(np.arange(34), 2), np.tile([34, 35], 34), directed=True)})
    ratios = {}
    for score in ("neighbour", "leaky"):
        model = GrammeFusion(**LEAKY | {"attention_score": score, "score_bound": None}).fit(graph, Y)
        alpha = model.attention_coefficients("a", member=0)[0].toarray()
        np.testing.assert_allclose(alpha.sum(1), 1)
        ratios[score] = alpha[:34, 34] / alpha[:34, 35]
    assert np.ptp(ratios["neighbour"]) < 1e-6
    assert np.ptp(ratios["leaky"]) > 1e-3


def test_coefficients_of_groups_are_those_of_their_edges():
    edges = GRAPH.replace(layers={name: layer.to_edges() for name, layer in GRAPH.layers.items()})
    one, other = (GrammeFusion(**LEAKY | {"features": "random"}).fit(graph, Y) for graph in (GRAPH, edges))
    np.testing.assert_allclose(one.predict_proba(), other.predict_proba(), atol=1e-5)
    found = one.attention_coefficients("room", 2, nodes=list(GRAPH.nodes))
    for mine, others in zip(found, other.attention_coefficients("room", 2), strict=True):
        assert abs(sp.csr_array(mine) - others).max() < 1e-5


def test_parts_through_neighbours_and_groups_add_up_to_the_log_odds():
    model = GrammeFusion(**LEAKY).fit(GRAPH, Y)
    graph = model._fitted_order().graph
    rows = np.arange(9)
    pair = Pair(rows, np.zeros(9, dtype=int), np.ones(9, dtype=int))
    found = attention_reasons(model._each_batch(graph), graph, pair)
    total = sum(through.parts.sum(axis=1) for through in found.through) + found.itself + found.intercepts
    chances = model._inductive_proba(graph)[rows].astype(float)
    np.testing.assert_allclose(total, np.log(chances[:, 0] / chances[:, 1]), atol=1e-4)
    assert model.node_attention("room").mean() == pytest.approx(1)


@BOTH
def test_dropout_and_every_way_to_combine_heads(kind):
    for combine in ("average", "concatenate"):
        settings = {"attention_dropout": 0.2, "dropout": 0.1, "combine_heads": combine, "readout": "attention"}
        assert np.isfinite(kind(**LEAKY | settings).fit(GRAPH, Y).predict_proba()).all()


def test_features_of_edges_are_refused_by_name():
    ties = EdgeLayer(36, [0, 1], [1, 2], features=np.ones((2, 1)))
    with pytest.raises(DataError, match="'ties'"):
        GrammeFusion(**LEAKY).fit(GRAPH.replace(layers={"ties": ties}), Y)


def test_nothing_is_drawn_for_it_where_it_is_off():
    model = GrammeFusion(**PINNED).fit(GRAPH, Y)
    assert not any("listening" in name for name in model.state_)
    assert torch.is_tensor(GrammeFusion(**LEAKY).fit(GRAPH, Y).state_["hops.0.0.listening"])
