"""Paths from the target kind to another kind: which there are by default, and what the user may name."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

from gramme.errors import DataError, GrammeWarning, did_you_mean
from gramme.graph.relation_pairs import Kinds

Path = tuple[str, ...]


def chosen_paths(kinds: Kinds, target: str, paths: Iterable[Sequence[str]] | None) -> list[Path]:
    """The paths as the user named them, or the default ones."""
    if target not in kinds.nodes:
        raise DataError(
            f"no relation has the target kind {target!r}; {did_you_mean(str(target), kinds.nodes)}"
        )
    _check_reach(kinds, target)
    if paths is None:
        return _default_paths(kinds, target)
    if isinstance(paths, str):
        raise DataError(f"paths must be a list of kinds in order, such as [({target!r}, ...)]")
    return list(dict.fromkeys(_named_path(path, kinds, target) for path in paths))


def _check_reach(kinds: Kinds, target: str) -> None:
    """Every relation must hang together with the target."""
    reached, waiting = {target}, [target]
    while waiting:
        for kind in kinds.neighbours(waiting.pop()):
            if kind not in reached:
                reached.add(kind)
                waiting.append(kind)
    for relation in kinds.relations:
        if relation.source_kind not in reached:
            raise DataError(
                f"the relation {relation} never reaches the target {target!r}: no chain of relations joins them"
            )


def _default_paths(kinds: Kinds, target: str) -> list[Path]:
    """All of length one, and of length two to the kinds that the target touches only through another."""
    near = kinds.neighbours(target)
    paths: list[Path] = [(target, kind) for kind in near]
    for middle in near:
        far = [kind for kind in kinds.neighbours(middle) if kind not in (target, *near)]
        paths += [(target, middle, kind) for kind in far]
    used = {frozenset(step) for path in paths for step in pairwise(path)}
    used.add(frozenset([target]))
    for relation in kinds.relations:
        if frozenset((relation.source_kind, relation.target_kind)) not in used:
            warnings.warn(
                f"the relation {relation} is not used: no path of at most two steps from {target!r} needs it; "
                "name one in paths=",
                GrammeWarning,
                stacklevel=5,
            )
    return paths


def _named_path(path: Any, kinds: Kinds, target: str) -> Path:
    if isinstance(path, str) or not isinstance(path, Sequence) or len(path) < 2:
        raise DataError(f"a path is a list of at least two kinds, not {path!r}")
    steps: Path = tuple(path)
    for kind in steps:
        if kind not in kinds.nodes:
            raise DataError(
                f"the path {'-'.join(map(str, steps))} names the unknown kind {kind!r}; "
                f"{did_you_mean(str(kind), kinds.nodes)}"
            )
    if steps[0] != target and steps[-1] == target:
        steps = steps[::-1]
    if steps[0] != target:
        raise DataError(f"the path {'-'.join(steps)} does not start at the target {target!r}")
    if steps[-1] == target:
        if steps != steps[::-1] or len(steps) % 2 == 0:
            raise DataError(
                f"the path {'-'.join(steps)} returns by another route; name only the way there"
            )
        steps = steps[: len(steps) // 2 + 1]
    for here, there in pairwise(steps):
        if not kinds.steps(here, there):
            raise DataError(
                f"the path {'-'.join(steps)} goes from {here!r} to {there!r}, but no relation does; relations: "
                + ", ".join(map(str, kinds.relations))
            )
    return steps
