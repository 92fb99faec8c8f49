"""The frame around the sections of every page: title, theme, links to the sections, footer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gramme.report.page.html import escape, name, shorten


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
