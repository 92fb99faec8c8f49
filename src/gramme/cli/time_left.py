"""How long the work under way will still take: a plan of steps with costs, revised by what the steps so far have taken.

The plan gives the seconds that the whole should take from the size of the data, and each step's share of it
(:mod:`gramme._progress`). Time is counted in seconds of work: those on the clock, less those that the command had to
wait for its turn on a busy machine. What a step still takes is judged by its own speed, drawn towards the plan while
little of it is done; what comes after it, by the plan times how much longer than planned the middle one of the steps
so far has taken. At last, seconds of work become seconds on the clock by how busy the machine has been lately.
"""

from __future__ import annotations

import math
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

SURE_SHARE = 0.01
"""The share of the work that must be done before the time left is told from it alone, where there is no plan."""
PLAN_SHARE = 0.15
"""The share of a step for which the plan counts as if it had been done as planned."""
CAUTION_SECONDS = 1.0
"""Of work as fast as planned that each step is credited with: a slow first second says little about the rest."""
OVERDUE_SHARE = 0.3
"""Of the time that a step has shown nothing new, which it is given at least: what is late is seldom about to end."""
RECENT_SECONDS = 15.0
"""Over which it is measured how busy the machine is."""
LEAST_RUN_SECONDS = 0.3
"""Of work in that time, below which it is not known: who sleeps does not wait for a turn."""


def waited_seconds() -> float:
    """Seconds in which the main thread could have worked, had it not been another program's turn; 0 if unknown."""
    try:
        return int(Path("/proc/self/schedstat").read_text(encoding="ascii").split()[1]) / 1e9
    except (OSError, ValueError, IndexError):
        return 0.0


@dataclass
class WorkClock:
    """Seconds of work so far, and how many seconds on the clock one of them takes at present."""

    clock: Callable[[], float] = time.monotonic
    waited: Callable[[], float] = waited_seconds
    seen: deque[tuple[float, float]] = field(default_factory=deque)
    turn: threading.Lock = field(default_factory=threading.Lock)

    def now(self) -> float:
        """Seconds of work since some moment in the past."""
        clock = self.clock()
        worked = clock - self.waited()
        with self.turn:  # the work and who tells about it are two threads
            while len(self.seen) > 1 and clock - self.seen[1][0] > RECENT_SECONDS:
                self.seen.popleft()
            if not self.seen or clock - self.seen[-1][0] > RECENT_SECONDS / 50:
                self.seen.append((clock, worked))
        return worked

    def slowness(self) -> float:
        """Seconds on the clock for one of work, of late; 1 on an idle machine."""
        clock = self.clock()
        worked = clock - self.waited()
        with self.turn:
            first = self.seen[0] if self.seen else (clock, worked)
        passed, done = clock - first[0], worked - first[1]
        return max(1.0, passed / done) if done >= LEAST_RUN_SECONDS else 1.0


@dataclass
class TimeLeft:
    """Takes note of plan and progress; :meth:`seconds` says what is left.

    Parameters
    ----------
    work : WorkClock, optional
    """

    work: WorkClock = field(default_factory=WorkClock)
    planned: float | None = None
    planned_at: float = 0.0
    planned_from: float = 0.0
    what: str = ""
    started: float | None = None
    done: float = 0.0
    until: float = 1.0
    moved: float = 0.0
    step_began: float = 0.0
    step_start: float = 0.0
    paces: list[float] = field(default_factory=list)

    def expect(self, seconds: float) -> None:
        """Take note of how long all that is not done yet should take on one core of an idle machine."""
        now = self.work.now()
        self.planned, self.planned_at, self.planned_from = seconds, now, self.done
        self.moved = self.step_began = now
        self.step_start = self.done
        self.paces.clear()

    def forget(self) -> None:
        """Drop the plan, as something else begins."""
        self.planned = None

    def tell(self, what: str, done: float, until: float) -> None:
        """Take note of where the work is: the step, the share of the whole that is done, and that after the step."""
        now = self.work.now()
        self.started = now if self.started is None else self.started
        if what != self.what:
            if done > self.step_start and self.planned is not None:
                taken, plan = now - self.step_began, self._plan(self.step_start, done)
                self.paces.append((taken + CAUTION_SECONDS) / (plan + CAUTION_SECONDS))
            self.step_began, self.step_start = now, done
        if done > self.done or what != self.what:
            self.moved = now
        self.what, self.done, self.until = what, done, until

    def seconds(self) -> float | None:
        """Seconds left on the clock, None if nothing tells."""
        now = self.work.now()
        since = now - self.moved
        if self.planned is None:
            if self.done < SURE_SHARE or self.started is None:
                return None
            rest, after = (self.moved - self.started) * (1 - self.done) / self.done, 0.0
        else:
            # the plan counts as one step: the first may be an exception
            pace = math.exp(median([0.0, *map(math.log, self.paces)]))
            rest = self._step_left(pace)
            after = self._plan(max(self.until, self.done), 1.0) * pace
        # as it was when something was last done, less the time since
        return (max(rest - since, OVERDUE_SHARE * since) + after) * self.work.slowness()

    def _plan(self, start: float, end: float) -> float:
        """Seconds that the plan gives to the work between two shares of the whole."""
        return (self.planned or 0.0) * max(end - start, 0.0) / max(1 - self.planned_from, 1e-9)

    def _step_left(self, pace: float) -> float:
        """What the step under way needed when something of it was last done."""
        width = self.until - self.step_start
        if width <= 0:
            return 0.0
        plan = self._plan(self.step_start, self.until) * pace
        share = min(max((self.done - self.step_start) / width, 0.0), 1.0)
        whole = (self.moved - self.step_began + PLAN_SHARE * plan) / (share + PLAN_SHARE)
        return whole * (1 - share)
