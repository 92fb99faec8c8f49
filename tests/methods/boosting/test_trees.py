"""Boosted trees as arrays say what scikit-learn's say, and a damaged file is refused."""

import numpy as np
import pytest
import torch
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

import gramme
from gramme import FileFormatError, MembershipLayer, MultilayerGraph
from gramme.methods.boosting.table_boosting import TableBoosting
from gramme.methods.boosting.trees import (
    L2_PENALTY,
    LARGE,
    LEARNING_RATE,
    BoostedTrees,
    Growth,
    Target,
    TreeSize,
    chosen_growth,
)
from gramme.methods.persistence import read_model, write_model

ROWS = np.random.default_rng(0).normal(size=(300, 4))
ROWS[::7, 1] = np.nan
GROWTH = Growth(TreeSize(8, 20), 30)


def as_sklearn(kind, target):
    model = kind(
        max_iter=GROWTH.rounds,
        learning_rate=LEARNING_RATE,
        max_leaf_nodes=GROWTH.size.leaves,
        min_samples_leaf=GROWTH.size.labels_per_leaf,
        l2_regularization=L2_PENALTY,
        early_stopping=False,
        random_state=0,
    )
    return model.fit(ROWS, target)


@pytest.mark.parametrize("classes", [2, 4])
def test_probabilities_are_those_of_scikit_learn_with_gaps_among_the_numbers(classes: int):
    score = np.nan_to_num(ROWS[:, 1]) + ROWS[:, 0]
    codes = np.digitize(score, np.quantile(score, np.linspace(0, 1, classes + 1)[1:-1]))
    trees = BoostedTrees.fitted(ROWS, Target(codes, classes), GROWTH, 0)
    expected = as_sklearn(HistGradientBoostingClassifier, codes).predict_proba(ROWS)
    np.testing.assert_allclose(trees.probabilities(ROWS), expected, atol=1e-12)
    assert trees.gain.argmax() in (0, 1)


def test_numbers_are_those_of_scikit_learn():
    numbers = ROWS[:, 0] * ROWS[:, 2]
    trees = BoostedTrees.fitted(ROWS, Target(numbers), GROWTH, 0)
    expected = as_sklearn(HistGradientBoostingRegressor, numbers).predict(ROWS)
    np.testing.assert_allclose(trees.numbers(ROWS), expected, atol=1e-12)


@pytest.mark.parametrize("present", [(0, 2), (0, 1, 3), (2,)])
def test_classes_without_labels_stay_improbable(present: tuple[int, ...]):
    codes = np.array(present)[(ROWS[:, 0] > 0).astype(int) % len(present)]
    found = BoostedTrees.fitted(ROWS, Target(codes, 4), GROWTH, 0).probabilities(ROWS)
    assert found.shape == (300, 4)
    np.testing.assert_allclose(found.sum(axis=1), 1)
    absent = [one for one in range(4) if one not in np.unique(codes)]
    assert found[:, absent].max() < 1e-3
    if len(present) == 2:
        assert (found.argmax(axis=1) == codes).mean() > 0.95


def test_without_columns_it_says_how_frequent_classes_are():
    codes = np.arange(300) % 3 // 2
    found = BoostedTrees.fitted(ROWS[:, :0], Target(codes, 2), GROWTH, 0).probabilities(ROWS[:, :0])
    np.testing.assert_allclose(found, np.tile([2 / 3, 1 / 3], (300, 1)))
    numbers = BoostedTrees.fitted(ROWS[:, :0], Target(ROWS[:, 0]), GROWTH, 0)
    np.testing.assert_allclose(numbers.numbers(ROWS[:, :0]), ROWS[:, 0].mean())


def test_inner_folds_choose_few_rounds_where_there_is_nothing_to_learn():
    fold = np.arange(300) % 5
    noise = np.random.default_rng(1).integers(2, size=300)
    assert chosen_growth(ROWS, Target(noise, 2), fold, 0).rounds < 20
    told = (ROWS[:, 0] * ROWS[:, 2] > 0).astype(np.int64)
    assert chosen_growth(ROWS, Target(told, 2), fold, 0).rounds > 20
    assert chosen_growth(ROWS, Target(told, 2), fold, 0, LARGE).size == LARGE


@pytest.fixture
def saved(tmp_path):
    codes = np.arange(80) % 30
    graph = MultilayerGraph({"sender": MembershipLayer.from_codes(codes)}, features=np.arange(160.0).reshape(80, 2))
    path = tmp_path / "model.safetensors"
    TableBoosting(leaves=3, rounds=4, random_state=0).fit(graph, codes % 2).save(path)
    return path


DAMAGE = {
    "a step that leads backwards": ("trees.left", lambda a: torch.zeros_like(a), "lead nowhere"),
    "a column that is not there": (
        "trees.column",
        lambda a: torch.where(a >= 0, 10_000, a),
        "columns that are not there",
    ),
    "another number of scores": ("trees.base", lambda a: a.repeat(3), "do not give the scores"),
    "a root outside": ("trees.roots", lambda a: a + 1_000_000, "begin nowhere"),
    "a threshold that is no number": ("trees.threshold", lambda a: a * float("nan"), "finite"),
    "groups of another count": ("statistics.0.size", lambda a: a[:3], "go together"),
    "values beyond their end": ("statistics.0.starts", lambda a: a + 1_000, "go together"),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_file_is_refused_by_name(saved, damage: str):
    key, change, message = DAMAGE[damage]
    name, parameters, learned = read_model(saved)
    learned.tensors[key] = change(learned.tensors[key].clone()).contiguous()
    write_model(saved, name, parameters, learned)
    with pytest.raises(FileFormatError, match=message):
        gramme.load(saved)
