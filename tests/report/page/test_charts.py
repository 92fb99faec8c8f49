import re
import xml.etree.ElementTree as ET

import pytest
from tests.report.page.graphs import section

from gramme.report.page.charts import Series, chart, legend
from gramme.report.page.html import macro

bar, interval = section("common", "bar"), section("common", "interval")

HOSTILE = "<script>alert(1)</script>\"'&"


def test_charts_are_well_formed_and_escape_what_they_are_told() -> None:
    series = [Series(HOSTILE, [1, 2, 3], [0.1, 0.5, 0.4], [0, 0.4, 0.3], [0.2, 0.6, 0.5], style=2)]
    drawn = chart(series, title=HOSTILE, x_label=HOSTILE, y_label=HOSTILE, percent=True)
    tree = ET.fromstring(drawn)
    assert tree.get("aria-label") == HOSTILE
    assert not [one for one in tree.iter() if one.tag.endswith("script")]
    assert len([one for one in tree.iter() if one.get("class") == "error c2"]) == 3
    ET.fromstring(legend(series))


def test_points_lie_where_their_values_say() -> None:
    drawn = chart([Series("a", [0, 10], [0, 100])], title="t", x_label="x", y_label="y")
    (start, end) = re.search(r'points="(\S+) (\S+)"', drawn).groups()  # type: ignore[union-attr]
    (left, low), (right, high) = (map(float, place.split(",")) for place in (start, end))
    assert (left, low) == (46, 210)
    assert (right, high) == (388, 10)


def test_a_logarithmic_axis_has_equal_steps_for_equal_factors() -> None:
    drawn = chart([Series("a", [1, 10, 100], [1, 2, 3])], title="t", x_label="x", y_label="y", log_x=True, lines=False)
    first, second, third = (float(x) for x in re.findall(r'cx="([\d.]+)"', drawn))
    assert second - first == pytest.approx(third - second, abs=0.2)


@pytest.mark.parametrize("values", [[0.0], [5.0, 5.0], [1e-9, 1e9], [-3.0, 2.0], [0.37, 0.372]], ids=str)
def test_any_values_give_a_chart(values: list[float]) -> None:
    drawn = chart([Series("a", range(len(values)), values)], title="t", x_label="x", y_label="y")
    ET.fromstring(drawn)
    assert "nan" not in drawn
    assert chart([Series("a", [], [])], title="t", x_label="x", y_label="y") == ""


def test_bars_and_intervals_stay_within_their_scale() -> None:
    for drawn in (bar(0.5, 0.9), bar(2.0), interval(0.9, 0.8, 1.0, 0.5)):
        ET.fromstring(drawn)
        assert max(float(share) for share in re.findall(r'"([\d.]+)%"', drawn)) <= 100


@pytest.mark.parametrize("count", [1, 3, 40])
def test_series_over_one_place_stand_side_by_side_around_it(count: int) -> None:
    series = [Series(f"s{k}", [20], [90], [85], [95]) for k in range(count)]
    drawn = chart(series, title="t", x_label="x", y_label="y", ticks_x=[20])
    places = [float(x) for x in re.findall(r'cx="([\d.]+)"', drawn)]
    assert sum(places) / count == pytest.approx(217, abs=0.1), "the middle is at the mark"
    assert len(set(places)) == count
    assert 46 <= min(places) <= max(places) <= 388


@pytest.mark.parametrize("height", [1.0, 40_000.0, 3_000_000.0])
def test_long_numbers_leave_room_for_what_they_mean(height: float) -> None:
    drawn = chart([Series("a", [0, 1], [0, height])], title="t", x_label="x", y_label="predicted")
    words = re.findall(r'<text class="tick end" x="([\d.]+)" y="[\d.]+">([^<]+)</text>', drawn)
    assert words
    for right, text in words:
        assert float(right) - 6.5 * len(text) > 11, "the name of the axis stands to the left of them"


RANKING = {
    "methods": ["first <b>", "second", "third"],
    "ranks": [1.0, 2.0, 3.0],
    "critical_difference": 1.5,
    "groups": [(0, 1), (1, 2)],
}


def drawn(**changes):
    return ET.fromstring(macro("charts", "rank_figure", RANKING | changes))


def of_class(figure, name):
    return [part for part in figure.iter() if part.get("class") == name]


def test_a_dot_per_method_from_left_to_right():
    dots = of_class(drawn(), "point c1")
    places = [float(dot.get("cx")) for dot in dots]
    assert places == sorted(places)
    assert len(set(places)) == 3
    assert places[1] == (places[0] + places[2]) / 2


def test_a_bar_per_group_and_the_critical_difference():
    figure = drawn()
    assert len(of_class(figure, "rank-group")) == 2
    (reach,) = of_class(figure, "rank-difference")
    assert float(reach.get("x2")) > float(reach.get("x1"))
    assert "1.50" in figure.get("aria-label")


def test_a_difference_beyond_the_scale_is_said():
    text = macro("charts", "rank_figure", RANKING | {"critical_difference": 9.0})
    assert "critical difference 9.00 (beyond the scale)" in text
    drawn(critical_difference=float("nan"))  # still proper markup
