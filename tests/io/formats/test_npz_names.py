import numpy as np
import pandas as pd
import pytest

from gramme.io.formats.npz_names import put_names, take_names
from gramme.io.zip_arrays import ArrayReader, ArrayWriter


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
        (
            {"n.text": np.frombuffer(b"ab", dtype=np.uint8), "n.ends": np.array([2, 1])},
            {"kind": "text"},
        ),
        (
            {"n.text": np.frombuffer(b"ab", dtype=np.uint8), "n.ends": np.array([1])},
            {"kind": "text"},
        ),
    ],
)
def test_damaged_names_are_a_value_error(tmp_path, members, facts):
    with pytest.raises(ValueError, match=r"name|bounds|missing"):
        take_names(archive(tmp_path / "x.npz", members), "n", facts)
