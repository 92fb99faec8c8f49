"""`gramme fit` on a large table: whether it gets through, in how much memory and time.

    python benchmarks/bench_fit_table.py [--rows 1000000] [--epochs E] [--method NAME] [--limit 12] [-- options of fit]

Makes a CSV of ten columns, eight of them categories with gaps, one of amounts and one of dates; one row in fifty has a
label, which depends on three of the columns. Runs `gramme fit --table` on it in a process of its own and prints peak
memory, CPU seconds per million cells, accuracy, and the sizes of what was written. Ends with code 1 if the memory was
above the limit (GiB).
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

COLUMNS = 10


def make_table(rows: int, path: Path) -> None:
    random = np.random.default_rng(0)
    table = {}
    for place in range(8):
        values = random.integers(0, 3 + 4 * place, rows)
        cells = np.array([f"answer {value}" for value in range(3 + 4 * place)], dtype=object)[
            values
        ]
        cells[random.random(rows) < 0.02] = ""
        table[f"question {place + 1}"] = cells
    table["income"] = random.gamma(2, 1000, rows).round(2)
    days = random.integers(0, 3650, rows).astype("timedelta64[D]")
    table["born"] = (np.datetime64("1980-01-01") + days).astype(str)
    score = (
        (table["question 1"] == "answer 0").astype(float)
        + (table["question 2"] > "answer 3")
        + (table["income"] > 1700)
        + random.normal(0, 0.3, rows)
    )
    label = np.where(score > 1.3, "yes", "no").astype(object)
    label[random.random(rows) > 0.02] = ""
    pd.DataFrame(table | {"label": label}).to_csv(path, index_label="person")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--epochs", type=int)
    parser.add_argument("--method")
    parser.add_argument("--limit", type=float, default=12.0, help="GiB")
    parser.add_argument("options", nargs="*", help="further options of gramme fit, after --")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        table, target = Path(folder, "people.csv"), Path(folder, "out")
        make_table(chosen.rows, table)
        command = [sys.executable, "-m", "gramme", "fit", str(table), "--table"]
        command += ["--label", "label", "--id", "person", "--out", str(target)]
        command += [] if chosen.method is None else ["--method", chosen.method]
        command += [] if chosen.epochs is None else ["--set", f"epochs={chosen.epochs}"]
        start = time.perf_counter()
        ended = subprocess.run([*command, *chosen.options], check=False)
        seconds = time.perf_counter() - start
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        peak = used.ru_maxrss / 2**20
        cells = chosen.rows * COLUMNS / 1e6
        print(f"{chosen.rows:,} rows x {COLUMNS} columns, exit code {ended.returncode}")
        print(f"peak memory  {peak:.2f} GiB (limit {chosen.limit:g})")
        print(f"wall time    {seconds:.0f} s")
        cpu = used.ru_utime + used.ru_stime
        print(f"CPU seconds  {cpu:.0f}, {cpu / cells:.2f} per million cells")
        if ended.returncode == 0:
            config = json.loads((target / "config.json").read_text())
            print(f"estimate     {config['estimate']}")
            for path in sorted(target.iterdir()):
                print(f"  {path.name:<20} {path.stat().st_size / 2**20:10.1f} MiB")
        return int(ended.returncode != 0 or peak > chosen.limit)


if __name__ == "__main__":
    sys.exit(main())
