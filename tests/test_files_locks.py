import pytest

from gramme import _files as _locks
from gramme._files import is_abandoned, lock, unlock

pytestmark = pytest.mark.skipif(not _locks.LOCKS, reason="there are no such locks on this system")


def test_a_file_is_held_until_it_is_let_go(tmp_path):
    path = tmp_path / "x"
    path.touch()
    assert is_abandoned(path)
    handle = lock(path)
    assert not is_abandoned(path)
    with pytest.raises(BlockingIOError):
        lock(path)
    unlock(handle)
    assert is_abandoned(path)


def test_a_folder_can_be_held_and_what_is_gone_is_not_abandoned(tmp_path):
    handle = lock(tmp_path)
    assert not is_abandoned(tmp_path)
    unlock(handle)
    assert not is_abandoned(tmp_path / "gone")


def test_without_locks_nothing_is_known(tmp_path, monkeypatch):
    monkeypatch.setattr(_locks, "LOCKS", False)
    assert lock(tmp_path) is None
    unlock(None)
    assert not is_abandoned(tmp_path)
