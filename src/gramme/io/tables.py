"""A graph as up to six plain tables, the common ground of the formats ``csv``, ``tsv`` and ``parquet``.

========== ========================================== ==========================================================
table      columns                                    needed
========== ========================================== ==========================================================
edges      layer, source, target, weight              always; layer and weight may be missing; with edges between
                                                      layers source_layer and target_layer in place of layer
nodes      node, label, then features and masks       found beside; lists all nodes
groups     layer, node, group, weight                 for membership layers; weight may be missing
layers     layer, kind, directed, nodes               for directed or empty layers and for membership layers
presence   layer, node                                for layers that do not hold all nodes
couplings  source_layer, target_layer, directed       for directed edges between layers
========== ========================================== ==========================================================
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gramme.errors import FileFormatError, did_you_mean
from gramme.graph import EdgeLayer, MembershipLayer, MultilayerGraph

from .lossy import TextGraph, as_text, text_names
from .node_table import LABEL_COLUMN, TRUTH, AttributeTable, name_column, read_attributes, take_columns
from .parsed import Groups, Parsed, ReadOptions, between
from .values import parse_weight

COMPANIONS = ("nodes", "groups", "layers", "presence", "couplings")


#: Columns of equal length by name; a weight may be NaN for "none".
Table = dict[str, Sequence[Any]]


def companion(path: Path, table: str) -> Path:
    """Where the table stands: ``school.csv`` has its nodes in ``school.nodes.csv``."""
    return path.with_name(f"{path.stem}.{table}{path.suffix}")


def read_companions(path: Path, options: ReadOptions, separator: str | None = None) -> dict[str, AttributeTable]:
    """The tables that stand beside the edges; a table of nodes that the user names replaces the one there."""
    beside = {name: companion(path, name) for name in COMPANIONS if name != "nodes" or options.nodes is None}
    return {
        name: read_attributes(place, options.encoding, separator) for name, place in beside.items() if place.is_file()
    }


def to_tables(graph: MultilayerGraph, format_name: str) -> dict[str, Table | None]:
    """The tables of a graph; None for one it does not need."""
    text = as_text(graph, format_name, groups=True, presence=True, couplings=True, masks=True)
    names = np.array(text.nodes, dtype=object)
    return {
        "edges": _edges(text, names),
        "nodes": _nodes(text),
        "groups": _groups(text, names, format_name),
        "layers": _layers(text),
        "presence": _presence(text, names),
        "couplings": _couplings(text),
    }


def _edges(text: TextGraph, names: Any) -> Table:
    here: list[str] = []
    there: list[str] = []
    source: list[str] = []
    target: list[str] = []
    weight: list[float] = []
    for first, second, part in text.parts():
        here += [first] * part.num_edges
        there += [second] * part.num_edges
        source += names[part.source].tolist()
        target += names[part.target].tolist()
        weight += [math.nan] * part.num_edges if part.weight is None else part.weight.tolist()
    table: Table = {"layer": here, "source": source, "target": target}
    if text.coupled:
        table = {"source_layer": here, "source": source, "target_layer": there, "target": target}
    return table if np.isnan(weight).all() else table | {"weight": weight}


def _couplings(text: TextGraph) -> Table | None:
    """Needed where a coupling has no edges or another direction than its layers let expect."""
    found = list(text.couplings())
    both_directed = any(text.layers[first].directed and text.layers[second].directed for first, second, _ in found)
    if not both_directed and all(coupling.num_edges and not coupling.directed for *_, coupling in found):
        return None
    return {
        "source_layer": [first for first, _, _ in found],
        "target_layer": [second for _, second, _ in found],
        "directed": ["yes" if coupling.directed else "no" for *_, coupling in found],
    }


def node_facts(text: TextGraph) -> Table:
    """The label and the features of each node, where the graph has some."""
    table: Table = {} if text.labels is None else {"label": text.labels}
    features = text.features() or []
    columns = zip(*features, strict=True)
    return table | {f"feature_{number}": list(column) for number, column in enumerate(columns, start=1)}


def _nodes(text: TextGraph) -> Table:
    masks = {f"{name}_mask": ["true" if held else "false" for held in mask] for name, mask in text.graph.masks.items()}
    return {"node": text.nodes} | node_facts(text) | masks


def _groups(text: TextGraph, names: Any, format_name: str) -> Table | None:
    layers: list[str] = []
    nodes: list[str] = []
    groups: list[str] = []
    weights: list[float] = []
    members = {name: layer for name, layer in text.layers.items() if isinstance(layer, MembershipLayer)}
    for name, layer in members.items():
        none = np.full(layer.num_memberships, np.nan)
        weights += (none if layer.weight is None else layer.weight).tolist()
        of_layer = np.array(text_names(layer.group_names, format_name, "group"), dtype=object)
        layers += [name] * layer.num_memberships
        nodes += names[layer.node].tolist()
        groups += of_layer[layer.group].tolist() if layer.num_groups else []
    table: Table = {"layer": layers, "node": nodes, "group": groups}
    if not np.isnan(weights).all():
        table["weight"] = weights
    return table if members else None


def _holds(layer: EdgeLayer | MembershipLayer) -> str:
    """Which nodes the layer holds: all, its members, or those listed."""
    if layer.holds_all_nodes:
        return "all"
    if isinstance(layer, MembershipLayer) and bool(((layer.groups_per_node > 0) == layer.present).all()):
        return "members"
    return "listed"


def _layers(text: TextGraph) -> Table | None:
    layers = list(text.layers.values())
    plain = all(
        isinstance(layer, EdgeLayer) and layer.num_edges and not layer.directed and layer.holds_all_nodes
        for layer in layers
    )
    if plain and not text.coupled:
        return None
    return {
        "layer": list(text.layers),
        "kind": ["groups" if isinstance(layer, MembershipLayer) else "edges" for layer in layers],
        "directed": ["yes" if layer.directed else "no" for layer in layers],
        "nodes": [_holds(layer) for layer in layers],
    }


def _presence(text: TextGraph, names: Any) -> Table | None:
    held = {name: names[each.present].tolist() for name, each in text.layers.items() if _holds(each) == "listed"}
    layers = [name for name, nodes in held.items() for _ in nodes]
    return {"layer": layers, "node": [node for nodes in held.values() for node in nodes]} if layers else None


def take_tables(parsed: Parsed, tables: dict[str, AttributeTable], options: ReadOptions) -> None:
    """Add what the tables beside the edges say."""
    for name, table in tables.items():
        parsed.files.append(table.path)
        if name == "nodes":
            _take_nodes(parsed, table, options)
        elif name == "layers":
            _take_layers(parsed, table)
        elif name == "couplings":
            _take_couplings(parsed, table)
    groups = dict(parsed.groups)
    if "groups" in tables:
        _take_groups(groups, tables["groups"])
    parsed.groups = groups
    for layer in groups:
        if layer in parsed.rows.layers:
            problem = f"the layer {layer!r} has both edges and groups; it can be only one of them"
            raise FileFormatError(problem, file=tables["groups"].path)
    if "presence" in tables:
        held = {layer: list(nodes) for layer, nodes in parsed.present.items()}
        for layer, node in _rows(tables["presence"], ("layer", "node")):
            held.setdefault(layer, []).append(node)
        parsed.present = held


def _take_groups(groups: dict[str, Groups], table: AttributeTable) -> None:
    """The memberships; the weights of a layer are all given or none."""
    weights = table.column("weight") if table.has("weight") else [""] * len(table.rows)
    rows = _rows(table, ("layer", "node", "group"))
    for (layer, node, group), weight, line in zip(rows, weights, table.lines, strict=True):
        members = groups.setdefault(layer, Groups())
        if bool(weight) != bool(members.weights) and members.nodes:
            raise table.error(f"some memberships of the layer {layer!r} have a weight and some have none", line)
        members.nodes.append(node)
        members.groups.append(group)
        if weight:
            try:
                members.weights.append(parse_weight(weight))
            except ValueError as error:
                raise table.error(str(error), line) from None


def _take_nodes(parsed: Parsed, table: AttributeTable, options: ReadOptions) -> None:
    column = "node" if table.has("node") else name_column(table, set(parsed.rows.nodes), options)
    parsed.nodes, parsed.nodes_file = table.names(column), table.path
    parsed.labels = table.labels(parsed.nodes, options.label)
    take_columns(parsed, table, {column, options.label or LABEL_COLUMN}, options)


def _take_layers(parsed: Parsed, table: AttributeTable) -> None:
    parsed.layers = table.names("layer")
    directed: dict[str, bool] = {}
    groups: dict[str, Groups] = {}
    held: dict[str, list[str]] = {}
    for layer, line, row in zip(parsed.layers, table.lines, table.rows, strict=True):
        cell = dict(zip(table.header, row, strict=True))
        if "directed" in cell:
            directed[layer] = _yes(cell["directed"], table.path, line)
        kind, nodes = cell.get("kind", "edges"), cell.get("nodes", "all")
        for value, known in ((kind, ("edges", "groups")), (nodes, ("all", "members", "listed"))):
            if value not in known:
                raise table.error(f"{value!r} is not allowed here; {did_you_mean(value, known)}", line)
        if kind == "groups":
            groups[layer] = Groups(all_present=nodes == "all")
        if nodes == "listed":
            held[layer] = []
        elif nodes == "all":
            parsed.hold_all |= {layer}
    parsed.groups, parsed.present = groups, held
    parsed.directed = directed or None


def _take_couplings(parsed: Parsed, table: AttributeTable) -> None:
    directed = dict(parsed.directed) if isinstance(parsed.directed, Mapping) else {}
    rows = _rows(table, ("source_layer", "target_layer", "directed"))
    for (first, second, one_way), line in zip(rows, table.lines, strict=True):
        directed[between(first, second)] = _yes(one_way, table.path, line)
    parsed.directed = directed


def _yes(text: str, path: Path, line: int) -> bool:
    if text.lower() not in TRUTH:
        raise FileFormatError(f"{text!r} is neither yes nor no", file=path, line=line)
    return TRUTH[text.lower()]


def _rows(table: AttributeTable, columns: tuple[str, ...]) -> list[tuple[str, ...]]:
    found = [table.column(column) for column in columns]
    rows = list(zip(*found, strict=True))
    for row, line in zip(rows, table.lines, strict=True):
        if not all(row):
            empty = columns[row.index("")]
            raise table.error(f"the column {empty!r} is empty here", line)
    return rows
