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

_CSV = "text/csv; charset=utf-8"
_EXCEL = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"


@dataclass(frozen=True)
class Parcel:
    """A file that is handed to the browser."""

    name: str
    kind: str
    content: bytes
    inline: bool = False


def parcel(project: Project, results: Results, what: str, result: str) -> Parcel:
    """The file that was asked for: report, page, table, excel (each of a result), labels, script or python."""
    result_kind = result.partition("-")[2]
    file_stem = f"{project.name}-{result_kind}"
    if what == "labels":
        return Parcel(LABELS, _CSV, (project.folder / LABELS).read_bytes())
    if what == "script":
        return Parcel("again.sh", "text/x-shellscript; charset=utf-8", script(project, results).encode())
    if what == "python":
        return Parcel("again.py", "text/x-python; charset=utf-8", snippet(project, results, result).encode())
    if what in ("report", "page"):
        content = results.path(result, "report.html").read_bytes()
        return Parcel(f"{file_stem}.html", "text/html; charset=utf-8", content, inline=what == "report")
    table_path = results.path(result, RESULT_FILES.get(result_kind, "predictions.csv"))
    if what == "table":
        return Parcel(f"{file_stem}.csv", _CSV, table_path.read_bytes())
    if what == "excel":
        return Parcel(f"{file_stem}.xlsx", _EXCEL, workbook(table_path))
    raise DataError(f"there is no {what!r} to send")


def workbook(path: Path) -> bytes:
    """A CSV table as an Excel file; text that a spreadsheet would run stays text."""
    openpyxl = import_extra("openpyxl", "excel", "writing Excel")
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet(path.stem)
    for row_number, row in enumerate(read_csv(path)):
        sheet.append([_typed(cell) if row_number else _legal(cell) for cell in row])
    output_buffer = io.BytesIO()
    book.save(output_buffer)
    return output_buffer.getvalue()


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
    script_lines = [
        "#!/bin/sh",
        "# Makes the results of this project again, elsewhere. Run it in the folder of the project.",
        "set -e",
    ]
    for result_record in results.records():
        if result_record.get("command"):
            command = str(result_record["command"])
            script_lines.append(command.replace("--out results/", "--out again/"))
    if len(script_lines) == 3:
        command_words = ["gramme", "fit", *project.reading_words(), "--out", "again/1-fit"]
        script_lines.append(shlex.join(command_words))
    return "\n".join(script_lines) + "\n"


def snippet(project: Project, results: Results, result: str) -> str:
    """Python that makes the same predictions, to be run in the folder of the project."""
    plan = project.opened().plan
    reading_options = project.reading_options(plan)
    class_name, random_seed = "GrammeRegressor" if plan.predicts_numbers else "GrammeAuto", 0
    if result:
        fit_config = json.loads(results.path(result, "config.json").read_text(encoding="utf-8"))
        random_seed = int(fit_config.get("seed", 0))
        class_name = _CLASSES.get(fit_config.get("method"), class_name)
    data_paths = [f"{DATA}/{name}" for name in plan.data()]
    if plan.is_table:
        table_options: dict[str, Any] = {
            key: reading_options[key] for key in ("label", "id", "columns") if key in reading_options
        }
        text_columns = [
            relation_text for relation_text in (table_options.get("id"), table_options.get("label")) if relation_text
        ]
        dtype_argument = (
            f", dtype={dict.fromkeys(text_columns, str)!r}".replace("<class 'str'>", "str") if text_columns else ""
        )
        label_code = "float(label)" if plan.predicts_numbers else "label"
        reading_lines = [
            "import pandas as pd",
            f"table = pd.read_csv({data_paths[0]!r}{dtype_argument})",
            f"graph = gramme.MultilayerGraph.from_table(table, {_arguments(table_options)})",
            f"known = pd.read_csv({LABELS!r}, dtype=str)",
            f"labels = {{name: {label_code} for name, label in known.dropna().to_numpy()}}",
            "names = [str(node) for node in graph.nodes]",
            "model = gramme.METHOD(random_state=SEED).fit(graph, [labels.get(name) for name in names])",
        ]
    else:
        source_code, reader_name = repr(data_paths[0] if len(data_paths) == 1 else data_paths), "gramme.read"
        if plan.kinds:
            kinds_by_file = [
                relation_text.split("=", 1)[0].split(":") for relation_text in reading_options.pop("relation")
            ]
            source_code = repr(
                {tuple(kind_names): file for kind_names, file in zip(kinds_by_file, data_paths, strict=True)}
            )
            reader_name = "gramme.io.read_relations"
        reading_lines = [
            f"graph = {reader_name}({source_code}, {_arguments(reading_options)})",
            "model = gramme.METHOD(random_state=SEED).fit(graph)",
        ]
    code_lines = ["import gramme", *reading_lines, "print(model.predict()[:10], model.layer_importance_)"]
    code_lines.append('model.report("page.html")')
    return "\n".join(code_lines).replace("METHOD", class_name).replace("SEED", str(random_seed)) + "\n"


_CLASSES = {
    "gramme-auto": "GrammeAuto",
    "gramme-fusion": "GrammeFusion",
    "gramme-sg": "GrammeSG",
    "label-propagation": "methods.LabelPropagation",
}


def _arguments(options: dict[str, Any]) -> str:
    python_names = {"source_column": "source", "layer_column": "layer"}
    return ", ".join(
        f"{python_names.get(option_name, option_name)}={value!r}" for option_name, value in options.items()
    )


def disposition(name: str) -> str:
    """The header that makes a browser save a file under a name, whatever letters that has."""
    ascii_name = "".join(
        letter if (letter.isascii() and letter.isalnum()) or letter in "-_." else "_" for letter in name
    )
    return f"attachment; filename=\"{ascii_name}\"; filename*=UTF-8''{urllib.parse.quote(name, safe='')}"
