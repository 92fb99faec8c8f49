"""Imports of a command: what they make is not searched for garbage, and all else is as before."""

import gc
import sys

import pytest

from gramme.cli.console import loading


@pytest.fixture(autouse=True)
def thawed():
    yield
    gc.unfreeze()
    gc.enable()


def test_what_is_imported_is_not_searched_again(tmp_path, monkeypatch):
    (tmp_path / "many_lists.py").write_text("lists = [[] for _ in range(5000)]\n")
    monkeypatch.syspath_prepend(tmp_path)
    gc.unfreeze()
    searched = gc.get_stats()[0]["collections"]
    with loading():
        import many_lists  # type: ignore[import-not-found]
    assert gc.get_stats()[0]["collections"] == searched, "nothing was searched meanwhile"
    assert gc.isenabled()
    assert gc.get_freeze_count() >= len(many_lists.lists)
    del sys.modules["many_lists"]


def test_where_nothing_is_new_nothing_is_frozen_and_who_searches_not_stays_so():
    gc.unfreeze()
    frozen = gc.get_freeze_count()  # 0, but on versions that freeze what the interpreter begins with
    gc.disable()
    with loading():
        import json  # noqa: F401
    assert not gc.isenabled()
    assert gc.get_freeze_count() == frozen


def test_an_import_that_fails_leaves_the_search_on():
    with pytest.raises(ImportError), loading():
        import gramme.no_such_module  # type: ignore[import-not-found]  # noqa: F401
    assert gc.isenabled()
