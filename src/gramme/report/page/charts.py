"""Small charts as SVG text: bars, an interval, and lines or points over axes.

Written by hand rather than by a charting library. A page needs four kinds of chart; as plain SVG they print, take
their colours from the style sheet (light, dark, paper), need no script, obey a strict policy (no inline styles), and
weigh a few kilobytes, where a library would add megabytes of code to every page and to what must be trusted.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .html import escape, shorten

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


def bar(share: float, spread: float | None = None) -> str:
    """A horizontal bar for a share of the width, with a whisker of ``spread`` to both sides."""
    parts = [f'<rect class="fill" x="0" y="4" height="12" width="{_percent(share)}" rx="2"/>']
    if spread:
        low, high = max(0.0, share - spread), min(1.0, share + spread)
        parts.append(
            f'<line class="whisker" x1="{_percent(low)}" x2="{_percent(high)}" y1="10" y2="10"/>'
        )
        parts += [
            f'<line class="whisker" x1="{_percent(end)}" x2="{_percent(end)}" y1="6" y2="14"/>'
            for end in (low, high)
        ]
    return f'<svg class="bar" height="20" aria-hidden="true">{"".join(parts)}</svg>'


def interval(value: float, low: float, high: float, mark: float | None = None) -> str:
    """A share with its interval on a scale from 0 to 100 %, and a mark for what is compared with it."""
    ticks = "".join(
        f'<line class="grid" x1="{_percent(at)}" x2="{_percent(at)}" y1="4" y2="28"/>'
        for at in (0, 0.25, 0.5, 0.75, 1)
    )
    marked = ""
    if mark is not None:
        place = _percent(mark)
        marked = f'<line class="mark" x1="{place}" x2="{place}" y1="2" y2="30"/>'
    return (
        f'<svg class="interval" height="32" role="img" aria-label="{value:.1%}, interval from {low:.1%} to '
        f'{high:.1%}">{ticks}<rect class="range" x="{_percent(low)}" y="10" height="12" '
        f'width="{_percent(max(high - low, 0.004))}" rx="2"/>{marked}'
        f'<circle class="dot" cx="{_percent(value)}" cy="16" r="6"/></svg>'
    )


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
) -> str:
    """Lines (or points only) over two axes, with intervals where a series has them.

    ``numbered`` writes 1, 2, ... beside the first point of each series; ``ticks_x`` are the only places to mark below.
    Over a single one of these the series stand side by side.
    """
    drawn = [one for one in series if len(one.x)]
    if not drawn:
        return ""
    x_ticks = _ticks([value for one in drawn for value in one.x], log=log_x)
    heights = [
        value for one in drawn for part in (one.y, one.low, one.high) for value in part or ()
    ]
    y_ticks = _ticks(heights)
    if percent:
        y_ticks = [tick for tick in y_ticks if -1e-9 <= tick <= 1 + 1e-9]
        if len(y_ticks) < 2:
            y_ticks = [0.0, 1.0]
    longest = max(len(f"{tick:.0%}" if percent else _number(tick)) for tick in y_ticks)
    left = max(_LEFT, 18 + 7 * longest)  # so that the numbers leave room for what they mean
    horizontal = _Axis(x_ticks, left, WIDTH - _RIGHT, log=log_x)
    if ticks_x is not None:
        margin = 0.08 * ((max(ticks_x) - min(ticks_x)) or 1.0)
        horizontal = _Axis([min(ticks_x) - margin, max(ticks_x) + margin], left, WIDTH - _RIGHT)
        horizontal.ticks = ticks_x
    vertical = _Axis(y_ticks, HEIGHT - _BOTTOM, _TOP)
    parts = [_frame(horizontal, vertical, x_label, y_label, percent=percent, percent_x=percent_x)]
    # Over one place alone, points and intervals would cover each other
    gap = min(14.0, 160 / len(drawn)) if ticks_x is not None and len(ticks_x) == 1 else 0.0
    for number, one in enumerate(drawn):
        shift = gap * (number - (len(drawn) - 1) / 2)
        parts.append(_series(one, horizontal, vertical, lines=lines, shift=shift))
    if numbered:
        parts.append(_numbers(drawn, horizontal, vertical))
    return (
        f'<svg class="chart" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(title)}">'
        f"{''.join(parts)}</svg>"
    )


def legend(series: Sequence[Series]) -> str:
    """What the colours of a chart mean."""
    items = "".join(
        f'<li><svg class="key" width="22" height="12" aria-hidden="true"><line class="line c{one.style}'
        f'{" dashed" if one.dashed else ""}" x1="1" x2="21" y1="6" y2="6"/></svg> {escape(one.name)}</li>'
        for one in series
    )
    return f'<ul class="legend">{items}</ul>'


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
        share = (self._scale(value) - self.low) / ((self.high - self.low) or 1.0)
        return round(self.start + min(max(share, -0.02), 1.02) * (self.end - self.start), 1)


def _frame(
    x: _Axis, y: _Axis, x_label: str, y_label: str, *, percent: bool, percent_x: bool
) -> str:
    bottom = HEIGHT - _BOTTOM
    parts = []
    for tick in y.ticks:
        words = f"{tick:.0%}" if percent else _number(tick)
        parts.append(
            f'<line class="grid" x1="{x.start}" x2="{WIDTH - _RIGHT}" y1="{y(tick)}" y2="{y(tick)}"/>'
        )
        parts.append(f'<text class="tick end" x="{x.start - 6}" y="{y(tick) + 4}">{words}</text>')
    for tick in x.ticks:
        words = f"{tick:.0%}" if percent_x else _number(tick)
        parts.append(
            f'<line class="axis" x1="{x(tick)}" x2="{x(tick)}" y1="{bottom}" y2="{bottom + 4}"/>'
        )
        parts.append(f'<text class="tick middle" x="{x(tick)}" y="{bottom + 16}">{words}</text>')
    parts.append(
        f'<line class="axis" x1="{x.start}" x2="{WIDTH - _RIGHT}" y1="{bottom}" y2="{bottom}"/>'
    )
    middle = (x.start + WIDTH - _RIGHT) / 2
    parts.append(
        f'<text class="label middle" x="{middle}" y="{HEIGHT - 6}">{escape(x_label)}</text>'
    )
    height = (bottom + _TOP) / 2
    parts.append(
        f'<text class="label middle" x="11" y="{height}" transform="rotate(-90 11 {height})">'
        f"{escape(y_label)}</text>"
    )
    return "".join(parts)


def _series(one: Series, x: _Axis, y: _Axis, *, lines: bool, shift: float = 0.0) -> str:
    points = [(round(x(across) + shift, 1), y(up)) for across, up in zip(one.x, one.y, strict=True)]
    parts = []
    if one.low is not None and one.high is not None:
        for (across, _), low, high in zip(points, one.low, one.high, strict=True):
            parts.append(
                f'<line class="error c{one.style}" x1="{across}" x2="{across}" y1="{y(low)}" y2="{y(high)}"/>'
            )
    if lines and len(points) > 1:
        path = " ".join(f"{across},{up}" for across, up in points)
        dashed = " dashed" if one.dashed else ""
        parts.append(f'<polyline class="line c{one.style}{dashed}" points="{path}"/>')
    if not one.bare and (not lines or len(points) <= 12):
        parts += [
            f'<circle class="point c{one.style}" cx="{across}" cy="{up}" r="{4.5 if not lines else 3}">'
            f"<title>{escape(shorten(one.name, 80))}</title></circle>"
            for across, up in points
        ]
    return "".join(parts)


def _numbers(series: Sequence[Series], x: _Axis, y: _Axis) -> str:
    """Numbers beside the points, in the order of the series, moved down where they would cover each other."""
    placed: list[tuple[float, float]] = []
    parts = []
    for number, one in enumerate(series, start=1):
        left, height = x(one.x[0]) + 8, y(one.y[0]) + 4
        if left > WIDTH - 16:
            left -= 24
        while any(abs(height - other) < 11 and abs(left - beside) < 15 for beside, other in placed):
            height += 4
        placed.append((left, height))
        parts.append(f'<text class="strong" x="{left:.1f}" y="{height:.1f}">{number}</text>')
    return "".join(parts)


def _ticks(values: Sequence[float], *, log: bool = False) -> list[float]:
    """Round numbers that enclose the values."""
    finite = [value for value in values if math.isfinite(value)] or [0.0, 1.0]
    low, high = min(finite), max(finite)
    if log:
        first = math.floor(math.log10(max(low, 1e-9)))
        last = max(math.ceil(math.log10(max(high, 1e-9))), first + 1)
        return [10.0**power for power in range(first, last + 1)]
    if high - low < 1e-9 * max(abs(high), 1e-6):
        low, high = low - 0.5, high + 0.5
    rough = (high - low) / 4
    unit = 10.0 ** math.floor(math.log10(rough))
    step = next(unit * times for times in (1, 2, 2.5, 5, 10) if unit * times >= rough * 0.999)
    first = math.floor(low / step + 1e-9)
    last = math.ceil(high / step - 1e-9)
    return [round(place * step, 10) for place in range(first, last + 1)]


def _number(value: float) -> str:
    if value and (abs(value) >= 100_000 or abs(value) < 0.001):
        return f"{value:.0e}".replace("e-0", "e-").replace("e+0", "e")
    return f"{value:,.6g}"


def _percent(share: float) -> str:
    return f"{100 * min(max(share, 0.0), 1.0):.2f}%"


# The critical-difference figure, standing upright: a row per method, so that it can be read on a
# phone.


RANK_FIGURE_WIDTH = 400
_ROW = 24
_RANKS_TOP = 58
_RANKS_LEFT, _RANKS_RIGHT = 172, 338
_BAR = 9


def rank_figure(ranking: dict[str, Any]) -> str:
    """Average ranks as dots, and bars that join methods which are not told apart.

    Parameters
    ----------
    ranking : dict
        ``methods`` in the order of their ``ranks``, ``critical_difference`` and ``groups`` (first, last).
    """
    methods, values = ranking["methods"], ranking["ranks"]
    highest = max(len(methods), 2)
    height = _RANKS_TOP + _ROW * len(methods) + 8

    def across(rank: float) -> float:
        return round(
            _RANKS_LEFT + (rank - 1) / (highest - 1) * (_RANKS_RIGHT - _RANKS_LEFT),
            1,
        )

    step = max(1, math.ceil(highest / 8))
    parts = []
    for rank in range(1, highest + 1, step):
        parts.append(
            f'<line class="grid" x1="{across(rank)}" x2="{across(rank)}" y1="{_RANKS_TOP - 6}" y2="{height - 6}"/>'
            f'<text class="tick middle" x="{across(rank)}" y="{_RANKS_TOP - 12}">{rank}</text>'
        )
    difference = ranking["critical_difference"]
    reach = (
        min(across(1 + difference), _RANKS_RIGHT + 30) if difference == difference else _RANKS_LEFT
    )
    more = "" if difference <= highest - 1 else " (beyond the scale)"
    parts.append(
        f'<text class="label" x="{_RANKS_LEFT}" y="12">critical difference {difference:.2f}{more}</text>'
        f'<line class="rank-difference" x1="{_RANKS_LEFT}" x2="{reach}" y1="22" y2="22"/>'
    )
    for place, (method, rank) in enumerate(zip(methods, values, strict=True)):
        middle = _RANKS_TOP + _ROW * place + _ROW / 2 - 4
        parts.append(
            f'<text class="strong end" x="{_RANKS_LEFT - 14}" y="{middle + 4}">{escape(shorten(method, 20))}'
            f"<title>{escape(shorten(method, 200))}</title></text>"
            f'<circle class="point c1" cx="{across(rank)}" cy="{middle}" r="5"/>'
            f'<text class="tick" x="{across(rank) + 9}" y="{middle + 4}">{rank:.2f}</text>'
        )
    for number, (first, last) in enumerate(ranking["groups"]):
        x = RANK_FIGURE_WIDTH - 6 - _BAR * (len(ranking["groups"]) - 1 - number)
        start = _RANKS_TOP + _ROW * first + 2
        parts.append(
            f'<line class="rank-group" x1="{x}" x2="{x}" y1="{start}" y2="{_RANKS_TOP + _ROW * (last + 1) - 10}"/>'
        )
    told = "; ".join(
        f"{shorten(method, 60)} {rank:.2f}" for method, rank in zip(methods, values, strict=True)
    )
    return (
        f'<svg class="chart" viewBox="0 0 {RANK_FIGURE_WIDTH} {height}" role="img" '
        f'aria-label="Average ranks: {escape(told)}. Critical difference {difference:.2f}.">{"".join(parts)}</svg>'
    )
