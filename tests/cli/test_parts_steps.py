"""``gramme convert DATA parts/ --parts N``: a folder that says how much its parts need of each other."""

import pytest
from typer.testing import CliRunner

from gramme.cli.app import app
from gramme.datasets import load
from gramme.distributed import read_manifest, whole_graph


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
