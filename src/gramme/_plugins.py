"""Registries by name, to which other installed packages add through entry points such as ``gramme.formats``."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib.metadata import entry_points
from typing import TypeVar

from .errors import GrammeWarning

Kind = TypeVar("Kind")


class Registry(Mapping[str, Kind]):
    """Objects of one kind by name; those of other packages are added when one is first looked up.

    Parameters
    ----------
    entries : iterable
        What gramme itself has; nothing replaces it.
    name_of : callable
        The name of an object.
    group : str
        The entry points of other packages. What fails to load is left out with a warning.
    kind : type
        What each entry must be.
    """

    def __init__(self, entries: Iterable[Kind], name_of: Callable[[Kind], str], group: str, kind: type[Kind]) -> None:
        self._known = {name_of(each): each for each in entries}
        self._name_of, self._group, self._kind = name_of, group, kind
        self._complete = False

    def add(self, new: Kind) -> None:
        """Make an object known for this process."""
        self._known[self._name_of(new)] = new

    def _all(self) -> dict[str, Kind]:
        if not self._complete:
            self._complete = True  # first, since a plugin may look something up while it is loaded
            for point in entry_points(group=self._group):
                try:
                    loaded_object = point.load()
                    error_text = None if isinstance(loaded_object, self._kind) else f"it is no {self._kind.__name__}"
                except Exception as error:  # whatever a stranger's module raises
                    error_text = f"{type(error).__name__}: {error}"
                if error_text is None:
                    self._known.setdefault(self._name_of(loaded_object), loaded_object)
                else:
                    said = f"the plugin {point.value!r} ({self._group}) is left out: {error_text}"
                    warnings.warn(said, GrammeWarning, stacklevel=4)
        return self._known

    def __getitem__(self, name: str) -> Kind:
        return self._all()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())
