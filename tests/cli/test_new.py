"""gramme new on a plain terminal: answers on standard input, a command that runs."""

import io
import os
import subprocess
import sys

import pandas as pd
import pytest

from gramme.cli import main

PEOPLE = "who,team,city,age\n" + "".join(
    f"p{row},{['red', 'blue', ''][row % 3]},{['Ulm', 'Bonn'][row % 2]},{20 + row}\n" for row in range(30)
)


@pytest.fixture
def answer(tmp_path, monkeypatch, capsys):
    """The exit code and what is printed after these answers."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.csv").write_text(PEOPLE)
    edges = "".join(f"p{row},p{row + 1}\n" for row in range(29))
    (tmp_path / "ties.csv").write_text("ego,alter\n" + edges)
    (tmp_path / "more.csv").write_text("ego,alter\n" + edges)

    def run(*answers, options=()):
        monkeypatch.setattr("sys.stdin", io.StringIO("".join(f"{line}\n" for line in answers)))
        with pytest.raises(SystemExit) as end:
            main(["new", *options])
        printed = capsys.readouterr()
        return int(end.value.code or 0), printed.out, printed.err

    return run


def test_a_table(answer):
    code, out, _ = answer("people.csv", "", "team", "who", "result", options=["--print"])
    assert code == 0
    assert out.strip() == "gramme fit people.csv --table --label team --id who --out result"


def test_ties_with_a_table_of_people(answer):
    code, out, _ = answer("ties.csv more.csv", "tie", "people.csv", "team", "who", "", options=["--print"])
    assert code == 0
    assert out.strip() == ("gramme fit ties.csv more.csv --labels people.csv --label team --id who --out ties-result")


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        (["gone.csv"], "there is no file 'gone.csv'"),
        (["people.csv", "elephant"], "'elephant' is not an answer"),
        (["people.csv", "person", "taem"], "no column 'taem'; did you mean 'team'"),
        (["people.csv", "person", ""], "nothing to learn"),
    ],
)
def test_mistakes(answer, answers, message):
    code, _, err = answer(*answers)
    assert code == 2
    assert message in err


def test_it_runs_what_it_prints(answer, tmp_path):
    """A process of its own with a plain pipe for a terminal."""
    answers = "ties.csv\ntie\npeople.csv\nteam\nwho\nout\n"
    done = subprocess.run(
        [sys.executable, "-m", "gramme", "new", "--print"],
        input=answers,
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=True,
    )
    words = done.stdout.split()
    assert words[:3] == ["gramme", "fit", "ties.csv"]
    with pytest.raises(SystemExit) as end:
        main([*words[1:], "--method", "majority", "--no-estimate"])
    assert not end.value.code
    assert len(pd.read_csv(tmp_path / "out" / "predictions.csv")) == 30


def test_answers_that_end_too_early_are_a_message(answer):
    code, out, err = answer("people.csv")
    assert (code, out.strip()) == (2, "")
    assert "the answers ended before the questions did" in err


def test_a_matrix_is_told_from_a_table(answer, tmp_path):
    names = [f"p{row}" for row in range(5)]
    ties = pd.DataFrame(0, index=names, columns=names)
    ties.loc["p0", "p1"] = ties.loc["p1", "p2"] = 1
    ties.to_csv(tmp_path / "who.csv")
    code, out, err = answer("who.csv", "", "people.csv", "team", "who", "", options=["--print"])
    assert code == 0
    assert "read as a matrix of ties, 5 x 5, with names" in err
    assert out.strip().startswith("gramme fit who.csv --labels people.csv --label team")


@pytest.mark.skipif(sys.platform == "win32", reason="a terminal of Unix")
def test_a_person_who_mistypes_is_asked_again(tmp_path):
    import pty

    (tmp_path / "people.csv").write_text(PEOPLE)
    ours, theirs = pty.openpty()
    answers = "peple.csv\npeople.csv\nelephant\nperson\ntaem\nteam\n\nresult\n"
    os.write(ours, answers.encode())
    ran = subprocess.run(
        [sys.executable, "-m", "gramme", "new", "--print"],
        cwd=tmp_path,
        stdin=theirs,
        capture_output=True,
        text=True,
        check=False,
    )
    os.close(ours)
    os.close(theirs)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.strip() == "gramme fit people.csv --table --label team --out result"
    for told in ("no file 'peple.csv'", "'elephant' is not an answer", "did you mean 'team'"):
        assert told in ran.stderr
