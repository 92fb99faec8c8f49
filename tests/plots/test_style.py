import matplotlib.pyplot as plt
import numpy as np
import pytest

from gramme import DataError
from gramme.plots.style import COLOURS, axes, class_colours, class_legend, panels, shortened


def test_given_axes_are_drawn_on_and_others_are_made():
    _, ax = plt.subplots()
    assert axes(ax) is ax
    assert axes(None, (2, 1)).figure.get_size_inches().tolist() == [2, 1]
    with pytest.raises(DataError, match="ax must be matplotlib axes, not Figure"):
        axes(ax.figure)


@pytest.mark.parametrize(("count", "shape"), [(1, (1, 1)), (4, (2, 2)), (5, (2, 3))])
def test_as_many_panels_as_asked_for_the_rest_unseen(count, shape):
    made = panels(count)
    every = made[0].figure.axes
    assert (len(made), len(every)) == (count, shape[0] * shape[1])
    assert sum(one.get_visible() for one in every) == count


def test_a_colour_per_class_and_one_for_the_rest():
    found = class_colours(np.array([0, 9, 10, 99, -1]))
    assert found[:2] == [COLOURS[0], COLOURS[9]]
    assert found[2] == found[3] not in COLOURS
    assert found[4] not in (*COLOURS, found[2])


def test_the_legend_says_who_is_left_out():
    ax = axes(None)
    class_legend(ax, list(range(14)), unlabelled=True)
    words = [text.get_text() for text in ax.get_legend().get_texts()]
    assert words == [*map(str, range(10)), "4 more", "unknown"]


def test_dollars_are_no_formulas():
    ax = axes(None)
    ax.set_title(shortened("cost $x^{$ " * 5))
    ax.figure.canvas.draw()  # a broken formula would be an error
