"""Very many classes or layers: time in proportion to them, or a message."""

import time
import warnings

import numpy as np

from gramme.graph import EdgeLayer, MembershipLayer, MultilayerGraph
from gramme.methods import GrammeAuto, GrammeSG
from gramme.methods.linear import one_hot_logistic as layer_penalties


def test_a_label_for_each_class_is_learned_from_without_folds():
    nodes = np.arange(60)
    graph = MultilayerGraph({"a": MembershipLayer.from_codes(nodes % 7), "b": MembershipLayer.from_codes(nodes % 11)})
    y = [f"c{node}" if node < 40 else None for node in nodes]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about as many classes as labels
        model = GrammeAuto(ensemble=1, epochs=1, random_state=0).fit(graph, y)
    assert model.ingredients_["accuracy"].isna().all(), "no label could be tested"
    assert abs(model.ingredients_["weight"].sum() - 1) < 1e-9
    assert model.predict_proba().shape == (60, 40)


def test_penalties_of_layers_are_learned_from_fewer_labels_where_classes_are_many(monkeypatch):
    sizes = []
    regress = layer_penalties.regression

    def watched(table, codes, *others):
        sizes.append((codes.size, np.unique(codes).size))
        return regress(table, codes, *others)

    monkeypatch.setattr(layer_penalties, "regression", watched)
    monkeypatch.setattr(layer_penalties, "EM_STEPS", 1)
    layer = MembershipLayer.from_codes(np.arange(400) % 5).incidence()
    for classes in (2, 400):
        layer_penalties.learned_scales([layer], np.arange(400) % classes, 0, 10)
    assert sizes[0] == (400, 2)
    assert sizes[1][0] ** 3 * 400 <= layer_penalties.MAX_OPERATIONS


def test_importances_of_very_many_layers_take_a_bounded_number_of_passes():
    layers = {f"l{place:03}": EdgeLayer(12, [place % 12], [(place + 1) % 12]) for place in range(300)}
    graph = MultilayerGraph(layers, labels=["a", "b"] * 6)
    model = GrammeSG(ensemble=1, epochs=1, hidden_dim=2, heads=1, depth=1, random_state=0).fit(graph)
    began = time.process_time()
    shares = model.layer_importance_
    assert time.process_time() - began < 10
    assert abs(shares.sum() - 1) < 1e-6
    assert len(shares.round(12).unique()) <= 32, "layers of a block share alike"
