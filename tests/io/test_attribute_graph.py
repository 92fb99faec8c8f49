"""Attributes by name: which are layers, weights, names and labels."""

import json
from pathlib import Path

import pytest

from gramme.errors import FileFormatError
from gramme.io import read
from gramme.io.attribute_graph import parse_attribute_graph
from gramme.io.parsed import ReadOptions
from gramme.io.source import gathered

PATH = Path("g.json")
NODES = {"1": {"label": "Ann", "team": "red", "x": 0.5}, "2": {"label": "Bo", "team": None}}


def parsed(nodes, edges, **options):
    named = options.pop("named_by_label", False)
    return parse_attribute_graph(PATH, nodes, edges, ReadOptions(**options), directed=None, named_by_label=named)


def test_a_relation_names_the_layer_and_a_direction_does_not():
    found = parsed(NODES, [("1", "2", {"Relation": "likes", "value": 2})])
    assert found.rows.layers == ["likes"]
    assert found.rows.weight.tolist() == [2]
    assert parsed(NODES, [("1", "2", {"type": "directed"})]).rows.layers == []


def test_labels_are_names_where_the_format_says_so():
    assert parsed(NODES, [], named_by_label=True).nodes == ["Ann", "Bo"]
    assert parsed(NODES, []).labels == {"1": "Ann", "2": "Bo"}
    same = {"1": {"label": "x"}, "2": {"label": "x"}}
    assert parsed(same, [], named_by_label=True).nodes == ["1", "2"]


def test_attributes_are_used_only_if_asked_for():
    with gathered() as notes:
        assert parsed(NODES, [], named_by_label=True).labels is None
    assert "attributes of nodes not used: team (" in notes.all[0]
    assert parsed(NODES, [], named_by_label=True, label="team").labels == {"Ann": "red"}
    with pytest.raises(FileFormatError, match="no node has the attribute 'teem'; did you mean 'team'"):
        parsed(NODES, [], label="teem")


def test_weights_that_are_no_numbers_are_none():
    assert parsed(NODES, [("1", "2", {"weight": True})]).rows.weight is None
    with pytest.raises(FileFormatError, match="is not a number"):
        parsed(NODES, [("1", "2", {"weight": "heavy"})])


def test_edges_between_layers_are_couplings_in_every_format_with_attributes(tmp_path):
    links = [
        {"source": "a", "target": "b", "layer": "mutual"},
        {"source": "b", "target": "c", "source_layer": "mutual", "target_layer": "other"},
    ]
    path = tmp_path / "g.json"
    path.write_text(json.dumps({"nodes": [{"id": n, "size": k} for k, n in enumerate("abc")], "links": links}))
    graph = read(path, features=["size"])
    assert list(graph.layers) == ["mutual", "other"]
    assert graph.couplings["mutual", "other"].num_edges == 1
    assert graph.features.tolist() == [[0], [1], [2]]
