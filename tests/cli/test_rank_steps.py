import pytest

from gramme.cli import main, rank_steps
from gramme.cli.rank_steps import check_request, words
from gramme.errors import DataError
from gramme.graph import EdgeLayer, MembershipLayer, MultilayerGraph
from gramme.io import write


def test_words():
    assert words(None) is None
    assert words(" degree, katz,, ") == ["degree", "katz"]


def test_mistakes_are_told_before_anything_is_read(tmp_path):
    with pytest.raises(DataError, match="did you mean 'degree'"):
        check_request(tmp_path / "new", "degre", "cascade", overwrite=False)
    with pytest.raises(DataError, match="'cascade' or 'threshold', not 'sir'"):
        check_request(tmp_path / "new", None, "sir", overwrite=False)
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "notes.txt").touch()
    with pytest.raises(DataError, match="old"):
        check_request(tmp_path / "old", None, "cascade", overwrite=False)


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


@pytest.mark.parametrize(("layer", "node"), [("l\ud800", "a"), ("l", "a\ud800")])
@pytest.mark.parametrize("command", ["rank", "links", "info"])
def test_names_that_cannot_be_written_are_refused_before_the_work(
    tmp_path, capsys, command, layer, node
):
    path = tmp_path / "a.npz"
    write(MultilayerGraph({layer: EdgeLayer(3, [0, 1], [1, 2])}, nodes=[node, "b", "c"]), path)
    words = [] if command == "info" else ["--out", str(tmp_path / "out")]
    with pytest.raises(SystemExit) as end:
        main([command, str(path), *words])
    if command == "info" and layer == "l":
        assert not end.value.code  # the names of nodes are not shown
        return
    assert end.value.code == 2
    assert "is not valid Unicode text; rename it" in capsys.readouterr().err
