"""GAT, R-GCN and HAN."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import ClassVar

import numpy as np
import pandas as pd
import scipy.sparse as sp
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from gramme.errors import DataError
from gramme.graph import MultilayerGraph
from gramme.methods.params import NonNegativeFloat, PositiveFloat, PositiveInt, Share
from gramme.methods.persistence import SavedArray, SavedField

from .base import PygModel, PygOutput, listening


@dataclass(kw_only=True, eq=False, repr=False)
class GAT(PygModel):
    """Graph attention network on one graph with the edges of all layers, by PyTorch Geometric.

    Two attention layers as in the paper: ``heads`` heads of ``hidden_dim`` columns side by side, then one head with a
    column per class. Which layer an edge is from, and its weight, is not known to it. It predicts for other graphs too.

    Cost per epoch: edges x heads x hidden_dim, in time and in memory (some 0.5 kB per edge); membership layers are
    turned into edges, and beyond 20 million that is an error. Needs ``pip install "gramme[pyg]"``.

    Parameters
    ----------
    feature_dim : int, default=64
        Columns of the random features.
    hidden_dim, heads : int, default=8
        Columns of a head, and heads, of the first layer.
    epochs : int, default=200
        Training steps, each on the full graph. All of them are taken, so no label is spent on knowing when to stop.
    learning_rate : float, default=0.005
        Of the Adam optimiser.
    weight_decay : float, default=0.0005
        L2 penalty on the weights.
    dropout : float, default=0.6
        Share of inputs to both layers, and of attention coefficients, that are zeroed in a training step.
    features : {"random", "given", "both"} or None, default=None
        Random features by node name, the graph's own, or both side by side. If not given, the graph's own if it
        has any, else random ones.
    device : str, default="auto"
        "auto" takes a GPU if there is one.
    random_state : int, numpy generator or None, default=None
        The same number gives the same bits on the same machine.

    Attributes
    ----------
    classes_, probabilities_, transduction_
        As for every :class:`~gramme.methods.NodeClassifier`.
    embedding_ : array of float32, shape (nodes, heads * hidden_dim)
        What the first layer makes of the nodes.
    history_ : DataFrame
        Loss per epoch.

    References
    ----------
    P. Veličković, G. Cucurull, A. Casanova, A. Romero, P. Liò, Y. Bengio, "Graph Attention Networks", ICLR 2018.

    Examples
    --------
    >>> from gramme import datasets
    >>> g = datasets.load("synthetic", nodes=200)
    >>> y = g.labels.copy()
    >>> y[::2] = None  # every other node is unknown
    >>> model = GAT(epochs=50, random_state=0).fit(g, y)
    >>> model.embedding_.shape
    (200, 64)
    """

    hidden_dim: PositiveInt = 8
    heads: PositiveInt = 8

    def _network(self, pyg: ModuleType, columns: int, layers: int, classes: int) -> nn.Module:
        first_convolution = pyg.GATConv(columns, self.hidden_dim, heads=self.heads, dropout=self.dropout)
        width = self.hidden_dim * self.heads
        last = pyg.GATConv(width, classes, heads=1, concat=False, dropout=self.dropout)
        return TwoConvolutions(first_convolution, last, F.elu, self.dropout)

    def _edges(self, graph: MultilayerGraph) -> tuple[Tensor]:
        """Every pair of a heard node and a listener once, in however many layers it is."""
        size = graph.num_nodes
        joint = np.concatenate([listening(graph, name).numpy() for name in graph.layers], axis=1)
        matrix = sp.csr_array((np.ones(joint.shape[1]), (joint[1], joint[0])), shape=(size, size))
        matrix.sum_duplicates()
        pairs = matrix.tocoo()
        return (torch.from_numpy(np.stack([pairs.col, pairs.row]).astype(np.int64)),)


class TwoConvolutions(nn.Module):
    """Two convolutions of PyG's with an activation between them; features (nodes, columns) and their edges in."""

    def __init__(
        self, first: nn.Module, last: nn.Module, activation: Callable[[Tensor], Tensor], dropout: float
    ) -> None:
        super().__init__()
        self.first, self.last, self.activation, self.dropout = first, last, activation, dropout

    def forward(self, features: Tensor, edges: tuple[Tensor, ...]) -> PygOutput:
        """Scores and embedding."""
        embedding = self.activation(self.first(F.dropout(features, self.dropout, self.training), *edges))
        return PygOutput(self.last(F.dropout(embedding, self.dropout, self.training), *edges), embedding)


@dataclass(kw_only=True, eq=False, repr=False)
class RGCN(PygModel):
    """Relational graph convolutional network, by PyTorch Geometric.

    A node takes the mean over its neighbours in each layer through a matrix of the layer's own, adds them up with what
    it was itself, twice. Weights of edges are not known to it. It predicts for other graphs too.

    Cost per epoch: edges x columns in time, edges of the largest layer x columns in memory; membership layers are
    turned into edges, and beyond 20 million that is an error. Needs ``pip install "gramme[pyg]"``.

    Parameters
    ----------
    hidden_dim : int, default=16
        Columns between the two convolutions.
    bases : int or None, default=None
        Matrices that those of the layers are mixed from, as in the paper; one per layer if not given.
    feature_dim, epochs, learning_rate, weight_decay, dropout, features, device, random_state
        As for :class:`GAT`, with 50 epochs, a learning rate of 0.01 and no dropout.

    Attributes
    ----------
    classes_, probabilities_, transduction_, embedding_, history_
        As for :class:`GAT`; the embedding, (nodes, hidden_dim), is what the first convolution makes of the nodes.

    References
    ----------
    M. Schlichtkrull, T. N. Kipf, P. Bloem, R. van den Berg, I. Titov, M. Welling, "Modeling Relational Data with Graph
    Convolutional Networks", ESWC 2018.

    Examples
    --------
    >>> from gramme import datasets
    >>> g = datasets.load("synthetic", nodes=200)
    >>> y = g.labels.copy()
    >>> y[::2] = None  # every other node is unknown
    >>> model = RGCN(random_state=0).fit(g, y)
    >>> model.embedding_.shape
    (200, 16)
    """

    hidden_dim: PositiveInt = 16
    bases: PositiveInt | None = None
    epochs: PositiveInt = 50
    learning_rate: PositiveFloat = 0.01
    dropout: Share = 0.0

    def _network(self, pyg: ModuleType, columns: int, layers: int, classes: int) -> nn.Module:
        first_convolution = pyg.RGCNConv(columns, self.hidden_dim, layers, num_bases=self.bases)
        last = pyg.RGCNConv(self.hidden_dim, classes, layers, num_bases=self.bases)
        return TwoConvolutions(first_convolution, last, F.relu, self.dropout)

    def _edges(self, graph: MultilayerGraph) -> tuple[Tensor, Tensor]:
        """The edges of all layers, and the number of the layer each is from."""
        layer_edges = [listening(graph, name) for name in graph.layers]
        layer_numbers = [
            torch.full((edge_list.shape[1],), layer_index) for layer_index, edge_list in enumerate(layer_edges)
        ]
        return torch.cat(layer_edges, dim=1), torch.cat(layer_numbers)


Edges = dict[tuple[str, str, str], Tensor]
NODE = "node"


@dataclass(kw_only=True, eq=False, repr=False)
class HAN(PygModel):
    """Heterogeneous graph attention network, each layer as one of its meta-paths, by PyTorch Geometric.

    Attention heads within each layer, a node itself included where the layer holds it; then one weight per layer, the
    same for all nodes, from an attention over the layers. Weights of edges are not known to it. It predicts for other
    graphs too.

    Cost per epoch: edges x hidden_dim, in time and in memory (some 0.5 kB per edge); membership layers are turned
    into edges, and beyond 20 million that is an error. Needs ``pip install "gramme[pyg]"``.

    Parameters
    ----------
    hidden_dim, heads : int, default=64 and 8
        Columns of the embedding, all heads side by side, and heads; the one must be a multiple of the other.
    feature_dim, epochs, learning_rate, weight_decay, dropout, features, device, random_state
        As for :class:`GAT`, with a weight decay of 0.001; dropout is of attention coefficients.

    Attributes
    ----------
    layer_importance_ : Series
        The attention over the layers, summing to 1.
    classes_, probabilities_, transduction_, embedding_, history_
        As for :class:`GAT`; the embedding of shape (nodes, hidden_dim) is what the classifier sees.

    References
    ----------
    X. Wang, H. Ji, C. Shi, B. Wang, Y. Ye, P. Cui, P. S. Yu, "Heterogeneous Graph Attention Network", WWW 2019.

    Examples
    --------
    >>> from gramme import datasets
    >>> g = datasets.load("synthetic", nodes=200)
    >>> y = g.labels.copy()
    >>> y[::2] = None  # every other node is unknown
    >>> model = HAN(epochs=50, random_state=0).fit(g, y)
    >>> model.layer_importance_.index.tolist()
    ['layer 1', 'layer 2', 'layer 3']
    """

    hidden_dim: PositiveInt = 64
    heads: PositiveInt = 8
    weight_decay: NonNegativeFloat = 0.001

    saved_fields: ClassVar[tuple[SavedField, ...]] = (SavedArray("shares", np.float64, ("layers",), low=0, high=1),)

    @property
    def layer_importance_(self) -> pd.Series:
        """The attention over the layers, by name, summing to 1."""
        self.check_fitted()
        return self._by_layer(self.shares_, "importance")

    def _check_parameters(self, graph: MultilayerGraph) -> None:
        super()._check_parameters(graph)
        if self.hidden_dim % self.heads:
            raise DataError(f"hidden_dim={self.hidden_dim} is not a multiple of heads={self.heads}, which share it")

    def _network(self, pyg: ModuleType, columns: int, layers: int, classes: int) -> nn.Module:
        relations = [relation(layer_index) for layer_index in range(layers)]
        kinds = ([NODE], relations)
        attention = pyg.HANConv({NODE: columns}, self.hidden_dim, kinds, heads=self.heads, dropout=self.dropout)
        return HANNetwork(attention, self.hidden_dim, classes, self.dropout)

    def _edges(self, graph: MultilayerGraph) -> Edges:
        """The edges of each layer with self loops."""
        return {
            relation(layer_index): listening(graph, name, self_loops=True)
            for layer_index, name in enumerate(graph.layers)
        }


def relation(place: int) -> tuple[str, str, str]:
    """A layer by its number: names of layers may hold what names of parameters may not."""
    return (NODE, f"layer{place}", NODE)


class HANNetwork(nn.Module):
    """One layer of two-level attention and a linear classifier; features (nodes, columns) and edges per layer in."""

    def __init__(self, attention: nn.Module, hidden: int, classes: int, dropout: float) -> None:
        super().__init__()
        self.attention, self.dropout = attention, dropout
        self.classifier = nn.Linear(hidden, classes)

    def forward(self, features: Tensor, edges: Edges) -> PygOutput:
        """Scores, embedding and the attention over the layers."""
        node_values, layer_shares = self.attention({NODE: features}, edges, return_semantic_attention_weights=True)
        embedding = F.dropout(node_values[NODE], self.dropout, self.training)
        return PygOutput(self.classifier(embedding), node_values[NODE], layer_shares[NODE])
