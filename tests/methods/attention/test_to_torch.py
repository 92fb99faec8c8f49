"""Fitted networks as one torch module, without compiled kernels."""

import io

import numpy as np
import pytest
import torch
from tests.methods.attention.test_edge_features import KNOWN, clubs, ties
from tests.methods.graphs import PINNED, half_known, planted

from gramme import GrammeFusion, GrammeSG, MultilayerGraph

SMALL = PINNED | {"ensemble": 2, "epochs": 4, "hidden_dim": 8, "feature_dim": 8}
GRAPH = planted()


@pytest.mark.parametrize("settings", [{}, {"fuse": "end", "features": "random"}, {"combine_heads": "concatenate"}])
def test_an_exported_network_says_what_the_model_says(settings):
    model = GrammeFusion(**SMALL | settings).fit(GRAPH, half_known(GRAPH))
    module, given = model.to_torch()
    program = torch.export.export(module, given)
    stored = io.BytesIO()
    torch.export.save(program, stored)
    stored.seek(0)
    found = torch.export.load(stored).module()(*given).detach().numpy()
    np.testing.assert_allclose(found, model.predict_proba(), atol=1e-5)


@pytest.mark.parametrize("kind", [GrammeFusion, GrammeSG])
def test_another_graph_couplings_and_features_of_edges(kind):
    graph = MultilayerGraph({**clubs(True).layers, **ties(True).layers})
    model = kind(**SMALL).fit(graph, KNOWN)
    other = MultilayerGraph({**clubs(True).layers, **ties(True, seed=1).layers})
    module, given = model.to_torch(other)
    with torch.no_grad():
        found = module(*given).numpy()
    np.testing.assert_allclose(found, model.predict_proba(other), atol=1e-5)
    features = given[0][:, :1].clone().requires_grad_() if kind is GrammeFusion else given[0].clone().requires_grad_()
    if kind is GrammeSG:  # gradients reach the features of all copies
        (grad,) = torch.autograd.grad(module(features)[0, 0], features)
        assert grad.abs().sum() > 0
