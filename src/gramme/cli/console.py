"""Where the command line prints: results on standard output, messages and progress on standard error."""

from __future__ import annotations

import gc
import sys
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from gramme._runtime import free_bytes, kibibytes
from gramme._text import escape
from gramme.errors import DataError, GrammeWarning

from .options import Reading

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
        shown_texts: set[str] = set()

        def show(message: Warning | str, category: type[Warning], file: str, *where: Any) -> None:
            text = str(message)
            if not issubclass(category, GrammeWarning):
                text = f"{_library(file)} warns: {' '.join(text.split())}"
            if not silent and text not in shown_texts:  # fits on parts of the data would repeat it
                shown_texts.add(text)
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


# Imports that are not searched for garbage.


@contextmanager
def loading() -> Iterator[None]:
    """Within this, imports are not searched for garbage; if there were any, what is there then never will be."""
    loaded, searching = len(sys.modules), gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if len(sys.modules) > loaded:  # once in a process: garbage of that moment stays as well
            gc.freeze()
        if searching:
            gc.enable()


# Too little memory ends in a message: neither in a traceback nor in a process that the system kills without a word.

# torch has no error class of its own for either
_WORDS = ("alloc", "overflow")


@contextmanager
def bounded_memory(advice: str, *, most: int | None = None) -> Iterator[None]:
    """Within this a lack of memory is a :class:`DataError` that gives the advice.

    At most so many bytes may be taken beyond what is in use, what is free if not given; on other systems than Linux
    there is no limit but what the system sets.
    """
    try:
        with _limited(most):
            yield
    except (MemoryError, RuntimeError) as error:
        if isinstance(error, RuntimeError) and not any(word in str(error) for word in _WORDS):
            raise
        raise DataError(f"the memory is too small: {advice}") from error


@contextmanager
def _limited(most: int | None) -> Iterator[None]:
    try:
        import resource

        import torch

        if torch.cuda.is_available():  # its driver reserves addresses far beyond the memory it uses
            raise OSError
        used_bytes, free_memory = 1024 * kibibytes("self/status", "VmData"), free_bytes()
        if free_memory is None:
            raise OSError
        soft_limit, hard_limit = resource.getrlimit(resource.RLIMIT_DATA)
    except (ImportError, OSError, ValueError):
        yield
        return
    wanted_bytes = used_bytes + (free_memory if most is None else most)
    finite_limits = [one for one in (soft_limit, hard_limit, wanted_bytes) if one != resource.RLIM_INFINITY]
    resource.setrlimit(resource.RLIMIT_DATA, (min(finite_limits), hard_limit))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft_limit, hard_limit))


def text_table(heads: Sequence[str], rows: Iterable[Sequence[Any]], *, most: int | None = None) -> Table:
    """A table for the terminal, at most its first rows; a head that ends in # is of a column of numbers."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for head in heads:
        table.add_column(head.removesuffix("#"), justify="right" if head.endswith("#") else "left", overflow="fold")
    all_rows = list(rows)
    for row in all_rows[:most]:
        table.add_row(*(escape(f"{cell:,}" if isinstance(cell, int) else str(cell)) for cell in row))
    if most is not None and len(all_rows) > most:
        table.add_row(f"and {len(all_rows) - most:,} more")
    return table


# A command never writes over what it reads, whatever --overwrite says.


def check_new_file(target: Path, example: str, *, overwrite: bool) -> None:
    """Refuse a file to write that is a folder, or is there already."""
    if target.is_dir():
        raise DataError(f"{target} is a folder; name a file to write, like {target / example}")
    if target.exists() and not overwrite:
        raise DataError(f"{target} exists already; name another file or say --overwrite")


def check_not_read(target: Path, sources: Iterable[str | Path], read: Reading | None = None) -> None:
    """Refuse a target that is one of the files a command reads, or a folder that holds one.

    Sources that are no files (names of datasets, addresses) are passed over; ``read`` names others.
    """
    source_paths = [Path(source) for source in sources]
    if read is not None:
        source_paths += [] if read.labels is None else [read.labels]
        source_paths += map(Path, read.relation_files().values()) if read.relation else []
    for source in source_paths:
        if _is_in(source, target):
            raise DataError(
                f"{target} is or holds {str(source)!r}, which this command reads and which would be lost; "
                "name another place"
            )


def _is_in(source: Path, target: Path) -> bool:
    """Whether a file that is read is the target, or lies in it."""
    try:
        place, path = target.resolve(), source.resolve()
        return path.is_file() and (place == path or place in path.parents)
    except (OSError, ValueError, RuntimeError):
        return False  # a name that no file can have is for others to refuse
