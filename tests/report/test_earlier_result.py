import json
from pathlib import Path

import pytest

from gramme.errors import DataError
from gramme.report.earlier_result import check_earlier_parts, check_earlier_result


def result(folder: Path) -> Path:
    folder.mkdir()
    for name in ("model.safetensors", "predictions.csv", "report.html"):
        (folder / name).touch()
    (folder / "config.json").write_text(json.dumps({"versions": {"gramme": "1"}}))
    return folder


def test_a_result_may_be_replaced_and_so_may_an_empty_folder(tmp_path):
    (tmp_path / "empty").mkdir()
    check_earlier_result(tmp_path / "empty")
    folder = result(tmp_path / "out")
    (folder / ".DS_Store").touch()  # left by looking at the page
    (folder / "predictions").mkdir()
    (folder / "predictions" / "part-0000.csv").touch()
    check_earlier_result(folder)


@pytest.mark.parametrize("name", ["notes.txt", "predictions/mine.csv", "sub/x", ".git/config"])
def test_what_a_user_put_beside_a_result_is_not_lost(tmp_path, name):
    folder = result(tmp_path / "out")
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).touch()
    with pytest.raises(DataError, match=r"also holds '(notes.txt|mine.csv|sub|.git)'"):
        check_earlier_result(folder)


@pytest.mark.parametrize("text", ['{"port": 80}', "[]", "{no json", "[" * 100_000, ""])
def test_a_project_with_settings_of_the_same_name_is_no_result(tmp_path, text):
    (tmp_path / "config.json").write_text(text)
    with pytest.raises(DataError, match="holds something else than a gramme fit"):
        check_earlier_result(tmp_path)


def test_a_link_among_the_files_is_not_ours(tmp_path):
    folder = result(tmp_path / "out")
    (folder / "layers.csv").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(DataError, match=r"also holds 'layers.csv'"):
        check_earlier_result(folder)


def test_a_graph_in_parts(tmp_path):
    (tmp_path / "part-0000.npz").touch()
    with pytest.raises(DataError, match="something else than a graph in parts"):
        check_earlier_parts(tmp_path, "of ours")
    (tmp_path / "manifest.json").write_text('{"format": "another program\'s"}')
    with pytest.raises(DataError, match="something else than a graph in parts"):
        check_earlier_parts(tmp_path, "of ours")
    (tmp_path / "manifest.json").write_text('{"format": "of ours"}')
    check_earlier_parts(tmp_path, "of ours")
    (tmp_path / "index.html").touch()
    with pytest.raises(DataError, match=r"also holds 'index.html'"):
        check_earlier_parts(tmp_path, "of ours")
