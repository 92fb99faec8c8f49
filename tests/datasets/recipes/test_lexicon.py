"""WordNet from a few synsets in the form of its data files."""

import numpy as np
import pytest

from gramme import datasets
from gramme.errors import DataError, FileFormatError

LICENCE = "  1 This software and database is being provided to you\n"
FILES = {
    "data.noun": LICENCE
    + "00000001 03 n 01 entity 0 001 ~ 00000002 n 0000 | that which is\n"
    + "00000002 04 n 02 run 0 running(p) 1 003 @ 00000001 n 0000 + 00000003 v 0101 ~i 00000001 n 0000 | a | b\n",
    "data.verb": "00000003 38 v 01 Run 0 001 + 00000002 n 0101 01 + 02 00 | move fast\n",
    "data.adj": "00000004 00 a 01 fast 0 001 & 00000005 a 0000 | quick\n"
    "00000005 00 s 0a quick 0 b 0 c 0 d 0 e 0 f 0 g 0 h 0 i 0 j 0 001 & 00000004 a 0000 | fast\n",
    "data.adv": "00000006 02 r 01 fast 0 001 \\ 00000004 a 0101 | quickly\n",
}


@pytest.fixture
def folder(tmp_path):
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="latin-1")
    return tmp_path


def test_relations_words_and_labels(folder):
    graph = datasets.load("wordnet", path=folder)
    assert list(graph.nodes) == ["n00000001", "n00000002", "v00000003", "a00000004", "a00000005", "r00000006"]
    assert graph.labels.tolist() == ["noun.Tops", "noun.act", "verb.motion", "adj.all", "adj.all", "adv.all"]
    assert graph.num_layers == 19
    edges = {name: layer.num_edges for name, layer in graph.layers.items() if layer.num_edges}
    assert edges == {"hypernym": 1, "derivation": 1, "similar": 1, "pertainym": 1, "word": 2}
    hypernym = graph.layers["hypernym"].stated_ways()
    assert hypernym[1, 0] == 1
    assert hypernym[0, 1] == 0
    shared = graph.layers["word"].neighbours(1)[0]
    np.testing.assert_array_equal(shared, [2])


def test_a_folder_without_the_files_says_which_and_where_to_get_them(tmp_path):
    with pytest.raises(DataError, match=r"no data\.noun.*wordnet-base"):
        datasets.load("wordnet", path=tmp_path)
    with pytest.raises(DataError, match="there is no folder"):
        datasets.load("wordnet", path=tmp_path / "none")


@pytest.mark.parametrize(
    ("line", "message"), [("nonsense here\n", "not a synset"), ("00000009 99 r 01 x 0 000 | y\n", "file number")]
)
def test_a_bad_line_is_named(folder, line, message):
    with (folder / "data.adv").open("a") as file:
        file.write(line)
    with pytest.raises(FileFormatError, match=message) as caught:
        datasets.load("wordnet", path=folder)
    assert "data.adv" in str(caught.value)
    assert "line 2" in str(caught.value)


def test_a_pointer_to_nowhere_is_named(folder):
    with (folder / "data.adv").open("a") as file:
        file.write("00000007 02 r 01 x 0 001 \\ 99999999 a 0101 | y\n")
    with pytest.raises(DataError, match="pertainym points to a99999999"):
        datasets.load("wordnet", path=folder)
