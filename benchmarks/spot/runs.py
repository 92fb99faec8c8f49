"""Does a change of the code change a result? What every method, command and page says about ten small graphs.

Before a change that should alter nothing:  python benchmarks/spot/runs.py record before.json
After it:                                   python benchmarks/spot/runs.py record after.json
What differs, by key:                       python benchmarks/spot/runs.py compare before.json after.json

Only public names and the command line are used, so that it outlives moves of modules. What is compared is text: values
rounded to 1e-6, and sentences without times, versions, dates and folders. Both records must be made on the same machine
with one thread, which this program sees to itself.
"""

import argparse
import base64
import contextlib
import csv
import difflib
import hashlib
import io
import json
import os
import re
import shlex
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

# Read by numpy, torch, numba and rich when they are imported, which is below.
os.environ |= {
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "COLUMNS": "100",
    "NO_COLOR": "1",
    "TERM": "dumb",
}

import numpy as np
import torch
from calls import BAD_CALLS, GOOD_CALLS, write_bad_files
from graphs import SPOT_GRAPHS, number_table, write_spot_files
from safetensors import safe_open

import gramme
from gramme import GrammeFusion, GrammeLinks, GrammeRegressor, GrammeSG, MultilayerGraph
from gramme.cli import main as gramme_command
from gramme.methods import METHODS, LabelPropagation, NeighbourhoodLogistic, OneHotLogistic, SpectralLogistic

Record = dict[str, str]
"""Key, like ``methods/edges/gat/probabilities`` -> text."""

DECIMALS = 6
# Small enough that all methods on all graphs take about a minute, large enough that every step is taken.
SMALL_SETTINGS: dict[str, Any] = {
    "cache": False,
    "common_epochs": 2,
    "dim": 16,
    "ensemble": 2,
    "epochs": 8,
    "feature_dim": 16,
    "folds": 3,
    "hidden_dim": 8,
    "layer_epochs": 2,
    "random_state": 5,
    "samples": 3000,
    "walk_length": 10,
    "walks_per_node": 4,
}
# Settings of methods that change which code runs, on the graphs where that shows.
VARIANTS: dict[str, Any] = {
    "fusion-end": GrammeFusion(fuse="end"),
    "fusion-stopped": GrammeFusion(validation_fraction=0.3, dropout=0.2, attention_dropout=0.2, patience=2),
    "fusion-concatenate": GrammeFusion(combine_heads="concatenate", feed_forward=True, class_weight="balanced"),
    "sg-every-hop": GrammeSG(pool="every hop", dropout=0.1),
    "one-hot-weighed": OneHotLogistic(weigh_layers=True),
    "propagation-mass": LabelPropagation(class_mass=True),
    "neighbourhood": NeighbourhoodLogistic(),
    "spectral": SpectralLogistic(),
}
VARIANT_GRAPHS = ("groups", "directed", "features")
# Differs from run to run, in JSON by key and in CSV by column.
UNSTEADY_NAME = re.compile(
    r"second|version|^date|_at$|started|finished|^time|platform|machine|hostname|memory|megabytes|commit|folder|threads|sha256",
    re.IGNORECASE,
)
UNSTEADY_TEXT = (
    (re.compile(r"\b\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d)?(\.\d+)?(Z|[+-]\d\d:\d\d)?)?"), "DATE"),
    (
        re.compile(
            r"\b(about |less than )?(\d+(\.\d+)? ?(ms|s|min|h|seconds?|minutes?|hours?)"
            r"|(an?|half an?) (second|minute|hour))\b"
        ),
        "DURATION",
    ),
    (re.compile(r"\b\d+(\.\d+)? ?(B|kB|KB|MB|GB|KiB|MiB|GiB)\b"), "SIZE"),
    (re.compile(rf"\b(gramme|python|[a-z-]+) \d+\.\d+\.\d+\S*|{re.escape(gramme.__version__)}"), "VERSION"),
)
LONG_NUMBER = re.compile(r"-?\b\d+\.\d{5,}(e[-+]?\d+)?\b|-?\b\d+(\.\d+)?e[-+]\d+\b", re.IGNORECASE)
NUMBER_ALONE = re.compile(r"[\d.,e+-]+")


def steady_text(text: str, folder: Path) -> str:
    """The text without what differs from run to run, and with rounded numbers."""
    for place in (str(folder.resolve()), str(folder)):
        text = text.replace(place, "FOLDER")
    for pattern, instead in UNSTEADY_TEXT:
        text = pattern.sub(instead, text)
    return LONG_NUMBER.sub(lambda found: rounded_number(float(found[0])), text)


def rounded_number(value: float) -> str:
    """The number to six decimals; what is zero then has no sign."""
    return f"{round(value, DECIMALS) + 0.0:.{DECIMALS}f}"


def rounded_array(values: Any) -> np.ndarray:
    """Floats to six decimals, without negative zeros; anything else as it is."""
    array = np.asarray(values)
    return np.round(array, DECIMALS) + 0.0 if array.dtype.kind == "f" else array


def array_text(values: Any) -> str:
    """A row per line."""
    rows = np.atleast_2d(rounded_array(values))
    return "\n".join(" ".join(str(value) for value in row) for row in rows.tolist())


def model_text(path: Path) -> str:
    """A line with name, shape and hash for each tensor of a saved model; and the words it holds."""
    lines = []
    with safe_open(str(path), framework="numpy") as saved:
        for name in sorted(saved.keys()):
            tensor = rounded_array(saved.get_tensor(name))
            if tensor.dtype == np.uint8:  # text
                lines.append(f"{name} {words_text(tensor.tobytes().decode(errors='replace'))}")
                continue
            digest = hashlib.sha256(np.ascontiguousarray(tensor).tobytes()).hexdigest()[:16]
            lines.append(f"{name} {tensor.dtype} {tensor.shape} {digest}")
        beside = saved.metadata() or {}
    lines += [f"{key} {words_text(text)}" for key, text in sorted(beside.items())]
    return "\n".join(lines)


def words_text(text: str) -> str:
    """JSON without unsteady keys, and with rounded numbers; other text itself."""
    with contextlib.suppress(ValueError):
        text = json_text(json.loads(text))
    return LONG_NUMBER.sub(lambda found: rounded_number(float(found[0])), text)


def without_unsteady(value: Any) -> Any:
    """JSON without the keys whose values differ from run to run."""
    if isinstance(value, dict) and value.get("type") == "f32" and "data" in value:
        # a page carries the bytes of its numbers
        return rounded_array(np.frombuffer(base64.b64decode(value["data"]), "<f4")).tolist()
    if isinstance(value, dict):
        kept = {key: each for key, each in value.items() if not UNSTEADY_NAME.search(str(key))}
        return {key: without_unsteady(each) for key, each in kept.items()}
    if isinstance(value, list):
        return [without_unsteady(each) for each in value]
    return value


def json_text(value: Any) -> str:
    return json.dumps(without_unsteady(value), indent=1, ensure_ascii=False)


def csv_text(text: str) -> str:
    """CSV without the columns whose values differ from run to run."""
    rows = list(csv.reader(io.StringIO(text)))
    if not rows:
        return text
    kept = [place for place, name in enumerate(rows[0]) if not UNSTEADY_NAME.search(name)]
    return "\n".join(",".join(row[place] for place in kept if place < len(row)) for row in rows)


class PageText(HTMLParser):
    """The text of a page as a reader's eye meets it, without seconds, and the data it carries."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.lines: list[str] = []
        self.data = ""
        self.inside = ""
        self.in_times = False
        self.table_row = self.table_column = -1
        self.time_columns: set[int] = set()

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        if tag == "table":
            self.table_row, self.time_columns = -1, set()
        elif tag == "tr":
            self.table_row, self.table_column = self.table_row + 1, -1
        elif tag in ("td", "th"):
            self.table_column += 1
        elif tag in ("script", "style"):
            self.inside = "data" if ("type", "application/json") in attrs else tag

    def handle_endtag(self, tag: str) -> None:
        if tag in ("script", "style"):
            self.inside = ""
        elif tag == "table":
            self.table_column, self.time_columns = -1, set()

    def handle_data(self, data: str) -> None:
        words = " ".join(data.split())
        if self.inside == "data":
            self.data += data
        elif words and not self.inside:
            # columns and the figure of processor seconds, and the setting "seconds" with its value
            if self.table_row == 0 and self.table_column >= 0 and "seconds" in words.lower():
                self.time_columns.add(self.table_column)
            if words.startswith(("Time against", "How to repeat")):
                self.in_times = words.startswith("Time")
            timed = self.table_column in self.time_columns or self.lines[-1:] == ["seconds"]
            if not (NUMBER_ALONE.fullmatch(words) and (self.in_times or timed)):
                self.lines.append(words)


def page_texts(html: str) -> tuple[str, str]:
    """What a page says, and the data that its scripts draw from."""
    reader = PageText()
    reader.feed(html)
    return "\n".join(reader.lines), json_text(json.loads(reader.data or "null"))


def printed_text(text: str) -> str:
    """What a command printed: JSON without unsteady keys, CSV without unsteady columns, or lines."""
    with contextlib.suppress(ValueError):
        return json_text(json.loads(text))
    first = text.split("\n", 1)[0]
    if first.count(",") > 3 and " " not in first:
        return csv_text(text)
    # progress is told once per so many seconds
    return "\n".join(line.rstrip() for line in text.splitlines() if " ... " not in line)


def run_command(words: str, folder: Path) -> tuple[int, str, str]:
    """Exit code, output and messages of one call of the command line in this process."""
    out, err = io.StringIO(), io.StringIO()
    code = 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), contextlib.chdir(folder):
        try:
            gramme_command(shlex.split(words))
        except SystemExit as end:
            code = int(end.code or 0)
    return code, out.getvalue(), err.getvalue()


FILE_TEXTS: dict[str, Callable[[str], str]] = {
    ".csv": csv_text,
    ".json": lambda text: json_text(json.loads(text)),
    ".mpx": str,
    ".graphml": str,
    ".edges": str,
    ".net": str,
    ".txt": str,
}


def written_files(folder: Path, before: set[Path]) -> Iterator[tuple[str, str]]:
    """Name and text of each file in the folder that was not there before."""
    for path in sorted(set(folder.rglob("*")) - before):
        name = path.relative_to(folder).as_posix()
        if path.suffix == ".safetensors":
            yield name, steady_text(model_text(path), folder)
        elif path.suffix == ".html":
            words, data = page_texts(path.read_text(encoding="utf-8"))
            yield name, steady_text(words, folder)
            yield f"{name}/data", steady_text(data, folder)
        elif path.suffix in FILE_TEXTS:
            text = FILE_TEXTS[path.suffix](path.read_text(encoding="utf-8"))
            yield name, steady_text(text, folder)
        elif path.is_file() and path.suffix not in (".sqlite-shm", ".sqlite-wal"):
            yield name, "is there"


def small(model: Any) -> Any:
    """The model with as little work as shows what it does."""
    known = model.get_params()
    return model.set_params(**{name: value for name, value in SMALL_SETTINGS.items() if name in known})


def record_model(record: Record, key: str, model: Any, graph: MultilayerGraph, folder: Path) -> None:
    """Fit, and note what is predicted and what is saved; a refusal is noted with its words."""
    try:
        small(model).fit(graph, graph.labels)
        proba = getattr(model, "predict_proba", None)
        record[f"{key}/predictions"] = array_text(model.predict())
        if proba is not None:
            record[f"{key}/probabilities"] = array_text(proba())
        importance = getattr(model, "layer_importance_", None)
        if importance is not None:
            record[f"{key}/layers"] = steady_text(repr(dict(importance)), folder)
        path = folder / "model.safetensors"
        model.save(path)
        record[f"{key}/model"] = steady_text(model_text(path), folder)
        half = graph.subgraph(graph.nodes[::2])
        loaded = gramme.load(path)
        predict = getattr(loaded, "predict_proba", loaded.predict)
        record[f"{key}/loaded"] = array_text(predict(half))
    except gramme.GrammeError as error:
        record[f"{key}/refused"] = steady_text(str(error), folder)


def record_methods(record: Record, folder: Path) -> None:
    """Every method on every graph, variants on some."""
    for graph_name, make in SPOT_GRAPHS.items():
        graph = make()
        models: dict[str, Any] = {name: method.estimator() for name, method in METHODS.items()}
        if graph_name in VARIANT_GRAPHS:
            models |= VARIANTS
        for name, model in models.items():
            record_model(record, f"methods/{graph_name}/{name}", model, graph, folder)
    table = number_table().drop(columns="party")
    graph = MultilayerGraph.from_table(table, label="score", id="person", bins={"age": 4})
    record_model(record, "methods/score/regressor", GrammeRegressor(), graph, folder)
    links = GrammeLinks(random_state=3).fit(SPOT_GRAPHS["edges"]())
    record["methods/edges/links"] = steady_text(links.candidates("talk", top=20).to_csv(), folder)
    ranks = gramme.rank(SPOT_GRAPHS["weighted"]())
    record["methods/weighted/rank"] = steady_text(ranks.to_csv(), folder)


def record_commands(record: Record, folder: Path) -> None:
    """What commands print and write."""
    for name, words in GOOD_CALLS.items():
        before = set(folder.rglob("*"))
        code, out, err = run_command(words, folder)
        key = f"commands/{name}"
        record[f"{key}/exit"] = str(code)
        record[f"{key}/printed"] = steady_text(printed_text(out), folder)
        record[f"{key}/messages"] = steady_text(printed_text(err), folder)
        for file_name, text in written_files(folder, before):
            record[f"{key}/{file_name}"] = text


def record_refusals(record: Record, folder: Path) -> None:
    """What bad calls say, and that they leave nothing behind."""
    for words in BAD_CALLS:
        before = set(folder.rglob("*"))
        code, out, err = run_command(words, folder)
        left = sorted(path.name for path in set(folder.rglob("*")) - before)
        said = steady_text(f"{printed_text(out)}\n{printed_text(err)}", folder)
        record[f"refusals/{words}"] = f"exit {code}\n{said}\nleft behind: {left}"


def make_record() -> Record:
    """All texts, made in a temporary folder."""
    record: Record = {}
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory(prefix="spot") as name:
        folder = Path(name)
        write_spot_files(folder)
        write_bad_files(folder)
        for part in (record_methods, record_commands, record_refusals):
            began = time.process_time()
            part(record, folder)
            print(f"{part.__name__}: {time.process_time() - began:.0f} s", file=sys.stderr)
    return record


def difference(before: str, after: str, lines: int) -> str:
    """The first lines that differ."""
    found = difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=0)
    shown = [line for line in found if not line.startswith(("---", "+++", "@@"))]
    return "\n".join(f"    {line[:200]}" for line in shown[:lines])


def compare(before: Record, after: Record, lines: int) -> bool:
    """Print what differs; whether all is equal."""
    differing = [key for key in before.keys() | after.keys() if before.get(key) != after.get(key)]
    print(
        f"{len(before.keys() & after.keys()) - len(set(differing) & before.keys() & after.keys())}"
        f" of {len(before.keys() | after.keys())} equal"
    )
    for key in sorted(differing):
        if key not in after:
            print("gone:", key)
        elif key not in before:
            print("new:", key)
        else:
            print("differs:", key)
            if lines:
                print(difference(before[key], after[key], lines))
    return not differing


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    recording = commands.add_parser("record", help="run everything and write what was said")
    recording.add_argument("file", type=Path)
    comparing = commands.add_parser("compare", help="print what differs between two records")
    comparing.add_argument("before", type=Path)
    comparing.add_argument("after", type=Path)
    comparing.add_argument("--lines", type=int, default=4, help="how many differing lines to show")
    chosen = parser.parse_args()
    if chosen.command == "record":
        warnings.simplefilter("ignore")
        record = make_record()
        chosen.file.write_text(json.dumps(record, indent=1, ensure_ascii=False), encoding="utf-8")
        return
    before, after = (json.loads(path.read_text(encoding="utf-8")) for path in (chosen.before, chosen.after))
    sys.exit(not compare(before, after, chosen.lines))


if __name__ == "__main__":
    main()
