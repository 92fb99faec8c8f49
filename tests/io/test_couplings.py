"""Edges between layers while they are rows of a file."""

from pathlib import Path

from gramme.io.parsed import Parsed, RowCollector, between, couples, ends_of, named_nodes, own_layers, renamed_ends


def test_a_joined_name_and_its_ends():
    assert between("a", "a") == "a"
    name = between("a", "b")
    assert couples(name)
    assert not couples("a~b")
    assert ends_of(name) == ["a", "b"]
    assert own_layers(["c", name, between("b", "c")]) == ["c", "a", "b"]
    assert renamed_ends(name, {"a": "x", "b": "y"}) == between("x", "y")
    assert renamed_ends("a", {"a": "x"}) == "x"


def test_nodes_that_rows_name_with_a_layer():
    rows = RowCollector(Path("f"))
    rows.add("a", "n1", "n2", None, 1)
    rows.add(between("a", "b"), "n3", "n4", None, 2)
    parsed = Parsed([Path("f")], rows.finish())
    found = {name: [parsed.rows.nodes[place] for place in places] for name, places in named_nodes(parsed).items()}
    assert found == {"a": ["n1", "n2", "n3"], "b": ["n4"]}
