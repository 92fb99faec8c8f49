"""A project: a folder of plain files that the app shows and the command line can use without it.

::

    project.json     which files there are, what their columns are, the classes
    data/            the user's files, as they came
    labels.csv       a row per node: name, label (blank where unknown), then what else is known about nodes
    results/         a folder per fit, ranking, ...: what ``gramme fit`` and the others write
    earlier/         projects that were here before other data were opened
    incoming/        files that were dropped and not opened yet

Whatever is answered for has been written and is on the disk; files appear whole or not at all.
"""

from __future__ import annotations

import contextlib
import functools
import json
import math
import os
import shlex
import shutil
import threading
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gramme._files import lock, sweep, unlock
from gramme.errors import DataError
from gramme.io.atomic import write_files
from gramme.io.guesses import FileGuess, guess_plan

from .reading import Read, checked_name, csv_text, described_rows, facts, label_texts, read_csv, read_plan
from .roles import Plan
from .views import Neighbours, Picture, Ranges, picture

if TYPE_CHECKING:
    from gramme.graph import MultilayerGraph

PROJECT, LABELS, TRUTH = "project.json", "labels.csv", "truth.csv"
DATA, RESULTS, INCOMING, EARLIER = "data", "results", "incoming", "earlier"
FORMAT = 1  # of project.json; raised when an older app could not read it


@dataclass
class OpenData:
    """The graph of a project with its labels as they stand now."""

    plan: Plan
    graph: MultilayerGraph
    names: list[str]
    labels: list[str | None]
    extra: list[list[str]]
    notes: list[str]
    reading: dict[str, Any] | None
    truth: list[str | None] | None
    lines: list[str] = field(default_factory=list)
    """The file of labels line by line, below its header."""

    @functools.cached_property
    def picture(self) -> Picture:
        return picture(self.graph, [label is not None for label in self.labels])

    @functools.cached_property
    def neighbours(self) -> Neighbours:
        return Neighbours(self.graph)

    @property
    def ranges(self) -> Ranges | None:
        """The ranges of labels that are numbers; None where they are classes."""
        return Ranges(self.labels) if self.plan.predicts_numbers else None


class Project:
    """The folder, made if it is not there, and what is known of it. One process may have it; threads take turns."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()
        self.turn = threading.RLock()
        self.version = 0
        self.classes: list[str] = []
        self.name = self.folder.name
        self.data: OpenData | None = None
        self.problem: str | None = None
        self.loading = ""
        self._undo: list[tuple[int, str | None]] = []
        self._lock = self._take()

    def _take(self) -> int | None:
        if self.folder.exists() and not self.folder.is_dir():
            raise DataError(f"{self.folder} is a file, not a folder for a project")
        if self.folder.is_dir() and not (self.folder / PROJECT).exists():
            other_names = {path.name for path in self.folder.iterdir() if not path.name.startswith(".")}
            other_names -= {DATA, LABELS, TRUTH, RESULTS, INCOMING, EARLIER}
            if other_names:
                problem = f"{self.folder} holds other files ({min(other_names)!r})"
                raise DataError(f"{problem}; name an empty or new folder with --project")
        for folder_name in (DATA, RESULTS, INCOMING):
            (self.folder / folder_name).mkdir(parents=True, exist_ok=True)
        lock_file = self.folder / ".lock"
        lock_file.touch()
        try:
            lock_handle = lock(lock_file)
        except OSError:
            lock_owner = lock_file.read_text(encoding="utf-8", errors="replace").strip()
            problem = f"another gramme app has the project {self.folder} open{lock_owner and f' ({lock_owner})'}"
            raise DataError(f"{problem}; use its page, or end it first") from None
        lock_file.write_text(f"process {os.getpid()}", encoding="utf-8")
        return lock_handle

    def note_owner(self, owner: str) -> None:
        """Write down who has the project and where the page is, for a second app that wants it; never the token."""
        with contextlib.suppress(OSError):
            (self.folder / ".lock").write_text(owner, encoding="utf-8")

    def close(self) -> None:
        self.note_owner("")
        unlock(self._lock)
        self._lock = None

    def load(self) -> None:
        """Open what is in the folder; a project that cannot be read is told on the page, and stays as it is."""
        with self.turn:
            self._finish_moving()
            for hidden_path in (self.folder / RESULTS).glob(".*.gramme"):
                sweep(hidden_path.with_name(hidden_path.name.removeprefix(".").removesuffix(".gramme")))
            if not (self.folder / PROJECT).exists():
                return
            with self._saying_problems():
                record = self._record()
                plan = Plan.from_records(record.get("files"))
                self.classes = [str(class_name) for class_name in record.get("classes", [])]
                self.name = str(record.get("name") or self.folder.name)
                self._open(plan)

    @contextlib.contextmanager
    def _saying_problems(self) -> Iterator[None]:
        """Whatever goes wrong within this, the page says it."""
        try:
            yield
        except Exception as error:
            self.problem = self.plain(error) or type(error).__name__
        finally:
            self.loading = ""
            self.version += 1

    def _record(self) -> dict[str, Any]:
        record_path = self.folder / PROJECT
        try:
            record = json.loads(record_path.read_text(encoding="utf-8"))
        except ValueError as error:
            raise DataError(f"{PROJECT} is not JSON: {error}") from None
        if not isinstance(record, dict) or record.get("gramme_project") != FORMAT:
            raise DataError(f"{PROJECT} is not a project of this version of gramme")
        return record

    def plain(self, error: BaseException | str) -> str:
        """A message without the place of the folder on the disk."""
        if isinstance(error, OSError) and error.strerror and not isinstance(error, DataError):
            file_prefix = f"{error.filename}: " if error.filename else ""
            error = f"{file_prefix}{error.strerror}"
        return str(error).replace(f"{self.folder}{os.sep}", "").replace(str(self.folder), ".")

    def incoming_path(self, name: str) -> Path:
        """Where a file of this name is put; its name is all that is taken from what the page says."""
        return self.folder / INCOMING / checked_name(name)

    def guesses(self) -> list[dict[str, Any]]:
        return [self._told(file_guess) for file_guess in guess_plan(self._incoming())]

    def _incoming(self) -> list[Path]:
        file_paths = sorted((self.folder / INCOMING).iterdir())
        return [path for path in file_paths if path.is_file() and not path.name.startswith(".")]

    def _told(self, guess: FileGuess) -> dict[str, Any]:
        return asdict(guess) | {"why": self.plain(guess.why)}

    def forget_incoming(self, name: str | None = None) -> None:
        """Remove a file that came in and was not opened, or all."""
        for path in (self.folder / INCOMING).iterdir():
            if name is None or path.name == checked_name(name):
                path.unlink(missing_ok=True)

    def current_guesses(self) -> list[dict[str, Any]]:
        """The files of the open project with the roles that were settled on."""
        plan, file_records = self.data.plan if self.data is not None else Plan(()), []
        if self.data is None:
            with contextlib.suppress(DataError, OSError), self.turn:
                plan = Plan.from_records(self._record().get("files"))
        for file in plan.files:
            path = self.folder / DATA / checked_name(file.name)
            if not path.is_file():
                file_records.append(asdict(FileGuess(file.name, 0, file.role, "the file is gone")))
                continue
            guess = guess_plan([path])[0]
            guess.role, guess.why = file.role, "chosen"
            for column in guess.columns:
                if column.name in file.columns:
                    column.role, column.why = file.columns[column.name], "chosen"
            file_records.append(self._told(guess))
        return file_records

    def inspect(self, plan: Plan, place: str) -> dict[str, Any]:
        """What a plan would read, without opening it; ``place`` is the folder of the files."""
        with self.turn:
            read_result = read_plan(plan, self.folder / place)
        command_words = ["gramme", "fit", *plan.words(plan.options()), "--out", "result"]
        return self.told(read_result) | {"command": shlex.join(command_words)}

    def told(self, read: Read) -> dict[str, Any]:
        reading_facts = facts(read)
        plain_notes = [note | {"text": self.plain(note["text"])} for note in reading_facts["notes"]]
        return reading_facts | {"notes": plain_notes}

    def open_incoming(self, plan: Plan) -> None:
        """Make a project of the files that came in; one that is there is moved to ``earlier``."""
        with self.turn:
            for file in plan.files:
                if not self.incoming_path(file.name).is_file():
                    raise DataError(f"there is no file {file.name!r}; drop it again")
            # a plan that cannot be read changes nothing
            read_result = read_plan(plan, self.folder / INCOMING)
            self._put_aside()
            for path in list((self.folder / INCOMING).iterdir()):
                path.rename(self.folder / DATA / path.name)
            self._start(plan, read_result)

    def open_guessed(self, labels: str | None) -> None:
        """Open the files that came in as they seem to be meant; where that fails, the page asks."""
        with self.turn:
            labels_path = self.incoming_path(labels) if labels is not None else None
            with self._saying_problems():
                data_paths = [path for path in self._incoming() if path != labels_path]
                self.open_incoming(Plan.of_guesses(guess_plan(data_paths, labels_path)))

    def in_background(self, what: str, work: Callable[[], None]) -> None:
        """Do something long while the page is there already, which says so."""

        def run() -> None:
            with self._saying_problems():
                work()

        self.loading = what
        threading.Thread(target=run, daemon=True).start()

    def open_dataset(self, name: str, *, practice: bool) -> None:
        """Make a project of a dataset on this machine; to practise, without its labels, which are kept apart."""
        import gramme

        if name not in gramme.datasets.names():
            raise DataError(f"there is no dataset {name!r}")
        with self.turn:
            graph = gramme.datasets.load(name)
            if graph.num_nodes == 0:
                raise DataError(f"the dataset {name!r} is empty")
            self._put_aside()
            file_name = f"{name}.npz"
            gramme.write(graph, self.folder / DATA / file_name)
            dataset_plan = Plan.from_records([{"name": file_name, "role": "edges", "columns": {}}])
            if practice and graph.labels is not None:
                true_labels = zip(map(str, graph.nodes), graph.labels, strict=True)
                truth_rows = [[node, "" if label is None else str(label)] for node, label in true_labels]
                self._write({self.folder / TRUTH: csv_text([["node", "label"], *truth_rows])})
            self._start(dataset_plan, (graph, [], None), name=name, without_labels=practice)

    def reopen(self, plan: Plan) -> None:
        """Read the same files in another way; labels that were given by hand stay."""
        with self.turn:
            read_result = read_plan(plan, self.folder / DATA)
            self._start(plan, read_result, name=self.name, given=self._by_hand())

    def _by_hand(self) -> dict[str, str | None]:
        """Labels that differ from those the data came with."""
        if self.data is None:
            return {}
        graph, _, _ = read_plan(self.data.plan, self.folder / DATA)
        label_values = label_texts(graph)
        if self.data.truth is not None:
            label_values = [None] * len(label_values)
        node_names = map(str, graph.nodes)
        given_labels = dict(zip(node_names, label_values, strict=True))
        current_labels = zip(self.data.names, self.data.labels, strict=True)
        return {name: label for name, label in current_labels if given_labels.get(name) != label}

    def _start(
        self,
        plan: Plan,
        read: Read,
        *,
        name: str | None = None,
        without_labels: bool = False,
        given: Mapping[str, str | None] | None = None,
    ) -> None:
        """Write the file of labels and project.json, in this order, and open the project as it was read."""
        graph = read[0]
        node_names = list(map(str, graph.nodes))
        labels: list[str | None] = [None] * len(node_names) if without_labels else label_texts(graph)
        if given:
            labels = [given.get(node_name, label) for node_name, label in zip(node_names, labels, strict=True)]
        header = plan.labels_header()
        described_cells = described_rows(plan, self.folder / DATA, node_names, header[2:])
        node_cells = zip(node_names, labels, described_cells, strict=True)
        table_rows = ([node_name, label or "", *other_cells] for node_name, label, other_cells in node_cells)
        self.classes = []
        self.classes = self._with_classes(plan, labels)
        self.name = name or (plan.data()[0].rpartition(".")[0] or plan.data()[0])
        self._write({self.folder / LABELS: csv_text([header, *table_rows])})
        self._save(plan)
        self.problem, self._undo = None, []
        self._open(plan, read)
        self.version += 1

    def _save(self, plan: Plan) -> None:
        record = {
            "gramme_project": FORMAT,
            "name": self.name,
            "command": "gramme " + shlex.join(["fit", *self.reading_words(plan), "--out", "results/fit"]),
            "files": [asdict(file) for file in plan.files],
            "classes": self.classes,
        }  # fmt: skip
        json_text = json.dumps(record, indent=2, ensure_ascii=False) + "\n"
        self._write({self.folder / PROJECT: json_text})

    def _open(self, plan: Plan, read: Read | None = None) -> None:
        for file in plan.files:
            if not (self.folder / DATA / checked_name(file.name)).is_file():
                raise DataError(f"data/{file.name} is gone; put it back, or open other data")
        if read is None:
            options = plan.options_with_labels(f"../{LABELS}")
            read = read_plan(plan, self.folder / DATA, options)
        graph, notes, reading = read
        header, *label_rows = read_csv(self.folder / LABELS)
        node_names = list(map(str, graph.nodes))
        rows_by_node = {row[0]: row for row in label_rows if row}
        blank_cells = [""] * (len(header) - 2)
        labels: list[str | None] = [rows_by_node.get(name, [name, ""])[1] or None for name in node_names]
        if plan.predicts_numbers:
            labels = [label_text if label_text and is_number(label_text) else None for label_text in labels]
        extra_cells = [list(rows_by_node[name][2:]) if name in rows_by_node else blank_cells for name in node_names]
        truth = None
        if (self.folder / TRUTH).is_file():
            true_labels = {row[0]: row[1] for row in read_csv(self.folder / TRUTH) if len(row) == 2}
            truth = [true_labels.get(name) or None for name in node_names]
        self.data = OpenData(plan, graph, node_names, labels, extra_cells, list(notes), reading, truth)
        node_cells = zip(node_names, labels, extra_cells, strict=True)
        self.data.lines = [csv_text([[name, label or "", *other_cells]]) for name, label, other_cells in node_cells]
        self.classes = self._with_classes(plan, labels)

    def _put_aside(self) -> None:
        """Move what is here to ``earlier``: project.json first, so that a kill leaves no project without its files."""
        if (self.folder / PROJECT).exists():
            folder_number = 1
            while (self.folder / EARLIER / str(folder_number)).exists():
                folder_number += 1
            earlier_folder = self.folder / EARLIER / str(folder_number)
            earlier_folder.mkdir(parents=True)
            (self.folder / PROJECT).rename(earlier_folder / PROJECT)
        self._finish_moving()
        self.data, self.classes, self._undo = None, [], []

    def _finish_moving(self) -> None:
        """Finish what a kill interrupted: without project.json, files are on their way to ``earlier`` or just in."""
        if (self.folder / PROJECT).exists():
            return
        earlier_folders = (self.folder / EARLIER).glob("*")
        unfinished = [path for path in earlier_folders if (path / PROJECT).exists() and not (path / DATA).exists()]
        for entry_name in (LABELS, TRUTH, RESULTS, DATA):  # data last, whose absence says that there is more to move
            entry_path = self.folder / entry_name
            if unfinished and entry_path.exists():
                entry_path.rename(unfinished[0] / entry_name)
            elif entry_name == DATA and entry_path.is_dir():
                for file in entry_path.iterdir():
                    file.rename(self.folder / INCOMING / file.name)
            elif entry_path.is_file():
                entry_path.unlink()
        for entry_name in (DATA, RESULTS, INCOMING):
            (self.folder / entry_name).mkdir(parents=True, exist_ok=True)

    def label(self, changes: Iterable[tuple[int, str | None]]) -> None:
        """Give nodes labels, or take them away (None); on the disk before this returns."""
        with self.turn:
            labels_before = list(self.opened().labels)
            changed_nodes = self._label(changes)
            self._undo = [*self._undo, *((node, labels_before[node]) for node in changed_nodes)][-10_000:]

    def undo(self) -> int | None:
        """Take back the last change of a label; returns whose it was, None if there is none."""
        with self.turn:
            if not self._undo:
                return None
            node, label_before = self._undo[-1]
            self._label([(node, label_before)])
            self._undo.pop()
            return node

    @property
    def can_undo(self) -> bool:
        return bool(self._undo)

    def _label(self, changes: Iterable[tuple[int, str | None]]) -> list[int]:
        data = self.opened()
        labels, table_lines, changed_nodes = list(data.labels), list(data.lines), []
        for node, new_label in changes:
            if not 0 <= node < len(labels):
                raise DataError(f"there is no node number {node}")
            labels[node] = None if new_label is None else checked_label(new_label, number=data.plan.predicts_numbers)
            table_lines[node] = csv_text([[data.names[node], labels[node] or "", *data.extra[node]]])
            changed_nodes.append(node)
        class_names = self._with_classes(data.plan, [labels[node] for node in changed_nodes])
        if len(class_names) > 1000:  # as many as a page can offer
            raise DataError("there are more than 1,000 different labels")
        header_line = csv_text([data.plan.labels_header()])
        self._write({self.folder / LABELS: header_line + "".join(table_lines)})
        data.labels, data.lines = labels, table_lines
        if class_names != self.classes:
            self.classes = class_names
            self._save(data.plan)
        self.version += 1
        return changed_nodes

    def _with_classes(self, plan: Plan, labels: Iterable[str | None]) -> list[str]:
        """The classes and further ones; none where labels are numbers."""
        if plan.predicts_numbers:
            return []
        return list(dict.fromkeys([*self.classes, *sorted({label for label in labels if label is not None})]))

    def opened(self) -> OpenData:
        if self.data is None:
            raise DataError(self.problem or "there are no data yet; open some first")
        return self.data

    def reading_words(self, plan: Plan | None = None) -> list[str]:
        """DATA and the options that read it, as words of the command line in the folder of the project."""
        plan = plan or self.opened().plan
        return plan.words(self.reading_options(plan), f"{DATA}/")

    def reading_options(self, plan: Plan) -> dict[str, Any]:
        """The options that read a plan with the labels as they stand now."""
        label_options = plan.options_with_labels(LABELS)
        if self.classes and all(map(is_number, self.classes)):
            label_options["label_kind"] = "class"  # as the page shows them
        return label_options

    def next_result(self, kind: str, taken: Iterable[Path] = ()) -> Path:
        """A folder for a new result: its number is that of no other, nor of one that a job is to fill."""
        folder = self.folder / RESULTS
        used_numbers = [result_path.name.lstrip(".").partition("-")[0] for result_path in (*folder.iterdir(), *taken)]
        number = 1 + max((int(result_path) for result_path in used_numbers if result_path.isdecimal()), default=0)
        return folder / f"{number}-{kind}"

    def _write(self, files: Mapping[Path, str]) -> None:
        """Write files whole, and wait until they are on the disk."""

        def fill(file: Any, text: str) -> None:
            file.write(text.encode("utf-8", errors="surrogatepass"))
            file.flush()
            os.fsync(file.fileno())

        write_files({path: functools.partial(fill, text=text) for path, text in files.items()})


def is_number(text: str) -> bool:
    """Whether a text is a finite number."""
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def checked_label(label: str, *, number: bool = False) -> str:
    """A label as it is stored; blank, over-long and unprintable ones are refused, and where numbers are, other text."""
    text = " ".join(label.split())
    if not text:
        raise DataError("a label cannot be blank")
    if len(text) > 200:
        raise DataError("a label has at most 200 characters")
    if any(unicodedata.category(letter) in ("Cc", "Cs") for letter in text):
        raise DataError("a label cannot have control characters")
    if text.lower() in ("na", "n/a", "nan", "null", "?", "."):
        raise DataError(f"{text!r} means 'not known' in a file of labels; choose another word")
    if number and not is_number(text):
        raise DataError(f"{text!r} is not a number, and numbers are predicted here")
    return text


def copy_in(project: Project, paths: Sequence[Path]) -> None:
    """Copy files that were named on the command line to where dropped files go."""
    project.forget_incoming()
    for path in paths:
        if not path.is_file():
            raise DataError(f"there is no file {str(path)!r}")
        shutil.copyfile(path, project.incoming_path(path.name))
