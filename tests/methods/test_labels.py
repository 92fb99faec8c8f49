"""Labels as users have them, turned into class numbers."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import special
from tests.methods.graphs import half_known, planted

from gramme import DataError, EdgeLayer, MultilayerGraph
from gramme.errors import GrammeWarning
from gramme.methods.labels import (
    KnownLabels,
    aligned_labels,
    class_prior,
    coded_labels,
    dealt_in_turn,
    enough_folds,
    known_labels,
    softmax,
    stratified_folds,
)


def test_softmax_is_softmax():
    scores = np.random.default_rng(0).normal(scale=30, size=(5, 3, 4))
    np.testing.assert_allclose(softmax(scores), special.softmax(scores, axis=-1), rtol=1e-12)


def test_softmax_of_huge_scores():
    assert softmax(np.array([[1e300, -1e300], [5.0, -np.inf]])).tolist() == [[1, 0], [1, 0]]


def test_no_class_has_prior_zero():
    prior = class_prior(np.array([[5, 0, 0], [0, 0, 0]]))
    assert (prior > 0).all()
    np.testing.assert_allclose(prior.sum(-1), 1)
    np.testing.assert_allclose(prior[1], 1 / 3)


@pytest.mark.parametrize("folds", [2, 3, 5])
@pytest.mark.parametrize("sizes", [(10, 10), (17, 4, 9), (1, 1, 1), (3,)])
def test_classes_are_spread_evenly(folds, sizes):
    codes = np.random.default_rng(0).permutation(np.repeat(np.arange(len(sizes)), sizes))
    fold = stratified_folds(codes, folds, seed=1)
    used = min(folds, codes.size)
    assert set(fold.tolist()) == set(range(used))
    for code in range(len(sizes)):
        counts = np.bincount(fold[codes == code], minlength=used)
        assert counts.max() - counts.min() <= 1
    total = np.bincount(fold)
    assert total.max() - total.min() <= 1


def test_the_seed_decides():
    codes = np.arange(40) % 3
    first = stratified_folds(codes, 5, seed=0)
    assert first.tolist() == stratified_folds(codes, 5, seed=0).tolist()
    assert first.tolist() != stratified_folds(codes, 5, seed=1).tolist()


def test_dealing():
    assert dealt_in_turn(np.array([3, 1, 0, 2]), 2).tolist() == [0, 1, 1, 0]
    assert dealt_in_turn(np.zeros(0, dtype=np.int64), 2).tolist() == []


def test_all_folds_of_few_labels_are_tested():
    few = np.arange(50) % 5
    assert (enough_folds(few) == few).all()
    assert enough_folds(np.arange(6000) % 5).max() == 0


GRAPH = MultilayerGraph({"layer": EdgeLayer(4, [0], [1])}, nodes=["w", "x", "y", "z"])


def test_known_labels_are_positions_codes_and_sorted_classes():
    known = known_labels(GRAPH, ["b", None, "a", "b"])
    assert known.nodes.tolist() == [0, 2, 3]
    assert known.codes.tolist() == [1, 0, 1]
    assert known.classes.tolist() == ["a", "b"]


@pytest.mark.parametrize("unknown", [-1, -1.0, np.int8(-1), np.float32(-1), None, np.nan])
def test_what_means_unknown(unknown):
    assert known_labels(GRAPH, [0, unknown, 1, unknown]).nodes.tolist() == [0, 2]


def test_what_does_not_mean_unknown():
    known = known_labels(GRAPH, ["-1", False, " ", 0.5])
    assert known.nodes.tolist() == [0, 1, 3]


def test_equal_labels_are_one_class():
    assert len(known_labels(GRAPH, [1, 1.0, True, 0]).classes) == 2


def test_classes_that_do_not_compare_have_a_fixed_order():
    one = known_labels(GRAPH, [1, "a", (1, 2), None]).classes.tolist()
    two = known_labels(GRAPH, [(1, 2), "a", None, 1]).classes.tolist()
    assert one == two


def test_minus_one_as_a_class_gets_a_hint():
    with pytest.raises(DataError, match=r"all 2 known labels are 1 .-1, None and NaN mean unknown"):
        known_labels(GRAPH, [-1, 1, -1, 1])


def test_further_labels_are_strict_or_not():
    classes = np.array(["a", "b"])
    nodes, codes = coded_labels(GRAPH, {"z": "q", "w": "b"}, classes, "monitor", strict=False)
    assert (nodes.tolist(), codes.tolist()) == ([0, 3], [1, -1])
    with pytest.raises(DataError, match="the monitor label 'q' is not among the training labels"):
        coded_labels(GRAPH, {"z": "q"}, classes, "monitor", strict=True)


def test_alignment_copies():
    labels = GRAPH.replace(labels=["a", "b", None, -1])
    aligned = aligned_labels(labels)
    aligned[0] = "changed"
    assert labels.labels[0] == "a"
    assert aligned.tolist() == ["changed", "b", None, None]


def test_amounts_are_no_classes():
    graph = MultilayerGraph({"l": EdgeLayer(60, range(59), range(1, 60))})
    incomes = np.linspace(900, 4000, 60)
    with pytest.raises(DataError, match=r"60 different values on 60 nodes.*GrammeRegressor.*pass such numbers as text"):
        known_labels(graph, incomes)
    with pytest.warns(GrammeWarning, match="more classes than half of the labels"):
        assert len(known_labels(graph, [str(income) for income in incomes]).classes) == 60
    assert len(known_labels(graph, np.arange(60) // 2).classes) == 30  # codes of classes


@pytest.mark.parametrize(
    ("one", "other", "difference"),
    [
        ("1b", "1B", "case"),
        ("Caf\N{LATIN SMALL LETTER E WITH ACUTE}", "Cafe\N{COMBINING ACUTE ACCENT}", "invisible characters"),
        ("a", "a\N{ZERO WIDTH SPACE}", "invisible characters"),
        (7, "7", "type"),
    ],
)
def test_classes_that_look_alike_are_said(one, other, difference):
    with pytest.warns(GrammeWarning, match=f"the labels .* differ in .*{difference}.* alone and are two classes"):
        known_labels(GRAPH, [one, other, one, None])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        known_labels(GRAPH, [one, "b", one, None])


def ring(nodes=6):
    return MultilayerGraph({"a": EdgeLayer(nodes, range(nodes), [*range(1, nodes), 0])})


def test_minus_one_that_may_be_a_class_is_asked_about():
    with pytest.warns(GrammeWarning, match="-1 is taken to mean unknown, on 3 nodes"):
        assert aligned_labels(ring(), [-1, 0, 1, 0, -1, -1])[0] is None
    with pytest.raises(DataError, match="if -1 is a class, give the labels as text"):
        aligned_labels(ring(), [-1, 0, 1, 0, None, -1])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert aligned_labels(ring(), [-1, 0, 1, 2, 3, None]).tolist() == [None, 0, 1, 2, 3, None]


def test_blank_text_is_no_class():
    assert aligned_labels(ring(), ["", "a", " ", "b", "a", "b"]).tolist() == [None, "a", None, "b", "a", "b"]


@pytest.mark.parametrize("kind", [pd.array, pd.Series])
def test_whole_numbers_of_pandas_stay_whole(kind):
    labels = kind([1, 2, pd.NA, 1, 2, pd.NA], dtype="Int64")
    known = known_labels(ring(), labels)
    assert known.classes.tolist() == [1, 2]
    assert known.classes.dtype.kind == "i"


def test_balanced_weights_give_every_class_the_same_say():
    known = KnownLabels(np.arange(4), np.array([0, 0, 0, 1]), np.array(["a", "b"])).class_weighed("balanced")
    assert known.weights[:3].sum() == pytest.approx(known.weights[3])
    assert known.weights.mean() == pytest.approx(1)


def test_weights_by_class_are_relative_and_must_name_classes():
    known = KnownLabels(np.arange(4), np.array([0, 0, 0, 1]), np.array(["a", "b"]))
    assert known.sample_weight is None
    assert (known.class_weighed({"b": 2.5}).weights * 5.5 / 4).round(6).tolist() == [1, 1, 1, 2.5]
    with pytest.raises(DataError, match=r"names 'z', which is not a class; classes: \['a', 'b'\]"):
        known.class_weighed({"z": 1.0})


def test_weights_by_node_stay_with_their_labels():
    graph = planted()
    y = half_known(graph)
    weights = dict.fromkeys(graph.nodes, 1.0) | {graph.nodes[int(np.flatnonzero(y != None)[1])]: 3.0}  # noqa: E711
    known = known_labels(graph, y, weights)
    assert known.weights.argmax() == 1
    assert known.part(np.array([1, 2])).weights.tolist() == known.weights[1:3].tolist()
    assert known.without(np.arange(known.nodes.size) == 0).weights.argmax() == 0
    for wrong, said in ((-1.0, "at least 0"), (np.inf, "finite"), ("much", "must hold numbers")):
        with pytest.raises(DataError, match=said):
            known_labels(graph, y, {graph.nodes[0]: wrong})


def test_minus_one_among_negative_classes_is_refused():
    with pytest.raises(DataError, match=r"among the labels are -2 and -1, .*give the labels as text"):
        aligned_labels(ring(), [-2, -1, 0, 1, 2, None])
    assert aligned_labels(ring(), [-2, 0, 1, 2, None, None])[0] == -2


def test_empty_text_is_unknown_and_minus_one_as_text_is_said_to_be_a_class():
    assert aligned_labels(ring(), ["a", "", "b", "a", "", "b"]).tolist() == ["a", None, "b", "a", None, "b"]
    with pytest.warns(GrammeWarning, match="'-1' is text, so it is a class"):
        assert aligned_labels(ring(), ["0", "-1", "1", "0", "1", None])[1] == "-1"


def test_whole_numbers_with_missing_ones_stay_whole():
    known = known_labels(ring(), pd.Series([1, 2, None, 1, 2, None], dtype="Int64"))
    assert known.classes.dtype.kind == "i"


@pytest.mark.parametrize(
    "y", [[["a", "b"]] * 36, [{"a"}, *[None] * 35], np.zeros((36, 2)), pd.DataFrame({"a": [0] * 36, "b": [1] * 36})]
)
def test_several_labels_per_node_name_what_takes_them(y):
    with pytest.raises(DataError, match=r"gramme\.MultiLabelClassifier\(model\)"):
        known_labels(planted(), y)
