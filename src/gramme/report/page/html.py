"""One HTML file that needs nothing else: its templates, the data in it, and a policy that lets only our own script run.

What a page says stands in ``templates``, a file of macros per kind of page; Python hands them plain values. Names and
labels come from files we do not know, so none of them is ever trusted. The templates escape all text; as data it lies
in a JSON block in which no character can end the block; the script of the page puts it in place as text. Beyond that,
the page carries a content security policy that names its one script and its one style sheet by their digests: whatever
else should find its way into the file does not run, and nothing can be loaded from or sent to anywhere.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

import jinja2
import markupsafe
import numpy as np
from jinja2.ext import Extension
from jinja2.lexer import Token, TokenStream
from markupsafe import Markup
from numpy.typing import NDArray

from gramme._text import plural, rough_number, share
from gramme.errors import FileFormatError
from gramme.links.explain import percent

# Columns of numbers as compact text: a hundred thousand nodes must not make a page of a hundred megabytes.

Packed = dict[str, Any]

FULL_SHARE = 65535
"""The whole number that stands for a share of 1."""


def pack_integers(values: NDArray[Any]) -> Packed:
    """Whole numbers from 0 in the smallest type that holds them: ``{"type": ..., "data": base64}``.

    >>> pack_integers(np.array([1, 2, 300]))
    {'type': 'u16', 'data': 'AQACACwB'}
    """
    highest = int(values.max(initial=0))
    return _packed(values, "u8" if highest < 2**8 else "u16" if highest < 2**16 else "u32")


def pack_shares(values: NDArray[Any]) -> Packed:
    """Shares between 0 and 1, to four digits; what is missing counts as 0.

    >>> pack_shares(np.array([0.0, 1.0]))
    {'type': 'u16', 'data': 'AAD//w=='}
    """
    return _packed(np.rint(np.clip(np.nan_to_num(values.astype(np.float64)), 0, 1) * FULL_SHARE), "u16")


def pack_floats(values: NDArray[Any]) -> Packed:
    """Numbers in 32 bits."""
    return _packed(values, "f32")


def _packed(values: NDArray[Any], kind: str) -> Packed:
    packed_numbers = np.ascontiguousarray(values, dtype={"u8": "<u1", "u16": "<u2", "u32": "<u4", "f32": "<f4"}[kind])
    return {"type": kind, "data": base64.b64encode(packed_numbers.tobytes()).decode()}


BLOCK = "report-data"
"""The id of the element that holds the data of a page."""

STYLES = ("page.css", "map.css")
SCRIPTS = (
    "page.js",
    "unpack.js",
    "table.js",
    "map.js",
    "palette.js",
    "network.js",
    "panel.js",
    "search.js",
    "nodetable.js",
    "benchmark.js",
    "fit.js",
    "picture.js",
    "save.js",
)

_UNFIT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_RISKY = re.compile("[<>&\u2028\u2029\x7f-\x9f\ud800-\udfff]")
_START = f'<script type="application/json" id="{BLOCK}">'
_END = "</script>"


def _proper(value: Any) -> Any:
    """Text in which what HTML cannot hold has become the replacement character; markup stays as it is."""
    return value if hasattr(value, "__html__") else _UNFIT.sub("\ufffd", str(value))


def escape(value: Any) -> Markup:
    """A value as text in markup or in an attribute.

    >>> escape('<b class="x">')
    Markup('&lt;b class=&#34;x&#34;&gt;')
    """
    return markupsafe.escape(_proper(value))


def name(value: Any, longest: int = 200) -> Markup:
    """A user's name for something, shortened, and isolated so that its writing direction cannot reorder other text.

    >>> name("a&b")
    Markup('<bdi>a&amp;b</bdi>')
    """
    return Markup("<bdi>{}</bdi>").format(escape(shorten(value, longest)))


def soft_name(value: Any, longest: int = 200) -> Markup:
    """A name that may be broken after its own marks, so that a narrow column need not break it within a word.

    >>> soft_name("right_distance")
    Markup('<bdi>right_<wbr>distance</bdi>')
    """
    name_parts = [part for part in re.split(r"(?<=[_./:-])(?=\w)", _proper(shorten(value, longest))) if part]
    return Markup("<bdi>{}</bdi>").format(Markup("<wbr>").join(name_parts))


def shorten(value: Any, longest: int) -> str:
    """Text cut to a number of characters, with an ellipsis if some are left out.

    >>> shorten("abcdefgh", 5)
    'abcd…'
    """
    text = str(value)
    return text if len(text) <= longest else text[: longest - 1] + "…"


def signed(value: float) -> str:
    """Two decimals, with a proper minus sign.

    >>> signed(-0.25), signed(-0.001)
    ('−0.25', '0.00')
    """
    return f"{value:.2f}".replace("-0.00", "0.00").replace("-", "−")


def class_text(label: Any, thing: str = "class") -> str:
    """The name of a class in a sentence, marked as one where it is a number.

    >>> class_text("oak"), class_text("3"), class_text("-1.5"), class_text("2", "layer")
    ('oak', 'class 3', 'class -1.5', 'layer 2')
    """
    return f"{thing} {label}" if re.fullmatch(r"[+-]?[\d.]+", str(label)) else str(label)


def _natural(value: Any) -> list[tuple[float, str]]:
    """A key by which class 2 comes before class 10."""
    name_parts = re.split(r"(\d+)", str(value))
    return [(float(part), "") if place % 2 else (math.inf, part.casefold()) for place, part in enumerate(name_parts)]


def span(ends: Sequence[float], digits: int = 0) -> str:
    """An interval of shares.

    >>> span((0.721, 0.834)), span((0.721, 0.834), 1)
    ('72 to 83 %', '72.1 to 83.4 %')
    """
    return f"{100 * ends[0]:.{digits}f} to {share(ends[1], digits)}"


def there(value: Any) -> bool:
    """Whether a value is a number that can be shown."""
    return isinstance(value, (int, float)) and math.isfinite(value)


def listed(values: Iterable[Any], most: int, longest: int = 40, more: str = "…") -> Markup:
    """The first of some names with commas between, and ``more`` where there are others; ``{}`` in it is how many."""
    all_values = list(values)
    rest_count = f"{len(all_values) - most:,}"
    return Markup(", ").join(name(one, longest) for one in all_values[:most]) + (
        "" if len(all_values) <= most else more.replace("{}", rest_count)
    )


def in_words(values: Iterable[Any]) -> str:
    """Some values with commas and a last "and".

    >>> in_words([10]), in_words([10, 20, 30])
    ('10', '10, 20 and 30')
    """
    *first, last = map(str, values)
    return f"{', '.join(first)} and {last}" if first else last


TABLE_WORDS = {"node": "row", "nodes": "rows", "layer": "column", "layers": "columns"}
"""What nodes and layers are called where the data are a table."""
_SENTENCE_WORD = re.compile(rf"(?<![^\s(>“])({'|'.join(TABLE_WORDS)})(?=[\s,:;)<’']|\.(?!\w)|$)", re.IGNORECASE)


class TableWords(Extension):
    """Makes the sentences of all templates speak of rows and columns; names, ids and data stay as they are."""

    def filter_stream(self, stream: TokenStream) -> Iterator[Token]:
        """Change the words in what is printed: text between tags, and quoted text that holds a space."""
        for token in stream:
            if token.type == "data" or (token.type == "string" and " " in token.value):
                token = Token(token.lineno, token.type, _SENTENCE_WORD.sub(_table_word, token.value))
            yield token


def _table_word(found: re.Match[str]) -> str:
    word = TABLE_WORDS[found[0].lower()]
    return word.capitalize() if found[0][0].isupper() else word


def for_templates(function: Callable[..., Any]) -> Callable[..., Any]:
    """Let templates call a function by its name."""
    for rows, html in ((False, True), (True, True), (False, False)):
        _environment(rows, html).globals[function.__name__] = function
    return function


@functools.cache
def _environment(rows: bool, html: bool) -> jinja2.Environment:
    """What makes pages of templates, with ``rows`` of a table; without ``html`` plain text for the terminal."""
    environment = jinja2.Environment(
        extensions=[TableWords] if rows else [],
        loader=jinja2.PackageLoader("gramme.report"),
        autoescape=html,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_proper if html else str,
    )

    def word(thing: str) -> str:
        return _SENTENCE_WORD.sub(_table_word, thing) if rows else thing

    environment.filters |= {
        "name": name,
        "soft_name": soft_name,
        "shorten": shorten,
        "count": lambda value: f"{value:,}",
        "share": share,
        "span": span,
        "points": lambda value: f"{100 * value:+.1f}".replace("-", "−").replace("+0.0", "0.0").replace("−0.0", "0.0"),
        "quoted": repr,
        "as_json": lambda value: json.dumps(value, ensure_ascii=False, default=str),
        "signed": signed,
        "plural": lambda count, thing, *ending: plural(count, word(thing), *ending),
        "listed": listed,
        "spec": lambda value, spec: format(value, spec),
        "rough": rough_number,
        "combined": lambda record, **more: record | more,
        "ranked": lambda values: sorted(zip(values, range(len(values)), strict=True), key=lambda pair: -pair[0]),
        "natural": lambda values: sorted(values, key=_natural),
        "sort_by": lambda rows, key: sorted(rows, key=lambda row: _natural(row[key])),
        "class_text": class_text,
        "things": word,
        "layer_name": lambda value, longest=40: name(class_text(value, "layer"), longest),
        "class_name": lambda value, longest=40: name(class_text(value), longest),
        "percent": percent,
        "node_name": lambda value, longest=40: name(class_text(value, "node"), longest),
        "capital": lambda value: value[:1].upper() + value[1:],
        "across": lambda value: f"{100 * min(max(value, 0.0), 1.0):.2f}%",
    }
    environment.tests["there"] = there
    return environment


for_templates(in_words)


def macro(kind: str, name: str, *values: Any, rows: bool = False) -> Markup:
    """What a macro of a template makes of some values; with ``rows``, in the words for tables."""
    made_markup: Markup = getattr(_environment(rows, True).get_template(f"{kind}.j2").module, name)(*values)
    return made_markup


def sentences(kind: str, *values: Any) -> list[str]:
    """What a command prints: the lines that a macro of ``terminal.j2`` makes of some values."""
    printed_text = getattr(_environment(False, False).get_template("terminal.j2").module, kind)(*values)
    return [line.rstrip() for line in printed_text.splitlines() if line.strip()]


def render(data: dict[str, Any]) -> str:
    """A page as text, from its data alone, which it then holds: title and body of the template of its kind."""
    page_kind, of_table = str(data["kind"]).replace("-", "_"), bool(data.get("of_table"))
    return page(
        macro(page_kind, "title", data, rows=of_table).unescape(), macro(page_kind, "body", data, rows=of_table), data
    )


def page(title: str, body: str, data: dict[str, Any]) -> str:
    """A whole page: head with policy, style and script, the body, and the data block."""
    style_text, script_text = _assets(STYLES), _assets(SCRIPTS)
    page_text = (
        _environment(False, True)
        .get_template("page.j2")
        .render(
            title=shorten(title, 100),
            body=Markup(body),
            style=Markup(style_text),
            script=Markup(script_text),
            style_digest=_digest(style_text),
            script_digest=_digest(script_text),
            data=Markup(f"{_START}{embed_json(data)}{_END}"),
        )
    )
    # a name that is not valid Unicode text is shown as an escape, which the data block reads back
    return page_text.encode("utf-8", "backslashreplace").decode("utf-8")


def embed_json(data: Any) -> str:
    r"""JSON that may stand within a script element: no character in it can end the element or a line of script.

    >>> print(embed_json({"a": "</script>"}))
    {"a":"\u003c/script\u003e"}
    """
    text = json.dumps(_plain(data), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return _RISKY.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def read_data(path: Path) -> dict[str, Any]:
    """The data block of a page that was written before."""
    page_text = path.read_text(encoding="utf-8", errors="replace")
    block_start = page_text.find(_START)
    block_end = page_text.find(_END, block_start)
    try:
        if block_start < 0 or block_end < 0:
            raise ValueError("it has no data block")
        page_data = json.loads(page_text[block_start + len(_START) : block_end])
        if not isinstance(page_data, dict) or page_data.get("format") != "gramme-report":
            raise ValueError("its data block is of another kind")
    except ValueError as error:
        raise FileFormatError(f"is not a page made by gramme: {error}", file=path) from None
    return page_data


def _assets(files: Iterable[str]) -> str:
    """The text of some assets, one after the other; line ends as a browser sees them, since their digest counts."""
    folder = resources.files("gramme.report.page") / "assets"
    text = "\n".join((folder / file).read_text(encoding="utf-8") for file in files)
    return text.replace("\r\n", "\n")


def _digest(text: str) -> str:
    """The digest by which a policy names a script or a style sheet."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _plain(value: Any) -> Any:
    """A value that JSON can hold: numpy's numbers as Python's, what is not finite as null, anything else as text."""
    if isinstance(value, dict):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(inner) for inner in value]
    if isinstance(value, (np.ndarray, np.generic)):
        return _plain(value.tolist())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, (str, int, bool)) else str(value)
