from pathlib import Path

from gramme import datasets
from gramme.datasets.congress_votes import VOTES
from gramme.graph import MembershipLayer


def test_the_votes_are_named_as_in_their_description(gramme_data: Path):
    text = (gramme_data / "congress_votes" / "house-votes-84.names").read_text()
    places = [text.index(f"{number}. {vote}: 2 (y,n)") for number, vote in enumerate(VOTES, 2)]
    assert places == sorted(places)


def test_who_did_not_vote_is_absent(gramme_data: Path):
    graph = datasets.load("congress_votes")
    absent = [graph.num_nodes - layer.num_present for layer in graph.layers.values()]
    assert absent == [12, 48, 11, 11, 15, 11, 14, 15, 22, 7, 21, 31, 25, 17, 28, 104]


def test_the_leak_is_a_layer_equal_to_the_label(gramme_data: Path):
    graph = datasets.load("congress_votes_leaky")
    assert graph.layers["party"] == MembershipLayer.from_values(graph.labels)
    record = datasets.info("congress_votes_leaky")
    assert "WARNING" in record.description
    # The other reading of the count, a self loop for every member in every layer
    assert 2 * graph.num_edges + graph.num_layers * graph.num_nodes == 358_388
