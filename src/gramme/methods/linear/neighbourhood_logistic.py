"""Logistic regression on features averaged over neighbourhoods, and its predictions smoothed over them.

It shows how far attributes go without training a network.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from gramme._progress import part
from gramme._types import Floats
from gramme.distributed import gather_rows, global_positions, node_count
from gramme.errors import DataError
from gramme.graph import MultilayerGraph
from gramme.methods.cross_fitting import refit_for_folds
from gramme.methods.labels import KnownLabels, softmax, stratified_folds
from gramme.methods.params import POSITIVE, SHARE, WholeNumber, check_number_range
from gramme.methods.persistence import MisfitError, SavedArray, SavedField, SavedValue
from gramme.methods.prepare import feature_blocks, given_columns
from gramme.methods.propagation.label_propagation import MIN_PROBABILITY
from gramme.methods.propagation.layer_trust import layer_skills
from gramme.methods.propagation.series import NodeWalk, propagate

from .logistic import FOLDS, LinearModel, class_shares, importances, regression

# Smoothing a regression's predictions over neighbours, who often have the same label.


ALPHAS = (0.3, 0.6, 0.9)
SHARPNESS = (1.0, 2.0, 4.0)
STEPS = 10


@dataclass(frozen=True)
class Smoothing:
    """How predictions are smoothed."""

    alpha: float  # how much of what neighbours say counts, 0 for nothing
    sharpness: float  # the power that the mean is raised to
    weights: Floats  # of the layers, summing to 1

    def applied(self, walk: NodeWalk, shares: Floats) -> Floats:
        """Smoothed class probabilities of all nodes, from those of the regression."""
        if self.alpha == 0:
            return shares
        return _sharpened(self.summed(walk, shares), self.sharpness)

    def summed(self, walk: NodeWalk, shares: Floats, steps: int = STEPS) -> Floats:
        """P + alpha P p + alpha^2 P^2 p + ..., up to a number of steps."""
        if self.alpha == 0:
            return shares
        column_weights = np.repeat(self.weights[:, None], shares.shape[1], axis=1)
        smoothed_sums: Floats = _spread(walk, shares, column_weights, [self.alpha], steps)[0]
        return smoothed_sums


def unsmoothed(layers: int) -> Smoothing:
    """Predictions as they are."""
    return Smoothing(0.0, 1.0, np.full(layers, 1 / max(layers, 1)))


def chosen_smoothing(
    graph: MultilayerGraph, walk: NodeWalk, known: KnownLabels, fold: NDArray[np.int64], unseen: Sequence[Floats]
) -> Smoothing:
    """The smoothing with the least log loss on held-out training labels; none where there is nothing to test.

    ``unseen`` has, for each fold, what a regression that has not seen its labels says about every node.
    """
    no_smoothing = unsmoothed(graph.num_layers)
    is_tested = np.bincount(known.codes, minlength=len(known.classes))[known.codes] > 1
    if not unseen or not is_tested.any():
        return no_smoothing
    num_classes = len(known.classes)
    fold_shares = np.concatenate(unseen, axis=1)
    # sharper predictions may suit the labels without any smoothing, which is then not what helps
    setting_losses = {(0.0, 0.0, 1.0): _loss(graph, [fold_shares], SHARPNESS, known, fold, is_tested).min()}
    layer_skills_by_fold = layer_skills(graph, known, fold, [*range(len(unseen)), None], walk)
    for power in (1.0, 2.0)[: 1 + (graph.num_layers > 1)]:
        fold_weights = np.stack([fold_skills.weights(power) for fold_skills in layer_skills_by_fold[:-1]], axis=1)
        smoothed_shares = _spread(walk, fold_shares, np.repeat(fold_weights, num_classes, axis=1), ALPHAS)
        for alpha, sharpness_losses in zip(
            ALPHAS, _loss(graph, smoothed_shares, SHARPNESS, known, fold, is_tested), strict=True
        ):
            for sharpness, loss in zip(SHARPNESS, sharpness_losses, strict=True):
                setting_losses[power, alpha, sharpness] = loss
    power, alpha, sharpness = min(setting_losses, key=setting_losses.__getitem__)
    return Smoothing(alpha, sharpness, layer_skills_by_fold[-1].weights(power)) if alpha else no_smoothing


def _spread(walk: NodeWalk, shares: Floats, weights: Floats, alphas: Sequence[float], steps: int = STEPS) -> Floats:
    """The sums of all nodes for each alpha; as many steps whatever the values, so that one step leads to the next."""
    node_positions = global_positions(walk.graph)
    return propagate(walk, node_positions, shares, weights, alphas, None, tolerance=0, most=steps).values


def _sharpened(values: Floats, sharpness: float) -> Floats:
    row_sums = values.sum(axis=-1, keepdims=True)
    return softmax(sharpness * np.log(np.maximum(values / row_sums, 1e-6)))


def _loss(
    graph: MultilayerGraph,
    spread: Iterable[Floats],
    sharpness: Sequence[float],
    known: KnownLabels,
    fold: NDArray[np.int64],
    tested: NDArray[np.bool_],
) -> Floats:
    """The log loss of the labels that count, (alphas, sharpness), each label in the columns of its own fold."""
    classes = len(known.classes)
    labels = np.arange(known.nodes.size)
    found = []
    for values in spread:
        held = gather_rows(graph, values, known.nodes).reshape(labels.size, -1, classes)[labels, fold]
        own = [_sharpened(held, power)[labels, known.codes] for power in sharpness]
        found.append([-np.log(np.maximum(one, MIN_PROBABILITY))[tested].sum() for one in own])
    return np.array(found)


HOPS = 2

Matrix = NDArray[np.floating[Any]]  # in torch's default precision


class Surroundings(NamedTuple):
    """What the model sees of a graph: a row of numbers per node, and the walk that smooths predictions."""

    table: Matrix
    walk: NodeWalk


@dataclass(kw_only=True, eq=False, repr=False)
class NeighbourhoodLogistic(LinearModel):
    """Multinomial logistic regression on a node's own features and their means over its neighbours in each layer.

    The columns are blocks: the features, scaled to length 1 per node; then, for each layer, their mean over a node and
    its neighbours, and the mean of these means. Every block is again scaled to length 1, so that none outweighs the
    others by its size. There are no weights to train between the hops, which makes it strong where
    features are many and labels few. The penalty is chosen by inner cross-validation on the training labels. So is how
    far the predictions are smoothed over the layers, if at all (``smoothing.py`` beside this file).

    An ingredient of :class:`GrammeAuto` for graphs with features of their own. Cost: two neighbourhood sums of the
    features per layer, and nodes x features x (1 + 2 layers) numbers of memory.

    Parameters
    ----------
    C : float or None, default=None
        Inverse strength of the penalty; chosen among 1, 10, 100 and 1000 if not given.
    smooth : bool, default=True
        Whether predictions may be smoothed.
    random_state : int, numpy generator or None, default=None
        Decides which labels share a fold.

    Attributes
    ----------
    alpha_, sharpness_ : float
        How predictions are smoothed; they are not where alpha is 0.
    layer_weights_ : array, shape (layers,)
        How much each layer counts in that, summing to 1.

    References
    ----------
    F. Wu, A. Souza, T. Zhang, C. Fifty, T. Yu, K. Weinberger, "Simplifying Graph Convolutional Networks", ICML 2019.
    """

    smooth: bool = True

    saved_fields: ClassVar[tuple[SavedField, ...]] = (
        SavedValue("columns", WholeNumber()),
        SavedValue("alpha", SHARE, default=0.0),
        SavedValue("sharpness", POSITIVE, default=1.0),
        SavedArray("layer_weights", np.float64, ("layers",), low=0, optional=True),
    )

    columns_: int = field(init=False)
    alpha_: float = field(init=False)
    sharpness_: float = field(init=False)
    layer_weights_: NDArray[np.float64] = field(init=False)
    _kept: Surroundings | None = field(init=False, default=None)

    def _check_parameters(self, graph: MultilayerGraph) -> None:
        if not given_columns(graph):
            raise DataError("the graph has no features, and this method has nothing else to see")

    def _fit_with_folds(
        self, graph: MultilayerGraph, known: KnownLabels, fold: NDArray[np.int64], copies: int, allowance: Any = None
    ) -> NDArray[np.float64]:
        # what is seen of the graph does not depend on labels and serves all folds
        own_share = self._own_share(int(fold.max()) + 1)
        with part("", own_share):
            self._run_fit(graph, known, keep=True)
        try:
            with part("", 1 - own_share):
                return refit_for_folds(self, graph, known, fold)
        finally:
            self._kept = None

    def _fit(
        self,
        graph: MultilayerGraph,
        known: KnownLabels,
        seed: int,
        *,
        strength: float | None = None,
        smoothing: Smoothing | None = None,
        seen: Surroundings | None = None,
        keep: bool = False,
        explained: bool = True,
    ) -> NDArray[np.floating[Any]]:
        """Learn; strength and smoothing are those of the model this is a copy of, as is what was seen of the graph.

        A copy need not be explained: how much each layer counts in it is then left out.
        """
        check_number_range(graph)
        self.columns_ = given_columns(graph)
        seen = _surroundings(graph) if seen is None else seen
        self._kept = seen if keep else None
        self._learn(gather_rows(graph, seen.table, known.nodes), known, (10.0, 1.0, 100.0, 1000.0), seed, strength)
        if explained:
            self.layer_importance_ = self._by_layer(importances(self._layer_scores(seen.table), graph), "importance")
        if smoothing is None:
            smoothing = unsmoothed(graph.num_layers)
            if self.smooth:
                smoothing = self._chosen_smoothing(graph, seen, known, seed)
        self.alpha_, self.sharpness_ = smoothing.alpha, smoothing.sharpness
        self.layer_weights_ = smoothing.weights
        return self._scored(seen)

    def _chosen_smoothing(self, graph: MultilayerGraph, seen: Surroundings, known: KnownLabels, seed: int) -> Smoothing:
        fold = stratified_folds(known.codes, FOLDS, seed)
        label_rows = gather_rows(graph, seen.table, known.nodes)
        out_of_fold = []
        for fold_number in range(int(fold.max()) + 1):
            is_kept = fold != fold_number
            seen_labels = known.part(is_kept)
            fold_regression = regression(
                label_rows[is_kept], seen_labels.codes, len(known.classes), self.C_, weights=seen_labels.sample_weight
            )
            out_of_fold.append(class_shares(seen.table, *fold_regression))
        return chosen_smoothing(graph, seen.walk, known, fold, out_of_fold)

    def _smoothing(self) -> Smoothing:
        if self.alpha_ == 0:
            return unsmoothed(len(self.layers_))
        return Smoothing(self.alpha_, self.sharpness_, self.layer_weights_)

    def _warm_start(self, graph: MultilayerGraph) -> dict[str, Any]:
        return {"strength": self.C_, "smoothing": self._smoothing(), "seen": self._kept, "explained": False}

    def _inductive_proba(self, graph: MultilayerGraph) -> NDArray[np.float32]:
        if given_columns(graph) != self.columns_:
            raise DataError(f"the model needs {self.columns_} features per node; the graph has {given_columns(graph)}")
        return self._scored(_surroundings(graph))

    def _scored(self, seen: Surroundings) -> NDArray[np.float32]:
        class_probabilities = class_shares(seen.table, self.coefficients_, self.intercept_)
        return self._smoothing().applied(seen.walk, class_probabilities).astype(np.float32)

    def _layer_scores(self, table: Matrix) -> Iterator[NDArray[np.float64]]:
        """Each layer's part of the scores."""
        for layer_index in range(len(self.layers_)):
            first_column = (1 + HOPS * layer_index) * self.columns_
            last_column = first_column + HOPS * self.columns_
            yield table[:, first_column:last_column] @ self.coefficients_[first_column:last_column]

    def neighbour_scores(
        self, graph: MultilayerGraph
    ) -> Iterator[tuple[list[NDArray[np.float64]], list[NDArray[np.float64]]]]:
        """What each node gives to the scores of those who hear it, by layer and hop, and what that is multiplied by.

        A layer's part of a node's scores is, for each hop, the neighbourhood sum of the first, (nodes, classes), times
        the second, (nodes,), which holds the size of the neighbourhood and the length that the mean is scaled by. It is
        0 for a node without neighbours. The graph must have its layers in the order of ``layer_order_``.
        """
        own_features = _own_features(graph)
        block_scale = (1 + HOPS * graph.num_layers) ** 0.5
        for layer_index, hops in enumerate(_neighbourhood_means(NodeWalk(graph), own_features)):
            given_scores, hop_scales = [], []
            hop_values = own_features
            for hop, (hop_means, neighbourhood_size) in enumerate(hops):
                first_column = (1 + HOPS * layer_index + hop) * self.columns_
                given_scores.append(
                    hop_values.numpy() @ self.coefficients_[first_column : first_column + self.columns_]
                )
                row_lengths = hop_means.double().norm(dim=1).clamp(min=1e-12)
                hop_scales.append((neighbourhood_size[:, 0] / row_lengths / block_scale).numpy())
                hop_values = hop_means
            yield given_scores, hop_scales

    def heard(self, graph: MultilayerGraph) -> tuple[Floats, Floats, Floats]:
        """What smoothing adds up, each (nodes, classes): the sum, the regression's own, and what neighbours pass on.

        A node's sum is its own and alpha times the means, by layer, of what its neighbours pass on.
        """
        seen = _surroundings(graph)
        own = class_shares(seen.table, self.coefficients_, self.intercept_)
        smoothing = self._smoothing()
        return smoothing.summed(seen.walk, own), own, smoothing.summed(seen.walk, own, STEPS - 1)

    def _check_loaded(self) -> None:
        self._check_columns(self.columns_ * (1 + HOPS * len(self.layers_)))
        if self.alpha_ == 0:
            return
        if not hasattr(self, "layer_weights_"):
            raise MisfitError("layer_weights is missing")
        if abs(float(self.layer_weights_.sum()) - 1) > 1e-6:
            raise MisfitError("layer_weights must sum to 1")


def numbers_needed(graph: MultilayerGraph) -> int:
    """How many numbers the table of a graph has."""
    return node_count(graph) * given_columns(graph) * (1 + HOPS * graph.num_layers)


def _surroundings(graph: MultilayerGraph) -> Surroundings:
    """The blocks of columns side by side, each row of a block of the same length, and the walk they were made with."""
    own_features, walk = _own_features(graph), NodeWalk(graph)
    column_blocks = [own_features]
    for hops in _neighbourhood_means(walk, own_features):
        column_blocks += [_scaled(hop_means) for hop_means, _ in hops]
    table: Matrix = (torch.cat(column_blocks, dim=1) / len(column_blocks) ** 0.5).numpy()
    return Surroundings(table, walk)


def _own_features(graph: MultilayerGraph) -> torch.Tensor:
    """The features of each node, of length 1."""
    scaled_blocks = [_scaled(_dense(block)) for block in feature_blocks(graph)]
    # Every view counts the same, however many columns it has
    return torch.cat(scaled_blocks, dim=1) / len(scaled_blocks) ** 0.5 if len(scaled_blocks) > 1 else scaled_blocks[0]


def _neighbourhood_means(walk: NodeWalk, own: torch.Tensor) -> Iterator[list[tuple[torch.Tensor, torch.Tensor]]]:
    """For each layer and hop the means over neighbourhoods, and by what a sum is multiplied to give them."""
    for layer_index in range(len(walk.sums)):
        node_values, hop_means = own, []
        scale = walk.scales[layer_index]
        for _ in range(HOPS):
            # who has no neighbours here stays as it is
            node_values = torch.where(scale == 0, node_values, walk.mean(layer_index, node_values))
            hop_means.append((node_values, scale))
        yield hop_means


def _dense(features: Any) -> torch.Tensor:
    dense_array = np.asarray(features.todense() if hasattr(features, "todense") else features)
    return torch.from_numpy(np.array(dense_array, dtype=np.float32)).to(torch.get_default_dtype())


def _scaled(values: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.normalize(values, dim=1)
