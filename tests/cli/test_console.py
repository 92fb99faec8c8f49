import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
import torch

from gramme.cli.console import bounded_memory, check_not_read, complain, note, warnings_as_notes
from gramme.cli.options import Reading
from gramme.errors import DataError, GrammeWarning


def test_messages_go_to_standard_error_as_they_are(capsys):
    complain("[bold]not markup[/] of the user's")
    note("[red]nor this")
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "Error: [bold]not markup[/] of the user's" in printed.err
    assert "Note: [red]nor this" in printed.err


def test_warnings_become_notes_without_a_path(capsys):
    with warnings_as_notes():
        for _ in range(2):
            warnings.warn("of ours", GrammeWarning, stacklevel=1)
        warnings.warn_explicit("of\ntheirs", UserWarning, "/x/site-packages/sklearn/a.py", 3)
        warnings.warn("of Python's", UserWarning, stacklevel=1)
    said = capsys.readouterr().err.splitlines()
    assert said == ["Note: of ours", "Note: sklearn warns: of theirs", "Note: Python warns: of Python's"]


def test_silence(capsys):
    with warnings_as_notes(silent=True):
        warnings.warn("of ours", GrammeWarning, stacklevel=1)
        warnings.warn("of another", UserWarning, stacklevel=1)
    assert capsys.readouterr().err == ""


linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits are Linux's")
GIBIBYTE = 1 << 30


@linux
@pytest.mark.parametrize("take", [np.ones, torch.ones], ids=["numpy", "torch"])
def test_a_request_for_too_much_is_an_error_that_says_what_needs_less(take):
    expected = pytest.raises(DataError, match="memory is too small: take fewer")
    with expected, bounded_memory("take fewer", most=GIBIBYTE):
        take(GIBIBYTE)
    assert len(take(1000)) == 1000


@linux
def test_inner_bounds_do_not_widen_outer_ones_and_bounds_end():
    expected = pytest.raises(DataError, match="inner")
    with bounded_memory("outer", most=GIBIBYTE), expected, bounded_memory("inner"):
        np.empty(GIBIBYTE)
    assert np.empty(GIBIBYTE // 4).nbytes == 2 * GIBIBYTE


def test_sizes_that_no_machine_has_and_errors_of_other_kinds():
    with pytest.raises(DataError, match="fewer"), bounded_memory("fewer"):
        torch.empty(2**40, 2**40)
    with pytest.raises(RuntimeError, match="something else"), bounded_memory("fewer"):
        raise RuntimeError("something else")


def test_what_is_read_is_not_written_over(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("result").mkdir()
    for name in ("a.csv", "result/labels.csv"):
        Path(name).touch()
    Path("link.csv").symlink_to("a.csv")
    with pytest.raises(DataError, match=r"^a.csv is or holds 'a.csv', which this command reads"):
        check_not_read(Path("a.csv"), ["wine", "a.csv"])
    with pytest.raises(DataError, match=r"^a.csv is or holds 'link.csv'"):
        check_not_read(Path("a.csv"), ["link.csv"])
    with pytest.raises(DataError, match=r"^result is or holds 'result/labels.csv'"):
        check_not_read(Path("result"), ["a.csv"], Reading(labels=Path("result/labels.csv")))
    with pytest.raises(DataError, match=r"^a.csv is or holds 'a.csv'"):
        check_not_read(Path("a.csv"), [], Reading(relation=["paper:author=a.csv"]))


def test_other_places_are_free(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("a.csv").touch()
    for word in ("result", "b.csv", "a.csv2", "x" * 5000):
        check_not_read(Path(word), ["a.csv", "wine", "sqlite:x.db?table=y", "x" * 5000, "a\0b"])
