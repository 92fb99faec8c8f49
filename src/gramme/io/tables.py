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

COMPANIONS = ("nodes", "groups", "layers", "presence", "couplings")


#: Columns of equal length by name; a weight may be NaN for "none".
Table = dict[str, Sequence[Any]]


def companion(path: Path, table: str) -> Path:
    """Where the table stands: ``school.csv`` has its nodes in ``school.nodes.csv``."""
    return path.with_name(f"{path.stem}.{table}{path.suffix}")


def read_companions(path: Path, options: ReadOptions, separator: str | None = None) -> dict[str, AttributeTable]:
    """The tables that stand beside the edges; a table of nodes that the user names replaces the one there."""
    beside = {
        table_name: companion(path, table_name)
        for table_name in COMPANIONS
        if table_name != "nodes" or options.nodes is None
    }
    return {
        table_name: read_attributes(file_path, options.encoding, separator)
        for table_name, file_path in beside.items()
        if file_path.is_file()
    }


def to_tables(graph: MultilayerGraph, format_name: str) -> dict[str, Table | None]:
    """The tables of a graph; None for one it does not need."""
    text_graph = as_text(graph, format_name, groups=True, presence=True, couplings=True, masks=True)
    node_names = np.array(text_graph.nodes, dtype=object)
    return {
        "edges": _edges(text_graph, node_names),
        "nodes": _nodes(text_graph),
        "groups": _groups(text_graph, node_names, format_name),
        "layers": _layers(text_graph),
        "presence": _presence(text_graph, node_names),
        "couplings": _couplings(text_graph),
    }


def _edges(text: TextGraph, names: Any) -> Table:
    here: list[str] = []
    there: list[str] = []
    source: list[str] = []
    target: list[str] = []
    edge_weight: list[float] = []
    for first_layer, second_layer, part in text.parts():
        here += [first_layer] * part.num_edges
        there += [second_layer] * part.num_edges
        source += names[part.source].tolist()
        target += names[part.target].tolist()
        edge_weight += [math.nan] * part.num_edges if part.weight is None else part.weight.tolist()
    table: Table = {"layer": here, "source": source, "target": target}
    if text.coupled:
        table = {"source_layer": here, "source": source, "target_layer": there, "target": target}
    return table if np.isnan(edge_weight).all() else table | {"weight": edge_weight}


def _couplings(text: TextGraph) -> Table | None:
    """Needed where a coupling has no edges or another direction than its layers let expect."""
    named_couplings = list(text.couplings())
    both_directed = any(
        text.layers[first_layer].directed and text.layers[second_layer].directed
        for first_layer, second_layer, _ in named_couplings
    )
    if not both_directed and all(coupling.num_edges and not coupling.directed for *_, coupling in named_couplings):
        return None
    return {
        "source_layer": [first_layer for first_layer, _, _ in named_couplings],
        "target_layer": [second_layer for _, second_layer, _ in named_couplings],
        "directed": ["yes" if coupling.directed else "no" for *_, coupling in named_couplings],
    }


def node_facts(text: TextGraph) -> Table:
    """The label and the features of each node, where the graph has some."""
    table: Table = {} if text.labels is None else {"label": text.labels}
    feature_rows = text.features() or []
    table_columns = zip(*feature_rows, strict=True)
    return table | {f"feature_{number}": list(column) for number, column in enumerate(table_columns, start=1)}


def _nodes(text: TextGraph) -> Table:
    masks = {
        f"{mask_name}_mask": ["true" if is_held else "false" for is_held in mask]
        for mask_name, mask in text.graph.masks.items()
    }
    return {"node": text.nodes} | node_facts(text) | masks


def _groups(text: TextGraph, names: Any, format_name: str) -> Table | None:
    layer_names: list[str] = []
    node_names: list[str] = []
    group_names: list[str] = []
    edge_weights: list[float] = []
    membership_layers = {name: layer for name, layer in text.layers.items() if isinstance(layer, MembershipLayer)}
    for layer_name, layer in membership_layers.items():
        none = np.full(layer.num_memberships, np.nan)
        edge_weights += (none if layer.weight is None else layer.weight).tolist()
        of_layer = np.array(text_names(layer.group_names, format_name, "group"), dtype=object)
        layer_names += [layer_name] * layer.num_memberships
        node_names += names[layer.node].tolist()
        group_names += of_layer[layer.group].tolist() if layer.num_groups else []
    table: Table = {"layer": layer_names, "node": node_names, "group": group_names}
    if not np.isnan(edge_weights).all():
        table["weight"] = edge_weights
    return table if membership_layers else None


def _holds(layer: EdgeLayer | MembershipLayer) -> str:
    """Which nodes the layer holds: all, its members, or those listed."""
    if layer.holds_all_nodes:
        return "all"
    if isinstance(layer, MembershipLayer) and bool(((layer.groups_per_node > 0) == layer.present).all()):
        return "members"
    return "listed"


def _layers(text: TextGraph) -> Table | None:
    graph_layers = list(text.layers.values())
    plain = all(
        isinstance(graph_layer, EdgeLayer)
        and graph_layer.num_edges
        and not graph_layer.directed
        and graph_layer.holds_all_nodes
        for graph_layer in graph_layers
    )
    if plain and not text.coupled:
        return None
    return {
        "layer": list(text.layers),
        "kind": ["groups" if isinstance(graph_layer, MembershipLayer) else "edges" for graph_layer in graph_layers],
        "directed": ["yes" if graph_layer.directed else "no" for graph_layer in graph_layers],
        "nodes": [_holds(graph_layer) for graph_layer in graph_layers],
    }


def _presence(text: TextGraph, names: Any) -> Table | None:
    nodes_by_layer = {
        layer_name: names[each.present].tolist() for layer_name, each in text.layers.items() if _holds(each) == "listed"
    }
    layer_names = [layer_name for layer_name, node_names in nodes_by_layer.items() for _ in node_names]
    return (
        {"layer": layer_names, "node": [node for node_names in nodes_by_layer.values() for node in node_names]}
        if layer_names
        else None
    )


def take_tables(parsed: Parsed, tables: dict[str, AttributeTable], options: ReadOptions) -> None:
    """Add what the tables beside the edges say."""
    for table_name, table in tables.items():
        parsed.files.append(table.path)
        if table_name == "nodes":
            _take_nodes(parsed, table, options)
        elif table_name == "layers":
            _take_layers(parsed, table)
        elif table_name == "couplings":
            _take_couplings(parsed, table)
    layer_groups = dict(parsed.groups)
    if "groups" in tables:
        _take_groups(layer_groups, tables["groups"])
    parsed.groups = layer_groups
    for layer in layer_groups:
        if layer in parsed.rows.layers:
            error_text = f"the layer {layer!r} has both edges and groups; it can be only one of them"
            raise FileFormatError(error_text, file=tables["groups"].path)
    if "presence" in tables:
        nodes_by_layer = {layer: list(node_names) for layer, node_names in parsed.present.items()}
        for layer, node in _rows(tables["presence"], ("layer", "node")):
            nodes_by_layer.setdefault(layer, []).append(node)
        parsed.present = nodes_by_layer


def _take_groups(groups: dict[str, Groups], table: AttributeTable) -> None:
    """The memberships; the weights of a layer are all given or none."""
    weight_cells = table.column("weight") if table.has("weight") else [""] * len(table.rows)
    table_rows = _rows(table, ("layer", "node", "group"))
    for (layer_name, node, group), cell, line_number in zip(table_rows, weight_cells, table.lines, strict=True):
        layer_groups = groups.setdefault(layer_name, Groups())
        weight = table.weight(cell, line_number)
        if (weight is None) == bool(layer_groups.weights) and layer_groups.nodes:
            raise table.error(
                f"some memberships of the layer {layer_name!r} have a weight and some have none", line_number
            )
        layer_groups.nodes.append(node)
        layer_groups.groups.append(group)
        if weight is not None:
            layer_groups.weights.append(weight)


def _take_nodes(parsed: Parsed, table: AttributeTable, options: ReadOptions) -> None:
    column = "node" if table.has("node") else name_column(table, set(parsed.rows.nodes), options)
    parsed.nodes, parsed.nodes_file = table.names(column), table.path
    parsed.labels = table.labels(parsed.nodes, options.label)
    take_columns(parsed, table, {column, options.label or LABEL_COLUMN}, options)


def _take_layers(parsed: Parsed, table: AttributeTable) -> None:
    parsed.layers = table.names("layer")
    directed_by_layer: dict[str, bool] = {}
    layer_groups: dict[str, Groups] = {}
    nodes_by_layer: dict[str, list[str]] = {}
    for layer_name, line_number, row_cells in zip(parsed.layers, table.lines, table.rows, strict=True):
        cell_content = dict(zip(table.header, row_cells, strict=True))
        if "directed" in cell_content:
            directed_by_layer[layer_name] = _yes(cell_content["directed"], table.path, line_number)
        kind, nodes_rule = cell_content.get("kind", "edges"), cell_content.get("nodes", "all")
        for cell_value, allowed_words in ((kind, ("edges", "groups")), (nodes_rule, ("all", "members", "listed"))):
            if cell_value not in allowed_words:
                raise table.error(
                    f"{cell_value!r} is not allowed here; {did_you_mean(cell_value, allowed_words)}", line_number
                )
        if kind == "groups":
            layer_groups[layer_name] = Groups(all_present=nodes_rule == "all")
        if nodes_rule == "listed":
            nodes_by_layer[layer_name] = []
        elif nodes_rule == "all":
            parsed.hold_all |= {layer_name}
    parsed.groups, parsed.present = layer_groups, nodes_by_layer
    parsed.directed = directed_by_layer or None


def _take_couplings(parsed: Parsed, table: AttributeTable) -> None:
    directed_by_layer = dict(parsed.directed) if isinstance(parsed.directed, Mapping) else {}
    table_rows = _rows(table, ("source_layer", "target_layer", "directed"))
    for (first_layer, second_layer, one_way), line_number in zip(table_rows, table.lines, strict=True):
        directed_by_layer[between(first_layer, second_layer)] = _yes(one_way, table.path, line_number)
    parsed.directed = directed_by_layer


def _yes(text: str, path: Path, line: int) -> bool:
    if text.lower() not in TRUTH:
        raise FileFormatError(f"{text!r} is neither yes nor no", file=path, line=line)
    return TRUTH[text.lower()]


def _rows(table: AttributeTable, columns: tuple[str, ...]) -> list[tuple[str, ...]]:
    column_cells = [table.column(column) for column in columns]
    table_rows = list(zip(*column_cells, strict=True))
    for row_cells, line_number in zip(table_rows, table.lines, strict=True):
        if not all(row_cells):
            empty = columns[row_cells.index("")]
            raise table.error(f"the column {empty!r} is empty here", line_number)
    return table_rows
