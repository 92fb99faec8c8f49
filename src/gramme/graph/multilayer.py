"""The multi-layered graph: one set of nodes, many relations, perhaps labels and features."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from os import PathLike
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from gramme.errors import DataError, did_you_mean

from .arrays import Frozen, checked_names, loose_index, name_index, node_count, plain, same_values
from .coupling import Coupling, Pair, checked_couplings, with_coupling_layers
from .layer import Layer
from .node_values import (
    Features,
    aligned,
    checked_features,
    checked_layer_features,
    checked_masks,
    freeze_features,
    same_features,
)
from .summary import describe, html, summarise

if TYPE_CHECKING:
    import networkx as nx
    from torch_geometric.data import HeteroData

    from .convert.igraph import from_igraph as _from_igraph
    from .convert.networkx import from_networkx as _from_networkx
    from .convert.pyg import from_pyg as _from_pyg
    from .convert.scipy import from_scipy as _from_scipy
    from .edges import from_edges as _from_edges
    from .relations import from_relations as _from_relations
    from .table import from_table as _from_table
    from .views import from_views as _from_views


MAX_TABLE_EDGES = 20_000_000
"""Edges up to which a table of them is made."""


class _Builder:
    """A function of this package as a static method that is imported when it is first asked for.

    The modules of the builders import this one, and some of them torch.
    """

    def __init__(self, module: str) -> None:
        self.module = module

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, graph: object, owner: type) -> Any:
        return getattr(import_module(f"gramme.graph.{self.module}"), self.name)


_MAPPINGS = ("layers", "couplings", "layer_features", "masks")


class MultilayerGraph(Frozen):
    """One set of nodes with layers of relations, immutable once made.

    Most graphs are made by :func:`gramme.read`, :func:`gramme.datasets.load` or a ``from_...``
    builder.

    Parameters
    ----------
    layers : mapping of str to EdgeLayer or MembershipLayer
        The layers by name, in order, all over the same number of nodes.
    nodes : sequence of hashable, optional
        Distinct names of the nodes; 0, 1, 2, ... if not given.
    labels : sequence or mapping, optional
        A label per node in order, or by node name; any hashable value. None and NaN mean unknown.
    features : array or sparse matrix, shape (nodes, columns), or a mapping, optional
        Real attributes of the nodes, all finite. A mapping by layer name gives layers features of
        their own, as ``layer_features`` does.
    couplings : mapping of (layer, layer) to Coupling or arrays (source, target[, weight]), optional
        Edges from a node in the first layer to a node in the second, by position.
    layer_features : mapping of layer name to matrix, optional
        Attributes that belong to one layer, a row per node; a row of nothing but NaN is missing.
    feature_names : sequence of str, optional
        A distinct name for each column of ``features``.
    masks : mapping of str to array of bool, shape (nodes,), optional
        Sets of nodes by name, as PyTorch Geometric has them. Where there is a mask ``"train"``, models learn from the
        labels of its nodes alone unless they are given others.
    name : str, optional
        What to call the graph in reports.
    num_nodes : int, optional
        Needed only for a graph with neither layers nor node names.

    Attributes
    ----------
    nodes : pandas.Index
        Names in order.
    layers : mapping of str to EdgeLayer or MembershipLayer
        Read-only.
    labels : array of object or None
        Aligned with ``nodes``, None where unknown.
    features : array, scipy CSR or None
        Those that belong to no layer.
    couplings : mapping of (str, str) to Coupling
        Read-only; undirected ones under their layers in the graph's order.
    layer_features : mapping of str to array or scipy CSR
        Read-only.
    feature_names : tuple of str or None
        The names of the columns of ``features``, where they have some: the number columns of a table do.
    masks : mapping of str to array of bool
        Read-only.

    Examples
    --------
    >>> from gramme.graph import EdgeLayer, MembershipLayer
    >>> friends = EdgeLayer(3, [0], [1])
    >>> room = MembershipLayer.from_values(["a", "b", "b"])
    >>> g = MultilayerGraph({"friends": friends, "room": room}, nodes=["Ann", "Bo", "Cy"])
    >>> g
    MultilayerGraph(3 nodes, 2 layers: friends 1 edge, room 2 groups)
    >>> g.layers["room"].num_edges
    1
    """

    nodes: pd.Index
    layers: Mapping[str, Layer]
    labels: (
        NDArray[np.object_] | Any
    )  # or None; Any, so that g.labels.copy() passes where one knows that there are some
    features: Features | None
    name: str | None
    couplings: Mapping[Pair, Coupling]
    layer_features: Mapping[str, Features]
    feature_names: tuple[str, ...] | None
    masks: Mapping[str, NDArray[np.bool_]]

    def __init__(
        self,
        layers: Mapping[str, Layer],
        *,
        nodes: Iterable[Any] | None = None,
        labels: Sequence[Any] | Mapping[Any, Any] | NDArray[Any] | pd.Series | None = None,
        features: ArrayLike | sp.sparray | sp.spmatrix | Mapping[str, Any] | None = None,
        couplings: Mapping[Pair, Any] | None = None,
        layer_features: Mapping[str, Any] | None = None,
        feature_names: Sequence[str] | None = None,
        masks: Mapping[str, Any] | None = None,
        name: str | None = None,
        num_nodes: int | None = None,
    ) -> None:
        if num_nodes is not None:
            num_nodes = node_count(num_nodes)
        if not isinstance(layers, Mapping):
            raise DataError(f"layers must be a mapping of name to layer, not {layers!r}")
        given_layers: dict[Any, Any] = dict(layers)
        for layer_name, layer in given_layers.items():
            if not isinstance(layer_name, str) or not layer_name:
                raise DataError(f"the layer name {layer_name!r} is empty or not text")
            if not isinstance(layer, Layer):
                raise DataError(f"layer {layer_name!r} is not a layer but {layer!r}")
            if num_nodes is None:
                num_nodes = layer.num_nodes
            elif layer.num_nodes != num_nodes:
                raise DataError(f"layer {layer_name!r} is over {layer.num_nodes} nodes, others over {num_nodes}")
        self.nodes = name_index(nodes, num_nodes)
        self.layers = MappingProxyType(dict(layers))
        self.labels = None if labels is None else self.align(labels, "label")
        if isinstance(features, Mapping):
            layer_features = {**features, **(layer_features or {})}
            features = None
        self.features = None if features is None else checked_features(features, self.nodes)
        self.couplings = checked_couplings(couplings, self.layers, self.nodes)
        self.layer_features = checked_layer_features(layer_features, self.layers, self.nodes)
        self.feature_names = checked_names(feature_names, 0 if self.features is None else self.features.shape[1])
        self.masks = checked_masks(masks, len(self.nodes))
        self.name = name

    def __getstate__(self) -> dict[str, Any]:
        return super().__getstate__() | {part: dict(getattr(self, part)) for part in _MAPPINGS}

    def __setstate__(self, state: dict[str, Any]) -> None:
        # A graph that was pickled before there were couplings or names of features has none
        mapped_parts = {part: MappingProxyType(state.get(part, {})) for part in _MAPPINGS}
        super().__setstate__({"feature_names": None} | state | mapped_parts)
        for matrix in (self.features, *self.layer_features.values()):
            freeze_features(matrix)
        for mask in self.masks.values():
            mask.flags.writeable = False

    @property
    def _instead(self) -> str:
        return "graph.replace(...) makes a new one with other parts"

    # Looking up

    @property
    def num_nodes(self) -> int:
        """How many nodes there are."""
        return len(self.nodes)

    @property
    def coupled(self) -> bool:
        """Whether there are edges between layers."""
        return bool(self.couplings)

    @property
    def num_layers(self) -> int:
        """How many layers there are."""
        return len(self.layers)

    @property
    def num_entries(self) -> int:
        """Nodes of all layers, memberships, and edges from each end: what the time of most work here depends on."""
        entry_count = self.num_nodes * self.num_layers
        for layer in self.layers.values():
            both_ends = layer.made_of == "edges" and not layer.directed
            entry_count += layer.num_entries * (2 if both_ends else 1)
        return entry_count

    @property
    def num_edges(self) -> int:
        """Edges of all layers together; an undirected edge counts once."""
        return sum(layer.num_edges for layer in self.layers.values())

    @property
    def classes(self) -> list[Any]:
        """The distinct known labels, sorted."""
        if self.labels is None:
            return []
        return sorted_labels(label for label in self.labels if label is not None)

    def positions(self, names: Iterable[Any]) -> NDArray[np.int64]:
        """Where the named nodes stand; an unknown name is an error that quotes it."""
        wanted_names = loose_index(names)
        try:
            node_positions = self.nodes.get_indexer(wanted_names).astype(np.int64)
        except TypeError as error:
            raise DataError(f"a node name must be hashable: {error}") from error
        if (node_positions < 0).any():
            unknown_name = plain(wanted_names[int(np.flatnonzero(node_positions < 0)[0])])
            raise DataError(f"there is no node {unknown_name!r} in the graph ({self._name_hint(unknown_name)})")
        return node_positions

    def _name_hint(self, unknown: object) -> str:
        names_alike = [name for name in self.nodes[:100_000] if str(name) == str(unknown)]
        if names_alike:
            name_type = type(names_alike[0]).__name__
            return f"a node {names_alike[0]!r} is there: names are {name_type}, not {type(unknown).__name__}"
        if not self.num_nodes:
            return "it has no nodes"
        first_names = ", ".join(repr(name) for name in self.nodes[:3])
        return f"nodes are named {first_names}" + (", ..." if self.num_nodes > 3 else "")

    def align(self, values: Any, what: str = "value") -> NDArray[np.object_]:
        """Values per node in node order, None where missing; see ``gramme.graph.node_values.aligned``."""
        return aligned(self, values, what)

    # Other graphs made from this one

    def replace(self, **changes: Any) -> MultilayerGraph:
        """A graph with some parts exchanged: layers, nodes, labels, features, couplings, ...

        Where layers are exchanged, couplings and features of layers that are gone go with them.
        """
        graph_parts: dict[str, Any] = {
            "layers": self.layers,
            "nodes": self.nodes,
            "labels": self.labels,
            "features": self.features,
            "name": self.name,
            "couplings": self.couplings,
            "layer_features": self.layer_features,
            "feature_names": None if "features" in changes else self.feature_names,
            "masks": self.masks,
        }
        unknown_parts = set(changes) - set(graph_parts)
        if unknown_parts:
            raise TypeError(f"replace() has no part {sorted(unknown_parts)[0]!r}")
        if isinstance(changes.get("features"), Mapping):
            graph_parts["layer_features"] = {}
        kept_layers = changes.get("layers", self.layers)
        graph_parts["couplings"] = {
            layer_pair: coupling
            for layer_pair, coupling in self.couplings.items()
            if layer_pair[0] in kept_layers and layer_pair[1] in kept_layers
        }
        graph_parts["layer_features"] = {
            name: matrix for name, matrix in graph_parts["layer_features"].items() if name in kept_layers
        }
        return MultilayerGraph(**(graph_parts | changes))

    def with_coupling_layers(self) -> MultilayerGraph:
        """Every coupling as a layer ``A~B``; see ``gramme.graph.coupling.with_coupling_layers``."""
        return with_coupling_layers(self)

    def select_layers(self, names: Iterable[str]) -> MultilayerGraph:
        """The graph with the named layers only, in the order given."""
        if isinstance(names, str):
            names = [names]
        chosen_layers = {layer_name: self.layer(layer_name) for layer_name in names}
        return self.replace(layers=chosen_layers)

    def layer(self, name: str) -> Layer:
        """The layer of that name, or an error that suggests the nearest one."""
        if not isinstance(name, str):
            raise DataError(
                f"graph[...] takes the name of a layer, not {name!r}; where scikit-learn splits samples, as "
                "cross_val_score does, give it gramme.methods.NodeIndexClassifier(graph, model) and positions of nodes"
            )
        if name not in self.layers:
            raise DataError(f"there is no layer {name!r}; {did_you_mean(str(name), self.layers)}")
        return self.layers[name]

    def subgraph(self, nodes: Iterable[Any]) -> MultilayerGraph:
        """The graph among the named nodes, in the order given; every layer is kept."""
        node_positions = self.positions(nodes)
        if np.unique(node_positions).size != node_positions.size:
            sorted_positions = np.sort(node_positions)
            repeated_name = plain(self.nodes[int(sorted_positions[:-1][np.diff(sorted_positions) == 0][0])])
            raise DataError(f"the node {repeated_name!r} was named twice for a subgraph; name each once")
        return MultilayerGraph(
            {name: layer.subset(node_positions) for name, layer in self.layers.items()},
            nodes=self.nodes[node_positions],
            labels=None if self.labels is None else self.labels[node_positions],
            features=None if self.features is None else self.features[node_positions],
            couplings={layer_pair: each.subset(node_positions) for layer_pair, each in self.couplings.items()},
            layer_features={name: each[node_positions] for name, each in self.layer_features.items()},
            feature_names=self.feature_names,
            masks={name: mask[node_positions] for name, mask in self.masks.items()},
            name=self.name,
            num_nodes=node_positions.size,
        )

    # Looking at it

    def summary(self) -> pd.DataFrame:
        """One row per layer and coupling: kind, nodes, edges, density, components, homophily of labels."""
        return summarise(self)

    def supra_adjacency(self) -> sp.csr_array:
        """Adjacency of all layers' copies of the nodes, with pillars between a node's copies and couplings.

        The copy of node i in layer l is row ``l * num_nodes + i``. Built explicitly, so for small
        graphs; the models work on the same graph without building it.
        """
        node_count, all_layers = self.num_nodes, list(self.layers.values())
        if not all_layers:
            return sp.csr_array((0, 0))
        matrix_blocks: list[list[Any]] = []
        for row_layer in all_layers:
            shared_presence = [
                (row_layer.present & column_layer.present).astype(np.float64) for column_layer in all_layers
            ]
            matrix_blocks.append(
                [
                    sp.csr_array(sp.diags_array(both_present, shape=(node_count, node_count)))
                    for both_present in shared_presence
                ]
            )
        layer_position = {name: position for position, name in enumerate(self.layers)}
        for name, layer in self.layers.items():
            matrix_blocks[layer_position[name]][layer_position[name]] = layer.to_scipy()
        for (first_layer, second_layer), coupling in self.couplings.items():
            a, b, coupling_matrix = layer_position[first_layer], layer_position[second_layer], coupling.to_scipy()
            matrix_blocks[a][b] = sp.csr_array(matrix_blocks[a][b] + coupling_matrix)
            if not coupling.directed:
                matrix_blocks[b][a] = sp.csr_array(matrix_blocks[b][a] + coupling_matrix.T)
        supra_matrix = sp.csr_array(sp.block_array(matrix_blocks, format="csr"))
        supra_matrix.eliminate_zeros()
        supra_matrix.sort_indices()
        return supra_matrix

    def __repr__(self) -> str:
        return describe(self)

    def _repr_html_(self) -> str:
        return html(self)

    def __eq__(self, other: object) -> bool:
        """Equal nodes, layers in order, couplings, labels, features and masks; the name does not count."""
        return (
            isinstance(other, MultilayerGraph)
            and same_values(self.nodes.to_numpy(), other.nodes.to_numpy())
            and list(self.layers) == list(other.layers)
            and all(layer == other.layers[name] for name, layer in self.layers.items())
            and same_values(self.labels, other.labels)
            and same_features(self.features, other.features)
            and self.feature_names == other.feature_names
            and dict(self.couplings) == dict(other.couplings)
            and self.layer_features.keys() == other.layer_features.keys()
            and all(same_features(each, other.layer_features[name]) for name, each in self.layer_features.items())
            and self.masks.keys() == other.masks.keys()
            and all(same_values(mask, other.masks[name]) for name, mask in self.masks.items())
        )

    __hash__ = None  # type: ignore[assignment]  # it holds arrays; compare with ==

    # The ways back; each lives in a file of its own

    def to_scipy(self) -> dict[str, sp.csr_array]:
        """The adjacency matrix of each layer, by layer name."""
        return {name: layer.to_scipy() for name, layer in self.layers.items()}

    def to_networkx(self, *, merged: bool = False) -> dict[str, nx.Graph[Any]] | nx.MultiGraph[Any]:
        """One networkx graph per layer; see :func:`gramme.graph.convert.networkx.to_networkx`."""
        from gramme.graph.convert.networkx import to_networkx

        return to_networkx(self, merged=merged)

    def to_pyg(self, *, groups: Literal["edges", "nodes"] = "edges") -> HeteroData:
        """A HeteroData with one relation per layer; see :func:`gramme.graph.convert.pyg.to_pyg`."""
        from gramme.graph.convert.pyg import to_pyg

        return to_pyg(self, groups=groups)

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
        node_position = int(self.positions([node])[0])
        asked_layers = self.layers.values() if layer is None else [self.layer(layer)]
        found_nodes = [each.neighbours(node_position)[0] for each in asked_layers]
        neighbour_nodes = np.unique(np.concatenate([*found_nodes, np.zeros(0, dtype=np.int64)]).astype(np.int64))
        return list(self.nodes[neighbour_nodes])

    def to_pandas(self, what: Literal["edges", "nodes", "memberships"] = "edges") -> pd.DataFrame:
        """The graph as a table.

        Parameters
        ----------
        what : {"edges", "nodes", "memberships"}, default="edges"
            "edges": columns ``layer``, ``source``, ``target``, ``weight`` and the features of edges, as ``from_edges``
            reads them; an undirected edge stands there once, and two nodes of a group are an edge. "nodes": a row per
            node with its ``label`` and its degree in each layer. "memberships": columns ``layer``, ``node``, ``group``,
            ``weight`` of the layers that are made of groups.

        Examples
        --------
        >>> from gramme import MultilayerGraph
        >>> g = MultilayerGraph.from_edges({"layer": ["a"], "source": ["Ann"], "target": ["Bo"]})
        >>> g.to_pandas()
          layer source target  weight
        0     a    Ann     Bo     1.0
        """
        if what == "nodes":
            node_labels = [None] * len(self.nodes) if self.labels is None else list(self.labels)
            node_columns: dict[str, Any] = {"label": pd.Series(node_labels, index=self.nodes, dtype=object)}
            for name, layer in self.layers.items():
                node_columns[name if name != "label" else "label (layer)"] = layer.degrees()
            return pd.DataFrame(node_columns, index=self.nodes.rename("node"))
        if what not in ("edges", "memberships"):
            raise DataError(f"what must be 'edges', 'nodes' or 'memberships', not {what!r}")
        if what == "edges" and self.num_edges > MAX_TABLE_EDGES:
            raise DataError(
                f"a table of {self.num_edges:,} edges would not fit in memory; for groups use to_pandas('memberships')"
            )
        end_columns = ["source", "target"] if what == "edges" else ["node", "group"]
        layer_tables = []
        for name, layer in self.layers.items():
            if what == "edges":
                edges = layer.to_edges()
                first_ends, second_ends = self.nodes[edges.source], self.nodes[edges.target]
                entry_weights = np.ones(edges.num_edges) if edges.weight is None else edges.weight
                feature_columns = (
                    {}
                    if edges.features is None
                    else dict(zip(edges.feature_names or (), edges.features.T, strict=True))
                )
            elif layer.incidence() is None:
                continue
            else:
                incidence, group_names = layer.columns(self.nodes)
                entries = incidence.tocoo()
                first_ends, second_ends = self.nodes[entries.coords[0]], group_names[entries.coords[1]]
                entry_weights, feature_columns = entries.data, {}
            table_columns = (
                dict(zip(end_columns, (first_ends, second_ends), strict=True))
                | {"weight": entry_weights}
                | feature_columns
            )
            layer_tables.append(
                pd.DataFrame({column_name: np.asarray(column) for column_name, column in table_columns.items()})
            )
            layer_tables[-1].insert(0, "layer", name)
        return (
            pd.concat(layer_tables, ignore_index=True)
            if layer_tables
            else pd.DataFrame(columns=["layer", *end_columns, "weight"])
        )

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
        from gramme.plots.network import plot_graph

        return plot_graph(self, layer=layer, by_layer=by_layer, colour=colour, names=names, positions=positions, ax=ax)

    # Ways to make one, each documented where its work is done

    if TYPE_CHECKING:
        from_edges = staticmethod(_from_edges)
        from_table = staticmethod(_from_table)
        from_relations = staticmethod(_from_relations)
        from_views = staticmethod(_from_views)
        from_scipy = staticmethod(_from_scipy)
        from_igraph = staticmethod(_from_igraph)
        from_networkx = staticmethod(_from_networkx)
        from_pyg = staticmethod(_from_pyg)
    else:
        from_edges = _Builder("edges")
        from_table = _Builder("table")
        from_relations = _Builder("relations")
        from_views = _Builder("views")
        from_scipy = _Builder("convert.scipy")
        from_igraph = _Builder("convert.igraph")
        from_networkx = _Builder("convert.networkx")
        from_pyg = _Builder("convert.pyg")


def checked_graph(given: object) -> MultilayerGraph:
    """The graph itself, or an error that names what makes a graph of what was given instead.

    >>> checked_graph("school.edges")
    Traceback (most recent call last):
    ...
    gramme.errors.DataError: a MultilayerGraph is needed, not str; gramme.read('school.edges') reads one from a file
    """
    if isinstance(given, MultilayerGraph):
        return given
    given_type = type(given)
    makers = {
        "networkx": "MultilayerGraph.from_networkx makes one of it",
        "igraph": "MultilayerGraph.from_igraph makes one of it",
        "torch_geometric": "MultilayerGraph.from_pyg makes one of it",
        "pandas": "MultilayerGraph.from_table(table, label=...) makes one of a table with a row per node, "
        "MultilayerGraph.from_edges of a table of edges",
    }
    maker = makers.get(given_type.__module__.partition(".")[0])
    if isinstance(given, (str, PathLike)):
        maker = f"gramme.read({str(given)!r}) reads one from a file"
    elif isinstance(given, Layer):
        maker = 'MultilayerGraph({"name": layer}) makes one of it'
    elif isinstance(given, np.ndarray) or sp.issparse(given):
        maker = (
            "of adjacency matrices MultilayerGraph.from_scipy makes one, of a table with a row per node "
            "MultilayerGraph.from_table(pandas.DataFrame(table), label=...), and positions of nodes go to "
            "NodeIndexClassifier(graph, model) from gramme.methods"
        )
    elif isinstance(given, (Mapping, list, tuple)):
        maker = (
            "MultilayerGraph.from_edges makes one of edges, from_scipy of matrices, from_networkx of graphs by layer"
        )
    raise DataError(f"a MultilayerGraph is needed, not {given_type.__name__}" + (f"; {maker}" if maker else ""))


def sorted_labels(labels: Iterable[Any]) -> list[Any]:
    """Distinct labels in a fixed order: by value, or by type and text where they do not compare."""
    distinct_labels = list(dict.fromkeys(labels))
    try:
        return sorted(distinct_labels)
    except TypeError:
        return sorted(distinct_labels, key=lambda label: (type(label).__name__, str(label)))
