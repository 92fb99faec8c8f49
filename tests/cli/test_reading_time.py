"""What a file's size tells before it is read."""

from pathlib import Path

import pytest

from gramme.cli.reading_time import START_SECONDS, expected_entries, reading_seconds


def sized(path: Path, size: int) -> str:
    path.write_bytes(b"x" * size)
    return str(path)


def test_larger_files_take_longer_and_hold_more(tmp_path: Path) -> None:
    small, large = sized(tmp_path / "a.csv", 1000), sized(tmp_path / "b.csv", 1_000_000)
    assert START_SECONDS < reading_seconds([small]) < reading_seconds([large])
    assert expected_entries([large]) == pytest.approx(1000 * expected_entries([small]))
    assert expected_entries([small, large]) > expected_entries([large])
    assert reading_seconds([sized(tmp_path / "c.xlsx", 1_000_000)]) > 4 * reading_seconds([large])


def test_folders_patterns_and_databases_are_the_files_they_stand_for(tmp_path: Path) -> None:
    database = sized(tmp_path / "d.db", 700_000)
    alone = expected_entries([database])
    assert alone > 0
    assert expected_entries([f"sqlite:{database}?query=select 1"]) == alone
    assert expected_entries([str(tmp_path)]) == alone
    assert expected_entries([str(tmp_path / "*.db")]) == alone


def test_what_is_no_file_takes_no_time() -> None:
    assert reading_seconds(["ckm_social", "", "no/such*", "\0"]) == START_SECONDS
    assert expected_entries(["ckm_social"]) == 0
