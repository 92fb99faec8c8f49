"""Where a network's features come from: the default, the kinds side by side, another graph, a saved model."""

import numpy as np
import pytest
import scipy.sparse as sp
import torch

import gramme
from gramme import DataError
from gramme.methods.attention import feature_sources
from gramme.methods.attention.feature_sources import SOURCES, InputFeatures
from gramme.ops import SparseFeatures

CPU = torch.device("cpu")


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
@pytest.mark.parametrize(
    "source", [None, "walks", "walks+random", "given", "given+walks", "given+walks+random"]
)
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
def test_words_stay_sparse_and_give_what_the_same_numbers_give_dense(
    wordy, model, source, monkeypatch
):
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
