"""Layers as columns: which are kept, how another graph finds them by name, and what a file may say about them."""

import numpy as np
import pytest

from gramme import DataError
from gramme.graph import EdgeLayer, MembershipLayer, MultilayerGraph
from gramme.methods.linear.one_hot import LayerColumns, SavedColumns
from gramme.methods.persistence import MisfitError

GRAPH = MultilayerGraph(
    {
        "room": MembershipLayer.from_values(["red", "red", "blue", "green"]),
        "talk": EdgeLayer(4, [0, 1], [1, 2], weight=[2.0, 3.0]),
    },
    nodes=["a", "b", "c", "d"],
)
FIELD = SavedColumns("columns")


def columns(name: str, rows: list[int]) -> LayerColumns:
    return LayerColumns.seen(name, GRAPH.layers[name], GRAPH, np.array(rows))


def test_only_columns_that_some_row_has_are_kept():
    assert set(columns("room", [0, 2]).names) == {"red", "blue"}
    assert set(columns("talk", [0]).names) == {"b"}


def test_groups_are_ones_and_neighbours_weights():
    room = columns("room", [0, 1, 2, 3])
    found = room.matrix(GRAPH).toarray()
    assert found.sum(1).tolist() == [1, 1, 1, 1]
    assert found[0].tolist() == found[1].tolist()
    talk = columns("talk", [0, 1, 2])
    place = list(talk.names).index("b")
    assert talk.matrix(GRAPH).toarray()[0, place] == 2


def test_another_graph_is_read_by_names():
    other = MultilayerGraph(
        {"room": MembershipLayer.from_values(["pink", "red"]), "talk": EdgeLayer(2, [0], [1])}, nodes=["x", "b"]
    )
    found = columns("room", [0, 2]).matrix(other).toarray()
    assert found.sum(1).tolist() == [0, 1], "a new group counts for nothing"
    assert columns("talk", [0]).matrix(other).toarray().tolist() == [[1], [0]]


def test_a_layer_of_another_kind_is_a_clear_error():
    other = MultilayerGraph({"room": EdgeLayer(2, [0], [1])})
    with pytest.raises(DataError, match="'room' has edges here; the model was fitted on one with groups"):
        columns("room", [0]).matrix(other)


def test_what_is_saved_comes_back():
    room = columns("room", [0, 2])
    again = LayerColumns.from_record(room.record(), FIELD, "room")
    assert list(again.names) == list(room.names)
    assert again.kind == "groups"


@pytest.mark.parametrize(
    "change", [{"layer": "talk"}, {"kind": "rooms"}, {"names": "red"}, {"names": ["a", "a"]}, {"more": 1}]
)
def test_what_does_not_fit_is_refused(change):
    record = columns("room", [0, 2]).record() | change
    with pytest.raises(MisfitError, match="columns must be"):
        LayerColumns.from_record(record, FIELD, "room")
