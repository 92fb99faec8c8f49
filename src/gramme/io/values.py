"""Names and labels of any plain kind as JSON and back, without pickles.

Text, whole numbers of any size, decimals, booleans and None stand for themselves; a tuple and what JSON has no word for
are objects with one key that names the kind.
"""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from gramme._text import plural, setting
from gramme.errors import DataError
from gramme.graph.columns import amounts

from .source import tell

# Names of nodes and layers in files: always text, put in numeric order where all are whole
# numbers.


# "7" but neither "07" nor "+7": the text of a whole number as it is usually written.
_WHOLE = re.compile(r"(?:0|-?[1-9][0-9]{0,99})\Z")
# What a spreadsheet shows of a long number
_SHORTENED = re.compile(r"[0-9][.,][0-9]{1,5}E\+[0-9]{2}\Z")
# "07" and "7.0", which programs make of 7
_WITH_ZEROS = re.compile(r"0*([0-9]{1,99})(?:\.0*)?\Z")


def is_whole(name: str) -> bool:
    """Whether a name is a whole number in its usual form."""
    return _WHOLE.match(name) is not None


def in_order(names: Iterable[str]) -> list[str]:
    """Distinct names: by value if all are whole numbers, else as they come."""
    distinct = list(dict.fromkeys(names))
    if all(map(is_whole, distinct)):
        distinct.sort(key=int)
    return distinct


def id_base(names: Sequence[str]) -> int | None:
    """The smallest id if all names are whole numbers, else None."""
    if not names or not all(map(is_whole, names)):
        return None
    return min(map(int, names))


def plain_form(name: str) -> str:
    """A name without what a reader overlooks: case, spaces around and repeated, invisible marks, forms of letters.

    Of a whole number it is the number, since a column with gaps comes out of pandas with 7.0 for 7.
    """
    if not name.isascii():
        name = unicodedata.normalize("NFKC", name)
        name = "".join(letter for letter in name if unicodedata.category(letter) != "Cf")
    whole = _WITH_ZEROS.match(name)
    return whole[1] if whole else " ".join(name.casefold().split())


def twins(names: Iterable[Any], what: str, become: str) -> str | None:
    """A sentence about names that look alike to a reader and are different all the same; None if there are none."""
    first_of: dict[str, Any] = {}
    alike_pairs = []
    for name in names:
        first_alike = first_of.setdefault(plain_form(str(name)), name)
        if first_alike != name:
            alike_pairs.append((first_alike, name))
    if not alike_pairs:
        return None
    one, other = alike_pairs[0]
    difference = "case, spaces, zeros or invisible characters" if isinstance(one, type(other)) else "type"
    more = f", and {plural(len(alike_pairs) - 1, 'more pair')}" if len(alike_pairs) > 1 else ""
    return f"the {what} {one!a} and {other!a} differ in {difference} alone and are two {become}{more}"


def tell_of_twins(names: Iterable[str], what: str, become: str) -> None:
    """Say which names look alike to a reader and are different all the same, which is hardly ever meant."""
    names = list(names)
    shortened = next(filter(_SHORTENED.match, names), None)
    if shortened:
        tell(
            f"the {what} {shortened!r} and the like may be numbers that a spreadsheet has shortened, so that different "
            f"{become} have one name",
            doubt=True,
        )
    alike = twins(names, what, become)
    if alike:
        tell(alike, doubt=True)


def require_proper(kind: str, names: Iterable[Any]) -> None:
    """Refuse names that are not valid Unicode text, where escapes could not stand in for them."""
    for proper_name in dict.fromkeys(one for one in names if isinstance(one, str)):
        if proper_text(proper_name) != proper_name:
            raise DataError(f"the {kind} {proper_name!r} is not valid Unicode text; rename it")


def proper_text(text: str) -> str:
    """Text with escapes for what is not valid Unicode: halves of characters from damaged files."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


# The weight of an edge as text: a positive finite number, or an error that says why not.
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?\Z")


def parse_number(text: str) -> float:
    """A finite number in plain notation; ValueError with the reason otherwise."""
    if not _NUMBER.match(text):
        raise ValueError(f"{text[:80]!r} is not a number")
    number_value = float(text)
    if not math.isfinite(number_value):
        raise ValueError(f"{text[:80]!r} is larger than a number can be")
    return number_value


def parse_weight(text: str) -> float:
    """A positive number; ValueError with the reason otherwise."""
    try:
        number_value = parse_number(text)
    except ValueError as error:
        raise ValueError(f"the weight {error}") from None
    if number_value <= 0:
        raise ValueError(f"the weight is {text[:80]!r}; weights must be positive numbers")
    return number_value


def format_number(value: float) -> str:
    """The shortest text that reads back as the same number; whole numbers without a point."""
    value = float(value)
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)


# Which text means "not known": the same marks in labels, in tables and in attributes of nodes.


#: Cells that mean "not known", besides empty ones: what R, SPSS, SAS, pandas, SQL and UCI write for it, and the errors
#: of a spreadsheet.
UNKNOWN = (
    "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "NULL", "Null", "null", "?", ".",
    "#REF!", "#VALUE!", "#DIV/0!", "#NAME?", "#NULL!", "#NUM!",
)  # fmt: skip


def unknown_marks(missing: str | Iterable[str] = (), *, keep_na: bool = False) -> frozenset[str]:
    """The marks that mean "not known": the usual ones unless they are to be kept, and those that were named."""
    named = [missing] if isinstance(missing, str) else list(missing)
    return frozenset((*(() if keep_na else UNKNOWN), *map(str, named)))


def is_unknown(value: Any, marks: frozenset[str]) -> bool:
    """Whether a value means "not known": nothing, blank text, NaN, or one of the marks."""
    if isinstance(value, str):
        plain_text = value.strip()
        return not plain_text or plain_text in marks
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return True
    return str(value) in marks


def tell_of_labels(counts: Mapping[Any, int], marks: frozenset[str], *, numbers: bool = False) -> None:
    """Say what is doubtful about labels, from how often each of them stands there.

    These are marks that were read as unknown, classes that a reader would take for one, and a -1 among classes that are
    numbers, by which many programs mean "not known". Labels that are ``numbers`` are no classes.
    """
    unknown: Counter[str] = Counter()
    classes: Counter[str] = Counter()
    for cell_content, label_count in counts.items():
        plain_text = "" if cell_content is None else str(cell_content).strip()
        if plain_text:
            (unknown if is_unknown(cell_content, marks) else classes)[plain_text] += int(label_count)
    if unknown:
        label_count = sum(unknown.values())
        named = ", ".join(mark for mark, _ in unknown.most_common(5)) + (", ..." if len(unknown) > 5 else "")
        tell(f"{label_count:,} label{'s' if label_count > 1 else ''} read as unknown: {named}")
    if numbers:
        return
    tell_of_twins(
        (cell for cell in counts if isinstance(cell, str) and not is_unknown(cell, marks)), "labels", "classes"
    )
    if classes["-1"] and len(classes) > 1 and not amounts(classes) and all(map(is_whole, classes)):
        tell(
            f"-1 is a class here, on {classes['-1']:,} nodes; "
            f"if it means 'not known', add {setting('missing', ['-1'])}",
            doubt=True,
        )


_MAX_NESTING = 50
# Python refuses to print longer numbers in decimal.
_DECIMAL_LIMIT = 1 << 10_000


def encode(values: Sequence[Any]) -> bytes:
    """The values as JSON."""
    return json.dumps([_encoded(plain_value) for plain_value in values], separators=(",", ":")).encode("ascii")


def decode(data: bytes) -> list[Any]:
    """The values of a JSON text; ValueError where it is not one of ours."""
    try:
        values = json.loads(data)
        if not isinstance(values, list):
            raise ValueError("the values are not a list")
        return [_decoded(plain_value) for plain_value in values]
    except RecursionError:
        raise ValueError("values are nested too deeply") from None


def _encoded(value: Any, depth: int = 0) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (bool, str)):
        return value if not isinstance(value, str) else str(value)
    if isinstance(value, int):
        return int(value) if -_DECIMAL_LIMIT < value < _DECIMAL_LIMIT else {"int": hex(value)}
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else {"float": str(float(value))}
    if isinstance(value, bytes):
        return {"bytes": value.hex()}
    if isinstance(value, tuple) and depth < _MAX_NESTING:
        return {"tuple": [_encoded(part, depth + 1) for part in value]}
    raise DataError(
        f"{value!r} ({type(value).__name__}) cannot be kept in a file; names and labels may be text, numbers, "
        "booleans, bytes and tuples of these"
    )


def _decoded(value: Any) -> Any:
    if not isinstance(value, dict):
        if isinstance(value, list):
            raise ValueError("a list stands where a value is expected")
        return value
    if len(value) != 1:
        raise ValueError("a value of unknown kind")
    name_kind, content = next(iter(value.items()))
    if name_kind == "tuple" and isinstance(content, list):
        return tuple(_decoded(part) for part in content)
    if name_kind == "int" and isinstance(content, str):
        return int(content, 16)
    if name_kind == "float" and content in ("inf", "-inf", "nan"):
        return float(content)
    if name_kind == "bytes" and isinstance(content, str):
        return bytes.fromhex(content)
    raise ValueError(f"a value of unknown kind {name_kind!r}")
