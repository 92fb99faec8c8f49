"""What the page shows of a graph and of results: places, lines, neighbours, tables, and what two fits differ in.

Nothing is learned here; all numbers come from the graph and from the files that the command line wrote.
"""

from __future__ import annotations

import functools
import itertools
import json
import re
from collections.abc import Callable, Mapping, Sequence
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

MAX_DRAWN_NODES = 20_000  # of more, those with a label are shown and a random sample of the others
MAX_DRAWN_LINES = 200_000  # edges and memberships over all layers
MAX_NEIGHBOURS, MAX_MEMBERS = 60, 12  # that are listed of a node in a layer, and of each group of its
RESULT_FILES = {kind: f"{kind}.csv" for kind in ("links", "groups", "ask")}
RESULT_FILES |= {"fit": "predictions.csv", "rank": "ranks.csv"}

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
        return {
            "nodes": self.nodes.tolist(),
            "names": [names[node] for node in self.nodes.tolist()],
            "points": int(self.places.shape[0]),
            "total": self.total,
            "layers": self.layers,
        }

    def numbers(self) -> bytes:
        """Places as 32-bit floats (all x, then all y), then per layer the pairs of points as 32-bit integers."""
        place_bytes = np.ascontiguousarray(self.places.T, dtype="<f4").tobytes()
        line_bytes = [np.ascontiguousarray(point_pairs, dtype="<u4").tobytes() for point_pairs in self.lines]
        return b"".join([place_bytes, *line_bytes])


def picture(graph: MultilayerGraph, labelled: Sequence[bool]) -> Picture:
    """Places and lines of a graph, or of an honest sample of it."""
    generator = np.random.default_rng(0)
    drawn_indices = drawn_nodes(graph.num_nodes, np.asarray(labelled, dtype=bool), generator)
    layers: Mapping[str, Any] = with_coupling_layers(graph).layers
    if drawn_indices.size < graph.num_nodes:
        layers = {name: layer.subset(drawn_indices) for name, layer in layers.items()}
    drawn_graph = MultilayerGraph(dict(layers), num_nodes=drawn_indices.size)
    place_blocks = [node_positions(drawn_graph).astype(np.float32)]
    num_points, layer_records, line_arrays = drawn_indices.size, [], []
    incidences = {name: layer.incidence() for name, layer in layers.items()}
    line_counts = {name: layers[name].num_edges if found is None else found.nnz for name, found in incidences.items()}
    line_budget = fair_share(list(line_counts.values()), MAX_DRAWN_LINES)
    for name, members in incidences.items():
        line_sample = _sample(line_counts[name], line_budget, generator)
        if members is None:
            edges = layers[name].to_edges()
            point_pairs = np.stack([edges.source[line_sample], edges.target[line_sample]], axis=1)
        else:
            member_index = np.repeat(np.arange(drawn_indices.size), np.diff(members.indptr))
            group_index = members.indices.astype(np.int64)
            group_sizes = np.maximum(np.bincount(group_index, minlength=members.shape[1]), 1)
            coordinate_sums = [
                np.bincount(group_index, place_blocks[0][member_index, axis], group_sizes.size) for axis in (0, 1)
            ]
            place_blocks.append((np.stack(coordinate_sums, axis=1) / group_sizes[:, None]).astype(np.float32))
            point_pairs = np.stack([member_index[line_sample], num_points + group_index[line_sample]], axis=1)
            num_points += members.shape[1]
        line_arrays.append(point_pairs.astype(np.uint32))
        kind = "edges" if members is None else "groups"
        layer_records.append({"name": name, "kind": kind, "lines": len(point_pairs), "of": line_counts[name]})
    return Picture(drawn_indices, np.concatenate(place_blocks), layer_records, line_arrays, graph.num_nodes)


def drawn_nodes(total: int, labelled: NDArray[np.bool_], random: np.random.Generator) -> Indices:
    """All nodes, or of too many those with a label and a random sample of the others, in order."""
    if total <= MAX_DRAWN_NODES:
        return np.arange(total)
    labelled_nodes = np.flatnonzero(labelled)
    if labelled_nodes.size > MAX_DRAWN_NODES // 2:
        labelled_nodes = random.choice(labelled_nodes, MAX_DRAWN_NODES // 2, replace=False)
    other_nodes = np.setdiff1d(np.arange(total), labelled_nodes)
    sampled_nodes = random.choice(other_nodes, MAX_DRAWN_NODES - labelled_nodes.size, replace=False)
    return np.sort(np.concatenate([labelled_nodes, sampled_nodes]))


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
        layer_records = []
        for name, layer in self.graph.layers.items():
            groups = layer.as_groups()
            if groups is None:
                neighbours, edge_weights = layer.neighbours(node)
                strongest = np.argsort(-edge_weights, kind="stable")[:MAX_NEIGHBOURS]
                nearest_record = {"count": len(neighbours), "nodes": neighbours[strongest].tolist()}
                layer_records.append({"layer": name, "kind": "edges"} | nearest_record)
                continue
            incidence = groups.incidence()
            own_groups = incidence.indices[incidence.indptr[node] : incidence.indptr[node + 1]]
            members = self._members.setdefault(name, groups.members())
            group_records = []
            for group in own_groups[:MAX_NEIGHBOURS].tolist():
                member_indices = [int(member) for member in members[group][: MAX_MEMBERS + 1] if member != node][
                    :MAX_MEMBERS
                ]
                group_name = str(groups.group_names[group])
                group_records.append({"group": group_name, "size": len(members[group]), "nodes": member_indices})
            layer_records.append({"layer": name, "kind": "groups", "count": len(own_groups), "groups": group_records})
        return layer_records


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
        return np.array(self.classes, dtype=object)[self.predicted]


class Ranges:
    """Numbers as classes: those known cut into at most five ranges with equally many in each."""

    def __init__(self, labels: Sequence[str | None]) -> None:
        known_numbers = [float(label_text) for label_text in labels if label_text is not None]
        self.cuts = np.unique(np.quantile(known_numbers, [0.2, 0.4, 0.6, 0.8])) if known_numbers else np.zeros(0)
        cut_texts = [rough_number(cut) for cut in self.cuts]
        middle_names = [f"{low} to {high}" for low, high in itertools.pairwise(cut_texts)]
        self.names = ["any number"]
        if cut_texts:
            self.names = [f"below {cut_texts[0]}", *middle_names, f"{cut_texts[-1]} or more"]

    def of(self, values: Any) -> Indices:
        return np.digitize(np.asarray(values, dtype=np.float64), self.cuts)

    def label(self, text: str | None) -> str | None:
        return None if text is None else self.names[int(self.of(float(text)))]

    def predictions(self, table: pd.DataFrame) -> Predictions:
        low, value, high = (table[column].astype(float) for column in ("low", "predicted", "high"))
        range_codes, half_widths = self.of(value), (high - low) / 2
        is_known = (table["known"] != "").to_numpy()
        low_texts, shown_numbers, high_texts = (
            [number_within(number, width) for number, width in zip(numbers, half_widths, strict=True)]
            for numbers in (value - half_widths, value, value + half_widths)
        )
        interval_ends = zip(low_texts, high_texts, np.isfinite(half_widths), strict=True)
        interval = [
            f"{low_text} to {high_text}" if bounded else "anything" for low_text, high_text, bounded in interval_ends
        ]
        no_probabilities = np.full((len(table), len(self.names)), np.nan)
        return Predictions(
            tuple(self.names), no_probabilities, range_codes, no_probabilities[:, 0], is_known, shown_numbers, interval
        )


class Results:
    """The results in a folder, read when they are asked for and then kept."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, name: str, file: str) -> Path:
        """A file of a result; an error for a name that no result has."""
        if not re.fullmatch(r"\d+-[a-z]+", name) or not (self.folder / name).is_dir():
            raise DataError(f"there is no result {name!r}")
        if not re.fullmatch(r"[a-z]+\.[a-z]+", file) or not (self.folder / name / file).is_file():
            raise DataError(f"the result {name} has no file {file!r}")
        return self.folder / name / file

    def names(self) -> list[str]:
        result_names = [
            result_path.name for result_path in self.folder.iterdir() if re.fullmatch(r"\d+-[a-z]+", result_path.name)
        ]
        return sorted(result_names, key=lambda one: int(one.partition("-")[0]))

    def records(self) -> list[dict[str, Any]]:
        result_records = []
        for name in self.names():
            try:
                result_records.append(self._once(name, "config.json", _result_record))
            except (OSError, ValueError, DataError) as error:
                result_records.append({"name": name, "kind": name.partition("-")[2], "broken": str(error)})
        return result_records

    def predictions(self, name: str, nodes: int, ranges: Ranges | None = None) -> Predictions:
        """What a fit said, of numbers in ranges; an error if it was about another graph or another kind of label."""
        result_table = self.table(name)
        if len(result_table) != nodes or ("low" in result_table.columns) != (ranges is not None):
            raise DataError(f"the result {name} is about other data")
        if ranges is not None:
            return ranges.predictions(result_table)
        found: Predictions = self._once(name, "predictions.csv", _predictions)
        return found

    def table(self, name: str) -> pd.DataFrame:
        """The table of a result, all cells as text."""
        file_name = RESULT_FILES.get(name.partition("-")[2], "predictions.csv")
        result_table: pd.DataFrame = self._once(name, file_name, _table)
        return result_table

    def _once(self, name: str, file: str, read: Any) -> Any:
        path = self.path(name, file)
        return _read_once(read, path, path.stat().st_mtime_ns)


@functools.lru_cache(maxsize=64)
def _read_once(read: Callable[[Path], Any], path: Path, changed: int) -> Any:
    """What a file says, read again only if it ``changed``."""
    return read(path)


def _result_record(path: Path) -> dict[str, Any]:
    config = json.loads(path.read_text(encoding="utf-8"))
    estimate = config.get("estimate") or {}
    copied_keys = ("command", "method", "classes", "r2", "seconds", "explanation")
    return {name: config.get(name) for name in copied_keys} | {
        "name": path.parent.name,
        "kind": path.parent.name.partition("-")[2],
        "labels": config.get("training_labels"),
        "accuracy": estimate.get("accuracy"),
        "interval": estimate.get("accuracy_ci95"),
        "guess": (estimate.get("guess") or {}).get("accuracy"),
        "error": rough_number(config["mean_absolute_error"]) if "mean_absolute_error" in config else None,
    }


def _predictions(path: Path) -> Predictions:
    table = _table(path)
    probability_columns = [name for name in table.columns if name.startswith("probability_")]
    if not probability_columns:
        raise DataError(f"{path.name} has no probabilities of classes")
    probabilities = table[probability_columns].apply(pd.to_numeric).to_numpy(dtype=np.float64)
    classes = tuple(name.removeprefix("probability_") for name in probability_columns)
    is_known, class_codes = (table["known"] != "").to_numpy(), probabilities.argmax(axis=1)
    return Predictions(
        classes,
        probabilities,
        class_codes,
        probabilities.max(axis=1),
        is_known,
        [classes[class_code] for class_code in class_codes],
    )


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
    plain_values = values.map(lambda one: one.replace(",", "") if isinstance(one, str) else one)
    numeric_values = pd.to_numeric(plain_values, errors="coerce")
    sort_keys = numeric_values if numeric_values.notna().sum() == values.notna().sum() else values.str.casefold()
    row_order = sort_keys.sort_values(ascending=not descending, kind="stable", na_position="last").index
    return table.loc[row_order]


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
    plain_rows = table.astype(object).where(table.notna(), None).reset_index(names="node")
    return plain_rows.to_dict("records")  # type: ignore[return-value]


def compared(earlier: Predictions, later: Predictions) -> NDArray[np.bool_]:
    """Which nodes one fit predicts differently than another."""
    is_changed: NDArray[np.bool_] = earlier.names != later.names
    return is_changed


def mean_certainty(fit: Predictions) -> float | None:
    """The mean certainty on nodes whose label the fit did not know; None if it knew all, or predicts numbers."""
    unknown_certainties = fit.probability[~fit.known]
    return float(unknown_certainties.mean()) if unknown_certainties.size and fit.interval is None else None
