import pytest

from gramme.cli.data import open_again, open_data
from gramme.cli.options import Reading
from gramme.errors import DataError

TABLE = "name,colour,party\nann,red,x\nbob,red,\ncid,blue,y\n"


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "edges.csv").write_text("layer,source,target\ntalk,a,b\n")
    (tmp_path / "people.csv").write_text(TABLE)
    return tmp_path


@pytest.mark.usefixtures("here")
def test_a_file_a_dataset_and_a_table():
    edges = open_data("edges.csv", Reading())
    assert edges.graph.num_nodes == 2
    assert edges.report.format == "csv"
    assert open_data("balance_scale", Reading()).graph.num_nodes == 625
    table = open_data("people.csv", Reading(is_table=True, label="party", id="name"))
    assert list(table.graph.layers) == ["colour"]
    assert table.graph.labels.tolist() == ["x", None, "y"]
    assert table.table is not None


def test_a_file_goes_before_a_dataset_of_its_name(here):
    (here / "balance_scale").write_text("1 1 2\n")
    assert open_data("balance_scale", Reading(source_format="authors")).graph.num_nodes == 2


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    ("name", "said", "words"),
    [
        ("nowhere.csv", {}, "there is no file 'nowhere.csv'$"),
        ("balanse_scale", {}, "datasets: did you mean 'balance_scale'"),
        ("balance_scale", {"label": "x"}, "comes complete; leave out --label"),
        ("edges.csv", {"bins": ["a=2"]}, "--bins can be said about a table only; add --table"),
        ("people.csv", {}, "add --table --label COLUMN to gramme fit; columns: name, colour"),
        ("balance_scale", {"is_table": True}, "a dataset is not a table: leave out --table"),
        ("people.csv", {"is_table": True, "source_format": "csv"}, "--from cannot go with --table"),
    ],
)
def test_mistakes_say_what_would_be_right(name, said, words):
    with pytest.raises(DataError, match=words):
        open_data(name, Reading(**said))


def test_another_table_for_a_model_of_a_table(here):
    first = open_data("people.csv", Reading(is_table=True, label="party", id="name"))
    (here / "new.csv").write_text("name,colour\ndan,blue\n")
    again = open_again("new.csv", first.table, Reading())
    assert again.graph.nodes.tolist() == ["dan"]
    assert list(again.graph.layers) == ["colour"]
    with pytest.raises(DataError, match="leave out --label"):
        open_again("new.csv", first.table, Reading(label="party"))
    assert open_again("edges.csv", None, Reading()).graph.num_nodes == 2


def test_what_is_wrong_with_a_matrix_is_not_taken_for_a_table(here):
    (here / "ties.csv").write_text(",a,b,c\na,0,1,0\nb,1,0,1\n")
    with pytest.raises(DataError, match=r"there is no row for 'c'$"):
        open_data("ties.csv", Reading())
