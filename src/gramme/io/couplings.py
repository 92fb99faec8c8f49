"""Edges between layers on their way through files: rows whose layer is the joined name of two."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gramme.graph import Coupling
from gramme.graph.coupling import Pair

from .parsed import Parsed

# Long enough that no layer has it in its name by chance; a file that does is refused as one with a coupling it lacks
_MARK = chr(0) + "~ to the layer ~" + chr(0)


def between(first: str, second: str) -> str:
    """The name under which edges from one layer to another are collected; a layer's own name where both are one."""
    return first if first == second else f"{first}{_MARK}{second}"


def ends_of(name: str) -> list[str]:
    """The layers of a collected name: one, or two of a coupling."""
    return name.split(_MARK)


def couples(name: str) -> bool:
    """Whether the name is that of a coupling."""
    return _MARK in name


def own_layers(names: Iterable[str]) -> list[str]:
    """The layers that collected names speak of, each once, in order."""
    return list(dict.fromkeys(end for name in names for end in ends_of(name)))


def renamed_ends(name: str, label_of: Mapping[str, str]) -> str:
    """A collected name with other names for its layers."""
    ends = [label_of[end] for end in ends_of(name)]
    return between(ends[0], ends[-1])


def read_couplings(
    parsed: Parsed,
    asked: bool | None,
    of_layer: Mapping[str, Any],
    place: NDArray[np.int64] | None,
    size: int,
    weights: Callable[[str, Any], NDArray[np.float64] | None],
) -> dict[Pair, Coupling]:
    """The couplings among the rows, and those that are only declared."""
    rows, stated = parsed.rows, parsed.directed
    declared = stated if isinstance(stated, Mapping) else {}
    turned = {between(*reversed(ends_of(name))) for name in of_layer if couples(name)}
    # an undirected coupling may be declared one way round and have its edges the other
    empty = (name for name in declared if name not in turned or declared[name])
    names = dict.fromkeys(name for name in (*of_layer, *empty) if couples(name))
    found: dict[Pair, Coupling] = {}
    for name in names:
        first, second = ends_of(name)
        chosen = of_layer.get(name, np.zeros(0, dtype=np.int64))
        source, target = rows.source[chosen], rows.target[chosen]
        if place is not None:
            source, target = place[source], place[target]
        directed = bool(stated) if not isinstance(stated, Mapping) else declared.get(name)
        if directed is None:
            directed = declared.get(between(second, first))
        if directed is None:
            directed = bool(declared.get(first) and declared.get(second))
        shown = f"{first!r} and {second!r}"
        found[first, second] = Coupling(
            size,
            source,
            target,
            weights(shown, chosen) if source.size else None,
            directed=directed if asked is None else asked,
        )
    return found


def named_nodes(parsed: Parsed) -> dict[str, NDArray[np.int64]]:
    """The nodes that some row names together with each layer, as positions among the rows' nodes."""
    rows = parsed.rows
    found: dict[str, list[NDArray[Any]]] = {}
    for code, name in enumerate(rows.layers):
        chosen = rows.layer == code
        first, *rest = ends_of(name)
        second = rest[0] if rest else first
        found.setdefault(first, []).append(rows.source[chosen])
        found.setdefault(second, []).append(rows.target[chosen])
    return {name: np.unique(np.concatenate(parts)) for name, parts in found.items()}
