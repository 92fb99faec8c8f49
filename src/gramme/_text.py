"""Numbers as people write them."""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

# How a message names a setting: as an option on the command line, as an argument in Python.
_ON_COMMAND_LINE: ContextVar[bool] = ContextVar("on_command_line", default=False)


@contextmanager
def on_command_line() -> Iterator[None]:
    """Within this, messages speak of options."""
    before = _ON_COMMAND_LINE.set(True)
    try:
        yield
    finally:
        _ON_COMMAND_LINE.reset(before)


def setting(name: str, value: Any = None, *, option: str | None = None, of_method: bool = False) -> str:
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
    >>> (setting("label_bins", 4), setting("missing", ["no answer", "99"]), setting("overwrite", True))
    ('label_bins=4', "missing=['no answer', '99']", 'overwrite=True')
    >>> with on_command_line():
    ...     (setting("label_bins", 4), setting("missing", ["no answer", "99"]), setting("overwrite", True))
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


# Text on its way to a terminal: what would steer it, and not be seen, is shown as what it is.


# Control characters but for line breaks and tabs, and the marks that turn the direction of writing.
_STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def visible(text: str) -> str:
    r"""The text with control characters spelled out.

    Names of nodes and layers, file names and what a server answers come from outside; an escape sequence in them could
    recolour the terminal, hide a line or set its title.

    >>> visible("a\x1b[31mb")
    'a\\x1b[31mb'
    """
    return _STEERING.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), text)


def json_text(value: Any, *, indent: int | None = None) -> str:
    r"""The value as JSON for standard output: letters of any language as they are, what steers a terminal escaped.

    >>> json_text({"läge": "a\u202eb"})
    '{"läge": "a\\u202eb"}'
    """
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    return _STEERING.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def escape(text: str) -> str:
    r"""The text for rich's consoles: neither control characters nor square brackets do anything.

    >>> escape("[red]x")
    '\\[red]x'
    """
    from rich.markup import escape as without_markup

    return without_markup(visible(text))


def never_fail_to_print() -> None:
    """Let standard output and error replace what their encoding lacks, as on a terminal that knows only ASCII."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


# Times in words.
def duration(seconds: float) -> str:
    """A time in words, to the second where it is short.

    >>> duration(42), duration(130), duration(7300)
    ('42 s', '2 min 10 s', '2 h 1 min')
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def seconds_of(text: str) -> float:
    """The seconds that a time like 90s, 10m, 1.5h or 1h30m is; a plain number is seconds.

    >>> seconds_of("90"), seconds_of("10m"), seconds_of("1h30m")
    (90.0, 600.0, 5400.0)
    """
    time_match = re.fullmatch(
        r"\s*(?:([0-9.]+)\s*h)?\s*(?:([0-9.]+)\s*m(?:in)?)?\s*(?:([0-9.]+)\s*s?)?\s*", text.lower()
    )
    try:
        parts = [float(one or 0) for one in time_match.groups()] if time_match else []
    except ValueError:
        parts = []
    if not any(parts):
        raise ValueError(f"{text!r} is not a time; write it as 90s, 10m or 1h30m")
    return sum(part * unit for part, unit in zip(parts, (3600, 60, 1), strict=True))


def rough_duration(seconds: float) -> str:
    """A time that is only guessed, in one unit.

    >>> rough_duration(0.2), rough_duration(130), rough_duration(7300)
    ('1 s', '2 min', '2.0 h')
    """
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    return f"{round(seconds / 60)} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


DIGITS = 4


def plural(count: int, thing: str, ending: str = "s") -> str:
    """A number of things in words.

    >>> plural(1, "node"), plural(1200, "class", "es")
    ('1 node', '1,200 classes')
    """
    return f"{count:,} {thing}{'' if count == 1 else ending}"


def share(value: float, digits: int = 0) -> str:
    """A share in percent.

    >>> share(0.123), share(0.123, 1)
    ('12 %', '12.3 %')
    """
    return f"{100 * value:.{digits}f} %"


def rough_number(value: float) -> str:
    """A number to four digits, with separators and, unless it is tiny or enormous, without an exponent.

    >>> rough_number(152133.7), rough_number(0.012345), rough_number(2.0), rough_number(-98765)
    ('152,100', '0.01235', '2', '-98,760')
    """
    if not math.isfinite(value) or value == 0 or not 1e-4 <= abs(value) < 1e12:
        return f"{value:.{DIGITS}g}"
    behind = DIGITS - 1 - math.floor(math.log10(abs(value)))
    rounded = round(value, behind)
    text = f"{rounded:,.{max(behind, 0)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def number_within(value: float, width: float) -> str:
    """A number with the decimals that matter where it is known up to ``width``: three digits of that.

    >>> number_within(132.365, 94.458), number_within(-0.01, 94.458), number_within(9876.5, 5000.0)
    ('132.4', '0.0', '9,876')
    """
    if not (math.isfinite(value) and 1e-4 <= width < 1e12):
        return rough_number(value)
    text = f"{value:,.{max(0, 2 - math.floor(math.log10(width)))}f}"
    return text if text.strip("-0.,") else text.lstrip("-")
