"""The ``from_...`` methods of a MultilayerGraph; each one's work is in a file of its own.

The files are imported when first used, since they build on the graph themselves.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

if TYPE_CHECKING:
    from torch_geometric.data import Data, HeteroData

    from gramme.graph.multilayer import MultilayerGraph


class Builders:
    """Every way to make a graph from what the user has."""

    @classmethod
    def from_edges(
        cls,
        edges: pd.DataFrame | Mapping[str, Any] | tuple[Any, ...],
        *,
        directed: bool | Mapping[Any, bool] = False,
        nodes: Iterable[Any] | None = None,
        layers: Iterable[str] | None = None,
        node_sets: Mapping[str, Iterable[Any]] | None = None,
        labels: Any = None,
        features: Any = None,
        name: str | None = None,
    ) -> MultilayerGraph:
        """From a table or arrays of edges; see :func:`gramme.graph.from_edges.from_edges`."""
        from gramme.graph.from_edges import from_edges

        return from_edges(
            edges,
            directed=directed,
            nodes=nodes,
            layers=layers,
            node_sets=node_sets,
            labels=labels,
            features=features,
            name=name,
        )

    @classmethod
    def from_table(
        cls,
        table: pd.DataFrame,
        *,
        label: Any = None,
        id: Any = None,
        columns: Iterable[Any] | None = None,
        bins: Mapping[Any, int | Sequence[float]] | None = None,
        quantiles: Mapping[Any, int] | None = None,
        knn: Mapping[Any, int] | None = None,
        separator: Mapping[Any, str] | None = None,
        dates: Mapping[Any, str] | None = None,
        missing: str | Mapping[Any, str] = "nobody",
        numbers: bool = True,
        name: str | None = None,
    ) -> MultilayerGraph:
        """One layer per column of a table; see :func:`gramme.graph.from_table.from_table`."""
        from gramme.graph.from_table import from_table

        return from_table(
            table,
            label=label,
            id=id,
            columns=columns,
            bins=bins,
            quantiles=quantiles,
            knn=knn,
            separator=separator,
            dates=dates,
            missing=missing,
            numbers=numbers,
            name=name,
        )

    @classmethod
    def from_relations(
        cls,
        relations: Mapping[Any, Any],
        *,
        target: str,
        paths: Iterable[Sequence[str]] | None = None,
        directed: bool | Mapping[str, bool] = False,
        nodes: Iterable[Any] | Mapping[str, Iterable[Any]] | None = None,
        labels: Any = None,
        features: Any = None,
        name: str | None = None,
    ) -> MultilayerGraph:
        """From several kinds of node; see :func:`gramme.graph.from_relations.from_relations`."""
        from gramme.graph.from_relations import from_relations

        return from_relations(
            relations,
            target=target,
            paths=paths,
            directed=directed,
            nodes=nodes,
            labels=labels,
            features=features,
            name=name,
        )

    @classmethod
    def from_views(
        cls,
        views: Mapping[str, Any],
        *,
        k: int | Mapping[str, int] = 10,
        scale: bool = True,
        nodes: Iterable[Any] | None = None,
        labels: Any = None,
        name: str | None = None,
    ) -> MultilayerGraph:
        """A layer per view of the nodes; see :func:`gramme.graph.from_views.from_views`."""
        from gramme.graph.from_views import from_views

        return from_views(views, k=k, scale=scale, nodes=nodes, labels=labels, name=name)

    @classmethod
    def from_scipy(
        cls,
        matrices: Any,
        *,
        directed: bool | Mapping[str, bool] | None = None,
        nodes: Iterable[Any] | None = None,
        labels: Any = None,
        features: Any = None,
        name: str | None = None,
    ) -> MultilayerGraph:
        """From adjacency matrices; see :func:`gramme.graph.exchange_scipy.from_scipy`."""
        from gramme.graph.exchange_scipy import from_scipy

        return from_scipy(
            matrices, directed=directed, nodes=nodes, labels=labels, features=features, name=name
        )

    @classmethod
    def from_igraph(
        cls,
        graphs: Any,
        *,
        layer: str = "layer",
        weight: str | None = "weight",
        label: str | None = None,
        node: str = "name",
        name: str | None = None,
    ) -> MultilayerGraph:
        """From graphs of igraph; see :func:`gramme.graph.exchange_igraph.from_igraph`."""
        from gramme.graph.exchange_igraph import from_igraph

        return from_igraph(graphs, layer=layer, weight=weight, label=label, node=node, name=name)

    @classmethod
    def from_graph_tool(
        cls,
        graphs: Any,
        *,
        layer: str = "layer",
        weight: str | None = "weight",
        label: str | None = None,
        node: str = "name",
        name: str | None = None,
    ) -> MultilayerGraph:
        """From graphs of graph-tool; see :func:`gramme.graph.exchange_graph_tool.from_graph_tool`."""
        from gramme.graph.exchange_graph_tool import from_graph_tool

        return from_graph_tool(
            graphs, layer=layer, weight=weight, label=label, node=node, name=name
        )

    @classmethod
    def from_networkx(
        cls,
        graphs: Any,
        *,
        layer: str = "layer",
        weight: str | None = "weight",
        label: str | None = None,
        kind: str | None = None,
        target: str | None = None,
        paths: Iterable[Sequence[str]] | None = None,
        directed: bool | Mapping[str, bool] | None = None,
        nodes: Iterable[Any] | None = None,
        features: Any = None,
        name: str | None = None,
    ) -> MultilayerGraph:
        """From networkx graphs; see :func:`gramme.graph.exchange_networkx.from_networkx`."""
        from gramme.graph.exchange_networkx import from_networkx

        return from_networkx(
            graphs,
            layer=layer,
            weight=weight,
            label=label,
            kind=kind,
            target=target,
            paths=paths,
            directed=directed,
            nodes=nodes,
            features=features,
            name=name,
        )

    @classmethod
    def from_pyg(
        cls,
        data: HeteroData | Data,
        *,
        target: str | None = None,
        paths: Iterable[Sequence[str]] | None = None,
        directed: bool | Mapping[str, bool] | None = None,
        nodes: Iterable[Any] | None = None,
        name: str | None = None,
    ) -> MultilayerGraph:
        """From a PyTorch Geometric HeteroData; see :func:`gramme.graph.exchange_pyg.from_pyg`."""
        from gramme.graph.exchange_pyg import from_pyg

        return from_pyg(data, target=target, paths=paths, directed=directed, nodes=nodes, name=name)
