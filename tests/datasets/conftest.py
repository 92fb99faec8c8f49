"""A cache folder of the test's own, so that no test reads or writes the user's."""

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    monkeypatch.setenv("GRAMME_CACHE", str(folder))
    monkeypatch.delenv("GRAMME_MIRROR", raising=False)
    return folder
