import numpy as np
import pytest
from tests.methods.graphs import half_known, planted

from gramme import DataError, datasets
from gramme.graph import EdgeLayer, MultilayerGraph
from gramme.methods import LINE, METHODS
from gramme.methods.embedding import base as cache
from gramme.methods.embedding.base import EmbeddingModel, _best, layer_mean
from gramme.methods.labels import KnownLabels, stratified_folds

FAST = {
    "deepwalk": {"walks_per_node": 4, "walk_length": 10, "dim": 16, "epochs": 5},
    "node2vec": {"walks_per_node": 4, "walk_length": 10, "dim": 16, "epochs": 2},
    "line": {"dim": 16},
    "pmne-n": {"walks_per_node": 4, "walk_length": 10, "dim": 16, "epochs": 5},
    "pmne-r": {"walks_per_node": 4, "walk_length": 10, "dim": 16, "epochs": 5},
    "pmne-c": {"walks_per_node": 4, "walk_length": 10, "dim": 16, "epochs": 5},
    "mne": {"walks_per_node": 4, "common_dim": 16, "common_epochs": 10, "layer_epochs": 2},
}


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("GRAMME_CACHE", str(tmp_path))


def new(name, **changes):
    if METHODS[name].extra:
        pytest.importorskip("gensim")
    return METHODS[name].estimator(**({"random_state": 0, "cache": False} | FAST[name] | changes))


@pytest.mark.parametrize("name", FAST)
def test_on_real_data(name, gramme_data):
    """Four towns of physicians; guessing the largest gives 48 %."""
    graph = datasets.load("ckm_social")
    y = half_known(graph, every=5)
    model = new(name).fit(graph, y)
    hidden = np.array([value is None for value in y])
    assert (model.predict() == graph.labels)[hidden].mean() > 0.85


@pytest.mark.parametrize("name", FAST)
def test_one_node_an_empty_layer_and_isolated_nodes_have_the_embedding_zero(name):
    layers = {"none": EdgeLayer(4, [], []), "some": EdgeLayer(4, [0], [1])}
    graph = MultilayerGraph(layers, labels=["a", "b", None, "b"])
    model = new(name).fit(graph)
    assert model.embedding_.dtype == np.float32
    assert model.embedding_.any(axis=1).tolist() == [True, True, False, False]
    alone = MultilayerGraph({"one": EdgeLayer(1, [], [])})
    for empty in (alone, MultilayerGraph({"nobody": EdgeLayer(1, [], [], nodes=[])})):
        columns = model.embedding_.shape[1] // (2 if name == "pmne-r" else 1)
        found = model._embed(empty, model._candidates()[0], 0)
        assert found.shape == (1, columns)
        assert not found.any()


@pytest.mark.parametrize("name", FAST)
def test_the_embedding_sees_no_labels_and_comes_from_the_cache(name, monkeypatch):
    graph = planted()
    first = new(name, cache=True).fit(graph, half_known(graph))

    def forbidden(*_):
        raise AssertionError("computed again")

    monkeypatch.setattr(METHODS[name].estimator, "_embed", forbidden)
    for every in (2, 3):
        again = new(name, cache=True).fit(graph, half_known(graph, every=every))
        if name != "node2vec":
            assert again.embedding_.tobytes() == first.embedding_.tobytes()
    for change in ({"random_state": 1}, {"random_state": None}):
        with pytest.raises(AssertionError, match="computed again"):
            new(name, cache=True, **change).fit(graph, half_known(graph))


def test_without_a_number_as_seed_nothing_is_kept():
    LINE(dim=4, samples=10).fit(planted())
    LINE(dim=4, samples=10, random_state=np.random.default_rng(0)).fit(planted())
    assert not cache.folder().exists()
    LINE(dim=4, samples=10, random_state=np.int64(3)).fit(planted())
    assert len(list(cache.folder().iterdir())) == 1


def test_the_mean_is_over_the_layers_that_place_a_node():
    one = np.array([[2, 4], [0, 0], [0, 0]], dtype=np.float32)
    two = np.array([[4, 0], [1, 3], [0, 0]], dtype=np.float32)
    assert layer_mean([one, two]).tolist() == [[3, 2], [1, 3], [0, 0]]


def test_the_best_candidate_is_chosen_on_the_known_labels_alone():
    codes = np.arange(30) % 2
    signal, noise = (codes[:, None] + np.zeros((30, 2)), np.random.default_rng(0).normal(size=(30, 2)))
    known = KnownLabels(np.arange(20), codes[:20], np.array(["a", "b"]))
    assert _best([noise, signal], known, 1.0, 0) == 1
    assert _best([signal, signal], known, 1.0, 0) == 0  # the first among equals
    swapped = signal.copy()
    swapped[20:] = 1 - swapped[20:]
    assert _best([noise, swapped], known, 1.0, 0) == 1  # nodes without a known label play no part


@pytest.mark.parametrize("codes", [[0, 1], [0, 0, 1], [0] * 9 + [1], [0, 1, 2] * 7])
def test_folds_deal_out_the_classes(codes):
    codes = np.array(codes)
    folds = stratified_folds(codes, 5, 0)
    assert set(folds.tolist()) == set(range(min(5, codes.size)))
    for code in np.unique(codes):
        counts = np.bincount(folds[codes == code], minlength=folds.max() + 1)
        assert counts.max() - counts.min() <= 1
    known = KnownLabels(np.arange(codes.size), codes, np.unique(codes))
    _best([np.eye(codes.size)] * 2, known, 1.0, 0)


@pytest.mark.parametrize(
    "wrong", [{"C": 0}, {"standardise": 1}, {"cache": "no"}, {"dim": 3}, {"dim": 0}, {"samples": 0}, {"negative": 1.5}]
)
def test_wrong_parameters_are_a_clear_error(wrong):
    with pytest.raises(DataError, match=next(iter(wrong))):
        LINE(**wrong).fit(planted())


def test_standardised_or_not_is_a_parameter():
    raw, standard = (LINE(dim=4, standardise=how, random_state=0).fit(planted()) for how in (False, True))
    assert raw.embedding_.tobytes() == standard.embedding_.tobytes()
    assert (raw.probabilities_ != standard.probabilities_).any()


def test_the_embedding_is_saved(tmp_path):
    import gramme

    model = new("line").fit(planted())
    model.save(tmp_path / "m.safetensors")
    loaded = gramme.load(tmp_path / "m.safetensors")
    assert isinstance(loaded, EmbeddingModel)
    assert loaded.embedding_.tobytes() == model.embedding_.tobytes()
    assert loaded.settings_ == model.settings_
