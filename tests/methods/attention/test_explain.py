"""Which layers matter, and who is listened to."""

import numpy as np
import pandas as pd
import pytest
from tests.methods.graphs import PINNED, half_known, planted

import gramme
from gramme import DataError, EdgeLayer, GrammeFusion, GrammeSG, MembershipLayer, datasets
from gramme.errors import NotFittedError

FAST = PINNED | {
    "epochs": 25,
    "hidden_dim": 8,
    "feature_dim": 32,
    "learning_rate": 0.02,
}
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
    dealt = {
        name: layer.subset(random.permutation(graph.num_nodes))
        for name, layer in graph.layers.items()
    }
    p = model.predict_proba().astype(float)

    def moved(names):
        muted = graph.replace(layers={**graph.layers, **{name: dealt[name] for name in names}})
        q = model.predict_proba(muted).astype(float)
        return (p * np.log(p / q)).sum(axis=1).mean()

    everything = moved(dealt)
    worth = [
        moved([name]) + max(everything - moved(set(dealt) - {name}), 0.0) for name in graph.layers
    ]
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
    assert model.layer_importances_.mean().tolist() == pytest.approx(
        model.layer_importance_.tolist()
    )


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
    pd.testing.assert_series_equal(
        loaded.node_attention("room", graph=GRAPH), model.node_attention("room")
    )
    with pytest.raises(NotFittedError, match=r"pass the graph, as in embed\(graph\)"):
        loaded.node_attention("room")
    assert not hasattr(loaded, "embedding_")
    assert "embedding_" in dir(loaded)


@BOTH
def test_listing_the_names_of_a_model_computes_nothing(kind):
    model = kind(**FAST).fit(GRAPH, Y)
    assert "layer_importances_" in dir(model)
    assert "layer_importances_" not in vars(model)
