"""The critical-difference figure, standing upright: a row per method, so that it can be read on a phone."""

from __future__ import annotations

import math
from typing import Any

from gramme.report.page.html import escape, shorten

WIDTH = 400
_ROW = 24
_TOP = 58
_LEFT, _RIGHT = 172, 338
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
    height = _TOP + _ROW * len(methods) + 8

    def across(rank: float) -> float:
        return round(_LEFT + (rank - 1) / (highest - 1) * (_RIGHT - _LEFT), 1)

    step = max(1, math.ceil(highest / 8))
    parts = []
    for rank in range(1, highest + 1, step):
        parts.append(
            f'<line class="grid" x1="{across(rank)}" x2="{across(rank)}" y1="{_TOP - 6}" y2="{height - 6}"/>'
            f'<text class="tick middle" x="{across(rank)}" y="{_TOP - 12}">{rank}</text>'
        )
    difference = ranking["critical_difference"]
    reach = min(across(1 + difference), _RIGHT + 30) if difference == difference else _LEFT
    more = "" if difference <= highest - 1 else " (beyond the scale)"
    parts.append(
        f'<text class="label" x="{_LEFT}" y="12">critical difference {difference:.2f}{more}</text>'
        f'<line class="rank-difference" x1="{_LEFT}" x2="{reach}" y1="22" y2="22"/>'
    )
    for place, (method, rank) in enumerate(zip(methods, values, strict=True)):
        middle = _TOP + _ROW * place + _ROW / 2 - 4
        parts.append(
            f'<text class="strong end" x="{_LEFT - 14}" y="{middle + 4}">{escape(shorten(method, 20))}'
            f"<title>{escape(shorten(method, 200))}</title></text>"
            f'<circle class="point c1" cx="{across(rank)}" cy="{middle}" r="5"/>'
            f'<text class="tick" x="{across(rank) + 9}" y="{middle + 4}">{rank:.2f}</text>'
        )
    for number, (first, last) in enumerate(ranking["groups"]):
        x = WIDTH - 6 - _BAR * (len(ranking["groups"]) - 1 - number)
        start = _TOP + _ROW * first + 2
        parts.append(
            f'<line class="rank-group" x1="{x}" x2="{x}" y1="{start}" y2="{_TOP + _ROW * (last + 1) - 10}"/>'
        )
    told = "; ".join(
        f"{shorten(method, 60)} {rank:.2f}" for method, rank in zip(methods, values, strict=True)
    )
    return (
        f'<svg class="chart" viewBox="0 0 {WIDTH} {height}" role="img" '
        f'aria-label="Average ranks: {escape(told)}. Critical difference {difference:.2f}.">{"".join(parts)}</svg>'
    )
