import stat

import pytest

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
