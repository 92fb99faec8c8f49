"""Couplings, kinds and views reach every model: what only they can tell is found, without them it is chance."""

import functools

import numpy as np
import pytest
import scipy.sparse as sp

import gramme
from gramme import datasets
from gramme.errors import DataError
from gramme.graph import EdgeLayer, MembershipLayer, MultilayerGraph
from gramme.methods.prepare import ViewScale, prepare_graph
from gramme.methods.registry import method

COUPLED = datasets.load("synthetic_coupled", nodes=240)
FIRST = COUPLED.layers["first"].present
KNOWN = COUPLED.labels.copy()
KNOWN[~FIRST] = None
KNOWN[np.flatnonzero(FIRST)[::2]] = None
CLASSES = 3
NAMES = ["gramme-sg", "gramme-fusion", "label-propagation", "gramme-auto"]
FEW = {"gramme-sg": {"ensemble": 2}, "gramme-fusion": {"ensemble": 4}, "gramme-auto": {"ensemble": 2, "folds": 2}}


def views_graph(nodes=120, seed=0):
    """Two views that each tell two of the three classes apart, in columns of very different scale."""
    random = np.random.default_rng(seed)
    labels = np.arange(nodes) % 3
    left = random.normal(size=(nodes, 4)) + 5 * (labels == 0)[:, None]
    right = 1000 * (random.normal(size=(nodes, 12)) + 5 * (labels == 1)[:, None])
    left[:5] = np.nan
    right[5:9] = np.nan
    return MultilayerGraph.from_views({"left": left, "right": right}, k=4, labels=labels)


def kinds_graph(nodes=60):
    """Papers whose authors and venues keep to a class, with a venue's topic and weighted authorships."""
    random = np.random.default_rng(0)
    labels = np.arange(nodes) % 2
    authors = [(i, f"{labels[i]}a{random.integers(6)}", 1 + i % 3) for i in range(nodes) for _ in "12"]
    venues = [(i, f"v{labels[i] if random.random() < 0.9 else 2}") for i in range(nodes)]
    return MultilayerGraph.from_relations(
        {("paper", "author"): authors, ("paper", "venue"): venues},
        target="paper",
        features={"venue": {"v0": [1.0, 0.0], "v1": [0.0, 1.0], "v2": [0.5, 0.5]}},
        labels=dict(enumerate(labels.tolist())),
    )


VIEWS = views_graph()
KINDS = kinds_graph()
SOME = VIEWS.labels.copy()
SOME[12:] = None
GIVEN = {"couplings": (COUPLED, KNOWN), "views": (VIEWS, SOME)}


def new(name, **options):
    return method(name).estimator(random_state=0, **FEW.get(name, {}) | options)


@functools.cache
def fitted(name, kind):
    """Fitted once for all tests that only look at it."""
    return new(name).fit(*GIVEN[kind])


@pytest.mark.parametrize("name", NAMES)
def test_labels_of_the_second_network_come_through_the_couplings_alone(name):
    right = fitted(name, "couplings").predict() == COUPLED.labels
    assert right[~FIRST].mean() >= 0.95
    blind = new(name).fit(COUPLED.replace(couplings=None), KNOWN)
    chance = (blind.predict() == COUPLED.labels)[~FIRST].mean()
    assert chance < 1 / CLASSES + 0.15


@pytest.mark.parametrize("name", ["gramme-sg", "gramme-fusion"])
def test_couplings_are_heard_although_the_second_network_is_noise(name):
    """SG once started from walks, which keep to a layer: what they told in one network was wrong in the other."""
    noisy = datasets.load("synthetic_coupled", nodes=400, signal=[0.9, 0.0])
    first = noisy.layers["first"].present
    known = noisy.labels.copy()
    known[~first] = None
    right = new(name).fit(noisy.replace(labels=None), known).predict() == noisy.labels
    assert right[~first].mean() >= 0.95


@pytest.mark.parametrize("name", ["gramme-fusion", "label-propagation"])
def test_a_coupling_is_a_relation_of_its_own(name):
    model = fitted(name, "couplings")
    assert model.layers_ == ["first", "second", "first~second"]
    assert model.given_graph_ is COUPLED
    assert np.array_equal(model.predict_proba(COUPLED), model.probabilities_)


def test_sg_attends_over_couplings_between_its_layers():
    model = gramme.GrammeSG(random_state=0, epochs=5, ensemble=2).fit(COUPLED, KNOWN)
    assert model.layers_ == ["first", "second"]
    assert model.graph_ is COUPLED


@pytest.mark.parametrize("name", ["gramme-sg", "gramme-fusion", "gramme-auto"])
@pytest.mark.parametrize("kind", GIVEN)
def test_saved_and_asked_about_another_graph(name, kind, tmp_path):
    model, (graph, _) = fitted(name, kind), GIVEN[kind]
    model.save(tmp_path / "m.safetensors")
    loaded = gramme.load(tmp_path / "m.safetensors")
    part = graph.subgraph(graph.nodes[np.arange(graph.num_nodes) % 5 > 0])
    assert np.array_equal(loaded.predict_proba(part), model.predict_proba(part))
    assert (loaded.predict(part) == part.labels).mean() > 0.7


@pytest.mark.parametrize("name", [*NAMES, "one-hot-logistic"])
@pytest.mark.parametrize("kind", GIVEN)
def test_the_same_bits_again_also_where_labels_that_were_not_given_differ(name, kind):
    graph, y = GIVEN[kind]
    turned = graph.replace(labels=[(label + 1) % 3 for label in graph.labels])
    again = new(name).fit(turned, y)
    assert np.array_equal(again.probabilities_, fitted(name, kind).probabilities_)


@pytest.mark.parametrize("name", ["gramme-fusion", "label-propagation"])
def test_kinds_are_learned_saved_and_asked_again(name, tmp_path):
    """The same bits again, also where hidden labels differ; other papers of known authors are predicted."""
    options = {"epochs": 25, "ensemble": 2} if name == "gramme-fusion" else {}
    y = KINDS.labels.copy()
    y[::3] = None
    turned = KINDS.replace(labels=1 - KINDS.labels.astype(int))
    model, again = (method(name).estimator(random_state=0, **options).fit(graph, y) for graph in (KINDS, turned))
    assert np.array_equal(model.probabilities_, again.probabilities_)
    assert (model.predict() == KINDS.labels)[::3].mean() > 0.9
    model.save(tmp_path / "m.safetensors")
    loaded = gramme.load(tmp_path / "m.safetensors")
    part = KINDS.subgraph(KINDS.nodes[::2])
    assert np.array_equal(loaded.predict_proba(part), model.predict_proba(part))
    assert (loaded.predict(part) == part.labels).mean() > 0.9


@pytest.mark.parametrize("name", ["gramme-fusion", "gramme-sg", "one-hot-logistic", "gramme-auto"])
def test_views_of_any_scale_tell_the_classes(name):
    assert (fitted(name, "views").predict() == VIEWS.labels)[12:].mean() > 0.9


@pytest.mark.parametrize("name", ["gat", "rgcn", "han"])
def test_peers_get_all_views_side_by_side(name):
    pytest.importorskip("torch_geometric")
    model = method(name).estimator(random_state=0, epochs=60).fit(VIEWS, SOME)
    assert (model.predict() == VIEWS.labels)[12:].mean() > 0.5


def test_views_are_scaled_by_the_graph_of_the_fit():
    views = ViewScale.learned(VIEWS)
    seen = prepare_graph(VIEWS, views, supports_couplings=False)
    for name, matrix in seen.layer_features.items():
        there = ~np.isnan(VIEWS.layer_features[name][:, 0])
        assert np.allclose(matrix[there].mean(axis=0), 0, atol=1e-5)
        assert np.allclose(matrix[there].std(axis=0), 1, atol=1e-4)
        assert (matrix[~there] == 0).all()
    part = prepare_graph(VIEWS.subgraph(range(9, 12)), views, supports_couplings=False)
    assert np.allclose(part.layer_features["left"], seen.layer_features["left"][9:12])
    with pytest.raises(DataError, match="needs 16 features of single layers; the graph has 4"):
        prepare_graph(VIEWS.select_layers(["left"]), views, supports_couplings=False)


def test_sparse_features_of_a_layer_keep_their_zeros():
    words = sp.csr_array(np.eye(6)[:, :2] * 4)
    graph = MultilayerGraph({"l": MembershipLayer.from_codes([0] * 6)}, layer_features={"l": words})
    seen = prepare_graph(graph, ViewScale.learned(graph), supports_couplings=True)
    assert sp.issparse(seen.layer_features["l"])
    assert seen.layer_features["l"].nnz == 2
    plain = datasets.load("wine")
    assert prepare_graph(plain, None, supports_couplings=False) is plain


@pytest.mark.parametrize("name", ["label-propagation", "gramme-fusion", "gramme-sg"])
def test_weighted_memberships_predict_as_their_explicit_edges(name):
    random = np.random.default_rng(1)
    nodes, size = 60, 150
    layer = MembershipLayer(
        nodes, random.integers(nodes, size=size), random.integers(12, size=size), weight=random.random(size) + 0.1
    )
    graph = MultilayerGraph({"times": layer}, labels=np.arange(nodes) % 2)
    edges = graph.replace(layers={"times": layer.to_edges()})
    y = graph.labels.copy()
    y[20:] = None
    # walks go through groups or along edges, which is not the same walk; the sums must be the same
    attention = {"epochs": 10, "ensemble": 2, "features": "random"}
    options = {} if name == "label-propagation" else attention
    found = [method(name).estimator(random_state=0, **options).fit(each, y).probabilities_ for each in (graph, edges)]
    assert np.allclose(*found, atol=1e-4)


def test_what_is_trained_layer_by_layer_refuses_thousands_of_layers():
    nobody = EdgeLayer(2, [0], [1])
    graph = MultilayerGraph({f"l{number}": nobody for number in range(1001)}, labels=["a", "b"])
    for name in ("deepwalk", "line", "mne", "han"):
        with pytest.raises(DataError, match="each of the 1,001 layers"):
            method(name).estimator(random_state=0).fit(graph)
