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
    named_pairs = np.column_stack([graph.nodes[pairs[:, 0]], graph.nodes[pairs[:, 1]]])
    # splits have as many unlinked as linked pairs, which is what balanced scores are about
    return model.balanced_scores(layer, named_pairs.tolist())


def _cross_layer_logistic(graph: MultilayerGraph, layer: str, pairs: Pairs, seed: int) -> Floats:
    """Logistic regression on which other layers link a pair, common neighbours in each layer, and degrees."""
    pair_rows, is_linked = [], []
    for edge_round in rounds(graph, layer, np.random.default_rng([seed, 1])):
        for round_pairs, pair_answer in ((edge_round.linked, True), (edge_round.unlinked, False)):
            pair_rows.append(_simple_rows(edge_round.graph, layer, round_pairs))
            is_linked.append(np.full(len(round_pairs), pair_answer))
    scaled_logistic = Line.fitted(np.concatenate(pair_rows), np.concatenate(is_linked), strength=1.0)
    link_probabilities: Floats = expit(scaled_logistic.log_odds(_simple_rows(graph, layer, pairs)))
    return link_probabilities


def _simple_rows(graph: MultilayerGraph, layer: str, pairs: Pairs) -> Floats:
    evidence_columns = []
    for name, graph_layer in graph.layers.items():
        matrix = graph_layer.to_scipy()
        if name != layer:
            evidence_columns.append(entries(matrix, pairs))
        common_neighbours = matrix[pairs[:, 0]].multiply(matrix[pairs[:, 1]]).sum(axis=1)
        evidence_columns.append(np.log1p(np.asarray(common_neighbours).ravel()))
        evidence_columns.append(np.log1p(graph_layer.degrees()[pairs]).sum(axis=1))
    return np.column_stack(evidence_columns)


@dataclass(frozen=True)
class _Ingredient:
    """One piece of evidence alone; a class, so that it can be sent to another process."""

    column: str

    def __call__(self, graph: MultilayerGraph, layer: str, pairs: Pairs, seed: int) -> Floats:
        column_scores: Floats = Evidence(graph, layer).of(pairs)[:, column_names().index(self.column)]
        return -column_scores if self.column == "attributes_far" else column_scores


def training_pairs(graph: MultilayerGraph, layer: str, random: np.random.Generator) -> tuple[Pairs, Pairs]:
    """The edges of a layer, and as many random pairs without one."""
    edges = graph.layers[layer].to_edges()
    linked_pairs = np.column_stack([edges.source, edges.target]).astype(np.int64)
    directed, present = edges.directed, edges.present
    return linked_pairs, unlinked_pairs(edges.to_scipy(), len(linked_pairs), random, directed=directed, present=present)


def node2vec_hadamard(graph: MultilayerGraph, layer: str, pairs: Pairs, seed: int) -> Floats:
    """Logistic regression on products of node2vec's vectors, of walks with p = q = 1 over all layers.

    References
    ----------
    A. Grover, J. Leskovec, "node2vec: Scalable Feature Learning for Networks", KDD 2016.
    """
    from gramme.methods.embedding.deepwalk import skip_gram
    from gramme.ops.kernels import Walks

    walks = Walks.of(list(graph.layers.values()), length=40, p=1.0, q=1.0, seed=seed)
    node_vectors = skip_gram(walks, dim=64, window=10, walks_per_node=20, epochs=2, negative=5, seed=seed).astype(
        np.float64
    )
    linked, unlinked = training_pairs(graph, layer, np.random.default_rng([seed, 3]))
    all_pairs = np.concatenate([linked, unlinked])
    is_linked = np.arange(len(all_pairs)) < len(linked)
    scaled_logistic = Line.fitted(
        node_vectors[all_pairs[:, 0]] * node_vectors[all_pairs[:, 1]], is_linked, strength=1.0
    )
    link_probabilities: Floats = expit(scaled_logistic.log_odds(node_vectors[pairs[:, 0]] * node_vectors[pairs[:, 1]]))
    return link_probabilities


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

        joined_matrix = sp.csr_array((graph.num_nodes, graph.num_nodes))
        for graph_layer in graph.layers.values():
            joined_matrix = joined_matrix + graph_layer.to_scipy() + graph_layer.to_scipy().T
        joined_coo = sp.coo_array(joined_matrix)
        edge_index = torch.from_numpy(np.stack([joined_coo.row, joined_coo.col]).astype(np.int64))
        random = np.random.default_rng([seed, 3])
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            model = pyg.GAE(_Encoder(graph.num_nodes, getattr(pyg, self.convolution)))
            optimiser = torch.optim.Adam(model.parameters(), lr=0.01)
            for _ in range(200):
                linked, unlinked = (
                    torch.from_numpy(pair_list.T.copy()) for pair_list in training_pairs(graph, layer, random)
                )
                optimiser.zero_grad()
                model.recon_loss(model.encode(edge_index), linked, unlinked).backward()
                optimiser.step()
            model.eval()
            with torch.no_grad():
                node_vectors = model.encode(edge_index)
                pair_scores: Tensor = model.decoder(node_vectors, torch.from_numpy(pairs.T.copy()), sigmoid=False)
        return pair_scores.double().numpy()


class _Encoder(nn.Module):
    """Learned inputs, and two convolutions."""

    def __init__(self, nodes: int, convolution: type[nn.Module]) -> None:
        super().__init__()
        self.inputs = nn.Embedding(nodes, 64)
        self.first, self.last = convolution(64, 64), convolution(64, 32)

    def forward(self, edges: Tensor) -> Tensor:
        hidden_rows: Tensor = self.last(torch.relu(self.first(self.inputs.weight, edges)), edges)
        return hidden_rows


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
