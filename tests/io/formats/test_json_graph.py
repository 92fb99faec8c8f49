"""JSON of the web: node-link data, d3, Cytoscape, lists of edges; and gramme's own."""

import json
from typing import ClassVar

import pytest
from tests.io.cases import FormatCase, sample_graph

from gramme.errors import FileFormatError
from gramme.io import read, write

networkx = pytest.importorskip("networkx")
D3 = {
    "nodes": [{"name": "Ann", "group": 1}, {"name": "Bo", "group": 2}, {"name": "Cy", "group": 1}],
    "links": [{"source": 0, "target": 1, "value": 5}, {"source": 1, "target": 2, "value": 1}],
}
CYTOSCAPE = {
    "elements": [
        {"data": {"id": "a", "label": "x"}},
        {"data": {"id": "b"}},
        {"data": {"id": "ab", "source": "a", "target": "b", "relation": "likes"}},
    ]
}


class TestJson(FormatCase):
    format = "json"
    holds: ClassVar = {"presence": False}
    examples: ClassVar = [
        {"g.json": json.dumps(D3).encode()},
        {"g.json": json.dumps(CYTOSCAPE).encode()},
        {"g.json": b'[{"from": 1, "to": 2}, ["a", 2]]'},
    ]
    words: ClassVar = [b'"source"', b"[", b"{", b'"nodes":', b"null", b"true", b"NaN", b"1e999", b'"id"']


def put(folder, data):
    path = folder / "g.json"
    path.write_text(data if isinstance(data, str) else json.dumps(data))
    return path


def test_what_d3_draws(tmp_path):
    graph = read(put(tmp_path, D3), label="group")
    assert graph.nodes.tolist() == ["Ann", "Bo", "Cy"]
    assert graph.labels.tolist() == ["1", "2", "1"]
    assert graph.layers["edges"].weight.tolist() == [5, 1]


def test_what_networkx_wrote(tmp_path):
    theirs = networkx.MultiDiGraph()
    theirs.add_node("Ann", label="red")
    theirs.add_edge("Ann", "Bo", layer="chat", weight=2)
    theirs.add_edge("Bo", "Ann", layer="lunch", weight=1)
    graph = read(put(tmp_path, networkx.node_link_data(theirs)))
    assert list(graph.layers) == ["chat", "lunch"]
    assert graph.layers["chat"].directed
    assert graph.labels.tolist() == ["red", None]


def test_networkx_reads_what_we_write(tmp_path):
    write(sample_graph(), tmp_path / "g.json")
    data = json.loads((tmp_path / "g.json").read_text())
    theirs = networkx.node_link_graph(data, edges="links")
    assert theirs.nodes["Ann"]["label"] == "1"
    assert sorted(layer for _, _, layer in theirs.edges(data="layer")) == ["chat"] * 3 + ["lunch"]


def test_cytoscape_and_plain_lists(tmp_path):
    graph = read(put(tmp_path, CYTOSCAPE))
    assert list(graph.layers) == ["likes"]
    assert graph.labels.tolist() == ["x", None]
    graph = read(put(tmp_path, [{"from": 1, "to": 2}, ["a", 2]]))
    assert graph.nodes.tolist() == ["1", "2", "a"]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("{", "line 1: no JSON that can be read"),
        ("[" * 100_000, "no JSON"),
        ("3", '"nodes" and "links"'),
        ({"nodes": [], "links": [{"a": 1}]}, "has no source and target"),
        ({"nodes": ["a"], "links": [["a", "b"]]}, "names the node 'b', which is not listed"),
        ({"nodes": ["a", "a"], "links": []}, "two nodes are called 'a'"),
        ([["a", "b", -1]], "weights must be positive"),
    ],
)
def test_errors_say_what_is_wrong(tmp_path, data, message):
    with pytest.raises(FileFormatError, match=message):
        read(put(tmp_path, data))


def test_halves_of_characters_are_read_as_escapes(tmp_path):
    path = tmp_path / "a.json"
    links = '[{"source": "a\\ud800", "target": "\\ud83d\\ude00", "layer": "l\\uDC00"}]'
    path.write_text(f'{{"links": {links}}}')
    graph = read(path)
    assert list(graph.nodes) == ["a\\ud800", "\U0001f600"]
    assert list(graph.layers) == ["l\\udc00"]


def test_a_number_beside_ids_is_no_position(tmp_path):
    nodes = [{"id": 1}, {"id": 3}, {"id": 5}]
    links = [{"source": 1, "target": 3}, {"source": 3, "target": 2}]
    (tmp_path / "g.json").write_text(json.dumps({"nodes": nodes, "links": links}))
    with pytest.raises(FileFormatError, match="names the node '2', which is not listed"):
        read(tmp_path / "g.json")
    named = [{"name": "Ann"}, {"name": "Bo"}, {"name": "Cy"}]
    counted = [{"source": 0, "target": 1}, {"source": 1, "target": 2}]
    (tmp_path / "g.json").write_text(json.dumps({"nodes": named, "links": counted}))
    assert read(tmp_path / "g.json").neighbors("Bo") == ["Ann", "Cy"]
