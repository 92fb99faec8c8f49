"""Any command with any options on any bytes ends with exit code 0 or 2: never in a traceback, a hang or a full memory.

Cases run many to a process, which the memory is limited in and which is ended when a case takes too long. A case that
fails is kept in ``corpus``, with its files and words, and run again ever after.
"""

import contextlib
import io
import json
import os
import random
import shutil
import signal
import time
import traceback
import warnings
from pathlib import Path
from types import FrameType

import pytest
from tests.processes import Command, Process
from tests.sizes import sample

from gramme.cli import main
from gramme.cli.memory import bounded_memory
from gramme.graph import EdgeLayer, MembershipLayer, MultilayerGraph
from gramme.io import write

CASES, USUAL = 100_000, 1000
PARTS = 5  # the usual cases are run in so many tests, so that they share out among processes
BATCH = 500  # cases to a process
CORPUS = Path(__file__).with_name("corpus")
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
RAW = {chr(code) for code in [*range(32), *range(127, 160)]} - {"\n", "\t", "\r"}
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


@pytest.fixture(scope="session")
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
    folder = tmp_path_factory.mktemp("made")
    (folder / "people.csv").write_text(TABLE)
    words = [
        "fit",
        folder / "people.csv",
        "--table",
        "--label",
        "party",
        "--no-estimate",
        "--quiet",
    ]
    run = Command(*words, "--method", "one-hot-logistic", "--out", folder / "good-model")
    assert run.wait() == 0
    words = [
        "benchmark",
        "--datasets",
        "wine",
        "--methods",
        "majority",
        "--repeats",
        "1",
        "--jobs",
        "1",
    ]
    assert Command(*words, "--quiet", "--train", "50", "--out", folder / "good.sqlite").wait() == 0
    names = {
        "model": ["model.safetensors", "report.html", "predictions.csv"],
        "config": ["config.json"],
    }
    for part, files in names.items():
        found[part] = {
            f"good-model/{name}": (folder / "good-model" / name).read_bytes() for name in files
        }
    found["ledger"] = {"good.sqlite": (folder / "good.sqlite").read_bytes()}
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
    commands = ["info"] * 10 + ["convert"] * 6 + ["fit"] * 5 + ["predict"] * 4
    commands += ["rank", "links", "benchmark", "results", "report", "report", "other", "other"]
    match chance.choice(commands):
        case "fit":
            words = ["fit", data, "--method", chance.choice(METHODS)]
            if chance.random() < 0.1:
                words = ["fit", data, "--method", "gramme-fusion", "--set", "epochs=1"]
                words += ["--set", "ensemble=1", "--set", chance.choice(SETTINGS)]
            if data == "people.csv":
                words += ["--table", "--label", "party"]
            words += [] if chance.random() < 0.1 else ["--no-estimate"]
            return [*words, *options(chance, list(VALUES)), "--out", str(out)]
        case "info":
            words = ["--table"] if data == "people.csv" and chance.random() < 0.5 else []
            return ["info", data, *words, *options(chance, common)]
        case "convert":
            return ["convert", data, f"{out}.{chance.choice(ENDINGS)}", *options(chance, common)]
        case "predict":
            model = chance.choice(["good-model", "good-model/model.safetensors", data, "none"])
            return ["predict", model, data, "--out", f"{out}.csv", *options(chance, common)]
        case "rank":
            words = ["--no-spread", "--seeds", "0", "--measures", "degree,pagerank"]
            return ["rank", data, *words, *options(chance, common), "--out", str(out)]
        case "links":
            return ["links", data, "--top", "3", *options(chance, common), "--out", str(out)]
        case "benchmark":
            words = [
                "--methods",
                chance.choice(["majority", *JUNK]),
                "--repeats",
                "1",
                "--jobs",
                "1",
            ]
            words += ["--train", chance.choice(["50", "10,90", *JUNK])]
            return ["benchmark", "--datasets", data, *words, "--out", f"{out}.sqlite"]
        case "results":
            words = ["--format", chance.choice(["table", "csv", "json", *JUNK])]
            return ["results", chance.choice(["good.sqlite", data]), *words]
        case "report":
            source = chance.choice(["good.sqlite", "good-model", "good-model/report.html", data])
            words = ["--data", data] if chance.random() < 0.5 else []
            return ["report", source, *words, "--out", f"{out}.html"]
    names = ["fit", "predict", "methods", "datasets", "info", "help", "new", "rank", "links"]
    names += ["results", "report", "benchmark", "convert", *JUNK]
    return [chance.choice(names), *options(chance, list(VALUES))]


class NoEndError(BaseException):
    """A case took too long; no OSError, as TimeoutError is, which the command line would turn into a message."""


def no_answer(number: int, frame: FrameType | None) -> None:
    raise NoEndError(f"no end after {SECONDS} s")


def make_case(seed: int, good: dict[str, dict[str, bytes]], folder: Path) -> list[str]:
    """Put the files of a case into a folder; returns the words of its command."""
    chance = random.Random(seed)
    kind = chance.choice([*ENDINGS, "people", "people", "people"])
    names = list(good[kind])
    spoiled = chance.choice(names)
    for name, data in good[kind].items():
        (folder / name).write_bytes(spoil(data, chance) if name == spoiled else data)
    main_file = next(name for name in names if name in (f"good.{kind}", "people.csv"))
    (folder / "good.labels").write_bytes(spoil(b"l\nl\nr\nr\nl\nr\nl\nr\n", chance))
    for part, often in (("model", 0.05), ("ledger", 0.3), ("config", 0.05)):
        for name, data in good[part].items():
            changed = spoil(data, chance) if chance.random() < often else data
            (folder / name).write_bytes(changed)
    return arguments(chance, main_file, Path("out"))


def try_case(words: list[str], folder: Path) -> int:
    """Run a command; an AssertionError says what is wrong with how it ended."""
    signal.signal(signal.SIGALRM, no_answer)
    signal.alarm(SECONDS)
    said = io.StringIO()
    try:
        with (
            contextlib.redirect_stdout(said),
            contextlib.redirect_stderr(said),
            bounded_memory("of the machine", most=MEMORY),
        ):
            main(words)
        code: object = 0
    except SystemExit as end:
        code = end.code or 0
    except BaseException as error:
        raise AssertionError(f"gramme {words!r} ended in {error!r}") from error
    finally:
        signal.alarm(0)
    assert code in (0, 2), f"gramme {words!r} ended with {code}"
    shown = said.getvalue()
    assert "Traceback" not in shown, f"gramme {words!r} shows a traceback"
    assert "site-packages" not in shown, f"gramme {words!r} shows a path of a library"
    assert "src/gramme" not in shown, f"gramme {words!r} shows a path of the library"
    assert not set(shown) & RAW, f"gramme {words!r} shows control characters"
    left = [path.name for path in folder.iterdir() if path.name.startswith((".out", ".gramme"))]
    assert left == [], f"gramme {words!r} left {left}"
    if words[0] in ("fit", "rank", "links") and code == 2:
        assert not (folder / "out").exists(), f"gramme {words!r} left a folder"
    return int(str(code))


def clear(folder: Path) -> None:
    for path in [*folder.glob("out*"), *folder.glob(".out*")]:
        shutil.rmtree(path) if path.is_dir() else path.unlink()


def run_batch(seeds: range, good: dict[str, dict[str, bytes]], folder: Path) -> None:
    """In a process of its own; notes the case under way, and the codes or the failure in the end."""
    os.chdir(folder)
    (folder / "good-model").mkdir(exist_ok=True)
    codes = []
    for seed in seeds:
        (folder / "case").write_text(str(seed))
        words = make_case(seed, good, folder)
        try:
            codes.append(try_case(words, folder))
        except BaseException:
            (folder / "failure").write_text(f"case {seed}: {traceback.format_exc()}")
            raise
        clear(folder)
    (folder / "codes").write_text(json.dumps(codes))


def run_cases(seeds: range, good: dict[str, dict[str, bytes]], folder: Path) -> None:
    codes: list[int] = []
    for begin in range(seeds.start, seeds.stop, BATCH):
        batch = range(begin, min(begin + BATCH, seeds.stop))
        for name in ("failure", "codes", "case"):
            (folder / name).unlink(missing_ok=True)
        process = Process(run_batch, batch, good, folder)
        case, since = "", time.monotonic()
        while process.poll() is None:
            time.sleep(0.05)
            now = (folder / "case").read_text() if (folder / "case").exists() else ""
            if now != case:
                case, since = now, time.monotonic()
            if time.monotonic() - since > 3 * SECONDS:
                process.kill()
        if not (folder / "codes").exists():
            kept = keep(int((folder / "case").read_text() or -1), good)
            why = (folder / "failure").read_text() if (folder / "failure").exists() else "no end"
            pytest.fail(f"{why}\nkept in {kept}; exit code {process.poll()}")
        codes += json.loads((folder / "codes").read_text())
    assert {0, 2} == set(codes)  # neither is everything refused nor everything taken


def keep(seed: int, good: dict[str, dict[str, bytes]]) -> Path:
    """A case as it is, since another version of this file would make another of its number."""
    place = CORPUS / str(seed)
    (place / "good-model").mkdir(parents=True, exist_ok=True)
    words = make_case(seed, good, place)
    (place / "words.json").write_text(json.dumps(words))
    return place


@pytest.mark.parametrize("part", range(PARTS))
def test_any_command_on_any_bytes_ends_with_a_message(part, good, tmp_path):
    run_cases(range(part * USUAL // PARTS, (part + 1) * USUAL // PARTS), good, tmp_path)


@pytest.mark.slow
def test_a_hundred_thousand_inputs(good, tmp_path):
    run_cases(range(USUAL, USUAL + sample(CASES, least=40)), good, tmp_path)


@pytest.mark.parametrize("case", sorted(CORPUS.glob("*")) or [None], ids=str)
def test_what_once_went_wrong(case, tmp_path, monkeypatch):
    if case is None:
        pytest.skip("nothing is kept")
    shutil.copytree(case, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    try_case(json.loads((case / "words.json").read_text()), tmp_path)
