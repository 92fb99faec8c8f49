"""How a message names a setting: as an option on the command line, as an argument in Python."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

_ON_COMMAND_LINE: ContextVar[bool] = ContextVar("on_command_line", default=False)


@contextmanager
def on_command_line() -> Iterator[None]:
    """Within this, messages speak of options."""
    before = _ON_COMMAND_LINE.set(True)
    try:
        yield
    finally:
        _ON_COMMAND_LINE.reset(before)


def setting(
    name: str, value: Any = None, *, option: str | None = None, of_method: bool = False
) -> str:
    """A setting as a person writes it where they are.

    Parameters
    ----------
    name : str
        Of the argument.
    value : object, optional
        What to set it to; several in a list. If not given, the name alone.
    option : str, optional
        The name of the option, where it is another.
    of_method : bool, default=False
        Whether it is a parameter of a method, which the command line takes with ``--set``.

    Examples
    --------
    >>> (
    ...     setting("label_bins", 4),
    ...     setting("missing", ["no answer", "99"]),
    ...     setting("overwrite", True),
    ... )
    ('label_bins=4', "missing=['no answer', '99']", 'overwrite=True')
    >>> with on_command_line():
    ...     (
    ...         setting("label_bins", 4),
    ...         setting("missing", ["no answer", "99"]),
    ...         setting("overwrite", True),
    ...     )
    ('--label-bins 4', '--missing "no answer" --missing 99', '--overwrite')
    >>> with on_command_line():
    ...     setting("epochs", 3, of_method=True), setting("label_kind")
    ('--set epochs=3', '--label-kind')
    """
    if not _ON_COMMAND_LINE.get():
        return name if value is None else f"{name}={value!r}"
    if of_method:
        return f"--set {name}" + ("" if value is None else f"={_word(value)}")
    word = f"--{(option or name).replace('_', '-')}"
    if value is None or value is True:
        return word
    several = value if isinstance(value, (list, tuple)) else [value]
    return " ".join(f"{word} {_word(one)}" for one in several)


def _word(value: Any) -> str:
    """A value as one word of a command."""
    if isinstance(value, (list, tuple)):
        listed = ",".join(f'"{one}"' if isinstance(one, str) else str(one) for one in value)
        return f"'[{listed}]'"
    text = str(value)
    return text if re.fullmatch(r"[\w.:,%-]+", text) else f'"{text}"'
