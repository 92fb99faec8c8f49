import hashlib
import warnings
from dataclasses import replace
from pathlib import Path

import pytest
from tests.datasets.server import serving

from gramme.datasets.locate import cache_folder, local_path, provide, whereabouts
from gramme.datasets.record import DataFile
from gramme.errors import DataError, GrammeWarning

CONTENT = b"content\n"
SHA256 = hashlib.sha256(CONTENT).hexdigest()
FILE = DataFile("folder", "name.txt", len(CONTENT), SHA256, "http://127.0.0.1:9/name.txt")
UNSERVED = DataFile("folder", "name.txt", len(CONTENT), SHA256)


@pytest.fixture
def data(tmp_path, monkeypatch):
    folder = tmp_path / "data"
    monkeypatch.setenv("GRAMME_DATA", str(folder))
    return folder


@pytest.fixture
def mirror(monkeypatch):
    with serving(files={"folder/name.txt": CONTENT}) as server:
        monkeypatch.setenv("GRAMME_MIRROR", server.address + "/")
        yield server


def put(folder, content=CONTENT):
    path = folder / "folder" / "name.txt"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def test_the_data_folder_comes_first_then_the_cache_then_the_download(data, cache, mirror):
    assert local_path(FILE) is None
    downloaded = provide(FILE)
    assert downloaded == cache / "folder" / "name.txt"
    assert downloaded.read_bytes() == CONTENT
    assert provide(FILE) == downloaded
    given = put(data)
    assert provide(FILE) == given
    assert len(mirror.requests) == 1


def test_another_file_in_the_data_folder_is_used_with_a_warning(data):
    given = put(data, b"mine\n")
    with pytest.warns(GrammeWarning, match="name.txt is not the file"):
        assert provide(FILE) == given


def test_another_pickle_in_the_data_folder_is_refused_unless_one_insists(data, monkeypatch):
    given = put(data, b"mine\n")
    exact = replace(FILE, exact=True)
    with pytest.raises(
        DataError, match=r"a pickle of unknown origin is not read; .*GRAMME_ANY_CHECKSUM=1"
    ):
        provide(exact)
    monkeypatch.setenv("GRAMME_ANY_CHECKSUM", "1")
    with pytest.warns(GrammeWarning, match="it is used as it is"):
        assert provide(exact) == given


def test_a_damaged_file_in_the_cache_is_downloaded_anew(cache, mirror, monkeypatch):
    monkeypatch.delenv("GRAMME_DATA", raising=False)
    damaged = put(cache, b"half")
    assert local_path(FILE) is None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert provide(FILE) == damaged
    assert damaged.read_bytes() == CONTENT


def test_offline_the_message_says_where_it_looked_and_what_to_do(data, cache):
    with pytest.raises(DataError) as caught:
        provide(FILE)
    message = str(caught.value)
    assert message.startswith("http://127.0.0.1:9/name.txt could not be downloaded")
    assert str(data / "folder") in message
    assert str(cache / "folder") in message
    assert "put it at FOLDER/folder/name.txt and set GRAMME_DATA=FOLDER" in message


def test_a_file_that_nobody_serves(monkeypatch):
    monkeypatch.delenv("GRAMME_DATA", raising=False)
    with pytest.raises(DataError, match=r"nobody serves it in this form.*set GRAMME_DATA=FOLDER"):
        provide(UNSERVED)


def test_a_mirror_can_serve_it(mirror):
    assert provide(UNSERVED).read_bytes() == CONTENT


def test_whereabouts(data, cache, monkeypatch):
    assert whereabouts([FILE]) == "to download"
    assert whereabouts([UNSERVED]) == "missing, not downloadable"
    put(cache)
    assert whereabouts([FILE]) == str(cache / "folder")
    put(data)
    assert whereabouts([UNSERVED]) == str(data / "folder")


def test_the_cache_follows_the_platform(monkeypatch, tmp_path):
    monkeypatch.delenv("GRAMME_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "gramme"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr("sys.platform", "linux")
    assert cache_folder() == tmp_path / ".cache" / "gramme"
    monkeypatch.setattr("sys.platform", "darwin")
    assert cache_folder() == tmp_path / "Library" / "Caches" / "gramme"


def test_without_a_home_nothing_is_kept_and_that_is_said_once(monkeypatch):
    monkeypatch.delenv("GRAMME_CACHE")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)

    def homeless() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", homeless)
    with pytest.warns(GrammeWarning, match="no home folder, so nothing is cached") as said:
        assert cache_folder() == cache_folder()
    assert len(said) == 1
    assert cache_folder().is_dir()
