import json
from pathlib import Path

import pandas as pd
import pytest

from gramme.errors import DataError
from gramme.graph import EdgeLayer, MultilayerGraph
from gramme.methods import GrammeFusion, load
from gramme.report import check_target, fit_folder, write_fit

FILES = [
    "config.json",
    "embedding.csv",
    "history.csv",
    "layers.csv",
    "model.safetensors",
    "predictions.csv",
    "report.html",
]


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
