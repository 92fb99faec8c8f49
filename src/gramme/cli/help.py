"""``gramme help TOPIC``: short pages about what goes across commands, to be read in a terminal."""

from __future__ import annotations

import pydoc
import sys
from importlib.resources import files

import typer

from gramme.errors import DataError, did_you_mean

# Two examples for every command, which stand at the end of its ``--help``.

EXAMPLES: dict[str, tuple[str, ...]] = {
    "fit": (
        "gramme fit advice.csv friends.csv --labels people.csv --label Team --out result",
        "gramme fit votes.csv --table --label party --id member --coverage 90% --out result",
    ),
    "new": ("gramme new", "gramme new --print"),
    "predict": (
        "gramme predict result next_year.csv --out predictions.csv",
        "gramme predict result new_members.csv --coverage 90% --out predictions.csv",
    ),
    "links": (
        "gramme links school_multiplex.edges --out links",
        "gramme links school_multiplex.edges --layer friends --top 50 --out links",
    ),
    "rank": (
        "gramme rank school_multiplex.edges --out ranks",
        "gramme rank school_multiplex.edges --measures pagerank,k-shell --out ranks",
    ),
    "groups": (
        "gramme groups school_multiplex.edges --out groups",
        "gramme groups votes.csv --table --id member --count 2 --out groups",
    ),
    "ask": (
        "gramme ask school_multiplex.edges --count 20 --out ask",
        "gramme ask school_multiplex.edges --labels ask/ask.csv --count 10 --out ask2",
    ),
    "app": ("gramme app", "gramme app advice.csv friends.csv --labels people.csv"),
    "report": ("gramme report result --out page.html", "gramme report results.sqlite --out comparison.html"),
    "benchmark": (
        "gramme benchmark --datasets my.mpx --methods gramme-auto,label-propagation --out results.sqlite",
        "gramme benchmark --datasets balance_scale --train 10,30 --repeats 5 --out results.sqlite",
    ),
    "results": ("gramme results results.sqlite", "gramme results results.sqlite --format latex"),
    "info": ("gramme info school_multiplex.edges", "gramme info votes.csv --table --label party --json"),
    "convert": ("gramme convert school_multiplex.edges school.mpx", "gramme convert advice.csv friends.csv both.npz"),
    "datasets": ("gramme datasets list", "gramme datasets info ckm_social"),
    "datasets list": ("gramme datasets list", "gramme datasets list --json"),
    "datasets info": ("gramme datasets info ckm_social", "gramme datasets info cora --json"),
    "datasets download": ("gramme datasets download ckm_social", "gramme datasets download cora acm_heco"),
    "methods": ("gramme methods", "gramme methods | grep walks"),
    "demo": ("gramme demo", "gramme demo --out somewhere --seed 1"),
    "help": ("gramme help", "gramme help tables"),
}
"""By the words after ``gramme``."""


def epilog(command: str) -> str:
    """The examples at the end of a command's help. Blank lines separate them, or they would run together."""
    return "\n\n".join(("Examples:", *(f"  {line}" for line in EXAMPLES[command])))


_FOLDER = files("gramme.cli") / "topics"


def topics() -> dict[str, str]:
    """The first line of each topic, by its name."""
    found = {
        one.name.removesuffix(".txt"): one.read_text(encoding="utf-8").splitlines()[0]
        for one in _FOLDER.iterdir()
        if one.name.endswith(".txt")
    }
    return dict(sorted(found.items()))


def topic_text(topic: str) -> str:
    """The whole of a topic."""
    known = topics()
    if topic not in known:
        raise DataError(f"there is no topic {topic!r}; {did_you_mean(topic, known)}")
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
