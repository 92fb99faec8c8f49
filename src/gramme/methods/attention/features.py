"""The features a network starts from: a graph's own, where walks lead, random numbers by node name, or several of them.

*Walks* are the walk profile of :mod:`gramme.methods.linear.walk_profile`: it needs no labels, tells a node's place in
the network, and knows the nodes of another graph by their neighbours' and groups' names. *Random* numbers depend only
on a node's name, so attention has to find out everything by itself; this is the paper's model. The graph's own
features, *given*, are scaled (:mod:`gramme.methods.attention.given_features`). All of them have a mean square of 1.
Walks beside given features are an exception: training labels choose their size
(:mod:`gramme.methods.attention.features`).
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from gramme._types import Floats
from gramme.distributed import communicator_of, gather_rows
from gramme.errors import DataError
from gramme.graph import MultilayerGraph
from gramme.graph.arrays import plain
from gramme.methods.auto.mixture import mixed_with_prior, mixture_weights
from gramme.methods.labels import KnownLabels, class_prior, stratified_folds
from gramme.methods.linear.logistic import FOLDS, class_shares, regression
from gramme.methods.linear.walk_profile import WALK_STEPS, WalkProfile
from gramme.methods.prepare import feature_blocks, given_columns, given_features
from gramme.methods.propagation.layer_trust import agreement_weights
from gramme.methods.propagation.series import NodeWalk
from gramme.ops import Features, SparseFeatures, random_features

from .given_features import ENTRY_SUM, GivenFeatures

#: Products of larger features and their sums overflow in 32 bits.
MAX_FEATURE_SIZE = 1e15


def feature_columns(graph: MultilayerGraph, source: str, dim: int) -> int:
    """Columns of the features of a peer's network: the graph's own, ``dim`` random ones, or both."""
    return (source != "random") * given_columns(graph) + (source != "given") * dim


def peer_features(graph: MultilayerGraph, seed: int, source: str, dim: int) -> Tensor:
    """Features as they are, (nodes, columns): the graph's own, then ``dim`` random ones."""
    own_columns = [torch.from_numpy(dense_features(graph))] if source != "random" else []
    random_part = [random_columns(graph, [seed], dim, [0])[:, 0]] if source != "given" else []
    return torch.cat([*own_columns, *random_part], dim=-1).to(torch.get_default_dtype())


def random_columns(graph: MultilayerGraph, seeds: Sequence[int], dim: int, copies: Sequence[int]) -> Tensor:
    """Random features of each member, (copies * nodes, members, dim); equal copies have equal ones."""
    drawn_features = np.empty((len(seeds), len(copies), graph.num_nodes, dim), dtype=np.float32)
    for member, seed in enumerate(seeds):
        for copy_place, copy in enumerate(copies):
            random_features(graph.nodes, dim, seed, copy=copy, out=drawn_features[member, copy_place])
    row_count = graph.num_nodes * len(copies)
    return torch.from_numpy(drawn_features).view(len(seeds), row_count, dim).transpose(0, 1).contiguous()


def layer_copies(graph: MultilayerGraph) -> list[int]:
    """What tells the copies of a node in the layers apart: the layers' names."""
    return [zlib.crc32(name.encode(errors="surrogatepass")) + 1 for name in graph.layers]


def by_layer(every: NDArray[np.float32], graph: MultilayerGraph) -> NDArray[np.float32]:
    """What each layer starts from, (layers * nodes, columns), where the last columns are those of single layers.

    A layer with features of its own does not see those of the others.
    """
    first_column = every.shape[1] - sum(matrix.shape[1] for matrix in graph.layer_features.values())
    layer_rows = np.tile(every, (graph.num_layers, 1, 1))
    layer_columns = {}
    for name, matrix in graph.layer_features.items():
        layer_columns[name] = slice(first_column, first_column + matrix.shape[1])
        first_column += matrix.shape[1]
    for layer_place, name in enumerate(graph.layers):
        for other_layer, columns in layer_columns.items():
            if name in layer_columns and other_layer != name:
                layer_rows[layer_place, :, columns] = 0
    return layer_rows.reshape(-1, every.shape[1])


def dense_features(graph: MultilayerGraph) -> NDArray[np.float32]:
    """All features of the graph as a matrix of float32."""
    matrix = given_features(graph)
    with np.errstate(over="ignore"):
        dense = np.array(matrix if isinstance(matrix, np.ndarray) else matrix.toarray(), dtype=np.float32)
    if dense.size and max(dense.max(), -dense.min()) > MAX_FEATURE_SIZE:
        row, column = np.argwhere(np.abs(dense) > MAX_FEATURE_SIZE)[0].tolist()
        raise DataError(
            f"the feature in column {column} of node {plain(graph.nodes[row])!r} is too large to "
            f"compute with in 32 bits, where {MAX_FEATURE_SIZE:g} is the most; scale the features"
        )
    return dense


# How large walk columns are beside a graph's own features: by how well each of the two predicts training labels.
EVEN_SIZE = 0.2  # of walk columns as good as the features; chosen on training labels, docs/evidence/choices.md
MIN_SIZE = 0.02  # below which walks are left out

Matrix = NDArray[np.floating[Any]]


def chosen_walk_size(graph: MultilayerGraph, profile: WalkProfile, known: KnownLabels, seed: int) -> float:
    """The size of walk columns, between 0 and 1, beside the features of a graph that has some.

    ``profile``: Of the graph; ``known``: The training labels; ``seed``: Decides which labels share a fold, and which
    are looked at where there are many.
    """
    chosen_labels = np.sort(np.random.default_rng(seed).permutation(known.nodes.size)[:1_000])
    label_codes, label_nodes = known.codes[chosen_labels], known.nodes[chosen_labels]
    credits = 1.0, 0.25  # labels' worth of belief in features and in walks beforehand
    # the only label of a class cannot be predicted from the others, which speaks against neither
    testable_labels = np.bincount(label_codes)[label_codes] > 1
    if not testable_labels.any():
        return EVEN_SIZE * (credits[1] / credits[0]) ** 2
    walks = profile.table(gather_rows(graph, profile.placed(graph), label_nodes))
    given_rows = gather_rows(graph, _averaged_features(graph), label_nodes)
    fold = stratified_folds(label_codes, FOLDS, seed)
    joint_rows = np.hstack([given_rows, np.float32(0.3) * walks])
    given_likelihood, walked, joint = (
        _own_probabilities(rows, label_codes, fold, len(known.classes))[testable_labels]
        for rows in (given_rows, walks, joint_rows)
    )
    rest, share = mixture_weights(np.stack([given_likelihood, walked], axis=1), credits)
    size = min(EVEN_SIZE * (share / rest) ** 2, 1.0)
    gain = np.log(joint / given_likelihood)
    helps = gain.size > 1 and gain.mean() > gain.std(ddof=1) / gain.size**0.5
    return float(max(size, EVEN_SIZE / 2) if helps else size)


def _averaged_features(graph: MultilayerGraph) -> Matrix:
    """Features averaged over neighbourhoods of all layers alike, once and twice; what attention sees at the start."""
    communicator = communicator_of(graph)
    blocks = [block for block in feature_blocks(graph) if block.shape[1]]
    scaled_blocks = [GivenFeatures.of(block, GIVEN_DIM, communicator).table(block) for block in blocks]
    values = torch.from_numpy(np.concatenate(scaled_blocks, axis=1)).to(torch.get_default_dtype())
    walk = NodeWalk(graph)
    averaged_values = []
    for _ in range(2):  # as many as attention has hops by default
        # who has no neighbours in a layer stays as it is
        heard = [torch.where(scale == 0, values, walk.mean(layer, values)) for layer, scale in enumerate(walk.scales)]
        values = torch.stack(heard).mean(dim=0)
        averaged_values.append(torch.nn.functional.normalize(values, dim=1))
    averaged_table: Matrix = (torch.cat(averaged_values, dim=1) / len(averaged_values) ** 0.5).numpy()
    return averaged_table


def _own_probabilities(rows: Matrix, codes: NDArray[np.int64], fold: NDArray[np.int64], classes: int) -> Floats:
    """The probability of each label by a regression that has not seen its fold, under the best of some penalties."""
    prior = class_prior(np.bincount(codes, minlength=classes))
    tried = []
    for strength in (1.0, 10.0, 100.0):
        found = np.empty((codes.size, classes))
        for fold_number in range(int(fold.max()) + 1):
            rest = fold != fold_number
            fitted = regression(rows[rest], codes[rest], classes, strength)
            found[~rest] = class_shares(rows[~rest], *fitted)
        tried.append(mixed_with_prior(found, prior)[np.arange(codes.size), codes])
    return max(tried, key=lambda own: float(np.log(own).sum()))


SOURCES = (
    *("+".join(some) for size in (1, 2, 3) for some in combinations(("given", "walks", "random"), size)),
    "both",  # given+random, as it was called when there were two kinds
)
"""What ``features`` may be: one kind, or several joined by +."""
WALK_DIM = 32
"""Eigenvectors of the walk profile; each gives a column for every length of walk."""
GIVEN_DIM = 64
"""Columns of the graph's own features. Where there are more, they stay sparse or are reduced to leading directions."""
RANDOM_DIM = {True: 128, False: 64}
"""Random columns by themselves (True), and beside other features, which leave less for them to tell."""

Table = NDArray[np.float32]
Learned = tuple[str, WalkProfile | None, GivenFeatures | None, float]


def settled_source(graph: MultilayerGraph, wanted: str | None, featureless: str = "walks+random") -> str:
    """Which features to use: what was asked for, else the graph's own, or ``featureless`` if it has none.

    Where a model attends over couplings, random ones alone: walks keep to the layers, and what they tell of one network
    means nothing in another that is only coupled with it.
    """
    if wanted is None:
        default_source = "random" if graph.coupled else featureless
        return "given" if given_columns(graph) else default_source
    if "given" in _kinds(wanted) and not given_columns(graph):
        raise DataError(f"features={wanted!r} needs a graph with features, and this one has none")
    return wanted


class SparseColumns(NamedTuple):
    """Features of which most are zero, as a CSR array (nodes, columns), and dense ones that follow, if any."""

    entries: Any
    beside: Table | None


def _kinds(source: str) -> tuple[str, ...]:
    return ("given", "random") if source == "both" else tuple(source.split("+"))


@dataclass(frozen=True)
class InputFeatures:
    """Where a model's features come from, learned from one graph and made for any.

    ``random_dim``: Random columns of a member; :data:`RANDOM_DIM` if not given; ``scales``: For the features that all
    layers share, in files of older versions None; ``layer_columns``: Columns of single layers' features, which come on
    a common scale; ``walk_size``: The root mean square of the walk columns.
    """

    source: str
    random_dim: int | None = None
    profile: WalkProfile | None = None
    scales: GivenFeatures | None = None
    layer_columns: int = 0
    walk_size: float = 1.0

    @classmethod
    def of(
        cls,
        graph: MultilayerGraph,
        wanted: str | None,
        random_dim: int | None = None,
        entry_sum: float = ENTRY_SUM,
        known: KnownLabels | None = None,
        seed: int = 0,
    ) -> Self:
        """Learn what a graph's features need; ``entry_sum`` as for :meth:`GivenFeatures.of`.

        With training labels and given features, the size of walk columns is chosen on them. If nothing is asked for,
        there are walks beside the given features too, unless they would hardly count.
        """
        source = settled_source(graph, wanted)
        walks, size = None, 1.0
        if wanted is None and source == "given" and known is not None and not graph.coupled:
            source = "given+walks"
        if "walks" in _kinds(source):
            walks = WalkProfile.of(graph, WALK_DIM, agreement_weights(graph))
        if walks is not None and "given" in _kinds(source) and known is not None:
            size = chosen_walk_size(graph, walks, known, seed) if walks.values.size else 0.0
            if wanted is None and size < MIN_SIZE:
                source, walks, size = "given", None, 1.0
        source_kinds = _kinds(source)
        scales, of_layers = None, 0
        if "given" in source_kinds:
            # beside columns of another kind and of full size, words and counts are dense as well
            sized = source_kinds == ("given",) or (known is not None and "random" not in source_kinds)
            scales = GivenFeatures.of(
                _common(graph),
                GIVEN_DIM,
                communicator_of(graph),
                may_be_sparse=sized and not graph.layer_features,
                entry_sum=entry_sum,
            )
            of_layers = given_columns(graph) - scales.scale.size
        input_features = cls(source, random_dim, walks, scales, of_layers, size)
        if not input_features.columns:
            raise DataError(f"features={source!r}: in this graph no walk tells nodes apart; use 'walks+random'")
        return input_features

    @classmethod
    def loaded(cls, learned: Learned, random_dim: int | None, in_dim: int) -> Self:
        """From a model; whatever of a network's columns comes from nowhere else is of single layers."""
        source, profile, scales, walk_size = learned
        rest = cls(source, random_dim, profile, scales)
        of_layers = in_dim - rest.columns if "given" in _kinds(source) else 0
        return cls(source, random_dim, profile, scales, of_layers, walk_size)

    @property
    def learned(self) -> Learned:
        """What a model has to remember: source, walk profile, scales and the size of the walks."""
        return self.source, self.profile, self.scales, self.walk_size

    @property
    def columns(self) -> int:
        """Columns that a network gets."""
        walks = 0 if self.profile is None else len(WALK_STEPS) * self.profile.values.size
        scaled = 0 if self.scales is None else self.scales.columns
        return scaled + self.layer_columns + walks + self._random

    @property
    def _random(self) -> int:
        """Columns of a member's own."""
        source_kinds = _kinds(self.source)
        if "random" not in source_kinds:
            return 0
        return RANDOM_DIM[len(source_kinds) == 1] if self.random_dim is None else self.random_dim

    def shared(self, graph: MultilayerGraph) -> Any:
        """The columns that are the same for all members, (nodes, columns).

        (layers * nodes, columns) where layers have features of their own; :class:`SparseColumns` where features stay
        sparse.
        """
        walks = None
        if self.profile is not None:
            walks = self.profile.table(self.profile.placed(graph))
            walks *= np.float32(self.walk_size * max(walks.shape[1], 1) ** 0.5)  # rows have length 1
        if self.scales is not None and self.scales.entries:
            return SparseColumns(self.scales.sparse(_common(graph)), walks)
        column_blocks = [np.zeros((graph.num_nodes, 0), dtype=np.float32)] + ([] if walks is None else [walks])
        if "given" not in _kinds(self.source):
            return np.concatenate(column_blocks, axis=1)
        needed_columns = self.layer_columns + (0 if self.scales is None else self.scales.scale.size)
        if given_columns(graph) != needed_columns:
            raise DataError(f"the model needs {needed_columns} features per node; the graph has {given_columns(graph)}")
        if self.scales is None:
            column_blocks.append(dense_features(graph))
        else:
            column_blocks.append(self.scales.table(_common(graph)))
            column_blocks += [_plain(matrix) for matrix in graph.layer_features.values()]
        all_columns = np.concatenate(column_blocks, axis=1)
        return by_layer(all_columns, graph) if graph.layer_features else all_columns

    def tensor(
        self, graph: MultilayerGraph, shared: Any, seeds: Sequence[int], *, per_layer: bool, device: torch.device
    ) -> Features:
        """Features of shape (nodes, members, columns), or (layers * nodes, members, columns).

        The second with ``per_layer``, where a node's copies have random features of their own, or where layers have
        features. ``shared``: What :meth:`shared` returned for the graph; ``seeds``: Of each member's random features.
        """
        if isinstance(shared, SparseColumns):
            beside = None if shared.beside is None else torch.from_numpy(shared.beside)
            return SparseFeatures(shared.entries, len(seeds), device, beside)
        layers = graph.num_layers if per_layer or shared.shape[0] > graph.num_nodes else 1
        row_count = layers * graph.num_nodes
        column_blocks: list[Tensor] = []
        if shared.shape[1]:
            shared_columns = torch.from_numpy(shared).to(device)
            shared_columns = shared_columns if shared.shape[0] == row_count else shared_columns.repeat(layers, 1)
            column_blocks.append(shared_columns[:, None, :].expand(row_count, len(seeds), -1))
        if self._random:
            copies = layer_copies(graph) if per_layer else [0] * layers
            column_blocks.append(random_columns(graph, seeds, self._random, copies).to(device))
        return (column_blocks[0] if len(column_blocks) == 1 else torch.cat(column_blocks, dim=-1)).to(
            torch.get_default_dtype()
        )


def _common(graph: MultilayerGraph) -> Any:
    """The features that all layers share, perhaps none."""
    return np.zeros((graph.num_nodes, 0)) if graph.features is None else graph.features


def _plain(matrix: Any) -> Table:
    dense = matrix if isinstance(matrix, np.ndarray) else matrix.toarray()
    return np.asarray(dense, dtype=np.float32)
