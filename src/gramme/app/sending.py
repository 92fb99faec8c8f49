"""What can be sent to somebody: the report, tables, and the commands and the Python that give the same result."""

from __future__ import annotations

import io
import json
import shlex
import urllib.parse
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gramme.errors import DataError, import_extra

from .project import DATA, LABELS, Project
from .reading import read_csv
from .views import RESULT_FILES, Results


@dataclass(frozen=True)
class Parcel:
    """A file that is handed to the browser."""

    name: str
    kind: str
    content: bytes
    inline: bool = False


def parcel(project: Project, results: Results, what: str, result: str) -> Parcel:
    """The file that was asked for: report, page, table, excel (each of a result), labels, script or python."""
    if what == "labels":
        return Parcel(LABELS, "text/csv; charset=utf-8", (project.folder / LABELS).read_bytes())
    if what == "script":
        text = script(project, results)
        return Parcel("again.sh", "text/x-shellscript; charset=utf-8", text.encode())
    if what == "python":
        text = snippet(project, results, result)
        return Parcel("again.py", "text/x-python; charset=utf-8", text.encode())
    kind = result.partition("-")[2]
    stem = f"{project.name}-{kind}"
    if what in ("report", "page"):
        content = results.path(result, "report.html").read_bytes()
        return Parcel(f"{stem}.html", "text/html; charset=utf-8", content, inline=what == "report")
    table = results.path(result, RESULT_FILES.get(kind, "predictions.csv"))
    if what == "table":
        return Parcel(f"{stem}.csv", "text/csv; charset=utf-8", table.read_bytes())
    if what == "excel":
        kind = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
        return Parcel(f"{stem}.xlsx", kind, workbook(table))
    raise DataError(f"there is no {what!r} to send")


def workbook(path: Path) -> bytes:
    """A CSV table as an Excel file; text that a spreadsheet would run stays text."""
    openpyxl = import_extra("openpyxl", "excel", "writing Excel")
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet(path.stem)
    for number, row in enumerate(read_csv(path)):
        sheet.append([_typed(cell) if number else _legal(cell) for cell in row])
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def _typed(cell: str) -> Any:
    if cell[:1].isdigit() and not (cell[:1] == "0" and cell[1:2].isdigit()):
        try:
            return float(cell) if "." in cell or "e" in cell else int(cell)
        except ValueError:
            pass
    return _legal(cell)


def _legal(cell: str) -> str:
    """Text without what the format cannot hold, at most as long as a cell can be."""
    return "".join(letter for letter in cell if letter >= " " or letter in "\t\n")[:32_000]


def script(project: Project, results: Results) -> str:
    """The commands that made every result, to be run in the folder of the project."""
    lines = [
        "#!/bin/sh",
        "# Makes the results of this project again, elsewhere. Run it in the folder of the project.",
        "set -e",
    ]
    for record in results.records():
        if record.get("command"):
            command = str(record["command"])
            lines.append(command.replace("--out results/", "--out again/"))
    if len(lines) == 3:
        words = ["gramme", "fit", *project.reading_words(), "--out", "again/1-fit"]
        lines.append(shlex.join(words))
    return "\n".join(lines) + "\n"


def snippet(project: Project, results: Results, result: str) -> str:
    """Python that makes the same predictions, to be run in the folder of the project."""
    plan = project.opened().plan
    options = project.reading_options(plan)
    method, seed = "GrammeRegressor" if plan.predicts_numbers else "GrammeAuto", 0
    if result:
        config = json.loads(results.path(result, "config.json").read_text(encoding="utf-8"))
        seed = int(config.get("seed", 0))
        method = _CLASSES.get(config.get("method"), method)
    data = [f"{DATA}/{name}" for name in plan.data()]
    if plan.is_table:
        said: dict[str, Any] = {key: options[key] for key in ("label", "id", "columns") if key in options}
        text = [one for one in (said.get("id"), said.get("label")) if one]
        kinds = f", dtype={dict.fromkeys(text, str)!r}".replace("<class 'str'>", "str") if text else ""
        value = "float(label)" if plan.predicts_numbers else "label"
        read = [
            "import pandas as pd",
            f"table = pd.read_csv({data[0]!r}{kinds})",
            f"graph = gramme.MultilayerGraph.from_table(table, {_arguments(said)})",
            f"known = pd.read_csv({LABELS!r}, dtype=str)",
            f"labels = {{name: {value} for name, label in known.dropna().to_numpy()}}",
            "names = [str(node) for node in graph.nodes]",
            "model = gramme.METHOD(random_state=SEED).fit(graph, [labels.get(name) for name in names])",
        ]
    else:
        source, reader = repr(data[0] if len(data) == 1 else data), "gramme.read"
        if plan.kinds:
            relations = [one.split("=", 1)[0].split(":") for one in options.pop("relation")]
            source = repr({tuple(kinds): file for kinds, file in zip(relations, data, strict=True)})
            reader = "gramme.io.read_relations"
        read = [
            f"graph = {reader}({source}, {_arguments(options)})",
            "model = gramme.METHOD(random_state=SEED).fit(graph)",
        ]
    lines = ["import gramme", *read, "print(model.predict()[:10], model.layer_importance_)"]
    lines.append('model.report("page.html")')
    return "\n".join(lines).replace("METHOD", method).replace("SEED", str(seed)) + "\n"


_CLASSES = {
    "gramme-auto": "GrammeAuto",
    "gramme-fusion": "GrammeFusion",
    "gramme-sg": "GrammeSG",
    "label-propagation": "methods.LabelPropagation",
}


def _arguments(options: dict[str, Any]) -> str:
    named = {"source_column": "source", "layer_column": "layer"}
    return ", ".join(f"{named.get(key, key)}={value!r}" for key, value in options.items())


def disposition(name: str) -> str:
    """The header that makes a browser save a file under a name, whatever letters that has."""
    plain = "".join(letter if (letter.isascii() and letter.isalnum()) or letter in "-_." else "_" for letter in name)
    return f"attachment; filename=\"{plain}\"; filename*=UTF-8''{urllib.parse.quote(name, safe='')}"
