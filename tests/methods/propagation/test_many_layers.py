import numpy as np
import pytest
import torch

from gramme.graph import EdgeLayer, MultilayerGraph
from gramme.methods.propagation import many_layers as many
from gramme.methods.propagation.label_propagation import LabelPropagation
from gramme.methods.propagation.many_layers import ManyLayersWalk
from gramme.methods.propagation.series import NodeWalk

NODES, LAYERS = 12, 80


def graph(directed: bool = False, weighted: bool = False) -> MultilayerGraph:
    random = np.random.default_rng(3)
    layers = {}
    for layer in range(LAYERS):
        count = int(random.integers(0, 5))  # some have no edge at all
        ends = random.integers(0, NODES, (2, count))
        ends = ends[:, ends[0] != ends[1]]
        weight = random.random(ends.shape[1]) + 0.1 if weighted else None
        layers[f"layer {layer:02d}"] = EdgeLayer(NODES, *ends, weight=weight, directed=directed)
    return MultilayerGraph(layers)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_step_equals_that_of_the_layers_one_by_one(directed, weighted, dtype):
    g = graph(directed, weighted)
    random = np.random.default_rng(0)
    state = torch.from_numpy(random.random((NODES, 3))).to(dtype)
    weights = torch.from_numpy(random.random((LAYERS, 3))).to(dtype)
    found, expected = (kind(g).step(state, weights) for kind in (ManyLayersWalk, NodeWalk))
    assert found.dtype == dtype
    torch.testing.assert_close(found, expected)


def test_a_fit_comes_out_the_same(monkeypatch):
    g, y = graph(weighted=True), np.array([*"aabbab", *[None] * 6], dtype=object)
    together = LabelPropagation().fit(g, y)
    monkeypatch.setattr(many, "MANY_LAYERS", LAYERS + 1)
    one_by_one = LabelPropagation().fit(g, y)
    np.testing.assert_allclose(together.predict_proba(), one_by_one.predict_proba(), atol=1e-6)
    np.testing.assert_allclose(
        together.layer_importance_, one_by_one.layer_importance_, atol=1e-9, rtol=1e-6
    )
