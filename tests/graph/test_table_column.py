import numpy as np
import pandas as pd
import pytest

from gramme.errors import DataError
from gramme.graph import EdgeLayer, MembershipLayer
from gramme.graph.table_column import column_layer, settled


def groups(layer):
    """For each row the names of its groups, sorted."""
    assert isinstance(layer, MembershipLayer)
    found = [[] for _ in range(layer.num_nodes)]
    for row, code in zip(layer.node, layer.group, strict=True):
        found[row].append(layer.group_names[code])
    return [sorted(names, key=str) for names in found]


def test_text_and_few_whole_numbers_are_categories():
    assert groups(column_layer(pd.Series(["a", None, "a"]))) == [["a"], [], ["a"]]
    assert groups(column_layer(pd.Series([1.0, np.nan, 2.0]))) == [[1], [], [2]]


def test_many_numbers_are_cut_into_five_groups():
    assert column_layer(pd.Series(np.arange(100))).num_groups == 5
    assert column_layer(pd.Series(np.linspace(0, 1, 7))).num_groups == 5


def test_neighbours_and_lists():
    assert isinstance(column_layer(pd.Series([1.0, 2.0, 9.0]), "knn", 1), EdgeLayer)
    lists = column_layer(pd.Series(["x; y", "y", None, ""]), "separator", ";")
    assert groups(lists) == [["x", "y"], ["y"], [], []]


def test_categories_have_one_name_whatever_they_arrive_as():
    column = pd.Series([1, 1.0, "1", "b"], dtype=object)
    assert groups(column_layer(column, "categories")) == [["1"], ["1"], ["1"], ["b"]]


@pytest.mark.parametrize(
    ("missing", "expected"),
    [
        ("nobody", [[1], [3], [3], []]),
        ("group", [[1], [3], [3], ["missing"]]),
        ("median", [[1], [3], [3], [3]]),
        ("most common", [[1], [3], [3], [3]]),
    ],
)
def test_what_becomes_of_missing_values(missing, expected):
    assert groups(column_layer(pd.Series([1, 3, 3, None]), missing=missing)) == expected


@pytest.mark.parametrize(
    ("column", "way", "choice", "missing", "words"),
    [
        (["a", "b"], "bins", 2, "nobody", "'a' in row 0 is not a finite number"),
        ([1.0, np.inf], "quantiles", 2, "nobody", "inf in row 1"),
        (["a", None], None, None, "median", "needs numbers"),
        ([None, None], None, None, "median", "at least one value"),
        (["a"], "separator", "", "nobody", "separator must be text"),
        (["a"], "separator", ";", "median", "not for cells with several values"),
        ([["a"]], None, None, "nobody", "a cell holds one value"),
        ([1, 2], "knn", 0, "nobody", "knn must be a whole number of at least 1"),
    ],
)
def test_what_cannot_be_done_with_a_column(column, way, choice, missing, words):
    with pytest.raises(DataError, match=words):
        column_layer(pd.Series(column, dtype=object), way, choice, missing=missing)


def test_dates_are_cut_and_shown_as_dates():
    dates = pd.Series(pd.to_datetime(["2020-01-01", "2020-06-01", "2021-01-01", None]))
    found = groups(column_layer(dates, "bins", ["2020-03-01"]))
    assert found == [["below 2020-03-01"], ["2020-03-01 and above"], ["2020-03-01 and above"], []]
    with pytest.raises(DataError, match="bins of dates"):
        column_layer(dates, "bins", ["no date"])


@pytest.mark.parametrize("way", [None, "bins", "quantiles"])
def test_what_is_settled_groups_the_same_rows(way):
    column = pd.Series(np.random.default_rng(1).normal(size=60))
    choice = None if way is None else 3
    first = column_layer(column, way, choice)
    again = column_layer(column, *settled(column, way, choice))
    same = first.to_scipy() != again.to_scipy()
    assert same.nnz == 0


def test_edges_of_dates_with_and_without_parts_of_a_second() -> None:
    """Quantiles of days fall on midnight and, between two days, in the middle of a second."""
    column = pd.Series(pd.to_datetime(["2008-12-31", "2010-01-02", "2030-05-05"] * 9))
    edges = ["2008-12-31T00:00:00", "2010-01-01T12:00:00.500000"]
    layer = column_layer(column, "bins", edges)
    assert layer.num_groups == 2
