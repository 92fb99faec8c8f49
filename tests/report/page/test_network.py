"""What a page draws of the network: all of it where that is little, an honest sample where it is not."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.browser import Page
from tests.report.page.graphs import HOSTILE, hostile_graph, section, two_blocks, unpacked

from gramme.graph import Coupling, EdgeLayer, MembershipLayer, MultilayerGraph
from gramme.graph.layout import node_positions
from gramme.ranking import layer_influences, rank
from gramme.report.page import network as drawing
from gramme.report.page import network as module
from gramme.report.page.html import render
from gramme.report.page.network import linked_network, network, ranked_network
from gramme.report.page.rank_page import rank_data

network_section, plain_network_section = section("common", "network"), section("common", "picture")


def drawn_told(drawn: dict, total: int) -> list[str]:
    return re.findall(r'<p class="note">(.*?)</p>', section("common", "drawn_told")(drawn, total))


def everyone(graph: MultilayerGraph) -> np.ndarray:
    return np.arange(graph.num_nodes)


def test_all_edges_and_the_places_of_the_layout_are_there() -> None:
    graph = two_blocks()
    found = network(graph, everyone(graph), ["friends", "answer", "clubs"])
    places = np.column_stack([unpacked(found["x"]), unpacked(found["y"])]) / 65535
    assert places == pytest.approx(node_positions(graph), abs=1e-5)
    friends, answer, clubs = found["layers"]
    edges = graph.layers["friends"]
    assert np.array_equal(unpacked(friends["source"]), edges.source)
    assert np.array_equal(unpacked(friends["target"]), edges.target)
    assert np.array_equal(unpacked(friends["degree"]), edges.degrees())
    assert friends["directed"]
    assert answer["member_lots"] == 60
    assert found["lots"] is None, "all lines are drawn"
    inside = graph.layers["clubs"].incidence()
    assert np.array_equal(unpacked(clubs["groups"]), inside.indices)
    assert unpacked(clubs["sizes"]).sum() == inside.nnz
    assert drawn_told(found, 60) == []


def test_of_many_edges_a_sample_is_drawn_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drawing, "MAX_DRAWN_EDGES", 60)
    monkeypatch.setattr(drawing, "MAX_DRAWN_MEMBERSHIPS", 40)
    graph = two_blocks()
    ring = EdgeLayer(60, np.arange(10), np.arange(1, 11))
    graph = graph.replace(layers={**graph.layers, "ring": ring})
    found = network(graph, everyone(graph), list(graph.layers))
    drawn = {layer["name"]: layer["drawn"] for layer in found["layers"]}
    assert drawn == {"answer": 0, "clubs": 0, "friends": 50, "ring": 10}
    friends = found["layers"][2]
    pairs = set(zip(unpacked(friends["source"]), unpacked(friends["target"]), strict=True))
    edges = graph.layers["friends"]
    assert len(pairs) == 50
    assert pairs <= set(zip(edges.source.tolist(), edges.target.tolist(), strict=True))
    total = edges.num_edges + 10
    clubs = graph.layers["clubs"].num_memberships
    assert np.sort(unpacked(found["lots"])).tolist() == list(range(60))
    lots = {layer["name"]: layer.get("member_lots") for layer in found["layers"]}
    assert lots == {"answer": 20, "clubs": 60 * 20 // clubs, "friends": None, "ring": None}
    told = drawn_told(found, 60)
    assert f"60 of {total:,} edges" in told[0]
    assert "50 from each layer that has more" in told[0]
    assert f"(of 60 nodes: answer 20; clubs {lots['clubs']})" in told[1]
    assert all(line in network_section(found, 60, False) for line in told)


def test_a_sample_of_nodes_has_the_edges_among_them() -> None:
    graph = two_blocks()
    chosen = np.arange(0, 60, 2)
    found = network(graph, chosen, ["friends"])
    part = graph.layers["friends"].subset(chosen)
    assert found["layers"][0]["edges"] == part.num_edges
    assert np.array_equal(unpacked(found["layers"][0]["source"]), part.source)
    assert unpacked(found["x"]).size == 30
    assert drawn_told(found, 60)[0] == ("The pictures show 30 of 60 nodes, and what joins these to each other.")


def test_couplings_are_drawn_and_groups_that_stand_elsewhere_are_not_repeated() -> None:
    nodes = np.arange(6)
    layers = {
        "power": EdgeLayer(6, [0, 1], [1, 2]),
        "room": MembershipLayer.from_codes(nodes % 2),
        "routers": EdgeLayer(6, [3, 4], [4, 5]),
    }
    couplings = {("power", "routers"): Coupling(6, [0, 1], [3, 4])}
    graph = MultilayerGraph(layers, couplings=couplings)
    names = ["power", "room", "power~routers"]
    found = network(graph, nodes, list(layers), held=names)
    assert [layer["name"] for layer in found["layers"]] == names
    assert [layer["coupling"] for layer in found["layers"]] == [False, False, True]
    assert unpacked(found["layers"][2]["target"]).tolist() == [3, 4]
    assert "groups" not in found["layers"][1]
    assert drawn_told(found, 6) == ["Drawn are the 3 most important layers; 1 other counts for the places only."]
    assert "Dashed lines join two layers." in network_section(found, 6, False)


def test_names_of_layers_stay_text() -> None:
    graph = hostile_graph()
    text = network_section(network(graph, everyone(graph), list(graph.layers)), 18, False)
    assert "<script" not in text
    assert "<img" not in text
    assert "&lt;script&gt;window.__pwned = 1" in text
    assert HOSTILE[0] not in text


@pytest.mark.parametrize("count", [1, 2])
def test_hardly_anything_is_a_network_too(count: int) -> None:
    layers = {"none": EdgeLayer(count, [], []), "groups": MembershipLayer(count, [], [])}
    graph = MultilayerGraph(layers, num_nodes=count)
    found = network(graph, everyone(graph), list(layers))
    assert [layer["edges"] for layer in found["layers"]] == [0, 0]
    assert unpacked(found["x"]).size == count


def proposals(graph: MultilayerGraph, count: int) -> pd.DataFrame:
    places = np.arange(count)
    return pd.DataFrame(
        {
            "layer": np.where(places % 3, "friends", "clubs"),
            "source": graph.nodes[places],
            "target": graph.nodes[(places + 7) % graph.num_nodes],
        }
    )


def test_every_node_has_its_ranks_and_its_place_in_the_order() -> None:
    graph = two_blocks()
    order = np.random.default_rng(0).permutation(60)
    ranks = np.empty(60, dtype=np.int64)
    ranks[order] = np.arange(1, 61)
    found = ranked_network(graph, order, {"pagerank": ranks})
    assert found["names"] == list(graph.nodes)
    assert np.array_equal(unpacked(found["order"]), ranks - 1)
    assert np.array_equal(unpacked(found["ranks"]["pagerank"]), ranks)


def test_of_many_nodes_those_that_matter_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_PLAIN_NODES", 20)
    graph = two_blocks()
    order = np.arange(60)[::-1]
    found = ranked_network(graph, order, {"degree": np.arange(60, 0, -1)})
    assert len(found["names"]) == 20
    assert {f"node {place}" for place in range(50, 60)} <= set(found["names"])
    assert np.sort(unpacked(found["order"])).tolist() == list(range(20))
    text = plain_network_section({"picture": found, "nodes": 60})
    assert "The pictures show 20 of 60 nodes" in text


def test_links_join_the_right_nodes_in_the_layer_they_are_proposed_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_PROPOSED", 9)
    graph = two_blocks()
    links = proposals(graph, 30)
    found = linked_network(graph, links)
    layers = found["network"]["layers"]
    extra = [layer for layer in layers if layer.get("proposed")]
    assert {layer["name"]: layer["drawn"] for layer in extra} == {"clubs": 3, "friends": 6}
    pairs = {
        (layer["name"], found["names"][one], found["names"][other])
        for layer in extra
        for one, other in zip(unpacked(layer["source"]), unpacked(layer["target"]), strict=True)
    }
    assert pairs == set(links.head(9).itertuples(index=False, name=None))
    assert unpacked(found["ends"]).sum() == 18
    text = plain_network_section({"picture": found, "nodes": 60})
    assert "the 9 most probable of 30 proposed links" in text
    assert "others count" not in text
    assert text.count("<option") == 1 + graph.num_layers


def test_without_links_or_on_an_older_page_nothing_breaks() -> None:
    graph = two_blocks()
    found = linked_network(graph, proposals(graph, 0))
    assert unpacked(found["ends"]).tolist() == [0] * 60
    assert "the 0 proposed links" in plain_network_section({"picture": found, "nodes": 60})
    assert plain_network_section({}) == ""


@pytest.mark.browser
def test_the_page_of_ranks_draws_points_by_rank(tab: Page, tmp_path: Path) -> None:
    graph = two_blocks().replace(nodes=[*HOSTILE, *(f"node {place}" for place in range(42))])
    ranks = rank(graph, ["degree", "pagerank"])
    data = rank_data(graph, ranks, seeds=None, layers=layer_influences(graph), config={})
    path = tmp_path / "a.html"
    path.write_text(render(data), encoding="utf-8")
    page = tab.open(path)
    options = "[...document.querySelectorAll('#network-size option')].map(e => e.text)"
    assert page.evaluate(options) == ["neighbours", "degree", "pagerank", "all alike"]
    page.type("#network-search", "node 41")
    page.key("Enter")
    place = ranks.index.get_loc("node 41")
    assert f"degree rank {ranks['degree_rank'].iloc[place]}" in page.text("#network-chosen")
    page.choose("#network-layer", "0")
    assert page.evaluate("typeof window.__pwned") == "undefined"
    assert page.console == []
