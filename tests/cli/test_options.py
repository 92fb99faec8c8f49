from dataclasses import fields

import pytest
import typer
from typer.testing import CliRunner

from gramme.cli.options import TABLE_ONLY, Reading, command_line, make_model, takes_options
from gramme.errors import DataError
from gramme.methods import method

FUSION = method("gramme-fusion")


@pytest.mark.parametrize(
    ("text", "name", "value"),
    [
        ("epochs=7", "epochs", 7),
        ("epochs = 7.0", "epochs", 7),
        ("learning_rate=1", "learning_rate", 1),
        ("learning_rate=1e-3", "learning_rate", 0.001),
        ("feed_forward=true", "feed_forward", True),
        ("feed_forward=False", "feed_forward", False),
        ("fuse=end", "fuse", "end"),
        ("fuse=every hop", "fuse", "every hop"),
        ('heads={"a": 1, "b": 2}', "heads", {"a": 1, "b": 2}),
        ("features=both", "features", "both"),
        ("features=none", "features", None),
        ("class_weight=balanced", "class_weight", "balanced"),
    ],
)
def test_text_becomes_a_value_of_the_right_kind(text: str, name: str, value: object) -> None:
    got = make_model(FUSION, [text]).get_params()[name]
    assert got == value
    assert type(got) is type(value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("epochs", "write it as name=value"),
        ("epoch=3", "did you mean 'epochs'"),
        ("epochs=many", "epochs must be a whole number"),
        ("learning_rate=fast", "learning_rate must be a number"),
        ("feed_forward=maybe", "feed_forward must be true or false"),
        ("epochs=true", "epochs must be a whole number"),
        ("epochs=1e30", "epochs can be 1,000,000,000 at most"),
    ],
)
def test_a_mistake_says_what_would_be_right(text: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        make_model(FUSION, [text])


def test_fixed_parameters_go_only_to_methods_that_know_them() -> None:
    model = make_model(FUSION, ["random_state=5"], random_state=1, nonsense=2)
    assert model.get_params()["random_state"] == 5


@pytest.fixture
def said():
    """Runs a command with these words and gives what it was told about reading."""
    found = []
    app = typer.Typer()

    @app.command()
    @takes_options
    def command(data: str, read: Reading, loud: bool = typer.Option(False, "--loud")) -> None:
        found.append((data, read, loud))

    def run(*words):
        ended = CliRunner().invoke(app, list(words))
        assert ended.exit_code == 0, ended.output
        return found[-1]

    return run


def test_the_fields_stand_on_the_command_line(said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "l.csv").touch()
    data, read, loud = said("x.csv", "--labels", "l.csv", "--undirected", "--bins", "a=2", "--loud")
    assert (data, loud) == ("x.csv", True)
    assert (read.labels.name, read.directed, read.bins) == ("l.csv", False, ["a=2"])
    assert read.used() == ["--labels", "--directed and --undirected", "--bins"]
    assert read.used(*TABLE_ONLY) == ["--bins"]


def test_nothing_said_is_nothing_used(said):
    assert said("x.csv")[1] == Reading()
    assert Reading().used() == []


def test_marks_of_missing_values_may_stand_between_commas():
    assert Reading(missing=["99,no answer", "-"]).marks() == ["99,no answer", "99", "no answer", "-"]


def test_what_is_said_of_tables_only_exists():
    assert set(TABLE_ONLY) <= {field.name for field in fields(Reading)}


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
