"""The job that every process of a fit gets."""

import pytest
from typer.testing import CliRunner

from gramme.cli.app import app
from gramme.cli.distributed_fit import check_method
from gramme.cli.fit_steps import FitRequest, SetPlan
from gramme.cli.options import Output
from gramme.cli.parts_fit import FitJob
from gramme.datasets import load
from gramme.distributed import read_manifest, whole_graph
from gramme.errors import DataError
from gramme.evaluation.cross_validation import EstimatePlan
from gramme.methods.registry import METHODS_IN_PARTS, method


def job(folder="out", parts="parts", settings=(), **changes):
    options = {"described": {}, "plan": EstimatePlan()} | {k: v for k, v in changes.items() if k != "seed"}
    request = FitRequest(Output(folder, changes.get("seed", 0)), **options)
    return FitJob(str(parts), request, "gramme-sg", list(settings))


def test_a_job_comes_back_from_its_file(tmp_path):
    made = job(tmp_path, described={"a": 1}, plan=EstimatePlan(0.2), sets=SetPlan(0.9), seed=7, settings=["epochs=3"])
    (tmp_path / "job.json").write_text(made.text())
    assert FitJob.read(tmp_path / "job.json") == made


def test_terms_tell_other_options_and_other_parts_but_not_other_places(tmp_path):
    def terms(name: str, manifest: str, **changes: object) -> dict[str, object]:
        (tmp_path / name).mkdir(exist_ok=True)
        (tmp_path / name / "manifest.json").write_text(manifest)
        return job(tmp_path / name, tmp_path / name, **changes).terms()

    assert terms("here", "{}") == terms("there", "{}")
    assert terms("here", "{}") != terms("there", "{ }")
    other = terms("there", "{}", seed=1, settings=["epochs=3"], described={"class_weight": "balanced"})
    differ = {name for name, value in terms("here", "{}").items() if other[name] != value}
    assert differ == {"--seed", "--set", "--class-weight"}


def test_only_methods_that_can_be_fitted_together():
    for name in METHODS_IN_PARTS:
        check_method(name)
        assert method(name).name == name
    with pytest.raises(DataError, match="rgcn is fitted by one process"):
        check_method("rgcn")


def convert(*arguments):
    return CliRunner().invoke(app, ["convert", *map(str, arguments)])


@pytest.mark.parametrize("how", ["communities", "random"])
def test_a_dataset_becomes_parts_and_comes_back(how, tmp_path):
    result = convert("balance_scale", tmp_path / "parts", "--parts", 3, "--assign", how)
    assert result.exit_code == 0
    assert f"assigned by {how}" in result.output
    assert len(read_manifest(tmp_path / "parts").parts) == 3
    assert whole_graph(tmp_path / "parts") == load("balance_scale")


def test_an_earlier_folder_is_replaced_only_if_it_is_one_of_parts(tmp_path):
    assert convert("balance_scale", tmp_path / "parts", "--parts", 2).exit_code == 0
    assert convert("balance_scale", tmp_path / "parts", "--parts", 2).exit_code != 0
    assert convert("balance_scale", tmp_path / "parts", "--parts", 3, "--overwrite").exit_code == 0
    assert len(read_manifest(tmp_path / "parts").parts) == 3
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "thesis.txt").write_text("years")
    assert convert("balance_scale", tmp_path / "other", "--parts", 2, "--overwrite").exit_code != 0
    assert (tmp_path / "other" / "thesis.txt").read_text() == "years"
