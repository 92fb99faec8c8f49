"""One HTML file that needs nothing else: escaping, data in the page, and a policy that lets only our own script run.

Names and labels come from files we do not know, so none of them is ever trusted. In markup they pass
:func:`escape`; as data they lie in a JSON block in which no character can end the block; the script of the page puts
them in place as text. Beyond that, the page carries a content security policy that names its one script and its one
style sheet by their digests: whatever else should find its way into the file does not run, and nothing can be loaded
from or sent to anywhere.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gramme.errors import FileFormatError

# Columns of numbers as compact text: a hundred thousand nodes must not make a page of a hundred
# megabytes.


Packed = dict[str, Any]

FULL_SHARE = 65535
"""The whole number that stands for a share of 1."""


def pack_integers(values: NDArray[Any]) -> Packed:
    """Whole numbers from 0 in the smallest type that holds them: ``{"type": ..., "data": base64}``.

    >>> pack_integers(np.array([1, 2, 300]))
    {'type': 'u16', 'data': 'AQACACwB'}
    """
    highest = int(values.max(initial=0))
    kind = "u8" if highest < 2**8 else "u16" if highest < 2**16 else "u32"
    numbers = np.ascontiguousarray(values, dtype={"u8": "<u1", "u16": "<u2", "u32": "<u4"}[kind])
    return {"type": kind, "data": base64.b64encode(numbers.tobytes()).decode()}


def pack_shares(values: NDArray[Any]) -> Packed:
    """Shares between 0 and 1, to four digits; what is missing counts as 0.

    >>> pack_shares(np.array([0.0, 1.0]))
    {'type': 'u16', 'data': 'AAD//w=='}
    """
    whole = np.rint(np.clip(np.nan_to_num(values.astype(np.float64)), 0, 1) * FULL_SHARE)
    numbers = whole.astype("<u2")
    return {"type": "u16", "data": base64.b64encode(numbers.tobytes()).decode()}


def pack_floats(values: NDArray[Any]) -> Packed:
    """Numbers in 32 bits."""
    numbers = np.ascontiguousarray(values, dtype="<f4")
    return {"type": "f32", "data": base64.b64encode(numbers.tobytes()).decode()}


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
)

_UNFIT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_RISKY = re.compile("[<>&\u2028\u2029\x7f-\x9f\ud800-\udfff]")
_START = f'<script type="application/json" id="{BLOCK}">'
_END = "</script>"


def escape(value: Any) -> str:
    """A value as text in markup or in an attribute; what HTML cannot hold becomes the replacement character.

    >>> escape('<b class="x">')
    '&lt;b class=&quot;x&quot;&gt;'
    """
    return html.escape(_UNFIT.sub("\ufffd", str(value)), quote=True)


def name(value: Any, longest: int = 200) -> str:
    """A user's name for something, shortened, and isolated so that its writing direction cannot reorder other text.

    >>> name("a&b")
    '<bdi>a&amp;b</bdi>'
    """
    return f"<bdi>{escape(shorten(value, longest))}</bdi>"


def soft_name(value: Any, longest: int = 200) -> str:
    """A name that may be broken after its own marks, so that a narrow column need not break it within a word.

    >>> soft_name("right_distance")
    '<bdi>right_<wbr>distance</bdi>'
    """
    text = _UNFIT.sub("\ufffd", shorten(value, longest))
    parts = [part for part in re.split(r"(?<=[_./:-])(?=\w)", text) if part]
    return f"<bdi>{'<wbr>'.join(html.escape(part, quote=True) for part in parts)}</bdi>"


def shorten(value: Any, longest: int) -> str:
    """Text cut to a number of characters, with an ellipsis if some are left out.

    >>> shorten("abcdefgh", 5)
    'abcd…'
    """
    text = str(value)
    return text if len(text) <= longest else text[: longest - 1] + "…"


def embed_json(data: Any) -> str:
    r"""JSON that may stand within a script element: no character in it can end the element or a line of script.

    >>> print(embed_json({"a": "</script>"}))
    {"a":"\u003c/script\u003e"}
    """
    text = json.dumps(_plain(data), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return _RISKY.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def page(title: str, body: str, data: dict[str, Any]) -> str:
    """A whole page: head with policy, style and script, the body, and the data block."""
    style, script = _assets(STYLES), _assets(SCRIPTS)
    policy = (
        f"default-src 'none'; script-src '{_digest(script)}'; style-src '{_digest(style)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    text = (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        '<meta name="referrer" content="no-referrer">\n'
        f"<title>{escape(shorten(title, 100))}</title>\n<style>{style}</style>\n</head>\n<body>\n"
        f"{body}\n{_START}{embed_json(data)}{_END}\n<script>{script}</script>\n</body>\n</html>\n"
    )
    # a name that is not valid Unicode text is shown as an escape, which the data block reads back
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def read_data(path: Path) -> dict[str, Any]:
    """The data block of a page that was written before."""
    text = path.read_text(encoding="utf-8", errors="replace")
    start = text.find(_START)
    end = text.find(_END, start)
    try:
        if start < 0 or end < 0:
            raise ValueError("it has no data block")
        data = json.loads(text[start + len(_START) : end])
        if not isinstance(data, dict) or data.get("format") != "gramme-report":
            raise ValueError("its data block is of another kind")
    except ValueError as error:
        raise FileFormatError(f"is not a page made by gramme: {error}", file=path) from None
    return data


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
    if isinstance(value, np.ndarray):
        return [_plain(inner) for inner in value.tolist()]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, (str, int, bool)):
        return value
    return str(value)


# The frame around the sections of every page: title, theme, links to the sections, footer.


def frame(
    kind: str,
    title: str,
    summary: str,
    sections: Sequence[tuple[str, str, str]],
    *,
    without_script: str,
) -> str:
    """Everything between the body tags but the data and the script.

    Parameters
    ----------
    kind : str
        What the page is about, in words.
    title : str
        The user's name for it.
    summary : str
        What was done, as markup.
    sections : sequence of (id, title, content)
        Sections without content are left out.
    without_script : str
        What a reader misses where scripts are switched off.
    """
    shown = [section for section in sections if section[2]]
    links = "".join(f'<li><a href="#{place}">{heading}</a></li>' for place, heading, _ in shown)
    body = "".join(
        f'<section id="{place}" aria-labelledby="{place}-title">'
        f'<h2 id="{place}-title">{heading}</h2>{content}</section>'
        for place, heading, content in shown
    )
    return (
        '<a class="skip" href="#main">Skip to the content</a>'
        f'<header class="top"><p class="brand">gramme <span>{escape(kind)}</span></p>'
        '<button type="button" class="quiet" id="theme" aria-label="Change between light and dark">'
        '<span aria-hidden="true">◐</span> <span id="theme-name">Theme</span></button></header>'
        f'<main id="main"><h1>{name(title, 120)}</h1>{summary}'
        f'<nav aria-label="Sections"><ul>{links}</ul></nav>'
        f'<noscript><p class="note">{escape(without_script)}</p></noscript>{body}</main>'
        "<footer><p>Made by gramme. This file holds everything it shows; it loads nothing and sends "
        "nothing.</p></footer>"
    )


def command_and_versions(config: Mapping[str, Any], otherwise: str) -> str:
    """The command that a page was made by, or one that does the same, and the versions it was made with."""
    command = config.get("command") or otherwise
    versions = config.get("versions") or {}
    told = ", ".join(f"{escape(key)} {escape(value)}" for key, value in versions.items())
    made = f"<p>Made with {told}.</p>" if told else ""
    return f'<pre tabindex="0"><code>{escape(shorten(command, 4000))}</code></pre>{made}'
