"""The steps of learning links: how many there are, and how far they are, for whoever asked to be told."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from gramme._progress import advance, part
from gramme.links.expected_time import ExpectedSeconds
from gramme.links.gathering import TRIAL_LAYERS

Tell = Callable[[int, int], None]


class LearningSteps:
    """Called after each step: a part set aside, what all layers share of the mixtures, each mixture, each attention.

    Parameters
    ----------
    parts : mapping of layer to int
        In how many parts the edges of each layer are set aside.
    expected : ExpectedSeconds
        Of the same layers.
    attention : bool
        Whether attention is tried.
    tell : callable, optional
        Called with the number of steps done and in all.
    """

    def __init__(
        self,
        parts: Mapping[str, int],
        expected: ExpectedSeconds,
        *,
        attention: bool,
        tell: Tell | None = None,
    ) -> None:
        self.seconds, self.tell = max(expected.fit, 1e-9), tell
        mixtures, trials = len(parts) + 1, min(TRIAL_LAYERS, len(parts))
        tried = trials + len(parts) + mixtures if attention else 0
        self.total = sum(parts.values()) + mixtures + tried
        self.done = self.done_here = 0
        self.steps_here = 1

    @contextmanager
    def within(self, name: str, seconds: float, steps: int = 1) -> Iterator[None]:
        """Some of the steps, which should take so many seconds together."""
        self.done_here, self.steps_here = 0, max(steps, 1)
        with part(name, seconds / self.seconds):
            yield

    def __call__(self) -> None:
        """Take note of one step more."""
        self.done += 1
        self.done_here += 1
        advance(min(self.done_here / self.steps_here, 1.0))
        if self.tell is not None:
            self.tell(self.done, self.total)
