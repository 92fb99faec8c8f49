"""Objects that do not change once they are made, so that models may share and remember them.

Graphs and layers are read by many parts of a program at once; one that changed under a fitted model
would make its results wrong without a sign. So attributes are set once, arrays are read-only, also
after pickling, and a deep copy is the object itself.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np


class Frozen:
    """Base of objects whose declared attributes are set once.

    Only attributes with an annotation in a class body count as parts of the object. Other rooms may
    keep what they computed under a name with a leading underscore; it is left behind by pickling.

    Examples
    --------
    >>> class Point(Frozen):
    ...     x: int
    >>> point = Point()
    >>> point.x = 3
    >>> point.x = 4
    Traceback (most recent call last):
    ...
    AttributeError: a Point does not change once made, so 'x' cannot be set; make a new one
    """

    _declared: ClassVar[frozenset[str]] = frozenset()

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls._declared = frozenset(
            name for base in cls.__mro__ for name in vars(base).get("__annotations__", ())
        )

    def __setattr__(self, name: str, value: Any) -> None:
        if hasattr(self, name) or not (name.startswith("_") or name in self._declared):
            raise AttributeError(
                f"a {type(self).__name__} does not change once made, so {name!r} cannot be set; "
                f"{self._instead}",
                name=name,
                obj=self,
            )
        object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        raise AttributeError(
            f"a {type(self).__name__} does not change once made, so {name!r} cannot be deleted"
        )

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def __copy__(self) -> Self:
        return self

    def __getstate__(self) -> dict[str, Any]:
        declared = self._declared
        return {name: value for name, value in self.__dict__.items() if name in declared}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for value in state.values():
            if isinstance(value, np.ndarray):
                value.flags.writeable = False
        self.__dict__.update(state)

    @property
    def _instead(self) -> str:
        """What to do instead of setting an attribute."""
        return "make a new one"
