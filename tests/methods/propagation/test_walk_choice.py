from tests.methods.propagation.test_many_layers import NODES, graph

from gramme.graph import MembershipLayer, MultilayerGraph
from gramme.methods.propagation import many_layers as many
from gramme.methods.propagation.many_layers import ManyLayersWalk
from gramme.methods.propagation.series import NodeWalk
from gramme.methods.propagation.walk_choice import walk_of


def test_many_small_layers_of_edges_are_taken_together(monkeypatch):
    g = graph()
    assert isinstance(walk_of(g), ManyLayersWalk)
    few = g.select_layers(list(g.layers)[:10])
    assert isinstance(walk_of(few), NodeWalk)
    groups = MembershipLayer.from_values([1, 2] * (NODES // 2))
    assert not isinstance(walk_of(MultilayerGraph({**g.layers, "groups": groups})), ManyLayersWalk)
    monkeypatch.setattr(many, "FEW_ROWS", 0)
    monkeypatch.setattr(many, "MAX_ROWS_PER_NODE", 1)
    assert isinstance(walk_of(g), NodeWalk)
