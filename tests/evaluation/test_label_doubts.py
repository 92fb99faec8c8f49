import numpy as np

from gramme import datasets
from gramme.evaluation import cross_validate
from gramme.evaluation.label_doubts import label_doubts
from gramme.methods import OneHotLogistic


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
