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

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from gramme._progress import part
from gramme.methods.contributions import NeighbourContributions, Pair
from gramme.methods.labels import class_prior, softmax
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
from gramme.methods.linear.neighbour_views import SPREAD_WEIGHT, NeighbourView

SPREAD, SHARES = "spread", "shares"
FEW_LABELS = 1_000  # up to which every choice is tested on all folds
PSEUDO_NEIGHBOURS = 1.0  # with the class frequencies, among those of each node
PSEUDO_SPREAD = 0.05  # the same where labels come from afar and weigh less
ONE_HOT_SCALE = 5.5
"""Of the rows of columns for neighbours, which have length 1: these are penalised thirty times less than shares are,
as a column is seen by few nodes; from 10 to 100 the difference was 0.2 points on Debian."""


class Context:
    """What is believed of all nodes where some labels are known, and those of some folds are hidden."""

    def __init__(
        self,
        nodes: Ints,
        codes: Ints,
        classes: int,
        num_nodes: int,
        hidden: frozenset[int] = frozenset(),
        weights: Floats | None = None,
    ) -> None:
        self.nodes, self.codes, self.hidden = nodes, codes, hidden
        self.classes, self.num_nodes = classes, num_nodes
        self.prior = class_prior(np.bincount(codes, weights, minlength=classes)).astype(np.float32)
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
        found: Singles = np.log((sums + pseudo * self.prior) / (total + pseudo))
        found -= np.log(self.prior)
        return found


class Layout(NamedTuple):
    """What a round looks at."""

    kind: str
    split: bool  # whether each direction of a layer is a view of its own
    one_hot: bool  # whether single neighbours and groups have columns


class Round(NamedTuple):
    """One regression of the chain: what it looks at, and what it learned."""

    layout: Layout
    penalty: float
    maps: Maps


@dataclass
class Surroundings:
    """The views of a graph, and columns for single neighbours and groups."""

    joined: list[NeighbourView]  # a view per layer
    ways: list[NeighbourView]  # a view per layer and direction
    columns: sp.csr_array  # rows of length 1 or 0; a column for each neighbour or group that labelled nodes share
    trust: Mapping[str, float] = field(default_factory=dict)  # in layers that are not trusted fully
    kept: dict[frozenset[int], list[Singles]] = field(default_factory=dict)
    keeps: bool = False

    def spread(self, context: Context) -> Iterator[Singles]:
        """The labels of a context as they spread within each layer; computed once, where memory allows."""
        if context.hidden in self.kept:
            yield from self.kept[context.hidden]
            return
        labels = context.labels()
        found = []
        for view in self.joined:
            reached = view.spread(labels)
            if self.keeps:
                found.append(reached)
            yield reached
        if self.keeps:
            self.kept[context.hidden] = found

    def keep_spread(self, contexts: int, classes: int) -> None:
        """Forget what was kept, and keep what spreads in so many contexts from now on, where memory allows."""
        rows = sum(view.rows.size for view in self.joined)
        # beyond, spread labels are computed anew each time
        self.kept, self.keeps = {}, 0 < rows * classes * contexts <= 100_000_000

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
            odds = context.log_odds(own, 1e-3 * context.classes)
            yield "", Block(None, 0.3 * odds), Block(None, odds)
        if layout.one_hot:
            columns = self.columns if nodes is None else self.columns[nodes]
            yield "", Block(None, columns), None

    def trusted(self, layout: Layout, log_odds: int) -> Floats:
        """How far each block of log-odds is trusted before labels say more; what is the node's own, fully."""
        views = self.ways if layout.split and layout.kind != SPREAD else self.joined
        found = np.ones(log_odds)
        found[: len(views)] = [self.trust.get(view.layer, 1.0) for view in views]
        return found

    def table(self, layout: Layout, context: Context, nodes: Ints) -> MapTable:
        """The rows of some nodes."""
        found = list(self.blocks(layout, context, nodes))
        log_odds = [odds for _, _, odds in found if odds is not None]
        return MapTable(nodes.size, [block for _, block, _ in found], log_odds)

    def scores(self, one: Round, context: Context) -> Iterator[tuple[str, Ints | None, Singles]]:
        """Each view's part of the scores of all nodes, with its layer; what is nobody's has no name."""
        yield "", None, np.tile(one.maps.intercept.astype(np.float32), (context.num_nodes, 1))
        start = number = 0
        for layer, block, odds in self.blocks(one.layout, context):
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

    def neighbour_parts(self, one: Round, context: Context, pair: Pair) -> Iterator[tuple[NeighbourView, sp.csr_array]]:
        """For each view what neighbours, or groups, add to the log-odds of two classes, (rows, columns of the view)."""
        spreads = one.layout.kind == SPREAD
        views = self.ways if one.layout.split and not spreads else self.joined
        pseudo = PSEUDO_SPREAD if spreads else PSEUDO_NEIGHBOURS
        labels, classes = context.labels() if spreads else context.beliefs(), context.classes
        for number, view in enumerate(views):
            said = labels
            rows, places = _seen_by(view, pair.rows)
            assert places is not None
            unit = np.ones((places.size, 1), dtype=np.float32)
            if spreads:  # what reaches a node is a mean of what its neighbours know and what reaches them
                reached = view.spread(labels)
                said = labels.copy()
                said[view.rows] += reached
                sums = reached[places]
                unit = SPREAD_WEIGHT / (1 + view.degree[places])
            else:
                sums = view.sums(said, places)
            start = number * (classes + 1)
            coefficients = one.maps.coefficients[start : start + classes].T
            some = Pair(pair.rows[rows], pair.first[rows], pair.second[rows])
            mixed = sums.astype(np.float64) + pseudo * context.prior
            mapped = coefficients[some.first] - coefficients[some.second]
            direction = mapped / (sums.sum(axis=1, keepdims=True) + pseudo)
            weighed = one.maps.weights[number] / some.logarithmic_mean(mixed)
            direction = (direction + some.direction(classes) * weighed[:, None]) * unit
            members = None if view.members is None else sp.csr_array(view.members.T)
            heard = NeighbourContributions(view.layer, some.rows, sp.csr_array(view.matrix[places]), members)
            parts = sp.csr_array(heard.through(heard.parts(said.astype(np.float64), direction)).parts).tocoo()
            shape = (pair.rows.size, heard.heard.shape[1])
            yield view, sp.csr_array((parts.data, (rows[parts.row], parts.col)), shape=shape)

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


def _share_blocks(context: Context, rows: Ints, sums: Singles, pseudo: float) -> tuple[Block, Block]:
    total = sums.sum(axis=1, keepdims=True)
    known = np.log((total + pseudo) / pseudo) if pseudo < 1 else np.log1p(total)
    shares = np.concatenate([sums / (total + pseudo), known], axis=1)
    return (Block(rows, shares.astype(np.float32, copy=False)), Block(rows, context.log_odds(sums, pseudo)))


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
    """What was learned."""

    rounds: list[Round]  # fitted on all labels
    unseen: Floats  # out-of-fold predictions, (labels, classes)
    losses: list[float]  # the mean log loss of these after each round


class LabelFolds(NamedTuple):
    """Labelled nodes, their classes, and the fold of each."""

    nodes: Ints
    codes: Ints
    fold: Ints
    classes: int
    num_nodes: int
    weights: Floats | None = None

    @property
    def usable(self) -> NDArray[np.bool_]:
        """The only label of a class is not told by the others, and would teach that the class never occurs."""
        return np.bincount(self.codes, minlength=self.classes)[self.codes] > 1

    def context(self, *hidden: int | None) -> Context:
        """The context that hides some folds."""
        folds = frozenset(number for number in hidden if number is not None)
        known = ~np.isin(self.fold, list(folds))
        weights = None if self.weights is None else self.weights[known]
        return Context(self.nodes[known], self.codes[known], self.classes, self.num_nodes, folds, weights)


class Chain:
    """The rounds of a set of labels: a context for each fold of them, which hides it, and one that knows them all.

    It never sees the labels of the fold ``left_out``, if any.
    """

    def __init__(self, around: Surroundings, labels: LabelFolds, left_out: int | None) -> None:
        self.around, self.labels, self.left_out = around, labels, left_out
        numbers = [number for number in np.unique(labels.fold).tolist() if number != left_out]
        self.places = [np.flatnonzero(labels.fold == number) for number in numbers]
        self.contexts = [labels.context(left_out, number) for number in numbers]
        self.whole = labels.context(left_out)
        self.rows = np.sort(np.concatenate(self.places))
        self.fold = np.searchsorted(numbers, labels.fold[self.rows])
        self.codes, self.usable = labels.codes[self.rows], labels.usable[self.rows]
        self.weights = np.ones(self.rows.size) if labels.weights is None else labels.weights[self.rows]
        self.starts: list[Maps | None] = [None] * (len(numbers) + 1)

    def table(self, layout: Layout) -> MapTable:
        """The rows of all its labels, each in the context that hides it."""
        tables = [
            self.around.table(layout, context, self.labels.nodes[places])
            for context, places in zip(self.contexts, self.places, strict=True)
        ]
        return joined_tables(tables, [np.searchsorted(self.rows, some) for some in self.places])

    def maps(self, layout: Layout, table: MapTable, penalty: float, number: int | None = None) -> Maps:
        """The regression of the context of a fold, on the rows of the other folds; that of all where None."""
        kept = self.usable if number is None else self.usable & (self.fold != number)
        context = self.whole if number is None else self.contexts[number]
        start = self.starts[-1 if number is None else number]
        log_prior = np.log(context.prior.astype(np.float64))
        trust = self.around.trusted(layout, len(table.log_odds))
        return fitted_maps(table.taken(kept), self.codes[kept], log_prior, penalty, start, self.weights[kept], trust)

    def tested(self, number: int | None) -> Ints:
        """The labels of a fold; of the one left out where None."""
        return np.flatnonzero(self.labels.fold == self.left_out) if number is None else self.places[number]

    def unseen(self, number: int | None, layout: Layout, table: MapTable, penalty: float) -> Floats:
        """Probabilities of the labels that the regression of a context is tested on."""
        maps = self.maps(layout, table, penalty, number)
        context = self.whole if number is None else self.contexts[number]
        rows = self.around.table(layout, context, self.labels.nodes[self.tested(number)])
        return softmax(rows.scores(maps).astype(np.float64))

    def advance(self, layout: Layout, table: MapTable, penalty: float) -> Round:
        """Predict once more in every context, and return the round of all its labels."""
        numbers: list[int | None] = [*range(len(self.contexts)), None]
        found = [self.maps(layout, table, penalty, number) for number in numbers]
        for context, maps in zip([*self.contexts, self.whole], found, strict=True):
            context.predicted, _ = self.around.predict(Round(layout, penalty, maps), context)
        self.starts = list(found)
        return Round(layout, penalty, found[-1])


def planned_rounds(around: Surroundings, labels: LabelFolds, plan: Sequence[tuple[Layout, float]]) -> list[Round]:
    """Rounds of which is known what each looks at and its penalty."""
    chain = Chain(around, labels, None)
    around.keep_spread(len(chain.contexts) + 1, labels.classes)
    rounds = []
    for layout, penalty in plan:
        if layout.one_hot and not around.columns.shape[1]:
            layout = layout._replace(one_hot=False)
        with part("", 1 / len(plan)):
            rounds.append(chain.advance(layout, chain.table(layout), penalty))
        around.keep_spread(0, labels.classes)
    return rounds


_Test = tuple[Chain, int | None]
"""A fold of a chain that its own regression is tested on; the fold that the chain has left out where None."""


class RoundLearner:
    """Learns from labels in folds until a further round does not gain on labels that were hidden.

    With few labels each fold is predicted by a chain that has never seen it, as a copy of the whole would be. With
    many, the folds' own regressions of one chain serve: one of thousands of labels hardly shows in coefficients that
    it has entered only as a neighbour's.
    """

    def __init__(self, around: Surroundings, labels: LabelFolds) -> None:
        self.around, self.labels = around, labels
        self.chain = Chain(around, labels, None)
        folds = len(self.chain.contexts)
        self.strict = labels.codes.size <= FEW_LABELS and folds > 1
        if self.strict:
            self.tests: list[_Test] = [(Chain(around, labels, number), None) for number in range(folds)]
        else:
            self.tests = [(self.chain, number) for number in range(folds)]
        pairs = folds * (folds - 1) // 2 if self.strict else 0
        around.keep_spread(1 + folds + pairs, labels.classes)

    def learn(self, max_rounds: int, penalty: float | None = None, one_hot: bool | None = None) -> LearnedRounds:
        """Round after round while there is a gain; ``penalty`` and ``one_hot`` are in place of a choice."""
        choices = (False, True) if one_hot is None else (one_hot,)
        rounds: list[Round] = []
        losses: list[float] = []
        unseen = np.tile(self.chain.whole.prior.astype(np.float64), (self.labels.codes.size, 1))
        split = any(view.direction for view in self.around.ways)
        options = [
            Layout(SPREAD, False, columns) for columns in (choices if self.around.columns.shape[1] else (False,))
        ]
        strength = 3.0 if penalty is None else penalty
        for number in range(max_rounds):
            with part("", 1 / max_rounds):
                layout, strength, tables = self._choose(options, strength, penalty is None)
                after = self._unseen(layout, tables, strength, self.tests)
                loss = self._loss(after)
                # a further round must take something off the loss
                if losses and not loss < losses[-1] * (1 - 0.003):
                    break
                losses.append(loss)
                unseen = after
                if self.strict and number + 1 < max_rounds:
                    for (chain, _), table in zip(self.tests, tables, strict=True):
                        chain.advance(layout, table, strength)
                table = self.chain.table(layout) if self.strict else tables[0]
                rounds.append(self.chain.advance(layout, table, strength))
                self.around.keep_spread(0, self.labels.classes)
            options = [layout]
            if number == 0:
                ways = (False, True)[: 1 + split]
                options = [Layout(SHARES, way, layout.one_hot) for way in ways]
        return LearnedRounds(rounds, unseen, losses)

    def _tables(self, layout: Layout) -> list[MapTable]:
        """The training rows of each test's chain."""
        if self.strict:
            return [chain.table(layout) for chain, _ in self.tests]
        return [self.chain.table(layout)] * len(self.tests)

    def _unseen(self, layout: Layout, tables: Sequence[MapTable], penalty: float, tests: Sequence[_Test]) -> Floats:
        """Out-of-fold predictions of some folds, NaN elsewhere."""
        found = np.full((self.labels.codes.size, self.labels.classes), np.nan)
        for (chain, number), table in zip(tests, tables, strict=False):
            found[chain.tested(number)] = chain.unseen(number, layout, table, penalty)
        return found

    def _loss(self, unseen: Floats) -> float:
        codes = self.labels.codes
        own = unseen[np.arange(codes.size), codes]
        counted = self.labels.usable & ~np.isnan(own)
        if not counted.any():
            return 0.0
        weights = None if self.labels.weights is None else self.labels.weights[counted]
        return float(np.average(-np.log(np.maximum(own[counted], 1e-3)), weights=weights))

    def _choose(self, layouts: Sequence[Layout], penalty: float, free: bool) -> tuple[Layout, float, list[MapTable]]:
        """The layout, then the penalty; tested on some folds where there are many labels.

        Penalties are tried upwards and downwards from the one given for as long as that gains, if they are free.
        """
        # thousands of labels tell choices apart in two folds
        tests = self.tests if self.strict else self.tests[:2]

        def tried(layout: Layout, tables: Sequence[MapTable], strength: float) -> float:
            return self._loss(self._unseen(layout, tables, strength, tests))

        chosen, tables = layouts[0], self._tables(layouts[0])
        if len(layouts) == 1 and not free:
            return chosen, penalty, tables
        loss = tried(chosen, tables, penalty)
        for layout in layouts[1:]:
            others = self._tables(layout)
            after = tried(layout, others, penalty)
            # so must columns for neighbours, or two ways of a layer in place of one
            if after < loss * (1 - 0.003):
                loss, chosen, tables = after, layout, others
        for step in (3.0, 1 / 3.0) if free else ():
            before = penalty
            while 0.2 < penalty * step < 400:
                after = tried(chosen, tables, penalty * step)
                if not after < loss:
                    break
                loss, penalty = after, penalty * step
            if penalty != before:
                break
        return chosen, penalty, tables


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


def neighbour_columns(views: Sequence[NeighbourView], nodes: Ints, num_nodes: int) -> tuple[sp.csr_array, list[Ints]]:
    """A column for each neighbour or group that two labelled nodes share, and which these are in each view.

    An entry is the logarithm of how rare the neighbour or group is; rows have length ``ONE_HOT_SCALE``, or 0.
    """
    used = []
    for view in views:
        places = view.position[nodes]
        seen = view.matrix[places[places >= 0]].indices
        used.append(np.flatnonzero(np.bincount(seen, minlength=view.matrix.shape[1]) > 1))
    return columns_of(views, used, num_nodes), used


def columns_of(
    views: Sequence[NeighbourView], used: Sequence[Ints], num_nodes: int, rarity: Sequence[Floats] | None = None
) -> sp.csr_array:
    """The columns of some neighbours or groups of each view, for all nodes; -1 stands for one that is not there."""
    parts: list[Any] = []
    for number, (view, some) in enumerate(zip(views, used, strict=True)):
        rare = view.rarity(some) if rarity is None else rarity[number]
        there = np.flatnonzero(some >= 0)
        seen = sp.csr_array(view.matrix[:, some[there]]).tocoo()
        column = there[seen.col]
        entries = (rare[column], (view.rows[seen.row], column))
        parts.append(sp.csr_array(entries, shape=(num_nodes, some.size)))
    whole: Any = sp.csr_array(sp.hstack(parts, format="csr"))
    length = np.sqrt(np.asarray(whole.multiply(whole).sum(axis=1)).ravel())
    scale = np.where(length > 0, ONE_HOT_SCALE / np.where(length > 0, length, 1), 0.0)
    return sp.csr_array(sp.diags_array(scale) @ whole).astype(np.float32)
