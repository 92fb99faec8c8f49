import re

import pytest

from gramme.cli import main
from gramme.methods import METHODS


def run(*words):
    with pytest.raises(SystemExit) as end:
        main(list(words))
    return end.value.code or 0


def test_the_demo_does_the_main_job(tmp_path, monkeypatch, capsys):
    # tests/test_packaging.py runs it as it is, with the default method
    monkeypatch.setattr("gramme.cli.demo.DEFAULT_METHOD", "label-propagation")
    monkeypatch.chdir(tmp_path)
    assert run("demo") == 0
    printed = capsys.readouterr().out
    assert re.search(r"accuracy on 43\d held-out nodes: [6-9]\d", printed)
    assert "left_weight" in printed
    assert "open gramme-demo/report.html" in printed
    assert (tmp_path / "gramme-demo" / "report.html").is_file()


def test_methods_are_listed_with_what_they_need(capsys):
    assert run("methods") == 0
    printed = capsys.readouterr().out
    rows = [line for line in printed.splitlines()[1:] if not line.startswith(" ")]
    assert [row.split()[0] for row in rows] == list(METHODS)
    assert "gramme[walks]" in printed
