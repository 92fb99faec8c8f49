"""Out-of-fold predictions: a label reaches no prediction made of it, and folds that lose a class still predict."""

import numpy as np
from tests.methods.graphs import half_known, planted

from gramme.methods import GrammeFusion, LabelPropagation, OneHotLogistic
from gramme.methods.labels import known_labels

GRAPH = planted()
Y = half_known(GRAPH)


def test_labels_a_fold_leaves_out_do_not_reach_its_prediction():
    """Changing the label of one node changes nothing of what is said about it out of its fold."""
    known = known_labels(GRAPH, Y)
    fold = np.arange(known.nodes.size) % 3
    changed = Y.copy()
    place = 4
    node = known.nodes[place]
    changed[node] = next(c for c in "abc" if c != Y[node])
    other = known_labels(GRAPH, changed)
    for kind, settings in ((GrammeFusion, {"ensemble": 1, "epochs": 10}), (LabelPropagation, {})):
        first = kind(random_state=0, **settings).fit_with_folds(GRAPH, known, fold)
        second = kind(random_state=0, **settings).fit_with_folds(GRAPH, other, fold)
        np.testing.assert_array_equal(first[place], second[place])
        assert (first != second).any(), "others do depend on it"


def test_a_fold_that_takes_the_last_label_of_a_class_leaves_it_no_chance():
    known = known_labels(GRAPH, {"n0": "a", "n1": "b", "n2": "b", "n3": "c", "n4": "c"})
    fold = np.array([0, 1, 0, 1, 1])
    found = OneHotLogistic(random_state=0).fit_with_folds(GRAPH, known, fold)
    assert found.shape == (5, 3)
    assert (found[fold == 0, 0] == 0).all()  # without the first fold nobody knows of class a
    np.testing.assert_allclose(found.sum(axis=1), 1, rtol=1e-5)


def test_where_one_class_is_left_its_frequencies_are_given():
    known = known_labels(GRAPH, {"n0": "a", "n1": "b"})
    found = LabelPropagation(random_state=0).fit_with_folds(GRAPH, known, np.array([0, 1]))
    np.testing.assert_allclose(found, [[0.25, 0.75], [0.75, 0.25]])
