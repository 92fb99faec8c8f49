"""R-GCN: the relational graph convolutional network, one relation per layer."""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType
from typing import Any, ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from gramme.graph import MultilayerGraph
from gramme.methods.parameters import Optional, Rule, WholeNumber
from gramme.methods.peers.estimator import PygModel, listening
from gramme.methods.peers.network import PygOutput


class RGCN(PygModel):
    """Relational graph convolutional network, by PyTorch Geometric.

    A node takes the mean over its neighbours in each layer through a matrix of the layer's own, adds them up with what
    it was itself, twice. Weights of edges are not known to it. It predicts for other graphs too.

    Cost per epoch: edges x columns in time, edges of the largest layer x columns in memory; membership layers are
    turned into edges, and beyond 20 million that is an error. Needs ``pip install "gramme[pyg]"``.

    Parameters
    ----------
    feature_dim : int, default=64
        Columns of the random features.
    hidden_dim : int, default=16
        Columns between the two convolutions.
    bases : int or None, default=None
        Matrices that those of the layers are mixed from, as in the paper; one per layer if not given.
    epochs : int, default=50
        Training steps, each on the full graph. All of them are taken, so no label is spent on knowing when to stop.
    learning_rate : float, default=0.01
        Of the Adam optimiser.
    weight_decay : float, default=0.0005
        L2 penalty on the weights.
    dropout : float, default=0.0
        Share of inputs to both convolutions that are zeroed in a training step.
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
    embedding_ : array of float32, shape (nodes, hidden_dim)
        What the first convolution makes of the nodes.
    history_ : DataFrame
        Loss per epoch.

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

    parameter_rules: ClassVar[Mapping[str, Rule]] = {"bases": Optional(WholeNumber())}

    def __init__(
        self,
        *,
        feature_dim: int = 64,
        hidden_dim: int = 16,
        bases: int | None = None,
        epochs: int = 50,
        learning_rate: float = 0.01,
        weight_decay: float = 0.0005,
        dropout: float = 0.0,
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
        self.bases = bases

    def _network(self, pyg: ModuleType, columns: int, layers: int, classes: int) -> nn.Module:
        return RGCNNetwork(pyg, columns, self.hidden_dim, layers, self.bases, classes, self.dropout)

    def _edges(self, graph: MultilayerGraph) -> tuple[Tensor, Tensor]:
        """The edges of all layers, and the number of the layer each is from."""
        found = [listening(graph, name) for name in graph.layers]
        kinds = [torch.full((one.shape[1],), place) for place, one in enumerate(found)]
        return torch.cat(found, dim=1), torch.cat(kinds)


class RGCNNetwork(nn.Module):
    """Two relational convolutions; features (nodes, columns), edges (2, edges) and their layers (edges,) in."""

    def __init__(
        self,
        pyg: ModuleType,
        columns: int,
        hidden: int,
        layers: int,
        bases: int | None,
        classes: int,
        dropout: float,
    ) -> None:
        super().__init__()
        self.first = pyg.RGCNConv(columns, hidden, layers, num_bases=bases)
        self.last = pyg.RGCNConv(hidden, classes, layers, num_bases=bases)
        self.dropout = dropout

    def forward(self, features: Tensor, edges: tuple[Tensor, Tensor]) -> PygOutput:
        """Scores and embedding."""
        inputs = F.dropout(features, self.dropout, self.training)
        embedding = F.relu(self.first(inputs, *edges))
        scores = self.last(F.dropout(embedding, self.dropout, self.training), *edges)
        return PygOutput(scores, embedding)
