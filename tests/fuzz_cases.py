"""Cases of the fuzz test: small files of every format, spoiled, and a command with options about one of them."""

import contextlib
import io
import random
import sqlite3
import warnings
from collections.abc import Callable
from pathlib import Path

import openpyxl
from tests.processes import Command

from gramme.graph import EdgeLayer, MembershipLayer, MultilayerGraph
from gramme.io import write

Files = dict[str, dict[str, bytes]]
"""Kind -> name -> bytes."""

ENDINGS = ["csv", "tsv", "mpx", "net", "graphml", "npz", "parquet", "muxviz", "edges", "json", "infomap"]
READ_ONLY = {
    "gexf": """<?xml version="1.0" encoding="UTF-8"?>
<gexf xmlns="http://gexf.net/1.3" version="1.3"><graph defaultedgetype="undirected">
<attributes class="node"><attribute id="0" title="label" type="string"/></attributes>
<nodes><node id="1" label="a"><attvalues><attvalue for="0" value="l"/></attvalues></node><node id="2"/></nodes>
<edges><edge source="1" target="2" weight="2.0"/><edge source="2" target="1"/></edges></graph></gexf>""",
    "gml": """graph [ directed 0
  node [ id 1 label "a" ] node [ id 2 label "b" ] node [ id 3 label "c" ]
  edge [ source 1 target 2 layer "talk" ] edge [ source 2 target 3 value 1.5 ] ]""",
    "dl": "dl n=3 format=fullmatrix\nlabels:\na,b,c\ndata:\n0 1 0\n1 0 1\n0 1 0\n",
    "matrix": "0 1 0\n1 0 1\n0 1 0\n",
}
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
# most often the one that is fitted at once: what is tested here is the way there and back
METHODS = ["majority"] * 8 + ["label-propagation", "one-hot-logistic"]
# Options that take a value, with some that are right: those about reading, and those of single commands.
READING = {
    "--label": ["party", "city", "age", "label"],
    "--labels": ["good.labels", "people.csv", "more.csv"],
    "--labels-format": ["list", "pairs"],
    "--label-bins": ["2", "4", "1000000000"],
    "--label-edges": ["5,20", "5:10:20", "20,5"],
    "--label-kind": ["class", "number"],
    "--from": ["csv", "mpx", "pajek", "npz", "authors", "multiplex"],
    "--encoding": ["utf-8", "latin-1", "utf-16"],
    "--missing": ["Ulm", "99", "red,blue"],
    "--relation": ["a:b=pairs.csv", "a:likes:a=pairs.csv", "b:c=good.csv", "a:b=people.csv"],
    "--target": ["a", "b", "c"],
    "--path": ["a-b", "a-b-a", "b-c-b", "a-a"],
    "--id": ["name", "city"],
    "--columns": ["age,city", "city", "income", "born"],
    "--features": ["age", "income,age", "city"],
    "--layers-from": ["city", "age,city"],
    "--edge-features": ["age", "minutes,kind"],
    "--bins": ["age=5", "age=10:20", "born=2001-02-01:2001-03-01", "income=2,age=3"],
    "--quantiles": ["age=3", "born=2"],
    "--knn": ["income=3", "age+income=2", "age=1000"],
    "--split": ["city=l", "name=p"],
    "--dates": ["born=month", "born=year", "age=weekday"],
}
COVERAGE = {"--coverage": ["90%", "0.5", "100%", "1e-9"]}
OF_COMMAND: dict[str, dict[str, list[str]]] = {
    "fit": COVERAGE
    | {
        "--holdout": ["20%", "0.5", "99%", "1%"],
        "--folds": ["2", "3", "1000"],
        "--class-weight": ["balanced"],
        "--budget": ["90s", "1h", "0s", "1e9h"],
        "--set": ["epochs=1", "alpha=0.5", "regularization=1", "C=1", "x=y"],
        "--seed": ["0", "7"],
        "--device": ["cpu", "auto", "tpu"],
        "--embedding": ["auto", "csv", "parquet", "none"],
        "--method": METHODS,
    },
    "convert": {
        "--to": ["csv", "pajek", "npz", "muxviz"],
        "--parts": ["1", "2", "7", "1000"],
        "--assign": ["contiguous", "random", "communities"],
    },
    "predict": COVERAGE,
    "rank": {
        "--measures": ["degree", "pagerank,voterank", "degree,degree", "eigenvector"],
        "--layer": ["talk", "room", "play", "x"],
        "--coupling": ["0", "0.5", "1e300"],
        "--near": ["1", "7", "a", "p3"],
        "--seeds": ["0", "2", "100"],
        "--spreading": ["cascade", "threshold"],
        "--probability": ["0", "0.3", "1"],
    },
    "links": {
        "--layer": ["talk", "room", "play", "x"],
        "--top": ["1", "1000000000"],
        "--node": ["1", "7", "a", "p3"],
        "--pairs": ["pairs.csv", "people.csv"],
    },
    "benchmark": {
        "--task": ["labels", "links"],
        "--set": ["majority.x=1", "alpha=0.5"],
        "--repeats": ["2", "0"],
        "--backend": ["loky"],
    },
    "results": {
        "--show": ["accuracy", "time", "ranks"],
        "--train": ["50", "10"],
        "--figure": ["out.png", "out.svg", "out.xyz"],
    },
    "report": {},
    "info": {},
}
EVERY = {name: values for of in OF_COMMAND.values() for name, values in of.items()} | READING
SETTINGS = [
    *("heads={}", "depth=0", 'heads={"talk": 1}', "learning_rate=1e30", "learning_rate=nan"),
    *("hidden_dim=1000000000", "hidden_dim=1e99", "feature_dim=-1", "activation=x", "dropout=1"),
    *('class_weight={"l": 0}', "class_weight=balanced", "features=given", "fuse=end", "epochs=9e9"),
]
FLAGS = ["--table", "--missing-group", "--directed", "--undirected", "--no-header", "--keep-na"]
FLAGS += ["--json", "--quiet", "--overwrite", "--raw-csv", "--nonsense"]
FLAGS_OF_COMMAND = {
    "fit": ["--no-estimate", "--coverage-by-class", "--dry-run", "--resume"],
    "predict": ["--allow-unknown", "--coverage-by-class"],
    "rank": ["--per-layer", "--no-spread"],
    "benchmark": ["--force"],
    "info": ["--each"],
}
PAIRS = b"source,target\n1,2\na,b\np1,p2\nb,c\n3,1\n"
MORE = b"node,age,city,label\n1,2,Ulm,l\n2,3,Bonn,r\n3,2,Ulm,l\n5,1,Bonn,r\np1,4,Ulm,l\np2,,Ulm,r\n"
ADDRESSES = [
    *("sqlite:good.db?table=edges", "sqlite:good.db?query=SELECT source, target FROM edges"),
    *("sqlite:good.db?query=DROP TABLE edges", "sqlite:good.db?table=x'y", "sqlite:good.db?"),
    *("sqlite:?table=edges", "sqlite:/dev/zero?table=x", "sqlite:good.db?query=SELECT 1;SELECT 2"),
    *("sqlite:good.db?query=ATTACH 'x.db' AS x", "sqlite:good.db?table=edges&table=edges"),
]
KINDS = [*ENDINGS, *READ_ONLY, "xlsx", "db", "people", "people", "people"]


def good_files(new_folder: Callable[[str], Path]) -> Files:
    """The files of a small graph in every format, and a table: ending -> name -> bytes."""
    layers = {
        "talk": EdgeLayer(7, [0, 1, 2, 4, 5], [1, 2, 3, 5, 6]),
        "room": MembershipLayer.from_values(["x", "x", "y", "y", "x", "z", None]),
    }
    labels = ["l", "l", None, None, "r", "r", None]
    plain = {"talk": layers["talk"], "play": EdgeLayer(7, [0, 3, 5], [2, 4, 6])}
    found = {}
    for ending in ENDINGS:
        folder = new_folder(ending)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            chosen = layers if ending in ("csv", "npz", "parquet") else plain
            known = [1, 1, None, None, 2, 2, None] if ending == "net" else labels
            graph = MultilayerGraph(chosen, nodes=[str(i) for i in range(1, 8)], labels=known)
            write(graph, folder / f"good.{ending}")
        found[ending] = {path.name: path.read_bytes() for path in sorted(folder.iterdir())}
    for ending, text in READ_ONLY.items():
        found[ending] = {f"good.{ending}": text.encode()}
    found["xlsx"] = {"good.xlsx": _workbook()}
    folder = new_folder("database")
    with contextlib.closing(sqlite3.connect(folder / "good.db")) as database:
        database.execute("CREATE TABLE edges (source TEXT, target TEXT, layer TEXT)")
        database.executemany("INSERT INTO edges VALUES (?, ?, ?)", [("a", "b", "x"), ("b", "c", "y")])
        database.commit()
    found["db"] = {"good.db": (folder / "good.db").read_bytes()}
    found["people"] = {"people.csv": TABLE.encode()}
    folder = new_folder("made")
    (folder / "people.csv").write_text(TABLE)
    words = ["fit", folder / "people.csv", "--table", "--label", "party", "--no-estimate", "--quiet"]
    run = Command(*words, "--method", "one-hot-logistic", "--out", folder / "good-model")
    assert run.wait() == 0
    words = ["benchmark", "--datasets", "wine", "--methods", "majority", "--repeats", "1", "--jobs", "1"]
    assert Command(*words, "--quiet", "--train", "50", "--out", folder / "good.sqlite").wait() == 0
    names = {"model": ["model.safetensors", "report.html", "predictions.csv"], "config": ["config.json"]}
    for part, files in names.items():
        found[part] = {f"good-model/{name}": (folder / "good-model" / name).read_bytes() for name in files}
    found["ledger"] = {"good.sqlite": (folder / "good.sqlite").read_bytes()}
    return found


def _workbook() -> bytes:
    book = openpyxl.Workbook()
    for row in [("source", "target"), ("a", "b"), ("b", "c"), ("c", "d")]:
        book.active.append(row)
    saved = io.BytesIO()
    book.save(saved)
    return saved.getvalue()


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
                data = data.replace(chance.choice([b",", b"\t", b" ", b"1"]), chance.choice([b";", b"", b"2"]))
    return data


def options(chance: random.Random, command: str | None = None) -> list[str]:
    """Some options of a command, or of any."""
    known = READING | OF_COMMAND[command] if command else EVERY
    flags = FLAGS + FLAGS_OF_COMMAND.get(command or "fit", [])
    own = list(OF_COMMAND.get(command or "fit", {}))
    words = []
    for _ in range(chance.choice([0, 1, 2, 4])):
        if chance.random() < 0.3:
            words.append(chance.choice(flags))
        else:
            name = chance.choice(own if own and chance.random() < 0.4 else list(known))
            right = chance.random() < 0.6
            words += [name, chance.choice(known[name] if right else JUNK)]
    return words


def arguments(chance: random.Random, data: str, out: Path) -> list[str]:
    """A command about a file, more often right than wrong."""
    if chance.random() < 0.05:
        data = chance.choice([*JUNK, "balance_scal", "."])
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
            return [*words, *options(chance, "fit"), "--out", str(out)]
        case "info":
            words = ["--table"] if data == "people.csv" and chance.random() < 0.5 else []
            if chance.random() < 0.1:
                words = ["--relation", chance.choice(READING["--relation"]), "--target", "a"]
                return ["info", *words, *options(chance, "info")]
            return ["info", data, *words, *options(chance, "info")]
        case "convert":
            return ["convert", data, f"{out}.{chance.choice(ENDINGS)}", *options(chance, "convert")]
        case "predict":
            model = chance.choice(["good-model", "good-model/model.safetensors", data, "none"])
            return ["predict", model, data, "--out", f"{out}.csv", *options(chance, "predict")]
        case "rank":
            words = ["--no-spread", "--seeds", "0", "--measures", "degree,pagerank"]
            return ["rank", data, *words, *options(chance, "rank"), "--out", str(out)]
        case "links":
            return ["links", data, "--top", "3", *options(chance, "links"), "--out", str(out)]
        case "benchmark":
            words = ["--methods", chance.choice(["majority", *JUNK]), "--repeats", "1", "--jobs", "1"]
            words += ["--train", chance.choice(["50", "10,90", *JUNK])]
            words += options(chance, "benchmark")
            return ["benchmark", "--datasets", data, *words, "--out", f"{out}.sqlite"]
        case "results":
            words = ["--format", chance.choice(["table", "csv", "json", *JUNK])]
            words += options(chance, "results") if chance.random() < 0.5 else []
            return ["results", chance.choice(["good.sqlite", data]), *words]
        case "report":
            source = chance.choice(["good.sqlite", "good-model", "good-model/report.html", data])
            words = ["--data", data] if chance.random() < 0.5 else []
            return ["report", source, *words, *options(chance, "report"), "--out", f"{out}.html"]
    names = ["fit", "predict", "methods", "datasets", "info", "help", "new", "rank", "links"]
    names += ["results", "report", "benchmark", "convert", *JUNK]
    return [chance.choice(names), *options(chance)]


def make_case(seed: int, good: Files, folder: Path, written: dict[str, bytes] | None = None) -> list[str]:
    """Put the files of a case into a folder; returns the words of its command.

    ``written`` is what stands there of earlier cases, so that only what differs is written.
    """
    stands = {} if written is None else written

    def put(name: str, data: bytes) -> None:
        if stands.get(name) != data:
            (folder / name).write_bytes(data)
            stands[name] = data

    chance = random.Random(seed)
    kind = chance.choice(KINDS)
    names = list(good[kind])
    spoiled = chance.choice(names)
    for name, data in good[kind].items():
        put(name, spoil(data, chance) if name == spoiled else data)
    main_file = next(name for name in names if name in (f"good.{kind}", "people.csv"))
    put("good.labels", spoil(b"l\nl\nr\nr\nl\nr\nl\n", chance))
    put("pairs.csv", spoil(PAIRS, chance))
    put("more.csv", spoil(MORE, chance))
    for part, often in (("model", 0.05), ("ledger", 0.3), ("config", 0.05)):
        for name, data in good[part].items():
            put(name, spoil(data, chance) if chance.random() < often else data)
    if kind == "db":
        main_file = chance.choice(["good.db", *ADDRESSES])
    return arguments(chance, main_file, Path("out"))
