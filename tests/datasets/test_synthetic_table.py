import numpy as np
import pytest

from gramme import datasets
from gramme.errors import DataError
from gramme.graph import MembershipLayer


@pytest.mark.parametrize("groups", [3, 7, 30])
def test_a_column_of_full_signal_tells_the_class(groups):
    graph = datasets.load("synthetic_table", nodes=5000, groups=groups, signal=[1.0, 0.0])
    sure, _ = graph.layers.values()
    assert isinstance(sure, MembershipLayer)
    assert sure.num_groups == groups
    assert np.array_equal(sure.group_names[sure.codes()] % 3, graph.labels.astype(int))
    assert graph.summary()["homophily"].iloc[1] == pytest.approx(1 / 3, abs=0.01)


def test_a_table_needs_a_group_for_each_class():
    with pytest.raises(DataError, match="2 groups are too few for 3 classes"):
        datasets.load("synthetic_table", groups=2)
