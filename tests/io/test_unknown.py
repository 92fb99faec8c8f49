"""NA and the like: unknown in labels of every format, said in the report, kept where asked for."""

import pandas as pd
import pytest
from tests.io.cases import sample_graph

from gramme.io import FORMATS, inspect, read, write

MPX = """#TYPE
multiplex
#ACTOR ATTRIBUTES
label,STRING
#ACTORS
Ann,doctor
Bo,nurse
Cy,NA
Di,.
#EDGES
Ann,Bo,advice
Cy,Di,advice
"""


@pytest.fixture
def edges(tmp_path):
    path = tmp_path / "office.csv"
    path.write_text("source,target\nAnn,Bo\nBo,Cy\nCy,Di\n")
    return path


def test_what_r_writes_is_unknown(tmp_path, edges):
    """write.csv of R quotes text and leaves NA bare; the labels file of the example that showed the fault."""
    (tmp_path / "labels.csv").write_text(
        '"node","label"\n"Ann","red"\n"Bo",NA\n"Cy","blue"\n"Di",NA\n'
    )
    graph, report = inspect(edges, labels=tmp_path / "labels.csv")
    assert graph.labels.tolist() == ["red", None, "blue", None]
    assert graph.classes == ["blue", "red"]
    assert "2 labels read as unknown: NA" in report.notes
    kept = read(edges, labels=tmp_path / "labels.csv", keep_na=True)
    assert kept.labels.tolist() == ["red", "NA", "blue", "NA"]


@pytest.mark.parametrize("mark", ["NA", "N/A", "NaN", "nan", "null", "NULL", ".", "?", "#N/A"])
@pytest.mark.parametrize(
    "text",
    ["Ann,red\nBo,{}\nCy,blue\n", "red\n{}\nblue\n\n", "node,label\nAnn,red\nBo,{}\nCy,blue\n"],
)
def test_every_mark_in_every_form_of_labels(tmp_path, edges, mark, text):
    (tmp_path / "l.txt").write_text(text.format(mark))
    graph, report = inspect(edges, labels=tmp_path / "l.txt")
    assert graph.labels.tolist() == ["red", None, "blue", None]
    assert f"1 label read as unknown: {mark}" in report.notes


def test_further_marks(tmp_path, edges):
    (tmp_path / "l.txt").write_text("Ann,red\nBo,no answer\nCy,99\n")
    graph = read(edges, labels=tmp_path / "l.txt", missing=["99", "no answer"])
    assert graph.labels.tolist() == ["red", None, None, None]
    assert read(edges, labels=tmp_path / "l.txt", missing="99").labels[1] == "no answer"


def test_in_mpx(tmp_path):
    (tmp_path / "team.mpx").write_text(MPX)
    graph, report = inspect(tmp_path / "team.mpx")
    assert graph.labels.tolist() == ["doctor", "nurse", None, None]
    assert report.notes == ("2 labels read as unknown: NA, .",)
    assert read(tmp_path / "team.mpx", keep_na=True).labels.tolist()[2:] == ["NA", "."]


def test_in_graphml_that_networkx_wrote(tmp_path):
    networkx = pytest.importorskip("networkx")
    graph = networkx.path_graph(4)
    networkx.set_node_attributes(graph, dict(enumerate(["a", "NA", "b", "NaN"])), "label")
    networkx.write_graphml(graph, tmp_path / "g.graphml")
    found, report = inspect(tmp_path / "g.graphml")
    assert found.labels.tolist() == ["a", None, "b", None]
    assert report.notes == ("2 labels read as unknown: NA, NaN",)


@pytest.mark.parametrize(
    "name",
    [
        name
        for name, each in FORMATS.items()
        if each.write is not None and name != "npz" and "labels," not in each.cannot
    ],
)
def test_every_format_that_holds_text_labels(tmp_path, name):
    """Written with the label NA, it is lost with a warning, and comes back where it is asked for."""
    graph = sample_graph(labels=["1", "NA", None, "1", "2"], features=None)
    path = tmp_path / f"g{FORMATS[name].endings[0]}"
    with pytest.warns(match="read as unknown"):
        write(graph, path)
    if name == "pajek":  # it numbers its classes
        return
    assert read(path).labels.tolist() == ["1", None, None, "1", "2"]
    assert read(path, keep_na=True).labels.tolist() == ["1", "NA", None, "1", "2"]


def test_npz_keeps_everything(tmp_path):
    graph = sample_graph(labels=["1", "NA", None, "1", None])
    write(graph, tmp_path / "g.npz")
    assert read(tmp_path / "g.npz") == graph


def test_pandas_writes_blanks(tmp_path, edges):
    frame = pd.DataFrame({"node": ["Ann", "Bo", "Cy", "Di"], "label": ["x", None, " ", "y"]})
    frame.to_csv(tmp_path / "l.csv", index=False)
    graph, report = inspect(edges, labels=tmp_path / "l.csv")
    assert graph.labels.tolist() == ["x", None, None, "y"]
    assert report.notes == ()
