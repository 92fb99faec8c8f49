import pytest

from gramme.cli.data import is_dataset, load_dataset, open_again, open_data
from gramme.cli.options import Reading
from gramme.errors import DataError


def test_options_after_colons():
    graph = load_dataset("synthetic:nodes=50:layers=2:signal=0.3")
    assert (graph.num_nodes, len(graph.layers)) == (50, 2)
    both = load_dataset("synthetic:nodes=50:signal=[0.9,0.1]")
    assert len(both.layers) == 2
    assert load_dataset("balance_scale").num_nodes == 625


def test_the_name_of_an_only_option_may_be_left_out():
    few, more = load_dataset("wine:3"), load_dataset("wine:bins=5")
    assert {layer.sizes.size for layer in few.layers.values()} == {3}
    assert {layer.sizes.size for layer in more.layers.values()} == {5}


def test_both_views_of_a_dataset(gramme_data, monkeypatch):
    monkeypatch.setenv("GRAMME_DATA", str(gramme_data))
    assert list(open_data("acm_heco", Reading()).graph.layers) == ["PAP", "PSP"]
    relations = open_data("acm_heco:view=relations", Reading()).graph
    assert list(relations.layers) == ["author", "subject"]
    assert list(open_data("acm_heco:relations", Reading()).graph.layers) == ["author", "subject"]
    assert open_data("vickers_chan:directed=true", Reading()).graph.layers["get_on"].directed
    with pytest.raises(DataError, match="view must be 'edges' or 'relations', not 'relation'"):
        open_data("acm_heco:relation", Reading())


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("wine:few", "wine:bins=few: bins must be a whole number"),
        ("synthetic:50", "'50' is not an option of the dataset 'synthetic'; write it like synthetic:"),
        ("synthetic:nods=50", "no option 'nods'; did you mean 'nodes'"),
        ("synthetic:nodes=many", "synthetic:nodes=many: nodes must be a whole number"),
        ("synthetic:nodes=50:nodes=60", "'nodes' of the dataset 'synthetic' is named twice"),
        ("synthetic:signal=strong", "signal must be a number or one for each layer, not 'strong'"),
        ("synthetic:degree={}", "degree must be a single value"),
        ("balance_scale:5", "'5' is not an option of the dataset 'balance_scale'; it has none"),
        ("balance_scale:x=5", "has no option 'x'; it has none"),
    ],
)
def test_mistakes_are_answered_by_what_would_be_right(word, message):
    with pytest.raises(DataError, match=message):
        open_data(word, Reading())


def test_a_file_and_an_address_are_no_datasets(tmp_path, monkeypatch):
    assert not is_dataset("sqlite:school.db")
    assert not is_dataset("edges.csv")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "synthetic:nodes=9").write_text("1 1 2\n")
    assert open_data("synthetic:nodes=9", Reading(source_format="authors")).graph.num_nodes == 2


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
