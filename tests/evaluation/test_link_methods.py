"""Every way to score pairs gives a number per pair, and better ones to pairs that are held out."""

import numpy as np
import pytest
from tests.links.graphs import planted_links
from tests.links.short import short_fits

from gramme.errors import DataError
from gramme.evaluation.link_methods import DEFAULT_LINK_METHODS, LINK_METHODS, link_method
from gramme.evaluation.link_splits import link_splits
from gramme.links import column_names
from gramme.links.reasons import roc_auc


@pytest.mark.parametrize("name", DEFAULT_LINK_METHODS)
def test_held_out_links_score_higher(name):
    split = next(iter(link_splits(planted_links(60), "talk", 0)))
    pairs = np.concatenate([split.linked, split.unlinked["uniform"]])
    with short_fits():
        scores = link_method(name).score(split.graph, "talk", pairs, 0)
    linked = np.arange(len(pairs)) < len(split.linked)
    assert scores.shape == (len(pairs),)
    assert np.isfinite(scores).all()
    # degrees say nothing in this graph, where groups decide
    if name != "own-attachment":
        assert roc_auc(linked, scores) > (0.8 if link_method(name).probabilities else 0.5)


def test_every_ingredient_is_a_method_and_a_mistyped_one_is_named():
    for column in column_names():
        assert column.replace("_", "-") in LINK_METHODS
    with pytest.raises(DataError, match="did you mean 'gramme-links'"):
        link_method("gramme-link")
