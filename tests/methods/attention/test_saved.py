"""The file of an attention model: sizes of its networks and importances, refused where they do not fit."""

import functools
import json
import sys
from types import SimpleNamespace

import pytest
from tests.methods.graphs import PINNED, half_known, planted
from tests.processes import in_another_process

import gramme
from gramme.methods import GrammeFusion
from gramme.methods.attention.saved import SavedImportances, SavedShape
from gramme.methods.saving import Learned, MisfitError

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
    ("change", "message"),
    [
        ({"hidden_dim": 0}, "shape: hidden_dim must be a whole number of at least 1"),
        ({"activation": "sine"}, "activation cannot be 'sine'"),
        ({"dropout": 1.5}, "dropout must be a number of at least 0 and less than 1"),
        ({"heads": [2]}, "such that heads has a number per layer"),
        ({"depth": [2, "x"]}, "depth must be a whole number"),
        ({"width": 3}, "shape must be the sizes of a network"),
    ],
)
def test_sizes_that_cannot_be_are_refused(record, change, message):
    changed = {"shape": record["shape"] | change}
    with pytest.raises(MisfitError, match=message):
        SavedShape("shape").load(SimpleNamespace(), Learned(changed), SIZES)


def test_sizes_that_older_files_lack_have_defaults(record):
    later = ("combine_heads", "readout")
    shape = {name: value for name, value in record["shape"].items() if name not in later}
    box = SimpleNamespace()
    SavedShape("shape").load(box, Learned({"shape": shape}), SIZES)
    assert (box.shape_.combine_heads, box.shape_.readout) == ("weighted", "linear")
    del shape["in_dim"]
    with pytest.raises(MisfitError, match="the sizes of a network"):
        SavedShape("shape").load(box, Learned({"shape": shape}), SIZES)


@pytest.mark.parametrize(
    "wrong", [3, [], [[1.0]], [[0.5, float("nan")]], [["a", "b"]], [[10**400, 1]]]
)
def test_importances_are_a_row_per_member(model, record, wrong):
    field = SavedImportances("importance", attribute="layer_importances_")
    box = SimpleNamespace(layers_=model.layers_)
    field.load(box, Learned(record), SIZES)
    assert box.layer_importances_.shape == (2, 2)
    with pytest.raises(MisfitError, match="importance must be"):
        field.load(box, Learned({"importance": wrong}), SIZES)


def compiler_after_loading(path) -> str:
    gramme.load(path)
    return str("torch._dynamo" in sys.modules)


def test_a_model_is_loaded_without_torchs_compiler(model, tmp_path):
    """It would take seconds to load, each time that somebody predicts."""
    path = tmp_path / "m.safetensors"
    model.save(path)
    assert in_another_process(functools.partial(compiler_after_loading, path), tmp_path) == "False"
