"""Relations between several kinds of node from files."""

import random
import warnings

import pytest
from tests.io.cases import mutated, random_bytes

from gramme.errors import DataError, FileFormatError
from gramme.graph import MultilayerGraph
from gramme.io import inspect_relations, read_relations

WRITTEN = "paper,author\np1,Ann\np1,Bo\np2,Bo\n"
SHOWN = "venue,paper,weight\nKDD,p1,2\nICML,p2,1\n"


@pytest.fixture
def files(tmp_path):
    (tmp_path / "pa.csv").write_text(WRITTEN)
    (tmp_path / "pv.csv").write_text(SHOWN)
    return {("paper", "author"): tmp_path / "pa.csv", ("paper", "venue"): tmp_path / "pv.csv"}


def test_one_file_per_relation(files, tmp_path):
    (tmp_path / "l.csv").write_text("paper,label\np1,x\np2,NA\np3,y\n")
    graph, report = inspect_relations(files, target="paper", labels=tmp_path / "l.csv")
    assert graph.nodes.tolist() == ["p1", "p2", "p3"]
    assert list(graph.layers) == ["author", "venue"]
    assert graph.layers["venue"].weight.tolist() == [2, 1]
    assert graph.labels.tolist() == ["x", None, "y"]
    assert report.rows == 5
    assert "author (2)" in report.notes[-1]
    authors = read_relations(files, target="author", paths=[("author", "paper", "venue")])
    assert list(authors.layers) == ["venue"]
    assert authors.layers["venue"].incidence().toarray().tolist() == [[2, 0], [2, 1]]


def test_one_table_of_all_relations(files, tmp_path):
    rows = "source_type,source,target_type,target,weight\n"
    rows += "paper,p1,author,Ann,\npaper,p1,author,Bo,\npaper,p2,author,Bo,\n"
    rows += "paper,p1,venue,KDD,2\npaper,p2,venue,ICML,1\n"
    (tmp_path / "all.csv").write_text(rows)
    assert read_relations(tmp_path / "all.csv", target="paper") == read_relations(files, target="paper")


def test_named_relations_are_told_apart(tmp_path):
    rows = "relation,source_type,source,target_type,target\n"
    rows += "first,paper,p1,author,Ann\nlast,paper,p1,author,Bo\ncites,paper,p1,paper,p2\n"
    (tmp_path / "all.csv").write_text(rows)
    graph = read_relations(tmp_path / "all.csv", target="paper", directed=True)
    assert list(graph.layers) == ["cites", "first", "last"]
    assert graph.layers["cites"].directed


def test_without_a_header_that_is_known_the_first_columns_count(tmp_path):
    (tmp_path / "x.tsv").write_text("one\ttwo\nA\tB\n")
    graph, report = inspect_relations({("a", "b"): tmp_path / "x.tsv"}, target="a")
    assert graph.nodes.tolist() == ["A"]
    assert "write a header above it" in report.doubts[0]


@pytest.mark.parametrize(
    ("text", "target", "problem"),
    [
        ("paper,author\np1,\n", "paper", "line 2: the column 'author' is empty here"),
        ("paper\np1\n", "paper", "a relation needs two columns, such as paper,author"),
        ("paper,author,weight\np1,Ann,-1\n", "paper", "line 2: the weight"),
        (WRITTEN, "papers", "no relation has the target kind 'papers'; did you mean 'paper'"),
    ],
)
def test_errors_name_the_file(tmp_path, text, target, problem):
    path = tmp_path / "pa.csv"
    path.write_text(text)
    with pytest.raises(DataError, match=problem) as caught:
        read_relations({("paper", "author"): path}, target=target)
    assert "pa.csv" in str(caught.value)


def test_a_table_of_relations_needs_its_columns(tmp_path):
    path = tmp_path / "all.csv"
    path.write_text("source,target\na,b\n")
    with pytest.raises(FileFormatError, match="'source_type' is missing"):
        read_relations(path, target="a")
    path.write_text("source_type,source,target_type,target\n,a,b,c\n")
    with pytest.raises(FileFormatError, match="line 2: a kind is missing here"):
        read_relations(path, target="b")
    with pytest.raises(DataError, match="there is no file"):
        read_relations(tmp_path / "none.csv", target="b")


def test_arbitrary_bytes_end_in_a_graph_or_an_error(tmp_path):
    table = b"relation,source_type,source,target_type,target,weight\nr,paper,p,author,a,2\ns,paper,p,venue,v,1\n"
    words = [b"paper", b"author", b",", b"\n", b"nan", b"-1", b"1e999", b'"']
    path, read, problems = tmp_path / "x.csv", 0, []
    for seed in range(100):
        randomness = random.Random(seed)
        whole = seed % 2 == 0
        start = table if whole else WRITTEN.encode()
        data = random_bytes(randomness, words) if seed % 5 == 0 else mutated(randomness, start, words)
        path.write_bytes(data)
        files = path if whole else {("paper", "author"): path}
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                graph = read_relations(files, target="paper")
        except DataError as error:
            problems.append(str(error))
        else:
            assert isinstance(graph, MultilayerGraph)
            read += 1
    assert read > 10
    assert all("x.csv" in problem for problem in problems)


def test_labels_of_a_kind_that_no_relation_has(files, tmp_path):
    (tmp_path / "l.csv").write_text("editor,label\ne1,x\n")
    with pytest.raises(DataError, match="no relation has the target kind 'editor'; known: paper, author"):
        inspect_relations(files, target="editor", labels=tmp_path / "l.csv")
