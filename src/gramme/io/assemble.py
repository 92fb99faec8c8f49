"""From what a parser found to a graph and the report of its reading."""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from gramme._text import setting
from gramme.errors import DataError, FileFormatError
from gramme.graph import Coupling, EdgeLayer, Layer, MembershipLayer, MultilayerGraph
from gramme.graph.coupling import Pair
from gramme.graph.edge_features import encoded_columns
from gramme.graph.edges import ONLY_LAYER

from .cells import typed_column
from .labels import NodeFacts, read_labels, settle_labels
from .node_table import LABEL_COLUMN, AttributeTable, name_column, read_attributes, take_columns
from .parsed import (
    EdgeRows,
    Parsed,
    ReadOptions,
    ReadReport,
    RowCollector,
    between,
    couples,
    ends_of,
    named_nodes,
    own_layers,
    renamed_ends,
)
from .source import tell
from .tables import take_tables, to_tables
from .values import format_number, id_base, in_order, tell_of_twins


def renamed(graph: MultilayerGraph, nodes: pd.Index) -> MultilayerGraph:
    """The graph with names that are known to be distinct and not missing."""
    whole = MultilayerGraph.__new__(MultilayerGraph)
    whole.__setstate__(graph.__getstate__() | {"nodes": nodes})
    return whole


def assemble(parsed: Parsed, options: ReadOptions, format_name: str) -> tuple[MultilayerGraph, ReadReport]:
    """The graph, with labels from a file of their own if there is one, and the report."""
    path = parsed.files[0]
    if not (len(parsed.rows) or parsed.groups or parsed.layers or parsed.labels_file) and (
        parsed.nodes is None and options.nodes is None and options.labels is None
    ):
        raise FileFormatError("there are no edges in the file", file=path)
    # the nodes of edges, memberships and layers
    met = parsed.rows.nodes
    others = [*(groups.nodes for groups in parsed.groups.values()), *parsed.present.values()]
    if any(others):
        met = in_order(name for node_names in (met, *others) for name in node_names)
    if options.nodes is not None:  # a table of all nodes that the user names beside the file
        facts_table = read_attributes(Path(options.nodes), options.encoding)
        column = name_column(facts_table, set(met), options)
        parsed.nodes, parsed.nodes_file = facts_table.names(column), facts_table.path
        stated_labels = facts_table.labels(parsed.nodes, options.label)
        parsed.labels = parsed.labels if stated_labels is None else stated_labels
        take_columns(parsed, facts_table, {column, options.label or LABEL_COLUMN}, options)
        parsed.files.append(facts_table.path)
    labels_and_features = _node_facts(parsed, options, met)
    if labels_and_features.labels is not None:
        labels_and_features.labels = settle_labels(labels_and_features.labels, options)
    # attributes of nodes as further membership layers, under names that no other layer has
    layer_groups = dict(parsed.groups)
    layer_names_taken = {
        *(parsed.layers or ()),
        *(parsed.rows.layers or ([ONLY_LAYER] if len(parsed.rows) else [])),
        *layer_groups,
    }
    for node_name, member_nodes in labels_and_features.groups.items():
        layer_groups[node_name if node_name not in layer_names_taken else f"{node_name} (attribute)"] = member_nodes
    parsed.groups = layer_groups
    if not parsed.rows.whole:
        tell_of_twins(labels_and_features.nodes, "names", "nodes")
    graph_layers, couplings = _layers(parsed, options, labels_and_features.nodes)
    tell_of_twins(graph_layers, "names", "layers")
    node_labels = (
        None
        if labels_and_features.labels is None
        else [labels_and_features.labels.get(node) for node in labels_and_features.nodes]
    )
    graph = _guarded(
        path,
        lambda: MultilayerGraph(
            graph_layers,
            labels=node_labels,
            features=labels_and_features.features,
            couplings=couplings,
            masks={
                name: pd.Index(labels_and_features.nodes).isin(held) for name, held in labels_and_features.masks.items()
            },
            name=path.name.partition(".")[0].removesuffix("_multiplex") or None,
            num_nodes=len(labels_and_features.nodes),
        ),
    )
    graph = renamed(
        graph, _index(labels_and_features.nodes)
    )  # distinct text already: a million names need no second look
    if options.labels is not None and not _is_path(options.labels):
        graph = graph.replace(labels=options.labels)
    sorted_numbers = labels_and_features.nodes is parsed.rows.nodes and parsed.rows.whole
    report = ReadReport(
        format=format_name,
        files=tuple(map(str, parsed.files)),
        rows=len(parsed.rows) + sum(len(groups.nodes) for groups in parsed.groups.values()),
        id_base=int(labels_and_features.nodes[0])
        if sorted_numbers and labels_and_features.nodes
        else id_base(labels_and_features.nodes),
        direction=_direction(parsed, options),
        self_loops_dropped={name: layer.self_loops_dropped for name, layer in graph_layers.items()},
        duplicates_merged={name: layer.duplicates_merged for name, layer in graph_layers.items()},
        notes=tuple(parsed.notes),
    )
    return graph, report


def _index(names: list[str]) -> pd.Index:
    node_lookup: pd.Index = pd.Index(np.array(names, dtype=object), dtype=object)
    return node_lookup


def _is_path(value: object) -> bool:
    return isinstance(value, (str, os.PathLike))


def _guarded(path: Path, make: Any) -> Any:
    """What a graph refuses is wrong in the file, so the message names it."""
    try:
        return make()
    except FileFormatError:
        raise
    except DataError as error:
        raise FileFormatError(str(error), file=path) from error


def _node_facts(parsed: Parsed, options: ReadOptions, met: list[str]) -> NodeFacts:
    node_names = met if parsed.nodes is None else parsed.nodes
    if parsed.nodes is not None:
        _check_listed(parsed, met)
    node_labels = None if parsed.labels is None else dict(parsed.labels)
    labels_and_features = NodeFacts(node_names, node_labels, parsed.features, dict(parsed.node_groups), parsed.masks)
    if options.labels is not None and not _is_path(options.labels):
        return labels_and_features
    path = parsed.labels_file if options.labels is None else Path(options.labels)
    if path is None:
        return labels_and_features
    form = options.labels_format
    if options.labels is None:
        form = form or parsed.labels_form
    label_facts = read_labels(
        path, node_names, options, complete=parsed.nodes is not None, form=form, id_start=parsed.id_start
    )
    parsed.files.append(path)
    if label_facts.features is None:
        label_facts.features = labels_and_features.features
    label_facts.groups, label_facts.masks = (
        {**labels_and_features.groups, **label_facts.groups},
        {**labels_and_features.masks, **label_facts.masks},
    )
    return label_facts


def _check_listed(parsed: Parsed, met: list[str]) -> None:
    known_nodes = set(parsed.nodes or ())
    stray = next((node_name for node_name in met if node_name not in known_nodes), None)
    if stray is None:
        return
    edge_rows, line_number = parsed.rows, None
    if stray in edge_rows.nodes:
        code = edge_rows.nodes.index(stray)
        line_number = edge_rows.line_of(int(np.flatnonzero((edge_rows.source == code) | (edge_rows.target == code))[0]))
    where = parsed.nodes_file or parsed.rows_file
    raise FileFormatError(
        f"the node {stray!r} is not in {where}, which lists all nodes", file=parsed.rows_file, line=line_number
    )


def _layers(parsed: Parsed, options: ReadOptions, nodes: list[str]) -> tuple[dict[str, Layer], dict[Pair, Coupling]]:
    """The layers and the couplings between them."""
    rows = parsed.rows
    met = rows.layers or ([ONLY_LAYER] if len(rows) else [])
    names = dict.fromkeys([*(parsed.layers or ()), *own_layers(met), *parsed.groups])
    place, index = None, _index([])
    if nodes is not rows.nodes or parsed.groups or parsed.present:
        index = _index(nodes)
        place = index.get_indexer(_index(rows.nodes))
        if place.size == len(index) and bool((place == np.arange(place.size)).all()):
            place = None
    of_layer = dict(zip(met, _split(rows, len(met)), strict=True))
    asked, stated = options.directed, parsed.directed if isinstance(parsed.directed, Mapping) else {}
    made: dict[str, Layer] = {}
    described, described_as = _edge_features(parsed, options)
    nothing = np.zeros(0, dtype=np.int64)
    named = named_nodes(parsed) if any(map(couples, met)) else None
    for name in names:
        held = parsed.present.get(name)
        present = None if held is None else index.get_indexer(_index(list(held)))
        if held is None and named is not None and name not in parsed.hold_all | set(parsed.groups):
            present = named.get(name, nothing)
            present = present if place is None else place[present]
        if name in parsed.groups:
            groups = parsed.groups[name]
            codes, titles = pd.factorize(np.array(groups.groups, dtype=object))
            members = index.get_indexer(_index(groups.nodes))
            if present is None and groups.all_present:
                present = np.arange(len(index))
            make = partial(MembershipLayer, weight=groups.weights or None, nodes=present)
            made[name] = _guarded(parsed.rows_file, partial(make, len(index), members, codes, titles))
            continue
        chosen = of_layer.get(name, nothing)
        source, target = rows.source[chosen], rows.target[chosen]
        if place is not None:
            source, target = place[source], place[target]
        weight = _weights(parsed, name, chosen)
        try:
            made[name] = EdgeLayer(
                len(nodes),
                source,
                target,
                weight,
                directed=asked if asked is not None else stated.get(name, parsed.directed is True),
                nodes=present,
                ways=np.ones(len(source), dtype=np.int8),
                features=None if described is None else described[chosen],
                feature_names=described_as,
            )
        except DataError as error:
            raise FileFormatError(f"layer {name!r}: {error}", file=parsed.rows_file) from error
    turned = {between(*reversed(ends_of(name))) for name in of_layer if couples(name)}
    # an undirected coupling may be declared one way round and have its edges the other
    empty = (name for name in stated if name not in turned or stated[name])
    couplings: dict[Pair, Coupling] = {}
    for name in dict.fromkeys(name for name in (*of_layer, *empty) if couples(name)):
        first, second = ends_of(name)
        chosen = of_layer.get(name, nothing)
        source, target = rows.source[chosen], rows.target[chosen]
        if place is not None:
            source, target = place[source], place[target]
        both_directed = bool(stated.get(first) and stated.get(second)) or parsed.directed is True
        one_way = stated.get(name, stated.get(between(second, first), both_directed))
        weight = _weights(parsed, f"{first!r} and {second!r}", chosen) if source.size else None
        one_way = one_way if asked is None else asked
        couplings[first, second] = Coupling(len(nodes), source, target, weight, directed=one_way)
    return made, couplings


def _edge_features(parsed: Parsed, options: ReadOptions) -> tuple[NDArray[np.float64] | None, Any]:
    """The columns or attributes of edges that the user wants as features, and the names of those."""
    wanted_columns, facts = options.edge_columns, parsed.rows.facts
    if not wanted_columns:
        return None, None
    missing_name = next((feature_name for feature_name in wanted_columns if feature_name not in facts), None)
    if missing_name is not None:
        error_text = f"the edges have no column or attribute {missing_name!r} for {setting('edge_features')}"
        raise FileFormatError(error_text, file=parsed.rows_file)
    table_columns = {
        feature_name: typed_column(pd.Series(facts[feature_name], dtype=object), feature_name, options.marks)
        for feature_name in wanted_columns
    }
    encoded_features: tuple[NDArray[np.float64], Any] = _guarded(
        parsed.rows_file, lambda: encoded_columns(table_columns, wanted_columns)
    )
    tell(f"{parsed.rows_file.name}: features of the edges: {', '.join(encoded_features[1])[:200]}")
    return encoded_features


def _split(rows: EdgeRows, count: int) -> Iterator[Any]:
    """Which rows are each layer's: slices where the file has its layers one after the other."""
    layer_codes = rows.layer
    if count == 1:
        yield slice(None)
    elif count:
        order = None
        if not bool((layer_codes[1:] >= layer_codes[:-1]).all()):
            order = np.argsort(layer_codes, kind="stable")
            layer_codes = layer_codes[order]
        bounds = np.searchsorted(layer_codes, np.arange(count + 1)).tolist()
        for first_row, last in pairwise(bounds):
            yield slice(first_row, last) if order is None else order[first_row:last]


def _weights(parsed: Parsed, layer: str, chosen: Any) -> NDArray[np.float64] | None:
    if parsed.rows.weight is None:
        return None
    edge_weight: NDArray[np.float64] = parsed.rows.weight[chosen]
    is_missing = np.isnan(edge_weight)
    if is_missing.all() and edge_weight.size:
        return None
    if is_missing.any():
        row_index = np.arange(len(parsed.rows))[chosen][np.flatnonzero(is_missing)[0]]
        raise FileFormatError(
            f"this edge has no weight, but other edges of the layer {layer!r} have one",
            file=parsed.rows_file,
            line=parsed.rows.line_of(int(row_index)),
        )
    if parsed.ones_mean_unweighted and bool((edge_weight == 1).all()):
        return None
    return edge_weight


def _direction(parsed: Parsed, options: ReadOptions) -> str:
    if options.directed is not None:
        return f"{'directed' if options.directed else 'undirected'}, as asked for"
    stated_directions = parsed.directed
    if stated_directions is None:
        return "undirected, the default: the file does not say"
    kinds = set(stated_directions.values()) if isinstance(stated_directions, Mapping) else {stated_directions}
    if len(kinds) == 2:
        return "some layers directed, some undirected, as the file says"
    return f"{'directed' if True in kinds else 'undirected'}, as the file says"


# What several files hold as one graph: layers beside each other, nodes and labels together.


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
        _joined_rows(parts, renamed, nodes),
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
    return {own[0]: name} if len(own) == 1 else {layer_name: layer_name for layer_name in own}


def _joined_rows(parts: Mapping[str, Parsed], renamed: dict[str, dict[str, str]], nodes: list[str]) -> EdgeRows:
    layer_names: list[str] = []
    pieces: list[tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[np.float64]]] = []
    bounds, line_functions = [0], []
    node_lookup = pd.Index(np.array(nodes, dtype=object), dtype=object)
    for layer_name, part in parts.items():
        edge_rows = part.rows
        titles = [renamed_ends(layer, renamed[layer_name]) for layer in edge_rows.layers] or [
            renamed[layer_name].get("", layer_name)
        ]
        offset = len(layer_names)
        layer_names += titles
        node_index = node_lookup.get_indexer(pd.Index(np.array(edge_rows.nodes, dtype=object), dtype=object))
        layer = edge_rows.layer.astype(np.int64) + offset
        edge_weight = np.full(len(edge_rows), np.nan) if edge_rows.weight is None else edge_rows.weight.copy()
        if part.ones_mean_unweighted:
            others = np.bincount(edge_rows.layer, weights=edge_weight != 1, minlength=len(titles))
            edge_weight[others[edge_rows.layer] == 0] = np.nan
        pieces.append((layer, node_index[edge_rows.source], node_index[edge_rows.target], edge_weight))
        bounds.append(bounds[-1] + len(edge_rows))
        line_functions.append(edge_rows.line_of)
    layer, source, target, edge_weight = (np.concatenate(column_cells) for column_cells in zip(*pieces, strict=True))

    def line_of(row: int) -> int | None:
        part = int(np.searchsorted(bounds, row, side="right")) - 1
        return line_functions[part](row - bounds[part])

    edge_weights = None if np.isnan(edge_weight).all() else edge_weight
    fact_names = dict.fromkeys(name for part in parts.values() for name in part.rows.facts)
    facts: dict[str, list[str]] = {
        name: [
            cell_content for part in parts.values() for cell_content in part.rows.facts.get(name, [""] * len(part.rows))
        ]
        for name in fact_names
    }
    return EdgeRows(layer_names, nodes, layer, source, target, edge_weights, line_of, facts=facts)


def _take_labels(whole: Parsed, parts: Mapping[str, Parsed]) -> None:
    """Labels and features that stand in the files; two different labels for a node are an error."""
    node_labels: dict[str, Any] = {}
    for part in parts.values():
        for node, node_label in (part.labels or {}).items():
            if node_labels.setdefault(node, node_label) != node_label:
                raise DataError(
                    f"{part.files[0]}: {node!r} has the label {node_label!r}, but {node_labels[node]!r} in an "
                    "earlier file"
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
        whole.labels = node_labels


def _tell_of_overlap(parts: Mapping[str, Parsed]) -> None:
    """Files about different people share no names, which is hardly ever meant."""
    known_nodes: set[str] = set()
    for part in parts.values():
        own = {*(part.nodes or ()), *part.rows.nodes}
        own.update(node for layer_groups in part.groups.values() for node in layer_groups.nodes)
        if known_nodes and own and not own & known_nodes:
            tell(f"{part.files[0].name} shares no node with the files before it", doubt=True)
        known_nodes |= own


def parsed_graph(graph: MultilayerGraph, path: Path) -> Parsed:
    """What a graph holds that was read without a parser, to join it with others."""
    tables = {layer_name: table for layer_name, table in to_tables(graph, "text").items() if table is not None}
    edges = tables.pop("edges")
    here = edges.get("source_layer", edges.get("layer", ()))
    row_collector = RowCollector(path)
    edge_weights = edges.get("weight", [math.nan] * len(here))
    table_columns = (here, edges.get("target_layer", here), edges["source"], edges["target"], edge_weights)
    for first_layer, second_layer, source, target, edge_weight in zip(*table_columns, strict=True):
        row_collector.add(between(first_layer, second_layer), source, target, _cell(edge_weight) or None, None)
    parsed = Parsed([path], row_collector.finish())
    beside = {
        layer_name: AttributeTable(
            path, list(table), [list(map(_cell, row_cells)) for row_cells in zip(*table.values(), strict=True)]
        )
        for layer_name, table in tables.items()
    }
    for table in beside.values():
        table.lines = [0] * len(table.rows)
    take_tables(parsed, beside, ReadOptions())
    parsed.files = [path]
    return parsed


def _cell(value: Any) -> str:
    return value if isinstance(value, str) else "" if math.isnan(value) else format_number(value)
