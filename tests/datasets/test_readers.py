from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gramme.datasets import readers as knn_edges
from gramme.datasets.readers import (
    layer_signals,
    nearest_edges,
    one_of,
    positive_int,
    read_cells,
    read_edge_layers,
    read_graph,
    read_integers,
    read_lines,
    read_positions,
    shuffled_classes,
    streams,
)
from gramme.errors import DataError, FileFormatError


@pytest.mark.parametrize("value", [0, -1, True, 1.0, "3", None])
def test_what_is_no_positive_whole_number(value):
    with pytest.raises(DataError, match="k must be a whole number of at least 1"):
        positive_int(value, "k")
    assert positive_int(np.int16(4), "k") == 4


def test_signals_are_one_per_layer_between_0_and_1():
    assert layer_signals([0.1, 1], 2) == [0.1, 1.0]
    for signal, layers in (([0.1], 2), ([], None), (1.2, None), ([-0.1], 1)):
        with pytest.raises(DataError, match="signal"):
            layer_signals(signal, layers)


def test_more_streams_leave_the_first_as_they_are():
    few, many = streams(7, 2), streams(7, 5)
    assert [one.random() for one in few] == [one.random() for one in many[:2]]
    assert streams(7, 2)[0].random() != streams(7, 2)[1].random()


def test_classes_are_equally_large_and_in_random_order():
    found = shuffled_classes(100, 3, np.random.default_rng(0))
    assert sorted(np.bincount(found)) == [33, 33, 34]
    assert found[:6].tolist() != [0, 1, 2, 0, 1, 2]


def written(folder, content):
    path = folder / "data.txt"
    path.write_bytes(content)
    return path


def test_integers(tmp_path):
    path = written(tmp_path, b"0 7\r\n1  8\n\n")
    assert read_integers(path, range(2), range(10)).tolist() == [[0, 7], [1, 8]]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"0 7\n2 8\n", r"data.txt, line 2: '2' must be a whole number from 0 to 1"),
        (b"0 7\n1 x\n", r"data.txt, line 2: 'x' must be a whole number from 0 to 9"),
        (b"-1 7\n", r"line 1: '-1' must be"),
        (b"0 7 1\n", r"line 1: 3 values were found, 2 are expected"),
        (b"", r"line 1: 0 values"),
        (b"\xff", r"data.txt: this is not a text file in UTF-8"),
    ],
)
def test_integers_that_are_none(tmp_path, content, message):
    with pytest.raises(FileFormatError, match=message):
        read_integers(written(tmp_path, content), range(2), range(10))


def test_cells(tmp_path):
    path = written(tmp_path, b"y, 1\nn,2")
    answer = one_of({"y": True, "n": False})
    assert read_cells(path, [answer, int], expected=2) == [[True, False], [1, 2]]
    with pytest.raises(FileFormatError, match="has 2 lines, 3 are expected"):
        read_cells(path, [answer, int], expected=3)
    with pytest.raises(FileFormatError, match="line 2: 'x' must be one of y, n"):
        read_cells(written(tmp_path, b"y,1\nx,1"), [answer, int])


@given(content=st.binary(max_size=60))
def test_any_bytes_are_read_or_refused(tmp_path_factory, content):
    path = written(tmp_path_factory.getbasetemp(), content)
    for read in (lambda: read_integers(path, range(9)), lambda: read_cells(path, [str, str]), lambda: read_lines(path)):
        with suppress(FileFormatError):
            read()


def test_both_directions_and_self_loops_become_one_edge(tmp_path):
    path = tmp_path / "x.multilayer.edges"
    path.write_text("0 0 1\n0 1 0\n0 0 0\n1 1 2\n1 2 1\n")
    layers = read_edge_layers(path, ["first", "second"], 3)
    assert [layer.num_edges for layer in layers.values()] == [1, 1]
    assert layers["first"].self_loops_dropped == 1
    assert layers["second"].source.tolist() == [1]


def test_a_node_beyond_the_last_names_its_line(tmp_path):
    path = tmp_path / "x.multilayer.edges"
    path.write_text("0 0 1\n0 0 3\n")
    with pytest.raises(FileFormatError, match="line 2"):
        read_edge_layers(path, ["only"], 3)


GOOD = {
    "num_nodes": np.int64(3),
    "directed": np.bool_(False),
    "layer_names": np.array(["a", "b"]),
    "edges_0": np.array([[0], [1]], dtype=np.uint16),
    "edges_1": np.array([[0, 1], [2, 2]], dtype=np.uint16),
    "labels": np.array([0, 1, 1]),
    "features_data": np.ones(2),
    "features_indices": np.array([0, 3]),
    "features_indptr": np.array([0, 1, 1, 2]),
    "features_shape": np.array([3, 4]),
    "train_idx": np.array([2, 0], dtype=np.int32),
}


def stored(folder, **changes):
    path = folder / "graph.npz"
    arrays = {name: value for name, value in (GOOD | changes).items() if value is not None}
    np.savez(path, **arrays)
    return path


def test_a_graph(tmp_path):
    graph = read_graph(stored(tmp_path), "name")
    assert graph.name == "name"
    assert [layer.num_edges for layer in graph.layers.values()] == [1, 2]
    assert graph.features.toarray()[2].tolist() == [0, 0, 0, 1]
    assert read_positions(stored(tmp_path), train="train_idx")["train"].tolist() == [2, 0]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"edges_1": None}, "'edges_1' is missing"),
        ({"num_nodes": None}, "'num_nodes' is missing"),
        ({"edges_0": np.array([[0], [9]])}, "9 at position 0 is not a node"),
        ({"edges_0": np.array([0, 1])}, "do not make a graph"),
        ({"labels": np.array([0])}, "1 labels were given for 3 nodes"),
        ({"features_indices": np.array([0, 10**6])}, "do not make a graph"),
        ({"labels": np.array([{}, 1, 2], dtype=object)}, "is not an archive of plain arrays"),
    ],
)
def test_a_broken_graph_is_one_clear_error(tmp_path, changes, message):
    with pytest.raises(FileFormatError, match=message):
        read_graph(stored(tmp_path, **changes), "name")


@pytest.mark.parametrize("compressed", [False, True])
def test_damaged_bytes_give_a_graph_or_one_kind_of_error(tmp_path, compressed):
    path = tmp_path / "graph.npz"
    (np.savez_compressed if compressed else np.savez)(path, **GOOD)
    whole = path.read_bytes()
    random = np.random.default_rng(0)
    for _ in range(300):
        data = bytearray(whole)
        for place in random.integers(len(data), size=int(random.integers(1, 4))):
            data[place] = random.integers(256)
        path.write_bytes(bytes(data[: len(data) - int(random.integers(2)) * int(random.integers(99))]))
        with suppress(FileFormatError):
            read_graph(path, "name")


def test_more_nodes_than_the_arrays_hold(tmp_path):
    with pytest.raises(FileFormatError, match="3 labels were given for 2000000000000 nodes"):
        read_graph(stored(tmp_path, num_nodes=np.int64(2 * 10**12)), "name")


def test_positions_that_are_no_numbers(tmp_path):
    with pytest.raises(FileFormatError, match="positions are not numbers"):
        read_positions(stored(tmp_path, train_idx=np.array(["x"])), train="train_idx")


def test_missing_positions(tmp_path):
    with pytest.raises(FileFormatError, match="'val_idx' is missing"):
        read_positions(stored(tmp_path), validation="val_idx")


def slowly(points, neighbours):
    edges = []
    for row, point in enumerate(points):
        distance = ((points - point) ** 2).sum(axis=1)
        others = sorted((d, other) for other, d in enumerate(distance) if other != row)
        edges += [(row, other) for other in sorted(other for _, other in others[:neighbours])]
    return np.array(edges).T


@pytest.mark.parametrize("neighbours", [1, 3, 39])
@pytest.mark.parametrize("block", [7, 512])
def test_it_equals_the_slow_way_with_many_ties(monkeypatch, neighbours, block):
    monkeypatch.setattr(knn_edges, "BLOCK_ROWS", block)
    points = np.random.default_rng(0).integers(3, size=(40, 2)).astype(float)
    assert np.array_equal(nearest_edges(points, neighbours), slowly(points, neighbours))


@pytest.mark.parametrize("neighbours", [0, 5, 6])
def test_too_few_or_too_many(neighbours):
    with pytest.raises(DataError, match="neighbours must be from 1 to 4"):
        nearest_edges(np.zeros((5, 1)), neighbours)
