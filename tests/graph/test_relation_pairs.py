import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from gramme.errors import DataError
from gramme.graph.relation_pairs import number_relations

KEY = ("paper", "author")


def only(pairs, given=None, sizes=None):
    kinds = number_relations({KEY: pairs}, given or {}, sizes or {})
    return kinds, kinds.matrices[0].toarray().tolist()


@pytest.mark.parametrize(
    "pairs",
    [
        [(1, 2), (3, 2)],
        np.array([[1, 2], [3, 2]]),
        np.array([[1.0, 2.0], [3.0, 2.0]]),
        pd.DataFrame({"source": [1, 3], "target": [2, 2], "note": ["x", "y"]}),
        pd.DataFrame({"a": [1, 3], "b": [2, 2]}),
    ],
)
def test_every_form_of_the_same_pairs(pairs):
    kinds, matrix = only(pairs)
    assert (list(kinds.nodes["paper"]), list(kinds.nodes["author"])) == ([1, 3], [2])
    assert matrix == [[1], [1]]


def test_a_sparse_matrix_states_positions_and_weights():
    _, matrix = only(sp.coo_array([[0, 2.0], [0.5, 0]]))
    assert matrix == [[0, 2.0], [0.5, 0]]


def test_repeated_pairs_count_once_without_weights_and_add_with_them():
    assert only([("a", "x"), ("a", "x")])[1] == [[1]]
    assert only([("a", "x", 1.0), ("a", "x", 2.5)])[1] == [[3.5]]


def test_names_keep_their_order_and_numbers_are_positions_where_a_size_is_known():
    assert list(only([("b", "x"), ("a", "x")])[0].nodes["paper"]) == ["b", "a"]
    assert list(only([(2, 0)], sizes={"paper": 4})[0].nodes["paper"]) == [0, 1, 2, 3]
    assert list(only([("a", "x")], given={"paper": ["c", "a"]})[0].nodes["paper"]) == ["c", "a"]


def test_steps_go_either_way():
    kinds, _ = only([("a", "x"), ("b", "x")])
    assert kinds.steps("paper", "author")[0][1].shape == (2, 1)
    assert kinds.steps("author", "paper")[0][1].shape == (1, 2)
    assert kinds.steps("author", "author") == []
    assert kinds.neighbours("author") == ["paper"]


@pytest.mark.parametrize(
    ("relations", "words"),
    [
        ({}, "must be a mapping"),
        ({"paper": []}, "between two kinds"),
        ({KEY: "text"}, "must be a table, an array or a list"),
        ({KEY: [("a",)]}, "every row must be"),
        ({KEY: [("a", "x"), ("b", "y", 1)]}, "every row must be"),
        ({KEY: np.zeros((2, 4))}, "two or three columns are needed"),
        ({KEY: pd.DataFrame(np.zeros((1, 4)))}, "the table has 4 columns"),
        ({KEY: [("a", None)]}, "row 0 has no target"),
        ({KEY: [("a", "x", 0.0)]}, "row 0 has the weight 0.0"),
    ],
)
def test_what_is_no_relation(relations, words):
    with pytest.raises(DataError, match=words):
        number_relations(relations, {}, {})


def test_a_name_that_is_not_among_those_given():
    with pytest.raises(DataError, match="row 0 names the paper 'a', which is not among the 1"):
        only([("a", "x")], given={"paper": ["b"]})
