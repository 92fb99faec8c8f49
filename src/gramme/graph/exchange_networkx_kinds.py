"""From a networkx graph whose nodes are of several kinds: papers, authors and venues in one graph."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from gramme.errors import DataError
from gramme.graph.arrays import is_missing
from gramme.graph.from_relations import from_relations
from gramme.graph.multilayer import MultilayerGraph


def from_networkx_kinds(
    graph: Any,
    kind: str,
    target: str | None,
    *,
    weight: str | None,
    label: str | None,
    paths: Iterable[Sequence[str]] | None = None,
    directed: bool | Mapping[str, bool] | None = None,
    nodes: Iterable[Any] | None = None,
    features: Any = None,
    name: str | None = None,
) -> MultilayerGraph:
    """The graph over the nodes of the target kind; ``kind`` is the node attribute that tells a node's kind."""
    if not hasattr(graph, "nodes") or not hasattr(graph, "edges"):
        raise DataError("with kind=..., give one networkx graph whose nodes have that attribute")
    if target is None:
        raise DataError("with kind=..., say which kind is to be labelled with target=...")
    of_node: dict[Any, str] = {}
    members: dict[str, list[Any]] = {}
    labels: dict[Any, Any] = {}
    for node, values in graph.nodes(data=True):
        if is_missing(values.get(kind)):
            raise DataError(f"the node {node!r} has no attribute {kind!r} to tell its kind")
        of_node[node] = str(values[kind])
        members.setdefault(of_node[node], []).append(node)
        if label is not None and of_node[node] == target and not is_missing(values.get(label)):
            labels[node] = values[label]
    order = list(members)
    relations: dict[tuple[str, str], list[tuple[Any, Any, Any]]] = {}
    for source, end, values in graph.edges(data=True):
        ends = (source, end)
        if order.index(of_node[source]) > order.index(of_node[end]):
            ends = (end, source)
        pair = (of_node[ends[0]], of_node[ends[1]])
        relations.setdefault(pair, []).append((*ends, values.get(weight) if weight else None))
    for pair, rows in relations.items():
        weighted = any(row[2] is not None for row in rows)
        relations[pair] = [
            (row[0], row[1], 1.0 if row[2] is None else row[2]) if weighted else row[:2]  # type: ignore[misc]
            for row in rows
        ]
    stated: dict[str, Iterable[Any]] = dict(members)
    if nodes is not None:
        stated[target] = nodes
    joined = {each for pair in relations for each in pair}
    return from_relations(
        relations,
        target=target,
        paths=paths,
        directed=bool(graph.is_directed()) if directed is None else directed,
        nodes={each: names for each, names in stated.items() if each in joined},
        labels=None if label is None else labels,
        features=features,
        name=name,
    )
