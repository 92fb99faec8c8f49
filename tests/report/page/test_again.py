import json

import pytest
from tests.report.page.graphs import two_blocks
from tests.report.test_result_folders import write_fit

from gramme.errors import DataError, FileFormatError
from gramme.graph import EdgeLayer, MultilayerGraph
from gramme.methods import GrammeAuto, LabelPropagation, load
from gramme.report.page.again import page_from_model, page_from_page
from gramme.report.page.fit_page import write_fit_page
from gramme.report.page.html import read_data


@pytest.fixture(scope="module")
def graph():
    return two_blocks(20, labelled=10)


@pytest.fixture(scope="module")
def model(graph):
    return LabelPropagation().fit(graph)


@pytest.fixture
def folder(tmp_path, graph, model):
    config = {"data": "blocks.csv", "method": "label-propagation"}
    (tmp_path / "config.json").write_text(json.dumps(config))
    known = ["" if label is None else label for label in graph.labels]
    rows = [f"{node},{label}" for node, label in zip(graph.nodes, known, strict=True)]
    (tmp_path / "predictions.csv").write_text("\n".join(["node,known", *rows]) + "\n")
    write_fit_page(tmp_path / "report.html", model, graph, config=config)
    return tmp_path


def test_a_page_from_its_own_data_is_the_same_page(folder):
    path = folder / "report.html"
    assert page_from_page(path) == path.read_text(encoding="utf-8")


def test_a_page_from_the_model_knows_what_was_learned_from(folder, model, graph):
    again = folder / "again.html"
    again.write_text(page_from_model(folder, model, graph), encoding="utf-8")
    assert read_data(again)["labels"]["learned"] == 10


def test_a_loaded_mixture_tells_what_its_attention_hears(folder, graph):
    names = ["gramme-fusion", "label-propagation"]
    mixture = GrammeAuto(ensemble=1, folds=2, epochs=2, ingredients=names, random_state=0, progress=False)
    mixture.fit(graph).save(folder / "mixture.safetensors")
    again = folder / "again.html"
    loaded = load(folder / "mixture.safetensors")
    again.write_text(page_from_model(folder, loaded, graph), encoding="utf-8")
    assert all(layer["attention"] for layer in read_data(again)["neighbourhoods"])


def test_other_data_are_refused(folder, model, graph):
    with pytest.raises(DataError, match="other nodes than those"):
        page_from_model(folder, model, graph.subgraph(graph.nodes[:5]))
    with pytest.raises(DataError, match="lack layers"):
        page_from_model(folder, model, graph.select_layers(["answer"]))


@pytest.mark.parametrize(
    ("file", "text", "words"),
    [
        ("config.json", "{", "is not valid JSON"),
        ("config.json", "[" * 100_000, "is not valid JSON"),
        ("config.json", "[]", "something else than settings"),
        ("config.json", '{"versions": [3]}', "config.json: its entry 'versions' should hold"),
        ("config.json", '{"estimate": {"accuracy": [{}]}}', "config.json: holds other settings"),
        ("predictions.csv", "a,b\n", "is not a table of predictions"),
        ("predictions.csv", "node,known\nx,\n", "lists other nodes"),
    ],
)
def test_a_damaged_folder_names_the_file(folder, model, graph, file, text, words):
    (folder / file).write_text(text)
    with pytest.raises(FileFormatError, match=words):
        page_from_model(folder, model, graph)


def test_a_folder_of_something_else(tmp_path, model, graph):
    with pytest.raises(DataError, match=r"it has no config\.json"):
        page_from_model(tmp_path, model, graph)


def test_names_that_are_formulas_or_no_unicode_come_back(tmp_path):
    names = ["=1+1", "b\ud800", "@c", "d"]
    graph = MultilayerGraph({"a": EdgeLayer(4, [0, 2], [1, 3])}, nodes=names, labels=["=x", None, "y\udc80", None])
    model = LabelPropagation().fit(graph)
    config = {"data": "b\udcff.csv", "method": "label-propagation"}
    files = write_fit(tmp_path / "out", model, graph, known=graph.labels, config=config)
    assert {"config.json", "model.safetensors", "predictions.csv", "report.html"} <= set(files)
    assert json.loads((tmp_path / "out" / "config.json").read_text("utf-8"))["data"] == config["data"]
    rows = (tmp_path / "out" / "predictions.csv").read_text("utf-8").splitlines()
    assert [row.split(",")[0] for row in rows[1:]] == ["'=1+1", "b\\ud800", "'@c", "d"]
    again = load(tmp_path / "out" / "model.safetensors")
    assert "=1+1" in page_from_model(tmp_path / "out", again, graph)
    write_fit(tmp_path / "raw", model, graph, known=graph.labels, config=config, raw_csv=True)
    rows = (tmp_path / "raw" / "predictions.csv").read_text("utf-8").splitlines()
    assert rows[1].split(",")[:2] == ["=1+1", "=x"]
