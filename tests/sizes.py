"""How much is tested: the tests marked `slow` whole or a sample of them, and combinations of settings pair by pair."""

import itertools
import os
from collections.abc import Sequence
from typing import Any

import pytest


def sample(full: int, least: int = 1) -> int:
    """The size of a slow test: `full`, or the share GRAMME_SLOW_SHARE of it, as in CI, but never below `least`."""
    return max(least, round(full * float(os.environ.get("GRAMME_SLOW_SHARE", "1"))))


def pairwise(**axes: Sequence[Any]) -> pytest.MarkDecorator:
    """Parametrise with so few combinations that every two values of different axes meet; the others are slow tests."""
    every = list(itertools.product(*(range(len(values)) for values in axes.values())))
    pairs = {one: set(itertools.combinations(enumerate(one), 2)) for one in every}
    wanted = set().union(*pairs.values())
    usual = set()
    while wanted:
        best = max(every, key=lambda one: len(pairs[one] & wanted))
        usual.add(best)
        wanted -= pairs[best]
    cases = [
        pytest.param(
            *(values[place] for values, place in zip(axes.values(), one, strict=True)),
            marks=() if one in usual else pytest.mark.slow,
        )
        for one in every
    ]
    return pytest.mark.parametrize(tuple(axes), cases)
