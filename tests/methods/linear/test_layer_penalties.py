"""A penalty for each layer, learned from the labels."""

import numpy as np
import pytest
import scipy.sparse as sp

from gramme.methods.linear import layer_penalties
from gramme.methods.linear.layer_penalties import learned_scales


def one_hot(codes) -> sp.csr_array:
    codes = np.asarray(codes)
    return sp.csr_array(np.eye(codes.max() + 1)[codes])


def drawn(layers: int, rows: int, groups: int = 4, classes: int = 2, seed: int = 0):
    """Layers of random groups, and classes that the first of them decides but for one in ten."""
    rng = np.random.default_rng(seed)
    groups_of = rng.integers(groups, size=(layers, rows))
    codes = np.where(
        rng.random(rows) < 0.9, groups_of[0] % classes, rng.integers(classes, size=rows)
    )
    return [one_hot(one) for one in groups_of], codes


@pytest.mark.parametrize("classes", [2, 3])
def test_the_layer_that_tells_stands_out(classes):
    layers, codes = drawn(8, 60, groups=6, classes=classes)
    scales = learned_scales(layers, codes, 0, 200)
    assert scales[0] > 1.3 * scales[1:].max()


def test_layers_that_tell_alike_stay_nearly_alike():
    rng = np.random.default_rng(0)
    groups = rng.integers(5, size=(4, 200))
    codes = (groups.sum(axis=0) > 8).astype(int)
    scales = learned_scales([one_hot(one) for one in groups], codes, 0, 200)
    assert scales.max() < 1.5 * scales.min()


@pytest.mark.parametrize(
    ("rows", "groups"), [(40, 3), (20, 15)]
)  # more rows than columns, and fewer
@pytest.mark.parametrize("classes", [2, 3])
def test_what_is_left_of_the_variance_is_that_of_the_coefficients(
    monkeypatch, rows, groups, classes
):
    layers, _ = drawn(2, rows, groups)
    rng = np.random.default_rng(1)
    chances = rng.dirichlet(np.ones(classes), size=rows)
    variances = np.array([0.5, 3.0])
    counts = np.array([layer.shape[1] for layer in layers])
    table = layer_penalties.scaled_columns(layers, np.sqrt(variances))
    monkeypatch.setattr(layer_penalties, "CHUNK_COLUMNS", 4)
    left, directions = layer_penalties._posterior(table, counts, chances)
    assert directions == (1 if classes == 2 else 3)
    # the long way: the inverse of the second derivatives by the coefficients and an intercept without penalty
    whole = np.column_stack([table.toarray(), np.ones(rows)])
    expected = np.zeros(2)
    for number in range(directions):
        curvature = chances[:, number] * (1 - chances[:, number])
        penalty = np.diag([1.0] * counts.sum() + [0.0])
        inverse = np.linalg.inv(penalty + whole.T @ (curvature[:, None] * whole))
        one = np.diag(inverse)[:-1]
        expected += [one[: counts[0]].sum(), one[counts[0] :].sum()]
    np.testing.assert_allclose(left, expected, rtol=1e-8)


def test_nothing_to_learn_from():
    some = one_hot([0, 1, 0, 1])
    empty = sp.csr_array((4, 0))
    assert learned_scales([some, some], np.zeros(4, int), 0, 50).tolist() == [1, 1]
    assert learned_scales([empty], np.array([0, 1, 0, 1]), 0, 50).tolist() == [1]
    scales = learned_scales([some, empty], np.array([0, 1, 0, 1]), 0, 50)
    assert np.isfinite(scales).all()


@pytest.mark.parametrize("weight", [1e-200, 1e-9, 1e9, 1e14, 1e200])
def test_the_unit_of_the_weights_does_not_matter(weight):
    layers, codes = drawn(3, 40)
    expected = learned_scales(layers, codes, 0, 100)
    found = learned_scales([layers[0] * weight, *layers[1:]], codes, 0, 100)
    np.testing.assert_allclose(found * [weight, 1, 1], expected, rtol=1e-6)


def test_a_class_that_nobody_has_changes_nothing():
    layers, codes = drawn(4, 60, classes=3)
    some = codes != 1
    layers = [sp.csr_array(layer[some]) for layer in layers]
    without = np.where(codes[some] == 2, 1, 0)
    np.testing.assert_array_equal(
        learned_scales(layers, codes[some], 0, 100), learned_scales(layers, without, 0, 100)
    )


def test_many_labels_are_sampled(monkeypatch):
    layers, codes = drawn(3, 400)
    monkeypatch.setattr(layer_penalties, "MAX_LABELS", 100)
    first = learned_scales(layers, codes, 5, 100)
    assert first[0] > first[1:].max()
    np.testing.assert_array_equal(first, learned_scales(layers, codes, 5, 100))
    assert (first != learned_scales(layers, codes, 6, 100)).any()
