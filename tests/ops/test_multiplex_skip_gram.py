"""The compiled training against the same updates written with numpy."""

import numpy as np
import pytest

from gramme.graph import MembershipLayer
from gramme.ops import multiplex_skip_gram as kernel
from gramme.ops.alias import drawn
from gramme.ops.counter_random import below, derived_seed, start
from gramme.ops.walks import Walks

LAYER = MembershipLayer.from_codes([0] * 5 + [1] * 5 + [-1], range(2), nodes=np.ones(11, bool))
HOW = {"window": 2, "epochs": 3, "negative": 2, "seed": 4}


def walked():
    passes = [Walks.of([LAYER], length=6).one_pass(number) for number in range(5)]
    return np.concatenate([one for one, _ in passes]), np.concatenate([two for _, two in passes])


def parameters(seed=0):
    random = np.random.default_rng(seed)
    shapes = ((11, 8), (11, 3), (3, 8), (11, 8))
    return [random.normal(size=shape).astype(np.float32) / 4 for shape in shapes]


def reference(walks, lengths, common, added, matrix, context, *, window, epochs, negative, seed):
    """b + u X by the book, in float64."""
    accept, alias = kernel._noise(walks, len(common))
    stream = np.zeros(1, np.uint64)
    for epoch in range(epochs):
        for number, (walk, length) in enumerate(zip(walks, lengths, strict=True)):
            start(stream, derived_seed(seed), epoch, number)
            progress = (epoch * len(walks) + number) / (epochs * len(walks))
            rate = max(0.0001, 0.025 - (0.025 - 0.0001) * progress)
            for place in range(length):
                reach = window - below(stream, window)
                node = walk[place]
                for near in range(max(0, place - reach), min(length, place + reach + 1)):
                    if near == place:
                        continue
                    vector = common[node] + (added[node] @ matrix if len(matrix) else 0)
                    change = np.zeros_like(vector)
                    for turn in range(negative + 1):
                        other = (
                            walk[near]
                            if turn == 0
                            else drawn(accept, alias, 0, len(common), stream)
                        )
                        if turn and other == walk[near]:
                            continue
                        step = rate * ((turn == 0) - 1 / (1 + np.exp(-vector @ context[other])))
                        change += step * context[other]
                        context[other] += step * vector
                    if len(matrix):
                        before = added[node].copy()
                        added[node] += matrix @ change
                        matrix += np.outer(before, change)
                    else:
                        common[node] += change


def test_common_vectors_equal_the_reference():
    walks, lengths = walked()
    common, _, _, context = parameters()
    slow = [common.astype(float), np.zeros((11, 0)), np.zeros((0, 8)), context.astype(float)]
    reference(walks, lengths, *slow, **HOW)
    kernel.train_common(walks, lengths, common, context, **HOW)
    np.testing.assert_allclose(common, slow[0], atol=1e-5)
    np.testing.assert_allclose(context, slow[3], atol=1e-5)


def test_a_layers_part_equals_the_reference_and_leaves_the_common_part():
    walks, lengths = walked()
    fast, slow = parameters(), [array.astype(float) for array in parameters()]
    reference(walks, lengths, *slow, **HOW)
    kernel.train_layer(walks, lengths, *fast, **HOW)
    for mine, theirs in zip(fast, slow, strict=True):
        np.testing.assert_allclose(mine, theirs, atol=1e-5)
    assert (fast[0] == parameters()[0]).all()


def test_same_seed_same_bits_and_no_walks_no_change():
    walks, lengths = walked()
    first, second = parameters(), parameters()
    for one in (first, second):
        kernel.train_layer(walks, lengths, *one, **HOW)
    assert all(a.tobytes() == b.tobytes() for a, b in zip(first, second, strict=True))
    untouched = parameters()
    kernel.train_layer(walks[:0], lengths[:0], *untouched, **HOW)
    assert all((a == b).all() for a, b in zip(untouched, parameters(), strict=True))


def test_the_matrix_stays_bounded():
    walks, lengths = walked()
    common, added, matrix, context = parameters()
    matrix *= 1e5
    kernel.train_layer(walks, lengths, common * 0, added * 0, matrix, context * 0, **HOW)
    assert np.linalg.norm(matrix) == pytest.approx(1000, rel=1e-3)
