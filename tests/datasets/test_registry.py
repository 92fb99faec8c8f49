import dataclasses
import inspect
import json
import pickle
import re
from pathlib import Path

import pytest
from tests.datasets.server import serving

from gramme import datasets
from gramme.datasets.registry import REGISTRY
from gramme.errors import DataError


@pytest.mark.parametrize("name", datasets.names())
def test_every_record_is_complete(name):
    record = datasets.info(name)
    assert record.name == name
    for text in (record.title, record.description, record.recipe, record.citation, record.licence):
        assert text
        assert "\n" not in text
    assert len(record.description) <= 100
    assert record.caveat
    assert record.embedded or record.files or name in ("reinnovation", "wordnet", "debian")
    json.dumps(record.as_dict())
    with pytest.raises(dataclasses.FrozenInstanceError):
        record.name = "other"


@pytest.mark.parametrize("name", datasets.names())
def test_every_option_is_described_and_nothing_else(name):
    parameters = list(inspect.signature(REGISTRY[name].build).parameters)[1:]
    assert list(datasets.info(name).options) == parameters


@pytest.mark.parametrize("name", datasets.names())
def test_every_file_has_a_checksum_and_an_address_that_fits(name):
    for file in datasets.info(name).files:
        assert re.fullmatch("[0-9a-f]{64}", file.sha256)
        assert file.size > 0
        if name not in ("acm3025", "acm_heco", "dblp_heco", "multiple_features"):
            assert file.address.startswith("https://")
            assert file.address.endswith("/" + file.name)


def test_checksums_are_those_of_the_data_folder(gramme_data):
    for name in datasets.names():
        for file in datasets.info(name).files:
            text = (gramme_data / file.folder / "PROVENANCE.md").read_text()
            assert f"| `{file.name}` | {file.size} | `{file.sha256}` |" in text


def test_a_mistyped_name_or_option_is_answered_with_the_right_one():
    with pytest.raises(DataError, match="no dataset 'corra'; did you mean 'cora'"):
        datasets.load("corra")
    with pytest.raises(DataError, match="no dataset 'corra'"):
        datasets.info("corra")
    with pytest.raises(DataError, match="no option 'node'; did you mean 'nodes'"):
        datasets.load("synthetic", node=3)
    with pytest.raises(DataError, match="no option 'x'; it has none"):
        datasets.load("balance_scale", x=3)


def test_a_wrong_option_is_noticed_before_anything_is_downloaded(monkeypatch):
    monkeypatch.delenv("GRAMME_DATA", raising=False)
    with serving() as server:
        monkeypatch.setenv("GRAMME_MIRROR", server.address)
        with pytest.raises(DataError, match="did you mean 'directed'"):
            datasets.load("vickers_chan", direct=True)
    assert server.requests == []


def test_load_downloads_what_is_missing_and_only_once(gramme_data, monkeypatch, cache):
    files = datasets.info("ckm_social").files
    served = {f"ckm_social/{f.name}": (gramme_data / f.folder / f.name).read_bytes() for f in files}
    expected = datasets.load("ckm_social")
    monkeypatch.delenv("GRAMME_DATA")
    with serving(files=served) as server:
        monkeypatch.setenv("GRAMME_MIRROR", server.address)
        assert datasets.where("ckm_social") == "to download"
        assert datasets.load("ckm_social") == expected
        assert datasets.download("ckm_social") == [cache / "ckm_social" / f.name for f in files]
    assert len(server.requests) == 2
    assert datasets.where("ckm_social") == str(cache / "ckm_social")


def test_the_guide_knows_every_dataset():
    guide = Path(__file__).parents[2] / "docs" / "reference" / "datasets.md"
    rows = [line for line in guide.read_text().splitlines() if line.startswith("| `")]
    assert [line.split("`")[1] for line in rows[: len(datasets.names())]] == datasets.names()


def test_a_record_can_be_sent_to_another_process():
    for name in datasets.names():
        assert pickle.loads(pickle.dumps(datasets.info(name))) == datasets.info(name)


def test_where():
    assert datasets.where("wine") == "embedded"
    assert datasets.where("reinnovation") == "bring your own file"


def test_a_converted_file_says_that_nobody_serves_it(monkeypatch):
    monkeypatch.delenv("GRAMME_DATA", raising=False)
    for name in ("acm3025", "dblp_heco"):
        assert datasets.where(name) == "missing, not downloadable"
        with pytest.raises(DataError, match=f"{name}/graph.npz cannot be downloaded: nobody"):
            datasets.load(name)
