"""Puts measured numbers into README and docs: what stands between markers there is made from CSV files below docs/.

    python benchmarks/numbers_of_pages.py                        renders all pages (`make numbers`)
    python benchmarks/numbers_of_pages.py --check                changes nothing; names what differs, ends with 1
    python benchmarks/numbers_of_pages.py --note FILE COMMAND    notes in docs/results/sources.csv how FILE was made

Three markers, which pages do not show:

    <!-- table: results/links.csv columns=method,roc_auc=ROC-AUC:1 where=dataset=cora;layer=mean sort=-roc_auc -->
    ... <!-- end -->    rows and columns of a file; columns are ``name=heading:digits``, values ``one|two``
    <!-- table: results/t.csv rows=table pivot=method value=score:2 where=part=testing --> ... <!-- end -->    means
    <!-- table: lead --> ... <!-- end -->     a table that ``paper/write_page.py`` makes
    <!--n:results/speed.csv?case=sg&ratio:0-->202<!--/n-->    one number: row, then column with digits
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import subprocess
import sys
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

import pandas as pd

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
SOURCES = DOCS / "results" / "sources.csv"
COLUMNS = ["file", "command", "commit", "machine", "date"]
TABLE = re.compile(r"<!-- table: (?P<what>[^\n]*?) -->\n.*?<!-- end -->", re.DOTALL)
NUMBER = re.compile(
    r"<!--n:(?P<file>[^?\n]+)\?(?P<where>[^&\n]*)&(?P<column>[^:\n]+):(?P<digits>\d)-->[^<\n]*<!--/n-->"
)


def pages() -> list[Path]:
    """README and every page of the documentation."""
    return [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]


def rendered(text: str) -> str:
    """The text of a page with its tables and numbers made anew."""

    def table(found: re.Match[str]) -> str:
        return f"<!-- table: {found['what']} -->\n{_table(found['what'])}\n<!-- end -->"

    def number(found: re.Match[str]) -> str:
        rows = _rows(found["file"], found["where"])
        if len(rows) != 1:
            raise ValueError(f"{found[0]}: {len(rows)} rows of {found['file']} fit {found['where']!r}, not one")
        value = f"{float(rows[found['column']].iloc[0]):,.{found['digits']}f}"
        return f"{found[0].partition('-->')[0]}-->{value}<!--/n-->"

    return NUMBER.sub(number, TABLE.sub(table, text))


def shown_files(text: str) -> set[str]:
    """The CSV files, relative to docs/, that a page shows something of."""
    files = {found["file"] for found in NUMBER.finditer(text)}
    for found in TABLE.finditer(text):
        what = found["what"].split()[0]
        files.add(what if what.endswith(".csv") else _paper_table_file(what))
    return files


@cache
def _file(name: str) -> pd.DataFrame:
    return pd.read_csv(DOCS / name)


def _rows(file: str, where: str) -> pd.DataFrame:
    """The rows of a file whose columns have the wanted values: ``column=one|two`` with ; between."""
    rows = _file(file)
    for condition in filter(None, where.split(";")):
        column, _, values = condition.partition("=")
        as_text = rows[column].map(lambda value: f"{value:g}" if isinstance(value, float) else str(value))
        rows = rows[as_text.isin(values.split("|"))]
    return rows


def _table(what: str) -> str:
    name, *options = what.split(" ")
    if not name.endswith(".csv"):
        return _paper_table(name)
    chosen = dict(option.split("=", 1) for option in options)
    rows = _rows(name, chosen.get("where", ""))
    for column in reversed(list(filter(None, chosen.get("sort", "").split(",")))):
        rows = rows.sort_values(column.lstrip("-"), ascending=not column.startswith("-"), kind="stable")
    if "pivot" in chosen:
        value, _, digits = chosen["value"].partition(":")
        index = chosen["rows"].split(",")
        rows = rows.pivot_table(index=index, columns=chosen["pivot"], values=value, sort=False).reset_index()
        rows.columns = pd.Index([str(name) for name in rows.columns])
        chosen["columns"] = ",".join([*index, *(f"{name}:{digits}" for name in rows.columns[len(index) :])])
    cells, heads, aligned = [], [], []
    for word in chosen["columns"].split(",") if "columns" in chosen else list(rows.columns):
        head, _, digits = word.partition(":")
        column, _, title = head.partition("=")
        values = rows[column]
        is_number = pd.api.types.is_numeric_dtype(values)
        heads.append((title or column).replace("_", " "))
        aligned.append("---:" if is_number else "---")
        cells.append([_cell(value, digits) for value in values])
    lines = ["| " + " | ".join(heads) + " |", "|" + "|".join(aligned) + "|"]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in zip(*cells, strict=True)])


def _cell(value: object, digits: str) -> str:
    if isinstance(value, float) and value != value:
        return "–"
    if digits and isinstance(value, (int, float)):
        return f"{value:,.{digits}f}"
    return f"{value:g}" if isinstance(value, float) else str(value).replace("|", "\\|")


def _paper_table(name: str) -> str:
    return str(_write_page().tables(DOCS / "reproduction")[name])


def _paper_table_file(name: str) -> str:
    made = _write_page().MADE
    return f"reproduction/{made[name][0] if name in made else 'results'}.csv"


@cache
def _write_page():  # type: ignore[no-untyped-def]  # a script of another folder
    sys.path.insert(0, str(ROOT / "benchmarks" / "paper"))
    try:
        import write_page
    finally:
        sys.path.pop(0)
    return write_page


def render_all() -> list[str]:
    """Render every page; the names of those that changed."""
    _file.cache_clear()
    changed = []
    for page in pages():
        text = page.read_text(encoding="utf-8")
        new = rendered(text)
        if new != text:
            page.write_text(new, encoding="utf-8")
            changed.append(str(page.relative_to(ROOT)))
    return changed


def problems() -> list[str]:
    """What a page shows that its CSV file does not say, and files that do not say how they were made."""
    found, shown = [], set()
    for page in pages():
        text = page.read_text(encoding="utf-8")
        shown |= shown_files(text)
        if rendered(text) != text:
            found.append(f"{page.relative_to(ROOT)} shows other numbers than its files; run make numbers")
        if text.count("<!-- table:") != len(TABLE.findall(text)) or text.count("<!--n:") != len(NUMBER.findall(text)):
            found.append(f"{page.relative_to(ROOT)} has a marker that cannot be read")
    known = pd.read_csv(SOURCES, dtype=str, keep_default_na=False).set_index("file")
    for file in sorted(shown):
        if file not in known.index or not all(known.loc[file, ["command", "commit", "machine"]]):
            found.append(f"docs/results/sources.csv does not say command, commit and machine of {file}")
    return found


def note(path: Path, command: str) -> None:
    """Write down how a CSV file below docs/ was made, if it is one."""
    path = path.resolve()
    if DOCS not in path.parents:
        return
    file = path.relative_to(DOCS).as_posix()
    table = (
        pd.read_csv(SOURCES, dtype=str, keep_default_na=False) if SOURCES.exists() else pd.DataFrame(columns=COLUMNS)
    )
    described = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True)
    row = [file, command, described.stdout.strip() or "unknown", machine(), datetime.now(UTC).date().isoformat()]
    table = pd.concat([table[table["file"] != file], pd.DataFrame([row], columns=COLUMNS)])
    table.sort_values("file").to_csv(SOURCES, index=False)


def machine() -> str:
    """Processor, cores and memory of this machine."""
    name = platform.processor() or platform.machine()
    memory = ""
    if Path("/proc/cpuinfo").exists():
        found = re.search(r"model name\s*:\s*(.+)", Path("/proc/cpuinfo").read_text())
        name = found[1] if found else name
        kibibytes = re.search(r"MemTotal:\s*(\d+)", Path("/proc/meminfo").read_text())
        memory = f", {int(kibibytes[1]) / 2**20:.0f} GiB" if kibibytes else ""
    return f"{name}, {os.cpu_count()} cores{memory}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="change nothing")
    parser.add_argument("--note", nargs=2, metavar=("FILE", "COMMAND"), help="say how a file was made")
    chosen = parser.parse_args()
    if chosen.note:
        note(Path(chosen.note[0]), chosen.note[1])
    elif chosen.check:
        sys.exit("\n".join(problems()) or 0)
    else:
        print("\n".join(render_all()) or "all pages are as their files say")


if __name__ == "__main__":
    main()
