"""A graph in parts comes back whole, and what does not fit is refused by name."""

import json
import re

import numpy as np
import pytest
from tests.distributed.graphs import KINDS, graph, parts_of
from tests.distributed.processes import together

from gramme.distributed import assign, read_part, write_parts
from gramme.distributed.storage import whole_graph
from gramme.errors import DataError, FileFormatError, LossyFormatWarning
from gramme.graph import EdgeLayer, MultilayerGraph
from gramme.graph.canonical import in_name_order
from gramme.methods.labels import known_labels


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("parts", [1, 3])
def test_parts_join_to_the_graph_they_were_cut_from(kind, parts, tmp_path):
    whole = graph(kind)
    assert whole_graph(parts_of(whole, tmp_path, parts)) == whole


def test_features_dense_sparse_and_of_layers_come_back(tmp_path):
    import scipy.sparse as sp

    whole = graph("edges")
    dense = np.random.default_rng(0).normal(size=(whole.num_nodes, 3))
    for features in (dense, sp.csr_array(np.maximum(dense, 0))):
        one = whole.replace(features=features, layer_features={"b": dense[:, :2]})
        folder = tmp_path / type(features).__name__
        assert whole_graph(parts_of(one, folder, 2)) == one


def test_masks_come_back_and_labels_outside_train_are_not_learned(tmp_path):
    whole = graph("edges")
    train = np.arange(whole.num_nodes) % 2 == 0
    whole = whole.replace(masks={"train": train, "test": ~train})
    folder = parts_of(whole, tmp_path, 1)
    assert json.loads((folder / "manifest.json").read_text())["version"] == 2  # which no gramme without masks reads
    assert whole_graph(folder) == whole
    part = read_part(folder)
    known = known_labels(part)
    learned = set(part.nodes[known.nodes])
    labelled = {name for name, label in zip(whole.nodes, whole.labels, strict=True) if label is not None}
    assert learned == labelled & set(whole.nodes[train]) < labelled
    assert (part.replace(name="n").training_codes >= 0).sum() == known.nodes.size


def test_a_part_does_not_pass_for_the_whole(tmp_path):
    part = read_part(parts_of(graph("mixed"), tmp_path, 1))
    layer = next(iter(part.layers.values()))
    asked = [part.summary, part.to_scipy, part.to_networkx, part.to_pandas, part.supra_adjacency, layer.to_edges]
    for ask in asked:
        with pytest.raises(DataError, match=r"the graph is spread over several.*read it whole"):
            ask()
    assert part._repr_html_() == f"<p><b>{part!r}</b></p>"


def test_a_graph_without_masks_can_be_read_by_older_versions(tmp_path):
    assert json.loads((parts_of(graph("edges"), tmp_path, 1) / "manifest.json").read_text())["version"] == 1


def test_features_of_edges_are_said_to_be_left_out(tmp_path):
    layer = EdgeLayer(2, [0], [1], features=[[1.0]])
    with pytest.warns(LossyFormatWarning, match="features of edges"):
        write_parts(MultilayerGraph({"a": layer}), tmp_path, np.zeros(2), 1)


def test_a_part_alone_is_a_graph_of_its_own(tmp_path):
    whole = graph("mixed")
    only = read_part(parts_of(whole, tmp_path, 1))
    assert only.num_nodes == whole.num_nodes
    assert only.labels.tolist() == whole.labels[only.given].tolist()
    assert only.nodes.tolist() == sorted(whole.nodes)


def test_more_parts_than_nodes_are_refused(tmp_path):
    with pytest.raises(DataError, match="23 nodes can be divided into 1 to 23 parts, not 24"):
        assign(graph("edges"), 24)
    with pytest.raises(DataError, match="part 1 would be empty"):
        write_parts(graph("edges"), tmp_path, np.zeros(23), 2)


def test_a_folder_for_another_number_of_processes_is_refused(tmp_path):
    folder = parts_of(graph("edges"), tmp_path, 3)
    with pytest.raises(DataError, match="has 3 parts and 1 processes"):
        read_part(folder)


def test_a_damaged_part_is_refused_by_name(tmp_path):
    folder = parts_of(graph("edges"), tmp_path, 1)
    path = folder / "part-0000.npz"
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    with pytest.raises(FileFormatError, match=r"part-0000\.npz.*checksum"):
        read_part(folder)
    path.write_bytes(data[:-1])
    with pytest.raises(FileFormatError, match=r"part-0000\.npz.*bytes"):
        read_part(folder)
    path.unlink()
    with pytest.raises(FileFormatError, match=r"part-0000\.npz.*missing"):
        read_part(folder)


def _problem(communicator, folder) -> str:
    with pytest.raises(DataError) as told:
        read_part(folder, communicator)
    return str(told.value)


@pytest.mark.distributed
def test_all_processes_learn_whose_part_does_not_fit(tmp_path):
    folder = parts_of(graph("edges"), tmp_path, 2)
    (folder / "part-0001.npz").unlink()
    first, second = together(2, _problem, folder)
    assert first == second
    assert first.startswith("worker 1 of 2: ")
    assert "part-0001.npz: this part of the graph is missing" in first


LAYER = {"kind": "edges", "name": "a", "coupling": False, "directed": False, "weighted": False, "edges": 1}
TWICE = [LAYER, LAYER]
PART = {"nodes": 23, "bytes": 1, "sha256": "", "halo": 0}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"version": 99}, "its version is 99"),
        ({"format": "other"}, "format"),
        ({"nodes": 24}, "parts have 23 nodes, the graph 24"),
        ({"parts": []}, "no parts"),
        ({"layers": [{"kind": "fog"}]}, "layer 0 is neither"),
        ({"layers": [7]}, "entry 0 of 'layers' of the manifest is 7, where dict"),
        ({"layers": [{"kind": []}]}, "layer 0 is neither"),
        ({"entries": 10**30}, "'entries' of the manifest is 1000000000000000000000000000000"),
        ({"classes": [[1]]}, "list stands where a value"),
        ({"entries": True}, "'entries' of the manifest is True"),
        ({"classes": ["x", "x"]}, "a class stands twice"),
        ({"layers": 3}, "'layers' of the manifest is 3, where a list"),
        ({"layers": [{"kind": "edges", "name": 1, "coupling": False}]}, "'name' of layer 0 is 1"),
        ({"layers": [{"kind": "edges", "name": "a", "coupling": False, "directed": 0}]}, "'directed' of layer 0 is 0"),
        ({"layers": TWICE}, "two of its layers have one name: 'a', 'a'"),
        ({"layer_order": ["fog"]}, "it orders the layers ['fog']"),
        ({"layer_order": [["a"]]}, "entry 0 of 'layer_order' of the manifest is ['a']"),
        ({"layer_features": ["fog"]}, "layers that it does not have: ['fog']"),
        ({"couplings": [{"layers": ["a", "fog"], "name": "c", "directed": False}]}, "does not have: ['fog']"),
        ({"couplings": [{"layers": ["a"], "name": "c", "directed": False}]}, "features or couplings"),
        ({"couplings": {"a": 1}}, "where a list is needed"),
        ({"masks": ["train", "train"]}, "two of its masks"),
        ({"name": [1]}, "the name of the graph is [1]"),
        ({"parts": [{"file": "../../x"}]}, "'nodes' of entry 0 of 'parts'"),
        ({"parts": [PART | {"file": "../../part-0000.npz"}]}, "has the file name '../../part-0000.npz'"),
    ],
)
def test_a_manifest_that_does_not_fit_is_refused_by_name(change, message, tmp_path):
    folder = parts_of(graph("edges"), tmp_path, 1)
    path = folder / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(FileFormatError, match=rf"manifest\.json.*{re.escape(message)}"):
        read_part(folder)


def test_numbers_out_of_range_are_refused_even_with_a_right_checksum(tmp_path):
    from gramme.distributed.partition import Cut, coupling_facts, layer_facts, part_members
    from gramme.distributed.storage import fill_parts

    whole = in_name_order(graph("edges")).graph
    cut = Cut.of(np.zeros(whole.num_nodes), 1)
    codes = np.zeros(whole.num_nodes, dtype=np.int64)
    facts = {
        "nodes": whole.num_nodes,
        "entries": 1,
        "classes": ["x"],
        "layers": layer_facts(whole, cut),
        "layer_order": list(whole.layers),
        "couplings": coupling_facts(whole),
        "layer_features": [],
    }
    for name, value in (("places", 99), ("layer0.indices", 23), ("labels", 1), ("layer0.indptr", -1)):
        ((members, said),) = part_members(whole, cut, codes, np.arange(whole.num_nodes))
        members[name] = members[name].copy()
        members[name][-1] = value
        folder = tmp_path / name
        folder.mkdir()
        fill_parts(folder, facts, [(members, said)])
        with pytest.raises(FileFormatError, match="the part does not fit"):
            read_part(folder)
