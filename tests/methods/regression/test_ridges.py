"""Ridge regressions: features are columns, groups are known by name, and other columns are refused."""

import numpy as np
import pytest

from gramme.errors import DataError
from gramme.graph import EdgeLayer, MembershipLayer, MultilayerGraph
from gramme.methods.regression.base import KnownNumbers
from gramme.methods.regression.ridges import GroupsRidge, WalksRidge


def test_features_are_columns_too() -> None:
    features = np.random.default_rng(0).normal(5, 3, size=(60, 1))
    graph = MultilayerGraph({"a": EdgeLayer(60, [0], [1])}, features=features)
    known = KnownNumbers(np.arange(30), 4 * features[:30, 0])
    model = GroupsRidge(penalty=0.1).fit(graph, known)
    assert np.allclose(model.predict(), 4 * features[:, 0], atol=0.3)
    assert np.allclose(model.predict(graph.subgraph(graph.nodes[40:])), model.predict()[40:])
    with pytest.raises(DataError, match="needs 1 features per node; the graph has 0"):
        model.predict(graph.replace(features=None))


def test_groups_are_known_by_their_names() -> None:
    kinds = np.array(list("abcd"))
    codes = np.arange(40) % 4
    graph = MultilayerGraph({"kind": MembershipLayer.from_codes(codes, kinds)})
    known = KnownNumbers(np.arange(20), codes[:20] * 10.0)
    model = GroupsRidge(penalty=0.1).fit(graph, known)
    other = MultilayerGraph({"kind": MembershipLayer.from_codes([0, 1, 2], ["d", "a", "new"])})
    found = model.predict(other)
    assert found[0] == pytest.approx(30, abs=1)
    assert found[1] == pytest.approx(0, abs=1)
    assert 10 < found[2] < 20


def test_walks_tell_components_apart() -> None:
    edges = [(i, i + 1) for i in range(39) if i != 19]
    graph = MultilayerGraph({"a": EdgeLayer(40, *np.array(edges).T)})
    truth = np.where(np.arange(40) < 20, 1.0, 9.0)
    known = KnownNumbers(np.arange(0, 40, 4), truth[::4])
    found = WalksRidge(penalty=3.0).fit(graph, known).predict()
    assert np.corrcoef(found, truth)[0, 1] > 0.9
