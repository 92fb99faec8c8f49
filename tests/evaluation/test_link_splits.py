"""Splits of links are the same for all methods and leak no edge in either direction."""

import numpy as np
from tests.links.graphs import planted_links

from gramme.evaluation.link_splits import layers_with_links, link_splits
from gramme.graph import EdgeLayer, MembershipLayer, MultilayerGraph


def test_splits_are_shared_and_hold_edges_out_in_both_directions():
    graph = planted_links()
    once, again = (list(link_splits(graph, "talk", 3)) for _ in range(2))
    for one, other in zip(once, again, strict=True):
        assert (one.linked == other.linked).all()
        for kind in ("uniform", "degree-matched"):
            assert (one.unlinked[kind] == other.unlinked[kind]).all()
        left = one.graph.layers["talk"].to_scipy()
        for pairs in (one.linked, one.linked[:, ::-1]):
            assert left[pairs[:, 0], pairs[:, 1]].sum() == 0
        whole = graph.layers["talk"].to_scipy()
        for pairs in one.unlinked.values():
            assert whole[pairs[:, 0], pairs[:, 1]].sum() == 0
    another = next(iter(link_splits(graph, "talk", 4)))
    assert not np.array_equal(once[0].linked, another.linked)


def test_an_edge_that_another_layer_repeats_stays_visible_there_as_the_protocol_says():
    base = planted_links()
    graph = MultilayerGraph({"talk": base.layers["talk"], "copy": base.layers["talk"]})
    split = next(iter(link_splits(graph, "talk", 0)))
    copy = split.graph.layers["copy"].to_scipy()
    assert copy[split.linked[:, 0], split.linked[:, 1]].all()


def test_only_layers_with_edges_are_asked_about():
    layers = {
        "two": EdgeLayer(3, [0, 1], [1, 2]),
        "one": EdgeLayer(3, [0], [1]),
        "groups": MembershipLayer.from_codes([0, 0, 0]),
    }
    assert layers_with_links(MultilayerGraph(layers)) == ["two"]
