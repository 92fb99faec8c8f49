import numpy as np
import pytest

from gramme.errors import DataError
from gramme.graph.number_groups import (
    DAY_NANOSECONDS,
    at_least,
    cut_points,
    quantile_groups,
    show_time,
    stated_bins,
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
    assert names == [
        "[1970-01-01, 1970-01-03)",
        "[1970-01-03, 1970-01-10)",
        "[1970-01-10, 1970-01-31]",
    ]
    assert all(edge % DAY_NANOSECONDS == 0 for edge in cut_points(days, "bins", 4, show_time))
    hours = days + 3_600 * 10**9
    assert any(edge % DAY_NANOSECONDS for edge in cut_points(hours, "bins", 4, show_time))
