"""Matrices in text files: who is tied to whom, who belongs to what, with and without names."""

from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from tests.io.cases import ReadCase

from gramme.errors import FileFormatError
from gramme.io import inspect, read, write

NAMES = ["Ann", "Bo", "Cy", "Di"]
ADVICE = pd.DataFrame([[0, 1, 0, 0], [0, 0, 2, 0], [0, 0, 0, 1], [1, 0, 0, 0]], NAMES, NAMES)
FRIENDS = pd.DataFrame([[0, 1, 0, 1], [1, 0, 1, 0], [0, 1, 0, 0], [1, 0, 0, 0]], NAMES, NAMES)
EVENTS = pd.DataFrame(
    [[1, 0, 1], [1, 1, 0], [0, 1, 1], [0, 0, 0]], NAMES, ["picnic", "choir", "chess"]
)


class TestMatrix(ReadCase):
    format = "matrix"
    examples: ClassVar = [
        {"g.matrix": ADVICE.to_csv().encode()},
        {"g.matrix": ADVICE.to_csv(sep=" ", header=False, index=False).encode()},
        {"g.matrix": EVENTS.to_csv(sep="\t").encode()},
    ]
    words: ClassVar = [b"0,1,0\n", b"Ann", b"1 0\n"]


def test_an_adjacency_that_pandas_wrote_is_found_by_its_shape(tmp_path):
    ADVICE.to_csv(tmp_path / "advice.csv")
    graph, report = inspect(tmp_path / "advice.csv")
    assert graph.nodes.tolist() == NAMES
    layer = graph.layers["edges"]
    assert layer.directed
    assert np.array_equal(layer.to_scipy().toarray(), ADVICE.to_numpy())
    assert report.notes == (
        "advice.csv: read as a matrix of ties, 4 x 4, with names; not symmetric, so directed",
    )
    FRIENDS.to_csv(tmp_path / "friends.csv", sep=";")
    friends = read(tmp_path / "friends.csv").layers["edges"]
    assert not friends.directed
    assert not friends.weighted
    assert friends.num_edges == 3


def test_columns_in_another_order_are_put_in_place(tmp_path):
    ADVICE[["Cy", "Ann", "Di", "Bo"]].to_csv(tmp_path / "a.tsv", sep="\t")
    layer = read(tmp_path / "a.tsv").layers["edges"]
    assert np.array_equal(layer.to_scipy().toarray(), ADVICE.to_numpy())


def test_the_corner_that_r_leaves_out(tmp_path):
    lines = ADVICE.to_csv(sep=" ").split("\n")
    (tmp_path / "a.matrix").write_text("\n".join([lines[0].strip(), *lines[1:]]))
    assert read(tmp_path / "a.matrix").nodes.tolist() == NAMES


def test_a_square_without_names(tmp_path):
    FRIENDS.to_csv(tmp_path / "f.csv", header=False, index=False)
    with pytest.warns(match="without names, so the nodes are numbered from 1"):
        graph = read(tmp_path / "f.csv")
    assert graph.nodes.tolist() == ["1", "2", "3", "4"]
    assert graph.num_edges == 3


def test_an_incidence_is_a_membership_layer(tmp_path):
    EVENTS.to_csv(tmp_path / "events.csv")
    graph, report = inspect(tmp_path / "events.csv")
    layer = graph.layers["events"]
    assert list(layer.group_names) == ["picnic", "chess", "choir"]
    assert layer.num_memberships == 6
    assert layer.holds_all_nodes
    assert "add --table" in report.doubts[0]
    (EVENTS * 3).to_csv(tmp_path / "often.csv")
    with pytest.raises(FileFormatError, match="header must name"):
        read(tmp_path / "often.csv")  # a table of numbers, unless one insists
    assert read(tmp_path / "often.csv", format="matrix").layers["often"].weighted


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n1,x\n", "this is not a matrix"),
        (",a,b\na,0,-1\nb,1,0\n", "line 2: '-1' is not allowed here"),
        (",a,a\na,0,1\nb,1,0\n", "this is not a matrix"),
    ],
)
def test_what_is_no_matrix(tmp_path, text, message):
    (tmp_path / "m.csv").write_text(text)
    with pytest.raises(FileFormatError, match=message):
        read(tmp_path / "m.csv", format="matrix")


def test_it_is_only_read(tmp_path):
    FRIENDS.to_csv(tmp_path / "f.csv")
    with pytest.raises(ValueError, match="'matrix' is only read; formats to write: authors"):
        write(read(tmp_path / "f.csv"), tmp_path / "f.matrix")
