"""The form of the paper's own data."""

from typing import ClassVar

import numpy as np
import pytest
from tests.io.cases import FormatCase, sample_graph

from gramme.errors import DataError, FileFormatError
from gramme.graph import EdgeLayer, MultilayerGraph
from gramme.io import inspect, read, write


class TestAuthors(FormatCase):
    format = "authors"
    holds: ClassVar = {"directed": False, "weighted": False, "presence": False}
    examples: ClassVar = [{"g.multilayer.edges": b"0 0 1\n0 1 2\n1 2 0\n", "g.multilayer.labels": b"a\nb\na\n"}]

    def expected(self, graph):
        layers = {
            str(number): EdgeLayer(5, layer.source, layer.target)
            for number, layer in enumerate(graph.layers.values())
            if layer.num_edges
        }
        return graph.replace(layers=layers, nodes=[str(node) for node in range(5)])

    def check_refusal(self, graph, error):
        assert "cannot be held" in str(error) or "empty" in str(error)

    def check_loss(self, graph, lost):
        pass

    def awkward_losses(self, graph, lost):
        return [message for message in lost if "numbered from 0" in message or "white space" in message]

    def test_a_refused_write_leaves_nothing_behind(self, tmp_path):
        with pytest.raises(DataError, match="cannot be held"):
            write(MultilayerGraph({}, nodes=["a"]), tmp_path / "g.multilayer.edges")
        assert not list(tmp_path.iterdir())


def test_the_real_files(gramme_data):
    graph, report = inspect(gramme_data / "ckm_social" / "ckm_social.multilayer.edges")
    assert (graph.num_nodes, graph.num_layers, len(graph.classes)) == (241, 3, 4)
    assert report.rows == 3825
    assert report.id_base == 0
    assert report.direction.startswith("undirected, the default")
    assert sum(report.self_loops_dropped.values()) == 3 * 241
    assert [path.rpartition("/")[2] for path in report.files] == [
        "ckm_social.multilayer.edges",
        "ckm_social.multilayer.labels",
    ]
    ng = read(gramme_data / "leskovec_ng" / "Leskovec-Ng.multilayer.edges")
    assert ng.nodes.tolist() == [str(node) for node in range(191)]
    assert sum(label == "0" for label in ng.labels) == 104


def test_labels_name_nodes_without_edges(tmp_path):
    (tmp_path / "g.multilayer.edges").write_text("0 0 3\n")
    (tmp_path / "g.multilayer.labels").write_text("a\nb\n\nb\na\n")
    graph = read(tmp_path / "g.multilayer.edges")
    assert graph.nodes.tolist() == ["0", "1", "2", "3", "4"]
    assert graph.labels.tolist() == ["a", "b", None, "b", "a"]


def test_ids_from_one_are_seen_by_the_number_of_labels(tmp_path):
    (tmp_path / "g.multilayer.edges").write_text("0 1 3\n")
    (tmp_path / "g.multilayer.labels").write_text("a\nb\nc\n")
    assert read(tmp_path / "g.multilayer.edges").nodes.tolist() == ["1", "2", "3"]


def test_features_beside(tmp_path):
    (tmp_path / "g.multilayer.edges").write_text("0 0 1\n")
    (tmp_path / "g.multilayer.features").write_text("1 2\n3 4\n5 6.5\n")
    graph = read(tmp_path / "g.multilayer.edges")
    np.testing.assert_array_equal(graph.features, [[1, 2], [3, 4], [5, 6.5]])
    (tmp_path / "g.multilayer.features").write_text("1 2\n3\n")
    with pytest.raises(FileFormatError, match="features, line 2: there are 1 features"):
        read(tmp_path / "g.multilayer.edges")


def test_a_fourth_column_is_refused_with_its_line(tmp_path):
    path = tmp_path / "g.multilayer.edges"
    path.write_text("0 0 1\n\n0 0 1 5\n")
    with pytest.raises(FileFormatError, match=r"edges, line 3: there are 4 fields") as caught:
        read(path)
    assert caught.value.line == 3


def test_the_user_may_replace_the_labels_beside(tmp_path):
    (tmp_path / "other.labels").write_text("x\ny\nz\nx\ny\n")
    with pytest.warns(match="cannot hold"):
        write(sample_graph(), tmp_path / "g.multilayer.edges")
    graph = read(tmp_path / "g.multilayer.edges", labels=tmp_path / "other.labels")
    assert graph.classes == ["x", "y", "z"]
