import numpy as np
import pandas as pd
import pytest

from gramme.errors import DataError
from gramme.graph import EdgeLayer, MembershipLayer
from gramme.graph.columns import (
    DAY_NANOSECONDS,
    amounts,
    at_least,
    calendar_groups,
    column_layer,
    cut_points,
    quantile_groups,
    settled,
    settled_labels,
    show_time,
    stated_bins,
    usual_unit,
)


def named(groups):
    codes, names = groups
    return [names[code] if code >= 0 else None for code in codes]


def test_a_group_holds_its_lower_edge_and_the_last_also_its_upper_one():
    found = named(stated_bins(np.array([0.0, 5.0, 10.0, np.nan]), 2))
    assert found == ["[0, 5)", "[5, 10]", "[5, 10]", None]


def test_stated_edges_leave_both_ends_open():
    found = named(stated_bins(np.array([-1.0, 0.0, 9.9, 10.0]), [0, 10]))
    assert found == ["below 0", "[0, 10)", "[0, 10)", "10 and above"]


def test_very_large_numbers_do_not_overflow():
    codes, _ = stated_bins(np.array([-1.7e308, 0.0, 1.7e308]), 2)
    assert codes.tolist() == [0, 1, 1]


@pytest.mark.parametrize("bins", [1, True, "x", [], [1, 1], [2, 1], [np.nan], [[1, 2]]])
def test_bins_that_make_no_sense(bins):
    with pytest.raises(DataError, match="bins"):
        stated_bins(np.array([1.0, 2.0]), bins)


def test_quantiles_of_equal_numbers_are_fewer():
    codes, names = quantile_groups(np.array([1.0, 1, 1, 2, 2]), 4)
    assert len(names) == 2
    assert codes.tolist() == [0, 0, 0, 1, 1]
    assert quantile_groups(np.array([np.nan]), 2)[1] == []


@pytest.mark.parametrize(("way", "make"), [("bins", stated_bins), ("quantiles", quantile_groups)])
def test_cut_points_group_later_numbers_as_the_first_ones(way, make):
    values = np.random.default_rng(0).gamma(2.0, size=100)
    codes, _ = make(values, 4)
    again, _ = stated_bins(values, cut_points(values, way, 4))
    assert np.array_equal(codes, again)


def test_cut_points_of_nothing_and_of_one_number():
    assert cut_points(np.array([np.nan]), "bins", 2) == []
    assert cut_points(np.array([3.0, 3.0]), "quantiles", 2) == [3.0]


def test_edges_are_shown_with_as_many_digits_as_keep_them_apart():
    _, names = stated_bins(np.array([1.0]), [1.000001, 1.000002])
    assert names == ["below 1.000001", "[1.000001, 1.000002)", "1.000002 and above"]


def test_large_edges_are_shown_as_people_write_them():
    names = stated_bins(np.array([1.0]), [9999.6, 14350.772, 19095.306])[1]
    assert names == ["below 10000", "[10000, 14351)", "[14351, 19095)", "19095 and above"]
    near = stated_bins(np.array([1.0]), [14350.6, 14350.8])[1]
    assert near == ["below 14350.6", "[14350.6, 14350.8)", "14350.8 and above"]


def test_at_least():
    assert at_least(np.int64(3), 2, "k") == 3
    with pytest.raises(DataError, match="k must be a whole number of at least 2, not 1"):
        at_least(1, 2, "k")


def test_midnight_is_shown_without_its_zeros():
    day = 86_400 * 10**9
    assert show_time(day) == "1970-01-02"
    assert show_time(day + 3_600 * 10**9) == "1970-01-02 01:00:00"


@pytest.mark.parametrize("way", ["bins", "quantiles"])
def test_far_more_groups_than_rows_are_refused(way):
    make = stated_bins if way == "bins" else quantile_groups
    message = f"1000000000 {way} are more than the 4 rows"
    with pytest.raises(DataError, match=message):
        make(np.arange(4.0), 10**9)
    with pytest.raises(DataError, match=message):
        cut_points(np.arange(4.0), way, 10**9)
    assert len(make(np.arange(4.0), 10)[1]) == 10


def test_days_are_cut_at_midnight_into_the_same_groups():
    days = np.array([0.0, 1, 2, 5, 9, 11, 30]) * DAY_NANOSECONDS
    codes, names = quantile_groups(days, 3, show_time)
    np.testing.assert_array_equal(codes, quantile_groups(days, 3)[0])
    assert names == ["[1970-01-01, 1970-01-03)", "[1970-01-03, 1970-01-10)", "[1970-01-10, 1970-01-31]"]
    assert all(edge % DAY_NANOSECONDS == 0 for edge in cut_points(days, "bins", 4, show_time))
    hours = days + 3_600 * 10**9
    assert any(edge % DAY_NANOSECONDS for edge in cut_points(hours, "bins", 4, show_time))


AGES = {f"person {age}": str(age) for age in range(18, 60)}


def test_what_counts_as_an_amount():
    assert amounts(range(18, 60)) == 42
    assert amounts(map(str, range(18, 60))) == 42
    assert amounts(map(str, range(18, 60)), text=False) == 0
    assert amounts([1, 2, 3]) == 0  # few numbers may be classes
    assert amounts([*range(1, 51)] * 2) == 0  # 1, 2, ..., k that repeat are codes
    assert amounts([*range(30), "x"]) == 0


def test_amounts_are_refused_unless_something_is_said():
    with pytest.raises(DataError, match="numbers with 42 different values on 42 nodes"):
        settled_labels(AGES)
    assert settled_labels(AGES, "class") == AGES
    assert settled_labels(AGES, "number")["person 18"] == 18.0


def test_amounts_are_cut():
    assert len(set(settled_labels(AGES, bins=3).values())) == 3
    cut = settled_labels(AGES, edges=[30])
    assert (cut["person 29"], cut["person 30"]) == ("below 30", "30 and above")


def test_what_cannot_be_said_or_cut():
    with pytest.raises(DataError, match="'class' or 'number', not 'clas'"):
        settled_labels(AGES, "clas")
    with pytest.raises(DataError, match="say one of"):
        settled_labels(AGES, "class", bins=3)
    with pytest.raises(DataError, match="the label 'old' of 'Ann' is not a number"):
        settled_labels({"Ann": "old"}, bins=2)


def moments(*texts):
    dates = pd.to_datetime(list(texts)).as_unit("ns")
    return np.where(dates.isna(), np.nan, dates.asi8.astype(float))


@pytest.mark.parametrize(
    ("unit", "names", "codes"),
    [
        ("decade", ["2010s", "2020s"], [1, 0, -1, 1]),
        ("year", ["2019", "2020"], [1, 0, -1, 1]),
        ("month", ["2019-01", "2020-01", "2020-12"], [2, 0, -1, 1]),
        ("weekday", ["Tuesday", "Wednesday", "Thursday"], [2, 0, -1, 1]),
    ],
)
def test_groups_of_the_calendar(unit, names, codes):
    found = calendar_groups(moments("2020-12-31", "2019-01-01", None, "2020-01-01"), unit)
    assert found[1] == names
    assert found[0].tolist() == codes


def test_an_unknown_unit():
    with pytest.raises(DataError, match="did you mean 'month'"):
        calendar_groups(moments("2020-01-01"), "moth")


def test_the_unit_that_makes_some_groups():
    assert usual_unit(moments("2018-01-01", "2019-01-01", "2020-01-01")) == "year"
    assert usual_unit(moments(*(f"{1970 + n}-05-01" for n in range(32)))) == "decade"
    assert usual_unit(moments("2020-01-01", "2020-02-01", "2020-03-01")) == "month"
    assert usual_unit(moments("2020-01-01", "2020-01-02", "2020-01-03")) is None


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
        (["a", "b"], "bins", 2, "nobody", "'a' in row 1 is not a finite number"),
        ([1.0, np.inf], "quantiles", 2, "nobody", "inf in row 2"),
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
