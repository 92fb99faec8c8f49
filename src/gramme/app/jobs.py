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
STOP_SECONDS = 3.0
"""That a process has to end by itself before it is killed."""


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
    started: float | None = None
    ended: float | None = None

    def as_dict(self) -> dict[str, Any]:
        record = {name: getattr(self, name) for name in ("number", "kind", "state", "what", "message", "notes")}
        seconds = None if self.started is None else round((self.ended or time.time()) - self.started, 1)
        seconds_left = None if self.left is None else round(self.left, 1)
        result_name = self.target.name if self.state == "done" else None
        return record | {"done": round(self.done, 4), "left": seconds_left, "seconds": seconds, "result": result_name}


class Process:
    """A worker that was started and waits for its command."""

    def __init__(self) -> None:
        self.scratch = tempfile.TemporaryDirectory(prefix="gramme-job-", ignore_cleanup_errors=True)
        folder = Path(self.scratch.name)
        self.progress, self.err = folder / "progress.json", folder / "err"
        environment = os.environ | {"COLUMNS": "200", "NO_COLOR": "1", "PYTHONUNBUFFERED": "1"}
        for library in ("OMP", "MKL", "OPENBLAS"):  # a fit of a few labels waits for threads longer than they save
            environment.setdefault(f"{library}_NUM_THREADS", "1")
        with self.err.open("wb") as error_file:
            self.popen = subprocess.Popen(
                [sys.executable, "-m", "gramme.app.worker"],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=error_file,
                env=environment,
                start_new_session=True,  # so that stopping reaches the processes it starts
            )

    def begin(self, folder: Path, words: Sequence[str]) -> None:
        request_record = {"folder": str(folder), "words": list(words), "progress": str(self.progress)}
        assert self.popen.stdin is not None
        with contextlib.suppress(OSError):  # one that has died is found out by its exit code
            self.popen.stdin.write(json.dumps(request_record).encode() + b"\n")
            self.popen.stdin.close()

    def stop(self) -> None:
        """End it, with the processes it started, politely at first."""
        for stop_signal in (signal.SIGTERM, signal.SIGKILL):
            with contextlib.suppress(OSError):
                os.killpg(self.popen.pid, stop_signal)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.popen.wait(timeout=STOP_SECONDS)
                break

    def close(self) -> None:
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
            ended_jobs = [known_job for known_job in self.jobs if known_job.ended is not None]
            for old_job in ended_jobs[: max(0, len(self.jobs) - 50)]:  # their results stay for ever
                self.jobs.remove(old_job)
            self.jobs.append(job)
            self.turn.notify_all()
        self.changed()
        return job

    def stop(self, number: int) -> bool:
        """Stop a job, or take it from those that wait; False if it has ended or never was."""
        with self.turn:
            job = next((known_job for known_job in self.jobs if known_job.number == number), None)
            if job is None or job.state not in ("waiting", "running"):
                return False
            was_running, job.state = job.state == "running", "stopped"
            job.what, job.ended = "Stopped", time.time()
            process = self._running if was_running else None
        if process is not None:
            process.stop()
        self.changed()
        return True

    def busy(self, kind: str) -> bool:
        return any(job.kind == kind and job.state in ("waiting", "running") for job in self.snapshot())

    def snapshot(self) -> list[Job]:
        with self.turn:
            return list(self.jobs)

    def close(self) -> None:
        with self.turn:
            self._ending = True
            live_processes = [process for process in (self._running, self._ready) if process is not None]
            self._ready = None
            self.turn.notify_all()
        for process in live_processes:
            process.stop()
        self._thread.join(timeout=2 * STOP_SECONDS)
        for process in live_processes:
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
                progress_record = json.loads(process.progress.read_text(encoding="utf-8"))
                job.what = progress_record["what"] or job.what
                job.done, job.left = float(progress_record["done"]), progress_record["left"]
            time.sleep(0.1)

    def _finish(self, job: Job, process: Process) -> None:
        exit_code = process.popen.wait()
        error_output = _text(process.err)
        with self.turn:
            if job.state == "stopped":
                return
            job.ended, job.left = time.time(), None
            job.notes = _messages(error_output, "Note: ")
            if exit_code == 0 and job.target.is_dir():
                job.state, job.what, job.done = "done", "Done", 1.0
                return
            job.state, job.what = "failed", "Failed"
            job.message = " ".join(_messages(error_output, "Error: ")) or _died(exit_code, error_output)


def _text(path: Path) -> str:
    with contextlib.suppress(OSError):
        return path.read_text(encoding="utf-8", errors="replace")[-20_000:]
    return ""


def _messages(said: str, start: str) -> list[str]:
    """What a command said after some words; a message ends where another begins."""
    message_texts = re.findall(rf"^{start}(.*?)(?=^(?:Note|Error): |\Z)", said, re.MULTILINE | re.DOTALL)
    return [" ".join(message_text.split()) for message_text in message_texts]


def _died(code: int, said: str) -> str:
    """What to say of a process that ended without a message of its own."""
    if code < 0:
        signal_name = signal.Signals(-code).name if -code in list(signal.Signals) else str(-code)
        return f"the process was ended by the system ({signal_name}); perhaps there was too little memory"
    output_lines = [output_line for output_line in said.splitlines() if output_line.strip()]
    return output_lines[-1] if output_lines else f"the process ended with exit code {code}"
