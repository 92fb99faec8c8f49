import base64
from typing import Any

import numpy as np
import pytest
from tests.report.page.graphs import two_blocks

from gramme.graph import EdgeLayer, MultilayerGraph
from gramme.methods import GrammeFusion, LabelPropagation
from gramme.report.page import neighbours
from gramme.report.page.neighbours import neighbourhoods

TYPES = {"u8": "<u1", "u16": "<u2", "u32": "<u4", "f32": "<f4"}


def unpack(packed: dict[str, Any]) -> np.ndarray:
    return np.frombuffer(base64.b64decode(packed["data"]), dtype=TYPES[packed["type"]])


@pytest.fixture(scope="module")
def graph() -> MultilayerGraph:
    return two_blocks()


@pytest.fixture(scope="module")
def model(graph) -> GrammeFusion:
    return GrammeFusion(ensemble=2, epochs=20, random_state=0, progress=False).fit(graph)


def test_shares_over_edges_equal_their_definition(model, graph) -> None:
    (record,) = neighbourhoods(model, graph, np.arange(60), ["friends"])
    heard = model.node_attention("friends").to_numpy()
    counts, others = unpack(record["counts"]), unpack(record["neighbours"])
    shares, own = unpack(record["shares"]) / 65535, unpack(record["self"]) / 65535
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(int)
    for node in range(60):
        found, weights = graph.layers["friends"].neighbours(node)
        total = heard[node] + (weights * heard[found]).sum()
        expected = dict(zip(found.tolist(), weights * heard[found] / total, strict=True))
        rows = slice(starts[node], starts[node + 1])
        assert dict(zip(others[rows].tolist(), shares[rows], strict=True)) == pytest.approx(
            expected, abs=2e-5
        )
        assert np.all(np.diff(shares[rows]) <= 0)
        assert own[node] == pytest.approx(heard[node] / total, abs=2e-5)


def test_groups_keep_members_sizes_and_sums(model, graph) -> None:
    (record,) = neighbourhoods(model, graph, np.arange(60), ["clubs"])
    layer = graph.layers["clubs"]
    assert unpack(record["groups"]).tolist() == layer.group.tolist()
    assert unpack(record["counts"]).tolist() == layer.groups_per_node.tolist()
    assert record["names"] == [str(one) for one in layer.group_names]
    heard = model.node_attention("clubs").to_numpy()
    expected = [heard[members].sum() for members in layer.members()]
    assert unpack(record["sums"]).tolist() == pytest.approx(expected, rel=1e-5)


def test_a_sample_lists_only_nodes_on_the_page_but_counts_all(model, graph) -> None:
    chosen = np.arange(0, 60, 3)
    edges, groups = neighbourhoods(model, graph, chosen, ["friends", "clubs"])
    assert unpack(edges["neighbours"]).max() < chosen.size
    assert unpack(edges["degree"]).tolist() == graph.layers["friends"].degrees()[chosen].tolist()
    assert unpack(groups["sizes"]).sum() == graph.layers["clubs"].num_memberships


def test_methods_without_attention_list_neighbours_without_shares(graph) -> None:
    model = LabelPropagation().fit(graph)
    friends, clubs = neighbourhoods(model, graph, np.arange(60), ["friends", "clubs"])
    assert friends["shares"] is None
    assert clubs["attention"] is None
    assert unpack(friends["neighbours"]).size == graph.layers["friends"].num_edges


def test_a_page_holds_only_so_many_layers_and_neighbours(model, graph, monkeypatch) -> None:
    monkeypatch.setattr(neighbours, "MAX_NODE_LAYERS", 120)
    monkeypatch.setattr(neighbours, "_MAX_NEIGHBOUR_ENTRIES", 0)
    found = neighbourhoods(model, graph, np.arange(60), ["friends", "answer", "clubs"])
    assert [one["name"] for one in found] == ["friends", "answer"]
    assert unpack(found[0]["counts"]).max() <= 3


def test_attention_is_left_out_where_it_would_take_too_long(model, graph, monkeypatch) -> None:
    monkeypatch.setattr(neighbours, "_ATTENTION_WORK", 100)
    (record,) = neighbourhoods(model, graph, np.arange(60), ["friends"])
    assert record["left_out"]
    assert record["attention"] is record["shares"] is None


def test_edges_are_coloured_by_their_parts_or_by_degree() -> None:
    apart = EdgeLayer(9, [0, 1, 3, 4, 6], [1, 2, 4, 5, 7])
    whole = EdgeLayer(9, range(8), range(1, 9))
    graph = MultilayerGraph({"apart": apart, "whole": whole}, labels=["a", "b", *[None] * 7])
    model = LabelPropagation().fit(graph)
    first, second = neighbourhoods(model, graph, np.arange(9), ["apart", "whole"])
    assert first["colour"]["what"] == "connected parts"
    assert unpack(first["colour"]["codes"]).tolist() == [1, 1, 1, 2, 2, 2, 3, 3, 0]
    assert second["colour"]["what"] == "number of neighbours"
    assert unpack(second["colour"]["codes"]).tolist() == [1, 2, 2, 2, 2, 2, 2, 2, 1]
