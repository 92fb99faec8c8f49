"""A script run as `python SCRIPT ARGUMENTS` runs it, but in this process, where the libraries are loaded already."""

import contextlib
import io
import runpy
import sys
import traceback
from pathlib import Path
from typing import NamedTuple
from unittest import mock


class Ended(NamedTuple):
    """How it ended and what it said, by the names of `subprocess.CompletedProcess`."""

    returncode: int
    stdout: str
    stderr: str


def run_script(script: Path, *arguments: object) -> Ended:
    words = [str(script), *map(str, arguments)]
    out, err = io.StringIO(), io.StringIO()
    code: object = 0
    with (
        mock.patch.object(sys, "argv", words),
        mock.patch.object(sys, "path", [str(script.parent), *sys.path]),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        try:
            runpy.run_path(words[0], run_name="__main__")
        except SystemExit as end:
            code = end.code or 0
        except Exception:
            traceback.print_exc()
            code = 1
    if not isinstance(code, int):  # words for the one who called it
        err.write(f"{code}\n")
        code = 1
    return Ended(code, out.getvalue(), err.getvalue())
