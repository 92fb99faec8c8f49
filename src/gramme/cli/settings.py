"""``--set key=value``: parameters of a method from text, with type checks and a hint for a mistyped name."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from gramme.errors import DataError, did_you_mean

if TYPE_CHECKING:
    from gramme.methods import Method, NodeClassifier

MAX_WHOLE_NUMBER = 1_000_000_000
"""No number of epochs, columns or members may be larger: torch could not even compute the memory it would take."""


def make_model(method: Method, settings: Iterable[str], **fixed: Any) -> NodeClassifier:
    """A method with the parameters the user set; ``fixed`` ones are passed where the method knows them."""
    known = method.estimator().get_params()
    return method.estimator(**set_parameters(method.name, known, settings, **fixed))


def set_parameters(
    method: str, known: Mapping[str, Any], settings: Iterable[str], **fixed: Any
) -> dict[str, Any]:
    """The parameters that the user set, checked against the method's own parameters, and the ``fixed`` ones."""
    chosen = {name: value for name, value in fixed.items() if name in known}
    for setting in settings:
        name, sign, text = setting.partition("=")
        name = name.strip()
        if not sign:
            raise DataError(f"--set {setting!r}: write it as name=value")
        if name not in known:
            raise DataError(f"{method} has no parameter {name!r}; {did_you_mean(name, known)}")
        chosen[name] = value_from_text(
            f"--set {name}={text.strip()}", name, text.strip(), known[name]
        )
    return chosen


def value_from_text(said: str, name: str, text: str, default: Any) -> Any:
    """A value from text, of the kind the default has; who takes it checks the range. Errors quote what was said."""
    try:
        value = json.loads(text.lower() if text.lower() in ("true", "false") else text)
    except ValueError:
        value = None if text.lower() == "none" else text
    if isinstance(default, bool):
        fits = isinstance(value, bool)
    elif isinstance(default, (int, float)):
        fits = isinstance(value, (int, float, dict)) and not isinstance(value, bool)
        if isinstance(default, int) and isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, int) and value > MAX_WHOLE_NUMBER and not isinstance(value, bool):
            raise DataError(f"{said}: {name} can be {MAX_WHOLE_NUMBER:,} at most")
    elif isinstance(default, str):
        fits = isinstance(value, str)
        value = value if fits else text
        fits = True
    else:
        fits = True
    if not fits:
        kind = {bool: "true or false", int: "a whole number", float: "a number"}[type(default)]
        raise DataError(f"{said}: {name} must be {kind}")
    return value
