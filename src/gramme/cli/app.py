"""The ``gramme`` command: registers the commands and turns a user's mistake into one message and exit code 2."""

from __future__ import annotations

import atexit
import functools
import gc
import os
import sys
from collections.abc import Callable
from typing import Any

import typer
import typer.main

from gramme._text import never_fail_to_print, on_command_line
from gramme._version import __version__
from gramme.errors import GrammeError

from .app_command import app as app_command
from .ask import ask
from .benchmark import benchmark
from .console import complain, warnings_as_notes
from .datasets import app as datasets_app
from .demo import demo, methods
from .distributed_fit import speaks
from .files import convert, info
from .fit import fit, predict
from .groups import groups
from .help import epilog, help_
from .links import links
from .new import new
from .progress import sign_of_life
from .rank import rank
from .report import report
from .results import results

app = typer.Typer(
    name="gramme",
    help="Semi-supervised learning on multi-layered graphs.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
for _command in (
    fit, new, predict, links, rank, groups, ask, app_command, report, benchmark, results, info, convert, methods, demo,
    help_,
):  # fmt: skip
    _name = _command.__name__.rstrip("_")
    app.command(_name, epilog=epilog(_name))(_command)
app.add_typer(datasets_app, name="datasets", epilog=epilog("datasets"))


@app.callback(invoke_without_command=True)
def version(
    context: typer.Context, show: bool = typer.Option(False, "--version", help="Print the version and end.")
) -> None:
    """Semi-supervised learning on multi-layered graphs: many kinds of relation, a few known labels."""
    if show:
        typer.echo(__version__)
        raise typer.Exit


@functools.cache
def _commands() -> Callable[..., Any]:
    """All commands with their options, made once: that takes longer than a small command does."""
    return typer.main.get_command(app)


def _leave_memory() -> None:
    """Look for no garbage at the end, but where duckdb is loaded, which would complain."""
    if "_duckdb" not in sys.modules:
        gc.freeze()


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; ends with exit code 2 after a user's mistake, 130 after Ctrl-C."""
    never_fail_to_print()
    if (
        arguments is None
    ):  # a program of its own: its memory goes with it, and looking for cycles takes most of a second
        atexit.register(_leave_memory)
    try:
        given = sys.argv[1:] if arguments is None else arguments
        told = given if os.environ.get("RANK", "0") == "0" else []
        with on_command_line(), warnings_as_notes(), sign_of_life(told):
            _commands()(args=arguments, standalone_mode=True, prog_name="gramme")
    except SystemExit as end:
        if isinstance(end.__context__, BrokenPipeError):  # who reads the output has enough, as with | head
            sys.exit(0)
        raise
    except GrammeError as error:
        if speaks() or getattr(error, "of_one_process", False):
            complain(str(error))  # of several processes on a machine, only the first reports a user's mistake
        sys.exit(2)
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        complain(f"{place}{error.strerror or error}")
        sys.exit(2)
    except MemoryError:
        complain("the memory is too small for this; give it less data, or use a machine with more memory")
        sys.exit(2)
    except KeyboardInterrupt:
        complain("interrupted")
        sys.exit(130)
