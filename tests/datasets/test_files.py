import hashlib
import os
import signal
import subprocess
import sys
import warnings
from dataclasses import replace
from pathlib import Path

import pytest
from tests.datasets.server import serving

from gramme.datasets import files as fetch_module
from gramme.datasets.files import cache_folder, fetch, local_path, provide, whereabouts
from gramme.datasets.record import DataFile
from gramme.errors import DataError, GrammeWarning

CONTENT = b"one line of data\n" * 20_000
SHA256 = hashlib.sha256(CONTENT).hexdigest()


def get(address: str, target: Path) -> None:
    fetch(address, target, sha256=SHA256, size=len(CONTENT))


def test_a_good_file_arrives_whole_and_alone(tmp_path):
    target = tmp_path / "new" / "data.txt"
    with serving(files={"data.txt": CONTENT}) as server:
        get(f"{server.address}/data.txt", target)
    assert target.read_bytes() == CONTENT
    assert list(target.parent.iterdir()) == [target]


def test_it_has_the_permissions_of_any_new_file(tmp_path):
    usual = tmp_path / "usual"
    usual.touch()
    with serving(files={"data.txt": CONTENT}) as server:
        get(f"{server.address}/data.txt", tmp_path / "data.txt")
    assert (tmp_path / "data.txt").stat().st_mode == usual.stat().st_mode


@pytest.mark.parametrize(
    ("problem", "message"),
    [
        ({"files": {"data.txt": CONTENT[:-1] + b"?"}}, "is not the file that is expected"),
        ({"files": {"data.txt": CONTENT * 3}}, "is not the file that is expected"),
        ({"files": {"data.txt": b""}}, "cut after 0 of|is not the file that is expected"),
        ({"files": {"data.txt": CONTENT}, "cut": True}, "the connection was cut after 170000 of"),
        ({"files": {"data.txt": CONTENT}, "stall": True}, "timed out"),
        ({"files": {"data.txt": CONTENT}, "drip": "header"}, "timed out, with 0 of"),
        ({"files": {"data.txt": CONTENT}, "drip": "body"}, r"timed out, with \d+ of 340,000 bytes"),
        ({"files": {"data.txt": CONTENT}, "announced": 10**15}, "it has 1,000,000,000,000,000"),
        ({}, "the server answered 404"),
    ],
    ids=[
        "wrong byte",
        "too long",
        "empty",
        "cut off",
        "stalled",
        "dripping header",
        "dripping body",
        "endless",
        "not found",
    ],
)
def test_a_bad_download_leaves_nothing_behind(tmp_path, monkeypatch, problem, message):
    monkeypatch.setattr(fetch_module, "TIMEOUT_SECONDS", 0.3)
    with serving(**problem) as server, pytest.raises(DataError, match=message) as caught:
        get(f"{server.address}/data.txt", tmp_path / "data.txt")
    assert f"{server.address}/data.txt" in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_a_server_that_goes_on_about_its_reasons_is_cut_short(tmp_path):
    with serving(reason="no " * 2000) as server, pytest.raises(DataError) as caught:
        get(f"{server.address}/data.txt", tmp_path / "data.txt")
    assert "the server answered 404 no no" in str(caught.value)
    assert len(str(caught.value)) < 400


def test_a_bad_download_leaves_an_old_file_as_it_was(tmp_path):
    target = tmp_path / "data.txt"
    target.write_text("old")
    with serving(files={"data.txt": b"wrong"}) as server, pytest.raises(DataError):
        get(f"{server.address}/data.txt", target)
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_no_server(tmp_path):
    with serving() as server:
        address = server.address
    with pytest.raises(DataError, match=r"could not be downloaded: .*refused"):
        get(f"{address}/data.txt", tmp_path / "data.txt")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("address", ["file:///etc/passwd", "ftp://host/data.txt", "data.txt"])
def test_only_web_addresses(tmp_path, address):
    with pytest.raises(DataError, match="is not a web address"):
        get(address, tmp_path / "data.txt")


def test_a_folder_that_cannot_be_written_to(tmp_path):
    (tmp_path / "file").write_text("in the way")
    with serving() as server, pytest.raises(DataError, match="set GRAMME_CACHE"):
        get(f"{server.address}/data.txt", tmp_path / "file" / "data.txt")


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_an_interrupt_leaves_nothing_behind(tmp_path):
    program = (
        "import signal, sys; from pathlib import Path\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from gramme.datasets.files import fetch\n"
        "fetch(sys.argv[1], Path(sys.argv[2]), sha256='0' * 64, size=340_000)\n"
    )
    with serving(files={"data.txt": CONTENT}, stall=True) as server:
        process = subprocess.Popen(
            [sys.executable, "-c", program, f"{server.address}/data.txt", tmp_path / "data.txt"],
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        )
        assert server.sent_half.wait(30)
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=30)
    assert "KeyboardInterrupt" in stderr
    assert process.returncode != 0
    assert list(tmp_path.iterdir()) == []


def test_a_slow_download_shows_its_progress_on_standard_error(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(fetch_module, "PATIENCE_SECONDS", 0.0)
    monkeypatch.setenv("FORCE_COLOR", "1")  # rich takes it for a terminal
    monkeypatch.setenv("TERM", "xterm")  # and not for one that cannot draw
    with serving(files={"data.txt": CONTENT}) as server:
        get(f"{server.address}/data.txt", tmp_path / "data.txt")
    printed = capsys.readouterr()
    assert "data.txt" in printed.err
    assert printed.out == ""


def test_a_quick_download_is_silent(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(fetch_module, "PATIENCE_SECONDS", 60.0)
    with serving(files={"data.txt": CONTENT}) as server:
        get(f"{server.address}/data.txt", tmp_path / "data.txt")
    assert capsys.readouterr() == ("", "")


LOCATE_CONTENT = b"content\n"
LOCATE_SHA256 = hashlib.sha256(LOCATE_CONTENT).hexdigest()
FILE = DataFile("folder", "name.txt", len(LOCATE_CONTENT), LOCATE_SHA256, "http://127.0.0.1:9/name.txt")
UNSERVED = DataFile("folder", "name.txt", len(LOCATE_CONTENT), LOCATE_SHA256)


@pytest.fixture
def data(tmp_path, monkeypatch):
    folder = tmp_path / "data"
    monkeypatch.setenv("GRAMME_DATA", str(folder))
    return folder


@pytest.fixture
def mirror(monkeypatch):
    with serving(files={"folder/name.txt": LOCATE_CONTENT}) as server:
        monkeypatch.setenv("GRAMME_MIRROR", server.address + "/")
        yield server


def put(folder, content=LOCATE_CONTENT):
    path = folder / "folder" / "name.txt"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def test_the_data_folder_comes_first_then_the_cache_then_the_download(data, cache, mirror):
    assert local_path(FILE) is None
    downloaded = provide(FILE)
    assert downloaded == cache / "folder" / "name.txt"
    assert downloaded.read_bytes() == LOCATE_CONTENT
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
    with pytest.raises(DataError, match=r"a pickle of unknown origin is not read; .*GRAMME_ANY_CHECKSUM=1"):
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
    assert damaged.read_bytes() == LOCATE_CONTENT


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
    assert provide(UNSERVED).read_bytes() == LOCATE_CONTENT


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
