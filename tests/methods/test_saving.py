"""Model files: old ones keep loading, broken and foreign ones are clear errors and nothing worse."""

import json
import struct
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import save, save_file
from tests.methods.graphs import PINNED, half_known, planted

import gramme
from gramme import DataError, FileFormatError, GrammeError, GrammeFusion, GrammeSG
from gramme.methods import saving

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


@pytest.mark.parametrize(
    "content", [b"", b"PK\x03\x04", b"node,label\na,b\n", bytes(range(256)) * 9]
)
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
    items = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
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
    values = [
        None,
        -1,
        0,
        2.5,
        "text",
        [],
        {},
        [None],
        True,
        10**30,
        {"tuple": 3},
        {"mapping": [1]},
    ]
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
