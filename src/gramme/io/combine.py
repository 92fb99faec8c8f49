"""What several files hold as one graph: layers beside each other, nodes and labels together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from gramme._text import setting
from gramme.errors import DataError
from gramme.graph import MembershipLayer, MultilayerGraph

from .couplings import couples, own_layers, renamed_ends
from .lossy import as_text
from .parsed import EdgeRows, Groups, Parsed
from .source import tell
from .values import in_order


def joined(parts: Mapping[str, Parsed]) -> Parsed:
    """One graph of what several files hold; a file with a single layer gives it its own name."""
    renamed = {name: _layer_names(name, part) for name, part in parts.items()}
    layers = [layer for names in renamed.values() for layer in names.values()]
    if len(set(layers)) < len(layers):
        counts = Counter(layers)
        renamed = {
            name: {old: f"{name}: {new}" if counts[new] > 1 else new for old, new in names.items()}
            for name, names in renamed.items()
        }
    every = list(parts.values())
    lists = [part.nodes for part in every if part.nodes is not None]
    met = [name for part in every for name in part.rows.nodes]
    met += [name for part in every for groups in part.groups.values() for name in groups.nodes]
    nodes = in_order([*(name for listed in lists for name in listed), *met])
    whole = Parsed(
        list(dict.fromkeys(file for part in every for file in part.files)),
        _rows(parts, renamed, nodes),
        nodes=nodes if lists else None,
        nodes_file=every[0].nodes_file,
        layers=[layer for names in renamed.values() for layer in names.values()],
        notes=[note for part in every for note in part.notes],
    )
    directed: dict[str, bool] = {}
    groups, present = {}, {}
    for name, part in parts.items():
        new = renamed[name]
        for old, title in new.items():
            said = part.directed
            if said is not None:
                directed[title] = said.get(old, False) if isinstance(said, Mapping) else bool(said)
            if old in part.groups:
                groups[title] = part.groups[old]
            if old in part.present:
                present[title] = part.present[old]
            elif part.nodes is not None and len(part.nodes) < len(nodes) and old not in groups:
                present[title] = part.nodes
        stated = part.directed if isinstance(part.directed, Mapping) else {}
        for both in filter(couples, stated):
            directed[renamed_ends(both, new)] = stated[both]
        coupled = any(map(couples, part.rows.layers))
        whole.hold_all |= {title for old, title in new.items() if not coupled or old in part.hold_all}
    whole.directed = directed or None
    whole.groups, whole.present = groups, present
    whole.node_groups = {title: g for part in every for title, g in part.node_groups.items()}
    for part in every:
        masks = {mask: [*whole.masks.get(mask, ()), *held] for mask, held in part.masks.items()}
        whole.masks = {**whole.masks, **masks}
    _take_labels(whole, parts)
    _tell_of_overlap(parts)
    return whole


def _layer_names(name: str, part: Parsed) -> dict[str, str]:
    """The layers of a file and what they are called among others; the only layer is called like its file."""
    own = own_layers((*(part.layers or ()), *part.rows.layers, *part.groups))
    if not own:
        return {"": name}
    return {own[0]: name} if len(own) == 1 else {layer: layer for layer in own}


def _rows(parts: Mapping[str, Parsed], renamed: dict[str, dict[str, str]], nodes: list[str]) -> EdgeRows:
    layers: list[str] = []
    pieces: list[tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[np.float64]]] = []
    bounds, lines = [0], []
    index = pd.Index(np.array(nodes, dtype=object), dtype=object)
    for name, part in parts.items():
        rows = part.rows
        titles = [renamed_ends(layer, renamed[name]) for layer in rows.layers] or [renamed[name].get("", name)]
        offset = len(layers)
        layers += titles
        place = index.get_indexer(pd.Index(np.array(rows.nodes, dtype=object), dtype=object))
        layer = rows.layer.astype(np.int64) + offset
        weight = np.full(len(rows), np.nan) if rows.weight is None else rows.weight.copy()
        if part.ones_mean_unweighted:
            others = np.bincount(rows.layer, weights=weight != 1, minlength=len(titles))
            weight[others[rows.layer] == 0] = np.nan
        pieces.append((layer, place[rows.source], place[rows.target], weight))
        bounds.append(bounds[-1] + len(rows))
        lines.append(rows.line_of)
    layer, source, target, weight = (np.concatenate(column) for column in zip(*pieces, strict=True))

    def line_of(row: int) -> int | None:
        part = int(np.searchsorted(bounds, row, side="right")) - 1
        return lines[part](row - bounds[part])

    weights = None if np.isnan(weight).all() else weight
    names = dict.fromkeys(name for part in parts.values() for name in part.rows.facts)
    facts: dict[str, list[str]] = {
        name: [cell for part in parts.values() for cell in part.rows.facts.get(name, [""] * len(part.rows))]
        for name in names
    }
    return EdgeRows(layers, nodes, layer, source, target, weights, line_of, facts=facts)


def _take_labels(whole: Parsed, parts: Mapping[str, Parsed]) -> None:
    """Labels and features that stand in the files; two different labels for a node are an error."""
    labels: dict[str, Any] = {}
    for part in parts.values():
        for node, label in (part.labels or {}).items():
            if labels.setdefault(node, label) != label:
                raise DataError(
                    f"{part.files[0]}: {node!r} has the label {label!r}, but {labels[node]!r} in an earlier file"
                )
        if part.labels_file is not None and whole.labels_file is None:
            whole.labels_file, whole.labels_form = part.labels_file, part.labels_form
        if part.features is not None:
            if whole.nodes is not None and part.nodes == whole.nodes and whole.features is None:
                whole.features = part.features
            else:
                tell(
                    f"the features in {part.files[0].name} are not used; name their table with {setting('labels')}",
                    doubt=True,
                )
    if any(part.labels is not None for part in parts.values()):
        whole.labels = labels


def _tell_of_overlap(parts: Mapping[str, Parsed]) -> None:
    """Files about different people share no names, which is hardly ever meant."""
    known: set[str] = set()
    for part in parts.values():
        own = {*(part.nodes or ()), *part.rows.nodes}
        own.update(node for groups in part.groups.values() for node in groups.nodes)
        if known and own and not own & known:
            tell(f"{part.files[0].name} shares no node with the files before it", doubt=True)
        known |= own


def parsed_graph(graph: MultilayerGraph, path: Path) -> Parsed:
    """What a graph holds that was read without a parser, to join it with others."""
    text = as_text(graph, "text", groups=True, presence=True)
    index = np.array(text.nodes, dtype=object)
    layers, source, target, weight = [], [], [], []
    groups, present, directed = {}, {}, {}
    for number, (name, layer) in enumerate(text.layers.items()):
        if not layer.holds_all_nodes:
            present[name] = index[layer.present].tolist()
        if isinstance(layer, MembershipLayer):
            names = [str(group) for group in layer.group_names]
            groups[name] = Groups(
                index[layer.node].tolist(),
                [names[group] for group in layer.group.tolist()],
                [] if layer.weight is None else layer.weight.tolist(),
                all_present=layer.holds_all_nodes,
            )
            continue
        directed[name] = layer.directed
        layers.append(np.full(layer.num_edges, number))
        source.append(layer.source.astype(np.int64))
        target.append(layer.target.astype(np.int64))
        given = layer.weight
        weight.append(np.full(layer.num_edges, np.nan) if given is None else given)
    empty = [np.zeros(0, dtype=np.int64)]
    rows = EdgeRows(
        list(text.layers),
        text.nodes,
        np.concatenate(layers or empty),
        np.concatenate(source or empty),
        np.concatenate(target or empty),
        np.concatenate(weight or [np.zeros(0)]),
        lambda row: None,
    )
    labels = None if text.labels is None else {n: c for n, c in zip(text.nodes, text.labels, strict=True) if c}
    features = (
        None
        if graph.features is None
        else np.asarray(graph.features if isinstance(graph.features, np.ndarray) else graph.features.toarray())
    )
    return Parsed(
        [path],
        rows,
        nodes=text.nodes,
        nodes_file=path,
        layers=list(text.layers),
        directed=directed,
        present=present,
        groups=groups,
        labels=labels,
        features=features,
    )
