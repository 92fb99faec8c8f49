"""Ways to predict links: gramme's, every piece of its evidence alone, and methods of others on the same splits.

Those of others are node2vec with Hadamard features and PyG's graph autoencoders. Each sees the edges of all layers, as
the methods of gramme do, and learns from the edges of the layer that is asked about against as many random pairs
without an edge. Settings are the usual ones of the papers and stay the same for all data: nothing is tuned for anybody.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
import torch
from scipy.special import expit
from torch import Tensor, nn

from gramme._types import Floats
from gramme.errors import DataError, did_you_mean, import_extra
from gramme.graph import MultilayerGraph
from gramme.links import Evidence, GrammeLinks, column_names, unlinked_pairs
from gramme.links.evidence import in_words
from gramme.links.mixture import Line
from gramme.links.pair_scores import Pairs, entries
from gramme.links.sampling import rounds


@dataclass(frozen=True)
class LinkMethod:
    """A way to score pairs of a layer from a graph that lacks the edges to be found."""

    name: str
    summary: str
    score: Callable[[MultilayerGraph, str, Pairs, int], Floats]
    probabilities: bool = False
    """Whether scores are probabilities, whose calibration can be judged."""


def _gramme_links(graph: MultilayerGraph, layer: str, pairs: Pairs, seed: int) -> Floats:
    model = GrammeLinks(random_state=seed).fit(graph)
    named = np.column_stack([graph.nodes[pairs[:, 0]], graph.nodes[pairs[:, 1]]])
    # splits have as many unlinked as linked pairs, which is what balanced scores are about
    return model.balanced_scores(layer, named.tolist())


def _cross_layer_logistic(graph: MultilayerGraph, layer: str, pairs: Pairs, seed: int) -> Floats:
    """Logistic regression on which other layers link a pair, common neighbours in each layer, and degrees."""
    rows, linked = [], []
    for one in rounds(graph, layer, np.random.default_rng([seed, 1])):
        for part, answer in ((one.linked, True), (one.unlinked, False)):
            rows.append(_simple_rows(one.graph, layer, part))
            linked.append(np.full(len(part), answer))
    line = Line.fitted(np.concatenate(rows), np.concatenate(linked), strength=1.0)
    found: Floats = expit(line.log_odds(_simple_rows(graph, layer, pairs)))
    return found


def _simple_rows(graph: MultilayerGraph, layer: str, pairs: Pairs) -> Floats:
    columns = []
    for name, one in graph.layers.items():
        matrix = one.to_scipy()
        if name != layer:
            columns.append(entries(matrix, pairs))
        common = matrix[pairs[:, 0]].multiply(matrix[pairs[:, 1]]).sum(axis=1)
        columns.append(np.log1p(np.asarray(common).ravel()))
        columns.append(np.log1p(one.degrees()[pairs]).sum(axis=1))
    return np.column_stack(columns)


@dataclass(frozen=True)
class _Ingredient:
    """One piece of evidence alone; a class, so that it can be sent to another process."""

    column: str

    def __call__(self, graph: MultilayerGraph, layer: str, pairs: Pairs, seed: int) -> Floats:
        found: Floats = Evidence(graph, layer).of(pairs)[:, column_names().index(self.column)]
        return -found if self.column == "attributes_far" else found


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


LINK_METHODS: dict[str, LinkMethod] = {
    one.name: one
    for one in (
        LinkMethod("gramme-links", "all evidence, weighed", _gramme_links, probabilities=True),
        LinkMethod(
            "cross-layer-logistic",
            "logistic regression on links, common neighbours and degrees in each layer",
            _cross_layer_logistic,
            probabilities=True,
        ),
        LinkMethod(
            "node2vec-hadamard",
            "logistic regression on products of node2vec's vectors of all layers",
            node2vec_hadamard,
            probabilities=True,
        ),
        LinkMethod("gae", "PyG's graph autoencoder (GCN) over all layers", GraphAutoencoder("GCNConv")),
        LinkMethod("gat-autoencoder", "PyG's graph autoencoder with attention (GAT)", GraphAutoencoder("GATConv")),
        *(LinkMethod(name.replace("_", "-"), in_words(name), _Ingredient(name)) for name in column_names()),
    )
}
DEFAULT_LINK_METHODS = (
    "gramme-links",
    "cross-layer-logistic",
    "own-adamic-adar",
    "own-resource-allocation",
    "own-paths-normalised",
    "all-paths-normalised",
    "own-attachment",
    "repeated",
    "walks-5",
    "walks-near",
)


def link_method(name: str) -> LinkMethod:
    """A method by its name, or an error that suggests the nearest one."""
    if name not in LINK_METHODS:
        raise DataError(f"there is no way {name!r} to predict links; {did_you_mean(name, LINK_METHODS)}")
    return LINK_METHODS[name]
