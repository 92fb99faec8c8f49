import numpy as np
import pytest
import scipy.sparse as sp

from gramme.errors import DataError
from gramme.graph import EdgeLayer, MultilayerGraph
from gramme.methods import GrammeAuto, NeighbourhoodLogistic, OneHotLogistic
from gramme.methods.number_range import check_number_range

NODES = 12


def chain(*, weight=None, features=None):
    start = np.arange(NODES - 1)
    labels = ["xy"[node % 2] if node < 8 else None for node in range(NODES)]
    layer = EdgeLayer(NODES, start, start + 1, weight)
    return MultilayerGraph({"a": layer}, labels=labels, features=features)


def with_one(value):
    features = np.random.default_rng(0).normal(size=(NODES, 3))
    features[4, 2] = value
    return features


@pytest.mark.parametrize("weight", [5e-324, 1e300])
@pytest.mark.parametrize("kind", [GrammeAuto, OneHotLogistic, NeighbourhoodLogistic])
def test_weights_that_overflow_name_the_layer(kind, weight):
    with pytest.raises(DataError, match=r"the layer 'a' has a weight of .*; weights from 1e-100"):
        kind().fit(chain(weight=np.full(NODES - 1, weight), features=with_one(1.0)))


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("value", [1e300, -1e300])
def test_features_that_overflow_name_the_column(sparse, value):
    features = sp.csr_array(with_one(value)) if sparse else with_one(value)
    with pytest.raises(DataError, match=r"column 2 of node 4 is beyond 1e\+100; scale"):
        GrammeAuto().fit(chain(features=features))


def test_large_numbers_that_can_be_computed_with_pass():
    check_number_range(chain(weight=np.full(NODES - 1, 1e-99), features=with_one(1e99)))
    check_number_range(chain(features=sp.csr_array((NODES, 3))))
    found = OneHotLogistic().fit(chain(weight=np.full(NODES - 1, 1e-99))).predict_proba()
    assert np.isfinite(found).all()
