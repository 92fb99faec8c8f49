"""UCINET's DL files, as its manual has them."""

from typing import ClassVar

import numpy as np
import pytest
from tests.io.cases import ReadCase

from gramme.errors import FileFormatError
from gramme.graph import MembershipLayer
from gramme.io import read

FULL = """dl n=4 format=fullmatrix nm=2
labels:
barry,david
"lin da",pat
matrix labels:
advice friend
data:
0 1 1 0
1 0 1 1
1 1 0 0
0 1 0 0
0 1 0 0
0 0 2 0
0 0 0 1
1 0 0 0
"""
EMBEDDED = """DL n=3
labels embedded
data:
     ann bo cy
ann  0 1 0
bo   1 0 1
cy   0 1 0
"""
EDGES = """dl n=4, format = edgelist1
labels embedded:
data:
ann bo 2
bo cy 1.5
"""
NUMBERS = """dl n=3 format=edgelist1
labels: ann bo cy
data:
1 2
2 3
"""
NODES = """dl n=4 format=nodelist1
data:
1 2 3
2 4
"""
TWO_MODES = """dl nr=3 nc=2
row labels: ann bo cy
column labels: chess choir
data:
1 0
1 1
0 2
"""


class TestUcinet(ReadCase):
    format = "ucinet"
    examples: ClassVar = [{"g.dl": text.encode()} for text in (FULL, EMBEDDED, EDGES, NUMBERS, NODES, TWO_MODES)]
    words: ClassVar = [b"data:", b"n=3", b"nm=2", b"labels embedded", b"format=lowerhalf", b"nr=2 nc=3", b"!"]


@pytest.fixture
def dl(tmp_path):
    def opened(text):
        (tmp_path / "g.dl").write_text(text)
        return read(tmp_path / "g.dl")

    return opened


def test_full_matrices_with_several_relations(dl):
    graph = dl(FULL)
    assert graph.nodes.tolist() == ["barry", "david", "lin da", "pat"]
    assert list(graph.layers) == ["advice", "friend"]
    assert not graph.layers["advice"].directed
    assert graph.layers["friend"].directed
    assert graph.layers["friend"].weight.tolist() == [1, 2, 1, 1]


def test_embedded_labels(dl):
    graph = dl(EMBEDDED)
    assert graph.nodes.tolist() == ["ann", "bo", "cy"]
    assert graph.num_edges == 2


def test_lists_of_edges_and_of_neighbours(dl):
    graph = dl(EDGES)
    assert graph.nodes.tolist() == ["ann", "bo", "cy"]
    assert graph.layers["g"].weight.tolist() == [2, 1.5]
    assert dl(NUMBERS).nodes.tolist() == ["ann", "bo", "cy"]
    graph = dl(NODES)
    assert graph.nodes.tolist() == ["1", "2", "3", "4"]
    assert graph.num_edges == 3


def test_two_modes_are_memberships(dl):
    graph = dl(TWO_MODES)
    layer = graph.layers["g"]
    assert isinstance(layer, MembershipLayer)
    assert list(layer.group_names) == ["chess", "choir"]
    assert layer.weighted


@pytest.mark.parametrize(
    ("kind", "cells", "diagonal"), [("lowerhalf", "0 1 0 0 1 0", ""), ("upperhalf", "1 0 1", "diagonal=absent")]
)
def test_half_matrices(dl, kind, cells, diagonal):
    graph = dl(f"dl n=3 format={kind} {diagonal}\ndata:\n{cells}\n")
    expected = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    assert np.array_equal(graph.layers["g"].to_scipy().toarray(), expected)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("n=3\n0 1\n", "starts with 'dl'"),
        ("dl n=3\ndata:\n0 1\n", "there are 2 numbers, but 9 are needed"),
        ("dl n=99999999\ndata:\n0\n", "99999999 nodes or relations are declared"),
        ("dl format=edgelist1\ndata:\n1 2\n", "states n="),
        ("dl n=2 format=wide\ndata:\n1 2\n", "'wide' of a DL file is not known"),
        ("dl n=2\ndata:\n0 x\n1 0\n", "something that is not a number"),
        ("dl n=2 format=edgelist1\ndata:\n1 7\n", "line 3: '7' is neither a label nor a number up to 2"),
        ("dl n=2 format=edgelist1\nlabels embedded\ndata:\na b\nc d\n", "4 nodes are named, but n=2"),
    ],
)
def test_errors(dl, text, message):
    with pytest.raises(FileFormatError, match=message):
        dl(text)


def test_each_matrix_may_repeat_its_names_and_levels_are_relations(dl):
    head = "dl n=2 nm=2\nlabels embedded\nlevel labels:\nadvice\nfriend\ndata:\n"
    one = "  ann bo\nann 0 1\nbo 1 0\n"
    graph = dl(head + one + one.replace("1", "0"))
    assert list(graph.layers) == ["advice", "friend"]
    assert [layer.num_edges for layer in graph.layers.values()] == [1, 0]


@pytest.mark.parametrize("number", ["\u00b2", "\u2460"])
def test_a_digit_that_is_no_number_is_refused(tmp_path, number):
    (tmp_path / "g.dl").write_text(f"dl n={number}\nformat=edgelist1\ndata:\n1 2\n", encoding="utf-8")
    with pytest.raises(FileFormatError):
        read(tmp_path / "g.dl")
