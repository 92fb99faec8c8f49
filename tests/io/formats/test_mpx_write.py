import pytest

from gramme.errors import DataError
from gramme.graph import EdgeLayer, MultilayerGraph
from gramme.io.formats.mpx_write import sections_of
from gramme.io.losses import as_text


def written(graph):
    return sections_of(as_text(graph, "mpx", presence=True))


def test_every_section_of_a_full_graph():
    graph = MultilayerGraph(
        {
            "talk": EdgeLayer(3, [0], [1], [2.5], directed=True),
            "play": EdgeLayer(3, [1], [2], nodes=[1, 2]),
        },
        nodes=["ann", "bob", "c,d"],
        labels=["x", None, "y"],
        features=[[1.0], [0.5], [2.0]],
    )
    assert written(graph) == (
        "#VERSION\n3.0\n\n#TYPE\nmultiplex\n\n"
        "#ACTOR ATTRIBUTES\nlabel,STRING\nfeature_1,NUMERIC\n\n"
        "#EDGE ATTRIBUTES\ntalk,weight,NUMERIC\n\n"
        "#LAYERS\ntalk,DIRECTED\nplay,UNDIRECTED\n\n"
        '#ACTORS\nann,x,1\nbob,,0.5\n"c,d",y,2\n\n'
        '#NODES\nann,talk\nbob,talk\n"c,d",talk\nbob,play\n"c,d",play\n\n'
        '#EDGES\nann,bob,talk,2.5\nbob,"c,d",play\n'
    )


def test_a_name_that_looks_like_a_heading_is_quoted():
    graph = MultilayerGraph({"l": EdgeLayer(2, [0], [1])}, nodes=["#EDGES", "--x"])
    assert '\n"#EDGES"\n"--x"\n' in written(graph)


def test_a_line_end_in_a_name_is_refused():
    graph = MultilayerGraph({"l": EdgeLayer(2, [0], [1])}, nodes=["a\nb", "c"])
    with pytest.raises(DataError, match="cannot hold the line end"):
        written(graph)
