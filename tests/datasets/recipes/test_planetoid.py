import os
import pickle
from collections import OrderedDict, defaultdict
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from tests.datasets.cases import check_split

from gramme import datasets
from gramme.datasets.recipes.planetoid import (
    Call,
    Name,
    RefusedError,
    read_adjacency,
    read_classes,
    read_matrix,
    read_pickle,
)
from gramme.errors import FileFormatError


@pytest.mark.parametrize("protocol", [0, 1, 2, 3, 4, 5])
def test_plain_values_are_read_from_every_protocol(protocol):
    value = {"a": [1, -70_000, 2**40, 1.5, None, True, ()], "b": ("x", ("y", "z", 1, 2)), 3: {}}
    assert read_pickle(pickle.dumps(value, protocol=protocol), frozenset()) == value


def test_a_call_is_recorded_and_not_made():
    content = b"cos\nsystem\n(S'touch here'\ntR."
    assert read_pickle(content, frozenset({"os.system"})) == Call("os.system", ("touch here",))
    assert read_pickle(b"cos\nsystem\n.", frozenset({"os.system"})) == Name("os.system")
    with pytest.raises(RefusedError, match=r"os\.system"):
        read_pickle(content, frozenset())


@pytest.mark.parametrize(
    "content", [b"", b"]", b"t.", b"\x86.", b"K\x01K\x02a.", b"K\x01}b.", b"K\x01K\x02R.", b"h\x07.", b"K\x01}s."]
)
def test_a_broken_pickle_is_an_error(content):
    with pytest.raises((ValueError, LookupError, TypeError)):
        read_pickle(content, frozenset())


class Malicious:
    """A pickle that would run a command."""

    def __init__(self, command, *arguments):
        self.call = command, arguments

    def __reduce__(self):
        return self.call

    def __repr__(self):
        return f"Malicious({self.call[0].__name__})"  # no address: test names must not change


def pickled(folder, value):
    path = folder / "ind.cora.x"
    path.write_bytes(value if isinstance(value, bytes) else pickle.dumps(value, protocol=4))
    return path


def test_plain_data_is_read(tmp_path):
    assert read_classes(pickled(tmp_path, np.eye(3, dtype=np.int32)[[2, 0]])).tolist() == [2, 0]
    neighbours = defaultdict(list, {0: [1, 2], 2: [0]})
    source, target = read_adjacency(pickled(tmp_path, neighbours))
    assert (source.tolist(), target.tolist()) == ([0, 0, 2], [1, 2, 0])
    matrix = sp.csr_matrix(np.array([[0.0, 1.0], [2.0, 0.0]]))
    assert read_matrix(pickled(tmp_path, matrix)).toarray().tolist() == [[0, 1], [2, 0]]


@pytest.mark.parametrize("read", [read_matrix, read_classes, read_adjacency])
@pytest.mark.parametrize(
    ("value", "named"),
    [
        (Malicious(os.system, "touch broken"), r"(posix|nt)\.system"),
        (Malicious(eval, "1"), r"builtins\.eval"),
        (OrderedDict(), r"collections\.OrderedDict"),
        (np.float64, r"numpy\.float64"),
        (defaultdict(os.getcwd), r"getcwd"),
        (sp.coo_matrix((2, 2)), r"coo_matrix"),
        (b"cnumpy\nlib.npyio.load\n.", r"numpy\.lib\.npyio\.load"),
        (b"\x80\x04\x8c\x05numpy\x8c\x0endarray.tofile\x93.", r"numpy\.ndarray\.tofile"),
        (b"Pname\n.", "persistent object"),
    ],
    ids=str,
)
def test_anything_else_is_refused_by_name(tmp_path, monkeypatch, read, value, named):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileFormatError, match=f"the pickle names .*{named}"):
        read(pickled(tmp_path, value))
    assert not (tmp_path / "broken").exists()


@pytest.mark.parametrize("read", [read_matrix, read_classes, read_adjacency])
@pytest.mark.parametrize("value", [b"", b"not a pickle", 7, [1, 2], np.zeros(3), np.zeros((2, 2))])
def test_other_things_are_no_data_of_this_kind(tmp_path, read, value):
    with pytest.raises(FileFormatError, match=r"ind\.cora\.x: "):
        read(pickled(tmp_path, value))


def test_bytes_never_become_pointers(tmp_path):
    """A dtype whose state declares an object field made numpy follow a pointer of the file's choosing."""
    array = np.zeros((2, 2), dtype=np.int64)
    content = pickle.dumps(array, protocol=4)
    for code in (b"O8", b"V8", b"S8", b"M8"):
        crafted = content.replace(b"i8", code)
        assert crafted != content
        with pytest.raises(FileFormatError, match="is not an array of numbers"):
            read_classes(pickled(tmp_path, crafted))


def test_an_array_is_no_larger_than_its_bytes(tmp_path):
    content = pickle.dumps(np.zeros((2, 2), dtype=np.int32), protocol=4)
    crafted = content.replace(b"K\x02K\x02\x86", b"J\xff\xff\xff\x7fK\x02\x86")
    assert crafted != content
    with pytest.raises(FileFormatError, match="do not make an array"):
        read_classes(pickled(tmp_path, crafted))


def test_a_list_that_is_referred_to_very_often(tmp_path):
    others = list(range(1000))
    with pytest.raises(FileFormatError, match="more neighbours than it has bytes"):
        read_adjacency(pickled(tmp_path, dict.fromkeys(range(10000), others)))


def test_a_matrix_that_points_outside_itself(tmp_path):
    matrix = sp.csr_matrix(np.eye(3))
    matrix.indices[1] = 10**6
    with pytest.raises(FileFormatError, match="no CSR matrix"):
        read_matrix(pickled(tmp_path, matrix))


@given(content=st.binary(max_size=80))
def test_any_bytes_are_read_or_refused(tmp_path_factory, content):
    path = pickled(tmp_path_factory.getbasetemp(), content)
    for read in (read_matrix, read_classes, read_adjacency):
        with pytest.raises(FileFormatError):
            read(path)


def test_cora_rows_belong_together(gramme_data: Path):
    """Features, labels and edges are stored apart; were the test rows in a wrong order, neighbours would differ."""
    graph = datasets.load("cora")
    split = datasets.official_split("cora")
    test = split["test"]
    edges = graph.layers["citations"].to_edges()
    inside = np.isin(edges.source, test) & np.isin(edges.target, test)
    start, end = edges.source[inside], edges.target[inside]
    assert (graph.labels[start] == graph.labels[end]).mean() > 0.7
    shared = graph.features[start].multiply(graph.features[end]).sum(axis=1)
    anybody = graph.features[start].multiply(graph.features[np.roll(end, 7)]).sum(axis=1)
    assert shared.mean() > 1.5 * anybody.mean()
    assert set(np.unique(graph.features.data)) == {1.0}
    labels = graph.labels[split["train"]]  # twenty papers per class
    assert np.unique(labels.astype(str), return_counts=True)[1].tolist() == [20] * 7


def test_the_official_split(gramme_data):
    check_split("cora", (140, 500, 1000))
