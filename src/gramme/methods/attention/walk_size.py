"""How large walk columns are beside a graph's own features: by how well each of the two predicts training labels.

A network that starts from both learns from whichever columns are larger, because Adam moves each weight by about the
learning rate. Neither kind is better on all graphs: where attributes are noise the network has to tell, and where a
network says little of what attributes say well, its columns only help to learn labels by heart. So the training
labels decide. Two linear models, one on the features averaged over neighbourhoods and one on the walks, predict each
label without having seen it. With m the weight of the walks in the mixture of the two that makes the labels most
probable, walk columns get the size

    EVEN_SIZE (m / (1 - m))^2,    at most 1.

Worse by themselves, walks may still add to what features say. So there is a third model, on both. Where it predicts the
labels better than the features alone, by more than one standard error, walk columns get at least HELPING_SIZE.

Cost: two neighbourhood sums of 64 columns per layer, and some regressions on at most 1,000 labels.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from gramme.distributed import rows_at, world_of
from gramme.graph import MultilayerGraph
from gramme.methods.attention.given_features import GivenFeatures
from gramme.methods.auto.mixing import mixed_with_prior, mixture_weights
from gramme.methods.folds import stratified_folds
from gramme.methods.labels import KnownLabels
from gramme.methods.linear.logistic import FOLDS, class_shares, regression
from gramme.methods.linear.walk_profile import WalkProfile
from gramme.methods.probability import Floats, class_prior
from gramme.methods.propagation.series import NodeWalk
from gramme.methods.seen_graph import feature_blocks

DIRECTIONS = 64  # of each block of features that the linear model sees
HOPS = 2  # as many as attention has by default
STRENGTHS = (1.0, 10.0, 100.0)
MAX_LABELS = 1_000  # that the models are compared on
CREDITS = (1.0, 0.25)  # labels' worth of belief in features and in walks beforehand
EVEN_SIZE = 0.2  # of walk columns that are as good as the features; chosen on training labels, docs/defaults.md
HELPING_SIZE = 0.1  # of walk columns that add to what features say; chosen likewise
JOINT_SIZE = 0.3  # of walks in the linear model on both
MIN_SIZE = 0.02  # below which walks are left out

Matrix = NDArray[np.floating[Any]]


def chosen_walk_size(
    graph: MultilayerGraph, profile: WalkProfile, known: KnownLabels, seed: int
) -> float:
    """The size of walk columns, between 0 and 1, beside the features of a graph that has some.

    Parameters
    ----------
    graph : MultilayerGraph
    profile : WalkProfile
        Of the graph.
    known : KnownLabels
        The training labels.
    seed : int
        Decides which labels share a fold, and which are looked at where there are many.
    """
    some = np.sort(np.random.default_rng(seed).permutation(known.nodes.size)[:MAX_LABELS])
    codes, nodes = known.codes[some], known.nodes[some]
    # the only label of a class cannot be predicted from the others, which speaks against neither
    tested = np.bincount(codes)[codes] > 1
    if not tested.any():
        return EVEN_SIZE * (CREDITS[1] / CREDITS[0]) ** 2
    walks = profile.table(rows_at(graph, profile.placed(graph), nodes))
    given = rows_at(graph, _averaged_features(graph), nodes)
    fold = stratified_folds(codes, FOLDS, seed)
    both = np.hstack([given, np.float32(JOINT_SIZE) * walks])
    own, walked, joint = (
        _own_probabilities(rows, codes, fold, len(known.classes))[tested]
        for rows in (given, walks, both)
    )
    rest, share = mixture_weights(np.stack([own, walked], axis=1), CREDITS)
    size = min(EVEN_SIZE * (share / rest) ** 2, 1.0)
    gain = np.log(joint / own)
    helps = gain.size > 1 and gain.mean() > gain.std(ddof=1) / gain.size**0.5
    return float(max(size, HELPING_SIZE) if helps else size)


def _averaged_features(graph: MultilayerGraph) -> Matrix:
    """Features averaged over neighbourhoods of all layers alike, once and twice; what attention sees at the start."""
    world = world_of(graph)
    blocks = [block for block in feature_blocks(graph) if block.shape[1]]
    views = [GivenFeatures.of(block, DIRECTIONS, world).table(block) for block in blocks]
    values = torch.from_numpy(np.concatenate(views, axis=1)).to(torch.get_default_dtype())
    walk = NodeWalk(graph)
    found = []
    for _ in range(HOPS):
        # who has no neighbours in a layer stays as it is
        heard = [
            torch.where(scale == 0, values, walk.mean(layer, values))
            for layer, scale in enumerate(walk.scales)
        ]
        values = torch.stack(heard).mean(dim=0)
        found.append(torch.nn.functional.normalize(values, dim=1))
    table: Matrix = (torch.cat(found, dim=1) / HOPS**0.5).numpy()
    return table


def _own_probabilities(
    rows: Matrix, codes: NDArray[np.int64], fold: NDArray[np.int64], classes: int
) -> Floats:
    """The probability of each label by a regression that has not seen its fold, under the best of some penalties."""
    prior = class_prior(np.bincount(codes, minlength=classes))
    tried = []
    for strength in STRENGTHS:
        found = np.empty((codes.size, classes))
        for number in range(int(fold.max()) + 1):
            rest = fold != number
            fitted = regression(rows[rest], codes[rest], classes, strength)
            found[~rest] = class_shares(rows[~rest], *fitted)
        tried.append(mixed_with_prior(found, prior)[np.arange(codes.size), codes])
    return max(tried, key=lambda own: float(np.log(own).sum()))
