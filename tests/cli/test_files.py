"""The commands info and convert."""

import json
import subprocess
import sys

import pytest
from tests.io.cases import sample_graph

from gramme.cli import main
from gramme.io import read, write


@pytest.fixture
def run(capsys):
    """Run a command in this process: exit code, standard output, standard error."""

    def call(*arguments):
        with pytest.raises(SystemExit) as caught:
            main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return caught.value.code or 0, captured.out, captured.err

    return call


@pytest.fixture
def school(tmp_path):
    path = tmp_path / "school.csv"
    path.write_text("layer,source,target\nchat,1,2\nchat,2,1\nchat,2,2\nlunch,1,3\n")
    (tmp_path / "school.labels").write_text("x\ny\nx\n")
    return path


def one_message(err):
    """Errors are one message that starts so, never a traceback."""
    assert err.startswith("Error: ")
    assert "Traceback" not in err
    return err


def test_info_shows_what_was_read(run, school):
    code, out, _ = run("info", school, "--labels", school.with_name("school.labels"))
    assert code == 0
    for words in (
        "format     csv",
        "school.labels",
        "rows read  4",
        "whole numbers from 1",
        "undirected, the default",
        "3 of 3 nodes, 2 classes: x (2), y (1)",
    ):
        assert words in out
    chat = next(line for line in out.splitlines() if line.strip().startswith("chat"))
    assert chat.split()[-2:] == ["1", "1"]


def test_json_does_not_steer_the_terminal(run, tmp_path):
    path = tmp_path / "names.csv"
    path.write_text("layer,source,target\nabc\u202ecba,a,b\n", encoding="utf-8")
    code, out, _ = run("info", "--json", path)
    assert code == 0
    assert "\u202e" not in out
    assert json.loads(out)["layers"][0]["layer"] == "abc\u202ecba"


def test_info_as_json(run, school):
    code, out, _ = run("info", "--json", "--directed", school)
    assert code == 0
    facts = json.loads(out)
    assert facts["nodes"] == 3
    assert facts["reading"]["direction"] == "directed, as asked for"
    assert [layer["edges"] for layer in facts["layers"]] == [2, 1]
    assert facts["layers"][0]["self_loops_dropped"] == 1
    assert facts["classes"] is None


def test_info_on_several_files_and_a_dataset(run, school):
    code, out, _ = run("info", "--json", school, "balance_scale")
    assert code == 0
    first, second = map(json.loads, out.splitlines())
    assert first["reading"]["format"] == "csv"
    assert second["reading"] is None
    assert second["nodes"] == 625
    assert {layer["kind"] for layer in second["layers"]} == {"membership"}
    assert run("info", "balance_scale")[0] == 0


def test_a_file_wins_over_a_dataset_of_the_same_name(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "balance_scale").write_text("1 1 2\n")
    code, out, _ = run("info", "--json", "--from", "multiplex", "balance_scale")
    assert code == 0
    assert json.loads(out)["nodes"] == 2


def test_markup_in_names_is_shown_as_it_is(run, tmp_path):
    path = tmp_path / "g.csv"
    path.write_text("layer,source,target\n[bold]x[/bold],[red],b\n")
    code, out, _ = run("info", path)
    assert code == 0
    assert "[bold]x[/bold]" in out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["info", "missing.csv"], "there is no file 'missing.csv'"),
        (["info", "balance_scal"], "did you mean 'balance_scale'"),
        (["info", "balance_scale", "--directed"], "is a dataset, which comes complete; leave out --directed"),
        (["convert", "missing.csv", "out.mpx"], "there is no file 'missing.csv'"),
    ],
)
def test_mistakes_end_with_code_2_and_one_message(run, tmp_path, monkeypatch, arguments, words):
    monkeypatch.chdir(tmp_path)
    code, out, err = run(*arguments)
    assert code == 2
    assert words in one_message(err)
    assert out == ""
    assert not list(tmp_path.iterdir())


def test_a_bad_line_is_named(run, school):
    school.write_text("layer,source,target\nchat,1\n")
    code, _, err = run("info", school)
    assert code == 2
    assert f"{school}, line 2: there are 2 cells" in one_message(err)


def test_convert(run, school, tmp_path):
    target = tmp_path / "school.npz"
    code, out, _ = run("convert", school, target, "--labels", school.with_name("school.labels"))
    assert code == 0
    assert "3 nodes, 2 layers" in out
    assert read(target).labels.tolist() == ["x", "y", "x"]


def test_convert_notes_what_is_lost(run, tmp_path):
    write(sample_graph(), tmp_path / "g.npz")
    code, _, err = run("convert", tmp_path / "g.npz", tmp_path / "g.net")
    assert code == 0
    assert "Note: the format 'pajek' cannot hold features" in err


def test_convert_by_named_formats(run, school, tmp_path):
    code, _, _ = run("convert", school, tmp_path / "out.txt", "--from", "csv", "--to", "mpx", "--directed")
    assert code == 0
    assert read(tmp_path / "out.txt", format="mpx").layers["chat"].directed
    code, _, err = run("convert", school, tmp_path / "out.doc")
    assert code == 2
    assert "the format cannot be told from the name" in one_message(err)


def test_convert_does_not_overwrite_unasked(run, school, tmp_path):
    target = tmp_path / "out.mpx"
    target.write_text("precious")
    code, _, err = run("convert", school, target)
    assert code == 2
    assert "exists already" in one_message(err)
    assert "overwrite" in err
    assert target.read_text() == "precious"
    assert run("convert", school, target, "--overwrite")[0] == 0
    assert read(target).num_nodes == 3


@pytest.mark.parametrize(
    ("arguments", "code"), [(["info", "school.csv"], 0), (["info", "other.csv"], 2), (["convert"], 2)]
)
def test_as_a_program(school, arguments, code):
    done = subprocess.run(
        [sys.executable, "-c", "from gramme.cli import main; main()", *arguments],
        cwd=school.parent,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == code
    assert "Traceback" not in done.stderr


def test_na_is_unknown_and_said(run, tmp_path):
    (tmp_path / "g.csv").write_text("source,target\na,b\nb,c\n")
    (tmp_path / "l.csv").write_text("node,label\na,x\nb,NA\nc,99\n")
    data = ["info", tmp_path / "g.csv", "--labels", tmp_path / "l.csv"]
    code, printed, _ = run(*data, "--missing", "99")
    assert code == 0
    assert "1 of 3 nodes, 1 classes: x (1)" in printed
    assert "2 labels read as unknown: NA, 99" in printed
    assert "3 of 3 nodes, 3 classes" in run(*data, "--keep-na")[1]


def test_info_and_convert_take_tables(run, tmp_path):
    (tmp_path / "t.csv").write_text("who,city,age,team\na,Ulm,1,x\nb,Ulm,2,y\nc,Bonn,2,\n")
    options = ["--table", "--label", "team", "--id", "who"]
    code, printed, _ = run("info", tmp_path / "t.csv", *options)
    assert code == 0
    assert "2 of 3 nodes, 2 classes" in printed
    assert run("convert", tmp_path / "t.csv", tmp_path / "t.npz", *options)[0] == 0
    assert list(read(tmp_path / "t.npz").layers) == ["city", "age"]


def test_edges_with_a_table_of_people(run, tmp_path):
    """Edges plus attributes is the standard dataset: info shows what each column becomes, and fit learns from it."""
    (tmp_path / "g.csv").write_text("source,target\na,b\nb,c\nc,d\nd,e\ne,f\n")
    (tmp_path / "people.csv").write_text(
        "who,Team,Gender,Age\na,x,f,20\nb,x,f,\nc,x,m,31\nd,y,m,44\ne,y,m,50\nf,NA,f,61\n"
    )
    data = [tmp_path / "g.csv", "--labels", tmp_path / "people.csv", "--label", "Team"]
    code, printed, _ = run("info", *data)
    assert code == 0
    assert "people.csv: 'Gender' is a layer of 2 groups" in printed
    assert "people.csv: 'Age' is a feature, a number; 1 unknown, filled with the median" in printed
    out = tmp_path / "out"
    options = ["--method", "one-hot-logistic", "--no-estimate", "--out", out]
    code, _, err = run("fit", *data, *options, "--layers-from", "Gender")
    assert code == 0, err
    assert "1 label read as unknown: NA" in err
    config = json.loads((out / "config.json").read_text())
    assert config["layers"] == 2
    assert "1 label read as unknown: NA" in config["reading"]
    assert "<li>1 label read as unknown: NA</li>" in (out / "report.html").read_text()
    code, _, err = run("info", *data, "--features", "Gendr")
    assert code == 2
    assert "did you mean 'Gender'" in one_message(err)


def test_amounts_as_labels_are_shown_but_not_learned(run, tmp_path):
    rows = range(60)
    (tmp_path / "g.csv").write_text("source,target\n" + "".join(f"{row},{row + 1}\n" for row in rows))
    (tmp_path / "l.csv").write_text("node,label\n" + "".join(f"{row},{row * 3}\n" for row in rows))
    data = [tmp_path / "g.csv", "--labels", tmp_path / "l.csv"]
    code, printed, _ = run("info", *data)
    assert code == 0
    assert "numbers with 60 different values" in printed
    fit = ["fit", *data, "--method", "majority", "--no-estimate", "--out", tmp_path / "out"]
    code, _, err = run(*fit)
    assert code == 2
    assert "--label-bins 4" in one_message(err)
    code, _, err = run(*fit, "--label-edges", "50,100")
    assert code == 0, err
    config = json.loads((tmp_path / "out" / "config.json").read_text())
    assert config["classes"] == ["100 and above", "[50, 100)", "below 50"]


def test_one_file_per_layer(run, tmp_path):
    for name in ("advice", "friends"):
        (tmp_path / f"{name}.csv").write_text("ego,alter\na,b\nb,c\nc,d\nd,a\n")
    (tmp_path / "people.csv").write_text("who,Team,Age\na,x,1\nb,x,2\nc,y,3\nd,y,5\n")
    layers = [tmp_path / "advice.csv", tmp_path / "friends.csv"]
    labels = ["--labels", tmp_path / "people.csv", "--label", "Team"]
    code, printed, err = run("info", *layers, *labels)
    assert code == 0, err
    assert "read 'ego' as source, 'alter' as target" in printed
    assert printed.count("labels") == 1
    assert run("info", *layers, "--each")[1].count("rows read") == 2
    out = tmp_path / "out"
    code, _, err = run("fit", *layers, *labels, "--method", "majority", "--no-estimate", "--out", out)
    assert code == 0, err
    config = json.loads((out / "config.json").read_text())
    assert config["layers"] == 2
    assert config["command"].startswith(f"gramme fit {layers[0]} {layers[1]} --")
    assert run("convert", *layers, tmp_path / "both.npz")[0] == 0
    assert list(read(tmp_path / "both.npz").layers) == ["advice", "friends"]
    code, _, err = run("info", *layers, tmp_path / "people.csv")
    assert code == 2
    assert "leave it out of the files and add --labels" in one_message(err)


def test_a_list_without_a_header(run, tmp_path):
    (tmp_path / "g.csv").write_text("Ann,Bo\nBo,Cy\n")
    code, _, err = run("info", tmp_path / "g.csv")
    assert code == 2
    assert "add --no-header" in one_message(err)
    assert run("info", tmp_path / "g.csv", "--no-header")[0] == 0


@pytest.mark.parametrize("words", [["info", "no.csv"], ["fit", "no.csv"], ["fit", "g.csv", "--labels", "no.csv"]])
def test_a_missing_file_is_refused_before_large_libraries_are_loaded(tmp_path, words):
    (tmp_path / "g.csv").write_text("source,target\na,b\n")
    script = (
        "import sys\nfrom gramme.cli import main\ntry:\n    main()\n"
        "except SystemExit as end:\n    print(end.code, 'torch' in sys.modules, 'numpy' in sys.modules)"
    )
    command = [sys.executable, "-c", script, *words, *(["--out", "r"] if words[0] == "fit" else [])]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["2", "False", "False"], done.stderr
    assert "'no.csv'" in done.stderr
