import pytest

from gramme import _files as _locks
from gramme._files import lock, unlock

pytestmark = pytest.mark.skipif(not _locks.LOCKS, reason="there are no such locks on this system")


def test_a_file_or_folder_is_held_until_it_is_let_go(tmp_path):
    path = tmp_path / "x"
    path.touch()
    for held in (path, tmp_path):
        handle = lock(held)
        with pytest.raises(BlockingIOError):
            lock(held)
        unlock(handle)
        unlock(lock(held))


def test_without_locks_nothing_is_known(tmp_path, monkeypatch):
    monkeypatch.setattr(_locks, "LOCKS", False)
    assert lock(tmp_path) is None
    unlock(None)
