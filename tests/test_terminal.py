import json
from pathlib import Path

import pytest
from tests.processes import HeardCommand

from gramme._terminal import escape, json_text, visible

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
