import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.links.graphs import planted_links
from tests.links.short import short_fits
from tests.methods.graphs import half_known, planted
from tests.ranking.families import florentine_families

from gramme.errors import DataError
from gramme.graph import EdgeLayer, MultilayerGraph
from gramme.links import GrammeLinks
from gramme.methods import GrammeFusion, LabelPropagation, OneHotLogistic, load
from gramme.methods.cross_fitting import OutOfFold
from gramme.ranking import layer_influences, rank
from gramme.report import check_target, fill_fit_folder
from gramme.report import result_folders as fit_folder
from gramme.report.folder import output_folder
from gramme.report.result_folders import model_estimate, write_links, write_model_page, write_ranks

FILES = [
    "config.json",
    "embedding.csv",
    "history.csv",
    "layers.csv",
    "model.safetensors",
    "predictions.csv",
    "report.html",
]


def write_fit(folder, *fitted, overwrite=False, **options):
    """A folder of a fit, written as the command line does."""
    check_target(folder, overwrite=overwrite)
    with output_folder(folder, overwrite=overwrite) as place:
        return fill_fit_folder(place.folder, *fitted, **options)


@pytest.fixture(scope="module")
def graph() -> MultilayerGraph:
    layer = EdgeLayer(5, [0, 1, 3], [1, 2, 4])
    return MultilayerGraph({"a": layer}, labels=["l", None, None, "r", None])


@pytest.fixture(scope="module")
def model(graph: MultilayerGraph) -> GrammeFusion:
    return GrammeFusion(ensemble=1, epochs=3, random_state=0).fit(graph)


def test_writes_everything_and_nothing_else(model, graph, tmp_path: Path) -> None:
    target = tmp_path / "new" / "result"
    files = write_fit(target, model, graph, config={"data": "x"})
    assert files == FILES == sorted(path.name for path in target.iterdir())
    assert [path.name for path in target.parent.iterdir()] == ["result"]
    config = json.loads((target / "config.json").read_text())
    assert config["data"] == "x"
    assert config["parameters"]["epochs"] == 3
    assert set(config["versions"]) >= {"gramme", "torch", "python"}
    again = load(target / "model.safetensors")
    table = pd.read_csv(target / "predictions.csv")
    assert table["predicted"].tolist() == again.predict().tolist()


def test_an_existing_folder_is_refused_unless_told(model, graph, tmp_path: Path) -> None:
    target = tmp_path / "result"
    write_fit(target, model, graph, config={"turn": 1})
    with pytest.raises(DataError, match="exists already"):
        write_fit(target, model, graph, config={"turn": 2})
    assert json.loads((target / "config.json").read_text())["turn"] == 1
    write_fit(target, model, graph, config={"turn": 2}, overwrite=True)
    assert json.loads((target / "config.json").read_text())["turn"] == 2
    assert [path.name for path in tmp_path.iterdir()] == ["result"]


def test_somebody_elses_folder_is_never_replaced(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(DataError, match="something else"):
        check_target(tmp_path, overwrite=True)
    with pytest.raises(DataError, match="is a file"):
        check_target(tmp_path / "thesis.tex", overwrite=True)


def test_a_failure_half_way_leaves_nothing(model, graph, tmp_path: Path, monkeypatch) -> None:
    def fail(*_: object) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr(fit_folder, "layer_table", fail)
    with pytest.raises(DataError, match="no space"):
        write_fit(tmp_path / "result", model, graph, config={})
    assert list(tmp_path.iterdir()) == []


def test_the_embedding_as_parquet_or_not_at_all(model, graph, tmp_path: Path) -> None:
    files = write_fit(tmp_path / "a", model, graph, config={}, embedding="parquet")
    assert "embedding.parquet" in files
    assert "embedding.csv" not in files
    table = pd.read_parquet(tmp_path / "a" / "embedding.parquet")
    assert table.shape == (5, 1 + model.hidden_dim)
    files = write_fit(tmp_path / "b", model, graph, config={}, embedding="none")
    assert not [name for name in files if name.startswith("embedding")]


def test_a_large_embedding_and_all_classes_are_written_on_request(model, graph, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(fit_folder, "MAX_EMBEDDING_CELLS", 3)
    files = write_fit(tmp_path / "a", model, graph, config={}, embedding="auto")
    assert "embedding.csv" not in files
    assert "--embedding csv" in json.loads((tmp_path / "a" / "config.json").read_text())["embedding"]
    assert "embedding.csv" in write_fit(tmp_path / "b", model, graph, config={}, embedding="csv")
    monkeypatch.setattr("gramme.report.tables.MAX_CLASS_CELLS", 1)
    for wanted in (None, True):
        (tmp_path / f"c{wanted}").mkdir()
        fit_folder.fill_fit_folder(tmp_path / f"c{wanted}", model, graph, config={}, all_classes=wanted)
        table = pd.read_csv(tmp_path / f"c{wanted}" / "predictions.csv")
        assert ("second" in table.columns) == (wanted is None)


def test_the_tables_are_the_models(tmp_path):
    with short_fits():
        model = GrammeLinks().fit(planted_links(30), layers=["talk"])
    found = model.candidates("talk", top=4)
    folder = tmp_path / "links"
    files = write_links(folder, model, found, config={"data": "friends"})
    assert files == sorted(path.name for path in folder.iterdir())
    written = pd.read_csv(folder / "links.csv")
    assert written["source"].tolist() == found["source"].tolist()
    assert written["why"].tolist() == found["why"].tolist()
    assert len(pd.read_csv(folder / "ingredients.csv")) == len(model.ingredients_)
    assert json.loads((folder / "config.json").read_text())["data"] == "friends"
    with pytest.raises(DataError, match="exists"):
        write_links(folder, model, found, config={})
    assert write_links(folder, model, found.head(1), config={}, overwrite=True) == files
    assert len(pd.read_csv(folder / "links.csv")) == 1


def test_a_ranking_is_written_whole_and_not_over_another(tmp_path):
    graph = florentine_families()
    ranks = rank(graph, ["degree"])
    given = {"seeds": None, "layers": layer_influences(graph), "config": {"data": "families"}}
    files = write_ranks(tmp_path / "out", graph, ranks, **given)
    assert files == ["config.json", "layers.csv", "ranks.csv", "report.html"]
    table = pd.read_csv(tmp_path / "out" / "ranks.csv")
    assert table["degree"].tolist() == ranks["degree"].tolist()
    config = json.loads((tmp_path / "out" / "config.json").read_text())
    assert config["data"] == "families"
    assert "gramme" in config["versions"]
    with pytest.raises(DataError, match="exists already"):
        write_ranks(tmp_path / "out", graph, ranks, **given)


GRAPH = planted()


def test_the_estimate_is_that_of_the_labels_predicted_unseen():
    model = OneHotLogistic(random_state=0).fit(GRAPH, half_known(GRAPH))
    assert model_estimate(model).kind == "none"
    seen = model.out_of_fold()
    estimate = model_estimate(model)
    assert estimate.accuracy == (seen.probabilities.argmax(1) == seen.codes).mean()
    assert estimate.labels == list(GRAPH.labels[seen.nodes])


def test_labels_of_classes_nobody_knows_do_no_harm(tmp_path):
    model = OneHotLogistic(random_state=0).fit(GRAPH, half_known(GRAPH))
    codes = np.array([0, 1, -1])
    model.keep_out_of_fold(OutOfFold(np.arange(3), codes, model.predict_proba()[:3]))
    assert len(model_estimate(model).labels) == 2
    text = write_model_page(tmp_path / "p.html", model, GRAPH).read_text()
    assert "cross-validated" in text


def test_couplings_stay_what_they_are(tmp_path):
    rows = [("a", f"a{k}", "a", f"a{k + 1}") for k in range(5)]
    rows += [("b", f"b{k}", "b", f"b{k + 1}") for k in range(5)]
    rows += [("a", f"a{k}", "b", f"b{k}") for k in range(6)]
    table = pd.DataFrame(rows, columns=["source_layer", "source", "target_layer", "target"])
    graph = MultilayerGraph.from_edges(table)
    model = LabelPropagation().fit(graph, {"a0": "x", "b0": "x", "a5": "y", "b5": "y"})
    page = model.report(tmp_path / "page.html").read_text()
    assert "Dashed lines join two layers." in page
