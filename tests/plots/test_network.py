import matplotlib.pyplot as plt
import numpy as np
import pytest
from tests.methods.graphs import planted

from gramme import DataError, EdgeLayer, MembershipLayer, MultilayerGraph
from gramme.graph.layout import node_positions
from gramme.plots import network
from gramme.plots.style import class_colours

GRAPH = planted()


def drawn_lines(ax):
    return [collection for collection in ax.collections if hasattr(collection, "get_segments")]


def nodes_of(ax):
    return ax.collections[-1]


def test_nodes_stand_at_one_place_in_all_layers_and_have_their_classes_colours():
    places = node_positions(GRAPH)
    made = GRAPH.plot(by_layer=True)
    assert [ax.get_title() for ax in made] == ["friends", "room"]
    for ax in made:
        np.testing.assert_allclose(nodes_of(ax).get_offsets(), places)
    codes = np.array(["abc".index(label) for label in GRAPH.labels])
    expected = plt.matplotlib.colors.to_rgba_array(class_colours(codes))
    np.testing.assert_allclose(nodes_of(made[0]).get_facecolors(), expected)
    assert [text.get_text() for text in made[1].get_legend().get_texts()] == ["a", "b", "c"]


def test_a_line_per_edge_and_a_star_per_group():
    places = node_positions(GRAPH)
    edges = GRAPH["friends"].to_edges()
    (lines,) = drawn_lines(GRAPH.plot(layer="friends"))
    expected = np.stack([places[edges.source], places[edges.target]], axis=1)
    np.testing.assert_allclose(np.array(lines.get_segments()), expected)
    (stars,) = drawn_lines(GRAPH.plot(layer="room"))
    room = GRAPH["room"]
    assert len(stars.get_segments()) == room.num_memberships
    for group, members in enumerate(room.members()):
        middle = places[members].mean(axis=0)
        there = [end for _, end in stars.get_segments() if np.allclose(end, middle)]
        assert len(there) == members.size, group


def test_the_same_graph_gives_the_same_picture_to_the_bit():
    def pixels():
        ax = GRAPH.plot()
        ax.figure.canvas.draw()
        return np.asarray(ax.figure.canvas.buffer_rgba()).tobytes()

    assert pixels() == pixels()


def test_given_axes_places_and_values():
    _, ax = plt.subplots()
    places = np.random.default_rng(0).random((36, 2))
    assert GRAPH.plot(ax=ax, positions=places, colour=np.linspace(0, 1, 36)) is ax
    np.testing.assert_allclose(nodes_of(ax).get_offsets(), places)
    np.testing.assert_allclose(nodes_of(ax).get_array(), np.linspace(0, 1, 36))
    assert len(ax.figure.axes) == 2  # the scale
    by_name = GRAPH.plot(colour=dict.fromkeys(GRAPH.nodes[:5], "x"))
    words = [text.get_text() for text in by_name.get_legend().get_texts()]
    assert words == ["x", "unknown"]


def test_without_labels_layers_have_a_colour_each():
    ax = GRAPH.replace(labels=None).plot()
    colours = [tuple(lines.get_colors()[0][:3]) for lines in drawn_lines(ax)]
    assert len(set(colours)) == 2
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["friends", "room"]


def test_absent_nodes_are_not_drawn_and_names_are_where_they_fit():
    layer = EdgeLayer(4, [0], [1], nodes=[0, 1, 2])
    graph = MultilayerGraph({"some": layer}, nodes=["Ann", "$Bo$", "Cy", "Di"])
    ax = graph.plot()
    assert len(nodes_of(ax).get_offsets()) == 3
    assert [text.get_text() for text in ax.texts] == ["Ann", r"\$Bo\$", "Cy"]
    assert not graph.plot(names=False).texts
    assert not planted(50).plot().texts


def test_of_very_many_edges_a_sample_is_drawn_and_said(monkeypatch):
    monkeypatch.setattr(network, "MAX_LINES", 10)
    ax = GRAPH.plot(layer="friends")
    left = GRAPH["friends"].num_edges - 10
    assert len(drawn_lines(ax)[0].get_segments()) == 10
    assert ax.get_xlabel() == f"{left} edges or memberships are not drawn"


def test_more_layers_than_panels_are_said(monkeypatch):
    monkeypatch.setattr(network, "MAX_PANELS", 1)
    made = GRAPH.plot(by_layer=True)
    assert len(made) == 1
    assert made[0].figure.get_supxlabel() == "1 of 2 layers"


def test_empty_and_tiny_graphs():
    MultilayerGraph({}, num_nodes=0).plot()
    MultilayerGraph({"a": EdgeLayer(1, [], [])}).plot()
    MultilayerGraph({"a": MembershipLayer.from_values(["x", None, "y"])}).plot()


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"layer": "frends"}, "did you mean 'friends'"),
        ({"positions": np.zeros((3, 2))}, "two numbers for each of the 36 nodes"),
        ({"colour": "label"}, "a value for each of the 36 nodes"),
        ({"by_layer": True, "layer": "room"}, "leave out ax and layer"),
        ({"ax": 3}, "ax must be matplotlib axes, not int"),
    ],
)
def test_mistakes_are_told(how, words):
    with pytest.raises(DataError, match=words):
        GRAPH.plot(**how)
