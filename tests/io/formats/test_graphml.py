"""GraphML, with the layer as an attribute of the edges."""

import time
import warnings
from typing import ClassVar

import pytest
from tests.io.cases import FormatCase

from gramme.errors import DataError, FileFormatError
from gramme.graph import EdgeLayer, MultilayerGraph
from gramme.io import inspect, read, write

networkx = pytest.importorskip("networkx")

HEAD = '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
KEYS = (
    '<key id="l" for="edge" attr.name="layer" attr.type="string"/>'
    '<key id="w" for="edge" attr.name="weight" attr.type="double"/>'
    '<key id="c" for="node" attr.name="label" attr.type="int"/>'
)
PLAIN = f"""<?xml version="1.0"?>
{HEAD}{KEYS}<graph edgedefault="directed">
<node id="a"><data key="c">3</data></node><node id="b"/><node id="c"><data key="c">4</data></node>
<edge source="a" target="b"><data key="l">chat</data><data key="w">2</data></edge>
<edge source="b" target="a"><data key="l">chat</data><data key="w">1</data></edge>
<edge source="a" target="c"/>
</graph></graphml>"""


class TestGraphml(FormatCase):
    format = "graphml"
    holds: ClassVar = {"presence": False}
    examples: ClassVar = [{"g.graphml": PLAIN.encode()}]
    words: ClassVar = [
        b"<!DOCTYPE x>",
        b'<!ENTITY a "b">',
        b"&amp;",
        b"<edge",
        b"</graph>",
        b"<graph edgedefault='undirected'>",
        b"<hyperedge>",
        b'attr.type="boolean"',
    ]


def put(folder, text):
    path = folder / "g.graphml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_what_other_programs_write(tmp_path):
    graph, report = inspect(put(tmp_path, PLAIN))
    assert list(graph.layers) == ["chat", "edges"]
    assert graph.layers["chat"].directed
    assert graph.layers["chat"].weight.tolist() == [2, 1]
    assert graph.labels.tolist() == [3, None, 4]
    assert report.direction == "directed, as the file says"
    assert read(tmp_path / "g.graphml", directed=False).layers["chat"].weight.tolist() == [3]


def test_networkx_reads_what_we_write(tmp_path):
    graph = MultilayerGraph(
        {"one": EdgeLayer(3, [0], [1], directed=True), "two": EdgeLayer(3, [0, 1], [1, 2])},
        nodes=["a", "b", "c"],
        labels=["x", None, "y"],
    )
    write(graph, tmp_path / "g.graphml")
    theirs = networkx.read_graphml(tmp_path / "g.graphml", force_multigraph=True)
    assert theirs.nodes["a"] == {"label": "x"}
    assert sorted(layer for _, _, layer in theirs.edges(data="layer")) == ["one", "two", "two"]


BOMB = (
    '<!DOCTYPE l [<!ENTITY a "ha">'
    + "".join(f'<!ENTITY {chr(98 + n)} "{f"&{chr(97 + n)};" * 10}">' for n in range(20))
    + "]>"
)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
@pytest.mark.parametrize("declaration", [BOMB, "<!DOCTYPE graphml>", '<!DOCTYPE g SYSTEM "file:///etc/passwd">'])
def test_entities_are_never_expanded(tmp_path, declaration, encoding):
    text = f'<?xml version="1.0" encoding="{encoding}"?>{declaration}{HEAD}<desc>&u;</desc></graphml>'
    start = time.process_time()
    with pytest.raises(FileFormatError, match="declares a document type"):
        read(put(tmp_path, text.encode(encoding)))
    assert time.process_time() - start < 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<graphml>\n<node></graphml>", "line 2: not readable as XML: mismatched tag"),
        ("<html/>", "no GraphML that can be read"),
        (PLAIN.replace('<data key="w">2', '<data key="w">-2'), "weights must be positive"),
        (PLAIN.replace('<data key="w">2', '<data key="w">nan'), "'nan' is not a number"),
        (PLAIN.replace('<data key="w">2', '<data key="w">x'), "no GraphML that can be read"),
        (PLAIN.replace("utf", "x").replace('"1.0"', '"1.0" encoding="no-such"'), "not readable as XML"),
    ],
)
def test_errors_name_the_file(tmp_path, text, message):
    with pytest.raises(FileFormatError, match=message):
        read(put(tmp_path, text))


def test_an_attribute_that_is_not_there(tmp_path):
    with pytest.raises(DataError, match="has the attribute 'party'"):
        read(put(tmp_path, PLAIN), label="party")
    with pytest.raises(DataError, match="is the label or the name of the nodes, so it can be no feature"):
        read(put(tmp_path, PLAIN), features=["label"])


def test_ends_of_edges_between_layers_stay_in_their_layers(tmp_path):
    layers = {"a": EdgeLayer(4, [2], [3], nodes=[2, 3]), "b": EdgeLayer(4, [0], [1], nodes=[0, 1])}
    graph = MultilayerGraph(layers, nodes=list("wxyz"), couplings={("a", "b"): ([2, 3], [0, 1])})
    write(graph, tmp_path / "g.graphml")
    assert read(tmp_path / "g.graphml") == graph


def test_the_time_for_a_long_attribute_is_linear(tmp_path):
    """Given part by part, the parser looks through it anew each time: four times as long for twice the length."""
    path = tmp_path / "g.graphml"
    path.write_text(
        '<graphml xmlns="http://graphml.graphdrawing.org/xmlns"><graph edgedefault="undirected"><node id="a" '
        f'more="{"x" * 20_000_000}"/><node id="b"/><edge source="a" target="b"/></graph></graphml>'
    )
    started = time.process_time()
    assert read(path).num_nodes == 2
    assert time.process_time() - started < 3


def test_igraph_calls_its_nodes_by_name(tmp_path):
    igraph = pytest.importorskip("igraph")
    graph = igraph.Graph.TupleList([("Ann", "Bo"), ("Bo", "Cy")])
    graph.write_graphml(str(tmp_path / "g.graphml"))
    (tmp_path / "people.csv").write_text("who,Team,Age\nAnn,x,1\nBo,y,4\nCy,y,5\n")
    found = read(tmp_path / "g.graphml", labels=tmp_path / "people.csv", label="Team", features=["Age"])
    assert sorted(zip(found.nodes, found.labels, strict=True)) == [("Ann", "x"), ("Bo", "y"), ("Cy", "y")]
    assert found.features.shape == (3, 1)


def test_a_key_without_its_type_is_a_note_and_no_warning_of_networkx(tmp_path):
    path = tmp_path / "g.graphml"
    path.write_text(PLAIN.replace('attr.name="layer" attr.type="string"', 'attr.name="layer"'))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        graph, report = inspect(path)
    assert "chat" in graph.layers
    assert any("g.graphml: No key type for id l" in note for note in report.notes)


def test_the_type_of_an_edge_is_its_layer_where_no_attribute_is_called_so(tmp_path):
    networkx = pytest.importorskip("networkx")
    graph = networkx.MultiGraph()
    graph.add_edge("a", "b", type="advice")
    graph.add_edge("a", "b", type="friend")
    networkx.write_graphml(graph, tmp_path / "g.graphml")
    found, report = inspect(tmp_path / "g.graphml")
    assert list(found.layers) == ["advice", "friend"]
    assert "g.graphml: the edges' attribute 'type' names the layers" in report.notes
