import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn import metrics as sk

from gramme import datasets
from gramme.evaluation import accuracy_interval, cross_validate
from gramme.evaluation.metrics import MIN_PROBABILITY, Recall, calibration_error, label_doubts, score
from gramme.methods import OneHotLogistic


def drawn(nodes=200, classes=4, seed=0):
    random = np.random.default_rng(seed)
    return random.integers(classes, size=nodes), random.dirichlet(np.ones(classes), size=nodes)


def test_as_scikit_learn_where_all_classes_are_known():
    truth, probabilities = drawn()
    found = score(truth.tolist(), probabilities, list(range(4)))
    guess = probabilities.argmax(1)
    assert found.accuracy == pytest.approx(sk.accuracy_score(truth, guess))
    assert found.macro_f1 == pytest.approx(sk.f1_score(truth, guess, average="macro"))
    assert found.log_loss == pytest.approx(sk.log_loss(truth, probabilities))


def test_a_class_never_seen_counts_as_wrong():
    truth = ["a", "b", "new", "new"]
    found = score(truth, np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0], [0.0, 1.0]]), ["a", "b"])
    assert found.accuracy == 0.5
    assert found.macro_f1 == pytest.approx((2 / 3 + 2 / 3 + 0) / 3)
    assert found.log_loss == pytest.approx(-np.log(MIN_PROBABILITY) / 2)


def test_one_class_for_everybody():
    found = score(["a", "a", "b", "b"], np.ones((4, 1)), ["a"])
    assert found.accuracy == 0.5
    assert found.calibration_error == pytest.approx(0.5)


def test_calibration_error_by_hand_and_of_a_calibrated_method():
    confidence = np.array([0.61, 0.62, 0.95, 0.99])
    right = np.array([True, False, True, True])
    by_hand = (abs(1.23 - 1) + abs(1.94 - 2)) / 4
    assert calibration_error(confidence, right, bins=10) == pytest.approx(by_hand)
    random = np.random.default_rng(0)
    sure = random.uniform(0.5, 1, 50_000)
    assert calibration_error(sure, random.random(50_000) < sure) < 0.01
    assert calibration_error(np.ones(4), np.zeros(4, dtype=bool)) == 1.0


@pytest.mark.parametrize(("right", "total"), [(0, 5), (5, 5), (3, 7), (90, 100), (1, 1), (999, 1000)])
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_equals_scipys_wilson_interval(right: int, total: int, level: float) -> None:
    low, high = accuracy_interval(right, total, level)
    known = binomtest(right, total).proportion_ci(level, method="wilson")
    assert low == pytest.approx(known.low, abs=1e-12)
    assert high == pytest.approx(known.high, abs=1e-12)


def test_nothing_measured_says_nothing() -> None:
    assert accuracy_interval(0, 0) == (0.0, 1.0)


@pytest.mark.parametrize("total", [24, 24 / 1.51, 7.3])
def test_all_right_may_mean_always_right(total: float) -> None:
    """Rounding once left the bound at 1 - 1e-16, below the truth."""
    assert accuracy_interval(total, total)[1] == 1.0
    assert accuracy_interval(0, total)[0] == 0.0


def test_classes_without_tested_nodes_do_not_count():
    found = Recall.of(["a", "b", "c"], np.array([[8, 2, 0], [1, 3, 1], [0, 0, 0]]))
    assert found.classes == ["a", "b"]
    assert found.shares.tolist() == [0.8, 0.6]
    assert found.balanced_accuracy == pytest.approx(0.7)
    assert found.guess == ("a", 10 / 15)
    assert not found.unequal, "twice as many is not yet unequal"


@pytest.mark.parametrize(("right", "verdict"), [([50, 50], "better"), ([28, 25], "unclear"), ([50, 0], "no better")])
def test_the_verdict_on_equal_classes_is_by_accuracy(right: list[int], verdict: str):
    one = Recall(["a", "b"], np.array([50, 50]), np.array(right))
    accuracy = sum(right) / 100
    assert one.verdict(accuracy, (accuracy - 0.1, accuracy + 0.1)) == verdict


def test_the_interval_of_the_balanced_accuracy_covers_it_about_as_often_as_it_says():
    random = np.random.default_rng(0)
    sizes, shares = np.array([200, 20]), np.array([0.9, 0.6])
    inside = 0
    for _ in range(500):
        one = Recall(["a", "b"], sizes, random.binomial(sizes, shares))
        low, high = one.balanced_interval
        inside += low <= shares.mean() <= high
    assert 0.92 <= inside / 500 <= 0.985
    assert Recall(["a", "b"], np.array([9, 9]), np.array([9, 9])).balanced_interval[1] == 1


def test_a_doubt_must_reach_the_mean_that_members_of_the_class_get():
    shares = np.array([[0.9, 0.1], [0.7, 0.3], [0.2, 0.8], [0.4, 0.6], [0.25, 0.75], [0.35, 0.65]])
    found = label_doubts(["a", "a", "b", "b", "a", "a"], ["a", "b"], shares)
    assert found.thresholds.tolist() == [0.55, 0.7]
    assert found.doubtful.tolist() == [False, False, False, False, True, False]


def test_a_class_nobody_is_labelled_with_is_never_suggested():
    found = label_doubts(["a", "z"], ["a", "b"], np.array([[0.1, 0.9], [0.8, 0.2]]))
    assert np.isnan(found.thresholds[1])
    assert found.doubtful.tolist() == [False, True], "z is not a class the model knows, a is"
    assert label_doubts([], ["a"], np.zeros((0, 1))).doubtful.size == 0


def suspects(graph, labels) -> tuple[set[int], int]:
    """Positions of the labels in doubt, and how many were predicted wrongly."""
    estimate = cross_validate(OneHotLogistic(C=1.0, random_state=0), graph, labels, folds=5)
    pairs = zip(estimate.labels, estimate.predicted, strict=True)
    found = estimate.tested[estimate.doubts().doubtful]
    return set(found.tolist()), sum(known != guess for known, guess in pairs)


def test_labels_that_were_changed_are_found_and_right_ones_are_not_doubted():
    graph = datasets.load("balance_scale")
    found, errors = suspects(graph, graph.labels)
    assert errors > 30
    assert not found, "these labels follow an exact rule; errors of the model are not doubts"
    labels = graph.labels.copy()
    changed = np.random.default_rng(0).permutation(np.flatnonzero(labels != "B"))[:20]
    labels[changed] = np.where(labels[changed] == "L", "R", "L")
    found, _ = suspects(graph, labels)
    assert len(found) >= 10
    assert found <= set(changed.tolist())


@pytest.mark.parametrize("bins", [5, 10, 15])
def test_calibration_error_has_so_many_bins_of_equal_width(bins):
    # Two predictions near the ends of each bin: fewer bins join neighbours, more bins tear one apart.
    start = np.arange(bins) / bins
    low, high = start + 0.05 / bins, start + 0.95 / bins
    # every other bin is right both times, the last among them, so that joined neighbours make up for each other
    right = np.arange(bins) % 2 == (bins - 1) % 2
    by_hand = np.abs(low + high - 2 * right).sum() / (2 * bins)
    found = calibration_error(np.append(low, high), np.append(right, right), bins=bins)
    assert found == pytest.approx(by_hand)
