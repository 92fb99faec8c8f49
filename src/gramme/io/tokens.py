r"""Fields separated by white space, with quotes where a field holds white space itself.

Only spaces and tabs separate. A quoted field stands between double quotes; inside, a backslash comes before a quote or
a backslash that belongs to the text, and ``\n``, ``\r`` and ``\t`` stand for line ends and tabs.
"""

from __future__ import annotations

import re

_FIELD = re.compile(r"[^ \t]+")
_QUOTED_FIELD = re.compile(r'[ \t]*(?:"((?:[^"\\]|\\.)*)"(?=[ \t]|\Z)|([^ \t]+))')
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_LETTERS = {"n": "\n", "r": "\r", "t": "\t"}
_PLAIN = re.compile(r'[^ \t\n\r"\\]+\Z')


def fields(line: str) -> list[str]:
    r"""The fields of a line without quotes.

    >>> fields(" a\tb  c ")
    ['a', 'b', 'c']
    """
    return _FIELD.findall(line)


def quoted_fields(line: str) -> list[str]:
    r"""The fields of a line, some of them perhaps quoted.

    >>> quoted_fields(r'1 "New \"York\"" 3')
    ['1', 'New "York"', '3']
    """
    found = []
    for quoted, plain in _QUOTED_FIELD.findall(line.strip(" \t")):
        found.append(plain or _ESCAPE.sub(lambda match: _LETTERS.get(match[1], match[1]), quoted))
    return found


def quote(text: str) -> str:
    r"""The text as one field, quoted only where it must be.

    >>> quote("a"), quote("a b"), quote("")
    ('a', '"a b"', '""')
    """
    if _PLAIN.match(text):
        return text
    text = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + text.replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t") + '"'
