"""HAN, with attention over the layers."""

import importlib
from pathlib import Path

import numpy as np
import pytest
import torch
from tests.methods.cases import MethodCase
from tests.methods.splits import mean_accuracy

import gramme
from gramme import DataError, EdgeLayer, MembershipLayer, MultilayerGraph, datasets
from gramme.errors import MissingExtraError
from gramme.methods import GAT, HAN, RGCN
from gramme.methods.peers.base import listening

PEERS = [GAT, RGCN, HAN]


class TestGAT(MethodCase):
    name = "gat"
    arguments = {"epochs": 4, "learning_rate": 0.02, "hidden_dim": 4, "dropout": 0.2}  # noqa: RUF012
    trained = {"epochs": 60}  # noqa: RUF012
    inductive = True
    needs = "torch_geometric"
    quality = 0.6


def test_a_node_listens_to_the_nodes_its_edges_point_to():
    graph = MultilayerGraph({"asks": EdgeLayer(3, [0, 0], [1, 2], directed=True)})
    heard, listener = listening(graph, "asks").tolist()
    assert sorted(zip(heard, listener, strict=True)) == [(1, 0), (2, 0)]
    some = EdgeLayer(3, [0], [1], nodes=[0, 1])
    loops = listening(MultilayerGraph({"some": some}), "some", self_loops=True)
    assert sorted(zip(*loops.tolist(), strict=True)) == [(0, 0), (0, 1), (1, 0), (1, 1)]


def test_the_union_has_every_edge_once():
    graph = MultilayerGraph({"one": EdgeLayer(4, [0, 1], [1, 2]), "two": MembershipLayer.from_codes([0, 0, 1, 1])})
    heard, listener = GAT()._edges(graph)[0].tolist()
    pairs = {(0, 1), (1, 2), (2, 3)}
    assert sorted(zip(heard, listener, strict=True)) == sorted(pairs | {(b, a) for a, b in pairs})


@pytest.mark.parametrize("peer", PEERS)
def test_directions_matter(peer):
    """Features far away reach a node only through the edges that point to their owners."""
    pytest.importorskip("torch_geometric")
    size = 12
    forward = EdgeLayer(size, np.arange(size - 1), np.arange(1, size), directed=True)
    graph = MultilayerGraph({"chain": forward})
    features = np.eye(size)
    model = peer(epochs=3, random_state=0).fit(graph.replace(features=features), {0: "a", 5: "b"})
    changed = features.copy()
    changed[8] *= 5
    other = model.predict_proba(graph.replace(features=changed))
    moved = np.flatnonzero(np.abs(other - model.probabilities_).max(axis=1) > 1e-7)
    assert set(moved) <= {6, 7, 8}
    assert 7 in moved or 8 in moved


@pytest.mark.parametrize("peer", PEERS)
def test_too_many_edges_are_a_clear_error(peer):
    pytest.importorskip("torch_geometric")
    graph = MultilayerGraph({"few": EdgeLayer(10_000, [0], [1]), "one group": MembershipLayer.from_codes([0] * 10_000)})
    with pytest.raises(DataError, match="'one group' has 99,990,000 edges"):
        peer().fit(graph, {0: "a", 1: "b"})


@pytest.mark.parametrize("peer", PEERS)
def test_without_the_package_the_extra_is_named(peer, monkeypatch):
    graph = datasets.load("wine")

    def missing(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(importlib, "import_module", missing)
    with pytest.raises(MissingExtraError, match=r'pip install "gramme\[pyg\]"'):
        peer(epochs=1).fit(graph)


@pytest.mark.parametrize("peer", PEERS)
@pytest.mark.parametrize("wrong", [{"epochs": 0}, {"dropout": 1}, {"hidden_dim": 1.5}])
def test_wrong_settings_are_a_clear_error(peer, wrong):
    with pytest.raises(DataError, match=next(iter(wrong))):
        peer(**wrong).fit(datasets.load("wine"))


@pytest.mark.parametrize("peer", PEERS)
def test_other_features_are_a_clear_error(peer):
    pytest.importorskip("torch_geometric")
    graph = MultilayerGraph({"x": EdgeLayer(3, [0], [1])}, features=np.eye(3))
    model = peer(epochs=1).fit(graph, {0: "a", 1: "b"})
    with pytest.raises(DataError, match="3 features"):
        model.predict(graph.replace(features=np.eye(3)[:, :2]))


@pytest.mark.parametrize("peer", PEERS)
def test_predictions_do_not_depend_on_what_torch_drew_before(peer):
    pytest.importorskip("torch_geometric")
    graph = datasets.load("synthetic", nodes=40)
    torch.rand(7)
    one = peer(epochs=2, random_state=3).fit(graph)
    torch.rand(1)
    assert (one.probabilities_ == peer(epochs=2, random_state=3).fit(graph).probabilities_).all()
    assert (one.embedding_ == peer(epochs=2, random_state=3).fit(graph).embedding_).all()
    assert one.history_["epoch"].tolist() == [1, 2]


def test_ckm_social(gramme_data: Path):
    pytest.importorskip("torch_geometric")
    assert mean_accuracy(GAT, datasets.load("ckm_social"), 30, repeats=1) > 0.8


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
        sum(value.numel() for value in RGCN(bases=bases, epochs=1).fit(graph).state_.values()) for bases in (None, 2)
    ]
    assert size[1] < size[0] / 3
    with pytest.raises(DataError, match="bases"):
        RGCN(bases=0).fit(graph)


def test_rgcn_ckm_social(gramme_data: Path):
    pytest.importorskip("torch_geometric")
    assert mean_accuracy(RGCN, datasets.load("ckm_social"), 30, repeats=2) > 0.7


class TestHAN(MethodCase):
    name = "han"
    arguments = {"epochs": 4, "hidden_dim": 16, "learning_rate": 0.02, "dropout": 0.2}  # noqa: RUF012
    trained = {"epochs": 60}  # noqa: RUF012
    inductive = True
    needs = "torch_geometric"
    quality = 0.6


def test_importance_is_named_sums_to_one_and_is_kept(tmp_path):
    pytest.importorskip("torch_geometric")
    graph = datasets.load("synthetic", nodes=90)
    model = HAN(epochs=5, random_state=0).fit(graph)
    importance = model.layer_importance_
    assert importance.index.tolist() == list(graph.layers)
    assert importance.sum() == pytest.approx(1)
    model.save(tmp_path / "han.safetensors")
    loaded = gramme.load(tmp_path / "han.safetensors")
    assert isinstance(loaded, HAN)
    assert loaded.layer_importance_.equals(importance)
    assert (loaded.embedding_ == model.embedding_).all()


def test_layer_names_may_hold_anything():
    pytest.importorskip("torch_geometric")
    graph = datasets.load("synthetic", nodes=40)
    names = ["a.b", "c__d", "e f"]
    layers = dict(zip(names, graph.layers.values(), strict=True))
    assert HAN(epochs=1).fit(graph.replace(layers=layers)).layers_ == names


def test_heads_must_share_the_columns():
    with pytest.raises(DataError, match="hidden_dim=10 is not a multiple of heads=8"):
        HAN(hidden_dim=10).fit(datasets.load("wine"))


def test_han_ckm_social(gramme_data: Path):
    pytest.importorskip("torch_geometric")
    assert mean_accuracy(HAN, datasets.load("ckm_social"), 30, repeats=1) > 0.8
