"""What the page shows of a graph and of results: places, lines, neighbours, tables, and what two fits differ in.

Nothing is learned here; all numbers come from the graph and from the files that the command line wrote.
"""

from __future__ import annotations

import itertools
import json
import re
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from gramme._text import number_within, rough_number
from gramme.errors import DataError
from gramme.graph import MultilayerGraph
from gramme.graph.coupling import with_coupling_layers
from gramme.graph.layout import fair_share, node_positions

MAX_DRAWN_NODES = 20_000
"""Nodes that a picture shows; of more, those with a label and a random sample of the others."""
MAX_DRAWN_LINES = 200_000
"""Edges and memberships that a picture shows, over all layers."""
MAX_NEIGHBOURS = 60
"""Neighbours of a node that are listed in a layer."""
MAX_MEMBERS = 12
"""Members of a group of a node's that are listed."""
RESULT_FILES = {
    "fit": "predictions.csv",
    "links": "links.csv",
    "rank": "ranks.csv",
    "groups": "groups.csv",
    "ask": "ask.csv",
}
"""The table of each kind of result."""

Indices = NDArray[np.int64]


@dataclass
class Picture:
    """The part of a graph that is drawn: nodes, places, and the lines of each layer between points.

    Points are the drawn nodes, then the middles of groups. A line of an edge layer joins two nodes, one of a membership
    layer joins a member to the middle of its group.
    """

    nodes: Indices
    places: NDArray[np.float32]
    layers: list[dict[str, Any]]
    lines: list[NDArray[np.uint32]]
    total: int

    def header(self, names: Sequence[str]) -> dict[str, Any]:
        """All but the numbers."""
        return {
            "nodes": self.nodes.tolist(),
            "names": [names[node] for node in self.nodes.tolist()],
            "points": int(self.places.shape[0]),
            "total": self.total,
            "layers": self.layers,
        }

    def numbers(self) -> bytes:
        """Places as 32-bit floats (all x, then all y), then per layer the pairs of points as 32-bit integers."""
        places = np.ascontiguousarray(self.places.T, dtype="<f4").tobytes()
        lines = [np.ascontiguousarray(one, dtype="<u4").tobytes() for one in self.lines]
        return b"".join([places, *lines])


def picture(graph: MultilayerGraph, labelled: Sequence[bool]) -> Picture:
    """Places and lines of a graph, or of an honest sample of it."""
    random = np.random.default_rng(0)
    chosen = drawn_nodes(graph.num_nodes, np.asarray(labelled, dtype=bool), random)
    layers: Mapping[str, Any] = with_coupling_layers(graph).layers
    if chosen.size < graph.num_nodes:
        layers = {name: layer.subset(chosen) for name, layer in layers.items()}
    drawn_graph = MultilayerGraph(dict(layers), num_nodes=chosen.size)
    places = [node_positions(drawn_graph).astype(np.float32)]
    points, records, drawn = chosen.size, [], []
    inside = {name: layer.incidence() for name, layer in layers.items()}
    sizes = [layers[name].num_edges if one is None else one.nnz for name, one in inside.items()]
    bound = fair_share(sizes, MAX_DRAWN_LINES)
    for (name, members), size in zip(inside.items(), sizes, strict=True):
        kept = _sample(size, bound, random)
        if members is None:
            edges = layers[name].to_edges()
            pairs = np.stack([edges.source[kept], edges.target[kept]], axis=1)
        else:
            member = np.repeat(np.arange(chosen.size), np.diff(members.indptr))
            group = members.indices.astype(np.int64)
            many = np.maximum(np.bincount(group, minlength=members.shape[1]), 1)
            sums = [np.bincount(group, places[0][member, axis], many.size) for axis in (0, 1)]
            places.append((np.stack(sums, axis=1) / many[:, None]).astype(np.float32))
            pairs = np.stack([member[kept], points + group[kept]], axis=1)
            points += members.shape[1]
        drawn.append(pairs.astype(np.uint32))
        records.append(
            {"name": name, "kind": "edges" if members is None else "groups", "lines": int(pairs.shape[0]), "of": size}
        )
    return Picture(chosen, np.concatenate(places), records, drawn, graph.num_nodes)


def drawn_nodes(total: int, labelled: NDArray[np.bool_], random: np.random.Generator) -> Indices:
    """All nodes, or of too many those with a label and a random sample of the others, in order."""
    if total <= MAX_DRAWN_NODES:
        return np.arange(total)
    first = np.flatnonzero(labelled)
    if first.size > MAX_DRAWN_NODES // 2:
        first = random.choice(first, MAX_DRAWN_NODES // 2, replace=False)
    others = np.setdiff1d(np.arange(total), first)
    rest = random.choice(others, MAX_DRAWN_NODES - first.size, replace=False)
    return np.sort(np.concatenate([first, rest]))


def _sample(size: int, most: int, random: np.random.Generator) -> Indices:
    if size <= most:
        return np.arange(size)
    return np.sort(random.choice(size, most, replace=False))


class Neighbours:
    """Who is joined to whom in a graph, for looking at one node after the other."""

    def __init__(self, graph: MultilayerGraph) -> None:
        self.graph = graph
        self._members: dict[str, Sequence[Indices]] = {}

    def of(self, node: int) -> list[dict[str, Any]]:
        """Whom a node is joined to in each layer: neighbours, or groups and some of their other members."""
        found = []
        for name, layer in self.graph.layers.items():
            groups = layer.as_groups()
            if groups is None:
                others, weights = layer.neighbours(node)
                order = np.argsort(-weights, kind="stable")[:MAX_NEIGHBOURS]
                near = others[order].tolist()
                found.append({"layer": name, "kind": "edges", "count": len(others), "nodes": near})
                continue
            inside = groups.incidence()
            own = inside.indices[inside.indptr[node] : inside.indptr[node + 1]]
            members = self._members.setdefault(name, groups.members())
            listed = []
            for group in own[:MAX_NEIGHBOURS].tolist():
                some = members[group][: MAX_MEMBERS + 1]
                listed.append(
                    {
                        "group": str(groups.group_names[group]),
                        "size": len(members[group]),
                        "nodes": [int(one) for one in some if one != node][:MAX_MEMBERS],
                    }
                )
            found.append({"layer": name, "kind": "groups", "count": len(own), "groups": listed})
        return found


# -- results -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Predictions:
    """What a fit said about every node, in the order of the graph; ``probabilities`` has a column per class.

    Where numbers are predicted, classes are ranges of them, and ``shown`` and ``interval`` are the numbers as text.
    """

    classes: tuple[str, ...]
    probabilities: NDArray[np.float64]
    predicted: NDArray[np.int64]
    probability: NDArray[np.float64]
    known: NDArray[np.bool_]
    shown: Sequence[str]
    interval: Sequence[str] | None = None

    @property
    def names(self) -> NDArray[np.object_]:
        """The predicted class of every node."""
        return np.array(self.classes, dtype=object)[self.predicted]


class Ranges:
    """Numbers as classes: those known cut into at most five ranges with equally many in each."""

    def __init__(self, labels: Sequence[str | None]) -> None:
        known = [float(one) for one in labels if one is not None]
        self.cuts = np.unique(np.quantile(known, [0.2, 0.4, 0.6, 0.8])) if known else np.zeros(0)
        words = [rough_number(cut) for cut in self.cuts]
        between = [f"{low} to {high}" for low, high in itertools.pairwise(words)]
        self.names = [f"below {words[0]}", *between, f"{words[-1]} or more"] if words else ["any number"]

    def of(self, values: Any) -> Indices:
        """The range of each number."""
        return np.digitize(np.asarray(values, dtype=np.float64), self.cuts)

    def label(self, text: str | None) -> str | None:
        """The range of a label."""
        return None if text is None else self.names[int(self.of(float(text)))]

    def predictions(self, table: pd.DataFrame) -> Predictions:
        """The predictions of a fit of numbers."""
        low, value, high = (table[column].astype(float) for column in ("low", "predicted", "high"))
        codes, half = self.of(value), (high - low) / 2
        known = (table["known"] != "").to_numpy()
        shown = [number_within(one, wide) for one, wide in zip(value, half, strict=True)]
        interval = [
            f"{number_within(one - wide, wide)} to {number_within(one + wide, wide)}"
            if np.isfinite(wide)
            else "anything"
            for one, wide in zip(value, half, strict=True)
        ]
        unknown = np.full((len(table), len(self.names)), np.nan)
        return Predictions(tuple(self.names), unknown, codes, unknown[:, 0], known, shown, interval)


class Results:
    """The results in a folder, read when they are asked for and then kept."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.turn = threading.Lock()
        self._kept: dict[tuple[str, str, int], Any] = {}

    def path(self, name: str, file: str) -> Path:
        """A file of a result; an error for a name that no result has."""
        if not re.fullmatch(r"\d+-[a-z]+", name) or not (self.folder / name).is_dir():
            raise DataError(f"there is no result {name!r}")
        if not re.fullmatch(r"[a-z]+\.[a-z]+", file) or not (self.folder / name / file).is_file():
            raise DataError(f"the result {name} has no file {file!r}")
        return self.folder / name / file

    def names(self) -> list[str]:
        """The results, the oldest first."""
        found = [one.name for one in self.folder.iterdir() if re.fullmatch(r"\d+-[a-z]+", one.name)]
        return sorted(found, key=lambda one: int(one.partition("-")[0]))

    def records(self) -> list[dict[str, Any]]:
        """Each result in a few words and numbers."""
        found = []
        for name in self.names():
            try:
                found.append(self._once(name, "config.json", _result_record))
            except (OSError, ValueError, DataError) as error:
                found.append({"name": name, "kind": name.partition("-")[2], "broken": str(error)})
        return found

    def predictions(self, name: str, nodes: int, ranges: Ranges | None = None) -> Predictions:
        """What a fit said, of numbers in ranges; an error if it was about another graph or another kind of label."""
        table = self.table(name)
        if len(table) != nodes or ("low" in table.columns) != (ranges is not None):
            raise DataError(f"the result {name} is about other data")
        if ranges is not None:
            return ranges.predictions(table)
        found: Predictions = self._once(name, "predictions.csv", _predictions)
        return found

    def table(self, name: str) -> pd.DataFrame:
        """The table of a result, all cells as text."""
        file = RESULT_FILES.get(name.partition("-")[2], "predictions.csv")
        found: pd.DataFrame = self._once(name, file, _table)
        return found

    def _once(self, name: str, file: str, read: Any) -> Any:
        path = self.path(name, file)
        key = (name, read.__name__, path.stat().st_mtime_ns)
        with self.turn:
            if key not in self._kept:
                self._kept = {one: value for one, value in self._kept.items() if one[:2] != key[:2]}
                self._kept[key] = read(path)
            return self._kept[key]


def _result_record(path: Path) -> dict[str, Any]:
    config = json.loads(path.read_text(encoding="utf-8"))
    estimate = config.get("estimate") or {}
    return {
        "name": path.parent.name,
        "kind": path.parent.name.partition("-")[2],
        "at": path.stat().st_mtime,
        "command": config.get("command"),
        "method": config.get("method"),
        "labels": config.get("training_labels"),
        "classes": config.get("classes"),
        "accuracy": estimate.get("accuracy"),
        "interval": estimate.get("accuracy_ci95"),
        "guess": (estimate.get("guess") or {}).get("accuracy"),
        "r2": config.get("r2"),
        "error": rough_number(config["mean_absolute_error"]) if "mean_absolute_error" in config else None,
        "seconds": config.get("seconds"),
        "explanation": config.get("explanation"),
        "files": sorted(one.name for one in path.parent.iterdir()),
    }


def _predictions(path: Path) -> Predictions:
    table = _table(path)
    columns = [name for name in table.columns if name.startswith("probability_")]
    if not columns:
        raise DataError(f"{path.name} has no probabilities of classes")
    numbers = table[columns].apply(pd.to_numeric).to_numpy(dtype=np.float64)
    classes = tuple(name.removeprefix("probability_") for name in columns)
    known, codes = (table["known"] != "").to_numpy(), numbers.argmax(axis=1)
    return Predictions(classes, numbers, codes, numbers.max(axis=1), known, [classes[code] for code in codes])


def _table(path: Path) -> pd.DataFrame:
    table = pd.read_csv(path, dtype=str, keep_default_na=False, encoding_errors="surrogateescape")
    return table.map(unguarded)


_GUARDED = re.compile(r"'[=+\-@\t\r]")


def unguarded(cell: str) -> str:
    """A cell without the apostrophe that keeps a spreadsheet from running it.

    >>> unguarded("'=1+1"), unguarded("'tis"), unguarded("-3")
    ('=1+1', "'tis", '-3')
    """
    return cell[1:] if _GUARDED.match(cell) else cell


def sorted_rows(table: pd.DataFrame, by: str | None, *, descending: bool) -> pd.DataFrame:
    """Rows in the order of a column, numbers as numbers, blanks last."""
    if by is None or by not in table.columns:
        return table[::-1] if descending else table
    values = table[by].replace("", None)
    plain = values.map(lambda one: one.replace(",", "") if isinstance(one, str) else one)
    numbers = pd.to_numeric(plain, errors="coerce")
    keys = numbers if numbers.notna().sum() == values.notna().sum() else values.str.casefold()
    order = keys.sort_values(ascending=not descending, kind="stable", na_position="last").index
    return table.loc[order]


def node_table(
    names: Sequence[str],
    labels: Sequence[str | None],
    fit: Predictions | None,
    before: Predictions | None,
    groups: Sequence[str] | None,
) -> pd.DataFrame:
    """The table beside the picture: a row per node with label, prediction, certainty, group, and whether it changed."""
    return pd.DataFrame(
        {
            "name": pd.Series(names, dtype=object),
            "label": pd.Series(list(labels), dtype=object),
            "predicted": pd.Series(None if fit is None else fit.shown, index=range(len(names)), dtype=object),
            "probability": np.nan if fit is None else fit.probability,
            "interval": pd.Series(None if fit is None else fit.interval, index=range(len(names)), dtype=object),
            "group": pd.Series(groups, index=range(len(names)), dtype=object),
            "changed": False if fit is None or before is None else compared(before, fit),
        }
    )


def listed_nodes(table: pd.DataFrame, by: str, *, descending: bool, query: str, only: str) -> pd.DataFrame:
    """The rows of the table of nodes that match, in the order of a column."""
    if query:
        table = table[[query.casefold() in name.casefold() for name in table["name"]]]
    if only in ("labelled", "unlabelled"):
        table = table[table["label"].notna() == (only == "labelled")]
    elif only == "changed":
        table = table[table["changed"]]
    return sorted_rows(table, by or None, descending=descending)


def node_records(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Rows of the table of nodes for JSON, each with its number."""
    rows = table.astype(object).where(table.notna(), None).reset_index(names="node")
    return rows.to_dict("records")  # type: ignore[return-value]


def compared(earlier: Predictions, later: Predictions) -> NDArray[np.bool_]:
    """Which nodes one fit predicts differently than another."""
    changed: NDArray[np.bool_] = earlier.names != later.names
    return changed


def mean_certainty(fit: Predictions) -> float | None:
    """The mean certainty on nodes whose label the fit did not know; None if it knew all, or predicts numbers."""
    unknown = fit.probability[~fit.known]
    return float(unknown.mean()) if unknown.size and fit.interval is None else None
