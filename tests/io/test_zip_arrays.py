import numpy as np
import pandas as pd
import pytest

from gramme.io.zip_arrays import ArrayReader, ArrayWriter, put_names, take_names


@pytest.fixture
def path(tmp_path):
    with (tmp_path / "a.npz").open("wb") as file, ArrayWriter(file) as writer:
        writer.add("numbers", np.arange(5))
        writer.add_bytes("facts.json", b"{}")
        writer.add("matrix", np.ones((2, 3), dtype=np.float32))
        writer.add("nothing", np.zeros(0))
    return tmp_path / "a.npz"


@pytest.mark.parametrize("mapped", [False, True])
def test_arrays_come_back(path, mapped):
    reader = ArrayReader(path)
    assert reader.array("numbers", "i", mapped=mapped).tolist() == [0, 1, 2, 3, 4]
    matrix = reader.array("matrix", "f", ndim=2, mapped=mapped)
    assert matrix.shape == (2, 3)
    assert matrix.dtype == np.float32
    assert isinstance(matrix, np.memmap) is mapped
    assert reader.array("nothing", "f", mapped=mapped).size == 0
    assert reader.bytes_of("facts.json") == b"{}"


def test_numpy_reads_it_and_arrays_are_aligned(path):
    assert np.load(path)["numbers"].tolist() == [0, 1, 2, 3, 4]
    assert ArrayReader(path).array("matrix", "f", ndim=2, mapped=True).offset % 64 == 0


@pytest.mark.parametrize(("name", "kinds", "ndim"), [("numbers", "f", 1), ("numbers", "i", 2), ("absent", "i", 1)])
def test_another_kind_or_no_array_at_all(path, name, kinds, ndim):
    with pytest.raises(ValueError, match=r"another kind|missing"):
        ArrayReader(path).array(name, kinds, ndim)


def test_objects_are_not_written(path):
    with path.open("wb") as file, pytest.raises(TypeError, match="objects"), ArrayWriter(file) as writer:
        writer.add("x", np.array([None]))


@pytest.mark.parametrize("mapped", [False, True])
def test_any_flipped_byte_is_an_error_or_the_same_arrays(path, mapped):
    whole = path.read_bytes()
    for place in range(0, len(whole), 7):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :])
        try:
            found = ArrayReader(path).array("numbers", "i", mapped=mapped)
        except ValueError:
            continue
        assert mapped or found.tolist() == [0, 1, 2, 3, 4]  # only a whole read has a checksum


def test_a_cut_file_is_an_error(path):
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(ValueError, match=r"."):
        ArrayReader(path)


@pytest.mark.parametrize("mapped", [False, True])
def test_members_that_share_bytes_are_refused(path, mapped):
    """As zip bombs do: each entry of the directory points at the bytes of another member."""
    whole = bytearray(path.read_bytes())
    entries = [place for place in range(len(whole)) if whole[place : place + 4] == b"PK\x01\x02"]
    first = whole[entries[0] + 42 : entries[0] + 46]  # where the member starts
    for entry in entries[1:]:
        whole[entry + 42 : entry + 46] = first
    path.write_bytes(bytes(whole))
    with pytest.raises(ValueError, match="overlaps another one"):
        ArrayReader(path).array("numbers", "i", mapped=mapped)


@pytest.mark.parametrize("mapped", [False, True])
def test_a_member_that_reaches_into_the_next_one_is_refused(path, mapped):
    whole = bytearray(path.read_bytes())
    extra = int.from_bytes(whole[28:30], "little")
    whole[28:30] = (extra + 64).to_bytes(2, "little")
    path.write_bytes(bytes(whole))
    with pytest.raises(ValueError, match="overlaps another one"):
        ArrayReader(path).array("numbers", "i", mapped=mapped)


def test_an_encrypted_member_is_refused(path):
    whole = bytearray(path.read_bytes())
    whole[whole.index(b"PK\1\2") + 8] |= 1  # the flags in the directory's first entry, that of the numbers
    path.write_bytes(whole)
    with pytest.raises(ValueError, match=r"numbers\.npy is encrypted"):
        ArrayReader(path).array("numbers", "i")
    assert ArrayReader(path).bytes_of("facts.json") == b"{}"


def archive(path, members):
    with path.open("wb") as file, ArrayWriter(file) as writer:
        for name, array in members.items():
            writer.add(name, array)
    return ArrayReader(path)


@pytest.mark.parametrize(
    ("names", "kind"),
    [
        (pd.RangeIndex(1, 7, 2), "range"),
        (pd.Index(np.array([5, 3], dtype=np.int64)), "numbers"),
        (pd.Index(["a", "", "ü", "b\ud800"], dtype=object), "text"),
        (pd.Index([("a", 1), 2, None], dtype=object, tupleize_cols=False), "json"),
        (pd.Index([], dtype=object), "text"),
    ],
)
def test_names_come_back(tmp_path, names, kind):
    members = {}
    facts = put_names(members, "nodes", names)
    assert facts["kind"] == kind
    again = take_names(archive(tmp_path / "x.npz", members), "nodes", facts)
    assert list(again) == list(names)


@pytest.mark.parametrize(
    ("members", "facts"),
    [
        ({}, {"kind": "range", "start": 0, "stop": 1 << 63, "step": 1}),
        ({}, {"kind": "range", "start": 0, "stop": "9", "step": 1}),
        ({}, {"kind": "magic"}),
        ({}, {"kind": "numbers"}),
        ({"n.text": np.frombuffer(b"ab", dtype=np.uint8), "n.ends": np.array([2, 1])}, {"kind": "text"}),
        ({"n.text": np.frombuffer(b"ab", dtype=np.uint8), "n.ends": np.array([1])}, {"kind": "text"}),
    ],
)
def test_damaged_names_are_a_value_error(tmp_path, members, facts):
    with pytest.raises(ValueError, match=r"name|bounds|missing"):
        take_names(archive(tmp_path / "x.npz", members), "n", facts)
