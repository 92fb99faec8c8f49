"""Features of edges and memberships in attention: what they tell is learned, saved, explained, and carried over."""

from typing import Any

import numpy as np
import pytest
from tests.methods.graphs import PINNED

import gramme
from gramme import DataError, EdgeLayer, GrammeFusion, GrammeSG, MembershipLayer, MultilayerGraph
from gramme.methods.attention.explain import attention_reasons, scores_by_layer
from gramme.methods.contributions import Pair

BOTH = pytest.mark.parametrize("kind", [GrammeFusion, GrammeSG])
NODES, FRIENDS = 120, 6
CLASSES = np.arange(NODES) % 2
KNOWN = np.where(np.random.default_rng(1).random(NODES) < 0.3, CLASSES.astype(object), None)
HIDDEN = np.array([label is None for label in KNOWN])
SMALL: dict[str, Any] = PINNED | {"ensemble": 2, "epochs": 20, "hidden_dim": 4, "feature_dim": 8, "learning_rate": 0.05}


def ties(told: bool, seed: int = 0) -> MultilayerGraph:
    """Everybody has as many friends of the own class as foes of the other, and only the feature says which is which."""
    random = np.random.default_rng(seed)
    source, target, friendly = [], [], []
    for node, own in enumerate(CLASSES):
        for alike in (True, False):
            others = np.flatnonzero(((own == CLASSES) == alike) & (np.arange(NODES) != node))
            target += random.choice(others, FRIENDS, replace=False).tolist()
            source += [node] * FRIENDS
            friendly += [1.0 if alike else -1.0] * FRIENDS
    features = np.column_stack(
        [np.array(friendly) + random.normal(0, 0.1, len(source)), random.normal(size=len(source))]
    )
    layer = EdgeLayer(
        NODES, source, target, features=features if told else None, feature_names=["warmth", "noise"] if told else None
    )
    return MultilayerGraph({"ties": layer})


def clubs(told: bool) -> MultilayerGraph:
    """Everybody goes to two clubs of the own class and is on the list of two of the other."""
    random = np.random.default_rng(0)
    node = np.repeat(np.arange(NODES), 4)
    goes = np.tile([1.0, 1.0, 0.0, 0.0], NODES)
    group = 2 * random.integers(10, size=node.size) + np.where(goes == 1, CLASSES[node], 1 - CLASSES[node])
    pairs, first = np.unique(np.column_stack([node, group]), axis=0, return_index=True)
    layer = MembershipLayer(NODES, pairs[:, 0], pairs[:, 1], features=goes[first] if told else None)
    return MultilayerGraph({"clubs": layer})


@BOTH
@pytest.mark.parametrize("made", [ties, clubs])
def test_only_the_feature_tells_friend_from_foe(kind, made):
    without, told = (kind(random_state=0, progress=False).fit(made(one), KNOWN).predict() for one in (False, True))
    assert (without == CLASSES)[HIDDEN].mean() < 0.65
    assert (told == CLASSES)[HIDDEN].mean() > 0.95


@BOTH
def test_a_saved_model_and_another_graph_keep_what_was_learned(kind, tmp_path):
    model = kind(random_state=0, progress=False).fit(ties(True), KNOWN)
    model.save(tmp_path / "model")
    loaded = gramme.load(tmp_path / "model")
    other = ties(True, seed=1)
    assert (loaded.predict_proba(other) == model.predict_proba(other)).all()
    assert (loaded.predict(other) == CLASSES).mean() > 0.9
    with pytest.raises(DataError, match=r"the layer 'ties' needs the features warmth, noise .* it has none"):
        loaded.predict(ties(False))
    empty = MultilayerGraph({"ties": EdgeLayer(NODES, [], [])})
    assert np.isfinite(loaded.predict_proba(empty)).all()


@BOTH
def test_coefficients_of_attention_count_the_features(kind):
    graph = ties(True)
    model = kind(**PINNED | {"ensemble": 2, "epochs": 40}).fit(graph, KNOWN)
    warmth = np.zeros((NODES, NODES))
    numbers = graph.layers["ties"].edge_numbers().tocoo()
    warmth[numbers.row, numbers.col] = graph.layers["ties"].features[numbers.data, 0]
    alpha = model.attention_coefficients("ties", 1, member=0)[0].toarray()
    off = ~np.eye(NODES, dtype=bool)
    friends, foes = (alpha[(warmth > 0) & off].mean(), alpha[(warmth < 0) & off].mean())
    ratio = max(friends / foes, foes / friends)
    assert ratio > 2
    np.testing.assert_allclose(alpha.sum(axis=1), 1, rtol=1e-5)
    # what two neighbours of a node get differs by their own loudness and by exp(<c, f>) alone
    scores, *_ = scores_by_layer(model._each_batch(graph, member=0), model._hops, graph, 1)
    i = 0
    j, k = np.flatnonzero(alpha[i])[1:3]
    matrix = graph.layers["ties"].to_scipy()
    entries = dict(zip(matrix.indices[: matrix.indptr[1]].tolist(), range(matrix.indptr[1]), strict=True))
    layer = scores[0]
    loud = [float(layer.heard[node, 0, 0].exp() * layer.factors[entries[node], 0, 0]) for node in (j, k)]
    assert alpha[i, j] / alpha[i, k] == pytest.approx(loud[0] / loud[1], rel=1e-4)


def test_reasons_add_up_to_the_log_odds_where_layers_have_features():
    graph = MultilayerGraph({**clubs(True).layers, **ties(True).layers})
    model = GrammeFusion(**SMALL).fit(graph, KNOWN)
    pair = Pair(np.arange(NODES), np.zeros(NODES, dtype=int), np.ones(NODES, dtype=int))
    found = attention_reasons(model._each_batch(graph), graph, pair)
    came = np.asarray(sum(one.parts.sum(axis=1) for one in found.through))
    wanted = pair.log_odds(model.predict_proba().astype(float))
    assert np.abs(wanted).max() > 0.3
    np.testing.assert_allclose(came + found.itself + found.intercepts, wanted, atol=2e-4)


def test_a_damaged_file_is_refused(tmp_path):
    model = GrammeFusion(**SMALL).fit(ties(True), KNOWN)
    model.edge_features_ = {}
    model.save(tmp_path / "model")
    with pytest.raises(gramme.errors.FileFormatError, match="edge_features"):
        gramme.load(tmp_path / "model")
