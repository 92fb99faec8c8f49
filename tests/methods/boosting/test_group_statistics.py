"""The columns of groups equal what one would count by hand."""

import numpy as np
import pytest

from gramme.graph import EdgeLayer, MembershipLayer, MultilayerGraph
from gramme.methods.boosting.group_statistics import MAX_INDICATORS, PRIOR_LABELS, GroupStatistics, KnownTargets

NODES = 120
RANDOM = np.random.default_rng(0)
CODES = RANDOM.integers(-1, 25, size=NODES)
NUMBERS = RANDOM.integers(0, 9, size=(NODES, 2)).astype(float)
KNOWN = np.arange(0, NODES, 2)
FOLD = np.arange(KNOWN.size) % 3
TARGETS = KnownTargets(KNOWN, FOLD, RANDOM.integers(0, 2, size=(KNOWN.size, 1)).astype(float), np.ones(KNOWN.size))


def by_name(graph: MultilayerGraph) -> dict[str, np.ndarray]:
    statistics = GroupStatistics.learned(graph, TARGETS, ["share"])
    fold = np.full(NODES, -1)
    fold[KNOWN] = FOLD
    table = statistics.table(graph, fold)
    assert table.shape == (NODES, len(statistics.titles())) == (NODES, len(statistics.layer_of_column()))
    return dict(zip(statistics.titles(), table.T, strict=True))


def frequency(others: np.ndarray, node: int) -> float:
    """The mean target of labelled nodes among some, without the fold of a node, drawn towards that of all."""
    fold = dict(zip(KNOWN.tolist(), FOLD.tolist(), strict=True))
    target = dict(zip(KNOWN.tolist(), TARGETS.rows[:, 0].tolist(), strict=True))
    counted = [target[one] for one in others.tolist() if one in fold and fold[one] != fold.get(node)]
    return (sum(counted) + PRIOR_LABELS * TARGETS.rows.mean()) / (len(counted) + PRIOR_LABELS)


def test_groups_by_hand():
    layer = MembershipLayer.from_codes(CODES, range(25))
    found = by_name(MultilayerGraph({"shop": layer}, features=NUMBERS, feature_names=["a", "b"]))
    for node in range(NODES):
        mates = np.flatnonzero((CODES[node] == CODES) & (CODES >= 0))
        assert found["share in shop"][node] == pytest.approx(frequency(mates, node))
        assert found["size of shop"][node] == pytest.approx(np.log1p(mates.size))
        for place, name in enumerate("ab"):
            own, values = NUMBERS[node, place], NUMBERS[mates, place]
            below, above = values[values < own], values[values > own]
            expected = [
                own - values.mean() if mates.size else np.nan,
                own - below.max() if below.size else np.nan,
                above.min() - own if above.size else np.nan,
            ]
            titles = [
                f"{name} against its mean in shop",
                f"{name} and the lower one in shop",
                f"{name} and the higher one in shop",
            ]
            np.testing.assert_allclose([found[title][node] for title in titles], expected)


def test_edges_by_hand():
    source, target = RANDOM.integers(NODES, size=(2, 200))
    layer = EdgeLayer(NODES, source, target)
    found = by_name(MultilayerGraph({"calls": layer}, features=NUMBERS[:, :1]))
    matrix = layer.to_scipy().tocsr()
    for node in range(NODES):
        others = matrix[[node]].indices
        assert found["share in neighbours"][node] == pytest.approx(frequency(others, node))
        assert found["number of calls"][node] == pytest.approx(np.log1p(others.size))
        expected = NUMBERS[node, 0] - NUMBERS[others, 0].mean() if others.size else np.nan
        np.testing.assert_allclose(found["feature 1 against its mean in neighbours"][node], expected)


def test_few_groups_are_columns_and_cut_numbers_are_none():
    graph = MultilayerGraph(
        {
            "city": MembershipLayer.from_codes(np.arange(NODES) % MAX_INDICATORS),
            "age": MembershipLayer.from_codes(np.arange(NODES) % 5),
        },
        features=NUMBERS[:, :1],
        feature_names=["age"],
    )
    found = by_name(graph)
    assert list(found) == ["age", *(f"city is {one}" for one in range(MAX_INDICATORS))]
    np.testing.assert_array_equal(found["city is 3"], np.arange(NODES) % MAX_INDICATORS == 3)


def test_nodes_in_several_groups_have_their_means():
    node, group = np.repeat(np.arange(NODES), 2), RANDOM.integers(30, size=2 * NODES)
    layer = MembershipLayer(NODES, node, group, [f"author {one}" for one in range(30)])
    found = by_name(MultilayerGraph({"author": layer}, features=NUMBERS[:, :1]))
    assert not any("lower one" in title for title in found)
    incidence = layer.incidence()
    assert incidence is not None
    sizes = np.asarray(incidence.sum(axis=0)).ravel()
    mine = incidence.tocsr()[[5]]
    assert found["size of author"][5] == pytest.approx(np.log1p(sizes[mine.indices].mean()))
