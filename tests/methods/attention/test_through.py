"""Attention taken apart: neighbours, groups, the node itself and the intercepts are the log-odds, all of them."""

from typing import Any

import numpy as np
import pytest
import torch
from tests.methods.auto.test_mixture_words import fits

from gramme.graph import Coupling, EdgeLayer, MembershipLayer, MultilayerGraph
from gramme.methods import GrammeFusion, GrammeSG
from gramme.methods.attention.estimator import AttentionModel
from gramme.methods.attention.through import AttentionReasons, attention_reasons
from gramme.methods.hearing import Pair

QUICK: dict[str, Any] = {
    "ensemble": 2,
    "epochs": 4,
    "hidden_dim": 8,
    "learning_rate": 0.1,
    "random_state": 0,
    "progress": False,
}


def taken_apart(
    model: AttentionModel, graph: MultilayerGraph
) -> tuple[AttentionReasons, np.ndarray]:
    """What came through whom, and the log-odds of the first class against the second."""
    graph = graph.select_layers(model.layer_order_)  # as the model sees it
    count = graph.num_nodes
    pair = Pair(np.arange(count), np.zeros(count, dtype=int), np.ones(count, dtype=int))
    return attention_reasons(model._each_batch(graph), graph, pair), pair.log_odds(
        model.predict_proba().astype(float)
    )


def came(found: AttentionReasons) -> np.ndarray:
    return np.asarray(sum(one.parts.sum(axis=1) for one in found.through))


@pytest.mark.parametrize("place", range(3))
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"fuse": "end", "activation": "elu", "depth": 1},
        {"feed_forward": True, "activation": "tanh"},
        {"combine_heads": "concatenate"},
        {"combine_heads": "average", "score_bound": None},
        {"readout": "attention"},
        {"readout": "attention", "combine_heads": "concatenate", "fuse": "end"},
    ],
    ids=lambda one: " ".join(map(str, one.values())) or "default",
)
def test_everything_adds_up_to_the_log_odds(place: int, settings: dict[str, Any]) -> None:
    graph = fits()[place]
    model = GrammeFusion(**(QUICK | settings)).fit(graph)
    found, wanted = taken_apart(model, graph)
    assert np.abs(wanted).max() > 0.3
    assert np.allclose(came(found) + found.itself + found.intercepts, wanted, atol=2e-4)


def test_layers_of_different_depth_and_width_add_up() -> None:
    graph = fits()[2]
    heads, depth = {"talk": 1, "vote": 2, "alone": 1}, {"talk": 2, "vote": 1, "alone": 1}
    model = GrammeFusion(fuse="end", heads=heads, depth=depth, **QUICK).fit(graph)
    found, wanted = taken_apart(model, graph)
    assert np.allclose(came(found) + found.itself + found.intercepts, wanted, atol=2e-4)


def test_the_supra_graph_adds_up_where_copies_stand_alone() -> None:
    """With one layer a node has no other copies; with more, these are what is left."""
    graph = fits()[0]
    alone = graph.select_layers(["talk"])
    found, wanted = taken_apart(GrammeSG(**QUICK).fit(alone), alone)
    assert np.allclose(came(found) + found.itself + found.intercepts, wanted, atol=2e-4)
    found, wanted = taken_apart(GrammeSG(**QUICK).fit(graph), graph)
    rest = wanted - came(found) - found.itself - found.intercepts
    assert 0.01 < np.abs(rest).max() < np.abs(wanted).max() * 2


def test_couplings_are_heard_but_are_no_neighbours() -> None:
    graph = fits()[0]
    joined = MultilayerGraph(
        dict(graph.layers),
        labels=graph.labels,
        couplings={("talk", "noise"): Coupling(40, [0, 1], [2, 3])},
    )
    found, wanted = taken_apart(GrammeSG(**QUICK).fit(joined), joined)
    assert np.isfinite(came(found)).all()
    assert np.isfinite(wanted).all()


def test_directed_weighted_edges_and_absent_nodes_add_up() -> None:
    random = np.random.default_rng(1)
    graph = fits()[0]
    asked = EdgeLayer(
        40,
        random.integers(20, size=50),
        random.integers(20, size=50),
        weight=random.uniform(0.1, 5, 50),
        directed=True,
        nodes=np.arange(40) < 20,
    )
    clubs = MembershipLayer(40, random.integers(40, size=60), random.integers(5, size=60))
    mixed = MultilayerGraph({"asked": asked, "clubs": clubs}, labels=graph.labels)
    found, wanted = taken_apart(GrammeFusion(**QUICK).fit(mixed), mixed)
    assert np.allclose(came(found) + found.itself + found.intercepts, wanted, atol=2e-4)
    assert not found.through[0].parts[20:].nnz
    matrix = asked.to_scipy()
    assert set(zip(*found.through[0].parts.nonzero(), strict=True)) <= set(
        zip(*matrix.nonzero(), strict=True)
    )


def test_a_group_gives_what_its_other_members_give_one_by_one() -> None:
    """The same data as edges: the neighbours' parts are those of the group."""
    code = np.arange(12) // 3
    groups = MultilayerGraph(
        {"team": MembershipLayer.from_codes(code)}, labels=[0, 1] * 3 + [None] * 6
    )
    pairs = [(i, j) for i in range(12) for j in range(i) if code[i] == code[j]]
    edges = MultilayerGraph(
        {"team": EdgeLayer(12, *np.array(pairs).T)}, labels=[0, 1] * 3 + [None] * 6
    )
    settings = QUICK | {"features": "random"}
    by_group, _ = taken_apart(GrammeFusion(**settings).fit(groups), groups)
    one_by_one, _ = taken_apart(GrammeFusion(**settings).fit(edges), edges)
    assert np.allclose(came(by_group), came(one_by_one), atol=1e-4)
    assert np.allclose(by_group.itself, one_by_one.itself, atol=1e-4)


def test_a_pass_leaves_no_hooks_behind() -> None:
    graph = fits()[0]
    model = GrammeFusion(**QUICK).fit(graph)
    graph = graph.select_layers(model.layer_order_)
    batches = list(model._each_batch(graph))
    pair = Pair(np.array([0]), np.array([0]), np.array([1]))
    attention_reasons(batches, graph, pair)
    for network, _, _ in batches:
        assert not any(module._forward_pre_hooks for module in network.modules())
        assert all(torch.isfinite(value).all() for value in network.state_dict().values())
