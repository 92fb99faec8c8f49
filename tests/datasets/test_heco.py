"""Both views of HeCo's graphs: the relations imply the stored meta-path edges, pair for pair."""

import numpy as np
import pytest

from gramme import datasets
from gramme.errors import DataError


@pytest.mark.parametrize(
    ("name", "meta_paths"),
    [
        ("dblp_heco", {"paper": "APA", "venue": "APCPA"}),
        ("acm_heco", {"author": "PAP", "subject": "PSP"}),
    ],
)
def test_the_relations_imply_the_stored_edges(gramme_data, name, meta_paths):
    relations, edges = datasets.load(name, view="relations"), datasets.load(name)
    assert relations.labels.tolist() == edges.labels.tolist()
    for layer, meta_path in meta_paths.items():
        implied, stored = relations.layers[layer].to_edges(), edges.layers[meta_path]
        assert np.array_equal(implied.source, stored.source)
        assert np.array_equal(implied.target, stored.target)


def test_another_view(gramme_data):
    with pytest.raises(DataError, match="view must be 'edges' or 'relations', not 'both'"):
        datasets.load("acm_heco", view="both")
