"""Where the command line prints: results on standard output, messages and progress on standard error."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console

from gramme._terminal import escape
from gramme.errors import GrammeWarning

out = Console(highlight=False, soft_wrap=True)
messages = Console(stderr=True, highlight=False, soft_wrap=True)


def complain(message: str) -> None:
    """One error message; the text is shown as it is, never as markup."""
    messages.print(f"[bold red]Error:[/] {escape(message)}")


def note(message: str) -> None:
    """Print a remark that is not an error."""
    messages.print(f"[yellow]Note:[/] {escape(message)}")


@contextmanager
def warnings_as_notes(*, silent: bool = False) -> Iterator[None]:
    """Show warnings as remarks, without Python's file and line, each text once, or none at all.

    Those of other libraries say whose they are: where on the disk they arose helps nobody who runs a command.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("always", GrammeWarning)
        shown: set[str] = set()

        def show(message: Warning | str, category: type[Warning], file: str, *where: Any) -> None:
            text = str(message)
            if not issubclass(category, GrammeWarning):
                text = f"{_library(file)} warns: {' '.join(text.split())}"
            if not silent and text not in shown:  # fits on parts of the data would repeat it
                shown.add(text)
                note(text)

        warnings.showwarning = show  # type: ignore[assignment]
        yield


def _library(file: str) -> str:
    """The name of the library whose module a file is.

    >>> _library("/usr/lib/python3/site-packages/sklearn/utils/multiclass.py")
    'sklearn'
    >>> _library("<string>")
    'Python'
    """
    _, inside, after = file.replace("\\", "/").rpartition("-packages/")
    return after.split("/")[0].removesuffix(".py") if inside else "Python"
