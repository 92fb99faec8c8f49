from pathlib import Path

import pytest

from gramme.cli.inputs import check_not_read
from gramme.cli.options import Reading
from gramme.errors import DataError


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
