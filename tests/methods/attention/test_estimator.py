"""GrAMME-SG and GrAMME-Fusion beyond the contract: members, features, variants, other graphs."""

import functools
import json
import sys
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from tests.methods.graphs import PINNED, half_known, planted
from tests.processes import in_another_process

import gramme
from gramme import DataError, GrammeError, GrammeSG, load
from gramme.errors import FileFormatError
from gramme.methods import GrammeFusion
from gramme.methods.attention import members
from gramme.methods.attention.estimator import SavedImportances, SavedShape, settled_decay
from gramme.methods.params import parameter_rules
from gramme.methods.persistence import Learned, MisfitError, write_model


def test_every_shared_parameter_has_a_rule():
    shared = set(GrammeFusion().get_params()) & set(GrammeSG().get_params())
    assert set(parameter_rules(GrammeFusion)) & shared == set(parameter_rules(GrammeSG)) & shared == shared


def test_decay_falls_with_the_labels_where_none_is_given():
    assert settled_decay(None, 10) == 0.02
    assert settled_decay(None, 100) == 0.002
    assert settled_decay(0.0, 10) == 0.0
    assert settled_decay(0.5, 10) == 0.5


GRAPH = planted()
SIZES = {"layers": 2}


@pytest.fixture(scope="module")
def model():
    return GrammeFusion(**PINNED | {"epochs": 1}).fit(GRAPH, half_known(GRAPH))


@pytest.fixture
def record(model):
    return json.loads(json.dumps(model._learned().record))


def test_the_shape_comes_back(model, record):
    box = SimpleNamespace()
    SavedShape("shape").load(box, Learned(record), SIZES)
    assert box.shape_ == model.shape_


@pytest.mark.parametrize(
    "change",
    [
        {"hidden_dim": 0},
        {"activation": "sine"},
        {"head_weights": "heavy"},
        {"combine_heads": "loud"},
        {"heads": [2]},
        {"depth": [2, "x"]},
        {"width": 3},
    ],
)
def test_sizes_that_cannot_be_are_refused(model, tmp_path, change):
    learned = model._learned()
    learned.record["shape"] |= change
    write_model(tmp_path / "m", "GrammeFusion", model.get_params(), learned)
    with pytest.raises(FileFormatError, match="does not fit together"):
        gramme.load(tmp_path / "m")


def test_sizes_that_older_files_lack_have_defaults(record):
    later = ("combine_heads", "readout")
    shape = {name: value for name, value in record["shape"].items() if name not in later}
    box = SimpleNamespace()
    SavedShape("shape").load(box, Learned({"shape": shape}), SIZES)
    assert (box.shape_.combine_heads, box.shape_.readout) == ("weighted", "linear")
    del shape["in_dim"]
    with pytest.raises(MisfitError, match="the sizes of a network"):
        SavedShape("shape").load(box, Learned({"shape": shape}), SIZES)


@pytest.mark.parametrize("wrong", [3, [], [[1.0]], [[0.5, float("nan")]], [["a", "b"]], [[10**400, 1]]])
def test_importances_are_a_row_per_member(model, record, wrong):
    field = SavedImportances("importance", attribute="layer_importances_")
    box = SimpleNamespace(layers_=model.layers_)
    field.load(box, Learned(record), SIZES)
    assert box.layer_importances_.shape == (2, 2)
    with pytest.raises((MisfitError, ValueError, OverflowError)):
        field.load(box, Learned({"importance": wrong}), SIZES)


def compiler_after_loading(path) -> str:
    gramme.load(path)
    return str("torch._dynamo" in sys.modules)


def test_a_model_is_loaded_without_torchs_compiler(model, tmp_path):
    """It would take seconds to load, each time that somebody predicts."""
    path = tmp_path / "m.safetensors"
    model.save(path)
    assert in_another_process(functools.partial(compiler_after_loading, path), tmp_path) == "False"


FAST = PINNED | {"epochs": 8, "ensemble": 3}
Y = half_known(GRAPH)
BOTH = pytest.mark.parametrize("kind", [GrammeSG, GrammeFusion])


def fit(kind, graph=GRAPH, y=Y, **changes):
    return kind(**(FAST | changes)).fit(graph, y)


# Members


@BOTH
@pytest.mark.parametrize("dropout", [0.0, 0.4])
def test_members_do_not_depend_on_the_batch(kind, dropout, monkeypatch):
    settings = {"dropout": dropout, "attention_dropout": dropout}
    together = fit(kind, **settings)
    monkeypatch.setattr(members, "MAX_BATCH_NUMBERS", 1)
    alone = fit(kind, **settings)
    np.testing.assert_allclose(together.probabilities_, alone.probabilities_, atol=2e-4)
    np.testing.assert_allclose(together.embedding_, alone.embedding_, atol=2e-3)
    assert together.history_.columns.tolist() == alone.history_.columns.tolist()
    np.testing.assert_allclose(together.history_, alone.history_, atol=1e-3)


@BOTH
def test_an_ensemble_of_one_is_the_first_member(kind):
    many, one = fit(kind, ensemble=3), fit(kind, ensemble=1)
    np.testing.assert_allclose(many.embedding_[:, :4], one.embedding_, atol=2e-3)
    assert many.embedding_.shape == (36, 3 * 4)
    assert many.members_ == 3
    assert not np.allclose(many.embedding_[:, 4:8], one.embedding_, atol=1e-2)


@BOTH
def test_another_seed_gives_another_model_and_generators_are_seeds_too(kind):
    one = fit(kind).probabilities_
    assert not np.allclose(one, fit(kind, random_state=1).probabilities_)
    first = fit(kind, random_state=np.random.default_rng(3)).probabilities_
    second = fit(kind, random_state=np.random.default_rng(3)).probabilities_
    assert first.tobytes() == second.tobytes()
    legacy = [fit(kind, random_state=np.random.RandomState(3)).probabilities_ for _ in range(2)]
    assert legacy[0].tobytes() == legacy[1].tobytes()
    assert fit(kind, random_state=None).seed_ != fit(kind, random_state=None).seed_
    assert fit(kind, random_state=2**63 - 1).probabilities_.shape == one.shape
    with pytest.raises(DataError, match="random_state must be a whole number of at most"):
        fit(kind, random_state=10**30)


@BOTH
def test_double_precision_by_default_is_no_trouble(kind):
    torch.set_default_dtype(torch.float64)
    try:
        double = fit(kind)
    finally:
        torch.set_default_dtype(torch.float32)
    assert double.probabilities_.dtype == np.float32
    assert double.embedding_.dtype == np.float32


# Other graphs


@BOTH
def test_the_same_graph_again_gives_the_same_bits(kind):
    model = fit(kind)
    twin = GRAPH.replace(labels=None, name="twin")
    assert model.predict_proba(twin).tobytes() == model.probabilities_.tobytes()
    assert model.embed(twin).tobytes() == model.embedding_.tobytes()


@BOTH
def test_the_order_of_nodes_does_not_matter(kind):
    model = fit(kind)
    order = np.random.default_rng(0).permutation(36)
    found = model.predict_proba(GRAPH.subgraph(GRAPH.nodes[order]))
    np.testing.assert_allclose(found, model.probabilities_[order], atol=1e-5)


@BOTH
def test_the_order_of_layers_does_not_matter_in_prediction(kind):
    model = fit(kind)
    found = model.predict_proba(GRAPH.select_layers(["room", "friends"]))
    assert found.tobytes() == model.probabilities_.tobytes()


@BOTH
def test_new_nodes_are_predicted_well(kind):
    """Fitted on 100 nodes, asked about 50 others of the same planted graph."""
    whole = planted(150, seed=4)
    seen, fresh = whole.nodes[:100], whole.nodes[100:]
    model = fit(kind, whole.subgraph(seen), None, epochs=40, hidden_dim=8, feature_dim=32)
    answers = dict(zip(whole.nodes, model.predict(whole), strict=True))
    truth = dict(zip(whole.nodes, whole.labels, strict=True))
    assert np.mean([answers[node] == truth[node] for node in fresh]) > 0.7


@BOTH
def test_a_graph_without_nodes_gives_an_empty_answer(kind):
    model, nothing = fit(kind), GRAPH.subgraph([])
    assert model.predict_proba(nothing).shape == (0, 3)
    assert model.embed(nothing).shape == (0, 12)


# Features


@BOTH
def test_features_of_every_source(kind):
    matrix = np.random.default_rng(0).normal(size=(36, 5)).astype(np.float32)
    with_features = GRAPH.replace(features=matrix)
    random = fit(kind, features="random").probabilities_
    assert fit(kind, with_features, features="random").probabilities_.tobytes() == random.tobytes()
    noise = fit(kind, with_features)  # and the network tells
    assert noise.source_ == "given+walks"
    assert 0 < noise.walk_size_ <= 1
    given = fit(kind, with_features, features="given")
    assert given.source_ == "given"
    assert given.shape_.in_dim == 5
    both = fit(kind, with_features, features="both")
    assert both.shape_.in_dim == 5 + 8
    assert len({random.tobytes(), given.probabilities_.tobytes(), both.probabilities_.tobytes()}) == 3
    sparse = fit(kind, GRAPH.replace(features=sp.csr_array(matrix)))
    np.testing.assert_allclose(sparse.probabilities_, noise.probabilities_, atol=1e-4)


@BOTH
@pytest.mark.parametrize("source", ["given", "both"])
def test_features_that_are_not_there_are_a_clear_error(kind, source):
    with pytest.raises(DataError, match=f"features='{source}' needs a graph with features"):
        fit(kind, features=source)
    with pytest.raises(DataError, match="needs a graph with features"):
        fit(kind, GRAPH.replace(features=np.zeros((36, 0))), features=source)
    model = fit(kind, GRAPH.replace(features=np.eye(36)), features=source)
    with pytest.raises(DataError, match="needs 36 features per node; the graph has 0"):
        model.predict(planted(20))
    with pytest.raises(DataError, match="needs 36 features per node; the graph has 4"):
        model.embed(planted(20, features=np.zeros((20, 4))))


@BOTH
def test_features_that_are_no_numbers_never_get_this_far(kind):
    with pytest.raises(DataError, match="n3"):
        fit(kind, GRAPH.replace(features=np.where(np.arange(36) == 3, np.nan, 1.0)[:, None]))
    huge = fit(kind, GRAPH.replace(features=np.where(np.arange(36) == 2, 1e300, 1.0)[:, None]))
    assert np.isfinite(huge.probabilities_).all()


def test_copies_of_a_node_share_features_only_when_asked():
    own = fit(GrammeSG, features="random")
    shared = fit(GrammeSG, features="random", shared_features=True)
    assert own.start_features(GRAPH).shape == (2 * 36, 8)
    assert shared.start_features(GRAPH).shape == (36, 8)
    assert own.probabilities_.tobytes() != shared.probabilities_.tobytes()


@pytest.mark.parametrize("features", ["random", "walks+random", "given+walks"])
@BOTH
def test_what_some_nodes_start_from(kind, features):
    graph = GRAPH.replace(features=np.random.default_rng(0).normal(size=(36, 5)))
    model = fit(kind, graph, features=features)
    some = np.array([3, 30, 7])
    every = model.start_features(graph).reshape(-1, 36, model.shape_.in_dim)
    found = model.start_features(graph, some).reshape(-1, 3, model.shape_.in_dim)
    np.testing.assert_allclose(found, every[:, some], atol=1e-6)


# Variants


@pytest.mark.parametrize("fuse", ["end", "every hop"])
@pytest.mark.parametrize("feed_forward", [False, True])
@pytest.mark.parametrize("head_weights", ["nonnegative", "simplex", "free"])
def test_fusion_in_all_its_variants(fuse, feed_forward, head_weights):
    model = fit(GrammeFusion, fuse=fuse, feed_forward=feed_forward, head_weights=head_weights)
    check_variant(model)


@BOTH
@pytest.mark.parametrize("combine_heads", ["weighted", "average", "concatenate"])
def test_heads_combined_in_all_ways(kind, combine_heads, tmp_path):
    model = fit(kind, combine_heads=combine_heads)
    check_variant(model)
    model.save(tmp_path / "m.safetensors")
    again = load(tmp_path / "m.safetensors")
    assert again.predict_proba(GRAPH).tobytes() == model.predict_proba(GRAPH).tobytes()


@BOTH
def test_class_scores_from_the_last_hop(kind, tmp_path):
    model = fit(kind, readout="attention")
    check_variant(model)
    assert model.embedding_.shape == (GRAPH.num_nodes, 3 * len(model.classes_))
    empty = GRAPH.subgraph([])
    assert model.embed(empty).shape == (0, 3 * len(model.classes_))
    model.save(tmp_path / "m.safetensors")
    again = load(tmp_path / "m.safetensors")
    assert again.predict_proba(GRAPH).tobytes() == model.predict_proba(GRAPH).tobytes()


@pytest.mark.parametrize("pool", ["end", "every hop"])
@pytest.mark.parametrize("activation", ["elu", "relu", "tanh", "none"])
def test_supra_graph_in_all_its_variants(pool, activation):
    check_variant(fit(GrammeSG, pool=pool, activation=activation))


def check_variant(model):
    np.testing.assert_allclose(model.predict_proba().sum(axis=1), 1, rtol=1e-5)
    assert model.layer_importances_.shape == (3, 2)
    np.testing.assert_allclose(model.layer_importances_.sum(axis=1), 1)
    assert (model.layer_importances_ >= 0).all().all()
    for hop in (1, 2):
        assert model.node_attention("room", hop=hop).mean() == pytest.approx(1)


def test_heads_and_depth_may_differ_between_layers():
    model = fit(GrammeFusion, heads={"friends": 3, "room": 1}, depth={"room": 2, "friends": 1}, fuse="end")
    assert model.shape_.heads == (3, 1)
    assert model.shape_.depth == (1, 2)
    assert model.node_attention("room", hop=2).notna().all()
    with pytest.raises(DataError, match="layer 'friends' has 1 hops, not 2"):
        model.node_attention("friends", hop=2)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"heads": {"friends": 2}}, "heads says nothing about the layer 'room'"),
        ({"heads": {"friends": 2, "room": 0}}, r"heads\['room'\] must be a whole number of at least 1"),
        ({"depth": {"friend": 2, "room": 2}}, "no layer 'friend'; did you mean 'friends'"),
        ({"depth": {"friends": 1, "room": 2}, "fuse": "every hop"}, "the same depth; use fuse='end'"),
    ],
)
def test_wrong_numbers_per_layer_are_clear_errors(changes, message):
    with pytest.raises(DataError, match=message):
        fit(GrammeFusion, **changes)


@pytest.mark.parametrize("name", ["heads", "depth"])
def test_the_supra_graph_has_one_number_for_all_layers(name):
    with pytest.raises(DataError, match=f"{name} must be one number"):
        fit(GrammeSG, **{name: {"friends": 1, "room": 1}})


@BOTH
def test_a_training_that_diverges_is_a_clear_error(kind):
    huge = GRAPH.replace(features=np.full((36, 2), 1e38))
    with pytest.raises(GrammeError, match=r"diverged.*learning_rate"):
        fit(kind, huge, learning_rate=1e30, epochs=3)


@BOTH
def test_a_fit_that_fails_leaves_no_old_result(kind):
    model = fit(kind)
    with pytest.raises(DataError, match="validation"):
        model.fit(GRAPH, Y, validation={"n1": "no such class"})
    assert not hasattr(model, "probabilities_")
    assert not hasattr(model, "embedding_")
    with pytest.raises(GrammeError, match="not fitted"):
        model.node_attention("room", graph=GRAPH)


def test_an_explanation_of_a_large_graph_asks_fewer_members(monkeypatch):
    graph = planted()
    model = GrammeFusion(**PINNED).fit(graph, half_known(graph))
    assert len(model.layer_importances_) == 2
    monkeypatch.setattr("gramme.methods.attention.explain.MAX_EXPLAINED_NUMBERS", 1)
    monkeypatch.setattr("gramme.methods.attention.members.MAX_BATCH_NUMBERS", 1)  # member by member
    few = GrammeFusion(**PINNED).fit(graph, half_known(graph))
    assert len(few.layer_importances_) == 1
    assert few.layer_importance_.sum() == pytest.approx(1)


def test_transform_is_the_embedding_of_the_graph_of_the_fit_or_of_another():
    graph = planted()
    model = GrammeFusion(**PINNED).fit(graph, half_known(graph))
    np.testing.assert_array_equal(model.transform(), model.embedding_)
    np.testing.assert_array_equal(model.transform(graph), model.embedding_)
    assert model.transform(graph.subgraph(graph.nodes[:7])).shape == (7, model.embedding_.shape[1])
