"""``gramme new``: four questions, and the command that follows from the answers."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import typer

from gramme.errors import DataError, did_you_mean

from .console import messages, out

Answer = TypeVar("Answer")
TIES, PEOPLE = "tie", "person"
MAX_TRIED_BYTES = 20_000_000
"""Bytes up to which a file is read to see whether it is a matrix."""


def new(run: bool = typer.Option(True, "--run/--print", help="Run the command, or only print it.")) -> None:
    """Ask where your data is and what it holds, then print the command of gramme fit and run it."""
    try:
        if sys.stdin is None:  # closed by who started the command
            raise typer.Abort
        words = ask()
    except typer.Abort as end:
        if isinstance(end.__context__, KeyboardInterrupt):
            raise KeyboardInterrupt from None
        raise DataError(
            "the answers ended before the questions did; run it in a terminal, or write the command yourself: "
            "gramme fit FILE --labels LABELS --out DIR"
        ) from None
    out.print(shlex.join(["gramme", *words]), markup=False)
    if run:
        from .app import main

        main(words)


def ask() -> list[str]:
    """The words of the command, from four questions and where to put the result."""
    from gramme.io.headers import edge_header

    file_names = _asked("1. Where is the file (or files, a layer each)?", _files)
    column_names = _columns(file_names[0])
    rows_are_ties = column_names is None or edge_header(column_names) is not None or len(file_names) > 1
    matrix_note = None if rows_are_ties else _matrix(file_names[0])
    if matrix_note is not None:
        rows_are_ties = True
        messages.print(f"   {matrix_note}", markup=False)
    elif column_names is not None:
        messages.print(f"   its columns: {', '.join(column_names)}", markup=False)
    row_kind = _choice(
        "2. What is a row: a tie between two (tie), or a person or thing (person)?",
        (TIES, PEOPLE),
        TIES if rows_are_ties else PEOPLE,
    )
    command_words = ["fit", *file_names]
    if row_kind == TIES:
        command_words += _label_file()
    else:
        assert column_names is not None or row_kind == PEOPLE
        command_words += ["--table", *_label_and_id(column_names or [])]
    result_folder = typer.prompt("Folder for the results", default=f"{Path(file_names[0]).stem}-result", err=True)
    return [*command_words, "--out", str(result_folder)]


def _asked(question: str, understood: Callable[[str], Answer], default: str | None = None) -> Answer:
    """An answer as it is understood; a person who mistypes is told so and asked again, a script ends."""
    while True:
        text = typer.prompt(question, default=default, show_default=bool(default), err=True)
        try:
            return understood(str(text).strip())
        except DataError as error:
            if not sys.stdin.isatty():
                raise
            messages.print(f"   {error}", markup=False)


def _files(text: str) -> list[str]:
    """The files of an answer: one name that may hold spaces, or several."""
    if Path(text.strip("\"'")).exists():
        return [text.strip("\"'")]
    try:
        names = shlex.split(text)
    except ValueError:
        names = text.split()
    for name in names:
        if not Path(name).exists() and "*" not in name:
            raise DataError(f"there is no file {name!r}")
    if not names:
        raise DataError("no file is named")
    return names


def _columns(name: str) -> list[str] | None:
    """The columns of a table; None for other files."""
    from gramme.io.plain_table import ENDINGS, header_of

    if not Path(name).is_file() or not name.lower().endswith(ENDINGS):
        return None
    return header_of(Path(name))


def _matrix(name: str) -> str | None:
    """What is said about a file that is a matrix; None for other files, and for those too large to be tried."""
    from gramme.io import inspect

    if Path(name).stat().st_size > MAX_TRIED_BYTES:
        return None
    try:
        _, report = inspect(name)
    except DataError:
        return None
    return next((note for note in report.notes if "read as a matrix" in note), None)


def _choice(question: str, known: tuple[str, ...], default: str) -> str:
    def understood(answer: str) -> str:
        found = [word for word in known if word.startswith(answer.lower())] if answer else []
        if len(found) != 1:
            raise DataError(f"{answer!r} is not an answer; {did_you_mean(answer.lower(), known)}")
        return found[0]

    return _asked(question, understood, default)


def _column(question: str, known: list[str], default: str = "", *, needed: str | None = None) -> str:
    """A column of those known, or none; ``needed`` says why there must be one."""

    def understood(answer: str) -> str:
        if not answer and needed is not None:
            raise DataError(needed)
        if answer and known and answer not in known:
            raise DataError(f"there is no column {answer!r}; {did_you_mean(answer, known)}")
        return answer

    return _asked(question, understood, default)


def _label_file() -> list[str]:
    """Where the labels of the nodes stand, and under which name."""
    question = "3. Which file has the labels (blank: they are in the file itself)?"
    label_files = _asked(question, lambda text: _files(text) if text else [], "")
    label_words, column_names = [], None
    if label_files:
        label_file = label_files[0]
        label_words, column_names = ["--labels", label_file], _columns(label_file)
        if column_names is not None:
            messages.print(f"   its columns: {', '.join(column_names)}", markup=False)
    label_column = _column("   Which column or attribute is the label (blank: the usual one)?", column_names or [])
    label_words += ["--label", label_column] if label_column else []
    if column_names is not None and len(column_names) > 2:
        id_column = _column("4. Which column names the nodes?", column_names, column_names[0])
        label_words += ["--id", id_column] if id_column else []
    return label_words


def _label_and_id(header: list[str]) -> list[str]:
    question = "3. Which column is the label, to be predicted where it is empty?"
    label_column = _column(question, header, needed="without a label there is nothing to learn")
    id_column = _column("4. Which column names the rows (blank: none)?", header)
    return ["--label", label_column, *(["--id", id_column] if id_column else [])]
