"""Rounds of regressions on neighbours' labels, and what must never reach a label's own row."""

import numpy as np
from tests.methods.linear.test_label_shares import some_known, unlike_pairs

from gramme.methods import LabelShares
from gramme.methods.linear import share_rounds
from gramme.methods.linear.neighbour_views import graph_views
from gramme.methods.linear.share_rounds import (
    Chain,
    LabelFolds,
    Layout,
    RoundLearner,
    Surroundings,
    extended_folds,
    neighbour_columns,
)

SPREAD = Layout(share_rounds.SPREAD, False, False)
SHARES = Layout(share_rounds.SHARES, True, False)


def surroundings(graph, nodes) -> Surroundings:
    joined, ways = graph_views(graph)
    return Surroundings(joined, ways, neighbour_columns(ways, nodes, graph.num_nodes)[0])


def labels_of(graph, share=0.5, folds=4) -> LabelFolds:
    known = LabelShares()._known(graph, some_known(graph, share))
    fold = np.arange(known.nodes.size) % folds
    return LabelFolds(known.nodes, known.codes, fold, len(known.classes), graph.num_nodes)


def rows_of(chain: Chain, place: int, layout: Layout) -> list[np.ndarray]:
    """What the training row of one label holds."""
    kept = np.arange(chain.rows.size) == place
    table = chain.table(layout).taken(kept)
    return [np.asarray(block.values) for block in [*table.blocks, *table.log_odds]]


def test_a_label_reaches_its_own_row_in_no_round_whatever_it_is():
    """Not directly, nor by a neighbour's prediction: rows are the same for any label, given the maps.

    The maps are those that were learned with the true label; what they do with another label at one node is compared.
    """
    graph = unlike_pairs(90)
    labels = labels_of(graph)
    around = surroundings(graph, labels.nodes)
    rounds = [SPREAD, SHARES, SHARES]
    true = Chain(around, labels, None)
    maps = []
    for layout in rounds:
        table = true.table(layout)
        maps.append([true.maps(layout, table, 3.0, number) for number in [*range(4), None]])
        true.advance(layout, table, 3.0)
    place = 7
    seen = []
    for code in range(3):
        other = labels.codes.copy()
        other[place] = code
        chain = Chain(around, labels._replace(codes=other), None)
        found = []
        for layout, learned in zip(rounds, maps, strict=True):
            found += rows_of(chain, place, layout)
            for context, one in zip([*chain.contexts, chain.whole], learned, strict=True):
                moved = share_rounds.Round(layout, 3.0, one)
                context.predicted, _ = around.predict(moved, context)
        seen.append(found)
    for one, other in zip(seen[0], seen[1], strict=True):
        np.testing.assert_array_equal(one, other)
    for one, other in zip(seen[0], seen[2], strict=True):
        np.testing.assert_array_equal(one, other)


def test_the_context_that_knows_all_labels_would_leak():
    """The check above has power: in the context of all labels the row of a label changes with it."""
    graph = unlike_pairs(90)
    labels = labels_of(graph)
    around = surroundings(graph, labels.nodes)
    chain = Chain(around, labels, None)
    for layout in (SPREAD, SHARES):
        chain.advance(layout, chain.table(layout), 3.0)
    node = labels.nodes[7:8]
    before = around.table(SHARES, chain.whole, node)
    other = labels.codes.copy()
    other[7] = (other[7] + 1) % 3
    leaking = Chain(around, labels._replace(codes=other), None)
    for layout in (SPREAD, SHARES):
        leaking.advance(layout, leaking.table(layout), 3.0)
    after = around.table(SHARES, leaking.whole, node)
    changed = [not np.allclose(one.values, two.values) for one, two in zip(before.blocks, after.blocks, strict=True)]
    assert any(changed)


def test_a_chain_that_left_a_fold_out_does_not_depend_on_its_labels():
    graph = unlike_pairs(90)
    labels = labels_of(graph)
    around = surroundings(graph, labels.nodes)
    held = np.flatnonzero(labels.fold == 1)
    other = labels.codes.copy()
    other[held] = (other[held] + 1) % 3
    found = []
    for codes in (labels.codes, other):
        chain = Chain(around, labels._replace(codes=codes), 1)
        for layout in (SPREAD, SHARES):
            chain.advance(layout, chain.table(layout), 3.0)
        found.append(chain.whole.predicted)
    np.testing.assert_array_equal(found[0], found[1])


def test_rounds_end_when_they_do_not_gain_and_predict_hidden_labels():
    graph = unlike_pairs(200)
    labels = labels_of(graph, share=0.6)
    learned = RoundLearner(surroundings(graph, labels.nodes), labels).learn(6)
    assert 2 <= len(learned.rounds) <= 6
    assert all(b < a for a, b in zip(learned.losses, learned.losses[1:], strict=False))
    assert (learned.unseen.argmax(axis=1) == labels.codes).mean() > 0.9


def test_one_chain_for_many_labels_gives_about_the_same(monkeypatch):
    graph = unlike_pairs(200)
    labels = labels_of(graph, share=0.6)
    strict = RoundLearner(surroundings(graph, labels.nodes), labels).learn(3)
    monkeypatch.setattr(share_rounds, "FEW_LABELS", 0)
    loose = RoundLearner(surroundings(graph, labels.nodes), labels).learn(3)
    assert abs(strict.losses[-1] - loose.losses[-1]) < 0.1


def test_labels_in_no_fold_are_hidden_as_well():
    fold = extended_folds(np.array([0, 0, 1, 1] + [-1] * 6), 5)
    assert fold.min() == 0
    assert np.unique(fold).size == 5
    assert fold[:4].tolist() == [0, 0, 1, 1]
