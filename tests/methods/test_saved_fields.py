"""Saved fields: what is written comes back, and a sealed file whose content does not fit is refused by name."""

import contextlib
import json
import warnings

import numpy as np
import pytest
import torch
from safetensors.torch import save
from tests.methods.graphs import half_known, planted

import gramme
from gramme import DataError, FileFormatError
from gramme.methods import METHODS, register_method, saving
from gramme.methods.parameters import Number, WholeNumber
from gramme.methods.registry import Method
from gramme.methods.saved_fields import (
    Column,
    SavedArray,
    SavedTable,
    SavedValue,
    check_weights,
)
from gramme.methods.saving import Learned, MisfitError

GRAPH = planted(12, ("no", "yes"), features=np.random.default_rng(0).normal(size=(12, 2)))
OTHER = planted(6, ("no", "yes"), features=np.ones((6, 2)), seed=7)
QUICK = {
    # without the attention and the groups of those below; each ingredient is kept as it is alone
    "gramme-auto": {
        "ingredients": ["label-propagation", "spectral-logistic", "neighbourhood-logistic"],
        "folds": 2,
    },
    "gramme-fusion": {"ensemble": 1, "epochs": 2, "hidden_dim": 2},
    "gramme-sg": {"ensemble": 1, "epochs": 2, "hidden_dim": 2},
    "line": {"samples": 50, "dim": 4, "cache": False},
    "gat": {"epochs": 2},
    "rgcn": {"epochs": 2},
    "han": {"epochs": 2},
}
KINDS = ["label-propagation", "one-hot-logistic", "majority", *QUICK]


class Box:
    """Stands for a model that is being loaded."""

    layers_ = ("a", "b")


OLDER_FILES_LACK = {
    "layer_scales",
    "labelled",
    "tested_nodes",
    "tested_codes",
    "tested_probabilities",
    "tested_folds",
    "halved_probabilities",
}


def sealed(record, tensors):
    text = np.frombuffer(json.dumps(record).encode(), dtype=np.uint8).copy()
    tensors = tensors | {saving.RECORD: torch.from_numpy(text)}
    seal = json.dumps({"version": saving.VERSION, "sha256": saving._digest(tensors)})
    return save(tensors, {saving.FORMAT: seal})


@pytest.fixture(scope="module", params=KINDS)
def parts(request, tmp_path_factory):
    """Record and tensors of a model of each family."""
    settings = QUICK.get(request.param, {}) | {"random_state": 0}
    model = METHODS[request.param].estimator(**settings).fit(GRAPH, half_known(GRAPH))
    path = tmp_path_factory.mktemp("model") / "model"
    model.save(path)
    method, parameters, learned = saving.read_model(path)
    plain = {name: saving.to_json(value, name) for name, value in parameters.items()}
    return {"method": method, "parameters": plain, "learned": learned.record}, learned.tensors


def refused_or_sound(content, tmp_path):
    """Either the file is refused when it is loaded, or its model predicts finite probabilities; whether refused."""
    path = tmp_path / "some.model"
    path.write_bytes(content)
    try:
        model = gramme.load(path)
    except FileFormatError:
        return True
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert np.isfinite(model.predict_proba()).all()
        with contextlib.suppress(
            DataError
        ):  # not all predict for other graphs; nothing else may be raised
            assert np.isfinite(model.predict_proba(OTHER)).all()
    return False


def test_every_tensor_that_is_missing_misshapen_or_not_finite_is_refused(parts, tmp_path):
    record, tensors = parts
    for name, tensor in tensors.items():
        without = {key: value for key, value in tensors.items() if key != name}
        refused_or_sound(sealed(record, without | {name: tensor.flatten()[:-1]}), tmp_path)
        wrongs = [tensor[None], tensor.to(torch.complex64)]
        if tensor.is_floating_point() and tensor.numel():
            wrongs.append(torch.full_like(tensor, float("nan")))
            wrongs.append(torch.full_like(tensor, float("inf")))
        for wrong in wrongs:
            changed = without | {name: wrong.contiguous()}
            assert refused_or_sound(sealed(record, changed), tmp_path), (name, wrong.shape)
        if name.rpartition("/")[2] not in OLDER_FILES_LACK:
            assert refused_or_sound(sealed(record, without), tmp_path), name


def places(value, path=()):
    """All paths into nested dicts and lists."""
    yield path
    items = value.items() if isinstance(value, dict) else ()
    items = enumerate(value) if isinstance(value, list) else items
    for key, inner in items:
        yield from places(inner, (*path, key))


def replaced(value, path, new):
    if not path:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = replaced(copy[path[0]], path[1:], new)
    return copy


def test_any_wrong_value_of_the_record_is_refused_or_does_no_harm(parts, tmp_path):
    record, tensors = parts
    random = np.random.default_rng(3)
    known = [path for path in places(record) if path]
    values = [None, -1, 0, 2.5, "text", [], {}, [None], True, 10**30, float("nan"), {"tuple": 3}]
    for number in range(120):
        path = known[int(random.integers(len(known)))]
        changed = replaced(record, path, values[number % len(values)])
        refused_or_sound(sealed(changed, tensors), tmp_path)


def test_the_field_that_does_not_fit_is_named(tmp_path):
    model = gramme.methods.LabelPropagation(random_state=0).fit(GRAPH, half_known(GRAPH))
    path = tmp_path / "m"
    model.save(path)
    method, parameters, learned = saving.read_model(path)
    cases = {
        "alpha must be a number of at least 0 and less than 1, not 3": {"alpha": 3},
        "sharpness is missing": {"sharpness": ...},
        "layer_weights must be a list of 2 numbers": {"layer_weights": [1.0]},
        "nodes must be a list without repetition": {"nodes": ["n0"] * 12},
    }
    for message, change in cases.items():
        changed = {k: v for k, v in (learned.record | change).items() if v is not ...}
        record = {"method": method, "parameters": parameters, "learned": changed}
        path.write_bytes(sealed(record, learned.tensors))
        with pytest.raises(FileFormatError, match=message):
            gramme.load(path)
    record = {"method": method, "parameters": {"speed": 3}, "learned": learned.record}
    path.write_bytes(sealed(record, learned.tensors))
    with pytest.raises(FileFormatError, match="LabelPropagation has no parameter 'speed'"):
        gramme.load(path)
    record["parameters"] = {"max_iter": 0}
    path.write_bytes(sealed(record, learned.tensors))
    with pytest.raises(FileFormatError, match="max_iter must be a whole number"):
        gramme.load(path)


def test_a_dimension_is_equally_long_wherever_it_is_named():
    first = SavedArray("first", np.float32, ("rows", 2))
    second = SavedArray("second", np.int64, ("rows",), below="nodes")
    sizes = {"nodes": 3}
    first.array(torch.zeros(4, 2), sizes)
    assert sizes["rows"] == 4
    assert second.array(torch.tensor([0, 1, 2, 2]), sizes).tolist() == [0, 1, 2, 2]
    with pytest.raises(MisfitError, match="second must be of shape 4 rows, not 3"):
        second.array(torch.tensor([0, 1, 2]), sizes)
    with pytest.raises(MisfitError, match="second must be at most 2, not"):
        second.array(torch.tensor([0, 1, 2, 3]), sizes)
    with pytest.raises(MisfitError, match="first must be of type float32, not float64"):
        first.array(torch.zeros(4, 2, dtype=torch.float64), sizes)


def test_rows_that_should_sum_to_one():
    field = SavedArray("shares", np.float64, ("rows", "layers"), low=0, rows_sum_to_one=True)
    field.array(torch.tensor([[0.25, 0.75]], dtype=torch.float64), {})
    with pytest.raises(MisfitError, match="rows that sum to 1"):
        field.array(torch.tensor([[0.25, 0.5]], dtype=torch.float64), {})


def test_values_have_a_default_for_older_files():
    box = Box()
    SavedValue("labels", WholeNumber(0), default=0).load(box, Learned(), {})
    assert box.labels_ == 0
    with pytest.raises(MisfitError, match="labels is missing"):
        SavedValue("labels", WholeNumber(0)).load(box, Learned(), {})


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (3, "must be a table of columns"),
        ({"weight": [1.0], "other": []}, "columns of equal length"),
        ({"other": [1]}, "has no column weight"),
        ({"weight": [-1]}, "must be a number of at least 0"),
        ({"weight": [1], "other": ["x"]}, "must hold numbers, not 'x'"),
    ],
)
def test_tables(entry, message):
    with pytest.raises(MisfitError, match=message):
        SavedTable("table", Column("weight", Number(0))).load(
            Box(), Learned({"table": entry}, {}), {}
        )


def test_weights_must_be_those_of_the_network():
    found = {"a": torch.zeros(2, 3)}
    check_weights(found, {"a": (2, 3)})
    for expected, message in (
        ({"a": (3, 2)}, "must be of shape"),
        ({"a": (2, 3), "b": (1,)}, "b are missing"),
        ({}, "a are not of this network"),
    ):
        with pytest.raises(MisfitError, match=message):
            check_weights(found, expected)


def test_a_method_of_ones_own_is_loaded_by_its_name(tmp_path, monkeypatch):
    class Loud(METHODS["majority"].estimator):
        """A majority of one's own."""

    monkeypatch.setitem(
        METHODS, "loud", METHODS["majority"]
    )  # so that the name is forgotten at the end
    register_method(Method("loud", Loud, ""))
    Loud().fit(GRAPH).save(tmp_path / "m")
    assert type(gramme.load(tmp_path / "m")) is Loud
