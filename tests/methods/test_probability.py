"""Class probabilities from counts and scores."""

import numpy as np
from scipy import special

from gramme.methods.probability import class_prior, softmax


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
