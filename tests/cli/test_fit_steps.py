import json
import warnings

import pytest

from gramme.cli.fit_steps import (
    EstimatePlan,
    estimate_plan,
    expect_processes,
    fit_graph,
    parse_share,
    table_record,
)
from gramme.cli.heartbeat import Heartbeat, listening
from gramme.datasets import load
from gramme.errors import DataError, FileFormatError
from gramme.graph import EdgeLayer, MultilayerGraph
from gramme.graph.table_plan import LayerPlan, TablePlan
from gramme.methods import LabelPropagation, Majority


@pytest.mark.parametrize(("text", "share"), [("20%", 0.2), ("0.2", 0.2), ("99.5%", 0.995)])
def test_a_share(text, share):
    assert parse_share(text) == pytest.approx(share)


@pytest.mark.parametrize("text", ["0", "1", "100%", "-5%", "half", "", "nan"])
def test_what_is_no_share(text):
    with pytest.raises(DataError, match="is not a share; write 20% or"):
        parse_share(text)


def test_how_the_accuracy_is_to_be_estimated():
    assert estimate_plan("20%", None, wanted=True).share == 0.2
    assert estimate_plan(None, 3, wanted=True).folds == 3
    assert not estimate_plan(None, None, wanted=False).wanted


@pytest.mark.parametrize(
    ("holdout", "folds", "wanted", "words"),
    [
        ("20%", 5, True, "choose one"),
        (None, 1, True, "at least 2 are needed"),
        ("20%", None, False, "--no-estimate cannot go with"),
        (None, 5, False, "--no-estimate cannot go with"),
    ],
)
def test_wishes_that_exclude_each_other(holdout, folds, wanted, words):
    with pytest.raises(DataError, match=words):
        estimate_plan(holdout, folds, wanted=wanted)


def test_the_record_of_a_table_stands_beside_the_model(tmp_path):
    model, config = tmp_path / "model.safetensors", tmp_path / "config.json"
    assert table_record(model) is None
    plan = TablePlan({"age": LayerPlan(["age"], "bins", [18.0])}, label="party").record()
    for text, record in [
        (json.dumps({"table": plan}), plan),
        ('{"table": 3}', None),
        ("[]", None),
    ]:
        config.write_text(text)
        assert table_record(model) == record
    for text in ("{", "[" * 100_000):
        config.write_text(text)
        with pytest.raises(DataError, match=r"config\.json cannot be read"):
            table_record(model)
    for change in (
        {"layers": {"age": {"columns": ["age"], "way": "bins", "choice": "x"}}},
        {"label": ["x"]},
        {"missing": {}},
        {"missing_values": 5},
    ):
        config.write_text(json.dumps({"table": plan | change}))
        with pytest.raises(FileFormatError, match=r"config\.json: .* take another copy"):
            table_record(model)


def fitted(graph, folder, *, raw_csv=False, **options):
    """The outcome of a fit as it is shown."""
    shown = []
    fit_graph(
        graph,
        Majority(),
        folder,
        described={"data": "d", "method": "majority"},
        plan=EstimatePlan(**options),
        seed=0,
        overwrite=False,
        show=lambda *outcome: shown.append(outcome),
        raw_csv=raw_csv,
        silent=True,
    )
    return shown[0]


@pytest.fixture
def graph():
    labels = [*"ababababab", None]
    return MultilayerGraph({"l": EdgeLayer(11, [0, 2], [1, 3])}, labels=labels)


def test_a_fit_ends_in_a_folder_and_a_record(graph, tmp_path):
    result, _, target, files = fitted(graph, tmp_path / "out", folds=2)
    assert target == tmp_path / "out"
    assert {path.name for path in target.iterdir()} == set(files)
    assert (result["nodes"], result["training_labels"], result["classes"]) == (11, 10, ["a", "b"])
    assert result["estimate"]["kind"] == "cross-validation"
    assert json.loads((target / "config.json").read_text())["method"] == "majority"


def test_labels_held_out_are_not_learned_from(graph, tmp_path):
    result, *_ = fitted(graph, tmp_path / "out", share=0.2)
    assert (result["training_labels"], result["estimate"]["nodes"]) == (8, 2)


def test_no_estimate_and_no_labels(graph, tmp_path):
    assert fitted(graph, tmp_path / "a", wanted=False)[0]["estimate"]["kind"] == "none"
    with pytest.raises(DataError, match="no labels to learn from"):
        fitted(graph.replace(labels=None), tmp_path / "b")
    assert not (tmp_path / "b").exists()


def test_warnings_are_shown_as_before_afterwards(graph, tmp_path):
    before = warnings.showwarning
    fitted(graph, tmp_path / "out", wanted=False)
    assert warnings.showwarning is before


def test_names_that_are_no_unicode_are_escaped_or_refused_before_the_work(tmp_path):
    given = {"nodes": ["=1+1", "b\ud800", "c"], "labels": ["x", "y", None]}
    edges = EdgeLayer(3, [0, 1], [1, 2])
    fitted(MultilayerGraph({"a": edges}, **given), tmp_path / "nodes")
    written = (tmp_path / "nodes" / "predictions.csv").read_text("utf-8")
    assert "\n'=1+1," in written
    assert "\nb\\ud800," in written
    fitted(MultilayerGraph({"a": edges}, **given), tmp_path / "raw", raw_csv=True)
    assert "\n=1+1," in (tmp_path / "raw" / "predictions.csv").read_text("utf-8")
    with pytest.raises(DataError, match=r"the layer 'a\\ud800' is not valid Unicode"):
        fitted(MultilayerGraph({"a\ud800": edges}, **given), tmp_path / "layer")
    labels = {"labels": ["x\ud800", "y", None]}
    with pytest.raises(DataError, match=r"the label 'x\\ud800' is not valid Unicode"):
        fitted(MultilayerGraph({"a": edges}, **given | labels), tmp_path / "label")
    assert {path.name for path in tmp_path.iterdir()} == {"nodes", "raw"}


def test_a_fit_in_several_processes_tells_its_time_before_they_have_started() -> None:
    beat = Heartbeat("gramme fit", "Starting gramme fit")
    with listening(beat):
        expect_processes(load("balance_scale"), LabelPropagation(), EstimatePlan())
    line = beat.line(beat.began + 3)
    assert line.startswith("Starting the processes ... about ")
    assert line.endswith(" left")
