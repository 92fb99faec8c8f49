"""Why a node is predicted as it is: parts add up to the log-odds, and come through its own neighbours and groups."""

import numpy as np
import pytest
from tests.methods.auto.test_gramme_auto import fits

from gramme.graph import EdgeLayer, MembershipLayer, MultilayerGraph
from gramme.methods import GrammeAuto, GrammeFusion, LabelPropagation, OneHotLogistic
from gramme.methods.boosting.table_boosting import TableBoosting
from gramme.methods.contributions import Pair
from gramme.methods.explain import prediction_basis, reasons
from gramme.methods.linear import neighbourhood_logistic
from gramme.methods.linear.neighbourhood_logistic import NeighbourhoodLogistic, Smoothing
from gramme.methods.linear.spectral_logistic import SpectralLogistic
from gramme.methods.prepare import with_layers_of_fit


def fitted(method):
    layers = {"talk": EdgeLayer(4, [0, 2], [1, 3]), "city": MembershipLayer.from_values(["x", "x", "y", "y"])}
    return method.fit(MultilayerGraph(layers, nodes=list("ABCD"), labels=["l", None, "r", None]))


def other(features=None) -> MultilayerGraph:
    """A was met; E is joined to it, F to E; G is in its city, H in a city the linear model knows; I is alone."""
    layers = {
        "talk": EdgeLayer(6, [0, 1], [1, 2]),
        "city": MembershipLayer.from_values(["z", None, None, "z", "y", "w"]),
    }
    return MultilayerGraph(layers, nodes=list("AEFGHI"), features=features)


@pytest.mark.parametrize(
    ("method", "known_group"), [(LabelPropagation(), "nothing"), (OneHotLogistic(C=1.0), "groups")]
)
def test_the_first_that_holds(method, known_group: str) -> None:
    basis = prediction_basis(fitted(method), other()).tolist()
    assert basis == ["neighbours", "neighbours", "neighbours", "groups", known_group, "nothing"]


def test_features_count_only_where_the_model_reads_them() -> None:
    features = np.eye(6)
    assert prediction_basis(fitted(LabelPropagation()), other(features))[5] == "nothing"
    graph = MultilayerGraph({"a": EdgeLayer(4, [0, 2], [1, 3])}, labels=["l", "l", "r", "r"], features=np.eye(4))
    model = OneHotLogistic(C=1.0).fit(graph)
    new = MultilayerGraph({"a": EdgeLayer(2, [], [])}, nodes=["x", "y"], features=np.eye(2, 4))
    assert prediction_basis(model, new).tolist() == ["features", "features"]


def log_odds(model) -> np.ndarray:
    shares = np.sort(model.predict_proba().astype(float), axis=1)
    return np.log(shares[:, -1] / shares[:, -2])


@pytest.mark.parametrize("place", [0, 2])
def test_the_ingredients_add_up_to_the_mixture(place: int) -> None:
    graph = fits()[place]
    model = GrammeAuto(ensemble=1, epochs=5, random_state=0, progress=False).fit(graph)
    found = reasons(model, graph)
    assert [part.name for part in found.parts] == list(model.models_)
    assert np.allclose(found.log_odds, log_odds(model), atol=1e-3)
    assert (model.classes_[found.predicted] == model.predict()).all()
    some = reasons(model, graph, np.array([3, 30]))
    assert np.allclose(some.log_odds, found.log_odds[[3, 30]])


@pytest.mark.parametrize("place", range(3))
@pytest.mark.parametrize(
    ("method", "left"),
    [
        (OneHotLogistic(C=1.0, random_state=0), "the intercept"),
        (LabelPropagation(alpha=0.6, sharpness=2.0, random_state=0), "itself and the frequencies"),
        (SpectralLogistic(C=10.0, random_state=0), "itself and the intercept"),
    ],
    ids=["linear", "propagation", "walks"],
)
def test_what_came_through_neighbours_and_groups_is_what_changes_without_them(place: int, method, left: str) -> None:
    """With a node's edges and memberships put aside, only what is left of its log-odds remains."""
    graph = fits()[place]
    model = method.fit(graph)
    (part,) = reasons(model, graph).parts
    assert np.allclose(part.log_odds, log_odds(model), atol=1e-3)
    came = sum(one.parts.sum(axis=1) for one in part.through)
    rest = part.log_odds - came
    if isinstance(model, OneHotLogistic):
        found = reasons(model, graph)
        wanted = model.intercept_[found.predicted] - model.intercept_[found.against]
        assert np.allclose(rest, wanted, atol=1e-3)
    if isinstance(model, SpectralLogistic):
        total = model.profile_.table(model.profile_.placed(graph)) @ model.coefficients_
        found, at = reasons(model, graph), np.arange(graph.num_nodes)
        whole = total[at, found.predicted] - total[at, found.against]
        stayed = 0.5 * np.abs(whole).max() + 1
        assert (np.abs(whole - came) <= stayed).all()
    for one in part.through:
        layer = graph.layers[one.layer]
        kind = "groups" if isinstance(layer, MembershipLayer) else "neighbours"
        assert one.kind == kind
        joined = layer.incidence() if kind == "groups" else layer.to_scipy()
        if not isinstance(model, SpectralLogistic):  # whose walks go both ways
            assert not (one.parts.astype(bool).astype(int) - joined.astype(bool).astype(int) > 0).nnz


def test_propagation_is_taken_apart_exactly() -> None:
    """Neighbours' parts, the node's own and the frequencies' are the log-odds, by the logarithmic mean."""
    graph = fits()[0]
    model = LabelPropagation(alpha=0.6, sharpness=1.0, tolerance=1e-9, random_state=0).fit(graph)
    found = reasons(model, graph)
    (part,) = found.parts
    scores = model.heard(graph)
    unlabelled = np.setdiff1d(np.arange(graph.num_nodes), model.known_)
    came = np.asarray(sum(one.parts.sum(axis=1) for one in part.through))
    # where all classes are as frequent and a node has no label, nothing is left but itself and one prior label
    counts = np.bincount(model.known_codes)
    assert counts[0] == counts[1]
    rest = np.abs(part.log_odds - came)[unlabelled]
    assert np.median(rest / np.abs(part.log_odds[unlabelled])) < 0.6
    assert (np.sign(came) == np.sign(part.log_odds))[unlabelled].mean() > 0.9
    assert scores.shape == (graph.num_nodes, 2)


def test_attention_comes_through_neighbours_and_groups() -> None:
    graph = fits()[2]
    model = GrammeFusion(ensemble=1, epochs=3, random_state=0, progress=False).fit(graph)
    (part,) = reasons(model, graph).parts
    assert [one.layer for one in part.through] == list(graph.layers)
    assert [one.kind for one in part.through] == ["neighbours", "groups", "groups"]
    assert np.allclose(part.log_odds, log_odds(model), atol=1e-4)
    assert all(abs(one.parts).sum() > 0 for one in part.through[:2])
    assert not part.through[2].parts.count_nonzero()  # everybody alone: nobody to hear


@pytest.mark.parametrize("place", range(3))
def test_features_of_the_surroundings_are_taken_apart_exactly(place: int) -> None:
    """Neighbours' parts and the intercepts, the node's own features and its share in each mean are the log-odds."""
    random = np.random.default_rng(place)
    graph = fits()[place].replace(features=random.normal(size=(40, 5)))
    model = NeighbourhoodLogistic(C=10.0, smooth=False, random_state=0).fit(graph)
    found = reasons(model, graph)
    (part,) = found.parts
    graph = graph.select_layers(model.layer_order_)  # as the model sees it
    pair = Pair(found.rows, found.predicted, found.against)
    itself = pair.difference(np.tile(model.intercept_, (40, 1)))
    own = model.graph_.features / np.linalg.norm(model.graph_.features, axis=1, keepdims=True)
    blocks = 1 + 2 * graph.num_layers
    itself += pair.difference(own @ model.coefficients_[:5]) / blocks**0.5
    for layer, (said, scales) in zip(graph.layers.values(), model.neighbour_scores(graph), strict=True):
        alone = layer.degrees() == 0
        for hop, (values, scale) in enumerate(zip(said, scales, strict=True)):
            itself += pair.difference(values) * scale
            # who is alone keeps its own features at every hop
            start = 5 * (1 + 2 * list(graph.layers.values()).index(layer) + hop)
            kept = pair.difference(own @ model.coefficients_[start : start + 5]) / blocks**0.5
            itself += np.where(alone, kept, 0)
            assert not scale[alone].any()
    came = sum(np.asarray(one.parts.sum(axis=1)) for one in part.through)
    assert np.allclose(came + itself, log_odds(model), atol=1e-4)
    assert any(abs(one.parts).sum() > 0 for one in part.through)


def test_every_ingredient_of_a_mixture_says_through_whom() -> None:
    graph = fits()[2].replace(features=np.random.default_rng(0).normal(size=(40, 3)))
    model = GrammeAuto(ensemble=1, epochs=5, random_state=0, progress=False).fit(graph)
    found = reasons(model, graph)
    assert [part.name for part in found.parts] == list(model.models_)
    assert {"label-shares", "boosting", "gramme-fusion"} <= set(model.models_)
    for part in found.parts:
        assert part.through, part.name


@pytest.mark.parametrize("place", range(3))
def test_steps_of_trees_add_up_to_the_log_odds(place: int) -> None:
    """With what nobody's groups tell, the numbers and how frequent the classes are, they are the log-odds."""
    graph = fits()[place].replace(features=np.random.default_rng(place).normal(size=(40, 2)))
    model = TableBoosting(leaves=4, rounds=15, random_state=0).fit(graph)
    found = reasons(model, graph)
    (part,) = found.parts
    came = sum(np.asarray(one.parts.sum(axis=1)) for one in part.through)
    classes = len(model.classes_)
    both = np.eye(classes)
    direction = both[found.predicted] - both[found.against]
    if classes == 2:
        direction = direction[:, 1:]
    ordered = with_layers_of_fit(graph, model.layer_order_)
    table = model._table(ordered)
    trees = model.trees_
    before = trees.base + np.bincount(trees.output, trees.expected[trees.roots], trees.base.size)
    numbers = trees.contributions(table, direction)[:, :2].sum(axis=1)
    alone = sum(
        np.where(np.diff(layer.columns(ordered.nodes)[0].indptr) == 0, added, 0)
        for layer, added in zip(
            ordered.layers.values(),
            model.layer_contributions(ordered, found.predicted, found.against).values(),
            strict=True,
        )
    )
    assert np.allclose(came + numbers + alone + direction @ before, log_odds(model), atol=1e-4)


@pytest.mark.parametrize("place", range(3))
def test_smoothed_predictions_add_up_as_well(place: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Smoothing adds what neighbours are predicted to be; with what a node is itself, that is the log-odds."""
    random = np.random.default_rng(place)
    graph = fits()[place].replace(features=random.normal(size=(40, 5)))
    weights = np.arange(1, graph.num_layers + 1) / np.arange(1, graph.num_layers + 1).sum()
    chosen = Smoothing(0.6, 2.0, weights)
    monkeypatch.setattr(neighbourhood_logistic, "chosen_smoothing", lambda *_: chosen)
    model = NeighbourhoodLogistic(C=10.0, random_state=0).fit(graph)
    found = reasons(model, graph)
    pair = Pair(found.rows, found.predicted, found.against)
    ordered = with_layers_of_fit(graph, model.layer_order_)
    total, own, passed = model.heard(ordered)
    # what is left of a sum without the neighbours: the regression itself, and the node's own place in each mean
    left = pair.difference(own)
    smooth = np.zeros(40)
    for layer, weight in zip(ordered.layers.values(), weights, strict=True):
        edges = layer.to_edges().to_scipy()
        size = 1 + np.asarray(edges.sum(axis=1)).ravel()
        share = np.where(size > 1, chosen.alpha * weight / size, 0.0)
        left += share * pair.difference(passed)
        smooth += share * pair.difference(edges @ passed)
    whole = 2.0 * (left + smooth) / pair.logarithmic_mean(total)
    assert np.allclose(whole, log_odds(model), atol=1e-4)
    plain = NeighbourhoodLogistic(C=10.0, smooth=False, random_state=0).fit(graph)
    inner = reasons(plain, graph)
    # the same two classes are needed to compare what came through neighbours
    same = (inner.predicted == found.predicted) & (inner.against == found.against)
    assert same.any()
    came = sum(np.asarray(one.parts.sum(axis=1)) for one in found.parts[0].through)
    before = sum(np.asarray(one.parts.sum(axis=1)) for one in inner.parts[0].through)
    factor = 2.0 / pair.logarithmic_mean(total)
    expected = factor * (pair.logarithmic_mean(own) * before + smooth)
    assert np.allclose(came[same], expected[same], atol=1e-4)
