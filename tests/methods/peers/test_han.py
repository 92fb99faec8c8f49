"""HAN, with attention over the layers."""

from pathlib import Path

import pytest
from tests.methods.cases import MethodCase
from tests.methods.splits import mean_accuracy

import gramme
from gramme import DataError, datasets
from gramme.methods import HAN


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


def test_ckm_social(gramme_data: Path):
    pytest.importorskip("torch_geometric")
    assert mean_accuracy(HAN, datasets.load("ckm_social"), 30, repeats=1) > 0.8
