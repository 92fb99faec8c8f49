import json
import math
from pathlib import Path

import pytest
from tests.cli.test_fit import run
from tests.processes import HeardCommand

import gramme
from gramme._text import (
    duration,
    escape,
    json_text,
    number_within,
    on_command_line,
    rough_duration,
    rough_number,
    setting,
    visible,
)
from gramme.errors import DataError
from gramme.evaluation.cross_validation import fold_note


def test_a_note_names_the_option_or_the_argument() -> None:
    assert "(folds=5 tests all)" in fold_note(5, 2, [])
    with on_command_line():
        assert "(--folds 5 tests all)" in fold_note(5, 2, [])
        assert setting("ingredients", ["a", "b"], of_method=True) == """--set ingredients='["a","b"]'"""
    assert setting("folds") == "folds", "the command line's way ends with it"


def test_the_same_mistake_is_told_in_the_words_of_the_place(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, target = tmp_path / "a.csv", tmp_path / "b.mpx"
    source.write_text("layer,source,target\nx,A,B\n")
    target.write_text("here already")
    with pytest.raises(DataError, match="say overwrite=True"):
        gramme.write(gramme.read(source), target, overwrite=False)
    assert run("convert", source, target) == 2
    told = capsys.readouterr().err
    assert "say --overwrite" in told
    assert "overwrite=True" not in told


STEERING = "\x1b]0;title\x07\x9b31m\u202e\r\x00"


def test_what_steers_a_terminal_is_spelled_out_and_all_else_stays():
    assert visible("Zoë\t[b]\n日本") == "Zoë\t[b]\n日本"
    assert visible(STEERING) == "\\x1b]0;title\\x07\\x9b31m\\u202e\\r\\x00"
    assert visible("\udcff") == "\\udcff"
    assert escape("[bold]\x1b") == "\\[bold]\\x1b"


def test_json_has_letters_as_they_are_and_nothing_that_steers():
    told = {f"Zoë {STEERING}": ["日本", "\udcff"]}
    text = json_text(told, indent=2)
    assert "Zoë" in text
    assert "日本" in text
    assert visible(text) == text
    assert json.loads(text) == told


@pytest.fixture
def hostile(tmp_path) -> Path:
    path = tmp_path / "graph.csv"
    name = f"lay{STEERING[:-2]}er Zoë"
    path.write_text(f"layer,source,target\n{name},a,b\n{name},b,c\n", encoding="utf-8")
    return path


@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
@pytest.mark.parametrize("command", ["info", "fit"])
def test_no_layer_name_reaches_the_terminal_raw(hostile, encoding, command):
    options = ["--out", str(hostile.parent / "out")] if command == "fit" else []
    folder = hostile.parent / "said"
    folder.mkdir()
    run = HeardCommand(folder, command, hostile, *options, PYTHONIOENCODING=encoding)
    code, *both = run.done()
    said = "".join(both)
    assert code == (2 if command == "fit" else 0), said
    assert "Traceback" not in said
    assert "\x1b" not in said
    assert "\x07" not in said
    assert command == "fit" or "\\x1b" in said
    assert said.isascii() or encoding == "utf-8"


@pytest.mark.parametrize(
    ("seconds", "exact", "rough"),
    [
        (0, "0 s", "1 s"),
        (59.4, "59 s", "59 s"),
        (59.6, "1 min 0 s", "60 s"),
        (3599, "59 min 59 s", "60 min"),
        (3600, "1 h 0 min", "60 min"),
        (36_000, "10 h 0 min", "10.0 h"),
    ],
)
def test_times_in_words(seconds, exact, rough):
    assert duration(seconds) == exact
    assert rough_duration(seconds) == rough


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (48211.37, "48,210"),
        (999.96, "1,000"),
        (1234567, "1,235,000"),
        (0.5, "0.5"),
        (-0.00012, "-0.00012"),
        (0.0, "0"),
        (3e-7, "3e-07"),
        (math.inf, "inf"),
    ],
)
def test_numbers_are_written_as_people_write_them(value: float, text: str) -> None:
    assert rough_number(value) == text


@pytest.mark.parametrize(
    ("value", "width", "text"),
    [
        (0.7209, 94.458, "0.7"),
        (-0.0312, 94.458, "0.0"),
        (15234.56, 7100.0, "15,235"),
        (0.51234, 0.0321, "0.5123"),
        (132.365, 0.0, "132.4"),
        (math.inf, 94.458, "inf"),
    ],
)
def test_a_number_has_the_decimals_that_its_uncertainty_allows(value: float, width: float, text: str) -> None:
    assert number_within(value, width) == text
