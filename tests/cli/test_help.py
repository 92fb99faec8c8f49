"""The topics of ``gramme help``: short, and nothing is shown there that a command would not take."""

import re
import shlex

import pytest
import typer
from tests.cli.test_fit import run

from gramme.cli.app import app
from gramme.cli.help import epilog, examples, topic_text, topics

GROUP = typer.main.get_command(app)


def commands():
    for name, command in GROUP.commands.items():
        yield name, command
        yield from ((f"{name} {inner}", one) for inner, one in getattr(command, "commands", {}).items())


def parsed(line: str) -> None:
    """Let click take a command line apart, as it would before running it."""
    words = shlex.split(line.partition(" | ")[0])
    assert words.pop(0) == "gramme"
    command, context = GROUP, typer.Context(GROUP, info_name="gramme")
    while words and words[0] in getattr(command, "commands", {}):
        command = command.commands[words.pop(0)]
    command.make_context("x", words, parent=context)


def test_every_command_has_two_examples_of_itself():
    assert {name for name, _ in commands()} == set(examples())
    for name, lines in examples().items():
        assert len(lines) == len(set(lines)) == 2
        assert all(line.startswith(f"gramme {name}") for line in lines)
        assert all(line in epilog(name) for line in lines)


@pytest.mark.parametrize("line", [line for lines in examples().values() for line in lines])
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
    assert any(examples()[name][1].startswith(line) for line in shown if line.startswith("gramme"))


def test_all_topics_are_listed_with_what_they_are_about(capsys):
    assert run("help") == 0
    shown = capsys.readouterr().out
    for name, about in topics().items():
        assert re.search(rf"  {name} +{re.escape(about)}", shown)
    assert {"files", "tables", "labels", "methods", "estimate", "links", "rank"} <= set(topics())


@pytest.mark.parametrize("name", list(topics()))
def test_a_topic_shows_only_what_works(name, capsys):
    text = topic_text(name)
    assert run("help", name) == 0
    assert capsys.readouterr().out == text
    assert max(map(len, text.splitlines())) <= 120
    for line in text.splitlines():
        if line.startswith("    gramme ") and "completion" not in line:
            parsed(re.split(r" {3,}", line.strip())[0])
    options = {opt for _, one in commands() for each in one.params for opt in (*each.opts, *each.secondary_opts)}
    named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", text)) - {"--install-completion", "--show-completion", "--me"}
    assert named <= options
    assert set(re.findall(r"gramme help ([a-z]+)", text)) <= set(topics())


def test_an_unknown_topic_names_the_nearest(capsys):
    assert run("help", "tabels") == 2
    assert "did you mean 'tables'" in capsys.readouterr().err
