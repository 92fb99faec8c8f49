"""The network of ranks and links: every node with its rank, the most probable links between the right nodes."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.browser import Page
from tests.report.page.graphs import HOSTILE, two_blocks, unpacked

from gramme.graph import MultilayerGraph
from gramme.ranking import layer_influences, rank
from gramme.report.page import plain_network as module
from gramme.report.page.plain_network import (
    linked_network,
    plain_network_section,
    ranked_network,
)
from gramme.report.page.rank_page import rank_data, render_rank


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


def test_links_join_the_right_nodes_in_the_layer_they_are_proposed_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
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
    path.write_text(render_rank(data), encoding="utf-8")
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
