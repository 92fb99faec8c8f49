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
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gramme._files import lock, sweep, unlock
from gramme.errors import DataError
from gramme.io.atomic import write_files
from gramme.io.guesses import FileGuess, guess_plan

from .reading import Read, checked_name, csv_text, described_rows, facts, label_texts, read_csv, read_plan
from .roles import Plan

if TYPE_CHECKING:
    from gramme.graph import MultilayerGraph

PROJECT, LABELS, TRUTH = "project.json", "labels.csv", "truth.csv"
DATA, RESULTS, INCOMING, EARLIER = "data", "results", "incoming", "earlier"
FORMAT = 1
"""Of project.json; raised when an older app could not read it."""
MAX_LABEL_CHARACTERS = 200
MAX_CLASSES = 1000
MAX_UNDO = 10_000
"""Changes of labels that can be taken back."""


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
            known = {DATA, LABELS, TRUTH, RESULTS, INCOMING, EARLIER, ".lock"}
            others = [one.name for one in self.folder.iterdir() if one.name not in known]
            if [name for name in others if not name.startswith(".")]:
                raise DataError(
                    f"{self.folder} holds other files ({sorted(others)[0]!r}); name an empty or new folder "
                    "with --project"
                )
        for part in (DATA, RESULTS, INCOMING):
            (self.folder / part).mkdir(parents=True, exist_ok=True)
        marker = self.folder / ".lock"
        marker.touch()
        try:
            held = lock(marker)
        except OSError:
            owner = marker.read_text(encoding="utf-8", errors="replace").strip()
            who = f" ({owner})" if owner else ""
            raise DataError(
                f"another gramme app has the project {self.folder} open{who}; use its page, or end it first"
            ) from None
        marker.write_text(f"process {os.getpid()}", encoding="utf-8")
        return held

    def note_address(self, address: str) -> None:
        """Write down where the page is, for a second app that wants the same project; never the token."""
        text = f"process {os.getpid()}, {address}"
        with contextlib.suppress(OSError):
            (self.folder / ".lock").write_text(text, encoding="utf-8")

    def close(self) -> None:
        """Let go of the folder."""
        with contextlib.suppress(OSError):
            (self.folder / ".lock").write_text("", encoding="utf-8")
        unlock(self._lock)
        self._lock = None

    def load(self) -> None:
        """Open what is in the folder; a project that cannot be read is told on the page, and stays as it is."""
        with self.turn:
            self._finish_moving()
            for hidden in (self.folder / RESULTS).glob(".*.gramme"):
                sweep(hidden.with_name(hidden.name.removeprefix(".").removesuffix(".gramme")))
            if not (self.folder / PROJECT).exists():
                return
            try:
                record = self._record()
                plan = Plan.from_records(record.get("files"))
                self.classes = [str(one) for one in record.get("classes", [])]
                self.name = str(record.get("name") or self.folder.name)
                self._open(plan)
            except (DataError, OSError, ImportError) as error:
                self.problem = self.plain(error)
            self.version += 1

    def _record(self) -> dict[str, Any]:
        path = self.folder / PROJECT
        try:
            record = json.loads(path.read_text(encoding="utf-8"))
        except ValueError as error:
            raise DataError(f"{PROJECT} is not JSON: {error}") from None
        if not isinstance(record, dict) or record.get("gramme_project") != FORMAT:
            raise DataError(f"{PROJECT} is not a project of this version of gramme")
        return record

    def plain(self, error: BaseException | str) -> str:
        """A message without the place of the folder on the disk."""
        if isinstance(error, OSError) and error.strerror and not isinstance(error, DataError):
            where = f"{error.filename}: " if error.filename else ""
            error = f"{where}{error.strerror}"
        return str(error).replace(f"{self.folder}{os.sep}", "").replace(str(self.folder), ".")

    def incoming_path(self, name: str) -> Path:
        """Where a file of this name is put; its name is all that is taken from what the page says."""
        return self.folder / INCOMING / checked_name(name)

    def guesses(self) -> list[dict[str, Any]]:
        """What the files that came in seem to be."""
        return [self._told(one) for one in guess_plan(self._incoming())]

    def _incoming(self) -> list[Path]:
        found = sorted((self.folder / INCOMING).iterdir())
        return [path for path in found if path.is_file() and not path.name.startswith(".")]

    def _told(self, guess: FileGuess) -> dict[str, Any]:
        return asdict(guess) | {"why": self.plain(guess.why)}

    def forget_incoming(self, name: str | None = None) -> None:
        """Remove a file that came in and was not opened, or all."""
        for path in (self.folder / INCOMING).iterdir():
            if name is None or path.name == checked_name(name):
                path.unlink(missing_ok=True)

    def current_guesses(self) -> list[dict[str, Any]]:
        """The files of the open project with the roles that were settled on."""
        with self.turn:
            plan = self._saved_plan()
        shown = []
        for file in plan.files if plan is not None else ():
            path = self.folder / DATA / checked_name(file.name)
            if not path.is_file():
                shown.append(asdict(FileGuess(file.name, 0, file.role, "the file is gone")))
                continue
            guess = guess_plan([path])[0]
            guess.role, guess.why = file.role, "chosen"
            for column in guess.columns:
                if column.name in file.columns:
                    column.role, column.why = file.columns[column.name], "chosen"
            shown.append(self._told(guess))
        return shown

    def _saved_plan(self) -> Plan | None:
        if self.data is not None:
            return self.data.plan
        try:
            return Plan.from_records(self._record().get("files"))
        except (DataError, OSError):
            return None

    def inspect(self, plan: Plan, place: str) -> dict[str, Any]:
        """What a plan would read, without opening it; ``place`` is the folder of the files."""
        with self.turn:
            read = read_plan(plan, self.folder / place)
        words = ["gramme", "fit", *plan.words(plan.options()), "--out", "result"]
        return self.told(read) | {"command": shlex.join(words)}

    def told(self, read: Read) -> dict[str, Any]:
        """What was read, for the page."""
        found = facts(read)
        notes = [note | {"text": self.plain(note["text"])} for note in found["notes"]]
        return found | {"notes": notes}

    def open_incoming(self, plan: Plan) -> None:
        """Make a project of the files that came in; one that is there is moved to ``earlier``."""
        with self.turn:
            for file in plan.files:
                if not self.incoming_path(file.name).is_file():
                    raise DataError(f"there is no file {file.name!r}; drop it again")
            # a plan that cannot be read changes nothing
            read = read_plan(plan, self.folder / INCOMING)
            self._put_aside()
            for path in list((self.folder / INCOMING).iterdir()):
                path.rename(self.folder / DATA / path.name)
            self._start(plan, read)

    def open_guessed(self, labels: str | None) -> None:
        """Open the files that came in as they seem to be meant; where that fails, the page asks."""
        with self.turn:
            named = self.incoming_path(labels) if labels is not None else None
            try:
                others = [one for one in self._incoming() if one != named]
                self.open_incoming(Plan.of_guesses(guess_plan(others, named)))
            except (DataError, OSError, ImportError) as error:
                self.problem = self.plain(error)
                self.version += 1

    def in_background(self, what: str, work: Callable[[], None]) -> None:
        """Do something long while the page is there already, which says so."""

        def run() -> None:
            try:
                work()
            except Exception as error:  # whatever it is, the page must say it
                self.problem = self.plain(error) or type(error).__name__
            finally:
                self.loading = ""
                self.version += 1

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
            file = f"{name}.npz"
            gramme.write(graph, self.folder / DATA / file)
            plan = Plan.from_records([{"name": file, "role": "edges", "columns": {}}])
            if practice and graph.labels is not None:
                truth = zip(map(str, graph.nodes), graph.labels, strict=True)
                rows = [[node, "" if label is None else str(label)] for node, label in truth]
                self._write({self.folder / TRUTH: csv_text([["node", "label"], *rows])})
            self._start(plan, (graph, [], None), name=name, without_labels=practice)

    def reopen(self, plan: Plan) -> None:
        """Read the same files in another way; labels that were given by hand stay."""
        with self.turn:
            read = read_plan(plan, self.folder / DATA)
            self._start(plan, read, name=self.name, given=self._by_hand())

    def _by_hand(self) -> dict[str, str | None]:
        """Labels that differ from those the data came with."""
        if self.data is None:
            return {}
        graph, _, _ = read_plan(self.data.plan, self.folder / DATA)
        came = label_texts(graph)
        if self.data.truth is not None:
            came = [None] * len(came)
        names = map(str, graph.nodes)
        before = dict(zip(names, came, strict=True))
        now = zip(self.data.names, self.data.labels, strict=True)
        return {name: label for name, label in now if before.get(name) != label}

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
        names = list(map(str, graph.nodes))
        labels: list[str | None] = [None] * len(names) if without_labels else label_texts(graph)
        if given:
            labels = [given.get(one, label) for one, label in zip(names, labels, strict=True)]
        header = plan.labels_header()
        rows = described_rows(plan, self.folder / DATA, names, header[2:])
        cells = zip(names, labels, rows, strict=True)
        content = ([one, label or "", *more] for one, label, more in cells)
        self.classes = []
        self.classes = self._with_classes(plan, sorted({one for one in labels if one is not None}))
        self.name = name or (plan.data()[0].rpartition(".")[0] or plan.data()[0])
        self._write({self.folder / LABELS: csv_text([header, *content])})
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
        text = json.dumps(record, indent=2, ensure_ascii=False) + "\n"
        self._write({self.folder / PROJECT: text})

    def _open(self, plan: Plan, read: Read | None = None) -> None:
        for file in plan.files:
            if not (self.folder / DATA / checked_name(file.name)).is_file():
                raise DataError(f"data/{file.name} is gone; put it back, or open other data")
        if read is None:
            options = plan.options_with_labels(f"../{LABELS}")
            read = read_plan(plan, self.folder / DATA, options)
        graph, notes, reading = read
        header, *rows = read_csv(self.folder / LABELS)
        names = list(map(str, graph.nodes))
        listed = {row[0]: row for row in rows if row}
        blank = [""] * (len(header) - 2)
        labels: list[str | None] = [listed.get(name, [name, ""])[1] or None for name in names]
        if plan.predicts_numbers:
            labels = [one if one and is_number(one) else None for one in labels]
        extra = [list(listed[name][2:]) if name in listed else blank for name in names]
        truth = None
        if (self.folder / TRUTH).is_file():
            answers = {row[0]: row[1] for row in read_csv(self.folder / TRUTH) if len(row) == 2}
            truth = [answers.get(name) or None for name in names]
        self.data = OpenData(plan, graph, names, labels, extra, list(notes), reading, truth)
        cells = zip(names, labels, extra, strict=True)
        self.data.lines = [csv_text([[name, label or "", *more]]) for name, label, more in cells]
        self.classes = self._with_classes(plan, sorted({one for one in labels if one is not None}))

    def _put_aside(self) -> None:
        """Move what is here to ``earlier``: project.json first, so that a kill leaves no project without its files."""
        if (self.folder / PROJECT).exists():
            number = 1
            while (self.folder / EARLIER / str(number)).exists():
                number += 1
            place = self.folder / EARLIER / str(number)
            place.mkdir(parents=True)
            (self.folder / PROJECT).rename(place / PROJECT)
        self._finish_moving()
        self.data, self.classes, self._undo = None, [], []

    def _finish_moving(self) -> None:
        """Finish what a kill interrupted: without project.json, files are on their way to ``earlier`` or just in."""
        if (self.folder / PROJECT).exists():
            return
        places = (self.folder / EARLIER).glob("*")
        unfinished = [one for one in places if (one / PROJECT).exists() and not (one / DATA).exists()]
        for name in (LABELS, TRUTH, RESULTS, DATA):  # data last, whose absence says that there is more to move
            path = self.folder / name
            if unfinished and path.exists():
                path.rename(unfinished[0] / name)
            elif name == DATA and path.is_dir():
                for file in path.iterdir():
                    file.rename(self.folder / INCOMING / file.name)
            elif path.is_file():
                path.unlink()
        for name in (DATA, RESULTS, INCOMING):
            (self.folder / name).mkdir(parents=True, exist_ok=True)

    def label(self, changes: Iterable[tuple[int, str | None]]) -> None:
        """Give nodes labels, or take them away (None); on the disk before this returns."""
        with self.turn:
            before = list(self.opened().labels)
            made = self._label(changes)
            self._undo = [*self._undo, *((node, before[node]) for node in made)][-MAX_UNDO:]

    def undo(self) -> int | None:
        """Take back the last change of a label; returns whose it was, None if there is none."""
        with self.turn:
            if not self._undo:
                return None
            node, before = self._undo[-1]
            self._label([(node, before)])
            self._undo.pop()
            return node

    @property
    def can_undo(self) -> bool:
        """Whether there is a change to take back."""
        return bool(self._undo)

    def _label(self, changes: Iterable[tuple[int, str | None]]) -> list[int]:
        data = self.opened()
        labels, lines, made = list(data.labels), list(data.lines), []
        for node, wanted in changes:
            if not 0 <= node < len(labels):
                raise DataError(f"there is no node number {node}")
            labels[node] = None if wanted is None else checked_label(wanted, number=data.plan.predicts_numbers)
            lines[node] = csv_text([[data.names[node], labels[node] or "", *data.extra[node]]])
            made.append(node)
        classes = self._with_classes(data.plan, (labels[node] for node in made))
        if len(classes) > MAX_CLASSES:
            raise DataError(f"there are more than {MAX_CLASSES} different labels")
        header = csv_text([data.plan.labels_header()])
        self._write({self.folder / LABELS: header + "".join(lines)})
        data.labels, data.lines = labels, lines
        if classes != self.classes:
            self.classes = classes
            self._save(data.plan)
        self.version += 1
        return made

    def _with_classes(self, plan: Plan, labels: Iterable[str | None]) -> list[str]:
        """The classes and further ones; none where labels are numbers."""
        if plan.predicts_numbers:
            return []
        return list(dict.fromkeys([*self.classes, *(one for one in labels if one is not None)]))

    def opened(self) -> OpenData:
        """The open data, or an error that says there are none."""
        if self.data is None:
            raise DataError(self.problem or "there are no data yet; open some first")
        return self.data

    def reading_words(self, plan: Plan | None = None) -> list[str]:
        """DATA and the options that read it, as words of the command line in the folder of the project."""
        plan = plan or self.opened().plan
        return plan.words(self.reading_options(plan), f"{DATA}/")

    def reading_options(self, plan: Plan) -> dict[str, Any]:
        """The options that read a plan with the labels as they stand now."""
        options = plan.options_with_labels(LABELS)
        if self.classes and all(map(is_number, self.classes)):
            options["label_kind"] = "class"  # as the page shows them
        return options

    def next_result(self, kind: str, taken: Iterable[Path] = ()) -> Path:
        """A folder for a new result: its number is that of no other, nor of one that a job is to fill."""
        folder = self.folder / RESULTS
        used = [one.name.lstrip(".").partition("-")[0] for one in (*folder.iterdir(), *taken)]
        number = 1 + max((int(one) for one in used if one.isdecimal()), default=0)
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
    if len(text) > MAX_LABEL_CHARACTERS:
        raise DataError(f"a label has at most {MAX_LABEL_CHARACTERS} characters")
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
