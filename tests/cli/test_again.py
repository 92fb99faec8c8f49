import typer
from typer.testing import CliRunner

from gramme.cli.again import command_line


def test_the_command_as_it_was_given():
    app = typer.Typer()

    @app.command()
    def fit(
        context: typer.Context,
        data: str,
        out: str = typer.Option("x", "--out"),
        many: list[str] = typer.Option([], "--set"),
        table: bool = typer.Option(False, "--table"),
        quiet: bool = typer.Option(False, "--quiet"),
    ) -> None:
        typer.echo(command_line(context))

    words = ["--table", "--", "-odd.csv"]
    printed = CliRunner().invoke(app, words, prog_name="fit").stdout.strip()
    assert printed == "gramme fit --table -- -odd.csv", "a name that begins like an option"
    words = ["my data.csv", "--set", "a=1", "--set", "b=2", "--table", "--quiet"]
    printed = CliRunner().invoke(app, words, prog_name="fit").stdout.strip()
    assert printed == "gramme fit 'my data.csv' --set a=1 --set b=2 --table"
