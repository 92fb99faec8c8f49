"""The process that waits for a command: it is the command line itself, and says how far it is."""

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.app.serving import environment

pytestmark = pytest.mark.app


def worker() -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [sys.executable, "-m", "gramme.app.worker"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    )


def test_it_is_the_command_line_in_a_folder(tmp_path: Path) -> None:
    (tmp_path / "ties.csv").write_text("from,to\na,b\nb,c\n")
    request = {"folder": str(tmp_path), "words": ["info", "ties.csv", "--json"], "progress": str(tmp_path / "p.json")}
    out, _ = worker().communicate(json.dumps(request).encode() + b"\n", timeout=60)
    assert json.loads(out)["nodes"] == 3


def test_a_mistake_has_the_exit_code_of_the_command_line(tmp_path: Path) -> None:
    request = {"folder": str(tmp_path), "words": ["info", "nothing.csv"], "progress": str(tmp_path / "p.json")}
    process = worker()
    _, err = process.communicate(json.dumps(request).encode() + b"\n", timeout=60)
    assert process.returncode == 2
    assert b"nothing.csv" in err


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="looks at the libraries of a process in /proc")
def test_it_has_imported_torch_before_a_command_comes() -> None:
    process = worker()
    loaded = False
    for _ in range(1200):
        loaded = "libtorch" in Path(f"/proc/{process.pid}/maps").read_text()
        if loaded or process.poll() is not None:
            break
        time.sleep(0.1)
    process.communicate(b"", timeout=60)
    assert loaded


def test_it_ends_when_nobody_wants_it(tmp_path: Path) -> None:
    process = worker()
    assert process.communicate(b"", timeout=60)[0] == b""
    assert process.returncode == 0


def test_progress_is_noted_with_the_time_left(tmp_path: Path) -> None:
    progress = tmp_path / "p.json"
    words = ["fit", "synthetic:nodes=400", "--method", "gramme-fusion", "--out", "r", "--json", "--no-estimate"]
    process = worker()
    assert process.stdin is not None
    process.stdin.write(
        json.dumps({"folder": str(tmp_path), "words": words, "progress": str(progress)}).encode() + b"\n"
    )
    process.stdin.flush()
    seen = []
    while process.poll() is None:
        if progress.exists():
            seen.append(json.loads(progress.read_text()))
        time.sleep(0.05)
    process.communicate()
    assert process.returncode == 0
    assert (tmp_path / "r" / "predictions.csv").is_file()
    done = [one["done"] for one in seen]
    assert done == sorted(done)
    assert done[-1] > 0.3
    assert any(one["left"] is not None for one in seen)
    assert any("Fitting" in one["what"] for one in seen)
