import sqlite3

import pytest

from gramme.errors import DataError
from gramme.evaluation import Ledger
from gramme.evaluation.link_ledger import LinkLedger


@pytest.mark.parametrize("kind", [Ledger, LinkLedger])
def test_a_path_that_cannot_be_used_is_refused_in_words(kind, tmp_path):
    with pytest.raises(DataError, match="is a folder"):
        kind(tmp_path)
    with pytest.raises(DataError, match="there is no such file"):
        kind(tmp_path / "r.sqlite", create=False)
    with pytest.raises(DataError, match="there is no folder"):
        kind(tmp_path / "none" / "r.sqlite")


@pytest.mark.parametrize("kind", [Ledger, LinkLedger])
def test_the_file_is_closed_at_the_end_of_the_block(kind, tmp_path):
    with kind(tmp_path / "r.sqlite") as ledger:
        assert ledger.done() == set()
    with pytest.raises((sqlite3.ProgrammingError, DataError), match="closed database"):
        ledger.done()
