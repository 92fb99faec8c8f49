"""Jobs: commands of the command line that run beside the page, one after the other, each in a process of its own.

A job that is stopped, fails or dies leaves no result: the command line puts a folder in place whole or not at all. The
process ends soon after the app, also where that was killed.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from gramme._files import sweep

State = Literal["waiting", "running", "done", "failed", "stopped"]
LOOK_SECONDS = 0.1
"""Between two looks at a process."""
STOP_SECONDS = 3.0
"""That a process has to end by itself before it is killed."""
MAX_KEPT = 50
"""Jobs that are remembered; their results stay for ever."""
MAX_OUTPUT_CHARACTERS = 20_000
"""Of what a process said that are looked at."""
_THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")


@dataclass
class Job:
    """A command: what it is for, where its result goes, and how far it is."""

    number: int
    kind: str
    words: list[str]
    target: Path
    state: State = "waiting"
    what: str = "Waiting"
    done: float = 0.0
    left: float | None = None
    message: str = ""
    notes: list[str] = field(default_factory=list)
    answer: dict[str, Any] | None = None
    started: float | None = None
    ended: float | None = None

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        seconds = None if self.started is None else (self.ended or time.time()) - self.started
        return {
            "number": self.number,
            "kind": self.kind,
            "state": self.state,
            "what": self.what,
            "done": round(self.done, 4),
            "left": None if self.left is None else round(self.left, 1),
            "seconds": None if seconds is None else round(seconds, 1),
            "message": self.message,
            "notes": self.notes,
            "result": self.target.name if self.state == "done" else None,
        }


class Process:
    """A worker that was started and waits for its command."""

    def __init__(self) -> None:
        self.scratch = tempfile.TemporaryDirectory(prefix="gramme-job-", ignore_cleanup_errors=True)
        folder = Path(self.scratch.name)
        self.progress = folder / "progress.json"
        self.out, self.err = folder / "out", folder / "err"
        environment = os.environ | {"COLUMNS": "200", "NO_COLOR": "1", "PYTHONUNBUFFERED": "1"}
        for name in _THREADS:  # a fit of a few labels waits for threads longer than they save
            environment.setdefault(name, "1")
        with self.out.open("wb") as out, self.err.open("wb") as err:
            self.popen = subprocess.Popen(
                [sys.executable, "-m", "gramme.app.worker"],
                stdin=subprocess.PIPE,
                stdout=out,
                stderr=err,
                env=environment,
                start_new_session=True,  # so that stopping reaches the processes it starts
            )

    def begin(self, folder: Path, words: Sequence[str]) -> None:
        """Hand over the command."""
        request = {"folder": str(folder), "words": list(words), "progress": str(self.progress)}
        assert self.popen.stdin is not None
        with contextlib.suppress(OSError):  # one that has died is found out by its exit code
            self.popen.stdin.write(json.dumps(request).encode() + b"\n")
            self.popen.stdin.close()

    def stop(self) -> None:
        """End it, with the processes it started, politely at first."""
        for sign in (signal.SIGTERM, signal.SIGKILL):
            with contextlib.suppress(OSError):
                os.killpg(self.popen.pid, sign)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.popen.wait(timeout=STOP_SECONDS)
                break

    def close(self) -> None:
        """Remove what is left of it."""
        if self.popen.poll() is None:
            self.stop()
        if self.popen.stdin is not None:
            with contextlib.suppress(OSError):
                self.popen.stdin.close()
        self.scratch.cleanup()


class Jobs:
    """All jobs of a project, in whose folder they run, one at a time; ``changed`` is called when there is news."""

    def __init__(self, folder: Path, changed: Callable[[], None]) -> None:
        self.folder = folder
        self.changed = changed
        self.jobs: list[Job] = []
        self.turn = threading.Condition()
        self._numbers = 0
        self._ready: Process | None = None
        self._running: Process | None = None
        self._ending = False
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def warm_up(self) -> None:
        """Start a process that waits for a command, unless one waits already."""
        with self.turn:
            if self._ready is None and not self._ending:
                self._ready = Process()

    def submit(self, kind: str, words: Sequence[str], target: Path) -> Job:
        """Let a command run as soon as those before it have ended."""
        with self.turn:
            self._numbers += 1
            job = Job(self._numbers, kind, list(words), target)
            finished = [one for one in self.jobs if one.ended is not None]
            for old in finished[: max(0, len(self.jobs) - MAX_KEPT)]:
                self.jobs.remove(old)
            self.jobs.append(job)
            self.turn.notify_all()
        self.changed()
        return job

    def stop(self, number: int) -> bool:
        """Stop a job, or take it from those that wait; False if it has ended or never was."""
        with self.turn:
            job = next((one for one in self.jobs if one.number == number), None)
            if job is None or job.state not in ("waiting", "running"):
                return False
            running, job.state = job.state == "running", "stopped"
            job.what, job.ended = "Stopped", time.time()
            process = self._running if running else None
        if process is not None:
            process.stop()
        self.changed()
        return True

    def busy(self, kind: str) -> bool:
        """Whether a job of a kind waits or runs."""
        with self.turn:
            return any(one.kind == kind and one.state in ("waiting", "running") for one in self.jobs)

    def targets(self) -> list[Path]:
        """Where the results of all jobs go."""
        with self.turn:
            return [job.target for job in self.jobs]

    def records(self) -> list[dict[str, Any]]:
        """All jobs, for JSON."""
        with self.turn:
            return [job.as_dict() for job in self.jobs]

    def close(self) -> None:
        """End all jobs."""
        with self.turn:
            self._ending = True
            processes = [one for one in (self._running, self._ready) if one is not None]
            self._ready = None
            self.turn.notify_all()
        for process in processes:
            process.stop()
        self._thread.join(timeout=2 * STOP_SECONDS)
        for process in processes:
            process.close()

    # -- the thread that runs them ---------------------------------------------------------------------------------

    def _run(self) -> None:
        while True:
            with self.turn:
                while not self._ending and self._next() is None:
                    self.turn.wait()
                if self._ending:
                    return
                job = self._next()
                assert job is not None
                job.state, job.started, job.what = "running", time.time(), "Starting"
                process, self._ready = self._ready, None
                if process is None or process.popen.poll() is not None:
                    process = Process()
                self._running = process
            self.changed()
            try:
                process.begin(self.folder, job.words)
                self._watch(job, process)
                self._finish(job, process)
            finally:
                process.close()
                sweep(job.target)
                with self.turn:
                    self._running = None
            self.changed()
            self.warm_up()

    def _next(self) -> Job | None:
        return next((job for job in self.jobs if job.state == "waiting"), None)

    def _watch(self, job: Job, process: Process) -> None:
        while process.popen.poll() is None:
            with contextlib.suppress(OSError, ValueError, KeyError):
                facts = json.loads(process.progress.read_text(encoding="utf-8"))
                job.what = facts["what"] or job.what
                job.done, job.left = float(facts["done"]), facts["left"]
            time.sleep(LOOK_SECONDS)

    def _finish(self, job: Job, process: Process) -> None:
        code = process.popen.wait()
        said = _text(process.err)
        with self.turn:
            if job.state == "stopped":
                return
            job.ended, job.left = time.time(), None
            job.notes = _messages(said, "Note: ")
            if code == 0 and job.target.is_dir():
                with contextlib.suppress(ValueError):
                    job.answer = json.loads(_text(process.out).strip().splitlines()[-1])
                job.state, job.what, job.done = "done", "Done", 1.0
                return
            job.state, job.what = "failed", "Failed"
            job.message = " ".join(_messages(said, "Error: ")) or _died(code, said)


def _text(path: Path) -> str:
    with contextlib.suppress(OSError):
        return path.read_text(encoding="utf-8", errors="replace")[-MAX_OUTPUT_CHARACTERS:]
    return ""


def _messages(said: str, start: str) -> list[str]:
    """What a command said after some words; a message ends where another begins."""
    found = re.findall(rf"^{start}(.*?)(?=^(?:Note|Error): |\Z)", said, re.MULTILINE | re.DOTALL)
    return [" ".join(text.split()) for text in found]


def _died(code: int, said: str) -> str:
    """What to say of a process that ended without a message of its own."""
    if code < 0:
        name = signal.Signals(-code).name if -code in list(signal.Signals) else str(-code)
        return f"the process was ended by the system ({name}); perhaps there was too little memory"
    lines = [line for line in said.splitlines() if line.strip()]
    return lines[-1] if lines else f"the process ended with exit code {code}"
