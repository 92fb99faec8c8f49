from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gramme.datasets.text_files import one_of, read_cells, read_integers, read_lines
from gramme.errors import FileFormatError


def written(folder, content):
    path = folder / "data.txt"
    path.write_bytes(content)
    return path


def test_integers(tmp_path):
    path = written(tmp_path, b"0 7\r\n1  8\n\n")
    assert read_integers(path, range(2), range(10)).tolist() == [[0, 7], [1, 8]]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"0 7\n2 8\n", r"data.txt, line 2: '2' must be a whole number from 0 to 1"),
        (b"0 7\n1 x\n", r"data.txt, line 2: 'x' must be a whole number from 0 to 9"),
        (b"-1 7\n", r"line 1: '-1' must be"),
        (b"0 7 1\n", r"line 1: 3 values were found, 2 are expected"),
        (b"", r"line 1: 0 values"),
        (b"\xff", r"data.txt: this is not a text file in UTF-8"),
    ],
)
def test_integers_that_are_none(tmp_path, content, message):
    with pytest.raises(FileFormatError, match=message):
        read_integers(written(tmp_path, content), range(2), range(10))


def test_cells(tmp_path):
    path = written(tmp_path, b"y, 1\nn,2")
    answer = one_of({"y": True, "n": False})
    assert read_cells(path, [answer, int], expected=2) == [[True, False], [1, 2]]
    with pytest.raises(FileFormatError, match="has 2 lines, 3 are expected"):
        read_cells(path, [answer, int], expected=3)
    with pytest.raises(FileFormatError, match="line 2: 'x' must be one of y, n"):
        read_cells(written(tmp_path, b"y,1\nx,1"), [answer, int])


@given(content=st.binary(max_size=60))
def test_any_bytes_are_read_or_refused(tmp_path_factory, content):
    path = written(tmp_path_factory.getbasetemp(), content)
    for read in (
        lambda: read_integers(path, range(9)),
        lambda: read_cells(path, [str, str]),
        lambda: read_lines(path),
    ):
        with suppress(FileFormatError):
            read()
