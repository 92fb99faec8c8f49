"""The ledger of links keeps every row once, is known by its mark, and refuses other files."""

import os

import pytest

from gramme.errors import DataError, GrammeWarning
from gramme.evaluation import Ledger
from gramme.evaluation.link_ledger import LinkLedger, is_link_ledger

ROW = {
    "dataset": "d",
    "checksum": "c",
    "layer": "l",
    "method": "m",
    "realisation": 0,
    "fold": 0,
    "negatives": "uniform",
    "roc_auc": 0.5,
}


def test_a_row_is_kept_once_and_the_later_one_counts(tmp_path):
    path = tmp_path / "links.sqlite"
    with LinkLedger(path) as ledger:
        ledger.record([ROW])
        ledger.record([ROW | {"roc_auc": 0.9}, ROW | {"fold": 1}])
        assert ledger.done() == {("d", "c", "l", "m", 0, fold) for fold in (0, 1)}
    with LinkLedger(path, create=False) as ledger:
        assert ledger.rows()["roc_auc"].tolist() == [0.9, 0.5]
    assert is_link_ledger(path)


def test_rows_that_fail_together_are_left_out_together(tmp_path):
    with LinkLedger(tmp_path / "links.sqlite") as ledger:
        with pytest.raises(Exception, match="NOT NULL"):
            ledger.record([ROW, ROW | {"layer": None}])
        assert ledger.done() == set()


def test_other_files_are_refused(tmp_path):
    with Ledger(tmp_path / "labels.sqlite"):
        pass
    assert not is_link_ledger(tmp_path / "labels.sqlite")
    assert not is_link_ledger(tmp_path / "missing.sqlite")
    with pytest.raises(DataError, match="is not a ledger of links"):
        LinkLedger(tmp_path / "labels.sqlite")
    with pytest.raises(DataError, match="there is no such file"):
        LinkLedger(tmp_path / "missing.sqlite", create=False)
    with pytest.raises(DataError, match="is a folder"):
        LinkLedger(tmp_path)
    with pytest.raises(DataError, match="there is no folder"):
        LinkLedger(tmp_path / "no" / "links.sqlite")


def test_a_pipe_is_no_ledger_and_nobody_waits_for_it(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    assert not is_link_ledger(tmp_path / "pipe")


def test_damaged_files_and_foreign_values_are_said(tmp_path):
    path = tmp_path / "links.sqlite"
    with LinkLedger(path) as ledger:
        ledger.record([ROW, ROW | {"layer": "other"}])
        ledger._connection.execute("UPDATE links SET roc_auc = 'high' WHERE layer = 'other'")
    with (
        LinkLedger(path, create=False) as ledger,
        pytest.warns(
            GrammeWarning, match=r"left out, as not written by gramme: row 2 \(roc_auc is"
        ),
    ):
        assert len(ledger.rows()) == 1
    path.write_bytes(path.read_bytes()[:5000])
    with (
        pytest.raises(DataError, match="cannot be used"),
        LinkLedger(path, create=False) as ledger,
    ):
        ledger.rows()


def test_a_damaged_name_is_said(tmp_path):
    path = tmp_path / "links.sqlite"
    with LinkLedger(path) as ledger:
        ledger.record([ROW])
    path.write_bytes(path.read_bytes().replace(b"CREATE TABLE links", b"CRE\xc3TE TABLE links"))
    with (
        pytest.raises(DataError, match="cannot be used"),
        LinkLedger(path, create=False) as ledger,
    ):
        ledger.rows()
