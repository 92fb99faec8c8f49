"""Both views of HeCo's graphs: the relations imply the stored meta-path edges, pair for pair."""

import numpy as np
import pytest

from gramme import datasets
from gramme.errors import DataError


@pytest.mark.parametrize(
    ("name", "layer", "meta_path"),
    [
        ("dblp_heco", "paper", "APA"),
        ("dblp_heco", "venue", "APCPA"),
        ("acm_heco", "author", "PAP"),
        ("acm_heco", "subject", "PSP"),
    ],
)
def test_the_relations_imply_the_stored_edges(gramme_data, name, layer, meta_path):
    implied = datasets.load(name, view="relations").layers[layer].to_edges()
    stored = datasets.load(name).layers[meta_path]
    assert np.array_equal(implied.source, stored.source)
    assert np.array_equal(implied.target, stored.target)


def test_another_view(gramme_data):
    with pytest.raises(DataError, match="view must be 'edges' or 'relations', not 'both'"):
        datasets.load("acm_heco", view="both")
