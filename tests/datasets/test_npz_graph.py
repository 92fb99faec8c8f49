from contextlib import suppress

import numpy as np
import pytest

from gramme.datasets.npz_graph import read_graph, read_positions
from gramme.errors import FileFormatError

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
        path.write_bytes(
            bytes(data[: len(data) - int(random.integers(2)) * int(random.integers(99))])
        )
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
