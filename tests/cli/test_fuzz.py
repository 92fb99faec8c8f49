"""Malformed files and options by the thousand: each ends with exit code 0 or 2, never in a traceback or a hang."""

import random
import signal
import warnings
from pathlib import Path
from types import FrameType

import pytest
from tests.sizes import sample

from gramme.cli import main
from gramme.cli.memory import bounded_memory
from gramme.graph import EdgeLayer, MembershipLayer, MultilayerGraph
from gramme.io import write

CASES, USUAL = 2000, 300
PARTS = 5  # the usual cases are run in so many tests, so that they share out among processes
SECONDS = 60  # what no case may take; most take a few hundredths
MEMORY = (
    2 << 30
)  # bytes that a case may take, so that a case which goes wrong does not harm the machine
ENDINGS = ["csv", "tsv", "mpx", "net", "graphml", "npz", "parquet", "muxviz", "edges"]
TABLE = "name,age,city,income,born,party\n" + "".join(
    f"p{row},{row % 31},{'Ulm' if row % 3 else 'Bonn'},{row * 7 % 11}.5,2001-0{1 + row % 9}-11,"
    f"{['red', 'blue', ''][row % 3]}\n"
    for row in range(40)
)
JUNK = [
    *("", " ", "0", "-1", "1e999", "nan", "inf", "9" * 400, "é", "\u202e", "\ud7ff", "\U0001f600"),
    *("[red]", "[/]", "<script>", "a" * 5000, "--", "-", "=", ",", ";", "age", "age=5", "a+b=3"),
    *("..", "/", "/dev/null", "/dev/zero", "/proc/self/mem", "'", '"', "%s", "{}", "\t", "\n", "?"),
    *("true", "None", "[]", "{", '{"a": 1}', "1:2", "50:30", "20%", "101%", "utf-16", "rot13"),
]
METHODS = ["majority", "label-propagation", "one-hot-logistic"]
# Options that take a value, with some that are right.
VALUES = {
    "--label": ["party", "city", "age", "label"],
    "--labels": ["good.labels", "people.csv"],
    "--labels-format": ["list", "pairs"],
    "--id": ["name", "city"],
    "--columns": ["age,city", "city", "income", "born"],
    "--bins": ["age=5", "age=10:20", "born=2001-02-01:2001-03-01", "income=2,age=3"],
    "--quantiles": ["age=3", "born=2"],
    "--knn": ["income=3", "age+income=2", "age=1000"],
    "--split": ["city=l", "name=p"],
    "--missing": ["Ulm", "99", "red,blue"],
    "--holdout": ["20%", "0.5", "99%", "1%"],
    "--folds": ["2", "3", "1000"],
    "--set": ["epochs=1", "alpha=0.5", "regularization=1", "C=1", "x=y"],
    "--seed": ["0", "7"],
    "--device": ["cpu", "auto", "tpu"],
    "--embedding": ["csv", "parquet", "none"],
    "--from": ["csv", "mpx", "pajek", "npz", "authors", "multiplex"],
    "--encoding": ["utf-8", "latin-1", "utf-16"],
    "--method": METHODS,
}
SETTINGS = [
    *("heads={}", "depth=0", 'heads={"talk": 1}', "learning_rate=1e30", "learning_rate=nan"),
    *("hidden_dim=1000000000", "hidden_dim=1e99", "feature_dim=-1", "activation=x", "dropout=1"),
    *('class_weight={"l": 0}', "class_weight=balanced", "features=given", "fuse=end", "epochs=9e9"),
]
FLAGS = ["--table", "--missing-group", "--directed", "--undirected", "--json", "--quiet"]
FLAGS += ["--no-estimate", "--overwrite", "--nonsense"]


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, bytes]]:
    """The files of a small graph in every format, and a table: ending -> name -> bytes."""
    layers = {
        "talk": EdgeLayer(8, [0, 1, 2, 4, 5], [1, 2, 3, 5, 6]),
        "room": MembershipLayer.from_values(["x", "x", "y", "y", "x", "z", "z", None]),
    }
    labels = ["l", "l", None, None, "r", "r", None, None]
    plain = {"talk": layers["talk"], "play": EdgeLayer(8, [0, 3, 7], [2, 4, 6])}
    found = {}
    for ending in ENDINGS:
        folder = tmp_path_factory.mktemp(ending)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            chosen = layers if ending in ("csv", "npz", "parquet") else plain
            known = [1, 1, None, None, 2, 2, None, None] if ending == "net" else labels
            graph = MultilayerGraph(chosen, nodes=[str(i) for i in range(1, 9)], labels=known)
            write(graph, folder / f"good.{ending}")
        found[ending] = {path.name: path.read_bytes() for path in sorted(folder.iterdir())}
    found["people"] = {"people.csv": TABLE.encode()}
    return found


def spoil(data: bytes, chance: random.Random) -> bytes:
    """Bytes with a few things wrong."""
    for _ in range(chance.choice([0, 1, 1, 2, 5])):
        place = chance.randrange(len(data) + 1)
        end = min(len(data), place + chance.choice([1, 1, 3, 20]))
        match chance.randrange(7):
            case 0:
                data = data[:place]
            case 1:
                data = data[:place] + chance.randbytes(end - place) + data[end:]
            case 2:
                data = data[:place] + chance.choice(JUNK).encode("utf-8", "replace") + data[end:]
            case 3:
                data = data[:place] + data[end:]
            case 4:
                data = data[:place] + data[max(0, place - 200) : end] + data[place:]
            case 5:
                lines = data.split(b"\n")
                chance.shuffle(lines)
                data = b"\n".join(lines)
            case 6:
                data = data.replace(
                    chance.choice([b",", b"\t", b" ", b"1"]), chance.choice([b";", b"", b"2"])
                )
    return data


def options(chance: random.Random, known: list[str]) -> list[str]:
    words = []
    for _ in range(chance.choice([0, 1, 2, 4])):
        if chance.random() < 0.3:
            words.append(chance.choice(FLAGS))
        else:
            name = chance.choice(known)
            right = chance.random() < 0.6
            words += [name, chance.choice(VALUES[name] if right else JUNK)]
    return words


def arguments(chance: random.Random, data: str, out: Path) -> list[str]:
    """A command about a file, more often right than wrong."""
    if chance.random() < 0.05:
        data = chance.choice([*JUNK, "balance_scal", "."])
    common = ["--from", "--labels", "--labels-format", "--label", "--encoding"]
    match chance.choice(["fit"] * 6 + ["info", "convert", "predict", "other"]):
        case "fit":
            words = ["fit", data, "--method", chance.choice(METHODS)]
            if chance.random() < 0.1:
                words = ["fit", data, "--method", "gramme-fusion", "--set", "epochs=1"]
                words += ["--set", "ensemble=1", "--set", chance.choice(SETTINGS)]
            if data == "people.csv":
                words += ["--table", "--label", "party"]
            words += [] if chance.random() < 0.3 else ["--no-estimate"]
            return [*words, *options(chance, list(VALUES)), "--out", str(out)]
        case "info":
            return ["info", data, *options(chance, common)]
        case "convert":
            return ["convert", data, f"{out}.{chance.choice(ENDINGS)}", *options(chance, common)]
        case "predict":
            model = chance.choice(["good-model", "good-model/model.safetensors", data, "none"])
            return ["predict", model, data, "--out", f"{out}.csv", *options(chance, common)]
    return [
        chance.choice(["fit", "predict", "methods", "datasets", "info", *JUNK]),
        *options(chance, list(VALUES)),
    ]


class NoEndError(BaseException):
    """A case took too long; no OSError, as TimeoutError is, which the command line would turn into a message."""


def no_answer(number: int, frame: FrameType | None) -> None:
    raise NoEndError(f"no end after {SECONDS} s")


def try_case(seed: int, good: dict[str, dict[str, bytes]], folder: Path) -> int:
    chance = random.Random(seed)
    kind = chance.choice([*ENDINGS, "people", "people", "people"])
    names = list(good[kind])
    spoiled = chance.choice(names)
    for name, data in good[kind].items():
        (folder / name).write_bytes(spoil(data, chance) if name == spoiled else data)
    main_file = next(name for name in names if name in (f"good.{kind}", "people.csv"))
    (folder / "good.labels").write_bytes(spoil(b"l\nl\nr\nr\nl\nr\nl\nr\n", chance))
    model = (folder / "good-model" / "model.safetensors").read_bytes()
    if chance.random() < 0.05:
        (folder / "good-model" / "model.safetensors").write_bytes(spoil(model, chance))
    words = arguments(chance, main_file, folder / "out")
    signal.signal(signal.SIGALRM, no_answer)
    signal.alarm(SECONDS)
    try:
        with bounded_memory("of the machine", most=MEMORY):
            main(words)
        code: object = 0
    except SystemExit as end:
        code = end.code or 0
    except BaseException as error:
        raise AssertionError(f"case {seed}: gramme {words!r} ended in {error!r}") from error
    finally:
        signal.alarm(0)
        (folder / "good-model" / "model.safetensors").write_bytes(model)
    assert code in (0, 2), f"case {seed}: gramme {words!r} ended with {code}"
    left = [path.name for path in folder.iterdir() if path.name.startswith((".out", ".gramme"))]
    assert left == [], f"case {seed}: gramme {words!r} left {left}"
    if words[0] == "fit" and code == 2:
        assert not (folder / "out").exists(), f"case {seed}: gramme {words!r} left a folder"
    return int(str(code))


def run_cases(
    cases: range, good: dict[str, dict[str, bytes]], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    (folder / "people.csv").write_text(TABLE)
    words = ["fit", "people.csv", "--table", "--label", "party", "--method", "one-hot-logistic"]
    with pytest.raises(SystemExit):
        main([*words, "--no-estimate", "--quiet", "--out", "good-model"])
    codes = []
    for case in cases:
        codes.append(try_case(case, good, folder))
        for path in folder.glob("out*"):
            if path.is_dir():
                for file in path.iterdir():
                    file.unlink()
                path.rmdir()
            else:
                path.unlink()
    assert {0, 2} == set(codes)  # neither is everything refused nor everything taken


@pytest.mark.parametrize("part", range(PARTS))
def test_malformed_input_ends_with_a_message(part, good, tmp_path, monkeypatch):
    cases = range(part * USUAL // PARTS, (part + 1) * USUAL // PARTS)
    run_cases(cases, good, tmp_path, monkeypatch)


@pytest.mark.slow
def test_two_thousand_malformed_inputs(good, tmp_path, monkeypatch):
    run_cases(range(sample(CASES, least=40)), good, tmp_path, monkeypatch)
