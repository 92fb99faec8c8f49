"""Where the parts of small charts lie: lines or points over axes, and ranks. ``charts.j2`` draws them as SVG.

Written by hand rather than by a charting library. A page needs few kinds of chart; as plain SVG they print, take
their colours from the style sheet (light, dark, paper), need no script, obey a strict policy (no inline styles), and
weigh a few kilobytes, where a library would add megabytes of code to every page and to what must be trusted.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from gramme._text import share

from .html import macro

WIDTH, HEIGHT = 400, 250
"""The size of a chart with axes, about the width of a phone so that text keeps its size there."""

COLOURS = 10
"""Colours in the style sheet, ``c1`` to ``c10``."""

_LEFT, _RIGHT, _TOP, _BOTTOM = 46, 12, 10, 40


@dataclass(frozen=True)
class Series:
    """Points of one line: name, places, and perhaps an interval around each."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float] | None = None
    high: Sequence[float] | None = None
    style: int = 1
    dashed: bool = False
    bare: bool = False  # a line without its points


def chart(
    series: Sequence[Series],
    *,
    title: str,
    x_label: str,
    y_label: str,
    percent: bool = False,
    log_x: bool = False,
    lines: bool = True,
    numbered: bool = False,
    ticks_x: Sequence[float] | None = None,
    percent_x: bool = False,
) -> Markup:
    """Lines (or points only) over two axes, with intervals where a series has them.

    ``numbered`` writes 1, 2, ... beside the first point of each series; ``ticks_x`` are the only places to mark below.
    Over a single one of these the series stand side by side.
    """
    drawn_series = [one for one in series if len(one.x)]
    if not drawn_series:
        return Markup("")
    x_ticks = _ticks([value for one in drawn_series for value in one.x], log=log_x)
    y_ticks = _ticks([value for one in drawn_series for part in (one.y, one.low, one.high) for value in part or ()])
    if percent:
        y_ticks = [tick for tick in y_ticks if -1e-9 <= tick <= 1 + 1e-9]
        if len(y_ticks) < 2:
            y_ticks = [0.0, 1.0]
    y_words = _words(y_ticks, percent=percent)
    left_edge = max(_LEFT, 18 + 7 * max(map(len, y_words)))  # so that the numbers leave room for what they mean
    x = _Axis(x_ticks, left_edge, WIDTH - _RIGHT, log=log_x)
    if ticks_x is not None:
        tick_margin = 0.08 * ((max(ticks_x) - min(ticks_x)) or 1.0)
        x = _Axis([min(ticks_x) - tick_margin, max(ticks_x) + tick_margin], left_edge, WIDTH - _RIGHT)
        x.ticks = ticks_x
    y = _Axis(y_ticks, HEIGHT - _BOTTOM, _TOP)
    # Over one place alone, points and intervals would cover each other
    series_gap = min(14.0, 160 / len(drawn_series)) if ticks_x is not None and len(ticks_x) == 1 else 0.0
    series_shapes = [
        _shape(one, x, y, lines=lines, shift=series_gap * (number - (len(drawn_series) - 1) / 2))
        for number, one in enumerate(drawn_series)
    ]
    return macro(
        "charts",
        "chart",
        {
            "width": WIDTH,
            "height": HEIGHT,
            "left": left_edge,
            "right": WIDTH - _RIGHT,
            "bottom": HEIGHT - _BOTTOM,
            "middle": (HEIGHT - _BOTTOM + _TOP) / 2,
            "title": title,
            "x_label": x_label,
            "y_label": y_label,
            "x_ticks": list(zip(map(x, x.ticks), _words(x.ticks, percent=percent_x), strict=True)),
            "y_ticks": list(zip(map(y, y.ticks), y_words, strict=True)),
            "radius": 3 if lines else 4.5,
            "series": series_shapes,
            "numbers": _numbers(drawn_series, x, y) if numbered else [],
        },
    )


def legend(series: Sequence[Series]) -> Markup:
    """What the colours of a chart mean."""
    return macro("charts", "legend", series)


class _Axis:
    """From values to places in the drawing."""

    def __init__(self, ticks: Sequence[float], start: float, end: float, *, log: bool = False):
        self.ticks: Sequence[float] = ticks
        self.log = log
        self.start, self.end = start, end
        self.low, self.high = self._scale(ticks[0]), self._scale(ticks[-1])

    def _scale(self, value: float) -> float:
        return math.log10(max(value, 1e-12)) if self.log else value

    def __call__(self, value: float) -> float:
        axis_share = (self._scale(value) - self.low) / ((self.high - self.low) or 1.0)
        return round(self.start + min(max(axis_share, -0.02), 1.02) * (self.end - self.start), 1)


def _shape(one: Series, x: _Axis, y: _Axis, *, lines: bool, shift: float) -> dict[str, Any]:
    """The places of a series: intervals, the line and the points."""
    point_places = [(round(x(across) + shift, 1), y(up)) for across, up in zip(one.x, one.y, strict=True)]
    error_lines = []
    if one.low is not None and one.high is not None:
        error_lines = [
            (at, y(low), y(high)) for (at, _), low, high in zip(point_places, one.low, one.high, strict=True)
        ]
    return {
        "name": one.name,
        "style": one.style,
        "dashed": one.dashed,
        "errors": error_lines,
        "path": " ".join(f"{across},{up}" for across, up in point_places) if lines and len(point_places) > 1 else "",
        "points": point_places if not one.bare and (not lines or len(point_places) <= 12) else [],
    }


def _numbers(series: Sequence[Series], x: _Axis, y: _Axis) -> list[tuple[float, float, int]]:
    """Numbers beside the points, in the order of the series, moved down where they would cover each other."""
    placed_numbers: list[tuple[float, float, int]] = []
    for number, one in enumerate(series, start=1):
        number_left, number_height = x(one.x[0]) + 8, y(one.y[0]) + 4
        if number_left > WIDTH - 16:
            number_left -= 24
        while any(
            abs(number_height - other_height) < 11 and abs(number_left - other_left) < 15
            for other_left, other_height, _ in placed_numbers
        ):
            number_height += 4
        placed_numbers.append((number_left, number_height, number))
    return placed_numbers


def _ticks(values: Sequence[float], *, log: bool = False) -> list[float]:
    """Round numbers that enclose the values."""
    finite_values = [value for value in values if math.isfinite(value)] or [0.0, 1.0]
    lowest_value, highest_value = min(finite_values), max(finite_values)
    if log:
        first_tick = math.floor(math.log10(max(lowest_value, 1e-9)))
        last_tick = max(math.ceil(math.log10(max(highest_value, 1e-9))), first_tick + 1)
        return [10.0**power for power in range(first_tick, last_tick + 1)]
    if highest_value - lowest_value < 1e-9 * max(abs(highest_value), 1e-6):
        lowest_value, highest_value = lowest_value - 0.5, highest_value + 0.5
    rough_step = (highest_value - lowest_value) / 4
    step_unit = 10.0 ** math.floor(math.log10(rough_step))
    tick_step = next(step_unit * times for times in (1, 2, 2.5, 5, 10) if step_unit * times >= rough_step * 0.999)
    first_tick = math.floor(lowest_value / tick_step + 1e-9)
    last_tick = math.ceil(highest_value / tick_step - 1e-9)
    return [round(place * tick_step, 10) for place in range(first_tick, last_tick + 1)]


def _words(ticks: Sequence[float], *, percent: bool) -> list[str]:
    """Ticks as text, shares with a decimal where one of them needs it.

    >>> _words([0.9, 0.925], percent=True), _words([0.0, 0.5], percent=True)
    (['90.0 %', '92.5 %'], ['0 %', '50 %'])
    """
    digits = int(any(abs(100 * tick - round(100 * tick)) > 1e-6 for tick in ticks))
    return [share(tick, digits) if percent else _number(tick) for tick in ticks]


def _number(value: float) -> str:
    if value and (abs(value) >= 100_000 or abs(value) < 0.001):
        return f"{value:.0e}".replace("e-0", "e-").replace("e+0", "e")
    return f"{value:,.6g}"
