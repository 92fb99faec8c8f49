"""Any command with any options on any bytes ends with exit code 0 or 2: never in a traceback, a hang or a full memory.

Cases run many to a process, each with its own limit of memory and of time. A case that fails ends its process and is
kept in ``corpus``, with its files and words, to be run again ever after.
"""

import contextlib
import io
import json
import logging
import os
import shutil
import signal
import sys
import time
import traceback
from pathlib import Path
from types import FrameType

import pytest
from tests.fuzz_cases import Files, good_files, make_case
from tests.processes import Process
from tests.sizes import sample

from gramme.cli import main
from gramme.cli.console import bounded_memory
from gramme.links import mixture

LOG = logging.getLogger(__name__)  # shown with --log-cli-level=info
CASES, USUAL = 100_000, 1000
PARTS = 2  # the usual cases are run in so many tests, so that they share out among processes
BATCH = 5000  # cases to a process; the first of a kind takes far longer than those after it
MOST_FAILURES = 20  # after which it is not worth going on
CORPUS = Path(__file__).with_name("corpus")
SECONDS = 30  # of processor time, which no case may take; most take a few thousandths
PATIENCE = 600  # seconds by the clock, which may be far more on a busy machine
# one of so many cases lets gramme links grow trees, which takes seconds
COSTLY_EVERY = 200
MEMORY = 2 << 30  # bytes that a case may take, so that a case which goes wrong does not harm the machine
MIN_TREE_EXAMPLES = mixture.MIN_TREE_EXAMPLES
RAW = {chr(code) for code in [*range(32), *range(127, 160)]} - {"\n", "\t", "\r"}


@pytest.fixture(scope="session")
def good(tmp_path_factory: pytest.TempPathFactory) -> Files:
    return good_files(tmp_path_factory.mktemp)


class NoEndError(BaseException):
    """A case took too long; no OSError, as TimeoutError is, which the command line would turn into a message."""


def no_answer(number: int, frame: FrameType | None) -> None:
    raise NoEndError(f"no end after {SECONDS} s of processor time or {PATIENCE} s by the clock")


def try_case(words: list[str], folder: Path) -> int:
    """Run a command; an AssertionError says what is wrong with how it ended."""
    signal.signal(signal.SIGPROF, no_answer)
    signal.signal(signal.SIGALRM, no_answer)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    signal.alarm(PATIENCE)
    said = io.StringIO()
    try:
        with (
            contextlib.redirect_stdout(said),
            contextlib.redirect_stderr(said),
            bounded_memory("of the machine", most=MEMORY),
        ):
            main(words)
        code: object = 0
    except SystemExit as end:
        code = end.code or 0
    except BaseException as error:
        raise AssertionError(f"gramme {words!r} ended in {error!r}") from error
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.alarm(0)
    assert code in (0, 2), f"gramme {words!r} ended with {code}"
    shown = said.getvalue()
    assert "Traceback" not in shown, f"gramme {words!r} shows a traceback"
    assert "site-packages" not in shown, f"gramme {words!r} shows a path of a library"
    assert "src/gramme" not in shown, f"gramme {words!r} shows a path of the library"
    assert not set(shown) & RAW, f"gramme {words!r} shows control characters"
    left = [path.name for path in folder.iterdir() if path.name.startswith((".out", ".gramme"))]
    assert left == [], f"gramme {words!r} left {left}"
    if words[0] in ("fit", "rank", "links") and code == 2:
        assert not (folder / "out").exists(), f"gramme {words!r} left a folder"
    return int(str(code))


def clear(folder: Path, written: dict[str, bytes]) -> None:
    """Remove what a case wrote; what it changed of its files is written anew for the next."""
    for path in [*folder.glob("out*"), *folder.glob(".out*")]:
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    for name in list(written):
        path = folder / name
        if not path.is_file() or path.stat().st_size != len(written[name]):
            del written[name]


def run_batch(seeds: range, good: Files, folder: Path) -> None:
    """In a process of its own: notes each case as it begins, and its exit code; ends at the first that fails."""
    os.chdir(folder)
    (folder / "good-model").mkdir()
    written: dict[str, bytes] = {}
    with (folder / "notes").open("wb", buffering=0) as notes:
        for seed in seeds:
            notes.write(b"%d " % seed)
            words = make_case(seed, good, folder, written)
            costly = seed % COSTLY_EVERY == 0
            mixture.MIN_TREE_EXAMPLES = MIN_TREE_EXAMPLES if costly else sys.maxsize
            try:
                code = try_case(words, folder)
            except BaseException:
                (folder / "failure").write_text(traceback.format_exc())
                raise
            notes.write(b"%d\n" % code)
            clear(folder, written)


def codes_of(seeds: range, good: Files, folder: Path) -> tuple[list[int], str]:
    """The exit codes of a batch; if there are fewer than cases, also what is wrong with the first without one."""
    folder.mkdir()
    process = Process(run_batch, seeds, good, folder)
    size, since = 0, time.monotonic()
    notes = folder / "notes"
    while process.poll() is None:
        time.sleep(0.05)
        if notes.exists() and notes.stat().st_size != size:
            size, since = notes.stat().st_size, time.monotonic()
        if time.monotonic() - since > 2 * PATIENCE:
            process.kill()
    lines = notes.read_text().splitlines() if notes.exists() else []
    failure = folder / "failure"
    why = failure.read_text() if failure.exists() else f"ended with {process.poll()}"
    shutil.rmtree(folder)
    return [int(words[1]) for line in lines if len(words := line.split()) == 2], why


def run_cases(seeds: range, good: Files, folder: Path) -> None:
    """In batches. What follows a case that fails is run as well, so that one run finds all of them."""
    codes: set[int] = set()
    failures = []
    begin = seeds.start
    while begin < seeds.stop and len(failures) < MOST_FAILURES:
        batch = range(begin, min(begin + BATCH, seeds.stop))
        found, why = codes_of(batch, good, folder / "batch")
        codes.update(found)
        begin += len(found)
        if begin < batch.stop:
            alone, _ = codes_of(range(begin, begin + 1), good, folder / "alone")
            when = "only after the cases before it" if alone else "also alone"
            failures.append(f"case {begin}, {when}, kept in {keep(begin, good)}: {why}")
            begin += 1
        LOG.info("%d of %d cases, %d failed", begin - seeds.start, len(seeds), len(failures))
    assert not failures, "\n".join(failures)
    assert {0, 2} == codes  # neither is everything refused nor everything taken


def keep(seed: int, good: Files) -> Path:
    """A case as it is, since another version of this file would make another of its number."""
    place = CORPUS / str(seed)
    (place / "good-model").mkdir(parents=True, exist_ok=True)
    words = make_case(seed, good, place)
    (place / "words.json").write_text(json.dumps(words))
    return place


@pytest.mark.parametrize("part", range(PARTS))
def test_any_command_on_any_bytes_ends_with_a_message(part, good, tmp_path):
    run_cases(range(part * USUAL // PARTS, (part + 1) * USUAL // PARTS), good, tmp_path)


@pytest.mark.slow
def test_a_hundred_thousand_inputs(good, tmp_path):
    run_cases(range(USUAL, USUAL + sample(CASES, least=40)), good, tmp_path)


@pytest.mark.parametrize("case", sorted(CORPUS.glob("*")) or [None], ids=str)
def test_what_once_went_wrong(case, tmp_path, monkeypatch):
    if case is None:
        pytest.skip("nothing is kept")
    shutil.copytree(case, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    try_case(json.loads((case / "words.json").read_text()), tmp_path)
