"""Where a network's features come from: the default, the kinds side by side, another graph, a saved model."""

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from tests.methods.graphs import planted

import gramme
from gramme import DataError
from gramme.methods.attention import features as feature_sources
from gramme.methods.attention.features import (
    MIN_SIZE,
    SOURCES,
    InputFeatures,
    chosen_walk_size,
    feature_columns,
    given_columns,
    peer_features,
    settled_source,
)
from gramme.methods.labels import KnownLabels
from gramme.methods.linear.walk_profile import WalkProfile
from gramme.ops import SparseFeatures

BARE = planted()
OWN = np.random.default_rng(0).normal(size=(36, 3))
WITH = planted(features=OWN)
CPU = torch.device("cpu")


def features(graph, seed=1, source="random"):
    return peer_features(graph, seed, source, 4)


def test_a_graphs_own_features_are_taken_where_it_has_some():
    assert (given_columns(BARE), given_columns(WITH)) == (0, 3)
    assert settled_source(BARE, None, "random") == "random"
    assert settled_source(WITH, None, "random") == "given"
    assert settled_source(WITH, "random", "random") == "random"
    with pytest.raises(DataError, match="features='both' needs a graph with features"):
        settled_source(BARE, "both", "random")


@pytest.mark.parametrize(("source", "columns"), [("random", 4), ("given", 3), ("both", 7)])
def test_columns(source, columns):
    assert feature_columns(WITH, source, 4) == columns
    assert features(WITH, 1, source).shape == (36, columns)


def test_random_features_follow_names_and_seeds():
    one, two = features(BARE, 1), features(BARE, 2)
    assert not torch.equal(one, two)
    order = BARE.subgraph(BARE.nodes[::-1])
    assert torch.equal(features(order).flip(0), one)


def test_the_graphs_own_features_come_first():
    both = features(WITH, source="both")
    np.testing.assert_allclose(both[:, :3], OWN, rtol=1e-6)
    assert torch.equal(both[:, 3:], features(WITH))


@pytest.mark.parametrize("value", [1e30, -1e38, 1e300])
def test_features_too_large_for_32_bits_are_named(value):
    large = OWN.copy()
    large[4, 2] = value
    with pytest.raises(DataError, match="column 2 of node 'n4' is too large"):
        features(planted(features=large), source="given")


NODES, CLASSES = 240, 3
LABEL = np.arange(NODES) % CLASSES


def network(random, within=1.0, across=0.15):
    """Two layers of edges; those between classes are kept with another probability than those within."""
    layers = {}
    for name in "ab":
        source, target = random.integers(NODES, size=(2, 2400))
        kept = random.random(2400) < np.where(LABEL[source] == LABEL[target], within, across)
        kept &= source != target
        layers[name] = gramme.EdgeLayer(NODES, source[kept], target[kept])
    return layers


def noise(kind, random):
    if kind == "words":
        return sp.csr_array((random.random((NODES, 200)) < 0.05) * 1.0)
    return random.normal(size=(NODES, 2 if kind == "two columns" else 200)) * 1e3


def labelled(per_class=8):
    y = np.full(NODES, None, dtype=object)
    y[: per_class * CLASSES] = LABEL[: per_class * CLASSES]
    return y


def size(graph, per_class=8):
    known = np.arange(per_class * CLASSES)
    labels = KnownLabels(known, LABEL[known], np.arange(CLASSES))
    return chosen_walk_size(graph, WalkProfile.of(graph, 32), labels, 0)


@pytest.mark.parametrize("kind", ["two columns", "200 columns", "words"])
@pytest.mark.parametrize("model", [gramme.GrammeFusion, gramme.GrammeSG])
def test_noise_in_the_attributes_does_not_hide_a_telling_network(model, kind):
    random = np.random.default_rng(0)
    graph = gramme.MultilayerGraph(network(random), labels=LABEL, features=noise(kind, random))
    y = labelled()
    fitted = model(ensemble=2, random_state=0).fit(graph, y)
    unknown = np.array([one is None for one in y])
    assert fitted.source_ == "given+walks"
    assert size(graph) == pytest.approx(1, abs=0.5)
    assert (fitted.predict() == LABEL)[unknown].mean() > 0.9
    if kind == "two columns":  # two hundred of noise are as good as random ones, but two are not
        bare = model(features="given", ensemble=2, random_state=0).fit(graph, y)
        assert (bare.predict() == LABEL)[unknown].mean() < 0.6


def test_walks_are_left_out_where_attributes_tell_more():
    random = np.random.default_rng(0)
    telling = random.normal(size=(NODES, 12)) + 3 * np.eye(CLASSES, 12)[LABEL]
    layers = network(random, 0.06, 0.03)
    graph = gramme.MultilayerGraph(layers, labels=LABEL, features=telling)
    assert size(graph) < MIN_SIZE
    fitted = gramme.GrammeFusion(ensemble=1, epochs=2, random_state=0).fit(graph, labelled())
    assert fitted.source_ == "given"
    given = gramme.GrammeFusion(features="given", ensemble=1, epochs=2, random_state=0)
    assert fitted.probabilities_.tobytes() == given.fit(graph, labelled()).probabilities_.tobytes()


def test_asked_for_walks_stay_however_small():
    random = np.random.default_rng(0)
    telling = random.normal(size=(NODES, 12)) + 3 * np.eye(CLASSES, 12)[LABEL]
    graph = gramme.MultilayerGraph(network(random, 0.06, 0.03), labels=LABEL, features=telling)
    model = gramme.GrammeFusion(features="given+walks", ensemble=1, epochs=2, random_state=0)
    assert model.fit(graph, labelled()).profile_ is not None


def test_one_label_of_each_class_leaves_the_choice_to_the_prior():
    random = np.random.default_rng(0)
    graph = gramme.MultilayerGraph(network(random), features=noise("words", random))
    assert size(graph, per_class=1) == pytest.approx(0.2 * 0.25**2)


def test_a_graph_without_any_edge_keeps_its_attributes():
    random = np.random.default_rng(0)
    telling = random.normal(size=(NODES, 12)) + 3 * np.eye(CLASSES, 12)[LABEL]
    graph = gramme.MultilayerGraph({"a": gramme.EdgeLayer(NODES, [], [])}, features=telling)
    fitted = gramme.GrammeFusion(ensemble=1, epochs=2, random_state=0).fit(graph, labelled())
    assert fitted.source_ == "given"


def few_layers():
    """Four of the columns of wine, since a fit takes as long as there are layers."""
    wine = gramme.datasets.load("wine")
    return wine.select_layers([*wine.layers][-4:])


@pytest.fixture(scope="module")
def graph():
    wine = few_layers()
    random = np.random.default_rng(0)
    return wine.replace(features=random.normal(size=(wine.num_nodes, 3)) * [1e-3, 1, 1e6])


def made(graph, source, dim=5, per_layer=False, members=2):
    inputs = InputFeatures.of(graph, source, dim)
    seeds = list(range(members))
    found = inputs.tensor(graph, inputs.shared(graph), seeds, per_layer=per_layer, device=CPU)
    return inputs, found


def test_the_default_is_the_graphs_own_or_walks_and_random(graph):
    assert InputFeatures.of(graph, None, 4).source == "given"
    assert InputFeatures.of(graph.replace(features=None), None, 4).source == "walks+random"


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("per_layer", [False, True])
def test_all_kinds_have_the_size_they_say_and_a_mean_square_of_one(graph, source, per_layer):
    inputs, found = made(graph, source, per_layer=per_layer)
    rows = graph.num_nodes * (graph.num_layers if per_layer else 1)
    assert found.shape == (rows, 2, inputs.columns)
    assert float((found**2).mean()) == pytest.approx(1, rel=0.05)


def test_members_share_walks_and_differ_in_random_columns(graph):
    _, found = made(graph, "walks+random", dim=5)
    assert torch.equal(found[:, 0, :-5], found[:, 1, :-5])
    assert not torch.equal(found[:, 0, -5:], found[:, 1, -5:])
    _, alone = made(graph, "random", dim=5)
    assert torch.equal(alone, found[:, :, -5:])  # the paper's features are the same beside others


def test_both_is_given_and_random(graph):
    assert torch.equal(made(graph, "both")[1], made(graph, "given+random")[1])


def test_random_columns_are_fewer_beside_others(graph):
    assert made(graph, "random", dim=None)[1].shape[-1] == 128
    alone, beside = (made(graph, kind, dim=None)[1] for kind in ("walks", "walks+random"))
    assert beside.shape[-1] == alone.shape[-1] + 64


def test_walks_that_tell_nothing_are_refused():
    apart = gramme.MultilayerGraph({"L": gramme.EdgeLayer(4, [], [])})
    with pytest.raises(DataError, match="no walk tells nodes apart"):
        InputFeatures.of(apart, "walks", None)
    assert InputFeatures.of(apart, None, None).columns == 64


def test_given_features_that_are_not_there_are_refused(graph):
    with pytest.raises(DataError, match="needs a graph with features"):
        InputFeatures.of(graph.replace(features=None), "given+walks", 4)


@pytest.mark.parametrize("model", [gramme.GrammeFusion, gramme.GrammeSG])
@pytest.mark.parametrize("source", [None, "walks", "walks+random", "given", "given+walks", "given+walks+random"])
def test_a_saved_model_predicts_the_same_for_another_graph(graph, tmp_path, model, source):
    y = graph.labels.copy()
    y[::2] = None
    fitted = model(features=source, ensemble=2, epochs=3, feature_dim=4, random_state=0)
    fitted.fit(graph, y)
    fitted.save(tmp_path / "model.safetensors")
    loaded = gramme.load(tmp_path / "model.safetensors")
    part = graph.subgraph(graph.nodes[5:60])
    np.testing.assert_allclose(loaded.predict_proba(part), fitted.predict_proba(part), atol=1e-6)
    whole = graph.subgraph(graph.nodes)
    np.testing.assert_allclose(fitted.predict_proba(whole), fitted.predict_proba(), atol=1e-4)


def test_walks_know_a_new_node_by_its_neighbours_names():
    edges = [("L", f"{side}{a}", f"{side}{b}") for side in "ab" for a in range(8) for b in range(a)]
    edges.append(("L", "a0", "b0"))
    graph = gramme.MultilayerGraph.from_edges(tuple(zip(*edges, strict=True)))
    y = {f"{side}{number}": side for side in "ab" for number in (1, 2)}
    model = gramme.GrammeFusion(features="walks", ensemble=2, random_state=0).fit(graph, y)
    edges += [("L", "new", f"b{number}") for number in range(1, 6)]
    more = gramme.MultilayerGraph.from_edges(tuple(zip(*edges, strict=True)))
    found = dict(zip(more.nodes, model.predict(more), strict=True))
    assert found["new"] == "b"


@pytest.fixture(scope="module")
def wordy():
    """A graph with more words than are made dense."""
    wine = few_layers()
    codes = np.unique(wine.labels, return_inverse=True)[1]
    random = np.random.default_rng(0)
    chance = 0.05 + 0.3 * (np.arange(90) % 3 == codes[:, None])
    return wine.replace(features=sp.csr_array((random.random(chance.shape) < chance) * 1.0))


@pytest.mark.parametrize("source", ["given", "given+walks"])
@pytest.mark.parametrize("model", [gramme.GrammeFusion, gramme.GrammeSG])
def test_words_stay_sparse_and_give_what_the_same_numbers_give_dense(wordy, model, source, monkeypatch):
    y = wordy.labels.copy()
    y[::2] = None
    settings = {"ensemble": 2, "epochs": 4, "features": source, "random_state": 0}
    fitted = model(**settings).fit(wordy, y)
    assert isinstance(fitted._members().features(wordy, range(2)), SparseFeatures)
    walks = 0 if fitted.profile_ is None else 4 * fitted.profile_.values.size
    assert bool(walks) == (source == "given+walks")
    assert fitted.start_features(wordy).shape == (wordy.num_nodes, 90 + walks)
    monkeypatch.setattr(
        feature_sources,
        "SparseFeatures",
        lambda matrix, members, device, beside: torch.from_numpy(
            np.hstack([matrix.toarray(), *([] if beside is None else [beside])])
        )[:, None].expand(-1, members, -1),
    )
    dense = model(**settings).fit(wordy, y)
    np.testing.assert_allclose(fitted.probabilities_, dense.probabilities_, atol=1e-4)


@pytest.mark.parametrize("source", ["given", "given+walks"])
@pytest.mark.parametrize("model", [gramme.GrammeFusion, gramme.GrammeSG])
def test_words_are_dropped_saved_and_read_again(wordy, tmp_path, model, source):
    y = wordy.labels.copy()
    y[::2] = None
    fitted = model(ensemble=2, epochs=40, dropout=0.3, features=source, random_state=0)
    fitted.fit(wordy, y)
    assert (fitted.predict() == wordy.labels)[::2].mean() > 0.8
    fitted.save(tmp_path / "model.safetensors")
    part = wordy.subgraph(wordy.nodes[:50])
    found = gramme.load(tmp_path / "model.safetensors").predict_proba(part)
    assert found.tobytes() == fitted.predict_proba(part).tobytes()


def test_beside_columns_of_full_size_words_are_dense(wordy):
    assert made(wordy, "given")[0].columns == 90
    assert isinstance(made(wordy, "given+walks")[1], torch.Tensor)
