"""Doors from an object to a room that comes after its own.

Users expect to find on an object what shows it: ``graph.plot()``, ``model.report("page.html")``. What shows it lives in
later rooms, which know the object; the object must not know them. The methods in ``face.py`` of a room are nothing but
such doors: each names its place as text and opens it when it is called. ``tests/test_house.py`` checks that no other
file has doors, and that each leads somewhere.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any


def later(place: str) -> Any:
    """A function of a later room, by its place.

    >>> later("math:sqrt")(9)
    3.0
    """
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)
