import os
import stat

import pytest
from tests.processes import Process

from gramme._files import taken
from gramme.errors import DataError
from gramme.io.atomic import write_files


def test_text_bytes_functions_and_removal(tmp_path):
    old = tmp_path / "old"
    old.write_text("to be removed")
    write_files(
        {
            tmp_path / "text": "ü\n",
            tmp_path / "bytes": b"\x00",
            tmp_path / "made": lambda file: file.write(b"made"),
            old: None,
        }
    )
    assert (tmp_path / "text").read_bytes() == "ü\n".encode()
    assert (tmp_path / "bytes").read_bytes() == b"\x00"
    assert (tmp_path / "made").read_bytes() == b"made"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bytes", "made", "text"]


def test_where_one_fails_none_is_touched(tmp_path):
    first = tmp_path / "first"
    first.write_text("before")

    def fail(file):
        file.write(b"half")
        raise OSError("the disk is full")

    with pytest.raises(OSError, match="the disk is full"):
        write_files({first: "after", tmp_path / "second": fail})
    assert first.read_text() == "before"
    assert list(tmp_path.iterdir()) == [first]


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("taken", "x", "exists already; choose another name"),
        ("folder", "x", "is a folder; name a file in it"),
        ("nowhere/x", "x", "there is no folder"),
        ("text", "a\ud800b", "is not valid Unicode text"),
    ],
)
def test_what_cannot_be_written(tmp_path, name, content, words):
    (tmp_path / "taken").write_text("before")
    (tmp_path / "folder").mkdir()
    with pytest.raises(DataError, match=words):
        write_files({tmp_path / name: content}, overwrite=name != "taken")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder", "taken"]


def test_a_result_is_as_readable_as_any_new_file(tmp_path):
    (tmp_path / "plain").write_text("x")
    write_files({tmp_path / "ours": "x"})
    modes = [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("plain", "ours")]
    assert modes[0] == modes[1]


def test_links_are_followed_and_stay(tmp_path):
    (tmp_path / "real").write_text("before")
    (tmp_path / "link").symlink_to("real")
    (tmp_path / "dangling").symlink_to("new")
    write_files({tmp_path / "link": "after", tmp_path / "dangling": "made"})
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "dangling").is_symlink()
    assert (tmp_path / "real").read_text() == "after"
    assert (tmp_path / "new").read_text() == "made"
    (tmp_path / "circle").symlink_to("circle")
    with pytest.raises(DataError, match="circle is a link that leads in a circle"):
        write_files({tmp_path / "circle": "x"})


def test_what_is_no_ordinary_file_is_never_replaced(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("pipe")
    for name in ("pipe", "link"):
        with pytest.raises(DataError, match="pipe is not an ordinary file"):
            write_files({tmp_path / name: "x"})
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)


def die_while_replacing(path):
    with taken(path) as name:
        name.write_text("half")
        os._exit(9)


def test_what_a_killed_writer_left_is_swept(tmp_path):
    (tmp_path / "a").write_text("before")
    assert Process(die_while_replacing, tmp_path / "a").wait() == 9
    assert len(list(tmp_path.iterdir())) == 3
    write_files({tmp_path / "a": "after"})
    assert [path.name for path in tmp_path.iterdir()] == ["a"]
    assert (tmp_path / "a").read_text() == "after"


def test_a_writer_does_not_wait_for_ever_for_another(tmp_path, monkeypatch):
    monkeypatch.setattr("gramme.io.atomic._PATIENCE", 0.05)
    (tmp_path / "a").write_text("before")
    with taken(tmp_path / "a"):
        write_files({tmp_path / "a": "after"})
    assert (tmp_path / "a").read_text() == "after"
