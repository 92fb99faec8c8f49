"""What members say, added up: the mean, and out of fold."""

import numpy as np
import torch
from tests.methods.graphs import planted

from gramme.methods.attention.tally import Tally
from gramme.methods.labels import known_labels
from gramme.nn import Output

GRAPH = planted(6, ("no", "yes"))
KNOWN = known_labels(GRAPH, {"n0": "no", "n2": "yes", "n5": "no", "n1": "yes"})


def said(members, seed=0):
    scores = torch.randn(6, members, 2, generator=torch.Generator().manual_seed(seed))
    return Output(scores, torch.zeros(6, members, 1))


def test_the_mean_over_batches_is_the_mean_over_members():
    tally = Tally(GRAPH, KNOWN, 5)
    one, two = said(3), said(2, seed=1)
    tally.add(range(3), one)
    tally.add(range(3, 5), two)
    every = torch.cat([one.scores, two.scores], dim=1).double().softmax(-1)
    np.testing.assert_allclose(tally.mean(), every.mean(1).numpy())
    assert tally.seen.shape == (4, 5)
    assert tally.seen.all()
    assert (tally.unseen == 0).all()


def test_members_that_leave_out_a_fold_speak_of_it_alone():
    fold = np.array([0, 1, 0, 1])
    tally = Tally(GRAPH, KNOWN, 1, fold, copies=2)
    assert tally.seen.tolist() == [
        [True, False, False, True, True] if one == 0 else [True, True, True, False, False]
        for one in fold
    ]
    output = said(5)
    tally.add(range(5), output)
    found = output.scores.double().softmax(-1).numpy()
    for label, node in enumerate(KNOWN.nodes):
        blind = [1, 2] if fold[label] == 0 else [3, 4]
        np.testing.assert_allclose(tally.unseen[label], found[node, blind].mean(0))
