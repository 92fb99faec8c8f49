"""The topics of ``gramme help``: short, and nothing is shown there that a command would not take."""

import re

import pytest
from tests.cli.test_examples import commands, parsed
from tests.cli.test_fit import run

from gramme.cli.help import topic_text, topics


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
    options = {
        opt
        for _, one in commands()
        for each in one.params
        for opt in (*each.opts, *each.secondary_opts)
    }
    named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", text)) - {
        "--install-completion",
        "--show-completion",
        "--me",
    }
    assert named <= options
    assert set(re.findall(r"gramme help ([a-z]+)", text)) <= set(topics())


def test_an_unknown_topic_names_the_nearest(capsys):
    assert run("help", "tabels") == 2
    assert "did you mean 'tables'" in capsys.readouterr().err
