"""Attention embeddings trained for links: a small GrAMME encoder over all layers whose rows tell linked pairs apart.

A Fusion network embeds every node, ``z``. A pair of an undirected layer l scores ``sum_d r_ld z_id z_jd + b_l``, one of
a directed layer ``z_i^T R_l z_j + b_l``, and the logistic loss of these scores is lowered on the edges of every layer
against as many random pairs without one. Edges that are to be told later must be out of the graph already. Several
members with random features and starting weights of their own are averaged.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits

from gramme._types import Floats
from gramme.graph import MultilayerGraph
from gramme.methods.attention.features import InputFeatures
from gramme.methods.attention.features import settled_source as feature_source
from gramme.methods.attention.members import Members
from gramme.nn import FusionNetwork, Shape
from gramme.nn.plan import fusion_plan
from gramme.training.loop import Adam, threads_for

from .pair_scores import Pairs, row_products
from .sampling import unlinked_pairs

EPOCHS = 60
LEARNING_RATE = 0.01
WEIGHT_DECAY = 1e-3
DROPOUT = 0.2
HIDDEN_DIM = 32
HEADS, DEPTH, FUSION_HEADS = 2, 2, 3
SCORE_BOUND = 5.0
MEMBERS = 3
ROWS_OF_ONE_MEMBER = 20_000
"""Nodes times layers from which on one member has to do."""
EPOCHS_PER_DRAW = 3
"""Epochs for which the pairs that are looked at stay the same."""
EDGES_PER_EPOCH = 5_000
"""Edges of a layer that an epoch looks at."""
MAX_WORK = 1e11
"""Multiplications of all trainings of a fit together, as :func:`training_work` counts them."""
MIN_ATTENTION_NODES = 8


def members_for(graph: MultilayerGraph) -> int:
    """Members that are averaged; fewer on larger graphs."""
    rows = graph.num_nodes * graph.num_layers
    return max(1, min(MEMBERS, ROWS_OF_ONE_MEMBER // max(rows, 1)))


def training_work(graph: MultilayerGraph) -> float:
    """Multiplications of one training on a graph, those of dense products counted as a tenth."""
    groups = [(layer, layer.incidence()) for layer in graph.layers.values()]
    sums = sum(2 * (layer.num_edges if members is None else int(members.nnz)) for layer, members in groups)
    wide = HEADS * HIDDEN_DIM
    products = graph.num_nodes * graph.num_layers * 192 * wide * 4 / 10
    return EPOCHS * members_for(graph) * (sums * wide * 2 * DEPTH + products)


def attention_is_affordable(graph: MultilayerGraph, trainings: int) -> bool:
    """Whether this many trainings on a graph of this size stay within :data:`MAX_WORK`."""
    fits = trainings * training_work(graph) <= MAX_WORK
    return graph.num_nodes >= MIN_ATTENTION_NODES and fits


@dataclass(frozen=True)
class LinkAttention:
    """Rows of nodes and what each layer makes of them.

    A layer has a weight for each column, shape (members, dim), or with a direction a matrix, (members, dim, dim).
    """

    rows: NDArray[np.float32]  # (nodes, members, dim)
    weights: dict[str, NDArray[np.float32]]
    offsets: dict[str, NDArray[np.float32]]

    @classmethod
    def trained(cls, graph: MultilayerGraph, seed: int) -> LinkAttention:
        """Train on all edges of a graph."""
        count = members_for(graph)
        members = _members(graph, seed)
        network, features = members.new(graph, range(count))
        plan = fusion_plan(graph, members.shape, fuse="end")
        bonds = _Bonds(graph, count)
        random = np.random.default_rng(seed)
        chosen = [*network.parameters(), *bonds.parameters()]
        optimiser = Adam(chosen, LEARNING_RATE, WEIGHT_DECAY)
        with threads_for(network.largest(plan)):
            for epoch in range(EPOCHS):
                if epoch % EPOCHS_PER_DRAW == 0:
                    bonds.draw(random)
                optimiser.zero_grad()
                bonds.loss(network(features, plan).embedding).backward()  # type: ignore[no-untyped-call]
                optimiser.step()
            network.eval()
            with torch.no_grad():
                rows = network(features, plan).embedding.float().numpy()
        return cls(rows, *bonds.arrays())

    def of_pairs(self, layer: str, pairs: Pairs) -> Floats:
        """The members' mean score of each pair in a layer, shape (pairs,); zeros for a layer without edges."""
        if layer not in self.weights:
            return np.zeros(len(pairs))
        weight, offset = self.weights[layer], float(self.offsets[layer].mean())
        sent = self.rows * weight if weight.ndim == 2 else np.einsum("nmd,mde->nme", self.rows, weight)
        sent, heard = (one.reshape(len(self.rows), -1) for one in (sent, self.rows))
        found: Floats = row_products(sent, pairs, heard) / self.rows.shape[1] + offset
        return found


def _members(graph: MultilayerGraph, seed: int) -> Members:
    given = feature_source(graph, None) == "given"
    inputs = InputFeatures.of(graph, "given+walks+random" if given else "walks+random")
    layers = graph.num_layers
    shape = Shape(
        layers=layers,
        in_dim=inputs.columns,
        hidden_dim=HIDDEN_DIM,
        classes=1,
        heads=(HEADS,) * layers,
        depth=(DEPTH,) * layers,
        dropout=DROPOUT,
        score_bound=SCORE_BOUND,
    )

    def network(shape: Shape, random: Any) -> FusionNetwork:
        return FusionNetwork(shape, random, fusion_heads=FUSION_HEADS, feed_forward=False, fuse="end")

    return Members(network, shape, seed, inputs, False, torch.device("cpu"))


class _Bonds(nn.Module):
    """What each layer makes of two rows, and the loss on its edges."""

    def __init__(self, graph: MultilayerGraph, members: int) -> None:
        super().__init__()
        self.layers = {
            name: layer.to_edges()
            for name, layer in graph.layers.items()
            if layer.made_of == "edges" and layer.num_edges
        }
        self.known = [layer.to_scipy() for layer in self.layers.values()]
        even = torch.full((members, HIDDEN_DIM), HIDDEN_DIM**-0.5)
        self.weight = nn.ParameterList(
            torch.diag_embed(even) if layer.directed else even.clone() for layer in self.layers.values()
        )
        self.offset = nn.Parameter(torch.zeros(len(self.layers), members))

    def draw(self, random: np.random.Generator) -> None:
        """Draw the pairs that the next epochs look at: edges of each layer, and as many pairs without one."""
        self.drawn: list[tuple[Tensor, int]] = []
        for known, layer in zip(self.known, self.layers.values(), strict=True):
            edges: NDArray[np.int64] = np.arange(layer.num_edges)
            if edges.size > EDGES_PER_EPOCH:
                edges = random.choice(edges.size, EDGES_PER_EPOCH, replace=False)
            linked = np.column_stack([layer.source[edges], layer.target[edges]])
            unlinked = unlinked_pairs(known, len(linked), random, directed=layer.directed, present=layer.present)
            both = np.concatenate([linked, unlinked]).astype(np.int64)
            self.drawn.append((torch.from_numpy(both), len(linked)))

    def loss(self, rows: Tensor) -> Tensor:
        """The logistic loss, a mean over the pairs of each layer, added over layers and members."""
        total = rows.new_zeros(())
        for place, (pairs, linked) in enumerate(self.drawn):
            truth = rows.new_zeros(len(pairs), rows.shape[1])
            truth[:linked] = 1.0
            sent, heard = (rows.index_select(0, pairs[:, end]) for end in (0, 1))
            weight = self.weight[place]
            sent = sent * weight if weight.dim() == 2 else torch.einsum("nmd,mde->nme", sent, weight)
            scores = (sent * heard).sum(-1) + self.offset[place]
            total = total + binary_cross_entropy_with_logits(scores, truth) * rows.shape[1]
        return total

    def arrays(self) -> Iterator[dict[str, NDArray[np.float32]]]:
        """Weights and offsets by layer."""
        for some in (self.weight, self.offset):
            yield {name: one.detach().float().numpy() for name, one in zip(self.layers, some, strict=True)}
