"""Names in a model file: nodes, layers and classes."""

import contextlib
import json
import struct
import warnings
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import save, save_file
from tests.methods.graphs import PINNED, half_known, planted

import gramme
from gramme import DataError, FileFormatError, GrammeError, GrammeFusion, GrammeSG
from gramme.methods import METHODS, register_method
from gramme.methods import persistence as saving
from gramme.methods.majority import Majority
from gramme.methods.params import Number, WholeNumber
from gramme.methods.persistence import (
    Column,
    Learned,
    MisfitError,
    SavedArray,
    SavedLayerOrder,
    SavedNames,
    SavedTable,
    SavedValue,
    check_weights,
    unique_names,
)
from gramme.methods.registry import Method

FIXTURES = Path(__file__).parent / "fixtures"
TINY = PINNED | {"epochs": 3, "hidden_dim": 2, "feature_dim": 3}
GRAPH = planted(8, ("no", "yes"))
OTHER = planted(6, ("no", "yes"), seed=7)


@pytest.fixture(scope="module", params=[GrammeFusion, GrammeSG])
def model_bytes(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "model.safetensors"
    request.param(**TINY).fit(GRAPH, half_known(GRAPH)).save(path)
    return path.read_bytes()


@pytest.fixture
def load(tmp_path):
    """Loads bytes as a model file."""

    def load_bytes(content):
        path = tmp_path / "some.model"
        path.write_bytes(content)
        return gramme.load(path)

    return load_bytes


# Old files


@pytest.mark.parametrize("name", ["fusion_v1", "sg_v1"])
def test_models_of_old_versions_keep_loading_and_predicting(name):
    """The files were written by `python -m tests.methods.fixtures.make`; they are never written anew."""
    model = gramme.load(FIXTURES / f"{name}.safetensors")
    expected = json.loads((FIXTURES / f"{name}.json").read_text())
    assert type(model).__name__ == expected["method"]
    assert model.get_params()["heads"] == expected["heads"]
    assert model.classes_.tolist() == expected["classes"]
    assert model.nodes_.tolist() == expected["nodes"]
    assert model.transduction_.tolist() == expected["transduction"]
    np.testing.assert_allclose(model.predict_proba(), expected["probabilities"], atol=1e-7)
    np.testing.assert_allclose(model.predict_proba(OTHER), expected["other graph"], atol=1e-5)
    assert model.layer_importance_.to_dict() == pytest.approx(expected["importance"])


# Broken files


def test_a_file_cut_short_anywhere_is_a_clear_error(model_bytes, load):
    lengths = {0, 1, 7, 8, 9, len(model_bytes) - 1, *range(10, len(model_bytes), 97)}
    for length in sorted(lengths):
        with pytest.raises(FileFormatError, match=r"some\.model: is"):
            load(model_bytes[:length])


def test_a_changed_byte_anywhere_is_noticed(model_bytes, load):
    random = np.random.default_rng(0)
    for place in random.integers(len(model_bytes), size=200):
        changed = bytearray(model_bytes)
        changed[place] ^= int(random.integers(1, 256))
        try:
            model = load(bytes(changed))
        except FileFormatError:
            continue
        # a change in the header's white space or of equal meaning may pass, a change of the model may not
        assert model.predict_proba().tobytes() == load(model_bytes).predict_proba().tobytes()


def test_bytes_put_in_or_taken_out_are_noticed(model_bytes, load):
    random = np.random.default_rng(1)
    for place in random.integers(len(model_bytes), size=40):
        for content in (
            model_bytes[:place] + b"x" + model_bytes[place:],
            model_bytes[:place] + model_bytes[place + 1 :],
        ):
            with pytest.raises(FileFormatError):
                load(content)


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"node,label\na,b\n", bytes(range(256)) * 9])
def test_other_files_are_clear_errors(content, load):
    with pytest.raises(FileFormatError, match="is not a complete safetensors file"):
        load(content)


def test_a_header_of_absurd_length_is_a_clear_error(load):
    with pytest.raises(FileFormatError):
        load(struct.pack("<Q", 2**62) + b"{}")


def test_a_foreign_safetensors_file_is_a_clear_error(tmp_path):
    save_file({"weight": torch.zeros(3)}, tmp_path / "other.safetensors")
    with pytest.raises(FileFormatError, match="a safetensors file, but not a gramme model"):
        gramme.load(tmp_path / "other.safetensors")


def test_what_is_not_there_is_a_clear_error(tmp_path):
    with pytest.raises(DataError, match="there is no such model file"):
        gramme.load(tmp_path / "missing.safetensors")
    with pytest.raises(DataError, match="there is no such model file"):
        gramme.load(tmp_path)


# Well-sealed files with the wrong content: what another program might write


def sealed(record, tensors, version=saving.VERSION):
    text = np.frombuffer(json.dumps(record).encode(), dtype=np.uint8).copy()
    tensors = tensors | {saving.RECORD: torch.from_numpy(text)}
    seal = json.dumps({"version": version, "sha256": saving._digest(tensors)})
    return save(tensors, {saving.FORMAT: seal})


@pytest.fixture
def parts(model_bytes, tmp_path):
    """Record and tensors of a model."""
    path = tmp_path / "whole"
    path.write_bytes(model_bytes)
    method, parameters, learned = saving.read_model(path)
    plain = {name: saving.to_json(value, name) for name, value in parameters.items()}
    record = {"method": method, "parameters": plain, "learned": learned.record}
    return record, learned.tensors


def test_sealed_parts_make_a_model(parts, load):
    assert len(load(sealed(*parts)).predict()) == 8


@pytest.mark.parametrize("version", [99, 0, "²", None, [1]])
def test_other_versions_are_clear_errors(parts, load, version):
    message = "version 99; this gramme reads up to version 1" if version == 99 else "is a model"
    with pytest.raises(FileFormatError, match=message):
        load(sealed(*parts, version=version))


def test_an_unknown_method_is_a_clear_error(parts, load):
    record, tensors = parts
    with pytest.raises(FileFormatError, match="unknown kind 'Oracle'"):
        load(sealed(record | {"method": "Oracle"}, tensors))


def test_missing_or_misshapen_tensors_are_clear_errors(parts, load):
    record, tensors = parts
    for name, tensor in tensors.items():
        without = {key: value for key, value in tensors.items() if key != name}
        wrongs = [
            without,
            without | {name: tensor[:-1].contiguous()},
            without | {name: torch.zeros(())},
            without | {name: tensor.to(torch.complex64)},
            without | {name + "x": tensor},
        ]
        if name == "labelled":  # which files of older versions lack
            assert len(load(sealed(record, without)).predict()) == 8
            wrongs = wrongs[1:4]
        for wrong in wrongs:
            with pytest.raises(FileFormatError, match="does not fit together"):
                load(sealed(record, wrong))
    with pytest.raises(FileFormatError, match="does not fit together"):
        load(sealed(record, tensors | {"transduction": tensors["transduction"] - 5}))


def places(value, path=()):
    """All paths into nested dicts and lists."""
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield from places(inner, (*path, key))


def replaced(value, path, new):
    if not path:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = replaced(copy[path[0]], path[1:], new)
    return copy


def test_any_wrong_value_in_the_record_is_no_crash(parts, load):
    """200 random exchanges: a file either is a clear error or gives a model that predicts or complains clearly."""
    record, tensors = parts
    random = np.random.default_rng(2)
    known = [path for path in places(record) if path and "nodes" not in path]
    values = [None, -1, 0, 2.5, "text", [], {}, [None], True, 10**30, {"tuple": 3}, {"mapping": [1]}]
    for number in range(200):
        path = known[int(random.integers(len(known)))]
        changed = replaced(record, path, values[number % len(values)])
        try:
            model = load(sealed(changed, tensors))
            model.predict()
        except GrammeError:
            continue


# Writing


def test_a_model_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    model = GrammeFusion(**TINY).fit(GRAPH)
    path = tmp_path / "model"
    model.save(path)
    before = path.read_bytes()

    def fails(*arguments):
        raise OSError("disk full")

    monkeypatch.setattr(saving, "save", fails)
    with pytest.raises(OSError, match="disk full"):
        model.save(path)
    assert path.read_bytes() == before
    assert [one.name for one in tmp_path.iterdir()] == ["model"]


def test_a_folder_that_is_not_there_is_a_clear_error(tmp_path):
    model = GrammeFusion(**TINY).fit(GRAPH)
    with pytest.raises(DataError, match="there is no folder"):
        model.save(tmp_path / "missing" / "model")
    with pytest.raises(DataError, match="is a folder"):
        model.save(tmp_path)


@pytest.mark.parametrize(
    "parameters",
    [
        {"class_weight": {"yes": 2.0}},
        {"heads": {"friends": 1, "room": 2}, "depth": {"friends": 2, "room": 1}, "fuse": "end"},
        {"hidden_dim": np.int64(3), "learning_rate": np.float32(0.5)},
    ],
)
def test_all_kinds_of_parameters_come_back(parameters, tmp_path):
    model = GrammeFusion(**TINY | parameters).fit(GRAPH)
    model.save(tmp_path / "model")
    loaded = gramme.load(tmp_path / "model")
    assert loaded.get_params() == model.get_params()
    assert loaded.predict_proba(OTHER).tobytes() == model.predict_proba(OTHER).tobytes()


def test_class_weights_of_numbers_come_back(tmp_path):
    graph = planted(8, (0, 1))
    model = GrammeFusion(**TINY | {"class_weight": {0: 2.0, 1: 3.0}}).fit(graph)
    model.save(tmp_path / "model")
    assert gramme.load(tmp_path / "model").class_weight == {0: 2.0, 1: 3.0}


def test_a_generator_as_random_state_is_saved_as_the_seed_it_gave(tmp_path):
    model = GrammeFusion(**TINY | {"random_state": np.random.default_rng(0)}).fit(GRAPH)
    model.save(tmp_path / "model")
    loaded = gramme.load(tmp_path / "model")
    assert loaded.random_state is None
    assert loaded.predict_proba(OTHER).tobytes() == model.predict_proba(OTHER).tobytes()


def test_classes_a_file_cannot_hold_are_a_clear_error(tmp_path):
    graph = planted(8, (frozenset("a"), frozenset("b")))
    model = GrammeFusion(**TINY).fit(graph)
    with pytest.raises(DataError, match=r"a class is frozenset.*use text or numbers"):
        model.save(tmp_path / "model")
    assert not (tmp_path / "model").exists()


def test_node_names_a_file_cannot_hold_become_text(tmp_path):
    graph = planted(8, ("no", "yes"), names=[frozenset({number}) for number in range(8)])
    model = GrammeFusion(**TINY).fit(graph)
    model.save(tmp_path / "model")
    assert gramme.load(tmp_path / "model").nodes_[0] == "frozenset({0})"


SAVED_FIELDS_GRAPH = planted(12, ("no", "yes"), features=np.random.default_rng(0).normal(size=(12, 2)))
SAVED_FIELDS_OTHER = planted(6, ("no", "yes"), features=np.ones((6, 2)), seed=7)
QUICK = {
    # without the attention and the groups of those below; each ingredient is kept as it is alone
    "gramme-auto": {"ingredients": ["label-propagation", "spectral-logistic", "neighbourhood-logistic"], "folds": 2},
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


def sealed_saved_fields(record, tensors):
    text = np.frombuffer(json.dumps(record).encode(), dtype=np.uint8).copy()
    tensors = tensors | {saving.RECORD: torch.from_numpy(text)}
    seal = json.dumps({"version": saving.VERSION, "sha256": saving._digest(tensors)})
    return save(tensors, {saving.FORMAT: seal})


@pytest.fixture(scope="module", params=KINDS)
def parts_saved_fields(request, tmp_path_factory):
    """Record and tensors of a model of each family."""
    settings = QUICK.get(request.param, {}) | {"random_state": 0}
    model = METHODS[request.param].estimator(**settings).fit(SAVED_FIELDS_GRAPH, half_known(SAVED_FIELDS_GRAPH))
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
        with contextlib.suppress(DataError):  # not all predict for other graphs; nothing else may be raised
            assert np.isfinite(model.predict_proba(SAVED_FIELDS_OTHER)).all()
    return False


def test_every_tensor_that_is_missing_misshapen_or_not_finite_is_refused(parts_saved_fields, tmp_path):
    record, tensors = parts_saved_fields
    for name, tensor in tensors.items():
        without = {key: value for key, value in tensors.items() if key != name}
        refused_or_sound(sealed_saved_fields(record, without | {name: tensor.flatten()[:-1]}), tmp_path)
        wrongs = [tensor[None], tensor.to(torch.complex64)]
        if tensor.is_floating_point() and tensor.numel():
            wrongs.append(torch.full_like(tensor, float("nan")))
            wrongs.append(torch.full_like(tensor, float("inf")))
        for wrong in wrongs:
            changed = without | {name: wrong.contiguous()}
            assert refused_or_sound(sealed_saved_fields(record, changed), tmp_path), (name, wrong.shape)
        if name.rpartition("/")[2] not in OLDER_FILES_LACK:
            assert refused_or_sound(sealed_saved_fields(record, without), tmp_path), name


def places_saved_fields(value, path=()):
    """All paths into nested dicts and lists."""
    yield path
    items = value.items() if isinstance(value, dict) else ()
    items = enumerate(value) if isinstance(value, list) else items
    for key, inner in items:
        yield from places_saved_fields(inner, (*path, key))


def test_any_wrong_value_of_the_record_is_refused_or_does_no_harm(parts_saved_fields, tmp_path):
    record, tensors = parts_saved_fields
    random = np.random.default_rng(3)
    known = [path for path in places_saved_fields(record) if path]
    values = [None, -1, 0, 2.5, "text", [], {}, [None], True, 10**30, float("nan"), {"tuple": 3}]
    for number in range(120):
        path = known[int(random.integers(len(known)))]
        changed = replaced(record, path, values[number % len(values)])
        refused_or_sound(sealed_saved_fields(changed, tensors), tmp_path)


def test_the_field_that_does_not_fit_is_named(tmp_path):
    model = gramme.methods.LabelPropagation(random_state=0).fit(SAVED_FIELDS_GRAPH, half_known(SAVED_FIELDS_GRAPH))
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
        path.write_bytes(sealed_saved_fields(record, learned.tensors))
        with pytest.raises(FileFormatError, match=message):
            gramme.load(path)
    record = {"method": method, "parameters": {"speed": 3}, "learned": learned.record}
    path.write_bytes(sealed_saved_fields(record, learned.tensors))
    with pytest.raises(FileFormatError, match="LabelPropagation has no parameter 'speed'"):
        gramme.load(path)
    record["parameters"] = {"max_iter": 0}
    path.write_bytes(sealed_saved_fields(record, learned.tensors))
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
        SavedTable("table", Column("weight", Number(0))).load(Box(), Learned({"table": entry}, {}), {})


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

    monkeypatch.setitem(METHODS, "loud", METHODS["majority"])  # so that the name is forgotten at the end
    register_method(Method("loud", Loud, ""))
    Loud().fit(SAVED_FIELDS_GRAPH).save(tmp_path / "m")
    assert type(gramme.load(tmp_path / "m")) is Loud


def test_names_must_be_a_list_without_repetition():
    field = SavedNames("names")
    assert unique_names(field, ["a", {"tuple": [1, 2]}]) == ["a", (1, 2)]
    for wrong in ("ab", ["a", "a"], [["a"]]):
        with pytest.raises(MisfitError, match="names must be a list"):
            unique_names(field, wrong)


def test_the_order_of_layers_is_that_of_their_names_as_given_in_older_files():
    model, field = Majority(), SavedLayerOrder("layer_order")
    model.layers_ = ["b", "a"]
    field.load(model, Learned({"layer_order": ["a", "b"]}), {})
    assert model.layer_order_ == ["a", "b"]
    field.load(model, Learned(), {})
    assert model.layer_order_ == ["b", "a"]
    for wrong in (["a"], ["a", "c"], "ab", ["a", 1]):
        with pytest.raises(MisfitError, match="must be the names of the layers"):
            field.load(model, Learned({"layer_order": wrong}), {})
