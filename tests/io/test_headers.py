import pytest

from gramme.errors import FileFormatError
from gramme.io import read
from gramme.io.headers import edge_header, plain_word


@pytest.mark.parametrize(
    ("names", "source", "target"),
    [
        (["source", "target"], 0, 1),
        (["Weight", "From", "To"], 1, 2),
        ([":START_ID(Person)", "x", ":END_ID(Person)"], 0, 2),
        (["Ego", "Alter"], 0, 1),
        (["Quelle", "Ziel"], 0, 1),
        (["Źródło", "cel"], 0, 1),
        (["Nœud 1", "Nœud 2"], 0, 1),
        (["year", "Person A", "Person B"], 1, 2),
        (["FromNodeId", "ToNodeId"], 0, 1),
    ],
)
def test_the_ends_whatever_they_are_called(names, source, target):
    found = edge_header(names)
    assert (found.source, found.target) == (source, target)


def test_layer_weight_direction_and_the_rest():
    found = edge_header(["id", "Source", "Target", "Type", "Relation", "Weight"])
    assert (found.layer, found.weight, found.direction) == (4, 5, 3)
    assert found.others == [0]
    assert not found.usual
    assert edge_header(["layer", "source", "target", "weight"]).usual


def test_layers_of_both_ends():
    assert edge_header(["source", "source_layer", "target", "target_layer"]).between == (1, 3)


@pytest.mark.parametrize("names", [["name", "age"], ["source"], ["source", "source", "target"], []])
def test_no_edges(names):
    assert edge_header(names) is None


def test_plain_words():
    assert plain_word(' "Src-Node.ID" ') == "srcnodeid"


@pytest.mark.parametrize("header", ["source,target,weight,weight", "source,target,layer,Layer"])
def test_two_columns_of_one_role_are_refused(tmp_path, header):
    row = ",".join("ab12"[: header.count(",") + 1])
    (tmp_path / "g.csv").write_text(f"{header}\n{row}\n")
    with pytest.raises(FileFormatError, match="could both be the"):
        read(tmp_path / "g.csv")
