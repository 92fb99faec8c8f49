"""The pages of docs/: what they show is run, so that a page cannot promise what does not work.

In a page, in the order of its text and in one empty folder:

- a block ``{code-block}`` with a ``:caption:`` is a file of that name;
- a block ``sh`` is run by bash and must end with 0;
- a block ``pycon`` is a doctest; all of a page share their names.

Blocks of any other kind (``text``, ``python``, ``console``) are shown only.
"""

import doctest
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

import pytest

import gramme.io
import gramme.methods
from gramme.methods.auto.ingredients import INGREDIENTS

DOCS = Path(__file__).resolve().parents[1] / "docs"
FENCE = re.compile(
    r"^(?P<mark>`{3,})(?P<kind>[^\n`]*)\n(?P<text>.*?)^(?P=mark)[ \t]*$", re.M | re.S
)
CAPTION = re.compile(r"\A:caption: (?P<name>\S+)\n\n?")
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@dataclass(frozen=True)
class Block:
    """A part of a page that is run: a file to write, commands, or a doctest."""

    kind: str
    text: str
    line: int
    file: str = ""


def blocks(page: str) -> Iterator[Block]:
    for found in FENCE.finditer(page):
        kind, text = found["kind"].strip(), found["text"]
        line = page.count("\n", 0, found.start()) + 1
        caption = CAPTION.match(text)
        if kind.startswith("{code-block}") and caption:
            yield Block("file", text[caption.end() :], line, caption["name"])
        elif kind in ("sh", "pycon"):
            yield Block(kind, text, line)


def run_page(page: Path, folder: Path) -> int:
    """Run the blocks of a page; how many there were."""
    names: dict[str, object] = {}
    environment = os.environ | {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "GRAMME_CACHE": str(folder / "cache"),
        "COLUMNS": "100",
    }
    found = list(blocks(page.read_text(encoding="utf-8")))
    for block in found:
        where = f"{page.name}, line {block.line}"
        if block.kind == "file":
            (folder / block.file).parent.mkdir(parents=True, exist_ok=True)
            (folder / block.file).write_text(block.text, encoding="utf-8")
        elif block.kind == "sh":
            ended = subprocess.run(
                ["bash", "-euo", "pipefail", "-c", block.text],
                cwd=folder,
                env=environment,
                capture_output=True,
                text=True,
                check=False,
            )
            assert ended.returncode == 0, f"{where}:\n{block.text}{ended.stdout}{ended.stderr}"
        else:
            test = doctest.DocTestParser().get_doctest(
                block.text, names, page.name, str(page), block.line
            )
            said: list[str] = []
            runner = doctest.DocTestRunner(optionflags=FLAGS)
            failed, _ = runner.run(test, out=said.append, clear_globs=False)
            names = test.globs
            assert not failed, f"{where}:\n{''.join(said)}"
    return len(found)


PAGES = [page for page in sorted(DOCS.rglob("*.md")) if list(blocks(page.read_text("utf-8")))]


@pytest.mark.parametrize("page", PAGES, ids=[page.stem for page in PAGES])
@pytest.mark.filterwarnings("ignore::gramme.GrammeWarning")  # pages show them on purpose
def test_what_the_page_shows_works(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))  # a page may import a file it shows
    # what a page registers is there for this page only
    known = (gramme.methods.METHODS, gramme.io.FORMATS, INGREDIENTS)
    with ExitStack() as stack:
        for registered in known:
            stack.enter_context(mock.patch.dict(registered))
        assert run_page(page, tmp_path)


def test_the_pages_that_teach_are_run() -> None:
    assert {page.stem for page in PAGES} >= {"tour", "my_data", "choosing", "extending", "honest"}


@pytest.mark.parametrize(
    "text",
    [
        "```pycon\n>>> 1 + 1\n3\n```\n",
        "```pycon\n>>> undefined\n```\n",
        "```sh\nfalse | true\n```\n",
        "```sh\ntest -e absent\n```\n",
        "```{code-block} text\n:caption: a.txt\n\nx\n```\n```sh\ngrep -q y a.txt\n```\n",
    ],
)
def test_a_page_that_lies_is_found(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    page = tmp_path / "page.md"
    page.write_text(text)
    with pytest.raises(AssertionError, match=r"page\.md, line \d"):
        run_page(page, tmp_path)


def test_blocks_share_folder_and_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    page = tmp_path / "page.md"
    page.write_text(
        "```{code-block} text\n:caption: a.txt\n\nx\n```\nThen\n```sh\ncp a.txt b.txt\n```\n"
        "```pycon\n>>> text = open('b.txt').read()\n```\n```pycon\n>>> text\n'x\\n'\n```\n"
        "```text\nfalse\n```\n"
    )
    assert run_page(page, tmp_path) == 4
