"""The ``gramme`` command: registers the commands and turns a user's mistake into one message and exit code 2."""

from __future__ import annotations

import sys

import typer

from gramme._terminal import never_fail_to_print
from gramme._version import __version__
from gramme._wording import on_command_line
from gramme.cli.benchmark import benchmark
from gramme.cli.console import complain
from gramme.cli.datasets import app as datasets_app
from gramme.cli.demo import demo, methods
from gramme.cli.files import convert, info
from gramme.cli.fit import fit, predict
from gramme.cli.heartbeat import heartbeat
from gramme.cli.links import links
from gramme.cli.new import new
from gramme.cli.rank import rank
from gramme.cli.report import report
from gramme.cli.results import results
from gramme.errors import GrammeError

app = typer.Typer(
    name="gramme",
    help="Semi-supervised learning on multi-layered graphs.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command()(fit)
app.command()(new)
app.command()(predict)
app.command()(links)
app.command()(rank)
app.command()(report)
app.command()(benchmark)
app.command()(results)
app.command()(info)
app.command()(convert)
app.add_typer(datasets_app, name="datasets")
app.command()(methods)
app.command()(demo)


@app.callback(invoke_without_command=True)
def version(
    context: typer.Context,
    show: bool = typer.Option(False, "--version", help="Print the version and end."),
) -> None:
    """Semi-supervised learning on multi-layered graphs: many kinds of relation, a few known labels."""
    if show:
        typer.echo(__version__)
        raise typer.Exit


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; ends with exit code 2 after a mistake of the user's, 130 after Ctrl-C."""
    never_fail_to_print()
    try:
        with on_command_line(), heartbeat(sys.argv[1:] if arguments is None else arguments):
            app(args=arguments, standalone_mode=True)
    except GrammeError as error:
        complain(str(error))
        sys.exit(2)
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        complain(f"{place}{error.strerror or error}")
        sys.exit(2)
    except KeyboardInterrupt:
        complain("interrupted")
        sys.exit(130)
