"""Which layers matter, and who is listened to."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from tests.methods.auto.test_gramme_auto import fits
from tests.methods.graphs import PINNED, half_known, planted

import gramme
from gramme import DataError, datasets
from gramme.errors import NotFittedError
from gramme.graph import Coupling, EdgeLayer, MembershipLayer, MultilayerGraph
from gramme.methods import GrammeFusion, GrammeSG
from gramme.methods.attention.estimator import AttentionModel
from gramme.methods.attention.explain import AttentionContributions, attention_reasons
from gramme.methods.contributions import Pair

FAST = PINNED | {"epochs": 25, "hidden_dim": 8, "feature_dim": 32, "learning_rate": 0.02}
KINDS = pytest.mark.parametrize(
    ("kind", "variant"),
    [
        (GrammeSG, {"pool": "end"}),
        (GrammeSG, {"pool": "every hop"}),
        (GrammeFusion, {"fuse": "end"}),
        (GrammeFusion, {"fuse": "every hop"}),
        (GrammeFusion, {"fuse": "every hop", "feed_forward": True}),
    ],
)
BOTH = pytest.mark.parametrize("kind", [GrammeSG, GrammeFusion])
GRAPH = planted()
Y = half_known(GRAPH)


# Layers


@KINDS
@pytest.mark.parametrize("dataset", ["synthetic", "synthetic_table"])
def test_the_layer_with_the_signal_is_clearly_first(kind, variant, dataset):
    graph = datasets.load(dataset, nodes=200, signal=[0.0, 0.9, 0.0], random_state=0)
    model = kind(**FAST, **variant).fit(graph, half_known(graph, every=3))
    noise, signal, more_noise = model.layer_importance_
    assert signal > 0.5
    assert signal > 2 * max(noise, more_noise)
    np.testing.assert_allclose(model.layer_importance_, shuffled_importance(model, graph), atol=0.2)


def shuffled_importance(model, graph):
    """The same measure with another way to mute: a layer's edges are dealt to the nodes at random."""
    random = np.random.default_rng(0)
    dealt = {name: layer.subset(random.permutation(graph.num_nodes)) for name, layer in graph.layers.items()}
    p = model.predict_proba().astype(float)

    def moved(names):
        muted = graph.replace(layers={**graph.layers, **{name: dealt[name] for name in names}})
        q = model.predict_proba(muted).astype(float)
        return (p * np.log(p / q)).sum(axis=1).mean()

    everything = moved(dealt)
    worth = [moved([name]) + max(everything - moved(set(dealt) - {name}), 0.0) for name in graph.layers]
    return np.array(worth) / sum(worth)


@KINDS
def test_two_layers_that_say_the_same_both_matter(kind, variant):
    graph = datasets.load("synthetic_table", nodes=200, signal=[0.9, 0.0], random_state=1)
    first, noise = graph.layers.values()
    twins = graph.replace(layers={"one": first, "noise": noise, "two": first})
    model = kind(**FAST, **variant).fit(twins, half_known(twins, every=3))
    importance = model.layer_importance_
    assert importance["one"] > 0.25
    assert importance["two"] > 0.25
    assert importance["noise"] < 0.2


@BOTH
def test_importance_is_named_and_sums_to_one(kind):
    model = kind(**FAST).fit(GRAPH, Y)
    assert isinstance(model.layer_importance_, pd.Series)
    assert model.layer_importance_.index.tolist() == ["friends", "room"]
    assert model.layer_importance_.sum() == pytest.approx(1)
    assert model.layer_importances_.shape == (2, 2)
    assert model.layer_importances_.mean().tolist() == pytest.approx(model.layer_importance_.tolist())


@BOTH
def test_asking_for_importance_changes_no_prediction(kind):
    model = kind(**FAST).fit(GRAPH, Y)
    twin = GRAPH.replace(name="twin")
    before = model.predict_proba(twin).tobytes()
    assert model.layer_importance_.notna().all()
    assert model.predict_proba(twin).tobytes() == before


@BOTH
def test_a_single_layer_has_all_the_importance(kind):
    model = kind(**FAST).fit(GRAPH.select_layers(["room"]), Y)
    assert model.layer_importance_.tolist() == [1.0]


@BOTH
def test_where_nothing_tells_nodes_apart_all_layers_count_the_same(kind):
    """Everybody shares one room and has the same features, so all predictions are equal."""
    everybody = MembershipLayer.from_values(["hall"] * 36)
    graph = GRAPH.replace(layers={"one": everybody, "two": everybody}, features=np.ones((36, 2)))
    model = kind(**FAST).fit(graph, Y)
    assert model.layer_importance_.tolist() == pytest.approx([0.5, 0.5])


# Nodes


@BOTH
@pytest.mark.parametrize("hop", [1, 2])
def test_attention_is_relative_to_the_average_of_the_nodes_present(kind, hop):
    present = np.arange(36) % 4 != 0
    some = EdgeLayer(36, [1, 2, 3], [5, 6, 7], nodes=present)
    graph = GRAPH.replace(layers={**GRAPH.layers, "some": some})
    attention = kind(**FAST).fit(graph, Y).node_attention("some", hop=hop)
    assert attention.index.equals(graph.nodes)
    assert (attention.isna() == ~present).all()
    assert attention.mean() == pytest.approx(1)
    assert (attention.dropna() > 0).all()


def softmax(values):
    weights = np.exp(values - values.max())
    return weights / weights.sum()


@BOTH
@pytest.mark.parametrize("bound", [None, 5.0])
def test_attention_gives_the_alphas_of_the_paper(kind, bound):
    """One head, one member: alpha_ij by hand, with both halves of the attention vector of Eq. 2."""
    graph = GRAPH
    model = kind(**FAST | {"ensemble": 1, "heads": 1, "score_bound": bound}).fit(graph, Y)
    layer = 0  # friends
    features = model.start_features(graph).astype(float)
    if kind is GrammeSG:
        weight, vector = model.state_["hops.0.weight"], model.state_["hops.0.attention"]
        place = 0
    else:
        weight, vector = model.state_["hops.0.0.weight"], model.state_["hops.0.0.attention"]
        place = layer
    hidden = features[:36] @ weight[0, place, :, 0].double().numpy()
    neighbour_half = vector[0, place, 0].double().numpy()
    own_half = np.random.default_rng(0).normal(size=neighbour_half.shape)
    attention = model.node_attention("friends").to_numpy()
    for node in range(36):
        others, _ = graph.layers["friends"].neighbours(node)
        heard = np.append(others, node)
        scores = hidden[heard] @ neighbour_half
        if bound is not None:
            scores = bound * np.tanh(scores / bound)
        alpha = softmax(hidden[node] @ own_half + scores)
        np.testing.assert_allclose(attention[heard] / attention[heard].sum(), alpha, rtol=1e-4)


# Alpha, beta and gamma against the slow reference


def mixed_graph():
    """Groups and directed, weighted edges; nodes without neighbours, and nodes that a layer does not hold."""
    present = np.arange(36) % 5 != 0
    here = np.flatnonzero(present)
    flow = EdgeLayer(36, here[:-6], here[6:], np.linspace(0.2, 3, here.size - 6), directed=True, nodes=present)
    graph = GRAPH.replace(layers={**GRAPH.layers, "flow": flow})
    coupling = Coupling(36, [1, 2, 3], [4, 7, 8], [0.5, 1.0, 2.0], directed=True)
    return graph, graph.replace(couplings={("flow", "friends"): coupling})


def slow_alpha(scores, adjacency):
    """Row by row and edge by edge: what each listener gives to each whom it hears, itself included."""
    alpha = np.zeros(adjacency.shape)
    for i, row in enumerate(adjacency.toarray() + np.eye(adjacency.shape[0])):
        weights = [c * np.exp(t - scores.max()) for c, t in zip(row, scores, strict=True)]
        alpha[i] = np.array(weights) / sum(weights)
    return alpha


@KINDS
def test_everything_the_paper_names_is_that_of_the_slow_reference(kind, variant):
    graph, coupled = mixed_graph()
    graph = coupled if kind is GrammeSG else graph
    model = kind(**FAST | {"ensemble": 2, "heads": 3, "epochs": 5}, **variant).fit(graph, Y)
    order = model._fitted_order()
    places = order.to_sorted(np.arange(36))
    for member in range(2):
        for layer in graph.layers:
            place = model.layer_order_.index(layer)
            first = [hops for batch in model._each_batch(order.graph) for hops in [model._hops(batch[0], place)]]
            (hops, own), start = first[0], model._members().features(order.graph, range(member, member + 1))
            rows = np.asarray(start[:, 0], dtype=float)
            hop, stacked = hops[0], kind is GrammeSG
            weight = hop.weight[member, 0 if stacked else own].detach().double().numpy()
            vector = hop.attention[member, 0 if stacked else own].detach().double().numpy()
            adjacency = order.graph.supra_adjacency() if stacked else order.graph.layers[layer].to_scipy()
            there = graph.layers[layer].present
            for head in range(3):
                scores = rows @ weight[:, head] @ vector[head]
                scores = 5.0 * np.tanh(scores / 5.0)
                expected = slow_alpha(scores, adjacency)
                for other in graph.layers if stacked else [None]:
                    at = slice(place * 36, place * 36 + 36) if stacked else slice(None)
                    to = slice(None) if other is None else slice(model.layer_order_.index(other) * 36, None)
                    block = expected[at, to][:, :36][places][:, places] * there[:, None]
                    found = model.attention_coefficients(layer, nodes=graph.nodes, member=member, toward=other)[
                        head
                    ].toarray()
                    np.testing.assert_allclose(found, block, atol=2e-6)
                loud = np.exp(scores[place * 36 : place * 36 + 36] if stacked else scores)[places]
                told = model.node_attention(layer, member=member, head=head).to_numpy()
                np.testing.assert_allclose(told[there], loud[there] / loud[there].mean(), rtol=1e-4)
            # beta: the factors that the reference multiplies the activated heads with
            beta = model.head_weights_.loc[(member, 1, layer)].to_numpy()
            np.testing.assert_allclose(beta, hop.factors()[member, 0 if stacked else own].detach().numpy(), rtol=1e-6)
    if kind is GrammeFusion:
        network = next(iter(model._each_batch(order.graph)))[0]
        for number, hop in enumerate(model.fusion_weights_.index.unique("hop")):
            for member in range(2):
                gamma = model.fusion_weights_.loc[(member, hop)][model.layer_order_].to_numpy()
                kappa = model.supra_fusion_weights_.loc[(member, hop)].to_numpy()
                joint = network.fusions[number].layer_factors()[member].detach().numpy()
                np.testing.assert_allclose(kappa @ gamma, joint, rtol=1e-5)
        assert model.fusion_weights_.index.unique("hop").tolist() == ([2] if variant["fuse"] == "end" else [1, 2])


@BOTH
def test_coefficients_of_the_ensemble_are_the_mean_over_members_and_survive_saving(kind, tmp_path):
    model = kind(**FAST | {"ensemble": 3, "epochs": 3}).fit(GRAPH, Y)
    every = model.attention_coefficients("friends", 2)
    apart = [model.attention_coefficients("friends", 2, member=member) for member in range(3)]
    assert len(every) == 2
    for head, alpha in enumerate(every):
        mean = np.mean([one[head].toarray() for one in apart], axis=0)
        np.testing.assert_allclose(alpha.toarray(), mean, atol=1e-7)
        if kind is GrammeFusion:
            np.testing.assert_allclose(alpha.sum(axis=1), 1, rtol=1e-6)
    heads = [model.node_attention("room", head=head).to_numpy() for head in range(2)]
    np.testing.assert_allclose(np.mean(heads, axis=0), model.node_attention("room"), rtol=1e-6)
    model.save(tmp_path / "model")
    loaded = gramme.load(tmp_path / "model")
    pd.testing.assert_frame_equal(loaded.head_weights_, model.head_weights_)
    some = GRAPH.nodes[[5, 2]]
    few = loaded.attention_coefficients("room", nodes=some, graph=GRAPH)[0].toarray()
    assert (few == model.attention_coefficients("room", nodes=GRAPH.nodes)[0].toarray()[[5, 2]]).all()


@BOTH
def test_questions_about_coefficients_that_have_no_answer(kind):
    model = kind(**FAST | {"epochs": 1}).fit(GRAPH, Y)
    for arguments, message in (
        ({"layer": "room"}, r"of groups; say whose coefficients are wanted: nodes=\[...\]"),
        ({"layer": "friends", "nodes": ["nobody"]}, "there is no node 'nobody'"),
        ({"layer": "friends", "member": 99}, "member must be a whole number below"),
        ({"layer": "friends", "toward": "rooms"}, "no layer 'rooms'"),
    ):
        with pytest.raises(DataError, match=message):
            model.attention_coefficients(**arguments)
    with pytest.raises(DataError, match="head must be a whole number below 2"):
        model.node_attention("friends", head=2)
    if kind is GrammeFusion:
        with pytest.raises(DataError, match="layers do not hear each other"):
            model.attention_coefficients("friends", toward="room", nodes=GRAPH.nodes)


@BOTH
def test_attention_in_another_graph(kind):
    model = kind(**FAST | {"ensemble": 1, "heads": 1, "features": "random"}).fit(GRAPH, Y)
    other = GRAPH.subgraph(GRAPH.nodes[:10])
    few, some = model.node_attention("room", graph=other), model.node_attention("room")[:10]
    # at the first hop a node's score comes from its own features, random by its name: only the average is another one
    np.testing.assert_allclose(few, some / some.mean(), rtol=1e-4)


@BOTH
@pytest.mark.parametrize(
    ("layer", "hop", "message"),
    [
        ("rooms", 1, "no layer 'rooms'; did you mean 'room'"),
        ("room", 0, "hop must be a whole number of at least 1"),
        ("room", 3, "layer 'room' has 2 hops, not 3"),
    ],
)
def test_wrong_questions_are_clear_errors(kind, layer, hop, message):
    model = kind(**FAST | {"epochs": 1}).fit(GRAPH, Y)
    with pytest.raises(DataError, match=message):
        model.node_attention(layer, hop=hop)


@BOTH
def test_a_loaded_model_explains_what_it_can(kind, tmp_path):
    model = kind(**FAST).fit(GRAPH, Y)
    model.save(tmp_path / "model")
    loaded = gramme.load(tmp_path / "model")
    pd.testing.assert_frame_equal(loaded.layer_importances_, model.layer_importances_)
    pd.testing.assert_frame_equal(loaded.history_, model.history_)
    assert loaded.embed(GRAPH).tobytes() == model.embedding_.tobytes()
    pd.testing.assert_series_equal(loaded.node_attention("room", graph=GRAPH), model.node_attention("room"))
    with pytest.raises(NotFittedError, match=r"pass the graph, as in embed\(graph\)"):
        loaded.node_attention("room")
    assert not hasattr(loaded, "embedding_")
    assert "embedding_" in dir(loaded)


@BOTH
def test_listing_the_names_of_a_model_computes_nothing(kind):
    model = kind(**FAST).fit(GRAPH, Y)
    assert "layer_importances_" in dir(model)
    assert "layer_importances_" not in vars(model)


QUICK: dict[str, Any] = {
    "ensemble": 2,
    "epochs": 4,
    "hidden_dim": 8,
    "learning_rate": 0.1,
    "random_state": 0,
    "progress": False,
}


def taken_apart(model: AttentionModel, graph: MultilayerGraph) -> tuple[AttentionContributions, np.ndarray]:
    """What came through whom, and the log-odds of the first class against the second."""
    graph = graph.select_layers(model.layer_order_)  # as the model sees it
    count = graph.num_nodes
    pair = Pair(np.arange(count), np.zeros(count, dtype=int), np.ones(count, dtype=int))
    return attention_reasons(model._each_batch(graph), graph, pair), pair.log_odds(model.predict_proba().astype(float))


def came(found: AttentionContributions) -> np.ndarray:
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
        dict(graph.layers), labels=graph.labels, couplings={("talk", "noise"): Coupling(40, [0, 1], [2, 3])}
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
    assert set(zip(*found.through[0].parts.nonzero(), strict=True)) <= set(zip(*matrix.nonzero(), strict=True))


def test_a_group_gives_what_its_other_members_give_one_by_one() -> None:
    """The same data as edges: the neighbours' parts are those of the group."""
    code = np.arange(12) // 3
    groups = MultilayerGraph({"team": MembershipLayer.from_codes(code)}, labels=[0, 1] * 3 + [None] * 6)
    pairs = [(i, j) for i in range(12) for j in range(i) if code[i] == code[j]]
    edges = MultilayerGraph({"team": EdgeLayer(12, *np.array(pairs).T)}, labels=[0, 1] * 3 + [None] * 6)
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
