"""Small graphs and fitted models for the tests of the page, and text that tries to break it."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

import numpy as np

from gramme.graph import EdgeLayer, MembershipLayer, MultilayerGraph
from gramme.report.page.html import macro

HOSTILE = [
    "<script>window.__pwned = 1</script>",
    "</script><script>window.__pwned = 2</script>",
    '"><img src=x onerror="window.__pwned = 3">',
    "'; window.__pwned = 4; //",
    "</title><svg onload=window.__pwned=5>",
    "<!--<script>window.__pwned = 6",
    "]]><iframe src=javascript:window.__pwned=7>",
    "${window.__pwned = 8}\u2028window.__pwned = 9\u2029",
    '=HYPERLINK("http://example.org")',
    "\u202eright to left override",
    "שלום עולם مرحبا",
    "naïve 漢字 🦉 e\u0301",
    "a\x00b\x07c\ttab\nline",
    "x" * 10_000,
    "\ud800 lone surrogate",
    "__proto__",
    "constructor",
    " ",
]


def two_blocks(count: int = 60, *, labelled: int = 24) -> MultilayerGraph:
    """Two classes; a membership layer, a layer of memberships in several groups, and directed weighted edges."""
    random = np.random.default_rng(0)
    side = np.arange(count) % 2
    answer = np.where(random.random(count) < 0.85, side, 1 - side)
    person = np.repeat(np.arange(count), 2)
    club = np.where(random.random(2 * count) < 0.8, side[person] * 3, 3 - side[person] * 3) + random.integers(
        0, 3, 2 * count
    )
    source = np.repeat(np.arange(count), 3)
    target = (source + 2 * random.integers(1, count // 2, 3 * count)) % count
    layers = {
        "answer": MembershipLayer.from_codes(answer, ["yes", "no"]),
        "clubs": MembershipLayer(count, person, club, [f"club {k}" for k in range(6)]),
        "friends": EdgeLayer(count, source, target, random.uniform(0.5, 2, 3 * count), directed=True),
    }
    labels = [("left", "right")[side[node]] if node < labelled else None for node in range(count)]
    return MultilayerGraph(layers, nodes=[f"node {k}" for k in range(count)], labels=labels, name="blocks")


def hostile_graph() -> MultilayerGraph:
    """Hostile text wherever a user's text can stand: nodes, labels, layers, groups, the graph's name."""
    count = len(HOSTILE)
    order = np.arange(count)
    layers = {
        HOSTILE[0]: MembershipLayer.from_codes(order % 9, HOSTILE[:9]),
        HOSTILE[1]: EdgeLayer(count, order, (order + 1) % count),
        HOSTILE[2] + "y" * 10_000: MembershipLayer.from_codes(order % 4, HOSTILE[9:13]),
    }
    labels = [HOSTILE[k % 5] if k % 3 else None for k in range(count)]
    return MultilayerGraph(layers, nodes=HOSTILE, labels=labels, name=HOSTILE[4])


def section(kind: str, name: str) -> Callable[..., str]:
    """A section of a page, as the macro of its template makes it from data, without white space around it."""
    return lambda *values: str(macro(kind, name, *values)).strip()


def unpacked(packed: dict[str, Any]) -> np.ndarray:
    """A column of numbers as a page holds it, see ``gramme/report/page/html.py``."""
    kinds = {"u8": "<u1", "u16": "<u2", "u32": "<u4", "f32": "<f4"}
    return np.frombuffer(base64.b64decode(packed["data"]), dtype=kinds[packed["type"]])
