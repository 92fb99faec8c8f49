"""A survey as sociologists have it, from the files of R to a page: every number on it is one of the tables'."""

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.cli.test_fit import run
from tests.report.page.test_sentences import found, text_of

COUNT = 45
NAMES = ["Žofia Nováková", "李 雷", "O'Brien, Seán", *(f"P{k:02d}" for k in range(3, COUNT))]
TEAMS = np.array(list("ABC"))[np.arange(COUNT) % 3]


@pytest.fixture(scope="module")
def survey(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two edge lists and a table of people as ``write.csv`` leaves them: row names, quotes, NA."""
    folder, random = tmp_path_factory.mktemp("survey"), np.random.default_rng(0)
    for name, loyal in (("advice", 0.9), ("friends", 0.5)):
        source = random.integers(COUNT, size=150)
        near = (source + 3 * random.integers(1, COUNT // 3, size=150)) % COUNT
        target = np.where(random.random(150) < loyal, near, (source + 1) % COUNT)
        table = pd.DataFrame({"from": np.array(NAMES)[source], "to": np.array(NAMES)[target]})
        table.index += 1
        table.to_csv(folder / f"{name}.csv", quoting=2)
    age = pd.Series(random.integers(20, 65, COUNT), dtype=object)
    age[::9] = np.nan
    people = pd.DataFrame(
        {
            "name": NAMES,
            "Team": pd.Series(TEAMS).where(np.arange(COUNT) % 5 > 1),
            "Gender": random.choice(["f", "m"], COUNT),
            "Age": age,
            "Joined": [f"{k % 28 + 1:02d}/0{k % 9 + 1}/{2015 + k % 4}" for k in range(COUNT)],
            "Postcode": random.choice(["01067", "04155", "10115"], COUNT),
        }
    )
    people.index += 1
    people.to_csv(folder / "people.csv", na_rep="NA", quoting=2)
    return folder


@pytest.fixture(scope="module")
def fitted(survey: Path) -> Path:
    edges = [survey / "advice.csv", survey / "friends.csv"]
    options = ["--labels", survey / "people.csv", "--label", "Team", "--directed"]
    method = ["--method", "label-propagation", "--out", survey / "out"]
    assert run("fit", *edges, *options, *method) == 0
    return survey / "out"


def test_the_files_are_read_as_what_they_are(fitted: Path) -> None:
    notes = "\n".join(json.loads((fitted / "config.json").read_text())["reading"])
    assert "'' is not used, it only numbers the rows" in notes
    assert "'Gender' is a layer of 2 groups" in notes
    assert "'Age' is a feature, a number; 5 unknown, filled with the median" in notes
    assert "'Joined' is a layer of 4 groups" in notes
    assert "'Postcode' is a layer of 3 groups" in notes
    assert "18 labels read as unknown: NA" in notes


def test_every_number_of_the_page_is_one_of_the_tables(fitted: Path) -> None:
    text = text_of((fitted / "report.html").read_text(encoding="utf-8"))
    config = json.loads((fitted / "config.json").read_text())
    table = pd.read_csv(fitted / "predictions.csv")
    known = table["known"].notna()
    assert table["node"].tolist() == [name for name in table["node"] if name in NAMES]
    learned, nodes = found(r"learned from the labels of (\d+) of (\d+) nodes", text)
    assert (int(learned), int(nodes)) == (known.sum(), COUNT)
    (others,) = found(r"for the other (\d+) nodes", text)
    assert int(others) == (~known).sum()
    right = (table["known"] == table["out_of_fold_predicted"])[known]
    said, tested = found(r"([\d.]+) % accuracy on (\d+) labelled nodes", text)
    assert int(tested) == known.sum() == config["estimate"]["nodes"]
    assert float(said) == pytest.approx(100 * right.mean(), abs=0.05)
    (guess,) = found(r"the most common class, would be right for (\d+) %", text)
    assert int(guess) == round(100 * table["known"].value_counts(normalize=True).iloc[0])
    matrix = pd.crosstab(table["known"], table["out_of_fold_predicted"])
    for team in "ABC":
        cells = found(rf"{team} (\d+) (\d+) (\d+) \d+ % ", text)
        assert [int(cell) for cell in cells] == matrix.reindex(columns=list("ABC")).loc[team].fillna(0).tolist()
    layers = pd.read_csv(fitted / "layers.csv").set_index("layer")["importance"]
    section = text[text.index("the shares add up to 100 %") :]
    for layer, share in layers.items():
        (told,) = found(rf"{layer} ([\d.]+) %", section)
        assert float(told) == pytest.approx(100 * share, abs=0.06)
    assert "advice, friends" in text
    assert re.search(r"--directed\b", text)
    for name in NAMES[:3]:
        row = table[table["node"] == name]
        assert len(row) == 1
        shares = row[[f"probability_{team}" for team in "ABC"]].to_numpy()[0]
        assert row["probability"].item() == pytest.approx(shares.max())
        assert row["predicted"].item() == "ABC"[shares.argmax()]
