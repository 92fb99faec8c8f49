"""What Python users expect of a graph: ``g["advice"]``, ``len(g)``, ``"Ann" in g``, neighbours, tables, a picture."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from gramme._later import later
from gramme.errors import DataError

if TYPE_CHECKING:
    from gramme.graph.coupling import Coupling, Pair
    from gramme.graph.layer import Layer

MAX_TABLE_EDGES = 20_000_000
"""Edges up to which a table of them is made."""


class GraphFace:
    """What a graph has of a mapping of layers and a collection of nodes."""

    if TYPE_CHECKING:
        nodes: pd.Index
        layers: Mapping[str, Layer]
        labels: NDArray[np.object_] | None
        couplings: Mapping[Pair, Coupling]

        def layer(self, name: str) -> Layer: ...
        def positions(self, names: Any) -> NDArray[np.int64]: ...

    def __getitem__(self, name: str) -> Layer:
        """The layer of that name: ``g["advice"]``."""
        return self.layer(name)

    def __len__(self) -> int:
        """How many nodes there are."""
        return len(self.nodes)

    def __iter__(self) -> Iterator[Any]:
        """The names of the nodes, in order."""
        return iter(self.nodes)

    def __contains__(self, node: object) -> bool:
        """Whether there is a node of that name."""
        try:
            return node in self.nodes
        except TypeError:  # not hashable, so no name
            return False

    def __bool__(self) -> bool:
        """A graph is true, also one without nodes: to count them say ``len(g)``."""
        return True

    def neighbors(self, node: Any, layer: str | None = None) -> list[Any]:
        """The names of a node's neighbours, in the order of the nodes.

        Where edges have a direction, those that its edges point to.

        Parameters
        ----------
        node : hashable
            The name of the node.
        layer : str, optional
            Neighbours in this layer; in any of them if not given.

        Examples
        --------
        >>> from gramme import MultilayerGraph
        >>> edges = {"layer": ["a", "b"], "source": ["Ann", "Ann"], "target": ["Bo", "Cy"]}
        >>> g = MultilayerGraph.from_edges(edges)
        >>> g.neighbors("Ann"), g.neighbors("Ann", layer="b")
        (['Bo', 'Cy'], ['Cy'])
        """
        place = int(self.positions([node])[0])
        asked = self.layers.values() if layer is None else [self.layer(layer)]
        found = [each.neighbours(place)[0] for each in asked]
        places = np.unique(np.concatenate([*found, np.zeros(0, dtype=np.int64)]).astype(np.int64))
        return list(self.nodes[places])

    def to_pandas(self, what: Literal["edges", "nodes", "memberships"] = "edges") -> pd.DataFrame:
        """The graph as a table.

        Parameters
        ----------
        what : {"edges", "nodes", "memberships"}, default="edges"
            "edges": columns ``layer``, ``source``, ``target``, ``weight``, as ``from_edges`` reads them; an undirected
            edge stands there once, and two nodes of a group are an edge. "nodes": a row per node with its ``label`` and
            its degree in each layer. "memberships": columns ``layer``, ``node``, ``group``, ``weight`` of the layers
            that are made of groups.

        Examples
        --------
        >>> from gramme import MultilayerGraph
        >>> g = MultilayerGraph.from_edges({"layer": ["a"], "source": ["Ann"], "target": ["Bo"]})
        >>> g.to_pandas()
          layer source target  weight
        0     a    Ann     Bo     1.0
        """
        if what == "edges":
            return self._edge_frame()
        if what == "nodes":
            labels = [None] * len(self.nodes) if self.labels is None else list(self.labels)
            columns: dict[str, Any] = {"label": pd.Series(labels, index=self.nodes, dtype=object)}
            for name, layer in self.layers.items():
                columns[name if name != "label" else "label (layer)"] = layer.degrees()
            return pd.DataFrame(columns, index=self.nodes.rename("node"))
        if what == "memberships":
            return self._membership_frame()
        raise DataError(f"what must be 'edges', 'nodes' or 'memberships', not {what!r}")

    def _edge_frame(self) -> pd.DataFrame:
        total = sum(layer.num_edges for layer in self.layers.values())
        if total > MAX_TABLE_EDGES:
            raise DataError(
                f"a table of {total:,} edges would not fit in memory; for groups use "
                "to_pandas('memberships')"
            )
        parts = []
        for name, layer in self.layers.items():
            edges = layer.to_edges()
            weight = np.ones(edges.num_edges) if edges.weight is None else edges.weight
            ends = (self.nodes[edges.source], self.nodes[edges.target])
            parts.append(_frame(name, {"source": ends[0], "target": ends[1], "weight": weight}))
        return _joined(parts, ["layer", "source", "target", "weight"])

    def _membership_frame(self) -> pd.DataFrame:
        parts = []
        for name, layer in self.layers.items():
            if layer.incidence() is None:
                continue
            incidence, groups = layer.columns(self.nodes)
            entries = incidence.tocoo()
            node, group = entries.coords
            columns = {"node": self.nodes[node], "group": groups[group], "weight": entries.data}
            parts.append(_frame(name, columns))
        return _joined(parts, ["layer", "node", "group", "weight"])

    def plot(
        self,
        *,
        layer: str | None = None,
        by_layer: bool = False,
        colour: Any = None,
        names: bool | None = None,
        positions: NDArray[np.float64] | None = None,
        ax: Any = None,
    ) -> Any:
        """Draw the network with matplotlib: nodes at one place in all layers, coloured by their labels.

        Parameters
        ----------
        layer : str, optional
            One layer alone; all of them in one picture if not given, each in a colour of its own unless nodes
            have one.
        by_layer : bool, default=False
            A panel for each layer, nodes at the same places.
        colour : sequence, optional
            A value per node to colour by, in order or by name, like ``model.predict()``; the labels if not given.
        names : bool, optional
            Whether to write the nodes' names; if not given, for up to 40 nodes.
        positions : array, shape (nodes, 2), optional
            Where nodes stand; by all layers together if not given.
        ax : matplotlib axes, optional
            Where to draw; a new figure if not given.

        Returns
        -------
        matplotlib axes
            With ``by_layer`` an array of them.

        Examples
        --------
        >>> from gramme import datasets
        >>> g = datasets.load("synthetic", nodes=30)
        >>> ax = g.plot(layer="layer 1")
        >>> ax.get_title()
        'layer 1'
        >>> len(g.plot(by_layer=True)) == len(g.layers)
        True
        """
        return later("gramme.plots.network:plot_graph")(
            self,
            layer=layer,
            by_layer=by_layer,
            colour=colour,
            names=names,
            positions=positions,
            ax=ax,
        )


def _frame(layer: str, columns: Mapping[str, Any]) -> pd.DataFrame:
    frame = pd.DataFrame({name: np.asarray(column) for name, column in columns.items()})
    frame.insert(0, "layer", layer)
    return frame


def _joined(parts: list[pd.DataFrame], columns: list[str]) -> pd.DataFrame:
    if not parts:
        return pd.DataFrame(columns=columns)
    return pd.concat(parts, ignore_index=True)
