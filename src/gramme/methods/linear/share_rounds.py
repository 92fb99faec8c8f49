"""How label-shares learns: rounds of regressions on the labels around each node, each label hidden from itself.

The labels are divided into folds. For each fold there is a *context* in which the labels of the fold are hidden, and
there is one in which all are known. A context holds what is believed of every node: its label where it is known there,
the context's own prediction elsewhere. The training rows of a fold are made in the context that hides it, so a label
reaches its own row neither directly nor by way of a neighbour's prediction, over however many rounds, and training
rows look like those of nodes without a label. The regression of a context is fitted on the rows of the other folds; so
its predictions for its own fold are out-of-fold ones, and by these rounds end and penalties are chosen.

The first round sees how far known labels spread within each layer by itself; its weights are the trust in each layer.
Every further round sees, per layer and direction, the shares of the labels among the neighbours, and what was
predicted for the node itself the round before.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from gramme._progress import part
from gramme.methods.linear.map_regression import (
    Block,
    Floats,
    Ints,
    Maps,
    MapTable,
    Singles,
    fitted_maps,
    joined_tables,
)
from gramme.methods.linear.neighbour_views import NeighbourView
from gramme.methods.probability import class_prior

SPREAD, SHARES = "spread", "shares"
FIRST_PENALTY = 3.0  # from which a better one is looked for in ...
PENALTY_STEP = 3.0  # ... steps of this factor, ...
PENALTY_RANGE = (0.2, 400.0)  # ... within these bounds
FEW_LABELS = 1_000  # up to which every choice is tested on all folds, and beyond on ...
TESTED_FOLDS = 2  # ... so many
ROUND_GAIN = 0.003  # share of the log loss that a further round must take off
LAYOUT_GAIN = 0.003  # and columns for neighbours, or two ways of a layer in place of one
PSEUDO_NEIGHBOURS = 1.0  # with the class frequencies, among those of each node
PSEUDO_SPREAD = 0.05  # the same where labels come from afar and weigh less
OWN_PSEUDO = 1e-3  # for each class, in what was predicted for the node itself
OWN_SCALE = 0.3  # of the node's own log-odds where they are mapped
ONE_HOT_SCALE = 5.5
"""Of the rows of columns for neighbours, which have length 1: these are penalised thirty times less than shares are,
as a column is seen by few nodes; from 10 to 100 the difference was 0.2 points on Debian."""
MIN_PROBABILITY = 1e-3  # below which a held-out label counts no worse
MAX_KEPT_NUMBERS = 50_000_000  # of spread labels, beyond which they are computed twice


class Context:
    """What is believed of all nodes where some labels are known.

    Parameters
    ----------
    nodes, codes : array of int
        The known labels: positions and classes.
    classes, num_nodes : int
    """

    def __init__(self, nodes: Ints, codes: Ints, classes: int, num_nodes: int) -> None:
        self.nodes, self.codes = nodes, codes
        self.classes, self.num_nodes = classes, num_nodes
        self.prior = class_prior(np.bincount(codes, minlength=classes)).astype(np.float32)
        self.predicted: Singles | None = None

    def labels(self) -> Singles:
        """Known labels, (nodes, classes); zero elsewhere."""
        found = np.zeros((self.num_nodes, self.classes), dtype=np.float32)
        found[self.nodes, self.codes] = 1
        return found

    def beliefs(self) -> Singles:
        """Known labels where they are known, and predictions elsewhere as soon as there are some."""
        if self.predicted is None:
            return self.labels()
        found = self.predicted.copy()
        found[self.nodes] = 0
        found[self.nodes, self.codes] = 1
        return found

    def log_odds(self, sums: Singles, pseudo: float) -> Singles:
        """Of shares relative to the class frequencies, with some labels of these frequencies added."""
        total = sums.sum(axis=1, keepdims=True)
        found = np.log((sums + pseudo * self.prior) / (total + pseudo))
        found -= np.log(self.prior)
        return found.astype(np.float32, copy=False)


class Round(NamedTuple):
    """One regression of the chain: what it looks at, and what it learned."""

    kind: str
    split: bool  # whether each direction of a layer is a view of its own
    one_hot: bool
    penalty: float
    maps: Maps


class Layout(NamedTuple):
    """What a round looks at."""

    kind: str
    split: bool
    one_hot: bool


@dataclass
class Surroundings:
    """The views of a graph, and columns for single neighbours and groups.

    Attributes
    ----------
    joined, ways : list of NeighbourView
        A view per layer, and per layer and direction.
    columns : CSR array, shape (nodes, columns)
        Rows of length 1 (or 0); a column for each neighbour or group that labelled nodes share.
    """

    joined: list[NeighbourView]
    ways: list[NeighbourView]
    columns: sp.csr_array
    kept: dict[int, list[Singles]] = field(default_factory=dict)

    def spread(self, context: Context) -> Iterator[Singles]:
        """The labels of a context as they spread within each layer."""
        if id(context) in self.kept:
            yield from self.kept[id(context)]
            return
        labels = context.labels()
        for view in self.joined:
            yield view.spread(labels)

    def keep_spread(self, contexts: Sequence[Context]) -> None:
        """Compute what spreads once, where memory allows."""
        rows = sum(view.rows.size for view in self.joined)
        if contexts and rows * contexts[0].classes * len(contexts) <= MAX_KEPT_NUMBERS:
            self.kept = {id(context): list(self.spread(context)) for context in contexts}

    def blocks(
        self, layout: Layout, context: Context, nodes: Ints | None = None
    ) -> Iterator[tuple[str, Block, Block | None]]:
        """What some nodes, or all, see: for each view its layer, numbers to be mapped, and log-odds."""
        if layout.kind == SPREAD:
            for view, reached in zip(self.joined, self.spread(context), strict=True):
                rows, places = _seen_by(view, nodes)
                sums = reached if places is None else reached[places]
                yield view.layer, *_share_blocks(context, rows, sums, PSEUDO_SPREAD)
        else:
            beliefs = context.beliefs()
            for view in self.ways if layout.split else self.joined:
                rows, places = _seen_by(view, nodes)
                sums = view.sums(beliefs, places)
                yield view.layer, *_share_blocks(context, rows, sums, PSEUDO_NEIGHBOURS)
        if context.predicted is not None:
            own = context.predicted if nodes is None else context.predicted[nodes]
            odds = context.log_odds(own, OWN_PSEUDO * context.classes)
            yield "", Block(None, OWN_SCALE * odds), Block(None, odds)
        if layout.one_hot:
            columns = self.columns if nodes is None else self.columns[nodes]
            yield "", Block(None, columns), None

    def table(self, layout: Layout, context: Context, nodes: Ints) -> MapTable:
        """The rows of some nodes."""
        found = list(self.blocks(layout, context, nodes))
        log_odds = [odds for _, _, odds in found if odds is not None]
        return MapTable(nodes.size, [block for _, block, _ in found], log_odds)

    def scores(self, one: Round, context: Context) -> Iterator[tuple[str, Ints | None, Singles]]:
        """Each view's part of the scores of all nodes, with its layer; what is nobody's has no name."""
        yield "", None, np.tile(one.maps.intercept.astype(np.float32), (context.num_nodes, 1))
        start = number = 0
        for layer, block, odds in self.blocks(Layout(*one[:3]), context):
            stop = start + block.values.shape[1]
            scores: Singles = np.asarray(block.values @ one.maps.coefficients[start:stop])
            if odds is not None:
                scores += np.float32(one.maps.weights[number]) * odds.values
                number += 1
            start = stop
            yield layer, block.rows, scores

    def predict(self, one: Round, context: Context) -> tuple[Singles, dict[str, float]]:
        """The probabilities of all nodes, and how much each layer's part differs from node to node."""
        total = np.zeros((context.num_nodes, context.classes), dtype=np.float32)
        spread: dict[str, float] = {}
        for layer, rows, scores in self.scores(one, context):
            if rows is None:
                total += scores
            else:
                total[rows] += scores
            if layer:
                spread[layer] = spread.get(layer, 0.0) + _variance(scores, context.num_nodes)
        total -= total.max(axis=1, keepdims=True)
        np.exp(total, out=total)
        total /= total.sum(axis=1, keepdims=True)
        return total, spread

    def follow(self, rounds: Sequence[Round], context: Context) -> list[dict[str, float]]:
        """Predict round after round; the context then holds the last predictions."""
        spreads = []
        for one in rounds:
            context.predicted, spread = self.predict(one, context)
            spreads.append(spread)
        return spreads


def _seen_by(view: NeighbourView, nodes: Ints | None) -> tuple[Ints, Ints | None]:
    """Which of some nodes have neighbours in a view, and their places among its rows."""
    if nodes is None:
        return view.rows, None
    places = view.position[nodes]
    rows = np.flatnonzero(places >= 0)
    return rows, places[rows]


def _share_blocks(
    context: Context, rows: Ints, sums: Singles, pseudo: float
) -> tuple[Block, Block]:
    total = sums.sum(axis=1, keepdims=True)
    known = np.log((total + pseudo) / pseudo) if pseudo < 1 else np.log1p(total)
    shares = np.concatenate([sums / (total + pseudo), known], axis=1)
    return (
        Block(rows, shares.astype(np.float32, copy=False)),
        Block(rows, context.log_odds(sums, pseudo)),
    )


def _variance(scores: Singles, nodes: int) -> float:
    """The variance over all nodes of scores that are 0 where a node has no neighbours, summed over classes."""
    if not scores.shape[0]:
        return 0.0
    scores = scores - scores.mean(axis=1, keepdims=True)
    mean = scores.sum(axis=0, dtype=np.float64) / nodes
    squares = np.einsum("ij,ij->j", scores, scores, dtype=np.float64) / nodes
    return float(np.maximum(squares - mean**2, 0).sum())


@dataclass
class LearnedRounds:
    """What was learned.

    Attributes
    ----------
    rounds : list of Round
        Fitted on all labels.
    unseen : array, shape (labels, classes)
        Out-of-fold predictions.
    losses : list of float
        The mean log loss of these after each round.
    """

    rounds: list[Round]
    unseen: Floats
    losses: list[float]


def learn_rounds(
    around: Surroundings,
    nodes: Ints,
    codes: Ints,
    classes: int,
    num_nodes: int,
    fold: Ints,
    max_rounds: int,
    penalty: float | None = None,
) -> LearnedRounds:
    """Learn from labels in folds until a further round does not gain on labels that were hidden.

    Parameters
    ----------
    around : Surroundings
    nodes, codes : array of int, shape (labels,)
        Labelled nodes and their classes.
    classes, num_nodes : int
    fold : array of int, shape (labels,)
        From 0 on.
    max_rounds : int
    penalty : float, optional
        In place of a choice.
    """
    return _Learner(around, nodes, codes, classes, num_nodes, fold).learn(max_rounds, penalty)


class _Learner:
    def __init__(
        self,
        around: Surroundings,
        nodes: Ints,
        codes: Ints,
        classes: int,
        num_nodes: int,
        fold: Ints,
    ) -> None:
        self.around, self.codes, self.fold = around, codes, fold
        self.folds = int(fold.max()) + 1
        kept = [fold != number for number in range(self.folds)]
        kept.append(np.ones(codes.size, dtype=bool))
        self.contexts = [Context(nodes[some], codes[some], classes, num_nodes) for some in kept]
        self.nodes = nodes
        # the only label of a class is not told by the others, and would teach that it never occurs
        self.usable = np.bincount(codes, minlength=classes)[codes] > 1
        self.log_prior = [np.log(context.prior.astype(np.float64)) for context in self.contexts]
        around.keep_spread(self.contexts)

    def learn(self, max_rounds: int, penalty: float | None) -> LearnedRounds:
        """Round after round while there is a gain."""
        rounds: list[Round] = []
        losses: list[float] = []
        unseen = np.tile(np.exp(self.log_prior[-1]), (self.codes.size, 1))
        split = any(view.direction for view in self.around.ways)
        options = [Layout(SPREAD, False, False)]
        if self.around.columns.shape[1]:
            options.append(Layout(SPREAD, False, True))
        strength = FIRST_PENALTY if penalty is None else penalty
        start: list[Maps | None] = [None] * self.folds
        for number in range(max_rounds):
            with part("", 1 / max_rounds):
                layout, strength, start = self._choose(options, strength, start, penalty is None)
                table = self._table(layout)
                found = self._fold_maps(table, strength, start)
                after = self._unseen(table, found)
                loss = self._loss(after)
                if losses and not loss < losses[-1] * (1 - ROUND_GAIN):
                    break
                losses.append(loss)
                unseen, start = after, list(found)
                usable = self.usable
                whole = fitted_maps(
                    table.taken(usable), self.codes[usable], self.log_prior[-1], strength
                )
                rounds.append(Round(*layout, strength, whole))
                for context, maps in zip(self.contexts, [*found, whole], strict=True):
                    context.predicted, _ = self.around.predict(
                        Round(*layout, strength, maps), context
                    )
                self.around.kept = {}
            options = [layout]
            if number == 0:
                options = [Layout(SHARES, way, layout.one_hot) for way in (False, True)[: 1 + split]]
        return LearnedRounds(rounds, unseen, losses)

    def _table(self, layout: Layout) -> MapTable:
        """The rows of all labels, each in the context that hides its fold."""
        places = [np.flatnonzero(self.fold == number) for number in range(self.folds)]
        tables = [
            self.around.table(layout, context, self.nodes[mine])
            for context, mine in zip(self.contexts, places, strict=False)
        ]
        return joined_tables(tables, places)

    def _fold_maps(
        self, table: MapTable, penalty: float, start: Sequence[Maps | None]
    ) -> list[Maps]:
        """The regression of each context: on the rows of the other folds."""
        return [
            self._one_fold(table, number, penalty, start[number]) for number in range(self.folds)
        ]

    def _one_fold(
        self, table: MapTable, number: int, penalty: float, start: Maps | None
    ) -> Maps:
        if start is not None and start.coefficients.shape[0] != table.starts[-1]:
            start = None
        rest = self.usable & (self.fold != number)
        return fitted_maps(
            table.taken(rest), self.codes[rest], self.log_prior[number], penalty, start
        )

    def _unseen(self, table: MapTable, found: Sequence[Maps | None]) -> Floats:
        """Out-of-fold predictions of the folds that have maps."""
        after = np.full((self.codes.size, self.contexts[0].classes), np.nan)
        for number, maps in enumerate(found):
            if maps is not None:
                mine = self.fold == number
                scores = table.taken(mine).scores(maps).astype(np.float64)
                scores = np.exp(scores - scores.max(axis=1, keepdims=True))
                after[mine] = scores / scores.sum(axis=1, keepdims=True)
        return after

    def _loss(self, unseen: Floats) -> float:
        own = unseen[np.arange(self.codes.size), self.codes]
        counted = self.usable & ~np.isnan(own)
        if not counted.any():
            return 0.0
        return float(-np.log(np.maximum(own[counted], MIN_PROBABILITY)).mean())

    def _choose(
        self,
        layouts: Sequence[Layout],
        penalty: float,
        start: Sequence[Maps | None],
        free: bool,
    ) -> tuple[Layout, float, list[Maps | None]]:
        """The layout, then the penalty; tested on some folds where there are many labels.

        Penalties are tried upwards and downwards from the one given for as long as that gains, if they are free.
        """
        few = self.codes.size <= FEW_LABELS
        tested = range(self.folds if few else min(TESTED_FOLDS, self.folds))

        def tried(table: MapTable, strength: float) -> tuple[float, list[Maps | None]]:
            maps: list[Maps | None] = [None] * self.folds
            for number in tested:
                maps[number] = self._one_fold(table, number, strength, start[number])
            return self._loss(self._unseen(table, maps)), maps

        chosen, table = layouts[0], self._table(layouts[0])
        loss, maps = tried(table, penalty)
        for layout in layouts[1:]:
            other = self._table(layout)
            after, found = tried(other, penalty)
            if after < loss * (1 - LAYOUT_GAIN):
                loss, maps, chosen, table = after, found, layout, other
        for step in (PENALTY_STEP, 1 / PENALTY_STEP) if free else ():
            before = penalty
            while PENALTY_RANGE[0] < penalty * step < PENALTY_RANGE[1]:
                after, found = tried(table, penalty * step)
                if not after < loss:
                    break
                loss, maps, penalty = after, found, penalty * step
            if penalty != before:
                break
        return chosen, penalty, maps


def extended_folds(fold: NDArray[np.int64], most: int) -> Ints:
    """Folds for the labels that are in none (-1) as well, so that each label is hidden once.

    >>> extended_folds(np.array([0, 1, -1, -1, -1, -1]), 5).tolist()
    [0, 1, 2, 3, 4, 2]
    """
    loose = np.flatnonzero(fold < 0)
    if not loose.size:
        return fold
    first = int(fold.max()) + 1
    size = max((fold.size - loose.size) / max(first, 1), 1.0)
    count = max(1, min(most - first, round(loose.size / size)))
    found = fold.copy()
    found[loose] = first + np.arange(loose.size) % count
    return found


def neighbour_columns(
    views: Sequence[NeighbourView], nodes: Ints, num_nodes: int
) -> tuple[sp.csr_array, list[Ints]]:
    """A column for each neighbour or group that two labelled nodes share, and which these are in each view.

    An entry is the logarithm of how rare the neighbour or group is; rows have length ``ONE_HOT_SCALE``, or 0.
    """
    used = []
    for view in views:
        places = view.position[nodes]
        counts = np.bincount(view.matrix[places[places >= 0]].indices, minlength=view.matrix.shape[1])
        used.append(np.flatnonzero(counts > 1))
    return columns_of(views, used, num_nodes), used


def columns_of(
    views: Sequence[NeighbourView],
    used: Sequence[Ints],
    num_nodes: int,
    rarity: Sequence[Floats] | None = None,
) -> sp.csr_array:
    """The columns of some neighbours or groups of each view, for all nodes."""
    parts: list[Any] = []
    for number, (view, some) in enumerate(zip(views, used, strict=True)):
        seen = view.matrix[:, some].tocoo()
        rare = _rarity(view, some) if rarity is None else rarity[number]
        entries = (rare[seen.col] * (seen.data > 0), (view.rows[seen.row], seen.col))
        parts.append(sp.csr_array(entries, shape=(num_nodes, some.size)))
    whole: Any = sp.csr_array(sp.hstack(parts, format="csr"))
    length = np.sqrt(np.asarray(whole.multiply(whole).sum(axis=1)).ravel())
    scale = np.where(length > 0, ONE_HOT_SCALE / np.where(length > 0, length, 1), 0.0)
    return sp.csr_array(sp.diags_array(scale) @ whole).astype(np.float32)


def _rarity(view: NeighbourView, some: Ints) -> Floats:
    counts = np.bincount(view.matrix.indices, minlength=view.matrix.shape[1])[some]
    return np.log((view.num_nodes + 1) / np.maximum(counts, 1))
