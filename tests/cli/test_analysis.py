"""What links and ranks share: nothing is read where the folder cannot be written, and the record has the command."""

import json

import pytest

from gramme.cli import main


@pytest.mark.parametrize("command", ["rank", "links"])
def test_a_folder_that_is_no_result_is_refused_before_the_data_are_read(tmp_path, command, capsys):
    (tmp_path / "notes.txt").write_text("mine")
    broken = tmp_path.with_name("no_such_format.csv")
    broken.write_text("\0")
    with pytest.raises(SystemExit) as end:
        main([command, str(broken), "--overwrite", "--out", str(tmp_path)])
    assert end.value.code == 2
    assert "no_such_format" not in capsys.readouterr().err
    assert (tmp_path / "notes.txt").read_text() == "mine"


def test_a_script_is_told_the_files_and_the_record_has_the_command(tmp_path, capsys):
    target = tmp_path / "ranks"
    with pytest.raises(SystemExit) as end:
        main(["rank", "balance_scale", "--no-spread", "--json", "--out", str(target)])
    assert not end.value.code
    told = json.loads(capsys.readouterr().out)
    assert sorted(told["files"]) == sorted(path.name for path in target.iterdir())
    config = json.loads((target / "config.json").read_text())
    assert config["data"] == "balance_scale"
    assert config["seconds"] >= 0
