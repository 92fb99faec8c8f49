"""Nodes and edges with attributes by name, as in GEXF, GML and JSON: which of them are layers, weights and labels."""

from __future__ import annotations

import numbers
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from gramme._text import setting
from gramme.errors import did_you_mean
from gramme.graph.edges import ONLY_LAYER

from .headers import DIRECTIONS, plain_word
from .node_table import LABEL_COLUMN, AttributeTable, is_feature_name, take_columns
from .parsed import Parsed, ReadOptions, RowCollector
from .source import tell
from .spreadsheet import cell_text

_LAYER = ("layer", "relation", "relationtype", "relationship", "edgetype", "linktype", "type", "kind")
#: Attributes of drawings and of bookkeeping, which say nothing about a node.
_NO_FACTS = {"id", "viz", "graphics", "x", "y", "z", "r", "g", "b", "a", "size", "color", "pos", "index"}
Edges = Iterable[tuple[str, str, Mapping[str, Any]]]
Listed = Sequence[tuple[str, str, Mapping[str, Any]]]


def parse_attribute_graph(
    path: Path,
    nodes: Mapping[str, Mapping[str, Any]],
    edges: Edges,
    options: ReadOptions,
    *,
    directed: bool | None,
    named_by_label: bool = False,
    names: Mapping[str, str] = MappingProxyType({}),
) -> Parsed:
    """A graph from nodes and edges with attributes.

    ``named_by_label`` where ``label`` is a name and no class; ``names`` has other names of nodes. An edge with
    ``source_layer`` and ``target_layer`` joins two layers.
    """
    name_of = _names(nodes) if named_by_label else {node: names.get(node, node) for node in nodes}
    listed = list(edges)
    words = _words(listed)
    layer = layer_word(listed, path)
    weight = next((word for word in ("weight", "value") if word in words), None)
    if weight == "value":
        tell(f"{path.name}: the edges' attribute 'value' is the weight")
    rows = RowCollector(path)
    for source, target, facts in listed:
        plain = {plain_word(key): value for key, value in facts.items()}
        first = second = (cell_text(plain.get(layer)) if layer is not None else "") or ONLY_LAYER
        if "sourcelayer" in plain and "targetlayer" in plain:
            first, second = str(plain["sourcelayer"]), str(plain["targetlayer"])
        value = plain.get(weight) if weight is not None else None
        if isinstance(value, bool) or not isinstance(value, (numbers.Real, str, type(None))):
            value = None
        ends = name_of.get(source, source), name_of.get(target, target)
        described = {name: cell_text(facts.get(name)) for name in options.edge_columns if name in facts}
        rows.add_between(first, second, *ends, None if value is None else str(value), None, facts=described)
    found = rows.finish()
    if layer is None and found.layers == [ONLY_LAYER]:
        found.layers = []
    parsed = Parsed([path], found, directed=directed)
    parsed.nodes, parsed.nodes_file = [name_of[node] for node in nodes], path
    useless_names = _NO_FACTS | ({"label", "name"} if named_by_label else {"name"})
    every = {key for facts in nodes.values() for key in facts}
    left_out = {key for key in every if key.lower() in useless_names and key not in _asked(options)}
    table = attribute_table(path, parsed.nodes, nodes.values(), left_out)
    take_attributes(parsed, table, options, {"node"})
    return parsed


def _asked(options: ReadOptions) -> set[str]:
    """The attributes of nodes that the user names."""
    lists = [
        [one] if isinstance(one, str) else one or () for one in (options.columns, options.features, options.layers_from)
    ]
    return {name for one in lists for name in one} | {str(options.label)}


def layer_word(edges: Listed, path: Path) -> str | None:
    """The attribute of edges that names their layer, as a plain word; it is told unless it is called ``layer``."""
    words = _words(edges)
    found = next((word for word in _LAYER if word in words and (word == "layer" or not _directions(edges, word))), None)
    if found not in (None, "layer"):
        tell(f"{path.name}: the edges' attribute {found!r} names the layers")
    return found


def _words(edges: Listed) -> set[str]:
    """What the attributes of edges are called."""
    return {plain_word(key) for _, _, facts in edges for key in facts}


def _directions(edges: Listed, word: str) -> bool:
    """Whether an attribute holds directions, as Gephi's type does."""
    values = {str(v).lower() for _, _, facts in edges for k, v in facts.items() if plain_word(k) == word}
    return values <= set(DIRECTIONS)


def _names(nodes: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """What each node is called: its label or name (igraph's), where these are all there and different, else its id."""
    for key in ("label", "name"):
        found = [cell_text(facts.get(key)) for facts in nodes.values()]
        if all(found) and len(set(found)) == len(found):
            return dict(zip(nodes, found, strict=True))
    return {node: node for node in nodes}


def attribute_table(
    path: Path, names: Sequence[str], facts: Iterable[Mapping[str, Any]], left_out: Container[str] = ()
) -> AttributeTable:
    """Attributes of nodes as a table, without those of drawings and bookkeeping and those left out."""
    listed = list(facts)
    plain = (str, numbers.Real, type(None))
    every = dict.fromkeys(key for each in listed for key, value in each.items() if isinstance(value, plain))
    header = [key for key in every if key not in left_out]
    table = AttributeTable(path, ["node", *header])
    for name, each in zip(names, listed, strict=True):
        values = (each.get(key) for key in header)
        table.rows.append([name, *(cell_text(one) if isinstance(one, (str, numbers.Real)) else "" for one in values)])
        table.lines.append(0)
    return table


def take_attributes(parsed: Parsed, table: AttributeTable, options: ReadOptions, taken: Container[str]) -> None:
    """What a graph's own file says about its nodes: the label, what is asked for, and what gramme writes itself."""
    assert parsed.nodes is not None
    names = [name for name in table.header if name not in taken]
    label = options.label or LABEL_COLUMN
    if options.label is not None and label not in names and options.labels is None:
        raise table.error(f"no node has the attribute {label!r}; {did_you_mean(label, names)}")
    if label in names:
        parsed.labels = table.labels(parsed.nodes, label)
    if options.labels is not None:  # a table of the nodes, whose columns may be meant
        options = _of_these(options, names)
    if options.columns is None and options.features is None and options.layers_from is None:
        options = replace(options, columns=[name for name in names if is_feature_name(name)])
    made = take_columns(parsed, table, {label, *(name for name in table.header if name in taken)}, options)
    used = _asked(options) | {label}
    unused = [name for name in names if name not in used and name not in made.mask_columns]
    if unused:
        tell(
            f"{table.path.name}: attributes of nodes not used: {', '.join(unused)[:200]} "
            f"({setting('label')}, {setting('features')} or {setting('layers_from')} chooses some)"
        )


def _of_these(options: ReadOptions, names: list[str]) -> ReadOptions:
    """The options with those of the named columns alone that are attributes here; None where none is."""
    chosen: dict[str, Any] = {}
    for key in ("columns", "features", "layers_from"):
        asked = getattr(options, key)
        listed = [asked] if isinstance(asked, str) else list(asked or ())
        chosen[key] = [name for name in listed if name in names] or None
    return replace(options, **chosen)
