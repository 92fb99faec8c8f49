from pathlib import Path

import pytest
from tests.datasets.cases import check_complementary

from gramme import datasets
from gramme.datasets.recipes.uci import VOTES
from gramme.errors import DataError
from gramme.graph import MembershipLayer


def test_balance_scale_is_the_published_file(gramme_data: Path):
    graph = datasets.load("balance_scale")
    columns = []
    for layer in graph.layers.values():
        assert isinstance(layer, MembershipLayer)
        columns.append(layer.group_names[layer.codes()])
    rows = zip(graph.labels, *columns, strict=True)
    made = "".join(",".join(map(str, row)) + "\n" for row in rows)
    assert made == (gramme_data / "balance_scale" / "balance-scale.data").read_text()


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


def test_mammography_groups(gramme_data: Path):
    paper = datasets.load("mammography").layers["age"]
    plain = datasets.load("mammography", recipe="plain").layers["age"]
    assert isinstance(paper, MembershipLayer)
    assert isinstance(plain, MembershipLayer)
    assert sorted(plain.group_names) == ["18-33", "34-49", "50-65", "66-81", "82-97"]
    assert dict(zip(paper.group_names, paper.sizes, strict=True))["unknown"] == 5
    with pytest.raises(DataError, match="did you mean 'plain'"):
        datasets.load("mammography", recipe="plane")


def test_the_layers_complement_each_other():
    check_complementary("wine")


@pytest.mark.parametrize("bins", [1, 2, 100])
def test_any_number_of_bins(bins):
    graph = datasets.load("wine", bins=bins)
    assert graph.num_layers == 13
    for layer in graph.layers.values():
        assert isinstance(layer, MembershipLayer)
        assert layer.num_groups <= bins
        assert layer.holds_all_nodes


def test_no_bins_make_no_sense():
    with pytest.raises(DataError, match="bins"):
        datasets.load("wine", bins=0)


def test_digits_the_layers_complement_each_other():
    check_complementary("digits")


def test_every_image_has_its_neighbours_in_each_quarter():
    for layer in datasets.load("digits", neighbours=3).layers.values():
        assert layer.degrees().min() >= 3


def test_no_neighbours_make_no_sense():
    with pytest.raises(DataError, match="neighbours"):
        datasets.load("digits", neighbours=0)
