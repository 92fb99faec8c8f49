import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from gramme._files import scratch_folder


@pytest.fixture(autouse=True)
def temporary(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_it_is_gone_after_the_block_and_after_an_error(temporary):
    def fail() -> None:
        with scratch_folder("x") as folder:
            (folder / "a").write_text("a")
            raise ValueError("enough")

    with pytest.raises(ValueError, match="enough"):
        fail()
    assert list(temporary.iterdir()) == []


def test_what_a_killed_run_left_is_swept_and_nothing_else(temporary):
    code = "import os; from gramme._files import scratch_folder\nwith scratch_folder('x'): os._exit(9)"
    environment = {"TMPDIR": str(temporary), "PYTHONPATH": ":".join(sys.path)}
    assert subprocess.run([sys.executable, "-c", code], env=environment, check=False).returncode == 9
    left = list(temporary.iterdir())
    assert len(left) == 2  # the folder and its marker
    mine = temporary / "gramme-x-thesis"
    mine.mkdir()
    with scratch_folder("x") as first, scratch_folder("x") as second:
        assert not any(path.exists() for path in left)
        assert first.is_dir()
        assert second.is_dir()
    assert list(Path(temporary).iterdir()) == [mine]
