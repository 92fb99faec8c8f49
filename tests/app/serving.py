"""A real `gramme app` for tests: a process of its own, spoken to over HTTP as the page does."""

from __future__ import annotations

import http.client
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


@dataclass
class Served:
    """A server under way: its process, its port and its token."""

    process: subprocess.Popen[str]
    port: int
    token: str

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}/#token={self.token}"

    def raw(
        self, method: str, path: str, body: bytes | None = None, headers: dict[str, str] | None = None
    ) -> tuple[int, dict[str, str], bytes]:
        """A request as it is given, with no token but the one in the headers."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request(method, path, body, headers or {})
            answer = connection.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read()
        finally:
            connection.close()

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """A request as the page makes it; an answer that is not 200 is an error of the test."""
        status, answer = self.try_(method, path, body)
        assert status == 200, (method, path, answer)
        return answer

    def try_(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        content = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        status, _, text = self.raw(method, path, content, {"X-Gramme-Token": self.token})
        try:
            return status, json.loads(text)
        except ValueError:
            return status, text

    def job(self, kind: str, seconds: float = 120, **options: Any) -> dict[str, Any]:
        """Run a job to its end."""
        number = self.ask("POST", "/api/jobs", {"kind": kind, **options})["number"]
        return self.wait_for(number, seconds)

    def wait_for(self, number: int, seconds: float = 120) -> dict[str, Any]:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            jobs = self.ask("GET", "/api/state")["jobs"]
            job: dict[str, Any] = next(one for one in jobs if one["number"] == number)
            if job["state"] in ("done", "failed", "stopped"):
                return job
            time.sleep(0.1)
        raise AssertionError(f"job {number} did not end: {job}")

    def wait_open(self, seconds: float = 60) -> dict[str, Any]:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            state: dict[str, Any] = self.ask("GET", "/api/state")
            if not state["loading"]:
                return state
            time.sleep(0.05)
        raise AssertionError("the project was not opened in time")


def command(folder: Path, *arguments: str) -> list[str]:
    return [sys.executable, "-m", "gramme", "app", *arguments, "--project", str(folder), "--no-browser"]


def environment() -> dict[str, str]:
    return os.environ | {"PYTHONPATH": str(ROOT / "src"), "OMP_NUM_THREADS": "1", "NO_COLOR": "1", "COLUMNS": "300"}


def start(folder: Path, *arguments: str, prefix: tuple[str, ...] = ()) -> Served:
    """Start a server and wait until it says where it is."""
    process = subprocess.Popen(
        [*prefix, *command(folder, *arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=environment(),
        cwd=folder.parent,
    )
    said = []
    assert process.stdout is not None
    for line in process.stdout:
        said.append(line)
        found = re.search(r"Open http://127\.0\.0\.1:(\d+)/#token=(\S+)", line)
        if found:
            served = Served(process, int(found[1]), found[2])
            _wait_listening(served)
            return served
    raise AssertionError(f"gramme app did not start: {''.join(said)}")


def _wait_listening(served: Served) -> None:
    end = time.monotonic() + 30
    while time.monotonic() < end:
        try:
            served.raw("GET", "/")
            return
        except OSError:
            time.sleep(0.02)
    raise AssertionError("the server does not answer")


@contextmanager
def running(folder: Path, *arguments: str, prefix: tuple[str, ...] = ()) -> Iterator[Served]:
    served = start(folder, *arguments, prefix=prefix)
    try:
        yield served
    finally:
        served.process.terminate()
        try:
            served.process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            served.process.kill()
            served.process.wait()
        assert served.process.stdout is not None
        served.process.stdout.close()
