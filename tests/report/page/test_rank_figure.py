import xml.etree.ElementTree as ET

from gramme.report.page.rank_figure import rank_figure

RANKING = {
    "methods": ["first <b>", "second", "third"],
    "ranks": [1.0, 2.0, 3.0],
    "critical_difference": 1.5,
    "groups": [(0, 1), (1, 2)],
}


def drawn(**changes):
    return ET.fromstring(rank_figure(RANKING | changes))


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
    text = rank_figure(RANKING | {"critical_difference": 9.0})
    assert "critical difference 9.00 (beyond the scale)" in text
    drawn(critical_difference=float("nan"))  # still proper markup
