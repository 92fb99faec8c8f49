"""Published multiplex networks: edges with tables of layers and nodes beside them."""

from typing import ClassVar

import numpy as np
import pytest
from tests.io.cases import FormatCase

from gramme.errors import FileFormatError, GrammeWarning
from gramme.io import inspect, read

UNDIRECTED = {"directed": False, "presence": False}


class TestMultiplex(FormatCase):
    format = "multiplex"
    holds: ClassVar = UNDIRECTED
    words: ClassVar = [b"layerID layerLabel", b"nodeID", b"nodeLabel", b"label", b"feature_1"]
    examples: ClassVar = [{"g_multiplex.edges": b"1 1 2 1\n1 2 3 0.5\n2 1 3 1\n"}]


def test_the_real_files(gramme_data):
    folder = gramme_data / "ckm_social" / "original"
    path = folder / "CKM-Physicians-Innovation_multiplex.edges"
    graph, report = inspect(path, label="nodeCity")
    assert list(graph.layers) == ["advice", "discussion", "friend"]
    assert graph.num_nodes == 246
    assert graph.classes == ["1", "2", "3", "4"]
    assert graph.features is None
    assert not any(layer.weighted for layer in graph.layers.values())
    assert report.id_base == 1
    assert report.rows == 1551
    assert len(report.files) == 3
    assert "nodeSpecialty" in report.notes[0]
    with_features = read(path, label="nodeCity", features=["nodeMeetings", "nodeJours"])
    assert with_features.features[0].tolist() == [2, 8]


def test_directed_on_demand(gramme_data):
    folder = gramme_data / "vickers_chan"
    path = folder / "Vickers-Chan-7thGraders_multiplex.edges"
    graph, report = inspect(path, labels=folder / "vickers_chan.labels", directed=True)
    assert graph.num_edges == 740
    assert report.direction == "directed, as asked for"
    assert graph.nodes.tolist() == [str(node) for node in range(1, 30)]
    assert [graph.labels[node] for node in (0, 11, 12, 28)] == ["0", "0", "1", "1"]


def write_files(folder, edges, layers=None, nodes=None):
    (folder / "g_multiplex.edges").write_text(edges)
    if layers is not None:
        (folder / "g_layers.txt").write_text(layers)
    if nodes is not None:
        (folder / "g_nodes.txt").write_text(nodes)
    return folder / "g_multiplex.edges"


def test_names_come_from_the_tables(tmp_path):
    path = write_files(
        tmp_path,
        "1 1 2 2\n",
        "layerID layerLabel\n1 chat\n2 lunch\n",
        'nodeID nodeLabel label\n2 "New York" x\n1 Rome ""\n3 Oslo y\n',
    )
    graph = read(path)
    assert graph.nodes.tolist() == ["New York", "Rome", "Oslo"]
    assert graph.labels.tolist() == ["x", None, "y"]
    assert list(graph.layers) == ["chat", "lunch"]
    assert graph.layers["chat"].weight.tolist() == [2.0]


def test_labels_that_repeat_leave_the_ids_as_names(tmp_path):
    path = write_files(tmp_path, "1 1 2\n", nodes="nodeID nodeLabel\n1 a\n2 a\n")
    with pytest.warns(GrammeWarning, match="nodeLabel does not tell"):
        assert read(path).nodes.tolist() == ["1", "2"]


@pytest.mark.parametrize(
    ("edges", "layers", "nodes", "message"),
    [
        ("1 1 2\n1 2\n", None, None, "edges, line 2: there are 2 fields"),
        ("1 1 2 x\n", None, None, "line 1: the weight 'x' is not a number"),
        ("1 1 2 1\n1 1 3 nan\n", None, None, "line 2: the weight 'nan' is not a number"),
        ("1 1 2 1\n1 1 3 -2\n", None, None, "line 2: the weight is '-2'; weights must be positive"),
        ("1 1 2 0\n", None, None, "line 1: the weight is '0'"),
        ("1 1 2 1e400\n", None, None, "line 1: the weight '1e400' is larger"),
        ("1 1 2\n1 1 2 3\n", None, None, "line 2: there are 4 fields, but 3 as in the lines before"),
        ("1 1 2\n\n9 1 2\n", "layerID layerLabel\n1 a\n", None, "line 3: the layer '9' is not in"),
        ("1 1 2\n1 2 7\n", None, "nodeID\n1\n2\n", "line 2: the node '7' is not in"),
        ("1 1 2\n", None, "nodeID\n1\n1\n", "nodes.txt, line 3: '1' is here for the second time, after line 2"),
        ("1 1 2\n", None, "nodeID x\n1\n2 3\n", "nodes.txt, line 2: there are 1 cells"),
        ("\n\n", None, None, "no edges"),
    ],
)
def test_errors_name_file_and_line(tmp_path, edges, layers, nodes, message):
    path = write_files(tmp_path, edges, layers, nodes)
    with pytest.raises(FileFormatError, match=message):
        read(path)


def test_names_are_text_as_they_stand(tmp_path):
    path = write_files(tmp_path, "1 1 01\n1 +1 1.0\n1 1 -0\n")
    assert read(path).nodes.tolist() == ["1", "01", "+1", "1.0", "-0"]
    path = write_files(tmp_path, "1 10 9\n1 9 123456789012345678901234567890\n")
    assert read(path).nodes.tolist() == ["9", "10", "123456789012345678901234567890"]


def test_sparse_ids_and_windows_line_ends(tmp_path):
    path = tmp_path / "g_multiplex.edges"
    path.write_bytes(b"\xef\xbb\xbf7 5 1000000000\r\n7\t5  3 \r\n\r\n2 3 5\r\n")
    graph, report = inspect(path)
    assert graph.nodes.tolist() == ["3", "5", "1000000000"]
    assert list(graph.layers) == ["7", "2"]
    assert graph.layers["7"].source.tolist() == [0, 1]
    assert report.id_base == 3


def test_duplicates_and_self_loops_are_counted(tmp_path):
    path = write_files(tmp_path, "1 1 2 1.5\n1 2 1 1.5\n1 1 1 4\n2 1 2 1\n")
    graph, report = inspect(path)
    assert report.duplicates_merged == {"1": 1, "2": 0}
    assert report.self_loops_dropped == {"1": 1, "2": 0}
    assert graph.layers["1"].weight.tolist() == [3.0]
    assert graph.layers["2"].weight is None
    assert np.isfinite(graph.layers["1"].weight).all()


def test_weights_that_add_up_beyond_all_numbers(tmp_path):
    path = write_files(tmp_path, "1 1 2 1e308\n" * 2)
    with pytest.raises(FileFormatError, match=r"layer '1'.*more than a number can hold"):
        read(path)


def test_rows_that_may_be_source_target_and_weight_are_doubted(tmp_path):
    rows = "1 2 5\n2 3 1\n3 1 2\n"
    for name, doubts in (("net.edges", 1), ("net_multiplex.edges", 0)):
        (tmp_path / name).write_text(rows)
        assert len(inspect(tmp_path / name)[1].doubts) == doubts
    with pytest.warns(GrammeWarning, match="if they are source, target and weight, say format='text'"):
        read(tmp_path / "net.edges")
    (tmp_path / "net.edges").write_text("1 2\n")
    with pytest.raises(FileFormatError, match="for source, target and weight, format='text'"):
        read(tmp_path / "net.edges")
