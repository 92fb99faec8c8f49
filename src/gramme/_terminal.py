"""Text on its way to a terminal: what would steer it, and not be seen, is shown as what it is."""

from __future__ import annotations

import json
import re
import sys
from typing import Any

# Control characters but for line breaks and tabs, and the marks that turn the direction of writing.
_STEERING = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)


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
