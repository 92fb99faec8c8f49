"""Every command shows two examples, and each is a command line that the command would take."""

import shlex

import pytest
import typer
from tests.cli.test_fit import run

from gramme.cli.app import app
from gramme.cli.examples import EXAMPLES, epilog

GROUP = typer.main.get_command(app)


def commands():
    for name, command in GROUP.commands.items():
        yield name, command
        yield from (
            (f"{name} {inner}", one) for inner, one in getattr(command, "commands", {}).items()
        )


def parsed(line: str) -> None:
    """Let click take a command line apart, as it would before running it."""
    words = shlex.split(line.partition(" | ")[0])
    assert words.pop(0) == "gramme"
    command, context = GROUP, typer.Context(GROUP, info_name="gramme")
    while words and words[0] in getattr(command, "commands", {}):
        command = command.commands[words.pop(0)]
    command.make_context("x", words, parent=context)


def test_every_command_has_two_examples_of_itself():
    assert {name for name, _ in commands()} == set(EXAMPLES)
    for name, lines in EXAMPLES.items():
        assert len(lines) == len(set(lines)) == 2
        assert all(line.startswith(f"gramme {name}") for line in lines)
        assert all(line in epilog(name) for line in lines)


@pytest.mark.parametrize("line", [line for lines in EXAMPLES.values() for line in lines])
def test_each_is_taken(line):
    parsed(line)


def test_what_is_wrong_would_be_seen():
    with pytest.raises(Exception, match="No such option"):
        parsed("gramme fit a.csv --no-such-option")


@pytest.mark.parametrize("name", ["fit", "datasets info"])
def test_they_stand_at_the_end_of_the_help_a_line_each(name, capsys):
    assert run(*name.split(), "--help") == 0
    shown = [line.strip() for line in capsys.readouterr().out.splitlines()]
    assert "Examples:" in shown
    assert any(EXAMPLES[name][1].startswith(line) for line in shown if line.startswith("gramme"))
