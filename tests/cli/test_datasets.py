import json

import pytest
from tests.datasets.server import serving
from typer.testing import CliRunner

from gramme import datasets
from gramme.cli.datasets import app
from gramme.errors import DataError


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("GRAMME_CACHE", str(tmp_path))
    monkeypatch.delenv("GRAMME_MIRROR", raising=False)
    monkeypatch.delenv("GRAMME_DATA", raising=False)
    return tmp_path


@pytest.fixture(autouse=True)
def wide(monkeypatch):
    monkeypatch.setattr("gramme.cli.console.out._width", 300)


def run(*arguments):
    """Run a command; its printed result must not have come with an error."""
    result = CliRunner().invoke(app, arguments)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0
    return result


def listed(text):
    return [line.split()[0] for line in text.splitlines()[1:] if line.strip()]


def test_list_names_every_dataset_and_where_it_is():
    printed = run("list").stdout
    assert listed(printed) == datasets.names()
    rows = {line.split()[0]: line for line in printed.splitlines() if line.strip()}
    assert "2,708" in rows["cora"]
    assert rows["cora"].rstrip().endswith("to download")
    assert rows["wine"].rstrip().endswith("embedded")
    assert rows["acm3025"].rstrip().endswith("missing, not downloadable")


def test_list_is_what_comes_without_a_command():
    assert run().stdout == run("list").stdout


def test_list_as_json():
    records = json.loads(run("list", "--json").stdout)
    assert [record["name"] for record in records] == datasets.names()
    assert records[0]["where"] == "to download"


@pytest.mark.parametrize("name", datasets.names())
def test_info_prints_everything(name):
    printed = " ".join(run("info", name).stdout.split())
    record = datasets.info(name)
    texts = [record.title, record.recipe, record.caveat, record.citation, record.licence]
    texts += [*record.options, *(file.sha256 for file in record.files)]
    for text in texts:
        assert " ".join(text.split()) in printed


def test_info_as_json():
    record = json.loads(run("info", "ckm_social", "--json").stdout)
    assert record["nodes"] == 241
    assert record["files"][0]["sha256"] == datasets.info("ckm_social").files[0].sha256


def test_download(gramme_data, monkeypatch, cache):
    file = datasets.info("vickers_chan").files[0]
    served = {f"vickers_chan/{file.name}": (gramme_data / file.folder / file.name).read_bytes()}
    with serving(files=served) as server:
        monkeypatch.setenv("GRAMME_MIRROR", server.address)
        result = run("download", "vickers_chan", "balance_scale")
    assert f"vickers_chan: {cache / 'vickers_chan'}" in result.stderr
    assert "balance_scale: embedded" in result.stderr
    assert (cache / "vickers_chan" / file.name).is_file()


def test_download_all_takes_what_can_be_had(gramme_data, monkeypatch):
    monkeypatch.setenv("GRAMME_DATA", str(gramme_data))
    printed = run("download", "all").stderr
    assert "cora: " in printed
    assert "acm3025: " in printed
    assert "wine" not in printed
    assert "reinnovation" not in printed


def test_a_mistyped_name_stops_before_anything_is_downloaded(monkeypatch):
    with serving() as server:
        monkeypatch.setenv("GRAMME_MIRROR", server.address)
        with pytest.raises(DataError, match="did you mean 'cora'"):
            run("download", "ckm_social", "corra")
    assert server.requests == []
    with pytest.raises(DataError, match="did you mean 'cora'"):
        run("info", "corra")
