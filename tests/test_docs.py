"""The pages of docs/: what they show is run, so that a page cannot promise what does not work.

In a page, in the order of its text and in one empty folder:

- a block ``{code-block}`` with a ``:caption:`` is a file of that name;
- a block ``sh`` is run by bash and must end with 0; where each of its lines is a command and nothing else, they are run
  one by one, those of ``gramme`` in processes that have done the imports (tests/test_packaging.py has the program);
- a block ``pycon`` is a doctest; all of a page share their names.

Blocks of any other kind (``text``, ``python``, ``console``) are shown only.
"""

import doctest
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from tests.links.short import short_fits
from tests.processes import HeardCommand

import gramme.io
import gramme.methods
from gramme.methods.auto.ingredients import INGREDIENTS
from gramme.ranking.rank_nodes import MEASURES
from gramme.report.page.fit_page import SECTIONS

DOCS = Path(__file__).resolve().parents[1] / "docs"
FENCE = re.compile(r"^(?P<mark>`{3,})(?P<kind>[^\n`]*)\n(?P<text>.*?)^(?P=mark)[ \t]*$", re.M | re.S)
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


def plain_commands(text: str) -> list[list[str]] | None:
    """The words of each line, where each calls a program; None where the shell has more to do than that."""
    lines = [line for line in text.replace("\\\n", " ").splitlines() if line.strip()]
    if set(text) & set("|&;<>()$`*?[]#~!{}") or not lines:
        return None
    words = [shlex.split(line) for line in lines]
    return words if all(shutil.which(one[0]) or one[0] == "gramme" for one in words) else None


def run_commands(text: str, folder: Path, environment: dict[str, str]) -> tuple[int, str]:
    """The exit code of the commands of a block, and what they said."""
    commands = plain_commands(text)
    if commands is None:
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        ended = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", text],
            cwd=folder,
            env=os.environ | {"PATH": path} | environment,
            capture_output=True,
            text=True,
            check=False,
        )
        return ended.returncode, ended.stdout + ended.stderr
    for program, *words in commands:
        if program != "gramme":
            ended = subprocess.run([program, *words], cwd=folder, capture_output=True, text=True, check=False)
            code, said = ended.returncode, [ended.stdout, ended.stderr]
        else:
            with tempfile.TemporaryDirectory() as kept:
                run = HeardCommand(Path(kept), *words, place=folder, **environment)
                code, *said = run.done()
        if code:
            return code, "".join(said)
    return 0, ""


def run_page(page: Path, folder: Path) -> int:
    """Run the blocks of a page; how many there were."""
    names: dict[str, object] = {}
    environment = {"GRAMME_CACHE": str(folder / "cache"), "COLUMNS": "100"}
    found = list(blocks(page.read_text(encoding="utf-8")))
    for block in found:
        where = f"{page.name}, line {block.line}"
        if block.kind == "file":
            (folder / block.file).parent.mkdir(parents=True, exist_ok=True)
            (folder / block.file).write_text(block.text, encoding="utf-8")
        elif block.kind == "sh":
            code, said = run_commands(block.text, folder, environment)
            assert code == 0, f"{where}:\n{block.text}{said}"
        else:
            test = doctest.DocTestParser().get_doctest(block.text, names, page.name, str(page), block.line)
            said: list[str] = []
            runner = doctest.DocTestRunner(optionflags=FLAGS)
            failed, _ = runner.run(test, out=said.append, clear_globs=False)
            names = test.globs
            assert not failed, f"{where}:\n{''.join(said)}"
    return len(found)


PAGES = [page for page in sorted(DOCS.rglob("*.md")) if list(blocks(page.read_text("utf-8")))]


@pytest.mark.parametrize("page", PAGES, ids=[page.stem for page in PAGES])
@pytest.mark.filterwarnings("ignore::gramme.GrammeWarning")  # pages show them on purpose
def test_what_the_page_shows_works(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))  # a page may import a file it shows
    # what a page registers is there for this page only
    known = (gramme.methods.METHODS, gramme.io.FORMATS, INGREDIENTS, MEASURES, SECTIONS)
    with ExitStack() as stack:
        stack.enter_context(short_fits())  # of links; what the pages show of them is no figure
        for registered in known:
            stack.enter_context(mock.patch.dict(entries_of(registered)))
        assert run_page(page, tmp_path)


def entries_of(registered: Any) -> dict[str, Any]:
    """The dictionary behind a registry, or the registry where it is one itself."""
    len(registered)  # a registry looks for other packages' entries when it is first asked
    entries: dict[str, Any] = getattr(registered, "_known", registered)
    return entries


SHORT_PAGES = sorted([*DOCS.glob("learn/*.md"), *DOCS.glob("how-to/*.md")])


@pytest.mark.parametrize("page", SHORT_PAGES, ids=[page.stem for page in SHORT_PAGES])
def test_a_page_to_learn_from_is_short_and_has_a_picture(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    prose = re.sub(r"^ {4}.*$", "", FENCE.sub("", text), flags=re.M)
    assert len(prose.split()) <= 1000
    pictures = re.findall(r"!\[[^]]+\]\(([^)]+)\)", text)
    assert pictures
    assert all((page.parent / picture).is_file() for picture in pictures)


def test_readme_is_short() -> None:
    assert (DOCS.parent / "README.md").read_text(encoding="utf-8").count("\n") <= 150


def test_files_that_pages_name_exist() -> None:
    """A script that is only in the history is named by its commit: ``git show COMMIT:benchmarks/NAME.py``."""
    root = DOCS.parent
    pages = [*root.glob("*.md"), *DOCS.rglob("*.md")]
    missing = [
        f"{page.relative_to(root)}: {name}"
        for page in pages
        if page.name != "CHANGELOG.md"
        for name in re.findall(
            r"(?<![:\w/])(?:benchmarks|docs|tests|src|examples)/[\w/.-]+\.\w+", page.read_text("utf-8")
        )
        if not (root / name).exists() and "NAME" not in name
    ]
    assert not missing


def test_the_pages_that_teach_are_run() -> None:
    assert {page.stem for page in PAGES} >= {"tour", "my_data", "choosing", "extending", "honest"}


@pytest.mark.parametrize(
    "text",
    [
        "```pycon\n>>> 1 + 1\n3\n```\n",
        "```pycon\n>>> undefined\n```\n",
        "```sh\nfalse | true\n```\n",
        "```sh\ntest -e absent\n```\n",
        "```sh\ngramme info absent.csv\n```\n",
        "```{code-block} text\n:caption: a.txt\n\nx\n```\n```sh\ngrep -q y a.txt\n```\n",
    ],
)
def test_a_page_that_lies_is_found(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
