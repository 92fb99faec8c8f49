"""The multi-layered graph: one set of nodes, many relations, perhaps labels and features."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from gramme.errors import DataError, did_you_mean
from gramme.graph.arrays import (
    frozen,
    is_missing,
    loose_index,
    name_index,
    node_count,
    plain,
    plain_list,
    same_values,
)
from gramme.graph.builders import Builders
from gramme.graph.edge_layer import EdgeLayer
from gramme.graph.features import Features, checked_features, freeze_features, same_features
from gramme.graph.frozen import Frozen
from gramme.graph.layer import Layer
from gramme.graph.membership_layer import MembershipLayer
from gramme.graph.summary import describe, html, summarise
from gramme.graph.supra import supra_adjacency

if TYPE_CHECKING:
    import networkx as nx
    from torch_geometric.data import HeteroData


class MultilayerGraph(Builders, Frozen):
    """One set of nodes with layers of relations, immutable once made.

    Most graphs are made by :func:`gramme.read`, :func:`gramme.datasets.load` or a ``from_...``
    builder.

    Parameters
    ----------
    layers : mapping of str to EdgeLayer or MembershipLayer
        The layers by name, in order, all over the same number of nodes.
    nodes : sequence of hashable, optional
        Distinct names of the nodes; 0, 1, 2, ... where not given.
    labels : sequence or mapping, optional
        A label per node in order, or by node name; any hashable value. None and NaN mean unknown.
    features : array or sparse matrix, shape (nodes, columns), optional
        Real attributes of the nodes, all finite.
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

    def __init__(
        self,
        layers: Mapping[str, Layer],
        *,
        nodes: Iterable[Any] | None = None,
        labels: Sequence[Any] | Mapping[Any, Any] | NDArray[Any] | pd.Series | None = None,
        features: ArrayLike | sp.sparray | sp.spmatrix | None = None,
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
                raise DataError(f"the layer name {layer_name!r} is empty or no text")
            if not isinstance(layer, Layer):
                raise DataError(f"layer {layer_name!r} is no layer but {layer!r}")
            if num_nodes is None:
                num_nodes = layer.num_nodes
            elif layer.num_nodes != num_nodes:
                raise DataError(
                    f"layer {layer_name!r} is over {layer.num_nodes} nodes, others over {num_nodes}"
                )
        self.nodes = name_index(nodes, num_nodes)
        self.layers = MappingProxyType(dict(layers))
        self.labels = None if labels is None else self.align(labels, "label")
        self.features = None if features is None else checked_features(features, self.nodes)
        self.name = name

    def __getstate__(self) -> dict[str, Any]:
        return super().__getstate__() | {"layers": dict(self.layers)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state | {"layers": MappingProxyType(state["layers"])})
        freeze_features(self.features)

    @property
    def _instead(self) -> str:
        return "graph.replace(...) makes a new one with other parts"

    # Looking up

    @property
    def num_nodes(self) -> int:
        """How many nodes there are."""
        return len(self.nodes)

    @property
    def num_layers(self) -> int:
        """How many layers there are."""
        return len(self.layers)

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
        """Values per node in node order, from a sequence in that order or a mapping by node name.

        None, NaN and pandas' NA become None, and so do nodes a mapping leaves out; numpy's scalars
        become Python's. A Series counts as a mapping by name unless its index is the default one
        (0, 1, 2, ...) while the nodes have names of their own.
        """
        aligned = np.full(self.num_nodes, None, dtype=object)
        if isinstance(values, pd.Series):
            index = values.index
            default = isinstance(index, pd.RangeIndex) and index.start == 0 and index.step == 1
            if default and not isinstance(self.nodes, pd.RangeIndex):
                values = values.to_numpy(dtype=object)
            else:
                if not values.index.is_unique:
                    double = values.index[values.index.duplicated()][0]
                    raise DataError(f"node {double!r} has more than one {what}")
                values = dict(zip(values.index, values.to_numpy(dtype=object), strict=True))
        if isinstance(values, Mapping):
            listed = [plain(value) for value in values.values()]
            places = self.positions(values.keys())
        else:
            if isinstance(values, (str, bytes, set, frozenset)) or not isinstance(values, Iterable):
                raise DataError(f"{what}s must be a sequence or a mapping by node, not {values!r}")
            shape = getattr(values, "shape", (0,))
            if len(shape) != 1:
                raise DataError(f"{what}s must be one-dimensional, not of shape {tuple(shape)}")
            listed = plain_list(values)
            if len(listed) != self.num_nodes:
                raise DataError(f"{len(listed)} {what}s were given for {self.num_nodes} nodes")
            places = np.arange(self.num_nodes)
        for place, value in zip(places.tolist(), listed, strict=True):
            if not is_missing(value):
                try:
                    hash(value)
                except TypeError as error:
                    name = plain(self.nodes[place])
                    raise DataError(f"the {what} of node {name!r} is no value: {error}") from error
                aligned[place] = value
        return frozen(aligned)

    # Other graphs made from this one

    def replace(self, **changes: Any) -> MultilayerGraph:
        """The same graph with some parts exchanged: layers, nodes, labels, features or name."""
        parts: dict[str, Any] = {
            "layers": self.layers,
            "nodes": self.nodes,
            "labels": self.labels,
            "features": self.features,
            "name": self.name,
        }
        unknown = set(changes) - set(parts)
        if unknown:
            raise TypeError(f"replace() has no part {sorted(unknown)[0]!r}")
        return MultilayerGraph(**(parts | changes))

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
            name=self.name,
            num_nodes=places.size,
        )

    # Looking at it

    def summary(self) -> pd.DataFrame:
        """One row per layer: kind, nodes, edges, density, components and, with labels, homophily."""
        return summarise(self)

    def supra_adjacency(self) -> sp.csr_array:
        """Adjacency of all layers' copies of the nodes, with pillar edges between a node's copies.

        The copy of node i in layer l is row ``l * num_nodes + i``. Built explicitly, so for small
        graphs; the models work on the same graph without building it.
        """
        return supra_adjacency(self)

    def __repr__(self) -> str:
        return describe(self)

    def _repr_html_(self) -> str:
        return html(self)

    def __eq__(self, other: object) -> bool:
        """Equal nodes, layers in order, labels and features; the graph's name does not count."""
        return (
            isinstance(other, MultilayerGraph)
            and same_values(self.nodes.to_numpy(), other.nodes.to_numpy())
            and list(self.layers) == list(other.layers)
            and all(layer == other.layers[name] for name, layer in self.layers.items())
            and same_values(self.labels, other.labels)
            and same_features(self.features, other.features)
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

    def to_pyg(self) -> HeteroData:
        """A HeteroData with one relation per layer; see :func:`gramme.graph.exchange_pyg.to_pyg`."""
        from gramme.graph.exchange_pyg import to_pyg

        return to_pyg(self)


def sorted_labels(labels: Iterable[Any]) -> list[Any]:
    """Distinct labels in a fixed order: by value, or by type and text where they do not compare."""
    distinct = list(dict.fromkeys(labels))
    try:
        return sorted(distinct)
    except TypeError:
        return sorted(distinct, key=lambda label: (type(label).__name__, str(label)))


__all__ = ["EdgeLayer", "Layer", "MembershipLayer", "MultilayerGraph", "sorted_labels"]
