"""Checks of options: whole numbers for any dataset; signals, classes and random streams for the synthetic ones."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle, islice
from numbers import Integral

import numpy as np
from numpy.typing import NDArray

from gramme.errors import DataError

DEFAULT_SIGNAL = (0.8, 0.5, 0.0)


def positive_int(value: object, what: str, least: int = 1) -> int:
    """A whole number of at least ``least``, or an error that quotes it."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise DataError(f"{what} must be a whole number of at least {least}, not {value!r}")
    return int(value)


def layer_signals(signal: float | Sequence[float] | None, layers: int | None) -> list[float]:
    """One signal per layer.

    >>> layer_signals(None, None), layer_signals(None, 4), layer_signals(0.3, 2)
    ([0.8, 0.5, 0.0], [0.8, 0.5, 0.0, 0.8], [0.3, 0.3])
    """
    count = None if layers is None else positive_int(layers, "layers")
    if signal is None:
        return list(islice(cycle(DEFAULT_SIGNAL), count or len(DEFAULT_SIGNAL)))
    if isinstance(signal, (int, float)):
        values = [float(signal)] * (count or len(DEFAULT_SIGNAL))
    else:
        try:
            values = [float(value) for value in signal]
        except (TypeError, ValueError):
            raise DataError(
                f"signal must be a number or one for each layer, not {signal!r}"
            ) from None
    if not values or (count is not None and len(values) != count):
        raise DataError(f"{len(values)} signals were given for {count} layers; give one for each")
    for value in values:
        if not 0 <= value <= 1:
            raise DataError(f"a signal must be between 0 and 1, not {value}")
    return values


def streams(random_state: int | None, count: int) -> list[np.random.Generator]:
    """Independent random streams; the first ones do not depend on how many there are."""
    if random_state is not None:
        random_state = positive_int(random_state, "random_state", least=0)
    seeds = np.random.SeedSequence(random_state).spawn(count)
    return [np.random.default_rng(seed) for seed in seeds]


def shuffled_classes(nodes: int, classes: int, random: np.random.Generator) -> NDArray[np.int64]:
    """A class per node, equally many of each, in random order."""
    return random.permutation(np.arange(nodes) % classes)
