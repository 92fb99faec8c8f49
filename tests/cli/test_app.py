"""The command as a whole: what it imports before it is asked for anything, and how it ends."""

import shlex
import signal
import subprocess
import sys
import time
from typing import Any

import pytest

from gramme._version import __version__
from gramme.cli import main
from gramme.cli.app import _leave_memory, app

HEAVY = {"joblib", "matplotlib", "numba", "numpy", "pandas", "pyarrow", "scipy", "sklearn", "torch"}
# Runs every command line it is given, words with blanks between, and prints which libraries that imported.
RUN = """
import contextlib, io, sys
from gramme.cli import main
for line in sys.argv[1:]:
    with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()):
        main(line.split())
print(*{name.partition(".")[0] for name in sys.modules})
"""


def imported(*lines: str) -> set[str]:
    ended = subprocess.run([sys.executable, "-c", RUN, *lines], capture_output=True, text=True, check=True)
    return set(ended.stdout.split())


def test_neither_help_nor_the_list_of_methods_imports_what_takes_long_to_load() -> None:
    commands = [command.name or command.callback.__name__ for command in app.registered_commands]
    assert {"fit", "benchmark", "info", "results"} <= set(commands)
    lines = ["--help", "--version", "methods", "datasets --help", *(f"{name} --help" for name in commands)]
    assert not imported(*lines) & HEAVY


def test_reading_a_file_needs_no_torch() -> None:
    assert not imported("info balance_scale") & {"torch", "numba", "sklearn", "matplotlib"}


@pytest.mark.parametrize(
    ("line", "code", "words"),
    [
        ("--version", 0, __version__),
        ("info no_such_file.csv", 2, "there is no file 'no_such_file.csv'"),
        ("nonsense", 2, "No such command 'nonsense'"),
        ("datasets info balanse_scale", 2, "did you mean 'balance_scale'?"),
    ],
)
def test_how_it_ends(line: str, code: int, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(line.split())
    assert (end.value.code or 0) == code
    printed = capsys.readouterr()
    assert words in printed.out + printed.err
    assert "Traceback" not in printed.err


def test_ctrl_c_ends_with_130(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("gramme.cli.data.open_data", interrupt)
    with pytest.raises(SystemExit) as end:
        main(["info", "balance_scale"])
    assert end.value.code == 130
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("gramme he", "help"),
        ("gramme help tab", "tables"),
        ("gramme fit x.csv --method label", "label-propagation"),
        ("gramme fit --cov", "--coverage"),
    ],
)
def test_the_shell_completes(typed, found, monkeypatch, capsys) -> None:
    monkeypatch.setenv("_GRAMME_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", typed)
    monkeypatch.setenv("COMP_CWORD", str(len(typed.split()) - 1))
    with pytest.raises(SystemExit) as end:
        main([])
    assert not end.value.code
    assert found in capsys.readouterr().out.split()


def test_only_a_program_of_its_own_leaves_its_memory_as_it_is(monkeypatch) -> None:
    """Who calls main within a program of theirs goes on to collect garbage."""
    registered: list[object] = []
    monkeypatch.setattr("gramme.cli.app.atexit.register", registered.append)
    monkeypatch.setattr(sys, "argv", ["gramme", "--version"])
    for arguments in (["--version"], None):
        with pytest.raises(SystemExit):
            main(arguments)
        assert registered == ([] if arguments else [_leave_memory])


def run(*words: str, **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "gramme", *words], capture_output=True, text=True, **options)


def test_a_missing_file_is_told_before_anything_heavy_is_imported():
    code = (
        "import sys\nfrom gramme.cli import main\n"
        f"try:\n    main(sys.argv[1:])\nfinally:\n    print(*({HEAVY} & sys.modules.keys()))"
    )
    for words in (["fit", "none.csv", "--out", "x"], ["info", "no/where"], ["fit", "--labels", "l.csv", "--out", "x"]):
        done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True)
        assert done.returncode == 2
        assert "there is no file" in done.stderr
        assert done.stdout.strip() == ""


def test_a_reader_who_has_enough_is_no_error():
    command = f"set -o pipefail; {shlex.quote(sys.executable)} -m gramme datasets list --json | head -1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_questions_without_an_input_end_with_a_message():
    command = f"{shlex.quote(sys.executable)} -m gramme new <&-"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert "the answers ended before the questions did" in done.stderr


@pytest.mark.parametrize("seconds", [0.15, 0.4])
def test_an_interrupt_soon_after_the_start_leaves_no_traceback(seconds, tmp_path):
    process = subprocess.Popen(
        [sys.executable, "-m", "gramme", "fit", "balance_scale", "--out", "never"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
    )
    time.sleep(seconds)
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=120)
    assert "gramme/cli" not in told, "an interrupt before the first line of gramme is Python's own"


DURING_TORCH = """
import os, signal, sys

class Interrupt:
    def find_spec(self, name, path=None, target=None):
        if name == "torch.sparse":  # which the compiled code of torch imports
            os.kill(os.getpid(), signal.SIGINT)

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell starts what runs behind it deaf to Ctrl-C
sys.meta_path.insert(0, Interrupt())
sys.argv = ["gramme", "fit", "balance_scale", "--out", "never"]
from gramme.cli import main
main()
"""


def test_an_interrupt_while_torch_is_imported_does_not_abort_the_process(tmp_path):
    command = [sys.executable, "-c", DURING_TORCH]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, cwd=tmp_path)
    assert done.returncode == 130, done.stderr
    assert "terminate called" not in done.stderr
    assert done.stderr.endswith("Error: interrupted\n")
