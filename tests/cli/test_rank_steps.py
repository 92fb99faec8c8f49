import pytest

from gramme.cli import rank_steps
from gramme.cli.rank_steps import check_request, words
from gramme.errors import DataError
from gramme.graph import EdgeLayer, MembershipLayer, MultilayerGraph


def test_words():
    assert words(None) is None
    assert words(" degree, katz,, ") == ["degree", "katz"]


def test_mistakes_are_told_before_anything_is_read(tmp_path):
    with pytest.raises(DataError, match="did you mean 'degree'"):
        check_request(tmp_path / "new", "degre", overwrite=False)
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "notes.txt").touch()
    with pytest.raises(DataError, match="old"):
        check_request(tmp_path / "old", None, overwrite=False)


def test_nodes_are_found_by_their_text():
    numbered = MultilayerGraph({"l": EdgeLayer(3, [0], [1])})
    assert rank_steps._named(numbered, ["2", "x"]) == [2, "x"]
    assert rank_steps._named(numbered, []) is None


def test_the_spread_of_large_graphs_is_left_out_and_that_is_said(monkeypatch, capsys):
    layers = {"e": EdgeLayer(3, [0, 1], [1, 2]), "g": MembershipLayer(3, [0, 1, 2], [0, 0, 0])}
    graph = MultilayerGraph(layers)
    monkeypatch.setattr(rank_steps, "MAX_SPREAD_ENTRIES", 5)
    assert rank_steps._small_enough(graph)
    monkeypatch.setattr(rank_steps, "MAX_SPREAD_ENTRIES", 4)
    assert not rank_steps._small_enough(graph)
    assert "with 5 edges and memberships" in capsys.readouterr().err
