import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from gramme.cli import main

FAST = ["--method", "gramme-fusion", "--set", "epochs=5", "--set", "ensemble=2"]


def run(*arguments: object) -> int:
    with pytest.raises(SystemExit) as end:
        main([str(one) for one in arguments])
    return int(end.value.code or 0)


@pytest.fixture
def school(tmp_path: Path) -> Path:
    """Two groups of friends, one label each, as an edge file with a labels file."""
    edges = ["layer,source,target"]
    for layer in ("talk", "play"):
        for group in ("ABCD", "WXYZ"):
            edges += [f"{layer},{one},{other}" for one in group for other in group if one < other]
    (tmp_path / "school.csv").write_text("\n".join(edges) + "\n")
    (tmp_path / "labels.csv").write_text("node,label\nA,left\nB,left\nW,right\nX,right\n")
    return tmp_path


def test_fit_and_predict_from_files(school: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = school / "out"
    arguments = [school / "school.csv", "--labels", school / "labels.csv", "--out", out]
    assert run("fit", *arguments, "--set", "epochs=40") == 0
    printed = capsys.readouterr()
    assert "learned from 4 of 8 nodes" in printed.out
    assert "talk" in printed.out
    assert "made of: " in printed.out, "the default method says what it relied on"
    assert "by cross-fitting on 4 labelled nodes" in printed.out
    assert "each label was predicted out of fold" in printed.out
    assert f"open {out / 'report.html'}" in printed.out
    table = pd.read_csv(out / "predictions.csv").set_index("node")
    assert table["predicted"][list("ABCD")].eq("left").all()
    assert table["predicted"][list("WXYZ")].eq("right").all()
    assert table["known"].notna().sum() == 4
    again = school / "again.csv"
    assert run("predict", out, school / "school.csv", "--out", again) == 0
    assert (pd.read_csv(again).set_index("node")["predicted"] == table["predicted"]).all()
    assert run("predict", out / "model.safetensors", school / "school.csv", "--out", again) == 2
    assert "exists already" in capsys.readouterr().err


def test_holdout_and_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["fit", "wine", "--holdout", "90%", "--json", *FAST]
    assert run(*arguments, "--out", tmp_path / "a", "--seed", 3) == 0
    first = json.loads(capsys.readouterr().out)
    estimate = first["estimate"]
    assert (first["training_labels"], estimate["nodes"]) == (18, 160)
    assert estimate["kind"] == "holdout"
    low, high = estimate["accuracy_ci95"]
    assert low < estimate["accuracy"] < high
    assert sum(first["layer_importance"].values()) == pytest.approx(1)
    assert run(*arguments, "--out", tmp_path / "b", "--seed", 3) == 0
    assert json.loads(capsys.readouterr().out)["estimate"] == estimate
    one, other = ((tmp_path / name / "predictions.csv").read_bytes() for name in "ab")
    assert one == other


def test_an_interrupt_in_the_first_epoch_writes_nothing(
    school: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("gramme.training.loop._step", interrupt)
    before = set(school.iterdir())
    arguments = [school / "school.csv", "--labels", school / "labels.csv", "--out", school / "out"]
    assert run("fit", *arguments, *FAST) == 130
    assert "Traceback" not in capsys.readouterr().err
    assert set(school.iterdir()) == before


def test_quiet_prints_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--quiet", "--folds", 2, *FAST]
    assert run("fit", "wine", "--out", tmp_path / "a", *options) == 0
    printed = capsys.readouterr()
    assert (printed.out, printed.err) == ("", "")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nothing.csv"], "there is no file 'nothing.csv'"),
        (["balance_scal"], "did you mean 'balance_scale'"),
        (["balance_scale", "--method", "gramme-fusio"], "did you mean 'gramme-fusion'"),
        (["balance_scale", "--set", "epoch=3"], "did you mean 'epochs'"),
        (["balance_scale", "--set", "epochs=0"], "epochs must be a whole number"),
        (["balance_scale", "--holdout", "much"], "'much' is not a share"),
        (["balance_scale", "--holdout", "100%"], "'100%' is not a share"),
        (["balance_scale", "--device", "abacus"], "device"),
        (["synthetic", "--labels", "x"], "comes complete"),
    ],
)
def test_mistakes_end_with_code_2_and_one_message(
    arguments: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("fit", *arguments, "--out", tmp_path / "out") == 2
    printed = capsys.readouterr()
    assert message in printed.err
    assert "Traceback" not in printed.err
    assert list(tmp_path.iterdir()) == []


def test_labels_that_do_not_fit(school: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (school / "labels.csv").write_text("node,label\nA,left\nQ,right\n")
    arguments = ["fit", school / "school.csv", "--labels", school / "labels.csv"]
    assert run(*arguments, "--out", school / "out") == 2
    message = capsys.readouterr().err
    assert "labels.csv" in message
    assert "Q" in message
    assert not (school / "out").exists()


def test_a_model_that_is_none(school: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (school / "model.safetensors").write_bytes(b"no model")
    arguments = ["predict", school / "model.safetensors", school / "school.csv"]
    assert run(*arguments, "--out", school / "p.csv") == 2
    assert "not a complete safetensors file" in capsys.readouterr().err
    assert run("predict", school / "none", school / "school.csv", "--out", school / "p.csv") == 2
    assert not (school / "p.csv").exists()


def test_the_accuracy_without_each_layer(tmp_path, capsys):
    random = np.random.default_rng(0)
    side = random.integers(0, 2, 80)
    rows = []
    for layer, share in (("telling", 0.95), ("noise", 0.5)):
        for node in range(80):
            for _ in range(3):
                alike = random.random() < share
                other = random.choice(np.flatnonzero((side == side[node]) == alike))
                rows += [f"{layer},n{node},n{other}"] if other != node else []
    (tmp_path / "e.csv").write_text("layer,source,target\n" + "\n".join(rows))
    (tmp_path / "l.csv").write_text("node,side\n" + "\n".join(f"n{k},{'ab'[side[k]]}" for k in range(80)))
    options = ["--labels", tmp_path / "l.csv", "--method", "label-propagation", "--leave-one-layer-out"]
    assert run("fit", tmp_path / "e.csv", *options, "--out", tmp_path / "out") == 0
    assert "accuracy without a layer" in capsys.readouterr().out
    config = json.loads((tmp_path / "out" / "config.json").read_text())
    found = config["without_layer"]
    assert [row["layer"] for row in found["layers"]] == ["telling", "noise"], "the one that is missed most comes first"
    assert found["accuracy"] == config["estimate"]["accuracy"]
    telling = found["layers"][0]
    assert telling["low"] < telling["change"] < telling["high"] < 0
    assert telling["accuracy"] == pytest.approx(found["accuracy"] + telling["change"])
    layers = pd.read_csv(tmp_path / "out" / "layers.csv").set_index("layer")
    assert layers.loc["telling", "accuracy_without"] == pytest.approx(telling["accuracy"], abs=1e-5)
    assert "How accurate it is without a layer" in (tmp_path / "out" / "report.html").read_text()
    for more, message in ((["--no-estimate"], "leave out --no-estimate"), (["--workers", 2], "in one process")):
        assert run("fit", tmp_path / "e.csv", *options, *more, "--out", tmp_path / "no") == 2
        assert message in capsys.readouterr().err
