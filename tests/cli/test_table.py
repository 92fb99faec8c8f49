"""Tables on the command line: fit --table and predict, as a person would use them."""

import json
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from gramme.cli import main
from gramme.cli.options import Reading
from gramme.cli.table import open_table, open_table_again
from gramme.io.source import gathered

FAST = ["--method", "one-hot-logistic"]


def run(*arguments: object) -> int:
    with pytest.raises(SystemExit) as end:
        main([str(one) for one in arguments])
    return int(end.value.code or 0)


def people(rows: int = 60) -> pd.DataFrame:
    """Party follows age and city; every third row has no party."""
    random = np.random.default_rng(0)
    age = random.integers(18, 80, rows)
    city = random.choice(["Köln", "Ulm", "Ürümqi"], rows)
    party = np.where(age > 45, "red", "blue").astype(object)
    party[2::3] = None
    return pd.DataFrame(
        {
            "name": [f"p{row}" for row in range(rows)],
            "age": age,
            "city": city,
            "income": random.random(rows).round(4),
            "party": party,
        }
    )


@pytest.fixture
def table(tmp_path: Path) -> Path:
    people().to_csv(tmp_path / "people.csv", index=False)
    return tmp_path / "people.csv"


def fit(table: Path, *options: object, out: str = "out") -> int:
    arguments = ["fit", table, "--table", "--label", "party", "--out", table.parent / out]
    return run(*arguments, *FAST, *options)


def test_a_table_gives_predictions_and_a_cross_validated_accuracy(
    table: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert fit(table, "--id", "name", "--bins", "age=2", "--knn", "income=3") == 0
    printed = capsys.readouterr()
    assert "60 rows, 3 layers; 40 rows have a label (2 classes), 20 do not" in printed.err
    assert "age: numbers cut at 4" in printed.err
    assert "income: each row joined to the 3 rows" in printed.err
    assert "by cross-validation on 40 labelled nodes" in printed.out
    assert "divided into 5 parts" in printed.out
    out = table.parent / "out"
    found = pd.read_csv(out / "predictions.csv").set_index("node")
    assert list(found.columns[:3]) == ["known", "predicted", "probability"]
    truth = people().set_index("name")
    assert (found["known"].fillna("") == truth["party"].fillna("")).all()
    hidden = truth["party"].isna()
    expected = np.where(truth["age"] > 45, "red", "blue")
    assert (found["predicted"] == expected)[hidden].mean() > 0.7
    config = json.loads((out / "config.json").read_text())
    estimate = config["estimate"]
    assert estimate["kind"] == "cross-validation"
    assert (estimate["nodes"], estimate["folds"]) == (40, 5)
    assert np.sum(estimate["confusion"]["counts"]) == 40
    assert np.trace(estimate["confusion"]["counts"]) / 40 == estimate["accuracy"]
    assert config["command"].startswith(f"gramme fit {table} --out {out}")
    assert "--bins age=2" in config["command"]
    assert "open " in printed.out


def test_predict_needs_no_options_and_cuts_where_the_fit_did(table: Path) -> None:
    assert fit(table, "--id", "name", "--bins", "age=3", "--columns", "age,city") == 0
    before = pd.read_csv(table.parent / "out" / "predictions.csv").set_index("node")
    some = people().iloc[[5, 17, 40]].drop(columns=["party", "income"])
    some.to_csv(table.parent / "new.csv", index=False)
    target = table.parent / "new-predictions.csv"
    assert run("predict", table.parent / "out", table.parent / "new.csv", "--out", target) == 0
    after = pd.read_csv(target).set_index("node")
    assert list(after.index) == ["p5", "p17", "p40"]
    assert after["known"].isna().all()
    for node in after.index:
        assert after["predicted"][node] == before["predicted"][node]
        assert after["probability"][node] == pytest.approx(before["probability"][node], abs=1e-5)


@pytest.mark.parametrize("form", ["semicolons", "bom", "parquet", "xlsx", "tsv"])
def test_other_forms_of_the_same_table_give_the_same(table: Path, form: str) -> None:
    other = table.with_name("other.csv")
    if form == "semicolons":
        people().to_csv(other, index=False, sep=";", decimal=",")
    elif form == "bom":
        people().to_csv(other, index=False, encoding="utf-8-sig")
    elif form == "tsv":
        other = table.with_name("other.tsv")
        people().to_csv(other, index=False, sep="\t")
    else:
        other = table.with_name(f"other.{form}")
        write = people().to_parquet if form == "parquet" else people().to_excel
        write(other, index=False)
    assert fit(table, "--id", "name", "--no-estimate") == 0
    assert fit(other, "--id", "name", "--no-estimate", out="again") == 0
    one, two = (table.parent / name / "predictions.csv" for name in ("out", "again"))
    assert one.read_text(encoding="utf-8") == two.read_text(encoding="utf-8")


def test_repeated_options_and_lists_with_commas_are_the_same(table: Path) -> None:
    options = ["--no-estimate", "--columns", "age,city", "--columns", "income"]
    assert fit(table, *options, "--bins", "age=2,income=3", out="a") == 0
    assert fit(table, *options, "--bins", "age=2", "--bins", "income=3", out="b") == 0
    one, two = (json.loads((table.parent / n / "config.json").read_text()) for n in "ab")
    assert one["table"] == two["table"]
    assert list(one["table"]["layers"]) == ["age", "city", "income"]
    assert len(one["table"]["layers"]["income"]["choice"]) == 2


def test_columns_together_and_stated_cuts(table: Path) -> None:
    assert fit(table, "--no-estimate", "--knn", "age+income=4", "--id", "name") == 0
    config = json.loads((table.parent / "out" / "config.json").read_text())
    assert list(config["table"]["layers"]) == ["city", "age+income"]
    assert fit(table, "--no-estimate", "--bins", "age=30:50", "--id", "name", out="b") == 0
    config = json.loads((table.parent / "b" / "config.json").read_text())
    assert config["table"]["layers"]["age"]["choice"] == [30, 50]


def test_labels_from_a_file_of_their_own(table: Path) -> None:
    people().drop(columns="party").to_csv(table, index=False)
    labels = table.with_name("labels.csv")
    known = people().dropna(subset="party")
    known[["name", "party"]].rename(columns={"name": "node"}).to_csv(labels, index=False)
    arguments = ["fit", table, "--table", "--id", "name", "--labels", labels, "--no-estimate"]
    assert run(*arguments, *FAST, "--out", table.parent / "out") == 0
    found = pd.read_csv(table.parent / "out" / "predictions.csv")
    assert found["known"].notna().sum() == 40


def test_row_names_without_a_header_are_names(table: Path, capsys) -> None:
    people().drop(columns="name").to_csv(table, index_label="")
    assert fit(table, "--no-estimate") == 0
    assert "taken for the names of the rows" in capsys.readouterr().err


def test_every_row_labelled_says_that_there_is_nothing_to_predict(table: Path, capsys) -> None:
    people().fillna({"party": "green"}).to_csv(table, index=False)
    assert fit(table, "--columns", "age,city") == 0
    assert "every node has a label, so there is none left to predict" in capsys.readouterr().out


def test_holdout_folds_and_no_estimate(table: Path, capsys) -> None:
    assert fit(table, "--holdout", "25%", "--json", "--columns", "age") == 0
    estimate = json.loads(capsys.readouterr().out)["estimate"]
    assert (estimate["kind"], estimate["nodes"]) == ("holdout", 10)
    assert fit(table, "--folds", "3", "--json", "--columns", "age", "--overwrite") == 0
    assert json.loads(capsys.readouterr().out)["estimate"]["folds"] == 3
    assert fit(table, "--no-estimate", "--columns", "age", "--overwrite") == 0
    assert "accuracy: not known (it was not asked for)" in capsys.readouterr().out


MISTAKES = [
    (["--label", "prty"], "label: there is no column 'prty'; did you mean 'party'?"),
    (["--columns", "age,citty"], "there is no column 'citty'; did you mean 'city'?"),
    (["--bins", "agee=5"], "there is no column 'agee'; did you mean 'age'?"),
    (["--bins", "age"], "write it as COLUMN=VALUE, like age=5"),
    (["--bins", "age=five"], "this must be a whole number"),
    (["--bins", "age=1"], "bins must be a whole number of at least 2"),
    (["--bins", "age=50:30"], "must rise"),
    (["--bins", "city=3"], "is not a finite number"),
    (["--knn", "income=0"], "whole number of at least 1"),
    (["--knn", "age+incme=3"], "did you mean 'income'?"),
    (["--id", "city"], "is there already; every row needs a name of its own"),
    (["--id", "party"], "cannot be both --id and --label"),
    (["--split", "city"], "write it as COLUMN=MARK"),
    (["--columns", "party"], "is the label or id"),
    (["--from", "mpx"], "--from cannot go with --table"),
    (["--folds", "1"], "at least 2"),
    (["--folds", "3", "--holdout", "20%"], "choose one"),
]


@pytest.mark.parametrize(("options", "message"), MISTAKES, ids=[" ".join(m[0]) for m in MISTAKES])
def test_mistakes_say_what_would_be_right(
    table: Path, capsys: pytest.CaptureFixture[str], options: list[str], message: str
) -> None:
    assert fit(table, *options) == 2
    printed = capsys.readouterr().err
    assert message in printed.replace("\n", " ")
    assert "Traceback" not in printed
    assert [path.name for path in table.parent.iterdir()] == ["people.csv"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"party": None}, "the column 'party' is empty in every row"),
        ({"party": "red"}, "all 60 known labels are 'red'"),
        (
            {"party": [f"p{place}" for place in range(60)]},
            "has another value in each of the 60 rows that have one; labels must repeat",
        ),
        ({"party": [1000.5 + 7 * place for place in range(60)]}, "--label-kind number keeps"),
    ],
    ids=["no label", "one class", "all different", "amounts"],
)
def test_labels_that_cannot_be_learned(table: Path, capsys, change, message: str) -> None:
    people().assign(**change).to_csv(table, index=False)
    assert fit(table) == 2
    assert message in capsys.readouterr().err


def test_a_table_without_table_says_what_to_add(table: Path, capsys) -> None:
    assert run("fit", table, "--out", table.parent / "out") == 2
    message = capsys.readouterr().err
    assert "add --table --label COLUMN" in message
    assert "columns: name, age, city, income, party" in message
    assert run("fit", table, "--bins", "age=5", "--out", table.parent / "out") == 2
    assert "--bins can be said about a table only; add --table" in capsys.readouterr().err
    assert run("fit", table, "--table", "--out", table.parent / "out") == 2
    assert "say with --label which column" in capsys.readouterr().err
    assert run("fit", "balance_scale", "--table", "--out", table.parent / "out") == 2
    assert "leave out --table" in capsys.readouterr().err


def test_predict_with_a_table_that_lacks_a_column(table: Path, capsys) -> None:
    assert fit(table, "--no-estimate", "--columns", "age,city") == 0
    people()[["age"]].to_csv(table, index=False)
    assert run("predict", table.parent / "out", table, "--out", table.parent / "p.csv") == 2
    assert "there is no column 'city'" in capsys.readouterr().err
    (table.parent / "out" / "config.json").write_text("{no json")
    assert run("predict", table.parent / "out", table, "--out", table.parent / "p.csv") == 2
    assert "config.json cannot be read" in capsys.readouterr().err
    assert not (table.parent / "p.csv").exists()


def test_the_guide_works_word_for_word(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    guide = (Path(__file__).parents[2] / "docs" / "how-to" / "tables.md").read_text(encoding="utf-8")
    example = guide.split(":caption: club.csv\n\n")[1].split("```")[0]
    commands = [line for line in guide.splitlines() if line.startswith("gramme ")][:2]
    monkeypatch.chdir(tmp_path)
    Path("club.csv").write_text(example, encoding="utf-8")
    rows = example.splitlines()
    new = [rows[0], *(row.rpartition(",")[0] + "," for row in rows[1:])]
    Path("club-new.csv").write_text("\n".join(new) + "\n", encoding="utf-8")
    for command in commands:
        assert run(*shlex.split(command)[1:]) == 0
    found = pd.read_csv("club/predictions.csv").set_index("node")
    assert found["predicted"].to_dict() == {
        **dict.fromkeys(["Ann", "Bo", "Cy", "Gil"], "yes"),
        **dict.fromkeys(["Di", "Ed", "Flo", "Hu"], "no"),
    }
    again = pd.read_csv("new-predictions.csv").set_index("node")
    assert (again["predicted"] == found["predicted"]).all()
    assert again["known"].isna().all()
    assert Path("club/report.html").is_file()


def test_a_dry_run_shows_the_plan_and_writes_nothing(table: Path, capsys) -> None:
    rows = people().assign(same="x", joined="31/12/2020", remark=[f"r{n}" for n in range(60)])
    rows.loc[:19, "joined"] = "01/02/2019"
    rows.loc[20:39, "joined"] = "05/06/2021"
    rows.loc[:29, "city"] = "NA"
    rows.to_csv(table, index=False)
    options = ["--table", "--label", "party", "--id", "name"]
    assert run("fit", table, *options, "--dry-run") == 0
    printed = capsys.readouterr().out
    assert "joined: dates, 3 groups by year (--dates joined=weekday, --bins joined=5)" in printed
    assert "city: 3 categories, 50 % missing" in printed
    assert "same: left out, its only value is 'x' (--columns names the columns to use)" in printed
    assert "remark: left out, its values are all different" in printed
    assert not (table.parent / "out").exists()
    assert run("fit", table, *options) == 2
    assert "--out" in capsys.readouterr().err
    assert fit(table, "--id", "name", "--no-estimate", "--dates", "joined=weekday") == 0
    config = json.loads((table.parent / "out" / "config.json").read_text())
    assert config["table"]["layers"]["joined"]["choice"] == "weekday"
    assert set(config["table"]["left_out"]) == {"same", "remark"}


def test_a_messy_table_becomes_what_it_was_meant_to_be(table: Path, capsys) -> None:
    """Semicolons, Latin-1, decimal commas, dates, a mark for no answer and free text, as a survey leaves them."""
    random = np.random.default_rng(1)
    lines = ["Name;Alter;Einkommen;Beitritt;Ort;Bemerkung;Partei"]
    for row in range(200):
        age = "NSP" if row % 33 == 0 else str(int(random.integers(18, 80)))
        income = f"{int(random.integers(1, 99))} {int(random.integers(0, 999)):03d},50"
        date = f"{int(random.integers(1, 29)):02d}/{int(random.integers(1, 13)):02d}/{2015 + row % 5}"
        town = ["Köln", "Ulm", "01067"][row % 3]
        party = ["rot", "blau", ""][row % 3]
        lines.append(f"p{row};{age};{income};{date};{town};Text {row};{party}")
    table.write_bytes("\n".join(lines).encode("cp1252"))
    options = ["--table", "--label", "Partei", "--id", "Name", "--dry-run"]
    assert run("fit", table, *options) == 0
    printed = capsys.readouterr().out
    assert "read as Windows-1252" in printed
    assert "96 % of 'Alter' are numbers" in printed
    assert "add --missing NSP" in printed
    assert "are numbers (" in printed
    assert "Einkommen: numbers cut at" in printed
    assert "Beitritt: dates, 5 groups by year" in printed
    assert "Bemerkung: left out" in printed
    assert run("fit", table, *options, "--missing", "NSP") == 0
    assert "Alter: numbers cut at" in capsys.readouterr().out


def test_cuts_between_dates_are_shown_as_dates(table: Path, capsys) -> None:
    days = np.datetime64("1950-01-01") + np.arange(0, 16000, 80)
    rows = [f"{k},{day},{'xy'[k % 2]}" for k, day in enumerate(days)]
    table.write_text("\n".join(["who,born,team", *rows]))
    assert run("fit", table, "--table", "--label", "team", "--id", "who", "--dry-run", "--bins", "born=3") == 0
    printed = capsys.readouterr().out
    assert "born: dates cut at 19" in printed
    assert "T0" not in printed.partition("born:")[2].partition("\n")[0]


def test_what_a_model_has_not_seen_is_said(tmp_path):
    rows = [("Ulm", "red"), ("Bonn", "blue")] * 12
    (tmp_path / "first.csv").write_text("city,party\n" + "".join(f"{a},{b}\n" for a, b in rows))
    with gathered():
        _, record = open_table(tmp_path / "first.csv", Reading(is_table=True, label="party"))
    (tmp_path / "second.csv").write_text("city,age\nUlm,3\nRome,4\nRome,5\n")
    record = json.loads(json.dumps(record))
    with gathered() as notes:
        open_table_again(tmp_path / "second.csv", record, Reading(is_table=True))
    assert any("'age' is not used" in note for note in notes.all)
    assert any("'city' has values that the model has not seen: 'Rome'" in note for note in notes.all)


def test_predictions_hold_the_truth_of_labels_that_were_held_out_and_the_columns_of_the_table(tmp_path, capsys):
    table = tmp_path / "people.csv"
    given = people()
    given.insert(0, "predicted", [f"=note {k}" for k in range(len(given))])
    given.to_csv(table, index=False)
    assert fit(table, "--id", "name", "--columns", "age,city", "--holdout", "50%", "--keep-columns") == 0
    found = pd.read_csv(tmp_path / "out" / "predictions.csv", keep_default_na=False)
    assert found["held_out"].any()
    assert not found["held_out"].all()
    assert (found["known"][found["held_out"]] == "").all()
    assert found["true_label"].tolist() == given["party"].fillna("").tolist()
    assert found["city"].tolist() == given["city"].fillna("").tolist()
    assert found["given_predicted"].tolist() == [f"'=note {k}" for k in range(len(given))]
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "<dt>Predicted</dt><dd><strong><bdi>party</bdi></strong>" in page
    assert "alike in 2 columns" in page


def test_columns_are_kept_of_a_table_only(tmp_path, capsys):
    with pytest.raises(SystemExit):
        main(["fit", "balance_scale", "--keep-columns", "--out", str(tmp_path / "x")])
    assert "it goes with --table" in capsys.readouterr().err


def test_a_table_of_counts_is_doubted_and_hints_can_be_pasted(tmp_path, capsys) -> None:
    path = tmp_path / "titanic.dat"
    rows = [
        f"{age} {sex} {count} {known}" for age in range(60) for sex, count, known in (("m", 9, "no"), ("f", 70, "yes"))
    ]
    path.write_text("\n".join(['"passenger age" sex Freq survived', *rows]) + "\n")
    assert run("info", path, "--table", "--label", "survived") == 0
    told = "".join(capsys.readouterr())
    assert "'Freq' may count whom each row stands for" in told.replace("\n", " ")
    assert "--bins 'passenger age=5'" in told
