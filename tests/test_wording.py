"""Messages speak of options on the command line and of arguments in Python."""

from pathlib import Path

import pytest
from tests.cli.test_fit import run

import gramme
from gramme._wording import on_command_line, setting
from gramme.errors import DataError
from gramme.evaluation.cross_validation import fold_note


def test_a_note_names_the_option_or_the_argument() -> None:
    assert "(folds=5 tests all)" in fold_note(5, 2, [])
    with on_command_line():
        assert "(--folds 5 tests all)" in fold_note(5, 2, [])
        assert (
            setting("ingredients", ["a", "b"], of_method=True)
            == """--set ingredients='["a","b"]'"""
        )
    assert setting("folds") == "folds", "the command line's way ends with it"


def test_the_same_mistake_is_told_in_the_words_of_the_place(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, target = tmp_path / "a.csv", tmp_path / "b.mpx"
    source.write_text("layer,source,target\nx,A,B\n")
    target.write_text("here already")
    with pytest.raises(DataError, match="say overwrite=True"):
        gramme.write(gramme.read(source), target, overwrite=False)
    assert run("convert", source, target) == 2
    told = capsys.readouterr().err
    assert "say --overwrite" in told
    assert "overwrite=True" not in told
