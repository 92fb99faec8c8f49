"""Neo4j's export of nodes and relations in one table."""

import pandas as pd
import pytest

from gramme.errors import FileFormatError
from gramme.io import read

EXPORT = (
    '"_id","_labels","name","team","age","_start","_end","_type"\n'
    '"7",":Person","Ann","red","31",,,\n"8",":Person","Bo","blue","40",,,\n"9",":Person","Cy","",,,,\n'
    ',,,,,"7","8","KNOWS"\n,,,,,"8","9","KNOWS"\n,,,,,"7","9","HELPS"\n'
)


@pytest.fixture
def path(tmp_path):
    (tmp_path / "all.csv").write_text(EXPORT)
    return tmp_path / "all.csv"


def test_nodes_and_relations_of_one_table(path):
    graph = read(path, label="team")
    assert graph.nodes.tolist() == ["Ann", "Bo", "Cy"]
    assert {name: layer.num_edges for name, layer in graph.layers.items()} == {
        "KNOWS": 2,
        "HELPS": 1,
    }
    assert graph.labels.tolist() == ["red", "blue", None]
    assert read(path, features=["age"]).features.shape == (3, 1)


def test_a_table_of_people_beside_it(path):
    pd.DataFrame({"who": ["Ann", "Bo", "Cy"], "Role": ["x", "y", "y"]}).to_csv(
        path.with_name("people.csv"), index=False
    )
    graph = read(path, labels=path.with_name("people.csv"), label="Role")
    assert graph.labels.tolist() == ["x", "y", "y"]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (",,,,,7,,KNOWS\n", "both _start and _end"),
        ("7,,,,,,,\n", "a second node '7'"),
        ("1,2\n", "there are 2 cells"),
    ],
)
def test_odd_rows_are_named(path, row, message):
    path.write_text(EXPORT + row)
    with pytest.raises(FileFormatError, match=f"line 8: .*{message}"):
        read(path)
