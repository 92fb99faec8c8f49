"""gramme's own archive: everything comes back, nothing is executed, arrays may stay on disk."""

import io
import json
import tempfile
import zipfile
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from tests.io.cases import FormatCase, sample_graph
from tests.strategies import multilayer_graphs

from gramme.errors import DataError, FileFormatError
from gramme.graph import EdgeLayer, MembershipLayer, MultilayerGraph
from gramme.io import inspect, read, write


class TestNpz(FormatCase):
    format = "npz"
    holds: ClassVar = {"kinds": ["edges", "membership"], "text_names": None}
    words: ClassVar = [b"PK\x03\x04", b"PK\x01\x02", b"NUMPY", b"gramme.json", b'"version": 1', b"'descr': '|O'"]

    def check_loss(self, graph, lost):
        raise AssertionError(lost)

    def check_refusal(self, graph, error):
        raise AssertionError(error)


@given(graph=multilayer_graphs(weighted_groups=None, couplings=None, layer_features=None))
def test_everything_comes_back_also_mapped(graph):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "g.npz"
        write(graph, path)
        for mmap in (False, True):
            again = read(path, mmap=mmap)
            assert again == graph
            assert [type(name) for name in again.nodes] == [type(name) for name in graph.nodes]
            if graph.features is not None:
                assert again.features.dtype == graph.features.dtype
                assert sp.issparse(again.features) == sp.issparse(graph.features)


def test_names_and_labels_keep_their_kinds(tmp_path):
    names = [1, "1", (1, "x", (2.5,)), 10**5000, -(10**40), True + 1, b"\x00", 2.5, "\ud800", float("inf")]
    labels = [1, "1", True, 1.0, None, (1,), 10**30, 0.1, "ü", False]
    graph = MultilayerGraph({"l": EdgeLayer(10, [0], [9])}, nodes=names, labels=labels, name="all kinds")
    write(graph, tmp_path / "g.npz")
    again = read(tmp_path / "g.npz")
    assert again == graph
    assert again.name == "all kinds"
    assert [type(label) for label in again.labels] == [type(label) for label in graph.labels]
    assert [type(name) for name in again.nodes] == [type(name) for name in graph.nodes]


def test_mapped_arrays_stay_on_disk_and_are_aligned(tmp_path):
    random = np.random.default_rng(0)
    edges = random.integers(0, 1000, (2, 5000))
    graph = MultilayerGraph(
        {"a": EdgeLayer(1000, *edges, random.random(5000) + 1), "b": EdgeLayer(1000, *edges, directed=True)},
        features=random.random((1000, 3)),
    )
    write(graph, tmp_path / "g.npz")
    mapped = read(tmp_path / "g.npz", mmap=True)
    assert mapped == graph
    for array in (mapped.layers["a"].source, mapped.layers["a"].weight, mapped.features):
        assert isinstance(array, np.memmap)
        assert not array.flags.writeable
        assert array.flags.aligned
        assert array.offset % 64 == 0
    assert mapped.layers["b"].to_scipy().nnz == graph.layers["b"].num_edges
    assert not isinstance(read(tmp_path / "g.npz").features, np.memmap)


def test_numpy_opens_it_without_pickles(tmp_path):
    write(sample_graph(), tmp_path / "g.npz")
    with np.load(tmp_path / "g.npz", allow_pickle=False) as archive:
        assert archive["layer0.source"].tolist() == [0, 1, 2]
        assert all(archive[name].dtype != object for name in archive.files if name != "gramme.json")


def test_the_same_graph_gives_the_same_bytes(tmp_path):
    write(sample_graph(), tmp_path / "a.npz")
    write(sample_graph(), tmp_path / "b.npz")
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()


def test_a_foreign_archive(gramme_data):
    with pytest.raises(FileFormatError, match=r"not a graph archive of gramme .*edges_0"):
        read(gramme_data / "acm3025" / "graph.npz")


def changed(path, **members):
    """The archive with some members replaced by other bytes, None to leave one out."""
    with zipfile.ZipFile(path) as archive:
        content = {name: archive.read(name) for name in archive.namelist()}
    content |= {name.replace("__", "."): data for name, data in members.items()}
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in content.items():
            if data is not None:
                archive.writestr(name, data)


def npy(array, **options):
    buffer = io.BytesIO()
    np.save(buffer, array, **options)
    return buffer.getvalue()


def header(path, **changes):
    with zipfile.ZipFile(path) as archive:
        return json.dumps(json.loads(archive.read("gramme.json")) | changes).encode()


@pytest.mark.parametrize("mmap", [False, True])
@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({"layer0__source__npy": None}, "member layer0.source.npy is missing"),
        ({"layer0__source__npy": b"junk"}, "layer0.source.npy is not an array"),
        ({"layer0__source__npy": npy(np.array([0, 1]))}, "differ in number"),
        ({"layer0__source__npy": npy(np.array([0, 1, 99]))}, "a node that does not exist"),
        ({"layer0__source__npy": npy(np.array([0, 1, -1]))}, "a node that does not exist"),
        ({"layer0__source__npy": npy(np.array([1, 0, 2]))}, "self loop|not sorted"),
        ({"layer0__source__npy": npy(np.array([0.5, 1, 2]))}, "another kind"),
        ({"layer0__weight__npy": npy(np.array([1, np.nan, 2]))}, "positive number"),
        ({"features__npy": npy(np.full((5, 2), np.inf))}, "not finite"),
        ({"features__npy": npy(np.zeros((4, 2)))}, "do not fit"),
        ({"labels__npy": npy(np.array([0, 1, 7, 0, -1]))}, "labels do not fit"),
        ({"labels__classes__npy": npy(np.frombuffer(b'{"a": 1}', dtype=np.uint8))}, "the values are not a list"),
        ({"nodes__ends__npy": npy(np.array([9, 5, 7, 8, 10]))}, "bounds of the names"),
    ],
)
def test_damage_is_noticed(tmp_path, members, message, mmap):
    path = tmp_path / "g.npz"
    write(sample_graph(), path)
    changed(path, **members)
    with pytest.raises(FileFormatError, match=message):
        read(path, mmap=mmap)


def test_pickled_arrays_are_never_loaded(tmp_path):
    path = tmp_path / "g.npz"
    write(sample_graph(), path)
    changed(path, features__npy=npy(np.array([[print]], dtype=object), allow_pickle=True))
    with pytest.raises(FileFormatError, match="another kind"):
        read(path)


def test_a_length_out_of_thin_air(tmp_path):
    path = tmp_path / "g.npz"
    write(sample_graph(), path)
    data = npy(np.zeros(3, dtype=np.int8)).replace(b"(3,)", b"(10**12,)"[:4]).replace(b"(3,)", b"(9,)")
    head = bytearray(npy(np.zeros((5, 2))))
    head = bytes(head).replace(b"(5, 2), }  ", b"(5, 2000000000000), }"[:11])
    changed(path, features__npy=head, layer0__source__npy=data)
    with pytest.raises(FileFormatError):
        read(path)


@pytest.mark.parametrize("count", [10**8, 2 * 10**18])
def test_more_nodes_or_groups_than_the_archive_can_hold(tmp_path, count):
    path = tmp_path / "g.npz"
    spelled = {"kind": "range", "start": 0, "stop": count, "step": 1}
    write(MultilayerGraph({"a": EdgeLayer(3, [0], [1])}), path)
    changed(path, gramme__json=header(path, num_nodes=count, nodes=spelled))
    with pytest.raises(FileFormatError, match=rf"{count} nodes are declared, but an archive of"):
        read(path)
    write(MultilayerGraph({"a": MembershipLayer(3, [0, 1], [0, 1])}), path)
    with zipfile.ZipFile(path) as archive:
        layers = json.loads(archive.read("gramme.json"))["layers"]
    layers[0]["groups"] = spelled
    changed(path, gramme__json=header(path, layers=layers))
    with pytest.raises(FileFormatError, match=rf"{count} names .*groups.* are declared"):
        read(path)


def test_many_lone_nodes_come_back(tmp_path):
    """More than an archive may declare without spelling them out."""
    graph = MultilayerGraph({"a": EdgeLayer(1_200_000, [0], [1])})
    write(graph, tmp_path / "g.npz")
    assert read(tmp_path / "g.npz").num_nodes == 1_200_000


def test_compressed_members_are_refused(tmp_path):
    np.savez_compressed(tmp_path / "g.npz", **{"gramme.json": np.zeros(1)})
    with zipfile.ZipFile(tmp_path / "g.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("gramme.json", "x" * 100_000)
    with pytest.raises(FileFormatError, match="compressed"):
        read(tmp_path / "g.npz")


def test_newer_and_other_archives(tmp_path):
    path = tmp_path / "g.npz"
    write(sample_graph(), path)
    changed(path, gramme__json=header(path, version=5))
    with pytest.raises(FileFormatError, match="has version 5; this gramme reads up to version 4"):
        read(path)
    changed(path, gramme__json=header(path, format="something"))
    with pytest.raises(FileFormatError, match="says otherwise"):
        read(path)
    path.write_bytes(b"")
    with pytest.raises(FileFormatError, match="the file is empty"):
        read(path)
    path.write_bytes(b"PK but no")
    with pytest.raises(FileFormatError, match="damaged"):
        read(path)


def test_what_cannot_be_kept(tmp_path):
    graph = MultilayerGraph({}, nodes=[frozenset({1})])
    with pytest.raises(DataError, match="cannot be kept"):
        write(graph, tmp_path / "g.npz")
    assert not list(tmp_path.iterdir())


def test_labels_from_a_file(tmp_path):
    write(sample_graph(labels=None), tmp_path / "g.npz")
    (tmp_path / "l.csv").write_text("Bo,x\nEd,y\n")
    graph, report = inspect(tmp_path / "g.npz", labels=tmp_path / "l.csv")
    assert graph.labels.tolist() == [None, "x", None, None, "y"]
    assert len(report.files) == 2
    with pytest.raises(DataError, match="leave out directed"):
        read(tmp_path / "g.npz", directed=True)


def test_groups_keep_their_names(tmp_path):
    layer = MembershipLayer(3, [0, 1, 1], [0, 0, 1], [(1, 2), 3])
    graph = MultilayerGraph({"r": layer}, nodes=["a", "b", "c"])
    write(graph, tmp_path / "g.npz")
    assert list(read(tmp_path / "g.npz").layers["r"].group_names) == [(1, 2), 3]
