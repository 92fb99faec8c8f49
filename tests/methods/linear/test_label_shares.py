"""What neighbours' labels say, per layer and direction."""

from typing import ClassVar

import numpy as np
import pytest
from tests.methods.cases import MethodCase

import gramme
from gramme import EdgeLayer, MembershipLayer, MultilayerGraph
from gramme.methods import LabelShares
from gramme.methods.explain import reasons


class TestLabelShares(MethodCase):
    name = "label-shares"
    inductive = True
    arguments: ClassVar = {"rounds": 2}


def unlike_pairs(count: int = 150, classes: int = 3, seed: int = 0) -> MultilayerGraph:
    """Every edge leads from a node to one of the next class, and a second layer is noise."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(classes, size=count)
    source = rng.integers(count, size=4 * count)
    target = np.array([rng.choice(np.flatnonzero(codes == (codes[node] + 1) % classes)) for node in source])
    noise = EdgeLayer(count, rng.integers(count, size=300), rng.integers(count, size=300))
    ways = np.ones(source.size, dtype=np.int8)
    layers = {"leads": EdgeLayer(count, source, target, ways=ways), "noise": noise}
    return MultilayerGraph(layers, labels=[f"c{code}" for code in codes])


def some_known(graph: MultilayerGraph, share: float, seed: int = 1) -> np.ndarray:
    y = graph.labels.copy()
    y[np.random.default_rng(seed).random(graph.num_nodes) > share] = None
    return y


def accuracy(model: LabelShares, graph: MultilayerGraph, y: np.ndarray) -> float:
    hidden = np.array([label is None for label in y])
    return float((model.predict() == graph.labels)[hidden].mean())


def test_learns_a_layer_that_joins_unlike_labels_and_which_way_it_leads():
    graph = unlike_pairs(classes=4)
    y = some_known(graph, 0.4)
    model = LabelShares(random_state=0, neighbour_columns=False).fit(graph, y)
    assert accuracy(model, graph, y) > 0.9
    assert model.rounds_["split"].iloc[-1]
    assert model.layer_importance_["leads"] > 0.7
    steps = [f"leads leads from c{code} to c{(code + 1) % 4}" for code in range(4)]
    assert any(step in model.maps_in_words() for step in steps)
    maps = model.class_maps_.set_index(["layer", "direction"])
    assert maps.loc[("leads", "along"), "alike"] < 0.2
    blind = graph.replace(
        layers={
            "leads": EdgeLayer(150, graph.layers["leads"].source, graph.layers["leads"].target),
            "noise": graph.layers["noise"],
        }
    )
    unable = LabelShares(random_state=0, neighbour_columns=False).fit(blind, y)
    assert accuracy(unable, graph, y) < 0.8


def test_groups_are_never_turned_into_edges_and_equal_them():
    """A layer of groups and its explicit edges give nearly the same predictions."""
    rng = np.random.default_rng(0)
    codes = np.repeat(np.arange(3), 30)
    groups = (codes * 4 + rng.integers(4, size=90)) % 12
    layer = MembershipLayer(90, np.arange(90), groups)
    by_groups = MultilayerGraph({"room": layer}, labels=codes.astype(str))
    by_edges = MultilayerGraph({"room": layer.to_edges()}, labels=codes.astype(str))
    y = some_known(by_groups, 0.3)
    found = [
        LabelShares(random_state=0, neighbour_columns=False).fit(graph, y).probabilities_
        for graph in (by_groups, by_edges)
    ]
    np.testing.assert_allclose(found[0], found[1], atol=1e-3)


def test_a_saved_model_predicts_the_same_for_another_graph_with_columns_for_neighbours(tmp_path):
    graph = unlike_pairs(80)
    y = some_known(graph, 0.5)
    model = LabelShares(random_state=0, neighbour_columns=True).fit(graph, y)
    assert model.rarity_.size > 0
    model.save(tmp_path / "m.safetensors")
    loaded = gramme.load(tmp_path / "m.safetensors")
    again = graph.subgraph(graph.nodes[:79])
    np.testing.assert_array_equal(loaded.predict_proba(again), model.predict_proba(again))
    assert loaded.maps_in_words() == model.maps_in_words()


def test_out_of_fold_predictions_are_no_better_than_those_for_unknown_labels():
    """On labels that the graph says nothing of they are at chance, and not above."""
    rng = np.random.default_rng(3)
    count = 240
    layer = EdgeLayer(count, rng.integers(count, size=700), rng.integers(count, size=700))
    graph = MultilayerGraph({"noise": layer}, labels=rng.integers(2, size=count).astype(str))
    known = LabelShares()._known(graph, graph.labels)
    fold = np.arange(count) % 5
    unseen = LabelShares(random_state=0).fit_with_folds(graph, known, fold)
    own = unseen[np.arange(count), known.codes]
    assert (unseen.argmax(axis=1) == known.codes).mean() < 0.58
    assert -np.log(own).mean() > 0.68


@pytest.mark.parametrize("labels", [2, 3])
def test_one_label_per_class_spreads(labels):
    """Nothing can be tested, and like labels are taken to join."""
    codes = np.repeat(np.arange(labels), 10)
    source = np.arange(labels * 10)
    target = np.where(source % 10 == 9, source - 9, source + 1)
    graph = MultilayerGraph({"ring": EdgeLayer(codes.size, source, target)}, labels=codes.astype(str))
    y = np.full(codes.size, None, dtype=object)
    y[::10] = graph.labels[::10]
    model = LabelShares(random_state=0).fit(graph, y)
    assert accuracy(model, graph, y) == 1


def test_what_neighbours_add_explains_the_last_round():
    """With one layer and one round the neighbours' parts order the nodes as their log-odds do."""
    graph = unlike_pairs(60, classes=2).select_layers(["leads"])
    y = some_known(graph, 0.6)
    model = LabelShares(random_state=0, rounds=2, neighbour_columns=False).fit(graph, y)
    found = reasons(model, graph)
    parts = found.parts[0].through
    assert [one.layer for one in parts] == ["leads"]
    came = np.asarray(parts[0].parts.sum(axis=1)).ravel()
    assert np.corrcoef(came, found.log_odds)[0, 1] > 0.5
