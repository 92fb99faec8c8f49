"""Names of nodes and layers in files: always text, put in numeric order where all are whole numbers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from gramme.errors import DataError

# "7" but neither "07" nor "+7": the text of a whole number as it is usually written.
_WHOLE = re.compile(r"(?:0|-?[1-9][0-9]{0,99})\Z")


def is_whole(name: str) -> bool:
    """Whether a name is a whole number in its usual form.

    >>> [is_whole(name) for name in ("0", "12", "-3", "01", "+1", "1.0", "")]
    [True, True, True, False, False, False, False]
    """
    return _WHOLE.match(name) is not None


def in_order(names: Iterable[str]) -> list[str]:
    """Distinct names: by value if all are whole numbers, else as they come.

    >>> in_order(["10", "9", "10"]), in_order(["10", "b", "9"])
    (['9', '10'], ['10', 'b', '9'])
    """
    distinct = list(dict.fromkeys(names))
    if all(map(is_whole, distinct)):
        distinct.sort(key=int)
    return distinct


def id_base(names: Sequence[str]) -> int | None:
    """The smallest id if all names are whole numbers, else None."""
    if not names or not all(map(is_whole, names)):
        return None
    return min(map(int, names))


def require_proper(kind: str, names: Iterable[Any]) -> None:
    """Refuse names that are not valid Unicode text, where escapes could not stand in for them."""
    for name in dict.fromkeys(one for one in names if isinstance(one, str)):
        if proper_text(name) != name:
            raise DataError(f"the {kind} {name!r} is not valid Unicode text; rename it")


def proper_text(text: str) -> str:
    """Text with escapes for what is not valid Unicode: halves of characters from damaged files."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
