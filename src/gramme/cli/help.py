"""``gramme help TOPIC``: short pages about what goes across commands, to be read in a terminal."""

from __future__ import annotations

import functools
import pydoc
import sys
from importlib.resources import files

import typer

from gramme.errors import DataError, did_you_mean


@functools.cache
def examples() -> dict[str, list[str]]:
    """Two examples for every command, which stand at the end of its ``--help``, by the words after ``gramme``."""
    examples_by_command: dict[str, list[str]] = {}
    for line in (files("gramme.cli") / "examples.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith(" "):
            examples_by_command[list(examples_by_command)[-1]].append(line.strip())
        else:
            examples_by_command[line] = []
    return examples_by_command


def epilog(command: str) -> str:
    """The examples at the end of a command's help. Blank lines separate them, or they would run together."""
    return "\n\n".join(("Examples:", *(f"  {line}" for line in examples()[command])))


_FOLDER = files("gramme.cli") / "topics"


def topics() -> dict[str, str]:
    """The first line of each topic, by its name."""
    topic_titles = {
        one.name.removesuffix(".txt"): one.read_text(encoding="utf-8").splitlines()[0]
        for one in _FOLDER.iterdir()
        if one.name.endswith(".txt")
    }
    return dict(sorted(topic_titles.items()))


def topic_text(topic: str) -> str:
    """The whole of a topic."""
    known_topics = topics()
    if topic not in known_topics:
        raise DataError(f"there is no topic {topic!r}; {did_you_mean(topic, known_topics)}")
    return (_FOLDER / f"{topic}.txt").read_text(encoding="utf-8")


def _begun(start: str) -> list[str]:
    """The topics that begin with what was typed, for the shell."""
    return [name for name in topics() if name.startswith(start)]


def help_(
    topic: str | None = typer.Argument(
        None, help="What to read about; all topics if not given.", autocompletion=_begun
    ),
) -> None:
    """Read about a topic: files, tables, labels, the estimate, sets, links, ranks, and more."""
    if topic is not None:
        text = topic_text(topic)
        if sys.stdout.isatty() and text.count("\n") > 40:
            pydoc.pager(text)
        else:
            typer.echo(text, nl=False)
        return
    width = max(map(len, topics()))
    for name, about in topics().items():
        typer.echo(f"  {name:<{width}}  {about}")
    typer.echo("\nRead one with gramme help TOPIC; gramme COMMAND --help lists the options of a command.")
