from dataclasses import fields

import pytest
import typer
from typer.testing import CliRunner

from gramme.cli.options import TABLE_ONLY, Reading, takes_reading_options


@pytest.fixture
def said():
    """Runs a command with these words and gives what it was told about reading."""
    found = []
    app = typer.Typer()

    @app.command()
    @takes_reading_options
    def command(data: str, read: Reading, loud: bool = typer.Option(False, "--loud")) -> None:
        found.append((data, read, loud))

    def run(*words):
        ended = CliRunner().invoke(app, list(words))
        assert ended.exit_code == 0, ended.output
        return found[-1]

    return run


def test_the_fields_stand_on_the_command_line(said):
    data, read, loud = said("x.csv", "--labels", "l.csv", "--undirected", "--bins", "a=2", "--loud")
    assert (data, loud) == ("x.csv", True)
    assert (read.labels.name, read.directed, read.bins) == ("l.csv", False, ["a=2"])
    assert read.used() == ["--labels", "--directed and --undirected", "--bins"]
    assert read.used(*TABLE_ONLY) == ["--bins"]


def test_nothing_said_is_nothing_used(said):
    assert said("x.csv")[1] == Reading()
    assert Reading().used() == []


def test_marks_of_missing_values_may_stand_between_commas():
    assert Reading(missing=["99,no answer", "-"]).marks() == [
        "99,no answer",
        "99",
        "no answer",
        "-",
    ]


def test_what_is_said_of_tables_only_exists():
    assert set(TABLE_ONLY) <= {field.name for field in fields(Reading)}
