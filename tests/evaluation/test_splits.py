import json

import numpy as np
import pandas as pd
import pytest

from gramme.errors import DataError
from gramme.evaluation import hold_out, random_split
from gramme.evaluation.splits import given_splits, read_splits
from gramme.graph import EdgeLayer, MultilayerGraph

LABELS = np.array(["a", "b", None, "c"] * 25, dtype=object)


def test_train_and_test_are_all_labelled_nodes_and_never_both():
    split = random_split(LABELS, 20, 3)
    assert len(split.train) == 15
    both = np.concatenate([split.train, split.test])
    assert sorted(both) == [i for i, label in enumerate(LABELS) if label is not None]
    assert split.y[split.train].tolist() == LABELS[split.train].tolist()
    assert all(split.y[node] is None for node in split.test)
    assert all(split.monitor[node] is None for node in split.train)


def test_the_seed_is_the_realisation_and_percentages_are_nested():
    again = random_split(LABELS, 20, 3)
    assert (random_split(LABELS, 20, 3).train == again.train).all()
    assert (random_split(LABELS, 20, 4).train != again.train).any()
    assert set(random_split(LABELS, 10, 3).train) < set(again.train)


def test_it_is_the_documented_draw():
    known = np.flatnonzero([label is not None for label in LABELS])
    order = np.random.default_rng(5).permutation(known.size)
    assert set(random_split(LABELS, 10, 5).train) == set(known[order[: round(known.size * 0.1)]])


def test_missed_classes_are_counted_and_the_split_is_kept():
    labels = np.array(["common"] * 99 + ["rare"], dtype=object)
    missed = [random_split(labels, 10, r).missed for r in range(20)]
    assert set(missed) == {0, 1}


@pytest.mark.parametrize("percent", [0, 100, -5, 250, float("nan")])
def test_a_percentage_out_of_range(percent):
    with pytest.raises(DataError, match="more than 0 and less than 100"):
        random_split(LABELS, percent, 0)


def test_nothing_left_to_test_on():
    with pytest.raises(DataError, match="none to test on"):
        random_split(np.array(["a", "b"], dtype=object), 90, 0)


HOLDOUT_LABELS = np.array(["a", "b", None, "a", "b", "a", None, "b", "a", "b"], dtype=object)


def test_labels_set_aside_are_not_in_training() -> None:
    split = hold_out(HOLDOUT_LABELS, 0.5, random_state=1)
    assert split.held_out.size == 4
    assert all(split.train[node] is None for node in split.held_out)
    others = np.setdiff1d(np.arange(HOLDOUT_LABELS.size), split.held_out)
    assert all(split.train[node] is HOLDOUT_LABELS[node] for node in others)
    assert all(HOLDOUT_LABELS[node] is not None for node in split.held_out)


def test_the_input_is_left_alone_and_the_seed_decides() -> None:
    before = HOLDOUT_LABELS.copy()
    first, again, other = (hold_out(HOLDOUT_LABELS, 0.5, random_state=seed) for seed in (1, 1, 2))
    assert (before == HOLDOUT_LABELS).all()
    assert first.held_out.tolist() == again.held_out.tolist()
    assert first.held_out.tolist() != other.held_out.tolist()


def test_accuracy_counts_only_the_nodes_set_aside() -> None:
    split = hold_out(HOLDOUT_LABELS, 0.5, random_state=1)
    guess = np.array(["wrong"] * HOLDOUT_LABELS.size, dtype=object)
    guess[split.held_out[:3]] = HOLDOUT_LABELS[split.held_out[:3]]
    accuracy, (low, high) = split.accuracy(guess)
    assert accuracy == 0.75
    assert low < 0.75 < high


@pytest.mark.parametrize("share", [0.0, 1.0, -0.1, float("nan")])
def test_a_share_outside_0_and_1_is_an_error(share: float) -> None:
    with pytest.raises(DataError, match="between 0 and 1"):
        hold_out(HOLDOUT_LABELS, share, random_state=0)


@pytest.mark.parametrize("share", [0.01, 0.99])
def test_too_few_labels_on_either_side_is_an_error(share: float) -> None:
    with pytest.raises(DataError, match="of 8 labelled nodes"):
        hold_out(HOLDOUT_LABELS, share, random_state=0)


def test_who_is_set_aside_depends_on_names_and_not_on_their_order() -> None:
    names = pd.Index([f"n{place}" for place in range(HOLDOUT_LABELS.size)])
    order = np.random.default_rng(0).permutation(HOLDOUT_LABELS.size)
    first = hold_out(HOLDOUT_LABELS, 0.5, 1, names)
    other = hold_out(HOLDOUT_LABELS[order], 0.5, 1, names[order])
    assert set(names[first.held_out]) == set(names[order][other.held_out])


MASKS = {"train": [True, False, True, False, False], "test": [False, True, False, True, False]}
FIVE = MultilayerGraph(
    {"a": EdgeLayer(5, [0], [1])}, nodes=["v", "w", "x", "ü", "z"], labels=["p", "q", "q", "p", None], masks=MASKS
)


@pytest.mark.parametrize(
    "splits",
    [
        ("train", "test"),
        [("train", "test")],
        [(np.array(MASKS["train"]), MASKS["test"])],
        [(["v", "x"], ["ü", "w"])],
        [(np.array([2, 0]), np.array([1, 3]))],
    ],
    ids=["masks", "list of masks", "bool", "names", "positions"],
)
def test_a_split_is_given_in_many_forms(splits):
    (given,) = given_splits(FIVE, splits)
    assert (given.train.tolist(), given.test.tolist()) == ([0, 2], [1, 3])
    split = given.of(FIVE.labels)
    assert split.y.tolist() == ["p", None, "q", None, None]
    assert split.monitor.tolist() == [None, "q", None, "p", None]
    assert split.classes == ["p", "q"]
    assert split.missed == 0


@pytest.mark.parametrize(
    ("splits", "message"),
    [
        ([], "no split"),
        ([("train", "tset")], "no mask 'tset' in the graph; it has train, test"),
        ([(["v"], ["v", "w"])], "split 1 trains and tests on the same node, 'v'"),
        ([("train", "test"), (["v"], ["z"])], "split 2 has the node 'z' among its test nodes: it has no label"),
        ([(["v"], [])], "no test nodes of split 1"),
        ([(["v"], ["nobody"])], "test nodes of split 1: there is no node 'nobody'"),
        ([(np.array([0]), np.array([5]))], "positions must be from 0 to 4"),
        ([(np.array([0]), np.array([-1]))], "positions must be from 0 to 4"),
        ([([True, False], ["w"])], r"a mask of shape \(2,\) is given for 5 nodes"),
        ([(["v"],)], "must be a pair"),
    ],
)
def test_a_split_that_cannot_be_meant_is_refused(splits, message):
    with pytest.raises(DataError, match=message):
        given_splits(FIVE, splits)


def test_splits_are_read_from_a_file(tmp_path):
    table, text = tmp_path / "splits.csv", tmp_path / "splits.json"
    table.write_text("node,first,second\nv,train,Test\nw,test,\nx,train,train\nü,test,later\n", encoding="utf-8")
    parts = [(["v", "x"], ["w", "ü"]), (["x"], ["v"])]
    text.write_text(json.dumps([{"train": train, "test": test} for train, test in parts]))
    for path in (table, text):
        assert read_splits(path) == parts
    numbers = MultilayerGraph({"a": EdgeLayer(3, [0], [1])}, nodes=[10, 20, 30], labels=["p", "q", "p"])
    assert given_splits(numbers, [(["10"], ["30"])])[0].test.tolist() == [2]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("s.csv", "node\nv\n", "a column with the nodes' names and one for each split"),
        ("s.csv", "", "cannot be read as CSV"),
        ("s.csv", "node,a\nv,train\nv,test\n", "line 3: the node 'v' is there twice"),
        ("s.csv", "node,a\nv,train\nw,training\n", "the column 'a' needs nodes that say train and nodes that say test"),
        ("s.json", "[{}]", "is no list of"),
        ("s.json", "[" * 100000, "is no list of"),
        ("s.csv", "\x00,\xff", "s.csv"),
    ],
)
def test_a_file_of_splits_with_mistakes_is_refused(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content.encode("latin-1"))
    with pytest.raises(DataError, match=message):
        read_splits(tmp_path / name)
    with pytest.raises(DataError, match="no such file"):
        read_splits(tmp_path / "other.csv")
