"""Link predictors of others for the benchmark of links: node2vec with Hadamard features, and PyG's graph autoencoders.

Each sees the edges of all layers, as the methods of gramme do, and learns from the edges of the layer that is asked
about against as many random pairs without an edge. Settings are the usual ones of the papers and stay the same for all
data: nothing is tuned for anybody.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
import torch
from scipy.special import expit
from torch import Tensor, nn

from gramme._types import Floats, Ints
from gramme.errors import import_extra
from gramme.graph import MultilayerGraph
from gramme.links import unlinked_pairs
from gramme.links.mixture import Line

Pairs = Ints


def training_pairs(graph: MultilayerGraph, layer: str, random: np.random.Generator) -> tuple[Pairs, Pairs]:
    """The edges of a layer, and as many random pairs without one."""
    edges = graph.layers[layer].to_edges()
    linked = np.column_stack([edges.source, edges.target]).astype(np.int64)
    directed, present = edges.directed, edges.present
    return linked, unlinked_pairs(edges.to_scipy(), len(linked), random, directed=directed, present=present)


def node2vec_hadamard(graph: MultilayerGraph, layer: str, pairs: Pairs, seed: int) -> Floats:
    """Logistic regression on products of node2vec's vectors, of walks with p = q = 1 over all layers.

    References
    ----------
    A. Grover, J. Leskovec, "node2vec: Scalable Feature Learning for Networks", KDD 2016.
    """
    from gramme.methods.embedding.deepwalk import skip_gram
    from gramme.ops.kernels import Walks

    walks = Walks.of(list(graph.layers.values()), length=40, p=1.0, q=1.0, seed=seed)
    rows = skip_gram(walks, dim=64, window=10, walks_per_node=20, epochs=2, negative=5, seed=seed).astype(np.float64)
    linked, unlinked = training_pairs(graph, layer, np.random.default_rng([seed, 3]))
    both = np.concatenate([linked, unlinked])
    answers = np.arange(len(both)) < len(linked)
    line = Line.fitted(rows[both[:, 0]] * rows[both[:, 1]], answers, strength=1.0)
    found: Floats = expit(line.log_odds(rows[pairs[:, 0]] * rows[pairs[:, 1]]))
    return found


@dataclass(frozen=True)
class GraphAutoencoder:
    """Dot products of the rows of an encoder of two layers, which PyG's GAE trains on the edges of the layer.

    Nodes have learned inputs, since most graphs have no attributes; messages go along the edges of all layers. A class,
    so that it can be sent to another process.

    References
    ----------
    T. N. Kipf, M. Welling, "Variational Graph Auto-Encoders", NIPS workshop on Bayesian deep learning 2016.
    """

    convolution: str
    """The name of PyG's layer: ``GCNConv`` or ``GATConv``."""

    def __call__(self, graph: MultilayerGraph, layer: str, pairs: Pairs, seed: int) -> Floats:
        import_extra("torch_geometric", "torch-geometric", "a graph autoencoder")
        from torch_geometric import nn as pyg

        total = sp.csr_array((graph.num_nodes, graph.num_nodes))
        for one in graph.layers.values():
            total = total + one.to_scipy() + one.to_scipy().T
        coo = sp.coo_array(total)
        edges = torch.from_numpy(np.stack([coo.row, coo.col]).astype(np.int64))
        random = np.random.default_rng([seed, 3])
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            model = pyg.GAE(_Encoder(graph.num_nodes, getattr(pyg, self.convolution)))
            optimiser = torch.optim.Adam(model.parameters(), lr=0.01)
            for _ in range(200):
                linked, unlinked = (torch.from_numpy(some.T.copy()) for some in training_pairs(graph, layer, random))
                optimiser.zero_grad()
                model.recon_loss(model.encode(edges), linked, unlinked).backward()
                optimiser.step()
            model.eval()
            with torch.no_grad():
                rows = model.encode(edges)
                scores: Tensor = model.decoder(rows, torch.from_numpy(pairs.T.copy()), sigmoid=False)
        return scores.double().numpy()


class _Encoder(nn.Module):
    """Learned inputs, and two convolutions."""

    def __init__(self, nodes: int, convolution: type[nn.Module]) -> None:
        super().__init__()
        self.inputs = nn.Embedding(nodes, 64)
        self.first, self.last = convolution(64, 64), convolution(64, 32)

    def forward(self, edges: Tensor) -> Tensor:
        hidden: Tensor = self.last(torch.relu(self.first(self.inputs.weight, edges)), edges)
        return hidden
