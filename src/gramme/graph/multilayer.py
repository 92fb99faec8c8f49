"""The multi-layered graph: one set of nodes, many relations, perhaps labels and features."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from gramme.errors import DataError, did_you_mean
from gramme.graph.align import aligned
from gramme.graph.arrays import loose_index, name_index, node_count, plain, same_values
from gramme.graph.builders import Builders
from gramme.graph.coupling import Coupling, Pair, checked_couplings, with_coupling_layers
from gramme.graph.edge_layer import EdgeLayer
from gramme.graph.face import GraphFace
from gramme.graph.features import (
    Features,
    checked_feature_names,
    checked_features,
    checked_layer_features,
    freeze_features,
    same_features,
    same_layer_features,
)
from gramme.graph.frozen import Frozen
from gramme.graph.layer import Layer
from gramme.graph.membership_layer import MembershipLayer
from gramme.graph.summary import describe, html, summarise
from gramme.graph.supra import supra_adjacency

if TYPE_CHECKING:
    import networkx as nx
    from torch_geometric.data import HeteroData


_MAPPINGS = ("layers", "couplings", "layer_features")


class MultilayerGraph(Builders, GraphFace, Frozen):
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

    Examples
    --------
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
    labels: NDArray[np.object_] | None
    features: Features | None
    name: str | None
    couplings: Mapping[Pair, Coupling]
    layer_features: Mapping[str, Features]
    feature_names: tuple[str, ...] | None

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
        name: str | None = None,
        num_nodes: int | None = None,
    ) -> None:
        if num_nodes is not None:
            num_nodes = node_count(num_nodes)
        if not isinstance(layers, Mapping):
            raise DataError(f"layers must be a mapping of name to layer, not {layers!r}")
        given: dict[Any, Any] = dict(layers)
        for layer_name, layer in given.items():
            if not isinstance(layer_name, str) or not layer_name:
                raise DataError(f"the layer name {layer_name!r} is empty or not text")
            if not isinstance(layer, Layer):
                raise DataError(f"layer {layer_name!r} is not a layer but {layer!r}")
            if num_nodes is None:
                num_nodes = layer.num_nodes
            elif layer.num_nodes != num_nodes:
                raise DataError(
                    f"layer {layer_name!r} is over {layer.num_nodes} nodes, others over {num_nodes}"
                )
        self.nodes = name_index(nodes, num_nodes)
        self.layers = MappingProxyType(dict(layers))
        self.labels = None if labels is None else self.align(labels, "label")
        if isinstance(features, Mapping):
            layer_features = {**features, **(layer_features or {})}
            features = None
        self.features = None if features is None else checked_features(features, self.nodes)
        self.couplings = checked_couplings(couplings, self.layers, self.nodes)
        self.layer_features = checked_layer_features(layer_features, self.layers, self.nodes)
        self.feature_names = checked_feature_names(feature_names, self.features)
        self.name = name

    def __getstate__(self) -> dict[str, Any]:
        return super().__getstate__() | {part: dict(getattr(self, part)) for part in _MAPPINGS}

    def __setstate__(self, state: dict[str, Any]) -> None:
        # A graph that was pickled before there were couplings or names of features has none
        parts = {part: MappingProxyType(state.get(part, {})) for part in _MAPPINGS}
        super().__setstate__({"feature_names": None} | state | parts)
        for matrix in (self.features, *self.layer_features.values()):
            freeze_features(matrix)

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
        size = self.num_nodes * self.num_layers
        for layer in self.layers.values():
            both_ends = layer.made_of == "edges" and not layer.directed
            size += layer.num_entries * (2 if both_ends else 1)
        return size

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
        wanted = loose_index(names)
        try:
            places = self.nodes.get_indexer(wanted).astype(np.int64)
        except TypeError as error:
            raise DataError(f"a node name must be hashable: {error}") from error
        if (places < 0).any():
            unknown = plain(wanted[int(np.flatnonzero(places < 0)[0])])
            raise DataError(
                f"there is no node {unknown!r} in the graph ({self._name_hint(unknown)})"
            )
        return places

    def _name_hint(self, unknown: object) -> str:
        alike = [name for name in self.nodes[:100_000] if str(name) == str(unknown)]
        if alike:
            kind = type(alike[0]).__name__
            return f"a node {alike[0]!r} is there: names are {kind}, not {type(unknown).__name__}"
        if not self.num_nodes:
            return "it has no nodes"
        some = ", ".join(repr(name) for name in self.nodes[:3])
        return f"nodes are named {some}" + (", ..." if self.num_nodes > 3 else "")

    def align(self, values: Any, what: str = "value") -> NDArray[np.object_]:
        """Values per node in node order, None where missing; see ``gramme.graph.align.aligned``."""
        return aligned(self, values, what)

    # Other graphs made from this one

    def replace(self, **changes: Any) -> MultilayerGraph:
        """The same graph with some parts exchanged: layers, nodes, labels, features, couplings, ...

        Where layers are exchanged, couplings and features of layers that are gone go with them.
        """
        parts: dict[str, Any] = {
            "layers": self.layers,
            "nodes": self.nodes,
            "labels": self.labels,
            "features": self.features,
            "name": self.name,
            "couplings": self.couplings,
            "layer_features": self.layer_features,
            "feature_names": None if "features" in changes else self.feature_names,
        }
        unknown = set(changes) - set(parts)
        if unknown:
            raise TypeError(f"replace() has no part {sorted(unknown)[0]!r}")
        if isinstance(changes.get("features"), Mapping):
            parts["layer_features"] = {}
        kept = changes.get("layers", self.layers)
        parts["couplings"] = {
            pair: coupling
            for pair, coupling in self.couplings.items()
            if pair[0] in kept and pair[1] in kept
        }
        parts["layer_features"] = {
            name: matrix for name, matrix in parts["layer_features"].items() if name in kept
        }
        return MultilayerGraph(**(parts | changes))

    def with_coupling_layers(self) -> MultilayerGraph:
        """Every coupling as a layer ``A~B``; see ``gramme.graph.coupling.with_coupling_layers``."""
        return with_coupling_layers(self)

    def select_layers(self, names: Iterable[str]) -> MultilayerGraph:
        """The graph with the named layers only, in the order given."""
        if isinstance(names, str):
            names = [names]
        chosen = {name: self.layer(name) for name in names}
        return self.replace(layers=chosen)

    def layer(self, name: str) -> Layer:
        """The layer of that name, or an error that suggests the nearest one."""
        if name not in self.layers:
            raise DataError(f"there is no layer {name!r}; {did_you_mean(str(name), self.layers)}")
        return self.layers[name]

    def subgraph(self, nodes: Iterable[Any]) -> MultilayerGraph:
        """The graph among the named nodes, in the order given; every layer is kept."""
        places = self.positions(nodes)
        if np.unique(places).size != places.size:
            order = np.sort(places)
            double = plain(self.nodes[int(order[:-1][np.diff(order) == 0][0])])
            raise DataError(f"the node {double!r} was named twice for a subgraph; name each once")
        return MultilayerGraph(
            {name: layer.subset(places) for name, layer in self.layers.items()},
            nodes=self.nodes[places],
            labels=None if self.labels is None else self.labels[places],
            features=None if self.features is None else self.features[places],
            couplings={pair: each.subset(places) for pair, each in self.couplings.items()},
            layer_features={name: each[places] for name, each in self.layer_features.items()},
            feature_names=self.feature_names,
            name=self.name,
            num_nodes=places.size,
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
        return supra_adjacency(self)

    def __repr__(self) -> str:
        return describe(self)

    def _repr_html_(self) -> str:
        return html(self)

    def __eq__(self, other: object) -> bool:
        """Equal nodes, layers in order, couplings, labels and features; the name does not count."""
        return (
            isinstance(other, MultilayerGraph)
            and same_values(self.nodes.to_numpy(), other.nodes.to_numpy())
            and list(self.layers) == list(other.layers)
            and all(layer == other.layers[name] for name, layer in self.layers.items())
            and same_values(self.labels, other.labels)
            and same_features(self.features, other.features)
            and self.feature_names == other.feature_names
            and dict(self.couplings) == dict(other.couplings)
            and same_layer_features(self.layer_features, other.layer_features)
        )

    __hash__ = None  # type: ignore[assignment]  # it holds arrays; compare with ==

    # The ways back; each lives in a file of its own

    def to_scipy(self) -> dict[str, sp.csr_array]:
        """The adjacency matrix of each layer, by layer name."""
        return {name: layer.to_scipy() for name, layer in self.layers.items()}

    def to_networkx(self, *, merged: bool = False) -> dict[str, nx.Graph[Any]] | nx.MultiGraph[Any]:
        """One networkx graph per layer; see :func:`gramme.graph.exchange_networkx.to_networkx`."""
        from gramme.graph.exchange_networkx import to_networkx

        return to_networkx(self, merged=merged)

    def to_pyg(self, *, groups: Literal["edges", "nodes"] = "edges") -> HeteroData:
        """A HeteroData with one relation per layer; see :func:`gramme.graph.exchange_pyg.to_pyg`."""
        from gramme.graph.exchange_pyg import to_pyg

        return to_pyg(self, groups=groups)


def sorted_labels(labels: Iterable[Any]) -> list[Any]:
    """Distinct labels in a fixed order: by value, or by type and text where they do not compare."""
    distinct = list(dict.fromkeys(labels))
    try:
        return sorted(distinct)
    except TypeError:
        return sorted(distinct, key=lambda label: (type(label).__name__, str(label)))


__all__ = ["Coupling", "EdgeLayer", "Layer", "MembershipLayer", "MultilayerGraph", "sorted_labels"]
