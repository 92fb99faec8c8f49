"""JSON as the web has it: networkx's node-link data, d3's nodes and links, Cytoscape's elements, or a list of edges.

The writer makes node-link data that networkx reads: every edge has its ``layer`` and perhaps a ``weight``, every node
its ``label`` and features.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gramme.errors import FileFormatError
from gramme.graph import MultilayerGraph
from gramme.io.atomic import Content
from gramme.io.attribute_graph import parse_attribute_graph
from gramme.io.headers import EdgeHeader, edge_header
from gramme.io.lossy import as_text, lossy
from gramme.io.parsed import Parsed, ReadOptions
from gramme.io.source import read_text
from gramme.io.spreadsheet import cell_text

NAME = "json"
_LAYERS = "gramme_layers"
_IDS = ("id", "name", "key", "label")
_HALF = re.compile(r"\\u[dD][89a-fA-F]")


def read(path: Path, options: ReadOptions) -> Parsed:
    """The graph of a JSON file."""
    file_text = read_text(path, options.encoding)
    try:
        data = json.loads(file_text)
        if _HALF.search(file_text):
            data = _proper(data)
    except (ValueError, RecursionError) as error:
        line = getattr(error, "lineno", None)
        raise FileFormatError(f"no JSON that can be read: {error}", file=path, line=line) from None
    facts = data if isinstance(data, dict) else {}
    json_nodes, links = _parts(data, path)
    by_id = _nodes(json_nodes, path)
    in_order = list(by_id)
    headers: dict[tuple[str, ...], EdgeHeader | None] = {}
    edges = [_edge(link, headers, path) for link in links]
    end_nodes = {end for source, target, _ in edges for end in (source, target)}
    if in_order and not any(cell_text(end) in by_id for end in end_nodes):
        # d3 once counted its nodes; an end that is a node's name says that ends are names
        edges = [(_counted(source, in_order), _counted(target, in_order), facts) for source, target, facts in edges]
    edges = [(cell_text(source), cell_text(target), facts) for source, target, facts in edges]
    for source, target, _ in edges:
        for end_node in (source, target):
            if json_nodes and end_node not in by_id:
                raise FileFormatError(f"an edge names the node {end_node!r}, which is not listed", file=path)
            by_id.setdefault(end_node, {})
    is_directed = facts.get("directed")
    parsed = parse_attribute_graph(
        path, by_id, edges, options, directed=is_directed if isinstance(is_directed, bool) else None
    )
    _take_layers(parsed, facts)
    return parsed


def _proper(value: Any) -> Any:
    """The same with backslashes for halves of characters, which only an escape in a damaged file can spell."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode("utf-8")
    if isinstance(value, list):
        return [_proper(one) for one in value]
    if isinstance(value, dict):
        return {_proper(attribute_name): _proper(one) for attribute_name, one in value.items()}
    return value


def _parts(data: Any, path: Path) -> tuple[list[Any], list[Any]]:
    """The nodes, which may be missing, and the edges."""
    if isinstance(data, list):
        return [], data
    if isinstance(data, dict):
        if isinstance(data.get("graph"), dict) and "nodes" in data["graph"]:
            data = data["graph"]
        elements = data.get("elements", data)
        if isinstance(elements, list):  # Cytoscape's flat form
            json_nodes: list[Any] = []
            links: list[Any] = []
            for one in elements:
                (links if "source" in _own(one) else json_nodes).append(one)
            return json_nodes, links
        if isinstance(elements, dict):
            stated_layers = next(
                (elements[attribute_name] for attribute_name in ("links", "edges") if attribute_name in elements), None
            )
            listed = elements.get("nodes", [])
            if isinstance(listed, dict):  # by id, as JGF has it
                listed = [
                    {"id": attribute_name, **_own(attribute_value)}
                    for attribute_name, attribute_value in listed.items()
                ]
            if isinstance(stated_layers, list) and isinstance(listed, list):
                return listed, stated_layers
    raise FileFormatError(
        'there must be "nodes" and "links" (or "edges"), or a list of edges with "source" and "target"', file=path
    )


def _own(value: Any) -> dict[str, Any]:
    """The attributes of a node or an edge, which Cytoscape keeps under ``data`` and JGF under ``metadata``."""
    if not isinstance(value, dict):
        return {}
    inner: dict[str, Any] = {}
    for attribute_name in ("data", "metadata", "attributes"):
        if isinstance(value.get(attribute_name), dict):
            inner |= value[attribute_name]
    return {key: one for key, one in (value | inner).items() if not isinstance(one, (dict, list))}


def _nodes(nodes: list[Any], path: Path) -> dict[str, Mapping[str, Any]]:
    facts_by_node: dict[str, Mapping[str, Any]] = {}
    for node_position, node in enumerate(nodes):
        facts = _own(node)
        called = next((facts[attribute_name] for attribute_name in _IDS if facts.get(attribute_name) is not None), None)
        node_name = cell_text(node if isinstance(node, (str, int, float)) else called) or str(node_position)
        if node_name in facts_by_node:
            raise FileFormatError(f"two nodes are called {node_name!r}", file=path)
        facts_by_node[node_name] = {
            attribute_name: attribute_value
            for attribute_name, attribute_value in facts.items()
            if attribute_name != "id"
        }
    return facts_by_node


def _edge(
    link: Any, headers: dict[tuple[str, ...], EdgeHeader | None], path: Path
) -> tuple[Any, Any, Mapping[str, Any]]:
    """The ends of an edge as they stand there, and its attributes."""
    if isinstance(link, list) and len(link) in (2, 3):
        link = dict(zip(("source", "target", "weight"), link, strict=False))
    facts = _own(link)
    keys = tuple(facts)
    if keys not in headers:
        headers[keys] = edge_header(keys)
    header = headers[keys]
    end_keys = () if header is None else (keys[header.source], keys[header.target])
    if not end_keys or not all(cell_text(facts[attribute_name]) for attribute_name in end_keys):
        raise FileFormatError(f"an edge has no source and target: {str(link)[:80]}", file=path)
    others = {
        attribute_name: attribute_value
        for attribute_name, attribute_value in facts.items()
        if attribute_name not in (*end_keys, "key", "id")
    }
    return facts[end_keys[0]], facts[end_keys[1]], others


def _counted(end: Any, in_order: list[str]) -> Any:
    """The node at a position, where the end of an edge is one."""
    is_position = isinstance(end, int) and not isinstance(end, bool) and 0 <= end < len(in_order)
    return in_order[end] if is_position else end


def _take_layers(parsed: Parsed, facts: Mapping[str, Any]) -> None:
    """The layers in order and their directions, where gramme wrote them."""
    stated_layers = facts.get("graph")
    stated_layers = stated_layers.get(_LAYERS) if isinstance(stated_layers, dict) else None
    if not isinstance(stated_layers, list):
        return
    if all(isinstance(one, dict) and isinstance(one.get("name"), str) for one in stated_layers):
        parsed.directed = {one["name"]: one.get("directed") is True for one in stated_layers}
        parsed.layers = list(parsed.directed)


def write(graph: MultilayerGraph, path: Path) -> dict[Path, Content]:
    """The graph as node-link data."""
    text_graph = as_text(graph, NAME)
    if text_graph.labels is not None and not any(text_graph.labels):
        lossy(NAME, "labels where no node has one")
    json_nodes = [{"id": name, **attributes_of_node} for name, attributes_of_node in text_graph.node_facts()]
    links: list[dict[str, Any]] = []
    for node_name, layer in text_graph.edges():
        for source, target, edge_weight in text_graph.named_edges(layer):
            link = {"source": source, "target": target, "layer": node_name}
            links.append(link if edge_weight is None else link | {"weight": edge_weight})
    stated_layers = [{"name": name, "directed": layer.directed} for name, layer in text_graph.edges()]
    whole = {
        "directed": any(one["directed"] for one in stated_layers),
        "multigraph": True,
        "graph": {_LAYERS: stated_layers},
        "nodes": json_nodes,
        "links": links,
    }
    return {path: json.dumps(whole, ensure_ascii=False, indent=1) + "\n"}
