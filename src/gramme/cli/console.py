"""Where the command line prints: results on standard output, messages and progress on standard error."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.markup import escape

from gramme.errors import GrammeWarning

out = Console(highlight=False, soft_wrap=True)
messages = Console(stderr=True, highlight=False, soft_wrap=True)


def complain(message: str) -> None:
    """One error message; the text is shown as it is, never as markup."""
    messages.print(f"[bold red]Error:[/] {escape(message)}")


def note(message: str) -> None:
    """A remark that is no error."""
    messages.print(f"[yellow]Note:[/] {escape(message)}")


@contextmanager
def warnings_as_notes() -> Iterator[None]:
    """Show gramme's own warnings as remarks, without Python's file and line."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", GrammeWarning)
        yield
    for warning in caught:
        if issubclass(warning.category, GrammeWarning):
            note(str(warning.message))
        else:
            warnings.warn_explicit(
                warning.message, warning.category, warning.filename, warning.lineno
            )
