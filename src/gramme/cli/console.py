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
    """Show gramme's own warnings as remarks, without Python's file and line, or not at all."""
    with warnings.catch_warnings():
        warnings.simplefilter("always", GrammeWarning)
        others = warnings.showwarning
        shown: set[str] = set()

        def show(message: Warning | str, category: type[Warning], *where: Any) -> None:
            if not issubclass(category, GrammeWarning):
                others(message, category, *where)
            elif (
                not silent and str(message) not in shown
            ):  # fits on parts of the data would repeat it
                shown.add(str(message))
                note(str(message))

        warnings.showwarning = show  # type: ignore[assignment]
        yield
