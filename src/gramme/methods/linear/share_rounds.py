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
        label_indicators = np.zeros((self.num_nodes, self.classes), dtype=np.float32)
        label_indicators[self.nodes, self.codes] = 1
        return label_indicators

    def beliefs(self) -> Singles:
        """Known labels where they are known, and predictions elsewhere as soon as there are some."""
        if self.predicted is None:
            return self.labels()
        node_beliefs = self.predicted.copy()
        node_beliefs[self.nodes] = 0
        node_beliefs[self.nodes, self.codes] = 1
        return node_beliefs

    def log_odds(self, sums: Singles, pseudo: float) -> Singles:
        """Of shares relative to the class frequencies, with some labels of these frequencies added."""
        row_sums = sums.sum(axis=1, keepdims=True)
        relative_log_odds: Singles = np.log((sums + pseudo * self.prior) / (row_sums + pseudo))
        relative_log_odds -= np.log(self.prior)
        return relative_log_odds


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
        label_indicators = context.labels()
        spread_labels = []
        for view in self.joined:
            reached_sums = view.spread(label_indicators)
            if self.keeps:
                spread_labels.append(reached_sums)
            yield reached_sums
        if self.keeps:
            self.kept[context.hidden] = spread_labels

    def keep_spread(self, contexts: int, classes: int) -> None:
        """Forget what was kept, and keep what spreads in so many contexts from now on, where memory allows."""
        num_rows = sum(view.rows.size for view in self.joined)
        # beyond, spread labels are computed anew each time
        self.kept, self.keeps = {}, 0 < num_rows * classes * contexts <= 100_000_000

    def blocks(
        self, layout: Layout, context: Context, nodes: Ints | None = None
    ) -> Iterator[tuple[str, Block, Block | None]]:
        """What some nodes, or all, see: for each view its layer, numbers to be mapped, and log-odds."""
        if layout.kind == SPREAD:
            for view, reached_sums in zip(self.joined, self.spread(context), strict=True):
                seen_rows, row_places = _seen_by(view, nodes)
                neighbour_sums = reached_sums if row_places is None else reached_sums[row_places]
                yield view.layer, *_share_blocks(context, seen_rows, neighbour_sums, PSEUDO_SPREAD)
        else:
            beliefs = context.beliefs()
            for view in self.ways if layout.split else self.joined:
                seen_rows, row_places = _seen_by(view, nodes)
                neighbour_sums = view.sums(beliefs, row_places)
                yield view.layer, *_share_blocks(context, seen_rows, neighbour_sums, PSEUDO_NEIGHBOURS)
        if context.predicted is not None:
            own_prediction = context.predicted if nodes is None else context.predicted[nodes]
            own_log_odds = context.log_odds(own_prediction, 1e-3 * context.classes)
            yield "", Block(None, 0.3 * own_log_odds), Block(None, own_log_odds)
        if layout.one_hot:
            columns = self.columns if nodes is None else self.columns[nodes]
            yield "", Block(None, columns), None

    def trusted(self, layout: Layout, log_odds: int) -> Floats:
        """How far each block of log-odds is trusted before labels say more; what is the node's own, fully."""
        views = self.ways if layout.split and layout.kind != SPREAD else self.joined
        block_trust = np.ones(log_odds)
        block_trust[: len(views)] = [self.trust.get(view.layer, 1.0) for view in views]
        return block_trust

    def table(self, layout: Layout, context: Context, nodes: Ints) -> MapTable:
        """The rows of some nodes."""
        view_blocks = list(self.blocks(layout, context, nodes))
        log_odds = [odds for _, _, odds in view_blocks if odds is not None]
        return MapTable(nodes.size, [block for _, block, _ in view_blocks], log_odds)

    def scores(self, one: Round, context: Context) -> Iterator[tuple[str, Ints | None, Singles]]:
        """Each view's part of the scores of all nodes, with its layer; what is nobody's has no name."""
        yield "", None, np.tile(one.maps.intercept.astype(np.float32), (context.num_nodes, 1))
        first_column = odds_number = 0
        for layer, block, odds in self.blocks(one.layout, context):
            last_column = first_column + block.values.shape[1]
            scores: Singles = np.asarray(block.values @ one.maps.coefficients[first_column:last_column])
            if odds is not None:
                scores += np.float32(one.maps.weights[odds_number]) * odds.values
                odds_number += 1
            first_column = last_column
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
        is_spread = one.layout.kind == SPREAD
        views = self.ways if one.layout.split and not is_spread else self.joined
        pseudo = PSEUDO_SPREAD if is_spread else PSEUDO_NEIGHBOURS
        label_beliefs, num_classes = context.labels() if is_spread else context.beliefs(), context.classes
        for view_number, view in enumerate(views):
            neighbour_beliefs = label_beliefs
            seen_rows, row_places = _seen_by(view, pair.rows)
            assert row_places is not None
            neighbour_unit = np.ones((row_places.size, 1), dtype=np.float32)
            if is_spread:  # what reaches a node is a mean of what its neighbours know and what reaches them
                reached_sums = view.spread(label_beliefs)
                neighbour_beliefs = label_beliefs.copy()
                neighbour_beliefs[view.rows] += reached_sums
                neighbour_sums = reached_sums[row_places]
                neighbour_unit = SPREAD_WEIGHT / (1 + view.degree[row_places])
            else:
                neighbour_sums = view.sums(neighbour_beliefs, row_places)
            first_column = view_number * (num_classes + 1)
            coefficients = one.maps.coefficients[first_column : first_column + num_classes].T
            seen_pair = Pair(pair.rows[seen_rows], pair.first[seen_rows], pair.second[seen_rows])
            mixed_sums = neighbour_sums.astype(np.float64) + pseudo * context.prior
            coefficient_difference = coefficients[seen_pair.first] - coefficients[seen_pair.second]
            direction = coefficient_difference / (neighbour_sums.sum(axis=1, keepdims=True) + pseudo)
            odds_weight = one.maps.weights[view_number] / seen_pair.logarithmic_mean(mixed_sums)
            direction = (direction + seen_pair.direction(num_classes) * odds_weight[:, None]) * neighbour_unit
            group_members = None if view.members is None else sp.csr_array(view.members.T)
            contributions = NeighbourContributions(
                view.layer, seen_pair.rows, sp.csr_array(view.matrix[row_places]), group_members
            )
            part_entries = sp.csr_array(
                contributions.through(contributions.parts(neighbour_beliefs.astype(np.float64), direction)).parts
            ).tocoo()
            shape = (pair.rows.size, contributions.heard.shape[1])
            yield view, sp.csr_array((part_entries.data, (seen_rows[part_entries.row], part_entries.col)), shape=shape)

    def follow(self, rounds: Sequence[Round], context: Context) -> list[dict[str, float]]:
        """Predict round after round; the context then holds the last predictions."""
        round_variances = []
        for one in rounds:
            context.predicted, layer_variances = self.predict(one, context)
            round_variances.append(layer_variances)
        return round_variances


def _seen_by(view: NeighbourView, nodes: Ints | None) -> tuple[Ints, Ints | None]:
    """Which of some nodes have neighbours in a view, and their places among its rows."""
    if nodes is None:
        return view.rows, None
    row_places = view.position[nodes]
    seen_rows = np.flatnonzero(row_places >= 0)
    return seen_rows, row_places[seen_rows]


def _share_blocks(context: Context, rows: Ints, sums: Singles, pseudo: float) -> tuple[Block, Block]:
    row_sums = sums.sum(axis=1, keepdims=True)
    log_amounts = np.log((row_sums + pseudo) / pseudo) if pseudo < 1 else np.log1p(row_sums)
    share_columns = np.concatenate([sums / (row_sums + pseudo), log_amounts], axis=1)
    return (Block(rows, share_columns.astype(np.float32, copy=False)), Block(rows, context.log_odds(sums, pseudo)))


def _variance(scores: Singles, nodes: int) -> float:
    """The variance over all nodes of scores that are 0 where a node has no neighbours, summed over classes."""
    if not scores.shape[0]:
        return 0.0
    scores = scores - scores.mean(axis=1, keepdims=True)
    class_means = scores.sum(axis=0, dtype=np.float64) / nodes
    mean_squares = np.einsum("ij,ij->j", scores, scores, dtype=np.float64) / nodes
    return float(np.maximum(mean_squares - class_means**2, 0).sum())


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
        fold_numbers = [fold_number for fold_number in np.unique(labels.fold).tolist() if fold_number != left_out]
        self.places = [np.flatnonzero(labels.fold == fold_number) for fold_number in fold_numbers]
        self.contexts = [labels.context(left_out, fold_number) for fold_number in fold_numbers]
        self.whole = labels.context(left_out)
        self.rows = np.sort(np.concatenate(self.places))
        self.fold = np.searchsorted(fold_numbers, labels.fold[self.rows])
        self.codes, self.usable = labels.codes[self.rows], labels.usable[self.rows]
        self.weights = np.ones(self.rows.size) if labels.weights is None else labels.weights[self.rows]
        self.starts: list[Maps | None] = [None] * (len(fold_numbers) + 1)

    def table(self, layout: Layout) -> MapTable:
        """The rows of all its labels, each in the context that hides it."""
        fold_tables = [
            self.around.table(layout, context, self.labels.nodes[fold_labels_index])
            for context, fold_labels_index in zip(self.contexts, self.places, strict=True)
        ]
        return joined_tables(fold_tables, [np.searchsorted(self.rows, fold_labels) for fold_labels in self.places])

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
        fold_maps = self.maps(layout, table, penalty, number)
        context = self.whole if number is None else self.contexts[number]
        tested_table = self.around.table(layout, context, self.labels.nodes[self.tested(number)])
        return softmax(tested_table.scores(fold_maps).astype(np.float64))

    def advance(self, layout: Layout, table: MapTable, penalty: float) -> Round:
        """Predict once more in every context, and return the round of all its labels."""
        fold_numbers: list[int | None] = [*range(len(self.contexts)), None]
        fold_maps = [self.maps(layout, table, penalty, fold_number) for fold_number in fold_numbers]
        for context, maps in zip([*self.contexts, self.whole], fold_maps, strict=True):
            context.predicted, _ = self.around.predict(Round(layout, penalty, maps), context)
        self.starts = list(fold_maps)
        return Round(layout, penalty, fold_maps[-1])


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
        num_folds = len(self.chain.contexts)
        self.strict = labels.codes.size <= FEW_LABELS and num_folds > 1
        if self.strict:
            self.tests: list[_Test] = [(Chain(around, labels, fold_number), None) for fold_number in range(num_folds)]
        else:
            self.tests = [(self.chain, fold_number) for fold_number in range(num_folds)]
        fold_pairs = num_folds * (num_folds - 1) // 2 if self.strict else 0
        around.keep_spread(1 + num_folds + fold_pairs, labels.classes)

    def learn(self, max_rounds: int, penalty: float | None = None, one_hot: bool | None = None) -> LearnedRounds:
        """Round after round while there is a gain; ``penalty`` and ``one_hot`` are in place of a choice."""
        column_choices = (False, True) if one_hot is None else (one_hot,)
        rounds: list[Round] = []
        round_losses: list[float] = []
        out_of_fold = np.tile(self.chain.whole.prior.astype(np.float64), (self.labels.codes.size, 1))
        has_directions = any(view.direction for view in self.around.ways)
        layout_options = [
            Layout(SPREAD, False, has_columns)
            for has_columns in (column_choices if self.around.columns.shape[1] else (False,))
        ]
        penalty_strength = 3.0 if penalty is None else penalty
        for round_number in range(max_rounds):
            with part("", 1 / max_rounds):
                layout, penalty_strength, test_tables = self._choose(layout_options, penalty_strength, penalty is None)
                next_predictions = self._unseen(layout, test_tables, penalty_strength, self.tests)
                next_loss = self._loss(next_predictions)
                # a further round must take something off the loss
                if round_losses and not next_loss < round_losses[-1] * (1 - 0.003):
                    break
                round_losses.append(next_loss)
                out_of_fold = next_predictions
                if self.strict and round_number + 1 < max_rounds:
                    for (chain, _), whole_table in zip(self.tests, test_tables, strict=True):
                        chain.advance(layout, whole_table, penalty_strength)
                whole_table = self.chain.table(layout) if self.strict else test_tables[0]
                rounds.append(self.chain.advance(layout, whole_table, penalty_strength))
                self.around.keep_spread(0, self.labels.classes)
            layout_options = [layout]
            if round_number == 0:
                split_choices = (False, True)[: 1 + has_directions]
                layout_options = [Layout(SHARES, is_split, layout.one_hot) for is_split in split_choices]
        return LearnedRounds(rounds, out_of_fold, round_losses)

    def _tables(self, layout: Layout) -> list[MapTable]:
        """The training rows of each test's chain."""
        if self.strict:
            return [chain.table(layout) for chain, _ in self.tests]
        return [self.chain.table(layout)] * len(self.tests)

    def _unseen(self, layout: Layout, tables: Sequence[MapTable], penalty: float, tests: Sequence[_Test]) -> Floats:
        """Out-of-fold predictions of some folds, NaN elsewhere."""
        out_of_fold = np.full((self.labels.codes.size, self.labels.classes), np.nan)
        for (chain, fold_number), table in zip(tests, tables, strict=False):
            out_of_fold[chain.tested(fold_number)] = chain.unseen(fold_number, layout, table, penalty)
        return out_of_fold

    def _loss(self, unseen: Floats) -> float:
        label_codes = self.labels.codes
        own_probabilities = unseen[np.arange(label_codes.size), label_codes]
        is_counted = self.labels.usable & ~np.isnan(own_probabilities)
        if not is_counted.any():
            return 0.0
        label_weights = None if self.labels.weights is None else self.labels.weights[is_counted]
        return float(np.average(-np.log(np.maximum(own_probabilities[is_counted], 1e-3)), weights=label_weights))

    def _choose(self, layouts: Sequence[Layout], penalty: float, free: bool) -> tuple[Layout, float, list[MapTable]]:
        """The layout, then the penalty; tested on some folds where there are many labels.

        Penalties are tried upwards and downwards from the one given for as long as that gains, if they are free.
        """
        # thousands of labels tell choices apart in two folds
        used_tests = self.tests if self.strict else self.tests[:2]

        def tried(layout: Layout, tables: Sequence[MapTable], strength: float) -> float:
            return self._loss(self._unseen(layout, tables, strength, used_tests))

        chosen_layout, chosen_tables = layouts[0], self._tables(layouts[0])
        if len(layouts) == 1 and not free:
            return chosen_layout, penalty, chosen_tables
        least_loss = tried(chosen_layout, chosen_tables, penalty)
        for layout in layouts[1:]:
            layout_tables = self._tables(layout)
            tried_loss = tried(layout, layout_tables, penalty)
            # so must columns for neighbours, or two ways of a layer in place of one
            if tried_loss < least_loss * (1 - 0.003):
                least_loss, chosen_layout, chosen_tables = tried_loss, layout, layout_tables
        for penalty_factor in (3.0, 1 / 3.0) if free else ():
            last_penalty = penalty
            while 0.2 < penalty * penalty_factor < 400:
                tried_loss = tried(chosen_layout, chosen_tables, penalty * penalty_factor)
                if not tried_loss < least_loss:
                    break
                least_loss, penalty = tried_loss, penalty * penalty_factor
            if penalty != last_penalty:
                break
        return chosen_layout, penalty, chosen_tables


def extended_folds(fold: NDArray[np.int64], most: int) -> Ints:
    """Folds for the labels that are in none (-1) as well, so that each label is hidden once.

    >>> extended_folds(np.array([0, 1, -1, -1, -1, -1]), 5).tolist()
    [0, 1, 2, 3, 4, 2]
    """
    unassigned_labels = np.flatnonzero(fold < 0)
    if not unassigned_labels.size:
        return fold
    first_new_fold = int(fold.max()) + 1
    fold_size = max((fold.size - unassigned_labels.size) / max(first_new_fold, 1), 1.0)
    num_new_folds = max(1, min(most - first_new_fold, round(unassigned_labels.size / fold_size)))
    all_folds = fold.copy()
    all_folds[unassigned_labels] = first_new_fold + np.arange(unassigned_labels.size) % num_new_folds
    return all_folds


def neighbour_columns(views: Sequence[NeighbourView], nodes: Ints, num_nodes: int) -> tuple[sp.csr_array, list[Ints]]:
    """A column for each neighbour or group that two labelled nodes share, and which these are in each view.

    An entry is the logarithm of how rare the neighbour or group is; rows have length ``ONE_HOT_SCALE``, or 0.
    """
    used_columns = []
    for view in views:
        row_places = view.position[nodes]
        seen_columns = view.matrix[row_places[row_places >= 0]].indices
        used_columns.append(np.flatnonzero(np.bincount(seen_columns, minlength=view.matrix.shape[1]) > 1))
    return columns_of(views, used_columns, num_nodes), used_columns


def columns_of(
    views: Sequence[NeighbourView], used: Sequence[Ints], num_nodes: int, rarity: Sequence[Floats] | None = None
) -> sp.csr_array:
    """The columns of some neighbours or groups of each view, for all nodes; -1 stands for one that is not there."""
    view_tables: list[Any] = []
    for number, (view, column_places) in enumerate(zip(views, used, strict=True)):
        column_rarity = view.rarity(column_places) if rarity is None else rarity[number]
        present_columns = np.flatnonzero(column_places >= 0)
        seen_entries = sp.csr_array(view.matrix[:, column_places[present_columns]]).tocoo()
        column = present_columns[seen_entries.col]
        entry_index = (column_rarity[column], (view.rows[seen_entries.row], column))
        view_tables.append(sp.csr_array(entry_index, shape=(num_nodes, column_places.size)))
    joined_table: Any = sp.csr_array(sp.hstack(view_tables, format="csr"))
    row_lengths = np.sqrt(np.asarray(joined_table.multiply(joined_table).sum(axis=1)).ravel())
    row_scale = np.where(row_lengths > 0, ONE_HOT_SCALE / np.where(row_lengths > 0, row_lengths, 1), 0.0)
    return sp.csr_array(sp.diags_array(row_scale) @ joined_table).astype(np.float32)
