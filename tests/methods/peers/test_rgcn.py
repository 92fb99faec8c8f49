"""R-GCN, one relation per layer."""

from pathlib import Path

import pytest
from tests.methods.cases import MethodCase
from tests.methods.splits import mean_accuracy

from gramme import DataError, EdgeLayer, MultilayerGraph, datasets
from gramme.methods import RGCN


class TestRGCN(MethodCase):
    name = "rgcn"
    arguments = {"epochs": 4}  # noqa: RUF012
    trained = {"epochs": 40}  # noqa: RUF012
    inductive = True
    needs = "torch_geometric"
    quality = 0.5


def test_edges_know_their_layer():
    graph = MultilayerGraph(
        {"one": EdgeLayer(3, [0], [1]), "none": EdgeLayer(3, [], []), "two": EdgeLayer(3, [1], [2])}
    )
    edges, kinds = RGCN()._edges(graph)
    assert edges.shape == (2, 4)
    assert kinds.tolist() == [0, 0, 2, 2]


def test_bases_make_it_smaller():
    pytest.importorskip("torch_geometric")
    graph = datasets.load("wine")
    size = [
        sum(value.numel() for value in RGCN(bases=bases, epochs=1).fit(graph).state_.values())
        for bases in (None, 2)
    ]
    assert size[1] < size[0] / 3
    with pytest.raises(DataError, match="bases"):
        RGCN(bases=0).fit(graph)


def test_ckm_social(gramme_data: Path):
    pytest.importorskip("torch_geometric")
    assert mean_accuracy(RGCN, datasets.load("ckm_social"), 30, repeats=2) > 0.7
