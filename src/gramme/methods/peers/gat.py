"""GAT: the graph attention network, on the union of all layers."""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from gramme.graph import MultilayerGraph
from gramme.methods.parameters import Rule, WholeNumber
from gramme.methods.peers.estimator import PygModel, listening
from gramme.methods.peers.network import PygOutput


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

    parameter_rules: ClassVar[Mapping[str, Rule]] = {"heads": WholeNumber()}

    def __init__(
        self,
        *,
        feature_dim: int = 64,
        hidden_dim: int = 8,
        heads: int = 8,
        epochs: int = 200,
        learning_rate: float = 0.005,
        weight_decay: float = 0.0005,
        dropout: float = 0.6,
        features: str | None = None,
        device: str = "auto",
        random_state: Any = None,
    ) -> None:
        super().__init__(
            feature_dim=feature_dim,
            hidden_dim=hidden_dim,
            epochs=epochs,
            learning_rate=learning_rate,
            weight_decay=weight_decay,
            dropout=dropout,
            features=features,
            device=device,
            random_state=random_state,
        )
        self.heads = heads

    def _network(self, pyg: ModuleType, columns: int, layers: int, classes: int) -> nn.Module:
        return GATNetwork(pyg, columns, self.hidden_dim, self.heads, classes, self.dropout)

    def _edges(self, graph: MultilayerGraph) -> Tensor:
        """Every pair of a heard node and a listener once, in however many layers it is."""
        size = graph.num_nodes
        joint = np.concatenate([listening(graph, name).numpy() for name in graph.layers], axis=1)
        matrix = sp.csr_array((np.ones(joint.shape[1]), (joint[1], joint[0])), shape=(size, size))
        matrix.sum_duplicates()
        pairs = matrix.tocoo()
        return torch.from_numpy(np.stack([pairs.col, pairs.row]).astype(np.int64))


class GATNetwork(nn.Module):
    """Two attention layers; features (nodes, columns) and edges (2, edges) in."""

    def __init__(
        self, pyg: ModuleType, columns: int, hidden: int, heads: int, classes: int, dropout: float
    ) -> None:
        super().__init__()
        self.first = pyg.GATConv(columns, hidden, heads=heads, dropout=dropout)
        self.last = pyg.GATConv(hidden * heads, classes, heads=1, concat=False, dropout=dropout)
        self.dropout = dropout

    def forward(self, features: Tensor, edges: Tensor) -> PygOutput:
        """Scores and embedding."""
        inputs = F.dropout(features, self.dropout, self.training)
        embedding = F.elu(self.first(inputs, edges))
        scores = self.last(F.dropout(embedding, self.dropout, self.training), edges)
        return PygOutput(scores, embedding)
